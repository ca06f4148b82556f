/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that have not sent hello.  Any of them may be a stranger, so several
 * are received from at a time, and the first hello makes its sender the peer.
 * Others are dropped after a while.  If there are too many, the next one takes
 * the place of the oldest.
 */
#include <string.h>

#include "core/fail.h"
#include "uv/session.h"

#define HELLO_MS 5000		/* until a client has sent hello */
#define LOOK_MS 500		/* between looks for those that are late */

static void take_client(struct session *s);

static uv_stream_t *stream_of(struct exchange_client *client)
{
	return (uv_stream_t *)&client->tcp;
}

static bool is_closing(struct exchange_client *client)
{
	return uv_is_closing((uv_handle_t *)&client->tcp);
}

static void on_closed(uv_handle_t *handle)
{
	struct exchange_client *client = handle->data;
	struct session *s = client->session;

	client->session = NULL;
	if (!s->over && !s->writer && s->pending)
		take_client(s);
}

static void drop(struct exchange_client *client)
{
	if (!is_closing(client))
		uv_close((uv_handle_t *)&client->tcp, on_closed);
}

static void drop_stranger(struct exchange_client *client)
{
	pier__log(PIER_LOG_WARNING, "exchange", "a client does not use the "
		  "protocol; waiting for another");
	drop(client);
}

/* @client has sent hello: it is the peer, the others are not. */
static void is_peer(struct exchange_client *client)
{
	struct session *s = client->session;

	for (int i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i].session && &s->clients[i] != client)
			drop(&s->clients[i]);
	uv_timer_stop(&s->retry);
	uv_read_stop(stream_of(client));
	uv_tcp_nodelay(&client->tcp, 1);
	memcpy(s->inbuf, client->buf, client->len);
	s->inlen = client->len;
	pier__session_met(s, stream_of(client), stream_of(client));
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct exchange_client *client = handle->data;

	(void)suggested;
	buf->base = (char *)client->buf + client->len;
	buf->len = sizeof(client->buf) - client->len;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct exchange_client *client = stream->data;
	struct frame frame;
	int len;

	(void)buf;
	if (client->session->over || n == 0)
		return;
	if (n < 0) {
		drop_stranger(client);
		return;
	}
	client->len += (size_t)n;
	len = pier__frame_decode(client->buf, client->len, &frame);
	if (len > 0 && frame.type == FRAME_HELLO)
		is_peer(client);
	else if (len || client->len == sizeof(client->buf))
		drop_stranger(client);
}

static void drop_late(uv_timer_t *timer)
{
	struct session *s = timer->data;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct exchange_client *client = &s->clients[i];

		if (client->session && !is_closing(client) &&
		    client->until <= uv_now(&s->loop))
			drop_stranger(client);
	}
}

/* A place for one more; NULL: the oldest is being dropped. */
static struct exchange_client *place(struct session *s)
{
	struct exchange_client *oldest = NULL;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct exchange_client *client = &s->clients[i];

		if (!client->session)
			return client;
		if (is_closing(client))
			return NULL;
		if (!oldest || client->until < oldest->until)
			oldest = client;
	}
	drop(oldest);
	return NULL;
}

static void take_client(struct session *s)
{
	struct exchange_client *client = place(s);

	if (!client)
		return;
	s->pending = false;
	client->session = s;
	client->until = uv_now(&s->loop) + HELLO_MS;
	client->len = 0;
	uv_tcp_init(&s->loop, &client->tcp);
	client->tcp.data = client;
	if (uv_accept((uv_stream_t *)&s->listener, stream_of(client)) ||
	    uv_read_start(stream_of(client), on_alloc, on_read))
		drop(client);
}

void pier__session_client(uv_stream_t *listener, int status)
{
	struct session *s = listener->data;

	if (s->over || s->writer || status)
		return;
	s->pending = true;
	if (!uv_is_active((uv_handle_t *)&s->retry))
		uv_timer_start(&s->retry, drop_late, LOOK_MS, LOOK_MS);
	take_client(s);
}
