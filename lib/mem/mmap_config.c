/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/fail.h"
#include "mem/mmap_impl.h"

#define ACCESS_ALL \
	(PIER_LOCAL_READ | PIER_LOCAL_WRITE | PIER_REMOTE_READ | \
	 PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC | PIER_PEER_READ | \
	 PIER_PEER_WRITE)
#define FLAGS_OWN (PIER_MMAP_HUGE | PIER_MMAP_NODE | PIER_MMAP_SHARED)
#define FLAGS_ALL (FLAGS_OWN | PIER_MMAP_DMABUF)

static int check_range(const struct pier_mmap_config *cfg)
{
	if (!cfg->len)
		return pier__fail(-EINVAL, "mmap: a length of 0, at least 1");
	if ((uintptr_t)cfg->addr + (cfg->len - 1) < (uintptr_t)cfg->addr)
		return pier__fail(-EINVAL, "mmap: %zu bytes at %p wrap around",
				  cfg->len, cfg->addr);
	return 0;
}

/* A member is set that is used with @flag only. */
static int unused(const char *member, const char *flag)
{
	return pier__fail(-EINVAL, "mmap: a %s without the flag %s", member,
			  flag);
}

static int check_flags(const struct pier_mmap_config *cfg)
{
	uint32_t own = cfg->flags & FLAGS_OWN;

	if (cfg->flags & ~(uint32_t)FLAGS_ALL)
		return pier__fail(-EINVAL, "mmap: flags 0x%x, allowed is 0x%x",
				  cfg->flags, FLAGS_ALL);
	if (own && cfg->flags & PIER_MMAP_DMABUF)
		return pier__fail(-EINVAL, "mmap: flags 0x%x: a dma-buf is "
				  "not allocated by pier", cfg->flags);
	if (own && cfg->addr)
		return pier__fail(-EINVAL, "mmap: flags 0x%x with memory of "
				  "the program at %p: they are for memory that "
				  "pier allocates, whose address is NULL here",
				  cfg->flags, cfg->addr);
	if (cfg->numa_node && !(cfg->flags & PIER_MMAP_NODE))
		return unused("numa_node", "PIER_MMAP_NODE");
	if (cfg->flags & PIER_MMAP_DMABUF)
		return 0;
	if (cfg->dmabuf_fd || cfg->dmabuf_offset)
		return unused("dmabuf_fd or dmabuf_offset", "PIER_MMAP_DMABUF");
	return 0;
}

/* Devices map whole pages: both name the same place in one. */
static int check_dmabuf(const struct pier_mmap_config *cfg)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);

	if (cfg->dmabuf_fd < 0)
		return pier__fail(-EINVAL, "mmap: the file descriptor %d of a "
				  "dma-buf", cfg->dmabuf_fd);
	if (cfg->dmabuf_offset > UINTPTR_MAX - cfg->len)
		return pier__fail(-EINVAL, "mmap: %zu bytes from %" PRIu64
				  " of a dma-buf wrap around", cfg->len,
				  cfg->dmabuf_offset);
	if (cfg->addr &&
	    ((uintptr_t)cfg->addr ^ cfg->dmabuf_offset) & (size - 1))
		return pier__fail(-EINVAL, "mmap: address %p for offset %"
				  PRIu64 " of a dma-buf: they must be the same "
				  "within a page of %" PRIu64 " bytes",
				  cfg->addr, cfg->dmabuf_offset, size);
	return 0;
}

static int check(const struct pier_mmap_config *cfg)
{
	char has[PIER__ACCESS_TEXT], all[PIER__ACCESS_TEXT];
	int err = check_range(cfg);

	if (err)
		return err;
	if (cfg->access & ~(uint32_t)ACCESS_ALL)
		return pier__fail(-EINVAL, "mmap: access %s, allowed is %s",
				  pier__access_text(cfg->access, has),
				  pier__access_text(ACCESS_ALL, all));
	err = check_flags(cfg);
	if (!err && cfg->flags & PIER_MMAP_DMABUF)
		err = check_dmabuf(cfg);
	return err;
}

int pier__mmap_settle(struct pier_mmap_config *cfg)
{
	int err = check(cfg);

	if (err)
		return err;
	if (!cfg->access)
		cfg->access = PIER_LOCAL_WRITE;
	if (cfg->flags & PIER_MMAP_DMABUF && !cfg->addr)
		cfg->addr = (void *)(uintptr_t)cfg->dmabuf_offset;
	return 0;
}
