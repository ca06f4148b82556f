/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf_pool.h>

#include "doca_buf_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

struct doca_buf_pool {
	const struct doca_mmap *mmap;
	size_t count, size, alignment;
	struct pier_buf_pool *pool;	/* NULL: not started */
	union doca_data data;
};

doca_error_t doca_buf_pool_create(size_t count, size_t size,
				  const struct doca_mmap *mmap,
				  struct doca_buf_pool **pool)
{
	struct doca_buf_pool *new;

	if (!count || count > UINT32_MAX || !size || !mmap || !pool)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->mmap = mmap;
	new->count = count;
	new->size = size;
	new->alignment = 1;
	*pool = new;
	return DOCA_SUCCESS;
}

static size_t free_count(const struct doca_buf_pool *pool)
{
	return pool->pool ? pier_buf_pool_free_count(pool->pool) : pool->count;
}

/* All buffers must have been released. */
static doca_error_t drop(struct doca_buf_pool *pool)
{
	if (free_count(pool) != pool->count)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "buf pool: %zu of "
				       "%zu elements are free",
				       free_count(pool), pool->count);
	pier_buf_pool_destroy(pool->pool);
	pool->pool = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *pool)
{
	doca_error_t error;

	if (!pool)
		return DOCA_ERROR_INVALID_VALUE;
	error = drop(pool);
	if (!error)
		free(pool);
	return error;
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *pool)
{
	struct pier_buf_pool_config cfg = { .size = sizeof(cfg) };

	if (!pool)
		return DOCA_ERROR_INVALID_VALUE;
	if (pool->pool)
		return DOCA_SUCCESS;
	if (!pool->mmap->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf pool: the mmap is not started");
	cfg.count = pool->count;
	cfg.len = pool->size;
	cfg.align = pool->alignment;
	return pier__doca_error(pier_buf_pool_create(pool->mmap->mmap, &cfg,
						     &pool->pool));
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *pool)
{
	return pool ? drop(pool) : DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *pool,
				     struct doca_buf **buf)
{
	struct pier_buf *new;
	int err;

	if (!pool || !buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pool->pool)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf pool: not started");
	err = pier_buf_pool_take(pool->pool, &new);
	if (err)
		return pier__doca_error(err);
	*buf = pier__doca_of_buf(new);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *pool,
					 union doca_data data)
{
	if (!pool)
		return DOCA_ERROR_INVALID_VALUE;
	pool->data = data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *pool,
					 union doca_data *data)
{
	if (!pool || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = pool->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *pool,
						 size_t alignment)
{
	if (!pool || !alignment || (alignment & (alignment - 1)))
		return DOCA_ERROR_INVALID_VALUE;
	if (pool->pool)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf pool: an alignment after start");
	pool->alignment = alignment;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_element_alignment(const struct doca_buf_pool *pool,
				    size_t *alignment)
{
	if (!pool || !alignment)
		return DOCA_ERROR_INVALID_VALUE;
	*alignment = pool->alignment;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *pool,
					    uint32_t *ret)
{
	if (!pool || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = (uint32_t)pool->count;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *pool,
				    uint32_t *ret)
{
	if (!pool || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = (uint32_t)free_count(pool);
	return DOCA_SUCCESS;
}
