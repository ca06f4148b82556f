/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_BUF_ARRAY_H
#define PIER_BUF_ARRAY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer array: elements of one length in a local or remote mmap, one behind
 * the other, whose buffers are taken by index.
 *
 * An array has what it was created with: to change it, create another one.  It
 * and its buffers belong to one thread.
 */
struct pier_buf;
struct pier_buf_array;
struct pier_mmap;

struct pier_buf_array_config {
	size_t size;		/* sizeof(struct pier_buf_array_config) */
	size_t count;		/* elements; at least 1 */
	size_t len;		/* bytes of each; at least 1 */
	size_t offset;		/* bytes of the mmap before the first one */
};

/*
 * Describe the elements of the started @mmap; nothing is allocated later.  The
 * array holds @mmap, as a buffer of it does.  The caller destroys *ret.
 * Errors: -EINVAL, not started, or a member of @cfg; -ERANGE, the elements are
 * larger than @mmap; -ENOMEM.
 */
int pier_buf_array_create(struct pier_mmap *mmap,
			  const struct pier_buf_array_config *cfg,
			  struct pier_buf_array **ret);

/* Destroy; its memory is freed with its last buffer.  NULL is allowed. */
void pier_buf_array_destroy(struct pier_buf_array *array);

size_t pier_buf_array_count(const struct pier_buf_array *array);

/*
 * Take a buffer of the element @index: without data, all of it tail space; or
 * all of it data.  An element may be taken again before its buffer is put; as
 * many buffers as the array has elements exist at a time.  The caller owns *ret
 * and releases it by pier_buf_put().
 * Errors: -ERANGE, no such element; -ENOBUFS, none is free.
 */
int pier_buf_array_take(struct pier_buf_array *array, size_t index,
			struct pier_buf **ret);
int pier_buf_array_take_data(struct pier_buf_array *array, size_t index,
			     struct pier_buf **ret);

#ifdef __cplusplus
}
#endif

#endif
