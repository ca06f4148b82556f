/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * What a requester learns of the way to its peer, and how long it waits: in
 * virtual time, without a lost packet unless a test sets one.
 */
#define SECOND (1000 * PIER__MS)
#define MIB (1u << 20)
#define WARM 10			/* writes before the way changes */

static struct softpair *pair;
static struct softpair_end *a, *b;

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

static void open_pair(const struct softpair_opts *opts)
{
	pair = softpair_open(opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

/* Write @count times, @flight at a time.  Returns whether it ended in time. */
static bool write_all(int count, int flight, uint32_t len, uint64_t limit)
{
	uint64_t end = pair->net.now + limit;
	uint32_t before = softpair_poll(a);
	int posted = 0, done = 0;

	while (done < count && pair->net.now < end) {
		while (posted < count && posted - done < flight)
			if (softpair_send(a, posted++, IBV_WR_RDMA_WRITE, 0,
					  len, b, 0))
				return false;
		softpair_wait(pair, 0, before + done + 1, end - pair->net.now);
		done = softpair_poll(a) - before;
	}
	return done == count;
}

struct way {
	uint64_t before, after;		/* ns, one way */
	uint32_t len;
	int flight;
	uint8_t timeout;
	uint64_t limit;
};

/* Sent again is at most one packet of ten, and the round trip is known. */
static void learns(const struct way *way)
{
	struct softpair_opts opts = { .mtu = 4096, .timeout = way->timeout };
	uint64_t sent, again, rtt;

	open_pair(&opts);
	pair->net.latency = way->before;
	OK(write_all(WARM, 1, way->len, 100 * SECOND));
	pair->net.latency = way->after;
	sent = counters(a)->tx_packets;
	again = counters(a)->resent;
	if (!OK(write_all(200, way->flight, way->len, way->limit)))
		tap_note("%d writes at a time, %u bytes, %.1f ms there and "
			 "back, window %u", way->flight, way->len,
			 way->after / 5e5, a->qp->cwnd->window);
	sent = counters(a)->tx_packets - sent;
	again = counters(a)->resent - again;
	rtt = a->qp->cwnd->rtt;
	if (!OK(again * 10 <= sent) || !OK(rtt >= way->after * 3 / 2))
		tap_note("%.1f ms there and back: %lu sent, %lu again, thinks "
			 "of %.1f ms", way->after / 5e5, (unsigned long)sent,
			 (unsigned long)again, rtt / 1e6);
	softpair_close(pair);
}

static void a_round_trip_longer_than_the_timer_is_learned(void)
{
	static const struct way ways[] = {
		{ 10000, 1500000, MIB, 4, 14, 5 * SECOND },
		{ 10000, 2500000, MIB, 4, 14, 5 * SECOND },
		{ 10000, 10000000, MIB, 4, 14, 20 * SECOND },
		{ 10000, 10000000, 8, 1, 14, 10 * SECOND },
		{ 6000000, 6000000, MIB, 4, 14, 10 * SECOND },
		{ 6000000, 6000000, 8, 1, 14, 10 * SECOND },
		{ 50000000, 50000000, 8, 1, 16, 40 * SECOND },
	};
	unsigned int i;

	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		learns(&ways[i]);
}

/* One flow without loss, from the first packet on. */
static void far_away(uint64_t rtt)
{
	struct softpair_opts opts = { .mtu = 4096 };
	uint64_t start, bytes = 64 * (uint64_t)MIB, took, least;

	open_pair(&opts);
	pair->net.latency = rtt / 2;
	OK(write_all(16, 4, MIB, 100 * SECOND));	/* the window grows */
	start = pair->net.now;
	OK(write_all(bytes / MIB, 4, MIB, 200 * SECOND));
	took = pair->net.now - start;
	least = bytes * rtt / a->qp->cwnd->window;	/* headers included */
	if (!OK(took * 8 <= least * 10))
		tap_note("window %u", a->qp->cwnd->window);
	OK(a->qp->cwnd->window >= MIB);
	OK(counters(a)->resent * 100 <= counters(a)->tx_packets);
	tap_note("%lu ms there and back: %lu ms, at least %lu; %lu packets, "
		 "%lu again", (unsigned long)(rtt / PIER__MS),
		 (unsigned long)(took / PIER__MS),
		 (unsigned long)(least / PIER__MS),
		 (unsigned long)counters(a)->tx_packets,
		 (unsigned long)counters(a)->resent);
	softpair_close(pair);
}

static void a_long_way_is_as_fast_as_its_window(void)
{
	static const unsigned int ms[] = { 1, 20, 34, 50, 100, 200 };
	unsigned int i;

	for (i = 0; i < sizeof(ms) / sizeof(*ms); i++)
		far_away(ms[i] * PIER__MS);
}

static bool lose_all(const struct vnet_packet *packet, void *arg)
{
	(void)packet;
	(void)arg;
	return false;
}

/* How long until a peer that dies @rtt away is given up. */
static uint64_t time_to_give_up(uint64_t rtt)
{
	struct softpair_opts opts = { .retry_cnt = 6 };
	uint64_t start;

	open_pair(&opts);
	pair->net.latency = rtt / 2;
	OK(write_all(100, 1, 8, 100 * SECOND));
	pair->net.tap = lose_all;
	start = pair->net.now;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 0, 101, 100 * SECOND));
	IS(a->wc[100].status, IBV_WC_RETRY_EXC_ERR);
	start = pair->net.now - start;
	softpair_close(pair);
	return start;
}

static void a_dead_peer_is_given_up_after_its_round_trips(void)
{
	IS(time_to_give_up(PIER__MS / 10) / PIER__MS, 469); /* 7 * 67.1 */
	IS(time_to_give_up(30 * PIER__MS) / PIER__MS, 469);
	IS(time_to_give_up(200 * PIER__MS) / PIER__MS, 7 * 2 * 200);
}

static bool lose_every_other_ack(const struct vnet_packet *packet, void *arg)
{
	return packet->data[0] != SOFT_ACK || ++*(int *)arg % 2 == 0;
}

/*
 * The answer to each first transmission is lost, so that none can be timed.  It
 * does not look like a way that becomes longer with each message.
 */
static void lost_acknowledgements_are_no_longer_way(void)
{
	struct softpair_opts opts = { .timeout = 14, .retry_cnt = 7 };
	uint64_t start;
	int acks = 0;

	open_pair(&opts);
	pair->net.tap = lose_every_other_ack;
	pair->net.tap_arg = &acks;
	start = pair->net.now;
	OK(write_all(100, 1, 8, 500 * SECOND));
	tap_note("%lu ms", (unsigned long)((pair->net.now - start) /
					   PIER__MS));
	OK(pair->net.now - start < 100 * SECOND);
	pair->net.tap = lose_all;
	start = pair->net.now;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 0, 101, 500 * SECOND));
	IS(a->wc[100].status, IBV_WC_RETRY_EXC_ERR);
	OK(pair->net.now - start <= 8 * SECOND);
	softpair_close(pair);
}

static bool lose_and_count(const struct vnet_packet *packet, void *arg)
{
	(void)packet;
	++*(int *)arg;
	return false;
}

/* At least once more for each retry. */
static void tries(uint64_t rtt, uint8_t retry_cnt)
{
	struct softpair_opts opts = { .retry_cnt = retry_cnt };
	int sent = 0;

	open_pair(&opts);
	pair->net.latency = rtt / 2;
	OK(write_all(20, 1, 8, 100 * SECOND));
	pair->net.tap = lose_and_count;
	pair->net.tap_arg = &sent;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 0, 21, 100 * SECOND));
	IS(a->wc[20].status, IBV_WC_RETRY_EXC_ERR);
	if (!OK(sent > retry_cnt))
		tap_note("%.1f ms there and back, retry count %u: sent %d "
			 "times", rtt / 1e6, retry_cnt, sent);
	softpair_close(pair);
}

static void a_dead_peer_is_tried_as_often_as_was_asked_for(void)
{
	static const uint64_t us[] = { 100, 1000, 6000, 20000, 100000 };
	unsigned int i;

	for (i = 0; i < sizeof(us) / sizeof(*us); i++) {
		tries(us[i] * 1000, 1);
		tries(us[i] * 1000, 2);
		tries(us[i] * 1000, 7);
	}
}

static bool lose_the_first(const struct vnet_packet *packet, void *arg)
{
	(void)packet;
	return (*(int *)arg)++ > 0;
}

/* As if the process had been stopped meanwhile. */
static void nothing_is_given_up_before_it_was_tried_again(void)
{
	struct softpair_opts opts = { 0 };
	int seen = 0;

	open_pair(&opts);
	pair->net.tap = lose_the_first;
	pair->net.tap_arg = &seen;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	vnet_settle(&pair->net);
	IS(seen, 1);
	pair->net.now += SECOND;
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(counters(a)->resent, 1);
	softpair_close(pair);
}

/* 1 Gbit/s, and all that is in flight is in one queue. */
static bool wait_in_line(const struct vnet_packet *packet, void *arg)
{
	(void)arg;
	if (packet->data[0] != SOFT_ACK)
		pair->net.latency = PIER__MS + 8 * a->qp->cwnd->inflight;
	return true;
}

static void a_queue_that_grows_makes_the_window_smaller(void)
{
	struct softpair_opts opts = { .mtu = 4096 };
	uint64_t longest = 0;
	uint32_t window;
	int i;

	open_pair(&opts);
	pair->net.latency = PIER__MS;
	OK(write_all(50, 4, MIB, 10 * SECOND));
	window = a->qp->cwnd->window;
	OK(write_all(50, 4, MIB, 10 * SECOND));
	OK(a->qp->cwnd->window >= window);	/* long is not slow */
	pair->net.tap = wait_in_line;
	for (i = 0; i < 50; i++) {
		OK(write_all(4, 4, MIB, 10 * SECOND));
		if (a->qp->cwnd->rtt > longest)
			longest = a->qp->cwnd->rtt;
	}
	OK(a->qp->cwnd->window < window);
	if (!OK(longest < 9 * PIER__MS))
		tap_note("%.1f ms", longest / 1e6);
	softpair_close(pair);
}

static void a_nak_counts_once_it_is_sent(void)
{
	struct softpair_opts opts = { 0 };
	uint64_t until;
	uint32_t key;

	open_pair(&opts);
	key = b->mr.mr.rkey++;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	b->mr.mr.rkey = key;
	pier__soft_ep_drive(a->ep);
	pair->net.faults.refuse = 1;
	until = pair->net.now + PIER__MS;
	for (; pair->net.now < until; pair->net.now += PIER__MS / 20)
		pier__soft_ep_drive(b->ep);
	IS(counters(b)->naks_sent[2], 0);
	pair->net.faults.refuse = 0;
	OK(softpair_idle(pair));
	IS(counters(b)->naks_sent[2], 1);
	IS(counters(a)->naks_received[2], 1);
	softpair_close(pair);
}

/* The answer has waited for the process, which was stopped: it took no time. */
static void a_stopped_process_measures_no_round_trip(void)
{
	struct softpair_opts opts = { 0 };
	uint64_t until;

	open_pair(&opts);
	OK(write_all(WARM, 1, 8, SECOND));
	IS(softpair_send(a, WARM, IBV_WR_RDMA_WRITE, 0, 8, b, 0), 0);
	pier__soft_ep_drive(a->ep);
	until = pair->net.now + 1500 * PIER__MS;
	for (; pair->net.now < until; pair->net.now += PIER__MS)
		pier__soft_ep_drive(b->ep);
	OK(softpair_idle(pair));
	OK(a->qp->cwnd->rtt < 10 * PIER__MS);
	softpair_close(pair);
}

int main(void)
{
	TEST(a_round_trip_longer_than_the_timer_is_learned);
	TEST(a_long_way_is_as_fast_as_its_window);
	TEST(a_dead_peer_is_given_up_after_its_round_trips);
	TEST(lost_acknowledgements_are_no_longer_way);
	TEST(a_dead_peer_is_tried_as_often_as_was_asked_for);
	TEST(nothing_is_given_up_before_it_was_tried_again);
	TEST(a_queue_that_grows_makes_the_window_smaller);
	TEST(a_nak_counts_once_it_is_sent);
	TEST(a_stopped_process_measures_no_round_trip);
	return tap_done();
}
