/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>
#include <doca_log.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Copies: programs that poll, that react, that fail. */

#define BYTES 1024
#define TASKS 16
#define MANY 255

static const union doca_data no_data = { .ptr = NULL };

static struct copying {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	struct doca_dma_task_memcpy *tasks[MANY];
	int task_count, done, failed, resubmits, stop_after, lines;
	enum doca_ctx_states last, before_last;
	doca_error_t stop_error;
	bool destroy_when_idle;
	char *memory;
} copies;

static void ended(struct doca_dma_task_memcpy *task, union doca_data data,
		  union doca_data ctx_data)
{
	struct copying *c = ctx_data.ptr;

	(void)data;
	if (doca_task_get_status(doca_dma_task_memcpy_as_task(task)))
		c->failed++;
	else
		c->done++;
	if (c->done == c->stop_after)
		c->stop_error = doca_ctx_stop(c->ctx);
}

/* Destination and source move on by as much as one task copies. */
static void ended_and_again(struct doca_dma_task_memcpy *task,
			    union doca_data data, union doca_data ctx_data)
{
	struct copying *c = ctx_data.ptr;
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);
	void *head;

	ended(task, data, ctx_data);
	if (!c->resubmits)
		return;
	c->resubmits--;
	IS(doca_buf_get_head(dst, &head), DOCA_SUCCESS);
	IS(doca_buf_set_data(dst, head, 0), DOCA_SUCCESS);
	doca_dma_task_memcpy_set_dst(task, dst);
	doca_dma_task_memcpy_set_src(task, doca_dma_task_memcpy_get_src(task));
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct copying *c = data.ptr;

	(void)ctx;
	OK(next != DOCA_CTX_STATE_STARTING);
	c->before_last = prev;
	c->last = next;
	if (next == DOCA_CTX_STATE_IDLE && c->destroy_when_idle) {
		IS(doca_dma_destroy(c->dma), DOCA_SUCCESS);
		c->dma = NULL;
	}
}

static void open_memory(struct copying *c)
{
	c->memory = calloc(2 * MANY, BYTES);
	IS(doca_mmap_create(&c->mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(c->mmap, c->memory, 2 * MANY * BYTES),
	   DOCA_SUCCESS);
	IS(doca_mmap_add_dev(c->mmap, c->dev), DOCA_SUCCESS);
	IS(doca_mmap_start(c->mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(2 * MANY, &c->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(c->inv), DOCA_SUCCESS);
}

static void open_copies(doca_dma_task_memcpy_completion_cb_t cb,
			uint32_t count)
{
	union doca_data data = { .ptr = &copies };
	struct copying *c = &copies;

	*c = (struct copying){ .dev = end_device() };
	open_memory(c);
	IS(doca_pe_create(&c->pe), DOCA_SUCCESS);
	IS(doca_dma_create(c->dev, &c->dma), DOCA_SUCCESS);
	c->ctx = doca_dma_as_ctx(c->dma);
	IS(doca_dma_task_memcpy_set_conf(c->dma, cb, cb, count), DOCA_SUCCESS);
	IS(doca_ctx_set_user_data(c->ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(c->ctx, state_changed), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(c->pe, c->ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(c->ctx), DOCA_SUCCESS);
	IS(c->last, DOCA_CTX_STATE_RUNNING);
}

static struct doca_buf *piece(int i, size_t data_len)
{
	struct doca_buf *buf = NULL;
	char *addr = copies.memory + i * BYTES;

	IS(doca_buf_inventory_buf_get_by_args(copies.inv, copies.mmap, addr,
					      BYTES, addr, data_len, &buf),
	   DOCA_SUCCESS);
	return buf;
}

/* One way looks at the arguments, the other does not. */
static void submit_one(struct doca_task *task, bool is_bad)
{
	IS(doca_task_try_submit(task), is_bad ? DOCA_ERROR_INVALID_VALUE :
						DOCA_SUCCESS);
	if (is_bad)
		IS(doca_task_submit(task), DOCA_SUCCESS);
	IS(doca_task_get_status(task), DOCA_ERROR_IN_PROGRESS);
}

/* Copies of piece 2i to piece 2i + 1; piece 2 * @bad has no data. */
static void submit(int count, int bad)
{
	struct copying *c = &copies;

	for (int i = 0; i < count; i++) {
		memset(c->memory + 2 * i * BYTES, i + 1, BYTES);
		IS(doca_dma_task_memcpy_alloc_init(
			c->dma, piece(2 * i, i == bad ? 0 : BYTES),
			piece(2 * i + 1, 0), no_data, &c->tasks[i]),
		   DOCA_SUCCESS);
		submit_one(doca_dma_task_memcpy_as_task(c->tasks[i]), i == bad);
	}
	c->task_count = count;
	IS(c->done + c->failed, 0);	/* never inside submit */
}

static void drive(int ends)
{
	for (long i = 0; i < 20000000 && copies.done + copies.failed < ends;
	     i++)
		doca_pe_progress(copies.pe);
	IS(copies.done + copies.failed, ends);
}

static void check_copies(int count)
{
	for (int i = 0; i < count; i++)
		OK(!memcmp(copies.memory + 2 * i * BYTES,
			   copies.memory + (2 * i + 1) * BYTES, BYTES));
}

static void free_tasks(void)
{
	for (int i = 0; i < copies.task_count; i++) {
		struct doca_dma_task_memcpy *task = copies.tasks[i];

		doca_task_free(doca_dma_task_memcpy_as_task(task));
		doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
		doca_buf_dec_refcount(
			(struct doca_buf *)(uintptr_t)
			doca_dma_task_memcpy_get_src(task), NULL);
	}
}

static void drain(void)
{
	for (long i = 0; i < 20000000 && copies.last != DOCA_CTX_STATE_IDLE;
	     i++)
		doca_pe_progress(copies.pe);
	IS(copies.last, DOCA_CTX_STATE_IDLE);
}

static void close_copies(void)
{
	struct copying *c = &copies;

	free_tasks();
	if (c->dma) {
		doca_ctx_stop(c->ctx);
		drain();
		if (!c->destroy_when_idle)
			IS(doca_dma_destroy(c->dma), DOCA_SUCCESS);
	}
	IS(doca_pe_destroy(c->pe), DOCA_SUCCESS);
	free(c->memory);		/* before the mmap is destroyed */
	IS(doca_buf_inventory_destroy(c->inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(c->mmap), DOCA_SUCCESS);
	IS(doca_dev_close(c->dev), DOCA_SUCCESS);
}

static void tasks_copy(void)
{
	open_copies(ended, TASKS);
	submit(TASKS, -1);
	drive(TASKS);
	IS(copies.done, TASKS);
	check_copies(TASKS);
	close_copies();
}

static void tasks_are_submitted_again_with_other_buffers(void)
{
	open_copies(ended_and_again, 4);
	copies.resubmits = 12;
	submit(4, -1);
	drive(16);
	IS(copies.done, 16);
	check_copies(4);
	close_copies();
}

static void lists_are_copied_to_lists(void)
{
	struct doca_buf *src[3], *dst[2];
	struct doca_dma_task_memcpy *task;
	size_t len = 0;

	open_copies(ended, 1);
	for (int i = 0; i < 3; i++) {
		memset(copies.memory + i * BYTES, 'a' + i, BYTES);
		src[i] = piece(i, 600);
		if (i)
			IS(doca_buf_chain_list(src[0], src[i]), DOCA_SUCCESS);
	}
	dst[0] = piece(10, 0);
	dst[1] = piece(11, 0);
	IS(doca_buf_chain_list(dst[0], dst[1]), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_alloc_init(copies.dma, src[0], dst[0], no_data,
					   &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	drive(1);
	IS(copies.done, 1);
	IS(doca_buf_get_data_len(dst[0], &len), DOCA_SUCCESS);
	IS(len, BYTES);
	IS(doca_buf_get_data_len(dst[1], &len), DOCA_SUCCESS);
	IS(len, 1800 - BYTES);
	IS(copies.memory[10 * BYTES + 599], 'a');
	IS(copies.memory[10 * BYTES + 600], 'b');
	IS(copies.memory[11 * BYTES + 1799 - BYTES], 'c');
	copies.tasks[0] = task;
	copies.task_count = 1;
	close_copies();
}

static void a_stop_in_the_middle_is_in_progress(void)
{
	open_copies(ended, TASKS);
	copies.stop_after = TASKS / 2;
	submit(TASKS, -1);
	drive(TASKS);
	IS(copies.stop_error, DOCA_ERROR_IN_PROGRESS);
	IS(copies.last, DOCA_CTX_STATE_STOPPING);
	free_tasks();
	copies.task_count = 0;
	drain();
	IS(copies.before_last, DOCA_CTX_STATE_STOPPING);
	close_copies();
}

static void a_bad_task_fails_later_and_stops_the_context(void)
{
	size_t n = 9;

	open_copies(ended, MANY);
	submit(MANY, 2);
	drive(MANY);
	IS(copies.done, 2);
	IS(copies.failed, MANY - 2);
	IS(copies.last, DOCA_CTX_STATE_STOPPING);
	IS(doca_ctx_get_num_inflight_tasks(copies.ctx, &n), DOCA_SUCCESS);
	IS(n, 0);
	free_tasks();
	IS(doca_task_get_status(doca_dma_task_memcpy_as_task(copies.tasks[2])),
	   DOCA_ERROR_INVALID_VALUE);	/* stays readable */
	copies.task_count = 0;
	drain();
	close_copies();
}

/* It is the program's still, and the context runs on. */
static void an_attempt_to_submit_looks_at_the_arguments(void)
{
	struct doca_buf *src, *dst, *empty;
	struct doca_dma_task_memcpy *task;
	struct doca_task *base;

	open_copies(ended, 1);
	src = piece(0, BYTES);
	dst = piece(1, 0);
	empty = piece(2, 0);
	IS(doca_dma_task_memcpy_alloc_init(copies.dma, NULL, NULL, no_data,
					   &task), DOCA_SUCCESS);
	base = doca_dma_task_memcpy_as_task(task);
	IS(doca_task_try_submit(base), DOCA_ERROR_INVALID_VALUE);
	doca_dma_task_memcpy_set_src(task, empty);
	IS(doca_task_try_submit(base), DOCA_ERROR_INVALID_VALUE);
	doca_dma_task_memcpy_set_dst(task, dst);
	IS(doca_task_try_submit(base), DOCA_ERROR_INVALID_VALUE);
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, src);
	IS(doca_task_try_submit(base), DOCA_ERROR_INVALID_VALUE);
	IS(copies.last, DOCA_CTX_STATE_RUNNING);
	doca_dma_task_memcpy_set_dst(task, dst);
	IS(doca_task_try_submit(base), DOCA_SUCCESS);
	drive(1);
	IS(copies.done, 1);
	IS(doca_task_try_submit(base), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_dec_refcount(empty, NULL), DOCA_SUCCESS);
	copies.tasks[0] = task;
	copies.task_count = 1;
	close_copies();
}

static void a_stop_of_nothing_is_idle_at_once(void)
{
	open_copies(ended, 1);
	IS(doca_ctx_stop(copies.ctx), DOCA_SUCCESS);
	IS(copies.before_last, DOCA_CTX_STATE_STOPPING);
	IS(copies.last, DOCA_CTX_STATE_IDLE);
	IS(doca_pe_progress(copies.pe), 0);
	IS(doca_ctx_start(copies.ctx), DOCA_SUCCESS);
	submit(1, -1);
	drive(1);
	IS(doca_ctx_stop(copies.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(copies.last, DOCA_CTX_STATE_STOPPING);	/* it has a task */
	close_copies();
}

static void an_object_goes_in_its_last_callback(void)
{
	open_copies(ended, TASKS);
	copies.destroy_when_idle = true;
	submit(TASKS, -1);
	drive(TASKS);
	free_tasks();
	copies.task_count = 0;
	IS(doca_ctx_stop(copies.ctx), DOCA_SUCCESS);
	OK(!copies.dma);
	close_copies();
}

static void capabilities_are_those_of_a_cpu(void)
{
	struct doca_dev *dev = end_device();
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t len = 0, tasks = 0;
	struct doca_dma *dma = NULL;
	uint64_t size = 0;

	IS(doca_dma_cap_task_memcpy_is_supported(info), DOCA_SUCCESS);
	IS(doca_dma_cap_task_memcpy_is_supported(NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &len),
	   DOCA_SUCCESS);
	IS(len, UINT32_MAX);	/* there is no limit */
	IS(doca_dma_cap_task_memcpy_get_max_buf_size(info, &size),
	   DOCA_SUCCESS);
	IS(size, 1 << 30);
	IS(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	IS(doca_dma_cap_get_max_num_tasks(dma, &tasks), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, ended, ended, tasks),
	   DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, ended, ended, tasks + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

/* A backend with a buffer calls this for each line. */
static void on_line(char *text)
{
	copies.lines += strstr(text, "while submitted") != NULL;
}

static void a_change_in_flight_is_logged_and_does_nothing(void)
{
	struct doca_log_backend *backend;
	struct doca_dma_task_memcpy *task;
	static char line[512];

	open_copies(ended, 2);
	IS(doca_log_backend_create_with_buf_sdk(line, sizeof(line), on_line,
						&backend), DOCA_SUCCESS);
	submit(2, -1);
	task = copies.tasks[0];
	IS(copies.lines, 0);
	doca_dma_task_memcpy_set_dst(task, doca_dma_task_memcpy_get_dst(task));
	IS(copies.lines, 1);
	drive(2);
	doca_dma_task_memcpy_set_dst(task, doca_dma_task_memcpy_get_dst(task));
	IS(copies.lines, 1);
	close_copies();
}

int main(void)
{
	TEST(tasks_copy);
	TEST(tasks_are_submitted_again_with_other_buffers);
	TEST(lists_are_copied_to_lists);
	TEST(a_stop_in_the_middle_is_in_progress);
	TEST(a_bad_task_fails_later_and_stops_the_context);
	TEST(an_attempt_to_submit_looks_at_the_arguments);
	TEST(a_stop_of_nothing_is_idle_at_once);
	TEST(an_object_goes_in_its_last_callback);
	TEST(capabilities_are_those_of_a_cpu);
	TEST(a_change_in_flight_is_logged_and_does_nothing);
	return tap_done();
}
