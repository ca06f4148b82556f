/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <pier/ctx.h>

#include "copy/copy_impl.h"
#include "core/clock.h"
#include "core/fail.h"

#define RETRY_MS 200	/* between attempts to find the server */
#define ATTEMPT_MS 1000	/* that remain for the last one, at least */

static void connected(struct pier_comch_conn *conn, void *ctx_user_data)
{
	struct pier__copy_session *s = ctx_user_data;

	s->conn = conn;
	s->received_at = pier__now();
	pier__copy_session_pump(s);
}

static void disconnected(struct pier_comch_conn *conn, void *ctx_user_data)
{
	(void)conn;
	pier__copy_session_disconnected(ctx_user_data);
}

/* The server begins, in the direction that was requested. */
static int welcome(struct pier__copy_session *s,
		   const struct pier__copy_msg *msg)
{
	uint64_t server_sends = msg->number[PIER__WELCOME_DIRECTION];
	uint64_t timeout_ms = msg->number[PIER__WELCOME_TIMEOUT];
	int err;

	if (server_sends != !s->sends)
		return pier__fail(-EPROTO, "copy: the server has begun in the "
				  "other direction");
	err = pier__copy_session_check_timeout(timeout_ms);
	if (err)
		return err;
	s->peer_timeout_ms = (uint32_t)timeout_ms;
	return pier__copy_session_run(s);
}

static void received(struct pier_comch_conn *conn, const void *data, size_t len,
		     void *ctx_user_data)
{
	struct pier__copy_session *s = ctx_user_data;
	struct pier__copy_msg msg;
	int err = pier__copy_msg_decode(data, len, &msg);

	(void)conn;
	if (!err && s->state == PIER__COPY_OPENING &&
	    msg.kind == PIER__COPY_WELCOME) {
		s->received_at = pier__now();
		err = welcome(s, &msg);
	} else if (!err) {
		pier__copy_session_message(s, &msg);
	}
	if (err)
		pier__copy_session_fail(s, err);
}

static void writable(struct pier_comch_conn *conn, void *ctx_user_data)
{
	(void)conn;
	pier__copy_session_pump(ctx_user_data);
}

static int start(struct pier_copy *copy, struct pier__copy_session *s)
{
	struct pier_ctx *ctx;
	int err = pier__copy_session_alloc(s);

	if (!err)
		err = pier__copy_session_export(s);
	if (!err)
		err = pier_comch_create_client(copy->dev, copy->cfg.name,
					       copy->cfg.address,
					       &copy->comch);
	if (err)
		return err;
	err = pier__copy_configure_comch(copy, copy->cfg.timeout_ms);
	if (err)
		return err;
	pier_comch_set_callbacks(copy->comch, connected, disconnected,
				 received, writable);
	ctx = pier_comch_ctx(copy->comch);
	pier_ctx_set_user_data(ctx, s);
	err = pier_ctx_start(ctx, copy->pe);
	return err == -EINPROGRESS ? 0 : err;
}

/* Until the connection has ended, or was never established. */
static int drive(struct pier_copy *copy, struct pier__copy_session *s)
{
	struct pier_ctx *ctx = pier_comch_ctx(copy->comch);
	int err;

	while (pier_ctx_state(ctx) != PIER_CTX_IDLE ||
	       !pier__copy_session_is_over(s)) {
		err = pier__copy_wait(copy, pier__copy_session_round_ms(s));
		if (err)
			return err;
		if (atomic_load(&copy->stopped)) {
			err = pier__fail(-ECANCELED, "copy: it was stopped");
			pier__copy_session_fail(s, err);
			pier_ctx_stop(ctx);
		}
		pier__copy_session_step(s);
	}
	return 0;
}

/*
 * Does the host respond without a server of this name?  It may start until
 * @limit.
 */
static bool is_awaited(const struct pier_copy *copy,
		       const struct pier__copy_session *s, uint64_t limit)
{
	const char *text;

	return !(copy->cfg.flags & PIER_COPY_ONCE) &&
	       s->state == PIER__COPY_OPENING &&
	       pier_comch_error(copy->comch, &text) == -ECONNREFUSED &&
	       pier__ms_left(pier__now(), limit) > RETRY_MS + ATTEMPT_MS;
}

/* A stop ends the pause, too. */
static int try_again(struct pier_copy *copy, uint64_t limit)
{
	struct pier_ctx *ctx = pier_comch_ctx(copy->comch);
	int err = pier_pe_wait(copy->pe, RETRY_MS), ms;

	if (err < 0 && err != -ETIMEDOUT)
		return err;
	ms = pier__ms_left(pier__now(), limit);
	err = pier__copy_configure_comch(copy, ms > 0 ? (uint32_t)ms : 1);
	if (!err)
		err = pier_ctx_start(ctx, copy->pe);
	return err == -EINPROGRESS ? 0 : err;
}

static int drive_all(struct pier_copy *copy, struct pier__copy_session *s)
{
	uint64_t limit = pier__deadline(pier__now(),
					(int)copy->cfg.timeout_ms);
	const char *text;
	int err = drive(copy, s);

	while (!err && is_awaited(copy, s, limit)) {
		err = try_again(copy, limit);
		if (!err)
			err = drive(copy, s);
	}
	if (err)
		return err;
	if (s->state == PIER__COPY_OPENING) {	/* it was never connected */
		err = pier_comch_error(copy->comch, &text);
		return pier__fail_again(err ? err : -ECONNREFUSED, text);
	}
	copy->result = s->result;
	return s->error ? pier__fail_again(s->error, s->error_text) : 0;
}

static int run(struct pier_copy *copy, struct pier__copy_session *s)
{
	int err;

	memset(&copy->result, 0, sizeof(copy->result));
	s->slots = PIER__COPY_SLOT_COUNT;
	s->slot_size = PIER__COPY_SLOT_SIZE;
	s->sender.flags = copy->cfg.flags & PIER__COPY_FLAGS;
	s->sender.tree.fd = AT_FDCWD;
	err = start(copy, s);
	if (!err)
		err = drive_all(copy, s);
	atomic_store(&copy->stopped, false);
	return err;
}

/* What is destroyed may report errors of its own: that of the copy is kept. */
static int end(struct pier__copy_session *s, int err)
{
	struct pier_copy *copy = s->copy;
	char text[PIER__RECORD_TEXT + 1];

	snprintf(text, sizeof(text), "%s", pier_last_error());
	pier_comch_destroy(copy->comch);
	copy->comch = NULL;
	pier__copy_session_destroy(s);
	return err ? pier__fail_again(err, text) : 0;
}

/* @empty is the path of a source of 0 bytes. */
static int add_all(struct pier__copy_session *s, const char *const *sources,
		   size_t count, const char *empty)
{
	int err = 0;

	if (!count)
		return pier__fail(-EINVAL, "copy: there is no source");
	for (size_t i = 0; !err && i < count; i++) {
		const char *path = *sources[i] ? sources[i] : empty;

		err = pier__copy_session_add(s, path, strlen(path));
	}
	return err;
}

int pier_copy_send(struct pier_copy *copy, const char *const *sources,
		   size_t count, const char *target)
{
	struct pier__copy_session *s;
	int err;

	if (!copy)
		return pier__no_object(__func__);
	err = pier__copy_session_create(copy, false, &s);
	if (err)
		return err;
	s->mode = PIER__COPY_PUT;
	s->sends = true;
	err = add_all(s, sources, count, "");
	if (!err && strlen(target) > PIER__RECORD_PATH)
		err = pier__fail(-ENAMETOOLONG, "copy: a target of %zu bytes: "
				 "at most %d are allowed", strlen(target),
				 PIER__RECORD_PATH);
	if (!err) {
		strcpy(s->target, target);
		err = run(copy, s);
	}
	return end(s, err);
}

int pier_copy_receive(struct pier_copy *copy, const char *const *sources,
		      size_t count, const char *target)
{
	struct pier__copy_session *s;
	int err;

	if (!copy)
		return pier__no_object(__func__);
	err = pier__copy_session_create(copy, false, &s);
	if (err)
		return err;
	s->mode = PIER__COPY_GET;
	err = add_all(s, sources, count, ".");	/* the root */
	s->sources_due = count;
	s->receiver.source = s->source;
	s->receiver.source_count = s->source_count;
	if (!err)
		err = pier__copy_session_receive_at(s, target, false,
						    count > 1);
	if (!err)
		err = run(copy, s);
	return end(s, err);
}

int pier_copy_file(struct pier_copy *copy, const char *path)
{
	struct pier__copy_session *s;
	int have, err;

	if (!copy)
		return pier__no_object(__func__);
	have = pier__copy_file_exists(path);
	if (have < 0)
		return have;
	err = pier__copy_session_create(copy, false, &s);
	if (err)
		return err;
	s->mode = have ? PIER__COPY_HAVE : PIER__COPY_HAVE_NOT;
	s->sends = have;
	err = pier__copy_session_add(s, path, strlen(path));
	if (!err && !have)
		err = pier__copy_session_receive_at(s, path, true, false);
	if (!err)
		err = run(copy, s);
	return end(s, err);
}
