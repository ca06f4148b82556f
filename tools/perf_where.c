/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"
#include "tool.h"

/* Where pier perf meets its peer: words of the command line, and the wait. */

static int take_server(struct perf *perf, const char *place)
{
	uint32_t port;

	perf->args.use_cm = 1;
	perf->opts.respond = 1;
	if (!place)
		return 0;
	if (tool_listen_at(place, perf->address, &port) || !port) {
		tool_message("pier perf: --listen \"%s\": PORT, ADDR or "
			     "ADDR:PORT, as 10.9.0.1:13579 or [fd00::1]:13579",
			     place);
		return 2;
	}
	if (tool_has_port(place))
		perf->args.listen_port = (int)port;
	if (!perf->args.device && perf->address[0] &&
	    !tool_is_any(perf->address))
		perf->args.device = tool_device_of(perf->address,
						   perf->device);
	return 0;
}

/* What only a client can request.  2: reported. */
static int check_client(const struct perf *perf)
{
	const struct perf_options *opts = &perf->opts;
	bool alone = (perf_is_channel(perf) ||
		      opts->operation == PERF_CONNECT) && !opts->listen;
	bool verify = opts->verify && opts->operation != PERF_COPY;
	const char *name = opts->connections > 1 ? "-q" :
			   opts->both ? "--bidirectional" :
			   verify ? "--verify" :
			   opts->passive ? "--passive" :
			   alone ? perf_operation_name(perf) : NULL;

	if (!name)
		return 0;
	tool_message("pier perf: %s: an option of the client of pier perf "
		     "--listen: give HOST[:PORT]", name);
	return 2;
}

/* The word, or -sa.  2: reported. */
static int check_peer(const char *place)
{
	if (!place || tool_is_peer(place))
		return 0;
	tool_message("pier perf: \"%s\": give HOST[:PORT]; a port is 1 to "
		     "65535", place);
	return 2;
}

int perf_where(struct perf *perf, const char *place)
{
	if ((place || perf->opts.listen) && perf->args.server_addr) {
		tool_message("pier perf: -sa %s and %s: give one of them",
			     perf->args.server_addr,
			     place ? place : "--listen");
		return 2;
	}
	if (place && !perf->opts.listen)
		perf->args.server_addr = place;
	if (check_peer(perf->args.server_addr))
		return 2;
	if (!perf->args.server_addr && check_client(perf))
		return 2;
	if (perf->opts.listen)
		return take_server(perf, place);
	if (perf->args.use_cm && !perf->args.server_addr) {
		tool_message("pier perf: -cm without -sa: give --listen, which "
			     "is the server, or HOST[:PORT], where it is");
		return 2;
	}
	if (perf->opts.respond && perf->args.server_addr) {
		tool_message("pier perf: --respond and the server %s, which "
			     "does not measure: without --respond this end "
			     "measures", perf->args.server_addr);
		return 2;
	}
	return 0;
}

int perf_own_address(struct perf *perf)
{
	const struct pier_devinfo *info = pier_dev_info(perf->dev);
	int index;

	if (!perf->address[0] || tool_is_any(perf->address))
		return 0;
	index = tool_gid_of(info, perf->address);
	if (index < 0)
		return perf_err(perf, -ENODEV, "--listen \"%s\": not an "
				"address of %s, which pier info -d %s lists",
				perf->address, pier_devinfo_name(info),
				pier_devinfo_name(info));
	perf->args.gid_index = index;
	return 0;
}

void perf_print_waiting(const struct perf *perf)
{
	const struct pier_args *args = &perf->args;
	const char *whom = "the peer to write ";
	const char *name = args->remote_descriptor;
	char port[16];

	if (perf->opts.json || perf->quiet)
		return;
	if (perf->stays) {
		tool_message("pier perf: waiting for clients on port %d; "
			     "Ctrl-C ends it", args->listen_port);
		return;
	}
	if (args->server_addr) {
		whom = "the server at ";
		name = args->server_addr;
	} else if (args->use_cm) {
		whom = "a client on port ";
		name = port;
	}
	snprintf(port, sizeof(port), "%d", args->listen_port);
	tool_message("pier perf: waiting %d s for %s%s; Ctrl-C ends it",
		     (args->timeout_ms + 999) / 1000, whom, name);
}
