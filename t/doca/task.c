/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>
#include <doca_mmap_advise.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Tasks and states, seen from callbacks, in the order of events. */

#define BYTES 64
#define TASKS 4
#define LIST 65

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_mmap *mmap;
static struct doca_buf_inventory *inv;
static char memory[2 * LIST * BYTES];

/* What callbacks have seen: a letter for each, upper case for states. */
static char seen[256];

static void saw(char what)
{
	size_t len = strlen(seen);

	if (len < sizeof(seen) - 1) {
		seen[len] = what;
		seen[len + 1] = '\0';
	}
}

static struct {
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_dma_task_memcpy *task;
	struct doca_task *next;		/* submit it when a copy has ended */
	bool take_when_running, stop_when_running, free_when_ended;
	doca_error_t status;
	size_t in_flight;
} d;

static void open_all(void)
{
	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(2 * LIST, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
}

static void close_all(void)
{
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static struct doca_buf *piece(int i, size_t data_len)
{
	struct doca_buf *buf = NULL;
	char *addr = memory + i * BYTES;

	IS(doca_buf_inventory_buf_get_by_args(inv, mmap, addr, BYTES, addr,
					      data_len, &buf), DOCA_SUCCESS);
	return buf;
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data data,
		   union doca_data ctx_data)
{
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	IS(ctx_data.u64, 7);
	OK(doca_task_get_ctx(base) == d.ctx);
	d.status = doca_task_get_status(base);
	IS(d.status, DOCA_SUCCESS);
	IS(doca_ctx_get_num_inflight_tasks(d.ctx, &d.in_flight), DOCA_SUCCESS);
	saw((char)data.u64);
	if (d.free_when_ended)
		doca_task_free(base);
	if (d.next)
		IS(doca_task_submit(d.next), DOCA_SUCCESS);
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data data,
		   union doca_data ctx_data)
{
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	(void)data;
	IS(ctx_data.u64, 7);
	d.status = doca_task_get_status(base);
	saw('f');
	if (d.free_when_ended)
		doca_task_free(base);
}

static struct doca_dma_task_memcpy *copy(struct doca_buf *src,
					 struct doca_buf *dst, char name)
{
	union doca_data data = { .u64 = (uint64_t)name };
	struct doca_dma_task_memcpy *task = NULL;

	IS(doca_dma_task_memcpy_alloc_init(d.dma, src, dst, data, &task),
	   DOCA_SUCCESS);
	return task;
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	enum doca_ctx_states now;

	IS(data.u64, 7);
	IS(doca_ctx_get_state(ctx, &now), DOCA_SUCCESS);
	IS(now, next);
	OK(prev != next);
	saw("ITRS"[next]);
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	if (d.take_when_running)
		d.task = copy(NULL, NULL, 't');
	if (d.stop_when_running)
		doca_ctx_stop(ctx);
}

static void prepare_dma(void)
{
	union doca_data data = { .u64 = 7 };

	memset(&d, 0, sizeof(d));
	seen[0] = '\0';
	IS(doca_dma_create(dev, &d.dma), DOCA_SUCCESS);
	d.ctx = doca_dma_as_ctx(d.dma);
	IS(doca_dma_task_memcpy_set_conf(d.dma, copied, failed, TASKS),
	   DOCA_SUCCESS);
	IS(doca_ctx_set_user_data(d.ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(d.ctx, state_changed), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, d.ctx), DOCA_SUCCESS);
}

static void start_dma(void)
{
	prepare_dma();
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);
}

static enum doca_ctx_states state(void)
{
	enum doca_ctx_states ret = DOCA_CTX_STATE_STARTING;

	IS(doca_ctx_get_state(d.ctx, &ret), DOCA_SUCCESS);
	return ret;
}

/* One call at a time, until @want is what was seen. */
static void drive(const char *want)
{
	for (int i = 0; i < 100000 && strcmp(seen, want); i++)
		doca_pe_progress(pe);
	IS_STR(seen, want);
}

static void close_dma(void)
{
	IS(doca_ctx_stop(d.ctx), DOCA_SUCCESS);
	IS(state(), DOCA_CTX_STATE_IDLE);
	IS(doca_dma_destroy(d.dma), DOCA_SUCCESS);
}

static void tasks_are_taken_in_the_running_callback(void)
{
	prepare_dma();
	d.take_when_running = true;
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);
	IS_STR(seen, "R");
	OK(d.task != NULL);
	doca_task_free(doca_dma_task_memcpy_as_task(d.task));
	close_dma();
	IS_STR(seen, "RSI");
}

static void a_context_may_stop_in_its_running_callback(void)
{
	prepare_dma();
	d.stop_when_running = true;
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);
	drive("RSI");
	d.stop_when_running = false;
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);
	close_dma();
	IS_STR(seen, "RSIRSI");
}

static void what_is_set_is_set_while_idle(void)
{
	union doca_data data = { .u64 = 8 };

	start_dma();
	IS(doca_ctx_set_user_data(d.ctx, data), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_set_state_changed_cb(d.ctx, state_changed),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_get_user_data(d.ctx, &data), DOCA_SUCCESS);
	IS(data.u64, 7);
	close_dma();
}

static void one_completion_is_reported_in_a_call(void)
{
	struct doca_dma_task_memcpy *one, *two;
	struct doca_buf *src = piece(0, BYTES);
	struct doca_buf *dst[2] = { piece(1, 0), piece(2, 0) };

	memset(memory, 's', BYTES);
	start_dma();
	one = copy(src, dst[0], 'a');
	two = copy(src, dst[1], 'b');	/* of the same source */
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(one)), DOCA_SUCCESS);
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(two)), DOCA_SUCCESS);
	IS_STR(seen, "R");
	IS(doca_pe_progress(pe), 1);
	IS_STR(seen, "Ra");
	IS(d.in_flight, 1);		/* without the one that has ended */
	IS(doca_pe_progress(pe), 1);
	IS_STR(seen, "Rab");
	IS(d.in_flight, 0);
	IS(doca_pe_progress(pe), 0);
	OK(!memcmp(memory, memory + BYTES, BYTES));
	OK(!memcmp(memory, memory + 2 * BYTES, BYTES));
	doca_task_free(doca_dma_task_memcpy_as_task(one));
	doca_task_free(doca_dma_task_memcpy_as_task(two));
	put(src);
	put(dst[0]);
	put(dst[1]);
	close_dma();
}

/* A program looks at the state right after the call that ends its task. */
static void the_call_that_ends_the_last_task_reports_idle(void)
{
	struct doca_buf *src = piece(0, BYTES), *dst = piece(1, 0);
	struct doca_dma_task_memcpy *task;
	size_t n = 1;

	start_dma();
	d.free_when_ended = true;
	task = copy(src, dst, 'a');
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	IS(doca_ctx_stop(d.ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000 && n; i++) {
		doca_pe_progress(pe);
		IS(doca_ctx_get_num_inflight_tasks(d.ctx, &n), DOCA_SUCCESS);
	}
	IS(state(), DOCA_CTX_STATE_IDLE);
	put(src);
	put(dst);
	close_dma();
}

static void a_task_keeps_its_data_and_takes_other(void)
{
	struct doca_buf *src = piece(0, BYTES), *dst = piece(1, 0);
	struct doca_dma_task_memcpy *task;
	union doca_data data = { .u64 = 'z' };
	struct doca_task *base;

	start_dma();
	task = copy(src, dst, 'a');
	base = doca_dma_task_memcpy_as_task(task);
	IS(doca_task_get_user_data(base).u64, 'a');
	doca_task_set_user_data(base, data);
	IS(doca_task_submit_ex(base, DOCA_TASK_SUBMIT_FLAG_FLUSH |
			       DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS),
	   DOCA_SUCCESS);
	IS(doca_task_submit(base), DOCA_ERROR_IN_USE);
	drive("Rz");
	IS(doca_task_submit_ex(base, 1 << 2), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(base);
	OK(doca_dma_task_memcpy_get_src(task) == src);
	OK(doca_dma_task_memcpy_get_dst(task) == dst);
	IS(doca_task_get_status(base), DOCA_SUCCESS);
	put(src);
	put(dst);
	close_dma();
}

/* Each of these ends at completion, and stops the context. */
static void fail_later(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;

	start_dma();
	d.free_when_ended = true;
	task = copy(src, dst, 'a');
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	IS_STR(seen, "R");
	drive("RfSI");
	OK(d.status == DOCA_ERROR_INVALID_VALUE ||
	   d.status == DOCA_ERROR_IO_FAILED);
	d.free_when_ended = false;
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);	/* it can */
	close_dma();
}

static void bad_arguments_are_errors_of_the_task(void)
{
	struct doca_buf *full = piece(0, BYTES), *empty = piece(1, 0);

	fail_later(empty, full);
	fail_later(full, full);
	fail_later(NULL, empty);
	fail_later(full, NULL);
	put(full);
	put(empty);
}

static void a_task_that_failed_may_succeed_later(void)
{
	struct doca_buf *src = piece(0, 0), *dst = piece(1, 0);
	struct doca_dma_task_memcpy *task;
	struct doca_task *base;

	start_dma();
	task = copy(src, dst, 'a');
	base = doca_dma_task_memcpy_as_task(task);
	IS(doca_task_submit(base), DOCA_SUCCESS);
	drive("RfS");
	OK(doca_task_get_status(base) != DOCA_SUCCESS);
	doca_task_free(base);
	OK(doca_task_get_status(base) != DOCA_SUCCESS);
	drive("RfSI");
	IS(doca_ctx_start(d.ctx), DOCA_SUCCESS);
	put(src);
	src = piece(0, BYTES);
	task = copy(src, dst, 'a');
	base = doca_dma_task_memcpy_as_task(task);
	IS(doca_task_submit(base), DOCA_SUCCESS);
	drive("RfSIRa");
	doca_task_free(base);
	IS(doca_task_get_status(base), DOCA_SUCCESS);
	put(src);
	put(dst);
	close_dma();
}

/* The pool is as it was: each task is taken by one. */
static void a_task_is_freed_once(void)
{
	struct doca_dma_task_memcpy *one, *two;

	start_dma();
	one = copy(NULL, NULL, 'a');
	doca_task_free(doca_dma_task_memcpy_as_task(one));
	doca_task_free(doca_dma_task_memcpy_as_task(one));
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(one)),
	   DOCA_ERROR_INVALID_VALUE);
	one = copy(NULL, NULL, 'a');
	two = copy(NULL, NULL, 'b');
	OK(one != two);
	doca_task_free(doca_dma_task_memcpy_as_task(one));
	doca_task_free(doca_dma_task_memcpy_as_task(two));
	close_dma();
}

static struct doca_buf *list_of(int first, size_t data_len)
{
	struct doca_buf *head = piece(first, data_len);

	for (int i = 1; i < LIST; i++)
		IS(doca_buf_chain_list(head, piece(first + i, data_len)),
		   DOCA_SUCCESS);
	return head;
}

static void long_lists_are_copied(void)
{
	struct doca_buf *src = list_of(0, BYTES), *dst = list_of(LIST, 0);
	struct doca_dma_task_memcpy *task;

	for (int i = 0; i < LIST; i++)
		memset(memory + i * BYTES, i, BYTES);
	start_dma();
	task = copy(src, dst, 'a');
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	drive("Ra");
	OK(!memcmp(memory, memory + LIST * BYTES, LIST * BYTES));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	put(src);
	put(dst);
	close_dma();
}

static void
invalidated(struct doca_mmap_advise_task_invalidate_cache *task,
	    union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	IS(ctx_data.u64, 0);		/* where none was set */
	saw('i');
}

/* A copy ends, and then its memory is invalidated: contexts of two kinds. */
static void a_callback_submits_to_another_context(void)
{
	struct doca_buf *src = piece(0, BYTES), *dst = piece(1, 0);
	struct doca_mmap_advise_task_invalidate_cache *second;
	union doca_data none = { .ptr = NULL };
	struct doca_mmap_advise *advise;
	struct doca_dma_task_memcpy *task;

	start_dma();
	IS(doca_mmap_advise_create(dev, &advise), DOCA_SUCCESS);
	IS(doca_mmap_advise_task_invalidate_cache_set_conf(
		advise, invalidated, invalidated, 1), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, doca_mmap_advise_as_ctx(advise)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	IS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, dst, none,
							     &second),
	   DOCA_SUCCESS);
	d.next = doca_mmap_advise_task_invalidate_cache_as_doca_task(second);
	task = copy(src, dst, 'a');
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	drive("Rai");
	IS(doca_task_submit(d.next), DOCA_SUCCESS);
	IS(doca_task_submit(d.next), DOCA_ERROR_IN_USE);
	drive("Raii");
	doca_task_free(d.next);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	IS(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	IS(doca_mmap_advise_destroy(advise), DOCA_SUCCESS);
	put(src);
	put(dst);
	close_dma();
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	open_all();
	TEST(tasks_are_taken_in_the_running_callback);
	TEST(a_context_may_stop_in_its_running_callback);
	TEST(what_is_set_is_set_while_idle);
	TEST(one_completion_is_reported_in_a_call);
	TEST(the_call_that_ends_the_last_task_reports_idle);
	TEST(a_task_keeps_its_data_and_takes_other);
	TEST(bad_arguments_are_errors_of_the_task);
	TEST(a_task_that_failed_may_succeed_later);
	TEST(a_task_is_freed_once);
	TEST(long_lists_are_copied);
	TEST(a_callback_submits_to_another_context);
	close_all();
	doca_dev_close(dev);
	return tap_done();
}
