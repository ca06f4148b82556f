/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester: responses to READs and atomics. */
#include "fabric/soft/rc/qp.h"

/*
 * Is @in a valid response packet @k of the READ that is the oldest?  Where a
 * request was resumed, responses begin, or go on: those of the request before,
 * or of Linux's rxe, whose responses to it do not begin anew.
 */
static bool read_fits(const struct soft_qp *qp, uint32_t k,
		      const struct soft_packet *in)
{
	const struct soft_wqe *wqe = qp->req.head;
	bool starts = k % wqe->read_packets == 0;
	bool says_first = in->hdr.opcode == SOFT_READ_FIRST ||
			  in->hdr.opcode == SOFT_READ_ONLY;
	bool last = k + 1 == wqe->packets || (k + 1) % wqe->read_packets == 0;
	bool says_last = in->hdr.opcode == SOFT_READ_LAST ||
			 in->hdr.opcode == SOFT_READ_ONLY;
	bool acks = in->hdr.opcode != SOFT_READ_MIDDLE;
	uint32_t len = wqe->length - k * qp->mtu;

	if (!says_first && starts)
		return false;
	if (says_first && !starts &&
	    qp->req.read_from != (uint32_t)qp->req.una)
		return false;
	return last == says_last && in->len == (len < qp->mtu ? len : qp->mtu)
	       && (!acks || in->hdr.syndrome >> 5 == 0);
}

static void read_answered(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	uint32_t k = req->una - wqe->first;
	bool counted = req->nxt > req->una;

	if (!pier__soft_wqe_is_read(wqe)) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return;
	}
	if (!read_fits(qp, k, in)) {
		pier__soft_qp_fail(qp, IBV_WC_BAD_RESP_ERR);
		return;
	}
	if (pier__soft_sge_fill(qp->ep, wqe->sge, wqe->sges, k * qp->mtu,
				in->data, in->len)) {
		pier__soft_qp_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (counted &&
	    (k + 1 == wqe->packets || (k + 1) % wqe->read_packets == 0))
		req->rd_atomic--;
	pier__soft_req_advance(qp, wqe, req->una + 1);
}

static void atomic_answered(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	bool counted = req->nxt > req->una;

	if (!pier__soft_wqe_is_atomic(wqe)) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return;
	}
	if (pier__soft_sge_fill(qp->ep, wqe->sge, wqe->sges, 0,
				&in->hdr.original, 8)) {
		pier__soft_qp_fail(qp, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (counted)
		req->rd_atomic--;
	pier__soft_req_advance(qp, wqe, req->una + 1);
}

void pier__soft_req_answered(struct soft_qp *qp, const struct soft_packet *in)
{
	if (in->hdr.opcode == SOFT_ATOMIC_ACK)
		atomic_answered(qp, in);
	else
		read_answered(qp, in);
}
