/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DMA_H
#define PIER_DMA_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A DMA context: copies as tasks of an engine, between local memory, and
 * between local memory and exports of other processes (pier/dma_export.h).
 * Configure it while idle, start it on a progress engine, stop it, destroy it.
 * When it is idle again it can be configured and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_buf;
struct pier_dev;
struct pier_dma;

struct pier_dma_config {
	size_t size;		/* sizeof(struct pier_dma_config), always */
	uint32_t tasks;		/* to preallocate, 1..1048576; 0 means 256 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context */
};

/* The most bytes in one task: 1 GiB. */
#define PIER_DMA_MAX (UINT32_C(1) << 30)

/*
 * Create an idle context on @dev, which must outlive it.  The caller destroys
 * it by pier_dma_destroy().  Errors: -ENOMEM.
 */
int pier_dma_create(struct pier_dev *dev, struct pier_dma **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range. */
int pier_dma_configure(struct pier_dma *dma, const struct pier_dma_config *cfg);

/* The values in use. */
void pier_dma_get_config(const struct pier_dma *dma,
			 struct pier_dma_config *ret);

/* Stop it if it runs, destroy it.  NULL is allowed. */
void pier_dma_destroy(struct pier_dma *dma);

struct pier_ctx *pier_dma_ctx(struct pier_dma *dma);
struct pier_dev *pier_dma_dev(const struct pier_dma *dma);

/*
 * Take a preallocated task that copies the data of the chain @src to the tail
 * space of the chain @dst, whose data grows.  What is wrong with the buffers is
 * the status of the task: -EINVAL, no buffer, no data, both are remote memory,
 * remote memory that is not of one export, or a buffer that is not the first of
 * its chain; -EMSGSIZE, more than the tail space or PIER_DMA_MAX; -EACCES, @dst
 * is of memory without PIER_LOCAL_WRITE or PIER_PEER_WRITE; or the error of the
 * connection to an export.  Without one of those a task that fails has copied
 * nothing.  If the memory of both overlaps, the bytes copied are not defined.
 * Errors: -ENOBUFS, no task is free.
 */
int pier_dma_task_copy(struct pier_dma *dma, struct pier_buf *src,
		       struct pier_buf *dst, struct pier_task **ret);

/*
 * Change the buffers of the next submit.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task.
 */
int pier_dma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			   struct pier_buf *dst);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
 * Errors: as pier_dma_task_copy() and pier_task_submit().
 */
int pier_dma_copy(struct pier_dma *dma, struct pier_buf *src,
		  struct pier_buf *dst, pier_task_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
