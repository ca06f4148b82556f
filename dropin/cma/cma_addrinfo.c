/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts and services as addresses. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

#include "dropin/cma/cma.h"

static const struct rdma_addrinfo no_hints;

/* Returns 0, or -1 with errno. */
static int copy_addr(const struct sockaddr *from, socklen_t len,
		     struct sockaddr **ret, socklen_t *ret_len)
{
	*ret = malloc(len);
	if (!*ret)
		return -1;
	memcpy(*ret, from, len);
	*ret_len = len;
	return 0;
}

static void fill_type(const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo *ret)
{
	bool datagrams = hints->ai_port_space == RDMA_PS_UDP ||
			 hints->ai_qp_type == IBV_QPT_UD;

	ret->ai_port_space = hints->ai_port_space;
	if (!ret->ai_port_space)
		ret->ai_port_space = datagrams ? RDMA_PS_UDP : RDMA_PS_TCP;
	ret->ai_qp_type = hints->ai_qp_type;
	if (!ret->ai_qp_type)
		ret->ai_qp_type = datagrams ? IBV_QPT_UD : IBV_QPT_RC;
}

/* Returns 0, or -1 with errno. */
static int take(const struct addrinfo *found, int family,
		struct rdma_addrinfo *ret)
{
	const struct sockaddr *addr = found->ai_addr;
	socklen_t len = found->ai_addrlen;
	union pier__sockaddr ip;
	struct sockaddr_ib ib;

	ret->ai_family = found->ai_family;
	if (family == AF_IB && pier__cma_ip(addr, &ip)) {
		pier__cma_ib(&ip, (enum rdma_port_space)ret->ai_port_space,
			     &ib);
		addr = (const struct sockaddr *)&ib;
		len = sizeof(ib);
		ret->ai_family = AF_IB;
	}
	if (ret->ai_flags & RAI_PASSIVE)
		return copy_addr(addr, len, &ret->ai_src_addr,
				 &ret->ai_src_len);
	return copy_addr(addr, len, &ret->ai_dst_addr, &ret->ai_dst_len);
}

/* Returns 0, a code of getaddrinfo(3), or -1 with errno. */
static int look_up(const char *node, const char *service,
		   const struct rdma_addrinfo *hints, struct rdma_addrinfo *ret)
{
	int family = hints->ai_flags & RAI_FAMILY ? hints->ai_family :
						    AF_UNSPEC;
	const struct addrinfo want = {
		.ai_family = family == AF_IB ? AF_UNSPEC : family,
		.ai_socktype = ret->ai_port_space == RDMA_PS_UDP ? SOCK_DGRAM :
								   SOCK_STREAM,
		.ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
			    (hints->ai_flags & RAI_NUMERICHOST ?
			     AI_NUMERICHOST : 0),
	};
	struct addrinfo *found;
	int err = getaddrinfo(node, service, &want, &found);

	if (err)
		return err;
	err = take(found, family, ret);
	freeaddrinfo(found);
	return err;
}

/* What was not looked up is what the program has given. */
static int copy_hints(const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo *ret)
{
	int err = 0;

	if (hints->ai_src_len && !ret->ai_src_len)
		err = copy_addr(hints->ai_src_addr, hints->ai_src_len,
				&ret->ai_src_addr, &ret->ai_src_len);
	if (!err && hints->ai_dst_len && !ret->ai_dst_len)
		err = copy_addr(hints->ai_dst_addr, hints->ai_dst_len,
				&ret->ai_dst_addr, &ret->ai_dst_len);
	if (!ret->ai_family && ret->ai_src_addr)
		ret->ai_family = ret->ai_src_addr->sa_family;
	if (!ret->ai_family && ret->ai_dst_addr)
		ret->ai_family = ret->ai_dst_addr->sa_family;
	return err;
}

int rdma_getaddrinfo(const char *node, const char *service,
		     const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **ret)
{
	struct rdma_addrinfo *info;
	int err = 0;

	if (!hints)
		hints = &no_hints;
	if (!ret || (!node && !service && !hints->ai_src_len &&
		     !hints->ai_dst_len))
		return pier__cma_result(-EINVAL);
	info = calloc(1, sizeof(*info));
	if (!info)
		return -1;
	info->ai_flags = hints->ai_flags;
	fill_type(hints, info);
	if (node || service)
		err = look_up(node, service, hints, info);
	if (!err)
		err = copy_hints(hints, info);
	if (err) {
		rdma_freeaddrinfo(info);
		return err;
	}
	*ret = info;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
	struct rdma_addrinfo *next;

	for (; info; info = next) {
		next = info->ai_next;
		free(info->ai_src_addr);
		free(info->ai_dst_addr);
		free(info->ai_src_canonname);
		free(info->ai_dst_canonname);
		free(info->ai_route);
		free(info->ai_connect);
		free(info);
	}
}

/* Names of services are those of InfiniBand's subnet administration. */
static int find(const char *node, const char *service,
		const struct rdma_addrinfo *hints, struct rdma_addrinfo **ret)
{
	struct rdma_addrinfo own = hints ? *hints : no_hints;

	if (own.ai_flags & RAI_OF_SA)
		return pier__cma_result(-EOPNOTSUPP);
	own.ai_flags &= ~RAI_OF_DNS;
	return rdma_getaddrinfo(node, service, &own, ret);
}

/* The event comes at once. */
int rdma_resolve_addrinfo(struct rdma_cm_id *ibid, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct cma_id *id = cma_of(ibid);
	struct rdma_addrinfo *info, *old;
	struct cma_event *event;
	int err;

	if (!ibid)
		return pier__cma_result(-EINVAL);
	err = find(node, service, hints, &info);
	if (err)
		return err;
	event = pier__cma_event_new(id, (int)CMA_EVENT_ADDRINFO_RESOLVED, 0);
	if (!event) {
		rdma_freeaddrinfo(info);
		return -1;
	}

	pthread_mutex_lock(&pier__cma_lock);
	old = id->found;
	id->found = info;
	pthread_mutex_unlock(&pier__cma_lock);
	rdma_freeaddrinfo(old);
	pier__cma_push(event);
	return pier__cma_complete(id);
}

/* Once: it is the program's then. */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **ret)
{
	struct rdma_addrinfo *found;

	if (!id || !ret)
		return pier__cma_result(-EINVAL);
	pthread_mutex_lock(&pier__cma_lock);
	found = cma_of(id)->found;
	cma_of(id)->found = NULL;
	pthread_mutex_unlock(&pier__cma_lock);
	if (!found)
		return pier__cma_result(-ENOENT);
	*ret = found;
	return 0;
}
