/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cm/recall.h"
#include "core/fail.h"
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

uint32_t pier__comch_conn_sends(const struct pier_comch_config *cfg)
{
	return (cfg->tasks < SENDS_MAX ? cfg->tasks : SENDS_MAX) +
	       PIER__COMCH_OWN_SENDS;
}

int pier__comch_sends_create(struct pier_comch *comch)
{
	struct pier__task_pool *pool;
	int err;

	pier__task_pool_destroy(comch->pool, "comch");
	comch->pool = NULL;
	err = pier__task_pool_create(comch->cfg.tasks,
				     sizeof(struct comch_task) +
					     comch->cfg.max_msg_size,
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
}

static bool may_send(const struct pier_comch_conn *c)
{
	return c->credits && c->conn->send_credits > PIER__COMCH_OWN_SENDS;
}

void pier__comch_check_writable(struct pier_comch_conn *c)
{
	struct pier_comch *comch = c->comch;

	if (!c->blocked || !c->open || !pier__conn_is_up(c->conn) ||
	    !may_send(c))
		return;
	c->blocked = false;
	if (!comch->callbacks.writable)
		return;
	pier__pe_event(comch->ctx.pe);
	comch->callbacks.writable(c, pier_ctx_user_data(&comch->ctx));
}

/* A message of kind @kind takes the credits that are to be returned along. */
static uint32_t next_head(const struct pier_comch_conn *c,
			  enum pier__comch_kind kind)
{
	return pier__comch_head_encode(kind, c->owed);
}

static void head_posted(struct pier_comch_conn *c)
{
	c->granted += c->owed;
	c->owed = 0;
}

/* Credits. */

void pier__comch_return_credits(struct pier_comch_conn *c)
{
	uint32_t half = (c->comch->cfg.recv_queue + 1) / 2;
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&c->op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = next_head(c, PIER__COMCH_CREDITS),
	};
	int err;

	if (c->owed < half || c->returning || !pier__conn_is_up(c->conn))
		return;
	err = pier__conn_post(c->conn, &wr);
	if (err) {
		pier__comch_violated(c, err);
		return;
	}
	pier__conn_posted(c->conn, &c->posted);
	c->returning = true;
	c->holds++;
	head_posted(c);
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
		.imm_data = next_head(c, kind),
		.sg_list = &frame->sge,
		.num_sge = 1,
	};
	int err = pier__conn_post(c->conn, &wr);

	if (err)
		return err;
	pier__conn_posted(c->conn, &frame->posted);
	head_posted(c);
	c->credits--;
	c->holds++;
	return 0;
}

/* Messages. */

static int not_up(const struct pier_comch_conn *c)
{
	return pier__fail(-ENOTCONN, "comch: the connection %s",
			  c->open ? "is being closed" : "has ended");
}

/* Nothing has failed, and busy programs see it often: it is not logged. */
static int __attribute__((noinline, cold)) full(const struct comch_task *t)
{
	char text[128];

	if (t->task.trying)
		return -EAGAIN;
	snprintf(text, sizeof(text), "comch: as many messages as the peer "
		 "receives at a time, %u, or this end sends, %u, are in "
		 "flight: progress first", t->conn->peer_queue,
		 pier__comch_conn_sends(&t->conn->comch->cfg) -
		 PIER__COMCH_OWN_SENDS);
	return pier__fail_again(-EAGAIN, text);
}

static int check(struct comch_task *t, unsigned int flags)
{
	struct pier_comch_conn *c = t->conn;
	int err = pier__task_submit_error(&t->task, flags);

	if (err)
		return err;
	if (!c->open || !pier__conn_is_up(c->conn))
		return not_up(c);
	if (t->len > c->max_msg)
		return pier__fail(-EMSGSIZE, "comch: a message of %zu bytes: "
				  "at most %u", t->len, c->max_msg);
	if (may_send(c))
		return 0;
	c->blocked = true;
	return full(t);
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct comch_task *t = of_task(task);
	struct pier_comch_conn *c = t->conn;
	int err = check(t, flags);

	if (err)
		return err;
	if (t->len)
		memcpy(t->data, t->msg, t->len);
	t->sge.length = (uint32_t)t->len;
	t->wr.num_sge = t->len ? 1 : 0;
	t->wr.imm_data = next_head(c, PIER__COMCH_DATA);
	err = pier__conn_post(c->conn, &t->wr);
	if (err)
		return err;
	pier__conn_posted(c->conn, &t->posted);
	head_posted(c);
	c->credits--;
	pier__task_submitted(task);
	return 0;
}

static void finish(struct comch_task *t, const struct ibv_wc *wc)
{
	struct pier_comch_conn *c = t->conn;
	int err;

	c->holds++;	/* the callback may free the last task of it */
	if (!wc || wc->status == IBV_WC_SUCCESS) {
		c->counters.sent_messages++;
		c->counters.sent_bytes += t->len;
		c->comch->counters.sent_messages++;
		c->comch->counters.sent_bytes += t->len;
		pier__task_finish(&t->task, 0);
	} else {
		t->verbs_status = (int)wc->status;
		t->vendor_error = wc->vendor_err;
		err = pier__conn_failed(c->conn, "message", wc);
		pier__task_finish_failed(&t->task, err);
	}
	pier__comch_check_writable(c);
	pier__comch_conn_drop(c);
}

static void succeed(struct pier__posted *posted)
{
	finish(pier__container_of(posted, struct comch_task, posted), NULL);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct comch_task *t = pier__container_of(op, struct comch_task,
						  task.op);

	if (pier__conn_done(t->conn->conn, &t->posted, wc))
		finish(t, wc);
}

static void release(struct pier_task *task)
{
	struct pier_comch_conn *c = of_task(task)->conn;

	pier__task_pool_give(task);
	pier__comch_conn_drop(c);
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

	pier__conn_recall(t->conn->conn, &t->posted, succeed, "message");
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
	c->holds++;
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
		return not_up(c);
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
	struct pier__guard *guard =
		conn->open ? pier__ctx_guard(&conn->comch->ctx) : NULL;
	int err = pier__guard_enter(guard, "pier_comch_task_send");

	if (err)
		return err;
	err = check_msg(msg, len);
	if (!err)
		err = take(conn, ret);
	if (!err) {
		of_task(*ret)->msg = msg;
		of_task(*ret)->len = len;
	}
	pier__guard_leave(guard);
	return err;
}

int pier_comch_task_set_msg(struct pier_task *task, const void *msg, size_t len)
{
	int err;

	if (task->type != PIER_TASK_COMCH_SEND)
		return pier__fail(-EINVAL, "comch: not a task of a Comm "
				  "Channel: %s",
				  pier_task_type_name(task->type));
	err = pier__task_may_change(task, "comch send");
	if (!err)
		err = check_msg(msg, len);
	if (err)
		return err;
	of_task(task)->msg = msg;
	of_task(task)->len = len;
	return 0;
}

int pier_comch_send(struct pier_comch_conn *conn, const void *msg, size_t len,
		    pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_comch_task_send(conn, msg, len, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
