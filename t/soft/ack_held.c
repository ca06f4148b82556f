/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * When the helper of a program that polls memory acknowledges what has come
 * there: with the program's answer, in virtual time.
 */
#define WAY 2000		/* ns */
#define HELD 200000		/* ns, at most */
#define LAPS 1000
#define WAITS 3			/* in vain, until none is tried for long */
#define MEMORY 4096

static struct softpair *pair;
static struct softpair_end *a, *b;
static uint32_t acks;		/* of b */

static bool watch(const struct vnet_packet *packet, void *arg)
{
	const struct soft_addr from = vnet_addr(b->io);

	(void)arg;
	acks += IN6_ARE_ADDR_EQUAL(&packet->src.ip, &from.ip) &&
		packet->data[0] == SOFT_ACK;
	return true;
}

static void open_pair(void)
{
	struct softpair_opts opts = { .mtu = 1024 };

	acks = 0;
	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	pair->net.latency = WAY;
	pair->net.tap = watch;
}

static void write_to(struct softpair_end *from, struct softpair_end *to)
{
	IS(softpair_send(from, 1, IBV_WR_RDMA_WRITE, 0, 8, to, MEMORY), 0);
	pier__soft_ep_send_posted(from->ep, true);
	pair->net.now += 2 * WAY;
}

static void helper_drives(struct softpair_end *end)
{
	pier__soft_ep_receive(end->ep, true);
	pier__soft_ep_send_held(end->ep);
}

/* a is a program that polls: its acknowledgement leaves at once. */
static void a_polls(void)
{
	pair->net.now += 2 * WAY;
	pier__soft_ep_receive(a->ep, true);
	pier__soft_ep_send(a->ep);
	pair->net.now += 2 * WAY;
	a->wcs = 0;
	b->wcs = 0;
	softpair_poll(a);
	softpair_poll(b);
}

static void what_has_come_is_acknowledged_with_the_answer(void)
{
	uint32_t i;

	open_pair();
	for (i = 0; i < 8; i++) {
		write_to(a, b);
		helper_drives(b);
		IS(acks, i);
		write_to(b, a);
		IS(acks, i + 1);
		a_polls();
	}
	softpair_close(pair);
}

/* A write that is not answered.  Returns whether its ACK has waited. */
static bool has_waited(void)
{
	uint32_t before = acks;

	write_to(a, b);
	helper_drives(b);
	if (acks > before)
		return false;
	IS(pier__soft_ep_deadline(b->ep), pair->net.now + HELD);
	pair->net.now += HELD - 1;
	helper_drives(b);
	IS(acks, before);
	pair->net.now++;
	helper_drives(b);
	IS(acks, before + 1);
	return true;
}

static void who_does_not_answer_is_not_waited_for(void)
{
	int i, waits = 0;

	open_pair();
	for (i = 0; i < LAPS; i++) {
		waits += has_waited();
		a_polls();
	}
	IS(waits, WAITS);
	IS(acks, LAPS);
	softpair_close(pair);
}

/* Every other one is answered in time. */
static void who_answers_now_and_then_is_not_waited_for(void)
{
	int i, waits = 0;

	open_pair();
	for (i = 0; i < LAPS / 4; i++) {
		waits += has_waited();
		a_polls();
		write_to(a, b);
		helper_drives(b);
		write_to(b, a);
		a_polls();
	}
	IS(waits, 2 * WAITS - 1);
	softpair_close(pair);
}

/* The answers between count for one in vain. */
static void answers_end_the_doubt(void)
{
	int i;

	open_pair();
	for (i = 0; i < 12 * WAITS; i++) {
		if (i % 4 == 0) {
			OK(has_waited());
			a_polls();
			continue;
		}
		write_to(a, b);
		helper_drives(b);
		write_to(b, a);
		a_polls();
	}
	softpair_close(pair);
}

/* The peer does not wait for the answer then. */
static void a_second_one_is_acknowledged_at_once(void)
{
	open_pair();
	write_to(a, b);
	helper_drives(b);
	IS(acks, 0);
	write_to(a, b);
	helper_drives(b);
	IS(acks, 1);
	a_polls();
	IS(a->wcs, 2);
	softpair_close(pair);
}

static void who_drives_for_the_program_lets_nothing_wait(void)
{
	open_pair();
	write_to(a, b);
	helper_drives(b);
	IS(acks, 0);
	pier__soft_ep_send_all(b->ep);
	IS(acks, 1);
	softpair_close(pair);
}

int main(void)
{
	TEST(what_has_come_is_acknowledged_with_the_answer);
	TEST(who_does_not_answer_is_not_waited_for);
	TEST(who_answers_now_and_then_is_not_waited_for);
	TEST(answers_end_the_doubt);
	TEST(a_second_one_is_acknowledged_at_once);
	TEST(who_drives_for_the_program_lets_nothing_wait);
	return tap_done();
}
