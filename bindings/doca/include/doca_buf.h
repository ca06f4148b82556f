/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_H
#define DOCA_BUF_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Buffers: a part of an mmap.  Data lies somewhere in it; a source is read from
 * its data, a destination is written behind its data, which grows.
 *
 *	head           data            data + data_len      head + len
 *	 |--- unused ---|----- data -----|------ free ---------|
 */

struct doca_buf;

/* @refcount, unless NULL, gets the count before the change. */
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf,
				   uint16_t *refcount);
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf,
				   size_t *data_len);
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data,
			       size_t data_len);
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* Lists.  The last reference to the first buffer frees all of them. */
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf,
				       struct doca_buf **next_buf);
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf,
				       struct doca_buf **last_buf);
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf,
				      uint8_t *is_last);
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf,
				       uint8_t *is_first);
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf,
				 uint8_t *is_in_list);
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *count);
doca_error_t doca_buf_chain_list(struct doca_buf *list1,
				 struct doca_buf *list2);
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head,
				      struct doca_buf *list1_tail,
				      struct doca_buf *list2);
doca_error_t doca_buf_unchain_list(struct doca_buf *list1,
				   struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif
