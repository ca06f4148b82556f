/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"
#include "tool.h"

static struct perf perf = {
	.args = PIER_ARGS_RENDEZVOUS,
	.opts = {
		.iterations = 10000,
		.warmup = 100,
		.outstanding = 64,
	},
};

static const struct pier_option options[] = {
	{
		.long_name = "listen",
		.help = "be the server, which does not measure",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.listen,
	},
	{
		.long_name = "respond",
		.help = "do not measure, also as a client or by files",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.respond,
	},
	{
		.short_name = "s",
		.long_name = "size",
		.value_name = "BYTES",
		.help = "size of a message; default 64 for lat, 64K for bw",
		.type = PIER_OPTION_SIZE,
		.min = 1,
		.max = INT64_C(1) << 31,
		.value = &perf.opts.size,
	},
	{
		.short_name = "n",
		.long_name = "iterations",
		.value_name = "N",
		.help = "messages to measure; default 10000",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = 10000000,
		.value = &perf.opts.iterations,
	},
	{
		.long_name = "warmup",
		.value_name = "N",
		.help = "messages before the measured ones; default 100",
		.type = PIER_OPTION_INT,
		.min = 0,
		.max = 10000000,
		.value = &perf.opts.warmup,
	},
	{
		.long_name = "outstanding",
		.value_name = "N",
		.help = "messages in flight for bw; default 64",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = 4096,
		.value = &perf.opts.outstanding,
	},
	{
		.long_name = "events",
		.help = "sleep until an event instead of polling",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.events,
	},
	{
		.long_name = "json",
		.help = "print JSON",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.json,
	},
	{ 0 },
};

static const char *const measures[] = {
	[PERF_LAT] = "lat",
	[PERF_BW] = "bw",
};

static const char *const operations[] = {
	[PERF_SEND] = "send",
	[PERF_WRITE] = "write",
	[PERF_READ] = "read",
};

const char *perf_measure_name(const struct perf *p)
{
	return measures[p->opts.measure];
}

const char *perf_operation_name(const struct perf *p)
{
	return operations[p->opts.operation];
}

int perf_fail(struct perf *p, int err)
{
	return perf_err(p, err, "%s", pier_last_error());
}

bool perf_task_ok(struct perf *p, const struct pier_task *task)
{
	int status = pier_task_status(task);

	if (status && status != -ECANCELED)
		perf_fail(p, status);
	return !status;
}

int perf_err(struct perf *p, int err, const char *fmt, ...)
{
	va_list ap;

	if (p->err)
		return err;
	va_start(ap, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, ap);
	va_end(ap);
	p->err = err;
	return err;
}

/* Which of the @count @names @word is; below 0: none. */
static int index_of(const char *word, const char *const *names, int count)
{
	while (count-- > 0 && strcmp(word, names[count]))
		;
	return count;
}

static int parse_operands(void)
{
	int measure = -1, operation = -1;

	if (perf.args.argc == 2 || perf.args.argc == 3) {
		measure = index_of(perf.args.argv[0], measures, 2);
		operation = index_of(perf.args.argv[1], operations, 3);
	}
	if (measure < 0 || operation < 0)
		return -PIER_EUSAGE;

	perf.opts.measure = measure;
	perf.opts.operation = operation;
	if (!perf.opts.size)
		perf.opts.size = measure == PERF_LAT ? 64 : 65536;
	return 0;
}

int tool_perf(int argc, char *argv[])
{
	const char *place = tool_listen_word(&argc, argv, &perf.opts.listen);
	int err;

	perf.args.about = "Measure latency or bandwidth to a host that runs "
			  "pier perf --listen.";
	perf.args.operands = "[--listen] lat|bw send|write|read [HOST[:PORT]]";
	perf.args.options = options;
	perf.args.groups |= PIER_ARGS_ATTACHED;
	err = pier_args_parse(&perf.args, argc, argv);
	if (err)
		return pier_args_exit(err);
	if (parse_operands()) {
		tool_message("pier perf: give \"lat\" or \"bw\", then "
			     "\"send\", \"write\" or \"read\", then at most "
			     "one HOST[:PORT]");
		return 2;
	}
	/* the operands end in a NULL */
	err = tool_one_place(argv[0], place, perf.args.argv[2], &place);
	if (!err)
		err = perf_where(&perf, place);
	if (err)
		return err;

	err = perf_setup(&perf);
	if (!err)
		err = perf.opts.respond ? perf_respond(&perf) :
					 perf_request(&perf);
	if (!err)
		perf_report(&perf);
	else
		tool_message("pier perf: %s", perf.reason);
	perf_teardown(&perf);
	return err ? 1 : 0;
}
