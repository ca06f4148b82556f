/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cm/recall.h"
#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/comch_dir.h"

/* Messages in flight on one connection, at most. */
#define SENDS_MAX 64

/* A message; its bytes are copied behind it. */
struct comch_task {
	struct pier_task task;		/* first */
	struct pier__posted posted;
	struct pier_comch_conn *conn;	/* held */
	const void *msg;
	size_t len;
	bool too_long;
	int verbs_status;		/* of a failure; -1: none */
	uint32_t vendor_error;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint8_t data[];
};

static struct comch_task *of_task(struct pier_task *task)
{
	return pier__container_of(task, struct comch_task, task);
}

uint32_t pier__comch_conn_tasks(const struct pier_comch_config *cfg)
{
	return cfg->tasks < SENDS_MAX ? cfg->tasks : SENDS_MAX;
}

int pier__comch_sends_create(struct pier_comch *comch)
{
	struct pier__task_pool *pool;
	int err;

	pier__task_pool_destroy(comch->pool, "comch");
	comch->pool = NULL;
	err = pier__task_pool_create(&comch->ctx, comch->cfg.tasks,
				     pier__comch_call_size(
					     sizeof(struct comch_task) +
					     comch->cfg.max_msg_size),
				     pier_task_type_name, &pool);
	if (err)
		return err;
	comch->pool = pool;
	return comch->dev->fabric->dev->reg(comch->dev->fdev, pool->memory,
					    pool->count * pool->size,
					    IBV_ACCESS_LOCAL_WRITE,
					    &comch->pool_mr);
}

void pier__comch_sends_destroy(struct pier_comch *comch)
{
	if (comch->pool_mr)
		comch->dev->fabric->dev->dereg(comch->pool_mr);
	comch->pool_mr = NULL;	/* tasks may not be freed yet */
	pier__comch_call_sends_destroy(comch);
}

void pier__comch_check_writable(struct pier_comch_conn *c)
{
	struct pier_comch *comch = c->comch;

	if (!c->blocked || !c->open || !pier__conn_is_up(c->conn))
		return;
	if (!pier__comch_replies_post(c) || !pier__comch_may_send(c))
		return;
	c->blocked = !pier__list_empty(&comch->starved);
	if (!c->refused)
		return;
	c->refused = false;
	if (!comch->callbacks.writable)
		return;
	pier__pe_event(comch->ctx.pe);
	comch->callbacks.writable(c, pier_ctx_user_data(&comch->ctx));
}

/* Post a request of pier's own: behind what is deferred. */
static int post_own(struct pier_comch_conn *c, struct ibv_send_wr *wr)
{
	if (pier__conn_chained(c->conn))
		pier__conn_flush(c->conn);
	return pier__conn_post(c->conn, wr);
}

/* Credits. */

/*
 * Half of them are owed; or the peer has used all that it has, as requests hold
 * the rest.
 */
static bool is_time(const struct pier_comch_conn *c)
{
	uint32_t half = (c->comch->cfg.recv_queue + 1) / 2;

	return c->owed >= half || (c->owed && !c->granted);
}

static void __attribute__((noinline)) post_credits(struct pier_comch_conn *c)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&c->op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = pier__comch_next_head(
			c, c->late_cancel ? PIER__COMCH_CANCEL :
					    PIER__COMCH_CREDITS),
	};
	int err = post_own(c, &wr);

	if (err) {
		pier__comch_violated(c, err);
		return;
	}
	pier__conn_posted(c->conn, &c->posted);
	c->returning = true;
	c->late_cancel = false;
	c->holds++;
	pier__comch_head_posted(c);
}

void pier__comch_return_credits(struct pier_comch_conn *c)
{
	if (!is_time(c) && !c->late_cancel)
		return;
	if (!c->returning && pier__conn_is_up(c->conn))
		post_credits(c);
}

static void credits_sent(struct pier_comch_conn *c)
{
	c->returning = false;
	pier__comch_return_credits(c);
	pier__comch_check_writable(c);
	pier__comch_conn_drop(c);
}

static void credits_succeed(struct pier__posted *posted)
{
	credits_sent(pier__container_of(posted, struct pier_comch_conn,
					posted));
}

static void credits_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier_comch_conn *c =
		pier__container_of(op, struct pier_comch_conn, op);

	if (!pier__conn_done(c->conn, &c->posted, wc))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		pier__conn_failed(c->conn, "credits", wc);
	credits_sent(c);
}

void pier__comch_send_init(struct pier_comch_conn *c)
{
	c->op.done = credits_done;
	c->posted.op = &c->op;
	c->posted.succeed = credits_succeed;
}

/* Consumers. */

bool pier__comch_may_frame(const struct pier_comch_conn *c)
{
	return c->credits && pier__conn_is_up(c->conn);
}

int pier__comch_frame_post(struct pier_comch_conn *c,
			   enum pier__comch_kind kind)
{
	struct pier__comch_frame *frame = c->frame;
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&frame->op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = pier__comch_next_head(c, kind),
		.sg_list = &frame->sge,
		.num_sge = 1,
	};
	int err = post_own(c, &wr);

	if (err)
		return err;
	pier__conn_posted(c->conn, &frame->posted);
	pier__comch_head_posted(c);
	c->credits--;
	c->holds++;
	return 0;
}

/* Messages. */

int pier__comch_not_up(const struct pier_comch_conn *c)
{
	return pier__fail(-ENOTCONN, "comch: the connection %s",
			  c->open ? "is being closed" : "has ended");
}

/* Nothing has failed, and busy programs see it often: it is not logged. */
int __attribute__((noinline, cold))
pier__comch_full(struct pier_comch_conn *c, bool trying)
{
	char text[128];

	c->blocked = c->refused = true;
	if (trying)
		return -EAGAIN;
	snprintf(text, sizeof(text), "comch: as many messages as the peer "
		 "receives at a time, %u, or this end sends, %u, are in "
		 "flight: progress first", c->peer_queue,
		 pier__comch_conn_tasks(&c->comch->cfg));
	return pier__fail_again(-EAGAIN, text);
}

/* What prevents a task that may be submitted. */
static int obstacle(const struct comch_task *t)
{
	struct pier_comch_conn *c = t->conn;

	if (!c->open || !pier__conn_is_up(c->conn))
		return pier__comch_not_up(c);
	if (t->too_long)
		return pier__fail(-EMSGSIZE, "comch: a message of %zu bytes: "
				  "at most %u", t->len, c->max_msg);
	return pier__comch_full(c, t->task.trying);
}

int pier__comch_post(struct pier_comch_conn *c, struct pier__posted *posted,
		     struct ibv_send_wr *wr, unsigned int flags)
{
	struct pier_conn *conn = c->conn;
	int err = 0;

	if (pier__conn_chained(conn))
		pier__conn_chain(conn, posted, wr);
	else if (flags)
		pier__conn_chain_first(conn, posted, wr);
	else
		err = pier__conn_post(conn, wr);
	if (err)
		return err;
	if (pier__conn_chained(conn) && !flags)
		pier__conn_flush(conn);
	else if (!flags)
		pier__conn_posted(conn, posted);
	pier__comch_head_posted(c);
	c->credits--;
	return 0;
}

/* It may not be submitted, or the task not now. */
static int __attribute__((noinline, cold))
refused(const struct comch_task *t, unsigned int flags)
{
	int err = pier__task_submit_error(&t->task, flags);

	return err ? err : pier__task_named(&t->task, obstacle(t));
}

/* A connection that is up is open, and one of a context that runs. */
static inline bool may_submit(const struct comch_task *t, unsigned int flags)
{
	const struct pier_comch_conn *c = t->conn;

	return pier__task_may_submit(&t->task, flags) &&
	       pier__conn_is_up(c->conn) && !t->too_long &&
	       pier__comch_may_send(c);
}

/* Copy the message: its memory is the program's again. */
static inline void build(struct comch_task *t)
{
	if (t->len)
		memcpy(t->data, t->msg, t->len);
	t->wr.imm_data = pier__comch_next_head(t->conn, PIER__COMCH_DATA);
}

static inline int __attribute__((always_inline))
submitted(struct comch_task *t)
{
	pier__comch_head_posted(t->conn);
	t->conn->credits--;
	pier__task_submitted(&t->task);
	return 0;
}

/* The ways of one that may be submitted: each saves few registers. */

static int __attribute__((noinline)) post_alone(struct comch_task *t)
{
	int err;

	build(t);
	err = pier__conn_post(t->conn->conn, &t->wr);
	if (err)
		return err;
	pier__conn_posted(t->conn->conn, &t->posted);
	return submitted(t);
}

static int __attribute__((noinline)) chain_first(struct comch_task *t)
{
	build(t);
	pier__conn_chain_first(t->conn->conn, &t->posted, &t->wr);
	return submitted(t);
}

static int __attribute__((noinline)) chain_next(struct comch_task *t)
{
	build(t);
	pier__conn_chain(t->conn->conn, &t->posted, &t->wr);
	return submitted(t);
}

static int __attribute__((noinline)) chain_last(struct comch_task *t)
{
	chain_next(t);
	pier__conn_flush(t->conn->conn);
	return 0;
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct comch_task *t = of_task(task);

	if (!may_submit(t, flags))
		return refused(t, flags);
	if (pier__conn_chained(t->conn->conn))
		return flags ? chain_next(t) : chain_last(t);
	return flags ? chain_first(t) : post_alone(t);
}

static void __attribute__((noinline, cold))
fail(struct comch_task *t, const struct ibv_wc *wc)
{
	t->verbs_status = (int)wc->status;
	t->vendor_error = wc->vendor_err;
	pier__task_finish_failed(&t->task, pier__conn_failed(t->conn->conn,
							     "message", wc));
}

/*
 * One after which another may be sent, or whose connection has ended; @wc is
 * that of a failure, or NULL.
 */
static void __attribute__((noinline))
finish_slowly(struct comch_task *t, const struct ibv_wc *wc)
{
	struct pier_comch_conn *c = t->conn;

	c->holds++;	/* the callback may free the last task of it */
	if (!wc && c->over)
		pier__comch_count_sent(c->comch, 1, t->len);
	if (wc)
		fail(t, wc);
	else
		pier__task_finish(&t->task, 0);
	pier__comch_task_over(c);
	pier__comch_conn_drop(c);
}

/* If its callback is refused a message, later completions report that. */
static inline void __attribute__((always_inline))
finish(struct comch_task *t)
{
	struct pier_comch_conn *c = t->conn;

	c->counters.sent_messages++;
	c->counters.sent_bytes += t->len;
	if (c->blocked)
		finish_slowly(t, NULL);
	else
		pier__task_finish(&t->task, 0);
}

static void succeed(struct pier__posted *posted)
{
	finish(pier__container_of(posted, struct comch_task, posted));
}

/* One with others before it, or a failure. */
static void __attribute__((noinline))
done_late(struct comch_task *t, const struct ibv_wc *wc)
{
	if (!pier__conn_done(t->conn->conn, &t->posted, wc))
		return;
	if (wc->status == IBV_WC_SUCCESS)
		finish(t);
	else
		finish_slowly(t, wc);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct comch_task *t = pier__container_of(op, struct comch_task,
						  task.op);

	if (pier__conn_done_first(t->conn->conn, &t->posted, wc))
		finish(t);
	else
		done_late(t, wc);
}

static void release(struct pier_task *task)
{
	struct pier_comch_conn *c = of_task(task)->conn;

	pier__task_pool_give(task);
	pier__comch_task_freed(c);
}

static void get_error(const struct pier_task *task, struct pier_task_error *ret)
{
	const struct comch_task *t =
		of_task((struct pier_task *)(uintptr_t)task);

	ret->verbs_status = t->verbs_status;
	ret->vendor_error = t->vendor_error;
}

static int cancel(struct pier_task *task)
{
	struct comch_task *t = of_task(task);
	struct pier_conn *conn = t->conn->conn;

	if (pier__conn_chained(conn))	/* it may return credits */
		pier__conn_flush(conn);
	pier__conn_recall(conn, &t->posted, succeed, "message");
	return 0;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = release,
	.error = get_error,
	.cancel = cancel,
};

static int check_msg(const void *msg, size_t len)
{
	if (msg || !len)
		return 0;
	return pier__fail(-EINVAL, "comch: a message of %zu bytes at NULL",
			  len);
}

static void set_msg(struct comch_task *t, const void *msg, size_t len)
{
	t->msg = msg;
	t->len = len;
	t->too_long = len > t->conn->max_msg;
	t->sge.length = (uint32_t)len;
	t->wr.num_sge = len ? 1 : 0;
}

static void init(struct comch_task *t, struct pier_comch_conn *c)
{
	t->task.op.done = done;
	t->task.ops = &task_ops;
	t->task.ctx = &c->comch->ctx;
	t->task.conn = NULL;
	t->posted.op = &t->task.op;
	t->posted.succeed = succeed;
	t->verbs_status = -1;
	t->vendor_error = 0;
	t->conn = c;
	pier__comch_task_taken(c);
	t->sge = (struct ibv_sge){
		.addr = (uintptr_t)t->data,
		.lkey = c->comch->pool_mr->lkey,
	};
	t->wr = (struct ibv_send_wr){
		.wr_id = (uintptr_t)&t->task.op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.sg_list = &t->sge,
	};
}

static int take(struct pier_comch_conn *c, struct pier_task **ret)
{
	struct pier__task_pool *pool;
	struct pier_task *task;

	if (!c->open)
		return pier__comch_not_up(c);
	pool = c->comch->pool;
	task = pier__task_pool_take(pool, PIER_TASK_COMCH_SEND);
	if (!task)
		return pier__task_pool_empty(pool, PIER_TASK_COMCH_SEND,
					     "comch", "tasks");
	init(of_task(task), c);
	*ret = task;
	return 0;
}

int pier_comch_task_send(struct pier_comch_conn *conn, const void *msg,
			 size_t len, struct pier_task **ret)
{
	struct pier__guard *guard;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	guard = conn->open ? pier__ctx_guard(&conn->comch->ctx) : NULL;
	err = pier__guard_enter(guard, "pier_comch_task_send");
	if (err)
		return err;
	err = check_msg(msg, len);
	if (!err)
		err = take(conn, ret);
	if (!err)
		set_msg(of_task(*ret), msg, len);
	pier__guard_leave(guard);
	return err;
}

int pier_comch_task_set_msg(struct pier_task *task, const void *msg, size_t len)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (task->type != PIER_TASK_COMCH_SEND)
		return pier__fail(-EINVAL, "comch: not a task of a Comm "
				  "Channel: %s",
				  pier_task_type_name(task->type));
	err = pier__task_may_change(task);
	if (!err)
		err = check_msg(msg, len);
	if (err)
		return err;
	set_msg(of_task(task), msg, len);
	return 0;
}

/* May a task be taken for one message?  -EAGAIN. */
static int check_share(struct pier_comch_conn *c)
{
	struct pier__guard *guard = pier__ctx_guard(&c->comch->ctx);
	int err = pier__guard_enter(guard, "pier_comch_send");

	if (err)
		return err;
	if (!pier__comch_may_take(c))
		err = pier__comch_starve(c);
	pier__guard_leave(guard);
	return err;
}

int pier_comch_send(struct pier_comch_conn *conn, const void *msg, size_t len,
		    pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = conn && conn->open ? check_share(conn) : 0;

	if (!err)
		err = pier_comch_task_send(conn, msg, len, &task);
	return err ? err : pier__task_one_shot(task, fn, arg);
}
