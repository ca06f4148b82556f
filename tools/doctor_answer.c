/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "doctor.h"
#include "ping.h"

/* Does the host answer?  By a connection, and a round of pier ping. */

#define PROBE_MS 300
#define BY_PROGRAM 28	/* IBTA's code: the program has rejected it */

/* What comes back for a datagram to the port, in words. */
static const char *probe(struct doctor *d)
{
	const struct doctor_path *path = d->path;
	union doctor_addr peer = path->peer;
	int err;

	if (path->port == DOCTOR_ROCE_PORT)
		return "";	/* a short datagram there stops old kernels */
	doctor_addr_set_port(&peer, path->port);
	err = doctor_probe(&path->own, &peer, 0, PROBE_MS, NULL);
	switch (-err) {
	case 0:
		return "; a probe of the port got no answer";
	case ECONNREFUSED:
		return "; by ICMP, no socket there has the port";
	case EHOSTUNREACH:
		return "; by ICMP, the host is not reachable or a firewall "
		       "rejects the packets";
	case EACCES:
	case EPERM:
		return "; a firewall of this host does not let the packets "
		       "leave";
	default:
		return "";
	}
}

static void add_times(const struct ping *p, json_t *finding)
{
	json_t *times = json_object();

	for (int op = 0; op < PING_OPS; op++)
		tool_json_set(times, ping_op_name(op),
			      json_real(p->stats[op].sum));
	tool_json_set(finding, "unit", json_string("us"));
	tool_json_set(finding, "times", times);
}

static void add_answer(struct doctor *d, const struct ping *p)
{
	json_t *finding;

	finding = doctor_add(d, "answer", DOCTOR_OK, "%s answers from %s: send "
			     "%.0f us, write %.0f us, read %.0f us, atomic "
			     "%.0f us", d->host, p->source,
			     p->stats[PING_SEND].sum, p->stats[PING_WRITE].sum,
			     p->stats[PING_READ].sum,
			     p->stats[PING_ATOMIC].sum);
	add_times(p, finding);
	d->answers = true;
}

static void add_silence(struct doctor *d, const struct ping *p,
			const char *probed)
{
	json_t *finding;

	/* without an address of this end nothing was sent */
	finding = doctor_add(d, "answer", DOCTOR_ERROR, "%s%s", p->reason,
			     p->source[0] ? probed : "");
	if (!p->source[0])
		doctor_remedy(finding, "pier info -d %s lists its GIDs; -g "
			      "has to name one that reaches %s, or none",
			      pier_devinfo_name(d->info), d->path->peer_text);
	else
		doctor_remedy(finding, "pier ping --listen=%u on %s, and a "
			      "firewall that lets its UDP ports pass",
			      d->path->port, d->path->host);
}

static void add_failure(struct doctor *d, const struct ping *p,
			const char *probed)
{
	json_t *finding;

	if (!p->is_ping && (p->connected || p->rejected == BY_PROGRAM)) {
		doctor_add(d, "answer", DOCTOR_OK, "the program at %s %s the "
			   "connection; it is not pier ping --listen, so no "
			   "round was made", d->host, p->connected ?
			   "accepts" : "rejects");
		return;
	}
	if (!p->connected) {
		add_silence(d, p, probed);
		return;
	}
	finding = doctor_add(d, "answer", DOCTOR_ERROR, "%s accepts the "
			     "connection, then: %s", d->host, p->reason);
	doctor_remedy(finding, "pier counters, on both hosts, during pier ping "
		      "%s", d->host);
}

/* Nothing was sent: this end has no device, engine or memory for it. */
static void add_unready(struct doctor *d)
{
	json_t *finding = doctor_add(d, "answer", DOCTOR_ERROR, "%s",
				     pier_last_error());

	doctor_remedy(finding, "pier info -d %s shows whether the device is "
		      "active, ulimit -a the limits of this process",
		      pier_devinfo_name(d->info));
}

void doctor_answer(struct doctor *d)
{
	struct ping p = {
		.args = d->args, .size = PING_SIZE_MAX,
		.ops = { true, true, true, true },
		.json = true, .once = true,
	};
	/* first: a host sends few ICMP messages in a second */
	const char *probed = probe(d);

	if (ping_set_up(&p))
		add_unready(d);
	else if (ping_try(&p))
		add_failure(d, &p, probed);
	else
		add_answer(d, &p);
	ping_tear_down(&p);
}
