/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include <pier/buf_array.h>

#include "core/copy.h"
#include "core/fail.h"
#include "mem/buf_impl.h"

struct pier_buf_array {
	struct pier_buf_array_config cfg;
	struct pier_mmap *mmap;			/* held */
	struct pier_buf_inventory *inv;		/* owned */
};

static int check(const struct pier_buf_array_config *cfg,
		 const struct pier_mmap *mmap)
{
	size_t len = mmap->cfg.len;

	if (!cfg->count || !cfg->len)
		return pier__fail(-EINVAL, "buffer array: %zu elements of %zu "
				  "bytes, at least 1 of 1", cfg->count,
				  cfg->len);
	if (!mmap->started)
		return pier__fail(-EINVAL, "buffer array: its mmap is not "
				  "started");
	if (cfg->offset > len || cfg->count > (len - cfg->offset) / cfg->len)
		return pier__fail(-ERANGE, "buffer array: %zu elements of %zu "
				  "bytes from byte %zu on are outside the "
				  "mmap's %zu bytes", cfg->count, cfg->len,
				  cfg->offset, len);
	return 0;
}

int pier_buf_array_create(struct pier_mmap *mmap,
			  const struct pier_buf_array_config *cfg,
			  struct pier_buf_array **ret)
{
	struct pier_buf_array *array;
	int err;

	if (!mmap)
		return pier__no_object(__func__);
	array = calloc(1, sizeof(*array));
	if (!array)
		return pier__fail(-ENOMEM, "buffer array: no memory");
	array->mmap = mmap;
	err = pier__config_copy(&array->cfg, sizeof(array->cfg), cfg,
				cfg->size);
	if (!err)
		err = check(&array->cfg, mmap);
	if (!err)
		err = pier_buf_inventory_create(array->cfg.count, &array->inv);
	if (err) {
		free(array);
		return err;
	}
	pier__mmap_hold_for(mmap, PIER__MMAP_ARRAY);
	*ret = array;
	return 0;
}

void pier_buf_array_destroy(struct pier_buf_array *array)
{
	if (!array)
		return;
	pier_buf_inventory_destroy(array->inv);
	pier__mmap_drop_for(array->mmap, PIER__MMAP_ARRAY);
	free(array);
}

size_t pier_buf_array_count(const struct pier_buf_array *array)
{
	if (!array)
		return 0;
	return array->cfg.count;
}

static int take(struct pier_buf_array *array, size_t index, size_t data_len,
		struct pier_buf **ret)
{
	const struct pier_buf_array_config *cfg = &array->cfg;
	char *at = (char *)array->mmap->cfg.addr + cfg->offset;

	if (index >= cfg->count)
		return pier__fail(-ERANGE, "buffer array: element %zu, the "
				  "array has 0..%zu", index, cfg->count - 1);
	at += index * cfg->len;
	return pier_buf_by_args(array->inv, array->mmap, at, cfg->len, at,
				data_len, ret);
}

int pier_buf_array_take(struct pier_buf_array *array, size_t index,
			struct pier_buf **ret)
{
	if (!array)
		return pier__no_object(__func__);
	return take(array, index, 0, ret);
}

int pier_buf_array_take_data(struct pier_buf_array *array, size_t index,
			     struct pier_buf **ret)
{
	if (!array)
		return pier__no_object(__func__);
	return take(array, index, array->cfg.len, ret);
}
