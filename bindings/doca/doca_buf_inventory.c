/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <doca_buf_inventory.h>

#include "doca_buf_impl.h"
#include "doca_buf_inventory_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

struct doca_buf_inventory {
	struct pier_buf_inventory *inv;
	bool started;
	union doca_data data;
};

doca_error_t pier__doca_inventory_create(const union doca_data *data,
					 size_t count,
					 struct doca_buf_inventory **inv)
{
	struct doca_buf_inventory *new;
	int err;

	if (!count || !inv)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_buf_inventory_create(count, &new->inv);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	if (data)
		new->data = *data;
	*inv = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inv)
{
	if (!inv)
		return DOCA_ERROR_INVALID_VALUE;
	if (pier_buf_inventory_free_count(inv->inv) !=
	    pier_buf_inventory_count(inv->inv))
		return pier__doca_fail(DOCA_ERROR_IN_USE, "inventory: "
				       "destroyed with %zu of %zu buffers free",
				       pier_buf_inventory_free_count(inv->inv),
				       pier_buf_inventory_count(inv->inv));
	pier_buf_inventory_destroy(inv->inv);
	free(inv);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inv)
{
	if (!inv)
		return DOCA_ERROR_INVALID_VALUE;
	inv->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inv)
{
	if (!inv)
		return DOCA_ERROR_INVALID_VALUE;
	inv->started = false;
	return DOCA_SUCCESS;
}

static doca_error_t check(const struct doca_buf_inventory *inv,
			  const struct doca_mmap *mmap, struct doca_buf **buf)
{
	if (!inv || !mmap || !buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inv->started || !mmap->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "buf: the %s is "
				       "not started",
				       inv->started ? "mmap" : "inventory");
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inv,
				   struct doca_mmap *mmap, void *addr,
				   size_t len, void *data, size_t data_len,
				   struct doca_buf **buf)
{
	doca_error_t error = check(inv, mmap, buf);
	struct pier_buf *new;
	int err;

	if (error)
		return error;
	err = pier_buf_by_args(inv->inv, mmap->mmap, addr, len, data, data_len,
			       &new);
	if (err)
		return pier__doca_error(err);
	*buf = pier__doca_of_buf(new);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inv,
				   struct doca_mmap *mmap, void *addr,
				   size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inv, mmap, addr, len, addr,
						  0, buf);
}

doca_error_t
doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inv,
				   struct doca_mmap *mmap, void *data,
				   size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inv, mmap, data, data_len,
						  data, data_len, buf);
}

/* One buffer, not the list it may be the first of. */
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inv,
					const struct doca_buf *src,
					struct doca_buf **dst)
{
	const struct pier_buf *b = pier__doca_buf(src);
	struct pier_buf *new;
	int err;

	if (!inv || !src || !dst)
		return DOCA_ERROR_INVALID_VALUE;
	if (!inv->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf: the inventory is not started");
	if (!pier_buf_mmap(b))
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "buf: a copy of one that was released");
	err = pier_buf_by_args(inv->inv, pier_buf_mmap(b), pier_buf_head(b),
			       pier_buf_len(b), pier_buf_data(b),
			       pier_buf_data_len(b), &new);
	if (err)
		return pier__doca_error(err);
	*dst = pier__doca_of_buf(new);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inv,
				    uint32_t *ret)
{
	if (!inv || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = (uint32_t)pier_buf_inventory_count(inv->inv);
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inv,
					 uint32_t *ret)
{
	if (!inv || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = (uint32_t)pier_buf_inventory_free_count(inv->inv);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inv,
					      union doca_data data)
{
	if (!inv)
		return DOCA_ERROR_INVALID_VALUE;
	inv->data = data;
	return DOCA_SUCCESS;
}

doca_error_t
doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inv,
				 union doca_data *data)
{
	if (!inv || !data)
		return DOCA_ERROR_INVALID_VALUE;
	*data = inv->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inv,
				       uint32_t count)
{
	if (!inv || !count)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_buf_inventory_expand(inv->inv, count));
}
