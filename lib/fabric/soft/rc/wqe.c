/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool of send work requests of an endpoint. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "fabric/soft/rc/qp.h"

struct chunk {
	struct pier__list link;
	struct soft_wqe wqe[];
};

/*
 * The pool has as many requests as all send queues hold together, and no more
 * than the completion queues have entries; but programs written for libibverbs
 * have few entries and signal few requests.
 */
int pier__soft_wqe_reserve(struct soft_ep *ep)
{
	uint64_t required = ep->send_wr_sum < ep->cqe_sum || ep->verbs ?
			    ep->send_wr_sum : ep->cqe_sum;
	struct chunk *chunk;
	uint32_t n, i;

	if (required <= ep->wqe_total)
		return 0;
	n = required - ep->wqe_total;
	chunk = malloc(sizeof(*chunk) + n * sizeof(*chunk->wqe));
	if (!chunk)
		return pier__fail(-ENOMEM, "no memory for %u work requests",
				  n);
	pier__list_add(&ep->wqe_chunks, &chunk->link);
	for (i = 0; i < n; i++)
		pier__soft_wqe_put(ep, &chunk->wqe[i]);
	ep->wqe_total += n;
	return 0;
}

struct soft_wqe *pier__soft_wqe_get(struct soft_ep *ep)
{
	struct soft_wqe *wqe = ep->wqes;

	if (wqe)
		ep->wqes = wqe->next;
	return wqe;
}

void pier__soft_wqe_put(struct soft_ep *ep, struct soft_wqe *wqe)
{
	wqe->next = ep->wqes;
	ep->wqes = wqe;
}

void pier__soft_wqe_free_all(struct soft_ep *ep)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&ep->wqe_chunks)))
		free(pier__container_of(link, struct chunk, link));
}
