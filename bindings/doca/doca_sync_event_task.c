/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_sync_event_impl.h"

/* @task is any of the types of tasks. */
static struct doca_sync_event_task *sync_task(const void *task)
{
	return (struct doca_sync_event_task *)(uintptr_t)task;
}

static struct pier_sync_event *event_of(const struct doca_task *task)
{
	return ((struct doca_sync_event *)task->ctx)->event;
}

static int build_get(struct doca_task *task)
{
	return pier_sync_event_task_get(event_of(task), sync_task(task)->result,
					&task->task);
}

static int build_set(struct doca_task *task)
{
	return pier_sync_event_task_set(event_of(task), sync_task(task)->value,
					&task->task);
}

static int build_add(struct doca_task *task)
{
	return pier_sync_event_task_add(event_of(task), sync_task(task)->value,
					sync_task(task)->result, &task->task);
}

static int build_wait_eq(struct doca_task *task)
{
	return pier_sync_event_task_wait_eq(event_of(task),
					    sync_task(task)->value,
					    sync_task(task)->mask, &task->task);
}

static int build_wait_neq(struct doca_task *task)
{
	return pier_sync_event_task_wait_neq(
		event_of(task), sync_task(task)->value, sync_task(task)->mask,
		&task->task);
}

static int set_values(struct doca_task *task, struct pier_task *pier)
{
	const struct doca_sync_event_task *t = sync_task(task);

	return pier_sync_event_task_set_values(pier, t->value, t->mask,
					       t->result);
}

static const struct doca_task_kind kinds[PIER_TASK_TYPES] = {
	[PIER_TASK_SYNC_GET] = {
		.build = build_get,
		.reuse = set_values,
	},
	[PIER_TASK_SYNC_SET] = {
		.build = build_set,
		.reuse = set_values,
	},
	[PIER_TASK_SYNC_ADD] = {
		.build = build_add,
		.reuse = set_values,
	},
	[PIER_TASK_SYNC_WAIT_EQ] = {
		.build = build_wait_eq,
		.reuse = set_values,
	},
	[PIER_TASK_SYNC_WAIT_NEQ] = {
		.build = build_wait_neq,
		.reuse = set_values,
	},
};

doca_error_t pier__doca_sync_fill(struct doca_sync_event *event)
{
	doca_error_t error = DOCA_SUCCESS;

	for (int i = 0; i < PIER_TASK_TYPES && !error; i++)
		error = pier__doca_pool_fill(
			&event->pools[i], &event->ctx, &kinds[i],
			sizeof(struct doca_sync_event_task));
	return error;
}

/* An event that is not idle has its own code for that. */
static doca_error_t conf(struct doca_sync_event *event,
			 enum pier_task_type type,
			 void (*done)(void), void (*failed)(void),
			 uint32_t count)
{
	doca_error_t error;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_conf(&event->pools[type], &event->ctx, done,
				     failed, count);
	return error == DOCA_ERROR_BAD_STATE ? DOCA_ERROR_NOT_PERMITTED : error;
}

static doca_error_t take(struct doca_sync_event *event,
			 enum pier_task_type type,
			 union doca_data data,
			 struct doca_sync_event_task **ret)
{
	struct doca_task *task;
	doca_error_t error;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_take(&event->pools[type], data, &task);
	if (!error)
		*ret = sync_task(task);
	return error;
}

/* A task that pier has already is changed there, too. */
static void changed(struct doca_sync_event_task *task)
{
	if (task->task.task && set_values(&task->task, task->task.task))
		pier__doca_task_unbuild(&task->task);
}

/* @field is one of @task. */
static void set(struct doca_sync_event_task *task, uint64_t *field,
		uint64_t value)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	*field = value;
	changed(task);
}

static void set_result(struct doca_sync_event_task *task, uint64_t *result)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->result = result;
	changed(task);
}

doca_error_t
doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SYNC_GET);
}

doca_error_t doca_sync_event_task_get_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_get_completion_cb_t done,
	doca_sync_event_task_get_completion_cb_t failed, uint32_t count)
{
	return conf(event, PIER_TASK_SYNC_GET, (void (*)(void))done,
		    (void (*)(void))failed, count);
}

doca_error_t
doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
				    uint64_t *ret, union doca_data data,
				    struct doca_sync_event_task_get **task)
{
	struct doca_sync_event_task *new;
	doca_error_t error;

	if (!task || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	error = take(event, PIER_TASK_SYNC_GET, data, &new);
	if (error)
		return error;
	new->result = ret;
	*task = (struct doca_sync_event_task_get *)new;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	return &sync_task(task)->task;
}

void doca_sync_event_task_get_set_ret_val_ptr(
	struct doca_sync_event_task_get *task, uint64_t *ret)
{
	set_result(sync_task(task), ret);
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(
	const struct doca_sync_event_task_get *task)
{
	return sync_task(task)->result;
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SYNC_SET);
}

doca_error_t doca_sync_event_task_notify_set_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_set_completion_cb_t done,
	doca_sync_event_task_notify_set_completion_cb_t failed, uint32_t count)
{
	return conf(event, PIER_TASK_SYNC_SET, (void (*)(void))done,
		    (void (*)(void))failed, count);
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(
	struct doca_sync_event *event, uint64_t value, union doca_data data,
	struct doca_sync_event_task_notify_set **task)
{
	struct doca_sync_event_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = take(event, PIER_TASK_SYNC_SET, data, &new);
	if (error)
		return error;
	new->value = value;
	*task = (struct doca_sync_event_task_notify_set *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_set_as_doca_task(
	struct doca_sync_event_task_notify_set *task)
{
	return &sync_task(task)->task;
}

void doca_sync_event_task_notify_set_set_set_val(
	struct doca_sync_event_task_notify_set *task, uint64_t value)
{
	set(sync_task(task), &sync_task(task)->value, value);
}

uint64_t doca_sync_event_task_notify_set_get_set_val(
	const struct doca_sync_event_task_notify_set *task)
{
	return sync_task(task)->value;
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SYNC_ADD);
}

doca_error_t doca_sync_event_task_notify_add_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_add_completion_cb_t done,
	doca_sync_event_task_notify_add_completion_cb_t failed, uint32_t count)
{
	return conf(event, PIER_TASK_SYNC_ADD, (void (*)(void))done,
		    (void (*)(void))failed, count);
}

doca_error_t doca_sync_event_task_notify_add_alloc_init(
	struct doca_sync_event *event, uint64_t add, uint64_t *fetched,
	union doca_data data, struct doca_sync_event_task_notify_add **task)
{
	struct doca_sync_event_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = take(event, PIER_TASK_SYNC_ADD, data, &new);
	if (error)
		return error;
	new->value = add;
	new->result = fetched;
	*task = (struct doca_sync_event_task_notify_add *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_add_as_doca_task(
	struct doca_sync_event_task_notify_add *task)
{
	return &sync_task(task)->task;
}

void doca_sync_event_task_notify_add_set_inc_val(
	struct doca_sync_event_task_notify_add *task, uint64_t add)
{
	set(sync_task(task), &sync_task(task)->value, add);
}

uint64_t doca_sync_event_task_notify_add_get_inc_val(
	const struct doca_sync_event_task_notify_add *task)
{
	return sync_task(task)->value;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(
	struct doca_sync_event_task_notify_add *task, uint64_t *fetched)
{
	set_result(sync_task(task), fetched);
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
	const struct doca_sync_event_task_notify_add *task)
{
	return sync_task(task)->result;
}

doca_error_t
doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SYNC_WAIT_EQ);
}

doca_error_t doca_sync_event_task_wait_eq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_eq_completion_cb_t done,
	doca_sync_event_task_wait_eq_completion_cb_t failed, uint32_t count)
{
	return conf(event, PIER_TASK_SYNC_WAIT_EQ, (void (*)(void))done,
		    (void (*)(void))failed, count);
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(
	struct doca_sync_event *event, uint64_t value, uint64_t mask,
	union doca_data data, struct doca_sync_event_task_wait_eq **task)
{
	struct doca_sync_event_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = take(event, PIER_TASK_SYNC_WAIT_EQ, data, &new);
	if (error)
		return error;
	new->value = value;
	new->mask = mask;
	*task = (struct doca_sync_event_task_wait_eq *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(
	struct doca_sync_event_task_wait_eq *task)
{
	return &sync_task(task)->task;
}

void doca_sync_event_task_wait_eq_set_wait_val(
	struct doca_sync_event_task_wait_eq *task, uint64_t value)
{
	set(sync_task(task), &sync_task(task)->value, value);
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(
	const struct doca_sync_event_task_wait_eq *task)
{
	return sync_task(task)->value;
}

void doca_sync_event_task_wait_eq_set_mask(
	struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
	set(sync_task(task), &sync_task(task)->mask, mask);
}

uint64_t doca_sync_event_task_wait_eq_get_mask(
	const struct doca_sync_event_task_wait_eq *task)
{
	return sync_task(task)->mask;
}

doca_error_t
doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_can_task(info, PIER_TASK_SYNC_WAIT_NEQ);
}

doca_error_t doca_sync_event_task_wait_neq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_neq_completion_cb_t done,
	doca_sync_event_task_wait_neq_completion_cb_t failed, uint32_t count)
{
	return conf(event, PIER_TASK_SYNC_WAIT_NEQ, (void (*)(void))done,
		    (void (*)(void))failed, count);
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(
	struct doca_sync_event *event, uint64_t value, uint64_t mask,
	union doca_data data, struct doca_sync_event_task_wait_neq **task)
{
	struct doca_sync_event_task *new;
	doca_error_t error;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	error = take(event, PIER_TASK_SYNC_WAIT_NEQ, data, &new);
	if (error)
		return error;
	new->value = value;
	new->mask = mask;
	*task = (struct doca_sync_event_task_wait_neq *)new;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(
	struct doca_sync_event_task_wait_neq *task)
{
	return &sync_task(task)->task;
}

void doca_sync_event_task_wait_neq_set_wait_val(
	struct doca_sync_event_task_wait_neq *task, uint64_t value)
{
	set(sync_task(task), &sync_task(task)->value, value);
}

uint64_t doca_sync_event_task_wait_neq_get_wait_val(
	const struct doca_sync_event_task_wait_neq *task)
{
	return sync_task(task)->value;
}

void doca_sync_event_task_wait_neq_set_mask(
	struct doca_sync_event_task_wait_neq *task, uint64_t mask)
{
	set(sync_task(task), &sync_task(task)->mask, mask);
}

uint64_t doca_sync_event_task_wait_neq_get_mask(
	const struct doca_sync_event_task_wait_neq *task)
{
	return sync_task(task)->mask;
}
