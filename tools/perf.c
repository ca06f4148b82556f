/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"
#include "tool.h"

#define OUTSTANDING 64	/* without the option */

static struct perf perf = {
	.args = PIER_ARGS_RENDEZVOUS,
	.opts = {
		.warmup = 100,
		.cpu = -1,
		.connections = 1,
		.sge = 1,
		.faults.seed = TOOL_SEED,
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
		.help = "do not measure, by descriptor files",
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
		.long_name = "sizes",
		.value_name = "LIST",
		.help = "several of them, as 64,4K,1M",
		.type = PIER_OPTION_STRING,
		.value = &perf.opts.size_list,
	},
	{
		.short_name = "a",
		.long_name = "all",
		.help = "all powers of two from 1 to 8M",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.all,
	},
	{
		.short_name = "n",
		.long_name = "iterations",
		.value_name = "N",
		.help = "messages to measure; default 10000, fewer if large",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = 1000000000,
		.value = &perf.opts.iterations,
	},
	{
		.short_name = "t",
		.long_name = "seconds",
		.value_name = "N",
		.help = "measure so long instead",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = 1000000,
		.value = &perf.opts.seconds,
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
		.short_name = "q",
		.long_name = "connections",
		.value_name = "N",
		.help = "connections, which are used in turn; default 1",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = PERF_CONNS_MAX,
		.value = &perf.opts.connections,
	},
	{
		.long_name = "bidirectional",
		.help = "bw of both directions at once, and their sum",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.both,
	},
	{
		.long_name = "sge",
		.value_name = "N",
		.help = "pieces of a message in this end's memory; default 1",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = PERF_SGE_MAX,
		.value = &perf.opts.sge,
	},
	{
		.long_name = "verify",
		.help = "compare all data, which is slow",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.verify,
	},
	{
		.long_name = "outstanding",
		.value_name = "N",
		.help = "of each in flight for bw; default 64",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = PERF_OUTSTANDING_MAX,
		.value = &perf.opts.outstanding,
	},
	{
		.long_name = "batch",
		.value_name = "N",
		.help = "of them posted together; default a quarter",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = PERF_OUTSTANDING_MAX,
		.value = &perf.opts.batch,
	},
	{
		.long_name = "inline",
		.value_name = "BYTES",
		.help = "messages up to this size are sent inline",
		.type = PIER_OPTION_INT,
		.min = 1,
		.max = 65536,
		.value = &perf.opts.inline_size,
	},
	{
		.long_name = "cpu",
		.value_name = "N",
		.help = "run on this processor; default any",
		.type = PIER_OPTION_INT,
		.min = 0,
		.max = 1023,
		.value = &perf.opts.cpu,
	},
	{
		.long_name = "events",
		.help = "sleep until an event instead of polling",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.events,
	},
	{
		.long_name = "passive",
		.help = "the server's program does nothing meanwhile",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.passive,
	},
	{
		.long_name = "loss",
		.value_name = "PERCENT",
		.help = "lose packets that this end is sent, soft only",
		.type = PIER_OPTION_STRING,
		.value = &perf.opts.faults.loss,
	},
	{
		.long_name = "corrupt",
		.value_name = "PERCENT",
		.help = "change a bit in packets that it is sent",
		.type = PIER_OPTION_STRING,
		.value = &perf.opts.faults.corrupt,
	},
	{
		.long_name = "delay",
		.value_name = "MS",
		.help = "delay packets that it is sent, 0 to 1000",
		.type = PIER_OPTION_STRING,
		.value = &perf.opts.faults.late,
	},
	{
		.long_name = "seed",
		.value_name = "NUMBER",
		.help = "choose other packets, 0 to 4294967295",
		.type = PIER_OPTION_NUMBER,
		.max = UINT32_MAX,
		.value = &perf.opts.faults.seed,
	},
	{
		.long_name = "json",
		.help = "print JSON",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.json,
	},
	{
		.long_name = "csv",
		.help = "print comma-separated values",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.csv,
	},
	{
		.long_name = "gbits",
		.help = "print Gbit/s instead of GB/s",
		.type = PIER_OPTION_FLAG,
		.value = &perf.opts.gbits,
	},
	{ 0 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const measures[] = {
	[PERF_LAT] = "lat",
	[PERF_BW] = "bw",
};

static const char *const operations[] = {
	[PERF_SEND] = "send",
	[PERF_SEND_IMM] = "send-imm",
	[PERF_WRITE] = "write",
	[PERF_WRITE_IMM] = "write-imm",
	[PERF_READ] = "read",
	[PERF_FETCH_ADD] = "fetch-add",
	[PERF_COMPARE_SWAP] = "compare-swap",
	[PERF_COPY] = "copy",
	[PERF_CONNECT] = "connect",
	[PERF_COMCH] = "comch",
	[PERF_REQUEST] = "request",
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

bool perf_sent_ok(struct perf *p, const struct pier_task *task)
{
	return perf_task_ok(p, task) && (p->opts.operation != PERF_REQUEST ||
					 !perf_comch_check(p, task));
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
static int index_of(const char *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, names[i]))
			return (int)i;
	return -1;
}

int perf_measure_of(const char *word)
{
	return index_of(word, measures, COUNT(measures));
}

int perf_operation_of(const char *word)
{
	return index_of(word, operations, COUNT(operations));
}

const char *perf_measure_word(unsigned int measure)
{
	return measure < COUNT(measures) ? measures[measure] : NULL;
}

const char *perf_operation_word(unsigned int operation)
{
	return operation < COUNT(operations) ? operations[operation] : NULL;
}

/* A measure and an operation, which a server need not have; then a place. */
static int parse_operands(const char **ret_place)
{
	int count = perf.args.argc, measure = -1, operation = -1;
	char **words = perf.args.argv;	/* they end in a NULL */

	if (perf.opts.listen &&
	    (!count || (count == 1 && perf_measure_of(words[0]) < 0))) {
		perf.stays = true;
		*ret_place = words[0];
		return 0;
	}
	if (count == 2 || count == 3) {
		measure = perf_measure_of(words[0]);
		operation = perf_operation_of(words[1]);
	}
	if (measure < 0 || operation < 0)
		return -PIER_EUSAGE;

	perf.opts.measure = (enum perf_measure)measure;
	perf.opts.operation = (enum perf_operation)operation;
	*ret_place = words[2];
	return 0;
}

/* What connecting and Comm Channels do not have, and why.  2: reported. */
static int check_missing(const struct perf_options *opts)
{
	bool connect = opts->operation == PERF_CONNECT;
	const char *name = connect && opts->connections > 1 ? "-q" :
			   connect && opts->verify ? "--verify" :
			   connect && opts->both ? "--bidirectional" :
			   opts->sge > 1 ? "--sge" : NULL;
	const char *reason = connect ? "it moves no data" :
				       "its messages are copied";

	if (name) {
		tool_message("pier perf: %s does not have %s: %s",
			     perf_operation_name(&perf), name, reason);
		return 2;
	}
	if (!connect && opts->connections > PERF_CONNS_CHANNEL) {
		tool_message("pier perf: %s: -q %d: at most %d",
			     perf_operation_name(&perf), opts->connections,
			     PERF_CONNS_CHANNEL);
		return 2;
	}
	return 0;
}

/* Does the operation have the options?  2: reported. */
static int check_operation(const struct perf_options *opts)
{
	bool connect = opts->operation == PERF_CONNECT;

	if ((connect || perf_is_channel(&perf)) && check_missing(opts))
		return 2;
	if (connect && opts->measure == PERF_BW &&
	    opts->outstanding > PERF_CONNS_OTHERS) {
		tool_message("pier perf: connect: --outstanding %d: at most %d",
			     opts->outstanding, PERF_CONNS_OTHERS);
		return 2;
	}
	if (opts->passive && (connect || perf_receives(&perf) ||
			      perf_is_channel(&perf) || opts->both ||
			      opts->operation == PERF_COPY)) {
		tool_message("pier perf: --passive: of write, read and "
			     "atomics, in one direction");
		return 2;
	}
	return 0;
}

/* One message is in flight.  2: reported. */
static int check_lat(const struct perf_options *opts)
{
	const char *name = opts->outstanding ? "--outstanding" :
			   opts->batch ? "--batch" : NULL;

	if (perf.stays || opts->measure != PERF_LAT || !name)
		return 0;
	tool_message("pier perf: lat does not have %s: it has one message in "
		     "flight", name);
	return 2;
}

/* Options that exclude each other.  2: reported. */
static int check_options(struct perf_options *opts)
{
	if (check_lat(opts))
		return 2;
	if (!opts->outstanding)
		opts->outstanding = OUTSTANDING;
	if (opts->json && opts->csv) {
		tool_message("pier perf: --json and --csv: give one of them");
		return 2;
	}
	if (opts->batch > opts->outstanding) {
		tool_message("pier perf: --batch %d: at most the %d of "
			     "--outstanding", opts->batch, opts->outstanding);
		return 2;
	}
	if (opts->connections * opts->outstanding > PERF_OUTSTANDING_ALL) {
		tool_message("pier perf: -q %d of --outstanding %d: at most %d "
			     "in all", opts->connections, opts->outstanding,
			     PERF_OUTSTANDING_ALL);
		return 2;
	}
	if (opts->iterations && opts->seconds) {
		tool_message("pier perf: -n %d and -t %d: give one of them",
			     opts->iterations, opts->seconds);
		return 2;
	}
	if (opts->both && opts->measure == PERF_LAT) {
		tool_message("pier perf: --bidirectional: of bw only, as lat "
			     "has one message in flight");
		return 2;
	}
	return check_operation(opts) ?: perf_sizes(&perf);
}

/* Options of what has a peer. */
static const char *peer_option(const struct perf_options *opts)
{
	return opts->connections > 1 ? "-q" :
	       opts->both ? "--bidirectional" :
	       opts->passive ? "--passive" :
	       opts->inline_size ? "--inline" : NULL;
}

/* A copy is local, and a server has only what a client can ask for. */
static int check_copy(const char *place)
{
	const struct perf_options *opts = &perf.opts;
	const struct tool_faults *faults = &opts->faults;

	if (opts->operation != PERF_COPY || perf.stays)
		return 0;
	if (faults->loss || faults->corrupt || faults->late) {
		tool_message("pier perf: copy has no network: no --loss, "
			     "--corrupt or --delay");
		return 2;
	}
	if (place || opts->respond || opts->listen || perf.args.use_cm ||
	    perf.args.server_addr) {
		tool_message("pier perf: copy has no peer: give no HOST");
		return 2;
	}
	if (!peer_option(opts))
		return 0;
	tool_message("pier perf: copy does not have %s: it has no peer",
		     peer_option(opts));
	return 2;
}

static int run(struct perf *p)
{
	bool copy = p->opts.operation == PERF_COPY;
	int err = perf_cpu_take(p);

	if (!err)
		err = copy ? perf_setup_copy(p) : perf_setup(p);
	if (!err)
		err = p->opts.respond ? perf_respond(p) : perf_request(p);
	if (err)
		tool_message("pier perf: %s", p->reason);
	return err ? 1 : 0;
}

/* A server that stays begins anew for each client. */
static int run_all(struct perf *p)
{
	static struct perf initial;
	int err;
	bool met;

	initial = *p;
	do {
		err = run(p);
		met = p->met;
		perf_teardown(p);
		*p = initial;
		p->quiet = true;
	} while (p->stays && met);
	return err;
}

int tool_perf(int argc, char *argv[])
{
	const char *place, *operand;
	int err;

	if (argc > 1 && !strcmp(argv[1], "plot")) {
		argv[1] = (char *)"pier perf plot";
		return perf_plot(argc - 1, argv + 1);
	}
	place = tool_listen_word(&argc, argv, &perf.opts.listen);

	perf.args.about = "Measure latency or bandwidth to a host that runs "
			  "pier perf --listen.";
	perf.args.operands = "--listen [[ADDR:]PORT] | "
			     "lat|bw OPERATION HOST[:PORT] | lat|bw copy";
	perf.args.options = options;
	perf.args.groups |= PIER_ARGS_ATTACHED;
	err = pier_args_parse(&perf.args, argc, argv);
	if (err)
		return pier_args_exit(err);
	if (parse_operands(&operand)) {
		tool_message("pier perf: give \"lat\" or \"bw\", then one of "
			     "send, send-imm, write, write-imm, read, "
			     "fetch-add, compare-swap, connect, comch, "
			     "request, copy, then at most one HOST[:PORT]");
		return 2;
	}
	err = tool_one_place(argv[0], place, operand, &place);
	if (!err)
		err = check_copy(place);
	if (!err)
		err = perf_where(&perf, place);
	if (!err)
		err = check_options(&perf.opts);
	if (!err)
		err = tool_faults_set(argv[0], &perf.opts.faults);
	return err ? err : run_all(&perf);
}
