/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_MSG_H
#define PIER_COPY_COPY_MSG_H

#include <stddef.h>
#include <stdint.h>

/*
 * The messages of a copy, on a Comm Channel; docs/copy.md has their order.
 * Numbers in network order:
 *
 *	0  "pcp"	3  version	4  enum pier__copy_kind, 32 bits
 *	8  the numbers of this kind, 64 bits each
 *	.. the lengths of two byte strings, 32 bits each, and the strings
 *
 * The first 8 bytes stay as they are in every version.
 */
#define PIER__COPY_VERSION 2
#define PIER__COPY_NUMBERS 6		/* at most */
#define PIER__COPY_STRING 4096		/* bytes of the longest string */
#define PIER__COPY_MESSAGE 8640		/* bytes of the longest message */

enum pier__copy_kind {
	PIER__COPY_HELLO = 1,	/* of the client: what it requests */
	PIER__COPY_SOURCE,	/* of the client: one more source */
	PIER__COPY_WELCOME,	/* of the server: it begins */
	PIER__COPY_FILLED,	/* a slot has records */
	PIER__COPY_FREE,	/* a slot has been read */
	PIER__COPY_REPORT,	/* of the receiver: a file has failed */
	PIER__COPY_OFFSET,	/* of the receiver: what it has of a file */
	PIER__COPY_PING,	/* this end is alive */
	PIER__COPY_END,		/* the last one: result or error */
	PIER__COPY_KINDS
};

/* The numbers of each kind. */
enum { PIER__HELLO_MODE, PIER__HELLO_FLAGS, PIER__HELLO_SLOTS,
       PIER__HELLO_SLOT_SIZE, PIER__HELLO_SOURCES, PIER__HELLO_TIMEOUT };
enum { PIER__WELCOME_DIRECTION, PIER__WELCOME_TIMEOUT };
enum { PIER__SLOT_INDEX, PIER__SLOT_LEN };
enum { PIER__REPORT_FILE, PIER__REPORT_ERROR };
enum { PIER__OFFSET_FILE, PIER__OFFSET_BYTES };
enum { PIER__PING_PROGRESS };
enum { PIER__END_ERROR, PIER__END_FILES, PIER__END_FAILED, PIER__END_BYTES };

/* What the client requests: PIER__HELLO_MODE. */
enum pier__copy_mode {
	PIER__COPY_PUT = 1,	/* sources to the server's target, a path */
	PIER__COPY_GET,		/* the server's sources, which follow */
	PIER__COPY_HAVE,	/* one file; the client has it */
	PIER__COPY_HAVE_NOT,	/* one file; it does not have it */
};

struct pier__copy_string {
	const void *data;
	size_t len;
};

struct pier__copy_msg {
	enum pier__copy_kind kind;
	uint64_t number[PIER__COPY_NUMBERS];
	/*
	 * HELLO: the export's descriptor, the target; SOURCE: nothing, the
	 * path; REPORT: path, text; OFFSET: the digest; END: nothing, text
	 */
	struct pier__copy_string string[2];
};

/*
 * Encode @msg, whose strings have at most PIER__COPY_STRING bytes.  Returns
 * the length.
 */
size_t pier__copy_msg_encode(const struct pier__copy_msg *msg,
			     uint8_t ret[PIER__COPY_MESSAGE]);

/* The error @value of a peer, EPROTO if it is none. */
int pier__copy_msg_error(uint64_t value);

/*
 * The strings point into @data; the errors of REPORT and END are as of
 * pier__copy_msg_error().  Errors: -PIER_EVERSION, of another version; -EPROTO.
 */
int pier__copy_msg_decode(const void *data, size_t len,
			  struct pier__copy_msg *ret);

#endif
