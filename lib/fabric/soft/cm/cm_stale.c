/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer that may have restarted: is its old connection still there? */
#include "core/clock.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/rc/qp.h"

/*
 * A REQ with the QPN of a connection's peer proves that the peer has lost that
 * connection, if the peer has sent it.  Its source can be forged, so the old
 * connection is asked first: an established one by a packet that a QP answers
 * without its program, and an attempt by its REP.  A soft QP answers by the
 * helper thread while the program computes, but not while the whole process is
 * stopped.  The REQ is rejected as stale meanwhile, and its sender may send
 * another one.
 */
#define PROBES 6		/* at 0, 50, 150, 350, 750, 1550 ms; */
				/* the end is at 3150 ms */
#define REPS 5			/* waits, of 50, 100, ... ms: until 3150 ms */

static struct soft_qp *qp_of(const struct soft_cm_conn *conn)
{
	return pier__soft_table_find(conn->cm->ep, conn->qpn);
}

static void probe_begin(struct soft_cm_conn *conn)
{
	struct soft_qp *qp = qp_of(conn);

	if (!qp || !pier__soft_qp_probe(qp)) {
		pier__soft_cm_dreq_begin(conn);
		return;
	}
	qp->cm_id = conn->local_id;
	conn->doubted = true;
	pier__soft_cm_retry_start(conn);
}

void pier__soft_cm_doubt(struct soft_cm_conn *conn)
{
	if (conn->doubted)
		return;
	if (conn->state == SOFT_CM_ESTABLISHED) {
		probe_begin(conn);
	} else if (conn->state == SOFT_CM_REP_SENT) {
		conn->doubted = true;
		if (conn->max_retries > REPS)
			conn->max_retries = REPS;
		pier__soft_cm_retry_start(conn);
	}
}

bool pier__soft_cm_doubt_again(struct soft_cm_conn *conn)
{
	struct soft_qp *qp = qp_of(conn);

	return conn->sends < PROBES && qp && pier__soft_qp_probe(qp);
}

void pier__soft_cm_doubt_end(struct soft_cm_conn *conn)
{
	conn->doubted = false;
	pier__soft_cm_timer_set(conn, PIER__NEVER);
	if (conn->rtu_unseen)
		pier__soft_cm_rtu_again(conn);
}
