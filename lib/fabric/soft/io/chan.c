/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/io/helper.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/shm/shm.h"
#include "fabric/soft/stats/counters_file.h"
#include "fabric/soft/stats/recorder.h"

#define SETTLE_ROUNDS 16
#define HELD_POLLS 4
#define LAST_TRIES 50
#define LAST_WAIT_NS 1000000	/* between two */

static int watch_socks(struct soft_chan *chan)
{
	int err = pier__soft_chan_watch(chan, chan->sock), i;

	if (chan->shm && !err)
		err = pier__soft_chan_watch(chan, chan->shm->bell_fd);
	for (i = 0; i < chan->extra_end && !err; i++)
		if (chan->extra[i].io)
			err = pier__soft_chan_watch(chan, chan->extra[i].fd);
	return err;
}

static void unwatch_socks(struct soft_chan *chan)
{
	int i;

	epoll_ctl(chan->chan.fd, EPOLL_CTL_DEL, chan->sock, NULL);
	if (chan->shm)
		epoll_ctl(chan->chan.fd, EPOLL_CTL_DEL, chan->shm->bell_fd,
			  NULL);
	for (i = 0; i < chan->extra_end; i++)
		if (chan->extra[i].io)
			epoll_ctl(chan->chan.fd, EPOLL_CTL_DEL,
				  chan->extra[i].fd, NULL);
}

/* @at: PIER__NEVER for off. */
static void timer_set(struct soft_chan *chan, uint64_t at)
{
	const uint64_t second = 1000 * PIER__MS;
	struct itimerspec spec = { 0 };

	if (at != PIER__NEVER) {
		at = at ? at : 1;	/* 0 would turn it off */
		spec.it_value.tv_sec = (time_t)(at / second);
		spec.it_value.tv_nsec = (long)(at % second);
	}
	timerfd_settime(chan->timer, TFD_TIMER_ABSTIME, &spec, NULL);
	chan->timer_at = at;
}

/*
 * A timer that expires too early is left alone: each packet moves deadlines.
 * One that has expired is set again, which makes it unreadable.
 */
void pier__soft_chan_set_timer(struct soft_chan *chan)
{
	uint64_t deadline = pier__soft_ep_deadline(chan->ep);

	if (chan->timer_at == PIER__NEVER && deadline == PIER__NEVER)
		return;
	if (chan->timer_at <= deadline &&
	    chan->timer_at > chan->io->ops->now(chan->io))
		return;
	timer_set(chan, deadline);
}

void pier__soft_chan_sleep(struct soft_chan *chan)
{
	if (chan->shm && pier__soft_shm_sleep(chan->shm))
		timer_set(chan, chan->io->ops->now(chan->io));
}

void pier__soft_chan_wake(struct soft_chan *chan)
{
	if (chan->shm)
		pier__soft_shm_wake(chan->shm);
}

void pier__soft_chan_connected(struct soft_chan *chan, struct soft_qp *qp)
{
	if (chan->shm && qp->selective &&
	    pier__soft_shm_connected(chan->shm, qp))
		pier__soft_helper_check(chan);
}

void pier__soft_chan_notify(struct soft_chan *chan)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &chan->cqs) {
		struct soft_chan_cq *cq = pier__container_of(
			pos, struct soft_chan_cq, link);

		if (!cq->armed || pier__soft_cq_empty(cq->queue))
			continue;
		cq->armed = false;
		if (cq->wake)
			cq->wake(cq);
		if (cq->wake || chan->woken)
			continue;
		/* A full one is readable as well. */
		eventfd_write(chan->wake_fd, 1);
		chan->woken = true;
	}
}

bool pier__soft_chan_enter_last(struct soft_chan *chan)
{
	const struct timespec pause = { .tv_nsec = LAST_WAIT_NS };
	int tries = LAST_TRIES;

	while (!pier__soft_ep_try_enter(chan->ep)) {
		if (!--tries)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

void pier__soft_chan_acknowledge(struct pier__chan *pchan)
{
	struct soft_chan *chan = chan_of(pchan);

	if (!pier__soft_chan_enter_last(chan))
		return;
	chan->ending = true;
	for (int i = 0; i < LAST_TRIES; i++) {
		pier__soft_ep_send_all(chan->ep);
		if (!pier__soft_ep_replies_pending(chan->ep))
			break;
	}
	pier__soft_ep_leave(chan->ep);
}

/*
 * Do acknowledgements wait for answers?  The program polls queues, and memory:
 * one that waits for events may count on a completion before the answer.
 */
static bool holds(const struct soft_chan *chan)
{
	return chan->always && chan->empties == SOFT_EMPTY_POLLS &&
	       !chan->armed && !chan->ending;
}

int pier__soft_chan_drive(struct soft_chan *chan)
{
	int did;

	if (!holds(chan))
		return pier__soft_ep_drive(chan->ep);
	did = pier__soft_ep_receive(chan->ep, true);
	return did + pier__soft_ep_send_held(chan->ep);
}

/*
 * The program may make no call for long after this one: leave nothing that
 * only a call would find.
 */
static void settle(struct soft_chan *chan, int did)
{
	int i;

	for (i = 0; did && i < SETTLE_ROUNDS; i++)
		did = pier__soft_chan_drive(chan);
	if (did)
		timer_set(chan, chan->io->ops->now(chan->io));
	else
		pier__soft_chan_set_timer(chan);
	pier__soft_chan_sleep(chan);
	pier__soft_chan_notify(chan);
}

void pier__soft_chan_begin(struct soft_chan *chan)
{
	unsigned int calls = atomic_load_explicit(&chan->calls,
						  memory_order_relaxed);

	atomic_store_explicit(&chan->calls, calls + 1, memory_order_relaxed);
	pier__soft_ep_enter(chan->ep);
	if (chan->driver == SOFT_HELPER && !chan->always)
		pier__soft_helper_check(chan);
	chan->driver = SOFT_PROGRAM;
}

/*
 * The helper has come, and gone as it found the endpoint taken.  It looks at
 * the lock after it has set @due, and this thread at @due after the lock, so
 * that one of them finds the other.
 */
static void drive_for_helper(struct soft_chan *chan)
{
	for (;;) {
		atomic_thread_fence(memory_order_seq_cst);
		if (!atomic_load_explicit(&chan->due, memory_order_relaxed) ||
		    !pier__soft_ep_try_enter(chan->ep))
			return;
		atomic_store(&chan->due, false);
		settle(chan, 1);
		pier__soft_helper_watch(chan);
		pier__soft_ep_leave(chan->ep);
	}
}

static bool has_completions(const struct soft_chan *chan)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &chan->cqs)
		if (!pier__soft_cq_empty(pier__container_of(
			    pos, struct soft_chan_cq, link)->queue))
			return true;
	return false;
}

/*
 * May responses wait for the program's next call?  After completions a program
 * often posts a request, which is more urgent than the acknowledgements.  The
 * next poll sends those, or the helper.  A program of verbs may have polled
 * another queue than the one that has completions.
 */
static bool may_hold(const struct soft_chan *chan, int n)
{
	return chan->held < HELD_POLLS && !chan->armed && chan->checking &&
	       pier__soft_ep_replies_pending(chan->ep) &&
	       (n > 0 || (chan->verbs && !n && has_completions(chan)));
}

int pier__soft_chan_send(struct soft_chan *chan, int n)
{
	if (!may_hold(chan, n)) {
		chan->held = 0;
		return holds(chan) ? pier__soft_ep_send_held(chan->ep) :
				     pier__soft_ep_send(chan->ep);
	}
	chan->held = n > 0 ? HELD_POLLS : chan->held + 1;
	return 0;
}

static void set_always(struct soft_chan *chan, bool always)
{
	if (atomic_load_explicit(&chan->always, memory_order_relaxed) == always)
		return;
	atomic_store(&chan->always, always);
	pier__soft_helper_check(chan);
}

void pier__soft_chan_polled(struct soft_chan *chan, int n)
{
	unsigned int polls = atomic_load_explicit(&chan->polls,
						  memory_order_relaxed);

	atomic_store_explicit(&chan->polls, polls + 1, memory_order_relaxed);
	if (n)
		return;
	if (chan->empties < SOFT_EMPTY_POLLS)
		chan->empties++;
	if (!pier__soft_chan_is_watched(chan))
		set_always(chan, false);
	chan->empty = true;
}

/* The socket of the last packet; -1: it came by shared memory. */
static int last_sock(const struct soft_chan *chan)
{
	const struct soft_io *io = chan->ep->rx_io[chan->ep->rx_io_last].io;
	int i;

	if (io == chan->io)
		return chan->sock;
	for (i = 0; i < chan->extra_end; i++)
		if (chan->extra[i].io == io)
			return chan->extra[i].fd;
	return -1;
}

/* The program polls: packets need not wake the helper. */
static void unwatch(struct soft_chan *chan)
{
	uint64_t now = chan->io->ops->now(chan->io);

	if (chan->timer_at <= now || chan->timer_at > now + SOFT_CHECK_NS)
		timer_set(chan, now + SOFT_CHECK_NS);
	if (chan->unwatched < 0)
		pier__soft_helper_unwatch(chan, last_sock(chan));
}

/* The end of a call, of which the helper need not know. */
static void end_watched(struct soft_chan *chan)
{
	if (chan->empty)
		unwatch(chan);
	else if (chan->unwatched >= 0)
		pier__soft_helper_rewatch(chan);
	chan->empty = false;
}

void pier__soft_chan_events(struct soft_chan *chan)
{
	chan->empties = 0;
}

void pier__soft_chan_end(struct soft_chan *chan, int did)
{
	if (pier__soft_chan_is_watched(chan))
		set_always(chan, true);
	if (chan->armed || !chan->checking)
		settle(chan, did);
	else if (chan->verbs)	/* another thread may wait for a queue */
		pier__soft_chan_notify(chan);
	if (chan->always && !chan->checking)
		end_watched(chan);
	pier__soft_ep_leave(chan->ep);
	if (chan->verbs)
		drive_for_helper(chan);
}

int pier__soft_chan_arm(struct pier__cq *cq)
{
	struct soft_chan *chan = chan_of(cq->chan);
	int err = 0;

	pier__soft_chan_begin(chan);
	if (!chan->armed)
		err = watch_socks(chan);
	if (err) {
		unwatch_socks(chan);
	} else {
		((struct soft_chan_cq *)cq)->armed = true;
		chan->armed = true;
		chan->posts = 0;
	}
	pier__soft_chan_end(chan, 1);
	return err;
}

void pier__soft_chan_clear(struct pier__chan *pchan)
{
	struct soft_chan *chan = chan_of(pchan);
	eventfd_t count;

	pier__soft_chan_begin(chan);
	if (chan->armed)
		unwatch_socks(chan);
	chan->armed = false;
	if (chan->woken) {
		/* This thread alone reads it. */
		eventfd_read(chan->wake_fd, &count);
		chan->woken = false;
	}
	pier__soft_chan_wake(chan);
	pier__soft_chan_set_timer(chan);
	pier__soft_chan_end(chan, 0);
}

int pier__soft_chan_watch(struct soft_chan *chan, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (epoll_ctl(chan->chan.fd, EPOLL_CTL_ADD, fd, &ev))
		return pier__fail(-errno, "channel: epoll_ctl: %s",
				  pier_strerror(errno));
	return 0;
}

static void close_fds(struct soft_chan *chan)
{
	if (chan->wake_fd >= 0)
		close(chan->wake_fd);
	if (chan->timer >= 0)
		close(chan->timer);
	if (chan->chan.fd >= 0)
		close(chan->chan.fd);
}

/* close_fds() copes with those that failed. */
static int open_fds(struct soft_chan *chan)
{
	int err;

	chan->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	chan->timer = timerfd_create(CLOCK_MONOTONIC,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	chan->chan.fd = epoll_create1(EPOLL_CLOEXEC);
	if (chan->wake_fd < 0 || chan->timer < 0 || chan->chan.fd < 0)
		return pier__fail(-errno, "channel: no file descriptor: %s",
				  pier_strerror(errno));
	err = pier__soft_chan_watch(chan, chan->wake_fd);
	if (!err)
		err = pier__soft_chan_watch(chan, chan->timer);
	chan->timer_at = PIER__NEVER;
	return err;
}

/*
 * A socket on a port that QPNs can carry, but for that of multicast; the first
 * one tried is random.
 */
static int open_verbs_port(unsigned int ifindex, struct soft_io **ret)
{
	const uint32_t ports = SOFT_GROUP_PORT - SOFT_QPN_PORT_MIN;
	uint32_t first = pier__random_id(ports), i;
	int err = -EADDRINUSE;

	for (i = 0; i < ports && err == -EADDRINUSE; i++)
		err = pier__soft_udp_create(&in6addr_any, SOFT_QPN_PORT_MIN +
					    (first + i) % ports, ifindex, ret);
	if (err == -EADDRINUSE)
		pier__fail(err, "all UDP ports from %u to %u are taken",
			   SOFT_QPN_PORT_MIN, SOFT_GROUP_PORT - 1);
	return err;
}

void pier__soft_chan_record(struct pier__chan *pchan, uint32_t events)
{
	struct soft_chan *chan = chan_of(pchan);
	bool on = events ? events == PIER_EVENTS_ON : pier__soft_recorder_on();

	pier__soft_ep_record_in(chan->ep, on ? pier__soft_row_events(chan->row)
					     : NULL);
}

struct soft_row *pier__soft_chan_show(const struct soft_chan *chan,
				      struct soft_qp *qp)
{
	const char *device = chan->chan.fdev->port.name;
	struct soft_row *row = pier__soft_row_get_qp(device, qp->qpn);

	if (!row)
		return NULL;
	pier__soft_qp_count_in(qp, &row->counters);
	if (chan->ep->events)
		pier__soft_qp_record_in(qp, pier__soft_row_qp_events(row));
	return row;
}

void pier__soft_chan_show_peer(struct soft_row *row,
			       const struct soft_addr *src,
			       const struct ibv_qp_attr *attr,
			       uint16_t udp_port)
{
	struct soft_addr peer = { .port = udp_port };

	memcpy(&peer.ip, attr->ah_attr.grh.dgid.raw, sizeof(peer.ip));
	pier__soft_row_peer(row, src, &peer, attr->dest_qp_num);
}

static int create(struct pier__fdev *fdev, bool verbs, uint32_t shm,
		  struct pier__chan **ret)
{
	const struct soft_fdev *soft = (const struct soft_fdev *)fdev;
	struct soft_chan *chan;
	enum pier_shm mode;
	int err;

	err = pier__soft_shm_mode(shm, &mode);
	if (err)
		return err;
	chan = calloc(1, sizeof(*chan));
	if (!chan)
		return pier__fail(-ENOMEM, "no memory for a channel");
	pier__list_init(&chan->cqs);
	chan->chan.fdev = fdev;
	chan->unwatched = -1;
	chan->verbs = verbs;
	atomic_init(&chan->always, verbs);
	err = verbs ? open_verbs_port(soft->ifindex, &chan->io)
		    : pier__soft_udp_create(&in6addr_any, 0, soft->ifindex,
					    &chan->io);
	if (err)
		goto err_free;
	chan->sock = pier__soft_udp_fd(chan->io);
	chan->chan.udp_port = chan->io->port;
	err = open_fds(chan);
	if (err)
		goto err_close;
	err = pier__soft_ep_create(chan->io, soft->keys, &chan->ep);
	if (err)
		goto err_close;
	if (verbs)
		pier__soft_ep_for_verbs(chan->ep);
	chan->row = pier__soft_row_get_ep(fdev->port.name, chan->io->port);
	if (chan->row)
		pier__soft_ep_count_in(chan->ep, &chan->row->counters);
	pier__soft_chan_record(&chan->chan, 0);
	err = pier__soft_shm_create(chan->ep, mode, &chan->shm);
	if (err)
		goto err_ep_destroy;
	err = pier__soft_helper_add(chan);
	if (err)
		goto err_shm_destroy;

	*ret = &chan->chan;
	return 0;

err_shm_destroy:
	pier__soft_shm_destroy(chan->shm);
err_ep_destroy:
	pier__soft_ep_destroy(chan->ep);
	pier__soft_row_put(chan->row);
err_close:
	close_fds(chan);
	pier__soft_udp_destroy(chan->io);
err_free:
	free(chan);
	return err;
}

int pier__soft_chan_create(struct pier__fdev *fdev, uint32_t shm,
			   struct pier__chan **ret)
{
	return create(fdev, false, shm, ret);
}

int pier__soft_chan_create_verbs(struct pier__fdev *fdev,
				 struct pier__chan **ret)
{
	return create(fdev, true, 0, ret);
}

void pier__soft_chan_destroy(struct pier__chan *pchan)
{
	struct soft_chan *chan = chan_of(pchan);
	int i;

	if (!chan)
		return;
	pier__soft_helper_remove(chan);
	pier__soft_chan_publish(chan);
	if (chan->cm)
		chan->cm_free(chan->cm);
	pier__soft_shm_destroy(chan->shm);
	pier__soft_ep_destroy(chan->ep);
	pier__soft_row_put(chan->row);
	close_fds(chan);
	pier__soft_udp_destroy(chan->io);
	for (i = 0; i < chan->extra_end; i++)
		if (chan->extra[i].io)
			pier__soft_udp_destroy(chan->extra[i].io);
	free(chan);
}
