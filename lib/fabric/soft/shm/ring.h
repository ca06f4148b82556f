/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_RING_H
#define PIER_FABRIC_SOFT_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Records from one process to another, in memory that the writer alone can
 * write.  Each process has such memory, with its records, and how far it has
 * read those of the other.
 *
 * A record begins at a cell, with a head, and lies in as many cells as it
 * needs.  Its head is written last, in one store, and has a stamp that no other
 * head at this place had before.  If the cell behind a record may have data
 * where a head is, that is cleared before the record's own is written: what a
 * reader finds there is either nothing, or a head.
 *
 * The other process is hostile: it may write anything at any time.  A head is
 * read once, and checked.  What the data are is the caller's to check, in a
 * copy.
 */
#define SOFT_RING_CELLS 16384u
#define SOFT_RING_CELL 64u
#define SOFT_RING_RECORD_MAX 32832u	/* bytes of one record */
#define SOFT_RING_SPARE 128u		/* cells that data do not use */
#define SOFT_RING_ANSWERS 4u		/* of them, that only answers use */
#define SOFT_RING_GRANTS 256u
#define SOFT_RING_FIRST 56u		/* bytes in a record's first cell */

enum soft_record_kind {
	SOFT_RECORD_SKIP = 1,	/* the next one is at the ring's begin */
	SOFT_RECORD_PACKET,
	SOFT_RECORD_HELLO,
	SOFT_RECORD_ASK,	/* of direct.h, as those below */
	SOFT_RECORD_GIVEN,
	SOFT_RECORD_REVOKED,
	SOFT_RECORD_PULL,	/* a packet; its data are read: pull.h */
	SOFT_RECORD_JOINED,	/* several packets as one, with their data */
	SOFT_RECORD_END
};

struct soft_cell {
	_Atomic uint64_t head;	/* stamp, kind and length */
	uint8_t data[SOFT_RING_FIRST];
};

/* What a process shares with its peer, which cannot write it. */
struct soft_ring {
	_Alignas(64) _Atomic uint32_t taken;	/* cells of the other's */
	_Alignas(64) _Atomic uint32_t asleep;	/* odd: ring the bell */
	_Alignas(64) _Atomic uint32_t hazard;	/* odd: the other's memory */
						/* is used */
	_Alignas(64) _Atomic uint32_t pulls;	/* this process does */
	_Atomic uint32_t withdrawn;	/* changed: do not use what was */
					/* offered before */
	_Alignas(64) _Atomic uint32_t live[SOFT_RING_GRANTS];
	_Alignas(4096) struct soft_cell cell[SOFT_RING_CELLS];
};

/* The end that writes. */
struct soft_ring_out {
	struct soft_ring *own;
	const struct soft_ring *peer;
	uint32_t pos;			/* of the next record, in cells */
	uint32_t taken;			/* as last read */
	uint64_t covered[SOFT_RING_CELLS / 64];	/* cells with data where a */
					/* head is */
};

/* The end that reads. */
struct soft_ring_in {
	struct soft_ring *own;
	const struct soft_ring *peer;
	uint32_t pos;
};

struct soft_record {
	enum soft_record_kind kind;
	uint32_t len;
	const uint8_t *data;		/* in the peer's memory */
};

/*
 * Where to write a record of @len bytes, at most SOFT_RING_RECORD_MAX, leaving
 * @spare cells; NULL: the ring is full.  Until put nothing has happened.
 */
uint8_t *pier__soft_ring_reserve(struct soft_ring_out *out, uint32_t len,
				 uint32_t spare);

/* Write the record of the last reserve, of the same @len. */
void pier__soft_ring_put(struct soft_ring_out *out,
			 enum soft_record_kind kind, uint32_t len);

/*
 * Take the next record.  Its data are valid until release.  Returns 1; 0: there
 * is none; -EPROTO: no record of a peer that keeps to the rules.
 */
int pier__soft_ring_take(struct soft_ring_in *in, struct soft_record *ret);

/* Is there one? */
bool pier__soft_ring_ready(const struct soft_ring_in *in);

/* Let the peer use the cells of all that was taken. */
void pier__soft_ring_release(struct soft_ring_in *in);

#endif
