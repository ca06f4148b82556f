/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of ids for datagrams. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

#define GROUP_QPN 0xffffff
#define HOP_LIMIT 1

struct group {
	struct pier__list link;		/* of the id's */
	union ibv_gid gid;
	bool receives;			/* it is not for sending alone */
	bool attached;			/* the QP is */
};

/*
 * Of all groups: one thread may take an event of an id while another one leaves
 * its group.  It is taken before the endpoint's.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pier__cma_join_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}

static struct group *group_of(struct pier__list *link)
{
	return pier__container_of(link, struct group, link);
}

static struct group *find(struct cma_id *id, const union ibv_gid *gid)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &id->groups)
		if (!memcmp(&group_of(pos)->gid, gid, sizeof(*gid)))
			return group_of(pos);
	return NULL;
}

/* The GID of @addr.  Errors: -EINVAL, it is not that of a group. */
static int gid_of(const struct sockaddr *addr, union ibv_gid *ret)
{
	struct sockaddr_ib ib;
	struct in6_addr ip;

	if (!addr)
		return -EINVAL;
	if (addr->sa_family == AF_IB) {
		memcpy(&ib, addr, sizeof(ib));
		memcpy(&ip, &ib.sib_addr, sizeof(ip));
	} else if (pier__sockaddr_len(addr) && !pier__sockaddr_is_any(addr)) {
		pier__sockaddr_to_gid(addr, ip.s6_addr);
	} else {
		return -EINVAL;
	}
	if (!pier__sockaddr_is_group(&ip))
		return -EINVAL;
	memcpy(ret, &ip, sizeof(*ret));
	return 0;
}

/* The index of the address of @id, of the family of @group. */
static int source_index(struct cma_id *id, const union ibv_gid *group)
{
	const union pier__sockaddr local = pier__cma_local(id);
	const struct sockaddr *addr = &local.sa;
	union ibv_gid own, gid;
	int i;

	if (!pier__sockaddr_len(addr) || pier__sockaddr_is_any(addr))
		return -EADDRNOTAVAIL;
	pier__sockaddr_to_gid(addr, own.raw);
	for (i = 0; !ibv_query_gid(id->id.verbs, 1, i, &gid); i++)
		if (!memcmp(&gid, &own, sizeof(gid)) &&
		    IN6_IS_ADDR_V4MAPPED((struct in6_addr *)&gid) ==
		    IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)group))
			return i;
	return -EADDRNOTAVAIL;
}

/* What a datagram to the group needs. */
static void fill(struct rdma_ud_param *param, const union ibv_gid *gid,
		 int index)
{
	param->qp_num = GROUP_QPN;
	param->qkey = RDMA_UDP_QKEY;
	param->ah_attr.is_global = 1;
	param->ah_attr.port_num = 1;
	param->ah_attr.grh.dgid = *gid;
	param->ah_attr.grh.sgid_index = (uint8_t)index;
	param->ah_attr.grh.hop_limit = HOP_LIMIT;
}

/* With the lock held, as below.  Errors: -EADDRINUSE, -ENOMEM. */
static int add(struct cma_id *id, const union ibv_gid *gid, bool receives,
	       struct group **ret)
{
	struct group *group;

	if (find(id, gid))
		return -EADDRINUSE;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->gid = *gid;
	group->receives = receives;
	pier__list_add(&id->groups, &group->link);
	*ret = group;
	return 0;
}

static int join(struct cma_id *id, const struct sockaddr *addr, bool receives,
		void *context)
{
	struct cma_event *event;
	struct group *group;
	union ibv_gid gid;
	int index, err = gid_of(addr, &gid);

	if (err || !id->id.verbs || !pier__cma_is_datagram(id))
		return -EINVAL;
	index = source_index(id, &gid);
	if (index < 0)
		return index;
	event = pier__cma_event_new(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	if (!event)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	err = add(id, &gid, receives, &group);
	pthread_mutex_unlock(&lock);
	if (err) {
		free(event);
		return err;
	}
	fill(&event->event.param.ud, &gid, index);
	event->event.param.ud.private_data = context;
	pier__cma_push(event);
	return 0;
}

static int attach(struct rdma_cm_id *id, const union ibv_gid *gid)
{
	struct group *group = find(cma_of(id), gid);
	int err;

	if (!group || !group->receives || !id->qp)
		return 0;
	err = ibv_attach_mcast(id->qp, gid, 0);
	group->attached = !err;
	return err;
}

void pier__cma_joined(struct rdma_cm_event *event)
{
	int err;

	pthread_mutex_lock(&lock);
	err = attach(event->id, &event->param.ud.ah_attr.grh.dgid);
	pthread_mutex_unlock(&lock);
	if (!err)
		return;
	event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
	event->status = -err;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			void *context)
{
	int err;

	if (id && cma_of(id)->real)
		return pier__cma_real_join(cma_of(id), addr, context);
	err = id ? join(cma_of(id), addr, true, context) : -EINVAL;
	return err ? pier__cma_result(err) : pier__cma_complete(cma_of(id));
}

int rdma_join_multicast_ex(struct rdma_cm_id *id,
			   struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	const uint32_t known = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
			       RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
	int err;

	if (id && attr && cma_of(id)->real)
		return pier__cma_real_join_ex(cma_of(id), attr, context);
	if (!id || !attr || attr->comp_mask != known ||
	    attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return pier__cma_result(-EINVAL);
	err = join(cma_of(id), attr->addr, attr->join_flags ==
		   RDMA_MC_JOIN_FLAG_FULLMEMBER, context);
	return err ? pier__cma_result(err) : pier__cma_complete(cma_of(id));
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct group *group;
	union ibv_gid gid;

	if (id && cma_of(id)->real)
		return pier__cma_real_leave(cma_of(id), addr);
	if (!id || gid_of(addr, &gid))
		return pier__cma_result(-EINVAL);
	pthread_mutex_lock(&lock);
	group = find(cma_of(id), &gid);
	if (group && group->attached && id->qp)
		ibv_detach_mcast(id->qp, &gid, 0);
	if (group)
		pier__list_del(&group->link);
	pthread_mutex_unlock(&lock);
	if (!group)
		return pier__cma_result(-EADDRNOTAVAIL);
	free(group);
	pier__cma_discard_joins(cma_of(id), &gid);
	return 0;
}

void pier__cma_leave_all(struct cma_id *id)
{
	struct pier__list *pos;

	while ((pos = pier__list_pop(&id->groups)))
		free(group_of(pos));
}
