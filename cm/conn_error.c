/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Failures of a connection: error messages that name both ends, and whether the
 * local port is the cause.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"

#define HELLO_PAUSE (20 * PIER__MS)	/* before it is sent again */

static const struct {
	int err;
	const char *text;
} meanings[] = {
	[IBV_WC_SUCCESS] = { 0, "success" },
	[IBV_WC_LOC_LEN_ERR] = { -EMSGSIZE,
		"the message is longer than the receive buffer" },
	[IBV_WC_LOC_QP_OP_ERR] = { -PIER_EDEVICE,
		"the local device could not execute the request" },
	[IBV_WC_LOC_PROT_ERR] = { -EFAULT,
		"local memory is not registered or not long enough" },
	[IBV_WC_WR_FLUSH_ERR] = { -ECANCELED,
		"cancelled: the connection ended first" },
	[IBV_WC_BAD_RESP_ERR] = { -PIER_EREMOP,
		"the peer's response matches no request" },
	[IBV_WC_LOC_ACCESS_ERR] = { -EFAULT,
		"local memory may not be written" },
	[IBV_WC_REM_INV_REQ_ERR] = { -PIER_EREMINVAL,
		"the peer calls it invalid: too long for its receive, or not "
		"allowed on this connection" },
	[IBV_WC_REM_ACCESS_ERR] = { -PIER_EREMACCESS,
		"the peer refused access: a wrong key, outside the exported "
		"range, or no such permission" },
	[IBV_WC_REM_OP_ERR] = { -PIER_EREMOP,
		"the peer failed to carry it out" },
	[IBV_WC_RETRY_EXC_ERR] = { -PIER_ERETRY,
		"the peer does not answer: it has died, or the network is "
		"down" },
	[IBV_WC_RNR_RETRY_EXC_ERR] = { -PIER_ERNR,
		"the peer has no receive posted" },
	[IBV_WC_REM_ABORT_ERR] = { -PIER_EREMOP, "the peer aborted it" },
	[IBV_WC_FATAL_ERR] = { -PIER_EDEVICE, "the device failed" },
	[IBV_WC_RESP_TIMEOUT_ERR] = { -PIER_ERETRY, "no answer in time" },
	[IBV_WC_GENERAL_ERR] = { -PIER_EDEVICE, "the device failed" },
};

#define COUNT (sizeof(meanings) / sizeof(meanings[0]))

static int wc_error(enum ibv_wc_status status)
{
	if (status == IBV_WC_SUCCESS)
		return 0;
	if ((unsigned int)status < COUNT && meanings[status].err)
		return meanings[status].err;
	return -PIER_EDEVICE;
}

static const char *wc_text(enum ibv_wc_status status)
{
	if ((unsigned int)status < COUNT && meanings[status].text)
		return meanings[status].text;
	return "a failure specific to the device";
}

/* Of a message that was too long for a receive: the size at the other end. */
static void size_text(const struct pier_conn *conn, enum ibv_wc_status status,
		      char *ret, size_t size)
{
	const struct pier__fabric_qp *fab = conn->queues->fab;
	struct pier__fault fault;
	uint32_t len;

	if (status == IBV_WC_LOC_LEN_ERR && fab->fault(conn->qp, &fault) &&
	    fault.request)
		snprintf(ret, size, "the message, %s%u bytes, is longer than "
			 "the receive buffer", fault.partial ? "at least " : "",
			 fault.len);
	else if (status == IBV_WC_REM_INV_REQ_ERR && fab->refused &&
		 fab->refused(conn->qp, &len))
		snprintf(ret, size, "too long for the peer's receive of at "
			 "most %u bytes", len);
	else
		snprintf(ret, size, "%s", wc_text(status));
}

/* An address that the port never had cannot be lost. */
static bool has_gid(const struct pier__port *port, const struct pier_conn *conn)
{
	uint32_t index;

	return !conn->gid_lost_at ||
	       pier__gid_find(port, &conn->local_gid, &index);
}

int pier__conn_port_fault(const struct pier_conn *conn, char *ret, size_t size)
{
	char gid[INET6_ADDRSTRLEN];
	struct pier__port port;

	if (pier__dev_now(conn->queues->dev, &port) == -ENODEV) {
		snprintf(ret, size, "; %s was removed", port.name);
		return -ENODEV;
	}
	if (!has_gid(&port, conn)) {
		snprintf(ret, size, "; %s has lost the address %s", port.name,
			 pier__gid_text(conn->local_gid.raw, gid));
		return -EADDRNOTAVAIL;
	}
	if (!port.active) {
		snprintf(ret, size, "; %s port %u is down: bring %s up",
			 port.name, port.port,
			 port.netdev[0] ? port.netdev : "its link");
		return -ENETDOWN;
	}
	if (conn->path_mtu > 128u << port.mtu) {
		snprintf(ret, size, "; the path MTU is %u, but that of %s is "
			 "now %u", conn->path_mtu, port.name,
			 128u << port.mtu);
		return -EMSGSIZE;
	}
	ret[0] = '\0';
	return 0;
}

/* Add both ends and the stage to the last error, @err, if it lacks them. */
static int with_ends(const struct pier_conn *conn, int err)
{
	if (conn->flow->fail)
		conn->flow->fail(conn, err, pier__conn_stage(conn), "%s",
				 pier_last_error());
	return err;
}

int pier__conn_gid_lost(const struct pier_conn *conn)
{
	const char *netdev = conn->queues->dev->info.port.netdev;
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

	if (conn->flow->fail)
		return conn->flow->fail(conn, -EADDRNOTAVAIL,
					pier__conn_stage(conn), "the address "
					"was removed from %s or has expired",
					netdev);
	return pier__fail(-EADDRNOTAVAIL, "the address %s, from which the "
			  "connection to %s QPN 0x%06x was made, is no longer "
			  "one of %s: it was removed or has expired",
			  pier__gid_text(conn->local_gid.raw, local),
			  pier__gid_text(conn->remote_gid.raw, remote),
			  conn->remote.qpn, netdev);
}

void pier__conn_fail(struct pier_conn *conn, int err)
{
	if (pier__conn_is_ending(conn))
		return;
	conn->error = err;
	free(conn->error_text);
	conn->error_text = strdup(pier_last_error());
	pier__conn_transition(conn, PIER__CONN_FAILING);
}

void pier__conn_queues_failed(struct pier_conn *conn)
{
	const struct pier__queues *queues = conn->queues;

	if (pier__conn_is_ending(conn))
		return;
	pier__fail_again(queues->error, queues->error_text);
	pier__conn_fail(conn, with_ends(conn, queues->error));
}

static const char *refusal_text(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_REM_ACCESS_ERR:
		return "a wrong key, outside the exported range, or no such "
		       "permission";
	case IBV_WC_REM_INV_REQ_ERR:
		return "too long for its receive, or not allowed on this "
		       "connection";
	default:
		return "the memory of its receive is not registered any more";
	}
}

/* The end of a message: why the queue pair of @conn is in error. */
static void fault_text(const struct pier_conn *conn, char *ret, size_t size)
{
	struct pier__fault fault;
	int n;

	if (!conn->queues->fab->fault(conn->qp, &fault)) {
		snprintf(ret, size, ": it refused a request of the peer's, or "
			 "the program moved the queue pair to error");
		return;
	}
	if (fault.status == IBV_WC_FATAL_ERR) {
		snprintf(ret, size, ": its queue pair has failed");
		return;
	}
	n = snprintf(ret, size, ": it refused a %s of the peer's",
		     fault.request ? fault.request : "request");
	if (fault.request)
		n += snprintf(ret + n, size - n, ", %s%u bytes%s",
			      fault.partial ? "at least " : "", fault.len,
			      fault.has_range ? " at" : "");
	if (fault.has_range)
		n += snprintf(ret + n, size - n, " 0x%" PRIx64 " with rkey "
			      "0x%x", fault.addr, fault.rkey);
	if (fault.request)
		n += snprintf(ret + n, size - n, ", opcode 0x%02x",
			      fault.opcode);
	snprintf(ret + n, size - n, ": %s", refusal_text(fault.status));
}

/* The queue pair is in error, but no request of ours has failed. */
static void broken(struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN], reason[256];
	int err = pier__conn_port_fault(conn, reason, sizeof(reason));

	if (err == -ENODEV) {
		err = pier__dev_alive(conn->queues->dev);
		pier__conn_fail(conn, with_ends(conn, err));
		return;
	}
	if (!err) {
		err = -ECONNRESET;
		fault_text(conn, reason, sizeof(reason));
	}
	pier__gid_text(conn->remote_gid.raw, gid);
	if (conn->flow->fail)
		conn->flow->fail(conn, err, pier__conn_stage(conn),
				 "the device has ended it%s",
				 err == -ECONNRESET ? reason : "");
	else
		pier__fail(err, "the device has ended the connection to %s "
			   "QPN 0x%06x%s", gid, conn->remote.qpn, reason);
	pier__conn_fail(conn, err);
}

void pier__conn_check_fault(struct pier_conn *conn)
{
	struct pier__fault fault;

	if (conn->qp && !pier__conn_is_ending(conn) &&
	    conn->queues->fab->fault(conn->qp, &fault))
		broken(conn);
}

bool pier__conn_is_at_fault(struct pier_conn *conn)
{
	if (!pier__conn_is_ending(conn)) {
		pier__dev_events(conn->queues->dev);
		pier__conn_check_fault(conn);
	}
	return pier__conn_is_ending(conn);
}

/* Fail for @what; @port is the part of the message about the local port. */
static int request_failed(const struct pier_conn *conn, int err,
			  const char *what, const struct ibv_wc *wc,
			  const char *port)
{
	char gid[INET6_ADDRSTRLEN], text[128];

	size_text(conn, wc->status, text, sizeof(text));
	if (conn->flow->fail)
		return conn->flow->fail(conn, err, what, "%s (verbs status %d, "
					"vendor 0x%x)", text, (int)wc->status,
					wc->vendor_err);
	return pier__fail(err, "%s to %s QPN 0x%06x failed: %s%s (verbs status "
			  "%d, vendor 0x%x, path MTU %u)", what,
			  pier__gid_text(conn->remote_gid.raw, gid),
			  conn->remote.qpn, text, port,
			  (int)wc->status, wc->vendor_err, conn->path_mtu);
}

/*
 * A peer that has disconnected and is gone answers no more, which this end may
 * see before a step has looked for the disconnect.
 */
static bool disconnected(const struct pier_conn *conn)
{
	return conn->state >= PIER__CONN_UP &&
	       pier__conn_peer_disconnected(conn);
}

/* A request was cancelled, as the connection ends. */
static int cancelled(struct pier_conn *conn)
{
	const char *reason;

	if (!pier__conn_is_at_fault(conn)) {
		if (disconnected(conn))
			pier__conn_transition(conn, PIER__CONN_FLUSHING);
		else
			broken(conn);
	}
	reason = pier_conn_error_text(conn);
	return pier__fail_again(wc_error(IBV_WC_WR_FLUSH_ERR), reason[0] ?
				reason : wc_text(IBV_WC_WR_FLUSH_ERR));
}

int pier__conn_failed(struct pier_conn *conn, const char *what,
		      const struct ibv_wc *wc)
{
	char port[128];
	int err = wc_error(wc->status), cause;

	if (wc->status == IBV_WC_WR_FLUSH_ERR ||
	    (wc->status == IBV_WC_RETRY_EXC_ERR && disconnected(conn)))
		return cancelled(conn);
	cause = pier__conn_port_fault(conn, port, sizeof(port));
	if (cause == -ENODEV) {		/* this failure is the first sign */
		err = with_ends(conn, pier__dev_alive(conn->queues->dev));
		pier__conn_fail(conn, err);
		return err;
	}
	/* no answer can arrive at an address that was removed */
	if (cause == -EADDRNOTAVAIL && (err == -PIER_ERETRY ||
					err == -PIER_EDEVICE)) {
		err = pier__conn_gid_lost(conn);
		pier__conn_fail(conn, err);
		return err;
	}
	if (cause && err == -PIER_EDEVICE)	/* its port failed, not it */
		err = cause;
	request_failed(conn, err, what, wc, port);
	pier__conn_fail(conn, err);
	return err;
}

void pier__conn_cancel(struct pier_conn *conn, const char *what)
{
	static const char reason[] = "cancelled in flight: what is posted "
				     "cannot be recalled: the connection ends";
	char gid[INET6_ADDRSTRLEN];

	if (pier__conn_is_ending(conn))
		return;
	pier__conn_flush(conn);		/* its requests are cancelled, too */
	if (conn->flow->fail)
		conn->flow->fail(conn, -ECANCELED, what, "%s", reason);
	else
		pier__fail(-ECANCELED, "%s to %s QPN 0x%06x %s", what,
			   pier__gid_text(conn->remote_gid.raw, gid),
			   conn->remote.qpn, reason);
	pier__conn_fail(conn, -ECANCELED);
}

void pier__conn_rnr_expired(struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN], reason[128];

	snprintf(reason, sizeof(reason), "the peer has had no receive posted "
		 "(RNR NAK) for %u ms, the rnr_timeout_ms of this end",
		 conn->queues->cfg->rnr_timeout_ms);
	pier__conn_flush(conn);		/* its requests fail, too */
	if (conn->flow->fail)
		conn->flow->fail(conn, -PIER_ERNR, pier__conn_stage(conn),
				 "%s", reason);
	else
		pier__fail(-PIER_ERNR, "tasks to %s QPN 0x%06x wait: %s",
			   pier__gid_text(conn->remote_gid.raw, gid),
			   conn->remote.qpn, reason);
	pier__conn_fail(conn, -PIER_ERNR);
}

bool pier__conn_recover(struct pier_conn *conn, const struct ibv_wc *wc)
{
	char reason[128];
	int err;

	if (conn->state != PIER__CONN_HELLO ||
	    wc->status != IBV_WC_RETRY_EXC_ERR)
		return false;
	err = pier__conn_port_fault(conn, reason, sizeof(reason));
	if (err == -ENODEV || err == -EADDRNOTAVAIL)
		return false;		/* another attempt would fail, too */
	/* the QP receives nothing any more: store what has arrived */
	conn->hello_seen = conn->hello_seen || pier__conn_hello_seen(conn);
	conn->next_try = pier__pe_now(conn->queues->pe) + HELLO_PAUSE;
	err = conn->flow->qp_reset(conn);
	if (err)
		pier__conn_fail(conn, with_ends(conn, err));
	return true;
}
