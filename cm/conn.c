/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pe.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"
#include "mem/mmap_impl.h"

/*
 * How long a destroyed connection's tasks may delay its goodbye: the peer
 * learns of the end by nothing else.
 */
#define DESTROY_DRAIN (100 * PIER__MS)

int pier__conn_create_qp(struct pier_conn *conn)
{
	struct pier__queues *queues = conn->queues;
	const struct pier__queues_config *cfg = queues->cfg;
	struct ibv_qp_cap cap = {
		.max_send_wr = cfg->conn_send_queue + PIER__CTL_WRS,
		.max_send_sge = cfg->send_chain,
		.max_inline_data = cfg->inline_size,
	};
	int err = queues->fab->qp_create(queues->cq, queues->srq, &cap,
					 &conn->qp);

	if (err)
		return err;
	conn->local.qpn = conn->qp->qpn;
	pier__hash_add(&queues->by_qpn, &conn->by_qpn, conn->local.qpn);
	return 0;
}

enum ibv_mtu pier__conn_mtu_code(uint32_t bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && 128u << (code + 1) <= bytes)
		code++;
	return code;
}

void pier__conn_destroy_qp(struct pier_conn *conn)
{
	if (!conn->qp)
		return;
	pier__hash_del(&conn->queues->by_qpn, &conn->by_qpn);
	conn->queues->fab->qp_destroy(conn->qp);
	conn->qp = NULL;
}

int pier__conn_qp_modify(struct pier_conn *conn, struct ibv_qp_attr *attr,
			 int mask)
{
	return conn->queues->fab->qp_modify(conn->qp, attr, mask,
					    conn->remote.udp_port);
}

void pier__conn_qp_error(struct pier_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	pier__conn_qp_modify(conn, &attr, IBV_QP_STATE);
}

int pier__conn_create(struct pier__queues *queues,
		      const struct pier__conn_flow *flow,
		      struct pier_conn **ret)
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
	conn->owner = queues->owner;
	conn->flow = flow;
	conn->reported = PIER_CONN_INIT;
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
	pier__conn_destroy_qp(conn);
	pier__list_del(&conn->hot);
	pier__queues_remove_conn(conn->queues, conn->slot);
	conn->flow->free(conn);
	free(conn);
}

void pier__conn_schedule(struct pier_conn *conn)
{
	if (pier__list_empty(&conn->hot))
		pier__list_add(&conn->queues->scheduler.hot, &conn->hot);
	pier__scheduler_wake(conn->queues);
}

/* What the device has flushed comes before what it has not. */
static void join_flushed(struct pier_conn *conn)
{
	struct pier__posted_queue *flushed = &conn->flushed;

	if (!flushed->first)
		return;
	flushed->last->next = conn->posted.first;
	if (!conn->posted.first)
		conn->posted.last = flushed->last;
	conn->posted.first = flushed->first;
	flushed->first = NULL;
}

void pier__conn_cancel_posted(struct pier_conn *conn)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR,
			     .qp_num = conn->local.qpn };

	while (conn->posted.first && pier__pe_budget(conn->queues->pe) > 0) {
		struct pier__op *op = conn->posted.first->op;

		wc.wr_id = (uintptr_t)op;
		op->done(op, &wc);
	}
	if (!conn->posted.first)
		conn->queues->unended--;
}

void pier__conn_close(struct pier_conn *conn)
{
	struct pier__queues *queues = conn->queues;

	if (conn->ctl_kind != PIER__CTL_NONE)
		queues->ctl_inflight--;
	if (conn->keepalive_ahead)
		queues->ctl_inflight--;
	if (conn->drained_at == PIER__NEVER)
		queues->ctl_inflight--;
	conn->ctl_kind = PIER__CTL_NONE;
	conn->keepalive_ahead = false;
	pier__conn_destroy_qp(conn);
	pier__conn_flush(conn);
	join_flushed(conn);
	if (conn->posted.first)
		queues->unended++;
	pier__queues_remove_conn(queues, conn->slot);
}

void pier__conn_at_end(struct pier_conn *conn, void (*fn)(void *arg), void *arg)
{
	if (conn->at_end)
		conn->at_end(conn->at_end_arg);
	conn->at_end = fn;
	conn->at_end_arg = arg;
}

void pier__conn_retire(struct pier_conn *conn)
{
	pier__list_del(&conn->link);
	pier__list_del(&conn->hot);
	conn->queues = NULL;
	pier__conn_at_end(conn, NULL, NULL);
	if (conn->holds)
		return;
	conn->flow->free(conn);
	free(conn->error_text);
	free(conn);
}

void pier__conn_released(struct pier_conn *conn)
{
	if (!conn->queues)
		pier__conn_retire(conn);
}

bool pier__conn_rnr(const struct pier_conn *conn)
{
	const struct pier__fabric_qp *fab;

	if (!conn->queues || !conn->qp || !conn->posted.first)
		return false;
	fab = conn->queues->fab;
	return fab->rnr && fab->rnr(conn->qp);
}

/* Of a connection whose context is not idle. */
static void destroy(struct pier_conn *conn)
{
	uint64_t most;

	conn->destroyed = true;
	conn->state_changed = NULL;
	if (conn->posted.first && conn->flow->has_disconnect) {
		pier_conn_abort(conn);
		return;
	}
	pier__conn_end(conn);
	most = pier__now() + DESTROY_DRAIN;
	if (conn->posted.first && conn->deadline > most)
		conn->deadline = most;
	pier__conn_schedule(conn);
}

void pier_conn_destroy(struct pier_conn *conn)
{
	struct pier__guard *guard;

	if (!conn || conn->destroyed)
		return;
	if (!conn->queues) {
		conn->destroyed = true;
		pier__conn_retire(conn);
		return;
	}
	guard = pier__ctx_guard(conn->owner->ctx);
	if (pier__guard_enter(guard, "pier_conn_destroy"))
		return;
	destroy(conn);
	pier__guard_leave(guard);
}

/* What a connection that is not established yet waits for. */
static const char *missing(const struct pier_conn *conn)
{
	if (conn->state == PIER__CONN_CREATED)
		return "it has no descriptor of the peer yet";
	return conn->hello_acked ? "the peer never sent hello" :
				   "the peer does not answer";
}

/* The caller holds @conn, as a callback may destroy it. */
static int wait_for(struct pier_conn *conn, int timeout_ms)
{
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	bool begun = pier_conn_state(conn) == PIER_CONN_INIT;
	int err = 0;

	while (pier_conn_state(conn) == PIER_CONN_INIT) {
		uint64_t now = pier__now();

		if (now >= deadline)
			return pier__fail(-ETIMEDOUT, "not connected after %d "
					  "ms: %s", timeout_ms, missing(conn));
		err = pier_pe_wait(conn->queues->pe,
				   pier__ms_left(now, deadline));
		if (err == -EBUSY)
			return err;
	}
	/* the peer may have finished and disconnected already */
	if (pier_conn_state(conn) == PIER_CONN_CONNECTED ||
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

	if (!conn)
		return pier__no_object(__func__);
	pier__conn_hold(conn);
	err = wait_for(conn, timeout_ms);
	pier__conn_drop(conn);
	return err;
}

static int foreign_mmap(const struct pier_conn *conn,
			const struct pier_mmap *mmap)
{
	char devs[PIER__MMAP_DEVS_TEXT], id[PIER__DEV_ID_TEXT];

	return pier__fail(-ESTALE, "the remote mmap was exported for %s, but "
			  "the peer of this connection of %s has device %s: "
			  "its descriptor is another peer's or from an earlier "
			  "run", pier__mmap_devs(mmap, devs),
			  conn->queues->dev->info.port.name,
			  pier__dev_id_text(conn->remote.dev_id, id));
}

/* The last rkey found is cached: most programs use one remote mmap. */
int pier__conn_rkey(struct pier_conn *conn, const struct pier_mmap *mmap,
		    uint32_t *ret)
{
	if (mmap->serial != conn->rkey_serial) {
		if (mmap->origin)
			return pier__fail(-EINVAL, "the remote mmap is that of "
					  "an export: for tasks of DMA "
					  "contexts only");
		if (!pier__mmap_rkey(mmap, conn->remote.dev_id, &conn->rkey)) {
			conn->rkey_serial = 0;
			return foreign_mmap(conn, mmap);
		}
		conn->rkey_serial = mmap->serial;
	}
	*ret = conn->rkey;
	return 0;
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
	if (!conn)
		return pier__no_object(__func__);
	return conn->error;
}

const char *pier_conn_error_text(const struct pier_conn *conn)
{
	if (!conn)
		return "";
	return conn->error_text ? conn->error_text : "";
}

void pier_conn_set_state_changed(struct pier_conn *conn, pier_conn_state_fn *fn)
{
	if (!conn)
		return;
	conn->state_changed = fn;
}

void pier_conn_set_user_data(struct pier_conn *conn, void *user_data)
{
	if (!conn)
		return;
	conn->user_data = user_data;
}

void *pier_conn_user_data(const struct pier_conn *conn)
{
	if (!conn)
		return NULL;
	return conn->user_data;
}

int pier_conn_path(const struct pier_conn *conn, struct pier_conn_path *ret)
{
	if (!conn)
		return pier__no_object(__func__);
	if (!conn->remote.qpn)
		return pier__fail(-ENOTCONN, "the peer is not known yet");
	memcpy(ret->local_gid, conn->local_gid.raw, 16);
	memcpy(ret->peer_gid, conn->remote_gid.raw, 16);
	ret->local_qpn = conn->local.qpn;
	ret->peer_qpn = conn->remote.qpn;
	ret->mtu = conn->path_mtu;
	ret->gid_index = conn->local_gid.index;
	return 0;
}

void pier__conn_set_transport(struct pier_conn *conn)
{
	const struct pier__port *port = &conn->queues->dev->info.port;

	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND)
		conn->transport = PIER_TRANSPORT_IB;
	else if (conn->local_gid.type == PIER_GID_ROCE_V1)
		conn->transport = PIER_TRANSPORT_ROCE_V1;
	else
		conn->transport = PIER_TRANSPORT_ROCE_V2;
}

enum pier_transport pier_conn_transport(const struct pier_conn *conn)
{
	if (!conn)
		return PIER_TRANSPORT_NONE;
	return conn->transport;
}

const char *pier_transport_name(enum pier_transport transport)
{
	static const char *const names[] = {
		[PIER_TRANSPORT_NONE] = "none",
		[PIER_TRANSPORT_IB] = "InfiniBand",
		[PIER_TRANSPORT_ROCE_V1] = "RoCE v1",
		[PIER_TRANSPORT_ROCE_V2] = "RoCE v2",
	};

	return (unsigned int)transport <= PIER_TRANSPORT_ROCE_V2 ?
		       names[transport] : "unknown";
}
