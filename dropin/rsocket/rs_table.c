/* SPDX-License-Identifier: BSD-2-Clause */
/* The sockets of the process, by their descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define FDS 65536		/* descriptors below this can be sockets */
#define SIZE 384		/* of queues, in messages */
#define BYTES (1u << 17)	/* of rings */
#define INLINE 64

static struct rs *_Atomic table[FDS];

/* The memory of sockets: a thread may still hold one that was closed. */
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs *unused;

static void take(void)
{
	pthread_mutex_lock(&unused_lock);
}

static void give(void)
{
	pthread_mutex_unlock(&unused_lock);
}

/* A thread of the parent may have had the lock of an unused socket. */
static void reset_in_child(void)
{
	struct rs *rs;

	for (rs = unused; rs; rs = rs->next)
		pthread_mutex_init(&rs->lock, NULL);
	give();
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(take, give, reset_in_child);
}

struct rs *pier__rs_find(int fd)
{
	struct rs *rs = NULL;

	if (fd >= 0 && fd < FDS)
		rs = atomic_load(&table[fd]);
	if (!rs)
		errno = EBADF;
	return rs;
}

int pier__rs_lock(struct rs *rs, int fd)
{
	pthread_mutex_lock(&rs->lock);
	if (atomic_load(&table[fd]) == rs) {
		rs->users++;
		return 0;
	}
	pthread_mutex_unlock(&rs->lock);
	errno = EBADF;
	return -1;
}

void pier__rs_unlock(struct rs *rs)
{
	bool last = !--rs->users && rs->closed;
	int err = errno;

	pthread_mutex_unlock(&rs->lock);
	if (!last)
		return;
	if (rs->id && rs->id->qp)
		rdma_disconnect(rs->id);
	pier__rs_free(rs);
	errno = err;
}

int pier__rs_add(struct rs *rs)
{
	if (rs->fd >= FDS) {
		pier__rs_free(rs);
		errno = EMFILE;
		return -1;
	}
	atomic_store(&table[rs->fd], rs);
	return rs->fd;
}

static int watch(const struct rs *rs, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(rs->fd, EPOLL_CTL_ADD, fd, &event);
}

static int open_fds(struct rs *rs)
{
	rs->fd = epoll_create1(EPOLL_CLOEXEC);
	rs->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rs->channel = rdma_create_event_channel();
	if (rs->fd < 0 || rs->wake < 0 || !rs->channel)
		return -1;
	if (fcntl(rs->channel->fd, F_SETFL, O_NONBLOCK))
		return -1;
	return watch(rs, rs->wake) || watch(rs, rs->channel->fd) ? -1 : 0;
}

/* Zeroed, but for its lock, which who still has it from before may wait for. */
static struct rs *unused_or_new(void)
{
	struct rs *rs;

	pthread_mutex_lock(&unused_lock);
	rs = unused;
	if (rs)
		unused = rs->next;
	pthread_mutex_unlock(&unused_lock);
	if (rs) {
		memset(&rs->next, 0, sizeof(*rs) - offsetof(struct rs, next));
		return rs;
	}
	rs = calloc(1, sizeof(*rs));
	if (rs)
		pthread_mutex_init(&rs->lock, NULL);
	return rs;
}

static struct rs *rs_alloc(int family)
{
	struct rs *rs = unused_or_new();

	if (!rs)
		return NULL;
	rs->family = family;
	rs->fd = -1;
	rs->wake = -1;
	rs->sq_size = SIZE;
	rs->rq_size = SIZE;
	rs->inline_size = INLINE;
	rs->sbuf_size = BYTES;
	rs->rbuf_size = BYTES;
	return rs;
}

struct rs *pier__rs_new(int family)
{
	struct rs *rs = rs_alloc(family);
	int err;

	if (!rs || !open_fds(rs))
		return rs;
	err = errno;
	pier__rs_free(rs);
	errno = err;
	return NULL;
}

void pier__rs_free(struct rs *rs)
{
	if (rs->fd >= 0 && rs->fd < FDS)
		atomic_store(&table[rs->fd], NULL);
	pier__rs_tear_down(rs);
	if (rs->id)
		rdma_destroy_id(rs->id);
	if (rs->channel)
		rdma_destroy_event_channel(rs->channel);
	if (rs->wake >= 0)
		close(rs->wake);
	if (rs->fd >= 0)
		close(rs->fd);
	pthread_mutex_lock(&unused_lock);
	rs->next = unused;
	unused = rs;
	pthread_mutex_unlock(&unused_lock);
}

static int datagram(int domain, int type, int protocol)
{
	struct rs *rs = rs_alloc(domain);
	int err;

	if (!rs)
		return -1;
	rs->datagram = true;
	rs->fd = socket(domain, type, protocol);
	if (rs->fd < 0) {
		err = errno;
		pier__rs_free(rs);
		errno = err;
		return -1;
	}
	return pier__rs_add(rs);
}

int rsocket(int domain, int type, int protocol)
{
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct rs *rs;
	int err;

	if ((domain != AF_INET && domain != AF_INET6) ||
	    (kind != SOCK_STREAM && kind != SOCK_DGRAM) ||
	    (protocol && protocol != (kind == SOCK_STREAM ? IPPROTO_TCP :
							    IPPROTO_UDP))) {
		errno = ENOTSUP;
		return -1;
	}
	if (kind == SOCK_DGRAM)
		return datagram(domain, type, protocol);
	rs = pier__rs_new(domain);
	if (!rs)
		return -1;
	rs->nonblocking = type & SOCK_NONBLOCK;
	if (rdma_create_id(rs->channel, &rs->id, rs, RDMA_PS_TCP)) {
		err = errno;
		pier__rs_free(rs);
		errno = err;
		return -1;
	}
	return pier__rs_add(rs);
}

/* How long what was sent may take. */
static uint64_t linger_of(const struct rs *rs)
{
	return (rs->linger.l_onoff ? (uint32_t)rs->linger.l_linger :
				     RS_LINGER_S) * 1000 * PIER__MS;
}

/*
 * What was sent is at the peer when this returns, unless it has failed or takes
 * longer than SO_LINGER.  A signal, or O_NONBLOCK, does not change that.
 */
int rclose(int fd)
{
	struct rs *rs = pier__rs_find(fd);
	uint64_t end;

	if (!rs)
		return -1;
	if (pier__rs_lock(rs, fd))
		return -1;
	atomic_store(&table[fd], NULL);
	end = linger_of(rs) ? pier__now() + linger_of(rs) : 0;
	if (rs->state == RS_CONNECTED && end) {
		pier__rs_shutdown(rs, SHUT_RDWR, end);
		pier__rs_settle(rs, end);
	}
	rs->closed = true;
	pier__rs_fail(rs, EBADF);	/* of the threads that wait */
	pier__rs_unlock(rs);
	return 0;
}
