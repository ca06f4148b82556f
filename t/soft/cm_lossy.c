/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * Many connections over a network that loses, repeats and reorders: each is
 * made, once, and ends, once, and nothing is left of it.  PIER_SEED in the
 * environment is one seed to run again.
 */
static struct cm_pair *pair;

struct census {
	int up, down, refused, requests, other;
};

static struct census count(int i)
{
	struct census census = { 0 };
	struct cmpair_end *end;

	for (end = pair->node[i].ends; end; end = end->next) {
		census.up += end->events[PIER__CM_RESPONSE] |
			     end->events[PIER__CM_ESTABLISHED];
		census.down += end->over == PIER__CM_DISCONNECTED;
		census.refused += end->over == PIER__CM_REJECTED;
		census.other += end->over == PIER__CM_UNREACHABLE;
		if (end->events[PIER__CM_RESPONSE] > 1 ||
		    end->events[PIER__CM_ESTABLISHED] > 1 ||
		    end->events[PIER__CM_REQUEST] > 1)
			IS(end->events[PIER__CM_ESTABLISHED], 1);
	}
	return census;
}

static void disconnect_all(int i)
{
	struct cmpair_end *end;

	for (end = pair->node[i].ends; end; end = end->next)
		if (end->over < 0)
			IS(pier__soft_cm_disconnect(end->id), 0);
}

static void release_all(int i)
{
	struct cmpair_end *end;

	for (end = pair->node[i].ends; end; end = end->next)
		if (end->id)
			cm_release(end);
}

static void traffic(uint64_t seed, const struct vnet_faults *faults, int conns)
{
	struct census a, b;
	int i;

	pair = cm_open(seed, seed % 2, 64);
	pair->net.faults = *faults;
	for (i = 0; i < conns; i++) {
		cm_ask(pair, CM_SERVICE, "hello");
		cm_run(pair, 1);
	}
	cm_run(pair, 60000);
	a = count(0);
	b = count(1);
	IS(a.up, conns);
	IS(b.up, conns);
	IS(a.down + a.refused + a.other, 0);
	disconnect_all(0);
	if (seed % 3 == 0)
		disconnect_all(1);
	cm_run(pair, 60000);
	a = count(0);
	b = count(1);
	IS(a.down, conns);
	IS(b.down, conns);
	release_all(0);
	release_all(1);
	cm_run(pair, 60000);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	if (!tap_holds())
		tap_note("seed %llu", (unsigned long long)seed);
	cm_close(pair);
}

static void seeds(const struct vnet_faults *faults, int conns)
{
	const char *one = getenv("PIER_SEED");
	uint64_t seed;

	if (one) {
		traffic(strtoull(one, NULL, 0), faults, conns);
		return;
	}
	for (seed = 1; seed <= 20 && tap_holds(); seed++)
		traffic(seed, faults, conns);
}

static void connections_are_made_and_end_without_loss(void)
{
	seeds(&(struct vnet_faults) { 0 }, 100);
}

static void so_they_are_with_a_fifth_lost_each_way(void)
{
	seeds(&(struct vnet_faults) { .loss = 0.2 }, 100);
}

static void so_they_are_with_all_kinds_of_faults(void)
{
	seeds(&(struct vnet_faults) {
		.loss = 0.1, .duplicate = 0.3, .reorder = 0.5,
		.corrupt = 0.05, .truncate = 0.05, .refuse = 0.1,
	}, 100);
}

static void rejections_arrive_as_well(void)
{
	struct census a;
	uint64_t seed;
	int i;

	for (seed = 1; seed <= 20; seed++) {
		pair = cm_open(seed, false, 64);
		pair->net.faults.loss = 0.2;
		pair->net.faults.duplicate = 0.2;
		pair->node[1].manner = CM_REFUSE;
		for (i = 0; i < 100; i++)
			cm_ask(pair, CM_SERVICE, NULL);
		cm_run(pair, 60000);
		a = count(0);
		IS(a.refused, 100);
		IS(a.up, 0);
		cm_close(pair);
	}
}

/* Both sides let go at any time, whatever is on its way. */
static void releases_at_any_time_leave_nothing_behind(void)
{
	struct cmpair_end *end;
	uint64_t seed;
	int i, k;

	for (seed = 1; seed <= 20; seed++) {
		pair = cm_open(seed, false, 16);
		pair->net.faults.loss = 0.2;
		pair->net.faults.reorder = 0.3;
		for (i = 0; i < 200; i++) {
			cm_ask(pair, CM_SERVICE, NULL);
			vnet_run(&pair->net,
				 vnet_random(&pair->net) % (2 * PIER__MS),
				 NULL, NULL);
			for (k = 0; k < 2; k++) {
				cm_events(&pair->node[k]);
				end = cm_last(&pair->node[k]);
				if (end && end->id &&
				    vnet_chance(&pair->net, 0.5))
					cm_release(end);
			}
		}
		cm_run(pair, 100000);
		release_all(0);
		release_all(1);
		cm_run(pair, 100000);
		IS(pier__soft_cm_count(pair->node[0].cm), 0);
		IS(pier__soft_cm_count(pair->node[1].cm), 0);
		IS(pair->node[0].roce_port_users, 0);
		cm_close(pair);
	}
}

static void four_thousand_connections_fit(void)
{
	struct census a, b;
	int i;

	pair = cm_open(1, false, 128);
	for (i = 0; i < 4096; i++) {
		cm_ask(pair, CM_SERVICE, NULL);
		if (i % 64 == 63)
			cm_run(pair, 1);
	}
	cm_run(pair, 1000);
	a = count(0);
	b = count(1);
	IS(a.up, 4096);
	IS(b.up, 4096);
	IS(pier__soft_cm_count(pair->node[1].cm), 4096);
	disconnect_all(1);
	cm_run(pair, 1000);
	a = count(0);
	IS(a.down, 4096);
	cm_close(pair);
}

int main(void)
{
	TEST(connections_are_made_and_end_without_loss);
	TEST(so_they_are_with_a_fifth_lost_each_way);
	TEST(so_they_are_with_all_kinds_of_faults);
	TEST(rejections_arrive_as_well);
	TEST(releases_at_any_time_leave_nothing_behind);
	TEST(four_thousand_connections_fit);
	return tap_done();
}
