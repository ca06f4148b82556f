/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/cm/foreign.h"

static int usage(void)
{
	fputs("usage: foreign data|reject|rping|send|write|read [-d DEVICE]\n"
	      "               [-b ADDRESS] [-p PORT] [-n COUNT] [-s SIZE]"
	      " [PEER]\n"
	      "\n"
	      "Speak with t/cm/peer, with rping, or with ib_send_lat,\n"
	      "ib_write_lat and ib_read_lat -R of perftest; without PEER\n"
	      "as the server.\n",
	      stderr);
	return 2;
}

int main(int argc, char *argv[])
{
	struct foreign_args args = { .port = 18515, .count = 10, .size = 64 };
	const char *what = argc > 1 ? argv[1] : "";
	struct foreign f;
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "b:d:n:p:s:")) >= 0) {
		switch (opt) {
		case 'b': args.source = optarg; break;
		case 'd': args.device = optarg; break;
		case 'n': args.count = atoi(optarg); break;
		case 'p': args.port = (uint32_t)atoi(optarg); break;
		case 's': args.size = (uint32_t)atoi(optarg); break;
		default: return usage();
		}
	}
	if (optind < argc)
		args.peer = argv[optind];
	if (!args.size || args.size > FOREIGN_MSG || args.count < 1)
		return usage();

	foreign_open(&f, args.device);
	if (!strcmp(what, "data") && args.peer)
		foreign_data_client(&f, &args);
	else if (!strcmp(what, "data") || !strcmp(what, "reject"))
		foreign_data_server(&f, &args, what[0] == 'r');
	else if (!strcmp(what, "rping") && args.peer)
		foreign_rping_client(&f, &args);
	else if (!strcmp(what, "rping"))
		foreign_rping_server(&f, &args);
	else if (!strcmp(what, "send") || !strcmp(what, "write") ||
		 !strcmp(what, "read"))
		foreign_perftest(&f, &args, what);
	else
		return usage();
	foreign_close(&f);
	return 0;
}
