/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_MMAP_ADVISE_H
#define DOCA_MMAP_ADVISE_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hints about memory.  To invalidate a cache there is nothing to do here. */

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;
struct doca_mmap_advise;
struct doca_mmap_advise_task_invalidate_cache;

typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(
	struct doca_mmap_advise_task_invalidate_cache *task,
	union doca_data task_data, union doca_data ctx_data);

doca_error_t doca_mmap_advise_create(struct doca_dev *dev,
				     struct doca_mmap_advise **advise);
doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *advise);
struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *advise);
doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(
	const struct doca_devinfo *info);
doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(
	const struct doca_devinfo *info, uint64_t *buf_size);
doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *advise,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t done,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t failed,
	uint32_t count);
doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(
	struct doca_mmap_advise *advise, struct doca_buf *buf,
	union doca_data data,
	struct doca_mmap_advise_task_invalidate_cache **task);
struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task);
void doca_mmap_advise_task_invalidate_cache_set_buf(
	struct doca_mmap_advise_task_invalidate_cache *task,
	struct doca_buf *buf);
struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task);

#ifdef __cplusplus
}
#endif

#endif
