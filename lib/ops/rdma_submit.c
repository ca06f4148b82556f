/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "cm/post.h"
#include "core/fail.h"
#include "ops/local_buf.h"
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

static struct pier__rdma_task *rdma_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__rdma_task, task);
}

/* Is @buf as it was when the work request was built? */
static inline bool same(const struct pier__rdma_built *built,
			const struct pier_buf *buf)
{
	return built->stamp == buf->stamp && built->data_len == buf->data_len;
}

/*
 * What follows is compiled for the two kinds of task apart: a copy has a
 * source and a destination, all others (@copies is false) have no destination
 * and may have no source.  Buffers stay as long as the request that uses them.
 */

static inline bool has_src(const struct pier__rdma_task *t, bool copies)
{
	return copies || t->src;
}

static inline bool built(const struct pier__rdma_task *t, bool copies)
{
	return (!has_src(t, copies) || same(&t->src_built, t->src)) &&
	       (!copies || same(&t->dst_built, t->dst));
}

/* Its work request has been posted. */
static inline int __attribute__((always_inline))
in_flight(struct pier__rdma_task *t, bool copies)
{
	if (has_src(t, copies))
		t->src->refs++;
	if (copies)
		t->dst->refs++;
	pier__task_submitted(&t->task);
	return 0;
}

static int __attribute__((noinline)) chain_first(struct pier__rdma_task *t)
{
	pier__conn_chain_first(t->task.conn, &t->posted, &t->wr.send);
	return in_flight(t, t->dst);
}

static int __attribute__((noinline)) chain_last(struct pier_conn *conn)
{
	pier__conn_flush(conn);
	return 0;
}

/* Post one task that is not part of a chain. */
static inline int __attribute__((always_inline))
post_alone(struct pier__rdma_task *t, bool copies)
{
	int err = pier__conn_post(t->task.conn, &t->wr.send);

	if (err)
		return err;
	pier__conn_posted(t->task.conn, &t->posted);
	return in_flight(t, copies);
}

static int __attribute__((noinline)) post_send(struct pier__rdma_task *t)
{
	return post_alone(t, false);
}

static int __attribute__((noinline)) post_copy(struct pier__rdma_task *t)
{
	return post_alone(t, true);
}

/* The work request is built, and the queue has space for it. */
static inline int __attribute__((always_inline))
post(struct pier__rdma_task *t, unsigned int flags, bool copies)
{
	struct pier_conn *conn = t->task.conn;

	if (pier__conn_chained(conn)) {
		pier__conn_chain(conn, &t->posted, &t->wr.send);
		in_flight(t, copies);
		return flags ? 0 : chain_last(conn);
	}
	if (flags)
		return chain_first(t);
	return copies ? post_copy(t) : post_send(t);
}

/* A connection that is still CONNECTED here is being closed. */
static int not_up(struct pier__rdma_task *t)
{
	enum pier_conn_state state = pier_conn_state(t->task.conn);

	if (state == PIER_CONN_CONNECTED)
		return pier__fail(-ENOTCONN, "%s: the connection is being "
				  "closed", pier__rdma_name(t));
	return pier__fail(-ENOTCONN, "%s: the connection is in state %s",
			  pier__rdma_name(t), pier_conn_state_name(state));
}

/*
 * -EAGAIN: as many tasks as the option @limit allows @where are in flight.
 * Nothing has failed, and busy programs see it often: it is not logged.
 */
static int __attribute__((noinline, cold))
full(const struct pier__rdma_task *t, const char *where, const char *limit,
     uint32_t most)
{
	char text[160];

	if (t->task.trying)
		return -EAGAIN;
	snprintf(text, sizeof(text), "%s: %u %s, as many as %s allows: "
		 "progress first", pier__rdma_name(t), most, where, limit);
	return pier__fail_again(-EAGAIN, text);
}

static int __attribute__((noinline, cold))
full_send(const struct pier__rdma_task *t)
{
	const struct pier_conn *conn = t->task.conn;
	const struct pier__queues_config *cfg = conn->queues->cfg;

	if (!conn->send_credits)
		return full(t, "in flight on this connection",
			    "conn_send_queue", cfg->conn_send_queue);
	return full(t, "in flight on all connections of the context",
		    "send_queue", cfg->send_queue);
}

/* Has a task, which may be submitted, space and what it needs? */
static int prepare(struct pier__rdma_task *t)
{
	int err = 0;

	if (!pier__conn_is_up(t->task.conn))
		return not_up(t);
	if (!built(t, t->dst))
		err = pier__rdma_build(t);
	if (!err && !pier__conn_has_credit(t->task.conn))
		err = full_send(t);
	return err;
}

/* The buffers have changed, or the task may not be submitted. */
static int __attribute__((noinline)) submit_anew(struct pier__rdma_task *t,
						 unsigned int flags)
{
	int err = pier__task_submit_error(&t->task, flags);

	if (err)
		return err;
	err = prepare(t);
	return err ? pier__task_named(&t->task, err) : post(t, flags, t->dst);
}

/* A connection that is up is one of a context that runs. */
static inline int submit(struct pier_task *task, unsigned int flags,
			 bool copies)
{
	struct pier__rdma_task *t = rdma_task(task);

	if (!pier__task_may_submit(task, flags) ||
	    !pier__conn_is_up(task->conn) ||
	    !pier__conn_has_credit(task->conn) || !built(t, copies))
		return submit_anew(t, flags);
	return post(t, flags, copies);
}

static int send_submit(struct pier_task *task, unsigned int flags)
{
	return submit(task, flags, false);
}

static int copy_submit(struct pier_task *task, unsigned int flags)
{
	return submit(task, flags, true);
}

/* A copy of no bytes is not on the fast path. */
static int nothing_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__rdma_task *t = rdma_task(task);
	int err = 0;

	if (pier__conn_is_up(task->conn))
		err = pier__rdma_granted(t);
	return err ? pier__task_named(task, err) : submit_anew(t, flags);
}

static size_t capacity(const struct ibv_recv_wr *wr)
{
	size_t len = 0;

	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

/* What has failed; with its length, which may be the reason. */
static const char *failed_name(const struct pier__rdma_task *t,
			       enum ibv_wc_status status, char *ret,
			       size_t size)
{
	const struct pier__task_type *type = pier__rdma_type(t);
	bool refused = status == IBV_WC_REM_INV_REQ_ERR ||
		       status == IBV_WC_REM_OP_ERR;

	if (type->receives && status == IBV_WC_LOC_LEN_ERR)
		snprintf(ret, size, "%s of at most %zu bytes", type->name,
			 capacity(&t->wr.recv));
	else if (refused && !type->dst)
		snprintf(ret, size, "%s of %u bytes", type->name, t->len);
	else
		snprintf(ret, size, "%s", type->name);
	return ret;
}

/* Store the details of a failure that the device gave. */
static int failed(struct pier__rdma_task *t, const struct ibv_wc *wc)
{
	struct ibv_wc means = *wc;
	char name[64];

	t->verbs_status = (int)wc->status;
	t->vendor_error = wc->vendor_err;
	/*
	 * Soft-RoCE reports "local operation" for a message too long for
	 * its receive, whose memory was checked when it was posted.
	 */
	if (pier__rdma_type(t)->receives && wc->status == IBV_WC_LOC_QP_OP_ERR)
		means.status = IBV_WC_LOC_LEN_ERR;
	if (means.status == IBV_WC_LOC_LEN_ERR)
		pier__conn_peer_ready(t->task.conn);	/* it has sent */
	return pier__conn_failed(t->task.conn,
				 failed_name(t, means.status, name,
					     sizeof(name)), &means);
}

static void drop_all(struct pier__rdma_task *t)
{
	pier__local_drop(t->src);
	pier__local_drop(t->dst);
}

static void __attribute__((noinline)) finish(struct pier__rdma_task *t)
{
	drop_all(t);
	pier__task_finish(&t->task, 0);
}

void pier__rdma_finish_failed(struct pier__rdma_task *t, int status)
{
	drop_all(t);
	pier__task_finish_failed(&t->task, status);
}

static void __attribute__((noinline)) succeed_slowly(struct pier__rdma_task *t)
{
	if (t->grows)
		pier__buf_grow(t->grows, t->len);
	finish(t);
}

/* Drop the reference of the task, unless it is the last. */
static inline bool drop_unless_last(struct pier_buf *buf)
{
	if (--buf->refs)
		return true;
	buf->refs++;
	return false;
}

static inline bool drop_bufs(struct pier__rdma_task *t, bool copies)
{
	if (has_src(t, copies) && !drop_unless_last(t->src))
		return false;
	if (!copies || drop_unless_last(t->dst))
		return true;
	t->src->refs++;
	return false;
}

/* The usual case here: no chain, no buffer that is to be given back. */
static inline void succeed(struct pier__rdma_task *t, bool copies, bool grows)
{
	if ((grows && t->grows->next) || !drop_bufs(t, copies)) {
		succeed_slowly(t);
		return;
	}
	if (grows)
		t->grows->data_len += t->len;
	pier__task_finish(&t->task, 0);
}

static void send_succeed(struct pier__posted *posted)
{
	succeed(pier__container_of(posted, struct pier__rdma_task, posted),
		false, false);
}

static void copy_succeed(struct pier__posted *posted)
{
	succeed(pier__container_of(posted, struct pier__rdma_task, posted),
		true, true);
}

static void store_succeed(struct pier__posted *posted)
{
	succeed(pier__container_of(posted, struct pier__rdma_task, posted),
		true, false);
}

/* One with others before it, or a failure. */
static void __attribute__((noinline)) done_late(struct pier__rdma_task *t,
						const struct ibv_wc *wc)
{
	if (!pier__conn_done(t->task.conn, &t->posted, wc))
		return;
	if (wc->status == IBV_WC_SUCCESS)
		t->posted.succeed(&t->posted);
	else
		pier__rdma_finish_failed(t, failed(t, wc));
}

static void send_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);

	if (pier__conn_done_first(t->task.conn, &t->posted, wc))
		succeed(t, false, false);
	else
		done_late(t, wc);
}

static void copy_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);

	if (pier__conn_done_first(t->task.conn, &t->posted, wc))
		succeed(t, true, true);
	else
		done_late(t, wc);
}

static void store_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);

	if (pier__conn_done_first(t->task.conn, &t->posted, wc))
		succeed(t, true, false);
	else
		done_late(t, wc);
}

/* A finished receive holds the connection that its message came on. */
static void drop_conn(struct pier_task *task)
{
	if (task->conn)
		pier__conn_drop(task->conn);
	task->conn = NULL;
}

static int __attribute__((noinline, cold))
recv_refused(const struct pier__rdma_task *t, int err)
{
	const struct pier_rdma *rdma = pier__rdma_of(t->task.ctx);

	if (err == -EAGAIN)
		full(t, "or more wait for messages", "recv_queue",
		     rdma->cfg.recv_queue);
	return pier__task_named(&t->task, err);
}

/* The work request is built. */
static inline int __attribute__((always_inline))
post_recv(struct pier__rdma_task *t, struct pier_buf *dst)
{
	struct pier_rdma *rdma = pier__rdma_of(t->task.ctx);
	int err = pier__queues_post_recv(rdma->owner.queues, &t->posted,
					 &t->wr.recv);

	if (err)
		return recv_refused(t, err);
	if (dst)
		dst->refs++;
	drop_conn(&t->task);
	pier__task_submitted(&t->task);
	return 0;
}

/* The buffer has changed, or the task may not be submitted. */
static int __attribute__((noinline)) recv_anew(struct pier__rdma_task *t,
					       unsigned int flags)
{
	int err = pier__task_submit_error(&t->task, flags);

	if (err)
		return err;
	err = pier__rdma_build(t);
	return err ? pier__task_named(&t->task, err) : post_recv(t, t->dst);
}

static int recv_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__rdma_task *t = rdma_task(task);
	struct pier_buf *dst = t->dst;

	if (!pier__task_may_submit(task, flags) ||
	    task->ctx->state != PIER_CTX_RUNNING || !dst ||
	    !same(&t->dst_built, dst))
		return recv_anew(t, flags);
	return post_recv(t, dst);
}

static inline void set_received(struct pier__rdma_task *t,
				const struct ibv_wc *wc)
{
	t->received = wc->byte_len;
	t->imm = 0;
	t->opcode = PIER_RECV_SEND;
	if (!(wc->wc_flags & IBV_WC_WITH_IMM))
		return;
	t->imm = wc->imm_data;
	t->opcode = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM ?
			    PIER_RECV_WRITE_IMM : PIER_RECV_SEND_IMM;
}

/* The error of a receive that ends without a connection. */
static int cancelled(struct pier__queues *queues)
{
	int err = queues->error ? pier__dev_alive(queues->dev) : 0;

	if (err)
		return err;
	if (queues->error)
		return pier__fail(queues->error, "receive: cancelled: %s no "
				  "longer works", queues->dev->info.port.name);
	return pier__fail(-ECANCELED, "receive: cancelled: the context stops");
}

/* One that failed, is the first, or has no buffer of its own or several. */
static void __attribute__((noinline)) recv_any(struct pier__rdma_task *t,
					       const struct ibv_wc *wc)
{
	struct pier__queues *queues = pier__rdma_of(t->task.ctx)->owner.queues;
	struct pier_conn *conn = t->task.conn;

	if (wc->status != IBV_WC_SUCCESS) {
		pier__rdma_finish_failed(t, conn ? failed(t, wc) :
						   cancelled(queues));
		return;
	}
	set_received(t, wc);
	if (t->opcode != PIER_RECV_WRITE_IMM && t->dst)
		pier__buf_grow(t->dst, wc->byte_len);
	if (conn)
		pier__conn_peer_ready(conn);
	finish(t);
}

/* The usual case is that of one buffer on a connection that is up. */
static void recv_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdma_task *t =
		pier__container_of(op, struct pier__rdma_task, task.op);
	struct pier__queues *queues = pier__rdma_of(t->task.ctx)->owner.queues;
	struct pier_conn *conn = pier__queues_conn(queues, wc->qp_num);
	struct pier_buf *dst = t->dst;

	pier__list_take_out(&t->posted.link);
	t->task.conn = conn;
	if (conn)
		pier__conn_hold(conn);
	if (wc->status != IBV_WC_SUCCESS || !conn ||
	    !pier__conn_is_met(conn) || !dst || dst->next ||
	    !drop_unless_last(dst)) {
		recv_any(t, wc);
		return;
	}
	set_received(t, wc);
	if (t->opcode != PIER_RECV_WRITE_IMM)
		dst->data_len += wc->byte_len;
	pier__task_finish(&t->task, 0);
}

static void release_send(struct pier_task *task)
{
	struct pier_conn *conn = task->conn;

	pier__task_pool_give(task);
	pier__conn_drop(conn);
}

static void release_recv(struct pier_task *task)
{
	drop_conn(task);
	pier__task_pool_give(task);
}

static void get_error(const struct pier_task *task,
		      struct pier_task_error *ret)
{
	const struct pier__rdma_task *t = pier__container_of(
		(struct pier_task *)(uintptr_t)task, struct pier__rdma_task,
		task);

	ret->verbs_status = t->verbs_status;
	ret->vendor_error = t->vendor_error;
	if (!task->conn)
		return;
	for (int i = 0; i < 16; i++)
		ret->peer_gid[i] = task->conn->remote_gid.raw[i];
	ret->peer_qpn = task->conn->remote.qpn;
	if (ret->scope != PIER_SCOPE_CTX && pier__conn_is_ending(task->conn))
		ret->scope = PIER_SCOPE_CONN;
}

const struct pier__rdma_kind pier__rdma_send = {
	.ops = {
		.submit = send_submit,
		.release = release_send,
		.error = get_error,
		.bufs = pier__rdma_bufs,
		.cancel = pier__rdma_cancel_send,
		.obstacle = pier__rdma_obstacle,
	},
	.done = send_done,
	.succeed = send_succeed,
};

const struct pier__rdma_kind pier__rdma_copy = {
	.ops = {
		.submit = copy_submit,
		.release = release_send,
		.error = get_error,
		.bufs = pier__rdma_bufs,
		.cancel = pier__rdma_cancel_send,
		.obstacle = pier__rdma_obstacle,
	},
	.done = copy_done,
	.succeed = copy_succeed,
};

const struct pier__rdma_kind pier__rdma_store = {
	.ops = {
		.submit = copy_submit,
		.release = release_send,
		.error = get_error,
		.bufs = pier__rdma_bufs,
		.cancel = pier__rdma_cancel_send,
		.obstacle = pier__rdma_obstacle,
	},
	.done = store_done,
	.succeed = store_succeed,
};

const struct pier__rdma_kind pier__rdma_nothing = {
	.ops = {
		.submit = nothing_submit,
		.release = release_send,
		.error = get_error,
		.bufs = pier__rdma_bufs,
		.cancel = pier__rdma_cancel_send,
		.obstacle = pier__rdma_obstacle,
	},
	.done = send_done,
	.succeed = send_succeed,
};

const struct pier__rdma_kind pier__rdma_recv = {
	.ops = {
		.submit = recv_submit,
		.release = release_recv,
		.error = get_error,
		.bufs = pier__rdma_bufs,
		.cancel = pier__rdma_cancel_recv,
		.hope = pier__rdma_recv_hope,
	},
	.done = recv_done,
};
