/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/chart.h"
#include "t/lib/tap.h"

/* What graphs and their instances allow, and when, in DOCA's terms. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static struct chart p;

/* With a function, and with a sub-graph of one, but without a context. */
static void start_without_a_context(void)
{
	struct doca_graph_node *node;
	struct doca_graph *outer;

	IS(doca_graph_create(a.pe, &p.graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_user(p.graph, chart_look, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_create(a.pe, &outer), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_graph(outer, p.graph, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_set_conf(outer, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(outer), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_destroy(outer), DOCA_SUCCESS);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
}

static void a_start_needs_callbacks_and_a_context_that_runs(void)
{
	struct doca_graph_node *node;

	chart_open_dma(&p);
	start_without_a_context();
	IS(doca_graph_create(a.pe, &p.graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(p.graph, p.ctx, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_set_conf(p.graph, NULL, chart_failed, 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_set_conf(p.graph, chart_done, NULL, 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, UINT32_MAX),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_start(p.graph), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_ctx_stop(p.ctx), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_start(p.ctx), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS); /* once */
	chart_close(&p);
}

static void a_started_graph_does_not_change(void)
{
	struct doca_graph_node *node;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(p.graph, p.ctx, &node),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_node_create_from_user(p.graph, chart_look, &node),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_add_dependency(p.graph, p.first, p.second),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, 1),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_destroy(p.graph), DOCA_ERROR_BAD_STATE);
	chart_close(&p);
}

static void a_graph_is_stopped_and_started_again(void)
{
	struct doca_graph_instance *instance, *other;
	struct doca_graph_node *node;

	chart_open(&p, 1);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS); /* was not started */
	IS(doca_graph_instance_create(p.graph, &instance),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	IS(doca_graph_instance_create(p.graph, &other), DOCA_ERROR_NO_MEMORY);
	IS(doca_graph_stop(p.graph), DOCA_ERROR_IN_USE);
	chart_run(&p, instance);
	IS(doca_graph_stop(p.graph), DOCA_ERROR_IN_USE);
	chart_destroy(instance);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_instance_create(p.graph, &other), DOCA_ERROR_BAD_STATE);

	/* without any progress in between */
	IS(doca_graph_node_create_from_user(p.graph, chart_look, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(p.graph, p.last, node), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 1);
	IS(doca_graph_instance_set_user_node_data(instance, node, &p.called[2]),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	IS(p.done, 2);
	IS(p.called[2].calls, 1);
	chart_destroy(instance);
	chart_close(&p);
}

static void cycles_and_foreign_nodes_are_not_permitted(void)
{
	struct doca_graph_node *foreign, *node;
	struct doca_graph *other;

	chart_open(&p, 1);
	IS(doca_graph_create(a.pe, &other), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(other, p.ctx, &foreign),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(p.graph, p.first, foreign),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_add_dependency(p.graph, foreign, p.first),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_add_dependency(p.graph, p.first, p.first),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_add_dependency(p.graph, p.first, p.second), DOCA_SUCCESS);
	IS(doca_graph_add_dependency(p.graph, p.second, p.first),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_add_dependency(p.graph, p.last, p.first),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_add_dependency(p.graph, p.first, p.second),
	   DOCA_ERROR_ALREADY_EXIST);
	IS(doca_graph_node_create_from_graph(p.graph, p.graph, &node),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_node_create_from_graph(p.graph, other, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_graph(other, p.graph, &node),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(other), DOCA_SUCCESS);
	chart_close_dma(&p);
}

static void data_must_be_of_the_kind_of_its_node(void)
{
	struct doca_graph_instance *instance;
	struct doca_rdma_task_read *read;
	struct doca_task *copy;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_instance(p.graph);
	copy = chart_copy(&p, 0);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, NULL, NULL,
					     no_data, &read),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_instance_set_ctx_node_data(instance, p.last, copy),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_user_node_data(instance, p.first, NULL),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_sub_graph_node_data(instance, p.first,
						       instance),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_ctx_node_data(
		   instance, p.first, doca_rdma_task_read_as_task(read)),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_ctx_node_data(instance, p.first, copy),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_instance_set_ctx_node_data(instance, p.second,
						 chart_copy(&p, 1)),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_user_node_data(instance, p.last,
						  &p.called[0]),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	IS(p.done, 1);
	doca_task_free(doca_rdma_task_read_as_task(read));
	chart_destroy(instance);
	chart_close(&p);
}

static void data_are_those_of_a_node_of_the_graph(void)
{
	struct doca_graph_node *foreign, *function;
	struct doca_graph_instance *instance;
	struct doca_graph *other;

	chart_open(&p, 1);
	IS(doca_graph_create(a.pe, &other), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(other, p.ctx, &foreign),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_user(other, chart_look, &function),
	   DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	IS(doca_graph_instance_set_ctx_node_data(instance, foreign,
						 chart_copy(&p, 2)),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_user_node_data(instance, function, NULL),
	   DOCA_ERROR_NOT_PERMITTED);
	chart_run(&p, instance);
	IS(p.done, 1);
	chart_destroy(instance);
	IS(doca_graph_destroy(other), DOCA_SUCCESS);
	chart_close(&p);
}

static void a_submitted_instance_is_not_touched(void)
{
	struct doca_graph_instance *instance;
	struct doca_task *copy;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	copy = chart_copy(&p, 2);
	IS(doca_graph_instance_submit(instance), DOCA_SUCCESS);
	IS(doca_graph_instance_submit(instance), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_instance_set_ctx_node_data(instance, p.first, copy),
	   DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_set_user_node_data(instance, p.last, NULL),
	   DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
	IS(doca_graph_stop(p.graph), DOCA_ERROR_IN_USE);
	chart_drive(&p, 1);
	IS(p.done, 1);
	IS(p.called[0].calls, 1);
	chart_destroy(instance);
	chart_close(&p);
}

static void a_task_that_waits_in_an_instance_is_not_freed(void)
{
	struct doca_graph_instance *instance;

	chart_open(&p, 1);
	IS(doca_graph_add_dependency(p.graph, p.first, p.second), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	IS(p.copy_count, 2);
	IS(doca_graph_instance_submit(instance), DOCA_SUCCESS);
	doca_task_free(doca_dma_task_memcpy_as_task(p.copies[1]));
	doca_dma_task_memcpy_set_dst(p.copies[1], NULL);
	chart_drive(&p, 1);
	IS(p.failed, 0);
	IS(p.done, 1);
	IS(p.called[0].calls, 1);
	chart_destroy(instance);
	chart_close(&p);
}

/* A copy in flight completes in a call of progress and nowhere else. */
static void destroying_a_graph_completes_nothing_of_others(void)
{
	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_task_submit(chart_copy(&p, 0)), DOCA_SUCCESS);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
	IS(p.single, 0);
	IS(doca_pe_progress(a.pe), 1);
	IS(p.single, 1);
	chart_close_dma(&p);
}

static void a_graph_belongs_to_its_engine(void)
{
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_graph_create(pe, &p.graph), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* Nothing that a program could see has happened. */
static void a_stop_of_a_graph_is_no_progress(void)
{
	int progress = 0;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	while (doca_pe_progress(a.pe))
		;
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	for (int i = 0; i < 1000; i++)
		progress += doca_pe_progress(a.pe);
	IS(progress, 0);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	chart_close(&p);
}

static void without_an_object_calls_fail(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;
	struct doca_graph_node *node = NULL;
	union doca_data data;

	IS(doca_graph_create(NULL, &p.graph), no);
	IS(doca_graph_create(a.pe, NULL), no);
	IS(doca_graph_create(a.pe, &p.graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(p.graph, NULL, &node), no);
	IS(doca_graph_node_create_from_user(p.graph, NULL, &node), no);
	IS(doca_graph_node_create_from_graph(p.graph, NULL, &node), no);
	IS(doca_graph_node_create_from_user(p.graph, chart_look, NULL), no);
	IS(doca_graph_add_dependency(p.graph, NULL, NULL), no);
	IS(doca_graph_get_user_data(p.graph, NULL), no);
	IS(doca_graph_get_user_data(NULL, &data), no);
	IS(doca_graph_set_user_data(NULL, no_data), no);
	IS(doca_graph_set_conf(NULL, chart_done, chart_failed, 1), no);
	IS(doca_graph_start(NULL), no);
	IS(doca_graph_stop(NULL), no);
	IS(doca_graph_instance_create(p.graph, NULL), no);
	IS(doca_graph_instance_set_user_data(NULL, no_data), no);
	IS(doca_graph_instance_get_user_data(NULL, &data), no);
	IS(doca_graph_instance_set_user_node_data(NULL, node, NULL), no);
	IS(doca_graph_instance_submit(NULL), no);
	IS(doca_graph_instance_destroy(NULL), no);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(NULL), no);
}

int main(void)
{
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	chart_init(&p, &a, &b);
	TEST(a_start_needs_callbacks_and_a_context_that_runs);
	TEST(a_started_graph_does_not_change);
	TEST(a_graph_is_stopped_and_started_again);
	TEST(cycles_and_foreign_nodes_are_not_permitted);
	TEST(data_must_be_of_the_kind_of_its_node);
	TEST(data_are_those_of_a_node_of_the_graph);
	TEST(a_submitted_instance_is_not_touched);
	TEST(a_task_that_waits_in_an_instance_is_not_freed);
	TEST(destroying_a_graph_completes_nothing_of_others);
	TEST(a_graph_belongs_to_its_engine);
	TEST(a_stop_of_a_graph_is_no_progress);
	TEST(without_an_object_calls_fail);
	end_close(&a);
	end_close(&b);
	return tap_done();
}
