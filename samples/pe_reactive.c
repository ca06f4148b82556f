/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_reactive - do everything in callbacks: submit, stop, destroy. */
#include <stdio.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "t", "text", "TEXT", "a text", PIER_OPTION_STRING, 0, 1, 255, &text },
	{ 0 },
};
static char memory[2][256];	/* the text, and its copy */
static struct pier_dma *dma;
static struct pier_buf *src, *dst;
static int status;		/* of the copy */

static void copied(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
	pier_ctx_stop(pier_task_ctx(task));
}

static void changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
		    enum pier_ctx_state next, void *user_data)
{
	(void)user_data;
	printf("from %s to %s\n", pier_ctx_state_name(prev),
	       pier_ctx_state_name(next));
	if (next == PIER_CTX_RUNNING)
		status = pier_dma_copy(dma, src, dst, copied, &status);
	if (next == PIER_CTX_RUNNING && status)
		pier_ctx_stop(ctx);
	if (next == PIER_CTX_IDLE) {
		pier_dma_destroy(dma);
		dma = NULL;	/* nothing remains to be done */
	}
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME,
				  "Copy a text; act in callbacks only.",
				  .options = options };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	snprintf(memory[0], 256, "%s", text);
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_dma_create(dev, &dma);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(2, &inv);
	err = err ? err : pier_buf_by_data(inv, mmap, memory[0], 256, &src);
	err = err ? err : pier_buf_by_addr(inv, mmap, memory[1], 256, &dst);
	if (!err)
		pier_ctx_set_state_changed(pier_dma_ctx(dma), changed);
	err = err ? err : pier_ctx_start(pier_dma_ctx(dma), pe);
	while (!err && dma)
		err = pier_pe_wait(pe, -1);
	err = err ? err : status;
	if (err)
		fprintf(stderr, "pe_reactive: %s\n", pier_last_error());
	else
		printf("copied \"%s\"\n", memory[1]);
	pier_dma_destroy(dma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
