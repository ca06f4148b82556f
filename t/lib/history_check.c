/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that requests carry, what is read of them, and the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/history.h"
#include "t/lib/tap.h"

void history_log(struct history *h, const struct history_end *end, uint32_t op,
		 const char *what, int64_t detail)
{
	struct history_event *event =
		&h->events[h->event_count++ % HISTORY_EVENTS];

	*event = (struct history_event){
		.now = h->net.now,
		.what = what,
		.host = end ? end->host->number : -1,
		.life = end ? end->life->number : 0,
		.end = end ? (uint32_t)(end - end->life->end) : 0,
		.op = op,
		.detail = detail,
	};
	if (h->verbose)
		tap_note("%9.3f ms host %d life %u end %u request %u: %s %lld",
			 (double)event->now / PIER__MS, event->host,
			 event->life, event->end, op, what,
			 (long long)detail);
}

void history_fail(struct history *h, const struct history_end *end, uint32_t op,
		  const char *what)
{
	history_log(h, end, op, what, 0);
	if (*h->bad)
		return;
	h->bad_life = end ? end->life->number : 0;
	snprintf(h->bad, sizeof(h->bad), "%s: life %u, end %d, request %u",
		 what, h->bad_life, end ? (int)(end - end->life->end) : 0, op);
}

/* Word @index of request @op of @end; its low 16 bits are a checksum. */
static uint64_t word_of(const struct history_end *end, uint32_t op,
			uint32_t index)
{
	uint64_t word = (uint64_t)end->life->number << 44 |
			(uint64_t)(end - end->life->end) << 43 |
			(uint64_t)(op + 1) << 32 | (uint64_t)index << 16;

	return word | (word * 0x9e3779b97f4a7c15u) >> 48;
}

void history_fill(uint8_t *mem, uint32_t len, const struct history_end *end,
		  uint32_t op)
{
	uint32_t i, part;
	uint64_t word;

	for (i = 0; i < len; i += 8) {
		word = word_of(end, op, i / 8);
		part = len - i < 8 ? len - i : 8;
		memcpy(mem + i, &word, part);
	}
}

bool history_is(const uint8_t *mem, uint32_t len, const struct history_end *end,
		uint32_t op)
{
	uint8_t want[HISTORY_SLOT];

	history_fill(want, len, end, op);
	return !memcmp(mem, want, len);
}

/*
 * The version of word @index, read from slot @slot that @writer writes; 0 is
 * what was there before.  -1: it comes from elsewhere.
 */
static int version_of(uint64_t word, const struct history_end *writer,
		      uint32_t slot, uint32_t index)
{
	uint32_t version = word >> 32 & 0x7ff;
	const struct history_op *op;

	if (!word)
		return 0;
	if (!version || version > writer->posted ||
	    word != word_of(writer, version - 1, index))
		return -1;
	op = &writer->ops[version - 1];
	if ((op->kind != HISTORY_WRITE && op->kind != HISTORY_WRITE_IMM) ||
	    op->slot != slot || (index + 1) * 8 > op->len)
		return -1;
	return (int)version;
}

/* The slots of @area are written by its peer. */
static void known(struct history_end *area, uint32_t slot, uint32_t words,
		  uint16_t version)
{
	uint16_t *at = area->slots[slot].known;
	uint32_t i;

	for (i = 0; i < words; i++)
		if (at[i] < version)
			at[i] = version;
}

void history_written(struct history_end *writer, uint32_t n)
{
	struct history_end *area = history_peer(writer);
	const struct history_op *op = &writer->ops[n];
	uint32_t slot = op->slot, i;
	uint64_t word;
	int version;

	known(area, slot, op->len / 8, (uint16_t)(n + 1));
	if (!area->open || !area->area)
		return;
	for (i = 0; i < op->len / 8; i++) {
		if (area->slots[slot].torn[i])
			continue;
		memcpy(&word, area->area + slot * HISTORY_SLOT + 8 * i, 8);
		version = version_of(word, writer, slot, i);
		if (version >= (int)(n + 1))
			continue;
		history_fail(area->host->history, writer, n,
			     "memory lacks what was written");
		return;
	}
}

void history_read_begin(struct history_end *end, struct history_op *op)
{
	const struct history_end *writer = history_peer(op->area);
	const struct history_op *earlier;
	uint32_t i, k;

	op->floor = malloc(sizeof(*op->floor) * HISTORY_WORDS);
	if (!op->floor)
		abort();
	memcpy(op->floor, op->area->slots[op->slot].known,
	       sizeof(*op->floor) * HISTORY_WORDS);
	if (writer != end)
		return;
	/* What was posted before on the same queue is executed before. */
	for (i = 0; i < end->posted; i++) {
		earlier = &end->ops[i];
		if ((earlier->kind != HISTORY_WRITE &&
		     earlier->kind != HISTORY_WRITE_IMM) ||
		    earlier->slot != op->slot)
			continue;
		for (k = 0; k < earlier->len / 8; k++)
			op->floor[k] = (uint16_t)(i + 1);
	}
}

/* The first request after READ @n of @end that waits for it, or all. */
static uint32_t fence_after(const struct history_end *end, uint32_t n)
{
	while (++n < end->posted && !end->ops[n].fenced)
		;
	return n;
}

void history_read_end(struct history_end *end, uint32_t n)
{
	const uint8_t *local = history_local(end, n);
	struct history_op *op = &end->ops[n];
	struct history_end *area = op->area, *writer = history_peer(area);
	uint32_t limit = writer->posted, i;
	uint64_t word;
	int version;

	/* The area is another's meanwhile: what was read is not known. */
	if (!area->open)
		return;
	if (writer == end)
		limit = fence_after(end, n);
	for (i = 0; i < op->len / 8; i++) {
		if (area->slots[op->slot].torn[i])
			continue;
		memcpy(&word, local + 8 * i, 8);
		version = version_of(word, writer, op->slot, i);
		if (version < 0)
			history_fail(end->host->history, end, n,
				     "read what was not written there");
		else if (version < op->floor[i])
			history_fail(end->host->history, end, n,
				     "read what was written over before");
		else if (version > (int)limit)
			history_fail(end->host->history, end, n,
				     "read what a fence puts behind");
		else if (version > area->slots[op->slot].known[i])
			area->slots[op->slot].known[i] = (uint16_t)version;
	}
}

/* The events of the life that the violation is about, and those of all. */
void history_report(const struct history *h)
{
	uint32_t count = h->event_count, first = 0, shown = 0, i;
	const struct history_event *event;

	tap_note("seed %llu: %s", (unsigned long long)h->seed, h->bad);
	if (count > HISTORY_EVENTS)
		first = count - HISTORY_EVENTS;
	for (i = count; i > first && shown < 60; i--) {
		event = &h->events[(i - 1) % HISTORY_EVENTS];
		if (event->life == h->bad_life || !event->life)
			shown++;
	}
	for (; i < count; i++) {
		event = &h->events[i % HISTORY_EVENTS];
		if (event->life != h->bad_life && event->life)
			continue;
		tap_note("%10.3f ms host %d end %u request %u: %s %lld",
			 (double)event->now / PIER__MS, event->host,
			 event->end, event->op, event->what,
			 (long long)event->detail);
	}
	tap_note("repeat it with: t/soft/history.t -s %llu -v",
		 (unsigned long long)h->seed);
}
