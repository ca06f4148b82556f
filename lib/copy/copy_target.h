/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_TARGET_H
#define PIER_COPY_COPY_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "copy/copy_record.h"

/*
 * A file that is being received.  It has a temporary name beside its target's,
 * ".pier-" and 32 digits that follow from the target's, and takes the place of
 * the target at once.  Calls return negative errno values without a message.
 */
struct pier__copy_target {
	int fd;				/* -1: none */
	int dir;			/* the caller's, open as long */
	char leaf[NAME_MAX + 1];
	char temp[48];
	uint64_t offset, size;		/* received so far; in all */
};

/* Is @leaf such a name, which no target may have?  Any thread. */
bool pier__copy_target_is_temp(const char *leaf);

void pier__copy_target_init(struct pier__copy_target *target);

/*
 * Create it for @leaf of the directory @dir, in place of a temporary file that
 * a process has left; with @resume open that one, of *ret_len bytes.
 * Errors: -EISDIR; -EMEDIUMTYPE, it is no regular file; -EBUSY, another process
 * receives it; -EEXIST, a file that is not this user's has the temporary name;
 * -EISNAM, @leaf is a temporary name; those of openat(2).
 */
int pier__copy_target_open(struct pier__copy_target *target, int dir,
			   const char *leaf,
			   const struct pier__copy_entry *entry, bool resume,
			   uint64_t *ret_len);

/* Data begin at @offset, up to which the file is as it was. */
int pier__copy_target_start(struct pier__copy_target *target, uint64_t offset);

/* Errors: -EPROTO, beyond the size; those of pwrite(2). */
int pier__copy_target_write(struct pier__copy_target *target, const void *data,
			    size_t len);

/* The same by the caller: *ret is where they go. */
int pier__copy_target_reserve(struct pier__copy_target *target, size_t len,
			      uint64_t *ret);
int pier__copy_target_hole(struct pier__copy_target *target, uint64_t len);

/*
 * Give it the name of the target and, with @preserve, the mode and time of
 * @entry; it is closed.  Errors: -EPROTO, not as long as announced; -ESTALE,
 * the temporary name is another file's now; those of fsync(2) and renameat(2).
 */
int pier__copy_target_commit(struct pier__copy_target *target,
			     const struct pier__copy_entry *entry,
			     bool preserve);

/* Remove it, if there is one; with @keep leave it for the next copy. */
void pier__copy_target_discard(struct pier__copy_target *target, bool keep);

#endif
