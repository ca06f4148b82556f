/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "core/clock.h"
#include "t/lib/vlink.h"

struct vlink {
	struct vnet_timer timer;	/* first; when the next one arrives */
	struct vlink *next;		/* of the net */
	struct vnet *net;
	struct vlink_opts opts;
	struct vlink *to;
	bool ends;			/* at a node */
	struct pier__list flight;	/* by the time of arrival */
	uint64_t busy;			/* the line, until */
	uint64_t *leaves;		/* when each in the queue has left it */
	uint32_t head, count, size;
	struct vlink_counts counts;
};

static struct vnet_event *event_of(struct pier__list *link)
{
	return pier__container_of(link, struct vnet_event, link);
}

static void set_timer(struct vlink *link)
{
	uint64_t due = PIER__NEVER;

	if (!pier__list_empty(&link->flight))
		due = event_of(link->flight.next)->at;
	vnet_timer_set(link->net, &link->timer, due);
}

static void go_on(struct vlink *link, struct vnet_event *event)
{
	struct vlink *next = link->to;

	if (!next && !link->ends)
		next = vnet_down(link->net, &event->packet.dst);
	if (next)
		vlink_send(next, event);
	else
		vnet_arrive(link->net, event);
}

static void link_run(struct vnet *net, struct vnet_timer *timer)
{
	struct vlink *link = (struct vlink *)timer;
	struct vnet_event *event;

	while (!pier__list_empty(&link->flight)) {
		event = event_of(link->flight.next);
		if (event->at > net->now)
			break;
		pier__list_del(&event->link);
		go_on(link, event);
	}
	set_timer(link);
}

/* The queue is as long as it is now, and has space for one more. */
static void update_queue(struct vlink *link)
{
	uint64_t *longer;
	uint32_t i, size;

	while (link->count && link->leaves[link->head] <= link->net->now) {
		link->head = (link->head + 1) % link->size;
		link->count--;
	}
	if (link->count < link->size)
		return;
	size = link->size ? 2 * link->size : 64;
	longer = malloc(size * sizeof(*longer));
	if (!longer)
		abort();
	for (i = 0; i < link->count; i++)
		longer[i] = link->leaves[(link->head + i) % link->size];
	free(link->leaves);
	link->leaves = longer;
	link->head = 0;
	link->size = size;
}

void vlink_send(struct vlink *link, struct vnet_event *event)
{
	const struct vlink_opts *opts = &link->opts;
	struct vnet *net = link->net;
	uint64_t bytes = event->packet.len + VLINK_FRAME;

	update_queue(link);
	if (opts->queue && link->count >= opts->queue) {
		link->counts.dropped++;
		free(event);
		return;
	}
	if (opts->mark && link->count >= opts->mark &&
	    event->packet.tclass & SOFT_TCLASS_CE)
		event->packet.tclass |= SOFT_TCLASS_CE;
	if (link->busy < net->now)
		link->busy = net->now;
	if (opts->rate)
		link->busy += bytes * 8 * 1000000000 / opts->rate;
	link->leaves[(link->head + link->count++) % link->size] = link->busy;
	if (link->counts.longest < link->count)
		link->counts.longest = link->count;
	link->counts.packets++;
	link->counts.bytes += bytes;
	if (vnet_chance(net, opts->loss)) {
		link->counts.lost++;
		free(event);
		return;
	}
	event->at = link->busy + opts->latency;
	if (vnet_chance(net, opts->reorder))
		event->at += vnet_random(net) % (2 * opts->latency + 1);
	vnet_queue(&link->flight, event);
	set_timer(link);
}

struct vlink *vlink_create(struct vnet *net, const struct vlink_opts *opts,
			   struct vlink *to)
{
	struct vlink *link = calloc(1, sizeof(*link));

	if (!link)
		abort();
	link->timer.run = link_run;
	link->next = net->links;
	link->net = net;
	link->opts = *opts;
	link->to = to;
	pier__list_init(&link->flight);
	vnet_timer_add(net);
	net->links = link;
	return link;
}

struct vlink_counts vlink_counts(const struct vlink *link)
{
	return link->counts;
}

void vlink_ends(struct vlink *link)
{
	link->ends = true;
}

void vlink_destroy_all(struct vnet *net)
{
	struct pier__list *first;
	struct vlink *link;

	while ((link = net->links)) {
		net->links = link->next;
		while ((first = pier__list_pop(&link->flight)))
			free(event_of(first));
		free(link->leaves);
		free(link);
	}
}
