/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/soft/soft.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"
#include "t/lib/verbschan.h"

/*
 * Threads of one channel for programs of verbs: two have a queue pair of their
 * own each, two post on one, one takes what was sent at the other end, and one
 * creates and destroys queue pairs and memory regions meanwhile.  The helper
 * thread drives as well.
 */
#define WRITERS 2
#define ADDERS 2
#define ROUNDS 100		/* of a writer: a write, a read, a send */
#define LEN 3000		/* of each, three packets */
#define ADDS 400		/* of an adder */
#define DEPTH 8			/* the adders fill their queue */
#define SOME 16			/* queue pairs that are created, at least */

struct writer {
	struct verbschan here, there;
	struct soft_srq *srq;		/* there */
	struct pier__mr *mr;		/* of all that follows */
	uint8_t from[LEN], remote[LEN], back[LEN];
	uint8_t received[ROUNDS][LEN];
	int completed[3 * ROUNDS];	/* of each request: how often */
	int taken[ROUNDS];		/* the same of receives */
	int number;
};

static struct pier__fdev *fdev;
static struct pier__chan *chan[2];	/* the same, or two */
static struct writer *writers[WRITERS];
static struct {
	struct verbschan here, there;	/* of both adders */
	struct pier__mr *mr;		/* of all that follows */
	uint64_t sum;
	uint64_t before[ADDERS * ADDS];	/* what each has found */
	atomic_int completed[ADDERS * ADDS];
	atomic_int count;
} adds;

static atomic_int failed;
static atomic_bool finished;		/* all but the maker */
static int made;

static void fail(const char *what, int value)
{
	if (!atomic_fetch_add(&failed, 1))
		tap_note("%s: %d", what, value);
}

/* Returns false if the others have failed, or this with @value. */
static bool goes_on(bool good, const char *what, int value)
{
	if (!good)
		fail(what, value);
	return !atomic_load(&failed);
}

static int post(struct verbschan *end, uint64_t wr_id,
		enum ibv_wr_opcode opcode, struct ibv_sge *sge, void *remote,
		uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge,
		.num_sge = 1,
		.wr.rdma = { (uintptr_t)remote, rkey },
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 0;
	}
	return verbschan_post(end, &wr);
}

static struct soft_chan *chan_at(int i)
{
	return chan_of(chan[i]);
}

static void post_receives(struct writer *writer)
{
	struct ibv_sge sge = { .length = LEN, .lkey = writer->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	pier__soft_chan_begin(chan_at(1));
	IS(pier__soft_srq_create(chan_at(1)->ep, ROUNDS, 1, &writer->srq), 0);
	for (wr.wr_id = 0; wr.wr_id < ROUNDS; wr.wr_id++) {
		sge.addr = (uintptr_t)writer->received[wr.wr_id];
		IS(pier__soft_srq_post(writer->srq, &wr, &bad), 0);
	}
	pier__soft_chan_end(chan_at(1), 0);
}

static void open_writer(int i)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		exit(1);
	writer->number = i;
	writer->mr = verbschan_reg(fdev, writer->from,
				   sizeof(*writer) -
				   offsetof(struct writer, from));
	post_receives(writer);
	verbschan_open(chan_at(0), DEPTH, DEPTH, NULL, &writer->here);
	verbschan_open(chan_at(1), DEPTH, ROUNDS, writer->srq, &writer->there);
	verbschan_connect(&writer->here, &writer->there);
	verbschan_connect(&writer->there, &writer->here);
	writers[i] = writer;
}

static void close_writer(struct writer *writer)
{
	verbschan_close(&writer->here);
	verbschan_close(&writer->there);
	pier__soft_chan_begin(chan_at(1));
	pier__soft_srq_destroy(writer->srq);
	pier__soft_chan_end(chan_at(1), 0);
	pier__soft_dev.dereg(writer->mr);
	free(writer);
}

static void open_all(bool one)
{
	int i;

	chan[0] = verbschan_create(fdev);
	chan[1] = one ? chan[0] : verbschan_create(fdev);
	for (i = 0; i < WRITERS; i++)
		open_writer(i);
	memset(&adds, 0, sizeof(adds));
	adds.mr = verbschan_reg(fdev, &adds, sizeof(adds));
	verbschan_open(chan_at(0), DEPTH, DEPTH, NULL, &adds.here);
	verbschan_open(chan_at(1), DEPTH, DEPTH, NULL, &adds.there);
	verbschan_connect(&adds.here, &adds.there);
	verbschan_connect(&adds.there, &adds.here);
	atomic_store(&failed, 0);
	atomic_store(&finished, false);
}

static void close_all(void)
{
	int i;

	for (i = 0; i < WRITERS; i++)
		close_writer(writers[i]);
	verbschan_close(&adds.here);
	verbschan_close(&adds.there);
	pier__soft_dev.dereg(adds.mr);
	if (chan[1] != chan[0])
		pier__soft_chan_destroy(chan[1]);
	pier__soft_chan_destroy(chan[0]);
}

/* Count one of @end's completions in @count, of @of.  Returns how many came. */
static int take_one(struct verbschan *end, int *count, int of)
{
	struct ibv_wc wc;
	int n = verbschan_poll(end, &wc, 1);

	if (n < 0)
		fail("poll", n);
	else if (!n)
		sched_yield();
	else if (wc.status || wc.wr_id >= (uint64_t)of ||
		 wc.qp_num != end->qp->qpn)
		fail("status", (int)wc.status);
	else
		count[wc.wr_id]++;
	return n > 0;
}

static uint32_t seed(const struct writer *writer, int round)
{
	return (uint32_t)(writer->number * ROUNDS + round);
}

static void one_round(struct writer *writer, int round)
{
	struct ibv_sge from = { (uintptr_t)writer->from, LEN,
				writer->mr->lkey };
	struct ibv_sge back = { (uintptr_t)writer->back, LEN,
				writer->mr->lkey };
	uint32_t rkey = writer->mr->rkey;
	uint64_t id = 3 * (uint64_t)round;
	int err, left = 3;

	softpair_pattern(writer->from, LEN, seed(writer, round));
	err = post(&writer->here, id, IBV_WR_RDMA_WRITE, &from, writer->remote,
		   rkey);
	if (!err)
		err = post(&writer->here, id + 1, IBV_WR_RDMA_READ, &back,
			   writer->remote, rkey);
	if (!err)
		err = post(&writer->here, id + 2, IBV_WR_SEND, &from, NULL, 0);
	while (goes_on(!err, "post", err) && left)
		left -= take_one(&writer->here, writer->completed, 3 * ROUNDS);
	goes_on(softpair_is_pattern(writer->back, LEN, seed(writer, round)),
		"what was read, round", round);
}

static void *write_rounds(void *arg)
{
	int round;

	for (round = 0; round < ROUNDS && !atomic_load(&failed); round++)
		one_round(arg, round);
	return NULL;
}

/* What both writers send. */
static void *take_receives(void *arg)
{
	int left[WRITERS] = { ROUNDS, ROUNDS }, all = WRITERS * ROUNDS, i, n;

	(void)arg;
	while (goes_on(true, NULL, 0) && all) {
		for (i = 0; i < WRITERS; i++) {
			n = left[i] ? take_one(&writers[i]->there,
					       writers[i]->taken, ROUNDS) : 0;
			left[i] -= n;
			all -= n;
		}
	}
	return NULL;
}

static void take_adds(void)
{
	struct ibv_wc wc[DEPTH];
	int n = verbschan_poll(&adds.here, wc, DEPTH), i;

	if (n < 0)
		fail("poll", n);
	if (!n)
		sched_yield();
	for (i = 0; i < n; i++) {
		if (wc[i].status || wc[i].wr_id >= ADDERS * ADDS)
			fail("status of an add", (int)wc[i].status);
		else
			atomic_fetch_add(&adds.completed[wc[i].wr_id], 1);
		atomic_fetch_add(&adds.count, 1);
	}
}

/* A queue that is full is no error: it empties, for either thread. */
static void *add(void *arg)
{
	struct ibv_sge sge = { .length = 8, .lkey = adds.mr->lkey };
	int first = *(int *)arg * ADDS, i, err;

	for (i = first; i < first + ADDS; i++) {
		sge.addr = (uintptr_t)&adds.before[i];
		do {
			err = post(&adds.here, (uint64_t)i,
				   IBV_WR_ATOMIC_FETCH_AND_ADD, &sge,
				   &adds.sum, adds.mr->rkey);
			if (err == -EAGAIN)
				take_adds();
		} while (err == -EAGAIN && goes_on(true, NULL, 0));
		if (!goes_on(!err, "add", err))
			return NULL;
	}
	while (atomic_load(&adds.count) < ADDERS * ADDS &&
	       goes_on(true, NULL, 0))
		take_adds();
	return NULL;
}

/* A connection that is created, used once and destroyed, with its memory. */
static void make_one(void)
{
	struct verbschan here, there;
	uint8_t from[64], to[64] = { 0 };
	struct pier__mr *mr[2] = { verbschan_reg(fdev, from, sizeof(from)),
				   verbschan_reg(fdev, to, sizeof(to)) };
	struct ibv_sge sge = { (uintptr_t)from, sizeof(from), mr[0]->lkey };
	int completed[1] = { 0 }, err;

	verbschan_open(chan_at(0), 1, 1, NULL, &here);
	verbschan_open(chan_at(1), 1, 1, NULL, &there);
	verbschan_connect(&here, &there);
	verbschan_connect(&there, &here);
	softpair_pattern(from, sizeof(from), (uint32_t)made);
	err = post(&here, 0, IBV_WR_RDMA_WRITE, &sge, to, mr[1]->rkey);
	while (goes_on(!err, "post", err) && !completed[0])
		take_one(&here, completed, 1);
	goes_on(softpair_is_pattern(to, sizeof(to), (uint32_t)made),
		"what was written, connection", made);
	verbschan_close(&here);
	verbschan_close(&there);
	pier__soft_dev.dereg(mr[0]);
	pier__soft_dev.dereg(mr[1]);
	made++;
}

static void *make_more(void *arg)
{
	(void)arg;
	while (goes_on(true, NULL, 0) &&
	       (made < SOME || !atomic_load(&finished)))
		make_one();
	return NULL;
}

static pthread_t start(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	if (!IS(pthread_create(&thread, NULL, fn, arg), 0))
		exit(1);
	return thread;
}

static void run_threads(void)
{
	static int number[ADDERS] = { 0, 1 };
	pthread_t thread[WRITERS + ADDERS + 1], maker;
	int n = 0, i;

	made = 0;
	maker = start(make_more, NULL);
	thread[n++] = start(take_receives, NULL);
	for (i = 0; i < WRITERS; i++)
		thread[n++] = start(write_rounds, writers[i]);
	for (i = 0; i < ADDERS; i++)
		thread[n++] = start(add, &number[i]);
	for (i = 0; i < n; i++)
		IS(pthread_join(thread[i], NULL), 0);
	atomic_store(&finished, true);
	IS(pthread_join(maker, NULL), 0);
	IS(atomic_load(&failed), 0);
	OK(made >= SOME);
}

static void check_writer(const struct writer *writer)
{
	int i, wrong = 0;

	for (i = 0; i < 3 * ROUNDS; i++)
		wrong += writer->completed[i] != 1;
	IS(wrong, 0);
	for (i = 0, wrong = 0; i < ROUNDS; i++)
		wrong += writer->taken[i] != 1 ||
			 !softpair_is_pattern(writer->received[i], LEN,
					      seed(writer, i));
	IS(wrong, 0);
}

/* Each has found another number. */
static void check_adds(void)
{
	static bool found[ADDERS * ADDS];
	int i, wrong = 0;

	memset(found, 0, sizeof(found));
	for (i = 0; i < ADDERS * ADDS; i++) {
		wrong += atomic_load(&adds.completed[i]) != 1;
		if (adds.before[i] >= ADDERS * ADDS || found[adds.before[i]])
			wrong++;
		else
			found[adds.before[i]] = true;
	}
	IS(wrong, 0);
	IS(adds.sum, ADDERS * ADDS);
	IS(atomic_load(&adds.count), ADDERS * ADDS);
}

static void all_is_right(bool one)
{
	int i;

	open_all(one);
	run_threads();
	for (i = 0; i < WRITERS; i++)
		check_writer(writers[i]);
	check_adds();
	close_all();
}

static void requests_of_threads_complete_once_each(void)
{
	all_is_right(false);
}

static void requests_between_queue_pairs_of_one_channel_do(void)
{
	all_is_right(true);
}

int main(void)
{
	fdev = verbschan_device();
	TEST(requests_of_threads_complete_once_each);
	TEST(requests_between_queue_pairs_of_one_channel_do);
	pier__soft_dev.close(fdev);
	return tap_done();
}
