/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/tap.h"

/* Tasks of a DMA context, and its states. */

#define LEN 65536
#define MANY 255

static struct pier_dev *dev;
static struct copier c;

/* What callbacks have seen. */
struct copies {
	int calls, failed, cancelled;
	struct pier_task *order[MANY];
	void (*then)(struct pier_task *task);
};

static void count(struct pier_task *task, void *arg)
{
	struct copies *tally = arg;
	int status = pier_task_status(task);

	if (tally->calls < MANY)
		tally->order[tally->calls] = task;
	tally->calls++;
	tally->failed += status != 0;
	tally->cancelled += status == -ECANCELED;
	if (tally->then)
		tally->then(task);
}

/* @n tasks of 64 bytes each that report to @tally. */
static bool take(struct pier_task **task, int n, struct copies *tally)
{
	for (int i = 0; i < n; i++) {
		struct pier_buf *src = copier_data(&c, (size_t)i * 64, 64);
		struct pier_buf *dst = copier_tail(&c, (size_t)i * 64, 64);

		if (!IS(pier_dma_task_copy(c.dma, src, dst, &task[i]), 0))
			return false;
		pier_task_set_done(task[i], count, tally);
		IS(pier_task_submit(task[i], 0), 0);
		pier_buf_put(src);	/* the task has references */
		pier_buf_put(dst);
	}
	return true;
}

static void free_all(struct pier_task **task, int n)
{
	while (n--)
		pier_task_free(task[n]);
}

static bool open_with(const struct pier_dma_config *cfg)
{
	if (!copier_open(&c, dev, cfg, LEN))
		return false;
	for (size_t i = 0; i < LEN; i++)
		c.src[i] = (uint8_t)(i * 7 + i / 251);
	return true;
}

static void a_task_completes_in_the_engine_and_not_in_submit(void)
{
	struct copies tally = { 0 };
	struct pier_task *task;

	if (!open_with(NULL) || !take(&task, 1, &tally))
		return;
	IS(pier_task_type(task), PIER_TASK_COPY);
	IS(tally.calls, 0);
	IS(pier_task_status(task), -EINPROGRESS);
	IS(c.dst[1], 0);
	IS(pier_ctx_inflight(c.ctx), 1);
	IS(pier_pe_progress(c.pe, 0), 1);
	IS(tally.calls, 1);
	IS(pier_task_status(task), 0);
	OK(!memcmp(c.src, c.dst, 64));
	pier_task_free(task);
	copier_close(&c);
}

static void tasks_complete_in_the_order_of_their_submission(void)
{
	struct pier_task *task[MANY];
	struct copies tally = { 0 };

	if (!open_with(NULL) || !take(task, MANY, &tally))
		return;
	IS(pier_ctx_inflight(c.ctx), MANY);
	OK(copier_count(&c, &tally.calls, MANY));
	IS(tally.failed, 0);
	for (int i = 0; i < MANY; i++)
		OK(tally.order[i] == task[i]);
	OK(!memcmp(c.src, c.dst, MANY * 64));
	free_all(task, MANY);
	copier_close(&c);
}

static void a_round_reports_no_more_than_it_may(void)
{
	struct pier_task *task[20];
	struct copies tally = { 0 };

	if (!open_with(NULL) || !take(task, 20, &tally))
		return;
	IS(pier_pe_progress(c.pe, 7), 7);
	IS(tally.calls, 7);
	IS(pier_pe_progress(c.pe, 0), 13);
	free_all(task, 20);
	copier_close(&c);
}

static void an_engine_does_not_sleep_while_a_copy_is_queued(void)
{
	struct copies tally = { 0 };
	struct pier_task *task;

	if (!open_with(NULL))
		return;
	while (pier_pe_progress(c.pe, 0) > 0)
		;
	IS(pier_pe_arm(c.pe), 0);
	pier_pe_clear(c.pe);
	if (!take(&task, 1, &tally))
		return;
	IS(pier_pe_arm(c.pe), -EAGAIN);
	OK(copier_count(&c, &tally.calls, 1));
	pier_task_free(task);
	copier_close(&c);
}

static struct pier_task *spare;
static int resubmits;

static void resubmit(struct pier_task *task)
{
	if (resubmits-- > 0)
		IS(pier_task_submit(task, 0), 0);
}

static void a_callback_may_submit_its_task_again(void)
{
	struct pier_buf *src, *dst;
	struct copies tally = { .then = resubmit };
	struct pier_task *task;

	if (!open_with(NULL))
		return;
	src = copier_data(&c, 0, 8);
	dst = copier_tail(&c, 0, 80);
	resubmits = 9;
	if (!IS(pier_dma_task_copy(c.dma, src, dst, &task), 0))
		return;
	pier_task_set_done(task, count, &tally);
	IS(pier_task_submit(task, 0), 0);
	OK(copier_count(&c, &tally.calls, 10));
	IS(tally.failed, 0);
	IS(pier_buf_data_len(dst), 80);
	pier_task_free(task);
	pier_buf_put(src);
	pier_buf_put(dst);
	copier_close(&c);
}

static void free_it(struct pier_task *task)
{
	pier_task_free(task);
}

static void a_callback_may_free_its_task(void)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = 3 };
	struct copies tally = { .then = free_it };
	struct pier_task *task[3];

	if (!open_with(&cfg))
		return;
	for (int i = 1; i <= 3; i++) {
		if (!take(task, 3, &tally))
			return;
		OK(copier_count(&c, &tally.calls, 3 * i));
	}
	copier_close(&c);
}

/* The first callback finds the second task in flight. */
static void free_spare(struct pier_task *task)
{
	IS(pier_task_free(spare), task == spare ? 0 : -EBUSY);
}

static void a_callback_frees_its_own_task_and_none_in_flight(void)
{
	struct copies tally = { .then = free_spare };
	struct pier_task *task[2];

	if (!open_with(NULL) || !take(task, 2, &tally))
		return;
	spare = task[1];
	OK(copier_count(&c, &tally.calls, 2));
	IS(pier_task_free(spare), -EINVAL);
	IS(tally.calls, 2);
	OK(!memcmp(c.src, c.dst, 128));
	pier_task_free(task[0]);
	copier_close(&c);
}

static void a_submitted_task_is_refused_a_second_time(void)
{
	struct copies tally = { 0 };
	struct pier_task *task;

	if (!open_with(NULL) || !take(&task, 1, &tally))
		return;
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(pier_task_submit(task, 64), -EBUSY);
	OK(copier_count(&c, &tally.calls, 1));
	IS(pier_task_submit(task, 64), -EINVAL);
	IS(tally.calls, 1);
	pier_task_free(task);
	copier_close(&c);
}

static void a_task_without_a_callback_is_retrieved(void)
{
	struct pier_buf *src, *dst;
	struct pier_event event;
	int n = 0;

	if (!open_with(NULL))
		return;
	src = copier_data(&c, 0, 8);
	dst = copier_tail(&c, 0, 20);
	for (int i = 0; i < 3; i++)
		IS(pier_dma_copy(c.dma, src, dst, NULL, NULL), 0);
	IS(pier_pe_retrieve(c.pe, &event), -EAGAIN);
	while (pier_ctx_inflight(c.ctx) && pier_pe_progress(c.pe, 0) >= 0)
		;
	for (; !pier_pe_retrieve(c.pe, &event); n++) {
		IS(event.status, n < 2 ? 0 : -EMSGSIZE);
		pier_task_free(event.task);
	}
	IS(n, 3);
	pier_buf_put(src);
	pier_buf_put(dst);
	copier_close(&c);
}

static void a_pool_has_as_many_tasks_as_configured(void)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = 2 };
	struct pier_task *task[2], *more = NULL;

	if (!open_with(&cfg))
		return;
	for (int i = 0; i < 2; i++)
		IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[i]), 0);
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &more), -ENOBUFS);
	LIKE(pier_last_error(), "all 2 tasks");
	IS(pier_dma_copy(c.dma, NULL, NULL, NULL, NULL), -ENOBUFS);
	OK(!more);
	pier_task_free(task[0]);
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[0]), 0);
	free_all(task, 2);
	copier_close(&c);
}

static void without_a_start_there_are_no_tasks(void)
{
	struct pier_task *task;
	struct pier_dma *dma;

	if (!IS(pier_dma_create(dev, &dma), 0))
		return;
	OK(pier_dma_dev(dma) == dev);
	IS(pier_dma_task_copy(dma, NULL, NULL, &task), -ENOBUFS);
	pier_dma_destroy(dma);
	pier_dma_destroy(NULL);
}

static void a_stop_cancels_what_is_queued(void)
{
	struct copies tally = { 0 };
	struct pier_task *task[5];

	if (!open_with(NULL) || !take(task, 5, &tally))
		return;
	IS(pier_ctx_stop(c.ctx), -EINPROGRESS);
	IS(tally.calls, 0);
	IS(pier_task_submit(task[0], 0), -EBUSY);
	OK(copier_state(&c, PIER_CTX_IDLE));
	IS(tally.calls, 5);
	IS(tally.cancelled, 5);
	IS(c.dst[1], 0);
	IS(pier_buf_inventory_free_count(c.inv), COPIER_BUFS);
	IS(pier_task_submit(task[0], 0), -ESHUTDOWN);
	free_all(task, 5);
	copier_close(&c);
}

static void stop_it(struct pier_task *task)
{
	pier_ctx_stop(pier_task_ctx(task));
}

static void a_stop_in_a_callback_cancels_the_others(void)
{
	struct copies tally = { .then = stop_it };
	struct pier_task *task[5];

	if (!open_with(NULL) || !take(task, 5, &tally))
		return;
	OK(copier_state(&c, PIER_CTX_IDLE));
	IS(tally.calls, 5);
	IS(tally.cancelled, 4);
	OK(!memcmp(c.src, c.dst, 64));
	IS(c.dst[65], 0);
	free_all(task, 5);
	copier_close(&c);
}

static void destroy_it(struct pier_task *task)
{
	pier_task_free(task);
	pier_dma_destroy(c.dma);
	c.dma = NULL;
}

static void a_destroy_in_a_callback_ends_all_tasks(void)
{
	struct copies tally = { .then = destroy_it };
	struct pier_task *task[5];

	if (!open_with(NULL) || !take(task, 5, &tally))
		return;
	OK(copier_count(&c, &tally.calls, 5));
	IS(pier_buf_inventory_free_count(c.inv), COPIER_BUFS);
	copier_close(&c);
}

static void a_destroy_in_the_last_callback_works_too(void)
{
	struct copies tally = { .then = destroy_it };
	struct pier_task *task;

	if (!open_with(NULL) || !take(&task, 1, &tally))
		return;
	OK(copier_count(&c, &tally.calls, 1));
	copier_close(&c);
}

static void a_failed_task_stops_the_context_if_configured(void)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg),
				       .stop_on_task_error = 1 };
	struct copies tally = { 0 };
	struct pier_task *task[3];

	if (!open_with(&cfg))
		return;
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[0]), 0);
	pier_task_set_done(task[0], count, &tally);
	IS(pier_task_submit(task[0], 0), 0);
	if (!take(task + 1, 2, &tally))
		return;
	OK(copier_state(&c, PIER_CTX_IDLE));
	IS(tally.calls, 3);
	IS(tally.failed, 3);
	IS(tally.cancelled, 2);
	IS(pier_task_status(task[0]), -EINVAL);
	free_all(task, 3);
	copier_close(&c);
}

static void a_failed_task_leaves_the_context_running_otherwise(void)
{
	struct copies tally = { 0 };
	struct pier_task *task;

	if (!open_with(NULL))
		return;
	IS(pier_dma_copy(c.dma, NULL, NULL, count, &tally), 0);
	if (!take(&task, 1, &tally))
		return;
	OK(copier_count(&c, &tally.calls, 2));
	IS(tally.failed, 1);
	IS(pier_ctx_state(c.ctx), PIER_CTX_RUNNING);
	pier_task_free(task);
	copier_close(&c);
}

static void a_context_starts_again_when_its_tasks_are_freed(void)
{
	struct copies tally = { 0 };
	struct pier_task *task;

	if (!open_with(NULL) || !take(&task, 1, &tally))
		return;
	IS(pier_ctx_stop_wait(c.ctx, 10000), 0);
	IS(tally.calls, 1);
	IS(pier_ctx_start(c.ctx, c.pe), -EBUSY);
	LIKE(pier_last_error(), "1 tasks of the last run");
	pier_task_free(task);
	for (int i = 0; i < 3; i++) {
		IS(pier_ctx_start(c.ctx, c.pe), 0);
		if (!take(&task, 1, &tally))
			return;
		OK(copier_count(&c, &tally.calls, 2 + i));
		pier_task_free(task);
		IS(pier_ctx_stop_wait(c.ctx, 10000), 0);
	}
	IS(tally.cancelled, 1);
	copier_close(&c);
}

static int configure(uint32_t tasks)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_dma_configure(c.dma, &cfg);
}

static void the_configuration_has_defaults_and_ranges(void)
{
	struct pier_dma_config cfg = { 0 };

	if (!IS(pier_dma_create(dev, &c.dma), 0))
		return;
	pier_dma_get_config(c.dma, &cfg);
	IS(cfg.size, sizeof(cfg));
	IS(cfg.tasks, 256);
	IS(cfg.stop_on_task_error, 0);
	IS(configure(1), 0);
	IS(configure(1u << 20), 0);
	IS(configure((1u << 20) + 1), -EINVAL);
	LIKE(pier_last_error(), "tasks");
	pier_dma_get_config(c.dma, &cfg);
	IS(cfg.tasks, 1u << 20);
	cfg.size = 0;
	IS(pier_dma_configure(c.dma, &cfg), -EINVAL);
	IS(configure(0), 0);
	pier_dma_get_config(c.dma, &cfg);
	IS(cfg.tasks, 256);
	pier_dma_destroy(c.dma);
	c.dma = NULL;
}

static void configure_is_refused_while_running(void)
{
	if (!open_with(NULL))
		return;
	IS(configure(1), -EBUSY);
	pier_ctx_stop(c.ctx);
	IS(configure(1), -EBUSY);
	IS(pier_ctx_stop_wait(c.ctx, 10000), 0);
	IS(configure(1), 0);
	copier_close(&c);
}

/* Another DMA context on the engine of the first, with nothing in flight. */
static struct pier_dma *start_other(void)
{
	struct pier_dma *other = NULL;

	IS(pier_dma_create(dev, &other), 0);
	IS(pier_ctx_start(pier_dma_ctx(other), c.pe), 0);
	return other;
}

static void waiting_for_an_idle_one_completes_nothing_of_others(void)
{
	struct copies tally = { 0 };
	struct pier_dma *other;
	struct pier_task *task;

	if (!open_with(NULL) || !take(&task, 1, &tally))
		return;
	other = start_other();
	IS(pier_ctx_stop_wait(pier_dma_ctx(other), 0), 0);
	IS(pier_ctx_state(pier_dma_ctx(other)), PIER_CTX_IDLE);
	IS(pier_ctx_start(pier_dma_ctx(other), c.pe), 0);
	IS(pier_ctx_stop(pier_dma_ctx(other)), -EINPROGRESS);
	pier_dma_destroy(other);
	pier_dma_destroy(start_other());
	IS(tally.calls, 0);
	OK(copier_count(&c, &tally.calls, 1));
	IS(tally.failed, 0);
	pier_task_free(task);
	copier_close(&c);
}

static void a_stop_of_nothing_is_reported_by_the_next_round(void)
{
	struct pier_dma *other;

	if (!open_with(NULL))
		return;
	other = start_other();
	IS(pier_ctx_stop(pier_dma_ctx(other)), -EINPROGRESS);
	IS(pier_ctx_state(pier_dma_ctx(other)), PIER_CTX_STOPPING);
	IS(pier_pe_progress(c.pe, 1), 1);
	IS(pier_ctx_state(pier_dma_ctx(other)), PIER_CTX_IDLE);
	pier_dma_destroy(other);
	copier_close(&c);
}

static void a_context_that_has_ended_outlives_its_engine(void)
{
	struct pier_dma *dma = NULL;
	struct pier_pe *pe;

	if (!IS(pier_pe_create(&pe), 0))
		return;
	IS(pier_dma_create(dev, &dma), 0);
	IS(pier_ctx_start(pier_dma_ctx(dma), pe), 0);
	IS(pier_ctx_stop(pier_dma_ctx(dma)), -EINPROGRESS);
	pier_pe_destroy(pe);
	IS(pier_ctx_state(pier_dma_ctx(dma)), PIER_CTX_IDLE);
	pier_dma_destroy(dma);
}

static void every_device_can_copy(void)
{
	IS(pier_devinfo_can_task(pier_dev_info(dev), PIER_TASK_COPY), 0);
	IS_STR(pier_task_type_name(PIER_TASK_COPY), "copy");
	IS_STR(pier_task_type_key(PIER_TASK_COPY), "copy");
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_task_completes_in_the_engine_and_not_in_submit);
	TEST(tasks_complete_in_the_order_of_their_submission);
	TEST(a_round_reports_no_more_than_it_may);
	TEST(an_engine_does_not_sleep_while_a_copy_is_queued);
	TEST(a_callback_may_submit_its_task_again);
	TEST(a_callback_may_free_its_task);
	TEST(a_callback_frees_its_own_task_and_none_in_flight);
	TEST(a_submitted_task_is_refused_a_second_time);
	TEST(a_task_without_a_callback_is_retrieved);
	TEST(a_pool_has_as_many_tasks_as_configured);
	TEST(without_a_start_there_are_no_tasks);
	TEST(a_stop_cancels_what_is_queued);
	TEST(a_stop_in_a_callback_cancels_the_others);
	TEST(a_destroy_in_a_callback_ends_all_tasks);
	TEST(a_destroy_in_the_last_callback_works_too);
	TEST(a_failed_task_stops_the_context_if_configured);
	TEST(a_failed_task_leaves_the_context_running_otherwise);
	TEST(a_context_starts_again_when_its_tasks_are_freed);
	TEST(the_configuration_has_defaults_and_ranges);
	TEST(configure_is_refused_while_running);
	TEST(waiting_for_an_idle_one_completes_nothing_of_others);
	TEST(a_stop_of_nothing_is_reported_by_the_next_round);
	TEST(a_context_that_has_ended_outlives_its_engine);
	TEST(every_device_can_copy);
	pier_dev_close(dev);
	return tap_done();
}
