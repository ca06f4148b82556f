/* SPDX-License-Identifier: BSD-2-Clause */
#include "bindings/doca/doca_buf_inventory_impl.h"
#include "bindings/doca/doca_fail.h"

/* One of this generation has another shape, and the same name. */
#define doca_buf_inventory_create doca_buf_inventory_create_now
#include "bindings/doca/include/doca_buf_inventory.h"
#undef doca_buf_inventory_create

doca_error_t doca_buf_inventory_create(const union doca_data *data,
				       size_t count, uint32_t extensions,
				       struct doca_buf_inventory **inv)
{
	if (extensions != DOCA_BUF_EXTENSION_NONE)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "inventory: "
				       "extensions 0x%x, there is none",
				       extensions);
	return pier__doca_inventory_create(data, count, inv);
}

doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *addr,
					    size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_addr(inv, mmap, addr, len, buf);
}

doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *data,
					    size_t data_len,
					    struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_data(inv, mmap, data, data_len,
						  buf);
}

doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *addr,
					    size_t len, void *data,
					    size_t data_len,
					    struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inv, mmap, addr, len, data,
						  data_len, buf);
}
