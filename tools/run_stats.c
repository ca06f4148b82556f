/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/counters.h>
#include <pier/error.h>

#include "run_stats.h"
#include "tool.h"

/*
 * The summary of pier run.  PIER_COUNTERS_DIR keeps the counters of processes
 * that have ended, also of those that were killed.
 */
static char dir[] = "/dev/shm/pier-run.XXXXXX";

/*
 * Where they are to remain when this ends: of another pier run that this one is
 * the program of, or of the user.  Owned, or NULL.
 */
static char *outer;

/* A line of the text; the sum of the counters that begin with @counter. */
#define PARTS 4

static const struct row {
	const char *title;
	struct {
		const char *counter, *text;
	} part[PARTS];
} rows[] = {
	{ "packets", { { "tx_packets", "sent" },
		       { "rx_packets", "received" } } },
	{ "bytes", { { "tx_bytes", "sent" }, { "rx_bytes", "received" } } },
	{ "retransmissions", { { "resent", "requests" },
			       { "timeouts", "timeouts" } } },
	{ "NAKs", { { "naks_sent_", "sent" },
		    { "naks_received_", "received" } } },
	{ "RNR NAKs", { { "rnr_sent", "sent" },
			{ "rnr_received", "received" } } },
	{ "completions", { { "completions", "polled" },
			   { "completions_failed", "with an error" } } },
	{ "dropped", { { "bad_icrc", "wrong ICRC" }, { "dropped", "invalid" },
		       { "rx_overflows", "socket full" },
		       { "tx_refused", "not sent" } } },
	{ "faults", { { "faults_lost", "lost" },
		      { "faults_corrupted", "corrupted" } } },
};

int tool_run_stats_begin(void)
{
	const char *given = getenv("PIER_COUNTERS_DIR");

	outer = given && *given ? strdup(given) : NULL;
	if (mkdtemp(dir) && !setenv("PIER_COUNTERS_DIR", dir, 1))
		return 0;
	tool_message("pier run: no folder for counters: %s: %s", dir,
		     pier_strerror(errno));
	return 1;
}

/* Returns whether it is there now. */
static int pass_on(int from, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", outer, name);
	if (!renameat(from, name, AT_FDCWD, path))
		return 1;
	tool_message("pier run: counters do not remain: %s: %s", path,
		     pier_strerror(errno));
	return 0;
}

static void remove_all(void)
{
	struct dirent *entry;
	DIR *all = opendir(dir);

	while (all && (entry = readdir(all))) {
		if (*entry->d_name == '.')
			continue;
		if (!outer || !pass_on(dirfd(all), entry->d_name))
			unlinkat(dirfd(all), entry->d_name, 0);
	}
	if (all)
		closedir(all);
	rmdir(dir);
	free(outer);
}

static void add(json_t *sums, const struct pier_counters *counters)
{
	json_int_t value;
	uint32_t i;

	for (i = 0; i < counters->count; i++) {
		const char *name = counters->counter[i].name;

		value = json_integer_value(json_object_get(sums, name));
		value += (json_int_t)counters->counter[i].value;
		tool_json_set(sums, name, json_integer(value));
	}
}

/* Of the devices: what connections count is within that. */
static json_t *sum(const struct pier_counterlist *list)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	json_t *stats = json_object(), *sums = json_object();
	const struct pier_counted *what;
	int processes = 0, pid = 0;
	size_t i;

	for (i = 0; (what = pier_counterlist_get(list, i)); i++) {
		processes += what->pid != pid;
		pid = what->pid;
		if (!what->qpn && !pier_counterlist_counters(list, i,
							     &counters))
			add(sums, &counters);
	}
	tool_json_set(stats, "processes", json_integer(processes));
	tool_json_set(stats, "counters", sums);
	return stats;
}

json_t *tool_run_stats_end(void)
{
	struct pier_counterlist *list;
	json_t *stats = NULL;
	int err = pier_counterlist_create(0, &list);

	if (err) {
		tool_message("pier run: counters: %s", pier_last_error());
	} else {
		stats = sum(list);
		pier_counterlist_destroy(list);
	}
	remove_all();
	return stats;
}

/* Of the counter @name, or of those that begin with it if it ends in "_". */
static json_int_t value_of(json_t *sums, const char *name)
{
	size_t len = strlen(name);
	json_int_t total = 0;
	const char *key;
	json_t *value;

	if (name[len - 1] != '_')
		return json_integer_value(json_object_get(sums, name));
	json_object_foreach(sums, key, value)
		if (!strncmp(key, name, len))
			total += json_integer_value(value);
	return total;
}

static void print_row(json_t *sums, const struct row *row)
{
	int i;

	fprintf(stderr, "  %-16s", row->title);
	for (i = 0; i < PARTS && row->part[i].counter; i++)
		fprintf(stderr, "%s%" JSON_INTEGER_FORMAT " %s", i ? ", " : "",
			value_of(sums, row->part[i].counter),
			row->part[i].text);
	fputc('\n', stderr);
}

void tool_run_stats_print(json_t *stats)
{
	json_t *sums = json_object_get(stats, "counters");
	json_int_t processes = json_integer_value(
		json_object_get(stats, "processes"));
	size_t i;

	if (!processes) {
		tool_message("pier run: no process has opened a soft device");
		return;
	}
	tool_message("pier run: soft devices of %" JSON_INTEGER_FORMAT
		     " process%s", processes, processes > 1 ? "es" : "");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		print_row(sums, &rows[i]);
}
