/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/soft/shm/ring.h"
#include "t/lib/tap.h"

/* Both ends of a ring, in one thread; and a writer that breaks the rules. */
#define LAPS 5
#define SPARE 128

static struct soft_ring *memory[2];	/* of the writer, of the reader */
static struct soft_ring_out out;
static struct soft_ring_in in;

static void anew(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		free(memory[i]);
		memory[i] = aligned_alloc(4096, sizeof(*memory[i]));
		if (!OK(memory[i] != NULL))
			exit(1);
		memset(memory[i], 0, sizeof(*memory[i]));
	}
	out = (struct soft_ring_out){ .own = memory[0], .peer = memory[1] };
	in = (struct soft_ring_in){ .own = memory[1], .peer = memory[0] };
}

static bool put(uint32_t len, uint8_t byte)
{
	uint8_t *to = pier__soft_ring_reserve(&out, len, SPARE);

	if (!to)
		return false;
	memset(to, byte, len);
	pier__soft_ring_put(&out, SOFT_RECORD_PACKET, len);
	return true;
}

/* Take one: is it @len times @byte? */
static bool is_next(uint32_t len, uint8_t byte)
{
	struct soft_record record;
	uint32_t i;

	if (pier__soft_ring_take(&in, &record) != 1 || record.len != len ||
	    record.kind != SOFT_RECORD_PACKET)
		return false;
	for (i = 0; i < len && record.data[i] == byte; i++)
		;
	return i == len;
}

static void records_are_taken_as_they_were_put(void)
{
	uint32_t laps = 0, len, n;
	bool all = true;

	anew();
	for (n = 0; laps < LAPS && all; n++) {
		len = n * 37 % (SOFT_RING_RECORD_MAX + 1);
		all = put(len, (uint8_t)n) && put(0, 0) &&
		      is_next(len, (uint8_t)n) && is_next(0, 0) &&
		      !pier__soft_ring_ready(&in);
		pier__soft_ring_release(&in);
		laps = out.pos / SOFT_RING_CELLS;
	}
	OK(all);
}

static void a_full_ring_takes_records_after_a_release(void)
{
	uint32_t n, i;

	anew();
	for (n = 0; put(56, (uint8_t)n); n++)
		;
	IS(n, SOFT_RING_CELLS - SPARE - 1);
	for (i = 0; i < n; i++)
		if (!is_next(56, (uint8_t)i))
			break;
	IS(i, n);
	OK(!put(0, 0));
	pier__soft_ring_release(&in);
	OK(put(4000, 1));
	OK(is_next(4000, 1));
}

/* Put one of a length that depends on @n, if there is space for it. */
static bool put_next(uint32_t n)
{
	uint32_t len = n * 2654435761u % (SOFT_RING_RECORD_MAX + 1);

	return put(n % 3 ? len % 200 : len, (uint8_t)n);
}

static bool is_next_taken(uint32_t n)
{
	uint32_t len = n * 2654435761u % (SOFT_RING_RECORD_MAX + 1);

	return is_next(n % 3 ? len % 200 : len, (uint8_t)n);
}

/* Many at a time, from a few to as many as there is space for. */
static void records_of_all_lengths_go_round_and_round(void)
{
	uint32_t made = 0, read = 0, i;
	bool all = true;

	anew();
	srandom(2);
	while (all && out.pos < 20 * SOFT_RING_CELLS) {
		i = (uint32_t)random() % 600;
		while (i-- && put_next(made))
			made++;
		i = (uint32_t)random() % 600;
		while (all && i-- && read < made)
			all = is_next_taken(read++);
		if (read == made)
			all = all && !pier__soft_ring_ready(&in);
		pier__soft_ring_release(&in);
	}
	IS(all, true);
	tap_note("%u records", read);
}

/* Data that were heads at their place, a lap later, are none. */
static void data_of_an_earlier_lap_are_no_heads(void)
{
	struct soft_record record;
	uint32_t cells, len, i;
	uint64_t *to, head;
	bool none = true;

	anew();
	while (out.pos < 3 * SOFT_RING_CELLS && none) {
		/* shorter in each lap, so that they begin elsewhere */
		len = 4088 - out.pos / SOFT_RING_CELLS * SOFT_RING_CELL;
		to = (void *)pier__soft_ring_reserve(&out, len, SPARE);
		if (!OK(to != NULL))
			return;
		cells = out.pos + SOFT_RING_CELLS + 1;
		for (i = 0; i < len / 8; i++) {
			head = (uint64_t)((cells + i / 8) << 1 | 1) << 32 |
			       (uint32_t)SOFT_RECORD_PACKET << 24 | 8;
			memcpy(&to[i], &head, 8);
		}
		pier__soft_ring_put(&out, SOFT_RECORD_PACKET, len);
		none = pier__soft_ring_take(&in, &record) == 1 &&
		       record.len == len &&
		       !pier__soft_ring_take(&in, &record);
		pier__soft_ring_release(&in);
		none = none && put(8, 0) && is_next(8, 0) &&
		       !pier__soft_ring_ready(&in);
	}
	OK(none);
}

/* What take returns for a @head at cell @at, whose stamp is right. */
static int taken(uint32_t at, uint32_t kind, uint32_t len)
{
	struct soft_record record;
	uint64_t head = (uint64_t)(at << 1 | 1) << 32 | kind << 24 | len;

	anew();
	in.pos = at;
	atomic_store(&memory[0]->cell[at].head, head);
	return pier__soft_ring_take(&in, &record);
}

/* Of a long one that was not put, whose data look like heads. */
static void data_that_were_given_up_are_no_heads(void)
{
	const uint32_t cells = 512;
	uint64_t *head, i;

	anew();
	head = (uint64_t *)(pier__soft_ring_reserve(
		&out, cells * SOFT_RING_CELL - 8, SPARE) - 8);
	for (i = 1; i < cells; i++)
		head[i * 8] = (i << 1 | 1) << 32 | SOFT_RECORD_PACKET << 24;
	for (i = 0; i < cells && tap_holds(); i += 2) {
		OK(put(100, (uint8_t)i));
		OK(is_next(100, (uint8_t)i));
		OK(!pier__soft_ring_ready(&in));
	}
}

static void heads_that_break_the_rules_are_refused(void)
{
	const uint32_t last = SOFT_RING_CELLS - 1;

	IS(taken(0, SOFT_RECORD_PACKET, SOFT_RING_RECORD_MAX), 1);
	IS(taken(0, SOFT_RECORD_PACKET, SOFT_RING_RECORD_MAX + 1), -EPROTO);
	IS(taken(0, SOFT_RECORD_PACKET, 0xffffff), -EPROTO);
	IS(taken(last, SOFT_RECORD_PACKET, SOFT_RING_FIRST), 1);
	IS(taken(last, SOFT_RECORD_PACKET, SOFT_RING_FIRST + 1), -EPROTO);
	IS(taken(0, 0, 8), -EPROTO);
	IS(taken(0, SOFT_RECORD_END, 8), -EPROTO);
	IS(taken(0, 0xff, 8), -EPROTO);
	IS(taken(0, SOFT_RECORD_SKIP, 8), -EPROTO);
	IS(taken(0, SOFT_RECORD_SKIP, 0), 0);
}

static void a_reader_that_claims_too_much_gets_no_records(void)
{
	anew();
	atomic_store(&memory[1]->taken, 1);
	OK(put(8, 0));
	while (put(0, 0))
		;
	atomic_store(&memory[1]->taken, out.pos + 1);
	OK(!put(8, 0));
	atomic_store(&memory[1]->taken, out.pos - SOFT_RING_CELLS - 1);
	OK(!put(8, 0));
}

/* Any bytes at all: take returns, and what it returns lies in the ring. */
static void random_bytes_are_taken_within_bounds(void)
{
	struct soft_record record;
	bool inside = true;
	uint64_t head;
	uint32_t n, at;

	srandom(1);
	anew();
	for (n = 0; n < 200000 && inside; n++) {
		at = in.pos % SOFT_RING_CELLS;
		head = (uint64_t)(in.pos << 1 | 1) << 32 |
		       ((uint64_t)random() & 0x03003fff);
		atomic_store(&memory[0]->cell[at].head, head);
		if (pier__soft_ring_take(&in, &record) < 1) {
			in.pos++;	/* as no caller does */
			continue;
		}
		inside = record.data >= (uint8_t *)memory[0]->cell &&
			 record.data + record.len <=
				 (uint8_t *)(memory[0] + 1);
		pier__soft_ring_release(&in);
	}
	OK(inside);
}

int main(void)
{
	TEST(records_are_taken_as_they_were_put);
	TEST(a_full_ring_takes_records_after_a_release);
	TEST(records_of_all_lengths_go_round_and_round);
	TEST(data_of_an_earlier_lap_are_no_heads);
	TEST(data_that_were_given_up_are_no_heads);
	TEST(heads_that_break_the_rules_are_refused);
	TEST(a_reader_that_claims_too_much_gets_no_records);
	TEST(random_bytes_are_taken_within_bounds);
	free(memory[0]);
	free(memory[1]);
	return tap_done();
}
