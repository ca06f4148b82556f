/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/clock.h"
#include "t/lib/history.h"
#include "t/lib/tap.h"

/*
 * Histories: random requests on random connections between hosts, while the
 * network loses, repeats, reorders and is cut, and while hosts are killed and
 * start again.  Each history has a seed:
 *
 *	t/soft/history.t [-n SEEDS] [-f FIRST] [-s SEED] [-v]
 */
#define SEEDS 200
#define SEEDS_ALL 100		/* have all kinds of requests and faults */
#define REPORTS 3		/* in full */

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);

static uint64_t entropy;	/* of the seed, for the library */
static uint64_t first = 1, seeds = SEEDS;
static bool verbose;

/* Keys and numbers are of the seed, too. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	uint8_t *at = buf;
	size_t i;

	(void)flags;
	for (i = 0; i < len; i++) {
		entropy = entropy * 6364136223846793005u + 1442695040888963407u;
		at[i] = (uint8_t)(entropy >> 56);
	}
	return (ssize_t)len;
}

/* Some faults of many, for a while. */
static void faults_draw(struct history *h)
{
	struct vnet_faults *faults = &h->net.faults;
	static const uint64_t latencies[] = { 2000, 10000, 50000, 500000 };
	double most = h->mild ? 0.02 : 0.3;

	memset(faults, 0, sizeof(*faults));
	h->net.latency = latencies[history_random(h, 4)];
	if (history_chance(h, 0.4))
		faults->loss = most * (double)history_random(h, 100) / 100;
	if (history_chance(h, 0.3))
		faults->duplicate = 0.3;
	if (history_chance(h, 0.3))
		faults->reorder = 0.2;
	if (history_chance(h, 0.1))
		faults->corrupt = most / 4;
	if (history_chance(h, 0.1))
		faults->truncate = most / 4;
	if (history_chance(h, 0.1))
		faults->refuse = 0.3;
}

/* One direction between two hosts is cut, or all to and from one. */
static void cut_draw(struct history *h)
{
	int from = (int)history_random(h, (uint64_t)h->hosts), i;
	int to = (int)history_random(h, (uint64_t)h->hosts);

	if (history_chance(h, 0.5)) {
		h->cut[from][to] = true;
		if (history_chance(h, 0.5))
			h->cut[to][from] = true;
		return;
	}
	for (i = 0; i < h->hosts; i++) {
		h->cut[from][i] = true;
		h->cut[i][from] = true;
	}
}

static void kill_one(struct history *h)
{
	struct history_host *host =
		&h->host[history_random(h, (uint64_t)h->hosts)];

	if (!host->up)
		return;
	history_poll(h);
	history_host_kill(host);
	host->start_at = h->net.now + history_random(h, h->violent ? PIER__MS :
						     40 * PIER__MS);
}

static void close_one(struct history *h)
{
	struct history_life *life;
	struct history_end *end;

	for (life = h->life; life; life = life->next) {
		end = &life->end[history_random(h, 2)];
		if (end->open && history_chance(h, 0.5)) {
			history_end_close(end, history_chance(h, 0.5));
			return;
		}
	}
}

static void phase(struct history *h)
{
	faults_draw(h);
	memset(h->cut, 0, sizeof(h->cut));
	if (h->mild)
		return;
	if (history_chance(h, 0.25))
		cut_draw(h);
	if (history_chance(h, h->violent ? 0.6 : 0.15))
		kill_one(h);
	if (history_chance(h, 0.2))
		close_one(h);
}

static struct {
	uint64_t completed[HISTORY_KINDS], failed, lives, kills, mild,
		 reported;
} sum;

static bool run(uint64_t seed)
{
	struct history *h;
	bool ok;
	int i;

	entropy = seed;
	h = history_open(seed);
	h->verbose = verbose;
	for (i = 0; i < 20 && !*h->bad; i++) {
		phase(h);
		history_run(h, PIER__MS / 4 + history_random(h, 10 * PIER__MS));
	}
	if (!*h->bad)
		history_finish(h);
	ok = !*h->bad;
	if (!ok && sum.reported++ < REPORTS)
		history_report(h);
	for (i = 0; i < HISTORY_KINDS; i++)
		sum.completed[i] += h->completed[i];
	sum.failed += h->failed;
	sum.lives += h->lives;
	sum.kills += h->kills;
	sum.mild += h->mild;
	history_close(h);
	return ok;
}

/* What was checked is not nothing. */
static void everything_has_happened(void)
{
	int i;

	for (i = 0; i < HISTORY_KINDS; i++)
		OK(sum.completed[i]);
	OK(sum.failed);
	OK(sum.kills);
	OK(sum.mild && sum.mild < seeds);
}

static void connections_do_what_they_promise_under_all_faults(void)
{
	uint64_t seed, bad = 0;
	int i;

	for (seed = first; seed < first + seeds; seed++)
		bad += !run(seed);
	IS(bad, 0);
	tap_note("%llu histories, %llu of them mild; %llu connections, %llu "
		 "hosts killed",
		 (unsigned long long)(seed - first),
		 (unsigned long long)sum.mild, (unsigned long long)sum.lives,
		 (unsigned long long)sum.kills);
	for (i = 0; i < HISTORY_KINDS; i++)
		tap_note("requests of kind %d completed: %llu", i,
			 (unsigned long long)sum.completed[i]);
	tap_note("requests failed: %llu", (unsigned long long)sum.failed);
	if (seeds >= SEEDS_ALL)
		everything_has_happened();
}

/*
 * After going back the requester asked for a READ in parts, and the responder
 * held requests from before: they were more than it has at a time, and refused.
 */
static void a_read_in_parts_and_what_is_held_are_not_too_many(void)
{
	OK(run(9220));
}

int main(int argc, char *argv[])
{
	int opt;

	while ((opt = getopt(argc, argv, "f:n:s:v")) != -1) {
		switch (opt) {
		case 'f':
			first = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			seeds = strtoull(optarg, NULL, 0);
			break;
		case 's':
			first = strtoull(optarg, NULL, 0);
			seeds = 1;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (!seeds)
		return 2;
	TEST(connections_do_what_they_promise_under_all_faults);
	if (seeds > 1)
		TEST(a_read_in_parts_and_what_is_held_are_not_too_many);
	return tap_done();
}
