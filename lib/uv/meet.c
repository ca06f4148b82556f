/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fail.h"
#include "uv/session.h"

#define RETRY_MS 100		/* between tries to connect */
#define TRY_MS 5000		/* for one of them */
#define HOST_MAX 256

static void try_next(struct session *s);

/* Split "HOST:PORT", "[HOST]:PORT" or "PORT"; *host is "" without one. */
static int split(const char *address, char host[HOST_MAX], const char **port)
{
	const char *colon = strrchr(address, ':');
	const char *begin = address, *end = colon;

	host[0] = '\0';
	*port = colon ? colon + 1 : address;
	if (!**port || strspn(*port, "0123456789") != strlen(*port) ||
	    strtoul(*port, NULL, 10) > 65535)
		return pier__fail(-EINVAL, "exchange: \"%s\" has no port from "
				  "0 to 65535 after a colon", address);
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

static void report_port(struct session *s)
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

/* Bind to the first address that can be bound. */
static int bind_any(struct session *s)
{
	int err = UV_EADDRNOTAVAIL;

	for (s->addr = s->addrs; s->addr; s->addr = s->addr->ai_next) {
		uv_tcp_init(&s->loop, &s->listener);
		s->listener.data = s;
		err = uv_tcp_bind(&s->listener, s->addr->ai_addr, 0);
		if (!err)
			err = uv_listen((uv_stream_t *)&s->listener,
					CLIENTS_MAX, pier__session_client);
		if (!err)
			return 0;
		uv_close((uv_handle_t *)&s->listener, NULL);
		uv_run(&s->loop, UV_RUN_NOWAIT);
	}
	return err;
}

/* The codes of uv_getaddrinfo() are not the system's. */
static int cannot_resolve(const struct session *s, int err)
{
	return pier__fail(err <= UV_EAI_ADDRFAMILY ? -EHOSTUNREACH : err,
			  "exchange: cannot resolve \"%s\": %s",
			  s->cfg->address, uv_strerror(err));
}

static int resolve(struct session *s, const char *host, const char *port,
		   int flags, uv_getaddrinfo_cb done)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = flags | AI_NUMERICSERV };
	int err;

	s->resolve.data = s;
	s->resolving = done != NULL;
	err = uv_getaddrinfo(&s->loop, &s->resolve, done,
			     host[0] ? host : NULL, port, &hints);
	if (!err && !done)
		s->addrs = s->resolve.addrinfo;
	if (err) {
		s->resolving = false;
		return cannot_resolve(s, err);
	}
	return 0;
}

static int listen_at(struct session *s, const char *host, const char *port)
{
	int err = resolve(s, host, port, AI_PASSIVE, NULL);

	if (err)
		return err;
	err = bind_any(s);
	if (err)
		return pier__fail(err, "exchange: cannot listen at %s: %s",
				  s->cfg->address, uv_strerror(err));
	report_port(s);
	return 0;
}

/* No address was given: bind all, IPv4 as well; a host may have no IPv6. */
static int await_peer(struct session *s, const char *host, const char *port)
{
	if (host[0])
		return listen_at(s, host, port);
	if (!listen_at(s, "::", port))
		return 0;
	uv_freeaddrinfo(s->addrs);
	s->addrs = NULL;
	return listen_at(s, "0.0.0.0", port);
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

/* No peer: try the next address, or all of them again a little later. */
static void tried(struct session *s, int err)
{
	if (uv_now(&s->loop) + RETRY_MS >= s->deadline) {
		pier__fail(err, "exchange: cannot connect to %s within %d ms: "
			   "%s", s->cfg->address, s->cfg->timeout_ms,
			   uv_strerror(err));
		pier__session_end(s, err);
		return;
	}
	uv_timer_stop(&s->retry);
	s->addr = s->addr->ai_next;
	s->in.stream.data = s;
	uv_close((uv_handle_t *)&s->in.stream, on_try_closed);
}

/* A port of this host without a listener may connect to itself. */
static bool is_self(const struct session *s)
{
	struct sockaddr_storage here = { 0 }, there = { 0 };
	int len = sizeof(here), there_len = sizeof(there);

	return !uv_tcp_getsockname(&s->in.tcp, (struct sockaddr *)&here,
				   &len) &&
		!uv_tcp_getpeername(&s->in.tcp, (struct sockaddr *)&there,
				    &there_len) &&
		len == there_len && !memcmp(&here, &there, (size_t)len);
}

static void on_late(uv_timer_t *timer)
{
	tried(timer->data, UV_ETIMEDOUT);
}

static void on_connected(uv_connect_t *connect, int status)
{
	struct session *s = connect->data;

	if (s->over || status == UV_ECANCELED)
		return;		/* it is being closed */
	if (!status && is_self(s))
		status = UV_ECONNREFUSED;
	if (status) {
		tried(s, status);
		return;
	}
	uv_timer_stop(&s->retry);
	uv_tcp_nodelay(&s->in.tcp, 1);
	pier__session_met(s, &s->in.stream, &s->in.stream);
}

static void try_next(struct session *s)
{
	int err;

	uv_tcp_init(&s->loop, &s->in.tcp);
	s->connect.data = s;
	uv_timer_start(&s->retry, on_late, TRY_MS, 0);
	err = uv_tcp_connect(&s->connect, &s->in.tcp, s->addr->ai_addr,
			     on_connected);
	if (err)
		tried(s, err);
}

static void on_resolved(uv_getaddrinfo_t *req, int status,
			struct addrinfo *addrs)
{
	struct session *s = req->data;

	s->resolving = false;
	s->addrs = s->addr = addrs;
	if (s->over)
		return;
	if (status) {
		pier__session_end(s, cannot_resolve(s, status));
		return;
	}
	try_next(s);
}

/* As a shell or ssh sets them up; libuv aborts at a file. */
static int check_stdio(int fd, const char *name)
{
	struct stat st;

	if (fstat(fd, &st))
		return pier__fail(-errno, "exchange: no standard %s: %s", name,
				  pier_strerror(errno));
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return pier__fail(-EINVAL, "exchange: standard %s is %s, not "
				  "a pipe or socket to a peer", name,
				  S_ISREG(st.st_mode) ? "a file" :
				  S_ISCHR(st.st_mode) ? "a terminal or device" :
				  "something else");
	return 0;
}

int pier__session_check_stdio(void)
{
	int err = check_stdio(0, "input");

	return err ? err : check_stdio(1, "output");
}

static int open_stdio(struct session *s)
{
	int err;

	for (int fd = 0; fd < 2; fd++)
		s->flags[fd] = fcntl(fd, F_GETFL);
	s->stdio = true;
	uv_pipe_init(&s->loop, &s->in.pipe, 0);
	uv_pipe_init(&s->loop, &s->out.pipe, 0);
	err = uv_pipe_open(&s->in.pipe, 0);
	if (!err)
		err = uv_pipe_open(&s->out.pipe, 1);
	if (err)
		return pier__fail(err, "exchange: cannot use standard input "
				  "and output: %s", uv_strerror(err));
	pier__session_met(s, &s->in.stream, &s->out.stream);
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
		return await_peer(s, host, port);
	if (!host[0] || !strtoul(port, NULL, 10))
		return pier__fail(-EINVAL, "exchange: \"%s\" is not HOST:PORT",
				  s->cfg->address);
	return resolve(s, host, port, 0, on_resolved);
}

void pier__session_unmeet(struct session *s)
{
	uv_timer_stop(&s->retry);
	uv_timer_stop(&s->timer);
	if (s->resolving)
		uv_cancel((uv_req_t *)&s->resolve);
	/* Other users of these descriptors expect them to block. */
	for (int fd = 0; s->stdio && fd < 2; fd++)
		fcntl(fd, F_SETFL, s->flags[fd]);
}
