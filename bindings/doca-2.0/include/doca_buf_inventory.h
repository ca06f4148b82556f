/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_INVENTORY_2_0_H
#define DOCA_BUF_INVENTORY_2_0_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fixed number of buffers to take from. */

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/* The value of the extensions of an inventory. */
#define DOCA_BUF_EXTENSION_NONE 0

/* @data may be NULL. */
doca_error_t doca_buf_inventory_create(const union doca_data *data,
				       size_t count, uint32_t extensions,
				       struct doca_buf_inventory **inv);
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inv);
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inv);
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inv);
doca_error_t
doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inv,
				 union doca_data *data);
doca_error_t
doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inv,
				    uint32_t *ret);
doca_error_t
doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inv,
					 uint32_t *ret);

/* by_addr: no data yet; by_data: all of it data; by_args: as given. */
doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *addr,
					    size_t len, struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *data,
					    size_t data_len,
					    struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inv,
					    struct doca_mmap *mmap, void *addr,
					    size_t len, void *data,
					    size_t data_len,
					    struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inv,
					const struct doca_buf *src,
					struct doca_buf **dst);

#ifdef __cplusplus
}
#endif

#endif
