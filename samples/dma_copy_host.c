/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_copy_host - offer a text to the DMA context of dma_copy_dpu. */
#include <stdint.h>
#include <stdio.h>

#include <pier/pier.h>

static const char about[] = "Offer a text for dma_copy_dpu to copy.";
static const char *text = PIER_ARGS_TEXT, *device;
static const char *desc_path = "/tmp/export_desc.txt";
static const char *info_path = "/tmp/buffer_info.txt";
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to offer", PIER_OPTION_STRING, 0, 1,
	  4095, &text },
	{ "d", "descriptor-path", "FILE", "where to write the descriptor",
	  PIER_OPTION_STRING, 0, 1, 4095, &desc_path },
	{ "b", "buffer-path", "FILE", "where to write address and length",
	  PIER_OPTION_STRING, 0, 1, 4095, &info_path },
	{ 0 },
};

static int write_info(const void *addr, size_t len)
{
	char info[64];
	int n = snprintf(info, sizeof(info), "%ju\n%zu",
			 (uintmax_t)(uintptr_t)addr, len);

	return pier_desc_write(info_path, info, (size_t)n);
}

/* Wait for Enter or, without a terminal, for the end of the peer. */
static int wait_for_peer(struct pier_dma_export *exported)
{
	printf("offering \"%s\": run dma_copy_dpu with %s and %s, "
	       "then press Enter\n", text, desc_path, info_path);
	fflush(stdout);
	return getchar() == EOF ? pier_dma_export_wait(exported, -1) : 0;
}

int main(int argc, char *argv[])
{
	static char memory[4096];
	struct pier_args args = { sizeof(args), 0, about, .options = options };
	struct pier_dev *dev = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_dma_export *exported = NULL;
	const void *desc = NULL;
	size_t len, desc_len = 0;
	int err;

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	len = (size_t)snprintf(memory, sizeof(memory), "%s", text) + 1;

	err = pier_dev_open(device, &dev);
	if (!err)
		err = pier_mmap_map(dev, memory, len, PIER_PEER_READ, &mmap);
	if (!err)
		err = pier_dma_export_create(mmap, dev, &exported);
	if (!err)
		err = write_info(memory, len);
	if (!err) {
		pier_dma_export_desc(exported, &desc, &desc_len);
		err = pier_desc_write(desc_path, desc, desc_len);
	}
	if (!err)
		err = wait_for_peer(exported);	/* no engine runs meanwhile */
	if (err)
		fprintf(stderr, "dma_copy_host: %s\n", pier_last_error());

	pier_dma_export_destroy(exported);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
