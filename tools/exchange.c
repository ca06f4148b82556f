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
	int listen, stdio, json;
	const char *where;	/* HOST[:PORT], or of --listen; or NULL */
	const char *receive;
	const char *files[PIER_EXCHANGE_FILES_MAX + 1];
	size_t count;
	char place[512];
};

static void print_port(unsigned int port, void *arg)
{
	(void)arg;
	tool_message("pier exchange: listening on port %u", port);
}

static void print_waiting(const struct pier_args *args, const struct options *o)
{
	if (!o->json)
		tool_message("pier exchange: waiting %d s for %s; Ctrl-C ends "
			     "it", (args->timeout_ms + 999) / 1000,
			     o->listen || o->stdio ? "the peer" : o->where);
}

static int take_file(struct options *o, const char *path)
{
	if (o->count == PIER_EXCHANGE_FILES_MAX) {
		tool_message("pier exchange: more than %d files",
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
			tool_message("pier exchange: --send without a file");
			return 2;
		}
		while (!err && from + 1 < *argc && argv[from + 1][0] != '-')
			err = take_file(o, argv[++from]);
	}
	argv[to] = NULL;
	*argc = to;
	return err;
}

/* @place, behind it the port to use without one. */
static const char *with_port(const char *place, struct options *o)
{
	const char *colon = strchr(place, ':');
	int n;

	if (tool_has_port(place))
		return place;
	/* an IPv6 address gets brackets */
	n = snprintf(o->place, sizeof(o->place), place[0] != '[' && colon ?
		     "[%s]:%d" : "%s:%d", place, TOOL_PORT);
	return n < (int)sizeof(o->place) ? o->place : place;
}

/* One of three ways to meet, and only one. */
static int choose_role(const struct pier_args *args, struct options *o,
		       struct pier_exchange_config *cfg)
{
	if (args->argc > 1 || o->stdio + (o->listen || o->where) != 1) {
		tool_message("pier exchange: give one of HOST[:PORT], --listen "
			     "[[ADDR:]PORT] and --stdio");
		return 2;
	}
	cfg->role = PIER_EXCHANGE_STDIO;
	if (o->listen) {
		cfg->role = PIER_EXCHANGE_LISTEN;
		cfg->address = with_port(o->where ? o->where : TOOL_PORT_TEXT,
					 o);
		cfg->listening = print_port;
	} else if (o->where) {
		cfg->role = PIER_EXCHANGE_CONNECT;
		cfg->address = with_port(o->where, o);
	}
	if (o->stdio && o->json) {
		tool_message("pier exchange: --json and --stdio: standard "
			     "output carries the files");
		return 2;
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

static void report(const struct options *o, int received)
{
	json_t *root;

	if (!o->json) {
		tool_message("pier exchange: %zu sent, %d received", o->count,
			     received);
		return;
	}
	root = json_object();
	tool_json_set(root, "sent", json_integer((json_int_t)o->count));
	tool_json_set(root, "received", json_integer(received));
	tool_json_print(root);
}

static int exchange(const struct pier_args *args, struct options *o)
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
	print_waiting(args, o);
	n = pier_exchange(&cfg);
	if (n < 0) {
		tool_message("pier exchange: %s", last_error());
		return 1;
	}
	report(o, n);
	return 0;
}

int tool_exchange(int argc, char *argv[])
{
	struct options o = { 0 };
	const struct pier_option options[] = {
		{ .long_name = "listen",
		  .help = "be the server: wait for the peer to connect",
		  .type = PIER_OPTION_FLAG, .value = &o.listen },
		{ .long_name = "stdio",
		  .help = "use standard input and output",
		  .type = PIER_OPTION_FLAG, .value = &o.stdio },
		{ .long_name = "receive", .value_name = "DIR",
		  .help = "directory for the peer's files; created if missing",
		  .type = PIER_OPTION_STRING, .value = &o.receive },
		{ .long_name = "send", .value_name = "FILE...",
		  .help = "files to send",
		  .type = PIER_OPTION_STRING, .value = &o.files[0] },
		{ .long_name = "json",
		  .help = "print how many files were exchanged as JSON",
		  .type = PIER_OPTION_FLAG, .value = &o.json },
		{ 0 },
	};
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_TIMEOUT | PIER_ARGS_ATTACHED,
		.about = "Exchange files, mostly descriptors, with a peer.",
		.operands = "HOST[:PORT] | --listen [[ADDR:]PORT] | --stdio",
		.options = options,
		.timeout_ms = 60000,
	};
	int err = take_files(&argc, argv, &o);
	const char *place = tool_listen_word(&argc, argv, &o.listen);

	if (err)
		return err;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	err = tool_one_place(argv[0], place, args.argc ? args.argv[0] : NULL,
			     &o.where);
	return err ? err : exchange(&args, &o);
}
