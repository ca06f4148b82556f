/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DMA_REMOTE_H
#define PIER_OPS_DMA_REMOTE_H

#include "ops/dma_impl.h"
#include "ops/origin.h"

/*
 * Copies from and to exports: the connections are in dma_remote.c, the requests
 * that a copy is divided into in dma_piece.c.
 */
#define PIER__DMA_ELEMENTS 16	/* of local memory, in a request */

struct pier__dma_op;

/* The connection to the service of one export. */
struct pier__dma_peer {
	struct pier__list link;
	struct pier_dma *dma;
	struct pier_conn *conn;
	uint8_t token[PIER__TOKEN];
	struct pier__origin_user user;
	bool up;			/* requests may be posted */
	bool ended;			/* its connection has */
	uint32_t posted;		/* requests in flight */
	struct pier__list starved;	/* the remote's, while it needs a */
					/* request and has none in flight */
	struct pier__task_queue queue;	/* tasks with something to post; */
					/* and failed ones, until the end */
	int error;			/* the first one; 0: none */
	char text[512];			/* its message */
};

struct pier__dma_remote {
	struct pier__conn_owner owner;
	struct pier__queues_config cfg;
	struct pier__source source;	/* ends peers that are not used */
	atomic_bool attention;		/* there are some */
	struct pier__list peers, starved;
	struct pier__dma_op *ops, *free;	/* requests */
};

static inline bool pier__dma_reads(const struct pier__dma_task *t)
{
	return t->src->mmap->remote;
}

/* Allocate the requests, as many as the queues take.  Errors: -ENOMEM. */
int pier__dma_ops_create(struct pier__dma_remote *remote);

/* Divide the copy of @t, whose buffers were checked, from its beginning. */
void pier__dma_begin(struct pier__dma_task *t);

/* Post what the tasks of @peer still have to post, in their order. */
void pier__dma_post(struct pier__dma_peer *peer);

/*
 * The connection of @peer has ended and none of its requests is in flight:
 * finish its tasks with its error, and free it.
 */
void pier__dma_peer_close(struct pier__dma_peer *peer);

/* Store the thread's last error as that of @peer, unless it has one. */
void pier__dma_set_error(struct pier__dma_peer *peer, int err);

/* Finish @t with @status, and its message as the thread's last error. */
void pier__dma_finish(struct pier__dma_task *t, int status);

#endif
