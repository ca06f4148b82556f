/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/tap.h"

#define LEN 4096
#define BUFS 64

struct graphs graphs;

/* The buffers of all copies of a test, source and destination in turn. */
static struct pier_buf *bufs[BUFS];
static int buf_count;

int graphs_write(void *arg)
{
	struct graphs_letter *letter = arg;
	size_t len = strlen(graphs.trace);

	if (letter->again-- > 0)
		return -EINPROGRESS;
	if (len < sizeof(graphs.trace) - 1)
		graphs.trace[len] = letter->name;
	return letter->status;
}

void graphs_ended(struct pier_task *task, void *arg)
{
	struct graphs_outcome *outcome = arg;

	outcome->calls++;
	outcome->status = pier_task_status(task);
	snprintf(outcome->message, sizeof(outcome->message), "%s",
		 pier_last_error());
}

bool graphs_open(struct pier_dev *dev)
{
	memset(graphs.trace, 0, sizeof(graphs.trace));
	return copier_open(&graphs.c, dev, NULL, LEN) &&
	       IS(pier_graph_create(&graphs.graph), 0);
}

void graphs_close(void)
{
	pier_graph_destroy(graphs.graph);
	graphs.graph = NULL;
	copier_close(&graphs.c);
}

bool graphs_start(struct pier_graph *which)
{
	return IS(pier_ctx_start(pier_graph_ctx(which), graphs.c.pe), 0);
}

struct pier_graph_node *graphs_ctx_node(struct pier_ctx *ctx)
{
	struct pier_graph_node *node = NULL;

	IS(pier_graph_add_ctx(graphs.graph, ctx, &node), 0);
	return node;
}

struct pier_graph_node *graphs_letter_node(void)
{
	struct pier_graph_node *node = NULL;

	IS(pier_graph_add_user(graphs.graph, graphs_write, &node), 0);
	return node;
}

void graphs_order(struct pier_graph_node *first, struct pier_graph_node *next)
{
	IS(pier_graph_add_dependency(graphs.graph, first, next), 0);
}

struct pier_task *graphs_instance(struct pier_graph *which)
{
	struct pier_task *task = NULL;

	IS(pier_graph_task(which, &task), 0);
	return task;
}

struct pier_task *graphs_copy(size_t at)
{
	struct pier_buf *src = copier_data(&graphs.c, 0, 8);
	struct pier_buf *dst = copier_tail(&graphs.c, at, 8);
	struct pier_task *task = NULL;

	memcpy(graphs.c.src, "graphic", 8);
	IS(pier_dma_task_copy(graphs.c.dma, src, dst, &task), 0);
	bufs[buf_count++] = src;
	bufs[buf_count++] = dst;
	return task;
}

struct pier_buf *graphs_copy_dst(void)
{
	return bufs[buf_count - 1];
}

bool graphs_copied(size_t at)
{
	return !memcmp(graphs.c.dst + at, "graphic", 8);
}

void graphs_put(void)
{
	while (buf_count)
		pier_buf_put(bufs[--buf_count]);
}

int graphs_run(struct pier_task *instance, struct graphs_outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	pier_task_set_done(instance, graphs_ended, outcome);
	IS(pier_task_submit(instance, 0), 0);
	IS(outcome->calls, 0);
	OK(copier_count(&graphs.c, &outcome->calls, 1));
	return outcome->status;
}
