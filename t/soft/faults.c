/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/error.h>

#include "core/clock.h"
#include "fabric/soft/io/late.h"
#include "fabric/soft/io/faults.h"
#include "t/lib/tap.h"

/* The faults that PIER_FAULTS requests, without sockets. */
#define COUNT 1000

static uint8_t bytes[COUNT][64];
static struct soft_rx rx[COUNT];

/* Packets of zeros, in order: their place is their number. */
static void make_packets(void)
{
	int i;

	memset(bytes, 0, sizeof(bytes));
	for (i = 0; i < COUNT; i++)
		rx[i] = (struct soft_rx){
			.data = bytes[i],
			.len = sizeof(bytes[i]),
			.place = (uint16_t)i,
		};
}

static int pass(struct soft_faults *faults)
{
	make_packets();
	return pier__soft_faults_pass(faults, rx, COUNT, 1);
}

static struct soft_faults *create(const char *text)
{
	struct soft_faults *faults = NULL;

	IS(pier__soft_faults_create(text, &faults), 0);
	OK(faults);
	return faults;
}

static void without_a_text_there_are_none(void)
{
	struct soft_faults *faults;

	IS(pier__soft_faults_create(NULL, &faults), 0);
	OK(!faults);
	IS(pier__soft_faults_create("", &faults), 0);
	OK(!faults);
}

static void refused(const char *text, const char *part)
{
	struct soft_faults *faults = NULL;

	IS(pier__soft_faults_create(text, &faults), -EINVAL);
	OK(!faults);
	LIKE(pier_last_error(), text);
	LIKE(pier_last_error(), part);
}

static void a_wrong_text_is_refused_with_what_is_allowed(void)
{
	refused("loss", "loss=PERCENT");
	refused("lost=1", "loss=PERCENT");
	refused("loss=", "loss=0 to 100");
	refused("loss=101", "loss=0 to 100");
	refused("loss=100.1", "loss=0 to 100");
	refused("loss=-1", "loss=0 to 100");
	refused("loss=1,5", "loss=PERCENT");
	refused("loss=0.1234567", "at most 6 decimals");
	refused("corrupt=1e1", "corrupt=0 to 100");
	refused("delay=1000.5", "delay=0 to 1000");
	refused("seed=1.5", "seed=0 to 4294967295");
	refused("seed=4294967296", "seed=0 to 4294967295");
	refused("seed=99999999999999999999999", "seed=0 to 4294967295");
}

/* 1000 packets: far from these bounds only with a wrong share. */
static void a_share_of_the_packets_is_lost(void)
{
	struct soft_faults *faults = create("loss=10");
	int left = pass(faults), i;

	OK(left > 800 && left < 970);
	IS(faults->lost, COUNT - left);
	IS(faults->corrupted, 0);
	for (i = 1; i < left; i++)
		if (rx[i].place <= rx[i - 1].place)
			break;
	IS(i, left);
	pier__soft_faults_destroy(faults);
}

static void all_are_lost_or_none(void)
{
	struct soft_faults *faults = create("loss=100");

	IS(pass(faults), 0);
	pier__soft_faults_destroy(faults);
	faults = create("loss=0.0,seed=4294967295");
	IS(pass(faults), COUNT);
	pier__soft_faults_destroy(faults);
}

static void a_share_has_one_wrong_bit(void)
{
	struct soft_faults *faults = create("corrupt=10");
	int i, bits = 0, wrong = 0;
	size_t j;

	IS(pass(faults), COUNT);
	for (i = 0; i < COUNT; i++) {
		int here = 0;

		for (j = 0; j < sizeof(bytes[i]); j++)
			here += __builtin_popcount(bytes[i][j]);
		bits += here;
		wrong += here == 1;
	}
	OK(wrong > 30 && wrong < 200);
	IS(bits, wrong);
	IS(faults->corrupted, wrong);
	pier__soft_faults_destroy(faults);
}

/* What a second and a third socket of a process lose differs, too. */
static void sequences_differ(void)
{
	struct soft_faults *one = create("loss=50,seed=7");
	struct soft_faults *two = create("loss=50,seed=7");
	uint16_t places[COUNT];
	int left = pass(one), i;

	for (i = 0; i < left; i++)
		places[i] = rx[i].place;
	IS(pass(one) == left && rx[9].place == places[9] &&
	   rx[19].place == places[19], false);
	IS(pass(two) == left && rx[9].place == places[9] &&
	   rx[19].place == places[19], false);
	pier__soft_faults_destroy(one);
	pier__soft_faults_destroy(two);
}

static void delayed_packets_come_in_order_when_it_is_time(void)
{
	struct soft_faults *faults = create("delay=2.5");
	struct soft_rx got[COUNT];
	struct soft_late *late;

	if (!faults)
		return;
	late = faults->late;
	IS(pier__soft_late_due(late), 0);
	IS(pass(faults), 0);
	memset(bytes, 1, sizeof(bytes));	/* the socket's memory */
	IS(pier__soft_late_due(late), 1 + 5 * PIER__MS / 2);
	IS(pier__soft_late_take(late, got, COUNT, 5 * PIER__MS / 2), 0);
	IS(pier__soft_late_take(late, got, 10, 1 + 5 * PIER__MS / 2), 10);
	IS(got[0].place, 0);
	IS(got[9].place, 9);
	IS(got[9].data[0], 0);
	IS(got[9].len, sizeof(bytes[9]));
	IS(pier__soft_late_due(late), 1 + 5 * PIER__MS / 2);
	IS(pier__soft_late_take(late, got, COUNT, PIER__NEVER), COUNT - 10);
	IS(got[0].place, 10);
	IS(pier__soft_late_due(late), 0);
	IS(pier__soft_late_take(late, got, COUNT, PIER__NEVER), 0);
	pier__soft_faults_destroy(faults);
}

/* Its places are used again. */
static void what_does_not_fit_is_lost(void)
{
	struct soft_faults *faults = create("delay=1");
	struct soft_rx got[COUNT];
	int i, n = 0;

	for (i = 0; faults && i < 2 * SOFT_DELAYED; i += COUNT)
		IS(pass(faults), 0);
	IS(faults->lost, i - SOFT_DELAYED);
	for (; n < SOFT_DELAYED; n += i) {
		i = pier__soft_late_take(faults->late, got, COUNT,
					 PIER__NEVER);
		if (!i)
			break;
	}
	IS(n, SOFT_DELAYED);
	IS(pass(faults), 0);
	IS(pier__soft_late_take(faults->late, got, COUNT, PIER__NEVER),
	   COUNT);
	pier__soft_faults_destroy(faults);
}

static void a_packet_that_is_too_long_is_lost(void)
{
	static uint8_t many[SOFT_PACKET_MAX + 1];
	struct soft_rx longer = { .data = many, .len = sizeof(many) };
	struct soft_faults *faults = create("delay=1");

	IS(pier__soft_faults_pass(faults, &longer, 1, 1), 0);
	IS(faults->lost, 1);
	IS(pier__soft_late_due(faults->late), 0);
	pier__soft_faults_destroy(faults);
}

int main(void)
{
	TEST(without_a_text_there_are_none);
	TEST(a_wrong_text_is_refused_with_what_is_allowed);
	TEST(a_share_of_the_packets_is_lost);
	TEST(all_are_lost_or_none);
	TEST(a_share_has_one_wrong_bit);
	TEST(sequences_differ);
	TEST(delayed_packets_come_in_order_when_it_is_time);
	TEST(what_does_not_fit_is_lost);
	TEST(a_packet_that_is_too_long_is_lost);
	return tap_done();
}
