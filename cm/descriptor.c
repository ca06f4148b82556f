/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"

/*
 * Connections by descriptor: each end writes down what the other needs, the
 * program carries it, and a hello in both directions makes them connected.
 */
#define HELLO_LOOK (PIER__MS)		/* how often to check for the hello */

static int qp_init(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = conn->queues->cfg->pkey_index,
		.port_num = (uint8_t)conn->queues->dev->info.port.port,
		.qp_access_flags = PIER__QP_ACCESS,
	};

	return pier__conn_qp_modify(conn, &attr, IBV_QP_STATE |
				    IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS);
}

static void address(const struct pier_conn *conn, bool grh,
		    struct ibv_ah_attr *ret)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	struct pier__av av = {
		.link_layer = conn->local.link_layer,
		.grh = grh,
		.port = (uint8_t)conn->queues->dev->info.port.port,
		.service_level = cfg->service_level,
		.traffic_class = cfg->traffic_class,
		.hop_limit = cfg->hop_limit,
		.sgid_index = (uint8_t)conn->local_gid.index,
		.dlid = conn->remote.lid,
	};

	for (int i = 0; i < 16; i++) {
		av.sgid[i] = conn->local_gid.raw[i];
		av.dgid[i] = conn->remote_gid.raw[i];
	}
	pier__av_build(&av, ret);
}

static int to_rtr(struct pier_conn *conn, uint32_t psn)
{
	const struct pier__limits *limits =
		&conn->queues->dev->info.port.limits;
	struct pier__port port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = pier__conn_mtu_code(conn->path_mtu),
		.dest_qp_num = conn->remote.qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = (uint8_t)limits->rd_atomic,
		.min_rnr_timer = conn->queues->cfg->min_rnr_timer,
	};

	pier__dev_port(conn->queues->dev, &port);
	if (!pier__gid_find(&port, &conn->local_gid, &conn->local_gid.index))
		return pier__conn_gid_lost(conn);
	conn->gid_lost_at = PIER__NEVER;
	pier__conn_set_transport(conn);
	address(conn, port.grh, &attr.ah_attr);
	return pier__conn_qp_modify(conn, &attr, IBV_QP_STATE | IBV_QP_AV |
				    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct pier_conn *conn, uint32_t psn)
{
	const struct pier__queues_config *cfg = conn->queues->cfg;
	uint32_t depth = cfg->max_rd_atomic;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = cfg->ack_timeout,
		.retry_cnt = cfg->retry_count,
		.rnr_retry = cfg->rnr_retry,
	};

	if (depth > conn->remote.rd_atomic)
		depth = conn->remote.rd_atomic;
	attr.max_rd_atomic = (uint8_t)depth;
	return pier__conn_qp_modify(conn, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC);
}

static int to_ready(struct pier_conn *conn, const struct pier__psns *psns)
{
	int err = to_rtr(conn, psns->rq);

	return err ? err : to_rts(conn, psns->sq);
}

static int qp_ready(struct pier_conn *conn)
{
	struct pier__psns psns = {
		/* a hello that was taken before is one packet */
		.rq = (conn->remote.psn + conn->hello_seen) & 0xffffff,
		.sq = conn->local.psn,
	};

	return to_ready(conn, &psns);
}

static int to_init(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = pier__conn_qp_modify(conn, &attr, IBV_QP_STATE);

	return err ? err : qp_init(conn);
}

static int qp_reset(struct pier_conn *conn)
{
	int err = to_init(conn);

	return err ? err : qp_ready(conn);
}

static int qp_resume(struct pier_conn *conn)
{
	struct pier__psns psns;
	int err = conn->queues->fab->psns(conn->qp, conn->unacked, &psns);

	if (!err)
		err = to_init(conn);
	return err ? err : to_ready(conn, &psns);
}

int pier__conn_no_hello(const struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN], reason[128];

	pier__conn_port_fault(conn, reason, sizeof(reason));
	return pier__fail(-PIER_ENOHELLO, "no hello from %s QPN 0x%06x: %s%s",
			  pier__gid_text(conn->remote_gid.raw, gid),
			  conn->remote.qpn,
			  conn->hello_acked ?
				  "it acknowledged ours but never sent its "
				  "own" :
				  "it does not answer: has it ended, or is its "
				  "descriptor from an earlier run?", reason);
}

static uint64_t step_hello(struct pier_conn *conn, uint64_t now)
{
	conn->hello_seen = conn->hello_seen || pier__conn_hello_seen(conn);
	if (conn->hello_seen && pier__conn_goodbye_seen(conn))
		conn->hello_acked = true;	/* it was connected */
	if (conn->hello_acked && conn->hello_seen) {
		pier__conn_transition(conn, PIER__CONN_UP);
		return now;
	}
	if (now >= conn->deadline) {
		pier__conn_fail(conn, pier__conn_no_hello(conn));
		return now;
	}
	if (!conn->hello_acked && now >= conn->next_try &&
	    conn->ctl_kind == PIER__CTL_NONE) {
		int err = pier__conn_control(conn, PIER__CTL_HELLO);

		if (err && err != -EAGAIN)
			pier__conn_fail(conn, err);
	}
	return now + HELLO_LOOK;
}

/* A connection without a hello of its own answers the peer's. */
static bool step_up(struct pier_conn *conn)
{
	int err = 0;

	conn->hello_seen = conn->hello_seen || pier__conn_hello_seen(conn);
	if (conn->hello_seen && !conn->hello_acked)
		err = pier__conn_control(conn, PIER__CTL_HELLO);
	if (err && err != -EAGAIN)
		pier__conn_fail(conn, err);
	return !err && (conn->hello_seen || conn->completed);
}

static void free_desc(struct pier_conn *conn)
{
	free(conn->desc);
}

static const struct pier__conn_flow by_descriptor = {
	.step = step_hello,
	.step_up = step_up,
	.attempt_failed = pier__conn_fail,
	.qp_reset = qp_reset,
	.qp_resume = qp_resume,
	.free = free_desc,
};

/* Fill in what the peer needs to connect; the QP exists. */
static int describe(struct pier_conn *conn, int gid_index, uint32_t valid_s)
{
	struct pier__queues *queues = conn->queues;
	const struct pier__queues_config *cfg = queues->cfg;
	struct pier__end *local = &conn->local;
	struct pier__port port;
	int n, err;

	/* verbs has no event for a change of the MTU */
	err = pier__dev_now(queues->dev, &port);
	if (err)
		return err == -ENODEV ? pier__dev_alive(queues->dev) : err;
	if (!port.active)
		return pier__fail(-ENETDOWN, "%s port %u is down: bring %s up",
				  port.name, port.port,
				  port.netdev[0] ? port.netdev : "its link");
	n = pier__gid_offers(&port, gid_index, local->gids);
	if (n < 0)
		return n;
	local->gid_count = (unsigned int)n;
	local->created = pier__wall_seconds();
	local->valid = valid_s;
	local->nonce = pier__random64() | 1;
	memcpy(local->dev_id, queues->dev->id, sizeof(local->dev_id));
	local->psn = pier__random_id(0xffffff);
	local->link_layer = port.link_layer;
	local->lid = port.lid;
	local->mtu = 128u << port.mtu;
	if (cfg->mtu && cfg->mtu < local->mtu)
		local->mtu = cfg->mtu;
	local->udp_port = queues->chan->udp_port;
	local->ctl_addr = (uintptr_t)&queues->ctl[conn->slot];
	local->ctl_rkey = queues->ctl_mr->rkey;
	local->access = cfg->access;
	local->rd_atomic = port.limits.rd_atomic;
	local->message = port.limits.message;
	return 0;
}

static int keep_desc(struct pier_conn *conn)
{
	uint8_t buf[PIER_DESC_MAX];
	int len = pier__end_encode(&conn->local, buf, sizeof(buf));

	if (len < 0)
		return len;
	conn->desc = malloc((size_t)len);
	if (!conn->desc)
		return pier__fail(-ENOMEM, "connection: no memory");
	memcpy(conn->desc, buf, (size_t)len);
	conn->desc_len = (size_t)len;
	return 0;
}

int pier__conn_export(struct pier__queues *queues, int gid_index,
		      uint32_t valid_s, struct pier_conn **ret)
{
	struct pier_conn *conn;
	int err = pier__devinfo_connects(&queues->dev->info);

	if (!err)
		err = pier__conn_create(queues, &by_descriptor, &conn);
	if (err)
		return err;
	err = pier__conn_create_qp(conn);
	if (!err)
		err = qp_init(conn);
	if (!err)
		err = describe(conn, gid_index, valid_s);
	if (!err)
		err = keep_desc(conn);
	if (err) {
		pier__conn_uncreate(conn);
		return err;
	}
	pier__list_add(&queues->owner->conns, &conn->link);
	*ret = conn;
	return 0;
}

/* Can this end connect to the described peer?  Fills the path in. */
static int match(struct pier_conn *conn, const struct pier__end *remote)
{
	const struct pier__end *local = &conn->local;
	unsigned int i, j;
	int err;

	if (remote->nonce == local->nonce)
		return pier__fail(-EINVAL, "the descriptor is this end's own: "
				  "are the local and the remote path the same, "
				  "or swapped?");
	if (remote->link_layer != local->link_layer)
		return pier__fail(-EPROTOTYPE, "the peer's link layer is %u, "
				  "ours %u (1 InfiniBand, 2 Ethernet)",
				  remote->link_layer, local->link_layer);
	err = pier__gid_choose(local->gids, local->gid_count, remote->gids,
			       remote->gid_count, &i, &j);
	if (err)
		return err;
	conn->remote = *remote;
	conn->local_gid = local->gids[i];
	conn->remote_gid = remote->gids[j];
	conn->path_mtu = local->mtu < remote->mtu ? local->mtu : remote->mtu;
	return 0;
}

bool pier__conn_may_retarget(const struct pier_conn *conn)
{
	return conn->queues && conn->state == PIER__CONN_HELLO &&
	       conn->flow == &by_descriptor &&
	       !conn->hello_acked && !conn->hello_seen &&
	       !pier__conn_hello_seen(conn) &&
	       conn->ctl_kind == PIER__CTL_NONE;
}

int pier__conn_connect(struct pier_conn *conn, const void *desc, size_t len,
		       uint32_t timeout_ms)
{
	bool again = pier__conn_may_retarget(conn);
	uint64_t now = pier__now();
	struct pier__end remote;
	int err;

	if ((conn->state != PIER__CONN_CREATED && !again) ||
	    conn->destroyed || !conn->queues)
		return pier__fail(-EISCONN, "connected twice: this connection "
				  "is in state %s",
				  pier_conn_state_name(pier_conn_state(conn)));
	err = pier__end_decode(desc, len, &remote);
	if (!err)
		err = match(conn, &remote);
	if (!err)
		err = again ? qp_reset(conn) :
			      qp_ready(conn);
	if (err)
		return err;

	if (conn->queues->cfg->no_hello) {
		conn->reported = PIER_CONN_CONNECTED;
		pier__conn_transition(conn, PIER__CONN_UP);
		return 0;
	}
	conn->next_try = now;
	conn->deadline = now + timeout_ms * PIER__MS;
	pier__conn_transition(conn, PIER__CONN_HELLO);
	return 0;
}
