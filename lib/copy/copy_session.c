/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/copy_impl.h"
#include "core/clock.h"
#include "core/fail.h"

#define PINGS 4		/* in the time of silence that ends a session */
#define SHOW_MS 200
#define ROUND_MS 200	/* how often to look at the time, at least */
#define STALLED 10	/* times of silence in which a client only pings */

int pier__copy_session_create(struct pier_copy *copy, bool is_server,
			      struct pier__copy_session **ret)
{
	struct pier__copy_session *s = calloc(1, sizeof(*s));

	if (!s)
		return pier__fail(-ENOMEM, "copy: no memory for a session");
	s->copy = copy;
	s->is_server = is_server;
	s->dir = -1;
	s->received_at = pier__now();
	s->sent_at = s->received_at;
	s->progress_at = s->received_at;
	pier__copy_io_init(&s->io, copy->pe);
	pier__list_init(&s->link);
	*ret = s;
	return 0;
}

void pier__copy_session_destroy(struct pier__copy_session *s)
{
	pier__copy_io_cancel(&s->io);
	pier__copy_io_fini(&s->io);
	pier__copy_session_free(s);
	for (size_t i = 0; i < s->source_count; i++)
		free(s->source[i]);
	free(s->source);
	if (s->dir >= 0)
		close(s->dir);
	pier__list_del(&s->link);
	free(s);
}

bool pier__copy_session_is_over(struct pier__copy_session *s)
{
	return !s->conn && !s->moves.count &&
	       (!s->io.started || pier__copy_io_ended(&s->io));
}

int pier__copy_session_add(struct pier__copy_session *s, const void *path,
			   size_t len)
{
	char **more, *text;

	if (!len || len > PIER__RECORD_PATH || memchr(path, '\0', len))
		return pier__fail(-ENAMETOOLONG, "copy: a source of %zu bytes: "
				  "1 to %d are allowed", len,
				  PIER__RECORD_PATH);
	if (s->source_count == PIER__COPY_SOURCES_MAX ||
	    s->source_bytes + len > PIER__COPY_SOURCES_BYTES)
		return pier__fail(-E2BIG, "copy: more than %d sources, or %u "
				  "bytes of them", PIER__COPY_SOURCES_MAX,
				  PIER__COPY_SOURCES_BYTES);
	text = strndup(path, len);
	more = realloc(s->source, (s->source_count + 1) * sizeof(*more));
	if (more)
		s->source = more;
	if (!more || !text) {
		free(text);
		return pier__fail(-ENOMEM, "copy: no memory for a source");
	}
	s->source[s->source_count++] = text;
	s->source_bytes += len;
	return 0;
}

int pier__copy_session_run(struct pier__copy_session *s)
{
	uint32_t flags = s->sender.flags;
	int err;

	s->sender.io = &s->io;
	s->sender.source = s->source;
	s->sender.source_count = s->source_count;
	s->receiver.io = &s->io;
	s->receiver.flags = flags;
	for (uint32_t i = 0; i < s->slots; i++) {
		s->away[i] = !s->sends;
		if (s->sends)
			pier__copy_io_pass(&s->io, (struct pier__copy_slot){
					   .index = i });
	}
	if (s->sends)
		err = pier__copy_io_start(&s->io, pier__copy_sender_run,
					  &s->sender);
	else
		err = pier__copy_io_start(&s->io, pier__copy_receiver_run,
					  &s->receiver);
	s->progress_at = pier__now();
	if (!err)
		s->state = PIER__COPY_RUNNING;
	return err;
}

void pier__copy_session_moved(struct pier__copy_session *s,
			      struct pier__copy_slot slot)
{
	if (s->error && s->state == PIER__COPY_ENDING)
		return;
	if (s->sends)
		pier__copy_ring_add(&s->pending, slot);
	else
		pier__copy_io_pass(&s->io, slot);
	pier_pe_wake(s->copy->pe);
}

void pier__copy_session_fail(struct pier__copy_session *s, int err)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_END,
		.number[PIER__END_ERROR] = (uint64_t)-err,
	};
	const char *text = pier_last_error();

	if (s->state == PIER__COPY_ENDING)
		return;
	s->state = PIER__COPY_ENDING;
	s->error = err;
	snprintf(s->error_text, sizeof(s->error_text), "%s", text);
	pier__copy_io_cancel(&s->io);
	if (!s->conn)
		return;
	msg.string[1].data = s->error_text;
	msg.string[1].len = strlen(s->error_text);
	if (!s->end_received)
		pier__copy_session_send(s, &msg);
	pier_comch_disconnect(s->conn);
}

/* The slot of FILLED or FREE, which is the peer's until now. */
static int take_slot(struct pier__copy_session *s,
		     const struct pier__copy_msg *msg,
		     struct pier__copy_slot *ret)
{
	uint64_t index = msg->number[PIER__SLOT_INDEX];
	uint64_t len = msg->number[PIER__SLOT_LEN];

	if (index >= s->slots || len > s->slot_size || !s->away[index])
		return pier__fail(-EPROTO, "copy: the peer has passed slot "
				  "%llu with %llu bytes, which it does not "
				  "have", (unsigned long long)index,
				  (unsigned long long)len);
	s->away[index] = false;
	ret->index = (uint32_t)index;
	ret->len = (uint32_t)len;
	return 0;
}

static int slot_arrived(struct pier__copy_session *s,
			const struct pier__copy_msg *msg)
{
	struct pier__copy_slot slot;
	int err;

	if (s->sends != (msg->kind == PIER__COPY_FREE))
		return pier__fail(-EPROTO, "copy: the peer has sent a message "
				  "of the other direction");
	err = take_slot(s, msg, &slot);
	if (err)
		return err;
	if (!s->sends && !slot.len)
		return pier__fail(-EPROTO, "copy: the peer has filled a slot "
				  "with nothing");
	if (s->sends)
		pier__copy_io_pass(&s->io, slot);
	else
		pier__copy_session_move(s, slot);
	return 0;
}

static void copy_text(const struct pier__copy_string *from, char *ret,
		      size_t size)
{
	size_t len = from->len < size ? from->len : size - 1;

	if (len)
		memcpy(ret, from->data, len);
	ret[len] = '\0';
}

static int report_arrived(struct pier__copy_session *s,
			  const struct pier__copy_msg *msg)
{
	struct pier__copy_error *error = &s->report.error;
	uint64_t number = msg->number[PIER__REPORT_FILE];
	char path[512];

	if (!s->sends)
		return pier__fail(-EPROTO, "copy: the sender has sent a "
				  "report");
	if (number > atomic_load(&s->sender.number))
		return pier__fail(-EPROTO, "copy: the peer has reported file "
				  "%llu, which was not sent",
				  (unsigned long long)number);
	pier__copy_io_refuse(&s->io, number);
	error->error = (int)(msg->number[PIER__REPORT_ERROR] & 0xffff);
	copy_text(&msg->string[0], error->path, sizeof(error->path));
	copy_text(&msg->string[1], error->text, sizeof(error->text));
	if (s->copy->failed)
		s->copy->failed(error->path, -error->error, error->text,
				s->copy->arg);
	if (s->error)
		return 0;
	pier__copy_printable(error->path, path, sizeof(path));
	s->error = pier__fail(-error->error, "copy: the peer: %s: %s", path,
			      error->text);
	snprintf(s->error_text, sizeof(s->error_text), "%s",
		 pier_last_error());
	return 0;
}

static int offset_arrived(struct pier__copy_session *s,
			  const struct pier__copy_msg *msg)
{
	struct pier__copy_offset offset = {
		.number = msg->number[PIER__OFFSET_FILE],
		.bytes = msg->number[PIER__OFFSET_BYTES],
	};
	uint64_t current = atomic_load(&s->sender.number);

	if (!s->sends || msg->string[0].len != sizeof(offset.digest) ||
	    !(s->sender.flags & PIER_COPY_RESUME) || !offset.number ||
	    offset.number > current)
		return pier__fail(-EPROTO, "copy: the peer has sent an offset "
				  "of no file");
	if (offset.number < current)	/* its report has overtaken it */
		return 0;
	memcpy(&offset.digest, msg->string[0].data, sizeof(offset.digest));
	pier__copy_io_pass_offset(&s->io, &offset);
	return 0;
}

static int end_arrived(struct pier__copy_session *s,
		       const struct pier__copy_msg *msg)
{
	int err = (int)(msg->number[PIER__END_ERROR] & 0xffff);
	char text[PIER__RECORD_TEXT + 1], printable[PIER__RECORD_TEXT + 1];

	s->end_received = true;
	if (err) {
		copy_text(&msg->string[1], text, sizeof(text));
		pier__copy_printable(text, printable, sizeof(printable));
		return pier__fail(-err, "copy: the peer: %s", printable);
	}
	if (!s->sends || s->state != PIER__COPY_RUNNING ||
	    !atomic_load(&s->sender.finished))
		return pier__fail(-EPROTO, "copy: the peer has ended too "
				  "early");
	s->result.files = msg->number[PIER__END_FILES];
	s->result.failed = msg->number[PIER__END_FAILED];
	s->result.bytes = msg->number[PIER__END_BYTES];
	s->state = PIER__COPY_ENDING;
	if (!s->is_server)
		pier_comch_disconnect(s->conn);
	return 0;
}

void pier__copy_session_message(struct pier__copy_session *s,
				const struct pier__copy_msg *msg)
{
	int err = 0;

	if (s->state == PIER__COPY_ENDING)
		return;
	s->received_at = pier__now();
	if (msg->kind != PIER__COPY_PING ||
	    msg->number[PIER__PING_PROGRESS] > s->peer_progress)
		s->progress_at = s->received_at;
	switch (msg->kind) {
	case PIER__COPY_PING:
		s->peer_progress = msg->number[PIER__PING_PROGRESS];
		break;
	case PIER__COPY_FILLED:
	case PIER__COPY_FREE:
		err = s->state == PIER__COPY_RUNNING ? slot_arrived(s, msg) :
			pier__fail(-EPROTO, "copy: the peer has begun too "
				   "early");
		break;
	case PIER__COPY_REPORT:
		err = report_arrived(s, msg);
		break;
	case PIER__COPY_OFFSET:
		err = offset_arrived(s, msg);
		break;
	case PIER__COPY_END:
		err = end_arrived(s, msg);
		break;
	default:
		err = pier__fail(-EPROTO, "copy: the peer has sent a message "
				 "of kind %d now", msg->kind);
	}
	if (err)
		pier__copy_session_fail(s, err);
}

void pier__copy_session_disconnected(struct pier__copy_session *s)
{
	const char *text;
	int err = pier_comch_conn_error(s->conn, &text);

	if (s->state != PIER__COPY_ENDING) {
		err = err ? pier__fail(err, "copy: the connection has failed: "
				       "%s", text) :
			    pier__fail(-ECONNRESET, "copy: the peer has ended "
				       "the connection");
		s->conn = NULL;
		pier__copy_session_fail(s, err);
	}
	s->conn = NULL;
}

/* Nothing can be done here before the peer does something. */
static bool is_peers_turn(struct pier__copy_session *s)
{
	if (s->sends && pier__copy_io_awaits_offset(&s->io))
		return true;
	for (uint32_t i = 0; i < s->slots; i++)
		if (!s->away[i])
			return false;
	return !s->has_report && !s->offset_due;
}

/* The one that waits less long decides how often both send PING. */
static uint32_t ping_ms(const struct pier__copy_session *s)
{
	uint32_t least = s->copy->cfg.timeout_ms;

	if (s->peer_timeout_ms && s->peer_timeout_ms < least)
		least = s->peer_timeout_ms;
	return least / PINGS;
}

int pier__copy_session_round_ms(const struct pier__copy_session *s)
{
	return ping_ms(s) < ROUND_MS ? (int)ping_ms(s) : ROUND_MS;
}

int pier__copy_session_check_timeout(uint64_t timeout_ms)
{
	if (timeout_ms >= PIER__COPY_TIMEOUT_MIN &&
	    timeout_ms <= PIER__COPY_TIMEOUT_MAX)
		return 0;
	return pier__fail(-EPROTO, "copy: the peer waits for %llu ms: %d to "
			  "%d are allowed", (unsigned long long)timeout_ms,
			  PIER__COPY_TIMEOUT_MIN, PIER__COPY_TIMEOUT_MAX);
}

/*
 * A client that is alive, but does nothing or never completes its request, does
 * not stay for ever.
 */
static bool is_stalled(struct pier__copy_session *s, uint64_t now)
{
	uint64_t limit = s->copy->cfg.timeout_ms * PIER__MS * STALLED;

	if (!s->is_server || s->state == PIER__COPY_ENDING)
		return false;
	return now - s->progress_at > limit &&
	       (s->state == PIER__COPY_OPENING || is_peers_turn(s));
}

/* As long as the disk needs, fsync(2) is progress. */
static void send_ping(struct pier__copy_session *s)
{
	struct pier__copy_msg ping = { .kind = PIER__COPY_PING };

	if (atomic_load(&s->io.syncs))
		atomic_fetch_add(&s->io.progress, 1);
	ping.number[PIER__PING_PROGRESS] = atomic_load(&s->io.progress);
	pier__copy_session_send(s, &ping);
}

static void look_at_time(struct pier__copy_session *s)
{
	uint64_t now = pier__now(), limit = s->copy->cfg.timeout_ms * PIER__MS;
	int err;

	if (!s->conn)
		return;
	if (now - s->received_at > limit) {
		err = pier__fail(-ETIMEDOUT, "copy: the peer has sent nothing "
				 "for %u ms", s->copy->cfg.timeout_ms);
		pier__copy_session_fail(s, err);
		if (s->conn)
			pier_comch_disconnect(s->conn);
		return;
	}
	if (is_stalled(s, now)) {
		err = pier__fail(-ETIMEDOUT, "copy: the client has done "
				 "nothing for %u ms",
				 s->copy->cfg.timeout_ms * STALLED);
		pier__copy_session_fail(s, err);
		return;
	}
	if (s->state == PIER__COPY_RUNNING &&
	    now - s->sent_at > ping_ms(s) * PIER__MS)
		send_ping(s);
}

static void show_progress(struct pier__copy_session *s)
{
	uint64_t now = pier__now(), size;
	char path[PIER__RECORD_PATH + 1];

	if (!s->copy->progress || s->state != PIER__COPY_RUNNING ||
	    now - s->shown_at < SHOW_MS * PIER__MS)
		return;
	s->shown_at = now;
	size = pier__copy_io_current(&s->io, path);
	s->copy->progress(path, size, atomic_load(&s->io.bytes),
			  s->copy->arg);
}

void pier__copy_session_step(struct pier__copy_session *s)
{
	struct pier__copy_slot slot;

	while (s->state == PIER__COPY_RUNNING &&
	       pier__copy_io_next(&s->io, &slot)) {
		if (s->sends)
			pier__copy_session_move(s, slot);
		else
			pier__copy_ring_add(&s->pending, slot);
	}
	pier__copy_session_pump(s);
	if (s->state == PIER__COPY_RUNNING && pier__copy_io_drained(&s->io) &&
	    pier__copy_io_error(&s->io))
		pier__copy_session_fail(s, pier__copy_io_error(&s->io));
	look_at_time(s);
	show_progress(s);
}

void pier__copy_printable(const char *text, char *ret, size_t size)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		ret[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	ret[i] = '\0';
}
