/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/* pier doctor: what keeps programs with pier from working, or working well? */

static void (*const checks[])(struct doctor *d) = {
	doctor_gids,
	doctor_limits,
	doctor_ports,
	doctor_nft,
	doctor_host,
	doctor_cgroup,
	doctor_versions,
	doctor_modules,
};

static void (*const path_checks[])(struct doctor *d) = {
	doctor_choice,
	doctor_rp_filter,
};

/* Those that send packets, from the device that was chosen. */
static void (*const packet_checks[])(struct doctor *d) = {
	doctor_path_probe,	/* first: hosts send few ICMP messages */
	doctor_answer,
	doctor_path_mtu,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Exit statuses; 2 is that of a wrong command line. */
static const int statuses[DOCTOR_GRADES] = {
	[DOCTOR_OK] = 0,
	[DOCTOR_WARNING] = 1,
	[DOCTOR_ERROR] = 3,
};

static int worst(const struct doctor *d)
{
	int grade = DOCTOR_ERROR;

	while (grade > DOCTOR_OK && !d->counts[grade])
		grade--;
	return statuses[grade];
}

static int examine(struct doctor *d, struct doctor_path *path, int as_json)
{
	int status;

	d->findings = json_array();
	doctor_devices(d);
	if (path && d->info && !d->unusable && doctor_path_find(d, path))
		d->path = path;
	for (size_t i = 0; d->path && i < COUNT(path_checks); i++)
		path_checks[i](d);
	for (size_t i = 0; d->path && !d->unusable && i < COUNT(packet_checks);
	     i++)
		packet_checks[i](d);
	for (size_t i = 0; i < COUNT(checks); i++)
		checks[i](d);
	status = worst(d);
	if (as_json) {
		doctor_print_json(d);
	} else {
		doctor_print_text(d);
		json_decref(d->findings);
	}
	pier_devlist_destroy(d->devs);
	return status;
}

/* Is there a colon for a port, and none behind it? */
static bool lacks_port(const char *text)
{
	size_t len = strlen(text);

	return len && text[len - 1] == ':' &&
	       (strchr(text, ':') == text + len - 1 ||
		(len > 1 && text[len - 2] == ']'));
}

/* Split @text.  What is wrong with it; NULL: nothing. */
static const char *split(const char *text, char host[TOOL_ADDRESS_MAX],
			 uint32_t *port)
{
	if (strlen(text) >= TOOL_ADDRESS_MAX)
		return "HOST[:PORT] has at most 127 characters";
	if (tool_listen_at(text, host, port) || !*port || lacks_port(text))
		return "a port is 1 to 65535";
	return host[0] ? NULL : "there is no HOST in HOST[:PORT]";
}

/* The operand, if there is one.  2: it is invalid. */
static int take_host(struct doctor *d, char host[TOOL_ADDRESS_MAX],
		     struct doctor_path *path)
{
	const char *fault;
	uint32_t port;

	if (!d->args.argc)
		return 0;
	fault = d->args.argc > 1 ? "at most one HOST[:PORT]" :
				   split(d->args.argv[0], host, &port);
	if (fault) {
		tool_message("pier doctor: \"%s\": %s",
			     d->args.argv[d->args.argc > 1], fault);
		return 2;
	}
	d->host = d->args.argv[0];
	path->host = host;
	path->port = (uint16_t)port;
	return 0;
}

int tool_doctor(int argc, char *argv[])
{
	struct doctor_path path = { 0 };
	char host[TOOL_ADDRESS_MAX];
	int as_json = 0, err;
	const struct pier_option options[] = {
		{ .long_name = "json", .help = "print JSON",
		  .type = PIER_OPTION_FLAG, .value = &as_json },
		{ 0 },
	};
	struct doctor d = {
		.args = {
			.size = sizeof(d.args),
			.groups = PIER_ARGS_DEVICE | PIER_ARGS_TIMEOUT |
				  PIER_ARGS_ATTACHED,
			.about = "Find out what keeps programs from "
				 "connecting, to HOST or at all.",
			.operands = "[HOST[:PORT]]",
			.options = options,
			.gid_index = -1,
			.timeout_ms = 5000,
		},
	};

	err = pier_args_parse(&d.args, argc, argv);
	if (err)
		return pier_args_exit(err);
	if (take_host(&d, host, &path))
		return 2;
	if (d.host && !as_json)
		tool_message("pier doctor: waiting %d s for each answer of %s; "
			     "Ctrl-C ends it", d.args.timeout_ms / 1000,
			     d.host);
	return examine(&d, d.host ? &path : NULL, as_json);
}
