/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job queue: two programs that were written from the man pages alone, and
 * that jobs.sh builds with what is installed.  The server reverses the words
 * that its clients send, one letter in a round of its engine.  The result is in
 * a slot of its memory, from where the client reads it when a message without
 * bytes, whose immediate is the number of the slot, has arrived.  Clients add
 * up there how many results they have read.
 */
#include <stdint.h>

#include <pier/text.h>

#define CLIENTS 8
#define WORD_MAX 56

struct job_slot {
	uint64_t len;
	char text[WORD_MAX];
};

/* The memory of the server. */
struct job_table {
	uint64_t count;
	struct job_slot slot[CLIENTS];
};

/* What a peer has sent, for a terminal; until the next call. */
static inline const char *shown(const void *bytes, size_t len)
{
	static char text[4 * WORD_MAX + 1];

	return pier_text_escape(bytes, len, text, sizeof(text));
}
