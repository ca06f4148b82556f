/* SPDX-License-Identifier: BSD-2-Clause */
/* dma_copy - copy a file between two processes, by DMA of the server. */
#include <stdio.h>

#include <pier/pier.h>

static const char *file, *device, *rep_name, *address;
static const struct pier_option options[] = {
	{ "f", "file", "FILE", "the file, which exists on one side",
	  PIER_OPTION_STRING, 1, 1, 4095, &file },
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci", "REP", "be the server, on this representor",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 0, 0, &address },
	{ 0 },
};

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args) };
	struct pier_copy_config cfg = { .size = sizeof(cfg) };
	struct pier_copy_result result = { 0 };
	struct pier_dev *dev = NULL;
	struct pier_copy *copy = NULL;
	int err;

	args.about = "Copy a file to the side that lacks it.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev);
	if (!err && rep_name)
		err = pier_rep_open_by_name(dev, rep_name, &cfg.rep);
	if (!err)
		err = pier_copy_create(dev, &copy);
	cfg.name = "dma copy server";
	cfg.address = address;
	if (!err)
		err = pier_copy_configure(copy, &cfg);
	if (!err)
		err = rep_name ? pier_copy_serve_file(copy, file) :
				 pier_copy_file(copy, file);
	if (!err) {
		pier_copy_get_result(copy, &result);
		printf("copied %llu bytes of %s\n",
		       (unsigned long long)result.bytes, file);
	} else {
		fprintf(stderr, "dma_copy: %s\n", pier_last_error());
	}
	pier_copy_destroy(copy);
	pier_rep_close(cfg.rep);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
