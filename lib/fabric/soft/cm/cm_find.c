/* SPDX-License-Identifier: BSD-2-Clause */
/* Which UDP port the listener of an attempt has. */
#include <errno.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"

/*
 * The search for the listener's UDP port: where REQ goes, and when a REJ with
 * "no listener" is final.
 *
 * The listener may be a soft device, on the service's own UDP port, or a RoCE
 * device, on port 4791.  On the listener's host, port 4791 may also belong to a
 * soft process without this service, and its REJ does not concern the
 * listener.  The process that has the service's port may be stopped or slow,
 * and the time that it takes proves nothing either.  What is certain is whether
 * the service's port has a socket: to a datagram for a port without one the
 * peer's kernel replies by ICMP.  So:
 *
 * - REQ goes to the service's port.  If there is no response by the first
 *   retransmission, the port is probed with an empty datagram, then and with
 *   each further one.  On loopback the ICMP message comes at once, over a
 *   network by the next retransmission.
 * - REQ goes to port 4791 as well when the service's port is known to be
 *   closed, and from the second retransmission on, as a firewall may drop the
 *   ICMP messages; not if the listener has sent an MRA.  To a host that proved
 *   to have a RoCE device it goes there from the start.
 * - Port 4791 itself is never probed: Soft-RoCE, at least that of Linux 6.1,
 *   crashes the kernel on a datagram there that is shorter than a header.
 * - If the service's port is closed and our port 4791 cannot be bound, so that
 *   responses of a RoCE device do not arrive, the attempt ends when that is
 *   certain.
 * - "No listener" is final if the service's port is closed, or is 4791 itself.
 *   If the listener has sent an MRA, the REJ is ignored.  Otherwise it is final
 *   after one full response time without a message from the listener.
 *
 * So a listener is missed only if it is silent for that long on a host whose
 * port 4791 belongs to another process, and a service without a listener is
 * noticed within a retransmission or two wherever ICMP passes.
 */
#define ASK_BOTH 2		/* retransmissions */
#define CERTAIN 4		/* retransmissions: 1.6 s */
#define WAIT_ICMP (60 * PIER__MS)	/* for the ICMP message */
#define WAIT_DENIED (500 * PIER__MS)	/* longest, for a sign of life */

static void port_probe_end(struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->handshake->find;
	struct soft_cm_host *host = conn->cm->host;

	if (find->probe)
		host->ops->port_probe_end(host, find->probe);
	find->probe = NULL;
}

void pier__soft_cm_find_end(struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->handshake->find;

	port_probe_end(conn);
	if (find->has_roce_port)
		conn->cm->host->ops->roce_port(conn->cm->host, false);
	find->has_roce_port = false;
}

/* Find out whether the service's port is closed. */
static void probe_service_port(struct soft_cm_conn *conn)
{
	struct soft_cm_host *host = conn->cm->host;
	struct soft_cm_find *find = &conn->handshake->find;
	struct soft_addr dst = {
		.ip = conn->dst, .port = conn->handshake->service_port,
	};

	if (find->port_closed || !host->ops->port_probe ||
	    dst.port == ROCE_UDP_PORT)
		return;
	find->port_closed = host->ops->port_probe(host, &conn->src, &dst,
						  &find->probe);
	if (find->port_closed)
		port_probe_end(conn);
}

void pier__soft_cm_find_send(struct soft_cm_conn *conn)
{
	struct soft_cm_handshake *handshake = conn->handshake;
	struct soft_cm_find *find = &handshake->find;
	struct soft_cm *cm = conn->cm;

	find->both_ports =
		find->port_closed ||
		(conn->sends >= ASK_BOTH && !find->listener_seen) ||
		(conn->sends && handshake->service_port == ROCE_UDP_PORT) ||
		IN6_ARE_ADDR_EQUAL(&cm->last_roce_peer, &conn->dst);
	if (find->both_ports && !find->has_roce_port)
		find->has_roce_port = cm->host->ops->roce_port(cm->host, true);
	pier__soft_cm_send(conn, handshake->mad);
}

bool pier__soft_cm_find_is_rejected(struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->handshake->find;
	uint64_t now = pier__soft_cm_now(conn->cm);

	if (conn->handshake->service_port == ROCE_UDP_PORT)
		return true;
	probe_service_port(conn);
	if (find->port_closed)
		return true;
	if (find->listener_seen || find->rejected_until)
		return false;
	find->rejected_until = now + pier__soft_cm_time(conn->timeout);
	if (conn->timer.due > now + WAIT_ICMP)
		pier__soft_cm_timer_set(conn, now + WAIT_ICMP);
	return false;
}

void pier__soft_cm_find_listener_seen(struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->handshake->find;

	find->listener_seen = true;
	find->port_closed = false;
	find->rejected_until = 0;
	port_probe_end(conn);
}

bool pier__soft_cm_find_expired(struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->handshake->find;
	bool over;

	probe_service_port(conn);
	if (find->rejected_until)
		over = find->port_closed ||
		       pier__soft_cm_now(conn->cm) >= find->rejected_until;
	else if (find->port_closed && !find->has_roce_port)
		over = conn->sends >= CERTAIN;
	else
		over = conn->sends >= conn->max_retries;
	if (over)
		port_probe_end(conn);
	return over;
}

uint64_t pier__soft_cm_find_wait(const struct soft_cm_conn *conn, uint64_t wait)
{
	uint64_t until = conn->handshake->find.rejected_until;
	uint64_t now = pier__soft_cm_now(conn->cm);

	if (until <= now)
		return wait;
	if (wait > WAIT_DENIED)
		wait = WAIT_DENIED;
	return wait < until - now ? wait : until - now;
}

int pier__soft_cm_find_error(const struct soft_cm_conn *conn)
{
	const struct soft_cm_find *find = &conn->handshake->find;

	if (find->port_closed && !find->has_roce_port)
		return -EADDRINUSE;
	if (!find->has_roce_port)
		pier__log(PIER_LOG_WARNING, "soft", "no answer; if the peer "
			  "is a RoCE device, it could not answer: UDP port %u,"
			  " where it sends to, is taken",
			  ROCE_UDP_PORT);
	return -ETIMEDOUT;
}
