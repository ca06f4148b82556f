/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cm/uv/session.h"
#include "core/copy.h"
#include "core/fail.h"

static void write_more(struct session *s);

static void close_all(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void pier__session_end(struct session *s, int err)
{
	if (s->over)
		return;
	s->over = true;
	s->err = err;
	if (err)
		snprintf(s->why, sizeof(s->why), "%s", pier_last_error());
	pier__session_unmeet(s);
	uv_walk(&s->loop, close_all, NULL);
}

/* Both have everything, and both know it. */
static void end_if_done(struct session *s)
{
	if (s->stored_said && s->stored_heard && !s->writing)
		pier__session_end(s, 0);
}

static void silence(uv_timer_t *timer)
{
	struct session *s = timer->data;

	if (!s->writer)
		pier__fail(-ETIMEDOUT, "exchange: no peer within %d ms",
			   s->cfg->timeout_ms);
	else
		pier__fail(-ETIMEDOUT, "exchange: nothing from the peer for %d "
			   "ms", s->cfg->timeout_ms);
	pier__session_end(s, -ETIMEDOUT);
}

static void sign_of_life(struct session *s)
{
	uv_timer_start(&s->timer, silence, (uint64_t)s->cfg->timeout_ms, 0);
}

static void on_written(uv_write_t *write, int status)
{
	struct session *s = write->data;

	if (s->over)
		return;
	s->writing = false;
	if (s->failed_said) {
		pier__session_end(s, s->err);
		return;
	}
	if (status) {
		pier__fail(-ECONNRESET, "exchange: the peer is gone: %s",
			   uv_strerror(status));
		pier__session_end(s, -ECONNRESET);
		return;
	}
	sign_of_life(s);
	write_more(s);
	end_if_done(s);
}

static void write_frame(struct session *s, const struct frame *frame)
{
	uv_buf_t buf = { .base = (char *)s->outbuf };
	int len = pier__frame_encode(frame, s->outbuf), err;

	if (len < 0) {
		pier__session_end(s, len);
		return;
	}
	buf.len = (size_t)len;
	s->write.data = s;
	s->writing = true;
	err = uv_write(&s->write, s->writer, &buf, 1, on_written);
	if (err) {
		pier__fail(err, "exchange: cannot write: %s", uv_strerror(err));
		pier__session_end(s, err);
	}
}

/* Say the next thing there is to say, one frame at a time. */
static void write_more(struct session *s)
{
	struct frame frame;

	if (s->over || s->writing)
		return;
	if (pier__outbox_next(&s->outbox, &frame)) {
		write_frame(s, &frame);
	} else if (s->inbox.done && !s->stored_said) {
		s->stored_said = true;
		frame = (struct frame){ .type = FRAME_STORED,
					.number = s->inbox.stored };
		write_frame(s, &frame);
	}
}

/* What came is refused: tell the peer, if it can still be told, and end. */
static void refuse(struct session *s, int err)
{
	const char *why = pier_last_error();
	struct frame frame = {
		.type = FRAME_FAILED,
		.bytes = (const uint8_t *)why,
		.len = strnlen(why, FRAME_TEXT_MAX),
	};

	if (s->writing || s->over) {
		pier__session_end(s, err);
		return;
	}
	s->err = err;
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->failed_said = true;
	write_frame(s, &frame);
}

static int take_stored(struct session *s, const struct frame *frame)
{
	if (!s->outbox.done || s->stored_heard ||
	    frame->number != s->outbox.count)
		return pier__fail(-EPROTO, "exchange: the peer has stored %llu "
				  "files of %zu", (unsigned long long)
				  frame->number, s->outbox.count);
	s->stored_heard = true;
	return 0;
}

/* The peer's sentence is for a terminal: nothing but text may get there. */
static int take_failed(const struct frame *frame)
{
	char text[FRAME_TEXT_MAX + 1];
	size_t len = frame->len < FRAME_TEXT_MAX ? frame->len : FRAME_TEXT_MAX;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = frame->bytes[i];

		text[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	text[len] = '\0';
	return pier__fail(-EREMOTEIO, "exchange: the peer gave up: %s", text);
}

static int take(struct session *s, const struct frame *frame)
{
	if (frame->type == FRAME_FAILED)
		return take_failed(frame);
	if (frame->type == FRAME_STORED)
		return take_stored(s, frame);
	return pier__inbox_take(&s->inbox, frame);
}

/* Take in the frames that are whole.  Returns 0 or why not. */
static int take_all(struct session *s)
{
	size_t at = 0;
	int len = 0, err = 0;

	while (!err && at < s->inlen) {
		struct frame frame;

		len = pier__frame_decode(s->inbuf + at, s->inlen - at, &frame);
		if (len <= 0)
			break;
		err = take(s, &frame);
		at += (size_t)len;
	}
	s->inlen -= at;
	memmove(s->inbuf, s->inbuf + at, s->inlen);
	return len < 0 ? len : err;
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct session *s = handle->data;

	(void)suggested;
	buf->base = (char *)s->inbuf + s->inlen;
	buf->len = sizeof(s->inbuf) - s->inlen;
}

/* Whoever connected and never said hello was no peer: wait for the next. */
static bool was_stranger(struct session *s)
{
	if (s->cfg->role != PIER_EXCHANGE_LISTEN || s->inbox.hello)
		return false;
	pier__log(PIER_LOG_WARNING, "exchange", "somebody connected who does "
		  "not speak the protocol; waiting on");
	pier__session_meet_again(s);
	return true;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct session *s = stream->data;
	int err;

	(void)buf;
	if (s->over || n == 0)
		return;
	if (n < 0) {
		if (was_stranger(s))
			return;
		err = pier__fail(-ECONNRESET, "exchange: the peer is gone "
				 "before all was exchanged: %s",
				 n == UV_EOF ? "end of the stream" :
					       uv_strerror((int)n));
		pier__session_end(s, err);
		return;
	}
	s->inlen += (size_t)n;
	err = take_all(s);
	if (err && was_stranger(s))
		return;
	if (err == -EREMOTEIO) {
		pier__session_end(s, err);
	} else if (err) {
		refuse(s, err);
	} else {
		sign_of_life(s);
		write_more(s);
		end_if_done(s);
	}
}

void pier__session_met(struct session *s, uv_stream_t *writer)
{
	int err;

	s->writer = writer;
	s->inlen = 0;
	s->in.stream.data = s;
	sign_of_life(s);
	err = uv_read_start(&s->in.stream, give_room, on_read);
	if (err) {
		pier__fail(err, "exchange: cannot read: %s", uv_strerror(err));
		pier__session_end(s, err);
		return;
	}
	write_more(s);
}

static int make_dir(const char *dir)
{
	if (!dir || !mkdir(dir, 0700) || errno == EEXIST)
		return 0;
	return pier__fail(-errno, "exchange: cannot make the directory %s: %s",
			  dir, pier_strerror(errno));
}

static int check(const struct pier_exchange_config *cfg)
{
	if (cfg->timeout_ms < 1)
		return pier__fail(-EINVAL, "exchange: timeout %d ms, at least "
				  "1", cfg->timeout_ms);
	if (cfg->role != PIER_EXCHANGE_STDIO && !cfg->address)
		return pier__fail(-EINVAL, "exchange: no address");
	return make_dir(cfg->receive);
}

static int run(struct session *s)
{
	int err = uv_loop_init(&s->loop);

	if (err)
		return pier__fail(err, "exchange: %s", uv_strerror(err));
	uv_timer_init(&s->loop, &s->timer);
	uv_timer_init(&s->loop, &s->retry);
	s->timer.data = s->retry.data = s;
	s->deadline = uv_now(&s->loop) + (uint64_t)s->cfg->timeout_ms;
	sign_of_life(s);
	err = pier__session_meet(s);
	if (err)
		pier__session_end(s, err);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
	uv_freeaddrinfo(s->addrs);
	return s->err ? pier__fail_again(s->err, s->why) : 0;
}

int pier_exchange(const struct pier_exchange_config *cfg)
{
	struct pier_exchange_config copy = { 0 };
	struct session *s;
	int err;

	err = pier__config_copy(&copy, sizeof(copy), cfg, cfg->size);
	if (!err)
		err = check(&copy);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return pier__fail(-ENOMEM, "exchange: no memory");
	s->cfg = &copy;
	s->inbox.dir = copy.receive;
	err = pier__outbox_fill(&s->outbox, copy.send, copy.send_count);
	if (!err)
		err = run(s);
	if (!err)
		err = (int)s->inbox.stored;
	pier__outbox_empty(&s->outbox);
	pier__inbox_empty(&s->inbox);
	free(s);
	return err;
}
