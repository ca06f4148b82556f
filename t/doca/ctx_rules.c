/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>
#include <doca_mmap_advise.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What contexts of all kinds have in common. */

#define TASKS 3

static const union doca_data no_data = { .ptr = NULL };
static struct end a;

/* The one that is tested, of the kind that is tested. */
static union {
	struct doca_dma *dma;
	struct doca_mmap_advise *advise;
	struct doca_sync_event *event;
	struct doca_rdma *rdma;
} object;
static struct doca_ctx *ctx;
static struct doca_buf *src, *dst;

/* What has happened: a letter for each state, and for the end of a task. */
static char seen[32];
static char seen_inside[32];	/* when the callback of a task returned */
static bool stop_inside, stop_when_running, destroy_when_idle;
static doca_error_t (*destroy_it)(void);

static void saw(char what)
{
	size_t len = strlen(seen);

	if (len < sizeof(seen) - 1) {
		seen[len] = what;
		seen[len + 1] = '\0';
	}
}

static void ended(struct doca_task *task)
{
	enum doca_ctx_states state;

	IS(doca_task_get_status(task), DOCA_SUCCESS);
	saw('e');
	if (!stop_inside)
		return;
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_STOPPING);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	memcpy(seen_inside, seen, sizeof(seen));
}

static void dma_ended(struct doca_dma_task_memcpy *task, union doca_data data,
		      union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	ended(doca_dma_task_memcpy_as_task(task));
}

static struct doca_ctx *dma_create(void)
{
	IS(doca_dma_create(a.dev, &object.dma), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(object.dma, dma_ended, dma_ended,
					 TASKS), DOCA_SUCCESS);
	return doca_dma_as_ctx(object.dma);
}

static doca_error_t dma_destroy(void)
{
	return doca_dma_destroy(object.dma);
}

static doca_error_t dma_conf(void)
{
	return doca_dma_task_memcpy_set_conf(object.dma, dma_ended, dma_ended,
					     1);
}

static doca_error_t dma_take(struct doca_task **ret)
{
	struct doca_dma_task_memcpy *task = NULL;
	doca_error_t error = doca_dma_task_memcpy_alloc_init(
		object.dma, src, dst, no_data, &task);

	*ret = task ? doca_dma_task_memcpy_as_task(task) : NULL;
	return error;
}

static void
advise_ended(struct doca_mmap_advise_task_invalidate_cache *task,
	     union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	ended(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
}

static doca_error_t advise_conf(void)
{
	return doca_mmap_advise_task_invalidate_cache_set_conf(
		object.advise, advise_ended, advise_ended, TASKS);
}

static struct doca_ctx *advise_create(void)
{
	IS(doca_mmap_advise_create(a.dev, &object.advise), DOCA_SUCCESS);
	IS(advise_conf(), DOCA_SUCCESS);
	return doca_mmap_advise_as_ctx(object.advise);
}

static doca_error_t advise_destroy(void)
{
	return doca_mmap_advise_destroy(object.advise);
}

static doca_error_t advise_take(struct doca_task **ret)
{
	struct doca_mmap_advise_task_invalidate_cache *task = NULL;
	doca_error_t error = doca_mmap_advise_task_invalidate_cache_alloc_init(
		object.advise, src, no_data, &task);

	*ret = task ? doca_mmap_advise_task_invalidate_cache_as_doca_task(task)
		    : NULL;
	return error;
}

static void event_ended(struct doca_sync_event_task_notify_set *task,
			union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	ended(doca_sync_event_task_notify_set_as_doca_task(task));
}

static doca_error_t event_conf(void)
{
	return doca_sync_event_task_notify_set_set_conf(
		object.event, event_ended, event_ended, TASKS);
}

static struct doca_ctx *event_create(void)
{
	object.event = end_event(a.dev);
	IS(event_conf(), DOCA_SUCCESS);
	return doca_sync_event_as_ctx(object.event);
}

static doca_error_t event_destroy(void)
{
	return doca_sync_event_destroy(object.event);
}

static doca_error_t event_take(struct doca_task **ret)
{
	struct doca_sync_event_task_notify_set *task = NULL;
	doca_error_t error = doca_sync_event_task_notify_set_alloc_init(
		object.event, 7, no_data, &task);

	*ret = task ? doca_sync_event_task_notify_set_as_doca_task(task) : NULL;
	return error;
}

static void rdma_ended(struct doca_rdma_task_receive *task,
		       union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	saw('f');	/* flushed: nothing is sent */
}

static doca_error_t rdma_conf(void)
{
	return doca_rdma_task_receive_set_conf(object.rdma, rdma_ended,
					       rdma_ended, TASKS);
}

static struct doca_ctx *rdma_create(void)
{
	IS(doca_rdma_create(a.dev, &object.rdma), DOCA_SUCCESS);
	IS(rdma_conf(), DOCA_SUCCESS);
	return doca_rdma_as_ctx(object.rdma);
}

static doca_error_t rdma_destroy(void)
{
	return doca_rdma_destroy(object.rdma);
}

static doca_error_t rdma_take(struct doca_task **ret)
{
	struct doca_rdma_task_receive *task = NULL;
	doca_error_t error = doca_rdma_task_receive_allocate_init(
		object.rdma, NULL, no_data, &task);

	*ret = task ? doca_rdma_task_receive_as_task(task) : NULL;
	return error;
}

static const struct kind {
	struct doca_ctx *(*create)(void);
	doca_error_t (*destroy)(void);
	doca_error_t (*conf)(void);
	doca_error_t (*take)(struct doca_task **ret);
	doca_error_t not_idle;		/* of conf */
} kinds[] = {
	{ dma_create, dma_destroy, dma_conf, dma_take, DOCA_ERROR_BAD_STATE },
	{ advise_create, advise_destroy, advise_conf, advise_take,
	  DOCA_ERROR_BAD_STATE },
	{ event_create, event_destroy, event_conf, event_take,
	  DOCA_ERROR_NOT_PERMITTED },
	{ rdma_create, rdma_destroy, rdma_conf, rdma_take,
	  DOCA_ERROR_BAD_STATE },	/* last: its tasks wait for a peer */
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void state_changed(const union doca_data data, struct doca_ctx *its,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	enum doca_ctx_states now;
	static const enum doca_ctx_states before[] = {
		[DOCA_CTX_STATE_IDLE] = DOCA_CTX_STATE_STOPPING,
		[DOCA_CTX_STATE_RUNNING] = DOCA_CTX_STATE_IDLE,
		[DOCA_CTX_STATE_STOPPING] = DOCA_CTX_STATE_RUNNING,
	};

	OK(data.ptr == &a);
	OK(its == ctx);
	OK(next != DOCA_CTX_STATE_STARTING);
	IS(prev, before[next]);
	IS(doca_ctx_get_state(its, &now), DOCA_SUCCESS);
	IS(now, next);
	saw("ITRS"[next]);
	if (next == DOCA_CTX_STATE_RUNNING && stop_when_running)
		doca_ctx_stop(its);
	if (next == DOCA_CTX_STATE_IDLE && destroy_when_idle) {
		IS(destroy_it(), DOCA_SUCCESS);
		destroy_when_idle = false;
	}
}

static void create(const struct kind *kind)
{
	union doca_data data = { .ptr = &a };

	seen[0] = seen_inside[0] = '\0';
	stop_inside = stop_when_running = destroy_when_idle = false;
	destroy_it = kind->destroy;
	ctx = kind->create();
	IS(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(ctx, state_changed), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	IS(doca_pe_connect_ctx(a.pe, ctx), DOCA_SUCCESS);
	src = end_data(&a, 0, 8);
	dst = end_space(&a, 8, 8);
}

static void drive(const char *want)
{
	for (long i = 0; i < 20000000 && strcmp(seen, want); i++)
		doca_pe_progress(a.pe);
	IS_STR(seen, want);
}

static void put_bufs(void)
{
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
}

static void with_each(void (*check)(const struct kind *kind), size_t count)
{
	end_open(&a);
	for (size_t i = 0; i < count; i++) {
		create(&kinds[i]);
		check(&kinds[i]);
		put_bufs();
	}
	end_close(&a);
}

static void check_states(const struct kind *kind)
{
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS_STR(seen, "R");
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(kind->destroy(), DOCA_ERROR_BAD_STATE);
	IS(kind->conf(), kind->not_idle);
	IS(doca_pe_connect_ctx(a.pe, ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_pe_destroy(a.pe), DOCA_ERROR_IN_USE);
	doca_ctx_stop(ctx);
	drive("RSI");
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS_STR(seen, "RSI");
	IS(kind->destroy(), DOCA_SUCCESS);
}

static void every_context_runs_when_its_start_returns(void)
{
	with_each(check_states, KINDS);
}

static void check_tasks(const struct kind *kind)
{
	struct doca_task *tasks[TASKS], *more;

	IS(kind->take(&more), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	for (int i = 0; i < TASKS; i++) {
		IS(kind->take(&tasks[i]), DOCA_SUCCESS);
		OK(doca_task_get_ctx(tasks[i]) == ctx);
	}
	IS(kind->take(&more), DOCA_ERROR_NO_MEMORY);
	doca_task_free(tasks[1]);
	IS(kind->take(&tasks[1]), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_task_submit(tasks[0]), DOCA_ERROR_BAD_STATE);
	IS(doca_task_try_submit(tasks[0]), DOCA_ERROR_BAD_STATE);
	IS(kind->take(&more), DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < TASKS; i++) {
		for (int j = 0; j < 1000; j++)
			doca_pe_progress(a.pe);
		IS_STR(seen, "RS");	/* until all are freed */
		doca_task_free(tasks[i]);
	}
	drive("RSI");
	IS(kind->destroy(), DOCA_SUCCESS);
}

static void every_context_has_the_tasks_that_were_asked_for(void)
{
	with_each(check_tasks, KINDS);
}

static void check_stop(const struct kind *kind)
{
	struct doca_task *task;

	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(kind->take(&task), DOCA_SUCCESS);
	stop_inside = true;
	IS(doca_task_submit(task), DOCA_SUCCESS);
	IS_STR(seen, "R");		/* never inside submit */
	drive("ReS");
	IS_STR(seen_inside, "ReS");	/* reported inside the stop */
	doca_task_free(task);
	IS_STR(seen, "ReS");
	drive("ReSI");
	IS(kind->destroy(), DOCA_SUCCESS);
}

static void a_stop_in_a_callback_is_reported_inside(void)
{
	with_each(check_stop, KINDS - 1);
}

static void check_early_stop(const struct kind *kind)
{
	(void)kind;
	stop_when_running = true;
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	drive("RSI");
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(destroy_it(), DOCA_SUCCESS);
}

static void every_context_may_stop_when_it_runs(void)
{
	with_each(check_early_stop, KINDS);
}

static void check_last_callback(const struct kind *kind)
{
	(void)kind;
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	destroy_when_idle = true;
	doca_ctx_stop(ctx);
	drive("RSI");
	OK(!destroy_when_idle);
}

static void every_object_may_be_destroyed_when_it_is_idle(void)
{
	with_each(check_last_callback, KINDS);
}

int main(void)
{
	TEST(every_context_runs_when_its_start_returns);
	TEST(every_context_has_the_tasks_that_were_asked_for);
	TEST(a_stop_in_a_callback_is_reported_inside);
	TEST(every_context_may_stop_when_it_runs);
	TEST(every_object_may_be_destroyed_when_it_is_idle);
	return tap_done();
}
