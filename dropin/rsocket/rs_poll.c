/* SPDX-License-Identifier: BSD-2-Clause */
/* rpoll(3) and rselect(3), of sockets and of other descriptors. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define SPIN_NS 10000

/* With the lock held. */
static short events_of(struct rs *rs, short wanted)
{
	struct pollfd pfd = { .fd = rs->channel->fd, .events = POLLIN };
	short ret = 0;

	if (rs->state == RS_LISTENING)
		return poll(&pfd, 1, 0) == 1 ? wanted & POLLIN : 0;
	if (rs->state == RS_NEW || rs->state == RS_CONNECTING)
		return 0;
	if (pier__rs_can_recv(rs))
		ret |= wanted & POLLIN;
	if (pier__rs_can_send(rs))
		ret |= wanted & POLLOUT;
	/* Programs give up at this: what has come is read before. */
	if ((rs->state == RS_DISCONNECTED ||
	     (!rs->readable && !rs->writable)) && !rs->bytes)
		ret |= POLLHUP;
	if (rs->state == RS_FAILED)
		ret |= POLLERR;
	return ret;
}

static short check_stream(struct rs *rs, short wanted)
{
	short ret;

	pthread_mutex_lock(&rs->lock);
	pier__rs_progress(rs);
	ret = events_of(rs, wanted);
	pthread_mutex_unlock(&rs->lock);
	return ret;
}

static struct rs *stream_of(int fd)
{
	int err = errno;
	struct rs *rs = pier__rs_find(fd);

	errno = err;
	return rs && !rs->datagram ? rs : NULL;
}

/* Without waiting.  Returns how many have events, or -1. */
static int check(struct pollfd *fds, nfds_t count)
{
	int n = 0, ret;
	struct rs *rs;
	nfds_t i;

	for (i = 0; i < count; i++) {
		rs = stream_of(fds[i].fd);
		fds[i].revents = 0;
		if (rs) {
			fds[i].revents = check_stream(rs, fds[i].events);
		} else {
			ret = poll(&fds[i], 1, 0);
			if (ret < 0)
				return -1;
		}
		n += !!fds[i].revents;
	}
	return n;
}

/* What the kernel waits for in place of @fds. */
static void all_sleep(const struct pollfd *fds, nfds_t count,
		      struct pollfd *own)
{
	struct rs *rs;
	nfds_t i;

	for (i = 0; i < count; i++) {
		own[i] = fds[i];
		rs = stream_of(fds[i].fd);
		if (!rs)
			continue;
		own[i].events = POLLIN;
		pthread_mutex_lock(&rs->lock);
		pier__rs_sleep(rs);
		pthread_mutex_unlock(&rs->lock);
	}
}

static void all_awake(const struct pollfd *fds, nfds_t count)
{
	struct rs *rs;
	nfds_t i;

	for (i = 0; i < count; i++) {
		rs = stream_of(fds[i].fd);
		if (!rs)
			continue;
		pthread_mutex_lock(&rs->lock);
		pier__rs_awake(rs);
		pthread_mutex_unlock(&rs->lock);
	}
}

static int wait_once(struct pollfd *fds, nfds_t count, struct pollfd *own,
		     int timeout)
{
	int n, err;

	all_sleep(fds, count, own);
	n = check(fds, count);
	if (!n)
		n = poll(own, count, timeout) < 0 ? -1 : 0;
	err = errno;
	all_awake(fds, count);
	errno = err;
	return n;
}

int rpoll(struct pollfd *fds, nfds_t count, int timeout)
{
	uint64_t now = pier__now(), spin = now + SPIN_NS;
	uint64_t end = timeout < 0 ? UINT64_MAX :
		       now + (uint64_t)timeout * PIER__MS;
	struct pollfd *own;
	int n;

	do
		n = check(fds, count);
	while (!n && timeout && pier__now() < spin);
	if (n || !timeout)
		return n;
	own = calloc(count + 1, sizeof(*own));
	if (!own)
		return -1;
	while (!n && (now = pier__now()) < end) {
		n = wait_once(fds, count, own, timeout < 0 ? -1 :
			      (int)((end - now) / PIER__MS) + 1);
		if (!n)
			n = check(fds, count);
	}
	free(own);
	return n;
}

static short wanted(int fd, const fd_set *in, const fd_set *out,
		    const fd_set *except)
{
	return (short)((in && FD_ISSET(fd, in) ? POLLIN : 0) |
		       (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
		       (except && FD_ISSET(fd, except) ? POLLPRI : 0));
}

/* The bit of @fd stays if @revents has any of @events. */
static int keep(int fd, fd_set *set, short revents, int events)
{
	if (!set || !FD_ISSET(fd, set))
		return 0;
	if (revents & events)
		return 1;
	FD_CLR(fd, set);
	return 0;
}

int rselect(int count, fd_set *in, fd_set *out, fd_set *except,
	    struct timeval *timeout)
{
	int ms = timeout ? (int)(timeout->tv_sec * 1000 +
				 (timeout->tv_usec + 999) / 1000) : -1;
	struct pollfd *fds = calloc((size_t)count + 1, sizeof(*fds));
	int i, n = 0, ret = 0;

	if (!fds)
		return -1;
	for (i = 0; i < count; i++) {
		fds[n].fd = i;
		fds[n].events = wanted(i, in, out, except);
		n += !!fds[n].events;
	}
	if (rpoll(fds, (nfds_t)n, ms) < 0)
		ret = -1;
	for (i = 0; i < n && ret >= 0; i++) {
		ret += keep(fds[i].fd, in, fds[i].revents,
			    POLLIN | POLLHUP | POLLERR);
		ret += keep(fds[i].fd, out, fds[i].revents, POLLOUT | POLLERR);
		ret += keep(fds[i].fd, except, fds[i].revents, POLLPRI);
	}
	free(fds);
	return ret;
}
