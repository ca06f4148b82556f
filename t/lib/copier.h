/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_COPIER_H
#define PIER_T_LIB_COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/pier.h>

/*
 * A DMA context that runs on an engine of its own, with memory to copy from
 * and memory to copy to.  What fails is a failed check.
 */
#define COPIER_BUFS 1024

struct copier {
	struct pier_pe *pe;
	struct pier_dma *dma;
	struct pier_ctx *ctx;		/* the DMA context's */
	struct pier_buf_inventory *inv;
	struct pier_mmap *from, *to;
	uint8_t *src, *dst;		/* their memory */
	size_t len;			/* of each */
};

/* @cfg NULL: the defaults.  And its end, of what there is of it. */
bool copier_open(struct copier *copier, struct pier_dev *dev,
		 const struct pier_dma_config *cfg, size_t len);
void copier_close(struct copier *copier);

/* @len bytes at @at of the source as data, of the destination as tail space. */
struct pier_buf *copier_data(struct copier *copier, size_t at, size_t len);
struct pier_buf *copier_tail(struct copier *copier, size_t at, size_t len);

/* Drive the engine until @task is complete; its status. */
int copier_wait(struct copier *copier, struct pier_task *task);

/* Until @count is at least @want, or the context is in @state. */
bool copier_count(struct copier *copier, const int *count, int want);
bool copier_state(struct copier *copier, enum pier_ctx_state state);

/* Copy once and wait; the status of the task. */
int copier_copy(struct copier *copier, struct pier_buf *src,
		struct pier_buf *dst);

#endif
