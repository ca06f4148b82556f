/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/random.h"
#include "fabric/soft/rc/qp.h"

#define QPN_MIN 2		/* 0 and 1 are for management */
#define QPN_MAX 0xfffffe	/* 0xffffff is multicast */
#define CHAINS_MIN 16

static struct soft_qp **chain_of(const struct soft_ep *ep, uint32_t qpn)
{
	return &ep->qps[qpn & ep->qp_mask];
}

/* As many chains, and places in the heap of timers, as there are QPs. */
static int table_fit(struct soft_ep *ep)
{
	uint32_t old = ep->qps ? ep->qp_mask + 1 : 0, i;
	uint32_t size = old ? 2 * old : CHAINS_MIN;
	struct soft_qp **qps, *qp, *next;
	int err;

	if (ep->qp_count < old)
		return 0;
	err = pier__soft_heap_fit(&ep->timers, size);
	if (err)
		return err;
	qps = calloc(size, sizeof(struct soft_qp *));
	if (!qps)
		return pier__fail(-ENOMEM, "no memory for %u QPs", size);

	for (i = 0; i < old; i++) {
		for (qp = ep->qps[i]; qp; qp = next) {
			next = qp->chain;
			qp->chain = qps[qp->qpn & (size - 1)];
			qps[qp->qpn & (size - 1)] = qp;
		}
	}
	free(ep->qps);
	ep->qps = qps;
	ep->qp_mask = size - 1;
	return 0;
}

struct soft_qp *pier__soft_table_find(const struct soft_ep *ep, uint32_t qpn)
{
	struct soft_qp *qp = ep->qps ? *chain_of(ep, qpn) : NULL;

	while (qp && qp->qpn != qpn)
		qp = qp->chain;
	return qp;
}

static bool freed_recently(const struct soft_ep *ep, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < sizeof(ep->freed_qpns) / sizeof(*ep->freed_qpns); i++)
		if (ep->freed_qpns[i] == qpn)
			return true;
	return false;
}

int pier__soft_table_add(struct soft_ep *ep, struct soft_qp *qp)
{
	uint32_t qpn;
	int err;

	err = table_fit(ep);
	if (err)
		return err;
	do
		qpn = QPN_MIN - 1 + pier__random_id(QPN_MAX - QPN_MIN + 1);
	while (pier__soft_table_find(ep, qpn) || freed_recently(ep, qpn));

	qp->qpn = qpn;
	qp->chain = *chain_of(ep, qpn);
	*chain_of(ep, qpn) = qp;
	ep->qp_count++;
	return 0;
}

void pier__soft_table_del(struct soft_ep *ep, struct soft_qp *qp)
{
	struct soft_qp **pos = chain_of(ep, qp->qpn);

	while (*pos != qp)
		pos = &(*pos)->chain;
	*pos = qp->chain;
	ep->qp_count--;
	ep->freed_qpns[ep->freed_next++ % (sizeof(ep->freed_qpns) /
					   sizeof(*ep->freed_qpns))] = qp->qpn;
}
