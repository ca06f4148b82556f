/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet that shows whether the peer's QP exists. */
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"

/*
 * A WRITE of nothing before the oldest packet in flight: to the peer it is a
 * duplicate, which it acknowledges and does not execute.  No request of the
 * program is involved.
 */
static void packet(const struct soft_qp *qp, struct soft_tx *ret)
{
	struct soft_hdr hdr = {
		.opcode = SOFT_WRITE_ONLY, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = qp->dest_qpn, .ack_req = true,
		.psn = (uint32_t)(qp->req.una - 1) & SOFT_PSN_MASK,
	};

	ret->src = qp->src;
	ret->dst = qp->cwnd->addr;
	ret->tclass = qp->tclass;
	ret->hop_limit = qp->hop_limit;
	ret->hdr_len = (uint8_t)pier__soft_encode(&hdr, ret->hdr);
}

void pier__soft_qp_sent_alone(struct soft_qp *qp, const struct soft_tx *tx)
{
	uint64_t bytes = tx->hdr_len + 4;

	pier__soft_count(qp, SOFT_COUNTER(tx_packets));
	pier__soft_add(qp->counters, SOFT_COUNTER(tx_bytes), bytes);
	pier__soft_add(qp->ep->counters, SOFT_COUNTER(tx_bytes), bytes);
}

bool pier__soft_qp_probe(struct soft_qp *qp)
{
	struct soft_tx tx = { .pad = 0 };

	if (qp->state != IBV_QPS_RTS)
		return false;
	packet(qp, &tx);
	if (qp->io->ops->send(qp->io, &tx, 1) != 1)
		return true;	/* lost, like any packet */
	pier__soft_qp_sent_alone(qp, &tx);
	return true;
}
