/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters that a program connects and accepts with. */
#include <errno.h>

#include "dropin/cma/cma.h"

#define RETRIES 7		/* the most, and what is used without any */

/* As many reads and atomics as @want; RDMA_MAX_* : @most. */
static int depth(uint8_t want, uint8_t most, uint8_t max, uint8_t *ret)
{
	if (want == RDMA_MAX_RESP_RES)
		want = most;
	if (want > max)
		return -EINVAL;
	*ret = want;
	return 0;
}

/* What the other side has requested is the most. */
static int depths(struct cma_id *id, const struct rdma_conn_param *from,
		  struct pier__cm_param *ret)
{
	uint8_t max = id->device->rd_atomic, in = max, out = max;
	int err;

	if (id->state == CMA_REQUESTED) {
		in = id->responder_resources < max ? id->responder_resources :
						     max;
		out = id->initiator_depth < max ? id->initiator_depth : max;
	}
	err = depth(from->responder_resources, in, max,
		    &ret->responder_resources);
	if (!err)
		err = depth(from->initiator_depth, out, max,
			    &ret->initiator_depth);
	return err;
}

int pier__cma_param(struct cma_id *id, const struct rdma_conn_param *from,
		    size_t max, struct pier__cm_param *ret)
{
	const struct rdma_conn_param all = {
		.private_data = id->connect,
		.private_data_len = id->connect_len,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = RETRIES,
		.rnr_retry_count = RETRIES,
	};

	if (!from)
		from = &all;
	if (from->private_data_len > max ||
	    (from->private_data_len && !from->private_data))
		return -EINVAL;
	ret->space = pier__cma_space(id);
	ret->qkey = RDMA_UDP_QKEY;
	ret->tclass = id->id.route.path_rec ?
			      id->id.route.path_rec->traffic_class : 0;
	ret->qpn = id->id.qp ? id->id.qp->qp_num : from->qp_num;
	id->qpn = ret->qpn;
	ret->retry_count = from->retry_count & RETRIES;
	ret->rnr_retry = from->rnr_retry_count & RETRIES;
	ret->data = from->private_data;
	ret->len = from->private_data_len;
	if (pier__cma_is_datagram(id)) {
		ret->responder_resources = 0;
		ret->initiator_depth = 0;
		return 0;
	}
	return depths(id, from, ret);
}
