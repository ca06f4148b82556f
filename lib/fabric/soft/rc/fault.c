/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that a queue pair refuses, and what its program gets to know. */
#include <stdlib.h>

#include "fabric/soft/rc/qp.h"

static const struct {
	const char *name;
	bool has_range;			/* of memory here */
	bool partial;			/* more packets of it follow */
} requests[] = {
	[SOFT_SEND_FIRST] = { "send", false, true },
	[SOFT_SEND_MIDDLE] = { "send", false, true },
	[SOFT_SEND_LAST] = { "send", false, false },
	[SOFT_SEND_LAST_IMM] = { "send with immediate", false, false },
	[SOFT_SEND_ONLY] = { "send", false, false },
	[SOFT_SEND_ONLY_IMM] = { "send with immediate", false, false },
	[SOFT_WRITE_FIRST] = { "write", true, false },
	[SOFT_WRITE_MIDDLE] = { "write", true, false },
	[SOFT_WRITE_LAST] = { "write", true, false },
	[SOFT_WRITE_LAST_IMM] = { "write with immediate", true, false },
	[SOFT_WRITE_ONLY] = { "write", true, false },
	[SOFT_WRITE_ONLY_IMM] = { "write with immediate", true, false },
	[SOFT_READ_REQUEST] = { "read", true, false },
	[SOFT_COMPARE_SWAP] = { "compare and swap", true, false },
	[SOFT_FETCH_ADD] = { "fetch and add", true, false },
	[SOFT_SEND_LAST_INV] = { "send with invalidate", false, false },
	[SOFT_SEND_ONLY_INV] = { "send with invalidate", false, false },
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static enum ibv_wc_status status_of(uint8_t syndrome)
{
	switch (syndrome) {
	case SOFT_NAK_ACCESS:
		return IBV_WC_REM_ACCESS_ERR;
	case SOFT_NAK_INVALID:
		return IBV_WC_REM_INV_REQ_ERR;
	default:
		return IBV_WC_REM_OP_ERR;
	}
}

/* The range that a packet with @opcode is about. */
static void set_range(struct pier__fault *fault, const struct soft_resp *resp,
		      const struct soft_hdr *hdr)
{
	bool later = hdr->opcode == SOFT_WRITE_MIDDLE ||
		     hdr->opcode == SOFT_WRITE_LAST ||
		     hdr->opcode == SOFT_WRITE_LAST_IMM;
	bool atomic = hdr->opcode == SOFT_COMPARE_SWAP ||
		      hdr->opcode == SOFT_FETCH_ADD;

	if (later && resp->within != SOFT_IN_WRITE)
		return;		/* of no message */
	fault->has_range = true;
	fault->addr = later ? resp->va : hdr->va;
	fault->rkey = later ? resp->rkey : hdr->rkey;
	if (!later)
		fault->len = atomic ? 8 : hdr->dma_len;
}

static void set_fault(struct soft_fault *fault, struct soft_qp *qp,
		      const struct soft_packet *in, uint8_t syndrome)
{
	uint8_t opcode = in->hdr.opcode;
	bool known = opcode < REQUESTS && requests[opcode].name;

	fault->qp = qp;
	fault->what = (struct pier__fault){
		.status = status_of(syndrome),
		.request = known ? requests[opcode].name : "request",
		.opcode = opcode,
		.len = in->len,
		.partial = known && requests[opcode].partial,
	};
	if (known && requests[opcode].has_range)
		set_range(&fault->what, &qp->resp, &in->hdr);
}

/* Without memory the program gets to know by its next request or keepalive. */
void pier__soft_refuse_send(struct soft_qp *qp, const struct soft_packet *in,
			    uint8_t syndrome)
{
	struct soft_fault *fault = qp->fault ? NULL : malloc(sizeof(*fault));

	if (fault) {
		set_fault(fault, qp, in, syndrome);
		qp->fault = fault;
	}
	pier__soft_reply_nak(qp, syndrome);
	pier__soft_qp_dump(qp);
	if (fault)	/* behind what the NAK has flushed */
		pier__soft_cq_fault(qp->cq, fault);
}

void pier__soft_refuse(struct soft_qp *qp, const struct soft_packet *in,
		       uint8_t syndrome)
{
	pier__soft_async(qp->ep, syndrome == SOFT_NAK_ACCESS ?
			 IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR,
			 qp->async);
	pier__soft_refuse_send(qp, in, syndrome);
}

void pier__soft_refuse_read(struct soft_qp *qp, const struct soft_res *res)
{
	const struct soft_packet in = {
		.hdr = {
			.opcode = SOFT_READ_REQUEST,
			.va = res->va,
			.rkey = res->rkey,
			.dma_len = res->len,
		},
	};

	pier__soft_refuse(qp, &in, SOFT_NAK_ACCESS);
}

void pier__soft_fault_free(struct soft_qp *qp)
{
	if (!qp->fault)
		return;
	pier__soft_cq_no_fault(qp->cq, qp->fault);
	free(qp->fault);
	qp->fault = NULL;
}

bool pier__soft_qp_fault(const struct soft_qp *qp, struct pier__fault *ret)
{
	if (!qp->fault)
		return false;
	*ret = qp->fault->what;
	return true;
}

bool pier__soft_qp_refused(const struct soft_qp *qp, uint32_t *ret)
{
	*ret = qp->req.refused_len;
	return qp->req.refused;
}
