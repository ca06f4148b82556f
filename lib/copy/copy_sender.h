/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_SENDER_H
#define PIER_COPY_COPY_SENDER_H

#include "copy/copy_io.h"
#include "copy/copy_tree.h"

/* Reads sources into slots, as records; all but init is its I/O thread's. */
struct pier__copy_sender {
	struct pier__copy_io *io;
	struct pier__copy_tree tree;	/* of the sources */
	char **source;			/* the owner's */
	size_t source_count;
	uint32_t flags;			/* enum pier_copy_flag */
	uint8_t *memory;
	size_t slot_size;
	atomic_bool finished;		/* all was passed on */

	struct pier__copy_hash *hash;
	struct pier__copy_flight *flight;	/* NULL: not used so far */
	struct pier__copy_slot slot;	/* the one that is filled */
	bool has_slot;
	struct pier__copy_span span;	/* what remains of it */
	atomic_uint_fast64_t number;	/* of the last file */
	struct pier__copy_entry entry;	/* the one that is sent */
	struct pier__copy_report failed;
};

/* Send all sources; @arg is a struct pier__copy_sender. */
void pier__copy_sender_run(void *arg);

/*
 * Make the span hold @len bytes, in another slot if necessary.
 * Errors: -ECANCELED.
 */
int pier__copy_sender_reserve(struct pier__copy_sender *sender, size_t len);

/* Pass the slot on. */
void pier__copy_sender_flush(struct pier__copy_sender *sender);

/*
 * Send a record of @kind that entry, of @path, cannot be sent, or not to its
 * end, and report it.  Errors: -ECANCELED.
 */
int pier__copy_sender_fail(struct pier__copy_sender *sender,
			   enum pier__copy_record_kind kind, const char *path,
			   int err, const char *text);

/* The same of the file that is sent, unless the receiver has refused it. */
int pier__copy_sender_abort(struct pier__copy_sender *sender, int err);

/*
 * copy_read.c: send the file @fd with status @st; sender->entry has its path
 * and name.  Errors: -ECANCELED.
 */
struct stat;
int pier__copy_sender_file(struct pier__copy_sender *sender, int fd,
			   const struct stat *st);

/* Is no more of the file to be sent? */
bool pier__copy_sender_is_refused(struct pier__copy_sender *sender);

/*
 * copy_ahead.c: send whole slots of @fd, between *offset and @end, which is
 * behind them, and move *offset.  Errors: those of read(2); -ESTALE, the file
 * has become shorter; -ECANCELED; -ENOMEM.
 */
int pier__copy_sender_ahead(struct pier__copy_sender *sender, int fd,
			    uint64_t *offset, uint64_t end);

/* Is it worth it? */
bool pier__copy_sender_can_ahead(const struct pier__copy_sender *sender,
				 uint64_t len);

/* copy_digest.c: add @len bytes of @fd, from its begin, to @hash. */
int pier__copy_digest_file(struct pier__copy_io *io,
			   struct pier__copy_hash *hash, int fd, uint64_t len);

/* copy_walk.c: send source @path. Errors: -ECANCELED. */
int pier__copy_sender_walk(struct pier__copy_sender *sender, const char *path);

#endif
