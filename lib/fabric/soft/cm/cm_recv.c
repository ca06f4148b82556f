/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages received: to which connection each belongs; QP attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/stats/recorder.h"

#define HOP_LIMIT 64
#define RNR_TIMER 0		/* code: 655.36 ms, as the kernel's */

static const struct soft_gsi_ops gsi_ops = {
	.receive = pier__soft_cm_receive,
	.timers = pier__soft_cm_timers,
	.deadline = pier__soft_cm_deadline,
	.data = pier__soft_cm_data,
};

int pier__soft_cm_create(struct soft_ep *ep, struct soft_cm_host *host,
			 struct soft_cm **ret)
{
	struct soft_cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return pier__fail(-ENOMEM, "no memory for connection "
				  "management");
	cm->ep = ep;
	cm->host = host;
	cm->tid = (uint32_t)pier__random64();
	cm->guid = SOFT_CM_PREFIX << 48 | (uint64_t)ep->io->port << 32 |
		   (uint32_t)pier__random64();
	pier__list_init(&cm->listeners);
	pier__list_init(&cm->events);
	pier__list_init(&cm->early);
	pier__list_init(&cm->timewait);
	if (pier__soft_heap_fit(&cm->timers, 2)) {
		free(cm);
		return -ENOMEM;
	}

	pier__soft_cm_table_init(cm);
	cm->gsi.ops = &gsi_ops;
	ep->gsi = &cm->gsi;
	*ret = cm;
	return 0;
}

void pier__soft_cm_destroy(struct soft_cm *cm)
{
	if (!cm)
		return;
	pier__soft_cm_table_fini(cm);
	pier__soft_heap_fini(&cm->timers);
	cm->ep->gsi = NULL;
	free(cm);
}

void pier__soft_cm_owner(struct soft_cm *cm, struct pier__cm *owner)
{
	cm->owner = owner;
}

/* The connection of @mad, with matching ids and addresses. */
static struct soft_cm_conn *conn_of(const struct soft_cm *cm,
				    const struct soft_mad *mad,
				    const struct soft_rx *rx)
{
	struct soft_cm_conn *conn = pier__soft_cm_by_local(cm, mad->remote_id);

	if (!conn || conn->state == SOFT_CM_IDLE || conn->datagram ||
	    !IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip) ||
	    !IN6_ARE_ADDR_EQUAL(&conn->src, &rx->dst.ip))
		return NULL;
	if (conn->peer_known && conn->remote_id != mad->local_id)
		return NULL;
	return conn;
}

/* An attempt that timed out at the peer before it knew our id. */
static struct soft_cm_conn *conn_given_up(const struct soft_cm *cm,
					  const struct soft_mad *mad,
					  const struct soft_rx *rx)
{
	struct soft_cm_conn *conn;
	uint64_t guid = 0;
	int i;

	if (mad->reason != ROCE_REJ_TIMEOUT || mad->info_len < 8)
		return NULL;
	for (i = 0; i < 8; i++)
		guid = guid << 8 | mad->info[i];
	conn = pier__soft_cm_by_peer(cm, guid, mad->local_id);
	return conn && !conn->datagram &&
	       IN6_ARE_ADDR_EQUAL(&conn->dst, &rx->src.ip) ? conn :
								     NULL;
}

static void mra_receive(struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	bool asked = conn->state == SOFT_CM_REQ_SENT &&
		     mad->message == SOFT_MAD_OF_REQ;

	if (asked && !mad->service_timeout)
		pier__soft_cm_backlog_full(conn);
	else if (asked || (conn->state == SOFT_CM_REP_SENT &&
			   mad->message == SOFT_MAD_OF_REP))
		pier__soft_cm_mra_wait(conn, mad->service_timeout);
}

/*
 * A message of an unknown connection.  Its sender has not received our DREQ,
 * or our port 4791 belonged to another process when it started.
 */
static void unknown(struct soft_cm *cm, const struct soft_mad *mad,
		    const struct soft_rx *rx)
{
	struct soft_mad answer = {
		.tid = mad->tid,
		.local_id = mad->remote_id, .remote_id = mad->local_id,
	};
	uint16_t port = pier__soft_cm_port_of(rx);

	if (mad->attr == SOFT_MAD_DREQ) {
		answer.attr = SOFT_MAD_DREP;
		pier__soft_cm_answer(cm, rx, port, &answer);
	} else if (mad->attr == SOFT_MAD_REP) {
		answer.attr = SOFT_MAD_REJ;
		answer.message = SOFT_MAD_OF_REP;
		answer.reason = ROCE_REJ_COMM_ID;
		pier__soft_cm_answer(cm, rx, pier__soft_cm_guid_port(mad->guid),
				     &answer);
	} else {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
	}
}

/*
 * A response repeats the transaction ID of its request, of DREP that is DREQ;
 * the handshake has the one of REQ.  Both are ours or the client's, which no
 * third process knows.
 */
static bool tid_ok(const struct soft_cm_conn *conn, const struct soft_mad *mad)
{
	if (mad->attr == SOFT_MAD_DREP)
		return mad->tid == pier__soft_cm_dreq_tid(conn);
	return mad->attr == SOFT_MAD_DREQ || mad->tid == conn->tid;
}

static void conn_receive(struct soft_cm *cm, const struct soft_mad *mad,
			 const struct soft_rx *rx)
{
	struct soft_cm_conn *conn = conn_of(cm, mad, rx);
	bool has_our_id = conn;

	if (!conn && mad->attr == SOFT_MAD_REJ)
		conn = conn_given_up(cm, mad, rx);
	if (!conn) {
		unknown(cm, mad, rx);
		return;
	}
	if (!tid_ok(conn, mad)) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	conn->proven |= has_our_id;
	pier__soft_ep_note(cm->ep, conn->qpn, SOFT_EVENT_CM_RECEIVED,
			   mad->attr, 0);
	switch (mad->attr) {
	case SOFT_MAD_MRA:
		mra_receive(conn, mad);
		break;
	case SOFT_MAD_REJ:
		pier__soft_cm_rej(conn, mad);
		break;
	case SOFT_MAD_REP:
		pier__soft_cm_rep(conn, mad);
		break;
	case SOFT_MAD_RTU:
		pier__soft_cm_rtu(conn);
		break;
	case SOFT_MAD_DREQ:
		pier__soft_cm_dreq(conn, mad);
		break;
	case SOFT_MAD_DREP:
		pier__soft_cm_drep(conn);
		break;
	default:
		break;
	}
}

/* Messages with a GUID: a soft peer's has its UDP port. */
static bool names_port(const struct soft_mad *mad)
{
	return mad->attr == SOFT_MAD_REQ || mad->attr == SOFT_MAD_REP;
}

void pier__soft_cm_receive(struct soft_gsi *gsi, const struct soft_hdr *hdr,
			   const struct soft_rx *rx, const uint8_t *data,
			   size_t len)
{
	struct soft_cm *cm = (struct soft_cm *)gsi;
	struct soft_mad mad;

	if (hdr->opcode != SOFT_UD_SEND_ONLY || hdr->qkey != ROCE_GSI_QKEY ||
	    hdr->src_qpn != ROCE_GSI_QPN ||
	    !pier__roce_pkey_is_default(hdr->pkey) ||
	    !pier__soft_mad_decode(data, len, &mad) ||
	    (names_port(&mad) && !pier__soft_cm_port_ok(mad.guid, rx))) {
		pier__soft_add(cm->ep->counters, SOFT_COUNTER(dropped), 1);
		return;
	}
	switch (mad.attr) {
	case SOFT_MAD_REQ:
		pier__soft_ep_note(cm->ep, 0, SOFT_EVENT_CM_RECEIVED, mad.attr,
				   0);
		pier__soft_cm_req(cm, &mad, rx);
		break;
	case SOFT_MAD_SIDR_REQ:
		pier__soft_cm_sidr_req(cm, &mad, rx);
		break;
	case SOFT_MAD_SIDR_REP:
		pier__soft_cm_sidr_rep(cm, &mad, rx);
		break;
	case SOFT_MAD_LAP:
	case SOFT_MAD_APR:
		break;		/* not supported, never requested */
	default:
		conn_receive(cm, &mad, rx);
		break;
	}
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* The lesser of what one side requests and the other one grants. */
static uint8_t agreed(const struct soft_cm_conn *conn, uint8_t ours,
		      uint8_t peers)
{
	bool known = conn->state != SOFT_CM_REQ_RCVD;

	return least(least(peers, SOFT_RD_ATOMIC), known ? ours :
							  SOFT_RD_ATOMIC);
}

static int to_rtr(const struct soft_cm_conn *conn, struct ibv_qp_attr *attr)
{
	int gid = conn->cm->host->ops->gid(conn->cm->host, &conn->src);

	if (gid < 0)
		return pier__fail(-EADDRNOTAVAIL, "the connection's own "
				  "address was removed");
	attr->path_mtu = (enum ibv_mtu)conn->mtu;
	attr->dest_qp_num = conn->dest_qpn;
	attr->rq_psn = conn->rq_psn;
	attr->max_dest_rd_atomic = agreed(conn, conn->responder_resources,
					  conn->peer_initiator_depth);
	attr->min_rnr_timer = RNR_TIMER;
	attr->ah_attr.is_global = 1;
	attr->ah_attr.port_num = 1;
	attr->ah_attr.grh.sgid_index = (uint8_t)gid;
	attr->ah_attr.grh.hop_limit = HOP_LIMIT;
	attr->ah_attr.grh.traffic_class = conn->tclass;
	memcpy(attr->ah_attr.grh.dgid.raw, &conn->dst, 16);
	return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static int to_rts(const struct soft_cm_conn *conn, struct ibv_qp_attr *attr)
{
	attr->sq_psn = conn->sq_psn;
	attr->timeout = conn->ack_timeout;
	attr->retry_cnt = conn->retry_count;
	attr->rnr_retry = conn->rnr_retry;
	attr->max_rd_atomic = agreed(conn, conn->initiator_depth,
				     conn->peer_responder_resources);
	return IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

static int to_init(struct ibv_qp_attr *attr)
{
	attr->port_num = 1;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC;
	return IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

int pier__soft_cm_qp_attr(struct pier__cm_id *pid,
			  enum ibv_qp_state state, struct ibv_qp_attr *ret,
			  int *ret_mask, uint16_t *ret_udp_port)
{
	struct soft_cm_conn *conn = ((struct soft_cm_id *)pid)->conn;
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (!conn)
		return pier__fail(-ECONNABORTED, "the connection is over");
	if (state != IBV_QPS_INIT && !conn->peer_known)
		return pier__fail(-EINVAL, "the peer has not answered yet");
	if (state == IBV_QPS_INIT)
		mask = to_init(&attr);
	else if (state == IBV_QPS_RTR)
		mask = to_rtr(conn, &attr);
	else if (state == IBV_QPS_RTS)
		mask = to_rts(conn, &attr);
	else
		return pier__fail(-EINVAL, "attributes for state %d: INIT, RTR"
				  " or RTS", state);
	if (mask < 0)
		return mask;

	*ret = attr;
	*ret_mask = mask | IBV_QP_STATE;
	*ret_udp_port = conn->port;
	return 0;
}
