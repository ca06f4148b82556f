/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_FILES_FILES_H
#define PIER_DROPIN_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>

#define DROPIN_DEVICES "/sys/class/infiniband"
#define DROPIN_VERBS "/sys/class/infiniband_verbs"
#define DROPIN_NODES "/dev/infiniband"
#define DROPIN_NAME 64
#define DROPIN_PATH 256		/* on the stack of each call */

/*
 * Files of /sys/class/infiniband, /sys/class/infiniband_verbs and
 * /dev/infiniband, where programs look for devices.  A library that is
 * preloaded has the calls by which they look (files_calls.c, folder_calls.c),
 * and opens another path in place of such a file.  Folders can be looked at and
 * listed, not opened.  What a device's `device` has is that of its interface.
 *
 * Calls may be made by any thread.
 */
struct dropin_file {
	char path[DROPIN_PATH];
	int fd;			/* what is at @path; -1: nothing to close */
};

/*
 * The path that has the content of @path: @path itself unless it is a file of
 * a soft device.  @ret is to be closed behind the use of that path.
 */
const char *pier__dropin_file_open(const char *path, struct dropin_file *ret);

/* The same to find out what @path is, which may be a folder. */
const char *pier__dropin_file_look(const char *path, struct dropin_file *ret);

/* What is in a folder. */
struct dropin_names {
	char (*name)[DROPIN_NAME];	/* owned, by malloc() */
	size_t count;
};

/* Returns false: @path is no folder of soft devices, and @ret is not set. */
bool pier__dropin_folder(const char *path, struct dropin_names *ret);

/* Of folder.c: without memory, or if it is there, @name is not added. */
void pier__dropin_names_add(struct dropin_names *names, const char *name,
			    size_t len);

/* Of files.c: the name of file @i below the folder of a device; NULL: none. */
const char *pier__dropin_file_name(size_t i, bool *by_gid);

/* What follows @prefix in @text, or NULL. */
const char *pier__dropin_behind(const char *text, const char *prefix);

/* The C library's call @name, which *@ret, a pointer to one, becomes once. */
void pier__dropin_next(void *ret, const char *name);

/* Changes no errno. */
void pier__dropin_file_close(struct dropin_file *file);

#endif
