/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/uv/session.h"
#include "core/fail.h"

#define RETRY_MS 100		/* between tries to connect */
#define HOST_MAX 256

static void try_next(struct session *s);

/* Split "HOST:PORT", "[HOST]:PORT" or "PORT"; *host is "" without one. */
static int split(const char *address, char host[HOST_MAX], const char **port)
{
	const char *colon = strrchr(address, ':');
	const char *begin = address, *end = colon;
	char *rest;
	unsigned long number;

	host[0] = '\0';
	*port = colon ? colon + 1 : address;
	number = strtoul(*port, &rest, 10);
	if (!**port || *rest || number > 65535)
		return pier__fail(-EINVAL, "exchange: \"%s\" has no port from "
				  "0 to 65535 behind a colon", address);
	if (!colon)
		return 0;
	if (begin[0] == '[' && end > begin + 1 && end[-1] == ']') {
		begin++;
		end--;
	}
	if (end - begin >= HOST_MAX)
		return pier__fail(-EINVAL, "exchange: the host in \"%s\" is "
				  "too long", address);
	memcpy(host, begin, (size_t)(end - begin));
	host[end - begin] = '\0';
	return 0;
}

static void on_peer(uv_stream_t *listener, int status)
{
	struct session *s = listener->data;

	if (s->over || status || s->writer)
		return;	/* a second one waits in the backlog until we end */
	uv_tcp_init(&s->loop, &s->in.tcp);
	if (uv_accept(listener, &s->in.stream)) {
		uv_close((uv_handle_t *)&s->in.stream, NULL);
		return;
	}
	uv_tcp_nodelay(&s->in.tcp, 1);
	pier__session_met(s, &s->in.stream);
}

static void on_stranger_closed(uv_handle_t *handle)
{
	struct session *s = handle->data;

	s->writer = NULL;
	s->inlen = 0;
	s->writing = false;
	s->outbox.hello = s->outbox.named = s->outbox.done = false;
	s->outbox.at = s->outbox.sent = 0;
	s->inbox.hello = false;
	if (!s->over)
		on_peer((uv_stream_t *)&s->listener, 0);
}

void pier__session_meet_again(struct session *s)
{
	s->in.stream.data = s;
	uv_close((uv_handle_t *)&s->in.stream, on_stranger_closed);
}

static void tell_port(struct session *s)
{
	struct sockaddr_storage addr;
	int len = sizeof(addr);

	if (!s->cfg->listening ||
	    uv_tcp_getsockname(&s->listener, (struct sockaddr *)&addr, &len))
		return;
	s->cfg->listening(addr.ss_family == AF_INET6 ?
			  ntohs(((struct sockaddr_in6 *)&addr)->sin6_port) :
			  ntohs(((struct sockaddr_in *)&addr)->sin_port),
			  s->cfg->arg);
}

/* Bind to the first address that lets itself be bound. */
static int bind_any(struct session *s)
{
	int err = UV_EADDRNOTAVAIL;

	for (s->addr = s->addrs; s->addr; s->addr = s->addr->ai_next) {
		uv_tcp_init(&s->loop, &s->listener);
		s->listener.data = s;
		err = uv_tcp_bind(&s->listener, s->addr->ai_addr, 0);
		if (!err)
			err = uv_listen((uv_stream_t *)&s->listener, 4,
					on_peer);
		if (!err)
			return 0;
		uv_close((uv_handle_t *)&s->listener, NULL);
		uv_run(&s->loop, UV_RUN_NOWAIT);
	}
	return err;
}

static int resolve(struct session *s, const char *host, const char *port,
		   int flags, uv_getaddrinfo_cb done)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = flags | AI_NUMERICSERV };
	int err;

	s->resolve.data = s;
	err = uv_getaddrinfo(&s->loop, &s->resolve, done,
			     host[0] ? host : NULL, port, &hints);
	if (!err && !done)
		s->addrs = s->resolve.addrinfo;
	if (err)
		return pier__fail(err, "exchange: cannot resolve \"%s\": %s",
				  s->cfg->address, uv_strerror(err));
	return 0;
}

static int listen_for_peer(struct session *s, const char *host,
			   const char *port)
{
	int err = resolve(s, host, port, AI_PASSIVE, NULL);

	if (err)
		return err;
	err = bind_any(s);
	if (err)
		return pier__fail(err, "exchange: cannot listen at %s: %s",
				  s->cfg->address, uv_strerror(err));
	tell_port(s);
	return 0;
}

static void on_retry(uv_timer_t *timer)
{
	struct session *s = timer->data;

	s->addr = s->addrs;
	try_next(s);
}

static void on_try_closed(uv_handle_t *handle)
{
	struct session *s = handle->data;

	if (s->over)
		return;
	if (s->addr)
		try_next(s);
	else
		uv_timer_start(&s->retry, on_retry, RETRY_MS, 0);
}

/* Nobody there: the next address, or all of them again a little later. */
static void tried(struct session *s, int err)
{
	if (uv_now(&s->loop) + RETRY_MS >= s->deadline) {
		pier__fail(err, "exchange: cannot connect to %s within %d ms: "
			   "%s", s->cfg->address, s->cfg->timeout_ms,
			   uv_strerror(err));
		pier__session_end(s, err);
		return;
	}
	s->addr = s->addr->ai_next;
	s->in.stream.data = s;
	uv_close((uv_handle_t *)&s->in.stream, on_try_closed);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct session *s = connect->data;

	if (s->over)
		return;
	if (status) {
		tried(s, status);
		return;
	}
	uv_tcp_nodelay(&s->in.tcp, 1);
	pier__session_met(s, &s->in.stream);
}

static void try_next(struct session *s)
{
	int err;

	uv_tcp_init(&s->loop, &s->in.tcp);
	s->connect.data = s;
	err = uv_tcp_connect(&s->connect, &s->in.tcp, s->addr->ai_addr,
			     on_connected);
	if (err)
		tried(s, err);
}

static void on_resolved(uv_getaddrinfo_t *req, int status,
			struct addrinfo *addrs)
{
	struct session *s = req->data;

	s->addrs = s->addr = addrs;
	if (s->over)
		return;
	if (status) {
		pier__fail(status, "exchange: cannot resolve \"%s\": %s",
			   s->cfg->address, uv_strerror(status));
		pier__session_end(s, status);
		return;
	}
	try_next(s);
}

/* Any kind of descriptor that a shell or ssh gives a program. */
static int open_stdio(struct session *s)
{
	int err;

	uv_pipe_init(&s->loop, &s->in.pipe, 0);
	uv_pipe_init(&s->loop, &s->out.pipe, 0);
	err = uv_pipe_open(&s->in.pipe, 0);
	if (!err)
		err = uv_pipe_open(&s->out.pipe, 1);
	if (err)
		return pier__fail(err, "exchange: standard input and output "
				  "are no pipes or sockets: %s", uv_strerror(err));
	pier__session_met(s, &s->out.stream);
	return 0;
}

int pier__session_meet(struct session *s)
{
	char host[HOST_MAX];
	const char *port;
	int err;

	if (s->cfg->role == PIER_EXCHANGE_STDIO)
		return open_stdio(s);
	err = split(s->cfg->address, host, &port);
	if (err)
		return err;
	if (s->cfg->role == PIER_EXCHANGE_LISTEN)
		return listen_for_peer(s, host, port);
	if (!host[0])
		return pier__fail(-EINVAL, "exchange: \"%s\" names no host: "
				  "HOST:PORT", s->cfg->address);
	return resolve(s, host, port, 0, on_resolved);
}

void pier__session_unmeet(struct session *s)
{
	uv_timer_stop(&s->retry);
	uv_timer_stop(&s->timer);
	uv_cancel((uv_req_t *)&s->resolve);
}
