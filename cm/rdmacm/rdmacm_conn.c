/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"

/* A connection made by CM, active or passive, and its QP's states. */

int pier__rdmacm_conn_create(struct pier__queues *queues,
			     const struct pier__conn_flow *flow,
			     struct pier_conn **ret)
{
	struct pier__end *local;
	struct pier_conn *conn;
	int err = pier__conn_create(queues, flow, &conn);

	if (err)
		return err;
	conn->cm = calloc(1, sizeof(*conn->cm));
	if (!conn->cm) {
		pier__conn_uncreate(conn);
		return pier__fail(-ENOMEM, "connection: no memory");
	}
	local = &conn->local;
	local->nonce = pier__random_id(UINT32_MAX);
	local->ctl_addr = (uintptr_t)&queues->ctl[conn->slot];
	local->ctl_rkey = queues->ctl_mr->rkey;
	pier__list_add(&queues->owner->conns, &conn->link);
	*ret = conn;
	return 0;
}

void pier__rdmacm_set_peer(struct pier_conn *conn, const struct sockaddr *peer)
{
	struct pier__rdmacm_conn *cm = conn->cm;

	pier__sockaddr_text(peer, cm->peer);
	memset(&cm->peer_addr, 0, sizeof(cm->peer_addr));
	memcpy(&cm->peer_addr, peer, pier__sockaddr_len(peer));
}

/* Free what a closed connection does not need. */
static void release(struct pier_conn *conn)
{
	struct pier__rdmacm_conn *cm = conn->cm;

	if (cm->id)
		conn->queues->rdmacm->fab->release(cm->id);
	cm->id = NULL;
	pier__attempt_free(conn);
	pier__blob_drop(conn->queues, &cm->own);
	if (cm->theirs.mr)
		conn->queues->dev->fabric->dev->dereg(cm->theirs.mr);
	cm->theirs.mr = NULL;
}

void pier__rdmacm_conn_uncreate(struct pier_conn *conn)
{
	pier__list_del(&conn->link);
	release(conn);
	pier__conn_uncreate(conn);
}

static void free_cm(struct pier_conn *conn)
{
	if (conn->cm)
		free(conn->cm->theirs.mem);
	free(conn->cm);
}

/* Send DREQ if there was an RTU and the peer has not sent a DREQ. */
static void entered(struct pier_conn *conn, enum pier__conn_state prev)
{
	struct pier__rdmacm_conn *cm = conn->cm;

	if (conn->state == PIER__CONN_UP)
		pier__blob_drop(conn->queues, &cm->own);
	else if (pier__conn_is_closed(conn))
		release(conn);
	else if (pier__conn_is_ending(conn) && prev >= PIER__CONN_HELLO &&
		 cm->id && !conn->peer_disconnected)
		conn->queues->rdmacm->fab->disconnect(cm->id);
}

static bool may_connect(const struct pier_conn *conn)
{
	return conn->cm->seen >= conn->cm->theirs.len;
}

static int query_attr(struct pier_conn *conn, enum ibv_qp_state state,
		      struct ibv_qp_attr *ret, int *ret_mask)
{
	uint16_t port = 0;
	int err;

	memset(ret, 0, sizeof(*ret));
	err = conn->queues->rdmacm->fab->qp_attr(conn->cm->id, state, ret,
						 ret_mask, &port);
	if (!err)
		conn->remote.udp_port = port;
	return err;
}

static int to_init(struct pier_conn *conn)
{
	struct ibv_qp_attr attr;
	int mask, err = query_attr(conn, IBV_QPS_INIT, &attr, &mask);

	if (err)
		return err;
	attr.qp_access_flags = PIER__QP_ACCESS;
	return pier__conn_qp_modify(conn, &attr, mask);
}

int pier__rdmacm_qp_create(struct pier_conn *conn)
{
	int err;

	if (conn->qp)		/* of an attempt at another address */
		return 0;
	err = pier__conn_create_qp(conn);
	if (err)
		return err;
	err = to_init(conn);
	if (err)
		pier__conn_destroy_qp(conn);
	return err;
}

void pier__rdmacm_gid_bound(struct pier_conn *conn)
{
	const struct sockaddr *local = (const void *)&conn->cm->id->local;
	struct pier__port port;

	pier__sockaddr_to_gid(local, conn->local_gid.raw);
	conn->local_gid.type = PIER_GID_ROCE_V2;
	pier__dev_port(conn->queues->dev, &port);
	conn->gid_lost_at = pier__gid_find(&port, &conn->local_gid,
					   &conn->local_gid.index) ?
				    PIER__NEVER : 0;
}

/* Store the addresses of both ends. */
static void keep_path(struct pier_conn *conn, const struct ibv_qp_attr *attr)
{
	const struct pier__rdmacm_conn *cm = conn->cm;
	const struct sockaddr *local = (const void *)&cm->id->local;
	struct pier__port port;

	conn->path_mtu = 128u << attr->path_mtu;
	pier__sockaddr_to_gid((const void *)&cm->id->peer,
			      conn->remote_gid.raw);
	pier__sockaddr_to_gid(local, conn->local_gid.raw);
	if (!attr->ah_attr.is_global)
		return;
	memcpy(conn->remote_gid.raw, attr->ah_attr.grh.dgid.raw, 16);
	conn->local_gid.index = attr->ah_attr.grh.sgid_index;
	pier__dev_port(conn->queues->dev, &port);
	for (uint32_t i = 0; i < port.gid_count; i++) {
		if (port.gids[i].index != conn->local_gid.index)
			continue;
		memcpy(conn->local_gid.raw, port.gids[i].raw, 16);
		conn->local_gid.type = (uint8_t)port.gids[i].type;
		conn->gid_lost_at = PIER__NEVER;
	}
}

static int to_rtr(struct pier_conn *conn)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	struct ibv_qp_attr attr;
	int mask, err = query_attr(conn, IBV_QPS_RTR, &attr, &mask);

	if (err)
		return err;
	attr.rq_psn = (attr.rq_psn + conn->cm->packets_received) & 0xffffff;
	attr.min_rnr_timer = cfg->min_rnr_timer;
	if (attr.ah_attr.is_global) {
		attr.ah_attr.grh.hop_limit = cfg->hop_limit;
		if (cfg->traffic_class)
			attr.ah_attr.grh.traffic_class = cfg->traffic_class;
	}
	keep_path(conn, &attr);
	pier__conn_set_transport(conn);
	return pier__conn_qp_modify(conn, &attr, mask);
}

static int to_rts(struct pier_conn *conn)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	struct ibv_qp_attr attr;
	int mask, err = query_attr(conn, IBV_QPS_RTS, &attr, &mask);

	if (err)
		return err;
	attr.sq_psn = (attr.sq_psn + conn->cm->packets_acked) & 0xffffff;
	/* the CM's idea of these is seconds of silence */
	attr.timeout = cfg->ack_timeout;
	attr.retry_cnt = cfg->retry_count;
	attr.rnr_retry = cfg->rnr_retry;
	if (attr.max_rd_atomic > cfg->max_rd_atomic)
		attr.max_rd_atomic = cfg->max_rd_atomic;
	return pier__conn_qp_modify(conn, &attr, mask);
}

int pier__rdmacm_qp_ready(struct pier_conn *conn)
{
	int err = to_rtr(conn);

	return err ? err : to_rts(conn);
}

uint32_t pier__rdmacm_packets(const struct pier_conn *conn, size_t len)
{
	return len ? (uint32_t)((len - 1) / conn->path_mtu + 1) : 1;
}

/*
 * How many packets the peer has sent, so that its next one has the expected
 * PSN: it reads our blob, then sends hello.  Before the hello arrives, its read
 * cannot be noticed; if there was one, it has to be repeated.
 */
static uint32_t packets_received(const struct pier_conn *conn)
{
	const struct pier__blob *own = &conn->cm->own;

	if (!conn->hello_seen)
		return 0;
	return 1 + (own->mr ? pier__rdmacm_packets(conn, own->len) : 0);
}

/*
 * Continue where the peer was, or, every other time, where it is if it has
 * reset its QP as well: begin with reading its blob.
 */
static void rewind_sent(struct pier__rdmacm_conn *cm)
{
	if (++cm->qp_resets % 2 || !pier__was_read(cm))
		return;
	cm->packets_acked = 0;
	cm->to_read = cm->theirs.len;
}

static int qp_reset(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = pier__conn_qp_modify(conn, &attr, IBV_QP_STATE);

	rewind_sent(conn->cm);
	conn->cm->packets_received = packets_received(conn);
	if (!err)
		err = to_init(conn);
	return err ? err : pier__rdmacm_qp_ready(conn);
}

static uint64_t step(struct pier_conn *conn, uint64_t now)
{
	if (conn->state >= PIER__CONN_ACCEPTED)
		return pier__handshake_step(conn, now);
	return conn->state == PIER__CONN_REQ_RCVD ?
		       pier__passive_step(conn, now) :
		       pier__active_step(conn, now);
}

const struct pier__conn_flow pier__flow_active = {
	.has_disconnect = true,
	.step = step,
	.entered = entered,
	.may_connect = may_connect,
	.attempt_failed = pier__active_next,
	.qp_reset = qp_reset,
	.fail = pier__rdmacm_fail,
	.free = free_cm,
};

const struct pier__conn_flow pier__flow_passive = {
	.has_disconnect = true,
	.step = step,
	.entered = entered,
	.may_connect = may_connect,
	.attempt_failed = pier__conn_fail,
	.qp_reset = qp_reset,
	.fail = pier__rdmacm_fail,
	.free = free_cm,
};

bool pier__rdmacm_is_active(const struct pier_conn *conn)
{
	return conn->flow == &pier__flow_active;
}

static uint8_t least(uint32_t a, uint32_t b)
{
	uint32_t n = a < b ? a : b;

	return (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

void pier__rdmacm_param(const struct pier_conn *conn,
			struct pier__cm_param *ret)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	const struct pier__rdmacm_conn *cm = conn->cm;
	uint32_t serve = conn->queues->dev->info.port.limits.rd_atomic;

	ret->qpn = conn->local.qpn;
	ret->responder_resources = least(serve, UINT8_MAX);
	ret->initiator_depth = least(cfg->max_rd_atomic, UINT8_MAX);
	if (!pier__rdmacm_is_active(conn)) {
		ret->responder_resources =
			least(serve, cm->responder_resources);
		ret->initiator_depth = least(cfg->max_rd_atomic,
					     cm->initiator_depth);
	}
	ret->retry_count = cfg->retry_count;
	ret->rnr_retry = cfg->rnr_retry;
}

int pier_conn_private_data(struct pier_conn *conn, const void **ret,
			   size_t *ret_len)
{
	if (!conn)
		return pier__no_object(__func__);
	if (!conn->cm || !conn->cm->theirs.mem)
		return pier__fail(-ENOTCONN, "no private data: %s",
				  conn->cm ? "nothing was received from the "
					     "peer" :
					     "connected by descriptors");
	*ret = conn->cm->theirs.mem;
	*ret_len = conn->cm->seen;
	return 0;
}

unsigned int pier_conn_reject_reason(const struct pier_conn *conn)
{
	if (!conn)
		return 0;
	return conn->cm ? conn->cm->reason : 0;
}

const char *pier_conn_local_address(const struct pier_conn *conn)
{
	if (!conn)
		return "";
	return conn->cm ? conn->cm->local : "";
}

const char *pier_conn_peer_address(const struct pier_conn *conn)
{
	if (!conn)
		return "";
	return conn->cm ? conn->cm->peer : "";
}

int pier_conn_peer_sockaddr(const struct pier_conn *conn,
			    struct sockaddr_storage *ret)
{
	if (!conn)
		return pier__no_object(__func__);
	if (!conn->cm)
		return pier__fail(-ENOTCONN, "the peer's address: connected by "
				  "descriptors");
	if (!conn->cm->peer_addr.sa.sa_family)
		return pier__fail(-ENOTCONN, "the peer's address: not known");
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &conn->cm->peer_addr, sizeof(conn->cm->peer_addr));
	return 0;
}

int pier_conn_peer_is_pier(const struct pier_conn *conn)
{
	if (!conn)
		return 0;
	if (!conn->cm)
		return conn->remote.qpn != 0;
	return conn->cm->theirs.mem && !conn->cm->foreign;
}
