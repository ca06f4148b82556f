/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_rdma_impl.h"

doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *info,
					 enum doca_rdma_job_types type)
{
	static const enum pier_task_type types[] = {
		PIER_TASK_RECEIVE,	PIER_TASK_SEND,
		PIER_TASK_SEND_IMM,	PIER_TASK_READ,
		PIER_TASK_WRITE,	PIER_TASK_WRITE_IMM,
		PIER_TASK_COMPARE_SWAP, PIER_TASK_FETCH_ADD,
	};

	if (type < DOCA_RDMA_JOB_RECV || type > DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
		return pier__doca_no_cap(info);
	return pier__doca_can_task(info, types[type - DOCA_RDMA_JOB_RECV]);
}

doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *info,
					    uint32_t *ret)
{
	return pier__doca_limit(info, PIER_LIMIT_MESSAGE, ret);
}

doca_error_t
doca_rdma_get_max_recv_buf_chain_len(const struct doca_devinfo *info,
				     uint32_t *ret)
{
	return pier__doca_limit(info, PIER_LIMIT_RECV_SGE, ret);
}
