/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_copy_dpu - copy the text that dma_copy_host offers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static const char about[] = "Copy the text that dma_copy_host offers.";
static const char *device, *text, *desc_path = "/tmp/export_desc.txt";
static const char *info_path = "/tmp/buffer_info.txt";
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "ignored: of the host", PIER_OPTION_STRING,
	  0, 0, 0, &text },
	{ "d", "descriptor-path", "FILE", "where the descriptor is",
	  PIER_OPTION_STRING, 0, 1, 4095, &desc_path },
	{ "b", "buffer-path", "FILE", "where address and length are",
	  PIER_OPTION_STRING, 0, 1, 4095, &info_path },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static char memory[4096 + 1], shown[4 * 4096 + 1];
	struct pier_args args = { sizeof(args), 0, about, .options = options };
	unsigned char desc[PIER_DESC_MAX];
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_dma *dma = NULL;
	struct pier_mmap *local = NULL, *remote = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_task *task;
	uintptr_t addr;
	FILE *info;
	size_t size;
	int err, len = 0;

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	info = fopen(info_path, "r");
	if (!info || fscanf(info, "%" SCNuPTR "%zu", &addr, &size) != 2) {
		fprintf(stderr, "dma_copy_dpu: %s: no address and length\n",
			info_path);
		return 1;
	}
	fclose(info);

	err = pier_dev_open(device, &dev);
	if (!err)
		err = len = pier_desc_read(desc_path, desc);
	if (err > 0)
		err = pier_dma_import(dev, desc, (size_t)len, &remote);
	err = err ?: pier_pe_create(&pe) ?: pier_dma_create(dev, &dma) ?:
		     pier_ctx_start(pier_dma_ctx(dma), pe);
	err = err ? err : pier_mmap_map(dev, memory, 4096, 0, &local);
	err = err ? err : pier_buf_inventory_create(2, &inv);
	err = err ?: pier_buf_by_data(inv, remote, (void *)addr, size, &src) ?:
		     pier_buf_empty(inv, local, &dst);
	err = err ?: pier_dma_task_copy(dma, src, dst, &task) ?:
		     pier_task_once(task, -1);
	if (err)
		fprintf(stderr, "dma_copy_dpu: %s\n", pier_last_error());
	else
		printf("copied \"%s\"\n", pier_text_escape(
			memory, strlen(memory), shown, sizeof(shown)));

	pier_dma_destroy(dma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(local);
	pier_mmap_destroy(remote);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
