/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_REGION_H
#define PIER_FABRIC_SOFT_SHM_REGION_H

#include "fabric/soft/shm/ring.h"

/*
 * The memory of a ring, a memfd that is sealed: the peer, which has its
 * descriptor, can neither write nor resize it.
 */

/*
 * Make one.  @fd is for the peer; the caller closes it, and ends the memory
 * with unmap.  Errors: those of memfd_create(2), fcntl(2), mmap(2).
 */
int pier__soft_region_create(struct soft_ring **ret, int *fd);

/*
 * Map that of a peer, read-only; @fd stays the caller's.
 * Errors: -EPROTO, not of this size, or not sealed; those of mmap(2).
 */
int pier__soft_region_map(int fd, const struct soft_ring **ret);

/* What is mapped of a peer's memory: whole pages. */
struct soft_region {
	void *at;
	size_t len;
};

/*
 * Map the peer's memory @fd, of @len bytes and the rest of the last page, which
 * RDMA requests to it use; if it @writes, to be written.
 * Errors: as above.
 */
int pier__soft_region_import(int fd, size_t len, bool writes,
			     struct soft_region *ret);
void pier__soft_region_unimport(const struct soft_region *region);

/* May a process that has the descriptor @fd read only? */
bool pier__soft_region_is_sealed(int fd);

void pier__soft_region_unmap(const struct soft_ring *ring);

#endif
