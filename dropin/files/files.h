/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_FILES_FILES_H
#define PIER_DROPIN_FILES_FILES_H

/*
 * Files of /sys/class/infiniband, /sys/class/infiniband_verbs and
 * /dev/infiniband, where programs look for devices.  A library that is
 * preloaded has the calls by which they look (files_calls.c) and opens another
 * path in place of such a file.  There are no folders: these cannot be listed.
 *
 * Calls may be made by any thread.
 */
struct dropin_file {
	char path[32];
	int fd;			/* what is at @path; -1: nothing to close */
};

/*
 * The path that has the content of @path: @path itself unless it is a file of
 * a soft device.  @ret is to be closed behind the use of that path.
 */
const char *pier__dropin_file_open(const char *path, struct dropin_file *ret);

/* Changes no errno. */
void pier__dropin_file_close(struct dropin_file *file);

#endif
