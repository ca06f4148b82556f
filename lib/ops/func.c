/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/func.h>

#include "core/fail.h"
#include "ops/cpu_ctx.h"

struct pier_func {
	struct pier__cpu_ctx cpu;	/* first */
};

struct func_task {
	struct pier_task task;		/* first */
	pier_func_fn *call;
	void *arg;
};

static struct func_task *func_task(struct pier_task *task)
{
	return pier__container_of(task, struct func_task, task);
}

static int run(struct pier_task *task)
{
	struct func_task *t = func_task(task);
	int status = t->call(t->arg);

	if (!status || status == -EINPROGRESS || status == -EAGAIN)
		return status;
	if (status > 0)
		return pier__fail(-EINVAL, "call: the function returned %d, "
				  "allowed is 0 or a negative error", status);
	return pier__fail(status, "call: the function failed: %s",
			  pier_strerror(status));
}

static void free_func(struct pier__cpu_ctx *cpu)
{
	free(pier__container_of(cpu, struct pier_func, cpu));
}

static const struct pier__cpu_ops ops = {
	.name = "func",
	.task_size = sizeof(struct func_task),
	.run = run,
	.free = free_func,
};

int pier_func_create(struct pier_func **ret)
{
	struct pier_func *func = calloc(1, sizeof(*func));

	if (!func)
		return pier__fail(-ENOMEM, "func: no memory");
	pier__cpu_init(&func->cpu, &ops, NULL);
	*ret = func;
	return 0;
}

int pier_func_configure(struct pier_func *func,
			const struct pier_func_config *cfg)
{
	if (!func)
		return pier__no_object(__func__);
	return pier__cpu_configure(&func->cpu, cfg, cfg->size);
}

void pier_func_get_config(const struct pier_func *func,
			  struct pier_func_config *ret)
{
	if (!func)
		return;
	_Static_assert(sizeof(*ret) == sizeof(func->cpu.cfg), "the same");
	memcpy(ret, &func->cpu.cfg, sizeof(*ret));
}

void pier_func_destroy(struct pier_func *func)
{
	if (func)
		pier__cpu_destroy(&func->cpu);
}

struct pier_ctx *pier_func_ctx(struct pier_func *func)
{
	if (!func)
		return NULL;
	return &func->cpu.ctx;
}

static int check_call(pier_func_fn *call)
{
	return call ? 0 : pier__fail(-EINVAL, "call: no function");
}

int pier_func_task_call(struct pier_func *func, pier_func_fn *call,
			void *call_arg, struct pier_task **ret)
{
	struct func_task *t;
	int err;

	if (!func)
		return pier__no_object(__func__);
	err = check_call(call);
	if (!err)
		err = pier__cpu_take(&func->cpu, PIER_TASK_CALL, ret);
	if (err)
		return err;
	t = func_task(*ret);
	t->call = call;
	t->arg = call_arg;
	return 0;
}

int pier_func_task_set(struct pier_task *task, pier_func_fn *call,
		       void *call_arg)
{
	struct func_task *t;
	int err;

	if (!task)
		return pier__no_object(__func__);
	t = func_task(task);
	err = check_call(call);
	if (!err)
		err = pier__cpu_may_change(task, PIER_TASK_CALL);
	if (err)
		return err;
	t->call = call;
	t->arg = call_arg;
	return 0;
}

int pier_func_call(struct pier_func *func, pier_func_fn *call, void *call_arg,
		   pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_func_task_call(func, call, call_arg, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
