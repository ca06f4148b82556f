/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

/*
 * Counters in the text format of Prometheus, version 0.0.4: the samples of a
 * metric together, below its HELP and TYPE.  Devices, their connections and
 * adapters have metrics of their own, so that a sum counts nothing twice.
 */

enum unit {
	COUNT,		/* only grows */
	BYTES,		/* a gauge */
	NANOSECONDS,	/* a gauge in seconds; 0: not measured */
	WORDS,		/* of four bytes, only grows */
	UNKNOWN,	/* a driver's own */
};

static const struct metric {
	const char *name, *as;	/* NULL: the same */
	enum unit unit;
	const char *help;
} metrics[] = {
	{ "tx_packets", NULL, COUNT, "Packets sent, resends included." },
	{ "tx_bytes", NULL, COUNT,
	  "Bytes sent, from the BTH to the ICRC, resends included." },
	{ "rx_packets", NULL, COUNT, "Packets received, dropped included." },
	{ "rx_bytes", NULL, COUNT,
	  "Bytes received, from the BTH to the ICRC, dropped included." },
	{ "resent", NULL, COUNT, "Requests sent again." },
	{ "timeouts", NULL, COUNT, "Expiries of the retransmission timer." },
	{ "naks_sent_sequence", NULL, COUNT,
	  "NAKs sent because a packet was missing." },
	{ "naks_sent_invalid", NULL, COUNT,
	  "NAKs sent for invalid requests." },
	{ "naks_sent_access", NULL, COUNT,
	  "NAKs sent for requests without access to memory." },
	{ "naks_sent_operational", NULL, COUNT,
	  "NAKs sent because this end failed." },
	{ "naks_received_sequence", NULL, COUNT,
	  "NAKs received because a packet was missing." },
	{ "naks_received_invalid", NULL, COUNT,
	  "NAKs received for invalid requests." },
	{ "naks_received_access", NULL, COUNT,
	  "NAKs received for requests without access to memory." },
	{ "naks_received_operational", NULL, COUNT,
	  "NAKs received because the peer failed." },
	{ "rnr_sent", NULL, COUNT, "RNR NAKs sent: no receive was posted." },
	{ "rnr_received", NULL, COUNT,
	  "RNR NAKs received: the peer had no receive posted." },
	{ "duplicates", NULL, COUNT, "Requests received again." },
	{ "out_of_order", NULL, COUNT,
	  "Requests dropped because an earlier one was missing." },
	{ "stale", NULL, COUNT, "Responses that were no longer expected." },
	{ "bad_icrc", NULL, COUNT, "Packets dropped for a wrong ICRC." },
	{ "dropped", NULL, COUNT,
	  "Packets dropped: malformed, unknown QPN, not from the peer." },
	{ "cm_refused", NULL, COUNT,
	  "Connection requests that the device has refused." },
	{ "cm_overflows", NULL, COUNT,
	  "Connection requests dropped because a backlog was full." },
	{ "cq_overflows", NULL, COUNT, "Completions lost, a fatal error." },
	{ "rx_overflows", NULL, COUNT,
	  "Datagrams dropped because the socket was full." },
	{ "tx_refused", NULL, COUNT, "Packets that the kernel refused." },
	{ "early", NULL, COUNT,
	  "Requests and responses held until a missing one arrived." },
	{ "selective_sent", NULL, COUNT, "Selective acknowledgements sent." },
	{ "selective_received", NULL, COUNT,
	  "Selective acknowledgements received." },
	{ "selective_resent", NULL, COUNT, "Requests sent again alone." },
	{ "tail_probes", NULL, COUNT, "Tail probes sent." },
	{ "marked", NULL, COUNT,
	  "Packets received with a mark of congestion." },
	{ "cnps_sent", NULL, COUNT, "Congestion notification packets sent." },
	{ "cnps_received", NULL, COUNT,
	  "Congestion notification packets received." },
	{ "completions", NULL, COUNT, "Completions polled." },
	{ "completions_failed", NULL, COUNT,
	  "Completions polled with an error." },
	{ "faults_lost", NULL, COUNT, "Packets dropped by PIER_FAULTS." },
	{ "faults_corrupted", NULL, COUNT, "Packets changed by PIER_FAULTS." },
	{ "shm_sent", NULL, COUNT, "Packets sent by shared memory." },
	{ "shm_connected", NULL, COUNT,
	  "Queue pairs that have begun to send by shared memory." },
	{ "shm_wakes", NULL, COUNT,
	  "Sleeping peers woken by shared memory." },
	{ "shm_ended", NULL, COUNT, "Links of shared memory closed." },
	{ "shm_absent", NULL, COUNT,
	  "Links not made: the peer does not offer shared memory." },
	{ "shm_foreign", NULL, COUNT,
	  "Links not made: the peer is another user's." },
	{ "shm_versions", NULL, COUNT,
	  "Links not made: the peer has another version." },
	{ "shm_nonsense", NULL, COUNT,
	  "Links not made or closed: the peer breaks the rules." },
	{ "shm_limits", NULL, COUNT,
	  "Links not made: no memory, descriptors or places." },
	{ "shm_direct", NULL, COUNT,
	  "Requests executed by direct access to the peer's memory." },
	{ "shm_mapped", NULL, COUNT, "Memory of peers mapped." },
	{ "shm_unmapped", NULL, COUNT,
	  "Memory of peers not mapped: it is accessed by packets." },
	{ "shm_pulled", NULL, COUNT,
	  "Packets whose data were read from the peer's memory." },
	{ "shm_pull_refused", NULL, COUNT,
	  "Peers whose memory the kernel does not let be read." },
	{ "shm_pull_faults", NULL, COUNT,
	  "Data of the peer that were not mapped when they were read." },
	{ "window", "window_bytes", BYTES,
	  "Bytes that can be in flight to the peer's endpoint." },
	{ "rtt_ns", "rtt_seconds", NANOSECONDS,
	  "Round trip time to the peer's endpoint." },
	{ "port_rcv_data", "port_rcv_bytes", WORDS, "Bytes received." },
	{ "port_xmit_data", "port_xmit_bytes", WORDS, "Bytes sent." },
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static const struct metric *find(const char *name)
{
	static const struct metric other = {
		.unit = UNKNOWN,
		.help = "A value of the kernel or of the adapter's driver.",
	};
	size_t i;

	for (i = 0; i < METRICS; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	return &other;
}

static bool only_grows(const struct metric *metric)
{
	return metric->unit == COUNT || metric->unit == WORDS;
}

/* A metric's name has letters, digits and underscores. */
static void print_name(const char *group, const char *key,
		       const struct metric *metric)
{
	printf("pier_%s_", group);
	for (const char *p = metric->as ? metric->as : key; *p; p++)
		putchar(isascii(*p) && isalnum(*p) ? *p : '_');
	if (only_grows(metric))
		fputs("_total", stdout);
}

static void print_head(const char *group, const char *key,
		       const struct metric *metric)
{
	fputs("# HELP ", stdout);
	print_name(group, key, metric);
	printf(" %s\n# TYPE ", metric->help);
	print_name(group, key, metric);
	puts(metric->unit == UNKNOWN ? " untyped" :
	     only_grows(metric) ? " counter" : " gauge");
}

static void print_escaped(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putchar('\\');
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(*text);
	}
}

static void print_labels(json_t *labels)
{
	const char *key, *separator = "{";
	json_t *value;

	json_object_foreach(labels, key, value) {
		printf("%s%s=\"", separator, key);
		print_escaped(json_string_value(value));
		putchar('"');
		separator = ",";
	}
	fputs("} ", stdout);
}

static void print_value(const struct metric *metric, uint64_t value)
{
	switch (metric->unit) {
	case NANOSECONDS:
		printf("%" PRIu64 ".%09" PRIu64 "\n", value / 1000000000,
		       value % 1000000000);
		break;
	case WORDS:
		printf("%" PRIu64 "\n", 4 * value);
		break;
	default:
		printf("%" PRIu64 "\n", value);
	}
}

/* Of each of @objects that has it: the samples of @key. */
static void print_metric(const char *group, json_t *objects, const char *key)
{
	const struct metric *metric = find(key);
	json_t *object, *value;
	size_t i;

	print_head(group, key, metric);
	json_array_foreach(objects, i, object) {
		value = json_object_get(json_object_get(object, "counters"),
					key);
		if (!value || (metric->unit == NANOSECONDS &&
			       !json_integer_value(value)))
			continue;
		print_name(group, key, metric);
		print_labels(json_object_get(object, "labels"));
		print_value(metric, (uint64_t)json_integer_value(value));
	}
}

static void print_group(const char *group, json_t *objects)
{
	json_t *seen = json_object(), *object, *value;
	const char *key;
	size_t i;

	json_array_foreach(objects, i, object)
		json_object_foreach(json_object_get(object, "counters"), key,
				    value)
			tool_json_set(seen, key, json_true());
	json_object_foreach(seen, key, value)
		print_metric(group, objects, key);
	json_decref(seen);
	json_decref(objects);
}

/* Append the counters of @from to @objects; @labels is given up. */
static void add(json_t *objects, json_t *labels, json_t *from)
{
	json_t *object = json_object();

	tool_json_set(object, "labels", labels);
	tool_json_set(object, "counters",
		      json_incref(json_object_get(from, "counters")));
	tool_json_append(objects, object);
}

/* The label @name: the text or number of @from under @key, if there is one. */
static void label(json_t *labels, const char *name, json_t *from,
		  const char *key)
{
	json_t *value = json_object_get(from, key);
	const char *form = strstr(name, "qpn") ? "0x%" PRIx64 : "%" PRIu64;
	char text[32];

	if (json_is_integer(value)) {
		snprintf(text, sizeof(text), form,
			 (uint64_t)json_integer_value(value));
		tool_json_set(labels, name, json_string(text));
	} else if (value) {
		tool_json_set(labels, name, json_incref(value));
	}
}

static json_t *labels_of(json_t *process, json_t *dev)
{
	json_t *labels = json_object();

	label(labels, "pid", process, "pid");
	label(labels, "pid_namespace", process, "pid_namespace");
	label(labels, "start", process, "start");
	label(labels, "program", process, "program");
	label(labels, "device", dev, "name");
	return labels;
}

static json_t *conn_labels(json_t *process, json_t *dev, json_t *conn)
{
	json_t *labels = labels_of(process, dev);

	label(labels, "qpn", conn, "qpn");
	label(labels, "peer_qpn", conn, "peer_qpn");
	label(labels, "local", conn, "local");
	label(labels, "peer", conn, "peer");
	return labels;
}

/* All devices of @root, or with @conns their connections. */
static json_t *objects_of(json_t *root, bool conns)
{
	json_t *objects = json_array(), *process, *dev, *conn;
	size_t i, j, k;

	json_array_foreach(json_object_get(root, "processes"), i, process)
		json_array_foreach(json_object_get(process, "devices"), j, dev)
			if (!conns)
				add(objects, labels_of(process, dev), dev);
			else
				json_array_foreach(
					json_object_get(dev, "connections"), k,
					conn)
					add(objects,
					    conn_labels(process, dev, conn),
					    conn);
	return objects;
}

static json_t *adapters_of(json_t *root)
{
	json_t *objects = json_array(), *dev;
	size_t i;

	json_array_foreach(json_object_get(root, "adapters"), i, dev)
		add(objects, labels_of(NULL, dev), dev);
	return objects;
}

void tool_counters_prometheus(json_t *root)
{
	puts("# HELP pier_info The version of pier that has read these values."
	     "\n# TYPE pier_info gauge");
	printf("pier_info{version=\"%s\"} 1\n",
	       json_string_value(json_object_get(root, "version")));
	print_group("adapter", adapters_of(root));
	print_group("device", objects_of(root, false));
	print_group("connection", objects_of(root, true));
	json_decref(root);
}
