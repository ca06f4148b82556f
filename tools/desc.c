/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <pier/args.h>
#include <pier/desc.h>
#include <pier/error.h>

#include "tool.h"

static int print(const void *desc, int len)
{
	char probe[1], *text;
	int size;

	size = pier_desc_print(desc, (size_t)len, probe, sizeof(probe));
	if (size < 0)
		return size;
	text = malloc((size_t)size + 1);
	if (!text) {
		perror("pier desc");
		exit(1);
	}
	size = pier_desc_print(desc, (size_t)len, text, (size_t)size + 1);
	if (size >= 0)
		fputs(text, stdout);
	free(text);
	return size < 0 ? size : 0;
}

int tool_desc(int argc, char *argv[])
{
	static unsigned char desc[PIER_DESC_MAX];
	struct pier_args args = {
		.size = sizeof(args),
		.about = "Print the contents of a descriptor file.",
		.operands = "FILE",
	};
	int err;

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	if (args.argc != 1) {
		fprintf(stderr, "pier desc: %d files given, one is required\n",
			args.argc);
		return 2;
	}

	err = pier_desc_read(args.argv[0], desc);
	if (err < 0) {
		fprintf(stderr, "pier desc: %s\n", pier_last_error());
		return 1;
	}
	err = print(desc, err);
	if (err)
		fprintf(stderr, "pier desc: %s: %s\n", args.argv[0],
			pier_last_error());
	return err ? 1 : 0;
}
