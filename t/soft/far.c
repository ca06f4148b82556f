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

/* @rtt: ns, of the last client; another is 1 ms away. */
static void open_star(int clients, uint64_t rtt, uint64_t rate)
{
	struct star_opts opts = {
		.clients = clients,
		.depth = BUSY,
		.up = { .rate = 10 * GBIT, .latency = 250 * US },
		.server = { .rate = rate, .latency = 250 * US, .queue = 250 },
		.far = (rtt - MS) / 2,
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
	uint32_t packets = SOFT_CWND_FAR * SOFT_CWND_MAX / SOFT_CWND_PACKET;

	OK(packets <= SOFT_EARLY);
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

int main(void)
{
	TEST(the_window_of_a_near_peer_is_256_packets);
	TEST(that_of_a_far_one_four_times_as_many);
	TEST(all_of_it_is_held_behind_a_loss);
	TEST(a_far_peer_has_its_share_beside_a_near_one);
	return tap_done();
}
