/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_task_resubmit - use each task several times, with other buffers. */
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

#define COPIES 16
#define LEN 256

static const char about[] = "Copy a text several times with a few tasks.";
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
static struct pier_buf *src, *dst[COPIES];
static int submitted, done;

/* Submit the task for the next copy; free it if there is none. */
static void copied(struct pier_task *task, void *arg)
{
	(void)arg;	/* copies complete in order */
	done += !pier_task_status(task) && !strcmp(memory[done + 1], text);
	if (submitted == COPIES ||
	    pier_dma_task_set_bufs(task, src, dst[submitted++]) ||
	    pier_task_submit(task, 0))
		pier_task_free(task);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME, about,
				  .options = options };
	struct pier_task *task;
	int i, err;

	err = pier_args_parse(&args, argc, argv);
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
	err = err ? err : pier_buf_by_data(inv, mmap, memory[0], LEN, &src);
	for (i = 0; !err && i < COPIES; i++)
		err = pier_buf_by_addr(inv, mmap, memory[i + 1], LEN, &dst[i]);
	for (i = 0; !err && i < 4; i++) {	/* so many tasks */
		err = pier_dma_task_copy(dma, src, dst[submitted++], &task);
		if (err)
			break;
		pier_task_set_done(task, copied, NULL);
		err = pier_task_submit(task, 0);
	}
	while (!err && pier_pe_inflight(pe))
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "pe_task_resubmit: %s\n", pier_last_error());
	else
		printf("copied \"%s\" %d times\n", memory[COPIES], done);
	pier_dma_destroy(dma);
	for (i = 0; i < COPIES; i++)
		pier_buf_put(dst[i]);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || done < COPIES ? 1 : 0;
}
