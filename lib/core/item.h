/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_ITEM_H
#define PIER_CORE_ITEM_H

#include <stdint.h>

/*
 * Reading msgpack, one item after the other, for core/wire.c alone: never
 * beyond the end, without memory of its own and without recursion.
 */
struct pier__cursor {
	const uint8_t *at, *end;
};

enum pier__item_type {
	PIER__ITEM_UINT,
	PIER__ITEM_BYTES,
	PIER__ITEM_ARRAY,
	PIER__ITEM_MAP,
	PIER__ITEM_OTHER,	/* of msgpack, not used here */
};

struct pier__item {
	enum pier__item_type type;
	uint64_t value;		/* number; length of bytes; how many items an */
				/* array or pairs a map holds, unchecked */
	const uint8_t *data;	/* of bytes */
};

/* "a number", for messages. */
const char *pier__item_name(enum pier__item_type type);

/*
 * Read one item; of an array or a map only the count, not what it holds.
 * Errors: -PIER_EDESC, it is incomplete, and both are undefined; the caller
 * makes the message.
 */
int pier__item_read(struct pier__cursor *cur, struct pier__item *item);

/* Go behind the next item and all it holds.  Errors: as above. */
int pier__item_skip(struct pier__cursor *cur);

#endif
