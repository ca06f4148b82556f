/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf.h"
#include "tool.h"

/* Microseconds. */
struct summary {
	double min, median, average, p99, p999, max;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The smallest lap that is not exceeded by @permille of 1000. */
static uint64_t rank(const uint64_t *sorted, uint64_t count, uint64_t permille)
{
	return sorted[(count * permille + 999) / 1000 - 1];
}

/* Sorts the laps. */
static struct summary summarise(const struct perf *perf)
{
	/* An echo has made a round trip. */
	double scale = perf->opts.operation == PERF_SEND ? 2000.0 : 1000.0;
	uint64_t count = (uint64_t)perf->opts.iterations, i;
	uint64_t *laps = perf->laps;
	struct summary sum;
	double total = 0;

	for (i = 0; i < count; i++)
		total += (double)laps[i];
	qsort(laps, count, sizeof(*laps), compare);
	sum.min = (double)laps[0] / scale;
	sum.median = (double)rank(laps, count, 500) / scale;
	sum.average = total / (double)count / scale;
	sum.p99 = (double)rank(laps, count, 990) / scale;
	sum.p999 = (double)rank(laps, count, 999) / scale;
	sum.max = (double)laps[count - 1] / scale;
	return sum;
}

static json_t *describe(const struct perf *perf)
{
	const char *role = perf->opts.respond ? "responder" : "requester";
	const struct pier_devinfo *info = pier_dev_info(perf->dev);
	json_t *root = json_object();

	tool_json_set(root, "measure", json_string(perf_measure_name(perf)));
	tool_json_set(root, "operation",
		      json_string(perf_operation_name(perf)));
	tool_json_set(root, "role", json_string(role));
	tool_json_set(root, "device", tool_json_text(pier_devinfo_name(info)));
	tool_json_set(root, "size", json_integer((json_int_t)perf->opts.size));
	tool_json_set(root, "events", json_boolean(perf->opts.events));
	return root;
}

/* To the third decimal, the resolution of the clock. */
static json_t *us(double value)
{
	return json_real((double)(uint64_t)(value * 1000 + 0.5) / 1000);
}

static void report_lat(const struct perf *perf)
{
	const char *what = perf->opts.operation == PERF_SEND ?
				   "half the round trip" : "to completion";
	struct summary sum = summarise(perf);
	char size[TOOL_SIZE_TEXT];
	json_t *root;

	if (!perf->opts.json) {
		printf("%s latency, %s, %d iterations\n" "us %s\n"
		       "min      %10.3f\n" "median   %10.3f\n"
		       "average  %10.3f\n" "99 %%     %10.3f\n"
		       "99.9 %%   %10.3f\n" "max      %10.3f\n",
		       perf_operation_name(perf),
		       tool_bytes(perf->opts.size, size),
		       perf->opts.iterations, what, sum.min, sum.median,
		       sum.average, sum.p99, sum.p999, sum.max);
		return;
	}
	root = describe(perf);
	tool_json_set(root, "iterations", json_integer(perf->opts.iterations));
	tool_json_set(root, "time", json_string(what));
	tool_json_set(root, "unit", json_string("us"));
	tool_json_set(root, "min", us(sum.min));
	tool_json_set(root, "median", us(sum.median));
	tool_json_set(root, "average", us(sum.average));
	tool_json_set(root, "p99", us(sum.p99));
	tool_json_set(root, "p999", us(sum.p999));
	tool_json_set(root, "max", us(sum.max));
	tool_json_print(root);
}

static void report_bw(const struct perf *perf)
{
	double seconds = (double)perf->elapsed / 1e9;
	double rate = (double)perf->opts.iterations / seconds;
	double mb = rate * (double)perf->opts.size / 1e6;
	char size[TOOL_SIZE_TEXT];
	json_t *root;

	if (!perf->opts.json) {
		printf("%s bandwidth, %s\n%d iterations, %d outstanding\n"
		       "MB/s        %14.1f\n" "messages/s  %14.0f\n",
		       perf_operation_name(perf),
		       tool_bytes(perf->opts.size, size),
		       perf->opts.iterations, perf->opts.outstanding, mb, rate);
		return;
	}
	root = describe(perf);
	tool_json_set(root, "iterations", json_integer(perf->opts.iterations));
	tool_json_set(root, "outstanding",
		      json_integer(perf->opts.outstanding));
	tool_json_set(root, "seconds", json_real(seconds));
	tool_json_set(root, "mb_per_s", json_real(mb));
	tool_json_set(root, "messages_per_s", json_real(rate));
	tool_json_print(root);
}

/* The responder's result: how many messages it received, if it receives any. */
static void report_served(const struct perf *perf)
{
	char size[TOOL_SIZE_TEXT];
	json_t *root;

	if (!perf->opts.json) {
		if (perf->opts.operation == PERF_SEND)
			printf("received %" PRIu64 " messages of %s\n",
			       perf->received,
			       tool_bytes(perf->opts.size, size));
		else
			puts("done: the peer was served");
		return;
	}
	root = describe(perf);
	if (perf->opts.operation == PERF_SEND)
		tool_json_set(root, "received",
			      json_integer((json_int_t)perf->received));
	tool_json_print(root);
}

void perf_report(const struct perf *perf)
{
	if (perf->opts.respond)
		report_served(perf);
	else if (perf->opts.measure == PERF_LAT)
		report_lat(perf);
	else
		report_bw(perf);
}
