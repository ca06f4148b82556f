/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf_pool.h>

#include "doca_fail.h"

/* There are no pools of buffers yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_buf_pool_create(size_t count, size_t size,
				  const struct doca_mmap *mmap,
				  struct doca_buf_pool **pool)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *pool)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *pool)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *pool)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *pool,
				     struct doca_buf **buf)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *pool,
					 union doca_data data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *pool,
						 size_t alignment)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *pool,
					    uint32_t *ret)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *pool,
				    uint32_t *ret)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *pool,
					 union doca_data *data)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_buf_pool_get_element_alignment(const struct doca_buf_pool *pool,
				    size_t *alignment)
{
	return pier__doca_unsupported(__func__);
}
