/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/buf.h>
#include <pier/ctx.h>

#include "copy/copy_impl.h"
#include "core/clock.h"
#include "core/fail.h"

#define ROUND_MS 200	/* how often to look at the time, at least */

static uint32_t session_count(const struct pier_copy *copy)
{
	const struct pier__list *at, *next;
	uint32_t count = 0;

	PIER__LIST_EACH(at, next, &copy->sessions)
		count++;
	return count;
}

/* A session whose thread has not ended yet counts among the clients. */
static void connected(struct pier_comch_conn *conn, void *ctx_user_data)
{
	struct pier_copy *copy = ctx_user_data;
	uint32_t count = session_count(copy);
	struct pier__copy_session *s;
	int err;

	pier_comch_conn_set_user_data(conn, NULL);
	if (pier__copy_session_create(copy, true, &s)) {
		pier_comch_disconnect(conn);
		return;
	}
	s->conn = conn;
	pier_comch_conn_set_user_data(conn, s);
	pier__list_add(&copy->sessions, &s->link);
	if (count < copy->cfg.max_clients)
		return;
	err = pier__fail(-EBUSY, "copy: the server has %u clients, its limit",
			 count);
	pier__copy_session_fail(s, err);
}

static void disconnected(struct pier_comch_conn *conn, void *ctx_user_data)
{
	struct pier__copy_session *s = pier_comch_conn_user_data(conn);

	(void)ctx_user_data;
	if (s)
		pier__copy_session_disconnected(s);
}

static void received(struct pier_comch_conn *conn, const void *data, size_t len,
		     void *ctx_user_data)
{
	struct pier__copy_session *s = pier_comch_conn_user_data(conn);
	struct pier__copy_msg msg;
	int err;

	(void)ctx_user_data;
	if (!s)
		return;
	err = pier__copy_msg_decode(data, len, &msg);
	if (err)
		pier__copy_session_fail(s, err);
	else if (s->state == PIER__COPY_OPENING)
		pier__copy_session_hello(s, &msg);
	else
		pier__copy_session_message(s, &msg);
}

static void writable(struct pier_comch_conn *conn, void *ctx_user_data)
{
	struct pier__copy_session *s = pier_comch_conn_user_data(conn);

	(void)ctx_user_data;
	if (s)
		pier__copy_session_pump(s);
}

static int start_dma(struct pier_copy *copy)
{
	uint32_t tasks = copy->cfg.max_clients * PIER__COPY_SLOTS;
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = tasks };
	int err = pier_dma_create(copy->dev, &copy->dma);

	if (!err)
		err = pier_dma_configure(copy->dma, &cfg);
	if (!err)
		err = pier_buf_inventory_create(2 * tasks, &copy->inv);
	if (!err)
		err = pier_ctx_start(pier_dma_ctx(copy->dma), copy->pe);
	return err;
}

static int start(struct pier_copy *copy)
{
	struct pier_ctx *ctx;
	int err = start_dma(copy);

	if (!err)
		err = pier_comch_create_server(copy->dev, copy->cfg.rep,
					       copy->cfg.name, &copy->comch);
	if (!err)
		err = pier__copy_configure_comch(copy,
						 copy->cfg.timeout_ms);
	if (err)
		return err;
	pier_comch_set_callbacks(copy->comch, connected, disconnected,
				 received, writable);
	ctx = pier_comch_ctx(copy->comch);
	pier_ctx_set_user_data(ctx, copy);
	return pier_ctx_start(ctx, copy->pe);
}

/* Who requests nothing, or comes after a success, is no outcome. */
static void note_outcome(struct pier_copy *copy,
			 const struct pier__copy_session *s)
{
	if (!s->requested || (copy->served && !copy->error))
		return;
	copy->served = true;
	copy->error = s->error;
	strcpy(copy->error_text, s->error_text);
}

/* A session is over: count what it has done. */
static void end_session(struct pier_copy *copy, struct pier__copy_session *s)
{
	copy->result.files += s->result.files;
	copy->result.failed += s->result.failed;
	copy->result.bytes += s->result.bytes;
	note_outcome(copy, s);
	if (s->error && !s->result.failed) {
		copy->result.broken++;
		if (copy->failed)
			copy->failed("", s->error, s->error_text, copy->arg);
	}
	pier__copy_session_destroy(s);
}

static void step_all(struct pier_copy *copy)
{
	struct pier__list *at, *next;
	struct pier__copy_session *s;

	PIER__LIST_EACH(at, next, &copy->sessions) {
		s = pier__container_of(at, struct pier__copy_session, link);
		pier__copy_session_step(s);
		if (pier__copy_session_is_over(s))
			end_session(copy, s);
	}
}

/* How long to wait for events, and whether a client has made its request. */
static int look_at_all(const struct pier_copy *copy, bool *ret_requested)
{
	const struct pier__list *at, *next;
	int round_ms = ROUND_MS, least;

	*ret_requested = false;
	PIER__LIST_EACH(at, next, &copy->sessions) {
		const struct pier__copy_session *s = pier__container_of(
			at, const struct pier__copy_session, link);

		least = pier__copy_session_round_ms(s);
		round_ms = least < round_ms ? least : round_ms;
		*ret_requested |= s->requested;
	}
	return round_ms;
}

/* It does not stop by itself unless it has failed, as without the device. */
static int check_comch(const struct pier_copy *copy)
{
	const char *text;
	int err = pier_comch_error(copy->comch, &text);

	return err ? pier__fail_again(err, text) : 0;
}

/* Returns 1: it serves one client, and none made its request in time. */
static int drive(struct pier_copy *copy)
{
	uint64_t limit = pier__now() + copy->cfg.timeout_ms * PIER__MS;
	bool once = copy->cfg.flags & PIER_COPY_ONCE, busy;
	int round_ms, err;

	while (!atomic_load(&copy->stopped)) {
		round_ms = look_at_all(copy, &busy);
		if (!busy && copy->served && (copy->file || once))
			break;
		if (!busy && once && pier__now() > limit)
			return 1;
		err = pier_pe_wait(copy->pe, round_ms);
		if (err < 0 && err != -ETIMEDOUT)
			return err;
		step_all(copy);
		err = check_comch(copy);
		if (err)
			return err;
	}
	return 0;
}

/*
 * End all sessions; their threads and connections end soon.  Its errors, and
 * those of what is destroyed, do not replace the last one.
 */
static void stop_all(struct pier_copy *copy)
{
	char text[PIER__RECORD_TEXT + 1];
	struct pier__list *at, *next;
	struct pier__copy_session *s;
	int err;

	snprintf(text, sizeof(text), "%s", pier_last_error());
	PIER__LIST_EACH(at, next, &copy->sessions) {
		s = pier__container_of(at, struct pier__copy_session, link);
		err = pier__fail(-ECANCELED, "copy: the server has stopped");
		pier__copy_session_fail(s, err);
	}
	if (copy->comch)
		pier_ctx_stop(pier_comch_ctx(copy->comch));
	if (copy->dma)
		pier_ctx_stop(pier_dma_ctx(copy->dma));
	while (!pier__list_empty(&copy->sessions)) {
		pier_pe_wait(copy->pe, ROUND_MS);
		step_all(copy);
	}
	pier_comch_destroy(copy->comch);
	pier_dma_destroy(copy->dma);
	pier_buf_inventory_destroy(copy->inv);
	copy->comch = NULL;
	copy->dma = NULL;
	copy->inv = NULL;
	atomic_store(&copy->stopped, false);
	pier__fail_again(0, text);
}

static int serve(struct pier_copy *copy, void (*listening)(void *arg),
		 void *arg)
{
	int err;

	memset(&copy->result, 0, sizeof(copy->result));
	copy->served = false;
	copy->error = 0;
	err = start(copy);
	if (!err && listening)
		listening(arg);
	if (!err)
		err = drive(copy);
	stop_all(copy);
	if (err > 0)
		err = pier__fail(-ETIMEDOUT, "copy: no client came within "
				 "%u ms", copy->cfg.timeout_ms);
	return err;
}

/* Wherever the process may. */
static int serve_anywhere(struct pier_copy *copy, void (*listening)(void *arg),
			  void *arg)
{
	copy->root.fd = AT_FDCWD;
	copy->root.beneath = false;
	copy->file = NULL;
	return serve(copy, listening, arg);
}

static int serve_root(struct pier_copy *copy, void (*listening)(void *arg),
		      void *arg)
{
	int fd = open(copy->cfg.root, O_PATH | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return pier__fail(-errno, "copy: the root %s: %s",
				  copy->cfg.root, pier_strerror(errno));
	copy->root.fd = fd;
	copy->root.beneath = true;
	copy->file = NULL;
	err = serve(copy, listening, arg);
	close(fd);
	return err;
}

int pier_copy_serve(struct pier_copy *copy, void (*listening)(void *arg),
		    void *arg)
{
	if (!copy)
		return pier__no_object(__func__);
	if (copy->cfg.flags & PIER_COPY_ANYWHERE)
		return serve_anywhere(copy, listening, arg);
	return serve_root(copy, listening, arg);
}

int pier_copy_serve_file(struct pier_copy *copy, const char *path)
{
	int err;

	if (!copy)
		return pier__no_object(__func__);
	copy->root.fd = AT_FDCWD;
	copy->root.beneath = false;
	copy->file = path;
	err = serve(copy, NULL, NULL);
	if (!err && !copy->served)
		err = pier__fail(-ECANCELED, "copy: it was stopped");
	if (!err && copy->error)
		err = pier__fail_again(copy->error, copy->error_text);
	return err;
}
