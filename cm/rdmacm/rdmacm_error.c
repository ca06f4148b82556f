/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/fail.h"
#include "core/roce.h"

/* Error messages of connections by CM. */

/* IBTA's reasons for a REJ, and what a user can do. */
static const char *const reasons[] = {
	[ROCE_REJ_NO_QP] = "it has no queue pair left",
	[ROCE_REJ_NO_EEC] = "it has no end-to-end context left",
	[ROCE_REJ_NO_RESOURCES] = "it has no resources left",
	[ROCE_REJ_TIMEOUT] = "it received no reply from us in time",
	[ROCE_REJ_UNSUPPORTED] = "it does not support the request",
	[ROCE_REJ_COMM_ID] = "it has no connection of this id",
	[ROCE_REJ_COMM_INSTANCE] = "it has another connection of this id",
	[ROCE_REJ_SERVICE_ID] = "no program listens on that port: is the "
				"server running, and is the port right?",
	[ROCE_REJ_TRANSPORT] = "it requires another transport",
	[ROCE_REJ_STALE] = "the request seems to be of an old connection: "
			   "try again",
	[ROCE_REJ_GID] = "it does not have the requested address",
	[ROCE_REJ_LID] = "it does not have the requested LID",
	[ROCE_REJ_SL] = "it rejects the service level",
	[ROCE_REJ_TRAFFIC_CLASS] = "it rejects the traffic class",
	[ROCE_REJ_HOP_LIMIT] = "it rejects the hop limit",
	[ROCE_REJ_PACKET_RATE] = "it rejects the packet rate",
	[ROCE_REJ_CM_REDIRECT] = "it sends us to another port",
	[ROCE_REJ_REDIRECT] = "it sends us to another port",
	[ROCE_REJ_MTU] = "it rejects the path MTU",
	[ROCE_REJ_READS] = "it does not support that many reads at a time",
	[ROCE_REJ_CONSUMER] = "its program or system has rejected the request",
	[ROCE_REJ_RNR_RETRY] = "it rejects the RNR retry count",
	[ROCE_REJ_DUPLICATE_ID] = "it has another connection of this id",
	[ROCE_REJ_VERSION] = "it uses another version of CM",
	[ROCE_REJ_FLOW_LABEL] = "it rejects the flow label",
};

static const char *const pier_reasons[] = {
	[PIER__REJECT_BY_PROGRAM] = "its program has rejected the request",
	[PIER__REJECT_FULL] = "it has max_conns connections already: end "
			       "one there, or raise its max_conns",
	[PIER__REJECT_LATE] = "its program did not decide in time",
	[PIER__REJECT_VERSION] = "its pier has another version of the "
				  "handshake: use the same release on both",
	[PIER__REJECT_MALFORMED] = "our handshake is malformed",
	[PIER__REJECT_CLOSING] = "it has just stopped listening",
	[PIER__REJECT_BUSY] = "too many requests are pending there: try "
			       "again later",
};

static const char *entry(const char *const *table, size_t count, size_t i)
{
	return i < count && table[i] ? table[i] : "its reason is unknown";
}

#define ENTRY(table, i) entry(table, sizeof(table) / sizeof(table[0]), i)

/* Both ends, as far as known. */
static void ends_text(const struct pier_conn *conn, char *ret, size_t size)
{
	const struct pier__rdmacm_conn *cm = conn->cm;
	const struct pier__attempt *attempt = cm->attempt;
	bool active = pier__rdmacm_is_active(conn);
	const char *to = cm->peer;
	char name[PIER__HOST_MAX + 96] = "";

	if (attempt && attempt->dst_was_loopback) {
		snprintf(name, sizeof(name), "%s, which on %s is ",
			 attempt->peer.name, conn->queues->dev->info.port.name);
	} else if (attempt && attempt->peer.is_name) {
		if (to[0])
			snprintf(name, sizeof(name), "%s, ",
				 attempt->peer.name);
		else
			snprintf(name, sizeof(name), "%s port %u",
				 attempt->peer.name, attempt->peer.port);
	}
	if (!pier__conn_is_connecting(conn))
		snprintf(ret, size, "the connection %s %s%s %s %s has failed",
			 active ? "to" : "of", name, to,
			 active ? "from" : "to", cm->local);
	else if (active)
		snprintf(ret, size, "cannot connect to %s%s%s%s", name, to,
			 cm->local[0] ? " from " : "", cm->local);
	else
		snprintf(ret, size, "cannot connect to client %s from %s", to,
			 cm->local);
}

/*
 * The GID that the peer sees, or, before the route chooses it, the first that
 * is valid beyond its link.
 */
static void gid_text(const struct pier_conn *conn,
		     const struct pier__port *port, char *ret)
{
	const struct pier__cm_id *id = conn->cm->id;
	struct pier__gid_offer offers[PIER__GIDS_MAX];
	uint8_t raw[16];

	if (id && id->local.ss_family) {
		pier__sockaddr_to_gid((const void *)&id->local, raw);
		pier__gid_text(raw, ret);
	} else if (pier__gid_offers(port, PIER__GID_ANY, offers) > 0) {
		pier__gid_text(offers[0].raw, ret);
	} else {
		strcpy(ret, "none");
	}
}

static void path_text(const struct pier_conn *conn, char *ret, size_t size)
{
	struct pier__port port;
	char text[INET6_ADDRSTRLEN], fault[128];
	const struct pier__attempt *attempt = conn->cm->attempt;

	if (!pier__conn_port_fault(conn, fault, sizeof(fault)) && attempt &&
	    attempt->dst_was_loopback)
		snprintf(fault, sizeof(fault), "; is the server on the "
			 "loopback device? connect from there: -d soft_lo");
	pier__dev_port(conn->queues->dev, &port);
	gid_text(conn, &port, text);
	snprintf(ret, size, "over %s, GID %s, MTU %u%s", port.name, text,
		 conn->path_mtu ? conn->path_mtu : 128u << port.mtu,
		 fault);
}

int pier__rdmacm_fail(const struct pier_conn *conn, int err, const char *stage,
		      const char *fmt, ...)
{
	char reason[400], ends[600], path[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	ends_text(conn, ends, sizeof(ends));
	path_text(conn, path, sizeof(path));
	return pier__fail(err, "%s, %s: %s (%s)", ends, stage, reason, path);
}

static void keep(struct pier__rdmacm_conn *cm, const uint8_t *data, size_t len)
{
	free(cm->theirs.mem);
	cm->seen = 0;
	cm->theirs.mem = malloc(len + 1);
	if (!cm->theirs.mem)
		return;		/* the message does not need it */
	if (len)
		memcpy(cm->theirs.mem, data, len);
	cm->theirs.len = cm->seen = len;
}

static bool has_data(const struct pier__cm_event *ev)
{
	for (size_t i = 0; i < ev->len; i++)
		if (ev->data[i])
			return true;
	return false;
}

bool pier__rdmacm_is_final(const struct pier__cm_event *ev)
{
	struct pier__cm_reject reject;

	if (ev->reason != ROCE_REJ_CONSUMER)
		return false;
	if (pier__cm_reject_decode(ev->data, ev->len, &reject))
		return has_data(ev);
	return reject.reason == PIER__REJECT_BY_PROGRAM ||
	       reject.reason == PIER__REJECT_VERSION ||
	       reject.reason == PIER__REJECT_MALFORMED;
}

void pier__rdmacm_take_reject(struct pier__cm_event *ev)
{
	struct pier__cm_reject reject;

	if (pier__cm_reject_decode(ev->data, ev->len, &reject) ||
	    reject.reason != PIER__REJECT_ELSEWHERE)
		return;
	ev->reason = ROCE_REJ_GID;
	if (reject.len == sizeof(ev->instead))
		memcpy(ev->instead, reject.data, sizeof(ev->instead));
	ev->len = 0;		/* it has none of the peer's program */
}

/* Is the peer at the address that this side has, which was the program's? */
static bool is_here(const struct pier_conn *conn)
{
	const struct pier__rdmacm_conn *cm = conn->cm;
	uint8_t own[16], peer[16];

	if (!cm->id || !cm->id->local.ss_family || !cm->peer_addr.sa.sa_family)
		return false;
	if ((cm->attempt && cm->attempt->dst_was_loopback) ||
	    pier__sockaddr_is_loopback(&cm->peer_addr.sa))
		return false;
	pier__sockaddr_to_gid((const void *)&cm->id->local, own);
	pier__sockaddr_to_gid(&cm->peer_addr.sa, peer);
	return !memcmp(own, peer, sizeof(own));
}

/* Where the peer listens, if that is not where the request was sent. */
static void instead_text(const struct pier_conn *conn,
			 const struct pier__cm_event *ev, char *ret,
			 size_t size)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	ret[0] = '\0';
	memcpy(&ip, ev->instead, sizeof(ip));
	if (pier__sockaddr_is_host(&ip))
		snprintf(ret, size, ", but listens at %s",
			 pier__gid_text(ev->instead, text));
	else if (ev->reason == ROCE_REJ_GID && is_here(conn))
		snprintf(ret, size, ": is the server on the loopback device? "
			 "connect from there: -d soft_lo");
}

int pier__rdmacm_rejected(struct pier_conn *conn,
			  const struct pier__cm_event *ev)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct pier__cm_reject reject;
	int err = pier__cm_reject_decode(ev->data, ev->len, &reject);
	const char *words = ENTRY(reasons, ev->reason);
	char instead[96];

	cm->reason = ev->reason;
	if (!err) {
		words = ENTRY(pier_reasons, reject.reason);
		keep(cm, reject.data, reject.len);
	} else {
		cm->foreign = true;
		keep(cm, ev->data, ev->len);
	}
	if (ev->reason == ROCE_REJ_TIMEOUT)
		return pier__rdmacm_fail(conn, -ETIMEDOUT, "handshake",
					 "the peer has given up: %s "
					 "(reason %u)", words, ev->reason);
	instead_text(conn, ev, instead, sizeof(instead));
	return pier__rdmacm_fail(conn, -ECONNREFUSED, "connection request",
				 "rejected by the peer: %s%s (reason %u)",
				 words, instead, ev->reason);
}
