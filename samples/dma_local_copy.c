/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_local_copy - copy a text from one buffer to another by a DMA context. */
#include <stdio.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT, *device;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "d", "device", NULL, NULL, PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to copy", PIER_OPTION_STRING, 0, 1,
	  4095, &text },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static char from[4096], to[4096];
	struct pier_args args = { .size = sizeof(args) };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_dma *dma = NULL;
	struct pier_mmap *local = NULL, *target = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_task *task;
	int err;
	size_t len;

	args.about = "Copy a text from one buffer to another.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	len = (size_t)snprintf(from, sizeof(from), "%s", text) + 1;

	err = pier_dev_open(device, &dev);
	if (!err)
		err = pier_pe_create(&pe);
	if (!err)
		err = pier_dma_create(dev, &dma);
	if (!err)
		err = pier_ctx_start(pier_dma_ctx(dma), pe);
	if (!err)
		err = pier_mmap_map(dev, from, len, PIER_LOCAL_READ, &local);
	if (!err)
		err = pier_mmap_map(dev, to, len, PIER_LOCAL_WRITE, &target);
	if (!err)
		err = pier_buf_inventory_create(2, &inv);
	if (!err)
		err = pier_buf_whole(inv, local, &src);	/* text and NUL */
	if (!err)
		err = pier_buf_empty(inv, target, &dst);
	if (!err)
		err = pier_dma_task_copy(dma, src, dst, &task);
	if (!err)
		err = pier_task_once(task, -1);
	if (err)
		fprintf(stderr, "dma_local_copy: %s\n", pier_last_error());
	else
		printf("copied \"%s\"\n", to);

	pier_dma_destroy(dma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(target);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
