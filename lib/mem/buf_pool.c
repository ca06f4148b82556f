/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include <pier/buf_pool.h>

#include "core/copy.h"
#include "core/fail.h"
#include "mem/buf_impl.h"

/* The n-th buffer of the inventory always describes the n-th element. */
struct pier_buf_pool {
	struct pier_buf_pool_config cfg;	/* settled */
	struct pier_mmap *mmap;			/* held */
	struct pier_buf_inventory *inv;		/* owned */
	uintptr_t first;			/* address of an element */
	size_t stride;				/* from one to the next */
};

static int check(const struct pier_buf_pool_config *cfg,
		 const struct pier_mmap *mmap)
{
	if (!cfg->count || !cfg->len)
		return pier__fail(-EINVAL, "buffer pool: %zu elements of %zu "
				  "bytes, at least 1 of 1", cfg->count,
				  cfg->len);
	if (cfg->align & (cfg->align - 1))
		return pier__fail(-EINVAL, "buffer pool: alignment %zu is no "
				  "power of two", cfg->align);
	if (!mmap->started)
		return pier__fail(-EINVAL, "buffer pool: its mmap is not "
				  "started");
	if (mmap->remote)
		return pier__fail(-EINVAL, "buffer pool: its mmap is remote "
				  "memory");
	return 0;
}

/* Place the elements.  Errors: -ERANGE. */
static int place(struct pier_buf_pool *pool)
{
	const struct pier_buf_pool_config *cfg = &pool->cfg;
	uintptr_t base = (uintptr_t)pool->mmap->cfg.addr;
	size_t len = pool->mmap->cfg.len, low = cfg->align - 1;
	size_t skip = -base & low, most = 0;

	pool->first = base + skip;
	pool->stride = (cfg->len + low) & ~low;
	if (cfg->len <= len && skip <= len - cfg->len &&
	    pool->stride >= cfg->len)	/* the last one needs no padding */
		most = (len - skip - cfg->len) / pool->stride + 1;
	if (cfg->count > most)
		return pier__fail(-ERANGE, "buffer pool: %zu elements of %zu "
				  "bytes, aligned to %zu; the mmap's %zu bytes "
				  "have space for %zu", cfg->count, cfg->len,
				  cfg->align, len, most);
	return 0;
}

int pier_buf_pool_create(struct pier_mmap *mmap,
			 const struct pier_buf_pool_config *cfg,
			 struct pier_buf_pool **ret)
{
	struct pier_buf_pool *pool;
	int err;

	if (!mmap)
		return pier__no_object(__func__);
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return pier__fail(-ENOMEM, "buffer pool: no memory");
	pool->mmap = mmap;
	err = pier__config_copy(&pool->cfg, sizeof(pool->cfg), cfg, cfg->size);
	if (!err && !pool->cfg.align)
		pool->cfg.align = 1;
	if (!err)
		err = check(&pool->cfg, mmap);
	if (!err)
		err = place(pool);
	if (!err)
		err = pier_buf_inventory_create(pool->cfg.count, &pool->inv);
	if (err) {
		free(pool);
		return err;
	}
	pier__mmap_hold_for(mmap, PIER__MMAP_POOL);
	*ret = pool;
	return 0;
}

void pier_buf_pool_destroy(struct pier_buf_pool *pool)
{
	if (!pool)
		return;
	pier_buf_inventory_destroy(pool->inv);
	pier__mmap_drop_for(pool->mmap, PIER__MMAP_POOL);
	free(pool);
}

size_t pier_buf_pool_count(const struct pier_buf_pool *pool)
{
	if (!pool)
		return 0;
	return pool->cfg.count;
}

size_t pier_buf_pool_free_count(const struct pier_buf_pool *pool)
{
	if (!pool)
		return 0;
	return pier_buf_inventory_free_count(pool->inv);
}

int pier_buf_pool_take(struct pier_buf_pool *pool, struct pier_buf **ret)
{
	uintptr_t at;

	if (!pool)
		return pier__no_object(__func__);
	at = pool->first + pier__buf_next_index(pool->inv) * pool->stride;
	return pier_buf_by_addr(pool->inv, pool->mmap, (void *)at,
				pool->cfg.len, ret);
}
