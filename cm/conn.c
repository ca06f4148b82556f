/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>
#include <pier/mmap.h>
#include <pier/pe.h>

#include "cm/conn_impl.h"
#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/random.h"
#include "mem/mmap_impl.h"

#define CTL_WR 2	/* of pier's own on each send queue */

int pier__conn_create_qp(struct pier_conn *conn)
{
	struct pier__queues *queues = conn->queues;
	const struct pier__queues_config *cfg = queues->cfg;
	struct ibv_qp_cap cap = {
		.max_send_wr = cfg->conn_send_queue + CTL_WR,
		.max_send_sge = cfg->send_chain,
		.max_inline_data = cfg->inline_size,
	};
	int err = queues->fab->qp_create(queues->cq, queues->srq, &cap,
					 &conn->qp);

	if (err)
		return err;
	conn->local.qpn = conn->qp->qpn;
	pier__queues_map_qpn(queues, conn);
	return 0;
}

/* What we tell the peer; the QP exists. */
static int describe(struct pier_conn *conn, int gid_index, uint32_t valid_s)
{
	struct pier__queues *queues = conn->queues;
	const struct pier__queues_config *cfg = queues->cfg;
	struct pier__end *local = &conn->local;
	struct pier__port port;
	int n, err;

	/* no event tells of another MTU on verbs */
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

int pier__conn_allowed(const struct pier_dev *dev)
{
	if (!dev->info.port.limits.by_address)
		return 0;
	return pier__fail(-EOPNOTSUPP, "%s is an iWARP device: pier connects "
			  "as InfiniBand and RoCE do", dev->info.port.name);
}

int pier__conn_create(struct pier__queues *queues, struct pier_conn **ret)
{
	struct pier_conn *conn;
	int err;

	pier__dev_events(queues->dev);
	err = pier__dev_alive(queues->dev);
	if (err)
		return err;
	if (queues->error)
		return pier__fail(queues->error, "%s no longer works: destroy "
				  "the context", queues->dev->info.port.name);
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return pier__fail(-ENOMEM, "connection: no memory");
	conn->queues = queues;
	conn->rdma = queues->rdma;
	conn->state = conn->reported = PIER_CONN_INIT;
	conn->send_credits = queues->cfg->conn_send_queue;
	pier__list_init(&conn->pending);
	pier__list_init(&conn->hot);
	conn->due = PIER__NEVER;
	pier__conn_control_init(conn);
	err = pier__queues_add_conn(queues, conn, &conn->slot);
	if (err) {
		free(conn);
		return err;
	}
	*ret = conn;
	return 0;
}

void pier__conn_uncreate(struct pier_conn *conn)
{
	if (conn->qp) {
		pier__queues_unmap_qpn(conn->queues, conn->local.qpn);
		conn->queues->fab->qp_destroy(conn->qp);
	}
	pier__list_del(&conn->hot);
	pier__queues_remove_conn(conn->queues, conn->slot);
	free(conn->desc);
	free(conn);
}

int pier__conn_export(struct pier__queues *queues, int gid_index,
		      uint32_t valid_s, struct pier_conn **ret)
{
	struct pier_conn *conn;
	int err = pier__conn_allowed(queues->dev);

	if (!err)
		err = pier__conn_create(queues, &conn);
	if (err)
		return err;
	err = pier__conn_create_qp(conn);
	if (!err)
		err = pier__conn_qp_init(conn);
	if (!err)
		err = describe(conn, gid_index, valid_s);
	if (!err)
		err = keep_desc(conn);
	if (err) {
		pier__conn_uncreate(conn);
		return err;
	}
	pier__list_add(queues->conns, &conn->link);
	*ret = conn;
	return 0;
}

/* Is what the peer tells something we can meet?  Fills the path in. */
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
	return conn->queues && conn->phase == PIER__CONN_HELLO && !conn->cm &&
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

	if ((conn->phase != PIER__CONN_EXPORTED && !again) ||
	    conn->destroyed || !conn->queues)
		return pier__fail(-EISCONN, "connected twice: this connection "
				  "is in state %s",
				  pier_conn_state_name(conn->state));
	err = pier__end_decode(desc, len, &remote);
	if (!err)
		err = match(conn, &remote);
	if (!err)
		err = again ? pier__conn_qp_reset(conn) :
			      pier__conn_qp_ready(conn);
	if (err)
		return err;

	conn->phase = PIER__CONN_HELLO;
	conn->next_try = now;
	conn->deadline = now + timeout_ms * PIER__MS;
	pier__conn_schedule(conn);
	return 0;
}

int pier_rdma_connect(struct pier_conn *conn, const void *desc, size_t len)
{
	if (conn->phase != PIER__CONN_EXPORTED || !conn->queues)
		return pier__fail(-EISCONN, "connected twice: this connection "
				  "is in state %s",
				  pier_conn_state_name(conn->state));
	return pier__conn_connect(conn, desc, len,
				  conn->queues->cfg->connect_timeout_ms);
}

void pier__conn_schedule(struct pier_conn *conn)
{
	if (pier__list_empty(&conn->hot))
		pier__list_add(&conn->queues->hot, &conn->hot);
	pier__queues_schedule(conn->queues);
}

/* Complete as cancelled what a device has kept to itself. */
static void cancel_posted(struct pier_conn *conn)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR,
			     .qp_num = conn->local.qpn };

	pier__conn_flush(conn);
	while (conn->posted.first) {
		struct pier__op *op = conn->posted.first->op;

		wc.wr_id = (uintptr_t)op;
		op->done(op, &wc);
	}
}

void pier__conn_close(struct pier_conn *conn)
{
	struct pier__queues *queues = conn->queues;

	if (conn->ctl_kind != PIER__CTL_NONE)
		queues->ctl_inflight--;
	if (conn->marker_posted && !conn->marker_done)
		queues->ctl_inflight--;
	conn->ctl_kind = PIER__CTL_NONE;
	if (conn->qp) {
		queues->fab->qp_destroy(conn->qp);
		conn->qp = NULL;
		cancel_posted(conn);
		pier__queues_unmap_qpn(queues, conn->local.qpn);
	}
	if (conn->cm)
		pier__rdmacm_conn_close(conn);
	pier__queues_remove_conn(queues, conn->slot);
	conn->phase = PIER__CONN_CLOSED;
	if (conn->state != PIER_CONN_ERROR)
		conn->state = PIER_CONN_RESET;
}

void pier__conn_end(struct pier_conn *conn)
{
	uint64_t now;

	if (conn->phase >= PIER__CONN_GOODBYE)
		return;
	now = pier__now();
	if (conn->phase == PIER__CONN_UP ||
	    conn->phase == PIER__CONN_DRAINING) {
		conn->phase = PIER__CONN_DRAINING;
		conn->deadline = now;	/* goodbye behind what is in flight */
		if (pier__conn_control(conn, PIER__CTL_GOODBYE) == 0) {
			conn->phase = PIER__CONN_GOODBYE;
			conn->deadline =
				now + conn->queues->cfg->drain_ms * PIER__MS;
		}
		return;
	}
	conn->phase = PIER__CONN_FLUSHING;
	conn->deadline = now + conn->queues->cfg->drain_ms * PIER__MS;
	if (conn->ready)
		pier__conn_qp_error(conn);
}

int pier_conn_disconnect(struct pier_conn *conn)
{
	if (!conn || !conn->queues)
		return 0;
	if (conn->phase == PIER__CONN_UP) {
		conn->phase = PIER__CONN_DRAINING;
		conn->deadline = pier__now() +
				 conn->queues->cfg->drain_ms * PIER__MS;
	} else if (conn->phase < PIER__CONN_UP) {
		pier__conn_end(conn);
	}
	pier__conn_schedule(conn);
	return 0;
}

int pier_conn_abort(struct pier_conn *conn)
{
	if (!conn || !conn->queues || conn->phase >= PIER__CONN_FLUSHING)
		return 0;
	pier__conn_flush(conn);		/* to be cancelled like the rest */
	pier__conn_abort(conn);
	pier__conn_schedule(conn);
	return 0;
}

bool pier__conn_was_connected(const struct pier_conn *conn)
{
	return conn->was_connected && conn->state != PIER_CONN_ERROR;
}

/* What a connection that is not there yet waits for. */
static const char *missing(const struct pier_conn *conn)
{
	if (!conn->cm && !conn->remote.qpn)
		return "it was not given the peer's descriptor, as "
		       "pier_rdma_connect() does";
	return conn->hello_acked ? "the peer never said hello" :
				   "the peer does not answer";
}

/* Held meanwhile: a callback may destroy it. */
static int wait_for(struct pier_conn *conn, int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	bool begun = conn->state == PIER_CONN_INIT;
	int err = 0;

	while (conn->state == PIER_CONN_INIT) {
		uint64_t now = pier__now();

		if (now >= deadline)
			return pier__fail(-ETIMEDOUT, "not connected after %d "
					  "ms: %s", timeout_ms,
					  missing(conn));
		err = pier_pe_wait(conn->queues->pe,
				   pier__ms_left(now, deadline));
		if (err == -EBUSY)
			return err;
	}
	/* a quick peer may have done what it came for, and left */
	if (conn->state == PIER_CONN_CONNECTED ||
	    (begun && pier__conn_was_connected(conn)))
		return 0;
	if (conn->error)
		return pier__fail_again(conn->error,
					pier_conn_error_text(conn));
	return pier__fail(-ENOTCONN, "the connection has ended");
}

int pier_conn_wait(struct pier_conn *conn, int timeout_ms)
{
	int err;

	pier__conn_hold(conn);
	err = wait_for(conn, timeout_ms);
	pier__conn_drop(conn);
	return err;
}

/* Register key lookups are cached: most programs use one remote mmap. */
int pier__conn_rkey(struct pier_conn *conn, const struct pier_mmap *mmap,
		    uint32_t *ret)
{
	if (mmap->serial != conn->rkey_serial) {
		if (!pier__mmap_rkey(mmap, conn->remote.dev_id, &conn->rkey)) {
			conn->rkey_serial = 0;
			return pier__fail(-ESTALE, "the remote mmap has no key "
					  "for this peer's device: its "
					  "descriptor is another peer's or "
					  "from an earlier run");
		}
		conn->rkey_serial = mmap->serial;
	}
	*ret = conn->rkey;
	return 0;
}

enum pier_conn_state pier_conn_state(const struct pier_conn *conn)
{
	return conn->state;
}

const char *pier_conn_state_name(enum pier_conn_state state)
{
	static const char *const names[] = {
		[PIER_CONN_RESET] = "reset",
		[PIER_CONN_INIT] = "init",
		[PIER_CONN_CONNECTED] = "connected",
		[PIER_CONN_ERROR] = "error",
	};

	return (unsigned int)state <= PIER_CONN_ERROR ? names[state] :
							"unknown";
}

int pier_conn_error(const struct pier_conn *conn)
{
	return conn->error;
}

const char *pier_conn_error_text(const struct pier_conn *conn)
{
	return conn->error_text ? conn->error_text : "";
}

void pier_conn_set_state_changed(struct pier_conn *conn,
				 pier_conn_state_fn *fn)
{
	conn->state_changed = fn;
}

void pier_conn_set_user_data(struct pier_conn *conn, void *user_data)
{
	conn->user_data = user_data;
}

void *pier_conn_user_data(const struct pier_conn *conn)
{
	return conn->user_data;
}

struct pier_rdma *pier_conn_rdma(const struct pier_conn *conn)
{
	return conn->rdma;
}

int pier_conn_path(const struct pier_conn *conn, struct pier_conn_path *ret)
{
	if (!conn->remote.qpn)
		return pier__fail(-ENOTCONN, "nothing is known of the peer");
	memcpy(ret->local_gid, conn->local_gid.raw, 16);
	memcpy(ret->peer_gid, conn->remote_gid.raw, 16);
	ret->local_qpn = conn->local.qpn;
	ret->peer_qpn = conn->remote.qpn;
	ret->mtu = conn->path_mtu;
	ret->gid_index = conn->local_gid.index;
	return 0;
}
