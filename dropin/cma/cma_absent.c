/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls for what is not there: they fail. */
#include <errno.h>

#include "dropin/cma/cma.h"

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	(void)ece;
	return pier__cma_result(-EOPNOTSUPP);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	(void)ece;
	return pier__cma_result(-EOPNOTSUPP);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
		    uint8_t private_data_len)
{
	(void)id;
	(void)private_data;
	(void)private_data_len;
	return pier__cma_result(-EOPNOTSUPP);
}
