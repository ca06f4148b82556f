/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_2_0_H
#define DOCA_BUF_2_0_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Buffers: a part of an mmap.  A source is read from its data, a destination is
 * written behind its data, which grows.
 */

struct doca_buf;
struct doca_dev;

/* @refcount, unless NULL, gets the count before the change. */
doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_refcount_get(const struct doca_buf *buf,
				   uint16_t *refcount);
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf,
				   size_t *data_len);
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data,
			       size_t data_len);
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* Lists.  The last reference to the first buffer frees all of them. */
doca_error_t doca_buf_list_chain(struct doca_buf *list1,
				 struct doca_buf *list2);
doca_error_t doca_buf_list_unchain(struct doca_buf *list1,
				   struct doca_buf *list2);
doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next);
doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf,
					uint32_t *count);

/* The key by which @dev uses its memory. */
doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev,
			       uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif
