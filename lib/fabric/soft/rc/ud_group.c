/* SPDX-License-Identifier: BSD-2-Clause */
/* UD: queue pairs in multicast groups; each gets what is sent there. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"

/* A queue pair in a group. */
struct soft_member {
	struct pier__list link;		/* of the endpoint's groups */
	struct soft_qp *qp;
	struct in6_addr group;
};

static struct soft_member *member_of(struct pier__list *link)
{
	return pier__container_of(link, struct soft_member, link);
}

static struct soft_member *find(const struct soft_qp *qp,
				const struct in6_addr *group)
{
	struct pier__list *pos, *tmp;
	struct soft_member *member;

	PIER__LIST_EACH(pos, tmp, &qp->ep->groups) {
		member = member_of(pos);
		if (member->qp == qp &&
		    IN6_ARE_ADDR_EQUAL(&member->group, group))
			return member;
	}
	return NULL;
}

int pier__soft_group_attach(struct soft_qp *qp, const struct in6_addr *group)
{
	struct soft_ep *ep = qp->ep;
	struct soft_member *member;

	if (ep->group_count == SOFT_GROUPS)
		return pier__fail(-ENOMEM, "%u queue pairs are in multicast "
				  "groups: at most that", SOFT_GROUPS);
	member = calloc(1, sizeof(*member));
	if (!member)
		return pier__fail(-ENOMEM, "no memory for a multicast group");
	member->qp = qp;
	member->group = *group;
	pier__list_add(&ep->groups, &member->link);
	ep->group_count++;
	return 0;
}

bool pier__soft_group_detach(struct soft_qp *qp, const struct in6_addr *group)
{
	struct soft_member *member = find(qp, group);

	if (!member)
		return false;
	pier__list_del(&member->link);
	qp->ep->group_count--;
	free(member);
	return true;
}

bool pier__soft_group_has(const struct soft_qp *qp,
			  const struct in6_addr *group)
{
	return find(qp, group);
}

uint32_t pier__soft_group_users(const struct soft_ep *ep,
				const struct in6_addr *group)
{
	struct pier__list *pos, *tmp;
	uint32_t n = 0;

	PIER__LIST_EACH(pos, tmp, &ep->groups)
		n += IN6_ARE_ADDR_EQUAL(&member_of(pos)->group, group);
	return n;
}

const struct in6_addr *pier__soft_group_at(struct pier__list *member)
{
	return &member_of(member)->group;
}

bool pier__soft_group_of(const struct soft_qp *qp, struct in6_addr *ret)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &qp->ep->groups) {
		if (member_of(pos)->qp != qp)
			continue;
		*ret = member_of(pos)->group;
		return true;
	}
	return false;
}

void pier__soft_group_receive(struct soft_ep *ep, const struct soft_packet *in,
			      const struct soft_rx *rx)
{
	struct pier__list *pos, *tmp;
	bool any = false;

	/*
	 * A soft device has sent it to the port of groups, too.  QPNs of
	 * adapters may have the top bit, but carry no port.
	 */
	if (rx->dst.port == ROCE_UDP_PORT && in->hdr.src_qpn & SOFT_QPN_TOP &&
	    rx->src.port == pier__soft_qpn_port(in->hdr.src_qpn)) {
		pier__soft_add(ep->counters, SOFT_COUNTER(duplicates), 1);
		return;
	}
	PIER__LIST_EACH(pos, tmp, &ep->groups) {
		if (!IN6_ARE_ADDR_EQUAL(&member_of(pos)->group, &rx->dst.ip))
			continue;
		any = true;
		pier__soft_ud_receive(member_of(pos)->qp, in, rx);
	}
	if (!any)
		pier__soft_add(ep->counters, SOFT_COUNTER(dropped), 1);
}
