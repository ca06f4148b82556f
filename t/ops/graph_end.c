/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* How instances end: with errors, with a stop, and among others. */

#define MANY 3

static struct pier_dev *dev;
static struct pier_func *func;

static bool open_func(void)
{
	return graphs_open(dev) && IS(pier_func_create(&func), 0) &&
	       IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0);
}

static void close_func(void)
{
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	pier_func_destroy(func);
	func = NULL;
	graphs_close();
}

/* A task of a context node, which calls @call with @arg. */
static struct pier_task *call_task(pier_func_fn *call, void *arg)
{
	struct pier_task *task = NULL;

	IS(pier_func_task_call(func, call, arg, &task), 0);
	return task;
}

static struct pier_graph_node *user_node(pier_graph_fn *fn)
{
	struct pier_graph_node *node = NULL;

	IS(pier_graph_add_user(graphs.graph, fn, &node), 0);
	return node;
}

static int return_int(void *arg)
{
	return *(int *)arg;
}

static void rounds(int n)
{
	for (int i = 0; i < n; i++)
		pier_pe_progress(graphs.c.pe, 0);
}

static void the_first_error_is_the_one_of_the_instance(void)
{
	int status = -EAGAIN, first = -ENXIO;
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[3];
	struct pier_task *task, *call;

	if (!open_func())
		return;
	n[0] = user_node(return_int);
	n[1] = user_node(return_int);
	n[2] = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	call = call_task(return_int, &status);
	IS(pier_graph_task_set_arg(task, n[0], &status), 0);
	IS(pier_graph_task_set_arg(task, n[1], &first), 0);
	IS(pier_graph_task_set_task(task, n[2], call), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	rounds(3);
	IS(outcome.calls, 0);
	status = -EDOM;		/* of the two others */
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, -ENXIO);
	LIKE(outcome.message, "the function of node 1 failed");
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

static void the_error_of_a_call_has_its_message(void)
{
	struct pier_graph_node *nodes[2];
	struct graphs_outcome outcome;
	struct pier_task *task, *call;
	int fails = -EDOM, positive = 7, fine = 0;

	if (!open_func())
		return;
	nodes[0] = graphs_ctx_node(pier_func_ctx(func));
	nodes[1] = user_node(return_int);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	call = call_task(return_int, &fails);
	IS(pier_graph_task_set_task(task, nodes[0], call), 0);
	IS(pier_graph_task_set_arg(task, nodes[1], &fine), 0);
	IS(graphs_run(task, &outcome), -EDOM);
	LIKE(outcome.message, "call: the function failed");
	IS(pier_func_task_set(call, return_int, &fine), 0);
	IS(pier_graph_task_set_arg(task, nodes[1], &positive), 0);
	IS(graphs_run(task, &outcome), -EINVAL);
	LIKE(outcome.message, "the function of node 1 returned 7");
	IS(pier_graph_task_set_arg(task, nodes[1], &fine), 0);
	IS(graphs_run(task, &outcome), 0);
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

/* Each is in progress until the other was called as well. */
static int met[2];

static int meet(void *arg)
{
	int *mine = arg;

	*mine = 1;
	return met[0] && met[1] ? 0 : -EINPROGRESS;
}

static void nodes_without_an_order_run_at_the_same_time(void)
{
	struct pier_task *task, *call[2];
	struct pier_graph_node *n[2];
	struct graphs_outcome outcome;

	if (!open_func())
		return;
	n[0] = graphs_ctx_node(pier_func_ctx(func));
	n[1] = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	for (int i = 0; i < 2; i++) {
		call[i] = call_task(meet, &met[i]);
		IS(pier_graph_task_set_task(task, n[i], call[i]), 0);
	}
	IS(graphs_run(task, &outcome), 0);
	pier_task_free(call[0]);
	pier_task_free(call[1]);
	pier_task_free(task);
	close_func();
}

static void functions_in_progress_are_called_in_their_order(void)
{
	struct graphs_letter letter[4] = { { 'a', 0, 2 }, { 'b', 0, 1 },
					   { 'c', 0, 2 }, { 'd', 0, 0 } };
	struct graphs_letter after = { 'e', 0, 0 };
	struct pier_graph_node *n[4], *node, *last;
	struct graphs_outcome outcome;
	struct pier_task *task, *copy;

	if (!graphs_open(dev))
		return;
	for (int i = 0; i < 4; i++)
		n[i] = graphs_letter_node();
	node = graphs_ctx_node(graphs.c.ctx);
	last = graphs_letter_node();
	graphs_order(node, last);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	for (int i = 0; i < 4; i++)
		IS(pier_graph_task_set_arg(task, n[i], &letter[i]), 0);
	IS(pier_graph_task_set_arg(task, last, &after), 0);
	IS(graphs_run(task, &outcome), 0);
	IS_STR(graphs.trace, "dbeac");
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

/* Writes a letter once @go_on is set. */
static bool go_on;

static int write_at_last(void *arg)
{
	return go_on ? graphs_write(arg) : -EINPROGRESS;
}

static void a_round_ends_no_more_instances_than_its_budget(void)
{
	struct graphs_letter letter[MANY] = { { 'a', 0, 1 }, { 'b', 0, 0 },
					      { 'c', 0, 0 } };
	struct pier_task *task[MANY], *copy[MANY];
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[2];

	if (!graphs_open(dev))
		return;
	n[0] = user_node(write_at_last);
	n[1] = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	go_on = false;
	for (int i = 0; i < MANY; i++) {
		task[i] = graphs_instance(graphs.graph);
		copy[i] = graphs_copy((size_t)i * 8);
		IS(pier_graph_task_set_arg(task[i], n[0], &letter[i]), 0);
		IS(pier_graph_task_set_task(task[i], n[1], copy[i]), 0);
		pier_task_set_done(task[i], graphs_ended, &outcome);
		IS(pier_task_submit(task[i], 0), 0);
		IS(pier_task_submit(task[i], 0), -EBUSY);
	}
	rounds(3);
	IS(outcome.calls, 0);
	go_on = true;
	for (int i = 1; i <= MANY; i++) {
		IS(pier_pe_progress(graphs.c.pe, 1), 1);
		IS(outcome.calls, i);
	}
	IS_STR(graphs.trace, "bca");	/* the last of a round come first */
	graphs_put();
	for (int i = 0; i < MANY; i++) {
		pier_task_free(task[i]);
		pier_task_free(copy[i]);
	}
	graphs_close();
}

static void an_engine_sleeps_only_if_no_node_can_begin(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *call;
	struct pier_graph_node *node;
	int again = -EAGAIN;

	if (!open_func())
		return;
	node = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	rounds(3);
	IS(pier_pe_arm(graphs.c.pe), 0);
	pier_pe_clear(graphs.c.pe);
	task = graphs_instance(graphs.graph);
	call = call_task(return_int, &again);
	IS(pier_graph_task_set_task(task, node, call), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_pe_arm(graphs.c.pe), -EAGAIN);
	rounds(3);
	IS(pier_pe_arm(graphs.c.pe), 0);
	pier_pe_clear(graphs.c.pe);
	again = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	rounds(3);
	IS(pier_ctx_stop(pier_graph_ctx(graphs.graph)), -EINPROGRESS);
	IS(pier_pe_arm(graphs.c.pe), -EAGAIN);
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

/* The first node calls a function, which no context but the graph does. */
static void an_instance_submitted_after_arm_makes_the_fd_readable(void)
{
	struct graphs_letter letter = { 'a', 0, 0 };
	struct graphs_outcome outcome = { 0 };
	struct pollfd fd = { .events = POLLIN };
	struct pier_graph_node *n[2];
	struct pier_task *task, *copy;

	if (!graphs_open(dev))
		return;
	n[0] = graphs_letter_node();
	n[1] = graphs_ctx_node(graphs.c.ctx);
	IS(pier_graph_add_dependency(graphs.graph, n[0], n[1]), 0);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_arg(task, n[0], &letter), 0);
	IS(pier_graph_task_set_task(task, n[1], copy), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	fd.fd = pier_pe_fd(graphs.c.pe);
	while (pier_pe_arm(graphs.c.pe) == -EAGAIN)
		pier_pe_progress(graphs.c.pe, 0);
	IS(poll(&fd, 1, 0), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(poll(&fd, 1, 20000), 1);
	pier_pe_clear(graphs.c.pe);
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	pier_task_free(task);
	graphs_put();
	pier_task_free(copy);
	graphs_close();
}

static int stop_it(void *arg)
{
	(void)arg;
	IS(pier_ctx_stop(pier_graph_ctx(graphs.graph)), -EINPROGRESS);
	return 0;
}

static void a_stop_in_a_function_begins_no_other_node(void)
{
	struct graphs_letter waits = { 'w', 0, 1000 }, never = { 'n', 0, 0 };
	struct pier_graph_node *n[4];
	struct pier_task *task, *copy;
	struct graphs_outcome outcome;

	if (!graphs_open(dev))
		return;
	n[0] = graphs_letter_node();
	n[1] = user_node(stop_it);
	n[2] = graphs_letter_node();
	n[3] = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_arg(task, n[0], &waits), 0);
	IS(pier_graph_task_set_arg(task, n[2], &never), 0);
	IS(pier_graph_task_set_task(task, n[3], copy), 0);
	IS(graphs_run(task, &outcome), -ECANCELED);
	IS(waits.again, 999);
	IS_STR(graphs.trace, "");
	OK(!graphs_copied(0));
	IS(outcome.calls, 1);
	IS(pier_ctx_state(pier_graph_ctx(graphs.graph)), PIER_CTX_IDLE);
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void a_stop_after_the_last_node_began_is_no_error(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *call;
	struct pier_graph_node *node;
	int status = -EINPROGRESS;

	if (!open_func())
		return;
	node = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	call = call_task(return_int, &status);
	IS(pier_graph_task_set_task(task, node, call), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	rounds(3);
	IS(pier_ctx_stop(pier_graph_ctx(graphs.graph)), -EINPROGRESS);
	rounds(3);
	IS(outcome.calls, 0);
	status = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	IS(pier_task_submit(task, 0), -ESHUTDOWN);
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

static void the_configuration_is_that_of_other_contexts(void)
{
	struct pier_graph_config cfg = { .size = sizeof(cfg), .tasks = 1,
					 .stop_on_task_error = 1 };
	struct pier_task *task, *more, *call;
	struct pier_graph_node *node;
	struct graphs_outcome outcome;
	int fails = -EDOM;

	if (!open_func())
		return;
	node = graphs_ctx_node(pier_func_ctx(func));
	IS(pier_graph_configure(graphs.graph, &cfg), 0);
	if (!graphs_start(graphs.graph))
		return;
	memset(&cfg, 0, sizeof(cfg));
	pier_graph_get_config(graphs.graph, &cfg);
	IS(cfg.size, sizeof(cfg));
	IS(cfg.tasks, 1);
	IS(pier_graph_configure(graphs.graph, &cfg), -EBUSY);
	task = graphs_instance(graphs.graph);
	IS(pier_graph_task(graphs.graph, &more), -ENOBUFS);
	call = call_task(return_int, &fails);
	IS(pier_graph_task_set_task(task, node, call), 0);
	IS(pier_task_submit(task, 2), -EINVAL);
	IS(graphs_run(task, &outcome), -EDOM);
	OK(pier_ctx_state(pier_graph_ctx(graphs.graph)) != PIER_CTX_RUNNING);
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

/* Nodes that were added in between are those of its instances. */
static void an_idle_graph_is_extended_and_started_again(void)
{
	struct graphs_letter letter[MANY] = { { 'a', 0, 0 }, { 'b', 0, 0 },
					      { 'c', 0, 0 } };
	struct pier_graph_node *node, *n[MANY];
	struct pier_task *task, *copy;
	struct graphs_outcome outcome;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	for (int i = 0; i < MANY; i++) {
		if (!graphs_start(graphs.graph))
			return;
		task = graphs_instance(graphs.graph);
		copy = graphs_copy((size_t)i * 8);
		IS(pier_graph_task_set_task(task, node, copy), 0);
		for (int j = 0; j < i; j++)
			IS(pier_graph_task_set_arg(task, n[j], &letter[j]), 0);
		IS(graphs_run(task, &outcome), 0);
		pier_task_free(copy);
		pier_task_free(task);
		pier_ctx_stop_wait(pier_graph_ctx(graphs.graph), LIMIT_MS);
		n[i] = graphs_letter_node();
		IS(pier_graph_task(graphs.graph, &task), -ENOBUFS);
		LIKE(pier_last_error(), "while the context is idle");
	}
	IS_STR(graphs.trace, "aab");
	graphs_put();
	graphs_close();
}

static void a_task_that_was_freed_is_no_task_of_a_node(void)
{
	struct pier_graph_node *n[2];
	struct pier_task *task, *copy[2];

	if (!graphs_open(dev))
		return;
	n[0] = graphs_ctx_node(graphs.c.ctx);
	n[1] = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy[0] = graphs_copy(0);
	copy[1] = graphs_copy(8);
	IS(pier_graph_task_set_task(task, n[0], copy[0]), 0);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 1 has no task");
	IS(pier_graph_task_set_task(task, n[1], copy[1]), 0);
	pier_task_free(copy[1]);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 1 has no task");
	IS(pier_graph_task_set_task(task, n[1], copy[1]), -EINVAL);
	LIKE(pier_last_error(), "the task of node 1 was freed");
	graphs_put();
	pier_task_free(copy[0]);
	pier_task_free(task);
	graphs_close();
}

static int count_call(void *arg)
{
	++*(int *)arg;
	return 0;
}

static void the_tasks_of_the_first_nodes_begin_in_submit(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[2];
	struct pier_task *task, *call[2];
	int calls = 0;

	if (!open_func())
		return;
	for (int i = 0; i < 2; i++)
		n[i] = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	for (int i = 0; i < 2; i++) {
		call[i] = call_task(count_call, &calls);
		IS(pier_graph_task_set_task(task, n[i], call[i]), 0);
	}
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_status(call[1]), -EINPROGRESS);
	IS(calls, 0);
	IS(pier_pe_progress(graphs.c.pe, 0), 1);
	IS(calls, 2);
	IS(outcome.calls, 1);
	pier_task_free(call[0]);
	pier_task_free(call[1]);
	pier_task_free(task);
	close_func();
}

static void what_comes_after_a_function_does_not_begin_in_submit(void)
{
	struct graphs_letter letter = { 'u', 0, 0 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[2];
	struct pier_task *task, *copy;

	if (!graphs_open(dev))
		return;
	n[0] = graphs_letter_node();
	n[1] = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_arg(task, n[0], &letter), 0);
	IS(pier_graph_task_set_task(task, n[1], copy), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_status(copy), 0);
	IS_STR(graphs.trace, "");
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void stop_graph(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
	IS(pier_ctx_stop(pier_graph_ctx(graphs.graph)), -EINPROGRESS);
}

/* The context of the node is polled after the graph. */
static void a_stop_at_the_end_of_the_last_instance_is_one_round(void)
{
	struct pier_task *task, *call;
	struct pier_graph_node *node;
	int calls = 0;

	if (!open_func())
		return;
	node = graphs_ctx_node(pier_func_ctx(func));
	if (!graphs_start(graphs.graph))
		return;
	IS(pier_ctx_stop_wait(pier_func_ctx(func), LIMIT_MS), 0);
	IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0);
	task = graphs_instance(graphs.graph);
	call = call_task(count_call, &calls);
	IS(pier_graph_task_set_task(task, node, call), 0);
	pier_task_set_done(task, stop_graph, NULL);
	IS(pier_task_submit(task, 0), 0);
	pier_pe_progress(graphs.c.pe, 0);
	IS(calls, 1);
	IS(pier_ctx_state(pier_graph_ctx(graphs.graph)), PIER_CTX_IDLE);
	pier_task_free(call);
	pier_task_free(task);
	close_func();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(the_first_error_is_the_one_of_the_instance);
	TEST(the_error_of_a_call_has_its_message);
	TEST(nodes_without_an_order_run_at_the_same_time);
	TEST(functions_in_progress_are_called_in_their_order);
	TEST(a_round_ends_no_more_instances_than_its_budget);
	TEST(an_engine_sleeps_only_if_no_node_can_begin);
	TEST(an_instance_submitted_after_arm_makes_the_fd_readable);
	TEST(a_stop_in_a_function_begins_no_other_node);
	TEST(a_stop_after_the_last_node_began_is_no_error);
	TEST(the_configuration_is_that_of_other_contexts);
	TEST(an_idle_graph_is_extended_and_started_again);
	TEST(a_task_that_was_freed_is_no_task_of_a_node);
	TEST(the_tasks_of_the_first_nodes_begin_in_submit);
	TEST(what_comes_after_a_function_does_not_begin_in_submit);
	TEST(a_stop_at_the_end_of_the_last_instance_is_one_round);
	pier_dev_close(dev);
	return tap_done();
}
