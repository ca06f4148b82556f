/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/tap.h"

/* What instances of graphs run, in which order, and how they end. */

#define MANY 10

static struct pier_dev *dev;

static void nodes_run_in_the_order_of_their_dependencies(void)
{
	struct graphs_letter a = { 'a', 0, 0 }, b = { 'b', 0, 2 };
	struct graphs_letter d = { 'd', 0, 0 };
	struct pier_graph_node *na, *nb, *nc, *nd;
	struct pier_task *task, *copy;
	struct graphs_outcome outcome;

	if (!graphs_open(dev))
		return;
	nd = graphs_letter_node();
	nc = graphs_ctx_node(graphs.c.ctx);
	nb = graphs_letter_node();
	na = graphs_letter_node();
	graphs_order(na, nb);
	graphs_order(na, nc);
	graphs_order(nb, nd);
	graphs_order(nc, nd);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_arg(task, na, &a), 0);
	IS(pier_graph_task_set_arg(task, nb, &b), 0);
	IS(pier_graph_task_set_arg(task, nd, &d), 0);
	IS(pier_graph_task_set_task(task, nc, copy), 0);
	for (int i = 0; i < 3; i++) {
		memset(graphs.trace, 0, sizeof(graphs.trace));
		pier_buf_reset(graphs_copy_dst());
		b.again = 2;
		IS(graphs_run(task, &outcome), 0);
		IS_STR(graphs.trace, "abd");
		OK(graphs_copied(0));
		IS(pier_buf_data_len(graphs_copy_dst()), 8);
	}
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void done_alone(struct pier_task *task, void *arg)
{
	(void)task;
	++*(int *)arg;
}

static void an_instance_is_one_event_and_its_nodes_are_none(void)
{
	struct pier_event event = { 0 };
	struct pier_task *task, *copy;
	struct pier_graph_node *node;
	int alone = 0, events = 0;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	pier_task_set_done(copy, done_alone, &alone);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	IS(pier_task_submit(task, 0), 0);
	while (pier_ctx_inflight(pier_graph_ctx(graphs.graph)))
		events += pier_pe_progress(graphs.c.pe, 0);
	IS(events, 1);
	IS(alone, 0);
	IS(pier_pe_retrieve(graphs.c.pe, &event), 0);
	OK(event.task == task);
	IS(event.status, 0);
	IS(pier_task_type(event.task), PIER_TASK_GRAPH);
	IS(pier_pe_retrieve(graphs.c.pe, &event), -EAGAIN);

	pier_buf_reset(graphs_copy_dst());
	IS(pier_task_submit(copy, 0), 0);
	OK(copier_count(&graphs.c, &alone, 1));
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void many_instances_run_beside_single_tasks(void)
{
	struct pier_task *task[MANY], *copy[2 * MANY], *single;
	struct graphs_letter u = { 'u', 0, 0 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[3];

	if (!graphs_open(dev))
		return;
	n[0] = graphs_ctx_node(graphs.c.ctx);
	n[1] = graphs_ctx_node(graphs.c.ctx);
	n[2] = graphs_letter_node();
	graphs_order(n[0], n[2]);
	graphs_order(n[1], n[2]);
	if (!graphs_start(graphs.graph))
		return;
	for (int i = 0; i < MANY; i++) {
		task[i] = graphs_instance(graphs.graph);
		for (int j = 0; j < 2; j++) {
			copy[2 * i + j] = graphs_copy((size_t)(2 * i + j) * 8);
			pier_graph_task_set_task(task[i], n[j],
						 copy[2 * i + j]);
		}
		pier_graph_task_set_arg(task[i], n[2], &u);
		pier_task_set_done(task[i], graphs_ended, &outcome);
		IS(pier_task_submit(task[i], 0), 0);
	}
	single = graphs_copy(2000);
	IS(pier_task_submit(single, 0), 0);
	IS(copier_wait(&graphs.c, single), 0);
	OK(copier_count(&graphs.c, &outcome.calls, MANY));
	IS(outcome.status, 0);
	IS_STR(graphs.trace, "uuuuuuuuuu");
	for (size_t i = 0; i < 2 * MANY; i++)
		OK(graphs_copied(i * 8));
	for (int i = 0; i < 3 * MANY; i++)
		pier_task_free(i < MANY ? task[i] : copy[i - MANY]);
	pier_task_free(single);
	pier_ctx_stop_wait(pier_graph_ctx(graphs.graph), 10000);
	IS(outcome.calls, MANY);
	graphs_put();
	graphs_close();
}

static void an_error_stops_what_depends_on_it_and_nothing_else(void)
{
	struct graphs_letter bad = { 'x', -EDOM, 0 }, never = { 'n', 0, 0 };
	struct graphs_letter other = { 'o', 0, 3 }, last = { 'l', 0, 0 };
	struct pier_graph_node *n[5];
	struct pier_task *task, *copy;
	struct graphs_outcome outcome;

	if (!graphs_open(dev))
		return;
	for (int i = 0; i < 4; i++)
		n[i] = graphs_letter_node();
	n[4] = graphs_ctx_node(graphs.c.ctx);
	graphs_order(n[0], n[1]);
	graphs_order(n[1], n[4]);
	graphs_order(n[2], n[3]);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_arg(task, n[0], &bad), 0);
	IS(pier_graph_task_set_arg(task, n[1], &never), 0);
	IS(pier_graph_task_set_arg(task, n[2], &other), 0);
	IS(pier_graph_task_set_arg(task, n[3], &last), 0);
	IS(pier_graph_task_set_task(task, n[4], copy), 0);
	IS(graphs_run(task, &outcome), -EDOM);
	LIKE(outcome.message, "the function of node 0 failed");
	IS_STR(graphs.trace, "xol");
	OK(!graphs_copied(0));
	IS(outcome.calls, 1);
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void a_failed_task_is_the_error_of_its_instance(void)
{
	struct pier_task *task, *copy = NULL;
	struct pier_graph_node *node;
	struct graphs_outcome outcome;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	IS(pier_dma_task_copy(graphs.c.dma, NULL, NULL, &copy), 0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	IS(graphs_run(task, &outcome), -EINVAL);
	LIKE(outcome.message, "copy: no source");
	pier_ctx_stop_wait(graphs.c.ctx, 10000);
	IS(graphs_run(task, &outcome), -ESHUTDOWN);
	LIKE(outcome.message, "the context is idle");
	pier_task_free(copy);
	pier_task_free(task);
	graphs_close();
}

static void cycles_are_refused(void)
{
	struct pier_graph_node *n[6], *far;
	struct pier_graph *other;

	if (!graphs_open(dev) || !IS(pier_graph_create(&other), 0))
		return;
	for (int i = 0; i < 6; i++)
		n[i] = graphs_letter_node();
	for (int i = 0; i < 5; i++)
		graphs_order(n[i], n[i + 1]);
	graphs_order(n[0], n[3]);
	IS(pier_graph_add_dependency(graphs.graph, n[0], n[0]), -ELOOP);
	IS(pier_graph_add_dependency(graphs.graph, n[1], n[0]), -ELOOP);
	IS(pier_graph_add_dependency(graphs.graph, n[5], n[0]), -ELOOP);
	LIKE(pier_last_error(), "node 0 cannot wait for node 5");
	IS(pier_graph_add_dependency(graphs.graph, n[0], n[3]), -EEXIST);
	graphs_order(n[0], n[5]);
	IS(pier_graph_add_user(other, graphs_write, &far), 0);
	IS(pier_graph_add_dependency(graphs.graph, n[0], far), -EINVAL);
	IS(pier_graph_add_dependency(graphs.graph, far, n[0]), -EINVAL);
	IS(pier_graph_add_dependency(graphs.graph, n[0], NULL), -EINVAL);
	IS(pier_graph_add_dependency(graphs.graph, NULL, n[0]), -EINVAL);
	IS(pier_graph_add_user(graphs.graph, NULL, &far), -EINVAL);
	IS(pier_graph_add_ctx(graphs.graph, NULL, &far), -EINVAL);
	pier_graph_destroy(other);
	graphs_close();
}

static void sub_graphs_in_a_cycle_are_refused(void)
{
	struct pier_graph *sub, *inner;
	struct pier_graph_node *node;

	if (!graphs_open(dev) || !IS(pier_graph_create(&sub), 0) ||
	    !IS(pier_graph_create(&inner), 0))
		return;
	IS(pier_graph_add_graph(graphs.graph, graphs.graph, &node), -ELOOP);
	IS(pier_graph_add_graph(graphs.graph, sub, &node), 0);
	IS(pier_graph_add_graph(sub, inner, &node), 0);
	IS(pier_graph_add_graph(graphs.graph, inner, &node), 0);
	IS(pier_graph_add_graph(inner, graphs.graph, &node), -ELOOP);
	IS(pier_graph_add_ctx(inner, pier_graph_ctx(graphs.graph), &node),
	   -ELOOP);
	LIKE(pier_last_error(), "sub-graph contains it");
	IS(pier_graph_add_graph(inner, NULL, &node), -EINVAL);
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	pier_graph_destroy(sub);
	pier_graph_destroy(inner);
	graphs_close();
}

static void a_graph_needs_a_context_that_runs(void)
{
	struct pier_graph_node *node;
	struct pier_graph *outer;

	if (!graphs_open(dev) || !IS(pier_graph_create(&outer), 0))
		return;
	IS(pier_ctx_start(pier_graph_ctx(graphs.graph), graphs.c.pe), -EINVAL);
	graphs_letter_node();
	IS(pier_ctx_start(pier_graph_ctx(graphs.graph), graphs.c.pe), -EINVAL);
	LIKE(pier_last_error(), "none of its 1 nodes");
	IS(pier_graph_add_graph(outer, graphs.graph, &node), 0);
	IS(pier_ctx_start(pier_graph_ctx(outer), graphs.c.pe), -ESHUTDOWN);
	graphs_ctx_node(graphs.c.ctx);
	IS(pier_ctx_stop_wait(graphs.c.ctx, 10000), 0);
	IS(pier_ctx_start(pier_graph_ctx(graphs.graph), graphs.c.pe),
	   -ESHUTDOWN);
	LIKE(pier_last_error(), "the context of node 1 is idle");
	IS(pier_ctx_start(graphs.c.ctx, graphs.c.pe), 0);
	graphs_start(graphs.graph);
	graphs_start(outer);
	pier_graph_destroy(outer);
	graphs_close();
}

static void a_graph_runs_on_the_engine_of_its_contexts_only(void)
{
	struct pier_pe *other = NULL;

	if (!graphs_open(dev) || !IS(pier_pe_create(&other), 0))
		return;
	graphs_ctx_node(graphs.c.ctx);
	IS(pier_ctx_start(pier_graph_ctx(graphs.graph), other), -ESHUTDOWN);
	LIKE(pier_last_error(), "node 0 runs on another engine");
	graphs_start(graphs.graph);
	graphs_close();
	pier_pe_destroy(other);
}

static void the_nodes_of_another_graph_are_refused(void)
{
	struct pier_graph_node *node, *far, *farther;
	struct pier_graph *other;
	struct pier_task *task;

	if (!graphs_open(dev) || !IS(pier_graph_create(&other), 0))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	IS(pier_graph_add_user(other, graphs_write, &far), 0);
	IS(pier_graph_add_user(other, graphs_write, &farther), 0);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	IS(pier_graph_task_set_arg(task, node, NULL), -EINVAL);
	LIKE(pier_last_error(), "runs a task");
	IS(pier_graph_task_set_arg(task, far, NULL), -EINVAL);
	LIKE(pier_last_error(), "not one of the instance");
	IS(pier_graph_task_set_arg(task, farther, NULL), -EINVAL);
	LIKE(pier_last_error(), "not one of the instance");
	pier_task_free(task);
	pier_graph_destroy(other);
	graphs_close();
}

static void a_node_may_run_an_instance_of_another_graph(void)
{
	struct pier_graph_node *n[2], *inner[2];
	struct graphs_letter u = { 'u', 0, 0 }, v = { 'v', -EDOM, 0 };
	struct pier_task *task, *sub_task, *copy;
	struct graphs_outcome outcome;
	struct pier_graph *sub;

	if (!graphs_open(dev) || !IS(pier_graph_create(&sub), 0))
		return;
	IS(pier_graph_add_ctx(sub, graphs.c.ctx, &inner[0]), 0);
	IS(pier_graph_add_user(sub, graphs_write, &inner[1]), 0);
	IS(pier_graph_add_dependency(sub, inner[0], inner[1]), 0);
	IS(pier_graph_add_graph(graphs.graph, sub, &n[0]), 0);
	n[1] = graphs_letter_node();
	graphs_order(n[0], n[1]);
	if (!graphs_start(sub) || !graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	sub_task = graphs_instance(sub);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(sub_task, inner[0], copy), 0);
	IS(pier_graph_task_set_arg(sub_task, inner[1], &u), 0);
	IS(pier_graph_task_set_task(task, n[0], sub_task), 0);
	IS(pier_graph_task_set_arg(task, n[1], &v), 0);
	IS(graphs_run(task, &outcome), -EDOM);
	IS_STR(graphs.trace, "uv");
	OK(graphs_copied(0));
	pier_buf_reset(graphs_copy_dst());
	u.status = -ENXIO;
	IS(graphs_run(task, &outcome), -ENXIO);
	IS_STR(graphs.trace, "uvu");
	graphs_put();
	pier_task_free(copy);
	pier_task_free(task);
	pier_task_free(sub_task);
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	pier_graph_destroy(sub);
	graphs_close();
}

static void what_does_not_fit_a_node_is_refused(void)
{
	struct pier_task *task, *copy, *other;
	struct pier_graph_node *nc, *nu;
	struct graphs_outcome outcome;
	struct pier_func *func;

	if (!graphs_open(dev) || !IS(pier_func_create(&func), 0))
		return;
	nc = graphs_ctx_node(graphs.c.ctx);
	nu = graphs_letter_node();
	IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_func_task_call(func, graphs_write, NULL, &other), 0);
	IS(pier_graph_task_set_task(task, nc, other), -EINVAL);
	LIKE(pier_last_error(), "not of the context of node 0");
	IS(pier_graph_task_set_task(task, nc, NULL), -EINVAL);
	IS(pier_graph_task_set_task(task, nu, copy), -EINVAL);
	IS(pier_graph_task_set_arg(task, nc, copy), -EINVAL);
	IS(pier_graph_task_set_arg(copy, nu, copy), -EINVAL);
	LIKE(pier_last_error(), "a copy, no instance");
	IS(pier_graph_task_set_arg(task, NULL, copy), -EINVAL);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 0 has no task");
	IS(pier_graph_task_set_task(task, nc, copy), 0);
	IS(pier_task_submit(copy, 0), 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(copier_wait(&graphs.c, copy), 0);
	pier_buf_reset(graphs_copy_dst());
	IS(pier_graph_task_set_arg(task, nu,
				   &(struct graphs_letter){ 'q', 0, 0 }), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	outcome.calls = 0;
	IS(pier_task_submit(task, 0), 0);
	IS(pier_graph_task_set_arg(task, nu, NULL), -EBUSY);
	IS(pier_graph_add_user(graphs.graph, graphs_write, &nu), -EBUSY);
	IS(pier_graph_add_dependency(graphs.graph, nc, nu), -EBUSY);
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	graphs_put();
	pier_task_free(other);
	pier_task_free(copy);
	pier_task_free(task);
	pier_func_destroy(func);
	graphs_close();
}

/* A function that is not finished until the program says so. */
static int hold_on(void *arg)
{
	return *(int *)arg ? 0 : -EINPROGRESS;
}

static void a_stop_begins_no_node_and_waits_for_those_that_run(void)
{
	struct graphs_letter u = { 'u', 0, 0 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[2];
	struct pier_task *task, *call;
	struct pier_func *func;
	int go_on = 0;

	if (!graphs_open(dev) || !IS(pier_func_create(&func), 0) ||
	    !IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0))
		return;
	IS(pier_graph_add_ctx(graphs.graph, pier_func_ctx(func), &n[0]), 0);
	n[1] = graphs_letter_node();
	graphs_order(n[0], n[1]);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	IS(pier_func_task_call(func, hold_on, &go_on, &call), 0);
	IS(pier_graph_task_set_task(task, n[0], call), 0);
	IS(pier_graph_task_set_arg(task, n[1], &u), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	for (int i = 0; i < 4; i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(pier_ctx_stop(pier_graph_ctx(graphs.graph)), -EINPROGRESS);
	for (int i = 0; i < 4; i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(outcome.calls, 0);
	go_on = 1;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, -ECANCELED);
	IS_STR(graphs.trace, "");
	pier_task_free(call);
	pier_task_free(task);
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	pier_func_destroy(func);
	graphs_close();
}

static void a_node_s_task_that_runs_is_not_freed_but_may_be_set(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *copy;
	struct pier_graph_node *node;
	int alone = 0;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	for (int i = 0; i < 3 && pier_task_status(copy) != -EINPROGRESS; i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(pier_task_status(copy), -EINPROGRESS);
	pier_task_set_done(copy, done_alone, &alone);
	IS(pier_task_free(copy), -EBUSY);
	IS(pier_task_free(task), -EBUSY);
	LIKE(pier_last_error(), "graph: freed in flight");
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	IS(alone, 0);
	IS(pier_task_free(copy), 0);
	graphs_put();
	pier_task_free(task);
	graphs_close();
}

static void a_node_s_task_that_waits_is_not_freed(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *other, *copy[2];
	struct pier_graph_node *n[2];

	if (!graphs_open(dev))
		return;
	n[0] = graphs_ctx_node(graphs.c.ctx);
	n[1] = graphs_ctx_node(graphs.c.ctx);
	IS(pier_graph_add_dependency(graphs.graph, n[0], n[1]), 0);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	other = graphs_instance(graphs.graph);
	for (int i = 0; i < 2; i++) {
		copy[i] = graphs_copy(8 * i);
		IS(pier_graph_task_set_task(task, n[i], copy[i]), 0);
		IS(pier_graph_task_set_task(other, n[i], copy[i]), 0);
	}
	pier_task_set_done(task, graphs_ended, &outcome);
	OK(pier_task_may_free(copy[1]));
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_status(copy[1]), 0);
	OK(!pier_task_may_free(copy[1]));
	IS(pier_task_free(copy[1]), -EBUSY);
	LIKE(pier_last_error(), "freed while an instance of a graph has it");
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	IS(pier_task_free(task), 0);
	IS(pier_task_free(copy[1]), 0);
	IS(pier_task_submit(other, 0), -EINVAL);
	LIKE(pier_last_error(), "node 1 has no task");
	graphs_put();
	pier_task_free(copy[0]);
	pier_task_free(other);
	graphs_close();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(nodes_run_in_the_order_of_their_dependencies);
	TEST(an_instance_is_one_event_and_its_nodes_are_none);
	TEST(many_instances_run_beside_single_tasks);
	TEST(an_error_stops_what_depends_on_it_and_nothing_else);
	TEST(a_failed_task_is_the_error_of_its_instance);
	TEST(cycles_are_refused);
	TEST(sub_graphs_in_a_cycle_are_refused);
	TEST(a_graph_needs_a_context_that_runs);
	TEST(a_graph_runs_on_the_engine_of_its_contexts_only);
	TEST(the_nodes_of_another_graph_are_refused);
	TEST(a_node_may_run_an_instance_of_another_graph);
	TEST(what_does_not_fit_a_node_is_refused);
	TEST(a_stop_begins_no_node_and_waits_for_those_that_run);
	TEST(a_node_s_task_that_runs_is_not_freed_but_may_be_set);
	TEST(a_node_s_task_that_waits_is_not_freed);
	pier_dev_close(dev);
	return tap_done();
}
