/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of an opened soft device. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/shm/mode.h"

bool pier__soft_fdev_maps(const struct pier__fdev *fdev)
{
	enum pier_shm mode;

	(void)fdev;
	return !pier__soft_shm_mode(0, &mode) && mode != PIER_SHM_OFF;
}

const struct pier_gid *pier__soft_port_gid(const struct pier__port *port,
					   uint32_t index)
{
	for (uint32_t i = 0; i < port->gid_count; i++)
		if (port->gids[i].index == index)
			return &port->gids[i];
	return NULL;
}

uint32_t pier__soft_port_gid_end(const struct pier__port *port)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < port->gid_count; i++)
		if (port->gids[i].index >= end)
			end = port->gids[i].index + 1;
	return end;
}

int pier__soft_gid(struct pier__fdev *fdev, unsigned int index,
		   struct soft_addr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	const struct pier_gid *gid;
	int err = -EINVAL;

	pthread_mutex_lock(&soft->lock);
	gid = pier__soft_port_gid(&fdev->port, index);
	if (gid) {
		memcpy(&ret->ip, gid->raw, 16);
		err = 0;
	}
	pthread_mutex_unlock(&soft->lock);
	if (err)
		pier__fail(err, "%s has no GID of index %u", fdev->port.name,
			   index);
	return err;
}

int pier__soft_gid_index(struct pier__fdev *fdev, const struct in6_addr *ip)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	int index = -1;
	uint32_t i;

	pthread_mutex_lock(&soft->lock);
	for (i = 0; i < fdev->port.gid_count && index < 0; i++)
		if (!memcmp(fdev->port.gids[i].raw, ip, 16))
			index = (int)fdev->port.gids[i].index;
	pthread_mutex_unlock(&soft->lock);
	return index;
}

int pier__soft_gid_index_like(struct pier__fdev *fdev,
			      const struct in6_addr *ip)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	struct in6_addr own;
	int index = -1;
	uint32_t i;

	pthread_mutex_lock(&soft->lock);
	for (i = 0; i < fdev->port.gid_count && index < 0; i++) {
		memcpy(&own, fdev->port.gids[i].raw, sizeof(own));
		if (IN6_IS_ADDR_V4MAPPED(&own) == IN6_IS_ADDR_V4MAPPED(ip))
			index = (int)fdev->port.gids[i].index;
	}
	pthread_mutex_unlock(&soft->lock);
	return index;
}

bool pier__soft_is_loopback(struct pier__fdev *fdev)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	bool is;

	pthread_mutex_lock(&soft->lock);
	is = fdev->port.gid_count &&
	     pier__sockaddr_gid_is_loopback(fdev->port.gids[0].raw);
	pthread_mutex_unlock(&soft->lock);
	return is;
}

bool pier__soft_address_like(struct pier__fdev *fdev, const struct in6_addr *ip,
			     struct in6_addr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	bool found;

	pthread_mutex_lock(&soft->lock);
	found = pier__port_like(&fdev->port, ip->s6_addr, ret->s6_addr);
	pthread_mutex_unlock(&soft->lock);
	return found;
}
