/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>

#include "core/clock.h"
#include "t/lib/limit.h"
#include "t/lib/loop.h"
#include "t/lib/tap.h"

/*
 * Who drives a device and who is woken, by the contract of fabric/fabric.h:
 * programs that poll, sleep, do something else, come and go.
 */
static struct pier__fdev *fdev;
static struct loop loop;

static struct ibv_send_wr remote(enum ibv_wr_opcode opcode,
				 const struct loop_end *peer, size_t at)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = opcode };

	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + at;
	wr.wr.rdma.rkey = peer->mr->rkey;
	return wr;
}

static bool readable(const struct loop_end *end, int ms)
{
	struct pollfd pfd = { .fd = end->chan->fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

/* Poll @end until its request is done; the other is left to itself. */
static bool finish_alone(struct loop_end *end)
{
	struct ibv_wc wc;

	return loop_wait_alone(end, &wc) && IS(wc.status, IBV_WC_SUCCESS);
}

/* The same, asleep until woken.  False: nothing for 10 s, or a failure. */
static bool finish_asleep(struct loop_end *end)
{
	struct ibv_wc wc;
	int err;

	while (!loop_take(end, &wc)) {
		err = loop.ops->arm(end->cq);
		if (err != -EAGAIN && (!IS(err, 0) ||
				       !OK(readable(end, 10000))))
			return false;
		loop.ops->chan_clear(end->chan);
		loop_poll(end);
	}
	return IS(wc.status, IBV_WC_SUCCESS);
}

/* It was there before: no event of it comes any more. */
static void a_completion_that_is_there_is_reported_by_arm(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	int err;

	loop_recv(&loop.b, 1, 0, 64);
	loop_post(&loop.a, &wr, 0, 64);
	finish_alone(&loop.a);
	err = loop.ops->arm(loop.b.cq);
	OK(err == -EAGAIN || (!err && readable(&loop.b, 10000)));
	loop.ops->chan_clear(loop.b.chan);
	OK(finish_asleep(&loop.b));
}

static void an_armed_channel_wakes_at_a_completion(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	loop_recv(&loop.b, 1, 0, 64);
	IS(loop.ops->arm(loop.b.cq), 0);
	loop_poll(&loop.b);
	IS(loop.b.count, 0);
	loop_post(&loop.a, &wr, 0, 64);
	OK(readable(&loop.b, 10000));
	loop.ops->chan_clear(loop.b.chan);
	loop_wait(&loop, &loop.b, &wc);
	loop_wait(&loop, &loop.a, &wc);
}

static void a_completion_made_while_no_thread_looked_wakes_as_well(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	loop_recv(&loop.b, 1, 0, 64);
	IS(loop.ops->arm(loop.b.cq), 0);
	loop_post(&loop.a, &wr, 0, 64);
	finish_alone(&loop.a);
	OK(readable(&loop.b, 10000));
	loop.ops->chan_clear(loop.b.chan);
	IS(loop.ops->poll(loop.b.cq, &wc, 1), 1);
	IS(wc.status, IBV_WC_SUCCESS);
}

static void a_flush_wakes_an_armed_channel(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	IS(loop.ops->arm(loop.a.cq), 0);
	loop_poll(&loop.a);
	IS(loop.ops->qp_modify(loop.a.qp, &attr, IBV_QP_STATE, 0), 0);
	loop_post(&loop.a, &wr, 0, 8);
	OK(readable(&loop.a, 10000));
	loop.ops->chan_clear(loop.a.chan);
	if (loop_wait(&loop, &loop.a, &wc))
		IS(wc.status, IBV_WC_WR_FLUSH_ERR);
	OK(loop_again(&loop));
}

static void a_timeout_is_noticed_asleep(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 0);
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	loop.ops->qp_destroy(loop.b.qp);
	loop.b.qp = NULL;
	loop_post(&loop.a, &wr, 0, 8);
	while (!loop_take(&loop.a, &wc)) {
		IS(loop.ops->arm(loop.a.cq), 0);
		loop_poll(&loop.a);
		if (!loop.a.count && !OK(readable(&loop.a, 10000)))
			break;
		loop.ops->chan_clear(loop.a.chan);
		loop_poll(&loop.a);
	}
	IS(wc.status, IBV_WC_RETRY_EXC_ERR);
	loop_close(&loop);
	OK(loop_open(fdev, 16, &loop));
}

static void a_peer_is_served_while_its_thread_does_nothing(void)
{
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < 20000; i++)
		loop.b.buf[i] = (uint8_t)(i * 13);
	loop_poll(&loop.b);	/* the last call, for now */
	for (i = 0; i < 50; i++) {
		wr = remote(IBV_WR_RDMA_READ, &loop.b, 0);
		if (!loop_post(&loop.a, &wr, 0, 20000) ||
		    !finish_alone(&loop.a))
			return;
		wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 30000);
		if (!loop_post(&loop.a, &wr, 0, 20000) ||
		    !finish_alone(&loop.a))
			return;
	}
	loop_recv(&loop.b, 1, 60000, 64);
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_SEND };
	if (!loop_post(&loop.a, &wr, 0, 64) || !finish_alone(&loop.a))
		return;
	loop_poll(&loop.b);
	OK(!memcmp(loop.b.buf, loop.b.buf + 30000, 20000));
	IS(loop.b.count, 1);
	loop.b.count = 0;
}

/* One end of a game of ping-pong: how it waits, and how it went. */
struct player {
	struct loop_end *end;
	bool (*wait)(struct loop_end *end);
	bool starts;
	int rounds;
	bool won;
};

static bool strike(struct player *player)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	return loop_post(player->end, &wr, 0, 8) && player->wait(player->end);
}

static bool catch(struct player *player)
{
	return player->wait(player->end);
}

static void *play(void *arg)
{
	struct player *player = arg;
	int i;

	/* The completions of both kinds come in any order: count them. */
	for (i = 0; i < player->rounds; i++) {
		if (!loop_recv(player->end, 2, 64, 8))
			return NULL;
		if (player->starts ? !strike(player) || !catch(player) :
		    !catch(player) || !strike(player))
			return NULL;
	}
	player->won = true;
	return NULL;
}

static void ping_pong(bool (*a)(struct loop_end *end),
		      bool (*b)(struct loop_end *end), int rounds)
{
	struct player one = { .end = &loop.a, .wait = a, .starts = true,
			      .rounds = rounds };
	struct player two = { .end = &loop.b, .wait = b, .rounds = rounds };
	pthread_t thread;

	if (!IS(pthread_create(&thread, NULL, play, &two), 0))
		return;
	play(&one);
	pthread_join(thread, NULL);
	OK(one.won && two.won);
}

static void two_threads_that_poll_play_ping_pong(void)
{
	ping_pong(finish_alone, finish_alone, 1000);
}

static void two_threads_that_sleep_play_ping_pong(void)
{
	ping_pong(finish_asleep, finish_asleep, 1000);
}

static void a_thread_that_sleeps_plays_one_that_polls(void)
{
	ping_pong(finish_alone, finish_asleep, 1000);
}

/* How far a reader is, for the one it reads from. */
static atomic_int reads_done;
static atomic_bool reads_over;

static void *read_on(void *arg)
{
	struct ibv_send_wr wr;
	int i;

	(void)arg;
	for (i = 0; i < 600; i++) {
		wr = remote(IBV_WR_RDMA_READ, &loop.b, 0);
		if (!loop_post(&loop.a, &wr, 0, 3000) ||
		    !finish_alone(&loop.a))
			break;
		atomic_store(&reads_done, i + 1);
	}
	atomic_store(&reads_over, true);
	return NULL;
}

/* Be away, busy with something else, while @count reads are served. */
static void be_away(int count)
{
	int until = atomic_load(&reads_done) + count;
	long long limit = limit_from_now();

	while (!atomic_load(&reads_over) && atomic_load(&reads_done) < until)
		if (!limit_nap(limit))
			break;
}

static void a_peer_that_comes_and_goes_answers_all_the_time(void)
{
	pthread_t thread;
	int turn, until;

	atomic_store(&reads_done, 0);
	atomic_store(&reads_over, false);
	if (!IS(pthread_create(&thread, NULL, read_on, NULL), 0))
		return;
	for (turn = 0; !atomic_load(&reads_over); turn++) {
		until = atomic_load(&reads_done) + 7;
		while (!atomic_load(&reads_over) &&
		       atomic_load(&reads_done) < until)
			loop_poll(&loop.b);
		if (turn % 2)		/* armed, but not asleep */
			IS(loop.ops->arm(loop.b.cq), 0);
		be_away(5);
		if (turn % 4 == 1)
			loop.ops->chan_clear(loop.b.chan);
		IS(loop.ops->arm(loop.b.cq), 0);
		readable(&loop.b, 1);	/* or the time is up */
		loop.ops->chan_clear(loop.b.chan);
	}
	pthread_join(thread, NULL);
	IS(atomic_load(&reads_done), 600);
}

static void channels_come_and_go_under_load(void)
{
	static struct loop other;
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < 30; i++) {
		if (!loop_open(fdev, 16, &other))
			return;
		wr = remote(IBV_WR_RDMA_READ, &other.b, 0);
		loop_post(&other.a, &wr, 0, 40000);
		if (i % 2)		/* else it ends amid the read */
			finish_alone(&other.a);
		loop_close(&other);
	}
	wr = remote(IBV_WR_RDMA_READ, &loop.b, 0);
	if (loop_post(&loop.a, &wr, 0, 8))
		finish_alone(&loop.a);
}

/* Memory that is lent and taken back all the time, and used meanwhile. */
static void *lend(void *arg)
{
	atomic_uint_fast32_t *key = arg;
	struct pier__mr *mr;

	while (!atomic_load(&reads_over)) {
		if (fdev->fabric->dev->reg(fdev, loop.b.buf, 4096,
					   IBV_ACCESS_REMOTE_READ, &mr))
			break;
		atomic_store(key, mr->rkey);
		be_away(1);
		fdev->fabric->dev->dereg(mr);
	}
	return NULL;
}

static void memory_is_taken_back_while_it_is_read(void)
{
	struct ibv_send_wr wr;
	atomic_uint_fast32_t key = 0;
	int refused = 0, i;
	pthread_t thread;
	struct ibv_wc wc;

	atomic_store(&reads_done, 0);
	atomic_store(&reads_over, false);
	if (!IS(pthread_create(&thread, NULL, lend, &key), 0))
		return;
	while (!atomic_load(&key))
		loop_poll(&loop.a);
	for (i = 0; i < 400; i++) {
		wr = remote(IBV_WR_RDMA_READ, &loop.b, 0);
		wr.wr.rdma.rkey = (uint32_t)atomic_load(&key);
		if (!loop_post(&loop.a, &wr, 0, 4096) ||
		    !loop_wait(&loop, &loop.a, &wc))
			break;
		if (wc.status == IBV_WC_SUCCESS) {
			atomic_fetch_add(&reads_done, 1);
			continue;
		}
		/* a device may also fall silent in the middle of an answer */
		OK(wc.status == IBV_WC_REM_ACCESS_ERR ||
		   wc.status == IBV_WC_RETRY_EXC_ERR);
		refused++;
		if (!loop_again(&loop))
			break;
	}
	atomic_store(&reads_over, true);
	pthread_join(thread, NULL);
	IS(atomic_load(&reads_done) + refused, 400);
}

int main(void)
{
	if (loop_device(&fdev))
		return tap_skip_all(pier_last_error());
	if (!loop_open(fdev, 16, &loop))
		return tap_done() | 1;
	TEST(a_completion_that_is_there_is_reported_by_arm);
	TEST(an_armed_channel_wakes_at_a_completion);
	TEST(a_completion_made_while_no_thread_looked_wakes_as_well);
	TEST(a_flush_wakes_an_armed_channel);
	TEST(a_timeout_is_noticed_asleep);
	TEST(a_peer_is_served_while_its_thread_does_nothing);
	TEST(two_threads_that_poll_play_ping_pong);
	TEST(two_threads_that_sleep_play_ping_pong);
	TEST(a_thread_that_sleeps_plays_one_that_polls);
	TEST(a_peer_that_comes_and_goes_answers_all_the_time);
	TEST(channels_come_and_go_under_load);
	TEST(memory_is_taken_back_while_it_is_read);
	loop_close(&loop);
	fdev->fabric->dev->close(fdev);
	return tap_done();
}
