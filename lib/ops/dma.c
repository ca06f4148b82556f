/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "ops/dma_impl.h"

int pier__dma_check_len(size_t len)
{
	if (!len)
		return pier__fail(-EINVAL, "copy: the source has no data: "
				  "set it by pier_buf_set_data()");
	if (len > PIER_DMA_MAX)
		return pier__fail(-EMSGSIZE, "copy: %zu bytes, at most %u",
				  len, PIER_DMA_MAX);
	return 0;
}

/* The data of @src behind that of @dst; there is enough tail space. */
static void copy(const struct pier_buf *src, const struct pier_buf *dst)
{
	size_t done = 0, filled = 0, n;

	while (src) {
		size_t left = src->data_len - done;
		size_t tail = pier__buf_tail_len(dst) - filled;

		n = left < tail ? left : tail;
		memmove((char *)pier__buf_tail(dst) + filled,
			(const char *)src->data + done, n);
		done += n;
		filled += n;
		if (n == left) {
			src = src->next;
			done = 0;
		} else {
			dst = dst->next;
			filled = 0;
		}
	}
}

/* Both sides are local, or should be. */
static int check_local(const struct pier__dma_task *t)
{
	int err = pier__local_check(t->src, t->held[0], "copy", "source");
	size_t len;

	if (!err)
		err = pier__local_check(t->dst, t->held[1], "copy",
					"destination");
	if (err)
		return err;
	len = pier_buf_chain_data_len(t->src);
	err = pier__dma_check_len(len);
	return err ? err : pier__local_check_tail(t->dst, len, "copy");
}

static int __attribute__((noinline)) copy_any(const struct pier__dma_task *t)
{
	int err = check_local(t);

	if (err)
		return err;
	copy(t->src, t->dst);
	pier__buf_grow(t->dst, pier_buf_chain_data_len(t->src));
	return 0;
}

/* From here on it is none of the usual case. */
static void set_held(struct pier__dma_task *t)
{
	if (!t->plain)
		return;
	t->plain = false;
	t->held[0] = t->src;
	t->held[1] = t->dst;
}

void pier__dma_drop(struct pier_task *task)
{
	struct pier__dma_task *t = pier__dma_task(task);

	set_held(t);
	pier__local_drop(t->held[0]);
	pier__local_drop(t->held[1]);
}

static int __attribute__((noinline)) run_any(struct pier__dma_task *t)
{
	int status;

	set_held(t);
	status = pier__dma_is_remote(t) ? pier__dma_remote_run(t) : copy_any(t);
	if (status == PIER__CPU_ELSEWHERE)
		return status;
	pier__dma_drop(&t->task);
	return status;
}

/* The usual case is that of one buffer to one. */
static int run(struct pier_task *task)
{
	struct pier__dma_task *t = pier__dma_task(task);
	struct pier_buf *src = t->src, *dst = t->dst;
	size_t len;

	if (!t->plain)
		return run_any(t);
	len = src->data_len;
	if (len - 1 >= PIER_DMA_MAX || len > pier__buf_tail_len(dst))
		return run_any(t);
	memmove((void *)pier__buf_tail(dst), (const void *)src->data, len);
	dst->data_len += len;
	pier__local_drop(src);
	pier__local_drop(dst);
	return 0;
}

static void __attribute__((noinline)) hold_any(struct pier__dma_task *t)
{
	struct pier__guard *guard = pier__ctx_guard(t->task.ctx);

	t->held[0] = pier__local_hold(t->src, guard);
	t->held[1] = pier__local_hold(t->dst, guard);
	t->plain = pier__local_is_plain(t->src, t->dst, t->stamp);
}

/* The same buffers as the last time? */
static inline void hold(struct pier__dma_task *t)
{
	struct pier_buf *src = t->src, *dst = t->dst;

	if (!t->plain || !pier__local_is_same(src, dst, t->stamp)) {
		hold_any(t);
		return;
	}
	src->refs++;
	dst->refs++;
}

static int submit(struct pier_task *task, unsigned int flags)
{
	if (!pier__cpu_may_submit(task, flags))
		return pier__task_submit_error(task, flags);
	hold(pier__dma_task(task));
	pier__cpu_submit(task);
	return 0;
}

/* It is not submitted: nothing is held. */
static int check(struct pier_task *task)
{
	struct pier__dma_task *t = pier__dma_task(task);

	t->plain = false;
	t->held[0] = pier__local_chain(t->src);
	t->held[1] = pier__local_chain(t->dst);
	return pier__dma_is_remote(t) ? pier__dma_remote_check(t) :
					check_local(t);
}

static void bufs(struct pier_task *task, struct pier_buf *ret[2])
{
	ret[0] = pier__dma_task(task)->src;
	ret[1] = pier__dma_task(task)->dst;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.check = check,
	.release = pier__task_pool_give,
	.error = pier__cpu_task_error,
	.bufs = bufs,
	.cancel = pier__cpu_cancel,
};

static void stop(struct pier__cpu_ctx *cpu)
{
	pier__dma_remote_stop(pier__dma_of(cpu));
}

static bool stopping(struct pier__cpu_ctx *cpu)
{
	return pier__dma_remote_stopping(pier__dma_of(cpu));
}

static void free_dma(struct pier__cpu_ctx *cpu)
{
	struct pier_dma *dma = pier__dma_of(cpu);

	pier__dma_remote_free(dma);
	free(dma);
}

static const struct pier__cpu_ops ops = {
	.name = "dma",
	.task_size = sizeof(struct pier__dma_task),
	.task = &task_ops,
	.run = run,
	.cancel = pier__dma_drop,
	.recall = pier__dma_remote_recall,
	.stop = stop,
	.stopping = stopping,
	.free = free_dma,
};

int pier_dma_create(struct pier_dev *dev, struct pier_dma **ret)
{
	struct pier_dma *dma;

	if (!dev)
		return pier__no_object(__func__);
	dma = calloc(1, sizeof(*dma));
	if (!dma)
		return pier__fail(-ENOMEM, "dma: no memory");
	pier__cpu_init(&dma->cpu, &ops, dev);
	*ret = dma;
	return 0;
}

int pier_dma_configure(struct pier_dma *dma, const struct pier_dma_config *cfg)
{
	if (!dma)
		return pier__no_object(__func__);
	return pier__cpu_configure(&dma->cpu, cfg, cfg->size);
}

void pier_dma_get_config(const struct pier_dma *dma,
			 struct pier_dma_config *ret)
{
	if (!dma)
		return;
	_Static_assert(sizeof(*ret) == sizeof(dma->cpu.cfg), "the same");
	memcpy(ret, &dma->cpu.cfg, sizeof(*ret));
}

void pier_dma_destroy(struct pier_dma *dma)
{
	if (dma)
		pier__cpu_destroy(&dma->cpu);
}

struct pier_ctx *pier_dma_ctx(struct pier_dma *dma)
{
	if (!dma)
		return NULL;
	return &dma->cpu.ctx;
}

struct pier_dev *pier_dma_dev(const struct pier_dma *dma)
{
	if (!dma)
		return NULL;
	return dma->cpu.dev;
}

int pier_dma_task_copy(struct pier_dma *dma, struct pier_buf *src,
		       struct pier_buf *dst, struct pier_task **ret)
{
	struct pier__dma_task *t;
	int err;

	if (!dma)
		return pier__no_object(__func__);
	err = pier__cpu_take(&dma->cpu, PIER_TASK_COPY, ret);
	if (err)
		return err;
	t = pier__dma_task(*ret);
	t->src = src;
	t->dst = dst;
	t->plain = false;
	return 0;
}

int pier_dma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			   struct pier_buf *dst)
{
	struct pier__dma_task *t = pier__dma_task(task);
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = pier__cpu_may_change(task, PIER_TASK_COPY);
	if (err)
		return err;
	t->src = src;
	t->dst = dst;
	t->plain = false;
	return 0;
}

int pier_dma_copy(struct pier_dma *dma, struct pier_buf *src,
		  struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_dma_task_copy(dma, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
