/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_INVENTORY_H
#define DOCA_BUF_INVENTORY_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A fixed number of buffers to take from.  by_addr: no data yet, for a
 * destination; by_data: all of it data, for a source; by_args: as given.
 */

struct doca_buf;
struct doca_mmap;
struct doca_buf_inventory;

doca_error_t doca_buf_inventory_create(size_t count,
				       struct doca_buf_inventory **inv);
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inv);
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inv);
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inv);
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inv,
						struct doca_mmap *mmap,
						void *addr, size_t len,
						void *data, size_t data_len,
						struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inv,
					const struct doca_buf *src,
					struct doca_buf **dst);
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inv,
					      union doca_data data);
doca_error_t
doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inv,
				    uint32_t *ret);
doca_error_t
doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inv,
					 uint32_t *ret);
doca_error_t
doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inv,
				 union doca_data *data);
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inv,
				       uint32_t count);
doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inv,
						struct doca_mmap *mmap,
						void *addr, size_t len,
						struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inv,
						struct doca_mmap *mmap,
						void *data, size_t data_len,
						struct doca_buf **buf);

#ifdef __cplusplus
}
#endif

#endif
