/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/*
 * What both ends send with a connection.  The client's parameters are in its
 * request, of which a server has 16 bytes for certain; the server replies with
 * a line of text.
 */
enum { FLAG_EVENTS = 1, FLAG_BOTH = 2, FLAG_VERIFY = 4, FLAG_PASSIVE = 8,
       FLAGS = 15 };

struct spec {
	char magic[2];		/* "pf" */
	uint8_t version;
	uint8_t measure;
	uint8_t operation;
	uint8_t flags;
	uint16_t outstanding;	/* numbers are in network order */
	uint32_t size;
	uint16_t connections;
	uint8_t reserved[2];	/* 0 */
};

_Static_assert(sizeof(struct spec) == PERF_SPEC_SIZE, "fits into a request");

void perf_spec_make(const struct perf *perf, char ret[PERF_SPEC_SIZE])
{
	const struct perf_options *opts = &perf->opts;
	struct spec spec = {
		.magic = { 'p', 'f' },
		.version = PERF_VERSION,
		.measure = (uint8_t)opts->measure,
		.operation = (uint8_t)opts->operation,
		.flags = (uint8_t)((opts->events ? FLAG_EVENTS : 0) |
				   (opts->both ? FLAG_BOTH : 0) |
				   (opts->verify ? FLAG_VERIFY : 0) |
				   (opts->passive ? FLAG_PASSIVE : 0)),
		.outstanding = htons((uint16_t)opts->outstanding),
		.size = htonl((uint32_t)opts->size),
		.connections = htons((uint16_t)opts->connections),
	};

	memcpy(ret, &spec, sizeof(spec));
}

static int check_version(struct perf *perf, const char *whom,
			 unsigned int version)
{
	if (version == PERF_VERSION)
		return 0;
	return perf_err(perf, -EPROTO, "%s has version %u of pier perf's "
			"protocol, this end has %d", whom, version,
			PERF_VERSION);
}

/* A server for one operation takes no other. */
static int check_words(struct perf *perf, const struct spec *spec)
{
	const char *measure = perf_measure_word(spec->measure);
	const char *operation = perf_operation_word(spec->operation);

	if (!measure || !operation || spec->operation == PERF_COPY)
		return perf_err(perf, -EPROTO, "the server does not have "
				"measure %d of operation %d", spec->measure,
				spec->operation);
	if (perf->stays || (spec->measure == perf->opts.measure &&
			    spec->operation == perf->opts.operation))
		return 0;
	return perf_err(perf, -EPROTO, "the server has \"%s %s\", the client "
			"\"%s %s\"", perf_measure_name(perf),
			perf_operation_name(perf), measure, operation);
}

/* What an operation without data, or of a Comm Channel, does not have. */
static int check_kind(struct perf *perf, const struct spec *spec)
{
	bool connect = spec->operation == PERF_CONNECT;
	int most = connect ? 1 : PERF_CONNS_CHANNEL;

	if (!connect && spec->operation != PERF_COMCH &&
	    spec->operation != PERF_REQUEST)
		return 0;
	if (spec->connections > most ||
	    (connect && spec->flags & (FLAG_BOTH | FLAG_VERIFY)))
		return perf_err(perf, -EPROTO, "%s: of %d connections, or "
				"verified, or both directions",
				perf_operation_word(spec->operation),
				spec->connections);
	if (spec->size > PIER_COMCH_MESSAGE_MAX)
		return perf_err(perf, -EMSGSIZE, "%" PRIu32 " bytes: a message "
				"has at most %d", spec->size,
				PIER_COMCH_MESSAGE_MAX);
	return 0;
}

static int check(struct perf *perf, const struct spec *spec)
{
	int err = check_words(perf, spec);

	if (err)
		return err;
	if (!spec->size || spec->size > perf->size_limit)
		return perf_err(perf, -EMSGSIZE, "%" PRIu32 " bytes: the "
				"server takes up to %" PRIu64 ", its -s",
				spec->size, perf->size_limit);
	if (!spec->outstanding || spec->outstanding > PERF_OUTSTANDING_MAX)
		return perf_err(perf, -ERANGE, "%d outstanding: 1 to %d",
				spec->outstanding, PERF_OUTSTANDING_MAX);
	if (spec->flags & FLAG_BOTH && spec->measure != PERF_BW)
		return perf_err(perf, -EPROTO, "both directions of a latency");
	if (!spec->connections || spec->connections > PERF_CONNS_MAX)
		return perf_err(perf, -ERANGE, "%d connections: 1 to %d",
				spec->connections, PERF_CONNS_MAX);
	if (spec->flags & ~FLAGS || spec->reserved[0] ||
	    spec->reserved[1])
		return perf_err(perf, -EPROTO, "unknown parameters");
	return check_kind(perf, spec);
}

int perf_spec_take(struct perf *perf, const void *data, size_t len)
{
	struct perf_options *opts = &perf->opts;
	struct spec spec;
	int err;

	if (len < sizeof(spec) || memcmp(data, "pf", 2))
		return perf_err(perf, -EPROTO, "the client is not pier perf, "
				"or an older one");
	memcpy(&spec, data, sizeof(spec));
	spec.outstanding = ntohs(spec.outstanding);
	spec.size = ntohl(spec.size);
	spec.connections = ntohs(spec.connections);
	err = check_version(perf, "the client", spec.version);
	if (!err)
		err = check(perf, &spec);
	if (err)
		return err;

	opts->measure = (enum perf_measure)spec.measure;
	opts->operation = (enum perf_operation)spec.operation;
	opts->size = spec.size;
	opts->outstanding = spec.outstanding;
	opts->connections = spec.connections;
	opts->events |= spec.flags & FLAG_EVENTS;
	opts->both = !!(spec.flags & FLAG_BOTH);
	opts->verify = !!(spec.flags & FLAG_VERIFY);
	opts->passive = !!(spec.flags & FLAG_PASSIVE);
	return 0;
}

void perf_reply_make(const struct perf *perf, char ret[PERF_REPLY_SIZE])
{
	char cpu[PERF_CPU_SIZE];

	perf_cpu_print(cpu);
	snprintf(ret, PERF_REPLY_SIZE, "pier-perf %d %016" PRIx64 " %s",
		 PERF_VERSION, perf->token, cpu);
}

int perf_reply_take(struct perf *perf, const void *data, size_t len)
{
	const char *whom = perf->args.server_addr;
	char text[PERF_REPLY_SIZE] = "";
	unsigned int version;
	int err, end = 0;

	if (len > sizeof(text))
		memcpy(text, data, sizeof(text) - 1);
	if (sscanf(text, "pier-perf %5u %16" SCNx64 " %n", &version,
		   &perf->token, &end) < 1)
		return perf_err(perf, -EPROTO, "%s is not pier perf --listen, "
				"or an older one", whom);
	err = check_version(perf, whom, version);
	if (!err)
		perf_cpu_compare(text + end);
	return err;
}
