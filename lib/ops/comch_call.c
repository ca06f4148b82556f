/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that a client sends. */
#include <errno.h>
#include <string.h>

#include "cm/recall.h"
#include "core/clock.h"
#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/local_buf.h"

#define OVERDUE_MS 1000		/* until what is overdue ends the connection */

static struct pier__comch_call *of_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__comch_call, task);
}

static struct pier__comch_call *of_posted(struct pier__posted *posted)
{
	return pier__container_of(posted, struct pier__comch_call, posted);
}

size_t pier__comch_call_size(size_t other)
{
	size_t size = sizeof(struct pier__comch_call);

	return size > other ? size : other;
}

/* Its end. */

/* The connection has ended. */
static int lost(const struct pier_comch_conn *c)
{
	const char *text;
	int err = pier_comch_conn_error(c, &text);

	if (err)
		return pier__fail(err, "comch: no reply: %s", text);
	if (!c->ending)
		return pier__fail(-ECONNRESET, "comch: no reply: the server "
				  "has ended the connection");
	return pier__fail(-ECANCELED, "comch: no reply: the connection was "
			  "ended");
}

/* One that was cancelled ends as such, with its connection, too. */
static int lost_call(const struct pier__comch_call *call)
{
	const char *text;

	if (!call->cancelled)
		return lost(call->conn);
	if (pier_comch_conn_error(call->conn, &text))
		return pier__fail(-ECANCELED, "cancelled: %s", text);
	return pier__task_cancelled(&call->task);
}

static int end_error(const struct pier__comch_call *call)
{
	switch (call->end) {
	case PIER__COMCH_CALL_REFUSED:
		return pier__fail(-EREMOTEIO, "comch: the server has refused "
				  "the request");
	case PIER__COMCH_CALL_NO_SERVICE:
		return pier__fail(-EOPNOTSUPP, "comch: the server takes no "
				  "requests: its program has not called "
				  "pier_comch_set_request_callbacks()");
	case PIER__COMCH_CALL_CANCELLED:
		return pier__task_cancelled(&call->task);
	case PIER__COMCH_CALL_LOST:
		return lost_call(call);
	default:
		return 0;
	}
}

/* What only few have: their bytes are still sent, a cancel, a buffer. */
static inline void let_go(struct pier__comch_call *call)
{
	if (call->send) {
		call->send->call = NULL;
		call->send = NULL;
	}
	if (call->cancelled) {
		pier__list_del(&call->timed);
		pier__list_del(&call->waiting);
	}
	if (call->dst) {
		call->dst->awaited = false;
		pier__local_drop(call->dst);
	}
}

/* Its callback may free the last task of the connection. */
static void finish(struct pier__comch_call *call)
{
	struct pier_comch_conn *c = call->conn;
	int err = end_error(call);

	let_go(call);
	c->holds++;
	if (err)
		pier__task_finish_failed(&call->task, err);
	else
		pier__task_finish(&call->task, 0);
	if (c->blocked)
		pier__comch_task_over(c);
	pier__comch_conn_drop(c);
}

void pier__comch_call_end(struct pier__comch_call *call,
			  enum pier__comch_call_end end)
{
	call->end = end;
	if (!call->cancel_sends) {
		finish(call);
		return;
	}
	/* That was the time of its answer; an acknowledgement has as much. */
	call->overdue = false;
	call->deadline = pier__now() + PIER__COMCH_CANCEL_MS * PIER__MS;
	pier__comch_call_time(call);
}

static void end_late(struct pier__posted *posted)
{
	finish(of_posted(posted));
}

void pier__comch_call_end_later(struct pier__comch_call *call,
				enum pier__comch_call_end end)
{
	call->end = end;
	if (!call->cancel_sends)
		pier__queues_end_later(call->conn->comch->owner.queues,
				       &call->posted, end_late);
}

/* Its cancel. */

static void cancel_sent(struct pier__comch_call *call)
{
	pier__comch_give_reply_send(call->conn);
	call->cancel_sends = false;
	pier__comch_cancels_post(call->conn);
	if (call->end)
		finish(call);
	else if (call->conn->blocked)
		pier__comch_check_writable(call->conn);
}

static void cancel_succeed(struct pier__posted *posted)
{
	cancel_sent(pier__container_of(posted, struct pier__comch_call,
				       cancel_posted));
}

static void cancel_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_call *call =
		pier__container_of(op, struct pier__comch_call, cancel_op);

	if (!pier__conn_done(call->conn->conn, &call->cancel_posted, wc))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		pier__conn_failed(call->conn->conn, "cancel", wc);
	cancel_sent(call);
}

/* Submit. */

/* Is @call->dst memory that the server may write to? */
static int describe(struct pier__comch_call *call,
		    struct pier__comch_request_head *head)
{
	const struct pier_buf *dst = call->dst;
	const struct pier_dev *dev = call->conn->comch->dev;
	size_t tail;

	if (!dst->mmap || dst->first != dst || dst->next ||
	    dst->mmap->remote || !dst->mmap->cpu)
		return pier__fail(-EINVAL, "comch request: the reply's buffer "
				  "was put, is a part of a chain, or no local "
				  "memory that the CPU can use");
	if (dst->awaited)
		return pier__fail(-EBUSY, "comch request: the reply's buffer "
				  "is that of another request, which has not "
				  "completed");
	if (!(dst->mmap->cfg.access & PIER_REMOTE_WRITE))
		return pier__fail(-EACCES, "comch request: the reply's buffer "
				  "is memory without PIER_REMOTE_WRITE");
	if (!pier__mmap_rkey(dst->mmap, dev->id, &head->rkey))
		return pier__mmap_lacks(dst->mmap, dev);
	tail = pier__buf_tail_len(dst);
	head->addr = pier__buf_tail(dst);
	head->reply_max = tail < UINT32_MAX ? (uint32_t)tail : UINT32_MAX;
	head->writes = true;
	return 0;
}

static int build(struct pier__comch_call *call,
		 struct pier__comch_call_send *send)
{
	struct pier__comch_request_head head = {
		.id = call->id,
		.reply_max = call->reply_size < UINT32_MAX ?
				     (uint32_t)call->reply_size : UINT32_MAX,
	};
	int err = call->dst ? describe(call, &head) : 0;

	if (err)
		return err;
	pier__comch_request_encode(&head, send->data);
	if (call->len)
		memcpy(send->data + PIER__COMCH_REQUEST_HEAD, call->msg,
		       call->len);
	send->sge.length = (uint32_t)(PIER__COMCH_REQUEST_HEAD + call->len);
	send->wr.imm_data = pier__comch_next_head(call->conn,
						  PIER__COMCH_REQUEST);
	return 0;
}

static int __attribute__((noinline, cold))
refused(struct pier__comch_call *call, unsigned int flags)
{
	struct pier_comch_conn *c = call->conn;
	int err = pier__task_submit_error(&call->task, flags);

	if (err)
		return err;
	if (!c->open || !pier__conn_is_up(c->conn))
		return pier__comch_not_up(c);
	if (call->too_long)
		return pier__fail(-EMSGSIZE, "comch: a request of %zu bytes: "
				  "at most %u", call->len, c->max_msg);
	return pier__comch_full(c, call->task.trying);
}

static bool may_submit(const struct pier__comch_call *call, unsigned int flags)
{
	const struct pier_comch_conn *c = call->conn;

	return pier__task_may_submit(&call->task, flags) &&
	       pier__conn_is_up(c->conn) && !call->too_long &&
	       pier__comch_may_send(c) && c->calls->free < c->calls->count &&
	       c->comch->call_sends->free;
}

static void submitted(struct pier__comch_call *call,
		      struct pier__comch_call_send *send)
{
	struct pier_comch_conn *c = call->conn;

	c->comch->call_sends->free = send->next;
	c->holds++;
	send->conn = c;
	send->call = call;
	call->send = send;
	call->end = PIER__COMCH_CALL_OPEN;
	call->cancelled = call->overdue = false;
	call->reply_len = 0;
	call->verbs_status = -1;
	call->vendor_error = 0;
	if (call->dst) {
		call->dst->refs++;
		call->dst->awaited = true;
	}
	pier__task_submitted(&call->task);
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct pier__comch_call *call = of_task(task);
	struct pier__comch_call_send *send;
	int err;

	if (!may_submit(call, flags))
		return refused(call, flags);
	send = call->conn->comch->call_sends->free;
	pier__comch_calls_add(call->conn, call);
	err = build(call, send);
	if (!err)
		err = pier__comch_post(call->conn, &send->posted, &send->wr,
				       flags);
	if (err)
		pier__comch_calls_forget(call);
	else
		submitted(call, send);
	return err;
}

static void release(struct pier_task *task)
{
	struct pier_comch_conn *c = of_task(task)->conn;

	pier__task_pool_give(task);
	pier__comch_conn_drop(c);
}

static void get_error(const struct pier_task *task, struct pier_task_error *ret)
{
	const struct pier__comch_call *call =
		of_task((struct pier_task *)(uintptr_t)task);

	ret->verbs_status = call->verbs_status;
	ret->vendor_error = call->vendor_error;
}

/* Without a buffer nothing of it is touched any more. */
static int cancel(struct pier_task *task)
{
	struct pier__comch_call *call = of_task(task);

	if (pier__conn_chained(call->conn->conn))
		pier__conn_flush(call->conn->conn);
	if (call->end || call->cancelled)
		return 0;
	if (call->dst) {
		pier__comch_calls_cancel(call);
		return 0;
	}
	pier__comch_calls_abandon(call);
	pier__comch_call_end_later(call, PIER__COMCH_CALL_CANCELLED);
	return 0;
}

static const char *obstacle(const struct pier_task *task)
{
	(void)task;
	return "no reply: ";
}

/* Deadlines of cancels. */

void pier__comch_call_time(struct pier__comch_call *call)
{
	struct pier_comch *comch = call->conn->comch;

	pier__list_del(&call->timed);
	pier__list_add(&comch->timed, &call->timed);
	if (call->deadline < comch->source.due)
		pier__pe_due(&comch->source, call->deadline);
}

static void end_conn(struct pier__comch_call *call)
{
	int err = call->end ?
		pier__fail(-ETIMEDOUT, "comch: the server did not acknowledge "
			   "the cancel of a request") :
		pier__fail(-ETIMEDOUT, "comch: the server did not give back "
			   "the reply's buffer of a cancelled request");

	pier__comch_violated(call->conn, err);
}

/*
 * What is waited for may have arrived while the program did something else:
 * the queues are polled before the rest of the time is over.
 */
static void begin_overdue(struct pier__comch_call *call)
{
	call->overdue = true;
	call->deadline = pier__now() + OVERDUE_MS * PIER__MS;
	pier__comch_call_time(call);
}

static void expire(struct pier__comch_call *call)
{
	pier__list_del(&call->timed);
	if (!pier__conn_is_up(call->conn->conn))
		return;
	if (call->overdue)
		end_conn(call);
	else
		begin_overdue(call);
}

/* Is its cancel with the server, which has to do something? */
static bool awaits_server(const struct pier__comch_call *call)
{
	const struct pier__comch_calls *calls = call->conn->calls;

	if (call->end)
		return call->cancel_sends;
	return calls->cancel == call && calls->posted;
}

/* It was cancelled: the end of its connection ends it. */
static void force(struct pier_task *task)
{
	struct pier__comch_call *call = of_task(task);

	if (pier__conn_is_up(call->conn->conn) && awaits_server(call) &&
	    !call->overdue)
		begin_overdue(call);
}

void pier__comch_expire(struct pier_comch *comch)
{
	uint64_t now = pier__pe_now(comch->ctx.pe), due = PIER__NEVER;
	struct pier__list *pos, *tmp;

	if (now < comch->source.due)
		return;
	PIER__LIST_EACH(pos, tmp, &comch->timed) {
		struct pier__comch_call *call = pier__container_of(
			pos, struct pier__comch_call, timed);

		if (call->deadline <= now)
			expire(call);
	}
	PIER__LIST_EACH(pos, tmp, &comch->timed) {
		struct pier__comch_call *call = pier__container_of(
			pos, struct pier__comch_call, timed);

		if (call->deadline < due)
			due = call->deadline;
	}
	pier__pe_due(&comch->source, due);
}

/* Tasks. */

static void bufs(struct pier_task *task, struct pier_buf *ret[2])
{
	ret[0] = of_task(task)->dst;
	ret[1] = NULL;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = release,
	.error = get_error,
	.bufs = bufs,
	.cancel = cancel,
	.force = force,
	.obstacle = obstacle,
};

static int check_request(const void *msg, size_t len, const void *reply,
			 size_t size)
{
	if ((msg || !len) && (reply || !size))
		return 0;
	return pier__fail(-EINVAL, "comch: a request of %zu bytes at %p, whose "
			  "reply has %zu bytes at %p: no bytes are at NULL",
			  len, msg, size, reply);
}

static void set_request(struct pier__comch_call *call, const void *msg,
			size_t len, void *reply, size_t size)
{
	call->msg = msg;
	call->len = len;
	call->too_long = len > call->conn->max_msg;
	call->reply = reply;
	call->reply_size = size;
}

static void init_cancel(struct pier__comch_call *call)
{
	call->cancel_op.done = cancel_done;
	call->cancel_posted.op = &call->cancel_op;
	call->cancel_posted.succeed = cancel_succeed;
	pier__list_init(&call->waiting);
	call->cancel_sends = false;
	call->cancel_sge = (struct ibv_sge){
		.addr = (uintptr_t)call->cancel_data,
		.length = sizeof(call->cancel_data),
		.lkey = call->conn->comch->pool_mr->lkey,
	};
	call->cancel_wr = (struct ibv_send_wr){
		.wr_id = (uintptr_t)&call->cancel_op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.sg_list = &call->cancel_sge,
		.num_sge = 1,
	};
}

static void init(struct pier__comch_call *call, struct pier_comch_conn *c)
{
	call->task.ops = &task_ops;
	call->task.ctx = &c->comch->ctx;
	call->task.conn = NULL;
	call->posted.op = &call->task.op;
	call->conn = c;
	c->holds++;
	call->dst = NULL;
	call->reply_len = 0;
	call->verbs_status = -1;
	call->vendor_error = 0;
	pier__list_init(&call->timed);
	call->send = NULL;
	init_cancel(call);
}

static int take(struct pier_comch_conn *c, struct pier_task **ret)
{
	struct pier__task_pool *pool;
	struct pier_task *task;
	int err = 0;

	if (!c->open)
		return pier__comch_not_up(c);
	if (pier__comch_is_server(c->comch))
		return pier__fail(-EINVAL, "comch: clients send requests, this "
				  "is a server");
	if (!c->comch->call_sends)
		err = pier__comch_call_sends_create(c->comch);
	if (!err && !c->calls)
		err = pier__comch_calls_create(c);
	if (err)
		return err;
	pool = c->comch->pool;
	task = pier__task_pool_take(pool, PIER_TASK_COMCH_REQUEST);
	if (!task)
		return pier__task_pool_empty(pool, PIER_TASK_COMCH_REQUEST,
					     "comch", "tasks");
	init(of_task(task), c);
	*ret = task;
	return 0;
}

int pier_comch_task_request(struct pier_comch_conn *conn, const void *msg,
			    size_t len, void *reply, size_t size,
			    struct pier_task **ret)
{
	struct pier__guard *guard;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	guard = conn->open ? pier__ctx_guard(&conn->comch->ctx) : NULL;
	err = pier__guard_enter(guard, "pier_comch_task_request");
	if (err)
		return err;
	err = check_request(msg, len, reply, size);
	if (!err)
		err = take(conn, ret);
	if (!err)
		set_request(of_task(*ret), msg, len, reply, size);
	pier__guard_leave(guard);
	return err;
}

static int may_change(const struct pier_task *task)
{
	if (task->type != PIER_TASK_COMCH_REQUEST)
		return pier__fail(-EINVAL, "comch: not a request: %s",
				  pier_task_type_name(task->type));
	return pier__task_may_change(task);
}

int pier_comch_task_set_request(struct pier_task *task, const void *msg,
				size_t len, void *reply, size_t size)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = may_change(task);
	if (!err)
		err = check_request(msg, len, reply, size);
	if (!err)
		set_request(of_task(task), msg, len, reply, size);
	return err;
}

int pier_comch_task_set_reply_buf(struct pier_task *task, struct pier_buf *dst)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = may_change(task);
	if (!err)
		of_task(task)->dst = dst;
	return err;
}

size_t pier_comch_reply_len(const struct pier_task *task)
{
	if (!task)
		return 0;
	if (task->type != PIER_TASK_COMCH_REQUEST || task->status)
		return 0;
	return of_task((struct pier_task *)(uintptr_t)task)->reply_len;
}
