/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "mem/mmap_impl.h"

#define ACCESS_ALL \
	(PIER_LOCAL_READ | PIER_LOCAL_WRITE | PIER_REMOTE_READ | \
	 PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)
#define FLAGS_OWN (PIER_MMAP_HUGE | PIER_MMAP_NODE | PIER_MMAP_SHARED)

static int check_range(const struct pier_mmap_config *cfg)
{
	if (!cfg->len)
		return pier__fail(-EINVAL, "mmap: a length of 0, at least 1");
	if ((uintptr_t)cfg->addr + (cfg->len - 1) < (uintptr_t)cfg->addr)
		return pier__fail(-EINVAL, "mmap: %zu bytes at %p wrap around",
				  cfg->len, cfg->addr);
	return 0;
}

static int check_own(const struct pier_mmap_config *cfg)
{
	if (cfg->addr && cfg->flags)
		return pier__fail(-EINVAL, "mmap: flags 0x%x with memory of "
				  "the program at %p: they are for memory that "
				  "pier allocates, whose address is NULL here",
				  cfg->flags, cfg->addr);
	if (cfg->numa_node && !(cfg->flags & PIER_MMAP_NODE))
		return pier__fail(-EINVAL, "mmap: NUMA node %u without the "
				  "flag PIER_MMAP_NODE", cfg->numa_node);
	return 0;
}

int pier__mmap_check(const struct pier_mmap_config *cfg)
{
	int err = check_range(cfg);

	if (err)
		return err;
	if (cfg->access & ~(uint32_t)ACCESS_ALL)
		return pier__fail(-EINVAL, "mmap: access 0x%x, allowed is 0x%x",
				  cfg->access, ACCESS_ALL);
	if (cfg->flags & ~(uint32_t)FLAGS_OWN)
		return pier__fail(-EINVAL, "mmap: flags 0x%x, allowed is 0x%x",
				  cfg->flags, FLAGS_OWN);
	return check_own(cfg);
}
