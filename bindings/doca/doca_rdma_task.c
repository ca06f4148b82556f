/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"

static const struct doca_task_kind *const kinds[PIER_TASK_TYPES] = {
	[PIER_TASK_RECEIVE] = &pier__doca_rdma_receive,
	[PIER_TASK_SEND] = &pier__doca_rdma_send,
	[PIER_TASK_SEND_IMM] = &pier__doca_rdma_send_imm,
	[PIER_TASK_READ] = &pier__doca_rdma_read,
	[PIER_TASK_WRITE] = &pier__doca_rdma_write,
	[PIER_TASK_WRITE_IMM] = &pier__doca_rdma_write_imm,
	[PIER_TASK_COMPARE_SWAP] = &pier__doca_rdma_cmp_swp,
	[PIER_TASK_FETCH_ADD] = &pier__doca_rdma_fetch_add,
	[PIER_TASK_REMOTE_GET] = &pier__doca_rdma_event_get,
	[PIER_TASK_NOTIFY_SET] = &pier__doca_rdma_event_set,
	[PIER_TASK_NOTIFY_ADD] = &pier__doca_rdma_event_add,
};

doca_error_t pier__doca_rdma_fill(struct doca_rdma *rdma)
{
	doca_error_t error = DOCA_SUCCESS;

	for (int i = 0; i < PIER_TASK_TYPES && !error; i++)
		error = pier__doca_pool_fill(&rdma->pools[i], &rdma->ctx,
					     kinds[i],
					     sizeof(struct doca_rdma_task));
	return error;
}

doca_error_t pier__doca_rdma_conf(struct doca_rdma *rdma,
				  enum pier_task_type type,
				  void (*done)(void), void (*failed)(void),
				  uint32_t count)
{
	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pool_conf(&rdma->pools[type], &rdma->ctx, done,
				    failed, count);
}

doca_error_t pier__doca_rdma_take(struct doca_rdma *rdma,
				  enum pier_task_type type,
				  struct doca_rdma_connection *conn,
				  union doca_data data,
				  struct doca_rdma_task **ret)
{
	struct doca_task *task;
	doca_error_t error;

	if (!rdma || !conn || conn->rdma != rdma)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: a task "
				       "without a connection of its context");
	error = pier__doca_pool_take(&rdma->pools[type], data, &task);
	if (error)
		return error;
	*ret = pier__doca_rdma_task(task);
	(*ret)->conn = conn;
	conn->tasks++;
	return DOCA_SUCCESS;
}

static void count_task(struct doca_rdma_connection *conn, int more)
{
	if (conn)
		conn->tasks += (unsigned int)more;
}

void pier__doca_rdma_task_freed(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (t->conn && !t->conn->conn)	/* it has ended: keep nothing of it */
		pier__doca_task_unbuild(task);
	if (task->task) {
		t->fixed.conn = t->conn->conn;
		t->fixed.imm = t->imm;
		t->fixed.first = t->first;
		t->fixed.second = t->second;
	}
	count_task(t->conn, -1);
}

bool pier__doca_rdma_is_fixed(const struct doca_rdma_task *t)
{
	const struct pier__doca_rdma_fixed *fixed = &t->fixed;

	return t->conn && t->conn->conn == fixed->conn &&
	       t->imm == fixed->imm && t->first == fixed->first &&
	       t->second == fixed->second;
}

/* The next submit checks it. */
void pier__doca_rdma_set_conn(struct doca_rdma_task *task,
			      struct doca_rdma_connection *conn)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	pier__doca_task_unbuild(&task->task);
	count_task(task->conn, -1);
	task->conn = conn;
	count_task(conn, 1);
}

doca_error_t pier__doca_rdma_check_conn(struct doca_task *task)
{
	const struct doca_rdma_connection *conn =
		pier__doca_rdma_task(task)->conn;

	if (!conn || &conn->rdma->ctx != task->ctx)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: a task "
				       "without a connection of its context");
	if (!conn->conn)
		return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED, "rdma: the "
				       "connection of a task has ended");
	return DOCA_SUCCESS;
}

/* Its buffers become pier's, an atomic's result as its source. */
static int set_bufs(const struct doca_rdma_task *t, struct pier_task *pier)
{
	const struct doca_buf *src = t->result ? t->result : t->src;

	return pier_rdma_task_set_bufs(pier, pier__doca_buf(src),
				       pier__doca_buf(t->dst));
}

int pier__doca_rdma_reuse(struct doca_task *task, struct pier_task *pier)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier__doca_rdma_is_fixed(t) ? set_bufs(t, pier) : -EINVAL;
}

int pier__doca_rdma_reuse_receive(struct doca_task *task,
				  struct pier_task *pier)
{
	return set_bufs(pier__doca_rdma_task(task), pier);
}

/* One that pier refuses is built by the next submit, which has the error. */
static void change_bufs(struct doca_rdma_task *task)
{
	if (task->task.task && set_bufs(task, task->task.task))
		pier__doca_task_unbuild(&task->task);
}

void pier__doca_rdma_set_src(struct doca_rdma_task *task,
			     const struct doca_buf *src)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->src = src;
	change_bufs(task);
}

void pier__doca_rdma_set_dst(struct doca_rdma_task *task, struct doca_buf *dst)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->dst = dst;
	change_bufs(task);
}

void pier__doca_rdma_set_result(struct doca_rdma_task *task,
				struct doca_buf *result)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->result = result;
	change_bufs(task);
}

void pier__doca_rdma_set_imm(struct doca_rdma_task *task, doca_be32_t imm)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	pier__doca_task_unbuild(&task->task);
	task->imm = imm;
}

void pier__doca_rdma_set_value(struct doca_rdma_task *task, uint64_t *field,
			       uint64_t value)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	pier__doca_task_unbuild(&task->task);
	*field = value;
}
