/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MEM_OWN_H
#define PIER_MEM_OWN_H

#include <stdbool.h>
#include <stddef.h>

#include <pier/mmap.h>

/* Memory that pier allocates for an mmap: whole pages. */
struct pier__own {
	void *addr;
	size_t len;		/* bytes, rounded up to pages; 0: no memory */
	size_t page_size;	/* bytes */
	int fd;			/* its memfd; -1: it is this process's only */
	bool mapped;		/* peers of this host may be given the memfd */
};

/*
 * Allocate the zeroed memory that @cfg describes; @mapped: as a memfd, if one
 * can be had, which lets no other process write what its access does not.
 * Errors: -ENOMEM; -ERANGE, no such NUMA node; those of memfd_create(2),
 * ftruncate(2), mbind(2).
 */
int pier__own_alloc(const struct pier_mmap_config *cfg, bool mapped,
		    struct pier__own *ret);
void pier__own_free(struct pier__own *own);

/*
 * Give its addresses other memory, with the same bytes: another process, which
 * does not let go of the memfd, writes the old one.  No device has it.
 */
void pier__own_replace(struct pier__own *own);

#endif
