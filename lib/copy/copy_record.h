/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_RECORD_H
#define PIER_COPY_COPY_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "copy/copy_hash.h"

/*
 * What a slot of memory has: records, one behind the other, none across two
 * slots.  A record is a head of 8 bytes, its kind and the length of what
 * follows, then that, then zeros to a multiple of 8.  Numbers in network order.
 *
 *	DIR or FILE, DATA and HOLE..., END or ABORT, ..., LEAVE, ..., FINISH
 *
 * If copies are resumed, START follows the FILE of PIER__RECORD_RESUMED bytes
 * or more, when the receiver has sent what it has of it.
 */
enum pier__copy_record_kind {
	PIER__RECORD_FILE = 1,	/* an entry: a file begins */
	PIER__RECORD_DIR,	/* an entry: a directory */
	PIER__RECORD_LEAVE,	/* an entry: all of a directory was sent */
	PIER__RECORD_START,	/* 64 bits: the file's data begin there */
	PIER__RECORD_DATA,	/* the next bytes of the file */
	PIER__RECORD_HOLE,	/* 64 bits: so many zeros are next */
	PIER__RECORD_END,	/* the digest of the file */
	PIER__RECORD_ABORT,	/* the rest does not follow: an error */
	PIER__RECORD_MISSING,	/* a source that cannot be sent: an error */
	PIER__RECORD_FINISH,	/* no more records */
};

#define PIER__RECORD_HEAD 8
#define PIER__RECORD_PATH 4095	/* bytes of the longest path */
#define PIER__RECORD_RESUMED (1u << 20)
#define PIER__RECORD_TEXT 512	/* bytes of the longest error message */
/* The longest of all but DATA, with its head. */
#define PIER__RECORD_MAX 5120

/* A file or directory. */
struct pier__copy_entry {
	uint64_t number;	/* of the file, from 1 */
	uint64_t size;
	int64_t mtime;		/* seconds since 1970 */
	uint32_t mtime_ns;
	uint32_t mode;		/* permissions */
	uint32_t name_len;	/* the bytes of the path that name the source */
	char path[PIER__RECORD_PATH + 1];
};

/* What ABORT and MISSING have. */
struct pier__copy_error {
	int error;		/* positive */
	char path[PIER__RECORD_PATH + 1];
	char text[PIER__RECORD_TEXT + 1];
};

/* A part of a slot that records are added to, or read from. */
struct pier__copy_span {
	uint8_t *at, *end;
};

/* The bytes of DATA that can be added; 0: none. */
size_t pier__record_capacity(const struct pier__copy_span *span);

/* Add a record, which fits: the span has PIER__RECORD_MAX bytes. */
void pier__record_entry(struct pier__copy_span *span,
			enum pier__copy_record_kind kind,
			const struct pier__copy_entry *entry);
/* HOLE or START. */
void pier__record_number(struct pier__copy_span *span,
			 enum pier__copy_record_kind kind, uint64_t number);
void pier__record_end(struct pier__copy_span *span,
		      const struct pier__copy_digest *digest);
void pier__record_error(struct pier__copy_span *span,
			enum pier__copy_record_kind kind,
			const struct pier__copy_error *error);
void pier__record_finish(struct pier__copy_span *span);

/* Where DATA's bytes go; data ends the record that has @len of them. */
uint8_t *pier__record_data_at(const struct pier__copy_span *span);
void pier__record_data(struct pier__copy_span *span, size_t len);

/*
 * Take the next record off @span, which is not empty and which the peer may
 * change meanwhile.  *ret_body is of *ret_len bytes in the slot.
 * Errors: -EPROTO.
 */
int pier__record_next(struct pier__copy_span *span,
		      enum pier__copy_record_kind *ret,
		      const uint8_t **ret_body, size_t *ret_len);

/* Read the body of a record.  Errors: -EPROTO. */
int pier__record_get_entry(const uint8_t *body, size_t len,
			   struct pier__copy_entry *ret);
int pier__record_get_number(const uint8_t *body, size_t len, uint64_t *ret);
int pier__record_get_end(const uint8_t *body, size_t len,
			 struct pier__copy_digest *ret);
int pier__record_get_error(const uint8_t *body, size_t len,
			   struct pier__copy_error *ret);

#endif
