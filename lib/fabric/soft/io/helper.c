/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/io/helper.h"

#define LOOK (2 * PIER__MS)	/* and the grace when a watch fires */
#define ROUNDS 16		/* of driving, before others have their turn */
#define EVENTS 32

/* In an event's data: the channel's id, and which of its descriptors. */
#define ON_SOCK 0
#define ON_TIMER 1
#define ON_EXTRA 2		/* and up: a further socket */
#define DATA(id, which) ((id) << 8 | (which))
#define WHICH(data) ((data) & 0xff)
#define ID(data) ((data) >> 8)

/*
 * @life serialises the first channel's start and the last one's end.  @lock
 * is held by the helper except while it sleeps, and protects the list.  @gate
 * is passed on the way to @lock, so that the helper, who takes it again and
 * again, cannot keep others out.  Order: life, gate, lock, an endpoint's.
 */
static struct helper {
	pthread_mutex_t life, gate, lock;
	pthread_t thread;
	size_t count;			/* of channels; under life */
	bool stop;
	uint64_t first_id;		/* smaller ones are a parent's */
	uint64_t last_id;
	struct pier__list chans;
	int epoll_fd;
	int bell;			/* wakes the helper */
} helper = {
	.life = PTHREAD_MUTEX_INITIALIZER,
	.gate = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.chans = { &helper.chans, &helper.chans },
};

static void helper_lock(void)
{
	pthread_mutex_lock(&helper.gate);
	pthread_mutex_lock(&helper.lock);
	pthread_mutex_unlock(&helper.gate);
}

static void helper_unlock(void)
{
	pthread_mutex_unlock(&helper.lock);
}

void pier__soft_helper_wake(void)
{
	uint64_t one = 1;
	ssize_t put;

	put = write(helper.bell, &one, sizeof(one));
	(void)put;		/* a full one is readable as well */
}

/* For one event on @fd.  Returns false if there is no memory for it. */
static bool watch_fd(int fd, uint64_t data)
{
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLONESHOT,
		.data.u64 = data,
	};

	return !epoll_ctl(helper.epoll_fd, EPOLL_CTL_MOD, fd, &ev) ||
	       !epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static bool watch_extra(struct soft_chan *chan)
{
	struct soft_chan_sock *sock;
	unsigned int i;

	for (i = 0; i < SOFT_EXTRA_SOCKS; i++) {
		sock = &chan->extra[i];
		if (sock->io && sock->watched != sock->generation &&
		    !watch_fd(sock->fd, DATA(chan->id, ON_EXTRA + i)))
			return false;
		sock->watched = sock->io ? sock->generation : 0;
	}
	return true;
}

/* What was in the set before the program took it out? */
static void forget_watches(struct soft_chan *chan)
{
	int i;

	chan->sock_watched = false;
	for (i = 0; i < SOFT_EXTRA_SOCKS; i++)
		chan->extra[i].watched = 0;
}

static bool watch_all(struct soft_chan *chan)
{
	if (!chan->socks_in)
		forget_watches(chan);
	chan->socks_in = true;
	if (!chan->sock_watched)
		chan->sock_watched = watch_fd(chan->sock,
					      DATA(chan->id, ON_SOCK));
	if (!chan->timer_watched)
		chan->timer_watched = watch_fd(chan->timer,
					       DATA(chan->id, ON_TIMER));
	return chan->sock_watched && chan->timer_watched && watch_extra(chan);
}

/* Have no socket of @chan in the set.  Touches nothing that is the helper's. */
static void unwatch(struct soft_chan *chan)
{
	int i;

	if (!chan->socks_in)
		return;
	epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL, chan->sock, NULL);
	for (i = 0; i < SOFT_EXTRA_SOCKS; i++)
		if (chan->extra[i].io)
			epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL,
				  chan->extra[i].fd, NULL);
	chan->socks_in = false;
}

void pier__soft_helper_keep_off(struct soft_chan *chan)
{
	atomic_store_explicit(&chan->ask, false, memory_order_relaxed);
	chan->looking = true;
	unwatch(chan);
	if (!chan->asleep)
		pier__soft_chan_listen(chan, false);
}

/* Sleep until a socket or the timer of @chan has something. */
static void watch(struct soft_chan *chan, uint64_t now)
{
	/* What was asked was not heard, and is no longer so. */
	atomic_store_explicit(&chan->ask, false, memory_order_relaxed);
	if (pier__soft_chan_listen(chan, true) || !watch_all(chan)) {
		chan->looking = true;
		chan->look_at = now + LOOK;
		return;
	}
	chan->looking = false;
	chan->look_at = PIER__NEVER;
	pier__soft_chan_set_timer(chan);
}

/* Has the program called since this was last asked? */
static bool came(struct soft_chan *chan)
{
	unsigned int calls = atomic_load_explicit(&chan->calls,
						  memory_order_relaxed);
	bool more = calls != chan->calls_seen;

	chan->calls_seen = calls;
	return more;
}

static void look_later(struct soft_chan *chan, uint64_t now)
{
	if (chan->look_at == PIER__NEVER || chan->look_at <= now)
		chan->look_at = now + LOOK;
}

/* The endpoint is ours: drive it until it is dry or wanted back. */
static void drive(struct soft_chan *chan, uint64_t now)
{
	int i, did = 1;

	chan->driver = SOFT_HELPER;
	for (i = 0; did && i < ROUNDS; i++) {
		if (atomic_load_explicit(&chan->calls, memory_order_relaxed) !=
		    chan->calls_seen)
			break;
		did = pier__soft_ep_drive(chan->ep);
	}
	pier__soft_chan_tell(chan);
	pier__soft_chan_publish(chan);
	if (did)
		chan->look_at = now;	/* at once, after the others */
	else
		watch(chan, now);
}

/* The program is there: it shall have its sockets out of the sets. */
static void stay(struct soft_chan *chan, uint64_t now)
{
	chan->fired = false;
	chan->look_at = now + LOOK;
	if (!pier__soft_ep_try_enter(chan->ep)) {
		/* It is in a call, at whose end it does that itself. */
		atomic_store(&chan->ask, true);
		return;
	}
	pier__soft_chan_publish(chan);
	pier__soft_helper_keep_off(chan);
	pier__soft_ep_leave(chan->ep);
}

/* Is the program still there? */
static void look(struct soft_chan *chan, uint64_t now)
{
	if (came(chan)) {
		stay(chan, now);
		return;
	}
	if (!pier__soft_ep_try_enter(chan->ep)) {
		chan->look_at = now + LOOK;
		return;
	}
	if (chan->asleep && !chan->fired && chan->driver == SOFT_PROGRAM)
		watch(chan, now);
	else
		drive(chan, now);
	pier__soft_ep_leave(chan->ep);
}

/* A socket or the timer of @chan has something. */
static void fire(struct soft_chan *chan, uint64_t data, uint64_t now)
{
	bool there = came(chan);

	if (WHICH(data) == ON_TIMER)
		chan->timer_watched = false;
	else if (WHICH(data) >= ON_EXTRA)
		chan->extra[WHICH(data) - ON_EXTRA].watched = 0;
	else
		chan->sock_watched = false;
	if (there || !pier__soft_ep_try_enter(chan->ep)) {
		look_later(chan, now);
		return;
	}
	if (chan->driver == SOFT_HELPER) {
		drive(chan, now);
	} else {
		chan->fired = true;
		look_later(chan, now);
	}
	pier__soft_ep_leave(chan->ep);
}

/* Programs are back that had left us to drive. */
static void take_recalls(uint64_t now)
{
	struct pier__list *pos, *tmp;
	struct soft_chan *chan;
	uint64_t count;
	ssize_t got = read(helper.bell, &count, sizeof(count));

	(void)got;
	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (atomic_exchange(&chan->recall, false)) {
			came(chan);
			chan->fired = false;
			look_later(chan, now);
		}
	}
}

static struct soft_chan *find(uint64_t id)
{
	struct pier__list *pos, *tmp;
	struct soft_chan *chan;

	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (chan->id == id)
			return chan;
	}
	return NULL;
}

/* Look at the channels that are due.  Returns when the next one is. */
static uint64_t look_all(uint64_t now)
{
	struct pier__list *pos, *tmp;
	uint64_t next = PIER__NEVER;
	struct soft_chan *chan;

	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (chan->look_at <= now)
			look(chan, now);
		if (chan->look_at < next)
			next = chan->look_at;
	}
	return next;
}

static void *helper_main(void *arg)
{
	struct epoll_event ev[EVENTS];
	uint64_t now, next = 0;
	int i, n;

	(void)arg;
	pthread_setname_np(pthread_self(), "pier-soft");
	for (;;) {
		n = epoll_wait(helper.epoll_fd, ev, EVENTS,
			       pier__ms_left(pier__now(), next));
		helper_lock();
		if (helper.stop)
			break;
		now = pier__now();
		for (i = 0; i < n; i++) {
			struct soft_chan *chan = find(ID(ev[i].data.u64));

			if (!ev[i].data.u64)
				take_recalls(now);
			else if (chan)	/* else destroyed meanwhile */
				fire(chan, ev[i].data.u64, now);
		}
		next = look_all(now);
		helper_unlock();
	}
	helper_unlock();
	return NULL;
}

/*
 * A real-time program that polls leaves its core to nobody of its own
 * priority: the helper, which is seldom awake, goes before it, as a NIC does.
 * Whoever may not do that has to give it a core.
 */
static void go_first(void)
{
	struct sched_param param;
	int policy;

	if (pthread_getschedparam(helper.thread, &policy, &param) ||
	    (policy != SCHED_FIFO && policy != SCHED_RR) ||
	    param.sched_priority == sched_get_priority_max(policy))
		return;
	param.sched_priority++;
	pthread_setschedparam(helper.thread, policy, &param);
}

/* Signals are the program's business. */
static int start_thread(void)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&helper.thread, NULL, helper_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		go_first();
	return -err;
}

/*
 * Around fork(2), so that a child finds nothing half done.  It has no helper
 * and none of its parent's channels: its first one starts a helper again.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&helper.life);
	helper_lock();
}

static void after_fork(void)
{
	helper_unlock();
	pthread_mutex_unlock(&helper.life);
}

/* The descriptors are copies; those of a helper that never was are closed. */
static void begin_anew(void)
{
	if (helper.count) {
		close(helper.bell);
		close(helper.epoll_fd);
	}
	helper.count = 0;
	helper.first_id = helper.last_id + 1;
	pier__list_init(&helper.chans);
	pthread_mutex_init(&helper.gate, NULL);
	after_fork();
}

static void follow_forks(void)
{
	int err = pthread_atfork(before_fork, after_fork, begin_anew);

	if (err)
		pier__log(PIER_LOG_WARNING, "soft", "a child process cannot "
			  "use soft devices: %s", pier_strerror(-err));
}

static int start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct epoll_event ev = { .events = EPOLLIN };
	int err;

	pthread_once(&once, follow_forks);
	helper.stop = false;
	helper.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	helper.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (helper.epoll_fd < 0 || helper.bell < 0 ||
	    epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD, helper.bell, &ev))
		err = -errno;
	else
		err = start_thread();
	if (!err)
		return 0;

	pier__fail(err, "cannot start the soft device's helper thread: %s",
		   pier_strerror(err));
	if (helper.bell >= 0)
		close(helper.bell);
	if (helper.epoll_fd >= 0)
		close(helper.epoll_fd);
	return err;
}

static void stop(void)
{
	helper_lock();
	helper.stop = true;
	helper_unlock();
	pier__soft_helper_wake();
	pthread_join(helper.thread, NULL);
	close(helper.bell);
	close(helper.epoll_fd);
}

int pier__soft_helper_add(struct soft_chan *chan)
{
	int err = 0;

	pthread_mutex_lock(&helper.life);
	if (!helper.count)
		err = start();
	if (err)
		goto out_unlock;
	helper.count++;
	helper_lock();
	chan->id = ++helper.last_id;
	chan->look_at = 0;
	chan->calls_seen = ~0u;		/* a program is there: it called us */
	pier__list_add(&helper.chans, &chan->link);
	helper_unlock();
	pier__soft_helper_wake();
out_unlock:
	pthread_mutex_unlock(&helper.life);
	return err;
}

/* Being called back, it looks, and then watches all there is. */
void pier__soft_helper_look(struct soft_chan *chan)
{
	atomic_store(&chan->recall, true);
	pier__soft_helper_wake();
}

void pier__soft_helper_remove(struct soft_chan *chan)
{
	pthread_mutex_lock(&helper.life);
	if (chan->id < helper.first_id)		/* its helper is elsewhere */
		goto out_unlock;
	helper_lock();
	pier__list_del(&chan->link);
	unwatch(chan);
	epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL, chan->timer, NULL);
	helper_unlock();
	if (!--helper.count)
		stop();
out_unlock:
	pthread_mutex_unlock(&helper.life);
}
