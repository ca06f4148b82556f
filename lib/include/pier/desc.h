/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DESC_H
#define PIER_DESC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Descriptors: what pier_rdma_export() and pier_mmap_export() make.  At most
 * PIER_DESC_MAX bytes, versioned, checked before a byte of them is believed.
 * They hold keys to memory: treat them as secrets.
 */
#define PIER_DESC_MAX 4096

/*
 * Write what @desc says as lines of text into @text, always ended, at most
 * @size bytes.  Returns the length of the whole text, which may be more.
 * Errors: -PIER_EDESC, -PIER_EVERSION.  Any thread.
 */
int pier_desc_print(const void *desc, size_t len, char *text, size_t size);

/*
 * Read the descriptor file @path whole into @ret, PIER_DESC_MAX bytes.
 * Returns its length.  Errors: -EFBIG, more than that; -PIER_EDESC, empty;
 * those of open(2).  Any thread.
 */
int pier_desc_read(const char *path, void *ret);

/*
 * Write a descriptor file whole, with mode 0600; one that is there is replaced.
 * Errors: those of open(2), write(2) and rename(2).  Any thread.
 */
int pier_desc_write(const char *path, const void *desc, size_t len);

#ifdef __cplusplus
}
#endif

#endif
