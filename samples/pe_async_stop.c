/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_async_stop - stop a context while its tasks are in flight. */
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

#define COPIES 16
#define LEN 256

static const char about[] = "Stop a context after half of the copies.";
static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "t", "text", "TEXT", "a text", PIER_OPTION_STRING, 0, 1, 255, &text },
	{ 0 },
};
static char memory[1 + COPIES][LEN];	/* the text, and its copies */
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_dma *dma;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static int done, same;	/* copies, and those that have the text */

/* Copy the text to memory[i]; the task holds the buffers. */
static int copy(int i, pier_task_fn *fn, void *arg)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err = pier_buf_by_data(inv, mmap, memory[0], LEN, &src);

	err = err ? err : pier_buf_by_addr(inv, mmap, memory[i], LEN, &dst);
	err = err ? err : pier_dma_copy(dma, src, dst, fn, arg);
	pier_buf_put(dst);
	pier_buf_put(src);
	return err;
}

/* Of a stopped context the tasks complete, too: with -ECANCELED. */
static void copied(struct pier_task *task, void *arg)
{
	if (pier_task_status(task))
		return;
	same += !strcmp(arg, text);
	if (++done == COPIES / 2)
		pier_ctx_stop(pier_task_ctx(task));
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME, about,
				  .options = options };
	int i, err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	snprintf(memory[0], LEN, "%s", text);
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_dma_create(dev, &dma);
	err = err ? err : pier_ctx_start(pier_dma_ctx(dma), pe);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(2 * COPIES, &inv);
	for (i = 1; !err && i <= COPIES; i++)
		err = copy(i, copied, memory[i]);
	while (!err && pier_ctx_state(pier_dma_ctx(dma)) != PIER_CTX_IDLE)
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "pe_async_stop: %s\n", pier_last_error());
	else
		printf("copied \"%s\" %d times, stopped\n", memory[1], same);

	pier_dma_destroy(dma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || same < COPIES / 2 ? 1 : 0;
}
