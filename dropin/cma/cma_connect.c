/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: REQ, REP, REJ, DREQ. */
#include <errno.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

int rdma_connect(struct rdma_cm_id *ibid, struct rdma_conn_param *conn_param)
{
	struct cma_id *id = cma_of(ibid);
	struct pier__cm_param param;
	int err;

	if (ibid && id->real)
		return pier__cma_real_connect(id, conn_param);
	if (!ibid || id->state != CMA_ROUTE_RESOLVED || !id->conn)
		return pier__cma_result(-EINVAL);
	err = pier__cma_param(id, conn_param, pier__cma_is_datagram(id) ?
			      PIER__CM_SIDR_REQ_DATA : PIER__CM_REQ_DATA,
			      &param);
	if (err)
		return pier__cma_result(err);
	id->responder_resources = param.responder_resources;
	id->initiator_depth = param.initiator_depth;
	err = pier__dropin_cm_calls()->connect(id->conn, &param);
	if (err)
		return pier__cma_result(err);
	id->state = CMA_CONNECTING;
	return pier__cma_complete(id);
}

/* The QP is connected before the peer may send. */
static int accept_with(struct cma_id *id, const struct pier__cm_param *param)
{
	int err;

	if (pier__cma_is_datagram(id))
		return pier__dropin_cm_calls()->accept(id->conn, param);
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	err = pier__cma_qp_move(id, IBV_QPS_RTR);
	if (!err)
		err = pier__cma_qp_move(id, IBV_QPS_RTS);
	if (!err)
		err = pier__dropin_cm_calls()->accept(id->conn, param);
	if (err)
		pier__cma_qp_fail(id);
	return err;
}

int rdma_accept(struct rdma_cm_id *ibid, struct rdma_conn_param *conn_param)
{
	struct cma_id *id = cma_of(ibid);
	struct pier__cm_param param;
	int err;

	if (ibid && id->real)
		return pier__cma_real_accept(id, conn_param);
	if (!ibid || id->state != CMA_REQUESTED)
		return pier__cma_result(-EINVAL);
	err = pier__cma_param(id, conn_param, pier__cma_is_datagram(id) ?
			      PIER__CM_SIDR_REP_DATA : PIER__CM_REP_DATA,
			      &param);
	if (!err)
		err = accept_with(id, &param);
	if (err)
		return pier__cma_result(err);
	id->state = CMA_CONNECTING;
	/* No message says that the peer has got it. */
	return pier__cma_is_datagram(id) ? 0 : pier__cma_complete(id);
}

int rdma_reject(struct rdma_cm_id *ibid, const void *private_data,
		uint8_t private_data_len)
{
	struct cma_id *id = cma_of(ibid);
	int err;

	if (ibid && id->real)
		return pier__cma_real_reject(id, private_data,
					     private_data_len);
	if (!ibid || id->state != CMA_REQUESTED)
		return pier__cma_result(-EINVAL);
	err = pier__dropin_cm_calls()->reject(id->conn, private_data,
					      private_data_len);
	if (!err)
		id->state = CMA_CONNECTING;
	return pier__cma_result(err);
}

/* Of a QP that the program has connected itself. */
int rdma_establish(struct rdma_cm_id *ibid)
{
	struct cma_id *id = cma_of(ibid);

	if (ibid && id->real)
		return pier__cma_real_establish(id);
	if (!ibid || ibid->qp || id->state != CMA_CONNECTING || !id->conn)
		return pier__cma_result(-EINVAL);
	return pier__cma_result(pier__dropin_cm_calls()->establish(id->conn));
}

int rdma_disconnect(struct rdma_cm_id *ibid)
{
	struct cma_id *id = cma_of(ibid);
	int err;

	if (ibid && id->real)
		return pier__cma_real_disconnect(id);
	if (!ibid || id->state != CMA_CONNECTING || !id->conn)
		return pier__cma_result(-EINVAL);
	pier__cma_qp_fail(id);
	err = pier__dropin_cm_calls()->disconnect(id->conn);
	if (err)
		return pier__cma_result(err == -ENOTCONN ? -EINVAL : err);
	return pier__cma_complete(id);
}

/* Soft devices find out by themselves that the peer has sent something. */
int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	if (id && cma_of(id)->real)
		return pier__cma_real_notify(cma_of(id), event);
	if (!id || event != IBV_EVENT_COMM_EST)
		return pier__cma_result(-EINVAL);
	return 0;
}
