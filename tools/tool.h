/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_TOOL_H
#define PIER_TOOLS_TOOL_H

#include <jansson.h>

/*
 * Subcommands of pier: each is one file and one row of the table in pier.c.
 * argv[0] is the name to use in messages; they return the exit status.
 */
int tool_copy(int argc, char *argv[]);
int tool_desc(int argc, char *argv[]);
int tool_exchange(int argc, char *argv[]);
int tool_info(int argc, char *argv[]);
int tool_perf(int argc, char *argv[]);
int tool_ping(int argc, char *argv[]);

/*
 * Print what process @pid counts, 0: every one, and adapters; all devices,
 * or @only.  Errors: as pier_counterlist_create().
 */
struct pier_devlist;
struct pier_devinfo;
int tool_counters(int pid, const struct pier_devlist *devs,
		  const struct pier_devinfo *only, int as_json);

/*
 * The services of all processes, of all devices or @device; and print them.
 */
json_t *tool_services(const char *device);
void tool_services_print(json_t *services);

/* Put @value, which is given up, under @key; NULL means out of memory. */
void tool_json_set(json_t *object, const char *key, json_t *value);

/* Append @value, which is given up, to @array. */
void tool_json_append(json_t *array, json_t *value);

/* Write @root, which is given up, to stdout, keys in the order set. */
void tool_json_print(json_t *root);

#endif
