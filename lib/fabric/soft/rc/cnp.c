/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Explicit congestion notification.  A switch marks packets before its queue is
 * full.  The receiver of one sends its peer a congestion notification packet
 * (CNP), as RoCE devices do, and who receives that has less in flight.
 */
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/rc/qp.h"

#define PERIOD 50000		/* ns, from one CNP of a QP to the next */
#define RESERVED 16		/* zero bytes behind the BTH */

static void packet(const struct soft_qp *qp, struct soft_tx *ret)
{
	struct soft_hdr hdr = {
		.opcode = SOFT_CNP, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = qp->dest_qpn, .becn = true,
	};
	size_t len = pier__soft_encode(&hdr, ret->hdr);

	memset(ret->hdr + len, 0, RESERVED);
	ret->hdr_len = (uint8_t)(len + RESERVED);
	ret->src = qp->src;
	ret->dst = qp->cwnd->addr;
	ret->tclass = qp->tclass;
	ret->hop_limit = qp->hop_limit;
}

static void notify(struct soft_qp *qp)
{
	struct soft_tx tx = { .pad = 0 };

	if (qp->cnp_at && qp->ep->now - qp->cnp_at < PERIOD)
		return;
	qp->cnp_at = qp->ep->now;
	packet(qp, &tx);
	/* If the socket is full it is lost, like any packet. */
	if (qp->io->ops->send(qp->io, &tx, 1) != 1)
		return;
	pier__soft_count(qp, SOFT_COUNTER(cnps_sent));
	pier__soft_qp_sent_alone(qp, &tx);
}

void pier__soft_cnp_marked(struct soft_qp *qp, const struct soft_packet *in)
{
	uint8_t opcode = in->hdr.opcode;
	bool read = pier__soft_is_read_response(opcode);

	pier__soft_count(qp, SOFT_COUNTER(marked));
	/* How much a soft peer responds is limited by our window. */
	if (read)
		pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
	if (opcode != SOFT_ACK && !(read && qp->selective))
		notify(qp);
}

void pier__soft_cnp_receive(struct soft_qp *qp)
{
	pier__soft_count(qp, SOFT_COUNTER(cnps_received));
	pier__soft_incast_lost(qp);
	pier__soft_cwnd_reduce(qp->ep, qp->cwnd);
}
