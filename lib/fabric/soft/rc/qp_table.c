/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs by number. */
#include <errno.h>

#include "core/fail.h"
#include "core/random.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"

#define QPN_MIN 2		/* 0 and 1 are for management */
#define QPN_MAX (SOFT_QPN_GROUP - 1)
#define VERBS_QPS (SOFT_QPN_EACH - 128)	/* of a port; more than are freed */
					/* recently remain */

struct soft_qp *pier__soft_table_find(const struct soft_ep *ep, uint32_t qpn)
{
	struct pier__hash_link *link = pier__hash_find(&ep->qps, qpn);

	return link ? pier__container_of(link, struct soft_qp, link) : NULL;
}

static bool freed_recently(const struct soft_ep *ep, uint32_t qpn)
{
	size_t i;

	for (i = 0; i < sizeof(ep->freed_qpns) / sizeof(*ep->freed_qpns); i++)
		if (ep->freed_qpns[i] == qpn)
			return true;
	return false;
}

static uint32_t pick(const struct soft_ep *ep)
{
	if (ep->verbs)
		return pier__soft_qpn_of(ep->io->port,
					 pier__random_id(SOFT_QPN_EACH) - 1);
	return QPN_MIN - 1 + pier__random_id(QPN_MAX - QPN_MIN + 1);
}

int pier__soft_table_add(struct soft_ep *ep, struct soft_qp *qp)
{
	uint32_t count = ep->qps.count + 1, qpn;
	int err;

	if (ep->verbs && count > VERBS_QPS)
		return pier__fail(-ENOMEM, "UDP port %u has %u QPs, as many "
				  "as its numbers allow", ep->io->port,
				  VERBS_QPS);
	err = pier__hash_reserve(&ep->qps, count);
	if (!err)
		err = pier__soft_heap_fit(&ep->timers, count);
	if (err)
		return err;
	do
		qpn = pick(ep);
	while (qpn > QPN_MAX || pier__soft_table_find(ep, qpn) ||
	       freed_recently(ep, qpn));

	qp->qpn = qpn;
	pier__hash_add(&ep->qps, &qp->link, qpn);
	return 0;
}

void pier__soft_table_del(struct soft_ep *ep, struct soft_qp *qp)
{
	const size_t size = sizeof(ep->freed_qpns) / sizeof(*ep->freed_qpns);

	pier__hash_del(&ep->qps, &qp->link);
	ep->freed_qpns[ep->freed_next++ % size] = qp->qpn;
}

void pier__soft_table_each(const struct soft_ep *ep,
			   void (*fn)(struct soft_qp *qp, void *arg),
			   void *arg)
{
	struct pier__hash_link *link;
	uint32_t i;

	if (!ep->qps.chains)
		return;
	for (i = 0; i <= ep->qps.mask; i++)
		for (link = ep->qps.chains[i]; link; link = link->next)
			fn(pier__container_of(link, struct soft_qp, link),
			   arg);
}
