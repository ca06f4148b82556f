/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pe.h>
#include <pier/task.h>

#include "core/fail.h"
#include "engine/task_pool.h"
#include "engine/task_timeout.h"

/* The context of a task that is freed late may have been destroyed. */
static inline struct pier__guard *guard_of(const struct pier_task *task)
{
	bool orphan = task->pool && task->pool->orphan;

	return orphan ? NULL : pier__ctx_guard(task->ctx);
}

static struct pier__task_place *place_of(struct pier__list *link)
{
	return pier__container_of(link, struct pier__task_place, link);
}

void pier__task_put_in(struct pier_task *task, struct pier__task_place *place)
{
	if (place->task)
		pier__list_take_out(&place->link);
	place->task = task;
	if (task)
		pier__list_add(&task->places, &place->link);
}

/* Is it a task of an instance that is submitted, or is to be in another? */
static bool is_placed(const struct pier_task *task)
{
	struct pier__list *link = task->places.next;

	if (pier__task_is_claimed(task))
		return true;

	for (; link != &task->places; link = link->next) {
		if (pier__task_busy(place_of(link)->of))
			return true;
	}
	return false;
}

/* Is it a node's of the instance one of whose functions runs? */
static bool is_adjustable(const struct pier_task *task)
{
	const struct pier_pe *pe = task->ctx->pe;
	struct pier__list *link = task->places.next;

	if (!pe || !pe->adjusts)
		return false;
	for (; link != &task->places; link = link->next) {
		if (place_of(link)->of == pe->adjusts)
			return true;
	}
	return false;
}

void pier__task_release(struct pier_task *task)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&task->places)))
		place_of(link)->task = NULL;
	pier__list_del(&task->link);
	task->one_shot = false;
	task->ops->release(task);
}

/* How a task ends that is more than a call of its callback. */

static void end_unseen(struct pier_task *task, void *arg)
{
	(void)arg;
	pier__list_add(&task->ctx->pe->finished, &task->link);
}

static void end_one_shot(struct pier_task *task, void *arg)
{
	task->done(task, arg);
	if (task->one_shot && !pier__task_busy(task))
		pier__task_release(task);
}

static pier_task_fn *usual_end(const struct pier_task *task)
{
	if (!task->done)
		return end_unseen;
	return task->one_shot ? end_one_shot : task->done;
}

static void end_timed(struct pier_task *task, void *arg)
{
	struct pier_ctx *ctx = task->ctx;
	bool stop;

	pier__task_was_timed(task);
	stop = task->status == -ETIMEDOUT && ctx->stop_on_task_error;
	usual_end(task)(task, arg);
	if (stop && ctx->state == PIER_CTX_RUNNING)
		pier__ctx_stop(ctx);
}

void pier__task_set_end(struct pier_task *task)
{
	task->usual = task->timeout_ms ? end_timed : usual_end(task);
	if (!task->part)
		task->end = task->usual;
}

static void set_done(struct pier_task *task, pier_task_fn *fn, void *arg)
{
	task->done = fn;
	task->arg = arg;
	pier__task_set_end(task);
}

void pier_task_set_done(struct pier_task *task, pier_task_fn *fn, void *arg)
{
	struct pier__guard *guard;

	if (!task)
		return;
	guard = guard_of(task);
	if (pier__task_enter(task, guard, "pier_task_set_done"))
		return;
	if (!pier__task_busy(task))	/* it may wait to be retrieved */
		pier__list_del(&task->link);
	set_done(task, fn, arg);
	pier__guard_leave(guard);
}

void pier__task_reset(struct pier_task *task)
{
	task->one_shot = false;
	task->part = NULL;
	task->status = 0;
	set_done(task, NULL, NULL);
}

int pier__task_named(const struct pier_task *task, int err)
{
	if (err == -EAGAIN && task->trying)	/* without a message */
		return err;
	return pier__fail_named(err, task->ctx->name, pier__task_name(task));
}

static int submit_error(const struct pier_task *task, unsigned int flags)
{
	if (pier__task_busy(task))
		return pier__fail(-EBUSY, "submitted twice");
	if (task->ctx->state != PIER_CTX_RUNNING)
		return pier__fail(-ESHUTDOWN, "the context is %s",
				  pier_ctx_state_name(task->ctx->state));
	if (flags & ~(unsigned int)PIER_SUBMIT_MORE)
		return pier__fail(-EINVAL, "unknown flags 0x%x, allowed are "
				  "0x%x", flags, PIER_SUBMIT_MORE);
	return 0;
}

static int submit_claimed(struct pier_task *task, unsigned int flags)
{
	(void)flags;
	pier__fail(-EBUSY, "submitted while an instance of a graph has it: "
		   "submit it when that has finished");
	return pier__task_named(task, -EBUSY);
}

static void claimed_error(const struct pier_task *task,
			  struct pier_task_error *ret)
{
	task->own->error(task, ret);
}

const struct pier__task_ops pier__task_claimed_ops = {
	.submit = submit_claimed,
	.error = claimed_error,
};

int pier__task_submit_error(const struct pier_task *task, unsigned int flags)
{
	int err = submit_error(task, flags);

	return err ? pier__task_named(task, err) : 0;
}

static int check_change(const struct pier_task *task)
{
	if (pier__task_busy(task))
		return pier__fail(-EBUSY, "%s: changed while submitted",
				  pier__task_name(task));
	if (!pier__task_is_claimed(task))
		return 0;
	if (!is_adjustable(task))
		return pier__fail(-EBUSY, "%s: changed while an instance of a "
				  "graph has it: change it when that has "
				  "finished, or in a function of that",
				  pier__task_name(task));
	task->ctx->pe->adjusted = true;
	return 0;
}

int pier__task_check_change(const struct pier_task *task)
{
	struct pier__guard *guard = guard_of(task);
	int err = pier__task_enter(task, guard, "a call that changes a task");

	if (err)
		return err;
	err = check_change(task);
	pier__guard_leave(guard);
	return err;
}

void pier__task_keep_text(struct pier_task *task, const char *text)
{
	size_t len = strnlen(text, PIER__ERROR_TEXT - 1);

	if (!task->text)
		return;
	memcpy(task->text, text, len);
	task->text[len] = '\0';
}

void pier__task_finish_failed(struct pier_task *task, int status)
{
	struct pier_ctx *ctx = task->ctx;
	bool stop = status != -ECANCELED && ctx->stop_on_task_error;

	pier__task_named(task, status);
	pier__task_keep_text(task, pier_last_error());
	pier__task_finish(task, status);
	if (stop && ctx->state == PIER_CTX_RUNNING)
		pier__ctx_stop(ctx);
}

int pier_task_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__guard *guard;
	int err;

	if (!task)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(task->ctx);
	err = pier__task_enter(task, guard, "pier_task_submit");
	if (err)
		return err;
	err = task->ops->submit(task, flags);
	pier__guard_leave(guard);
	return err;
}

static int try_submit(struct pier_task *task, unsigned int flags)
{
	int err = 0;

	if (task->ops->check) {
		err = pier__task_submit_error(task, flags);
		if (!err)
			err = task->ops->check(task);
		if (err)
			err = pier__task_named(task, err);
	}
	return err ? err : pier__task_submit_quietly(task, task->ops, flags);
}

int pier_task_try_submit(struct pier_task *task, unsigned int flags)
{
	struct pier__guard *guard;
	int err;

	if (!task)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(task->ctx);
	err = pier__task_enter(task, guard, "pier_task_try_submit");
	if (err)
		return err;
	err = try_submit(task, flags);
	pier__guard_leave(guard);
	return err;
}

static int freed_twice(void)
{
	return pier__fail(-EINVAL, "task: freed twice");
}

static int free_task(struct pier_task *task)
{
	int err = 0;

	if (pier__task_is_free(task))
		return freed_twice();
	if (pier__task_busy(task))
		err = pier__fail(-EBUSY, "freed in flight: free it when it "
				 "has finished");
	else if (is_placed(task))
		err = pier__fail(-EBUSY, "freed while an instance of a graph "
				 "has it: free it when that has finished");
	if (err)
		return pier__task_named(task, err);
	pier__task_release(task);
	return 0;
}

bool pier_task_may_free(const struct pier_task *task)
{
	if (!task)
		return false;
	return !pier__task_is_free(task) && !pier__task_busy(task) &&
	       !is_placed(task);
}

bool pier_task_may_change(const struct pier_task *task)
{
	if (!task || pier__task_is_free(task) || pier__task_busy(task))
		return false;
	return !pier__task_is_claimed(task) || is_adjustable(task);
}

int pier_task_free(struct pier_task *task)
{
	struct pier__guard *guard = task ? guard_of(task) : NULL;
	int err;

	if (!task)
		return 0;
	err = pier__task_enter(task, guard, "pier_task_free");
	if (err)
		return err;
	err = free_task(task);
	pier__guard_leave(guard);
	return err;
}

static void end_abandoned(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

/* It is freed as a one-shot is, or when its instance gives it back. */
static void __attribute__((noinline)) abandon(struct pier_task *task)
{
	if (!pier__task_busy(task))	/* it may wait to be retrieved */
		pier__list_del(&task->link);
	task->one_shot = true;
	set_done(task, end_abandoned, NULL);
	if (pier__task_busy(task))
		pier__task_cancel(task);
}

void pier_task_abandon(struct pier_task *task)
{
	struct pier__guard *guard = task ? guard_of(task) : NULL;

	if (!task || pier__task_enter(task, guard, "pier_task_abandon"))
		return;
	if (pier__task_is_free(task))
		freed_twice();
	else if (pier__task_busy(task) || is_placed(task))
		abandon(task);
	else
		pier__task_release(task);
	pier__guard_leave(guard);
}

void pier__task_leave(struct pier_task *task)
{
	task->part = NULL;
	if (task->timeout_ms)
		pier__task_was_timed(task);
	task->end = task->usual;
}

/* As end_timed() does, but before its instance goes on. */
void pier__task_end_timed_node(struct pier_task *task)
{
	struct pier_ctx *ctx = task->ctx;

	pier__task_was_timed(task);
	if (task->status == -ETIMEDOUT && ctx->stop_on_task_error &&
	    ctx->state == PIER_CTX_RUNNING)
		pier__ctx_stop(ctx);
}

int pier__task_one_shot(struct pier_task *task, pier_task_fn *fn, void *arg)
{
	int err;

	task->one_shot = true;
	pier_task_set_done(task, fn, arg);
	err = pier_task_submit(task, 0);
	if (err)
		pier__task_release(task);
	return err;
}

int pier_task_status(const struct pier_task *task)
{
	return task->status;
}

enum pier_task_type pier_task_type(const struct pier_task *task)
{
	return task ? task->type : PIER_TASK_SEND;
}

struct pier_ctx *pier_task_ctx(const struct pier_task *task)
{
	if (!task)
		return NULL;
	return task->ctx;
}

void *pier_task_arg(const struct pier_task *task)
{
	if (!task)
		return NULL;
	return task->arg;
}

struct pier_conn *pier_task_conn(const struct pier_task *task)
{
	if (!task)
		return NULL;
	return task->conn;
}

/* Of what is known here: its kind may know of a connection. */
static enum pier_scope scope(const struct pier_task *task)
{
	bool orphan = task->pool && task->pool->orphan;

	if (orphan || task->ctx->state != PIER_CTX_RUNNING)
		return PIER_SCOPE_CTX;
	return pier_error_scope(task->status);
}

void pier_task_error(const struct pier_task *task, struct pier_task_error *ret)
{
	if (!task)
		return;
	memset(ret, 0, sizeof(*ret));
	if (!task->status || task->status == -EINPROGRESS)
		return;
	ret->status = task->status;
	ret->verbs_status = -1;
	ret->scope = scope(task);
	task->ops->error(task, ret);
}

enum pier_scope pier_task_error_scope(const struct pier_task *task)
{
	struct pier_task_error error = { 0 };

	pier_task_error(task, &error);
	return error.status ? error.scope : PIER_SCOPE_TASK;
}

const char *pier_task_error_text(const struct pier_task *task)
{
	if (!task || !task->status || pier__task_busy(task))
		return "";
	return task->text ? task->text : pier_strerror(task->status);
}
