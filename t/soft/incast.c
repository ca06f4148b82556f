/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "t/lib/star.h"
#include "t/lib/tap.h"

/* Many writers to one endpoint, or READs from many, in virtual time. */
#define GBIT UINT64_C(1000000000)
#define US 1000
#define MS PIER__MS

static struct star *star;

static void open_reads(int clients, uint32_t queue, bool pull)
{
	struct star_opts opts = {
		.clients = clients,
		.up = { .rate = 10 * GBIT, .latency = 5 * US },
		.server = { .rate = 10 * GBIT, .latency = 5 * US,
			    .queue = queue },
		.spread = 0.5,
		.opcode = IBV_WR_RDMA_READ,
		.pull = pull,
	};

	star = star_open(&opts, 1);
}

static void open_star(int clients, uint32_t queue, double loss)
{
	struct star_opts opts = {
		.clients = clients,
		.up = { .rate = 10 * GBIT, .latency = 5 * US },
		.server = { .rate = 10 * GBIT, .latency = 5 * US,
			    .queue = queue, .loss = loss },
		.spread = 0.5,
	};

	star = star_open(&opts, 1);
}

static const struct soft_cwnd *cwnd(int i)
{
	return star->client[i].requester->cwnd;
}

static int count_in_incast(void)
{
	int i, n = 0;

	for (i = 0; i < star->opts.clients; i++)
		n += cwnd(i)->incast;
	return n;
}

static int count_failed(void)
{
	int i, n = 0;

	for (i = 0; i < star->opts.clients; i++)
		n += star->client[i].failed;
	return n;
}

static void how_many_send_is_reported(void)
{
	int i;

	open_star(9, 0, 0);
	star_run(star, 50 * MS);
	for (i = 0; i < 9; i++)
		IS(cwnd(i)->senders, 4);
	star_close(star);
	open_star(1, 0, 0);
	star_run(star, 50 * MS);
	IS(cwnd(0)->senders, 0);
	star_close(star);
}

static void without_a_loss_many_are_as_fast_as_one(void)
{
	int i;

	open_star(9, 0, 0);
	star_run(star, 50 * MS);
	IS(count_in_incast(), 0);
	for (i = 0; i < 9; i++)
		OK(cwnd(i)->window > 16 * SOFT_CWND_PACKET);
	star_close(star);
}

static void losses_of_a_few_are_no_incast(void)
{
	open_star(4, 0, 0.02);
	star_run(star, 100 * MS);
	IS(cwnd(0)->senders, 2);
	OK(cwnd(0)->lost_at);
	IS(count_in_incast(), 0);
	star_close(star);
}

/* For a second; a link of 10 Gb/s brings 1.25 GB. */
static void check_sixty(double fairness)
{
	double sum = 0, squares = 0, bytes;
	uint64_t sent = 0, again = 0;
	int i, small = 0;

	star_run(star, 1000 * MS);
	IS(count_failed(), 0);
	for (i = 0; i < 60; i++) {
		bytes = (double)star_bytes(star, i);
		sum += bytes;
		squares += bytes * bytes;
		sent += star->client[i].requester->counters->tx_packets;
		again += star->client[i].requester->counters->resent;
		small += cwnd(i)->window < SOFT_CWND_PACKET;
	}
	OK(small > 30);
	OK(sum > 0.8 * 1.25e9);
	OK(sum * sum / squares / 60 > fairness);
	OK((double)again / (double)sent < 0.1);
	star_close(star);
}

static void many_at_a_short_queue_stay_connected(void)
{
	open_star(60, 20, 0);
	check_sixty(0.8);
}

static void one_that_reads_from_many_shares_a_short_queue(void)
{
	open_reads(60, 20, true);
	check_sixty(0.5);
}

static void many_that_read_from_one_share_a_short_queue(void)
{
	open_reads(60, 20, false);
	check_sixty(0.5);
}

static void who_reads_counts_who_responds(void)
{
	int i;

	open_reads(9, 0, true);
	star_run(star, 50 * MS);
	for (i = 0; i < 9; i++)
		IS(cwnd(i)->senders, 4);
	IS(count_in_incast(), 0);
	star_close(star);
	open_reads(9, 0, false);
	star_run(star, 50 * MS);
	for (i = 0; i < 9; i++)
		IS(cwnd(i)->senders, 4);
	star_close(star);
}

/* RoCE devices, which report nothing. */
static void who_responds_no_more_is_not_counted(void)
{
	int i;

	open_reads(9, 0, true);
	for (i = 0; i < 9; i++) {
		star->client[i].qp->selective = false;
		star->client[i].peer->selective = false;
	}
	star_run(star, 50 * MS);
	IS(cwnd(0)->senders, 4);
	for (i = 1; i < 9; i++)
		star->client[i].failed = true;	/* posts no more */
	star_run(star, 200 * MS);
	IS(cwnd(0)->senders, 0);
	star_close(star);
}

static void the_last_ones_have_the_line(void)
{
	uint64_t before;
	int i;

	open_star(60, 20, 0);
	star_run(star, 300 * MS);
	OK(count_in_incast() > 30);
	for (i = 1; i < 60; i++)
		star->client[i].failed = true;	/* posts no more */
	star_run(star, 600 * MS);
	IS(cwnd(0)->incast, false);
	before = star_bytes(star, 0);
	star_run(star, 100 * MS);
	OK((double)(star_bytes(star, 0) - before) > 0.8 * 1.25e8);
	star_close(star);
}

static void a_peer_that_lies_slows_what_it_is_sent(void)
{
	uint64_t before;
	int i;

	open_star(1, 0, 0.01);
	star_run(star, 10 * MS);
	before = star_bytes(star, 0);
	for (i = 0; i < 500; i++) {
		star->server.ep->senders.reported = SOFT_SENDERS_MAX;
		star_run(star, MS);
	}
	IS(cwnd(0)->senders, SOFT_SENDERS_MAX);
	IS(count_in_incast(), 1);
	OK(cwnd(0)->window >= SOFT_INCAST_MIN);
	OK(star_bytes(star, 0) > before);
	IS(count_failed(), 0);
	star_close(star);
}

int main(void)
{
	TEST(how_many_send_is_reported);
	TEST(without_a_loss_many_are_as_fast_as_one);
	TEST(losses_of_a_few_are_no_incast);
	TEST(many_at_a_short_queue_stay_connected);
	TEST(who_reads_counts_who_responds);
	TEST(one_that_reads_from_many_shares_a_short_queue);
	TEST(many_that_read_from_one_share_a_short_queue);
	TEST(who_responds_no_more_is_not_counted);
	TEST(the_last_ones_have_the_line);
	TEST(a_peer_that_lies_slows_what_it_is_sent);
	return tap_done();
}
