/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/cm/cm_conn.h"

/*
 * Finding the peer of an attempt: where REQ goes, and what a "nobody listens"
 * is worth.
 *
 * The listener may be a soft one, on the service's own UDP port, or that of a
 * standard device, on port 4791.  The host's port 4791 may also be held by a
 * soft process that knows nothing of the service: what it says is no news of
 * the listener.  The one who has the service's port may take its time, being
 * stopped or starved; the time it takes is no news either.  What tells is
 * whether anybody has that port at all, and the peer's kernel knows: a
 * datagram to a port of nobody's is answered by ICMP.  So:
 *
 * - REQ goes to the service's port.  If it is not answered by the first
 *   repeat, the port is knocked at, with every repeat.  Loopback answers at
 *   once, a network by the repeat after.
 * - Port 4791 is asked as well when the service's port is known to be closed,
 *   and from the second repeat on, since a firewall may swallow the ICMP.
 *   Not so if the listener has said anything.  A host that proved to be a
 *   standard one is asked there from the start.
 * - Port 4791 itself is never knocked at: Soft-RoCE, of Linux 6.1 at least,
 *   crashes the kernel on a datagram there that is shorter than a header.
 * - If the service's port is closed and our port 4791 is not to be had, so that
 *   a standard peer's answers go astray, the attempt ends when that is certain.
 * - "Nobody listens" is final if the service's port is closed, or is 4791
 *   itself.  If the listener was heard, it is another's and void.  Else one
 *   full response time passes without a sign of life before it is believed.
 *
 * So a listener that is there is missed only if it is silent for that long on
 * a host whose port 4791 is another's; and that nobody listens is known within
 * a repeat or two wherever ICMP gets through.
 */
#define ASK_BOTH 2		/* repeats */
#define CERTAIN 4		/* repeats: 1.6 s, long for who is there */
#define WAIT_KNOCK (60 * PIER__MS)	/* for the ICMP message */
#define WAIT_DENIED (500 * PIER__MS)	/* longest, for a sign of life */

static void knock_end(struct soft_cm *cm, struct soft_cm_find *find)
{
	if (find->knock)
		cm->host->ops->knock_end(cm->host, find->knock);
	find->knock = NULL;
}

void pier__soft_cm_find_end(struct soft_cm *cm, struct soft_cm_find *find)
{
	knock_end(cm, find);
	if (find->standard)
		cm->host->ops->standard(cm->host, false);
	find->standard = false;
}

/* Learn what there is to learn about the service's port. */
static void knock(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	const struct soft_cm_host_ops *ops = cm->host->ops;
	struct soft_cm_find *find = &conn->shake->find;
	struct soft_addr dst = {
		.ip = conn->dst, .port = conn->shake->service,
	};

	if (find->closed || !ops->knock || dst.port == SOFT_STANDARD_PORT)
		return;
	find->closed = ops->knock(cm->host, &conn->src, &dst, &find->knock);
	if (find->closed)
		knock_end(cm, find);
}

void pier__soft_cm_find_ask(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	struct soft_cm_shake *shake = conn->shake;
	struct soft_cm_find *find = &shake->find;

	find->both = find->closed ||
		     (conn->sends >= ASK_BOTH && !find->alive) ||
		     (conn->sends && shake->service == SOFT_STANDARD_PORT) ||
		     IN6_ARE_ADDR_EQUAL(&cm->last_standard, &conn->dst);
	if (find->both && !find->standard)
		find->standard = cm->host->ops->standard(cm->host, true);
	pier__soft_cm_send(cm, conn, shake->mad);
}

bool pier__soft_cm_find_refused(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->shake->find;
	uint64_t now = pier__soft_cm_now(cm);

	if (conn->shake->service == SOFT_STANDARD_PORT)
		return true;
	knock(cm, conn);
	if (find->closed)
		return true;
	if (find->alive || find->refused_until)
		return false;
	find->refused_until = now + pier__soft_cm_time(conn->timeout);
	if (conn->timer.due > now + WAIT_KNOCK)
		pier__soft_heap_set(&cm->timers, &conn->timer,
				    now + WAIT_KNOCK);
	return false;
}

void pier__soft_cm_find_alive(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->shake->find;

	find->alive = true;
	find->closed = false;
	find->refused_until = 0;
	knock_end(cm, find);
}

bool pier__soft_cm_find_over(struct soft_cm *cm, struct soft_cm_conn *conn)
{
	struct soft_cm_find *find = &conn->shake->find;
	bool over;

	knock(cm, conn);
	if (find->refused_until)
		over = find->closed ||
		       pier__soft_cm_now(cm) >= find->refused_until;
	else if (find->closed && !find->standard)
		over = conn->sends >= CERTAIN;
	else
		over = conn->sends >= conn->max_retries;
	if (over)
		knock_end(cm, find);
	return over;
}

uint64_t pier__soft_cm_find_wait(const struct soft_cm *cm,
				 const struct soft_cm_conn *conn,
				 uint64_t wait)
{
	uint64_t until = conn->shake->find.refused_until;
	uint64_t now = pier__soft_cm_now(cm);

	if (until <= now)
		return wait;
	if (wait > WAIT_DENIED)
		wait = WAIT_DENIED;
	return wait < until - now ? wait : until - now;
}

int pier__soft_cm_find_error(const struct soft_cm_conn *conn)
{
	const struct soft_cm_find *find = &conn->shake->find;

	if (find->closed && !find->standard)
		return -EADDRINUSE;
	if (!find->standard)
		pier__log(PIER_LOG_WARNING, "soft", "no answer; had the peer "
			  "been a standard RDMA device, it could not: UDP port"
			  " %u, where it sends to, is taken",
			  SOFT_STANDARD_PORT);
	return -ETIMEDOUT;
}
