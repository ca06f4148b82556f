/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <string.h>

#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/soft.h"
#include "t/lib/tap.h"
#include "t/lib/verbschan.h"

/*
 * Channels for programs written for libibverbs, on the loopback interface: who
 * drives them.
 */
struct watched {
	struct pier__chan *chan;
	struct verbschan queues;
	volatile uint64_t word;
	struct pier__mr *mr;
	atomic_int woken;
};

static struct pier__fdev *fdev;
static struct watched a, b;

static void woken(struct soft_chan_cq *cq)
{
	struct watched *end = pier__container_of(cq, struct watched,
						 queues.cq);

	atomic_fetch_add(&end->woken, 1);
}

static void end_open(struct watched *end)
{
	end->chan = verbschan_create(fdev);
	verbschan_open(chan_of(end->chan), 8, 8, NULL, &end->queues);
	end->queues.cq.wake = woken;
	end->mr = verbschan_reg(fdev, (void *)&end->word, sizeof(end->word));
}

static void end_close(struct watched *end)
{
	pier__soft_dev.dereg(end->mr);
	verbschan_close(&end->queues);
	pier__soft_chan_destroy(end->chan);
	memset(end, 0, sizeof(*end));
}

static void open_pair(void)
{
	end_open(&a);
	end_open(&b);
	verbschan_connect(&a.queues, &b.queues);
	verbschan_connect(&b.queues, &a.queues);
}

static void write_pieces(struct watched *end, const struct watched *peer,
			 int pieces)
{
	struct ibv_sge sge = { (uintptr_t)&end->word, 8, end->mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = pieces,
		.wr.rdma = { (uintptr_t)&peer->word, peer->mr->rkey },
	};

	IS(verbschan_post(&end->queues, &wr), 0);
}

static void write_word(struct watched *end, const struct watched *peer)
{
	write_pieces(end, peer, 1);
}

/* As a call does that looks at nothing. */
static void call(struct watched *end)
{
	pier__soft_chan_begin(chan_of(end->chan));
	pier__soft_chan_end(chan_of(end->chan), 0);
}

static bool has_completion(const struct watched *end)
{
	struct soft_chan *chan = chan_of(end->chan);
	bool has;

	pier__soft_chan_begin(chan);
	has = !pier__soft_cq_empty(end->queues.cq.queue);
	pier__soft_chan_end(chan, 0);
	return has;
}

/* The test's time limit ends a wait in vain. */
static void calls_that_receive_nothing_do_not_keep_the_helper_away(void)
{
	uint64_t lap;

	open_pair();
	for (lap = 1; lap < 4; lap++) {
		a.word = lap;
		write_word(&a, &b);
		while (b.word != lap)
			call(&b);
	}
	while (!has_completion(&a))
		;
	IS(b.word, 3);
	end_close(&a);
	end_close(&b);
}

/* As a poll does of an empty queue, which is not that of the end. */
static void poll_empty(struct watched *end)
{
	struct soft_chan *chan = chan_of(end->chan);

	pier__soft_chan_begin(chan);
	pier__soft_ep_receive(chan->ep, false);
	pier__soft_chan_send(chan, 0);
	pier__soft_chan_polled(chan, 0);
	pier__soft_chan_end(chan, 0);
}

static void poll_often(struct watched *end)
{
	int i;

	for (i = 0; i < SOFT_EMPTY_POLLS; i++)
		poll_empty(end);
}

static void write_and_wait(uint64_t value)
{
	a.word = value;
	write_word(&a, &b);
	while (b.word != value)
		;
}

static void the_helper_is_away_while_queues_are_polled(void)
{
	struct soft_chan *chan;

	open_pair();
	chan = chan_of(b.chan);
	poll_empty(&b);
	IS(chan->always, true);
	poll_often(&b);
	IS(chan->always, false);
	write_and_wait(1);		/* without calls it is back */
	while (!chan->always)
		;
	poll_often(&b);			/* memory may be polled now */
	IS(chan->always, true);
	end_close(&a);
	end_close(&b);
}

/* They receive nothing. */
static void calls_that_do_not_poll_bring_the_helper_back(void)
{
	open_pair();
	poll_often(&b);
	a.word = 1;
	write_word(&a, &b);
	while (b.word != 1)
		call(&b);
	end_close(&a);
	end_close(&b);
}

/* One thread polls a queue while another waits for events of a second one. */
static void an_armed_queue_is_called_by_polls_of_another(void)
{
	struct soft_chan *chan;

	open_pair();
	chan = chan_of(a.chan);
	pier__soft_chan_begin(chan);
	a.queues.cq.armed = true;
	pier__soft_chan_events(chan);
	pier__soft_chan_end(chan, 0);
	do
		poll_empty(&a);
	while (chan->always || !chan->checking);
	write_word(&a, &b);
	while (!atomic_load(&a.woken))
		poll_empty(&a);
	IS(chan->always, false);
	end_close(&a);
	end_close(&b);
}

/* The completion is in another queue than those that are polled. */
static void what_may_be_answered_is_not_acknowledged_at_once(void)
{
	const struct soft_counters *counters;
	struct soft_chan *chan;
	uint64_t before;
	int i;

	open_pair();
	chan = chan_of(a.chan);
	counters = chan->ep->counters;
	do
		poll_empty(&a);
	while (chan->always || !chan->checking);
	write_word(&a, &b);
	while (!has_completion(&a))
		poll_empty(&a);
	before = counters->rx_packets;
	write_pieces(&b, &a, 0);
	while (counters->rx_packets == before)
		poll_empty(&a);
	OK(pier__soft_ep_replies_pending(chan->ep));
	for (i = 0; i < 4; i++)
		poll_empty(&a);
	OK(!pier__soft_ep_replies_pending(chan->ep));
	end_close(&a);
	end_close(&b);
}

static void a_program_that_arms_a_queue_is_watched(void)
{
	struct soft_chan *chan;

	open_pair();
	chan = chan_of(b.chan);
	poll_often(&b);
	pier__soft_chan_begin(chan);
	pier__soft_chan_events(chan);
	pier__soft_chan_end(chan, 0);
	poll_empty(&b);
	IS(chan->always, true);
	end_close(&a);
	end_close(&b);
}

static int unwatched(struct watched *end)
{
	struct soft_chan *chan = chan_of(end->chan);
	int fd;

	pier__soft_chan_begin(chan);
	fd = chan->unwatched;
	chan->empty = fd >= 0;		/* not ended by this call */
	pier__soft_chan_end(chan, 0);
	return fd;
}

/* The timer may come between the two. */
static void poll_unwatched(struct watched *end)
{
	do
		poll_empty(end);
	while (unwatched(end) < 0);
}

static void a_socket_is_not_watched_while_queues_are_polled(void)
{
	open_pair();
	write_and_wait(1);
	poll_unwatched(&b);
	write_and_wait(2);		/* the timer has come */
	poll_unwatched(&b);
	call(&b);
	IS(unwatched(&b), -1);
	write_and_wait(3);
	end_close(&a);
	end_close(&b);
}

static void what_the_helper_finds_taken_is_done_by_the_call(void)
{
	struct soft_chan *chan;

	open_pair();
	chan = chan_of(b.chan);
	write_and_wait(1);
	pier__soft_chan_begin(chan);
	a.word = 2;
	write_word(&a, &b);
	while (!chan->due)
		;
	IS(b.word, 1);
	pier__soft_chan_end(chan, 0);
	IS(b.word, 2);
	IS(chan->due, false);
	write_and_wait(3);
	end_close(&a);
	end_close(&b);
}

static void an_armed_queue_calls_its_hook_once(void)
{
	struct soft_chan *chan;
	struct ibv_wc wc[8];

	open_pair();
	chan = chan_of(a.chan);
	pier__soft_chan_begin(chan);
	a.queues.cq.armed = true;
	pier__soft_chan_end(chan, 0);
	IS(atomic_load(&a.woken), 0);
	write_word(&a, &b);
	while (!atomic_load(&a.woken))
		;			/* no calls: the helper makes it */
	OK(has_completion(&a));
	IS(a.queues.cq.armed, false);
	IS(atomic_load(&a.woken), 1);
	pier__soft_chan_begin(chan);
	IS(pier__soft_cq_poll(a.queues.cq.queue, wc, 8), 1);
	pier__soft_chan_end(chan, 0);
	end_close(&a);
	end_close(&b);
}

static void the_port_is_one_that_qpns_carry(void)
{
	open_pair();
	OK(pier__soft_qpn_fits(a.chan->udp_port));
	OK(a.chan->udp_port != b.chan->udp_port);
	IS(pier__soft_qpn_port(a.queues.qp->qpn), a.chan->udp_port);
	end_close(&a);
	end_close(&b);
}

int main(void)
{
	fdev = verbschan_device();
	TEST(calls_that_receive_nothing_do_not_keep_the_helper_away);
	TEST(the_helper_is_away_while_queues_are_polled);
	TEST(calls_that_do_not_poll_bring_the_helper_back);
	TEST(an_armed_queue_is_called_by_polls_of_another);
	TEST(what_may_be_answered_is_not_acknowledged_at_once);
	TEST(a_program_that_arms_a_queue_is_watched);
	TEST(a_socket_is_not_watched_while_queues_are_polled);
	TEST(what_the_helper_finds_taken_is_done_by_the_call);
	TEST(an_armed_queue_calls_its_hook_once);
	TEST(the_port_is_one_that_qpns_carry);
	pier__soft_dev.close(fdev);
	return tap_done();
}
