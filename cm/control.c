/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "cm/conn_impl.h"
#include "core/clock.h"

/*
 * pier's own requests: hello and goodbye are 8-byte writes into the peer's
 * control words, the keepalive is a write of nothing, the marker is a write of
 * nothing behind everything else on a QP in error.
 */

static struct pier__ctl *ctl_of(const struct pier_conn *conn)
{
	return &conn->queues->ctl[conn->slot];
}

bool pier__conn_hello_seen(const struct pier_conn *conn)
{
	return atomic_load_explicit(&ctl_of(conn)->hello,
				    memory_order_acquire) == conn->local.nonce;
}

bool pier__conn_goodbye_seen(const struct pier_conn *conn)
{
	return atomic_load_explicit(&ctl_of(conn)->goodbye,
				    memory_order_acquire) == ~conn->local.nonce;
}

static void control_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier_conn *conn =
		pier__container_of(op, struct pier_conn, ctl_op);
	enum pier__ctl_kind kind = conn->ctl_kind;

	conn->queues->ctl_inflight--;
	if (conn->keepalive_ahead) {	/* the goodbye's result counts */
		conn->keepalive_ahead = false;
		conn->unacked += wc->status != IBV_WC_SUCCESS;
		return;
	}
	conn->ctl_kind = PIER__CTL_NONE;
	if (wc->status != IBV_WC_SUCCESS)
		conn->unacked++;
	else if (kind == PIER__CTL_GOODBYE)
		conn->goodbye_acked = true;
	if (kind == PIER__CTL_HELLO && wc->status == IBV_WC_SUCCESS)
		conn->hello_acked = true;
	else if (kind == PIER__CTL_HELLO && !pier__conn_recover(conn, wc))
		pier__conn_failed(conn, "hello", wc);
	else if (kind == PIER__CTL_KEEPALIVE && wc->status != IBV_WC_SUCCESS)
		pier__conn_failed(conn, "keepalive", wc);
	pier__conn_schedule(conn);
}

static void marker_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier_conn *conn =
		pier__container_of(op, struct pier_conn, marker);

	(void)wc;
	conn->unacked++;
	conn->queues->ctl_inflight--;
	conn->drained_at = conn->queues->polled + conn->queues->cqe;
	pier__conn_schedule(conn);
}

void pier__conn_control_init(struct pier_conn *conn)
{
	conn->ctl_op.done = control_done;
	conn->marker.done = marker_done;
}

static int post(struct pier_conn *conn, struct ibv_send_wr *wr)
{
	struct pier__queues *queues = conn->queues;
	struct ibv_send_wr *bad;
	int err;

	if (queues->ctl_inflight >= queues->ctl_max)
		return -EAGAIN;
	err = queues->fab->post(conn->qp, wr, &bad);
	if (!err)
		queues->ctl_inflight++;
	return err;
}

/* The acknowledgement of a keepalive may be lost: a goodbye does not wait. */
static bool goes_behind(const struct pier_conn *conn, enum pier__ctl_kind kind)
{
	return kind == PIER__CTL_GOODBYE &&
	       conn->ctl_kind == PIER__CTL_KEEPALIVE;
}

int pier__conn_control_post(struct pier_conn *conn, enum pier__ctl_kind kind,
			    struct ibv_send_wr *wr)
{
	bool behind = goes_behind(conn, kind);
	int err = -EAGAIN;

	if (behind || conn->ctl_kind == PIER__CTL_NONE)
		err = post(conn, wr);
	if (err)
		return err;
	conn->keepalive_ahead = behind;
	conn->ctl_kind = kind;
	return 0;
}

int pier__conn_control(struct pier_conn *conn, enum pier__ctl_kind kind)
{
	struct pier__ctl *ctl = ctl_of(conn);
	struct ibv_sge sge = {
		.addr = (uintptr_t)&ctl->word,
		.length = sizeof(ctl->word),
		.lkey = conn->queues->ctl_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&conn->ctl_op,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = conn->remote.ctl_addr,
		.wr.rdma.rkey = conn->remote.ctl_rkey,
	};

	if (!conn->remote.nonce)
		return -EOPNOTSUPP;	/* no pier, no control words */
	if (conn->ctl_kind != PIER__CTL_NONE && !goes_behind(conn, kind))
		return -EAGAIN;
	if (kind != PIER__CTL_KEEPALIVE) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	if (kind == PIER__CTL_GOODBYE)
		wr.wr.rdma.remote_addr += offsetof(struct pier__ctl, goodbye);
	ctl->word = kind == PIER__CTL_HELLO ? conn->remote.nonce :
					      ~conn->remote.nonce;

	/* else the peer's last messages would never be acknowledged */
	if (kind == PIER__CTL_GOODBYE && conn->queues->fab->acknowledge)
		conn->queues->fab->acknowledge(conn->qp);
	return pier__conn_control_post(conn, kind, &wr);
}

int pier__conn_mark(struct pier_conn *conn)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&conn->marker,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = conn->remote.ctl_addr,
		.wr.rdma.rkey = conn->remote.ctl_rkey,
	};
	int err = post(conn, &wr);

	if (!err)
		conn->drained_at = PIER__NEVER;
	return err;
}
