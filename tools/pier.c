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
	{ "counters", "pier counters", tool_counters,
	  "print what devices have counted" },
	{ "desc", "pier desc", tool_desc, "print a descriptor file" },
	{ "doctor", "pier doctor", tool_doctor,
	  "find out what keeps programs from connecting" },
	{ "exchange", "pier exchange", tool_exchange,
	  "exchange descriptor files with a peer" },
	{ "info", "pier info", tool_info, "list devices and their limits" },
	{ "perf", "pier perf", tool_perf, "measure latency and bandwidth" },
	{ "ping", "pier ping", tool_ping, "measure round trips to a host" },
	{ "run", "pier run", tool_run,
	  "run a program written for libibverbs on soft devices" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
	size_t i;

	fputs("usage: pier COMMAND [OPTION...]\n\n", out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].help);
	fputs("\n\"pier help COMMAND\" prints its options.\n", out);
}

/* The row of @name, or COMMANDS. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (i < COMMANDS && strcmp(name, commands[i].name))
		i++;
	return i;
}

static int unknown(const char *name)
{
	tool_message("pier: there is no command \"%s\"", name);
	usage(stderr);
	return 2;
}

/* help, or help COMMAND, which is COMMAND --help. */
static int help(int argc, char *argv[])
{
	char *words[] = { NULL, (char *)"--help", NULL };
	size_t i;

	if (argc > 3) {
		tool_message("pier help: \"%s\": at most one command", argv[3]);
		return 2;
	}
	if (argc < 3 || !strcmp(argv[2], "help") || !strcmp(argv[2], "-h") ||
	    !strcmp(argv[2], "--help")) {
		usage(stdout);
		return 0;
	}
	i = find(argv[2]);
	if (i == COMMANDS)
		return unknown(argv[2]);
	words[0] = (char *)commands[i].title;
	return commands[i].run(2, words);
}

static int run(int argc, char *argv[])
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i = find(name);

	if (i < COMMANDS) {
		argv[1] = (char *)commands[i].title;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-v")) {
		printf("pier %s\n", pier_version());
		return 0;
	}
	if (!strcmp(name, "help"))
		return help(argc, argv);
	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		usage(stdout);
		return 0;
	}
	if (argc > 1)
		return unknown(name);
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
