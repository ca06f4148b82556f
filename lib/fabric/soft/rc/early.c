/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder: copies of requests that arrive ahead of a gap. */
#include <stdlib.h>
#include <string.h>

#include "fabric/soft/rc/qp.h"

static struct soft_held **place(struct soft_early *early, uint64_t seq)
{
	return &early->at[seq % SOFT_EARLY];
}

static struct soft_held *early_remove(struct soft_qp *qp, uint64_t seq)
{
	struct soft_early *early = qp->resp.early;
	struct soft_held **at = place(early, seq), *held = *at;

	if (!held)
		return NULL;
	*at = NULL;
	early->count--;
	qp->ep->early--;
	return held;
}

static struct soft_early *early_get(struct soft_qp *qp)
{
	struct soft_resp *resp = &qp->resp;

	if (!resp->early) {
		resp->early = calloc(1, sizeof(*resp->early));
		if (resp->early)
			resp->early->base = resp->epsn;
	}
	return resp->early;
}

static struct soft_held *early_copy(const struct soft_packet *in)
{
	struct soft_held *held = malloc(sizeof(*held) + in->len);

	if (!held)
		return NULL;
	held->hdr = in->hdr;
	held->len = in->len;
	if (in->len)
		memcpy(held->data, in->data, in->len);
	return held;
}

/* A packet that is sent again may ask for an ACK that it did not ask for. */
static size_t encode(struct soft_hdr hdr, uint8_t *bytes)
{
	hdr.ack_req = false;
	return pier__soft_encode(&hdr, bytes);
}

static bool is_same(const struct soft_held *held, const struct soft_packet *in)
{
	uint8_t a[SOFT_HDR_MAX], b[SOFT_HDR_MAX];
	size_t len = encode(held->hdr, a);

	return encode(in->hdr, b) == len && !memcmp(a, b, len) &&
	       held->len == in->len &&
	       (!in->len || !memcmp(held->data, in->data, in->len));
}

/*
 * Another copy of one that is held.  If they differ, at most one is the peer's:
 * drop both, so that the peer sends it again.
 */
static bool early_again(struct soft_qp *qp, const struct soft_packet *in,
			uint64_t seq)
{
	if (!is_same(*place(qp->resp.early, seq), in)) {
		free(early_remove(qp, seq));
		return false;
	}
	pier__soft_count(qp, SOFT_COUNTER(duplicates));
	return true;
}

bool pier__soft_early_hold(struct soft_qp *qp, const struct soft_packet *in,
			   uint64_t seq)
{
	struct soft_early *early = qp->resp.early;
	struct soft_held *held;

	if (seq - qp->resp.epsn >= SOFT_EARLY)
		return false;
	if (early && *place(early, seq))
		return early_again(qp, in, seq);
	if (qp->ep->early >= SOFT_EARLY_EP)
		return false;
	held = early_copy(in);
	early = held ? early_get(qp) : NULL;
	if (!early) {
		free(held);
		return false;
	}
	*place(early, seq) = held;
	early->count++;
	qp->ep->early++;
	if (early->high <= seq)
		early->high = seq + 1;
	pier__soft_count(qp, SOFT_COUNTER(early));
	return true;
}

/* A READ has taken several sequence numbers: none of them is a request. */
static void early_skip(struct soft_qp *qp)
{
	struct soft_early *early = qp->resp.early;

	for (; early->base < qp->resp.epsn && early->count; early->base++)
		free(early_remove(qp, early->base));
	early->base = qp->resp.epsn;
}

struct soft_held *pier__soft_early_take(struct soft_qp *qp)
{
	struct soft_early *early = qp->resp.early;
	struct soft_held *held;

	if (!early)
		return NULL;
	early_skip(qp);
	held = early_remove(qp, qp->resp.epsn);
	if (!early->count) {
		free(early);
		qp->resp.early = NULL;
	}
	return held;
}

/*
 * The bit of 2^i in byte j is that of the sequence number 8 * j + i after the
 * one behind the expected one.  Whole words of four bytes.
 */
uint32_t pier__soft_early_bitmap(struct soft_qp *qp)
{
	struct soft_early *early = qp->resp.early;
	uint64_t first = qp->resp.epsn + 1, seq;
	uint32_t bit, len = 0;

	memset(early->bitmap, 0, sizeof(early->bitmap));
	for (seq = first; seq < early->high; seq++) {
		if (!*place(early, seq))
			continue;
		bit = (uint32_t)(seq - first);
		early->bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
		len = (bit / 32 + 1) * 4;
	}
	return len;
}

void pier__soft_early_clear(struct soft_qp *qp)
{
	struct soft_early *early = qp->resp.early;
	uint32_t i;

	if (qp->resp.due == SOFT_DUE_SELECTIVE)
		qp->resp.due = SOFT_DUE_ACK;
	if (!early)
		return;
	for (i = 0; i < SOFT_EARLY && early->count; i++)
		free(early_remove(qp, i));
}

void pier__soft_early_free(struct soft_qp *qp)
{
	pier__soft_early_clear(qp);
	free(qp->resp.early);
	qp->resp.early = NULL;
}
