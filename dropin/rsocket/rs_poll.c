/* SPDX-License-Identifier: BSD-2-Clause */
/* rpoll(3) and rselect(3), of sockets and of other descriptors. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define SPIN_NS 10000
#define READ (POLLIN | POLLRDNORM)

/* With the lock held. */
static short events_of(struct rs *rs, short wanted)
{
	struct pollfd pfd = { .fd = rs->channel->fd, .events = POLLIN };
	short ret = 0;

	if (rs->state == RS_LISTENING)
		return poll(&pfd, 1, 0) == 1 ? wanted & READ : 0;
	if (rs->state == RS_NEW || rs->state == RS_CONNECTING)
		return 0;
	if (pier__rs_can_recv(rs))
		ret |= wanted & READ;
	if (pier__rs_can_send(rs))
		ret |= wanted & (POLLOUT | POLLWRNORM);
	if (rs->state == RS_DISCONNECTED || !rs->readable)
		ret |= wanted & POLLRDHUP;
	/* Programs give up at this: what has come is read before. */
	if ((rs->state == RS_DISCONNECTED ||
	     (!rs->readable && !rs->writable)) && !rs->bytes)
		ret |= POLLHUP;
	if (rs->state == RS_FAILED || rs->state == RS_REFUSED)
		ret |= POLLERR;
	return ret;
}

static short check_stream(struct rs *rs, int fd, short wanted)
{
	short ret;

	if (pier__rs_lock(rs, fd))
		return POLLNVAL;
	pier__rs_progress(rs);
	ret = events_of(rs, wanted);
	pier__rs_unlock(rs);
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
			fds[i].revents = check_stream(rs, fds[i].fd,
						      fds[i].events);
		} else {
			ret = poll(&fds[i], 1, 0);
			if (ret < 0)
				return -1;
		}
		n += !!fds[i].revents;
	}
	return n;
}

/* A stream that is waited for, and so not freed; NULL: none. */
struct sleeper {
	struct rs *rs;
	unsigned int round;
};

/* What the kernel waits for in place of @fds. */
static void all_sleep(const struct pollfd *fds, nfds_t count,
		      struct pollfd *own, struct sleeper *sleepers)
{
	struct rs *rs;
	nfds_t i;

	for (i = 0; i < count; i++) {
		own[i] = fds[i];
		rs = stream_of(fds[i].fd);
		sleepers[i].rs = NULL;
		if (!rs || pier__rs_lock(rs, fds[i].fd))
			continue;
		own[i].events = POLLIN;
		sleepers[i].rs = rs;
		sleepers[i].round = pier__rs_sleep(rs);
		pthread_mutex_unlock(&rs->lock);
	}
}

static void all_awake(const struct sleeper *sleepers, nfds_t count)
{
	struct rs *rs;
	nfds_t i;

	for (i = 0; i < count; i++) {
		rs = sleepers[i].rs;
		if (!rs)
			continue;
		pthread_mutex_lock(&rs->lock);
		pier__rs_alive(rs);
		pier__rs_awake(rs, sleepers[i].round);
		pier__rs_unlock(rs);
	}
}

static int wait_once(struct pollfd *fds, nfds_t count, struct pollfd *own,
		     struct sleeper *sleepers, uint64_t end)
{
	int n, err;

	all_sleep(fds, count, own, sleepers);
	n = check(fds, count);
	if (!n) {
		n = poll(own, count, pier__rs_wait_ms(end));
		n = n < 0 ? -1 : 0;
	}
	err = errno;
	all_awake(sleepers, count);
	errno = err;
	return n;
}

int rpoll(struct pollfd *fds, nfds_t count, int timeout)
{
	uint64_t now = pier__now(), spin = now + SPIN_NS;
	uint64_t end = timeout < 0 ? UINT64_MAX :
		       now + (uint64_t)timeout * PIER__MS;
	struct sleeper *sleepers;
	struct pollfd *own;
	int n;

	do
		n = check(fds, count);
	while (!n && timeout && pier__now() < spin);
	if (n || !timeout)
		return n;
	own = calloc(count + 1, sizeof(*own));
	sleepers = calloc(count + 1, sizeof(*sleepers));
	n = own && sleepers ? 0 : -1;
	while (!n && pier__now() < end) {
		n = wait_once(fds, count, own, sleepers, end);
		if (!n)
			n = check(fds, count);
	}
	free(own);
	free(sleepers);
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

static bool is_time(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_usec >= 0 &&
	       time->tv_usec < 1000000;
}

static int ms_of(const struct timeval *time)
{
	if (!time)
		return -1;
	if (time->tv_sec > INT_MAX / 1000 - 1)
		return INT_MAX;
	return (int)(time->tv_sec * 1000 + (time->tv_usec + 999) / 1000);
}

int rselect(int count, fd_set *in, fd_set *out, fd_set *except,
	    struct timeval *timeout)
{
	struct pollfd *fds;
	int i, n = 0, ret = 0;

	if (count < 0 || count > FD_SETSIZE || (timeout && !is_time(timeout))) {
		errno = EINVAL;
		return -1;
	}
	fds = calloc((size_t)count + 1, sizeof(*fds));
	if (!fds)
		return -1;
	for (i = 0; i < count; i++) {
		fds[n].fd = i;
		fds[n].events = wanted(i, in, out, except);
		n += !!fds[n].events;
	}
	if (rpoll(fds, (nfds_t)n, ms_of(timeout)) < 0)
		ret = -1;
	for (i = 0; i < n && ret >= 0; i++) {
		if (fds[i].revents & POLLNVAL) {
			errno = EBADF;
			ret = -1;
			break;
		}
		ret += keep(fds[i].fd, in, fds[i].revents,
			    POLLIN | POLLHUP | POLLERR);
		ret += keep(fds[i].fd, out, fds[i].revents, POLLOUT | POLLERR);
		ret += keep(fds[i].fd, except, fds[i].revents, POLLPRI);
	}
	free(fds);
	return ret;
}
