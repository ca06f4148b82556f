/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The soft device on networks that are not loopback: its own endpoints, in
 * virtual time, on links with a rate, a latency, a queue and faults
 * (t/lib/vlink.c).  What is printed depends on the seeds only.
 * usage: net [-s SEEDS] [SCENE...]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/target.h"
#include "core/clock.h"
#include "t/lib/star.h"

#define GBIT UINT64_C(1000000000)
#define US 1000
#define WINDOW (256 * 4096)	/* bytes that a soft device has in flight, */
#define FAR_WINDOW (4 * WINDOW)	/* and to a peer that is 8 ms away */

/* A scene, and its limits; a limit of 0 is none. */
struct net_scene {
	const char *name, *what;
	struct star_opts opts;
	uint64_t ms;		/* of virtual time */
	int seeds;		/* at most */
	bool none_fails;
	double goodput;		/* at least, of the server's link */
	double jain;		/* at least */
	double resent;		/* at most, of the packets sent */
	double window;		/* at least, of a window each round trip */
	double rounds;		/* at most, round trips of the first request */
	double each;		/* at least, of the link, and TCP as well */
	bool as_tcp;		/* goodput: at least that of TCP alone */
};

/* Over the seeds: the worst of each. */
struct net_result {
	double goodput, jain, resent, rounds, tcp;
	double sum, tcp_sum;	/* of goodput */
	int failed, seeds;
};

/* One writer at @ms; and what its first request takes, of one packet. */
#define ROUND_TRIP(ms_, during) \
	{ .name = "rtt" #ms_, .what = "one writer, " #ms_ " ms", \
	  .opts = { .clients = 1, .depth = 32, \
		    .up = { 10 * GBIT, (ms_) * 250 * US }, \
		    .server = { 10 * GBIT, (ms_) * 250 * US, 300 } }, \
	  .ms = (during), .seeds = 1, .none_fails = true, .window = 0.8 }
#define FIRST(ms_) \
	{ .name = "first" #ms_, .what = "a first write of 4 KiB, " #ms_ " ms", \
	  .opts = { .clients = 1, .depth = 1, .len = 4096, \
		    .up = { 10 * GBIT, (ms_) * 250 * US }, \
		    .server = { 10 * GBIT, (ms_) * 250 * US, 300 } }, \
	  .ms = 4 * (ms_), .seeds = 1, .none_fails = true, .rounds = 2 }
/* Two writers; an index of 0.735 is a ratio of four. */
#define SHARE(name_, what_, rate_) \
	{ .name = (name_), .what = (what_), \
	  .opts = { .clients = 2, .depth = 32, \
		    .up = { 10 * GBIT, 250 * US }, \
		    .server = { (rate_), 250 * US, 250 }, .far = 24500 * US }, \
	  .ms = 20000, .seeds = 2, .none_fails = true, .jain = 0.735 }
/* Readers, whose responses share the server's link. */
#define READ_SHARE(name_, what_, rate_) \
	{ .name = (name_), .what = (what_), \
	  .opts = { .clients = 2, .depth = 32, \
		    .up = { 10 * GBIT, 250 * US }, \
		    .server = { (rate_), 250 * US, 250 }, .far = 24500 * US, \
		    .opcode = IBV_WR_RDMA_READ }, \
	  .ms = 20000, .seeds = 2, .none_fails = true, .jain = 0.735 }
/* A writer and a stream of TCP, t/lib/cubic.c, on the links of tcp.sh. */
#define BESIDE_TCP(ms_, queue_) \
	{ .name = "tcp" #ms_, .what = "a writer beside TCP, " #ms_ " ms", \
	  .opts = { .clients = 1, .depth = 32, .len = 65536, .tcp = true, \
		    .up = { 10 * GBIT, (ms_) * 250 * US }, .spread = 0.1, \
		    .server = { GBIT / 20, (ms_) * 250 * US, (queue_) }, \
		    .pair = { .mtu = 1024 } }, \
	  .ms = 20000, .seeds = 20, .none_fails = true, .each = 1.0 / 3 }
/* A writer, to be as fast as a stream of TCP alone. */
#define AS_TCP(name_, what_, rate_, ms_, queue_, loss_) \
	{ .name = (name_), .what = (what_), \
	  .opts = { .clients = 1, .depth = 32, .len = 65536, \
		    .up = { 10 * GBIT, (ms_) * 250 * US }, \
		    .server = { (rate_), (ms_) * 250 * US, (queue_), \
				.loss = (loss_) }, \
		    .pair = { .mtu = 1024 } }, \
	  .ms = 20000, .seeds = 3, .none_fails = true, .as_tcp = true }

static const struct net_scene scenes[] = {
	{ .name = "one", .what = "one writer, 10 Gb/s, a queue of 50",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 5 * US },
		    .server = { 10 * GBIT, 5 * US, 50 } },
	  .ms = 200, .seeds = 3, .none_fails = true, .goodput = 0.9 },
	{ .name = "loss1", .what = "one writer, 100 us, 1 % loss",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .loss = 0.01 } },
	  .ms = 200, .seeds = 5, .none_fails = true, .goodput = 0.9 },
	{ .name = "loss5", .what = "one writer, 100 us, 5 % loss",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .loss = 0.05 } },
	  .ms = 200, .seeds = 5, .none_fails = true, .goodput = 0.7 },
	{ .name = "reorder", .what = "one writer, 100 us, 1 % reordered",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .reorder = 0.01 } },
	  .ms = 200, .seeds = 5, .none_fails = true, .goodput = 0.95 },
	{ .name = "read_loss1", .what = "one reader, 100 us, 1 % loss",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .loss = 0.01 },
		    .opcode = IBV_WR_RDMA_READ },
	  .ms = 200, .seeds = 20, .none_fails = true, .goodput = 0.9 },
	{ .name = "read_loss5", .what = "one reader, 100 us, 5 % loss",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .loss = 0.05 },
		    .opcode = IBV_WR_RDMA_READ },
	  .ms = 200, .seeds = 20, .none_fails = true, .goodput = 0.7 },
	{ .name = "read_reorder", .what = "one reader, 100 us, 1 % reordered",
	  .opts = { .clients = 1, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 0, .reorder = 0.01 },
		    .opcode = IBV_WR_RDMA_READ },
	  .ms = 200, .seeds = 20, .none_fails = true, .goodput = 0.95 },
	ROUND_TRIP(1, 500), ROUND_TRIP(10, 2000), ROUND_TRIP(50, 10000),
	ROUND_TRIP(100, 10000), ROUND_TRIP(200, 20000),
	FIRST(1), FIRST(10), FIRST(50), FIRST(100), FIRST(200),
	SHARE("share", "writers at 1 and 50 ms, 1 Gb/s", GBIT),
	SHARE("share200", "the same, 200 Mb/s", GBIT / 5),
	SHARE("share50", "the same, 50 Mb/s", GBIT / 20),
	{ .name = "share_1k", .what = "the same, MTU 1024, a queue of 1,000",
	  .opts = { .clients = 2, .depth = 32, .pair = { .mtu = 1024 },
		    .up = { 10 * GBIT, 250 * US },
		    .server = { GBIT / 20, 250 * US, 1000 },
		    .far = 24500 * US },
	  .ms = 20000, .seeds = 2, .none_fails = true, .jain = 0.735,
	  .resent = 0.05 },
	READ_SHARE("read_share", "readers at 1 and 50 ms, 1 Gb/s", GBIT),
	READ_SHARE("read_share200", "the same, 200 Mb/s", GBIT / 5),
	READ_SHARE("read_share50", "the same, 50 Mb/s", GBIT / 20),
	BESIDE_TCP(2, 50), BESIDE_TCP(20, 83), BESIDE_TCP(100, 416),
	AS_TCP("lossy01", "one writer, 200 Mb/s, 20 ms, 0.1 % loss",
	       GBIT / 5, 20, 333, 0.001),
	AS_TCP("lossy1", "the same, 1 % loss", GBIT / 5, 20, 333, 0.01),
	AS_TCP("lossy_far", "one writer, 50 Mb/s, 100 ms, 0.1 % loss",
	       GBIT / 20, 100, 416, 0.001),
	{ .name = "hops", .what = "8 writers, 4 of them two hops away",
	  .opts = { .clients = 8, .up = { 10 * GBIT, 5 * US }, .behind = 4,
		    .trunk = { 10 * GBIT, 10 * US, 50 },
		    .server = { 10 * GBIT, 5 * US, 50 }, .spread = 0.5 },
	  .ms = 1000, .seeds = 5, .none_fails = true, .goodput = 0.9 },
	{ .name = "few", .what = "8 writers, 100 us, a queue of 100",
	  .opts = { .clients = 8, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 100 }, .spread = 0.5 },
	  .ms = 1000, .seeds = 5, .none_fails = true, .goodput = 0.9 },
	{ .name = "marked", .what = "the same, marked from 50 on",
	  .opts = { .clients = 8, .up = { 10 * GBIT, 25 * US },
		    .server = { 10 * GBIT, 25 * US, 100, .mark = 50 },
		    .spread = 0.5 },
	  .ms = 1000, .seeds = 5, .none_fails = true, .goodput = 0.9 },
	{ .name = "incast", .what = "100 writers, a queue of 50",
	  .opts = { .clients = 100, .up = { 10 * GBIT, 5 * US },
		    .server = { 10 * GBIT, 5 * US, 50 }, .spread = 0.5 },
	  .ms = 1000, .seeds = 20, .none_fails = true, .goodput = 0.9,
	  .jain = 0.95, .resent = 0.05 },
	{ .name = "read_incast", .what = "one reads from 100, a queue of 50",
	  .opts = { .clients = 100, .up = { 10 * GBIT, 5 * US },
		    .server = { 10 * GBIT, 5 * US, 50 }, .spread = 0.5,
		    .opcode = IBV_WR_RDMA_READ, .pull = true },
	  .ms = 1000, .seeds = 20, .none_fails = true, .goodput = 0.9,
	  .jain = 0.95 },
	{ .name = "readers", .what = "100 readers, a queue of 50",
	  .opts = { .clients = 100, .up = { 10 * GBIT, 5 * US },
		    .server = { 10 * GBIT, 5 * US, 50 }, .spread = 0.5,
		    .opcode = IBV_WR_RDMA_READ },
	  .ms = 1000, .seeds = 5, .none_fails = true, .goodput = 0.9 },
	{ .name = "incast_far", .what = "100 writers, 10 ms, a queue of 1,000",
	  .opts = { .clients = 100, .up = { 10 * GBIT, 2500 * US },
		    .server = { 10 * GBIT, 2500 * US, 1000 },
		    .spread = 0.5 },
	  .ms = 10000, .seeds = 2, .none_fails = true },
	{ .name = "read_incast_far", .what = "one reads from 100, 10 ms",
	  .opts = { .clients = 100, .up = { 10 * GBIT, 2500 * US },
		    .server = { 10 * GBIT, 2500 * US, 1000 },
		    .spread = 0.5, .opcode = IBV_WR_RDMA_READ, .pull = true },
	  .ms = 10000, .seeds = 2, .none_fails = true },
	{ .name = "incast1000", .what = "1,000 writers, a queue of 50",
	  .opts = { .clients = 1000, .up = { 10 * GBIT, 5 * US },
		    .server = { 10 * GBIT, 5 * US, 50 }, .spread = 0.5 },
	  .ms = 2000, .seeds = 2, .none_fails = true },
};

#define SCENES ((int)(sizeof(scenes) / sizeof(*scenes)))

/* Of a scene whose clients are equally far away; seconds. */
static double round_trip(const struct star_opts *opts)
{
	return 2e-9 * (opts->up.latency + opts->server.latency);
}

/* Until the first request of the only client had its answer. */
static double rounds(const struct star *star)
{
	uint64_t at = star->client->first_done_at;

	return at ? 1e-9 * (at - star->started) / round_trip(&star->opts) :
		    INFINITY;
}

static void add_tcp(const struct net_scene *scene, const struct star *star,
		    struct net_result *result)
{
	double tcp = cubic_bytes(star->tcp) * 8000.0 / scene->ms /
		     scene->opts.server.rate;

	if (!result->seeds || tcp < result->tcp)
		result->tcp = tcp;
	result->tcp_sum += tcp;
}

static void add(const struct net_scene *scene, const struct star *star,
		struct net_result *result)
{
	double sum = 0, squares = 0, goodput, jain, resent, bytes;
	uint64_t sent = 0, again = 0;
	int i;

	for (i = 0; i < scene->opts.clients; i++) {
		bytes = star_bytes(star, i);
		sum += bytes;
		squares += bytes * bytes;
		sent += star->client[i].requester->counters->tx_packets;
		again += star->client[i].requester->counters->resent;
		result->failed += star->client[i].failed;
	}
	if (star->tcp)
		add_tcp(scene, star, result);
	goodput = sum * 8 * 1000 / scene->ms / scene->opts.server.rate;
	jain = sum * sum / (squares * scene->opts.clients);
	resent = (double)again / sent;
	if (!result->seeds || goodput < result->goodput)
		result->goodput = goodput;
	if (!result->seeds || jain < result->jain)
		result->jain = jain;
	if (resent > result->resent)
		result->resent = resent;
	if (rounds(star) > result->rounds)
		result->rounds = rounds(star);
	result->sum += goodput;
	result->seeds++;
}

static void judge(const struct net_scene *scene,
		  const struct net_result *result)
{
	const char *name = scene->name;

	printf("# %s: %s, %d ms, seeds 1 to %d: goodput %.1f %% (worst "
	       "%.1f %%), Jain's index %.3f, sent again %.2f %%, failed %d\n",
	       name, scene->what, (int)scene->ms, result->seeds,
	       100 * result->sum / result->seeds, 100 * result->goodput,
	       result->jain, 100 * result->resent, result->failed);
	if (scene->none_fails)
		bench_judge(!result->failed, "%s: connections failed: %d, at "
			    "most 0", name, result->failed);
	if (scene->goodput > 0)
		bench_judge(result->goodput >= scene->goodput, "%s: goodput: "
			    "%.1f %%, at least %.0f", name,
			    100 * result->goodput, 100 * scene->goodput);
	if (scene->jain > 0)
		bench_judge(result->jain >= scene->jain, "%s: Jain's index: "
			    "%.3f, at least %.3f", name, result->jain,
			    scene->jain);
	if (scene->resent > 0)
		bench_judge(result->resent <= scene->resent, "%s: sent again: "
			    "%.2f %%, at most %.0f", name,
			    100 * result->resent, 100 * scene->resent);
}

/* Of what a window each round trip brings, or the line, if that is less. */
static void judge_distance(const struct net_scene *scene,
			   const struct net_result *result)
{
	const struct star_opts *opts = &scene->opts;
	double window = round_trip(opts) < 8e-3 ? WINDOW : FAR_WINDOW;
	double most = window * 8 / round_trip(opts) / opts->server.rate;
	double share = result->goodput / (most < 1 ? most : 1);

	if (scene->window > 0)
		bench_judge(share >= scene->window, "%s: of a window each "
			    "round trip: %.1f %%, at least %.0f", scene->name,
			    100 * share, 100 * scene->window);
	if (scene->rounds > 0)
		bench_judge(result->rounds <= scene->rounds, "%s: the first "
			    "request: %.3f round trips, at most %.0f",
			    scene->name, result->rounds, scene->rounds);
}

static void judge_beside_tcp(const struct net_scene *scene,
			     const struct net_result *result)
{
	double lesser;

	if (!scene->each)
		return;
	printf("# %s: TCP beside it: %.1f %% (worst %.1f %%)\n", scene->name,
	       100 * result->tcp_sum / result->seeds, 100 * result->tcp);
	lesser = result->tcp < result->goodput ? result->tcp : result->goodput;
	bench_judge(lesser >= scene->each, "%s: the lesser share: %.1f %% "
		    "(writes %.1f, TCP %.1f), at least %.1f", scene->name,
		    100 * lesser, 100 * result->goodput, 100 * result->tcp,
		    100 * scene->each);
}

/* TCP alone on the links of @scene. */
static void play_tcp(const struct net_scene *scene, int seed,
		     struct net_result *result)
{
	struct star_opts opts = scene->opts;
	struct star *star;
	int i;

	opts.tcp = true;
	star = star_open(&opts, seed);
	for (i = 0; i < opts.clients; i++)
		star->client[i].failed = true;	/* posts nothing */
	star_run(star, scene->ms * PIER__MS);
	add_tcp(scene, star, result);
	star_close(star);
}

static void judge_as_tcp(const struct net_scene *scene,
			 const struct net_result *result)
{
	if (!scene->as_tcp)
		return;
	bench_judge(result->sum >= result->tcp_sum, "%s: beside TCP alone: "
		    "%.1f %%, at least %.1f", scene->name,
		    100 * result->sum / result->seeds,
		    100 * result->tcp_sum / result->seeds);
}

static void play(const struct net_scene *scene, int seeds)
{
	struct net_result result = { 0 };
	struct star *star;
	int seed;

	if (seeds > scene->seeds)
		seeds = scene->seeds;
	for (seed = 1; seed <= seeds; seed++) {
		star = star_open(&scene->opts, seed);
		star_run(star, scene->ms * PIER__MS);
		if (scene->as_tcp)
			play_tcp(scene, seed, &result);
		add(scene, star, &result);
		star_close(star);
	}
	judge(scene, &result);
	judge_distance(scene, &result);
	judge_beside_tcp(scene, &result);
	judge_as_tcp(scene, &result);
}

/* Is @scene among @names, or is there none? */
static bool chosen(const struct net_scene *scene, char **names)
{
	bool all = !*names;

	for (; *names; names++)
		all |= !strcmp(*names, scene->name);
	return all;
}

static int targets_of(const struct net_scene *scene)
{
	return scene->none_fails + (scene->goodput > 0) + (scene->jain > 0) +
	       (scene->resent > 0) + (scene->window > 0) + (scene->rounds > 0) +
	       (scene->each > 0) + scene->as_tcp;
}

int main(int argc, char **argv)
{
	int seeds = 20, targets = 0, opt, i;

	while ((opt = getopt(argc, argv, "s:")) == 's')
		seeds = atoi(optarg);
	if (opt != -1 || seeds < 1) {
		fprintf(stderr, "usage: net [-s SEEDS] [SCENE...]\n");
		return 2;
	}
	argv += optind;
	for (i = 0; i < SCENES; i++)
		if (chosen(&scenes[i], argv))
			targets += targets_of(&scenes[i]);
	bench_begin(targets);
	for (i = 0; i < SCENES; i++)
		if (chosen(&scenes[i], argv))
			play(&scenes[i], seeds);
	return bench_status();
}
