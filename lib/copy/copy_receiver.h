/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_RECEIVER_H
#define PIER_COPY_COPY_RECEIVER_H

#include "copy/copy_io.h"
#include "copy/copy_target.h"
#include "copy/copy_tree.h"

/* Makes files of the records in slots; all but open is its I/O thread's. */
struct pier__copy_receiver {
	struct pier__copy_io *io;
	struct pier__copy_tree tree;
	char target[PIER__RECORD_PATH + 1];	/* in the tree */
	char prefix[PIER__RECORD_PATH + 2];	/* of paths that are reported */
	bool into;			/* the target is a directory */
	bool exact;			/* it is the one file that comes */
	char *const *source;		/* the owner's: what was requested; */
	size_t source_count;		/* 0: what the peer sends */
	uint32_t flags;			/* enum pier_copy_flag */
	uint8_t *memory;
	size_t slot_size;

	struct pier__copy_hash *hash;
	struct pier__copy_flight *flight;	/* NULL: not used so far */
	struct pier__copy_slot slot;	/* which is read */
	int dir;			/* a directory of the tree, or -1 */
	char dir_path[PIER__RECORD_PATH + 1];
	struct pier__copy_target file;
	struct pier__copy_entry entry;	/* of the file */
	char path[PIER__RECORD_PATH + 1];	/* where an entry goes */
	bool skipping;			/* until the file ends */
	bool starting;			/* START is due */
	uint64_t had;			/* bytes of the file that were there */
	bool has_lost;			/* a directory has failed: */
	char lost[PIER__RECORD_PATH + 1];
	bool has_file;			/* one has begun */
	bool finished;
	uint64_t failed;		/* entries */
	struct pier__copy_report report;
};

/*
 * Receive at @target of @tree.  With @exact it is a file, else, if it is a
 * directory, what is received goes into it; @many sources require one.
 * Errors: -EISDIR, -ENOTDIR, -ENAMETOOLONG and those of openat(2).
 */
int pier__copy_receiver_open(struct pier__copy_receiver *receiver,
			     const struct pier__copy_tree *tree,
			     const char *target, bool exact, bool many);

/* Receive until the end; @arg is a struct pier__copy_receiver. */
void pier__copy_receiver_run(void *arg);

/*
 * copy_write.c: write @len bytes of the slot, at @data, to the file; they may
 * be in flight on return.  Errors: as of pier__copy_target_write(), also of
 * earlier writes.
 */
int pier__copy_receiver_write(struct pier__copy_receiver *receiver,
			      const uint8_t *data, size_t len);

/* Wait for all that is in flight.  Returns the first error of a write. */
int pier__copy_receiver_settle(struct pier__copy_receiver *receiver);

/*
 * Take the next slot while something is in flight.  Returns 1: it was taken; 0:
 * nothing is in flight, there is none; the error of a write.
 */
int pier__copy_receiver_next(struct pier__copy_receiver *receiver);

/* Return the slot when what it has is written. */
void pier__copy_receiver_give(struct pier__copy_receiver *receiver);

/*
 * copy_place.c: is an entry of @kind of what was requested?
 * Errors: -EPROTO.
 */
int pier__copy_receiver_check(struct pier__copy_receiver *receiver,
			      enum pier__copy_record_kind kind,
			      const struct pier__copy_entry *entry);

/* Write where the entry goes to receiver->path. */
int pier__copy_receiver_place(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry);

/*
 * Open the directory of receiver->path, which stays receiver->dir, and write
 * the last part of the path.  Errors: those of openat(2), without a message.
 */
int pier__copy_receiver_enter(struct pier__copy_receiver *receiver,
			      char ret_leaf[PIER__RECORD_PATH + 1]);

/*
 * The same of the file to which receiver->path leads: symbolic links are
 * followed, as far as they stay in the tree.  Errors: -ELOOP too.
 */
int pier__copy_receiver_find(struct pier__copy_receiver *receiver,
			     char ret_leaf[PIER__RECORD_PATH + 1]);

/* Write the directory back and close it. */
void pier__copy_receiver_leave(struct pier__copy_receiver *receiver);

/* Make the directory of @entry; set its attributes, at its end. */
int pier__copy_receiver_mkdir(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry);
int pier__copy_receiver_chdir(struct pier__copy_receiver *receiver,
			      const struct pier__copy_entry *entry);

#endif
