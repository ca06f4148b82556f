/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"

/* A connection made by CM, whichever side it is on; and its QP's moves. */

int pier__side_create(struct pier__qset *qset, bool active,
		      struct pier_conn **ret)
{
	struct pier__end *us;
	struct pier_conn *conn;
	int err = pier__conn_create(qset, &conn);

	if (err)
		return err;
	conn->side = calloc(1, sizeof(*conn->side));
	if (!conn->side) {
		pier__conn_uncreate(conn);
		return pier__fail(-ENOMEM, "connection: no memory");
	}
	conn->side->active = active;
	us = &conn->us;
	us->nonce = pier__random_id(UINT32_MAX);
	us->ctl_addr = (uintptr_t)&qset->ctl[conn->slot];
	us->ctl_rkey = qset->ctl_mr->rkey;
	pier__list_add(qset->conns, &conn->link);
	*ret = conn;
	return 0;
}

void pier__side_close(struct pier_conn *conn)
{
	struct pier__side *side = conn->side;

	if (side->reading)
		conn->qset->ctl_inflight--;
	side->reading = false;
	if (side->id)
		conn->qset->cm->fab->release(side->id);
	side->id = NULL;
	pier__attempt_free(conn);
	pier__blob_drop(conn->qset, &side->own);
	if (side->theirs.mr)
		conn->qset->dev->fabric->dev->dereg(side->theirs.mr);
	side->theirs.mr = NULL;
}

void pier__side_free(struct pier_conn *conn)
{
	if (!conn->side)
		return;
	free(conn->side->theirs.mem);
	free(conn->side);
}

void pier__side_hang_up(struct pier_conn *conn)
{
	struct pier__side *side = conn->side;

	if (!side || !side->id || !side->established || side->over ||
	    side->disconnecting)
		return;
	side->disconnecting = true;
	conn->qset->cm->fab->disconnect(side->id);
}

uint64_t pier__side_step(struct pier_conn *conn, uint64_t now)
{
	switch (conn->phase) {
	case PIER__CONN_LOOKUP:
	case PIER__CONN_ASKED:
		return pier__active_step(conn, now);
	case PIER__CONN_REQUEST:
		return pier__passive_step(conn, now);
	default:
		return pier__handshake_step(conn, now);
	}
}

static int modify(struct pier_conn *conn, struct ibv_qp_attr *attr, int mask)
{
	return conn->qset->fab->qp_modify(conn->qp, attr, mask,
					  conn->them.udp_port);
}

static int ask_attr(struct pier_conn *conn, enum ibv_qp_state state,
		    struct ibv_qp_attr *ret, int *ret_mask)
{
	uint16_t port = 0;
	int err;

	memset(ret, 0, sizeof(*ret));
	err = conn->qset->cm->fab->qp_attr(conn->side->id, state, ret,
					     ret_mask, &port);
	if (!err)
		conn->them.udp_port = port;
	return err;
}

static int to_init(struct pier_conn *conn)
{
	struct ibv_qp_attr attr;
	int mask, err = ask_attr(conn, IBV_QPS_INIT, &attr, &mask);

	if (err)
		return err;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ |
			       IBV_ACCESS_REMOTE_ATOMIC;
	return modify(conn, &attr, mask);
}

int pier__side_qp_create(struct pier_conn *conn)
{
	int err;

	if (conn->qp)		/* of an attempt at another address */
		return 0;
	err = pier__conn_create_qp(conn);
	if (err)
		return err;
	err = to_init(conn);
	if (err)
		pier__side_qp_destroy(conn);
	return err;
}

void pier__side_qp_destroy(struct pier_conn *conn)
{
	if (!conn->qp)
		return;
	pier__qset_unmap_qpn(conn->qset, conn->us.qpn);
	conn->qset->fab->qp_destroy(conn->qp);
	conn->qp = NULL;
	conn->ready = false;
}

void pier__side_house(struct pier_conn *conn)
{
	const struct sockaddr *local = (const void *)&conn->side->id->local;
	struct pier__port port;

	pier__sockaddr_to_gid(local, conn->path_us.raw);
	conn->path_us.type = PIER_GID_ROCE_V2;
	pier__dev_port(conn->qset->dev, &port);
	conn->housed = pier__gid_find(&port, &conn->path_us,
				      &conn->path_us.index);
	conn->homeless_since = 0;
}

void pier__side_homeless(struct pier_conn *conn)
{
	bool request = conn->phase == PIER__CONN_REQUEST;
	int err = pier__side_why(conn, -EADDRNOTAVAIL, request ? "waiting" :
				 "asking", "the address was taken from %s, or "
				 "has expired",
				 conn->qset->dev->info.port.netdev);

	if (request)
		pier__conn_fail(conn, err);
	else
		pier__active_next(conn, err);
}

/* Remember where both ends are. */
static void keep_path(struct pier_conn *conn, const struct ibv_qp_attr *attr)
{
	const struct pier__side *side = conn->side;
	const struct sockaddr *local = (const void *)&side->id->local;
	struct pier__port port;
	uint32_t i;

	conn->path_mtu = 128u << attr->path_mtu;
	pier__sockaddr_to_gid((const void *)&side->id->peer,
			      conn->path_them.raw);
	pier__sockaddr_to_gid(local, conn->path_us.raw);
	if (!attr->ah_attr.is_global)
		return;
	memcpy(conn->path_them.raw, attr->ah_attr.grh.dgid.raw, 16);
	conn->path_us.index = attr->ah_attr.grh.sgid_index;
	pier__dev_port(conn->qset->dev, &port);
	for (i = 0; i < port.gid_count; i++) {
		if (port.gids[i].index != conn->path_us.index)
			continue;
		memcpy(conn->path_us.raw, port.gids[i].raw, 16);
		conn->path_us.type = (uint8_t)port.gids[i].type;
		conn->housed = true;
	}
}

static int to_rtr(struct pier_conn *conn)
{
	const struct pier_rdma_config *cfg = conn->qset->cfg;
	struct ibv_qp_attr attr;
	int mask, err = ask_attr(conn, IBV_QPS_RTR, &attr, &mask);

	if (err)
		return err;
	attr.rq_psn = (attr.rq_psn + conn->side->heard) & 0xffffff;
	attr.min_rnr_timer = (uint8_t)cfg->min_rnr_timer;
	if (attr.ah_attr.is_global) {
		attr.ah_attr.grh.hop_limit = (uint8_t)cfg->hop_limit;
		if (cfg->traffic_class)
			attr.ah_attr.grh.traffic_class =
				(uint8_t)cfg->traffic_class;
	}
	keep_path(conn, &attr);
	pier__conn_set_transport(conn);
	return modify(conn, &attr, mask);
}

static int to_rts(struct pier_conn *conn)
{
	const struct pier_rdma_config *cfg = conn->qset->cfg;
	struct ibv_qp_attr attr;
	int mask, err = ask_attr(conn, IBV_QPS_RTS, &attr, &mask);

	if (err)
		return err;
	attr.sq_psn = (attr.sq_psn + conn->side->said) & 0xffffff;
	/* the CM's idea of these is seconds of silence */
	attr.timeout = (uint8_t)cfg->ack_timeout;
	attr.retry_cnt = (uint8_t)cfg->retry_count;
	attr.rnr_retry = (uint8_t)cfg->rnr_retry;
	if (attr.max_rd_atomic > cfg->max_rd_atomic)
		attr.max_rd_atomic = (uint8_t)cfg->max_rd_atomic;
	return modify(conn, &attr, mask);
}

int pier__side_qp_ready(struct pier_conn *conn)
{
	int err = to_rtr(conn);

	if (!err)
		err = to_rts(conn);
	if (!err)
		conn->ready = true;
	return err;
}

uint32_t pier__side_packets(const struct pier_conn *conn, size_t len)
{
	return len ? (uint32_t)((len - 1) / conn->path_mtu + 1) : 1;
}

/*
 * What the peer has sent so far, as packets, so that its next one is the one
 * expected: it reads our blob, then says hello.  Whether it has read nobody
 * tells until the hello is there; if so, it has to do it again.
 */
static uint32_t heard(const struct pier_conn *conn)
{
	const struct pier__blob *own = &conn->side->own;

	if (!conn->hello_seen)
		return 0;
	return 1 + (own->mr ? pier__side_packets(conn, own->len) : 0);
}

/*
 * Go on where the peer was, or, every other time, where it is if it had to
 * reset its QP as well: begin with the blob that it had us read.
 */
static void rewind_said(struct pier__side *side)
{
	if (++side->agains % 2 || !side->was_read)
		return;
	side->said = 0;
	side->to_read = side->theirs.len;
}

int pier__side_qp_again(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = modify(conn, &attr, IBV_QP_STATE);

	rewind_said(conn->side);
	conn->side->heard = heard(conn);
	if (!err)
		err = to_init(conn);
	return err ? err : pier__side_qp_ready(conn);
}

void pier__side_is_up(struct pier_conn *conn)
{
	conn->side->established = true;
	pier__blob_drop(conn->qset, &conn->side->own);
}

static uint8_t least(uint32_t a, uint32_t b)
{
	uint32_t n = a < b ? a : b;

	return (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

void pier__side_param(const struct pier_conn *conn,
		      struct pier__cm_param *ret)
{
	const struct pier_rdma_config *cfg = conn->qset->cfg;
	const struct pier__side *side = conn->side;
	uint32_t serve = conn->qset->dev->info.port.limits.rd_atomic;

	ret->qpn = conn->us.qpn;
	ret->responder_resources = least(serve, UINT8_MAX);
	ret->initiator_depth = least(cfg->max_rd_atomic, UINT8_MAX);
	if (!side->active) {
		ret->responder_resources = least(serve, side->wants);
		ret->initiator_depth = least(cfg->max_rd_atomic,
					     side->serves);
	}
	ret->retry_count = (uint8_t)cfg->retry_count;
	ret->rnr_retry = (uint8_t)cfg->rnr_retry;
}

int pier_conn_private_data(struct pier_conn *conn, const void **ret,
			   size_t *ret_len)
{
	if (!conn->side || !conn->side->theirs.mem)
		return pier__fail(-ENOTCONN, "no private data: %s",
				  conn->side ? "nothing was heard of the peer" :
					       "connected by descriptors");
	*ret = conn->side->theirs.mem;
	*ret_len = conn->side->seen;
	return 0;
}

unsigned int pier_conn_reject_reason(const struct pier_conn *conn)
{
	return conn->side ? conn->side->reason : 0;
}

const char *pier_conn_local_address(const struct pier_conn *conn)
{
	return conn->side ? conn->side->local : "";
}

const char *pier_conn_peer_address(const struct pier_conn *conn)
{
	return conn->side ? conn->side->peer : "";
}

int pier_conn_peer_is_pier(const struct pier_conn *conn)
{
	if (!conn->side)
		return conn->them.qpn != 0;
	return conn->side->theirs.mem && !conn->side->foreign;
}
