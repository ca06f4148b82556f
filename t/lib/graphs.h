/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_GRAPHS_H
#define PIER_T_LIB_GRAPHS_H

#include <stdbool.h>

#include "t/lib/copier.h"

/*
 * A graph beside a copier, on its engine, with nodes that write letters.  What
 * fails is a failed check.
 */
extern struct graphs {
	struct copier c;
	struct pier_graph *graph;
	char trace[64];			/* the letters */
} graphs;

/* What a function does: it is in progress so often again, then ends. */
struct graphs_letter {
	char name;
	int status, again;
};

int graphs_write(void *arg);

/* How instances ended: the last one, and how many. */
struct graphs_outcome {
	int calls, status;
	char message[128];
};

void graphs_ended(struct pier_task *task, void *arg);

/* Open the copier and an idle graph; and their end. */
bool graphs_open(struct pier_dev *dev);
void graphs_close(void);

bool graphs_start(struct pier_graph *which);

/* Nodes of the graph, and an order. */
struct pier_graph_node *graphs_ctx_node(struct pier_ctx *ctx);
struct pier_graph_node *graphs_letter_node(void);
void graphs_order(struct pier_graph_node *first, struct pier_graph_node *next);

struct pier_task *graphs_instance(struct pier_graph *which);

/*
 * A task that copies 8 bytes from the source to @at of the destination, and
 * its destination.  Was it copied?  The end of the buffers of all of them.
 */
struct pier_task *graphs_copy(size_t at);
struct pier_buf *graphs_copy_dst(void);
bool graphs_copied(size_t at);
void graphs_put(void);

/* Submit @instance with graphs_ended(), and wait; its status. */
int graphs_run(struct pier_task *instance, struct graphs_outcome *outcome);

#endif
