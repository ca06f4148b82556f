/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_BUF_H
#define PIER_BUF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A buffer: a part of an mmap, in three parts: head space, data, tail space.
 *
 *	head            data           data + data_len      head + len
 *	 |- head space  --|----- data -----|---- tail space ---|
 *
 * As a source its data is read; as a destination its tail space is written from
 * the front and the data grows by as much.  Nothing else is accessed.  Buffers
 * can be chained into one scatter/gather list.
 *
 * Buffers come from an inventory and are reference-counted.  An inventory and
 * its buffers belong to one thread.
 */
struct pier_mmap;
struct pier_buf;
struct pier_buf_inventory;

/* Allocate @count buffers; nothing is allocated later.  Errors: -ENOMEM. */
int pier_buf_inventory_create(size_t count, struct pier_buf_inventory **ret);

/* Allocate @count more; those that exist stay valid.  Errors: -ENOMEM. */
int pier_buf_inventory_expand(struct pier_buf_inventory *inv, size_t count);

/* Destroy; it is freed with its last buffer.  NULL is allowed. */
void pier_buf_inventory_destroy(struct pier_buf_inventory *inv);

size_t pier_buf_inventory_count(const struct pier_buf_inventory *inv);
size_t pier_buf_inventory_free_count(const struct pier_buf_inventory *inv);

/*
 * Take a buffer of @len bytes at @addr of @mmap; remote mmaps use the owner's
 * addresses.  by_addr: no data, all tail space.  by_data: all data.  by_args:
 * @data_len bytes of data at @data.  whole and empty: by_data and by_addr of
 * the whole mmap.  The caller owns *ret and releases it by pier_buf_put().
 * Errors: -ERANGE, outside the mmap; -ENOBUFS, none free; -EINVAL, not started.
 */
int pier_buf_by_addr(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *addr, size_t len, struct pier_buf **ret);
int pier_buf_by_data(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *data, size_t len, struct pier_buf **ret);
int pier_buf_by_args(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *addr, size_t len, void *data, size_t data_len,
		     struct pier_buf **ret);
int pier_buf_whole(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		   struct pier_buf **ret);
int pier_buf_empty(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		   struct pier_buf **ret);

/*
 * Describe what @buf and those behind it in its chain describe by buffers of
 * @inv; no bytes are copied.  The caller owns *ret, with one reference.
 * Errors: -ENOBUFS, too few are free; -EINVAL, @buf was put.
 */
int pier_buf_dup(struct pier_buf_inventory *inv, const struct pier_buf *buf,
		 struct pier_buf **ret);

/* Take another reference.  Errors: -EOVERFLOW, beyond 65535. */
int pier_buf_ref(struct pier_buf *buf);

/*
 * Release a reference; the last one frees the whole chain, and no task may be
 * submitted with it any more.  NULL is allowed.
 */
void pier_buf_put(struct pier_buf *buf);

/* The references to @buf; 0: it is not the first of its chain. */
unsigned int pier_buf_refs(const struct pier_buf *buf);

void *pier_buf_head(const struct pier_buf *buf);
size_t pier_buf_len(const struct pier_buf *buf);
void *pier_buf_data(const struct pier_buf *buf);
size_t pier_buf_data_len(const struct pier_buf *buf);
struct pier_mmap *pier_buf_mmap(const struct pier_buf *buf);

/* Move the data.  Errors: -ERANGE, outside the buffer. */
int pier_buf_set_data(struct pier_buf *buf, void *data, size_t data_len);

/* Set data_len to 0; the data pointer stays. */
void pier_buf_reset(struct pier_buf *buf);

/*
 * Append the chain @tail to the chain @head.  Each must be the first of its
 * chain, and @tail must have one reference, which @head takes over.
 * Errors: -EPERM, it is not; -ELOOP, the same chain.
 */
int pier_buf_chain(struct pier_buf *head, struct pier_buf *tail);

/*
 * Cut @head's chain before @tail, which belongs to the caller again.
 * Errors: -EINVAL, @tail is not in it, or is @head.
 */
int pier_buf_unchain(struct pier_buf *head, struct pier_buf *tail);

/* The next buffer of the chain or NULL; the number of buffers from @buf on. */
struct pier_buf *pier_buf_next(const struct pier_buf *buf);
size_t pier_buf_chain_len(const struct pier_buf *buf);

/* Bytes of data, or of tail space, from @buf on through its chain. */
size_t pier_buf_chain_data_len(const struct pier_buf *buf);
size_t pier_buf_chain_tail_len(const struct pier_buf *buf);

#ifdef __cplusplus
}
#endif

#endif
