/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"
#include "doca_sync_event_impl.h"

/* Tasks on sync events of peers. */

static const struct pier_sync_event *event_of(const struct doca_rdma_task *task)
{
	return task->event->event;
}

static doca_error_t check(struct doca_task *task)
{
	if (!pier__doca_rdma_task(task)->event)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: a task without a sync event");
	return pier__doca_rdma_check_conn(task);
}

/* Its event and its one buffer become pier's. */
static int give_event(const struct doca_rdma_task *t, struct pier_task *pier)
{
	const struct doca_buf *buf = t->src ? t->src : t->dst;

	return pier_rdma_task_set_event(pier, event_of(t),
					pier__doca_buf(buf ? buf : t->result));
}

static int reuse(struct doca_task *task, struct pier_task *pier)
{
	const struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return t->event && pier__doca_rdma_is_fixed(t) ? give_event(t, pier) :
							 -EINVAL;
}

/* One that pier refuses is built by the next submit, which has the error. */
static void change(struct doca_rdma_task *task)
{
	struct pier_task *pier = task->task.task;

	if (pier && (!task->event || give_event(task, pier)))
		pier__doca_task_unbuild(&task->task);
}

static void set_event(void *task,
		      const struct doca_sync_event_remote_net *event)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!pier__doca_task_may_change(&t->task))
		return;
	t->event = event;
	change(t);
}

static int build_get(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_remote_get(t->conn->conn, event_of(t),
					 pier__doca_buf(t->dst), &task->task);
}

const struct doca_task_kind pier__doca_rdma_event_get = {
	.check = check,
	.build = build_get,
	.reuse = reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_REMOTE_GET);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_REMOTE_GET,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	const struct doca_sync_event_remote_net *event, struct doca_buf *dst,
	union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_get **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task || !event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_REMOTE_GET, conn, data,
				     &new);
	if (error)
		return error;
	new->event = event;
	new->dst = dst;
	*task = (struct doca_rdma_task_remote_net_sync_event_get *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(
	struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	const struct doca_sync_event_remote_net *event)
{
	set_event(task, event);
}

const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return pier__doca_rdma_task(task)->event;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_buf *dst)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!pier__doca_task_may_change(&t->task))
		return;
	t->dst = dst;
	change(t);
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return pier__doca_rdma_task(task)->dst;
}

/* A value has 8 bytes. */
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	return sizeof(uint64_t);
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return pier__doca_rdma_task(task)->conn;
}

static int build_set(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_notify_set(t->conn->conn, event_of(t),
					 pier__doca_buf(t->src), &task->task);
}

const struct doca_task_kind pier__doca_rdma_event_set = {
	.check = check,
	.build = build_set,
	.reuse = reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_NOTIFY_SET);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_NOTIFY_SET,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_sync_event_remote_net *event, const struct doca_buf *src,
	union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task || !event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_NOTIFY_SET, conn, data,
				     &new);
	if (error)
		return error;
	new->event = event;
	new->src = src;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_set *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_sync_event_remote_net *event)
{
	set_event(task, event);
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return (struct doca_sync_event_remote_net *)(uintptr_t)
		pier__doca_rdma_task(task)
			->event;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	const struct doca_buf *src)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!pier__doca_task_may_change(&t->task))
		return;
	t->src = src;
	change(t);
}

const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return pier__doca_rdma_task(task)->src;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return pier__doca_rdma_task(task)->conn;
}

static int build_add(struct doca_task *task)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	return pier_rdma_task_notify_add(t->conn->conn, event_of(t),
					 pier__doca_buf(t->result), t->first,
					 &task->task);
}

const struct doca_task_kind pier__doca_rdma_event_add = {
	.check = check,
	.build = build_add,
	.reuse = reuse,
	.freed = pier__doca_rdma_task_freed,
};

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_NOTIFY_ADD);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_rdma_conf(rdma, PIER_TASK_NOTIFY_ADD,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_sync_event_remote_net *event, struct doca_buf *result,
	uint64_t add, union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	struct doca_rdma_task *new;
	doca_error_t error;

	if (!task || !event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_rdma_take(rdma, PIER_TASK_NOTIFY_ADD, conn, data,
				     &new);
	if (error)
		return error;
	new->event = event;
	new->result = result;
	new->first = add;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_add *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return &pier__doca_rdma_task(task)->task;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_sync_event_remote_net *event)
{
	set_event(task, event);
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return (struct doca_sync_event_remote_net *)(uintptr_t)
		pier__doca_rdma_task(task)
			->event;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_buf *result)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	if (!pier__doca_task_may_change(&t->task))
		return;
	t->result = result;
	change(t);
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return pier__doca_rdma_task(task)->result;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	uint64_t add)
{
	struct doca_rdma_task *t = pier__doca_rdma_task(task);

	pier__doca_rdma_set_value(t, &t->first, add);
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return pier__doca_rdma_task(task)->first;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_rdma_connection *conn)
{
	pier__doca_rdma_set_conn(pier__doca_rdma_task(task), conn);
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return pier__doca_rdma_task(task)->conn;
}
