/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "copy/copy_impl.h"
#include "core/clock.h"
#include "core/fail.h"

static void sent(struct pier_task *task, void *arg)
{
	(void)task;	/* if it failed the connection has ended */
	(void)arg;
}

int pier__copy_session_send(struct pier__copy_session *session,
			    const struct pier__copy_msg *msg)
{
	uint8_t buf[PIER__COPY_MESSAGE];
	size_t len = pier__copy_msg_encode(msg, buf);
	int err = pier_comch_send(session->conn, buf, len, sent, NULL);

	if (!err)
		session->sent_at = pier__now();
	return err == -ENOBUFS ? -EAGAIN : err;
}

static int send_hello(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_HELLO,
		.number = { s->mode, s->sender.flags, s->slots,
			    s->slot_size, s->source_count,
			    s->copy->cfg.timeout_ms },
		.string[1] = { s->target, strlen(s->target) },
	};

	if (s->mode != PIER__COPY_PUT)
		msg.string[1].len = 0;
	pier_dma_export_desc(s->exported, &msg.string[0].data,
			     &msg.string[0].len);
	return pier__copy_session_send(s, &msg);
}

static int send_welcome(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_WELCOME,
		.number = { s->sends, s->copy->cfg.timeout_ms },
	};

	return pier__copy_session_send(s, &msg);
}

/* The client's HELLO and sources; the server's WELCOME, once it can begin. */
static int greet(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = { .kind = PIER__COPY_SOURCE };
	const char *source;
	int err = 0;

	if (!s->greeted && (!s->is_server || s->state == PIER__COPY_RUNNING)) {
		err = s->is_server ? send_welcome(s) : send_hello(s);
		s->greeted = !err;
	}
	while (!err && !s->is_server && s->sources_due) {
		source = s->source[s->source_count - s->sources_due];
		msg.string[1].data = source;
		msg.string[1].len = strlen(source);
		err = pier__copy_session_send(s, &msg);
		s->sources_due -= !err;
	}
	return err;
}

static int send_slots(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = {
		.kind = s->sends ? PIER__COPY_FILLED : PIER__COPY_FREE,
	};
	int err = 0;

	while (!err && s->pending.count) {
		const struct pier__copy_slot *slot =
			&s->pending.slot[s->pending.first];
		struct pier__copy_slot taken;

		msg.number[PIER__SLOT_INDEX] = slot->index;
		msg.number[PIER__SLOT_LEN] = slot->len;
		err = pier__copy_session_send(s, &msg);
		if (!err) {
			s->away[slot->index] = true;
			pier__copy_ring_take(&s->pending, &taken);
		}
	}
	return err;
}

/* What is there of a file, before the peer begins with the rest. */
static int send_offset(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = { .kind = PIER__COPY_OFFSET };
	int err;

	if (s->sends || (!s->offset_due &&
			 !pier__copy_io_next_offset(&s->io, &s->offset)))
		return 0;
	msg.number[PIER__OFFSET_FILE] = s->offset.number;
	msg.number[PIER__OFFSET_BYTES] = s->offset.bytes;
	msg.string[0].data = &s->offset.digest;
	msg.string[0].len = sizeof(s->offset.digest);
	err = pier__copy_session_send(s, &msg);
	s->offset_due = err;
	return err;
}

/* Call the program, and count what it is to be given as the call's error. */
static void show_report(struct pier__copy_session *s)
{
	const struct pier__copy_error *error = &s->report.error;
	char path[512];

	if (s->copy->failed)
		s->copy->failed(error->path, -error->error, error->text,
				s->copy->arg);
	if (s->error)
		return;
	pier__copy_printable(error->path, path, sizeof(path));
	s->error = pier__fail(-error->error, "copy: %s: %s", path,
			      error->text);
	snprintf(s->error_text, sizeof(s->error_text), "%s",
		 pier_last_error());
}

/* What fails here is reported to the peer, if it sends. */
static int send_reports(struct pier__copy_session *s)
{
	const struct pier__copy_error *error = &s->report.error;
	struct pier__copy_msg msg = { .kind = PIER__COPY_REPORT };
	int err = 0;

	while (!err) {
		if (!s->has_report) {
			if (!pier__copy_io_next_report(&s->io, &s->report))
				return 0;
			s->has_report = true;
			show_report(s);
		}
		if (s->sends || s->report.foreign) {
			s->has_report = false;
			continue;
		}
		msg.number[PIER__REPORT_FILE] = s->report.number;
		msg.number[PIER__REPORT_ERROR] = (uint64_t)error->error;
		msg.string[0].data = error->path;
		msg.string[0].len = strlen(error->path);
		msg.string[1].data = error->text;
		msg.string[1].len = strlen(error->text);
		err = pier__copy_session_send(s, &msg);
		s->has_report = err;
	}
	return err;
}

/* The receiver's, when all is received. */
static int send_end(struct pier__copy_session *s)
{
	struct pier__copy_msg msg = { .kind = PIER__COPY_END };
	int err;

	if (s->sends || s->end_sent || s->pending.count ||
	    !pier__copy_io_drained(&s->io) || !s->receiver.finished)
		return 0;
	msg.number[PIER__END_FILES] = atomic_load(&s->io.files);
	msg.number[PIER__END_FAILED] = s->receiver.failed;
	msg.number[PIER__END_BYTES] = atomic_load(&s->io.bytes);
	err = pier__copy_session_send(s, &msg);
	if (err)
		return err;
	s->end_sent = true;
	s->result.files = msg.number[PIER__END_FILES];
	s->result.failed = msg.number[PIER__END_FAILED];
	s->result.bytes = msg.number[PIER__END_BYTES];
	s->state = PIER__COPY_ENDING;
	if (!s->is_server)
		pier_comch_disconnect(s->conn);
	return 0;
}

void pier__copy_session_pump(struct pier__copy_session *s)
{
	int err;

	if (!s->conn || s->state == PIER__COPY_ENDING)
		return;
	err = greet(s);
	if (!err)
		err = send_slots(s);
	if (!err && s->state == PIER__COPY_RUNNING)
		err = send_offset(s);
	if (!err && s->state == PIER__COPY_RUNNING)
		err = send_reports(s);
	if (!err && s->state == PIER__COPY_RUNNING)
		err = send_end(s);
	if (err == -ENOTCONN)	/* the peer's END, or the reason, follows */
		return;
	if (err && err != -EAGAIN)
		pier__copy_session_fail(s, err);
}
