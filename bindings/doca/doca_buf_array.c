/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf_array.h>

#include "doca_fail.h"

/* These are for processors that pier has not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_buf_arr_create(size_t count, struct doca_buf_arr **arr)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *arr,
				     struct doca_mmap *mmap, size_t size,
				     uint64_t offset)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *arr)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_stop(struct doca_buf_arr *arr)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *arr)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *arr,
					 struct doca_gpu *gpu)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *arr,
					 struct doca_dpa *dpa)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *arr,
					 struct doca_gpu_buf_arr **handle)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *arr,
					 doca_dpa_dev_buf_arr_t *handle)
{
	return pier__doca_no_processor(true, __func__);
}
