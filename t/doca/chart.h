/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DOCA_CHART_H
#define PIER_T_DOCA_CHART_H

#include <doca_dma.h>
#include <doca_graph.h>

#include "t/doca/ends.h"

/*
 * A graph on the engine of an end: two copies by a DMA context, and a function
 * that waits for both.
 */
#define CHART_BYTES 8	/* of a copy */
#define CHART_MANY 10	/* instances with copies and functions */
#define CHART_AT 1024	/* of the copies in the end's memory; the source: 0 */

/* What the function of an instance has done. */
struct chart_called {
	int calls;
	doca_error_t error;		/* to return */
	const char *at;			/* of two copies; NULL: none */
	char bytes[2][CHART_BYTES];	/* what they were */
};

struct chart {
	struct end *a, *b;
	struct doca_dma *dma;
	struct doca_ctx *ctx;		/* its */
	struct doca_graph *graph;
	struct doca_graph_node *first, *second, *last;
	struct doca_dma_task_memcpy *copies[2 * CHART_MANY];
	int copy_count;
	struct chart_called called[CHART_MANY];
	/* What has happened. */
	int single;			/* callbacks of tasks, not instances */
	int done, failed;		/* instances */
	union doca_data instance_data, graph_data;	/* of the last one */
	void (*then)(struct doca_graph_instance *instance);	/* or NULL */
};

/* Two ends that are connected; callbacks report to the chart of this call. */
void chart_init(struct chart *chart, struct end *a, struct end *b);

/* All of it, for @count instances; the graph is not started. */
void chart_open(struct chart *chart, uint32_t count);
void chart_close(struct chart *chart);

/* The DMA context alone, which runs. */
void chart_open_dma(struct chart *chart);
void chart_close_dma(struct chart *chart);

/* The callbacks of instances, and the function of the last node. */
void chart_done(struct doca_graph_instance *instance, union doca_data data,
		union doca_data graph_data);
void chart_failed(struct doca_graph_instance *instance, union doca_data data,
		  union doca_data graph_data);
doca_error_t chart_look(void *cookie);

/* A task that copies the source to place @at. */
struct doca_task *chart_copy(struct chart *chart, int at);

/* An instance of any graph, and one of the chart with its data, number @i. */
struct doca_graph_instance *chart_instance(const struct doca_graph *graph);
struct doca_graph_instance *chart_filled(struct chart *chart, int i);
void chart_destroy(struct doca_graph_instance *instance);

/* Drive both ends until @ends instances have ended; submit one, and wait. */
bool chart_drive(struct chart *chart, int ends);
void chart_run(struct chart *chart, struct doca_graph_instance *instance);

#endif
