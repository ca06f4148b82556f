/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA20_RDMA_IMPL_H
#define DOCA20_RDMA_IMPL_H

#include <doca_rdma.h>

#include "doca20_workq_impl.h"

struct doca_rdma {
	struct doca_ctx ctx;		/* first */
	struct pier_rdma *rdma;		/* while it is started */
	struct pier_conn *conn;		/* from its export on */
	const void *desc;		/* that */
	size_t desc_len;
	uint32_t permissions, recv_chain, gid_index;
	bool gid_set;
};

extern const struct doca_job_kind pier__doca20_rdma_jobs[];

#endif
