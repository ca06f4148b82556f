/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DESC_H
#define PIER_DESC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Descriptors, made by pier_rdma_export() and pier_mmap_export().  At most
 * PIER_DESC_MAX bytes, versioned, and checked completely before use.  They
 * contain keys to memory: treat them as secrets.
 */
#define PIER_DESC_MAX 4096

/*
 * Write the contents of @desc as lines of text into @text, always terminated,
 * at most @size bytes.  Returns the length of the whole text, which may be
 * more.
 * Errors: -PIER_EDESC, -PIER_EVERSION.  Any thread.
 */
int pier_desc_print(const void *desc, size_t len, char *text, size_t size);

/*
 * Read the whole descriptor file @path into @ret, PIER_DESC_MAX bytes.  Returns
 * its length.
 * Errors: -EFBIG, more than that; -PIER_EDESC, empty; those of open(2).  Any
 * thread.
 */
int pier_desc_read(const char *path, void *ret);

/*
 * The same for a side that runs first: remove what is at @path, wait for a file
 * at most @timeout_ms milliseconds, below 0: without limit, and remove it, too.
 * Errors: as above; -ETIMEDOUT; -EISDIR or -EINVAL, not a regular file, which
 * is left there; those of unlink(2).  Any thread.
 */
int pier_desc_await(const char *path, int timeout_ms, void *ret);

/*
 * Write a descriptor file atomically, with mode 0600; an existing file is
 * replaced.
 * Errors: -EISDIR; -EINVAL, a device, FIFO or socket, which is never replaced;
 * those of open(2), write(2) and rename(2).  Any thread.
 */
int pier_desc_write(const char *path, const void *desc, size_t len);

#ifdef __cplusplus
}
#endif

#endif
