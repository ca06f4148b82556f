/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/vlink.h"
#include "t/lib/vnet.h"

struct vnet_node {
	struct soft_io io;		/* first */
	struct vnet_node *next;
	struct vnet *net;
	struct soft_addr addr;
	struct soft_ep *ep;
	struct pier__list coming;	/* by time */
	struct pier__list taken;	/* by the last recv */
	uint32_t waiting;		/* in coming */
	uint64_t busy;			/* the wire, until */
	struct pier__hash_link by_addr;
	struct vlink *up, *down;	/* NULL: none */
	struct vnet_timer timer;	/* with links */
	void (*program)(void *arg);	/* NULL: none */
	void (*take)(void *arg, struct vnet_event *event);	/* the same */
	void *arg;
};

static struct vnet_node *node_of(const struct soft_io *io)
{
	return (struct vnet_node *)io;
}

uint64_t vnet_random(struct vnet *net)
{
	uint64_t z = net->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

bool vnet_chance(struct vnet *net, double p)
{
	return p > 0 && (vnet_random(net) >> 11) * 0x1p-53 < p;
}

void vnet_init(struct vnet *net, uint64_t seed)
{
	*net = (struct vnet) {
		.now = 1000 * PIER__MS,
		.random = seed,
		.latency = 10000,
	};
	pier__hash_init(&net->by_addr);
}

static struct vnet_event *event_of(const struct pier__list *link)
{
	return pier__container_of(link, struct vnet_event, link);
}

static void events_free(struct pier__list *list)
{
	struct pier__list *link;

	while ((link = pier__list_pop(list)))
		free(event_of(link));
}

void vnet_fini(struct vnet *net)
{
	struct vnet_node *node;

	while ((node = net->nodes)) {
		net->nodes = node->next;
		events_free(&node->coming);
		events_free(&node->taken);
		free(node);
	}
	vlink_destroy_all(net);
	pier__soft_heap_fini(&net->timers);
	pier__hash_fini(&net->by_addr);
}

void vnet_timer_add(struct vnet *net)
{
	if (pier__soft_heap_fit(&net->timers, ++net->timer_count))
		abort();
}

void vnet_timer_set(struct vnet *net, struct vnet_timer *timer, uint64_t due)
{
	pier__soft_heap_set(&net->timers, &timer->timer, due);
}

void vnet_queue(struct pier__list *list, struct vnet_event *event)
{
	struct pier__list *pos = list->prev;

	while (pos != list && event_of(pos)->at > event->at)
		pos = pos->prev;
	pier__list_add(pos->next, &event->link);
}

/* @event is at @node at its time. */
static void node_take(struct vnet_node *node, struct vnet_event *event)
{
	struct vnet *net = node->net;

	if (node->take) {
		node->take(node->arg, event);
		return;
	}
	if (!node->ep || (net->inbox && node->waiting >= net->inbox)) {
		free(event);
		return;
	}
	vnet_queue(&node->coming, event);
	node->waiting++;
	if (node->timer.run && (!node->timer.timer.at ||
				node->timer.timer.due > event->at))
		vnet_timer_set(net, &node->timer, event->at);
}

static struct vnet_event *event_new(const struct vnet_packet *packet,
				    uint64_t at)
{
	struct vnet_event *event = malloc(sizeof(*event));

	if (!event)
		abort();
	event->packet = *packet;
	event->at = at;
	return event;
}

static uint32_t addr_code(const struct vnet *net, const struct soft_addr *addr)
{
	uint64_t half[2];

	memcpy(half, &addr->ip, sizeof(half));
	return pier__hash_code(&net->by_addr, half[0] + addr->port, half[1]);
}

static struct vnet_node *node_find(struct vnet *net,
				   const struct soft_addr *addr)
{
	uint32_t code = addr_code(net, addr);
	struct pier__hash_link *link;
	struct vnet_node *node;

	if (!net->nodes)
		return NULL;
	link = pier__hash_find(&net->by_addr, code);
	for (; link; link = pier__hash_match(link->next, code)) {
		node = pier__container_of(link, struct vnet_node, by_addr);
		if (node->addr.port == addr->port &&
		    IN6_ARE_ADDR_EQUAL(&node->addr.ip, &addr->ip))
			return node;
	}
	return NULL;
}

struct vlink *vnet_down(struct vnet *net, const struct soft_addr *addr)
{
	struct vnet_node *node = node_find(net, addr);

	return node ? node->down : NULL;
}

void vnet_arrive(struct vnet *net, struct vnet_event *event)
{
	struct vnet_node *node = node_find(net, &event->packet.dst);

	event->at = net->now;
	if (node)
		node_take(node, event);
	else
		free(event);
}

void vnet_deliver(struct vnet *net, const struct vnet_packet *packet)
{
	struct vnet_node *node = node_find(net, &packet->dst);

	if (node)
		node_take(node, event_new(packet, net->now));
}

/* One copy of @packet from @from, through all that may happen to it. */
static void travel(struct vnet_node *from, struct vnet_packet *packet)
{
	struct vnet *net = from->net;
	const struct vnet_faults *faults = &net->faults;
	struct vnet_node *node = node_find(net, &packet->dst);
	uint64_t at;
	size_t bit;

	if (!node || vnet_chance(net, faults->loss))
		return;
	if (vnet_chance(net, faults->truncate))
		packet->len = vnet_random(net) % packet->len;
	if (packet->len && vnet_chance(net, faults->corrupt)) {
		bit = vnet_random(net) % (8 * packet->len);
		packet->data[bit / 8] ^= 1 << bit % 8;
	}
	if (from->up) {
		vlink_send(from->up, event_new(packet, net->now));
		return;
	}
	at = net->now + net->latency;
	if (at < node->busy)
		at = node->busy;
	at += packet->len / 8 + 50;
	node->busy = at;
	if (vnet_chance(net, faults->reorder))
		at += vnet_random(net) % (2 * net->latency);
	node_take(node, event_new(packet, at));
}

void vnet_build(struct vnet *net, const struct soft_tx *tx,
		struct vnet_packet *packet)
{
	uint8_t *p = packet->data;
	uint32_t icrc, i;

	packet->src = tx->src;
	packet->dst = tx->dst;
	packet->tclass = tx->tclass;
	packet->id =
		vnet_random(net) % (tx->dst.port == ROCE_UDP_PORT ? 65536 : 64);
	icrc = pier__soft_icrc(tx, packet->id);
	memcpy(p, tx->hdr, tx->hdr_len);
	p += tx->hdr_len;
	for (i = 0; i < tx->iov_count; i++) {
		if (tx->iov[i].iov_len)
			memcpy(p, tx->iov[i].iov_base, tx->iov[i].iov_len);
		p += tx->iov[i].iov_len;
	}
	memset(p, 0, tx->pad);
	p += tx->pad;
	for (i = 0; i < 4; i++)
		*p++ = icrc >> 8 * i;
	packet->len = p - packet->data;
}

static uint64_t node_now(struct soft_io *io)
{
	return node_of(io)->net->now;
}

static int node_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct vnet *net = node_of(io)->net;
	struct vnet_packet packet, again;
	int i;

	if (net->faults.refuse >= 1)
		count = 0;
	else if (vnet_chance(net, net->faults.refuse))
		count = vnet_random(net) % (count + 1);
	for (i = 0; i < count; i++) {
		vnet_build(net, &tx[i], &packet);
		net->sent++;
		if (net->tap && !net->tap(&packet, net->tap_arg))
			continue;
		again = packet;
		travel(node_of(io), &packet);
		if (vnet_chance(net, net->faults.duplicate))
			travel(node_of(io), &again);
	}
	return count;
}

static int node_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	struct vnet_node *node = node_of(io);
	struct vnet_event *event;
	int n = 0;

	events_free(&node->taken);
	while (n < max && !pier__list_empty(&node->coming)) {
		event = event_of(node->coming.next);
		if (event->at > node->net->now)
			break;
		pier__list_del(&event->link);
		pier__list_add(&node->taken, &event->link);
		node->waiting--;
		rx[n].data = event->packet.data;
		rx[n].len = event->packet.len;
		rx[n].marked = (event->packet.tclass & SOFT_TCLASS_CE) ==
			       SOFT_TCLASS_CE;
		rx[n].src = event->packet.src;
		rx[n++].dst = event->packet.dst;
	}
	return n;
}

static const struct soft_io_ops node_ops = {
	.now = node_now,
	.send = node_send,
	.recv = node_recv,
};

struct soft_io *vnet_node(struct vnet *net, const char *ip, uint16_t port)
{
	struct vnet_node *node = calloc(1, sizeof(*node));
	char mapped[64] = "::ffff:";

	if (!node)
		abort();
	node->io.ops = &node_ops;
	node->io.port = port;
	node->net = net;
	pier__list_init(&node->coming);
	pier__list_init(&node->taken);
	node->addr.port = port;
	if (!strchr(ip, ':'))
		ip = strncat(mapped, ip, 32);
	if (inet_pton(AF_INET6, ip, &node->addr.ip) != 1)
		abort();
	node->next = net->nodes;
	net->nodes = node;
	if (pier__hash_reserve(&net->by_addr, net->by_addr.count + 1))
		abort();
	pier__hash_add(&net->by_addr, &node->by_addr,
		       addr_code(net, &node->addr));
	return &node->io;
}

struct soft_addr vnet_addr(const struct soft_io *io)
{
	return node_of(io)->addr;
}

void vnet_attach(struct soft_io *io, struct soft_ep *ep)
{
	struct vnet_node *node = node_of(io);

	/* What arrived while there was none is lost. */
	while (ep && !pier__list_empty(&node->coming) &&
	       event_of(node->coming.next)->at <= node->net->now) {
		free(event_of(pier__list_pop(&node->coming)));
		node->waiting--;
	}
	node->ep = ep;
}

static int drive(struct vnet_node *node, int (*fn)(struct soft_ep *ep))
{
	int done;

	if (!node->ep)
		return 0;
	pier__soft_ep_enter(node->ep);
	done = fn(node->ep);
	pier__soft_ep_leave(node->ep);
	return done;
}

static void node_wake(struct vnet_node *node)
{
	if (node->timer.run)
		vnet_timer_set(node->net, &node->timer, node->net->now);
}

/* Drive one until it has nothing to do now, and set its timer. */
static void node_run(struct vnet *net, struct vnet_timer *timer)
{
	struct vnet_node *node = pier__container_of(timer, struct vnet_node,
						    timer);
	uint64_t due, at;

	do {
		if (node->program)
			node->program(node->arg);
	} while (drive(node, pier__soft_ep_drive));
	if (!node->ep)
		return;
	due = pier__soft_ep_deadline(node->ep);
	if (due <= net->now)
		due = net->now + 1;	/* or the time would stop */
	if (!pier__list_empty(&node->coming)) {
		at = event_of(node->coming.next)->at;
		due = at < due ? at : due;
	}
	vnet_timer_set(net, timer, due);
}

void vnet_route(struct soft_io *io, struct vlink *up, struct vlink *down)
{
	struct vnet_node *node = node_of(io);

	node->up = up;
	node->down = down;
	if (down)
		vlink_ends(down);
	if (node->timer.run)
		return;
	node->timer.run = node_run;
	vnet_timer_add(node->net);
}

void vnet_program(struct soft_io *io, void (*program)(void *arg), void *arg)
{
	node_of(io)->program = program;
	node_of(io)->arg = arg;
}

void vnet_taker(struct soft_io *io,
		void (*take)(void *arg, struct vnet_event *event), void *arg)
{
	node_of(io)->take = take;
	node_of(io)->arg = arg;
}

void vnet_send(struct soft_io *io, const struct vnet_packet *packet)
{
	struct vnet_packet copy = *packet;

	travel(node_of(io), &copy);
}

static int drive_all(struct vnet *net, int (*fn)(struct soft_ep *ep))
{
	struct vnet_node *node;
	int done = 0;

	for (node = net->nodes; node; node = node->next)
		done += drive(node, fn);
	return done;
}

static int receive(struct soft_ep *ep)
{
	return pier__soft_ep_receive(ep, true);
}

/* As programs do that poll: they post before what they owe is sent. */
static void poll_all(struct vnet *net, bool (*post)(void *arg), void *arg)
{
	int done;

	do {
		done = drive_all(net, receive);
		post(arg);
		done += drive_all(net, pier__soft_ep_send);
	} while (done);
}

void vnet_settle(struct vnet *net)
{
	while (drive_all(net, pier__soft_ep_drive))
		;
}

/* When something happens next. */
static uint64_t vnet_next(const struct vnet *net)
{
	uint64_t next = PIER__NEVER, due;
	const struct vnet_node *node;

	for (node = net->nodes; node; node = node->next) {
		if (!node->ep)
			continue;
		if (!pier__list_empty(&node->coming) &&
		    event_of(node->coming.next)->at < next)
			next = event_of(node->coming.next)->at;
		due = pier__soft_ep_deadline(node->ep);
		if (due < next)
			next = due;
	}
	return next;
}

/* The same with links. */
static bool run_timers(struct vnet *net, uint64_t limit,
		       bool (*until)(void *arg), void *arg)
{
	uint64_t end = net->now + limit, due;
	struct vnet_node *node;
	struct vnet_timer *next;

	for (node = net->nodes; node; node = node->next)
		node_wake(node);
	for (;;) {
		due = pier__soft_heap_due(&net->timers);
		if (due == PIER__NEVER)
			return true;
		if (due > end) {
			net->now = end;
			return false;
		}
		if (net->now < due)
			net->now = due;
		next = (struct vnet_timer *)net->timers.timer[0];
		vnet_timer_set(net, next, PIER__NEVER);
		next->run(net, next);
		if (until && until(arg))
			return true;
	}
}

bool vnet_run(struct vnet *net, uint64_t limit, bool (*until)(void *arg),
	      void *arg)
{
	uint64_t end = net->now + limit, next;

	if (net->timer_count)
		return run_timers(net, limit, until, arg);
	for (;;) {
		if (net->polls && until)
			poll_all(net, until, arg);
		else
			vnet_settle(net);
		if (until && until(arg))
			return true;
		next = vnet_next(net);
		if (next == PIER__NEVER)
			return true;
		if (next > end) {
			net->now = end;
			return false;
		}
		/* A deadline in the past would stop the time. */
		net->now = next > net->now ? next : net->now + 1;
	}
}
