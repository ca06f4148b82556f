/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_mmap_advise.h>

#include "t/doca/chart.h"
#include "t/lib/tap.h"

/* What instances of graphs run, in DOCA's terms. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static struct chart p;

static void instances_run_beside_each_other(void)
{
	struct doca_graph_instance *instance[CHART_MANY];
	size_t len = 0;

	chart_open(&p, CHART_MANY);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	for (int i = 0; i < CHART_MANY; i++)
		instance[i] = chart_filled(&p, i);
	for (int i = 0; i < CHART_MANY; i++)
		IS(doca_graph_instance_submit(instance[i]), DOCA_SUCCESS);
	chart_drive(&p, CHART_MANY);
	IS(p.done, CHART_MANY);
	IS(p.single, 0); /* callbacks of the tasks do not run */
	for (int i = 0; i < CHART_MANY; i++) {
		IS(p.called[i].calls, 1);
		OK(!memcmp(p.called[i].bytes[0], "graphic", CHART_BYTES));
		OK(!memcmp(p.called[i].bytes[1], "graphic", CHART_BYTES));
		IS(doca_task_get_status(
			   doca_dma_task_memcpy_as_task(p.copies[i])),
		   DOCA_SUCCESS);
		IS(doca_buf_get_data_len(
			   doca_dma_task_memcpy_get_dst(p.copies[i]), &len),
		   DOCA_SUCCESS);
		IS(len, CHART_BYTES);
		chart_destroy(instance[i]);
	}
	chart_close(&p);
}

static void an_instance_is_submitted_again(void)
{
	struct doca_graph_instance *instance;
	struct doca_task *alone;
	void *head;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	for (int i = 0; i < 3; i++) {
		memset(a.memory + CHART_AT, 0, 2 * CHART_BYTES);
		for (int j = 0; j < 2; j++) {
			struct doca_buf *dst =
				doca_dma_task_memcpy_get_dst(p.copies[j]);

			IS(doca_buf_get_head(dst, &head), DOCA_SUCCESS);
			IS(doca_buf_set_data(dst, head, 0), DOCA_SUCCESS);
		}
		chart_run(&p, instance);
		OK(!memcmp(p.called[0].bytes[1], "graphic", CHART_BYTES));
	}
	IS(p.done, 3);
	IS(p.called[0].calls, 3);
	alone = chart_copy(&p, 5); /* of no graph: it has a callback */
	IS(doca_task_submit(alone), DOCA_SUCCESS);
	for (long i = 0; i < 20000000 && !p.single; i++)
		doca_pe_progress(a.pe);
	IS(p.single, 1);
	chart_destroy(instance);
	chart_close(&p);
}

static void callbacks_have_the_data_of_both(void)
{
	union doca_data mine = { .u64 = 5 }, its = { .u64 = 7 };
	union doca_data got = { .u64 = 0 };
	struct doca_graph_instance *instance;

	chart_open(&p, 1);
	IS(doca_graph_set_user_data(p.graph, its), DOCA_SUCCESS);
	IS(doca_graph_get_user_data(p.graph, &got), DOCA_SUCCESS);
	IS(got.u64, 7);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	IS(doca_graph_instance_set_user_data(instance, mine), DOCA_SUCCESS);
	IS(doca_graph_instance_get_user_data(instance, &got), DOCA_SUCCESS);
	IS(got.u64, 5);
	chart_run(&p, instance);
	IS(p.instance_data.u64, 5);
	IS(p.graph_data.u64, 7);
	chart_destroy(instance);
	chart_close(&p);
}

/* Whatever a function returns, it is called once. */
static void a_function_that_fails_fails_its_instance(void)
{
	const doca_error_t errors[] = {
		DOCA_ERROR_IO_FAILED,
		DOCA_ERROR_IN_PROGRESS,
		DOCA_ERROR_AGAIN,
	};
	struct doca_graph_instance *instance;
	struct doca_graph_node *after;
	struct chart_called never = { 0 };

	chart_open(&p, 1);
	IS(doca_graph_node_create_from_user(p.graph, chart_look, &after),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(p.graph, p.last, after), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		instance = chart_filled(&p, i);
		IS(doca_graph_instance_set_user_node_data(instance, after,
							  &never),
		   DOCA_SUCCESS);
		p.called[i].error = errors[i];
		chart_run(&p, instance);
		IS(p.called[i].calls, 1);
		chart_destroy(instance);
	}
	IS(p.failed, 3);
	IS(p.done, 0);
	IS(never.calls, 0);
	instance = chart_filled(&p, 3); /* the graph runs on */
	IS(doca_graph_instance_set_user_node_data(instance, after, &never),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	IS(p.done, 1);
	IS(never.calls, 1);
	chart_destroy(instance);
	chart_close(&p);
}

static void a_task_that_fails_fails_its_instance(void)
{
	struct doca_graph_instance *instance;
	const struct doca_buf *src;
	enum doca_ctx_states state;

	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	src = doca_dma_task_memcpy_get_src(p.copies[1]);
	doca_dma_task_memcpy_set_src(p.copies[1], NULL);
	chart_run(&p, instance);
	IS(p.failed, 1);
	IS(p.called[0].calls, 0);
	IS(p.single, 0);
	IS(doca_task_get_status(doca_dma_task_memcpy_as_task(p.copies[1])),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_get_state(p.ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_STOPPING); /* as without a graph */
	IS(doca_graph_instance_submit(instance), DOCA_SUCCESS);
	chart_drive(&p, 2);
	doca_dma_task_memcpy_set_src(p.copies[1], src);
	IS(p.failed, 2); /* the context does not run */
	chart_destroy(instance);
	chart_close(&p);
}

static struct doca_graph *outer;
static struct doca_graph_node *inner, *end;

/* A graph that runs an instance of the other, and then a function. */
static void open_outer(void)
{
	IS(doca_graph_create(a.pe, &outer), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_graph(outer, p.graph, &inner),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_user(outer, chart_look, &end),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(outer, inner, end), DOCA_SUCCESS);
	IS(doca_graph_set_conf(outer, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(outer), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	IS(doca_graph_start(outer), DOCA_SUCCESS);
}

static void a_node_runs_an_instance_of_a_sub_graph(void)
{
	struct doca_graph_instance *whole, *part, *spare;

	chart_open(&p, 2);
	open_outer();
	whole = chart_instance(outer);
	part = chart_filled(&p, 0);
	spare = chart_filled(&p, 1);
	IS(doca_graph_instance_set_user_node_data(whole, end, &p.called[2]),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_sub_graph_node_data(whole, inner, whole),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_graph_instance_set_sub_graph_node_data(whole, inner, spare),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_destroy(spare), DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_set_sub_graph_node_data(whole, inner, part),
	   DOCA_SUCCESS);
	chart_destroy(spare);
	p.called[2].at = p.called[0].at;
	chart_run(&p, whole);
	IS(p.done, 1); /* the part has no callback */
	IS(p.called[0].calls, 1);
	OK(!memcmp(p.called[2].bytes[1], "graphic", CHART_BYTES));
	IS(doca_graph_instance_destroy(part), DOCA_ERROR_IN_USE);
	p.called[0].error = DOCA_ERROR_UNEXPECTED;
	chart_run(&p, whole);
	IS(p.failed, 1);
	IS(p.called[2].calls, 1);
	chart_destroy(whole);
	chart_run(&p, part); /* on its own it has one */
	IS(p.failed, 2);
	chart_destroy(part);
	IS(doca_graph_stop(outer), DOCA_SUCCESS);
	IS(doca_graph_destroy(outer), DOCA_SUCCESS);
	chart_close(&p);
}

/* The copy @at has space for its bytes again. */
static void empty(int at)
{
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(p.copies[at]);

	IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
}

static void tasks_of_a_sub_graph_change_between_submits(void)
{
	const char *other = a.memory + CHART_AT + 5 * CHART_BYTES;
	struct doca_graph_instance *whole, *part;
	const struct doca_buf *src;

	chart_open(&p, 1);
	open_outer();
	whole = chart_instance(outer);
	part = chart_filled(&p, 0);
	IS(doca_graph_instance_set_user_node_data(whole, end, &p.called[2]),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_sub_graph_node_data(whole, inner, part),
	   DOCA_SUCCESS);
	p.called[2].at = p.called[0].at;
	chart_run(&p, whole);
	IS(doca_graph_instance_set_ctx_node_data(part, p.first,
						 chart_copy(&p, 5)),
	   DOCA_SUCCESS);
	empty(1);
	chart_run(&p, whole);
	OK(!memcmp(other, "graphic", CHART_BYTES));
	src = doca_dma_task_memcpy_get_src(p.copies[2]);
	doca_dma_task_memcpy_set_src(p.copies[2], NULL);
	doca_dma_task_memcpy_set_src(p.copies[2], src);
	memset(a.memory + CHART_AT, 0, 6 * CHART_BYTES);
	empty(1);
	empty(2);
	chart_run(&p, whole);
	OK(!memcmp(other, "graphic", CHART_BYTES));
	IS(p.done, 3);
	doca_task_free(doca_dma_task_memcpy_as_task(p.copies[2]));
	IS(doca_graph_instance_submit(whole), DOCA_ERROR_INVALID_VALUE);
	chart_destroy(whole);
	chart_destroy(part);
	IS(doca_graph_stop(outer), DOCA_SUCCESS);
	IS(doca_graph_destroy(outer), DOCA_SUCCESS);
	chart_close(&p);
}

/* What a submitted instance has is in use, an instance too. */
static void a_submitted_instance_and_its_parts_are_in_use(void)
{
	struct doca_graph_instance *whole, *part;

	chart_open(&p, 1);
	open_outer();
	whole = chart_instance(outer);
	part = chart_filled(&p, 0);
	IS(doca_graph_instance_set_user_node_data(whole, end, &p.called[2]),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_sub_graph_node_data(whole, inner, part),
	   DOCA_SUCCESS);
	p.called[2].at = p.called[0].at;
	IS(doca_graph_instance_submit(whole), DOCA_SUCCESS);
	IS(doca_graph_instance_set_user_node_data(whole, end, NULL),
	   DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_set_user_node_data(part, p.last, NULL),
	   DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_set_ctx_node_data(part, p.first,
						 chart_copy(&p, 5)),
	   DOCA_ERROR_IN_USE);
	OK(chart_drive(&p, 1));
	IS(p.done, 1);
	IS(p.called[0].calls, 1);
	chart_destroy(whole);
	chart_destroy(part);
	IS(doca_graph_stop(outer), DOCA_SUCCESS);
	IS(doca_graph_destroy(outer), DOCA_SUCCESS);
	chart_close(&p);
}

/* The copy of the next node has the destination of this one. */
static struct doca_dma_task_memcpy *model;

static doca_error_t redirect(void *cookie)
{
	doca_dma_task_memcpy_set_dst(cookie,
				     doca_dma_task_memcpy_get_dst(model));
	return DOCA_SUCCESS;
}

static void a_function_changes_the_next_copy(void)
{
	const char *memory = a.memory + CHART_AT;
	struct doca_graph_node *first, *next;
	struct doca_graph_instance *instance;
	struct doca_graph *graph = NULL;
	struct doca_buf *dst;
	struct doca_task *task;

	chart_open_dma(&p);
	IS(doca_graph_create(a.pe, &graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_user(graph, redirect, &first),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(graph, p.ctx, &next), DOCA_SUCCESS);
	IS(doca_graph_add_dependency(graph, first, next), DOCA_SUCCESS);
	IS(doca_graph_set_conf(graph, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(graph), DOCA_SUCCESS);
	task = chart_copy(&p, 0);
	chart_copy(&p, 1);
	model = p.copies[1];
	dst = doca_dma_task_memcpy_get_dst(p.copies[0]);
	instance = chart_instance(graph);
	IS(doca_graph_instance_set_user_node_data(instance, first,
						  p.copies[0]), DOCA_SUCCESS);
	IS(doca_graph_instance_set_ctx_node_data(instance, next, task),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	IS(p.done, 1);
	OK(memcmp(memory, "graphic", CHART_BYTES) != 0);
	OK(!memcmp(memory + CHART_BYTES, "graphic", CHART_BYTES));
	doca_dma_task_memcpy_set_dst(p.copies[0], dst);
	chart_destroy(instance);
	IS(doca_graph_stop(graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(graph), DOCA_SUCCESS);
	chart_close_dma(&p);
}

static void end_graph(struct doca_graph_instance *instance)
{
	chart_destroy(instance);
	IS(doca_graph_stop(p.graph), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_ERROR_IN_USE);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
}

static void a_graph_goes_in_its_last_callback(void)
{
	chart_open(&p, 1);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	p.then = end_graph;
	chart_run(&p, chart_filled(&p, 0));
	IS(p.done, 1);
	chart_close_dma(&p);
}

/* A write whose immediate changes between two runs of its instance. */
static struct doca_rdma_task_write_imm *new_write(void)
{
	struct doca_buf *src = end_data(&a, 0, CHART_BYTES);
	struct doca_buf *dst = end_far_space(&a, CHART_AT, CHART_BYTES);
	struct doca_rdma_task_write_imm *write = NULL;

	IS(doca_rdma_task_write_imm_allocate_init(a.rdma, a.conn, src, dst, 1,
						  no_data, &write),
	   DOCA_SUCCESS);
	return write;
}

static void run_write(struct doca_graph_instance *instance, doca_be32_t imm)
{
	struct doca_rdma_task_receive *receive = NULL;
	int before = b.done;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, NULL, no_data,
						&receive),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	ends_drive(&a, &b, &b.done, before + 1);
	IS(doca_rdma_task_receive_get_result_immediate_data(receive), imm);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
}

static void nodes_run_tasks_of_rdma(void)
{
	struct doca_rdma_task_write_imm *write = new_write();
	struct doca_task *task = doca_rdma_task_write_imm_as_task(write);
	struct doca_graph_instance *instance;
	struct doca_graph_node *remote;
	int before = a.done;

	chart_open(&p, 1);
	IS(doca_graph_destroy(p.graph), DOCA_SUCCESS);
	IS(doca_graph_create(a.pe, &p.graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(p.graph, a.ctx, &remote),
	   DOCA_SUCCESS);
	IS(doca_graph_set_conf(p.graph, chart_done, chart_failed, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_instance(p.graph);
	IS(doca_graph_instance_set_ctx_node_data(instance, remote, task),
	   DOCA_SUCCESS);
	memset(b.memory + CHART_AT, 0, CHART_BYTES);
	run_write(instance, 1);
	OK(!memcmp(b.memory + CHART_AT, "graphic", CHART_BYTES));
	doca_rdma_task_write_imm_set_immediate_data(write, 2);
	IS(doca_buf_reset_data_len(doca_rdma_task_write_imm_get_dst_buf(write)),
	   DOCA_SUCCESS);
	run_write(instance, 2);
	IS(a.done, before); /* its callback does not run */
	IS(p.done, 2);
	chart_destroy(instance);
	doca_task_free(task);
	doca_buf_dec_refcount(doca_rdma_task_write_imm_get_dst_buf(write),
			      NULL);
	doca_buf_dec_refcount(
		(struct doca_buf *)(uintptr_t)
			doca_rdma_task_write_imm_get_src_buf(write),
		NULL);
	chart_close(&p);
}

static void invalidated(struct doca_mmap_advise_task_invalidate_cache *task,
			union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	p.single++;
}

static struct doca_mmap_advise *start_advise(void)
{
	struct doca_mmap_advise *advise = NULL;
	struct doca_ctx *its;

	IS(doca_mmap_advise_create(a.dev, &advise), DOCA_SUCCESS);
	IS(doca_mmap_advise_task_invalidate_cache_set_conf(advise, invalidated,
							   invalidated, 1),
	   DOCA_SUCCESS);
	its = doca_mmap_advise_as_ctx(advise);
	IS(doca_pe_connect_ctx(a.pe, its), DOCA_SUCCESS);
	IS(doca_ctx_start(its), DOCA_SUCCESS);
	return advise;
}

static void a_cache_is_invalidated_before_a_function(void)
{
	struct doca_mmap_advise_task_invalidate_cache *task;
	struct doca_mmap_advise *advise = start_advise();
	struct doca_ctx *its = doca_mmap_advise_as_ctx(advise);
	struct doca_buf *buf = end_data(&a, 0, CHART_BYTES);
	struct doca_graph_instance *instance;
	struct doca_graph_node *node;

	chart_open(&p, 1);
	IS(doca_graph_node_create_from_ctx(p.graph, its, &node), DOCA_SUCCESS);
	IS(doca_graph_add_dependency(p.graph, node, p.last), DOCA_SUCCESS);
	IS(doca_graph_start(p.graph), DOCA_SUCCESS);
	instance = chart_filled(&p, 0);
	IS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf,
							     no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_ctx_node_data(
		   instance, node,
		   doca_mmap_advise_task_invalidate_cache_as_doca_task(task)),
	   DOCA_SUCCESS);
	chart_run(&p, instance);
	IS(p.done, 1);
	IS(p.single, 0);
	chart_destroy(instance);
	doca_task_free(
		doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
	IS(doca_ctx_stop(its), DOCA_SUCCESS);
	chart_close(&p);
	IS(doca_mmap_advise_destroy(advise), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

int main(void)
{
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	chart_init(&p, &a, &b);
	TEST(instances_run_beside_each_other);
	TEST(an_instance_is_submitted_again);
	TEST(callbacks_have_the_data_of_both);
	TEST(a_function_that_fails_fails_its_instance);
	TEST(a_task_that_fails_fails_its_instance);
	TEST(a_node_runs_an_instance_of_a_sub_graph);
	TEST(tasks_of_a_sub_graph_change_between_submits);
	TEST(a_submitted_instance_and_its_parts_are_in_use);
	TEST(a_function_changes_the_next_copy);
	TEST(a_graph_goes_in_its_last_callback);
	TEST(nodes_run_tasks_of_rdma);
	TEST(a_cache_is_invalidated_before_a_function);
	end_close(&a);
	end_close(&b);
	return tap_done();
}
