/* SPDX-License-Identifier: BSD-2-Clause */
/* doca_workq - for DOCA 2.0: copy and hash a text by jobs of a work queue. */
#include <stdio.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sha.h>

static char memory[3][4096];	/* the text, its copy, the digest of that */
static struct doca_devinfo **list;
static struct doca_dev *dev;
static struct doca_workq *workq;
static struct doca_dma *dma;
static struct doca_sha *sha;
static struct doca_mmap *mmap;
static struct doca_buf_inventory *inv;

static int failed(void)
{
	return doca_devinfo_list_create(&list, NULL) ||
	       doca_dev_open(list[0], &dev) || doca_workq_create(1, &workq) ||
	       doca_dma_create(&dma) || doca_sha_create(&sha) ||
	       doca_mmap_create(NULL, &mmap) ||
	       doca_mmap_set_memrange(mmap, memory, sizeof(memory)) ||
	       doca_mmap_dev_add(mmap, dev) || doca_mmap_start(mmap) ||
	       doca_buf_inventory_create(NULL, 3, 0, &inv) ||
	       doca_buf_inventory_start(inv);
}

static struct doca_buf *take(char *part, size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_by_args(inv, mmap, part, sizeof(memory[0]),
				       part, len, &buf);
	return buf;
}

/* Submit @job, and poll until there is its event. */
static doca_error_t run(struct doca_ctx *ctx, struct doca_job *job)
{
	doca_error_t err = doca_ctx_dev_add(ctx, dev);
	struct doca_event event;

	job->ctx = ctx;
	err = err ? err : doca_ctx_start(ctx);
	err = err ? err : doca_ctx_workq_add(ctx, workq);
	err = err ? err : doca_workq_submit(workq, job);
	if (err)
		return err;
	while ((err = doca_workq_progress_retrieve(workq, &event, 0)) ==
	       DOCA_ERROR_AGAIN)
		continue;
	doca_ctx_workq_rm(ctx, workq);
	doca_ctx_stop(ctx);
	return err;	/* IO_FAILED: event.result.u64 has the reason */
}

int main(int argc, char *argv[])
{
	struct doca_dma_job_memcpy copy = { .base.type = DOCA_DMA_JOB_MEMCPY };
	struct doca_sha_job hash = { .base.type = DOCA_SHA_JOB_SHA256 };
	int len = snprintf(memory[0], sizeof(memory[0]), "%s", argv[argc - 1]);
	doca_error_t err = failed() ? DOCA_ERROR_INITIALIZATION : DOCA_SUCCESS;

	copy.src_buff = take(memory[0], (size_t)len);
	copy.dst_buff = take(memory[1], 0);
	hash.req_buf = copy.dst_buff;
	hash.resp_buf = take(memory[2], 0);
	err = err ? err : run(doca_dma_as_ctx(dma), &copy.base);
	err = err ? err : run(doca_sha_as_ctx(sha), &hash.base);
	printf("%s: \"%s\" ", doca_error_get_descr(err), memory[1]);
	for (int i = 0; !err && i < DOCA_SHA256_BYTE_COUNT; i++)
		printf("%02x", (unsigned char)memory[2][i]);
	puts("");
	return err ? 1 : 0;
}
