/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "bench/nullfabric.h"
#include "bench/overhead_graphs.h"
#include "bench/target.h"

#define SIZE 8

static const struct shape {
	const char *name;
	int nodes;
	bool chained;		/* each waits for the one before it */
} shapes[] = {
	{ "graph_chain_2", 2, true },
	{ "graph_chain_4", 4, true },
	{ "graph_side_4", 4, false },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct pier_dma *dma;
static struct pier_graph *graph;
static struct pier_graph_node *nodes[OVERHEAD_NODES];
static struct pier_buf_inventory *inv;
static struct pier_mmap *mmap;
static struct pier_buf *src;
static char memory[1 + OVERHEAD_MAX * OVERHEAD_NODES][SIZE];

void overhead_graphs_print(void)
{
	for (size_t i = 0; i < SHAPES; i++)
		puts(shapes[i].name);
}

static void open_memory(struct pier_dev *dev)
{
	must(pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE,
			   &mmap));
	must(pier_buf_inventory_create(sizeof(memory) / SIZE, &inv));
	must(pier_buf_by_data(inv, mmap, memory[0], SIZE, &src));
}

static void open_graph(const struct shape *shape, struct pier_pe *pe)
{
	must(pier_graph_create(&graph));
	for (int i = 0; i < shape->nodes; i++) {
		must(pier_graph_add_ctx(graph, pier_dma_ctx(dma), &nodes[i]));
		if (i && shape->chained)
			must(pier_graph_add_dependency(graph, nodes[i - 1],
						       nodes[i]));
	}
	must(pier_ctx_start(pier_graph_ctx(graph), pe));
}

/* Its copies have destinations of their own. */
static void make_instance(const struct shape *shape, int at,
			  struct overhead_task *ret)
{
	must(pier_graph_task(graph, &ret->task));
	for (int i = 0; i < shape->nodes; i++) {
		char *to = memory[1 + at * OVERHEAD_NODES + i];
		struct pier_buf **dst = &ret->node_grows[i];
		struct pier_task *copy;

		must(pier_buf_by_addr(inv, mmap, to, SIZE, dst));
		must(pier_dma_task_copy(dma, src, *dst, &copy));
		must(pier_graph_task_set_task(ret->task, nodes[i], copy));
	}
}

bool overhead_graphs_make(const char *name, struct pier_pe *pe, int count,
			  struct overhead_task *ret)
{
	const struct shape *shape = shapes;
	struct pier_dev *dev;

	while (shape < shapes + SHAPES && strcmp(shape->name, name))
		shape++;
	if (shape == shapes + SHAPES)
		return false;
	dev = nullfabric_open(false);
	open_memory(dev);
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
	open_graph(shape, pe);
	for (int i = 0; i < count; i++)
		make_instance(shape, i, &ret[i]);
	return true;
}
