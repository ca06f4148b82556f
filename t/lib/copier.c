/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

static bool start(struct copier *copier, struct pier_dev *dev,
		  const struct pier_dma_config *cfg)
{
	if (!IS(pier_pe_create(&copier->pe), 0) ||
	    !IS(pier_dma_create(dev, &copier->dma), 0))
		return false;
	copier->ctx = pier_dma_ctx(copier->dma);
	return (!cfg || IS(pier_dma_configure(copier->dma, cfg), 0)) &&
	       IS(pier_ctx_start(copier->ctx, copier->pe), 0);
}

bool copier_open(struct copier *copier, struct pier_dev *dev,
		 const struct pier_dma_config *cfg, size_t len)
{
	memset(copier, 0, sizeof(*copier));
	copier->len = len;
	copier->src = calloc(1, len);
	copier->dst = calloc(1, len);
	return start(copier, dev, cfg) &&
	       IS(pier_buf_inventory_create(COPIER_BUFS, &copier->inv), 0) &&
	       IS(pier_mmap_map(dev, copier->src, len, PIER_LOCAL_READ,
				&copier->from), 0) &&
	       IS(pier_mmap_map(dev, copier->dst, len, PIER_LOCAL_WRITE,
				&copier->to), 0);
}

void copier_close(struct copier *copier)
{
	pier_dma_destroy(copier->dma);
	if (copier->inv)
		IS(pier_buf_inventory_free_count(copier->inv), COPIER_BUFS);
	pier_buf_inventory_destroy(copier->inv);
	pier_mmap_destroy(copier->from);
	pier_mmap_destroy(copier->to);
	pier_pe_destroy(copier->pe);
	free(copier->src);
	free(copier->dst);
	memset(copier, 0, sizeof(*copier));
}

struct pier_buf *copier_data(struct copier *copier, size_t at, size_t len)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_data(copier->inv, copier->from, copier->src + at, len,
			    &buf), 0);
	return buf;
}

struct pier_buf *copier_tail(struct copier *copier, size_t at, size_t len)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_addr(copier->inv, copier->to, copier->dst + at, len,
			    &buf), 0);
	return buf;
}

int copier_wait(struct copier *copier, struct pier_task *task)
{
	long long limit = limit_from_now();

	while (pier_task_status(task) == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(copier->pe, 100);
	return pier_task_status(task);
}

bool copier_count(struct copier *copier, const int *count, int want)
{
	long long limit = limit_from_now();

	while (*count < want && limit_holds(limit))
		pier_pe_wait(copier->pe, 100);
	return *count >= want;
}

bool copier_state(struct copier *copier, enum pier_ctx_state state)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(copier->ctx) != state && limit_holds(limit))
		pier_pe_wait(copier->pe, 100);
	return pier_ctx_state(copier->ctx) == state;
}

int copier_copy(struct copier *copier, struct pier_buf *src,
		struct pier_buf *dst)
{
	struct pier_task *task;
	int status;

	if (!IS(pier_dma_task_copy(copier->dma, src, dst, &task), 0) ||
	    !IS(pier_task_submit(task, 0), 0))
		return -ENOTRECOVERABLE;
	status = copier_wait(copier, task);
	pier_task_free(task);
	return status;
}
