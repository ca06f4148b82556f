/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <pier/counters.h>

#include "tool.h"

/* What flight recorders have, for pier counters --events. */
#define SECOND 1000000000
#define TIME_TEXT 40

static int64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* When it was: local time, as ISO 8601 has it, in microseconds. */
static void time_text(uint64_t at_ns, char ret[TIME_TEXT])
{
	int64_t past = ns_of(CLOCK_MONOTONIC) - (int64_t)(at_ns & INT64_MAX);
	int64_t at = ns_of(CLOCK_REALTIME) - past;
	time_t seconds = (time_t)(at / SECOND);
	struct tm tm;
	size_t len;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	len = strftime(ret, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	len += (size_t)snprintf(ret + len, TIME_TEXT - len, ".%06d",
				(int)(at % SECOND / 1000));
	strftime(ret + len, TIME_TEXT - len, "%z", &tm);
}

static json_t *to_json(const struct pier_conn_event *event)
{
	json_t *object = json_object();
	char at[TIME_TEXT];

	time_text(event->at_ns, at);
	tool_json_set(object, "time", json_string(at));
	tool_json_set(object, "monotonic_ns",
		      json_integer((json_int_t)event->at_ns));
	tool_json_set(object, "qpn", json_integer(event->qpn));
	tool_json_set(object, "event", tool_json_text(event->name));
	tool_json_set(object, "detail", tool_json_text(event->detail));
	tool_json_set(object, "psn", json_integer(event->psn));
	tool_json_set(object, "count", json_integer(event->count));
	return object;
}

json_t *tool_events(const struct pier_counterlist *list, size_t i)
{
	json_t *events = json_array();
	struct pier_conn_event event;
	size_t n;

	for (n = 0; pier_counterlist_event(list, i, n, &event) > 0; n++)
		tool_json_append(events, to_json(&event));
	return events;
}

static const char *text_of(json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

static uint64_t number_of(json_t *event, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(event, key));
}

/* The time of the day, the connection, what happened. */
static void print_event(json_t *event)
{
	uint64_t psn = number_of(event, "psn");
	uint64_t count = number_of(event, "count");

	printf("  %.15s 0x%06" PRIx64 " %s", text_of(event, "time") + 11,
	       number_of(event, "qpn"), text_of(event, "event"));
	if (text_of(event, "detail")[0])
		printf(" %s", text_of(event, "detail"));
	if (psn)
		printf(", PSN %" PRIu64, psn);
	if (count > 1)
		printf(", %" PRIu64 " times", count);
	putchar('\n');
}

void tool_events_print(json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
		print_event(event);
}
