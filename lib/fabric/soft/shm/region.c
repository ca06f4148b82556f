/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory shared with a peer: a sealed memfd, and the mapping of the peer's. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "fabric/soft/shm/region.h"

#define LEN sizeof(struct soft_ring)
#define POPULATED (UINT64_C(1) << 22)	/* a shorter one is, when mapped */

#define HUGEST (UINT64_C(1) << 34)	/* no huge page is larger */

/* Without F_SEAL_SEAL, which would change nothing. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE)

/* A child of fork(2) must not write where its parent does. */
static int map(int fd, size_t len, int prot, int flags, void **ret)
{
	void *at = mmap(NULL, len, prot, MAP_SHARED | flags, fd, 0);
	int err;

	if (at == MAP_FAILED)
		return -errno;
	if (madvise(at, len, MADV_DONTFORK)) {
		err = -errno;
		munmap(at, len);
		return err;
	}
	*ret = at;
	return 0;
}

int pier__soft_region_create(struct soft_ring **ret, int *fd)
{
	int mem = memfd_create("pier", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	void *at = NULL;

	if (mem < 0)
		return -errno;
	err = pier__file_resize(mem, LEN);
	if (!err)
		err = map(mem, LEN, PROT_READ | PROT_WRITE, MAP_POPULATE, &at);
	if (err)
		goto err_close;
	if (fcntl(mem, F_ADD_SEALS, SEALS)) {
		err = -errno;
		goto err_unmap;
	}
	*ret = at;
	*fd = mem;
	return 0;

err_unmap:
	munmap(at, LEN);
err_close:
	close(mem);
	return err;
}

int pier__soft_region_map(int fd, const struct soft_ring **ret)
{
	int seals = fcntl(fd, F_GET_SEALS), err;
	struct stat st;
	void *at;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) ||
	    st.st_size != LEN)
		return -EPROTO;
	err = map(fd, LEN, PROT_READ, MAP_POPULATE, &at);
	if (!err)
		*ret = at;
	return err;
}

bool pier__soft_region_is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

/*
 * What the peer could shrink would raise a signal here.  All of the file is
 * mapped: of a part of a huge page nothing can be unmapped.
 */
int pier__soft_region_import(int fd, size_t len, bool writes,
			     struct soft_region *ret)
{
	int needed = F_SEAL_SHRINK | F_SEAL_GROW, seals, prot = PROT_READ;
	struct stat st;

	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & needed) != needed || fstat(fd, &st) ||
	    st.st_size < 0 || (uint64_t)st.st_size < len ||
	    (uint64_t)st.st_size - len >= HUGEST)
		return -EPROTO;
	if (writes)
		prot |= PROT_WRITE;
	ret->len = (size_t)st.st_size;
	return map(fd, ret->len, prot, len <= POPULATED ? MAP_POPULATE : 0,
		   &ret->at);
}

void pier__soft_region_unimport(const struct soft_region *region)
{
	munmap(region->at, region->len);
}

void pier__soft_region_unmap(const struct soft_ring *ring)
{
	if (ring)
		munmap((void *)(uintptr_t)ring, LEN);
}
