/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Tasks that are taken back, of contexts without a connection. */

#define SHORT_MS 20		/* too short for what does not finish */
#define BIG (8u << 20)
#define MANY 64

static struct pier_dev *dev;

static void count(struct pier_task *task, void *arg)
{
	if (pier_task_status(task) == -ECANCELED)
		++*(int *)arg;
}

static void a_copy_that_waits_for_its_turn_is_taken_back(void)
{
	struct pier_task *task[2];
	int cancelled = 0;

	if (!graphs_open(dev))
		return;
	for (int i = 0; i < 2; i++) {
		task[i] = graphs_copy((size_t)i * 8);
		pier_task_set_done(task[i], count, &cancelled);
		IS(pier_task_submit(task[i], 0), 0);
	}
	IS(pier_task_cancel(task[0]), 0);
	IS(pier_task_cancel(task[0]), 0);	/* twice is once */
	IS(cancelled, 0);
	IS(copier_wait(&graphs.c, task[1]), 0);
	IS(copier_wait(&graphs.c, task[0]), -ECANCELED);
	IS(cancelled, 1);
	OK(!graphs_copied(0));
	OK(graphs_copied(8));
	LIKE(pier_task_error_text(task[0]), "dma: copy: cancelled");
	IS(pier_task_run(task[0], LIMIT_MS), 0);
	OK(graphs_copied(0));
	graphs_put();
	pier_task_free(task[0]);
	pier_task_free(task[1]);
	graphs_close();
}

/* An event whose context runs on the copier's engine. */
static struct pier_sync_event *start_event(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};
	struct pier_sync_event *event;

	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_ctx_start(pier_sync_event_ctx(event), graphs.c.pe), 0);
	return event;
}

static int again(void *arg)
{
	++*(int *)arg;
	return -EAGAIN;
}

static int cancel_itself(void *arg)
{
	struct pier_task **task = arg;

	IS(pier_task_cancel(*task), -EBUSY);
	return 0;
}

static void a_function_is_called_no_more(void)
{
	struct pier_func *func;
	struct pier_task *task;
	int calls = 0, before;

	if (!graphs_open(dev))
		return;
	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0);
	IS(pier_func_task_call(func, again, &calls, &task), 0);
	IS(pier_task_run(task, SHORT_MS), -ETIMEDOUT);
	LIKE(pier_last_error(), "call: not finished after 20 ms");
	before = calls;
	OK(before > 0);
	for (int i = 0; i < 10; i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(calls, before);
	IS(pier_func_task_set(task, cancel_itself, &task), 0);
	IS(pier_task_run(task, LIMIT_MS), 0);
	IS(pier_task_free(task), 0);
	pier_func_destroy(func);
	graphs_close();
}

static void a_context_stops_while_a_task_of_it_is_cancelled(void)
{
	struct pier_sync_event *event;
	struct pier_task *task[2];
	int cancelled = 0;

	if (!graphs_open(dev))
		return;
	for (int run = 0; run < 2; run++) {
		event = start_event();
		for (int i = 0; i < 2; i++) {
			IS(pier_sync_event_task_wait_eq(event, 1, 1, &task[i]),
			   0);
			pier_task_set_done(task[i], count, &cancelled);
			IS(pier_task_submit(task[i], 0), 0);
		}
		IS(pier_task_cancel(task[0]), 0);
		IS(pier_ctx_stop(pier_sync_event_ctx(event)), -EINPROGRESS);
		IS(pier_task_cancel(task[1]), 0);
		IS(pier_ctx_stop_wait(pier_sync_event_ctx(event), LIMIT_MS), 0);
		IS(cancelled, 2 * (run + 1));
		pier_task_free(task[0]);
		pier_task_free(task[1]);
		pier_sync_event_destroy(event);
	}
	graphs_close();
}

static void a_wait_for_an_event_is_taken_back_and_others_go_on(void)
{
	struct pier_sync_event *event;
	struct pier_task *wait[2], *set;
	int cancelled = 0;

	if (!graphs_open(dev))
		return;
	event = start_event();
	for (int i = 0; i < 2; i++) {
		IS(pier_sync_event_task_wait_eq(event, 1, 1, &wait[i]), 0);
		pier_task_set_done(wait[i], count, &cancelled);
		IS(pier_task_submit(wait[i], 0), 0);
	}
	IS(pier_task_wait(wait[0], SHORT_MS), -ETIMEDOUT);
	IS(cancelled, 1);
	IS(pier_task_status(wait[1]), -EINPROGRESS);
	IS(pier_sync_event_task_set(event, 1, &set), 0);
	IS(pier_task_once(set, LIMIT_MS), 0);
	IS(pier_task_wait(wait[1], LIMIT_MS), 0);
	IS(pier_task_run(wait[0], LIMIT_MS), 0);
	IS(pier_task_free(wait[0]), 0);
	IS(pier_task_free(wait[1]), 0);
	pier_sync_event_destroy(event);
	graphs_close();
}

/* What the worker has begun is completed, what it has not is taken back. */
static void digests_that_are_not_begun_are_taken_back(void)
{
	struct pier_sha_config cfg = { .size = sizeof(cfg), .tasks = MANY };
	struct pier_task *task[MANY];
	struct pier_buf *src, *dst[MANY];
	struct pier_sha *sha;
	struct copier c;
	int cancelled = 0;

	if (!copier_open(&c, dev, NULL, BIG))
		return;
	IS(pier_sha_create(&sha), 0);
	IS(pier_sha_configure(sha, &cfg), 0);
	IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0);
	src = copier_data(&c, 0, BIG);
	for (size_t i = 0; i < MANY; i++) {
		dst[i] = copier_tail(&c, i * 64, 64);
		IS(pier_sha_task_hash(sha, PIER_SHA_512, src, dst[i],
				      &task[i]), 0);
		pier_task_set_done(task[i], count, &cancelled);
		IS(pier_task_submit(task[i], 0), 0);
	}
	for (int i = MANY; i-- > 0;)
		IS(pier_task_cancel(task[i]), 0);
	for (int i = 0; i < MANY; i++) {
		int status = pier_task_wait(task[i], -1);

		OK(!status || status == -ECANCELED);
		IS(pier_buf_data_len(dst[i]), status ? 0 : 64);
	}
	OK(cancelled > 0);
	LIKE(pier_task_error_text(task[MANY - 1]), "sha: hash: cancelled");
	for (int i = 0; i < MANY; i++) {
		pier_task_free(task[i]);
		pier_buf_put(dst[i]);
	}
	pier_buf_put(src);
	pier_sha_destroy(sha);
	copier_close(&c);
}

/*
 * a, which never ends, is before c; b, a wait for an event, is beside it.  The
 * instance is cancelled as a whole, and can be used again.
 */
static void an_instance_of_a_graph_is_taken_back_with_what_it_runs(void)
{
	struct graphs_letter a = { 'a', 0, 1 << 30 }, last = { 'c', 0, 0 };
	struct graphs_outcome outcome;
	struct pier_graph_node *na, *nb, *nc;
	struct pier_sync_event *event;
	struct pier_task *task, *wait;

	if (!graphs_open(dev))
		return;
	event = start_event();
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &wait), 0);
	nb = graphs_ctx_node(pier_sync_event_ctx(event));
	na = graphs_letter_node();
	nc = graphs_letter_node();
	graphs_order(na, nc);
	graphs_order(nb, nc);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	IS(pier_graph_task_set_arg(task, na, &a), 0);
	IS(pier_graph_task_set_task(task, nb, wait), 0);
	IS(pier_graph_task_set_arg(task, nc, &last), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_wait(wait, 0), -EBUSY);
	IS(pier_task_wait(task, SHORT_MS), -ETIMEDOUT);
	LIKE(pier_last_error(), "graph: not finished after 20 ms");
	IS(pier_task_status(wait), -ECANCELED);
	OK(!strchr(graphs.trace, 'c'));
	a.again = 0;
	IS(pier_task_free(wait), 0);
	IS(pier_sync_event_task_set(event, 1, &wait), 0);
	IS(pier_graph_task_set_task(task, nb, wait), 0);
	IS(graphs_run(task, &outcome), 0);
	OK(strchr(graphs.trace, 'c'));
	pier_task_free(task);
	pier_task_free(wait);
	pier_sync_event_destroy(event);
	graphs_close();
}

static int cancel_instance(void *arg)
{
	IS(pier_task_cancel(*(struct pier_task **)arg), 0);
	return 0;
}

/* While another function is in progress. */
static void a_function_may_cancel_the_instance_that_calls_it(void)
{
	struct graphs_letter a = { 'a', 0, 1 << 30 };
	struct pier_graph_node *first, *second, *node;
	struct pier_task *task, *copy;

	if (!graphs_open(dev))
		return;
	copy = graphs_copy(0);
	node = graphs_ctx_node(pier_dma_ctx(graphs.c.dma));
	first = graphs_letter_node();
	IS(pier_graph_add_user(graphs.graph, cancel_instance, &second), 0);
	graphs_order(first, node);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	IS(pier_graph_task_set_arg(task, first, &a), 0);
	IS(pier_graph_task_set_arg(task, second, &task), 0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	IS(pier_task_run(task, LIMIT_MS), -ECANCELED);
	pier_task_free(task);
	pier_task_free(copy);
	graphs_put();
	graphs_close();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_copy_that_waits_for_its_turn_is_taken_back);
	TEST(a_function_is_called_no_more);
	TEST(a_context_stops_while_a_task_of_it_is_cancelled);
	TEST(a_wait_for_an_event_is_taken_back_and_others_go_on);
	TEST(digests_that_are_not_begun_are_taken_back);
	TEST(an_instance_of_a_graph_is_taken_back_with_what_it_runs);
	TEST(a_function_may_cancel_the_instance_that_calls_it);
	pier_dev_close(dev);
	return tap_done();
}
