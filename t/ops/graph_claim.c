/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* While an instance is submitted, the tasks of its nodes are the graph's. */

static struct pier_dev *dev;

/* A first node that goes on until it is let go, and two copies after it. */
static struct gated {
	struct graphs_letter gate;
	struct pier_graph_node *n[3];
	struct pier_task *task, *copy[2];
	struct pier_buf *dst[2];	/* of the copies */
	struct graphs_outcome outcome;
} g;

static struct pier_task *gated_instance(void)
{
	struct pier_task *task = graphs_instance(graphs.graph);

	IS(pier_graph_task_set_arg(task, g.n[0], &g.gate), 0);
	for (int i = 0; i < 2; i++)
		IS(pier_graph_task_set_task(task, g.n[1 + i], g.copy[i]), 0);
	pier_task_set_done(task, graphs_ended, &g.outcome);
	return task;
}

/* @in_order: the second copy comes after the first. */
static bool open_gated(bool in_order)
{
	memset(&g, 0, sizeof(g));
	if (!graphs_open(dev))
		return false;
	g.gate = (struct graphs_letter){ 'g', 0, 1 << 30 };
	g.n[0] = graphs_letter_node();
	for (int i = 0; i < 2; i++) {
		g.n[1 + i] = graphs_ctx_node(graphs.c.ctx);
		g.copy[i] = graphs_copy((size_t)i * 8);
		g.dst[i] = graphs_copy_dst();
	}
	graphs_order(g.n[0], g.n[1]);
	graphs_order(in_order ? g.n[1] : g.n[0], g.n[2]);
	if (!graphs_start(graphs.graph))
		return false;
	g.task = gated_instance();
	return true;
}

static void close_gated(void)
{
	pier_task_free(g.task);
	for (int i = 0; i < 2; i++)
		pier_task_free(g.copy[i]);
	graphs_put();
	graphs_close();
}

/* The first node ends; the status of the instance. */
static int let_go(int status)
{
	g.gate.status = status;
	g.gate.again = 0;
	OK(copier_count(&graphs.c, &g.outcome.calls, 1));
	g.outcome.calls = 0;
	g.gate = (struct graphs_letter){ 'g', 0, 1 << 30 };
	return g.outcome.status;
}

static void is_the_graphs(struct pier_task *task)
{
	static const char claimed[] = "while an instance of a graph has it";

	IS(pier_task_submit(task, 0), -EBUSY);
	LIKE(pier_last_error(), "copy: submitted while an instance");
	IS(pier_task_try_submit(task, 0), -EBUSY);
	IS(pier_task_run(task, 1000), -EBUSY);
	IS(pier_dma_task_set_bufs(task, NULL, NULL), -EBUSY);
	LIKE(pier_last_error(), claimed);
	IS(pier_task_set_timeout_ms(task, 5), -EBUSY);
	LIKE(pier_last_error(), claimed);
	OK(!pier_task_may_free(task));
	IS(pier_task_free(task), -EBUSY);
	LIKE(pier_last_error(), claimed);
}

/* @dst: its destination. */
static void is_the_program_s(struct pier_task *task, struct pier_buf *dst)
{
	IS(pier_task_set_timeout_ms(task, 60000), 0);
	IS(pier_task_set_timeout_ms(task, 0), 0);
	pier_buf_reset(dst);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&graphs.c, task), 0);
	pier_buf_reset(dst);
}

static void the_task_of_a_node_that_waits_is_the_graph_s(void)
{
	if (!open_gated(false))
		return;
	IS(pier_task_submit(g.task, 0), 0);
	for (int i = 0; i < 3; i++) {
		is_the_graphs(g.copy[0]);
		is_the_graphs(g.copy[1]);
		pier_pe_progress(graphs.c.pe, 0);
	}
	IS(let_go(0), 0);
	OK(graphs_copied(0));
	OK(graphs_copied(8));
	is_the_program_s(g.copy[1], g.dst[1]);
	close_gated();
}

/* Of a node that has ended, while the instance goes on. */
static void the_task_of_a_node_that_has_ended_is_the_graph_s(void)
{
	struct pier_graph_node *last;
	struct pier_task *task;
	struct graphs_outcome outcome = { 0 };
	struct graphs_letter a = { 'a', 0, 1 << 30 };
	struct pier_task *copy;
	struct pier_graph_node *first;

	if (!graphs_open(dev))
		return;
	first = graphs_ctx_node(graphs.c.ctx);
	last = graphs_letter_node();
	graphs_order(first, last);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(task, first, copy), 0);
	IS(pier_graph_task_set_arg(task, last, &a), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	for (int i = 0; i < 100 && pier_task_status(copy); i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(pier_task_status(copy), 0);
	is_the_graphs(copy);
	a.again = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	is_the_program_s(copy, graphs_copy_dst());
	pier_task_free(task);
	pier_task_free(copy);
	graphs_put();
	graphs_close();
}

static void a_failed_or_cancelled_instance_gives_the_tasks_back(void)
{
	if (!open_gated(true))
		return;
	IS(pier_task_submit(g.task, 0), 0);
	IS(let_go(-EIO), -EIO);
	is_the_program_s(g.copy[0], g.dst[0]);
	is_the_program_s(g.copy[1], g.dst[1]);
	IS(pier_task_submit(g.task, 0), 0);
	pier_pe_progress(graphs.c.pe, 0);
	IS(pier_task_cancel(g.task), 0);
	OK(copier_count(&graphs.c, &g.outcome.calls, 1));
	IS(g.outcome.status, -ECANCELED);
	is_the_program_s(g.copy[0], g.dst[0]);
	g.outcome.calls = 0;
	IS(pier_task_submit(g.task, 0), 0);
	IS(let_go(0), 0);
	close_gated();
}

static void a_task_is_in_one_submitted_instance_only(void)
{
	struct pier_task *other;

	if (!open_gated(true))
		return;
	other = gated_instance();
	IS(pier_task_submit(g.task, 0), 0);
	IS(pier_task_submit(other, 0), -EBUSY);
	LIKE(pier_last_error(), "node 1 is that of another node, of an "
	     "instance that is submitted");
	IS(let_go(0), 0);
	pier_buf_reset(g.dst[0]);
	pier_buf_reset(g.dst[1]);
	IS(pier_task_submit(other, 0), 0);
	IS(pier_task_submit(g.task, 0), -EBUSY);
	IS(let_go(0), 0);
	pier_task_free(other);
	close_gated();
}

static void a_task_of_two_nodes_of_an_instance_is_refused(void)
{
	if (!open_gated(false))
		return;
	IS(pier_graph_task_set_task(g.task, g.n[2], g.copy[0]), 0);
	IS(pier_task_submit(g.task, 0), -EINVAL);
	IS_STR(pier_last_error(), "graph: node 2 has the task of node 1: each "
	       "needs its own");
	is_the_program_s(g.copy[0], g.dst[0]);
	IS(pier_graph_task_set_task(g.task, g.n[2], g.copy[1]), 0);
	IS(pier_task_submit(g.task, 0), 0);
	IS(let_go(0), 0);
	close_gated();
}

/* What the program puts after the submit, it takes for something else. */
static void the_buffers_of_a_node_that_waits_are_held(void)
{
	struct pier_buf_inventory *inv;
	struct pier_buf *src, *dst, *more = NULL;

	if (!open_gated(true) || !IS(pier_buf_inventory_create(2, &inv), 0))
		return;
	memset(graphs.c.src + 100, 'x', 8);
	for (int i = 0; i < 2; i++) {
		IS(pier_buf_by_data(inv, graphs.c.from, graphs.c.src + 100, 8,
				    &src), 0);
		IS(pier_buf_by_addr(inv, graphs.c.to, graphs.c.dst + 100, 8,
				    &dst), 0);
		memset(graphs.c.dst, 0, graphs.c.len);
		pier_buf_reset(g.dst[1]);
		IS(pier_dma_task_set_bufs(g.copy[0], src, dst), 0);
		IS(pier_task_submit(g.task, 0), 0);
		IS(pier_buf_refs(src), 2);
		pier_buf_put(src);
		pier_buf_put(dst);
		IS(pier_buf_by_data(inv, graphs.c.from, graphs.c.src, 8,
				    &more), -ENOBUFS);
		IS(let_go(i ? -EIO : 0), i ? -EIO : 0);
		IS(memcmp(graphs.c.dst + 100, graphs.c.src + 100, 8) != 0, i);
	}
	IS(pier_buf_by_data(inv, graphs.c.from, graphs.c.src, 8, &src), 0);
	IS(pier_buf_by_data(inv, graphs.c.from, graphs.c.src, 8, &dst), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_buf_inventory_destroy(inv);
	close_gated();
}

/* Two nodes for copies, one after the other. */
static void add_pair(struct pier_graph *sub, struct pier_graph_node **inner)
{
	for (int i = 0; i < 2; i++)
		IS(pier_graph_add_ctx(sub, graphs.c.ctx, &inner[i]), 0);
	IS(pier_graph_add_dependency(sub, inner[0], inner[1]), 0);
}

/* The same in a sub-graph whose node waits. */
static void what_a_waiting_sub_graph_has_is_the_graph_s(void)
{
	struct graphs_letter gate = { 'g', 0, 1 << 30 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[3], *inner[2];
	struct pier_task *task, *part, *copy[3];
	struct pier_graph *sub;

	if (!graphs_open(dev) || !IS(pier_graph_create(&sub), 0))
		return;
	add_pair(sub, inner);
	n[0] = graphs_letter_node();
	n[1] = graphs_ctx_node(pier_graph_ctx(sub));
	n[2] = graphs_ctx_node(graphs.c.ctx);
	graphs_order(n[0], n[1]);
	graphs_order(n[1], n[2]);
	if (!graphs_start(sub) || !graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	part = graphs_instance(sub);
	IS(pier_graph_task_set_arg(task, n[0], &gate), 0);
	IS(pier_graph_task_set_task(task, n[1], part), 0);
	copy[0] = graphs_copy(0);
	copy[2] = graphs_copy(16);
	IS(pier_graph_task_set_task(task, n[2], copy[2]), 0);
	IS(pier_graph_task_set_task(part, inner[0], copy[0]), 0);
	IS(pier_graph_task_set_task(part, inner[1], copy[0]), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 1 has the task of node 0");
	copy[1] = graphs_copy(8);
	IS(pier_graph_task_set_task(part, inner[1], copy[1]), 0);
	IS(pier_graph_task_set_task(task, n[2], copy[1]), 0);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 2 has the task of node 1 of another "
	     "graph of the instance");
	IS(pier_graph_task_set_task(task, n[2], copy[2]), 0);
	IS(pier_task_submit(task, 0), 0);
	is_the_graphs(copy[1]);
	IS(pier_task_submit(part, 0), -EBUSY);
	IS(pier_graph_task_set_task(part, inner[1], copy[0]), -EBUSY);
	graphs_put();
	gate.again = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, 0);
	OK(graphs_copied(0));
	OK(graphs_copied(8));
	OK(graphs_copied(16));
	IS(pier_task_submit(part, 0), 0);	/* its buffers were put */
	copier_wait(&graphs.c, part);
	IS(pier_task_status(part), -EINVAL);
	pier_task_free(task);
	pier_task_free(part);
	pier_task_free(copy[0]);
	pier_task_free(copy[1]);
	pier_task_free(copy[2]);
	pier_graph_destroy(graphs.graph);
	graphs.graph = sub;
	graphs_close();
}

/* An instance of one node, which a call waits for. */
static struct lone {
	struct pier_task *task, *copy;
	int tries;			/* while the copy is complete */
} lone;

static void try_it(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
	if (pier_task_status(lone.copy) == -EINPROGRESS)
		return;
	IS(pier_task_status(lone.task), -EINPROGRESS);
	is_the_graphs(lone.copy);
	lone.tries++;
}

static void the_task_of_a_lone_node_is_the_graph_s_until_the_end(void)
{
	struct pier_buf *src, *dst;
	struct pier_graph_node *node;

	if (!graphs_open(dev))
		return;
	lone.tries = 0;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	lone.task = graphs_instance(graphs.graph);
	lone.copy = graphs_copy(0);
	IS(pier_graph_task_set_task(lone.task, node, lone.copy), 0);
	IS(pier_task_submit(lone.task, 0), 0);
	src = copier_data(&graphs.c, 0, 8);
	dst = copier_tail(&graphs.c, 8, 8);
	IS(pier_dma_copy(graphs.c.dma, src, dst, try_it, NULL), 0);
	IS(pier_task_wait(lone.task, LIMIT_MS), 0);
	IS(lone.tries, 1);
	is_the_program_s(lone.copy, graphs_copy_dst());
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_task_free(lone.task);
	pier_task_free(lone.copy);
	graphs_put();
	graphs_close();
}

/* Its callback has one that is freed after it. */
static struct pier_task *instance_for_it;
static struct pier_graph_node *node_for_it;

static void put_into(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_graph_task_set_task(instance_for_it, node_for_it,
					       task);
	LIKE(pier_last_error(), "node 0 is freed after its callback");
}

static void a_one_shot_task_is_no_node_s(void)
{
	struct pier_buf *src, *dst;
	int err = 1;

	if (!graphs_open(dev))
		return;
	node_for_it = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	instance_for_it = graphs_instance(graphs.graph);
	src = copier_data(&graphs.c, 0, 8);
	dst = copier_tail(&graphs.c, 8, 8);
	IS(pier_dma_copy(graphs.c.dma, src, dst, put_into, &err), 0);
	for (int i = 0; i < 100 && err == 1; i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(err, -EINVAL);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_task_free(instance_for_it);
	graphs_close();
}

static int destroy_it(void *arg)
{
	(void)arg;
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	return 0;
}

static void a_graph_destroyed_in_a_function_begins_no_other_node(void)
{
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *first, *next;
	struct pier_task *task, *copy;

	if (!graphs_open(dev))
		return;
	IS(pier_graph_add_user(graphs.graph, destroy_it, &first), 0);
	next = graphs_ctx_node(graphs.c.ctx);
	graphs_order(first, next);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(task, next, copy), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, -ECANCELED);
	LIKE(outcome.message, "the context stops");
	OK(!graphs_copied(0));
	IS(pier_task_free(task), 0);
	IS(pier_task_free(copy), 0);
	graphs_put();
	graphs_close();
}

/* It is in its pool, from which none was taken since. */
static void is_freed(struct pier_task *task)
{
	IS(pier_task_free(task), -EINVAL);
	LIKE(pier_last_error(), "freed twice");
}

static void abandon_copies(void)
{
	for (int i = 0; i < 2; i++) {
		pier_task_abandon(g.copy[i]);
		IS(pier_task_free(g.copy[i]), -EBUSY);
	}
}

static void abandoned_tasks_of_nodes_do_not_begin_and_are_freed(void)
{
	if (!open_gated(true))
		return;
	IS(pier_task_submit(g.task, 0), 0);
	abandon_copies();
	IS(let_go(0), -ECANCELED);
	LIKE(g.outcome.message, "copy: cancelled");
	OK(!graphs_copied(0));
	is_freed(g.copy[0]);
	is_freed(g.copy[1]);
	IS(pier_task_submit(g.task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 1 has no task");
	pier_task_abandon(g.task);
	is_freed(g.task);
	close_gated();
}

static void an_abandoned_instance_gives_back_what_was_abandoned(void)
{
	if (!open_gated(true))
		return;
	IS(pier_task_submit(g.task, 0), 0);
	pier_pe_progress(graphs.c.pe, 0);
	pier_task_abandon(g.task);
	abandon_copies();
	for (int i = 0; i < 100 && pier_pe_inflight(graphs.c.pe); i++)
		pier_pe_progress(graphs.c.pe, 0);
	IS(g.outcome.calls, 0);
	is_freed(g.task);
	is_freed(g.copy[0]);
	is_freed(g.copy[1]);
	close_gated();
}

/* One in flight, and one that cannot begin. */
static void an_abandoned_task_of_a_lone_node_is_freed(void)
{
	static const int statuses[] = { -ECANCELED, -ESHUTDOWN };
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task, *copy[2];
	struct pier_graph_node *node;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	pier_task_set_done(task, graphs_ended, &outcome);
	copy[0] = graphs_copy(0);
	copy[1] = graphs_copy(8);
	for (int i = 0; i < 2; i++) {
		IS(pier_graph_task_set_task(task, node, copy[i]), 0);
		if (i)
			IS(pier_ctx_stop_wait(graphs.c.ctx, LIMIT_MS), 0);
		IS(pier_task_submit(task, 0), 0);
		pier_task_abandon(copy[i]);
		IS(pier_task_free(copy[i]), -EBUSY);
		OK(copier_count(&graphs.c, &outcome.calls, 1 + i));
		IS(outcome.status, statuses[i]);
		is_freed(copy[i]);
	}
	pier_task_free(task);
	graphs_put();
	graphs_close();
}

static void an_abandoned_instance_of_a_sub_graph_is_freed_with_its_tasks(void)
{
	struct graphs_letter gate = { 'g', 0, 1 << 30 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *n[2], *inner[2];
	struct pier_task *task, *part, *copy[2];
	struct pier_graph *sub;

	if (!graphs_open(dev) || !IS(pier_graph_create(&sub), 0))
		return;
	add_pair(sub, inner);
	n[0] = graphs_letter_node();
	n[1] = graphs_ctx_node(pier_graph_ctx(sub));
	graphs_order(n[0], n[1]);
	if (!graphs_start(sub) || !graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	part = graphs_instance(sub);
	IS(pier_graph_task_set_arg(task, n[0], &gate), 0);
	IS(pier_graph_task_set_task(task, n[1], part), 0);
	for (int i = 0; i < 2; i++) {
		copy[i] = graphs_copy((size_t)i * 8);
		IS(pier_graph_task_set_task(part, inner[i], copy[i]), 0);
	}
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	pier_task_abandon(part);
	pier_task_abandon(copy[0]);
	pier_task_abandon(copy[1]);
	gate.again = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, -ECANCELED);
	is_freed(part);
	is_freed(copy[0]);
	is_freed(copy[1]);
	pier_task_free(task);
	graphs_put();
	pier_graph_destroy(graphs.graph);
	graphs.graph = sub;
	graphs_close();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(the_task_of_a_node_that_waits_is_the_graph_s);
	TEST(the_task_of_a_node_that_has_ended_is_the_graph_s);
	TEST(a_failed_or_cancelled_instance_gives_the_tasks_back);
	TEST(a_task_is_in_one_submitted_instance_only);
	TEST(a_task_of_two_nodes_of_an_instance_is_refused);
	TEST(the_buffers_of_a_node_that_waits_are_held);
	TEST(what_a_waiting_sub_graph_has_is_the_graph_s);
	TEST(the_task_of_a_lone_node_is_the_graph_s_until_the_end);
	TEST(a_one_shot_task_is_no_node_s);
	TEST(a_graph_destroyed_in_a_function_begins_no_other_node);
	TEST(abandoned_tasks_of_nodes_do_not_begin_and_are_freed);
	TEST(an_abandoned_instance_gives_back_what_was_abandoned);
	TEST(an_abandoned_task_of_a_lone_node_is_freed);
	TEST(an_abandoned_instance_of_a_sub_graph_is_freed_with_its_tasks);
	pier_dev_close(dev);
	return tap_done();
}
