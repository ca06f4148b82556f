/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/args.h>
#include <pier/dev.h>
#include <pier/error.h>
#include <pier/rep.h>
#include <pier/task.h>
#include <pier/version.h>

#include "tool.h"

static const char *device;
static int as_json;
static int brief;
static int counters;
static int representors;

static const struct pier_option options[] = {
	{
		.short_name = "d",
		.long_name = "device",
		.value_name = "DEVICE",
		.help = "show this device only: name, netdev or PCI address",
		.type = PIER_OPTION_STRING,
		.value = &device,
	},
	{
		.long_name = "brief",
		.help = "one line each: name, interface, PCI address, state",
		.type = PIER_OPTION_FLAG,
		.value = &brief,
	},
	{
		.long_name = "counters",
		.help = "the same as pier counters",
		.type = PIER_OPTION_FLAG,
		.value = &counters,
	},
	{
		.long_name = "representors",
		.help = "print the representors of each device, too",
		.type = PIER_OPTION_FLAG,
		.value = &representors,
	},
	{
		.long_name = "json",
		.help = "print JSON",
		.type = PIER_OPTION_FLAG,
		.value = &as_json,
	},
	{ 0 },
};

static const struct {
	enum pier_limit limit;
	const char *name;
} limits[] = {
	{ PIER_LIMIT_MESSAGE, "message" },
	{ PIER_LIMIT_MMAP, "mmap" },
	{ PIER_LIMIT_INLINE, "inline" },
	{ PIER_LIMIT_SEND_SGE, "send_sge" },
	{ PIER_LIMIT_RECV_SGE, "recv_sge" },
	{ PIER_LIMIT_CONNS, "conns" },
	{ PIER_LIMIT_SEND_QUEUE, "send_queue" },
	{ PIER_LIMIT_RECV_QUEUE, "recv_queue" },
	{ PIER_LIMIT_RD_ATOMIC, "rd_atomic" },
	{ PIER_LIMIT_GIDS, "gids" },
	{ PIER_LIMIT_CTX_SENDS, "ctx_sends" },
	{ PIER_LIMIT_TASKS, "tasks" },
	{ PIER_LIMIT_COPY, "copy" },
	{ PIER_LIMIT_COPY_CHAIN, "copy_chain" },
	{ PIER_LIMIT_HASH, "hash" },
	{ PIER_LIMIT_HASH_CHAIN, "hash_chain" },
	{ PIER_LIMIT_MMAP_DEVS, "mmap_devs" },
	{ PIER_LIMIT_BUF_REFS, "buf_refs" },
	{ PIER_LIMIT_PRIVATE_DATA, "private_data" },
	{ PIER_LIMIT_COMCH_NAME, "comch_name" },
	{ PIER_LIMIT_COMCH_MESSAGE, "comch_message" },
	{ PIER_LIMIT_COMCH_RECV_QUEUE, "comch_recv_queue" },
	{ PIER_LIMIT_COMCH_CLIENTS, "comch_clients" },
	{ PIER_LIMIT_COMCH_DATA, "comch_data" },
	{ PIER_LIMIT_COMCH_CHAIN, "comch_chain" },
	{ PIER_LIMIT_COMCH_CONSUMERS, "comch_consumers" },
	{ PIER_LIMIT_COMCH_IMM, "comch_imm" },
};

static const struct {
	enum pier_feature feature;
	const char *name;
} features[] = {
	{ PIER_FEATURE_RC, "rc" },
	{ PIER_FEATURE_DC, "dc" },
	{ PIER_FEATURE_UD, "ud" },
	{ PIER_FEATURE_ADDRESS, "address" },
	{ PIER_FEATURE_ATOMIC_CPU, "atomic_cpu" },
	{ PIER_FEATURE_SHA_1, "sha_1" },
	{ PIER_FEATURE_SHA_256, "sha_256" },
	{ PIER_FEATURE_SHA_512, "sha_512" },
	{ PIER_FEATURE_WAIT_BUSY, "wait_busy" },
	{ PIER_FEATURE_WAIT_YIELD, "wait_yield" },
	{ PIER_FEATURE_WAIT_GT, "wait_gt" },
	{ PIER_FEATURE_WAIT_EQ, "wait_eq" },
	{ PIER_FEATURE_WAIT_NEQ, "wait_neq" },
	{ PIER_FEATURE_SYNC_CTX, "sync_ctx" },
	{ PIER_FEATURE_SYNC_IMPORTED, "sync_imported" },
	{ PIER_FEATURE_CLOCK, "clock" },
	{ PIER_FEATURE_HOTPLUG, "hotplug" },
	{ PIER_FEATURE_MODERATION, "moderation" },
	{ PIER_FEATURE_DPA, "dpa" },
	{ PIER_FEATURE_GPU, "gpu" },
	{ PIER_FEATURE_DMABUF, "dmabuf" },
	{ PIER_FEATURE_COMCH, "comch" },
};

static const struct {
	enum pier_export kind;
	const char *name;
} exports[] = {
	{ PIER_EXPORT_MMAP, "mmap" },
	{ PIER_EXPORT_CONN, "connection" },
	{ PIER_EXPORT_SYNC_EVENT, "sync_event" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the usual form: IPv4 if it is one. */
static const char *gid_text(const struct pier_gid *gid, char *text)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(gid->raw, mapped, sizeof(mapped)))
		return inet_ntop(AF_INET, gid->raw + 12, text,
				 INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, gid->raw, text, INET6_ADDRSTRLEN);
}

static const char *gid_type(enum pier_gid_type type)
{
	switch (type) {
	case PIER_GID_IB:
		return "ib";
	case PIER_GID_ROCE_V1:
		return "roce_v1";
	case PIER_GID_ROCE_V2:
		return "roce_v2";
	}
	return "unknown";
}

static json_t *describe_gids(const struct pier_devinfo *info)
{
	char text[INET6_ADDRSTRLEN];
	json_t *gids = json_array();
	struct pier_gid gid;
	size_t i;

	for (i = 0; !pier_devinfo_gid(info, i, &gid); i++) {
		json_t *one = json_object();

		tool_json_set(one, "index", json_integer(gid.index));
		tool_json_set(one, "type", json_string(gid_type(gid.type)));
		tool_json_set(one, "gid", json_string(gid_text(&gid, text)));
		tool_json_append(gids, one);
	}
	return gids;
}

static json_t *describe_limits(const struct pier_devinfo *info)
{
	json_t *object = json_object();
	uint64_t value;
	size_t i;

	for (i = 0; i < COUNT(limits); i++) {
		if (pier_devinfo_limit(info, limits[i].limit, &value))
			continue;
		if (value > INT64_MAX)	/* the largest that JSON has */
			value = INT64_MAX;
		tool_json_set(object, limits[i].name,
			      json_integer((json_int_t)value));
	}
	return object;
}

/* Every type of this version of the library. */
static json_t *describe_tasks(const struct pier_devinfo *info)
{
	json_t *object = json_object();
	int type, err;

	for (type = 0; ; type++) {
		err = pier_devinfo_can_task(info, type);
		if (err == -EINVAL)
			return object;
		tool_json_set(object, pier_task_type_key(type),
			      json_boolean(!err));
	}
}

static json_t *describe_exports(const struct pier_devinfo *info,
				int (*can)(const struct pier_devinfo *info,
					   enum pier_export kind))
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < COUNT(exports); i++)
		tool_json_set(object, exports[i].name,
			      json_boolean(!can(info, exports[i].kind)));
	return object;
}

static json_t *describe_features(const struct pier_devinfo *info)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < COUNT(features); i++)
		tool_json_set(object, features[i].name,
			      json_boolean(!pier_devinfo_has(
				      info, features[i].feature)));
	return object;
}

static const char *rep_kind(enum pier_rep_kind kind)
{
	switch (kind) {
	case PIER_REP_PF:
		return "pf";
	case PIER_REP_VF:
		return "vf";
	case PIER_REP_SF:
		return "sf";
	}
	return "unknown";
}

static json_t *describe_rep(const struct pier_repinfo *rep)
{
	json_t *one = json_object();

	tool_json_set(one, "port", tool_json_text(pier_repinfo_port(rep)));
	tool_json_set(one, "kind",
		      json_string(rep_kind(pier_repinfo_kind(rep))));
	tool_json_set(one, "controller",
		      json_integer(pier_repinfo_controller(rep)));
	tool_json_set(one, "pf", json_integer(pier_repinfo_pf(rep)));
	tool_json_set(one, "number", json_integer(pier_repinfo_number(rep)));
	tool_json_set(one, "netdev", tool_json_text(pier_repinfo_netdev(rep)));
	tool_json_set(one, "pci", tool_json_text(pier_repinfo_pci(rep)));
	tool_json_set(one, "vuid", tool_json_text(pier_repinfo_vuid(rep)));
	return one;
}

/* An error is reported, and is none of other devices. */
static json_t *describe_reps(const struct pier_devinfo *info)
{
	const struct pier_repinfo *rep;
	struct pier_replist *list;
	json_t *reps = json_array();

	if (pier_replist_create(info, PIER_REP_ALL, &list)) {
		tool_message("pier info: %s", pier_last_error());
		return reps;
	}
	for (size_t i = 0; (rep = pier_replist_get(list, i)); i++)
		tool_json_append(reps, describe_rep(rep));
	pier_replist_destroy(list);
	return reps;
}

static void describe_place(json_t *dev, const struct pier_devinfo *info)
{
	tool_json_set(dev, "netdev", tool_json_text(pier_devinfo_netdev(info)));
	tool_json_set(dev, "pci", tool_json_text(pier_devinfo_pci(info)));
	tool_json_set(dev, "state",
		      json_string(pier_devinfo_active(info) ? "active" :
							      "down"));
}

/* Does a program of this environment that configures nothing use it? */
static const char *shared_memory(void)
{
	const char *mode = getenv("PIER_SHM");

	if (!mode || !*mode)
		return "off: PIER_SHM is not set";
	if (strcmp(mode, "off") && strcmp(mode, "auto") &&
	    strcmp(mode, "require"))
		return "invalid: PIER_SHM is not off, auto or require";
	if (!strcmp(mode, "off"))
		return "off: PIER_SHM is off";
	if (getenv("PIER_PCAP") && *getenv("PIER_PCAP"))
		return "off: PIER_PCAP is set";
	if (getenv("PIER_FAULTS") && *getenv("PIER_FAULTS"))
		return "off: PIER_FAULTS is set";
	return mode;
}

/* Programs use the keys, too: they must not change. */
static json_t *describe(const struct pier_devinfo *info, bool is_default)
{
	bool soft = !strcmp(pier_devinfo_kind(info), "soft");
	bool ib = pier_devinfo_link(info) == PIER_LINK_INFINIBAND;
	json_t *dev = json_object();

	tool_json_set(dev, "name", tool_json_text(pier_devinfo_name(info)));
	tool_json_set(dev, "default", json_boolean(is_default));
	if (brief) {
		describe_place(dev, info);
		return dev;
	}
	tool_json_set(dev, "kind", tool_json_text(pier_devinfo_kind(info)));
	/* The helper acts as the NIC and is a thread: report it. */
	tool_json_set(dev, "helper",
		      json_string(soft ? "one thread a process" : ""));
	if (soft)
		tool_json_set(dev, "shm", json_string(shared_memory()));
	tool_json_set(dev, "port", json_integer(pier_devinfo_port(info)));
	describe_place(dev, info);
	tool_json_set(dev, "link", json_string(ib ? "infiniband" : "ethernet"));
	if (ib)
		tool_json_set(dev, "lid", json_integer(pier_devinfo_lid(info)));
	tool_json_set(dev, "mtu", json_integer(pier_devinfo_mtu(info)));
	tool_json_set(dev, "gids", describe_gids(info));
	tool_json_set(dev, "limits", describe_limits(info));
	tool_json_set(dev, "tasks", describe_tasks(info));
	tool_json_set(dev, "exports",
		      describe_exports(info, pier_devinfo_can_export));
	tool_json_set(dev, "imports",
		      describe_exports(info, pier_devinfo_can_import));
	tool_json_set(dev, "features", describe_features(info));
	if (representors)
		tool_json_set(dev, "representors", describe_reps(info));
	return dev;
}

/* Limits that are bytes; the others are numbers of things. */
static bool is_size(const char *limit)
{
	static const char *const sizes[] = {
		"message", "mmap", "inline", "copy", "hash", "private_data",
		"comch_message", "comch_data", "comch_imm",
	};
	size_t i;

	for (i = 0; i < COUNT(sizes); i++)
		if (!strcmp(limit, sizes[i]))
			return true;
	return false;
}

static void print_limits(json_t *object)
{
	const char *key, *title = "limits";
	char size[TOOL_SIZE_TEXT];
	json_t *value;

	json_object_foreach(object, key, value) {
		json_int_t number = json_integer_value(value);

		printf("  %-10s%-18s", title, key);
		if (number == INT64_MAX)
			puts("no limit");
		else if (is_size(key))
			puts(tool_bytes((uint64_t)number, size));
		else
			printf("%" JSON_INTEGER_FORMAT "\n", number);
		title = "";
	}
}

/* Of an object of booleans, the names of the true ones. */
static void print_names(const char *title, json_t *object)
{
	int indent = printf("  %-10s", title), column = indent;
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		if (json_is_true(value))
			column = tool_word(stdout, key, ", ", column, indent);
	puts(column > indent ? "" : "none");
}

static void print_gids(json_t *gids)
{
	json_t *gid;
	size_t i;

	json_array_foreach(gids, i, gid)
		printf("  %-10s%-4" JSON_INTEGER_FORMAT "%-9s%s\n",
		       i ? "" : "gids",
		       json_integer_value(json_object_get(gid, "index")),
		       json_string_value(json_object_get(gid, "type")),
		       json_string_value(json_object_get(gid, "gid")));
}

static const char *text_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void print_reps(json_t *reps)
{
	json_t *rep;
	size_t i;

	puts("  representors");
	json_array_foreach(reps, i, rep) {
		int column = printf("    %-15s %-15s %-12s",
				    text_of(rep, "port"),
				    text_of(rep, "netdev"),
				    text_of(rep, "pci"));

		tool_word(stdout, text_of(rep, "vuid"), " ", column, 6);
		putchar('\n');
	}
}

static void print_text(json_t *dev)
{
	const char *key;
	json_t *value;

	json_object_foreach(dev, key, value) {
		if (!strcmp(key, "name"))
			printf("%s%s%s\n", tool_style(TOOL_TITLE),
			       json_string_value(value),
			       tool_style(TOOL_PLAIN));
		else if (!strcmp(key, "gids"))
			print_gids(value);
		else if (!strcmp(key, "representors"))
			print_reps(value);
		else if (!strcmp(key, "limits"))
			print_limits(value);
		else if (json_is_object(value))
			print_names(key, value);
		else if (json_is_integer(value))
			printf("  %-10s%" JSON_INTEGER_FORMAT "\n", key,
			       json_integer_value(value));
		else if (json_is_boolean(value))
			printf("  %-10s%s\n", key,
			       json_is_true(value) ? "yes" : "no");
		else if (json_string_length(value))
			printf("  %-10s%s\n", key, json_string_value(value));
	}
}

static void print_texts(json_t *devs, json_t *services)
{
	json_t *dev;
	size_t i;

	if (brief) {
		tool_brief(devs);
		return;
	}
	json_array_foreach(devs, i, dev) {
		if (i)
			putchar('\n');
		print_text(dev);
	}
	if (!json_array_size(devs))
		puts("no devices");
	tool_services_print(services);
}

static void print_all(const struct pier_devlist *list,
		      const struct pier_devinfo *only)
{
	json_t *root = json_object(), *devs = json_array(), *services = NULL;
	const struct pier_devinfo *usual = NULL;
	size_t i;

	pier_devlist_find(list, NULL, &usual);	/* none: no address is marked */
	for (i = 0; i < pier_devlist_count(list); i++) {
		const struct pier_devinfo *info = pier_devlist_get(list, i);

		if (!only || info == only)
			tool_json_append(devs, describe(info, info == usual));
	}
	tool_json_set(root, "version", json_string(pier_version()));
	tool_json_set(root, "devices", devs);
	if (!brief) {
		services = tool_services(only ? pier_devinfo_name(only) : NULL);
		tool_json_set(root, "services", services);
	}
	if (as_json) {
		tool_json_print(root);
		return;
	}
	print_texts(devs, services);
	json_decref(root);
}

static bool options_fit(void)
{
	if (brief + counters + representors <= 1)
		return true;
	tool_message("pier info: --brief, --counters and --representors: use "
		     "one of them");
	return false;
}

/* The operand: of a process, with --counters.  Returns 0 for none, or -1. */
static int take_pid(const struct pier_args *args)
{
	if (!args->argc)
		return 0;
	if (counters && tool_counters_pid(args) > 0)
		return tool_counters_pid(args);
	tool_message("pier info: \"%s\": one process id, with --counters, and "
		     "no other operand; a device is given by -d",
		     args->argv[0]);
	return -1;
}

int tool_info(int argc, char *argv[])
{
	struct pier_args args = {
		.size = sizeof(args),
		.about = "List the devices, their limits and operations.",
		.groups = PIER_ARGS_ATTACHED,
		.operands = "[--counters [PID]]",
		.options = options,
	};
	const struct pier_devinfo *only = NULL;
	struct pier_devlist *list = NULL;
	int err, pid;

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	pid = take_pid(&args);
	if (pid < 0 || !options_fit())
		return 2;

	err = pier_devlist_create(&list);
	if (!err && device)
		err = pier_devlist_find(list, device, &only);
	if (!err && counters)
		err = tool_counters_print(pid, list, only,
					  as_json ? TOOL_JSON : TOOL_TEXT);
	else if (!err)
		print_all(list, only);
	if (!err && !only && !counters && pier_devlist_hint(list)[0])
		tool_message("pier info: %s", pier_devlist_hint(list));
	if (err)
		tool_message("pier info: %s", pier_last_error());
	pier_devlist_destroy(list);
	return err ? 1 : 0;
}
