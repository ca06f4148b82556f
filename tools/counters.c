/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/args.h>
#include <pier/counters.h>
#include <pier/dev.h>
#include <pier/error.h>
#include <pier/version.h>

#include "tool.h"

static json_t *to_json(const struct pier_counters *counters)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < counters->count; i++)
		tool_json_set(object, counters->counter[i].name,
			      json_integer((json_int_t)
					   counters->counter[i].value));
	return object;
}

/* Address and UDP port, in the usual form. */
static json_t *end_to_json(const uint8_t gid[16], uint16_t port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char ip[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16];

	if (!memcmp(gid, mapped, sizeof(mapped))) {
		inet_ntop(AF_INET, gid + 12, ip, sizeof(ip));
		snprintf(text, sizeof(text), "%s:%u", ip, port);
	} else {
		inet_ntop(AF_INET6, gid, ip, sizeof(ip));
		snprintf(text, sizeof(text), "[%s]:%u", ip, port);
	}
	return tool_json_text(text);
}

static json_t *conn_to_json(const struct pier_counted *what,
			    const struct pier_counters *counters)
{
	json_t *conn = json_object();

	tool_json_set(conn, "qpn", json_integer(what->qpn));
	if (what->peer_qpn) {
		tool_json_set(conn, "peer_qpn", json_integer(what->peer_qpn));
		tool_json_set(conn, "local", end_to_json(what->local_gid,
							 what->local_port));
		tool_json_set(conn, "peer", end_to_json(what->peer_gid,
							what->peer_port));
	}
	tool_json_set(conn, "counters", to_json(counters));
	return conn;
}

static json_t *dev_to_json(const char *name,
			   const struct pier_counters *counters)
{
	json_t *dev = json_object();

	tool_json_set(dev, "name", tool_json_text(name));
	tool_json_set(dev, "counters", to_json(counters));
	return dev;
}

static json_t *process_to_json(const struct pier_counted *what)
{
	json_t *process = json_object();

	tool_json_set(process, "pid", json_integer(what->pid));
	tool_json_set(process, "pid_namespace",
		      json_integer((json_int_t)what->pid_namespace));
	tool_json_set(process, "start", json_integer((json_int_t)what->start));
	tool_json_set(process, "program", tool_json_text(what->program));
	tool_json_set(process, "devices", json_array());
	return process;
}

/* Containers have namespaces of pids; a pid is used again when it has ended. */
static bool is_same_process(const struct pier_counted *a,
			    const struct pier_counted *b)
{
	return a->pid == b->pid && a->pid_namespace == b->pid_namespace &&
	       a->start == b->start;
}

/* The rows are in this order: process, its device, the device's connections. */
static json_t *list_to_json(const struct pier_counterlist *list,
			    const char *device, bool events)
{
	json_t *all = json_array(), *process = NULL, *conns = NULL, *dev;
	struct pier_counters counters = { .size = sizeof(counters) };
	const struct pier_counted *what, *last = NULL;
	size_t i;

	for (i = 0; (what = pier_counterlist_get(list, i)); i++) {
		if (device && strcmp(device, what->device))
			continue;
		if (pier_counterlist_counters(list, i, &counters))
			continue;
		if (!last || !is_same_process(what, last)) {
			process = process_to_json(what);
			tool_json_append(all, process);
		}
		last = what;
		if (!what->qpn) {
			dev = dev_to_json(what->device, &counters);
			conns = json_array();
			tool_json_set(dev, "connections", conns);
			if (events)
				tool_json_set(dev, "events",
					      tool_events(list, i));
			tool_json_append(json_object_get(process, "devices"),
					 dev);
		} else if (conns) {
			tool_json_append(conns, conn_to_json(what, &counters));
		}
	}
	return all;
}

/* Adapters count for the whole host, not by process. */
static json_t *adapters_to_json(const struct pier_devlist *devs,
				const char *device)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	json_t *all = json_array();
	struct pier_dev *dev;
	const char *name;
	size_t i;

	for (i = 0; i < pier_devlist_count(devs); i++) {
		const struct pier_devinfo *info = pier_devlist_get(devs, i);

		name = pier_devinfo_name(info);
		if (!strcmp(pier_devinfo_kind(info), "soft") ||
		    (device && strcmp(device, name)))
			continue;
		if (pier_dev_open(name, &dev))
			continue;	/* its port is down */
		if (!pier_dev_counters(dev, &counters))
			tool_json_append(all, dev_to_json(name, &counters));
		pier_dev_close(dev);
	}
	return all;
}

static void print_counter(int indent, const char *key, json_int_t value)
{
	char words[TOOL_SIZE_TEXT];
	bool size = strstr(key, "bytes") && value >= 1024;

	printf("%*s%-28s%" JSON_INTEGER_FORMAT "%s%s%s\n", indent, "", key,
	       value, size ? " (" : "",
	       size ? tool_size((uint64_t)value, words) : "", size ? ")" : "");
}

/* Omit what is zero. */
static void print_counters(int indent, json_t *counters)
{
	const char *key;
	json_t *value;

	json_object_foreach(counters, key, value)
		if (json_integer_value(value))
			print_counter(indent, key, json_integer_value(value));
}

static uint64_t number_of(json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void print_conn(json_t *conn)
{
	json_t *peer = json_object_get(conn, "peer");
	char text[INET6_ADDRSTRLEN + 48];
	int column;

	column = printf("  connection 0x%" PRIx64,
			number_of(conn, "qpn"));
	if (peer) {
		column += printf(" %s", json_string_value(
					 json_object_get(conn, "local")));
		snprintf(text, sizeof(text), "to 0x%" PRIx64 " %s",
			 number_of(conn, "peer_qpn"), json_string_value(peer));
		tool_word(stdout, text, " ", column, 13);
	}
	putchar('\n');
	print_counters(4, json_object_get(conn, "counters"));
}

static void print_devs(const char *who, json_t *devs)
{
	json_t *dev, *conn;
	size_t i, j;

	json_array_foreach(devs, i, dev) {
		printf("%s%s%s%s\n", tool_style(TOOL_TITLE), who,
		       json_string_value(json_object_get(dev, "name")),
		       tool_style(TOOL_PLAIN));
		if (json_object_get(dev, "events")) {
			tool_events_print(json_object_get(dev, "events"));
			continue;
		}
		print_counters(2, json_object_get(dev, "counters"));
		json_array_foreach(json_object_get(dev, "connections"), j,
				   conn)
			print_conn(conn);
	}
}

static void print_text(json_t *root)
{
	json_t *processes = json_object_get(root, "processes"), *one;
	json_t *adapters = json_object_get(root, "adapters");
	char who[64];
	size_t i;

	print_devs("", adapters);
	json_array_foreach(processes, i, one) {
		snprintf(who, sizeof(who), "%" JSON_INTEGER_FORMAT " %s ",
			 json_integer_value(json_object_get(one, "pid")),
			 json_string_value(json_object_get(one, "program")));
		print_devs(who, json_object_get(one, "devices"));
	}
	if (!json_array_size(processes) && !json_array_size(adapters))
		puts("no process has a soft device in use");
}

int tool_counters_print(int pid, const struct pier_devlist *devs,
			const struct pier_devinfo *only, enum tool_form form)
{
	const char *device = only ? pier_devinfo_name(only) : NULL;
	bool events = form == TOOL_EVENTS || form == TOOL_EVENTS_JSON;
	struct pier_counterlist *list;
	json_t *root;
	int err;

	err = pier_counterlist_create(pid, &list);
	if (err)
		return err;
	root = json_object();
	tool_json_set(root, "version", json_string(pier_version()));
	if (!pid && form != TOOL_EVENTS)
		tool_json_set(root, "adapters",
			      adapters_to_json(devs, device));
	tool_json_set(root, "processes", list_to_json(list, device, events));
	pier_counterlist_destroy(list);
	if (form == TOOL_JSON || form == TOOL_EVENTS_JSON) {
		tool_json_print(root);
	} else if (form == TOOL_PROMETHEUS) {
		tool_counters_prometheus(root);
	} else {
		print_text(root);
		json_decref(root);
	}
	return 0;
}

int tool_counters_pid(const struct pier_args *args)
{
	unsigned long pid;
	char *end;

	if (!args->argc || (args->argc == 1 && !strcmp(args->argv[0], "all")))
		return 0;
	pid = strtoul(args->argv[0], &end, 10);
	return args->argc == 1 && !*end && pid && pid <= INT_MAX ? (int)pid :
								   -1;
}

static int print(const char *device, int pid, enum tool_form form)
{
	const struct pier_devinfo *only = NULL;
	struct pier_devlist *list = NULL;
	int err = pier_devlist_create(&list);

	if (!err && device)
		err = pier_devlist_find(list, device, &only);
	if (!err)
		err = tool_counters_print(pid, list, only, form);
	if (err)
		tool_message("pier counters: %s", pier_last_error());
	pier_devlist_destroy(list);
	return err ? 1 : 0;
}

/* The form that the options request; below 0: none. */
static int form_of(int as_json, int prometheus, int events)
{
	if (prometheus && (as_json || events)) {
		tool_message("pier counters: --prometheus and --%s: use one "
			     "of them", as_json ? "json" : "events");
		return -1;
	}
	if (prometheus)
		return TOOL_PROMETHEUS;
	if (events)
		return as_json ? TOOL_EVENTS_JSON : TOOL_EVENTS;
	return as_json ? TOOL_JSON : TOOL_TEXT;
}

int tool_counters(int argc, char *argv[])
{
	const char *device = NULL;
	int as_json = 0, prometheus = 0, events = 0, err, pid, form;
	const struct pier_option options[] = {
		{ .short_name = "d", .long_name = "device",
		  .value_name = "DEVICE",
		  .help = "of this device only: name, netdev or PCI address",
		  .type = PIER_OPTION_STRING, .value = &device },
		{ .long_name = "events",
		  .help = "the last rare events of connections instead",
		  .type = PIER_OPTION_FLAG, .value = &events },
		{ .long_name = "json", .help = "print JSON",
		  .type = PIER_OPTION_FLAG, .value = &as_json },
		{ .long_name = "prometheus",
		  .help = "print the text format of Prometheus",
		  .type = PIER_OPTION_FLAG, .value = &prometheus },
		{ 0 },
	};
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_ATTACHED,
		.about = "Print what devices have counted, of PID or of all "
			 "your processes.",
		.operands = "[PID | all]",
		.options = options,
	};

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	form = form_of(as_json, prometheus, events);
	if (form < 0)
		return 2;
	pid = tool_counters_pid(&args);
	if (pid >= 0)
		return print(device, pid, (enum tool_form)form);
	tool_message("pier counters: \"%s\": %s", args.argv[args.argc > 1],
		     args.argc > 1 ? "at most one process id, or all" :
		     "a process id is 1 to 2147483647, or all");
	return 2;
}
