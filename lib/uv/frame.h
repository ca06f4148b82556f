/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_FRAME_H
#define PIER_UV_FRAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The frames of an exchange: a sequence of envelopes of core/wire.h.
 *
 *	hello	how many files follow
 *	file	the name and size of the next one; then its data, in parts
 *	done	no more files follow
 *	stored	all announced files are stored
 *	failed	an error message, as the last frame
 */
#define FRAME_DATA_MAX (32 * 1024)
#define FRAME_TEXT_MAX 400
#define FRAME_MAX (FRAME_DATA_MAX + 512)

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_FILE = 2,
	FRAME_DATA = 3,
	FRAME_DONE = 4,
	FRAME_STORED = 5,
	FRAME_FAILED = 6,
};

struct frame {
	enum frame_type type;
	uint64_t number;	/* hello, stored: files; file: bytes */
	const uint8_t *bytes;	/* file: name; data; failed: message */
	size_t len;
};

/* Write @frame to @buf of FRAME_MAX bytes.  Returns the length. */
int pier__frame_encode(const struct frame *frame, void *buf);

/*
 * Read the frame that @data begins with; *ret points into it.  Returns its
 * length; 0: it is incomplete.  Errors: -EPROTO, it is not a frame.
 */
int pier__frame_decode(const void *data, size_t len, struct frame *ret);

/*
 * The bytes of @frame for a terminal: cut off at FRAME_TEXT_MAX, and a
 * question mark for everything that is not printable ASCII.
 */
void pier__frame_text(const struct frame *frame, char ret[FRAME_TEXT_MAX + 1]);

#endif
