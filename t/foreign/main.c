/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/foreign/foreign.h"

static int usage(void)
{
	fputs("usage: foreign data|reject|slow|many|rping|send|write|read\n"
	      "               [-P] [-d DEVICE] [-b ADDRESS] [-p PORT]\n"
	      "               [-n COUNT] [-s SIZE] [PEER]\n"
	      "\n"
	      "Speak with t/foreign/peer, with rping, or with ib_send_lat,\n"
	      "ib_write_lat and ib_read_lat -R of perftest; with -P, with\n"
	      "this very program.  Without PEER as the server.\n",
	      stderr);
	return 2;
}

static bool be_perftest(struct foreign *f, const struct foreign_args *args,
			const char *what)
{
	if (strcmp(what, "send") && strcmp(what, "write") &&
	    strcmp(what, "read"))
		return false;
	foreign_perftest(f, args, what);
	return true;
}

static bool be_client(struct foreign *f, const struct foreign_args *args,
		      const char *what)
{
	if (!strcmp(what, "data"))
		foreign_data_client(f, args);
	else if (!strcmp(what, "many"))
		foreign_many_client(f, args);
	else if (!strcmp(what, "rping"))
		foreign_rping_client(f, args);
	else
		return be_perftest(f, args, what);
	return true;
}

static bool be_server(struct foreign *f, const struct foreign_args *args,
		      const char *what)
{
	if (!strcmp(what, "data") || !strcmp(what, "reject"))
		foreign_data_server(f, args, what[0] == 'r');
	else if (!strcmp(what, "slow"))
		foreign_slow_server(f, args);
	else if (!strcmp(what, "many"))
		foreign_many_server(f, args);
	else if (!strcmp(what, "rping"))
		foreign_rping_server(f, args);
	else
		return be_perftest(f, args, what);
	return true;
}

int main(int argc, char *argv[])
{
	struct foreign_args args = { .port = 18515, .count = 10, .size = 64 };
	const char *what = argc > 1 ? argv[1] : "";
	struct foreign f;
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "Pb:d:n:p:s:")) >= 0) {
		switch (opt) {
		case 'P': args.pier = 1; break;
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
	if (args.peer ? !be_client(&f, &args, what) :
			!be_server(&f, &args, what))
		return usage();
	foreign_close(&f);
	return 0;
}
