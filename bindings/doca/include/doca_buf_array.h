/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUF_ARRAY_H
#define DOCA_BUF_ARRAY_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of buffers for processors other than this one: not supported. */

struct doca_mmap;
struct doca_buf_arr;

doca_error_t doca_buf_arr_create(size_t count, struct doca_buf_arr **arr);
doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *arr,
				     struct doca_mmap *mmap, size_t size,
				     uint64_t offset);
doca_error_t doca_buf_arr_start(struct doca_buf_arr *arr);
doca_error_t doca_buf_arr_stop(struct doca_buf_arr *arr);
doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *arr);

#ifdef __cplusplus
}
#endif

#endif
