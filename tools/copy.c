/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy.h"
#include "tool.h"

/* pier copy: copy files from and to hosts that run pier copy --listen. */

static struct pier_copy *running;

static void stop(int signo)
{
	(void)signo;
	pier_copy_stop(running);
}

static void catch_signals(struct pier_copy *copy)
{
	struct sigaction action = { .sa_handler = stop };

	running = copy;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* The name of the server: it is agreed upon, or random. */
static int choose_name(struct copy_tool *t)
{
	if (t->once)
		return copy_ssh_name(t->name, sizeof(t->name));
	if (t->port && t->port != TOOL_PORT)
		snprintf(t->name, sizeof(t->name), "pier copy %d", t->port);
	else
		snprintf(t->name, sizeof(t->name), "pier copy");
	if (!t->ssh)
		return 0;
	t->far = copy_ssh_start(t);
	return !t->far;
}

static int configure(struct copy_tool *t)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg),
		.name = t->name,
		.address = copy_address(t),
		.root = t->root,
		.timeout_ms = (uint32_t)t->args.timeout_ms,
	};

	if (t->once)
		cfg.flags |= PIER_COPY_ONCE | PIER_COPY_ANYWHERE;
	if (t->far)
		cfg.flags |= PIER_COPY_ONCE;	/* it has said so */
	if (t->recursive)
		cfg.flags |= PIER_COPY_RECURSIVE;
	if (t->preserve)
		cfg.flags |= PIER_COPY_PRESERVE;
	if (t->resume)
		cfg.flags |= PIER_COPY_RESUME;
	return pier_copy_configure(t->copy, &cfg);
}

static void print_listening(void *arg)
{
	struct copy_tool *t = arg;
	char address[64];

	if (t->once) {
		if (copy_reach_address(pier_dev_info(t->dev), address,
				       sizeof(address)))
			printf(COPY_SSH_ADDRESS "%s\n", address);
		printf(COPY_SSH_LINE "%s\n", t->name);
		fflush(stdout);
		return;
	}
	tool_message("pier copy: \"%s\" listens on %s, root %s", t->name,
		     pier_devinfo_name(pier_dev_info(t->dev)), t->root);
	if (!t->quiet && !t->json)
		tool_message("pier copy: waiting for clients; Ctrl-C ends it");
}

/* What ssh carries instead is a random name. */
static int check_port(const struct copy_tool *t)
{
	if (t->port && (t->ssh || t->once)) {
		tool_message("pier copy: a port: with --ssh and --once the "
			     "name of the server is random");
		return 2;
	}
	if (!t->once || !t->json)
		return 0;
	tool_message("pier copy: --json and --once: standard output carries "
		     "the name of the server");
	return 2;
}

/* Sources of this host and a target of another, or the reverse. */
static int copy_files(struct copy_tool *t)
{
	char **word = t->args.argv;
	size_t count = (size_t)t->args.argc - 1;
	const char *target;
	int err = copy_where(t, word, count, &target);

	if (!err)
		err = check_port(t);
	if (!err)
		err = choose_name(t);
	if (err)
		return err;
	copy_print_waiting(t);
	err = configure(t);
	if (!err && target)
		err = pier_copy_send(t->copy, (const char *const *)word, count,
				     target);
	else if (!err)
		err = pier_copy_receive(t->copy, (const char *const *)word,
					count, word[count]);
	copy_report(t, err);
	if (t->far)
		copy_ssh_explain(t, err);
	copy_ssh_end(t->far, err);
	return err ? 1 : 0;
}

static int serve(struct copy_tool *t)
{
	int err = choose_name(t);

	if (err)
		return err;
	err = configure(t);
	if (!err)
		err = pier_copy_serve(t->copy, print_listening, t);
	if (err)
		tool_message("pier copy: %s%s", copy_error_text(),
			     err == -EEXIST ? ": give this one another port" :
					      "");
	if (t->json)
		copy_print_json(t, err);
	return err ? 1 : 0;
}

static int run(struct copy_tool *t)
{
	int err;

	if (t->once)
		copy_reach_device(t);
	err = pier_dev_open(t->device, &t->dev);
	if (!err)
		err = pier_copy_create(t->dev, &t->copy);
	if (err) {
		tool_message("pier copy: %s", copy_error_text());
		err = 1;
	} else {
		catch_signals(t->copy);
		pier_copy_set_callbacks(t->copy, copy_failed,
					isatty(STDERR_FILENO) && !t->quiet &&
					!t->listening ? copy_progress : NULL,
					t);
		err = t->listening ? serve(t) : copy_files(t);
	}
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	pier_copy_destroy(t->copy);
	pier_dev_close(t->dev);
	return err;
}

/* @place: of --listen=PLACE, or NULL. */
static int check(struct copy_tool *t, const char *place)
{
	int err;

	if (t->listening && t->args.argc <= 1) {
		err = tool_one_place("pier copy", place,
				     t->args.argc ? t->args.argv[0] : NULL,
				     &place);
		if (!err && place)
			err = copy_listen_at(t, place);
		return err ? err : check_port(t);
	}
	if (!t->listening && t->args.argc >= 2)
		return 0;
	tool_message("pier copy: give SOURCE... and TARGET, or --listen and at "
		     "most one PORT");
	return 2;
}

static struct copy_tool tool = {
	.args = {
		.size = sizeof(tool.args),
		.groups = PIER_ARGS_TIMEOUT | PIER_ARGS_ATTACHED,
		.about = "Copy files from or to a host that runs pier "
			 "copy --listen.",
		.operands = "SOURCE... HOST[:PORT]:TARGET | "
			    "HOST[:PORT]:SOURCE... TARGET | "
			    "--listen [PORT]",
		.timeout_ms = 30000,
	},
	.root = ".",
	.ssh_command = "ssh",
	.program = "pier",
};

static const struct pier_option options[] = {
	{ .short_name = "d", .long_name = "device",
	  .value_name = "DEV", .help = "device, netdev or PCI address",
	  .type = PIER_OPTION_STRING, .value = &tool.device },
	{ .short_name = "r", .long_name = "recursive",
	  .help = "copy directories with what they contain",
	  .type = PIER_OPTION_FLAG, .value = &tool.recursive },
	{ .short_name = "p", .long_name = "preserve",
	  .help = "keep permissions and times of modification",
	  .type = PIER_OPTION_FLAG, .value = &tool.preserve },
	{ .long_name = "resume",
	  .help = "continue what an interrupted copy has left",
	  .type = PIER_OPTION_FLAG, .value = &tool.resume },
	{ .short_name = "q", .long_name = "quiet",
	  .help = "print neither waiting nor progress",
	  .type = PIER_OPTION_FLAG, .value = &tool.quiet },
	{ .long_name = "json", .help = "print the result as JSON",
	  .type = PIER_OPTION_FLAG, .value = &tool.json },
	{ .long_name = "port", .value_name = "PORT",
	  .help = "the same as PORT; default: " TOOL_PORT_TEXT,
	  .type = PIER_OPTION_INT, .min = 1, .max = 65535,
	  .value = &tool.port },
	{ .long_name = "listen",
	  .help = "serve the files below the root until Ctrl-C",
	  .type = PIER_OPTION_FLAG, .value = &tool.listening },
	{ .long_name = "serve", .type = PIER_OPTION_FLAG,
	  .value = &tool.listening },
	{ .long_name = "once",
	  .help = "serve one client as --ssh has it, any path",
	  .type = PIER_OPTION_FLAG, .value = &tool.once },
	{ .long_name = "ssh",
	  .help = "start the server of [USER@]HOST by ssh",
	  .type = PIER_OPTION_FLAG, .value = &tool.ssh },
	{ .long_name = "ssh-command", .value_name = "COMMAND",
	  .help = "ssh with options; default: ssh",
	  .type = PIER_OPTION_STRING, .min = 1, .max = 4095,
	  .value = &tool.ssh_command },
	{ .long_name = "program", .value_name = "PIER",
	  .help = "pier on HOST, for its shell; default: pier",
	  .type = PIER_OPTION_STRING, .min = 1, .max = 4095,
	  .value = &tool.program },
	{ .long_name = "root", .value_name = "DIR",
	  .help = "directory that is served; default: this one",
	  .type = PIER_OPTION_STRING, .min = 1, .max = 4095,
	  .value = &tool.root },
	{ 0 },
};

int tool_copy(int argc, char *argv[])
{
	const char *place = tool_listen_word(&argc, argv, &tool.listening);
	int err;

	tool.args.options = options;
	err = pier_args_parse(&tool.args, argc, argv);
	if (err)
		return pier_args_exit(err);
	tool.begun = copy_now();
	err = check(&tool, place);
	return err ? err : run(&tool);
}
