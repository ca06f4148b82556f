/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_pe.h>

#include "doca_fail.h"

#define REASON "pier has no batches of tasks, but flags of their submission"

/* There are no batches. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_task_batch_submit(struct doca_task_batch *batch)
{
	return pier__doca_unsupported(__func__, REASON);
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *batch)
{
	return pier__doca_unsupported(__func__, REASON);
}

void doca_task_batch_free(struct doca_task_batch *batch)
{
	pier__doca_unsupported(__func__, REASON);
}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *batch)
{
	return pier__doca_unsupported(__func__, REASON);
}

void doca_task_batch_set_user_data(struct doca_task_batch *batch,
				   union doca_data data)
{
	pier__doca_unsupported(__func__, REASON);
}

union doca_data
doca_task_batch_get_user_data(const struct doca_task_batch *batch)
{
	pier__doca_unsupported(__func__, REASON);
	return (union doca_data){ .u64 = 0 };
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *batch)
{
	pier__doca_unsupported(__func__, REASON);
	return NULL;
}

union doca_data
doca_task_batch_get_ctx_user_data(const struct doca_task_batch *batch)
{
	pier__doca_unsupported(__func__, REASON);
	return (union doca_data){ .u64 = 0 };
}

size_t doca_task_batch_get_tasks_num(const struct doca_task_batch *batch)
{
	pier__doca_unsupported(__func__, REASON);
	return 0;
}
