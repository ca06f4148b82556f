/* SPDX-License-Identifier: BSD-2-Clause */
#include <ares.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cm/rdmacm/lookup.h"
#include "core/clock.h"
#include "core/fail.h"

#define EVENTS 8
#define TRY_MS 1000	/* before a server is asked again */
#define TRIES 3

struct pier__lookup {
	ares_channel channel;
	int epoll_fd;			/* the resolver's sockets */
	struct pier__source source;
	unsigned int queries;		/* under way */
};

struct pier__query {
	struct pier__lookup *lookup;
	pier__lookup_fn *fn;		/* NULL: cancelled */
	void *arg;
	uint16_t port;
	bool asking, done;
};

static void watch(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct pier__lookup *lookup = arg;
	struct epoll_event ev = { .data.fd = fd };

	if (readable)
		ev.events |= EPOLLIN;
	if (writable)
		ev.events |= EPOLLOUT;
	if (!ev.events)
		epoll_ctl(lookup->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(lookup->epoll_fd, EPOLL_CTL_MOD, fd, &ev))
		epoll_ctl(lookup->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

/* When the resolver's next timer is due. */
static void set_due(struct pier__lookup *lookup)
{
	struct timeval tv, *next = NULL;
	uint64_t due = PIER__NEVER;

	if (lookup->queries)
		next = ares_timeout(lookup->channel, NULL, &tv);
	if (next)
		due = pier__now() + (uint64_t)next->tv_sec * 1000 * PIER__MS +
		      (uint64_t)next->tv_usec * 1000;
	pier__pe_due(&lookup->source, due);
}

static int poll_sockets(struct pier__source *source, int budget)
{
	struct pier__lookup *lookup =
		pier__container_of(source, struct pier__lookup, source);
	struct epoll_event ev[EVENTS];
	int n;

	(void)budget;
	if (!lookup->queries)
		return 0;
	n = epoll_wait(lookup->epoll_fd, ev, EVENTS, 0);
	for (int i = 0; i < n; i++)
		ares_process_fd(lookup->channel,
				ev[i].events & ~EPOLLOUT ? ev[i].data.fd :
							   ARES_SOCKET_BAD,
				ev[i].events & EPOLLOUT ? ev[i].data.fd :
							  ARES_SOCKET_BAD);
	ares_process_fd(lookup->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_due(lookup);
	return n > 0;
}

static void init_library(void)
{
	ares_library_init(ARES_LIB_INIT_ALL);
}

static int open_channel(struct pier__lookup *lookup)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ares_options options = {
		.timeout = TRY_MS,
		.tries = TRIES,
		.sock_state_cb = watch,
		.sock_state_cb_data = lookup,
	};
	int status;

	pthread_once(&once, init_library);
	status = ares_init_options(&lookup->channel, &options,
				   ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					   ARES_OPT_SOCK_STATE_CB);
	return status ? pier__fail(-ENOMEM, "cannot resolve names: %s",
				   ares_strerror(status)) : 0;
}

int pier__lookup_create(struct pier_pe *pe, struct pier__lookup **ret)
{
	struct pier__lookup *lookup = calloc(1, sizeof(*lookup));
	int err;

	if (!lookup)
		return pier__fail(-ENOMEM, "cannot resolve names: no memory");
	lookup->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (lookup->epoll_fd < 0) {
		err = pier__fail(-errno, "cannot resolve names: %s",
				 pier_strerror(errno));
		goto err_free;
	}
	lookup->source.poll = poll_sockets;
	lookup->source.fd = lookup->epoll_fd;
	lookup->source.slow = true;
	lookup->source.due = PIER__NEVER;
	err = open_channel(lookup);
	if (err)
		goto err_close;
	err = pier__pe_add(pe, &lookup->source);
	if (err)
		goto err_destroy_channel;

	*ret = lookup;
	return 0;

err_destroy_channel:
	ares_destroy(lookup->channel);
err_close:
	close(lookup->epoll_fd);
err_free:
	free(lookup);
	return err;
}

void pier__lookup_destroy(struct pier__lookup *lookup)
{
	if (!lookup)
		return;
	ares_destroy(lookup->channel);	/* ends what is under way */
	pier__pe_remove(&lookup->source);
	close(lookup->epoll_fd);
	free(lookup);
}

static void collect(const struct ares_addrinfo *info, uint16_t port,
		    struct pier__addrs *ret)
{
	const struct ares_addrinfo_node *node;

	for (node = info->nodes; node && ret->count < PIER__ADDRS_MAX;
	     node = node->ai_next) {
		union pier__sockaddr *addr = &ret->addr[ret->count];

		if ((size_t)node->ai_addrlen > sizeof(*addr))
			continue;
		memcpy(addr, node->ai_addr, (size_t)node->ai_addrlen);
		pier__sockaddr_set_port(addr, port);
		ret->count++;
	}
}

static int error_of(int status)
{
	switch (status) {
	case ARES_SUCCESS:
	case ARES_ENODATA:
	case ARES_ENOTFOUND:
	case ARES_EBADNAME:
		return -ENOENT;
	case ARES_ENOMEM:
		return -ENOMEM;
	default:
		return -EHOSTUNREACH;
	}
}

static void answered(void *arg, int status, int timeouts,
		     struct ares_addrinfo *info)
{
	struct pier__query *query = arg;
	struct pier__addrs addrs = { 0 };

	(void)timeouts;
	query->lookup->queries--;
	query->done = true;
	if (!status && info)
		collect(info, query->port, &addrs);
	if (info)
		ares_freeaddrinfo(info);
	if (query->fn && addrs.count)
		query->fn(query->arg, &addrs, 0, NULL);
	else if (query->fn)
		query->fn(query->arg, NULL, error_of(status),
			  ares_strerror(status ? status : ARES_ENODATA));
	if (!query->asking)
		free(query);
}

int pier__lookup_name(struct pier__lookup *lookup, const char *name, int family,
		      uint16_t port, pier__lookup_fn *fn, void *arg,
		      struct pier__query **ret)
{
	struct ares_addrinfo_hints hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
	};
	struct pier__query *query = calloc(1, sizeof(*query));

	if (!query)
		return pier__fail(-ENOMEM, "cannot resolve %s: no memory",
				  name);
	query->lookup = lookup;
	query->fn = fn;
	query->arg = arg;
	query->port = port;
	query->asking = true;
	lookup->queries++;
	ares_getaddrinfo(lookup->channel, name, NULL, &hints, answered, query);
	query->asking = false;
	set_due(lookup);
	if (query->done) {
		free(query);
		query = NULL;
	}
	*ret = query;
	return 0;
}

void pier__query_cancel(struct pier__query *query)
{
	if (query)
		query->fn = NULL;
}
