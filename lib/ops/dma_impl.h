/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DMA_IMPL_H
#define PIER_OPS_DMA_IMPL_H

#include <pier/dma.h>

#include "ops/cpu_ctx.h"
#include "ops/local_buf.h"

/* A place in a chain of buffers. */
struct pier__dma_place {
	const struct pier_buf *buf;
	size_t off;		/* bytes of its data, or of its tail space */
};

struct pier__dma_peer;
struct pier__dma_remote;

struct pier__dma_task {
	struct pier_task task;		/* first */
	struct pier_buf *src, *dst;	/* NULL: none */
	struct pier_buf *held[2];	/* their chains, while submitted; */
					/* not set while it is plain */
	bool plain;			/* since the last submit: both are */
					/* one buffer, of the right kind, */
	uint64_t stamp[2];		/* and have these stamps */

	/* With remote memory, from its first run to its end: */
	struct pier__dma_peer *peer;
	struct pier__dma_place from, to;	/* what is to be posted next */
	size_t len, left;		/* bytes: all, and not posted */
	uint32_t posted;		/* requests in flight */
	bool failed;			/* one of them has */
};

struct pier_dma {
	struct pier__cpu_ctx cpu;	/* first */
	struct pier__dma_remote *remote;	/* NULL: not needed yet */
};

static inline struct pier__dma_task *pier__dma_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__dma_task, task);
}

static inline struct pier_dma *pier__dma_of(struct pier__cpu_ctx *cpu)
{
	return pier__container_of(cpu, struct pier_dma, cpu);
}

/* May a copy be so long?  Errors: -EINVAL; -EMSGSIZE. */
int pier__dma_check_len(size_t len);

/* Release what its submit took. */
void pier__dma_drop(struct pier_task *task);

/*
 * dma_remote.c: copies between local memory and that of exports, by RDMA, each
 * export over a connection of its own.
 */

/* Is one of the chains remote memory, or does it begin with some? */
bool pier__dma_is_remote(const struct pier__dma_task *t);

/* Are its buffers valid?  Errors: -EINVAL; -EMSGSIZE; -EACCES. */
int pier__dma_remote_check(const struct pier__dma_task *t);

/*
 * Begin the copy; it goes on in the rounds of the engine.  Returns
 * PIER__CPU_ELSEWHERE, or the error of a task that has not begun.
 */
int pier__dma_remote_run(struct pier__dma_task *t);

/*
 * Have a copy of which nothing is posted queued again; else its connection
 * ends, and the copies on it.
 */
void pier__dma_remote_recall(struct pier_task *task);

/* End the connections, as the context stops. */
void pier__dma_remote_stop(struct pier_dma *dma);
bool pier__dma_remote_stopping(const struct pier_dma *dma);

/* The context is idle. */
void pier__dma_remote_free(struct pier_dma *dma);

#endif
