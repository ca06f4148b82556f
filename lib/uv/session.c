/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/copy.h"
#include "core/fail.h"
#include "uv/session.h"

#define LAST_FRAME_MS 2000	/* for the last message in either direction */

static void write_more(struct session *s);

static void close_all(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void keep_error(struct session *s, int err)
{
	s->err = err;
	snprintf(s->reason, sizeof(s->reason), "%s", pier_last_error());
}

void pier__session_end(struct session *s, int err)
{
	if (s->over)
		return;
	s->over = true;
	if (err && !s->err)
		keep_error(s, err);
	pier__session_unmeet(s);
	uv_walk(&s->loop, close_all, NULL);
}

/* Both peers have stored all files and have confirmed it. */
static void end_if_done(struct session *s)
{
	if (s->stored_sent && s->stored_received && !s->writing &&
	    !s->write_failed)
		pier__session_end(s, 0);
}

static uint64_t ms_left(const struct session *s)
{
	uint64_t now = uv_now(&s->loop);

	return now < s->deadline ? s->deadline - now : 0;
}

static void on_timeout(uv_timer_t *timer);

static void wait_for(struct session *s, uint64_t ms)
{
	uv_timer_start(&s->timer, on_timeout, ms, 0);
}

static void wait_for_meeting(struct session *s)
{
	wait_for(s, ms_left(s));
}

static void restart_timer(struct session *s)
{
	s->trickle = 0;
	if (!s->write_failed && !s->aborting)
		wait_for(s, (uint64_t)s->cfg->timeout_ms);
}

static int peer_disconnected(const char *reason)
{
	return pier__fail(-ECONNRESET, "exchange: the peer has disconnected "
			  "before all files were exchanged: %s", reason);
}

static void on_timeout(uv_timer_t *timer)
{
	struct session *s = timer->data;
	int err = -ETIMEDOUT;

	if (s->write_failed)
		err = peer_disconnected("it closed the connection");
	else if (!s->writer)
		pier__fail(err, "exchange: no peer within %d ms",
			   s->cfg->timeout_ms);
	else if (s->trickle && !s->err)
		pier__fail(err, "exchange: %zu bytes from the peer in %d ms, "
			   "at least %d or the end of a file is required",
			   s->trickle, s->cfg->timeout_ms, FRAME_DATA_MAX);
	else if (!s->err)
		pier__fail(err, "exchange: nothing from the peer for %d ms",
			   s->cfg->timeout_ms);
	pier__session_end(s, err);
}

static void on_written(uv_write_t *write, int status)
{
	struct session *s = write->data;

	if (s->over)
		return;
	s->writing = false;
	if (status) {
		s->write_failed = true;
		wait_for(s, LAST_FRAME_MS);
	} else if (!s->failed_sent) {
		restart_timer(s);
		write_more(s);
		end_if_done(s);
	}
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

static void send_failed(struct session *s)
{
	struct frame frame = {
		.type = FRAME_FAILED,
		.bytes = (const uint8_t *)s->reason,
		.len = strnlen(s->reason, FRAME_TEXT_MAX),
	};

	s->failed_sent = true;
	write_frame(s, &frame);
}

static void send_stored(struct session *s)
{
	struct frame frame = {
		.type = FRAME_STORED,
		.number = s->inbox.stored,
	};

	s->stored_sent = true;
	write_frame(s, &frame);
}

/* Send what is to be sent next, one frame at a time. */
static void write_more(struct session *s)
{
	struct frame frame;

	if (s->over || s->writing || s->write_failed || s->failed_sent)
		return;
	if (s->aborting)
		send_failed(s);
	else if (pier__outbox_next(&s->outbox, &frame))
		write_frame(s, &frame);
	else if (s->inbox.done && !s->stored_sent)
		send_stored(s);
}

/*
 * Reject what was received.  The peer gets the reason, after what is being
 * written, and closes when it has read that.  What it sends until then is read
 * and dropped: with unread data the system would discard our last frames.
 */
static void abort_exchange(struct session *s, int err)
{
	keep_error(s, err);
	s->aborting = true;
	wait_for(s, LAST_FRAME_MS);
	write_more(s);
}

static int check_stored(struct session *s, const struct frame *frame)
{
	if (!s->outbox.done || !s->inbox.done || s->stored_received ||
	    frame->number != s->outbox.count)
		return pier__fail(-EPROTO, "exchange: the peer has stored %llu "
				  "files of %zu, or reports it out of order",
				  (unsigned long long)frame->number,
				  s->outbox.count);
	s->stored_received = true;
	return 0;
}

static int peer_failed(const struct frame *frame)
{
	char text[FRAME_TEXT_MAX + 1];

	pier__frame_text(frame, text);
	return pier__fail(-EREMOTEIO, "exchange: the peer has given up: %s",
			  text);
}

static int take(struct session *s, const struct frame *frame)
{
	if (frame->type == FRAME_FAILED)
		return peer_failed(frame);
	if (frame->type == FRAME_STORED)
		return check_stored(s, frame);
	return pier__inbox_take(&s->inbox, frame);
}

/*
 * A peer that sends a byte now and then must not keep the exchange alive.
 * Frames of other types than data are few; data counts once it fills a frame or
 * ends a file.
 */
static bool is_progress(struct session *s, const struct frame *frame)
{
	if (frame->type != FRAME_DATA || !s->inbox.open)
		return true;
	s->trickle += frame->len;
	return s->trickle >= FRAME_DATA_MAX;
}

/* Process the complete frames.  Returns 0 or the error. */
static int take_all(struct session *s)
{
	bool progress = false;
	size_t at = 0;
	int len = 0, err = 0;

	while (!err && at < s->inlen) {
		struct frame frame;

		len = pier__frame_decode(s->inbuf + at, s->inlen - at, &frame);
		if (len <= 0)
			break;
		err = take(s, &frame);
		at += (size_t)len;
		progress = is_progress(s, &frame) || progress;
	}
	if (progress)
		restart_timer(s);
	s->inlen -= at;
	memmove(s->inbuf, s->inbuf + at, s->inlen);
	return len < 0 ? len : err;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct session *s = handle->data;

	(void)suggested;
	buf->base = (char *)s->inbuf + s->inlen;
	buf->len = sizeof(s->inbuf) - s->inlen;
}

/* The peer sends no more. */
static void on_end(struct session *s, int reason)
{
	if (!s->stored_sent || !s->stored_received || s->write_failed)
		pier__session_end(s, peer_disconnected(reason == UV_EOF ?
						       "end of the stream" :
						       uv_strerror(reason)));
	/* else our last frame is being written */
}

/* There is more in inbuf. */
static void received(struct session *s)
{
	int err = take_all(s);

	if (err == -EREMOTEIO) {
		pier__session_end(s, err);
	} else if (err) {
		abort_exchange(s, err);
	} else {
		write_more(s);
		end_if_done(s);
	}
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct session *s = stream->data;

	(void)buf;
	if (s->over || n == 0)
		return;
	if (n < 0) {
		on_end(s, (int)n);
		return;
	}
	if (s->aborting)
		return;		/* drop it */
	s->inlen += (size_t)n;
	received(s);
}

void pier__session_met(struct session *s, uv_stream_t *reader,
		       uv_stream_t *writer)
{
	int err;

	s->writer = writer;
	reader->data = s;
	restart_timer(s);
	err = uv_read_start(reader, on_alloc, on_read);
	if (err) {
		pier__fail(err, "exchange: cannot read: %s", uv_strerror(err));
		pier__session_end(s, err);
		return;
	}
	if (s->inlen)
		received(s);
	else
		write_more(s);
}

static int check_dir(const char *dir)
{
	struct stat st;

	if (!dir)
		return 0;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return pier__fail(-errno, "exchange: cannot create directory "
				  "%s: %s", dir, pier_strerror(errno));
	if (!stat(dir, &st) && !S_ISDIR(st.st_mode))
		return pier__fail(-ENOTDIR, "exchange: %s is not a directory",
				  dir);
	if (access(dir, W_OK | X_OK))
		return pier__fail(-errno, "exchange: cannot write into %s: %s",
				  dir, pier_strerror(errno));
	return 0;
}

static int check(const struct pier_exchange_config *cfg)
{
	int err = 0;

	if (cfg->timeout_ms < 1)
		return pier__fail(-EINVAL, "exchange: timeout %d ms, at least "
				  "1", cfg->timeout_ms);
	if ((unsigned int)cfg->role > PIER_EXCHANGE_STDIO)
		return pier__fail(-EINVAL, "exchange: role %d: 0 to %d",
				  (int)cfg->role, PIER_EXCHANGE_STDIO);
	if (cfg->role != PIER_EXCHANGE_STDIO && !cfg->address)
		return pier__fail(-EINVAL, "exchange: no address");
	if (cfg->role == PIER_EXCHANGE_STDIO)
		err = pier__session_check_stdio();
	return err ? err : check_dir(cfg->receive);
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
	wait_for_meeting(s);
	err = pier__session_meet(s);
	if (err)
		pier__session_end(s, err);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
	uv_freeaddrinfo(s->addrs);
	return s->err ? pier__fail_again(s->err, s->reason) : 0;
}

/* Writing to a closed connection must not end the program. */
static int run_without_sigpipe(struct session *s)
{
	const struct timespec now = { 0 };
	sigset_t pipe, before, pending;
	int err;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	err = run(s);
	if (!sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int pier_exchange(const struct pier_exchange_config *cfg)
{
	struct pier_exchange_config copy = { 0 };
	struct session *s;
	int err = pier__config_copy(&copy, sizeof(copy), cfg, cfg->size);

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
		err = run_without_sigpipe(s);
	if (!err)
		err = pier__inbox_commit(&s->inbox);
	if (!err)
		err = (int)s->inbox.stored;
	pier__outbox_empty(&s->outbox);
	pier__inbox_empty(&s->inbox);
	free(s);
	return err;
}
