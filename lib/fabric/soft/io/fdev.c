/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of an opened soft device. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/io/fdev.h"

int pier__soft_gid(struct pier__fdev *fdev, unsigned int index,
		   struct soft_addr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	int err = -EINVAL;

	pthread_mutex_lock(&soft->lock);
	if (index < fdev->port.gid_count) {
		memcpy(&ret->ip, fdev->port.gids[index].raw, 16);
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
			index = (int)i;
	pthread_mutex_unlock(&soft->lock);
	return index;
}

/* Has it a meaning on other hosts? */
static bool is_global(const struct in6_addr *ip)
{
	if (IN6_IS_ADDR_V4MAPPED(ip))
		return ip->s6_addr[12] != 127;
	return !IN6_IS_ADDR_LINKLOCAL(ip) && !IN6_IS_ADDR_LOOPBACK(ip);
}

bool pier__soft_address_like(struct pier__fdev *fdev, const struct in6_addr *ip,
			     struct in6_addr *ret)
{
	struct soft_fdev *soft = (struct soft_fdev *)fdev;
	bool v4 = IN6_IS_ADDR_V4MAPPED(ip), found = false;
	struct in6_addr own;

	pthread_mutex_lock(&soft->lock);
	for (uint32_t i = 0; i < fdev->port.gid_count && !found; i++) {
		memcpy(&own, fdev->port.gids[i].raw, sizeof(own));
		found = is_global(&own) && IN6_IS_ADDR_V4MAPPED(&own) == v4;
	}
	pthread_mutex_unlock(&soft->lock);
	if (found)
		*ret = own;
	return found;
}
