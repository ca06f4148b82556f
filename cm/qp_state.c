/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/conn_impl.h"
#include "core/fail.h"

/* The QP's moves.  Every pier QP allows remote read, write and atomics: the
 * user's rights are those of the mmap's key and the context's, see conn.h. */

enum ibv_mtu pier__conn_mtu_code(uint32_t bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && 128u << (code + 1) <= bytes)
		code++;
	return code;
}

static int modify(struct pier_conn *conn, struct ibv_qp_attr *attr, int mask)
{
	return conn->queues->fab->qp_modify(conn->qp, attr, mask,
					  conn->remote.udp_port);
}

int pier__conn_qp_init(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)conn->queues->cfg->pkey_index,
		.port_num = (uint8_t)conn->queues->dev->info.port.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	return modify(conn, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					   IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void address(const struct pier_conn *conn, bool grh,
		    struct ibv_ah_attr *ret)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	struct pier__av av = {
		.link_layer = conn->local.link_layer,
		.grh = grh,
		.port = (uint8_t)conn->queues->dev->info.port.port,
		.service_level = (uint8_t)cfg->service_level,
		.traffic_class = (uint8_t)cfg->traffic_class,
		.hop_limit = (uint8_t)cfg->hop_limit,
		.sgid_index = (uint8_t)conn->local_gid.index,
		.dlid = conn->remote.lid,
	};

	for (int i = 0; i < 16; i++) {
		av.sgid[i] = conn->local_gid.raw[i];
		av.dgid[i] = conn->remote_gid.raw[i];
	}
	pier__av_build(&av, ret);
}

static int to_rtr(struct pier_conn *conn)
{
	const struct pier__limits *limits =
		&conn->queues->dev->info.port.limits;
	struct pier__port port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = pier__conn_mtu_code(conn->path_mtu),
		.dest_qp_num = conn->remote.qpn,
		/* a hello that was taken before is one packet */
		.rq_psn = (conn->remote.psn + conn->hello_seen) & 0xffffff,
		.max_dest_rd_atomic = (uint8_t)limits->rd_atomic,
		.min_rnr_timer = (uint8_t)conn->queues->cfg->min_rnr_timer,
	};

	pier__dev_port(conn->queues->dev, &port);
	if (!pier__gid_find(&port, &conn->local_gid, &conn->local_gid.index))
		return pier__conn_gid_lost(conn);
	conn->gid_bound = true;
	pier__conn_set_transport(conn);
	address(conn, port.grh, &attr.ah_attr);
	return modify(conn, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					   IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct pier_conn *conn)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	uint32_t depth = cfg->max_rd_atomic;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = conn->local.psn,
		.timeout = (uint8_t)cfg->ack_timeout,
		.retry_cnt = (uint8_t)cfg->retry_count,
		.rnr_retry = (uint8_t)cfg->rnr_retry,
	};

	if (depth > conn->remote.rd_atomic)
		depth = conn->remote.rd_atomic;
	attr.max_rd_atomic = (uint8_t)depth;
	return modify(conn, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
					   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY |
					   IBV_QP_MAX_QP_RD_ATOMIC);
}

int pier__conn_qp_ready(struct pier_conn *conn)
{
	int err = to_rtr(conn);

	if (!err)
		err = to_rts(conn);
	if (!err)
		conn->ready = true;
	return err;
}

int pier__conn_qp_reset(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = modify(conn, &attr, IBV_QP_STATE);

	if (!err)
		err = pier__conn_qp_init(conn);
	return err ? err : pier__conn_qp_ready(conn);
}

void pier__conn_qp_error(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	modify(conn, &attr, IBV_QP_STATE);
}
