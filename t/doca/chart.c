/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/chart.h"
#include "t/lib/tap.h"

static const union doca_data no_data = { .ptr = NULL };
static struct chart *current; /* of the callbacks */

static void copy_ended(struct doca_dma_task_memcpy *task, union doca_data data,
		       union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	current->single++;
}

static void ended(struct doca_graph_instance *instance, union doca_data data,
		  union doca_data graph_data)
{
	current->instance_data = data;
	current->graph_data = graph_data;
	if (current->then)
		current->then(instance);
}

void chart_done(struct doca_graph_instance *instance, union doca_data data,
		union doca_data graph_data)
{
	current->done++;
	ended(instance, data, graph_data);
}

void chart_failed(struct doca_graph_instance *instance, union doca_data data,
		  union doca_data graph_data)
{
	current->failed++;
	ended(instance, data, graph_data);
}

doca_error_t chart_look(void *cookie)
{
	struct chart_called *called = cookie;

	called->calls++;
	if (called->at)
		memcpy(called->bytes, called->at, sizeof(called->bytes));
	return called->error;
}

void chart_init(struct chart *chart, struct end *a, struct end *b)
{
	*chart = (struct chart){ .a = a, .b = b };
	current = chart;
}

void chart_open_dma(struct chart *chart)
{
	chart_init(chart, chart->a, chart->b);
	IS(doca_dma_create(chart->a->dev, &chart->dma), DOCA_SUCCESS);
	chart->ctx = doca_dma_as_ctx(chart->dma);
	IS(doca_dma_task_memcpy_set_conf(chart->dma, copy_ended, copy_ended,
					 2 * CHART_MANY),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(chart->a->pe, chart->ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(chart->ctx), DOCA_SUCCESS);
	memset(chart->a->memory, 0, sizeof(chart->a->memory));
	memcpy(chart->a->memory, "graphic", CHART_BYTES);
}

void chart_open(struct chart *chart, uint32_t count)
{
	struct doca_graph *graph = NULL;

	chart_open_dma(chart);
	IS(doca_graph_create(chart->a->pe, &graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(graph, chart->ctx, &chart->first),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(graph, chart->ctx, &chart->second),
	   DOCA_SUCCESS);
	IS(doca_graph_node_create_from_user(graph, chart_look, &chart->last),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(graph, chart->first, chart->last),
	   DOCA_SUCCESS);
	IS(doca_graph_add_dependency(graph, chart->second, chart->last),
	   DOCA_SUCCESS);
	IS(doca_graph_set_conf(graph, chart_done, chart_failed, count),
	   DOCA_SUCCESS);
	chart->graph = graph;
}

static void free_copies(struct chart *chart)
{
	while (chart->copy_count) {
		struct doca_dma_task_memcpy *task =
			chart->copies[--chart->copy_count];

		doca_task_free(doca_dma_task_memcpy_as_task(task));
		doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
		doca_buf_dec_refcount(
			(struct doca_buf *)(uintptr_t)
				doca_dma_task_memcpy_get_src(task),
			NULL);
	}
}

void chart_close_dma(struct chart *chart)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	free_copies(chart);
	doca_ctx_stop(chart->ctx);
	for (long i = 0; i < 20000000 && state != DOCA_CTX_STATE_IDLE; i++) {
		doca_pe_progress(chart->a->pe);
		doca_ctx_get_state(chart->ctx, &state);
	}
	IS(doca_dma_destroy(chart->dma), DOCA_SUCCESS);
}

void chart_close(struct chart *chart)
{
	IS(doca_graph_stop(chart->graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(chart->graph), DOCA_SUCCESS);
	chart_close_dma(chart);
}

struct doca_task *chart_copy(struct chart *chart, int at)
{
	const size_t to = CHART_AT + (size_t)at * CHART_BYTES;
	struct doca_buf *src = end_data(chart->a, 0, CHART_BYTES);
	struct doca_buf *dst = end_space(chart->a, to, CHART_BYTES);
	struct doca_dma_task_memcpy *task = NULL;

	IS(doca_dma_task_memcpy_alloc_init(chart->dma, src, dst, no_data,
					   &task),
	   DOCA_SUCCESS);
	chart->copies[chart->copy_count++] = task;
	return doca_dma_task_memcpy_as_task(task);
}

struct doca_graph_instance *chart_instance(const struct doca_graph *graph)
{
	struct doca_graph_instance *instance = NULL;

	IS(doca_graph_instance_create(graph, &instance), DOCA_SUCCESS);
	return instance;
}

struct doca_graph_instance *chart_filled(struct chart *chart, int i)
{
	struct doca_graph_instance *instance = chart_instance(chart->graph);
	struct chart_called *called = &chart->called[i];

	called->at =
		chart->a->memory + CHART_AT + (ptrdiff_t)2 * i * CHART_BYTES;
	IS(doca_graph_instance_set_ctx_node_data(instance, chart->first,
						 chart_copy(chart, 2 * i)),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_ctx_node_data(instance, chart->second,
						 chart_copy(chart, 2 * i + 1)),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_user_node_data(instance, chart->last,
						  called),
	   DOCA_SUCCESS);
	return instance;
}

void chart_destroy(struct doca_graph_instance *instance)
{
	IS(doca_graph_instance_destroy(instance), DOCA_SUCCESS);
}

bool chart_drive(struct chart *chart, int ends)
{
	for (long i = 0; i < 20000000 && chart->done + chart->failed < ends;
	     i++) {
		doca_pe_progress(chart->a->pe);
		doca_pe_progress(chart->b->pe);
	}
	return IS(chart->done + chart->failed, ends);
}

void chart_run(struct chart *chart, struct doca_graph_instance *instance)
{
	int before = chart->done + chart->failed;

	IS(doca_graph_instance_submit(instance), DOCA_SUCCESS);
	IS(chart->done + chart->failed, before); /* never inside submit */
	chart_drive(chart, before + 1);
}
