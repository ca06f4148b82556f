/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "t/lib/star.h"
#include "t/lib/tap.h"

/* Windows to peers that are far away, in virtual time. */
#define GBIT UINT64_C(1000000000)
#define US 1000
#define MS PIER__MS
#define BUSY 32			/* requests: more than a window */

static struct star *star;
static uint32_t mtu;		/* 0: 4096 */

/* @rtt: ns, of the last client; another is 1 ms away. */
static void open_star(int clients, uint64_t rtt, uint64_t rate)
{
	struct star_opts opts = {
		.clients = clients,
		.depth = BUSY,
		.up = { .rate = 10 * GBIT, .latency = 250 * US },
		.server = { .rate = rate, .latency = 250 * US, .queue = 250 },
		.far = (rtt - MS) / 2,
		.pair = { .mtu = mtu },
	};

	star = star_open(&opts, 1);
}

static uint32_t window(int i)
{
	return star->client[i].qp->cwnd->window;
}

static void the_window_of_a_near_peer_is_256_packets(void)
{
	open_star(1, MS, 10 * GBIT);
	star_run(star, 100 * MS);
	IS(window(0), SOFT_CWND_MAX);
	star_close(star);
}

static void that_of_a_far_one_four_times_as_many(void)
{
	open_star(1, 50 * MS, 10 * GBIT);
	star_run(star, 2000 * MS);
	IS(window(0), SOFT_CWND_FAR * SOFT_CWND_MAX);
	star_close(star);
}

/* As many as the peer holds ahead of a gap, so that none is dropped there. */
static void all_of_it_is_held_behind_a_loss(void)
{
	static const uint32_t mtus[] = { 256, 1024, 4096 };
	uint32_t packet, most, i;

	for (i = 0; i < 3; i++) {
		mtu = mtus[i];
		packet = mtu + SOFT_PACKET_COST;
		most = SOFT_EARLY * packet;
		open_star(1, 50 * MS, 10 * GBIT);
		star_run(star, 3000 * MS);
		OK(window(0) <= most);
		OK(window(0) > most - packet);
		star_close(star);
	}
	mtu = 0;
}

/* Without a loss, for 20 round trips of @rtt ns. */
static uint32_t growth(uint64_t rtt)
{
	struct soft_cwnd *cwnd;
	uint32_t before = 64 * SOFT_CWND_PACKET, grown;

	open_star(1, rtt, 10 * GBIT);
	star_run(star, 5 * rtt);
	cwnd = star->client[0].qp->cwnd;
	cwnd->window = cwnd->ssthresh = before;
	star_run(star, 20 * rtt);
	grown = window(0) - before;
	star_close(star);
	return grown;
}

/* As that of TCP beside it. */
static void it_grows_by_packets_of_the_size_that_is_sent(void)
{
	uint32_t large, small;

	large = growth(MS);
	mtu = 1024;
	small = growth(MS);
	mtu = 0;
	OK(small > 10 * (1024 + SOFT_PACKET_COST));
	OK(3 * small < large + large / 4);
}

/* By 4 packets a round trip, and from 50 ms on by one for each 12.5 ms. */
static void it_grows_the_faster_the_further_away(void)
{
	uint32_t at_20 = growth(20 * MS), at_50 = growth(50 * MS + 1000 * US);
	uint32_t at_100 = growth(101 * MS);

	OK(at_20 > 60 * SOFT_CWND_PACKET);
	OK(at_20 <= 100 * SOFT_CWND_PACKET);
	OK(at_50 <= at_20);
	OK(at_100 > 2 * at_50 - at_50 / 4);
	OK(at_100 <= 200 * SOFT_CWND_PACKET);
}

static void a_far_peer_has_its_share_beside_a_near_one(void)
{
	uint64_t near, far;

	open_star(2, 50 * MS, GBIT / 5);
	star_run(star, 20000 * MS);
	near = star_bytes(star, 0);
	far = star_bytes(star, 1);
	OK(far > near / 4);
	OK(near > far / 4);
	star_close(star);
}

/* At 20 ms and 50 Mb/s, for 20 s: of 125 MB.  Adds what has arrived. */
static void run_tcp(uint64_t seed, bool alone, uint64_t *tcp, uint64_t *writes)
{
	struct star_opts opts = {
		.clients = 1, .depth = BUSY, .len = 65536, .tcp = true,
		.up = { .rate = 10 * GBIT, .latency = 5 * MS }, .spread = 0.1,
		.server = { .rate = GBIT / 20, .latency = 5 * MS, .queue = 83 },
		.pair = { .mtu = 1024 },
	};

	star = star_open(&opts, seed);
	star->client[0].failed = alone;		/* posts nothing */
	star_run(star, 20000 * MS);
	*tcp += cubic_bytes(star->tcp);
	*writes += star_bytes(star, 0);
	star_close(star);
}

/* Each has a third; how both begin matters, so four times. */
static void a_stream_of_tcp_has_its_share_beside_writes(void)
{
	uint64_t tcp = 0, writes = 0, seed;

	run_tcp(1, true, &tcp, &writes);
	OK(tcp > 110000000);
	tcp = writes = 0;
	for (seed = 1; seed <= 4; seed++)
		run_tcp(seed, false, &tcp, &writes);
	OK(tcp > 4 * UINT64_C(125000000) / 3);
	OK(writes > 4 * UINT64_C(125000000) / 3);
}

/*
 * Slow start fills the queue, and few packets are lost.  All that is in flight
 * then arrives, and a window may be sent behind the gap: more than the queue
 * takes at once.
 */
static void a_gap_that_is_filled_draws_no_burst(void)
{
	struct star_opts opts = {
		.clients = 1, .depth = BUSY, .len = 65536,
		.up = { .rate = 10 * GBIT, .latency = 25 * MS },
		.server = { .rate = GBIT / 20, .latency = 25 * MS,
			    .queue = 416 },
		.pair = { .mtu = 1024 },
	};
	struct vlink_counts counts;

	star = star_open(&opts, 1);
	star_run(star, 3000 * MS);
	counts = vlink_counts(star->server.down);
	IS(counts.longest, 416u);
	OK(counts.dropped > 0);
	OK(counts.dropped < 100);
	star_close(star);
}

int main(void)
{
	TEST(the_window_of_a_near_peer_is_256_packets);
	TEST(that_of_a_far_one_four_times_as_many);
	TEST(all_of_it_is_held_behind_a_loss);
	TEST(it_grows_by_packets_of_the_size_that_is_sent);
	TEST(it_grows_the_faster_the_further_away);
	TEST(a_far_peer_has_its_share_beside_a_near_one);
	TEST(a_stream_of_tcp_has_its_share_beside_writes);
	TEST(a_gap_that_is_filled_draws_no_burst);
	return tap_done();
}
