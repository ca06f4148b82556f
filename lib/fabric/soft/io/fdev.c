/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of an opened soft device. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/shm/mode.h"

bool pier__soft_fdev_maps(const struct pier__fdev *fdev)
{
	enum pier_shm mode;

	(void)fdev;
	return !pier__soft_shm_mode(0, &mode) && mode != PIER_SHM_OFF;
}

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
