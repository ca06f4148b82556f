/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_buf_inventory_impl.h"

doca_error_t doca_buf_inventory_create(size_t count,
				       struct doca_buf_inventory **inv)
{
	return pier__doca_inventory_create(NULL, count, inv);
}
