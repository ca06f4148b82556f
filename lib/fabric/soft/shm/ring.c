/* SPDX-License-Identifier: BSD-2-Clause */
/* Records in shared memory, from one writer to one reader. */
#include <errno.h>

#include "fabric/soft/shm/ring.h"

#define HEAD_LEN (SOFT_RING_CELL - SOFT_RING_FIRST)

_Static_assert(sizeof(struct soft_cell) == SOFT_RING_CELL, "a cache line");
_Static_assert(!(SOFT_RING_CELLS & (SOFT_RING_CELLS - 1)), "a power of two");

static uint32_t place(uint32_t pos)
{
	return pos & (SOFT_RING_CELLS - 1);
}

static uint32_t cells_of(uint32_t len)
{
	return (HEAD_LEN + len + SOFT_RING_CELL - 1) / SOFT_RING_CELL;
}

/* Odd, so that a cleared head has none. */
static uint32_t stamp_of(uint32_t pos)
{
	return pos << 1 | 1;
}

static uint64_t head_of(uint32_t pos, enum soft_record_kind kind, uint32_t len)
{
	return (uint64_t)stamp_of(pos) << 32 | (uint32_t)kind << 24 | len;
}

/* Cells at the end that a record of @n cells at @pos does not fit into. */
static uint32_t skipped(uint32_t pos, uint32_t n)
{
	uint32_t rest = SOFT_RING_CELLS - place(pos);

	return n > rest ? rest : 0;
}

/* A peer that reports what cannot be has a full ring. */
static bool fits(const struct soft_ring_out *out, uint32_t n)
{
	uint32_t used = out->pos - out->taken;

	return used <= SOFT_RING_CELLS && n <= SOFT_RING_CELLS - used;
}

/*
 * The cells behind the first, of @n at @pos, have data, or nothing.  So what is
 * not covered has a head of the round before, whose stamp is another one.
 */
static void cover(struct soft_ring_out *out, uint32_t pos, uint32_t n)
{
	uint32_t at = place(pos) + 1, end = at + n - 1;
	uint64_t bits;

	for (; at < end; at = (at | 63) + 1) {
		bits = UINT64_MAX << at % 64;
		if ((at | 63) >= end)
			bits &= ~(UINT64_MAX << end % 64);
		out->covered[at / 64] |= bits;
	}
}

uint8_t *pier__soft_ring_reserve(struct soft_ring_out *out, uint32_t len,
				 uint32_t spare)
{
	uint32_t n = cells_of(len), skip = skipped(out->pos, n);
	uint32_t all = skip + n + 1 + spare;

	if (!fits(out, all)) {
		out->taken = atomic_load_explicit(&out->peer->taken,
						  memory_order_acquire);
		if (!fits(out, all))
			return NULL;
	}
	/* Who gives up may have written some. */
	cover(out, out->pos + skip, n);
	return out->own->cell[place(out->pos + skip)].data;
}

/* Does cell @at have data where a head is? */
static bool is_covered(const struct soft_ring_out *out, uint32_t at)
{
	return out->covered[at / 64] >> at % 64 & 1;
}

static void uncover(struct soft_ring_out *out, uint32_t at)
{
	out->covered[at / 64] &= ~(UINT64_C(1) << at % 64);
}

/*
 * Write a head, behind which there is none.  A head that is there is of an
 * earlier round, and is left alone: to write the cell costs as much as the
 * record itself.
 */
static void put_head(struct soft_ring_out *out, uint64_t head, uint32_t n)
{
	struct soft_cell *cell = out->own->cell;
	uint32_t at = place(out->pos), next = place(out->pos + n);

	if (is_covered(out, next)) {
		atomic_store_explicit(&cell[next].head, 0,
				      memory_order_relaxed);
		uncover(out, next);
	}
	uncover(out, at);
	atomic_store_explicit(&cell[at].head, head, memory_order_release);
	out->pos += n;
}

void pier__soft_ring_put(struct soft_ring_out *out, enum soft_record_kind kind,
			 uint32_t len)
{
	uint32_t n = cells_of(len), skip = skipped(out->pos, n);

	if (skip) {
		cover(out, out->pos, skip);
		put_head(out, head_of(out->pos, SOFT_RECORD_SKIP, 0), skip);
	}
	put_head(out, head_of(out->pos, kind, len), n);
}

static uint64_t head_at(const struct soft_ring_in *in)
{
	return atomic_load_explicit(&in->peer->cell[place(in->pos)].head,
				    memory_order_acquire);
}

bool pier__soft_ring_ready(const struct soft_ring_in *in)
{
	return head_at(in) >> 32 == stamp_of(in->pos);
}

/* The record that @head, which was read once, claims to be. */
static int take(struct soft_ring_in *in, uint64_t head,
		struct soft_record *ret)
{
	uint32_t len = head & 0xffffff, kind = head >> 24 & 0xff;
	uint32_t n = cells_of(len);

	if (kind < SOFT_RECORD_PACKET || kind >= SOFT_RECORD_END ||
	    len > SOFT_RING_RECORD_MAX || skipped(in->pos, n))
		return -EPROTO;
	ret->kind = kind;
	ret->len = len;
	ret->data = in->peer->cell[place(in->pos)].data;
	in->pos += n;
	return 1;
}

int pier__soft_ring_take(struct soft_ring_in *in, struct soft_record *ret)
{
	uint64_t head = head_at(in);

	if (head >> 32 != stamp_of(in->pos))
		return 0;
	if ((head & 0xffffffff) == (uint32_t)SOFT_RECORD_SKIP << 24) {
		in->pos += SOFT_RING_CELLS - place(in->pos);
		head = head_at(in);
		if (head >> 32 != stamp_of(in->pos))
			return 0;
	}
	return take(in, head, ret);
}

void pier__soft_ring_release(struct soft_ring_in *in)
{
	uint32_t pos = in->pos;

	if (atomic_load_explicit(&in->own->taken, memory_order_relaxed) != pos)
		atomic_store_explicit(&in->own->taken, pos,
				      memory_order_release);
}
