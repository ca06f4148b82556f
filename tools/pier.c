/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include <pier/version.h>

#include "tool.h"

static const struct {
	const char *name;
	const char *title;	/* argv[0] of the subcommand */
	int (*run)(int argc, char *argv[]);
	const char *help;
} commands[] = {
	{ "copy", "pier copy", tool_copy,
	  "copy files from or to another host" },
	{ "desc", "pier desc", tool_desc, "print a descriptor file" },
	{ "exchange", "pier exchange", tool_exchange,
	  "exchange descriptor files with a peer" },
	{ "info", "pier info", tool_info, "list devices, limits and counters" },
	{ "perf", "pier perf", tool_perf, "measure latency and bandwidth" },
	{ "ping", "pier ping", tool_ping, "measure round trips to a host" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
	size_t i;

	fputs("usage: pier COMMAND [OPTION...]\n\n", out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].help);
	fputs("\n\"pier COMMAND --help\" prints its options.\n", out);
}

static int run(int argc, char *argv[])
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(name, commands[i].name))
			continue;
		argv[1] = (char *)commands[i].title;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-v")) {
		printf("pier %s\n", pier_version());
		return 0;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		usage(stdout);
		return 0;
	}
	if (argc > 1)
		fprintf(stderr, "pier: there is no command \"%s\"\n", name);
	usage(stderr);
	return 2;
}

int main(int argc, char *argv[])
{
	int status = run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		perror("pier: cannot write the output");
		return 1;
	}
	return status;
}
