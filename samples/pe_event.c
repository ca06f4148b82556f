/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_event - drive an engine in an event loop, here of poll(2). */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

#define COPIES 16
#define LEN 256

static const char about[] = "Copy a text several times; sleep in poll().";
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
static int done;	/* copies that have the text */

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

static void copied(struct pier_task *task, void *arg)
{
	done += pier_task_status(task) == 0 && !strcmp(arg, text);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME, about,
				  .options = options };
	struct pollfd fd = { .events = POLLIN };
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
	while (!err && pier_pe_inflight(pe)) {
		if (pier_pe_progress(pe, 0) || pier_pe_arm(pe))
			continue;	/* there was, or is, work */
		fd.fd = pier_pe_fd(pe);
		poll(&fd, 1, -1);
		pier_pe_clear(pe);
	}
	if (err)
		fprintf(stderr, "pe_event: %s\n", pier_last_error());
	else
		printf("copied \"%s\" %d times\n", memory[COPIES], done);
	pier_dma_destroy(dma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || done < COPIES ? 1 : 0;
}
