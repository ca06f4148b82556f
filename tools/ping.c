/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ping.h"
#include "tool.h"

/* pier ping: can a host be reached by RDMA, and how fast? */

volatile sig_atomic_t ping_stopped;
static struct pier_pe *woken;

static const char *const names[] = {
	[PING_SEND] = "send",
	[PING_WRITE] = "write",
	[PING_READ] = "read",
	[PING_ATOMIC] = "atomic",
};

const char *ping_op_name(enum ping_op op)
{
	return names[op];
}

double ping_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void stop(int signo)
{
	(void)signo;
	ping_stopped = 1;
	pier_pe_wake(woken);
}

static void catch_signals(struct pier_pe *pe)
{
	struct sigaction action = { .sa_handler = stop };

	woken = pe;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int choose_operations(struct ping *p)
{
	int op, found = 0;

	for (op = 0; op < PING_OPS; op++) {
		p->ops[op] = !p->operation || !strcmp(p->operation, names[op]);
		found += p->ops[op];
	}
	if (found)
		return 0;
	tool_message("pier ping: operation \"%s\": send, write, read or atomic",
		     p->operation);
	return 2;
}

static int read_interval(struct ping *p)
{
	char *end;
	double seconds = 1;

	if (p->interval) {
		seconds = strtod(p->interval, &end);
		if (end == p->interval || *end || !(seconds >= 0) ||
		    seconds > 86400) {
			tool_message("pier ping: interval \"%s\": seconds, 0 "
				     "to 86400, as 0.2", p->interval);
			return 2;
		}
	}
	p->interval_us = seconds * 1e6;
	return 0;
}

static int check(struct ping *p)
{
	int err;

	if (p->args.argc > 1 || (!p->listening && !p->args.argc)) {
		tool_message("pier ping: give one HOST[:PORT], or --listen and "
			     "at most one PORT, ADDR or ADDR:PORT");
		return 2;
	}
	err = choose_operations(p);
	if (!err)
		err = read_interval(p);
	if (!err && p->listening)
		err = ping_where(p);
	return err;
}

void ping_config(const struct ping *p, struct pier_rdma_config *ret)
{
	*ret = (struct pier_rdma_config){
		.size = sizeof(*ret),
		.gid_index = p->args.gid_index > 0 ?
				     (uint32_t)p->args.gid_index :
			     p->args.gid_index == 0 ? PIER_ZERO : 0,
		/* a client that takes no reply must not hold all buffers */
		.rnr_timeout_ms = p->listening ? PING_RNR_MS : 0,
	};
}

static int open_device(struct ping *p)
{
	struct pier_rdma_config cfg;
	int err;

	ping_config(p, &cfg);
	err = pier_dev_open(p->args.device, &p->dev);
	if (!err)
		err = pier_rdma_create(p->dev, &p->rdma);
	if (!err)
		err = pier_rdma_configure(p->rdma, &cfg);
	return err;
}

int ping_set_up(struct ping *p)
{
	int err = pier_pe_create(&p->pe);

	if (!err && !(p->listening &&
		      tool_on_all_devices(&p->args, p->address)))
		err = open_device(p);
	if (!err)
		err = pier_buf_inventory_create(1024, &p->inv);
	if (!err)
		catch_signals(p->pe);
	return err;
}

void ping_tear_down(struct ping *p)
{
	pier_rdma_destroy(p->rdma);
	pier_buf_put(p->echo_buf);
	pier_buf_inventory_destroy(p->inv);
	pier_mmap_destroy(p->remote);
	pier_mmap_destroy(p->local);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	pier_pe_destroy(p->pe);
	pier_dev_close(p->dev);
}

static int ping(struct ping *p)
{
	int err = ping_set_up(p);

	if (err) {
		tool_message("pier ping: %s", pier_last_error());
		err = 1;
	} else {
		err = p->listening ? ping_server(p) : ping_client(p);
	}
	ping_tear_down(p);
	return err;
}

int tool_ping(int argc, char *argv[])
{
	struct ping p = {
		.args = {
			.size = sizeof(p.args),
			.groups = PIER_ARGS_DEVICE | PIER_ARGS_TIMEOUT |
				  PIER_ARGS_ATTACHED,
			.about = "Measure RDMA round trips to a host that runs "
				 "pier ping --listen.",
			.operands = "HOST[:PORT] | --listen [PORT | "
				    "ADDR[:PORT]]",
			.gid_index = -1,
			.timeout_ms = 5000,
		},
		.size = 56,
	};
	const struct pier_option options[] = {
		{ .long_name = "listen",
		  .help = "answer requests until Ctrl-C",
		  .type = PIER_OPTION_FLAG, .value = &p.listening },
		{ .short_name = "c", .long_name = "count", .value_name = "N",
		  .help = "rounds; default: until Ctrl-C",
		  .type = PIER_OPTION_INT, .min = 1, .max = INT32_MAX,
		  .value = &p.count },
		{ .short_name = "i", .long_name = "interval",
		  .value_name = "SECONDS",
		  .help = "time between rounds; default 1",
		  .type = PIER_OPTION_STRING, .value = &p.interval },
		{ .short_name = "s", .long_name = "size", .value_name = "BYTES",
		  .help = "size of a message; default 56",
		  .type = PIER_OPTION_SIZE, .min = 1, .max = PING_SIZE_MAX,
		  .value = &p.size },
		{ .short_name = "o", .long_name = "operation",
		  .value_name = "OPERATION",
		  .help = "only send, write, read or atomic",
		  .type = PIER_OPTION_STRING, .value = &p.operation },
		{ .long_name = "json", .help = "print JSON at the end",
		  .type = PIER_OPTION_FLAG, .value = &p.json },
		{ 0 },
	};
	const char *place = tool_listen_word(&argc, argv, &p.listening);
	int err;

	p.args.options = options;
	err = pier_args_parse(&p.args, argc, argv);
	if (err)
		return pier_args_exit(err);
	err = tool_one_place(argv[0], place,
			     p.args.argc ? p.args.argv[0] : NULL, &p.listen);
	if (!p.listen)
		p.listen = TOOL_PORT_TEXT;
	if (!err)
		err = check(&p);
	return err ? err : ping(&p);
}
