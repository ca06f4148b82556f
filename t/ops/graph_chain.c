/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/graphs.h"
#include "t/lib/tap.h"

/* Chains of nodes of one context: how much of them a round carries out. */

#define LONG 200

static struct pier_dev *dev;
static struct pier_func *func;
static struct pier_graph_node *nodes[LONG];
static struct pier_task *calls[LONG], *instance;

/* A function's calls, of which each of the first ones is in progress. */
struct counter {
	int calls, again;
};

static int count(void *arg)
{
	struct counter *counter = arg;

	counter->calls++;
	return counter->again-- > 0 ? -EINPROGRESS : 0;
}

/* An instance of @n nodes, each of which calls count() after the last one. */
static bool open_chain(int n, struct counter *counter)
{
	if (!graphs_open(dev) || !IS(pier_func_create(&func), 0) ||
	    !IS(pier_ctx_start(pier_func_ctx(func), graphs.c.pe), 0))
		return false;
	for (int i = 0; i < n; i++) {
		nodes[i] = graphs_ctx_node(pier_func_ctx(func));
		if (i)
			graphs_order(nodes[i - 1], nodes[i]);
	}
	if (!graphs_start(graphs.graph))
		return false;
	instance = graphs_instance(graphs.graph);
	for (int i = 0; i < n; i++) {
		IS(pier_func_task_call(func, count, counter, &calls[i]), 0);
		IS(pier_graph_task_set_task(instance, nodes[i], calls[i]), 0);
	}
	return true;
}

static void close_chain(int n)
{
	pier_task_free(instance);
	for (int i = 0; i < n; i++)
		pier_task_free(calls[i]);
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	pier_func_destroy(func);
	graphs_close();
}

static void a_round_carries_out_a_short_chain(void)
{
	struct graphs_outcome outcome = { 0 };
	struct counter counter = { 0, 0 };

	if (!open_chain(8, &counter))
		return;
	pier_task_set_done(instance, graphs_ended, &outcome);
	for (int i = 1; i <= 3; i++) {
		IS(pier_task_submit(instance, 0), 0);
		IS(pier_pe_progress(graphs.c.pe, 0), 1);
		IS(outcome.calls, i);
		IS(outcome.status, 0);
		IS(counter.calls, 8 * i);
	}
	close_chain(8);
}

static void a_round_ends_before_the_end_of_a_long_chain(void)
{
	struct graphs_outcome outcome = { 0 };
	struct counter counter = { 0, 0 };

	if (!open_chain(LONG, &counter))
		return;
	pier_task_set_done(instance, graphs_ended, &outcome);
	IS(pier_task_submit(instance, 0), 0);
	IS(pier_pe_progress(graphs.c.pe, 0), 0);
	OK(counter.calls > 1);
	OK(counter.calls < LONG);
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(counter.calls, LONG);
	close_chain(LONG);
}

/* A chain does not have the others of its context called again. */
static void one_in_progress_is_called_once_a_round(void)
{
	struct counter counter = { 0, 0 }, other = { 0, 1000 };
	struct graphs_outcome outcome = { 0 };
	struct pier_task *task;

	if (!open_chain(4, &counter))
		return;
	IS(pier_func_task_call(func, count, &other, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	pier_task_set_done(instance, graphs_ended, &outcome);
	for (int i = 1; i <= 20 && !outcome.calls; i++) {
		if (i == 1)
			IS(pier_task_submit(instance, 0), 0);
		pier_pe_progress(graphs.c.pe, 0);
		IS(other.calls, i);
	}
	IS(outcome.calls, 1);
	IS(counter.calls, 4);
	other.again = 0;
	IS(copier_wait(&graphs.c, task), 0);
	pier_task_free(task);
	close_chain(4);
}

static int stop_context(void *arg)
{
	(void)arg;
	pier_ctx_stop(pier_func_ctx(func));
	return 0;
}

static void what_follows_a_node_that_stops_its_context_fails(void)
{
	struct graphs_outcome outcome = { 0 };
	struct counter counter = { 0, 0 };
	struct pier_task *stops;

	if (!open_chain(3, &counter))
		return;
	IS(pier_func_task_call(func, stop_context, NULL, &stops), 0);
	IS(pier_graph_task_set_task(instance, nodes[0], stops), 0);
	pier_task_set_done(instance, graphs_ended, &outcome);
	IS(pier_task_submit(instance, 0), 0);
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	IS(outcome.status, -ESHUTDOWN);
	IS(counter.calls, 0);
	pier_task_free(stops);
	close_chain(3);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_round_carries_out_a_short_chain);
	TEST(a_round_ends_before_the_end_of_a_long_chain);
	TEST(one_in_progress_is_called_once_a_round);
	TEST(what_follows_a_node_that_stops_its_context_fails);
	pier_dev_close(dev);
	return tap_done();
}
