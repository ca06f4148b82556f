/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management, for librdmacm.so.1. */
#include <errno.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/soft.h"

const struct pier__fabric_cm *pier__dropin_cm_calls(void)
{
	return &pier__soft_cm_table;
}

int pier__dropin_cm_create(struct ibv_context *context,
			   bool (*take)(struct pier__cm *cm,
					const struct pier__cm_event *event),
			   struct pier__cm **ret)
{
	struct pier__chan *chan = dropin_of(context)->chan;
	int err = pier__soft_cm_table.create(chan, IBV_MTU_4096, ret);

	if (!err)
		pier__soft_cm_take_by(*ret, take);
	return err;
}

int pier__dropin_cm_listen(struct pier__cm *cm, enum pier__cm_space space,
			   const struct sockaddr *addr, int backlog,
			   void *owner, struct pier__cm_listener **ret)
{
	return pier__soft_cm_listen_for(cm, space, addr, backlog, owner, ret);
}

void pier__dropin_cm_goodbye_all(struct pier__cm *cm)
{
	pier__soft_cm_goodbye_all(cm);
}

static struct in6_addr ip_of(const struct sockaddr *addr)
{
	struct in6_addr ip = IN6ADDR_ANY_INIT;

	if (addr && !pier__sockaddr_is_any(addr))
		pier__sockaddr_to_gid(addr, ip.s6_addr);
	return ip;
}

int pier__dropin_route(struct ibv_context *context, const struct sockaddr *src,
		       const struct sockaddr *dst, union pier__sockaddr *ret)
{
	struct in6_addr from = ip_of(src), to = ip_of(dst), found;
	int err;

	err = pier__soft_route(dropin_of(context)->fdev, &from, &to, &found);
	if (!err)
		pier__sockaddr_from_gid(found.s6_addr, ret);
	return err;
}

bool pier__dropin_known(struct ibv_context *context, int i,
			union pier__sockaddr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)dropin_of(context)->fdev;
	const struct pier__port *port = &soft->fdev.port;
	bool found;

	pthread_mutex_lock(&soft->lock);
	found = i >= 0 && (uint32_t)i < port->gid_count;
	if (found)
		pier__sockaddr_from_gid(port->gids[i].raw, ret);
	pthread_mutex_unlock(&soft->lock);
	return found;
}

bool pier__dropin_is_removed(struct ibv_context *context)
{
	return dropin_of(context)->removed;
}
