/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/thread.h"
#include "fabric/soft/io/dump.h"
#include "fabric/soft/io/helper.h"
#include "fabric/soft/shm/shm.h"
#include "fabric/soft/stats/capture.h"
#include "fabric/soft/stats/counters_file.h"

#define ROUNDS 16		/* of driving, before the next channel */
#define EVENTS 32
#define SHM_EVENT (UINT64_C(1) << 63)	/* with a channel's id */
#define DUMP_EVENT (UINT64_C(1) << 62)	/* of dump.h */
#define PORT_EVENT (UINT64_C(1) << 61)	/* with a channel's id */

/*
 * @life serialises the first channel's start and the last one's end.  @lock
 * is held by the helper except while it sleeps, and protects the list.  @gate
 * is taken for the time of locking @lock, so that the helper, which locks it
 * again and again, cannot starve others.  Order: life, gate, lock, endpoint.
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
	int wake_fd;			/* ends the helper's sleep */
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

static void wake(void)
{
	eventfd_write(helper.wake_fd, 1); /* a full one is readable as well */
}

/* Report @events on @fd once.  Returns false if there is no memory for it. */
static bool watch_fd(const struct soft_chan *chan, int fd, uint32_t events)
{
	struct epoll_event ev = {
		.events = events | EPOLLONESHOT,
		.data.u64 = chan->id,
	};

	return !epoll_ctl(helper.epoll_fd, EPOLL_CTL_MOD, fd, &ev) ||
	       !epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

/*
 * Each time that links of shared memory have something.  Without memory for it
 * none is made.
 */
static void watch_shm(const struct soft_chan *chan)
{
	struct epoll_event ev = {
		.events = EPOLLIN,
		.data.u64 = chan->id | SHM_EVENT,
	};

	if (chan->shm)
		epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD,
			  chan->shm->control_fd, &ev);
}

static bool watch_fds(struct soft_chan *chan)
{
	bool all = watch_fd(chan, chan->sock, EPOLLIN) &&
		   watch_fd(chan, chan->timer, EPOLLIN);
	int i;

	if (chan->shm)
		all = all && watch_fd(chan, chan->shm->bell_fd, EPOLLIN);
	for (i = 0; all && i < chan->extra_end; i++)
		if (chan->extra[i].io)
			all = watch_fd(chan, chan->extra[i].fd, EPOLLIN);
	chan->unwatched = -1;
	return all;
}

static void unwatch_fds(const struct soft_chan *chan)
{
	int i;

	epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL, chan->sock, NULL);
	epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL, chan->timer, NULL);
	if (chan->shm) {
		epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL, chan->shm->bell_fd,
			  NULL);
		epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL,
			  chan->shm->control_fd, NULL);
	}
	if (chan->port_event)
		epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL,
			  chan->chan.fdev->event_fd, NULL);
	for (i = 0; i < chan->extra_end; i++)
		if (chan->extra[i].io)
			epoll_ctl(helper.epoll_fd, EPOLL_CTL_DEL,
				  chan->extra[i].fd, NULL);
}

/* Sleep until a socket or the timer of @chan has something. */
static void watch(struct soft_chan *chan, uint64_t now)
{
	chan->checking = !watch_fds(chan);
	if (chan->checking) {
		chan->check_at = now + SOFT_CHECK_NS;
		return;
	}
	chan->check_at = PIER__NEVER;
	pier__soft_chan_set_timer(chan);
	pier__soft_chan_sleep(chan);
}

/* Of the program's calls, those that drive. */
static unsigned int calls_of(struct soft_chan *chan)
{
	return atomic_load_explicit(chan->verbs ? &chan->polls : &chan->calls,
				    memory_order_relaxed);
}

/* Has the program made a call since the last has_called()? */
static bool has_called(struct soft_chan *chan)
{
	unsigned int calls = calls_of(chan);
	bool more = calls != chan->calls_seen;

	chan->calls_seen = calls;
	return more;
}

static void check_soon(struct soft_chan *chan, uint64_t now)
{
	if (chan->check_at == PIER__NEVER || chan->check_at <= now)
		chan->check_at = now + SOFT_CHECK_NS;
}

/* Drive until there is nothing to do or the program makes a call. */
static void drive(struct soft_chan *chan, uint64_t now)
{
	int i, did = 1;

	chan->driver = SOFT_HELPER;
	pier__soft_chan_wake(chan);
	for (i = 0; did && i < ROUNDS; i++) {
		if (!chan->always && calls_of(chan) != chan->calls_seen)
			break;
		did = pier__soft_chan_drive(chan);
	}
	pier__soft_chan_notify(chan);
	pier__soft_chan_publish(chan);
	if (did)
		chan->check_at = now;	/* at once, after other channels */
	else
		watch(chan, now);
}

/* The program drives. It may be in a call; do not wait for its end. */
static void leave_to_program(struct soft_chan *chan, uint64_t now)
{
	chan->check_at = now + SOFT_CHECK_NS;
	chan->checking = true;
	if (!pier__soft_ep_try_enter(chan->ep))
		return;
	pier__soft_chan_publish(chan);
	if (!chan->armed)
		pier__soft_chan_wake(chan);
	pier__soft_ep_leave(chan->ep);
}

/*
 * A thread of the program that is in a call drives at its end.  If it does not
 * watch again, as there is no memory for it, a check finds that.
 */
static void drive_always(struct soft_chan *chan, uint64_t now)
{
	chan->check_at = now + SOFT_CHECK_NS;
	atomic_store(&chan->due, true);
	atomic_thread_fence(memory_order_seq_cst);
	if (!pier__soft_ep_try_enter(chan->ep))
		return;
	atomic_store(&chan->due, false);
	drive(chan, now);
	pier__soft_ep_leave(chan->ep);
}

/* Does the program still drive? */
static void check(struct soft_chan *chan, uint64_t now)
{
	if (chan->always) {
		drive_always(chan, now);
		return;
	}
	if (has_called(chan)) {
		leave_to_program(chan, now);
		return;
	}
	if (!pier__soft_ep_try_enter(chan->ep)) {
		chan->check_at = now + SOFT_CHECK_NS;
		return;
	}
	atomic_store(&chan->always, chan->verbs);
	chan->empties = 0;
	if (chan->armed && chan->driver == SOFT_PROGRAM)
		watch(chan, now);
	else
		drive(chan, now);
	pier__soft_ep_leave(chan->ep);
}

/* A socket or the timer of @chan has something. */
static void on_event(struct soft_chan *chan, uint64_t now)
{
	if (chan->always) {
		drive_always(chan, now);
		return;
	}
	if (has_called(chan) || !pier__soft_ep_try_enter(chan->ep)) {
		check_soon(chan, now);
		return;
	}
	if (chan->driver == SOFT_HELPER) {
		drive(chan, now);
	} else {
		chan->driver = SOFT_PROGRAM_WOKEN;
		check_soon(chan, now);
	}
	pier__soft_ep_leave(chan->ep);
}

/* Links of shared memory are to be made, or have ended. */
static void run_shm(struct soft_chan *chan)
{
	if (!chan->shm || !pier__soft_shm_run(chan->shm))
		return;
	pier__soft_ep_enter_helper(chan->ep);
	pier__soft_chan_notify(chan);
	pier__soft_ep_leave(chan->ep);
}

/* Check channels whose program has taken over from the helper. */
static void take_recalls(uint64_t now)
{
	struct pier__list *pos, *tmp;
	struct soft_chan *chan;
	eventfd_t count;

	eventfd_read(helper.wake_fd, &count);
	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (atomic_exchange(&chan->recall, false)) {
			run_shm(chan);
			has_called(chan);
			check_soon(chan, now);
			if (chan->always)
				chan->check_at = now;
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

static void dump_all(void)
{
	struct pier__list *pos, *tmp;

	pier__soft_dump_clear();
	PIER__LIST_EACH(pos, tmp, &helper.chans)
		pier__soft_dump(pier__container_of(pos, struct soft_chan,
						   link));
	pier__soft_dump_conns();
}

/* Check the channels that are due.  Returns when the next one is. */
static uint64_t check_all(uint64_t now)
{
	struct pier__list *pos, *tmp;
	uint64_t next = PIER__NEVER;
	struct soft_chan *chan;

	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (chan->check_at <= now)
			check(chan, now);
		if (chan->check_at < next)
			next = chan->check_at;
	}
	return next;
}

/* What the epoll set has reported with @data. */
static void on_report(uint64_t data, uint64_t now)
{
	struct soft_chan *chan = find(data & ~(SHM_EVENT | PORT_EVENT));

	if (!data)
		take_recalls(now);
	else if (data == DUMP_EVENT)
		dump_all();
	else if (!chan)
		return;			/* destroyed meanwhile */
	else if (data & SHM_EVENT)
		run_shm(chan);
	else if (data & PORT_EVENT)
		chan->port_event(&chan->chan);
	else
		on_event(chan, now);
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
		for (i = 0; i < n; i++)
			on_report(ev[i].data.u64, now);
		next = check_all(now);
		helper_unlock();
	}
	helper_unlock();
	return NULL;
}

/*
 * A real-time program that polls leaves its core to no thread of its own
 * priority, so the helper, which is seldom awake, gets a higher one.  Without
 * the right to that, the helper needs a core of its own.
 */
static void raise_priority(void)
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

/* Without memory for it no events are dumped. */
static void watch_signal(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = DUMP_EVENT };
	int fd = pier__soft_dump_fd();

	if (fd >= 0)
		epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int start_thread(void)
{
	int err;

	watch_signal();
	err = pier__thread_start(&helper.thread, helper_main, NULL,
				 "soft helper");
	if (!err)
		raise_priority();
	return err;
}

/*
 * Around fork(2), so that the child's copy is consistent.  The child has no
 * helper and no channels: its first channel starts a helper.
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

/* The child has copies of the parent's descriptors, if there are any. */
static void reset_in_child(void)
{
	struct pier__list *pos, *tmp;
	struct soft_chan *chan;

	if (helper.count) {
		close(helper.wake_fd);
		close(helper.epoll_fd);
		helper.wake_fd = helper.epoll_fd = -1;	/* of other files */
	}
	PIER__LIST_EACH(pos, tmp, &helper.chans) {
		chan = pier__container_of(pos, struct soft_chan, link);
		if (chan->shm)
			pier__soft_shm_forked(chan->shm);
	}
	pier__soft_dump_forked();
	pier__soft_rows_forked();
	pier__soft_capture_forked();
	helper.count = 0;
	helper.first_id = helper.last_id + 1;
	pier__list_init(&helper.chans);
	pthread_mutex_init(&helper.gate, NULL);
	after_fork();
}

static void follow_forks(void)
{
	int err = pthread_atfork(before_fork, after_fork, reset_in_child);

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
	helper.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (helper.epoll_fd < 0 || helper.wake_fd < 0 ||
	    epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD, helper.wake_fd, &ev))
		err = -errno;
	else
		err = start_thread();
	if (!err)
		return 0;

	pier__fail(err, "cannot start the soft device's helper thread: %s",
		   pier_strerror(err));
	if (helper.wake_fd >= 0)
		close(helper.wake_fd);
	if (helper.epoll_fd >= 0)
		close(helper.epoll_fd);
	return err;
}

static void stop(void)
{
	helper_lock();
	helper.stop = true;
	helper_unlock();
	wake();
	pthread_join(helper.thread, NULL);
	close(helper.wake_fd);
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
	chan->check_at = 0;
	chan->calls_seen = ~0u;		/* the program is in a call: this one */
	pier__list_add(&helper.chans, &chan->link);
	watch_shm(chan);
	helper_unlock();
	wake();
out_unlock:
	pthread_mutex_unlock(&helper.life);
	return err;
}

int pier__soft_helper_watch_port(struct soft_chan *chan,
				 void (*fn)(struct pier__chan *chan))
{
	struct epoll_event ev = {
		.events = EPOLLIN,
		.data.u64 = chan->id | PORT_EVENT,
	};
	int err = 0;

	helper_lock();
	if (epoll_ctl(helper.epoll_fd, EPOLL_CTL_ADD,
		      chan->chan.fdev->event_fd, &ev))
		err = pier__fail(-errno, "%s: cannot watch its port: %s",
				 chan->chan.fdev->port.name,
				 pier_strerror(errno));
	else
		chan->port_event = fn;
	helper_unlock();
	return err;
}

void pier__soft_helper_watch(struct soft_chan *chan)
{
	if (!watch_fds(chan))
		pier__soft_helper_check(chan);
}

void pier__soft_helper_unwatch(struct soft_chan *chan, int fd)
{
	if (fd >= 0 && watch_fd(chan, fd, 0))
		chan->unwatched = fd;
}

void pier__soft_helper_rewatch(struct soft_chan *chan)
{
	if (!watch_fd(chan, chan->unwatched, EPOLLIN))
		pier__soft_helper_check(chan);
	chan->unwatched = -1;
}

void pier__soft_helper_check(struct soft_chan *chan)
{
	atomic_store(&chan->recall, true);
	wake();
}

void pier__soft_helper_remove(struct soft_chan *chan)
{
	pthread_mutex_lock(&helper.life);
	if (chan->id < helper.first_id)		/* of the parent */
		goto out_unlock;
	helper_lock();
	pier__list_del(&chan->link);
	unwatch_fds(chan);
	helper_unlock();
	if (!--helper.count)
		stop();
out_unlock:
	pthread_mutex_unlock(&helper.life);
}
