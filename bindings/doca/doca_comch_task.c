/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_comch_impl.h"
#include "doca_fail.h"

static struct doca_comch_task_send *send_of(struct doca_task *task)
{
	return (struct doca_comch_task_send *)task;
}

static doca_error_t check(struct doca_task *task)
{
	if (send_of(task)->conn->conn)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED, "comch: the "
			       "connection of a task has ended");
}

static int build(struct doca_task *task)
{
	struct doca_comch_task_send *t = send_of(task);

	return pier_comch_task_send(t->conn->conn, t->msg, t->len,
				    &task->task);
}

static int reuse(struct doca_task *task, struct pier_task *pier)
{
	const struct doca_comch_task_send *t = send_of(task);

	return t->conn == t->last ?
		       pier_comch_task_set_msg(pier, t->msg, t->len) :
		       -EINVAL;
}

static void freed(struct doca_task *task)
{
	struct doca_comch_task_send *t = send_of(task);

	if (task->task)
		t->last = t->conn;
	if (!t->conn->conn)	/* it has ended: keep nothing of it */
		pier__doca_task_unbuild(task);
	pier__doca_comch_conn_drop(t->conn);
}

static const struct doca_task_kind kind = {
	.check = check,
	.build = build,
	.reuse = reuse,
	.freed = freed,
};

doca_error_t pier__doca_comch_conf(struct doca_comch_end *end,
				   doca_comch_task_send_completion_cb_t done,
				   doca_comch_task_send_completion_cb_t failed,
				   uint32_t count)
{
	struct doca_comch_limits limits;
	doca_error_t error;

	if (!end)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_limits(&end->dev->info, &limits);
	if (error)
		return error;
	if (count > limits.send_tasks)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: %u "
				       "tasks that send, at most %u", count,
				       limits.send_tasks);
	return pier__doca_pool_conf(&end->sends, &end->ctx,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t pier__doca_comch_fill(struct doca_comch_end *end)
{
	return pier__doca_pool_fill(&end->sends, &end->ctx, &kind,
				    sizeof(struct doca_comch_task_send));
}

static doca_error_t check_msg(const struct doca_comch_end *end, const void *msg,
			      uint32_t len)
{
	if (!msg && len)
		return DOCA_ERROR_INVALID_VALUE;
	if (len > end->max_msg_size)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: a "
				       "message of %u bytes, at most %u", len,
				       end->max_msg_size);
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_comch_take(struct doca_comch_end *end,
				   struct doca_comch_connection *conn,
				   const void *msg, uint32_t len,
				   struct doca_comch_task_send **ret)
{
	const union doca_data none = { .ptr = NULL };
	struct doca_comch_task_send *new;
	struct doca_task *task;
	doca_error_t error;

	if (!end || !conn || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (conn->end != end)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: a "
				       "connection of another server or "
				       "client");
	error = check_msg(end, msg, len);
	if (!error)
		error = pier__doca_pool_take(&end->sends, none, &task);
	if (error)
		return error;
	new = send_of(task);
	new->conn = conn;
	new->msg = msg;
	new->len = len;
	conn->holds++;
	*ret = new;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return task ? &task->task : NULL;
}
