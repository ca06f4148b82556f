/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_TOOL_H
#define PIER_TOOLS_TOOL_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/*
 * Subcommands of pier: each is one file and one row of the table in pier.c.
 * argv[0] is the name to use in messages; they return the exit status.
 */
int tool_copy(int argc, char *argv[]);
int tool_counters(int argc, char *argv[]);
int tool_desc(int argc, char *argv[]);
int tool_doctor(int argc, char *argv[]);
int tool_exchange(int argc, char *argv[]);
int tool_info(int argc, char *argv[]);
int tool_perf(int argc, char *argv[]);
int tool_ping(int argc, char *argv[]);
int tool_run(int argc, char *argv[]);

/*
 * Print what process @pid counts, 0: every one, and adapters; all devices,
 * or @only.  Errors: as pier_counterlist_create().
 */
struct pier_args;
struct pier_devlist;
struct pier_devinfo;
enum tool_form {
	TOOL_TEXT,
	TOOL_JSON,
	TOOL_PROMETHEUS,
	TOOL_EVENTS,		/* text, of events instead of counters */
	TOOL_EVENTS_JSON,	/* events besides counters */
};
int tool_counters_print(int pid, const struct pier_devlist *devs,
			const struct pier_devinfo *only, enum tool_form form);

/* The events of entry @i of @list; and print them. */
struct pier_counterlist;
json_t *tool_events(const struct pier_counterlist *list, size_t i);
void tool_events_print(json_t *events);

/* The same for Prometheus, of JSON, which is given up. */
void tool_counters_prometheus(json_t *root);

/*
 * The operand: a process; none, or "all", is 0.  Below 0: not a process.
 */
int tool_counters_pid(const struct pier_args *args);

/* Print a line for each device: name, interface, PCI address, state. */
void tool_brief(json_t *devs);

/*
 * The services of all processes, of all devices or @device; and print them.
 */
json_t *tool_services(const char *device);
void tool_services_print(json_t *services);

/*
 * Where a server is: HOST[:PORT], and for the server itself PORT, ADDR or
 * ADDR:PORT; an IPv6 address before a port is in brackets.
 */
#define TOOL_PORT 13579		/* without a port */
#define TOOL_PORT_TEXT "13579"
#define TOOL_ADDRESS_MAX 128	/* with its NUL */

/* The server's: *@address is "" without one.  2: it is invalid. */
int tool_listen_at(const char *text, char address[TOOL_ADDRESS_MAX],
		   uint32_t *ret_port);
int tool_has_port(const char *text);
int tool_is_peer(const char *text);	/* a host, and no port or a valid one */
int tool_is_any(const char *address);	/* 0.0.0.0 or :: */

/*
 * --listen is a flag with an operand, so that it needs none.
 * Take --listen=PLACE out of the command line and set *listening.  Returns
 * PLACE; NULL: it is not there.
 */
const char *tool_listen_word(int *argc, char *argv[], int *listening);

/*
 * The one of both that is not NULL, or NULL.  2: both are, with a message of
 * @command.
 */
int tool_one_place(const char *command, const char *word, const char *operand,
		   const char **ret);

/*
 * Does a server listen on all devices of this host?  None is named, by -d, -g
 * or PIER_DEVICE, and no @address, "" being none.
 */
struct pier_host;
int tool_on_all_devices(const struct pier_args *args, const char *address);

/*
 * The device that has @address, in @ret; NULL: none has, or PIER_DEVICE names
 * one.
 */
#define TOOL_DEVICE_MAX 128
const char *tool_device_of(const char *address, char ret[TOOL_DEVICE_MAX]);

/* Print where @host listens; which active device does not, on stderr. */
void tool_print_host(const char *command, const struct pier_host *host,
		     FILE *file);

/* The index of the device's GID that is @address; below 0: */
enum { TOOL_NOT_THERE = -1, TOOL_NO_ADDRESS = -2 };
int tool_gid_of(const struct pier_devinfo *info, const char *address);

/*
 * Faults of the network for packets that the soft devices of this process, and
 * of its children, are sent; NULL: none.  Put them into the environment, before
 * a device is used.  Returns 0, or an exit status with a message of @command.
 */
struct tool_faults {
	const char *loss, *corrupt, *late;	/* percent; milliseconds */
	uint64_t seed;
};

#define TOOL_SEED 1	/* without the option */
int tool_faults_set(const char *command, const struct tool_faults *faults);

/* @bytes in words: "64 bytes", "64 KiB"; and with all its digits before. */
#define TOOL_SIZE_TEXT 64
const char *tool_size(uint64_t bytes, char ret[TOOL_SIZE_TEXT]);
const char *tool_bytes(uint64_t bytes, char ret[TOOL_SIZE_TEXT]);

/* What begins a style on stdout; "" where there are no colours. */
enum tool_style { TOOL_PLAIN, TOOL_TITLE, TOOL_GOOD, TOOL_BAD };
const char *tool_style(enum tool_style style);

/*
 * Print @word at @column behind @separator, or in a new line from @indent.
 * Returns the new column.
 */
int tool_word(FILE *to, const char *word, const char *separator, int column,
	      int indent);

/* Make "?" of the control characters in @text, which names may have. */
void tool_make_printable(char *text);

/*
 * Print a line on stderr, with "?" for control characters.  A terminal gets it
 * in lines of at most 80 columns, as words permit.
 */
__attribute__((format(printf, 1, 2)))
void tool_message(const char *fmt, ...);

/* Put @value, which is given up, under @key; NULL means out of memory. */
void tool_json_set(json_t *object, const char *key, json_t *value);

/* Append @value, which is given up, to @array. */
void tool_json_append(json_t *array, json_t *value);

/*
 * @text, which may be any bytes, as JSON has UTF-8 only: each byte that is not
 * of it becomes U+FFFD.
 */
json_t *tool_json_text(const char *text);

/* @name under @key; if it is not UTF-8 also its bytes, under KEY_hex. */
void tool_json_set_name(json_t *object, const char *key, const char *name);

/* Write @root, which is given up, to stdout, keys in the order set. */
void tool_json_print(json_t *root);

/* The same in one line, for programs that print one after the other. */
void tool_json_print_line(json_t *root);

#endif
