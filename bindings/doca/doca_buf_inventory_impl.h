/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_INVENTORY_IMPL_H
#define DOCA_BUF_INVENTORY_IMPL_H

#include <doca_buf_inventory.h>

/* What makes one for programs of either generation; @data may be NULL. */
doca_error_t pier__doca_inventory_create(const union doca_data *data,
					 size_t count,
					 struct doca_buf_inventory **inv);

#endif
