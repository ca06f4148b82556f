/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"
#include "tool.h"

/* Of one size: times in microseconds, rates a second. */
struct row {
	double seconds, min, median, mean, p99, p999, max;
	double gb, gbits, messages;
	double peer_messages;	/* of the server in both directions */
};

static const char *time_meaning(const struct perf *perf)
{
	if (perf->opts.operation == PERF_CONNECT)
		return "to the established connection";
	if (perf->opts.operation == PERF_REQUEST)
		return "to the reply";
	return perf_is_round(perf) ? "half the round trip" : "to completion";
}

static struct row row_of(const struct perf *perf)
{
	double scale = perf_is_round(perf) ? 2000.0 : 1000.0;
	const struct perf_hist *hist = &perf->hist;
	struct row row = { .seconds = (double)perf->elapsed / 1e9 };

	if (perf->elapsed)
		row.messages = (double)perf->done / row.seconds;
	if (perf->has_result && perf->peer_elapsed)
		row.peer_messages = (double)perf->peer_messages /
				    (double)perf->peer_elapsed * 1e9;
	row.messages += row.peer_messages;
	row.gb = row.messages * (double)perf->size / 1e9;
	row.gbits = row.gb * 8;
	if (perf->opts.measure != PERF_LAT)
		return row;
	row.min = (double)hist->min / scale;
	row.median = (double)perf_hist_rank(hist, 500) / scale;
	row.mean = (double)hist->sum / (double)hist->count / scale;
	row.p99 = (double)perf_hist_rank(hist, 990) / scale;
	row.p999 = (double)perf_hist_rank(hist, 999) / scale;
	row.max = (double)hist->max / scale;
	return row;
}

/* The server's part. */
static double peer_gb(const struct perf *perf, const struct row *row)
{
	return row->peer_messages * (double)perf->size / 1e9;
}

static bool has_faults(const struct perf *perf)
{
	const struct tool_faults *faults = &perf->opts.faults;

	return faults->loss || faults->corrupt || faults->late;
}

/* The shares and the time that were given, as text. */
static void set_faults(json_t *root, const struct perf *perf)
{
	const struct tool_faults *faults = &perf->opts.faults;

	if (faults->loss)
		tool_json_set(root, "loss", tool_json_text(faults->loss));
	if (faults->corrupt)
		tool_json_set(root, "corrupt", tool_json_text(faults->corrupt));
	if (faults->late)
		tool_json_set(root, "delay_ms", tool_json_text(faults->late));
	if (has_faults(perf))
		tool_json_set(root, "seed",
			      json_integer((json_int_t)faults->seed));
}

/* A connection is not posted. */
static bool has_batch(const struct perf *perf)
{
	return perf->opts.measure == PERF_BW &&
	       perf->opts.operation != PERF_CONNECT;
}

/* Of either end; warm-up and batches are the requester's. */
static void set_others(json_t *root, const struct perf *perf)
{
	const struct perf_options *opts = &perf->opts;

	if (opts->inline_size)
		tool_json_set(root, "inline", json_integer(opts->inline_size));
	if (opts->cpu >= 0)
		tool_json_set(root, "cpu", json_integer(opts->cpu));
	if (opts->respond)
		return;
	tool_json_set(root, "warmup", json_integer(opts->warmup));
	if (has_batch(perf))
		tool_json_set(root, "batch",
			      json_integer((json_int_t)perf_batch(perf)));
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
	tool_json_set(root, "events", json_boolean(perf->opts.events));
	tool_json_set(root, "connections", json_integer(perf->conn_count));
	set_faults(root, perf);
	set_others(root, perf);
	tool_json_set(root, "sge", json_integer(perf->opts.sge));
	tool_json_set(root, "passive", json_boolean(perf->opts.passive));
	tool_json_set(root, "verified", json_boolean(perf->opts.verify));
	tool_json_set(root, "bidirectional", json_boolean(perf->opts.both));
	return root;
}

static void begin_csv(void)
{
	puts("measure,operation,device,bytes,messages,seconds,"
	     "min_us,median_us,mean_us,p99_us,p999_us,max_us,"
	     "gb_per_s,gbit_per_s,messages_per_s,connections,"
	     "client_gb_per_s,server_gb_per_s,sge,verified,outstanding,batch,"
	     "passive,events,loss,corrupt,delay_ms,seed,inline,cpu,warmup");
}

/* What is measured; then the names of the columns. */
static void begin_text(const struct perf *perf)
{
	const char *rate = perf->opts.gbits ? "Gbit/s" : "GB/s";
	bool lat = perf->opts.measure == PERF_LAT;
	bool connect = perf->opts.operation == PERF_CONNECT;
	const char *what = connect ? "connections" : "messages";

	printf("%s %s, ", perf_operation_name(perf),
	       lat ? "latency" : "bandwidth");
	if (lat)
		printf("us %s", time_meaning(perf));
	else
		printf("%d outstanding", perf->opts.outstanding);
	if (perf->opts.both)
		printf(", sum of both directions");
	if (perf->opts.passive)
		printf(", passive server");
	if (perf->opts.verify)
		printf(", verified");
	if (perf->conn_count > 1)
		printf(", %d connections", perf->conn_count);
	putchar('\n');
	if (lat)
		printf("%10s %9s %8s %8s %8s %8s %8s %8s\n", "bytes",
		       "messages", "min", "median", "mean", "99 %", "99.9 %",
		       "max");
	else
		printf("%10s %11s %10s %14s %14s%s\n", "bytes", what, "seconds",
		       rate, connect ? "connections/s" : "messages/s",
		       perf->opts.both ? "  client  server" : "");
}

void perf_report_begin(struct perf *perf)
{
	if (perf->opts.json)
		perf->results = json_array();
	else if (perf->opts.csv)
		begin_csv();
	else
		begin_text(perf);
	fflush(stdout);
}

/* To the third decimal, the resolution of the clock. */
static json_t *us(double value)
{
	return json_real((double)(uint64_t)(value * 1000 + 0.5) / 1000);
}

static void row_json(struct perf *perf, const struct row *row)
{
	json_t *result = json_object();

	tool_json_set(result, "size", json_integer((json_int_t)perf->size));
	tool_json_set(result, "iterations",
		      json_integer((json_int_t)perf->done));
	tool_json_set(result, "seconds", json_real(row->seconds));
	if (perf->opts.measure == PERF_LAT) {
		tool_json_set(result, "min", us(row->min));
		tool_json_set(result, "median", us(row->median));
		tool_json_set(result, "mean", us(row->mean));
		tool_json_set(result, "p99", us(row->p99));
		tool_json_set(result, "p999", us(row->p999));
		tool_json_set(result, "max", us(row->max));
	} else {
		tool_json_set(result, "gb_per_s", json_real(row->gb));
		tool_json_set(result, "gbit_per_s", json_real(row->gbits));
	}
	if (perf->opts.both)
		tool_json_set(result, "client_gb_per_s",
			      json_real(row->gb - peer_gb(perf, row)));
	if (perf->has_result) {
		tool_json_set(result, "server_gb_per_s",
			      json_real(peer_gb(perf, row)));
		tool_json_set(result, "server_iterations",
			      json_integer((json_int_t)perf->peer_messages));
	}
	tool_json_set(result, "messages_per_s", json_real(row->messages));
	tool_json_append(perf->results, result);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The fields behind the figures: what was chosen. */
static void row_choices(const struct perf *perf)
{
	const struct perf_options *opts = &perf->opts;
	const struct tool_faults *faults = &opts->faults;

	printf(",%d,%d,", opts->sge, opts->verify);
	if (opts->measure == PERF_BW)
		printf("%d", opts->outstanding);
	putchar(',');
	if (has_batch(perf))
		printf("%" PRIu64, perf_batch(perf));
	printf(",%d,%d,%s,%s,%s,", opts->passive, opts->events,
	       or_empty(faults->loss), or_empty(faults->corrupt),
	       or_empty(faults->late));
	if (has_faults(perf))
		printf("%" PRIu64, faults->seed);
	putchar(',');
	if (opts->inline_size)
		printf("%d", opts->inline_size);
	putchar(',');
	if (opts->cpu >= 0)
		printf("%d", opts->cpu);
	printf(",%d\n", opts->warmup);
}

/* What is not measured has an empty field. */
static void row_csv(const struct perf *perf, const struct row *row)
{
	printf("%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%.6f,",
	       perf_measure_name(perf), perf_operation_name(perf),
	       pier_devinfo_name(pier_dev_info(perf->dev)), perf->size,
	       perf->done, row->seconds);
	if (perf->opts.measure == PERF_LAT)
		printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,,,", row->min,
		       row->median, row->mean, row->p99, row->p999, row->max);
	else
		printf(",,,,,,%.6f,%.6f,", row->gb, row->gbits);
	printf("%.1f,%d,", row->messages, perf->conn_count);
	if (perf->opts.both)
		printf("%.6f", row->gb - peer_gb(perf, row));
	putchar(',');
	if (perf->has_result)
		printf("%.6f", peer_gb(perf, row));
	row_choices(perf);
}

static void row_text(const struct perf *perf, const struct row *row)
{
	const double us[] = { row->min, row->median, row->mean, row->p99,
			      row->p999, row->max };
	int unit = perf->opts.gbits ? 8 : 1;

	printf("%10" PRIu64 " ", perf->size);
	if (perf->opts.measure == PERF_LAT) {
		printf("%9" PRIu64, perf->done);
		for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
			printf(" %8.*f", us[i] < 99999 ? 2 : 0, us[i]);
		putchar('\n');
	} else {
		printf("%11" PRIu64 " %10.3f %14.3f %14.0f", perf->done,
		       row->seconds, row->gb * unit, row->messages);
		if (perf->opts.both)
			printf(" %7.3f",
			       (row->gb - peer_gb(perf, row)) * unit);
		if (perf->has_result)
			printf(" %7.3f", peer_gb(perf, row) * unit);
		putchar('\n');
	}
}

void perf_report_row(struct perf *perf)
{
	struct row row = row_of(perf);

	if (perf->opts.json)
		row_json(perf, &row);
	else if (perf->opts.csv)
		row_csv(perf, &row);
	else
		row_text(perf, &row);
	fflush(stdout);
}

void perf_report_end(struct perf *perf)
{
	json_t *root;

	if (!perf->opts.json)
		return;
	root = describe(perf);
	if (perf->opts.measure == PERF_LAT) {
		tool_json_set(root, "time", json_string(time_meaning(perf)));
		tool_json_set(root, "unit", json_string("us"));
	} else {
		tool_json_set(root, "outstanding",
			      json_integer(perf->opts.outstanding));
	}
	tool_json_set(root, "interrupted", json_boolean(perf_interrupted));
	if (perf->err)
		tool_json_set(root, "error", tool_json_text(perf->reason));
	tool_json_set(root, "results", perf->results);
	perf->results = NULL;
	tool_json_print(root);
}

static bool counts(const struct perf *perf)
{
	return perf_receives(perf) || perf_is_channel(perf);
}

/* The responder's result: how many messages it received, if it receives any. */
void perf_report_served(const struct perf *perf)
{
	const char *peer = pier_conn_peer_address(perf->conns[0].conn);
	char size[TOOL_SIZE_TEXT];
	json_t *root;

	if (!perf->opts.json) {
		if (perf->stays)
			printf("%s: %s %s: ", peer, perf_measure_name(perf),
			       perf_operation_name(perf));
		if (counts(perf))
			printf("received %" PRIu64 " messages of up to %s\n",
			       perf->received,
			       tool_bytes(perf->longest, size));
		else
			puts("done: the peer was served");
		fflush(stdout);
		return;
	}
	root = describe(perf);
	tool_json_set(root, "peer", tool_json_text(peer));
	if (counts(perf))
		tool_json_set(root, "received",
			      json_integer((json_int_t)perf->received));
	if (perf->stays)
		tool_json_print_line(root);
	else
		tool_json_print(root);
}
