/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"
#include "core/roce.h"

/*
 * The active side: resolve the name, then for each address in turn resolve the
 * route and send a REQ; with the REP the handshake begins.
 */

#define STALE_MAX 8	/* REQs sent again with another QPN, one attempt */

void pier__attempt_free(struct pier_conn *conn)
{
	struct pier__attempt *attempt = conn->cm->attempt;

	if (!attempt)
		return;
	pier__query_cancel(attempt->query);
	free(attempt);
	conn->cm->attempt = NULL;
}

static int unknown(const struct pier_conn *conn,
		   const struct pier__addrs *addrs, int err, const char *reason,
		   const char *family)
{
	const char *stage = "name resolution";

	if (addrs)
		return pier__rdmacm_fail(conn, -EHOSTUNREACH, stage, "none of "
					 "its %u addresses is of %s",
					 addrs->count, family);
	return pier__rdmacm_fail(conn, err, stage, "%s: is the name "
				 "right, in /etc/hosts or known to DNS?",
				 reason);
}

/* Can @addr be reached from the source, if there is one? */
static bool is_of_source(const struct pier__attempt *attempt,
			 const union pier__sockaddr *addr)
{
	return !attempt->has_source ||
	       attempt->source.sa.sa_family == addr->sa.sa_family;
}

/*
 * The name is resolved: store the addresses that the device can reach.  Those
 * of another family than the source's are no addresses for this attempt.
 */
static void name_resolved(void *arg, const struct pier__addrs *addrs,
			  int err, const char *reason)
{
	struct pier_conn *conn = arg;
	struct pier__attempt *attempt = conn->cm->attempt;
	char family[96] = "the family of the source address";
	struct pier__port port;

	attempt->query = NULL;
	pier__dev_now(conn->queues->dev, &port);
	for (unsigned int i = 0; addrs && i < addrs->count; i++) {
		if (!is_of_source(attempt, &addrs->addr[i]))
			continue;
		if (pier__is_reachable(&port, &addrs->addr[i])) {
			attempt->addrs.addr[attempt->addrs.count++] =
				addrs->addr[i];
			continue;
		}
		attempt->may_pass = true;
		snprintf(family, sizeof(family), "a family that %s has",
			 port.name);
	}
	if (!attempt->addrs.count) {
		if (!addrs)
			attempt->may_pass = true;
		attempt->error = unknown(conn, addrs, err, reason, family);
		snprintf(attempt->text, sizeof(attempt->text), "%s",
			 pier_last_error());
	}
	pier__conn_schedule(conn);
}

/* Try another address: store the error of this one, and may it pass? */
static void try_another(struct pier_conn *conn, int err, bool may_pass)
{
	struct pier__rdmacm_conn *cm = conn->cm;

	if (may_pass)
		cm->attempt->may_pass = true;
	cm->attempt->error = err;
	snprintf(cm->attempt->text, sizeof(cm->attempt->text), "%s",
		 pier_last_error());
	if (cm->id)
		conn->queues->rdmacm->fab->release(cm->id);
	cm->id = NULL;
	conn->gid_lost_at = 0;
	pier__conn_transition(conn, PIER__CONN_LOOKUP);
}

void pier__active_next(struct pier_conn *conn, int err)
{
	try_another(conn, err, true);
}

/* May a later call not fail so?  Addresses and routes come and go. */
static bool is_of_network(int err)
{
	return err == -EHOSTUNREACH || err == -ENETUNREACH ||
	       err == -ENETDOWN || err == -EADDRNOTAVAIL ||
	       err == -EADDRINUSE || err == -ETIMEDOUT || err == -EAGAIN;
}

/* A call of the device has failed. */
static void failed_locally(struct pier_conn *conn, const char *stage, int err)
{
	bool may_pass = is_of_network(err);

	try_another(conn, pier__rdmacm_fail(conn, err, stage, "%s",
					    pier_last_error()), may_pass);
}

/* When to try the next address: each has an equal share of the time. */
static uint64_t share(const struct pier_conn *conn, uint64_t now)
{
	const struct pier__addrs *addrs = &conn->cm->attempt->addrs;

	return now + (conn->deadline - now) / (addrs->count - addrs->next + 1);
}

/* Clear what a previous address has replied. */
static void forget(struct pier__rdmacm_conn *cm)
{
	cm->reason = 0;
	cm->foreign = false;
	cm->local[0] = '\0';
	free(cm->theirs.mem);
	cm->theirs = (struct pier__blob){ 0 };
	cm->seen = 0;
}

static void try_next(struct pier_conn *conn, uint64_t now)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct pier__attempt *attempt = cm->attempt;
	union pier__sockaddr *dst = &attempt->addrs.addr[attempt->addrs.next++];
	const union pier__sockaddr *src =
		attempt->has_source ? &attempt->source : NULL;
	int err;

	forget(cm);
	attempt->dst_was_loopback = pier__set_own_address(conn, dst);
	pier__rdmacm_set_peer(conn, &dst->sa);
	attempt->until = share(conn, now);
	err = pier__check_peer(src, dst);
	if (err) {
		try_another(conn, pier__rdmacm_fail(conn, err,
						    "address resolution", "%s",
						    pier_last_error()), false);
		return;
	}
	err = pier__check_family(conn, dst);
	if (!err)
		err = conn->queues->rdmacm->fab->resolve(
			conn->queues->rdmacm->cm, src ? &src->sa : NULL,
			&dst->sa, pier__ms_left(now, attempt->until), conn,
			&cm->id);
	if (err)
		failed_locally(conn, "address resolution", err);
}

/* No address has led to a connection: begin a pause, or fail. */
static void give_up(struct pier_conn *conn, uint64_t now)
{
	struct pier__attempt *attempt = conn->cm->attempt;
	const struct pier__retry *retry = &attempt->retry;
	char addresses[48] = "", attempts[64] = "";

	if (attempt->may_pass && pier__retry_pause(&attempt->retry, now)) {
		if (retry->attempts == 1)
			pier__log(PIER_LOG_INFO, "cm", "%s: repeated for %u ms",
				  attempt->text, retry->ms);
		return;
	}
	if (attempt->addrs.count > 1)
		snprintf(addresses, sizeof(addresses), "; the last of %u "
			 "addresses", attempt->addrs.count);
	if (retry->ms && attempt->may_pass)
		snprintf(attempts, sizeof(attempts), "; attempt %u, none later "
			 "than %u ms", retry->attempts, retry->ms);
	if (addresses[0] || attempts[0])
		pier__fail(attempt->error, "%s%s%s", attempt->text, addresses,
			   attempts);
	else
		pier__fail_again(attempt->error, attempt->text);
	pier__conn_fail(conn, attempt->error);
}

/* Which ports a firewall may block, in @ret. */
static const char *ports(const struct pier_conn *conn, char *ret, size_t size)
{
	const struct pier__port *port = &conn->queues->dev->info.port;
	uint16_t own = conn->queues->chan->udp_port;

	ret[0] = '\0';
	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND ||
	    port->limits.by_address)
		return ret;
	if (own == ROCE_UDP_PORT)
		snprintf(ret, size, ", and does the network let UDP port %u "
			 "pass", own);
	else
		snprintf(ret, size, ", and does the network let UDP port %u "
			 "pass there and port %u back, or %u both ways if it "
			 "is a RoCE device",
			 conn->cm->attempt->peer.port, own, ROCE_UDP_PORT);
	return ret;
}

static void timed_out(struct pier_conn *conn)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	const char *stage = "address resolution", *reason = "no answer";
	char list[160], text[256];

	if (conn->state == PIER__CONN_REQ_SENT) {
		stage = "connection request";
		snprintf(text, sizeof(text), "no answer in time: does the "
			 "server run its progress engine%s?",
			 ports(conn, list, sizeof(list)));
		reason = text;
	} else if (cm->attempt->query) {
		stage = "name resolution";
		reason = "no name server answered in time";
	}
	pier__active_next(conn, pier__rdmacm_fail(conn, -ETIMEDOUT, stage, "%s",
						  reason));
}

static int find_addresses(struct pier_conn *conn)
{
	struct pier__attempt *attempt = conn->cm->attempt;
	struct pier__rdmacm *rdmacm = conn->queues->rdmacm;
	int family = AF_UNSPEC, err;

	if (!attempt->peer.is_name) {
		attempt->addrs.addr[0] = attempt->peer.addr;
		attempt->addrs.count = 1;
		pier__set_scope(conn, &attempt->addrs.addr[0]);
		return 0;
	}
	if (attempt->type == PIER_ADDR_IPV4)
		family = AF_INET;
	else if (attempt->type == PIER_ADDR_IPV6)
		family = AF_INET6;
	if (!rdmacm->lookup) {
		err = pier__lookup_create(conn->queues->pe, &rdmacm->lookup);
		if (err)
			return err;
	}
	return pier__lookup_name(rdmacm->lookup, attempt->peer.name, family,
				 attempt->peer.port, name_resolved, conn,
				 &attempt->query);
}

/* The pause is over: look its name up once more, and try all addresses. */
static void try_again(struct pier_conn *conn, uint64_t now)
{
	struct pier__attempt *attempt = conn->cm->attempt;
	int err;

	conn->deadline = pier__retry_resume(&attempt->retry, now);
	pier__query_cancel(attempt->query);
	attempt->query = NULL;
	attempt->addrs = (struct pier__addrs){ 0 };
	attempt->stale = 0;
	attempt->may_pass = false;
	err = find_addresses(conn);
	if (err)
		failed_locally(conn, "name resolution", err);
}

uint64_t pier__active_step(struct pier_conn *conn, uint64_t now)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct pier__attempt *attempt = cm->attempt;
	bool more;

	if (now < attempt->retry.at)
		return attempt->retry.at;
	if (attempt->retry.at)
		try_again(conn, now);
	more = attempt->addrs.next < attempt->addrs.count;
	if (now >= conn->deadline || (cm->id && now >= attempt->until)) {
		timed_out(conn);
		if (now >= conn->deadline)
			give_up(conn, now);
		return now;
	}
	if (cm->id)
		return attempt->until;
	if (attempt->query)
		return conn->deadline;
	if (more)
		try_next(conn, now);
	else
		give_up(conn, now);
	return cm->id ? attempt->until : now;
}

/* The route is resolved: send a REQ. */
static int send_req(struct pier_conn *conn)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	uint8_t field[PIER__CM_REQ_DATA];
	struct pier__cm_param param = { .data = field };
	int len, err;

	pier__sockaddr_text((const void *)&cm->id->local, cm->local);
	pier__rdmacm_gid_bound(conn);
	err = pier__rdmacm_qp_create(conn);
	if (err)
		return err;
	len = pier__handshake_encode(conn, field, sizeof(field));
	if (len < 0)
		return len;
	param.len = (size_t)len;
	pier__rdmacm_param(conn, &param);
	err = conn->queues->rdmacm->fab->connect(cm->id, &param);
	if (!err)
		pier__conn_transition(conn, PIER__CONN_REQ_SENT);
	return err;
}

/* A REP has arrived: the handshake follows. */
static void rep_received(struct pier_conn *conn,
			 const struct pier__cm_event *ev)
{
	int err = pier__handshake_decode(conn, ev);

	if (!err)
		err = pier__rdmacm_qp_ready(conn);
	if (!err) {
		pier__conn_transition(conn, PIER__CONN_ACCEPTED);
		err = conn->queues->rdmacm->fab->establish(conn->cm->id);
	}
	if (err) {
		pier__conn_fail(conn, pier__rdmacm_fail(conn, err, "handshake",
							"%s",
							pier_last_error()));
		return;
	}
	pier__conn_transition(conn, PIER__CONN_HELLO);
	pier__attempt_free(conn);
}

/*
 * Has a program rejected it?  A connection manager sends the same reason if it
 * has no better one, but without data.
 */
static bool is_decided(const struct pier_conn *conn,
		       const struct pier__cm_event *ev)
{
	if (ev->reason != ROCE_REJ_CONSUMER)
		return false;
	for (size_t i = 0; i < ev->len; i++)
		if (ev->data[i])
			return true;
	return conn->cm->attempt->addrs.next >= conn->cm->attempt->addrs.count;
}

/*
 * The peer still has a connection to this QPN, of a device or a process that
 * has ended: the same address is tried again, with another QPN.
 */
static void renew_qp(struct pier_conn *conn)
{
	pier__conn_destroy_qp(conn);
	conn->cm->attempt->addrs.next--;
}

static void rejected(struct pier_conn *conn, const struct pier__cm_event *ev)
{
	bool is_final = pier__rdmacm_is_final(ev);
	int err = pier__rdmacm_rejected(conn, ev);	/* the last error */

	if (conn->state != PIER__CONN_REQ_SENT || is_final ||
	    (!conn->cm->attempt->retry.ms && is_decided(conn, ev))) {
		pier__conn_fail(conn, err);
		return;
	}
	if (ev->reason == ROCE_REJ_STALE &&
	    conn->cm->attempt->stale++ < STALE_MAX)
		renew_qp(conn);
	pier__active_next(conn, err);
}

/* What the user can do about @err, of one address. */
static const char *remedy(int err)
{
	if (err == -EADDRINUSE)
		return "no process there has that UDP port; a RoCE device "
		       "would respond to UDP port 4791 here, which is in "
		       "use: unload rdma_rxe, end the process that has it, "
		       "or use another network namespace";
	return "is the host up and reachable from here, and does the server "
	       "listen?";
}

static void unreachable(struct pier_conn *conn, const struct pier__cm_event *ev)
{
	const char *stage = conn->state == PIER__CONN_REQ_SENT ?
				    "connection request" : "address resolution";
	int err = pier__rdmacm_fail(conn, ev->error, stage, "%s: %s",
				    pier_strerror(ev->error),
				    remedy(ev->error));

	if (conn->state <= PIER__CONN_REQ_SENT)
		pier__active_next(conn, err);
	else
		pier__conn_fail(conn, err);
}

void pier__active_event(struct pier_conn *conn, const struct pier__cm_event *ev)
{
	int err;

	if (!pier__conn_is_connecting(conn))
		return;
	switch (ev->kind) {
	case PIER__CM_RESOLVED:
		err = conn->state == PIER__CONN_LOOKUP ? send_req(conn) : 0;
		if (err)
			failed_locally(conn, "connection request", err);
		break;
	case PIER__CM_RESPONSE:
		if (conn->state == PIER__CONN_REQ_SENT)
			rep_received(conn, ev);
		break;
	case PIER__CM_REJECTED:
		rejected(conn, ev);
		break;
	case PIER__CM_UNREACHABLE:
		unreachable(conn, ev);
		break;
	default:
		break;
	}
}

static int begin(struct pier_conn *conn, const struct pier_connect_config *cfg,
		 const struct pier__peer *peer)
{
	struct pier__attempt *attempt = calloc(1, sizeof(*attempt));
	uint64_t now = pier__now();
	int err;

	if (!attempt)
		return pier__fail(-ENOMEM, "connect: no memory");
	conn->cm->attempt = attempt;
	attempt->peer = *peer;
	attempt->raw = cfg->raw;
	conn->user_data = cfg->user_data;
	pier__conn_transition(conn, PIER__CONN_LOOKUP);
	attempt->type = cfg->type;
	pier__retry_init(&attempt->retry, cfg, now);
	conn->deadline = now + cfg->timeout_ms * PIER__MS;
	err = pier__set_source(conn, cfg->source);
	if (!err)
		err = pier__handshake_data(conn, cfg->data, cfg->data_len,
					   cfg->raw ? PIER__CM_REQ_DATA :
						      PIER_PRIVATE_DATA_MAX);
	if (!err)
		err = find_addresses(conn);
	return err;
}

int pier__connect_to(struct pier__queues *queues,
		     const struct pier_connect_config *cfg,
		     struct pier_conn **ret)
{
	struct pier_connect_config c = { 0 };
	struct pier__peer peer;
	struct pier_conn *conn;
	int err = pier__config_copy(&c, sizeof(c), cfg, cfg->size);

	if (!err)
		err = pier__config_u32(&c.timeout_ms, "timeout_ms",
				       queues->cfg->connect_timeout_ms, 1,
				       INT32_MAX);
	if (!err)
		err = pier__retry_settle(&c);
	if (!err)
		err = pier__peer_parse(c.peer, c.type, c.port, &peer);
	if (!err)
		err = pier__rdmacm_open(queues);
	if (!err)
		err = pier__rdmacm_conn_create(queues, &pier__flow_active,
					       &conn);
	if (err)
		return err;
	err = begin(conn, &c, &peer);
	if (err) {
		pier__rdmacm_conn_uncreate(conn);
		return err;
	}
	*ret = conn;
	return 0;
}
