/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/post.h"
#include "core/fail.h"
#include "ops/rdma_impl.h"
#include "ops/sync_event_remote.h"

#define OPS 64		/* requests in flight */
#define CONNS_MAX 16	/* one, and those that have failed and are closing */
#define DRAIN_MS 500	/* how long an owner that is away delays a stop */

/* A request. */
struct pier__sync_op {
	struct pier__op op;		/* first: wr_id points here */
	struct pier__posted posted;
	struct pier__sync_remote *remote;
	struct pier__sync_task *task;
	struct pier__sync_op *next;	/* free */
	uint64_t *word;			/* what is read, or written */
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static void give_op(struct pier__sync_op *op)
{
	op->task = NULL;
	op->next = op->remote->free;
	op->remote->free = op;
}

/* Store the thread's last error as that of the connection. */
static void set_error(struct pier__sync_remote *remote, int err)
{
	remote->up = false;
	if (remote->error)
		return;
	remote->error = err;
	snprintf(remote->text, sizeof(remote->text), "%s", pier_last_error());
}

static void finish(struct pier__sync_task *t, int status)
{
	t->due = 0;
	pier__cpu_finish(&t->task, status);
}

/* Fill in the request of @op for its task. */
static int build(struct pier__sync_op *op)
{
	const struct pier_mmap *mmap = op->remote->event->mmap;
	const struct pier__sync_task *t = op->task;
	uintptr_t addr = (uintptr_t)mmap->cfg.addr;
	uint32_t rkey;

	if (!pier__mmap_rkey(mmap, op->remote->conn->remote.dev_id, &rkey))
		return pier__fail(-ESTALE, "sync event: it is not of the "
				  "device that its service is on");
	op->wr.send_flags = 0;
	if (t->task.type == PIER_TASK_SYNC_ADD) {
		op->wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		op->wr.wr.atomic.remote_addr = addr;
		op->wr.wr.atomic.rkey = rkey;
		op->wr.wr.atomic.compare_add = t->goal.value;
		return 0;
	}
	op->wr.opcode = IBV_WR_RDMA_READ;
	if (t->task.type == PIER_TASK_SYNC_SET) {
		op->wr.opcode = IBV_WR_RDMA_WRITE;
		*op->word = t->goal.value;
	}
	op->wr.wr.rdma.remote_addr = addr;
	op->wr.wr.rdma.rkey = rkey;
	return 0;
}

/* Errors: -EAGAIN, no request is free. */
static int post_task(struct pier__sync_remote *remote,
		     struct pier__sync_task *t)
{
	struct pier__sync_op *op = remote->free;
	int err;

	if (!op || !pier__conn_has_credit(remote->conn))
		return -EAGAIN;
	op->task = t;
	err = build(op);
	if (!err)
		err = pier__conn_post(remote->conn, &op->wr);
	if (err)
		return err;
	pier__conn_posted(remote->conn, &op->posted);
	remote->free = op->next;
	remote->posted++;
	return 0;
}

/* Post the tasks that wait for it, in their order. */
static void post(struct pier__sync_remote *remote)
{
	while (remote->up && remote->queue.first) {
		int err = post_task(remote,
				    pier__sync_task(remote->queue.first));

		if (err == -EAGAIN)
			return;
		if (!err) {
			pier__task_queue_pop(&remote->queue);
			continue;
		}
		set_error(remote, err);
		pier_conn_abort(remote->conn);
	}
}

/* Look again later, which does not hold up other tasks. */
static void wait_more(struct pier__sync_task *t)
{
	t->nap = t->due ? pier__sync_next_nap(t->nap) : PIER__SYNC_NAP_MIN;
	t->due = pier__pe_now(t->task.ctx->pe) + t->nap;
	pier__cpu_requeue(&t->task);
}

/* Its request has succeeded, with @value. */
static void complete(struct pier__sync_task *t, uint64_t value)
{
	switch (t->task.type) {
	case PIER_TASK_SYNC_GET:
	case PIER_TASK_SYNC_ADD:
		if (t->result)
			*t->result = value;
		break;
	case PIER_TASK_SYNC_SET:
		break;
	default:
		if (pier__sync_is(value, &t->goal))
			break;
		wait_more(t);
		return;
	}
	finish(t, 0);
}

/* A callback may cancel others of them. */
static void finish_tasks(struct pier__sync_remote *remote, int err,
			 const char *text)
{
	pier__task_queue_move(&remote->ending, &remote->queue);
	while (remote->ending.first) {
		struct pier_task *task =
			pier__task_queue_pop(&remote->ending);

		if (task->ctx->state == PIER_CTX_STOPPING)
			pier__cpu_requeue(task);
		else
			finish(pier__sync_task(task),
			       pier__fail(err, "sync event: no access to the "
					  "export: %s", text));
	}
}

/* The connection has ended, and no request on it is in flight. */
static void close_conn(struct pier__sync_remote *remote)
{
	struct pier_conn *conn = remote->conn;
	char text[sizeof(remote->text)];
	int err = remote->error;

	memcpy(text, remote->text, sizeof(text));
	remote->conn = NULL;
	remote->error = 0;
	remote->ended = false;
	finish_tasks(remote, err, text);
	pier_conn_destroy(conn);
}

/*
 * A request is over.  A failure ends the connection, and that the task, which
 * is in the queue until then; one that was cancelled is no more concerned.
 */
static void settle(struct pier__sync_op *op, bool failed)
{
	struct pier__sync_remote *remote = op->remote;
	struct pier__sync_task *t = op->task;
	uint64_t value = *op->word;

	give_op(op);
	remote->posted--;
	if (t && failed)
		pier__task_queue_add(&remote->queue, &t->task);
	else if (t)
		complete(t, value);
	post(remote);
	if (remote->ended && !remote->posted)
		close_conn(remote);
}

static void succeed(struct pier__posted *posted)
{
	settle(pier__container_of(posted, struct pier__sync_op, posted), false);
}

static void op_failed(struct pier__sync_op *op, const struct ibv_wc *wc)
{
	struct pier__sync_remote *remote = op->remote;
	int err = pier__conn_failed(remote->conn, "sync event", wc);

	remote->up = false;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		set_error(remote, err);
	settle(op, true);
}

static void op_done(struct pier__op *done, const struct ibv_wc *wc)
{
	struct pier__sync_op *op =
		pier__container_of(done, struct pier__sync_op, op);
	struct pier_conn *conn = op->remote->conn;
	enum pier__outcome outcome = pier__conn_outcome(conn, &op->posted, wc);

	if (outcome == PIER__SUCCEEDED)
		settle(op, false);
	else if (outcome == PIER__FAILED)
		op_failed(op, wc);
}

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct pier__sync_remote *remote = user_data;

	(void)conn;
	(void)ctx_user_data;
	remote->up = true;
	post(remote);
}

/* Requests in flight complete later. */
static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	struct pier__sync_remote *remote = user_data;

	(void)ctx_user_data;
	set_error(remote, pier__origin_ended(conn, "sync event"));
	remote->ended = true;
	if (!remote->posted)
		close_conn(remote);
}

/* The connection has ended, and the queues. */
static void queues_stopped(struct pier_ctx *ctx)
{
	(void)ctx;	/* its next round finds out */
}

/* Connect, unless it has a connection, or makes one. */
static int connect_once(struct pier__sync_remote *remote)
{
	struct pier_dev *dev = remote->event->cpu.dev;
	int err = 0;

	if (remote->conn)
		return 0;
	if (!remote->owner.queues)
		err = pier__queues_create(&remote->owner, dev, &remote->cfg);
	if (!err)
		err = pier__origin_connect(remote->event->mmap->origin, dev,
					   remote->owner.queues, remote,
					   &remote->conn);
	return err;
}

/* May the word be added to, from here and there? */
static int check_add(const struct pier__sync_remote *remote)
{
	const struct pier_sync_event *event = remote->event;

	if (!(event->mmap->cfg.access & PIER_REMOTE_ATOMIC))
		return pier__fail(-EOPNOTSUPP, "sync event: the device of its "
				  "owner does not add");
	return pier_devinfo_can_task(pier_dev_info(event->cpu.dev),
				     PIER_TASK_NOTIFY_ADD);
}

int pier__sync_remote_run(struct pier__sync_remote *remote,
			  struct pier_task *task)
{
	struct pier__sync_task *t = pier__sync_task(task);
	int err = 0;

	if (t->due > pier__pe_now(task->ctx->pe))
		return -EAGAIN;
	if (task->type == PIER_TASK_SYNC_ADD)
		err = check_add(remote);
	if (!err)
		err = connect_once(remote);
	if (err) {
		t->due = 0;
		return err;
	}
	pier__cpu_take_out(task);
	pier__task_queue_add(&remote->queue, task);
	post(remote);
	return PIER__CPU_ELSEWHERE;
}

/* What is posted goes on without the task: in the memory of its request. */
void pier__sync_remote_recall(struct pier__sync_remote *remote,
			      struct pier_task *task)
{
	struct pier__sync_task *t = pier__sync_task(task);

	if (!pier__task_queue_take_out(&remote->queue, task) &&
	    !pier__task_queue_take_out(&remote->ending, task)) {
		for (uint32_t i = 0; i < OPS; i++) {
			if (remote->ops[i].task == t)
				remote->ops[i].task = NULL;
		}
	}
	pier__cpu_requeue(task);
}

void pier__sync_remote_stop(struct pier__sync_remote *remote)
{
	if (remote->owner.queues)
		pier__queues_stop(remote->owner.queues);
}

bool pier__sync_remote_stopping(const struct pier__sync_remote *remote)
{
	return remote->owner.queues;
}

/* The requests, each with a word in registered memory. */
static int create_ops(struct pier__sync_remote *remote,
		      const struct pier_dev *dev)
{
	uint64_t *words = pier_mmap_addr(remote->words);
	uint32_t lkey = 0;

	remote->ops = calloc(OPS, sizeof(remote->ops[0]));
	if (!remote->ops)
		return pier__fail(-ENOMEM, "sync event: no memory");
	pier__mmap_lkey(remote->words, dev, &lkey);
	for (uint32_t i = 0; i < OPS; i++) {
		struct pier__sync_op *op = &remote->ops[i];

		op->op.done = op_done;
		op->posted.op = &op->op;
		op->posted.succeed = succeed;
		op->remote = remote;
		op->word = &words[i];
		op->sge.addr = (uintptr_t)op->word;
		op->sge.length = sizeof(*op->word);
		op->sge.lkey = lkey;
		op->wr.wr_id = (uintptr_t)&op->op;
		op->wr.sg_list = &op->sge;
		op->wr.num_sge = 1;
		give_op(op);
	}
	return 0;
}

static int settle_config(struct pier__sync_remote *remote,
			 const struct pier_dev *dev)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = CONNS_MAX,
		.send_queue = OPS,
		.recv_queue = 1,
		.send_chain = 1,
		.recv_chain = 1,
		.drain_ms = DRAIN_MS,
	};
	int err = pier__rdma_settle(&cfg, &dev->info.port);

	if (!err)
		pier__rdma_conn_config(&cfg, &remote->cfg);
	return err;
}

static void init(struct pier__sync_remote *remote,
		 struct pier_sync_event *event)
{
	remote->event = event;
	pier__task_queue_init(&remote->queue);
	pier__task_queue_init(&remote->ending);
	pier__conn_owner_init(&remote->owner, &event->cpu.ctx, queues_stopped);
	remote->owner.quiet = true;
	remote->owner.callbacks = (struct pier__conn_callbacks){
		.established = established,
		.failure = ended,
		.disconnected = ended,
	};
}

int pier__sync_remote_create(struct pier_sync_event *event,
			     struct pier_dev *dev)
{
	struct pier__sync_remote *remote = calloc(1, sizeof(*remote));
	int err;

	if (!remote)
		return pier__fail(-ENOMEM, "sync event: no memory");
	init(remote, event);
	err = settle_config(remote, dev);
	if (!err)
		err = pier_mmap_map(dev, NULL, OPS * sizeof(uint64_t),
				    PIER_LOCAL_WRITE, &remote->words);
	if (!err)
		err = create_ops(remote, dev);
	if (err) {
		pier__sync_remote_destroy(remote);
		return err;
	}
	pier__dev_hold(dev);	/* as the context does */
	event->cpu.dev = dev;
	event->cpu.ctx.drain_ms = pier__queues_stop_ms(remote->cfg.drain_ms);
	event->remote = remote;
	return 0;
}

void pier__sync_remote_destroy(struct pier__sync_remote *remote)
{
	if (!remote)
		return;
	pier__conn_owner_destroy(&remote->owner);
	pier_pe_destroy(remote->pe);
	pier_mmap_destroy(remote->words);
	free(remote->ops);
	free(remote);
}
