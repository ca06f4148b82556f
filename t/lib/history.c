/* SPDX-License-Identifier: BSD-2-Clause */
/* A history: hosts and connections by a seed, run, and ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/history.h"

#define DRAIN (600000 * PIER__MS)	/* most that completion may take */

uint64_t history_random(struct history *h, uint64_t below)
{
	return vnet_random(&h->net) % below;
}

bool history_chance(struct history *h, double p)
{
	return vnet_chance(&h->net, p);
}

static struct history_host *host_of(struct history *h,
				    const struct soft_addr *addr)
{
	int i;

	for (i = 0; i < h->hosts; i++)
		if (IN6_ARE_ADDR_EQUAL(&h->host[i].addr.ip, &addr->ip))
			return &h->host[i];
	return NULL;
}

/* What a host sends that is killed, or cut off in this direction, is lost. */
static bool tap(const struct vnet_packet *packet, void *arg)
{
	struct history *h = arg;
	const struct history_host *from = host_of(h, &packet->src);
	const struct history_host *to = host_of(h, &packet->dst);

	return from && to && !from->mute && !h->cut[from->number][to->number];
}

struct history *history_open(uint64_t seed)
{
	struct history *h = calloc(1, sizeof(*h));
	int i, a;

	if (!h)
		abort();
	h->seed = seed;
	vnet_init(&h->net, seed * 0x2545f4914f6cdd1du);
	h->net.tap = tap;
	h->net.tap_arg = h;
	h->net.polls = history_chance(h, 0.5);
	h->mild = history_chance(h, 0.3);
	h->violent = !h->mild && history_chance(h, 0.3);
	h->hosts = 2 + (int)history_random(h, HISTORY_HOSTS - 1);
	h->conns = h->hosts - 1 +
		   (int)history_random(h, (uint64_t)(HISTORY_CONNS - h->hosts));
	for (i = 0; i < h->hosts; i++)
		history_host_init(h, i);
	for (i = 0; i < h->hosts; i++)
		history_host_start(&h->host[i]);
	for (i = 0; i < h->conns; i++) {
		a = i < h->hosts ? i :
		    (int)history_random(h, (uint64_t)h->hosts);
		h->conn[i].host[0] = &h->host[a];
		a += 1 + (int)history_random(h, (uint64_t)h->hosts - 1);
		h->conn[i].host[1] = &h->host[a % h->hosts];
	}
	return h;
}

static bool may_post(struct history *h, const struct history_end *end)
{
	return end->ready && !end->failed && end->posted < HISTORY_OPS &&
	       end->posted - end->done < HISTORY_FLIGHT &&
	       history_chance(h, 0.6);
}

static bool turn(void *arg)
{
	struct history *h = arg;
	struct history_life *life;
	int i;

	history_poll(h);
	history_conns_turn(h);
	for (i = 0; i < h->hosts; i++)
		if (h->host[i].up)
			history_post_receives(&h->host[i]);
	for (life = h->life; life && !h->quiet; life = life->next)
		for (i = 0; i < 2; i++)
			while (may_post(h, &life->end[i]))
				history_post(&life->end[i]);
	return *h->bad;
}

static void restart_due(struct history *h)
{
	int i;

	for (i = 0; i < h->hosts; i++)
		if (!h->host[i].up && h->net.now >= h->host[i].start_at)
			history_host_start(&h->host[i]);
}

bool history_run(struct history *h, uint64_t ns)
{
	uint64_t end = h->net.now + ns;

	restart_due(h);
	turn(h);
	vnet_run(&h->net, ns, turn, h);
	if (!*h->bad && h->net.now < end)
		h->net.now = end;
	return !*h->bad;
}

/* It has requests in flight, or is being connected. */
static bool is_busy(const struct history_end *end)
{
	return end->open && (end->qp->req.head || (end->id && !end->ready &&
						   !end->failed));
}

static bool drained(void *arg)
{
	struct history *h = arg;
	struct history_life *life;

	if (turn(h))
		return true;
	for (life = h->life; life; life = life->next)
		if (is_busy(&life->end[0]) || is_busy(&life->end[1]))
			return false;
	return true;
}

/* What two ends that are connected have sent has arrived. */
static void delivered(struct history *h)
{
	struct history_life *life;
	struct history_end *end;
	int i;

	for (life = h->life; life; life = life->next)
		for (i = 0; i < 2; i++) {
			end = &life->end[i];
			if (!end->open)
				continue;
			if (!end->failed)
				history_settled(end);
			if (!end->failed && end->expected_got !=
					    end->expected_put)
				history_fail(h, end, end->posted,
					     "not all was received");
			if (h->mild && !end->ready)
				history_fail(h, end, 0, "never connected");
		}
}

static void close_all(struct history *h)
{
	struct history_life *life;
	int i, first;

	for (life = h->life; life; life = life->next) {
		first = (int)history_random(h, 2);
		for (i = 0; i < 2; i++)
			if (life->end[i ^ first].open)
				history_end_close(&life->end[i ^ first],
						  history_chance(h, 0.8));
	}
}

void history_finish(struct history *h)
{
	struct history_words *words;
	int i;

	memset(&h->net.faults, 0, sizeof(h->net.faults));
	memset(h->cut, 0, sizeof(h->cut));
	h->quiet = true;
	h->generous = true;
	for (i = 0; i < h->hosts; i++)
		if (!h->host[i].up)
			history_host_start(&h->host[i]);
	history_log(h, NULL, 0, "all faults end", 0);
	turn(h);
	if (!vnet_run(&h->net, DRAIN, drained, h))
		history_fail(h, NULL, 0, "not all has completed");
	if (*h->bad)
		return;
	delivered(h);
	close_all(h);
	if (!vnet_run(&h->net, DRAIN, turn, h))
		history_fail(h, NULL, 0, "the network never comes to rest");
	for (i = 0; i < h->hosts && !*h->bad; i++)
		history_host_stop(&h->host[i]);
	for (words = h->words; words && !*h->bad; words = words->next)
		history_words_check(h, words);
}

static void life_free(struct history_life *life)
{
	uint32_t n;
	int i;

	for (i = 0; i < 2; i++)
		for (n = 0; n < life->end[i].posted; n++)
			free(life->end[i].ops[n].floor);
	free(life);
}

void history_close(struct history *h)
{
	struct history_words *words;
	struct history_life *life;
	int i;

	for (i = 0; i < h->hosts; i++)
		if (h->host[i].up)
			history_host_kill(&h->host[i]);
	while ((life = h->life)) {
		h->life = life->next;
		life_free(life);
	}
	while ((words = h->words)) {
		h->words = words->next;
		free(words->op);
		free(words);
	}
	vnet_fini(&h->net);
	free(h);
}
