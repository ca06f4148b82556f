/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_WIRE_H
#define PIER_CORE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes for others to read: descriptors and frames, in msgpack.  Only wire.c
 * uses msgpack-c.  All calls: any thread.
 *
 * An envelope is a head of PIER__WIRE_HEAD bytes, numbers in network order:
 *
 *	0  "pier"	4  version, 16 bits	6  kind, 16 bits
 *	8  body's length, 32 bits		12  CRC-32 of all but itself
 *
 * then the body: a msgpack map from field numbers, ascending, to unsigned
 * integers, byte strings, or arrays of such maps.  The head stays as it is in
 * every version.  Readers skip unknown fields, bound the others,
 * and neither allocate nor recurse.
 */
#define PIER__WIRE_VERSION 1
#define PIER__WIRE_HEAD 16

enum pier__wire_kind {
	PIER__WIRE_CONN = 1,
	PIER__WIRE_MMAP = 2,
	PIER__WIRE_FRAME = 3,
	PIER__WIRE_SYNC_EVENT = 4,
	PIER__WIRE_EXPORT = 5,
	PIER__WIRE_SYNC_EXPORT = 6,
};

/* A writer into a caller's buffer; end returns the first error. */
struct pier__wire_out {
	uint8_t *buf;
	size_t size, len;
	int err;
};

/*
 * Begin an envelope in @buf; add the @fields fields in the order of their
 * numbers; end it.  end returns the length.  Errors: -ENOBUFS, @size was too
 * small; -EINVAL, what was added is not what was announced.
 */
void pier__wire_begin(struct pier__wire_out *out, void *buf, size_t size,
		      enum pier__wire_kind kind, unsigned int fields);
void pier__wire_uint(struct pier__wire_out *out, unsigned int field,
		     uint64_t value);
void pier__wire_bytes(struct pier__wire_out *out, unsigned int field,
		      const void *data, size_t len);
/* A field that holds @count maps; each is begun with pier__wire_map(). */
void pier__wire_array(struct pier__wire_out *out, unsigned int field,
		      unsigned int count);
void pier__wire_map(struct pier__wire_out *out, unsigned int fields);
int pier__wire_end(struct pier__wire_out *out);

/*
 * A checked envelope or one of its maps, to read fields from in any order.
 * It points into the caller's bytes.
 */
struct pier__wire_in {
	const uint8_t *body;
	size_t len;
	enum pier__wire_kind kind;
};

/*
 * How long the envelope is that begins with the @len bytes at @data, at least
 * PIER__WIRE_HEAD: for streams.  Nothing else of it is checked.
 * Errors: -PIER_EDESC, no envelope; -EMSGSIZE, longer than @max.
 */
int pier__wire_size(const void *data, size_t len, size_t max, size_t *ret);

/*
 * Check the whole envelope.  The reader of a frame limits its length.
 * Errors: -PIER_EDESC, damaged, or a descriptor of more than PIER_DESC_MAX
 * bytes; -PIER_EVERSION; -PIER_EKIND, an unknown kind.
 */
int pier__wire_open(const void *data, size_t len, struct pier__wire_in *ret);

/* open, and -PIER_EKIND if it is not of @kind, naming both. */
int pier__wire_expect(const void *data, size_t len, enum pier__wire_kind kind,
		      struct pier__wire_in *ret);

/*
 * Read a field.  Errors: -PIER_EDESC, missing, of another type, below @min,
 * above @max (bytes: a length not from @min to @max).
 */
int pier__wire_get_uint(const struct pier__wire_in *in, unsigned int field,
			uint64_t min, uint64_t max, uint64_t *ret);
int pier__wire_get_bytes(const struct pier__wire_in *in, unsigned int field,
			 size_t min, size_t max, const uint8_t **ret,
			 size_t *ret_len);

/*
 * How many maps the array @field holds, at most @max, and map @i of it, which
 * is read like the envelope's.  Errors: -PIER_EDESC, as above; no map @i.
 */
int pier__wire_get_array(const struct pier__wire_in *in, unsigned int field,
			 unsigned int max, unsigned int *ret);
int pier__wire_get_map(const struct pier__wire_in *in, unsigned int field,
		       unsigned int i, struct pier__wire_in *ret);

#endif
