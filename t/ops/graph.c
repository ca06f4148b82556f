/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* What instances of graphs run, in which order, and how they end. */

#define LEN 4096
#define MANY 10

static struct pier_dev *dev;
static struct copier c;			/* a DMA context on an engine */
static struct pier_graph *graph;

/* What functions of nodes have done: letters, and what each returns. */
static char trace[64];

struct letter {
	char name;
	int status, again;
};

static int write_letter(void *arg)
{
	struct letter *letter = arg;
	size_t len = strlen(trace);

	if (letter->again-- > 0)
		return -EINPROGRESS;
	if (len < sizeof(trace) - 1)
		trace[len] = letter->name;
	return letter->status;
}

/* How an instance ended. */
struct outcome {
	int calls, status;
	char message[128];
};

static void ended(struct pier_task *task, void *arg)
{
	struct outcome *outcome = arg;

	outcome->calls++;
	outcome->status = pier_task_status(task);
	snprintf(outcome->message, sizeof(outcome->message), "%s",
		 pier_last_error());
}

static bool open_graph(void)
{
	memset(trace, 0, sizeof(trace));
	return copier_open(&c, dev, NULL, LEN) &&
	       IS(pier_graph_create(&graph), 0);
}

static void close_graph(void)
{
	pier_graph_destroy(graph);
	graph = NULL;
	copier_close(&c);
}

static bool start(struct pier_graph *which)
{
	return IS(pier_ctx_start(pier_graph_ctx(which), c.pe), 0);
}

static struct pier_graph_node *copy_node(void)
{
	struct pier_graph_node *node = NULL;

	IS(pier_graph_add_ctx(graph, c.ctx, &node), 0);
	return node;
}

static struct pier_graph_node *letter_node(void)
{
	struct pier_graph_node *node = NULL;

	IS(pier_graph_add_user(graph, write_letter, &node), 0);
	return node;
}

static void before(struct pier_graph_node *first, struct pier_graph_node *next)
{
	IS(pier_graph_add_dependency(graph, first, next), 0);
}

static struct pier_task *instance_of(struct pier_graph *which)
{
	struct pier_task *task = NULL;

	IS(pier_graph_task(which, &task), 0);
	return task;
}

/* The buffers of all copies of a test, source and destination in turn. */
static struct pier_buf *bufs[4 * MANY + 2];
static int buf_count;

/* A task that copies 8 bytes from the source to @at of the destination. */
static struct pier_task *copy_task(size_t at)
{
	struct pier_buf *src = copier_data(&c, 0, 8);
	struct pier_buf *dst = copier_tail(&c, at, 8);
	struct pier_task *task = NULL;

	memcpy(c.src, "graphic", 8);
	IS(pier_dma_task_copy(c.dma, src, dst, &task), 0);
	bufs[buf_count++] = src;
	bufs[buf_count++] = dst;
	return task;
}

static void put_bufs(void)
{
	while (buf_count)
		pier_buf_put(bufs[--buf_count]);
}

static bool copied(size_t at)
{
	return !memcmp(c.dst + at, "graphic", 8);
}

static int run(struct pier_task *instance, struct outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	pier_task_set_done(instance, ended, outcome);
	IS(pier_task_submit(instance, 0), 0);
	IS(outcome->calls, 0);
	OK(copier_count(&c, &outcome->calls, 1));
	return outcome->status;
}

static void nodes_run_in_the_order_of_their_dependencies(void)
{
	struct letter a = { 'a', 0, 0 }, b = { 'b', 0, 2 }, d = { 'd', 0, 0 };
	struct pier_graph_node *na, *nb, *nc, *nd;
	struct pier_task *task, *copy;
	struct outcome outcome;

	if (!open_graph())
		return;
	nd = letter_node();
	nc = copy_node();
	nb = letter_node();
	na = letter_node();
	before(na, nb);
	before(na, nc);
	before(nb, nd);
	before(nc, nd);
	if (!start(graph))
		return;
	task = instance_of(graph);
	copy = copy_task(0);
	IS(pier_graph_task_set_arg(task, na, &a), 0);
	IS(pier_graph_task_set_arg(task, nb, &b), 0);
	IS(pier_graph_task_set_arg(task, nd, &d), 0);
	IS(pier_graph_task_set_task(task, nc, copy), 0);
	for (int i = 0; i < 3; i++) {
		trace[0] = trace[1] = trace[2] = trace[3] = 0;
		pier_buf_reset(bufs[1]);
		b.again = 2;
		IS(run(task, &outcome), 0);
		IS_STR(trace, "abd");
		OK(copied(0));
		IS(pier_buf_data_len(bufs[1]), 8);
	}
	put_bufs();
	pier_task_free(copy);
	pier_task_free(task);
	close_graph();
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

	if (!open_graph())
		return;
	node = copy_node();
	if (!start(graph))
		return;
	task = instance_of(graph);
	copy = copy_task(0);
	pier_task_set_done(copy, done_alone, &alone);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	IS(pier_task_submit(task, 0), 0);
	while (pier_ctx_inflight(pier_graph_ctx(graph)))
		events += pier_pe_progress(c.pe, 0);
	IS(events, 1);
	IS(alone, 0);
	IS(pier_pe_retrieve(c.pe, &event), 0);
	OK(event.task == task);
	IS(event.status, 0);
	IS(pier_task_type(event.task), PIER_TASK_GRAPH);
	IS(pier_pe_retrieve(c.pe, &event), -EAGAIN);

	pier_buf_reset(bufs[1]);
	IS(pier_task_submit(copy, 0), 0);
	OK(copier_count(&c, &alone, 1));
	put_bufs();
	pier_task_free(copy);
	pier_task_free(task);
	close_graph();
}

static void many_instances_run_beside_single_tasks(void)
{
	struct pier_task *task[MANY], *copy[2 * MANY], *single;
	struct letter u = { 'u', 0, 0 };
	struct outcome outcome = { 0 };
	struct pier_graph_node *n[3];

	if (!open_graph())
		return;
	n[0] = copy_node();
	n[1] = copy_node();
	n[2] = letter_node();
	before(n[0], n[2]);
	before(n[1], n[2]);
	if (!start(graph))
		return;
	for (int i = 0; i < MANY; i++) {
		task[i] = instance_of(graph);
		for (int j = 0; j < 2; j++) {
			copy[2 * i + j] = copy_task((size_t)(2 * i + j) * 8);
			pier_graph_task_set_task(task[i], n[j],
						 copy[2 * i + j]);
		}
		pier_graph_task_set_arg(task[i], n[2], &u);
		pier_task_set_done(task[i], ended, &outcome);
		IS(pier_task_submit(task[i], 0), 0);
	}
	single = copy_task(2000);
	IS(pier_task_submit(single, 0), 0);
	IS(copier_wait(&c, single), 0);
	OK(copier_count(&c, &outcome.calls, MANY));
	IS(outcome.status, 0);
	IS_STR(trace, "uuuuuuuuuu");
	for (size_t i = 0; i < 2 * MANY; i++)
		OK(copied(i * 8));
	for (int i = 0; i < 3 * MANY; i++)
		pier_task_free(i < MANY ? task[i] : copy[i - MANY]);
	pier_task_free(single);
	pier_ctx_stop_wait(pier_graph_ctx(graph), 10000);
	IS(outcome.calls, MANY);
	put_bufs();
	close_graph();
}

static void an_error_stops_what_depends_on_it_and_nothing_else(void)
{
	struct letter bad = { 'x', -EDOM, 0 }, never = { 'n', 0, 0 };
	struct letter other = { 'o', 0, 3 }, last = { 'l', 0, 0 };
	struct pier_graph_node *n[5];
	struct pier_task *task, *copy;
	struct outcome outcome;

	if (!open_graph())
		return;
	for (int i = 0; i < 4; i++)
		n[i] = letter_node();
	n[4] = copy_node();
	before(n[0], n[1]);
	before(n[1], n[4]);
	before(n[2], n[3]);
	if (!start(graph))
		return;
	task = instance_of(graph);
	copy = copy_task(0);
	IS(pier_graph_task_set_arg(task, n[0], &bad), 0);
	IS(pier_graph_task_set_arg(task, n[1], &never), 0);
	IS(pier_graph_task_set_arg(task, n[2], &other), 0);
	IS(pier_graph_task_set_arg(task, n[3], &last), 0);
	IS(pier_graph_task_set_task(task, n[4], copy), 0);
	IS(run(task, &outcome), -EDOM);
	LIKE(outcome.message, "the function of node 0 failed");
	IS_STR(trace, "xol");
	OK(!copied(0));
	IS(outcome.calls, 1);
	put_bufs();
	pier_task_free(copy);
	pier_task_free(task);
	close_graph();
}

static void a_failed_task_is_the_error_of_its_instance(void)
{
	struct pier_task *task, *copy = NULL;
	struct pier_graph_node *node;
	struct outcome outcome;

	if (!open_graph())
		return;
	node = copy_node();
	if (!start(graph))
		return;
	task = instance_of(graph);
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &copy), 0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	IS(run(task, &outcome), -EINVAL);
	LIKE(outcome.message, "copy: no source");
	pier_ctx_stop_wait(c.ctx, 10000);
	IS(run(task, &outcome), -ESHUTDOWN);
	LIKE(outcome.message, "the context is idle");
	pier_task_free(copy);
	pier_task_free(task);
	close_graph();
}

static void cycles_are_refused(void)
{
	struct pier_graph_node *n[6], *far;
	struct pier_graph *other;

	if (!open_graph() || !IS(pier_graph_create(&other), 0))
		return;
	for (int i = 0; i < 6; i++)
		n[i] = letter_node();
	for (int i = 0; i < 5; i++)
		before(n[i], n[i + 1]);
	before(n[0], n[3]);
	IS(pier_graph_add_dependency(graph, n[0], n[0]), -ELOOP);
	IS(pier_graph_add_dependency(graph, n[1], n[0]), -ELOOP);
	IS(pier_graph_add_dependency(graph, n[5], n[0]), -ELOOP);
	LIKE(pier_last_error(), "node 0 cannot wait for node 5");
	IS(pier_graph_add_dependency(graph, n[0], n[3]), -EEXIST);
	before(n[0], n[5]);
	IS(pier_graph_add_user(other, write_letter, &far), 0);
	IS(pier_graph_add_dependency(graph, n[0], far), -EINVAL);
	IS(pier_graph_add_dependency(graph, n[0], NULL), -EINVAL);
	pier_graph_destroy(other);
	close_graph();
}

static void sub_graphs_in_a_cycle_are_refused(void)
{
	struct pier_graph *sub, *inner;
	struct pier_graph_node *node;

	if (!open_graph() || !IS(pier_graph_create(&sub), 0) ||
	    !IS(pier_graph_create(&inner), 0))
		return;
	IS(pier_graph_add_graph(graph, graph, &node), -ELOOP);
	IS(pier_graph_add_graph(graph, sub, &node), 0);
	IS(pier_graph_add_graph(sub, inner, &node), 0);
	IS(pier_graph_add_graph(graph, inner, &node), 0);
	IS(pier_graph_add_graph(inner, graph, &node), -ELOOP);
	IS(pier_graph_add_ctx(inner, pier_graph_ctx(graph), &node), -ELOOP);
	LIKE(pier_last_error(), "sub-graph contains it");
	IS(pier_graph_add_graph(inner, NULL, &node), -EINVAL);
	pier_graph_destroy(graph);
	graph = NULL;
	pier_graph_destroy(sub);
	pier_graph_destroy(inner);
	close_graph();
}

static void a_graph_needs_a_context_that_runs(void)
{
	struct pier_graph_node *node;
	struct pier_graph *outer;

	if (!open_graph() || !IS(pier_graph_create(&outer), 0))
		return;
	IS(pier_ctx_start(pier_graph_ctx(graph), c.pe), -EINVAL);
	letter_node();
	IS(pier_ctx_start(pier_graph_ctx(graph), c.pe), -EINVAL);
	LIKE(pier_last_error(), "none of its 1 nodes");
	IS(pier_graph_add_graph(outer, graph, &node), 0);
	IS(pier_ctx_start(pier_graph_ctx(outer), c.pe), -ESHUTDOWN);
	copy_node();
	IS(pier_ctx_stop_wait(c.ctx, 10000), 0);
	IS(pier_ctx_start(pier_graph_ctx(graph), c.pe), -ESHUTDOWN);
	LIKE(pier_last_error(), "the context of node 1 is idle");
	IS(pier_ctx_start(c.ctx, c.pe), 0);
	start(graph);
	start(outer);
	pier_graph_destroy(outer);
	close_graph();
}

static void a_node_may_run_an_instance_of_another_graph(void)
{
	struct pier_graph_node *n[2], *inner[2];
	struct letter u = { 'u', 0, 0 }, v = { 'v', -EDOM, 0 };
	struct pier_task *task, *sub_task, *copy;
	struct outcome outcome;
	struct pier_graph *sub;

	if (!open_graph() || !IS(pier_graph_create(&sub), 0))
		return;
	IS(pier_graph_add_ctx(sub, c.ctx, &inner[0]), 0);
	IS(pier_graph_add_user(sub, write_letter, &inner[1]), 0);
	IS(pier_graph_add_dependency(sub, inner[0], inner[1]), 0);
	IS(pier_graph_add_graph(graph, sub, &n[0]), 0);
	n[1] = letter_node();
	before(n[0], n[1]);
	if (!start(sub) || !start(graph))
		return;
	task = instance_of(graph);
	sub_task = instance_of(sub);
	copy = copy_task(0);
	IS(pier_graph_task_set_task(sub_task, inner[0], copy), 0);
	IS(pier_graph_task_set_arg(sub_task, inner[1], &u), 0);
	IS(pier_graph_task_set_task(task, n[0], sub_task), 0);
	IS(pier_graph_task_set_arg(task, n[1], &v), 0);
	IS(run(task, &outcome), -EDOM);
	IS_STR(trace, "uv");
	OK(copied(0));
	pier_buf_reset(bufs[1]);
	u.status = -ENXIO;
	IS(run(task, &outcome), -ENXIO);
	IS_STR(trace, "uvu");
	put_bufs();
	pier_task_free(copy);
	pier_task_free(task);
	pier_task_free(sub_task);
	pier_graph_destroy(graph);
	graph = NULL;
	pier_graph_destroy(sub);
	close_graph();
}

static void what_does_not_fit_a_node_is_refused(void)
{
	struct pier_task *task, *copy, *other;
	struct pier_graph_node *nc, *nu;
	struct outcome outcome;
	struct pier_func *func;

	if (!open_graph() || !IS(pier_func_create(&func), 0))
		return;
	nc = copy_node();
	nu = letter_node();
	IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0);
	if (!start(graph))
		return;
	task = instance_of(graph);
	copy = copy_task(0);
	IS(pier_func_task_call(func, write_letter, NULL, &other), 0);
	IS(pier_graph_task_set_task(task, nc, other), -EINVAL);
	LIKE(pier_last_error(), "not of the context of node 0");
	IS(pier_graph_task_set_task(task, nc, NULL), -EINVAL);
	IS(pier_graph_task_set_task(task, nu, copy), -EINVAL);
	IS(pier_graph_task_set_arg(task, nc, copy), -EINVAL);
	IS(pier_graph_task_set_arg(copy, nu, copy), -EINVAL);
	IS(pier_graph_task_set_arg(task, NULL, copy), -EINVAL);
	IS(pier_task_submit(task, 0), -EINVAL);
	LIKE(pier_last_error(), "node 0 has no task");
	IS(pier_graph_task_set_task(task, nc, copy), 0);
	IS(pier_task_submit(copy, 0), 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(copier_wait(&c, copy), 0);
	pier_buf_reset(bufs[1]);
	IS(pier_graph_task_set_arg(task, nu, &(struct letter){ 'q', 0, 0 }), 0);
	pier_task_set_done(task, ended, &outcome);
	outcome.calls = 0;
	IS(pier_task_submit(task, 0), 0);
	IS(pier_graph_task_set_arg(task, nu, NULL), -EBUSY);
	IS(pier_graph_add_user(graph, write_letter, &nu), -EBUSY);
	IS(pier_graph_add_dependency(graph, nc, nu), -EBUSY);
	OK(copier_count(&c, &outcome.calls, 1));
	put_bufs();
	pier_task_free(other);
	pier_task_free(copy);
	pier_task_free(task);
	pier_func_destroy(func);
	close_graph();
}

/* A function that is not finished until the program says so. */
static int hold_on(void *arg)
{
	return *(int *)arg ? 0 : -EINPROGRESS;
}

static void a_stop_begins_no_node_and_waits_for_those_that_run(void)
{
	struct letter u = { 'u', 0, 0 };
	struct outcome outcome = { 0 };
	struct pier_graph_node *n[2];
	struct pier_task *task, *call;
	struct pier_func *func;
	int go_on = 0;

	if (!open_graph() || !IS(pier_func_create(&func), 0) ||
	    !IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0))
		return;
	IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &n[0]), 0);
	n[1] = letter_node();
	before(n[0], n[1]);
	if (!start(graph))
		return;
	task = instance_of(graph);
	IS(pier_func_task_call(func, hold_on, &go_on, &call), 0);
	IS(pier_graph_task_set_task(task, n[0], call), 0);
	IS(pier_graph_task_set_arg(task, n[1], &u), 0);
	pier_task_set_done(task, ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	for (int i = 0; i < 4; i++)
		pier_pe_progress(c.pe, 0);
	IS(pier_ctx_stop(pier_graph_ctx(graph)), -EINPROGRESS);
	for (int i = 0; i < 4; i++)
		pier_pe_progress(c.pe, 0);
	IS(outcome.calls, 0);
	go_on = 1;
	OK(copier_count(&c, &outcome.calls, 1));
	IS(outcome.status, -ECANCELED);
	IS_STR(trace, "");
	pier_task_free(call);
	pier_task_free(task);
	pier_graph_destroy(graph);
	graph = NULL;
	pier_func_destroy(func);
	close_graph();
}

static void a_node_s_task_may_be_freed_or_set_while_it_runs(void)
{
	struct outcome outcome = { 0 };
	struct pier_task *task, *copy;
	struct pier_graph_node *node;
	int alone = 0;

	if (!open_graph())
		return;
	node = copy_node();
	if (!start(graph))
		return;
	task = instance_of(graph);
	copy = copy_task(0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	pier_task_set_done(task, ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	for (int i = 0; i < 3 && pier_task_status(copy) != -EINPROGRESS; i++)
		pier_pe_progress(c.pe, 0);
	IS(pier_task_status(copy), -EINPROGRESS);
	pier_task_set_done(copy, done_alone, &alone);
	pier_task_free(copy);
	OK(copier_count(&c, &outcome.calls, 1));
	IS(outcome.status, 0);
	IS(alone, 0);
	put_bufs();
	pier_task_free(task);
	close_graph();
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
	TEST(a_node_may_run_an_instance_of_another_graph);
	TEST(what_does_not_fit_a_node_is_refused);
	TEST(a_stop_begins_no_node_and_waits_for_those_that_run);
	TEST(a_node_s_task_may_be_freed_or_set_while_it_runs);
	pier_dev_close(dev);
	return tap_done();
}
