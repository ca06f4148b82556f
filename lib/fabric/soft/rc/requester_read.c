/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester: responses to READs and atomics. */
#include <errno.h>

#include "fabric/soft/rc/qp.h"

static bool ends_request(const struct soft_wqe *wqe, uint64_t seq)
{
	return pier__soft_wqe_span(wqe, seq) == 1;
}

/*
 * Does the response @in begin and end where that of @seq does?  Where a request
 * was resumed, responses begin, or go on: those of the request before, or of
 * Linux's rxe, whose responses to it do not begin anew.
 */
static bool place_fits(const struct soft_qp *qp, const struct soft_wqe *wqe,
		       uint64_t seq, const struct soft_packet *in)
{
	bool starts = (seq - wqe->first) % wqe->read_packets == 0;
	bool says_first = in->hdr.opcode == SOFT_READ_FIRST ||
			  in->hdr.opcode == SOFT_READ_ONLY;
	bool says_last = in->hdr.opcode == SOFT_READ_LAST ||
			 in->hdr.opcode == SOFT_READ_ONLY;

	if (!says_first && starts)
		return false;
	if (says_first && !starts && qp->req.read_from != (uint32_t)seq)
		return false;
	return says_last == ends_request(wqe, seq + in->packets - 1);
}

/* Is @in a valid response of @seq?  Parts begin and end anywhere. */
static bool read_fits(const struct soft_qp *qp, const struct soft_wqe *wqe,
		      uint64_t seq, const struct soft_packet *in)
{
	uint32_t len = wqe->length - (uint32_t)(seq - wqe->first) * qp->mtu;
	uint32_t most = in->packets * qp->mtu;
	bool acks = in->hdr.opcode != SOFT_READ_MIDDLE;

	return in->len == (len < most ? len : most) &&
	       in->packets <= pier__soft_wqe_span(wqe, seq) &&
	       (!acks || in->hdr.syndrome >> 5 == 0) &&
	       (seq < qp->req.parts_end || place_fits(qp, wqe, seq, in));
}

/* Is @in an answer to @wqe, by its opcode? */
static bool is_kind(const struct soft_wqe *wqe, const struct soft_packet *in)
{
	return in->hdr.opcode == SOFT_ATOMIC_ACK ?
		       pier__soft_wqe_is_atomic(wqe) :
		       pier__soft_wqe_is_read(wqe);
}

/* The same of data that are read from the peer's memory. */
static int pull_result(struct soft_qp *qp, const struct soft_wqe *wqe,
		       uint32_t off, const struct soft_packet *in)
{
	const struct soft_pull *pull = in->pull;
	struct iovec iov[SOFT_SEND_SGE];
	int n, err;

	n = pier__soft_sge_map(qp, wqe->sge, wqe->sges, off, in->len,
			       IBV_ACCESS_LOCAL_WRITE, iov);
	err = n < 0 ? n : pull->io->ops->pull(pull->io, iov, n, pull);
	if (!err)
		pier__soft_count(qp, SOFT_COUNTER(shm_pulled));
	return err;
}

/*
 * Bring the result @in, of @seq, to its place.  Errors: -EACCES; -EFAULT and
 * -EAGAIN, as the member pull of soft_io_ops.
 */
static int put_result(struct soft_qp *qp, const struct soft_wqe *wqe,
		      uint64_t seq, const struct soft_packet *in)
{
	uint32_t off = (uint32_t)(seq - wqe->first) * qp->mtu;

	if (in->hdr.opcode == SOFT_ATOMIC_ACK)
		return pier__soft_sge_fill(qp, wqe->sge, wqe->sges, 0,
					   &in->hdr.original, 8);
	if (in->pull)
		return pull_result(qp, wqe, off, in);
	return pier__soft_sge_fill(qp, wqe->sge, wqe->sges, off, in->data,
				   in->len);
}

/* [una, @to), of one request of @wqe, the oldest, is answered. */
static void answered_to(struct soft_qp *qp, struct soft_wqe *wqe, uint64_t to)
{
	struct soft_req *req = &qp->req;

	/* Since going back it may not have been requested again. */
	if (req->nxt > req->una && ends_request(wqe, to - 1))
		req->rd_atomic--;
	pier__soft_req_advance(qp, wqe, to);
}

/* What arrived ahead of the gap that is filled now. */
static void go_on(struct soft_qp *qp)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe;
	uint64_t to;

	while (req->board) {
		wqe = req->head;
		to = pier__soft_board_complete(qp);
		if (to == req->una)
			break;
		if (pier__soft_wqe_is_read(wqe) ||
		    pier__soft_wqe_is_atomic(wqe))
			answered_to(qp, wqe, to);
		else
			pier__soft_req_advance(qp, wqe, to);
	}
}

bool pier__soft_req_answered(struct soft_qp *qp, const struct soft_packet *in)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = req->head;
	int err;

	if (!is_kind(wqe, in)) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return true;
	}
	if (in->hdr.opcode != SOFT_ATOMIC_ACK &&
	    !read_fits(qp, wqe, req->una, in)) {
		pier__soft_qp_fail(qp, IBV_WC_BAD_RESP_ERR);
		return true;
	}
	if (req->board && pier__soft_is_several(in))
		pier__soft_board_free(qp);
	err = put_result(qp, wqe, req->una, in);
	if (err == -EAGAIN)
		return false;
	if (err) {
		pier__soft_qp_fail(qp, err == -EFAULT && in->pull ?
					       IBV_WC_REM_OP_ERR :
					       IBV_WC_LOC_PROT_ERR);
		return true;
	}
	if (req->board)
		pier__soft_board_answered(qp, wqe, req->una);
	answered_to(qp, wqe, req->una + in->packets);
	go_on(qp);
	return true;
}

/* The request that @seq is of. */
static struct soft_wqe *wqe_at(const struct soft_req *req, uint64_t seq)
{
	struct soft_wqe *wqe = req->head;

	while (wqe && seq >= wqe->first + wqe->packets)
		wqe = wqe->next;
	return wqe;
}

int pier__soft_req_answered_early(struct soft_qp *qp,
				  const struct soft_packet *in, uint64_t seq)
{
	struct soft_req *req = &qp->req;
	struct soft_wqe *wqe = wqe_at(req, seq);

	if (!wqe || !is_kind(wqe, in)) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return 0;
	}
	if (in->hdr.opcode != SOFT_ATOMIC_ACK &&
	    !read_fits(qp, wqe, seq, in)) {
		pier__soft_qp_fail(qp, IBV_WC_BAD_RESP_ERR);
		return 0;
	}
	if (pier__soft_is_several(in))
		return -1;
	if (seq - req->una >= SOFT_EARLY)	/* for which there is no slot */
		return pier__soft_board_passed(qp, seq);
	/* After going back the rest is requested again anyway. */
	if (seq >= req->nxt || pier__soft_board_is_answered(qp, seq)) {
		pier__soft_count(qp, SOFT_COUNTER(stale));
		return 0;
	}
	if (put_result(qp, wqe, seq, in) ||
	    pier__soft_board_answered(qp, wqe, seq))
		return -1;
	pier__soft_count(qp, SOFT_COUNTER(early));
	return 1;
}
