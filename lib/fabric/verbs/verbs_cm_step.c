/* SPDX-License-Identifier: BSD-2-Clause */
/* The handshake by librdmacm: connect, accept, establish, disconnect. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"


/* What the kernel fills in of a RoCE path, unknown to InfiniBand. */
#define MASK_ROCE 0xe00000

static int fail_over(const struct pier__cm_id *id, const char *what)
{
	return pier__fail(-ECONNABORTED, "%s: cannot %s: the peer has given up",
			  port_of(id->cm)->name, what);
}

/*
 * The kernel reports that a request has ended only after the response to it.
 * Until then the response fails with EINVAL, for which there is no other
 * reason, as its parameters have been checked.
 */
static int fail_answer(const struct pier__cm_id *id, const char *what)
{
	int err = pier__verbs_error(-1);

	if (err == -EINVAL)
		return fail_over(id, what);
	return pier__verbs_cm_fail((const struct cm_end *)id, what, err);
}

/* May @what be done to an id in @state? */
static int check_state(const struct pier__cm_id *id, const char *what,
		       enum end_state state)
{
	enum end_state is = ((const struct cm_end *)id)->state;

	if (is == state)
		return 0;
	if (is == END_OVER)
		return fail_over(id, what);
	return pier__fail(-EINVAL, "%s: cannot %s now", port_of(id->cm)->name,
			  what);
}

static int check_data(const struct pier__cm_id *id, const char *what,
		      size_t len, size_t max)
{
	if (len <= max)
		return 0;
	return pier__fail(-EINVAL, "%s: %zu bytes of private data in a %s: at "
			  "most %zu", port_of(id->cm)->name, len, what, max);
}

static int check_param(const struct pier__cm_id *id,
		       const struct pier__cm_param *param)
{
	uint32_t max = port_of(id->cm)->limits.rd_atomic;

	if (param->responder_resources > max || param->initiator_depth > max)
		return pier__fail(-EINVAL, "%s: %u reads served and %u in "
				  "flight: at most %u", port_of(id->cm)->name,
				  param->responder_resources,
				  param->initiator_depth, max);
	if (param->retry_count > 7 || param->rnr_retry > 7)
		return pier__fail(-EINVAL, "%s: %u retries, %u of RNR: at "
				  "most 7", port_of(id->cm)->name,
				  param->retry_count, param->rnr_retry);
	return 0;
}

static struct rdma_conn_param conn_of(const struct pier__cm_param *param)
{
	return (struct rdma_conn_param) {
		.private_data = param->data,
		.private_data_len = (uint8_t)param->len,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.retry_count = param->retry_count,
		.rnr_retry_count = param->rnr_retry,
		.srq = 1,
		.qp_num = param->qpn,
	};
}

int pier__verbs_cm_connect(struct pier__cm_id *id,
			   const struct pier__cm_param *param)
{
	struct rdma_conn_param conn = conn_of(param);
	int err = check_state(id, "connect", END_RESOLVED);

	if (!err)
		err = check_data(id, "request", param->len, PIER__CM_REQ_DATA);
	if (!err)
		err = check_param(id, param);
	if (err)
		return err;

	errno = 0;
	if (rdma_connect(end_of(id)->rdma, &conn))
		return pier__verbs_cm_fail(end_of(id), "cannot connect to",
					   pier__verbs_error(-1));
	end_of(id)->state = END_CONNECTING;
	return 0;
}

/*
 * The kernel rejects the request if the response has an error: the parameters
 * are checked before.
 */
int pier__verbs_cm_accept(struct pier__cm_id *id,
			  const struct pier__cm_param *param)
{
	struct rdma_conn_param conn = conn_of(param);
	int err = check_state(id, "accept", END_REQUESTED);

	if (!err)
		err = check_data(id, "reply", param->len, PIER__CM_REP_DATA);
	if (!err)
		err = check_param(id, param);
	if (err)
		return err;

	errno = 0;
	if (rdma_accept(end_of(id)->rdma, &conn))
		return fail_answer(id, "accept");
	end_of(id)->state = END_ACCEPTED;
	return 0;
}

int pier__verbs_cm_establish(struct pier__cm_id *id)
{
	int err = check_state(id, "establish", END_RESPONDED);

	if (err)
		return err;
	errno = 0;
	if (rdma_establish(end_of(id)->rdma))
		return pier__verbs_cm_fail(end_of(id), "cannot confirm to",
					   pier__verbs_error(-1));
	end_of(id)->state = END_ESTABLISHED;
	return 0;
}

int pier__verbs_cm_reject(struct pier__cm_id *id, const void *data, size_t len)
{
	int err = check_state(id, "reject", END_REQUESTED);

	if (!err)
		err = check_data(id, "reject", len, PIER__CM_REJ_DATA);
	if (err)
		return err;

	errno = 0;
	if (rdma_reject(end_of(id)->rdma, data, (uint8_t)len))
		return fail_answer(id, "reject");
	end_of(id)->state = END_OVER;
	return 0;
}

int pier__verbs_cm_disconnect(struct pier__cm_id *id)
{
	struct cm_end *end = end_of(id);

	switch (end->state) {
	case END_OVER:
	case END_DISCONNECTING:
		return 0;
	case END_ACCEPTED:
	case END_RESPONDED:
	case END_ESTABLISHED:
		break;
	default:
		return check_state(id, "disconnect", END_ESTABLISHED);
	}
	errno = 0;
	if (rdma_disconnect(end->rdma))
		return pier__verbs_cm_fail(end, "cannot disconnect from",
					   pier__verbs_error(-1));
	end->state = END_DISCONNECTING;
	return 0;
}

int pier__verbs_cm_qp_attr(struct pier__cm_id *id, enum ibv_qp_state state,
			   struct ibv_qp_attr *ret, int *ret_mask,
			   uint16_t *ret_udp_port)
{
	struct ibv_qp_attr attr;
	int mask = 0;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	errno = 0;
	if (rdma_init_qp_attr(end_of(id)->rdma, &attr, &mask)) {
		if (end_of(id)->state == END_REQUESTED)
			return fail_answer(id, "accept");
		return pier__verbs_cm_fail(end_of(id),
					   "no queue pair's attributes for",
					   pier__verbs_error(-1));
	}
	if (port_of(id->cm)->link_layer == IBV_LINK_LAYER_INFINIBAND)
		mask &= ~MASK_ROCE;
	*ret = attr;
	*ret_mask = mask;
	*ret_udp_port = ROCE_UDP_PORT;
	return 0;
}
