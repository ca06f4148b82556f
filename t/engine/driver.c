/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Who drives a device, seen from outside: a program polls, sleeps or is
 * elsewhere, and nothing is lost, no thread is woken in vain, and threads with
 * engines of their own do not wait for one another.
 */
#define LAPS 400
#define WINDOW 8		/* messages on their way, and receives */
#define IDLE_CONNS 100
#define THREADS 2
#define WRITES 2000
#define LOCKS_MAX 64

static struct pier_dev *dev;
static struct peer me;
static uint32_t dice;

static uint32_t roll(uint32_t count)
{
	dice = dice * 1664525u + 1013904223u;
	return (dice >> 16) % count;
}

/* Elsewhere for some ms, from not at all to longer than a helper's look. */
static void be_elsewhere(void)
{
	limit_be_elsewhere((int)roll(7));
}

/* Drive the engine in one of the ways in which programs do. */
static void drive_somehow(void)
{
	uint32_t n;

	switch (roll(4)) {
	case 0:
		for (n = roll(200); n; n--)
			pier_pe_progress(me.pe, 0);
		break;
	case 1:
		pier_pe_wait(me.pe, 1 + (int)roll(5));
		break;
	case 2:
		be_elsewhere();
		break;
	default:
		pier_pe_progress(me.pe, 1);
	}
}

static bool begin(uint32_t seed)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = IDLE_CONNS,
	};

	dice = seed;
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, &cfg, 1 << 16);
}

static void end(void)
{
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* One number there, the same number back, many at a time, in their order. */
static struct driver_flow {
	struct pier_task *send[WINDOW], *recv[WINDOW];
	struct pier_buf *from[WINDOW], *to[WINDOW];
	uint32_t sent, done, received, wrong;
} flow;

static uint32_t *cell(size_t of, uint32_t i)
{
	return (uint32_t *)(void *)(me.mem + of + 64 * (i % WINDOW));
}

static void sent(struct pier_task *task, void *arg)
{
	(void)arg;
	flow.wrong += pier_task_status(task) != 0;
	flow.done++;
}

/* Each that was received is followed by the next in the same place. */
static void received(struct pier_task *task, void *arg)
{
	uint32_t i = flow.received % WINDOW;

	(void)arg;
	if (pier_task_status(task) == -ECANCELED)
		return;
	flow.wrong += pier_task_status(task) != 0 || task != flow.recv[i] ||
		      *cell(4096, i) != flow.received;
	flow.received++;
	pier_buf_reset(flow.to[i]);
	flow.wrong += pier_task_submit(task, 0) != 0;
}

static bool flow_open(void)
{
	uint32_t i;

	memset(&flow, 0, sizeof(flow));
	for (i = 0; i < WINDOW; i++) {
		flow.from[i] = peer_data(&me, 64 * i, 4);
		flow.to[i] = peer_tail(&me, 4096 + 64 * i, 4);
		if (!IS(pier_rdma_task_send(me.conn, flow.from[i],
					    &flow.send[i]), 0) ||
		    !IS(pier_rdma_task_receive(me.rdma, flow.to[i],
					       &flow.recv[i]), 0))
			return false;
		pier_task_set_done(flow.send[i], sent, NULL);
		pier_task_set_done(flow.recv[i], received, NULL);
		if (!IS(pier_task_submit(flow.recv[i], 0), 0))
			return false;
	}
	return true;
}

static void flow_close(void)
{
	uint32_t i;

	IS(pier_ctx_stop_wait(pier_rdma_ctx(me.rdma), 5000), 0);
	for (i = 0; i < WINDOW; i++) {
		pier_task_free(flow.send[i]);
		pier_task_free(flow.recv[i]);
		pier_buf_put(flow.from[i]);
		pier_buf_put(flow.to[i]);
	}
}

/* Until all came and went; @ahead: so many before the first answer. */
static bool play(uint32_t ahead)
{
	long long limit = limit_from_now();

	while (flow.received < LAPS || flow.done < LAPS) {
		if (!limit_holds(limit))
			return false;
		while (flow.sent < LAPS && flow.sent < flow.received + ahead &&
		       flow.sent < flow.done + WINDOW) {
			*cell(0, flow.sent) = flow.sent;
			if (!IS(pier_task_submit(flow.send[flow.sent % WINDOW],
						 0), 0))
				return false;
			flow.sent++;
		}
		drive_somehow();
	}
	return true;
}

/* The other one is through, too: it needs nothing of us any more. */
static void both_done(struct pair *pair)
{
	char word[8];

	OK(pair_send(pair, "done", 4));
	while (poll(&(struct pollfd) { .fd = pair->fd, .events = POLLIN }, 1,
		    0) == 0)
		pier_pe_wait(me.pe, 5);
	IS(pair_recv(pair, word, sizeof(word)), 4);
}

static int echo(struct pair *pair, void *arg)
{
	(void)arg;
	if (!begin(7) || !peer_meet(&me, pair) || !flow_open())
		return 1;
	OK(play(0));
	IS(flow.wrong, 0);
	IS(flow.received, LAPS);
	both_done(pair);
	flow_close();
	end();
	return 0;
}

static void a_change_of_driver_loses_nothing(void)
{
	struct pair pair;

	pair_start(&pair, echo, NULL);
	if (begin(3) && peer_meet(&me, &pair) && flow_open()) {
		OK(play(WINDOW));
		IS(flow.wrong, 0);
		IS(flow.received, LAPS);
		both_done(&pair);
		flow_close();
	}
	IS(pair_wait(&pair), 0);
	end();
}

/* IDLE_CONNS connections to a peer that does the same. */
static bool meet_often(struct pair *pair)
{
	struct pier_conn *conns[IDLE_CONNS];
	uint8_t buf[PIER_DESC_MAX];
	const void *desc;
	size_t len;
	int i, got;

	for (i = 0; i < IDLE_CONNS; i++) {
		if (!IS(pier_rdma_export(me.rdma, &desc, &len, &conns[i]), 0) ||
		    !OK(pair_send(pair, desc, len)))
			return false;
		got = pair_recv(pair, buf, sizeof(buf));
		if (!OK(got > 0) ||
		    !IS(pier_rdma_connect(conns[i], buf, (size_t)got), 0))
			return false;
	}
	for (i = 0; i < IDLE_CONNS; i++)
		if (!peer_conn(conns[i], PIER_CONN_CONNECTED))
			return false;
	return true;
}

static int idle(struct pair *pair, void *arg)
{
	(void)arg;
	if (!begin(5) || !meet_often(pair))
		return 1;
	both_done(pair);	/* idle until the other one is */
	end();
	return 0;
}

static double cpu_ms(const struct rusage *usage)
{
	return 1e3 * (double)(usage->ru_utime.tv_sec +
			      usage->ru_stime.tv_sec) +
	       1e-3 * (double)(usage->ru_utime.tv_usec +
			       usage->ru_stime.tv_usec);
}

/*
 * What all threads did since @from, in @ms: a look at the control words every
 * 100 ms, one wake-up of the program and one of the helper, and a packet now
 * and then.  A thread that spins is never switched away of its own will, so
 * the processor's time counts as well.
 */
static void rested(const struct rusage *from, long long ms)
{
	struct rusage to;

	getrusage(RUSAGE_SELF, &to);
	if (!OK(to.ru_nvcsw - from->ru_nvcsw <= 50 + 4 * ms / 100))
		tap_note("%ld switches in %lld ms",
			 to.ru_nvcsw - from->ru_nvcsw, ms);
	if (!OK(cpu_ms(&to) - cpu_ms(from) <= 10 + (double)ms / 10))
		tap_note("%.0f ms of a processor in %lld ms",
			 cpu_ms(&to) - cpu_ms(from), ms);
}

static void an_idle_process_with_100_connections_sleeps(void)
{
	struct pair pair;
	long long limit = limit_from_now();
	struct rusage from;
	long long start;

	pair_start(&pair, idle, NULL);
	if (begin(4) && meet_often(&pair)) {
		/* until the hellos of all are over */
		while (pier_pe_wait(me.pe, 20) != -ETIMEDOUT &&
		       limit_holds(limit))
			;
		getrusage(RUSAGE_SELF, &from);
		start = limit_now_ms();
		IS(pier_pe_wait(me.pe, 1500), -ETIMEDOUT);
		rested(&from, limit_now_ms() - start);

		getrusage(RUSAGE_SELF, &from);
		start = limit_now_ms();
		limit_be_elsewhere(1000);
		rested(&from, limit_now_ms() - start);
		both_done(&pair);
	}
	IS(pair_wait(&pair), 0);
	end();
}

/* The locks that a thread took while it wanted to know, and how often. */
static __thread struct locks {
	const void *at[LOCKS_MAX];
	int often[LOCKS_MAX];
	int count;
	bool on;
} locks;

static void lock_note(const void *lock)
{
	int i = 0;

	while (i < locks.count && locks.at[i] != lock)
		i++;
	if (i == LOCKS_MAX)
		return;
	if (i == locks.count) {
		locks.at[locks.count++] = lock;
		locks.often[i] = 0;
	}
	locks.often[i]++;
}

/* In the place of libc's, which it calls. */
int pthread_mutex_lock(pthread_mutex_t *lock)
{
	static _Atomic(int (*)(pthread_mutex_t *)) real;
	int (*fn)(pthread_mutex_t *) = atomic_load(&real);

	if (!fn) {
		*(void **)&fn = dlsym(RTLD_NEXT, "pthread_mutex_lock");
		atomic_store(&real, fn);
	}
	if (locks.on)
		lock_note(lock);
	return fn(lock);
}

/* Two contexts on an engine of its own; messages are written from a to b. */
struct worker {
	pthread_t thread;
	struct pier_pe *pe;
	struct pier_rdma *a, *b;
	struct pier_conn *from, *to;
	struct pier_mmap *near, *far;
	struct pier_buf_inventory *inv;
	struct pier_buf *src, *dst;
	struct pier_task *task;
	uint8_t memory[128];
	int done, err;
	struct locks locks;
};

static void worker_done(struct pier_task *task, void *arg)
{
	struct worker *w = arg;

	w->err = w->err ? w->err : pier_task_status(task);
	w->done++;
}

static int worker_connect(struct worker *w)
{
	const void *desc_a, *desc_b;
	size_t len_a, len_b;
	int err;

	err = pier_rdma_export(w->a, &desc_a, &len_a, &w->from);
	if (!err)
		err = pier_rdma_export(w->b, &desc_b, &len_b, &w->to);
	if (!err)
		err = pier_rdma_connect(w->from, desc_b, len_b);
	if (!err)
		err = pier_rdma_connect(w->to, desc_a, len_a);
	if (!err)
		err = pier_conn_wait(w->from, PEER_LIMIT_MS);
	return err ? err : pier_conn_wait(w->to, PEER_LIMIT_MS);
}

static int worker_open(struct worker *w)
{
	const void *desc;
	size_t len;
	int err;

	err = pier_pe_create(&w->pe);
	if (!err)
		err = pier_rdma_create(dev, &w->a);
	if (!err)
		err = pier_rdma_create(dev, &w->b);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(w->a), w->pe);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(w->b), w->pe);
	if (!err)
		err = worker_connect(w);
	if (!err)
		err = pier_mmap_map(dev, w->memory, sizeof(w->memory),
				    PEER_ACCESS, &w->near);
	if (!err)
		err = pier_mmap_export(w->near, &desc, &len);
	if (!err)
		err = pier_mmap_create_from_export(dev, desc, len, &w->far);
	if (!err)
		err = pier_buf_inventory_create(2, &w->inv);
	if (!err)
		err = pier_buf_by_data(w->inv, w->near, w->memory, 64, &w->src);
	if (!err)
		err = pier_buf_by_addr(w->inv, w->far, w->memory + 64, 64,
				       &w->dst);
	return err ? err : pier_rdma_task_write(w->from, w->src, w->dst,
						&w->task);
}

static void worker_close(struct worker *w)
{
	pier_task_free(w->task);
	pier_buf_put(w->src);
	pier_buf_put(w->dst);
	pier_buf_inventory_destroy(w->inv);
	pier_rdma_destroy(w->a);
	pier_rdma_destroy(w->b);
	pier_mmap_destroy(w->far);
	pier_mmap_destroy(w->near);
	pier_pe_destroy(w->pe);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int i;

	w->err = worker_open(w);
	if (!w->err)
		pier_task_set_done(w->task, worker_done, w);
	locks.on = true;
	for (i = 1; !w->err && i <= WRITES; i++) {
		pier_buf_reset(w->dst);
		w->err = pier_task_submit(w->task, 0);
		while (!w->err && w->done < i)
			pier_pe_progress(w->pe, 0);
	}
	locks.on = false;
	w->locks = locks;
	worker_close(w);
	return NULL;
}

/* Now and then both look after the device; that is not for every message. */
static bool any_shared(const struct locks *a, const struct locks *b)
{
	int i, j;

	for (i = 0; i < a->count; i++)
		for (j = 0; j < b->count; j++)
			if (a->at[i] == b->at[j] && a->often[i] >= WRITES / 2)
				return true;
	return false;
}

static void engines_in_two_threads_share_no_lock_on_the_data_path(void)
{
	static struct worker workers[THREADS];
	int i;

	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	for (i = 0; i < THREADS; i++)
		IS(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		   0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		IS(workers[i].err, 0);
		IS(workers[i].done, WRITES);
		/* We see them, or it takes none of the kind that we see. */
		OK(workers[i].locks.count > 0 ||
		   strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"));
	}
	OK(!any_shared(&workers[0].locks, &workers[1].locks));
	pier_dev_close(dev);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(a_change_of_driver_loses_nothing);
	TEST(an_idle_process_with_100_connections_sleeps);
	TEST(engines_in_two_threads_share_no_lock_on_the_data_path);
	return tap_done();
}
