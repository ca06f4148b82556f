/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for a socket. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define SPIN_NS 10000		/* before it sleeps */

void pier__rs_changed(struct rs *rs)
{
	if (rs->to_wake) {
		rs->again = true;
	} else if (rs->sleepers) {
		rs->round++;
		rs->to_wake = rs->sleepers;
		eventfd_write(rs->wake, 1);
	}
}

unsigned int pier__rs_sleep(struct rs *rs)
{
	rs->sleepers++;
	if (rs->cq)
		ibv_req_notify_cq(rs->cq, 0);
	return rs->round;
}

/*
 * A round is of those who slept when it began: the last of them puts everything
 * back.  A thread that sleeps after that is not woken by it.
 */
static void woken(struct rs *rs)
{
	eventfd_t count;

	if (--rs->to_wake)
		return;
	eventfd_read(rs->wake, &count);
	if (rs->again) {
		rs->again = false;
		pier__rs_changed(rs);
	}
}

void pier__rs_awake(struct rs *rs, unsigned int round)
{
	struct ibv_cq *cq;
	void *context;

	if (rs->comp)
		while (!ibv_get_cq_event(rs->comp, &cq, &context))
			ibv_ack_cq_events(cq, 1);
	rs->sleepers--;
	if (round != rs->round)
		woken(rs);
	pier__rs_events(rs);
	pier__rs_progress(rs);
}

int pier__rs_wait_ms(uint64_t end)
{
	uint64_t now = pier__now();
	uint64_t ms = end > now ? (end - now) / PIER__MS + 1 : 0;

	return ms < RS_ALIVE_MS ? (int)ms : RS_ALIVE_MS;
}

static int sleep_once(struct rs *rs, bool (*is)(const struct rs *rs),
		      uint64_t end)
{
	struct pollfd pfd = { .fd = rs->fd, .events = POLLIN };
	unsigned int round = pier__rs_sleep(rs);
	int ret = 0, err;

	pier__rs_progress(rs);
	if (!is(rs)) {
		pthread_mutex_unlock(&rs->lock);
		ret = poll(&pfd, 1, pier__rs_wait_ms(end));
		err = errno;
		pthread_mutex_lock(&rs->lock);
		pier__rs_alive(rs);
	}
	pier__rs_awake(rs, round);
	if (ret < 0)
		errno = err;
	return ret < 0 ? -1 : 0;
}

int pier__rs_wait_until(struct rs *rs, bool (*is)(const struct rs *rs),
			uint64_t end)
{
	uint64_t spin = 0, now;

	while (!is(rs)) {
		pier__rs_progress(rs);
		if (is(rs))
			break;
		now = end ? pier__now() : 0;
		if (now >= end) {
			errno = EAGAIN;
			return -1;
		}
		if (!spin)
			spin = now + SPIN_NS;
		/* The lock is held: no other thread that waits is kept. */
		if (!rs->sleepers && now < spin)
			continue;
		if (sleep_once(rs, is, end))
			return -1;
		spin = 0;
	}
	return 0;
}

int pier__rs_wait(struct rs *rs, bool (*is)(const struct rs *rs), bool now)
{
	return pier__rs_wait_until(rs, is, now || rs->nonblocking ? 0 :
						   UINT64_MAX);
}
