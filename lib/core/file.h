/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_FILE_H
#define PIER_CORE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Whether a file can be put at @path, or removed there: nothing is there, or a
 * regular file, links followed.  Errors: -EISDIR; -EINVAL, a device, FIFO or
 * socket, which must survive; both with the path.
 */
int pier__file_may_replace(const char *path);

/* Remove what is at @path.  Errors: as above; those of unlink(2). */
int pier__file_remove(const char *path);

/*
 * Write @path whole: into a new file beside it with @mode, then renamed.
 * Errors: those of pier__file_may_replace(); the system's own, with the path.
 */
int pier__file_write(const char *path, const void *data, size_t len,
		     mode_t mode);

/*
 * The two parts of that: the new file, whose path *ret the caller frees; and
 * its renaming.  The caller removes it if there is none.
 */
int pier__file_stage(const char *path, const void *data, size_t len,
		     mode_t mode, char **ret);
int pier__file_commit(const char *path, const char *tmp);

/*
 * Make the file of @fd, which is empty, @len bytes long.  Errors: -EFBIG beyond
 * the process's limit, without SIGXFSZ; the system's own.
 */
int pier__file_resize(int fd, size_t len);

/*
 * Read the regular file @path of at most @size bytes.  Returns its length.
 * Errors: -EFBIG; -EINVAL, not a regular file; the system's own.
 */
int pier__file_read(const char *path, void *ret, size_t size);

/*
 * The first line of the file @path without its end; "" if it cannot be read,
 * as some of sysfs that exist, or has more than @size - 1 bytes.
 */
void pier__file_line(const char *path, char *ret, size_t size);

#endif
