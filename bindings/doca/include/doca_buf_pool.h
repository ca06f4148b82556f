/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_POOL_H
#define DOCA_BUF_POOL_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers of one size, cut from one mmap. */

struct doca_buf;
struct doca_mmap;
struct doca_buf_pool;

doca_error_t doca_buf_pool_create(size_t count, size_t size,
				  const struct doca_mmap *mmap,
				  struct doca_buf_pool **pool);
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *pool);
doca_error_t doca_buf_pool_start(struct doca_buf_pool *pool);
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *pool);
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *pool,
				     struct doca_buf **buf);
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *pool,
					 union doca_data data);
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *pool,
						 size_t alignment);
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *pool,
					    uint32_t *ret);
doca_error_t
doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *pool,
				    uint32_t *ret);
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *pool,
					 union doca_data *data);
doca_error_t
doca_buf_pool_get_element_alignment(const struct doca_buf_pool *pool,
				    size_t *alignment);

#ifdef __cplusplus
}
#endif

#endif
