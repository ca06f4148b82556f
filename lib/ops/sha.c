/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <pier/sha.h>

#include "core/fail.h"
#include "engine/worker.h"
#include "ops/cpu_ctx.h"
#include "ops/digest.h"
#include "ops/local_buf.h"

struct pier_sha {
	struct pier__cpu_ctx cpu;	/* first */
	struct pier__worker worker;	/* while not idle */
	struct pier__digest *digest;	/* the worker's */
	struct pier_task *finished;	/* to be completed, by their next */
};

/* Between submit and completion @status, @held and @digest are the worker's. */
struct sha_task {
	struct pier_task task;		/* first */
	enum pier_sha_algorithm algorithm;
	struct pier_buf *src, *dst;	/* NULL: none */
	struct pier_buf *held[2];	/* their chains, while submitted */
	bool plain;			/* the last time both were one */
	uint64_t stamp[2];		/* buffer, of these stamps */
	size_t len;			/* of the digest */
	int status;			/* -EINPROGRESS: not begun; -EINVAL: */
					/* there is nothing to begin with */
	uint8_t digest[PIER_SHA_DIGEST_MAX];
};

static struct sha_task *sha_task(struct pier_task *task)
{
	return pier__container_of(task, struct sha_task, task);
}

static struct pier_sha *of(struct pier__cpu_ctx *cpu)
{
	return pier__container_of(cpu, struct pier_sha, cpu);
}

/* On the worker. */
static void hash(struct pier_task *task, void *arg)
{
	struct pier_sha *sha = arg;
	struct sha_task *t = sha_task(task);

	if (t->status == -EINPROGRESS)
		t->status = pier__digest_chain(sha->digest, t->algorithm,
					       t->held[0], t->digest);
}

static void __attribute__((noinline)) hold_any(struct sha_task *t)
{
	struct pier__guard *guard = pier__ctx_guard(t->task.ctx);

	t->held[0] = pier__local_hold(t->src, guard);
	t->held[1] = pier__local_hold(t->dst, guard);
	t->status = -EINVAL;
	if (pier__local_usable(t->src, t->held[0]) &&
	    pier_buf_chain_data_len(t->src) <= PIER_SHA_MAX)
		t->status = -EINPROGRESS;
	t->plain = t->status == -EINPROGRESS &&
		   pier__local_is_plain(t->src, t->dst, t->stamp);
}

/* The usual case is that of the same buffers again, one to one. */
static inline void hold(struct sha_task *t)
{
	struct pier_buf *src = t->src, *dst = t->dst;

	if (!t->plain || !pier__local_is_same(src, dst, t->stamp) ||
	    src->data_len > PIER_SHA_MAX) {
		hold_any(t);
		return;
	}
	src->refs++;
	dst->refs++;
	t->status = -EINPROGRESS;
}

static int submit(struct pier_task *task, unsigned int flags)
{
	if (!pier__cpu_may_submit(task, flags))
		return pier__task_submit_error(task, flags);
	hold(sha_task(task));
	pier__task_submitted(task);
	pier__worker_pass(&of(pier__cpu_of(task->ctx))->worker, task);
	return 0;
}

static int check_source(const struct sha_task *t)
{
	int err = pier__local_check(t->src, t->held[0], "hash", "source");
	size_t len;

	if (err)
		return err;
	len = pier_buf_chain_data_len(t->src);
	if (len > PIER_SHA_MAX)
		return pier__fail(-EMSGSIZE, "hash: %zu bytes, at most %u",
				  len, PIER_SHA_MAX);
	return 0;
}

static int check_destination(const struct sha_task *t)
{
	int err = pier__local_check(t->dst, t->held[1], "hash", "destination");

	return err ? err : pier__local_check_tail(t->dst, t->len, "hash");
}

/* It is not submitted: nothing is held. */
static int check(struct pier_task *task)
{
	struct sha_task *t = sha_task(task);
	int err;

	t->held[0] = pier__local_chain(t->src);
	t->held[1] = pier__local_chain(t->dst);
	err = check_source(t);
	return err ? err : check_destination(t);
}

/* What became of the source. */
static int check_hashed(const struct sha_task *t)
{
	int err = check_source(t);

	if (err)
		return err;
	if (t->status == -EINVAL)
		return pier__fail(-EINVAL, "hash: the source was changed "
				  "while the task was submitted");
	if (t->status == -EOPNOTSUPP)
		return pier__digest_lacks(t->algorithm);
	if (t->status)
		return pier__fail(t->status, "hash: libcrypto failed");
	return 0;
}

/* Append the digest; its status. */
static int deliver(const struct sha_task *t)
{
	int err = check_hashed(t);

	if (!err)
		err = check_destination(t);
	if (err)
		return err;
	pier__local_append(t->dst, t->digest, t->len);
	return 0;
}

static int not_begun(const struct pier_sha *sha, const struct pier_task *task)
{
	return sha->cpu.ctx.state == PIER_CTX_STOPPING ?
		       pier__cpu_cancelled(&sha->cpu) :
		       pier__task_cancelled(task);
}

static void __attribute__((noinline))
finish_any(struct pier_sha *sha, struct pier_task *task)
{
	struct sha_task *t = sha_task(task);
	int status = t->status == -EINPROGRESS ?
			     not_begun(sha, task) : deliver(t);

	pier__local_drop(t->held[0]);
	pier__local_drop(t->held[1]);
	if (status)
		pier__task_finish_failed(task, status);
	else
		pier__task_finish(task, 0);
}

static inline void finish(struct pier_sha *sha, struct pier_task *task)
{
	struct sha_task *t = sha_task(task);
	struct pier_buf *dst = t->dst;

	if (!t->plain || t->status || t->len > pier__buf_tail_len(dst)) {
		finish_any(sha, task);
		return;
	}
	memcpy((void *)pier__buf_tail(dst), t->digest, t->len);
	dst->data_len += t->len;
	pier__local_drop(t->src);
	pier__local_drop(dst);
	pier__task_finish(task, 0);
}

/* Finished tasks, behind those that are to be completed already. */
static void add_finished(struct pier_sha *sha, struct pier_task *tasks)
{
	struct pier_task **end = &sha->finished;

	while (*end)
		end = &(*end)->next;
	*end = tasks;
}

/* One that the worker has begun is completed. */
static int cancel(struct pier_task *task)
{
	struct pier_sha *sha = of(pier__cpu_of(task->ctx));

	if (!pier__worker_recall_one(&sha->worker, task))
		return 0;
	task->next = NULL;
	add_finished(sha, task);
	if (sha->cpu.source.armed)
		pier__pe_nudge(sha->cpu.ctx.pe);
	return 0;
}

static void bufs(struct pier_task *task, struct pier_buf *ret[2])
{
	ret[0] = sha_task(task)->src;
	ret[1] = sha_task(task)->dst;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.check = check,
	.release = pier__task_pool_give,
	.error = pier__cpu_task_error,
	.bufs = bufs,
	.cancel = cancel,
};

static int poll(struct pier__source *source, int budget)
{
	struct pier__cpu_ctx *cpu = pier__cpu_of_source(source);
	struct pier_sha *sha = of(cpu);
	int did = 0;

	if (!sha->finished && pier__worker_ready(&sha->worker))
		sha->finished = pier__worker_take(&sha->worker);
	for (; sha->finished && did < budget; did++) {
		struct pier_task *task = sha->finished;

		sha->finished = task->next;
		finish(sha, task);
	}
	pier__cpu_check_ended(cpu);
	return did;
}

static int arm(struct pier__cpu_ctx *cpu)
{
	struct pier_sha *sha = of(cpu);

	return sha->finished || pier__worker_ready(&sha->worker) ?
		       -EAGAIN : 0;
}

static int start(struct pier__cpu_ctx *cpu)
{
	struct pier_sha *sha = of(cpu);
	int err = pier__digest_create(&sha->digest);

	if (err)
		return err;
	sha->finished = NULL;
	err = pier__worker_start(&sha->worker, cpu->ctx.pe, hash, sha);
	if (err)
		pier__digest_destroy(sha->digest);
	return err;
}

/* What is not begun is cancelled; what is being computed is waited for. */
static void stop(struct pier__cpu_ctx *cpu)
{
	struct pier_sha *sha = of(cpu);

	add_finished(sha, pier__worker_recall(&sha->worker));
}

static void stopped(struct pier__cpu_ctx *cpu)
{
	struct pier_sha *sha = of(cpu);

	pier__worker_stop(&sha->worker);
	pier__digest_destroy(sha->digest);
}

static void free_sha(struct pier__cpu_ctx *cpu)
{
	free(of(cpu));
}

static const struct pier__cpu_ops ops = {
	.name = "sha",
	.task_size = sizeof(struct sha_task),
	.task = &task_ops,
	.start = start,
	.poll = poll,
	.arm = arm,
	.stop = stop,
	.stopped = stopped,
	.free = free_sha,
};

int pier_sha_create(struct pier_sha **ret)
{
	struct pier_sha *sha = calloc(1, sizeof(*sha));

	if (!sha)
		return pier__fail(-ENOMEM, "sha: no memory");
	pier__cpu_init(&sha->cpu, &ops, NULL);
	sha->cpu.ctx.drain_ms = INT_MAX;	/* a digest always ends */
	*ret = sha;
	return 0;
}

int pier_sha_configure(struct pier_sha *sha, const struct pier_sha_config *cfg)
{
	if (!sha)
		return pier__no_object(__func__);
	return pier__cpu_configure(&sha->cpu, cfg, cfg->size);
}

void pier_sha_get_config(const struct pier_sha *sha,
			 struct pier_sha_config *ret)
{
	if (!sha)
		return;
	_Static_assert(sizeof(*ret) == sizeof(sha->cpu.cfg), "the same");
	memcpy(ret, &sha->cpu.cfg, sizeof(*ret));
}

void pier_sha_destroy(struct pier_sha *sha)
{
	if (sha)
		pier__cpu_destroy(&sha->cpu);
}

struct pier_ctx *pier_sha_ctx(struct pier_sha *sha)
{
	if (!sha)
		return NULL;
	return &sha->cpu.ctx;
}

int pier_sha_task_hash(struct pier_sha *sha, enum pier_sha_algorithm algorithm,
		       struct pier_buf *src, struct pier_buf *dst,
		       struct pier_task **ret)
{
	size_t len;
	struct sha_task *t;
	int err;

	if (!sha)
		return pier__no_object(__func__);
	len = pier_sha_digest_len(algorithm);
	if (!len)
		return pier__fail(-EINVAL, "hash: algorithm %d, 0 to %d",
				  (int)algorithm, PIER_SHA_512);
	err = pier__cpu_take(&sha->cpu, PIER_TASK_HASH, ret);
	if (err)
		return err;
	t = sha_task(*ret);
	t->algorithm = algorithm;
	t->len = len;
	t->src = src;
	t->dst = dst;
	t->plain = false;
	return 0;
}

int pier_sha_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			   struct pier_buf *dst)
{
	struct sha_task *t;
	int err;

	if (!task)
		return pier__no_object(__func__);
	t = sha_task(task);
	err = pier__cpu_may_change(task, PIER_TASK_HASH);
	if (err)
		return err;
	t->src = src;
	t->dst = dst;
	t->plain = false;
	return 0;
}

int pier_sha_hash(struct pier_sha *sha, enum pier_sha_algorithm algorithm,
		  struct pier_buf *src, struct pier_buf *dst, pier_task_fn *fn,
		  void *arg)
{
	struct pier_task *task;
	int err = pier_sha_task_hash(sha, algorithm, src, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
