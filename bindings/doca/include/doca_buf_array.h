/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_ARRAY_H
#define DOCA_BUF_ARRAY_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of buffers for processors other than this one: not supported. */

struct doca_dpa;
struct doca_gpu;
struct doca_gpu_buf_arr;
struct doca_mmap;
struct doca_buf_arr;

typedef uint64_t doca_dpa_dev_buf_arr_t;

doca_error_t doca_buf_arr_create(size_t count, struct doca_buf_arr **arr);
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *arr,
				     struct doca_mmap *mmap, size_t size,
				     uint64_t offset);
doca_error_t doca_buf_arr_start(struct doca_buf_arr *arr);
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *arr);
doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *arr,
					 struct doca_gpu *gpu);
doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *arr,
					 struct doca_dpa *dpa);
doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *arr,
					 struct doca_gpu_buf_arr **handle);
doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *arr,
					 doca_dpa_dev_buf_arr_t *handle);
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *arr);

#ifdef __cplusplus
}
#endif

#endif
