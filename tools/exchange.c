/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/args.h>
#include <pier/error.h>
#include <pier/exchange.h>

#include "tool.h"

/* pier exchange: exchange descriptor files with a peer. */

struct options {
	const char *listen;
	int stdio;
	const char *receive;
	const char *files[PIER_EXCHANGE_FILES_MAX + 1];
	size_t count;
};

static void print_port(unsigned int port, void *arg)
{
	(void)arg;
	fprintf(stderr, "pier exchange: listening on port %u\n", port);
}

static int take_file(struct options *o, const char *path)
{
	if (o->count == PIER_EXCHANGE_FILES_MAX) {
		fprintf(stderr, "pier exchange: more than %d files\n",
			PIER_EXCHANGE_FILES_MAX);
		return 2;
	}
	o->files[o->count++] = path;
	return 0;
}

/*
 * --send takes all words up to the next option, so it is taken out of the
 * command line before the rest is parsed.
 */
static int take_files(int *argc, char *argv[], struct options *o)
{
	int to = 1, err = 0;

	for (int from = 1; from < *argc && !err; from++) {
		if (!strncmp(argv[from], "--send=", 7)) {
			err = take_file(o, argv[from] + 7);
			continue;
		}
		if (strcmp(argv[from], "--send")) {
			argv[to++] = argv[from];
			continue;
		}
		if (from + 1 == *argc || argv[from + 1][0] == '-') {
			fprintf(stderr, "pier exchange: --send without a "
				"file\n");
			return 2;
		}
		while (!err && from + 1 < *argc && argv[from + 1][0] != '-')
			err = take_file(o, argv[++from]);
	}
	argv[to] = NULL;
	*argc = to;
	return err;
}

/* One of three ways to meet, and only one. */
static int choose_role(const struct pier_args *args, const struct options *o,
		       struct pier_exchange_config *cfg)
{
	int ways = (o->listen != NULL) + o->stdio + args->argc;

	if (ways != 1) {
		fprintf(stderr, "pier exchange: give one of --listen "
			"[ADDR:]PORT, HOST:PORT and --stdio\n");
		return 2;
	}
	cfg->role = PIER_EXCHANGE_STDIO;
	if (o->listen) {
		cfg->role = PIER_EXCHANGE_LISTEN;
		cfg->address = o->listen;
		cfg->listening = print_port;
	} else if (args->argc) {
		cfg->role = PIER_EXCHANGE_CONNECT;
		cfg->address = args->argv[0];
	}
	return 0;
}

/* libuv must not be given one of the first three descriptors. */
static void fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* The command's name is before it already. */
static const char *last_error(void)
{
	static const char name[] = "exchange: ";
	const char *text = pier_last_error();

	return strncmp(text, name, strlen(name)) ? text : text + strlen(name);
}

static int exchange(const struct pier_args *args, const struct options *o)
{
	struct pier_exchange_config cfg = {
		.size = sizeof(cfg),
		.send = o->files,
		.send_count = o->count,
		.receive = o->receive,
		.timeout_ms = args->timeout_ms,
	};
	int status = choose_role(args, o, &cfg), n;

	if (status)
		return status;
	fill_stdio();
	n = pier_exchange(&cfg);
	if (n < 0) {
		fprintf(stderr, "pier exchange: %s\n", last_error());
		return 1;
	}
	fprintf(stderr, "pier exchange: %zu sent, %d received\n", o->count, n);
	return 0;
}

int tool_exchange(int argc, char *argv[])
{
	struct options o = { 0 };
	const struct pier_option options[] = {
		{ .long_name = "listen", .value_name = "[ADDR:]PORT",
		  .help = "listen for the peer",
		  .type = PIER_OPTION_STRING, .value = &o.listen },
		{ .long_name = "stdio",
		  .help = "use standard input and output",
		  .type = PIER_OPTION_FLAG, .value = &o.stdio },
		{ .long_name = "receive", .value_name = "DIR",
		  .help = "directory for the peer's files; created if missing",
		  .type = PIER_OPTION_STRING, .value = &o.receive },
		{ .long_name = "send", .value_name = "FILE...",
		  .help = "files to send",
		  .type = PIER_OPTION_STRING, .value = &o.files[0] },
		{ 0 },
	};
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_TIMEOUT,
		.about = "Exchange files, mostly descriptors, with a peer.",
		.operands = "[HOST:PORT]",
		.options = options,
		.timeout_ms = 60000,
	};
	int err = take_files(&argc, argv, &o);

	if (err)
		return err;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	return exchange(&args, &o);
}
