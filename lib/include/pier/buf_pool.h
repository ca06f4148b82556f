/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_BUF_POOL_H
#define PIER_BUF_POOL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer pool: an mmap cut into elements of one length, and a buffer for
 * each.  Taking one needs no address, and no two buffers share a byte.
 *
 * A pool has what it was created with: to change it, create another one.  It
 * and its buffers belong to one thread.
 */
struct pier_buf;
struct pier_buf_pool;
struct pier_mmap;

struct pier_buf_pool_config {
	size_t size;		/* sizeof(struct pier_buf_pool_config) */
	size_t count;		/* elements; at least 1 */
	size_t len;		/* bytes of each; at least 1 */
	size_t align;		/* of their addresses, bytes, a power of two; */
				/* 0 means 1 */
};

/*
 * Cut the started local @mmap into elements, from its first address on;
 * nothing is allocated later.  The pool holds @mmap, as a buffer of it does.
 * The caller destroys *ret.
 * Errors: -EINVAL, not started, remote, or a member of @cfg; -ERANGE, the
 * elements are larger than @mmap; -ENOMEM.
 */
int pier_buf_pool_create(struct pier_mmap *mmap,
			 const struct pier_buf_pool_config *cfg,
			 struct pier_buf_pool **ret);

/* Destroy; its memory is freed with its last buffer.  NULL is allowed. */
void pier_buf_pool_destroy(struct pier_buf_pool *pool);

size_t pier_buf_pool_count(const struct pier_buf_pool *pool);
size_t pier_buf_pool_free_count(const struct pier_buf_pool *pool);

/*
 * Take an element: a buffer without data, all of it tail space.  The caller
 * owns *ret and releases it by pier_buf_put().
 * Errors: -ENOBUFS, none is free.
 */
int pier_buf_pool_take(struct pier_buf_pool *pool, struct pier_buf **ret);

#ifdef __cplusplus
}
#endif

#endif
