/* SPDX-License-Identifier: BSD-2-Clause */
/* Pier's own memory: ordinary or huge pages, a NUMA node, a memfd. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/device_access.h"
#include "core/fail.h"
#include "mem/access.h"
#include "mem/own.h"

#define NODES_MAX 1024		/* the most of any kernel */
#define NODES_FILE "/sys/devices/system/node/has_memory"
#define LONG_BITS (CHAR_BIT * sizeof(unsigned long))

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whole pages for @len bytes.  Returns 0: it is more than there can be. */
static size_t round_up(size_t len, size_t unit)
{
	return len > SIZE_MAX - (unit - 1) ? 0 :
					     (len + unit - 1) & ~(unit - 1);
}

/* A memfd of whole pages for @len bytes, which keeps its length. */
static int set_len(size_t len, unsigned int flags, struct pier__own *own)
{
	struct stat st;

	if (fstat(own->fd, &st))
		return -errno;
	own->page_size = flags & MFD_HUGETLB ? (size_t)st.st_blksize :
					       page_size();
	own->len = round_up(len, own->page_size);
	if (!own->len || own->len > INT64_MAX)
		return -ENOMEM;
	if (ftruncate(own->fd, (off_t)own->len) ||
	    fcntl(own->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return -errno;
	return 0;
}

static int map(int flags, struct pier__own *own)
{
	own->addr = mmap(NULL, own->len, PROT_READ | PROT_WRITE, flags,
			 own->fd, 0);
	return own->addr == MAP_FAILED ? -errno : 0;
}

static int map_memfd(size_t len, unsigned int flags, struct pier__own *ret)
{
	int err;

	ret->fd = memfd_create("pier", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	if (ret->fd < 0)
		return -errno;
	err = set_len(len, flags, ret);
	if (!err)
		err = map(MAP_SHARED, ret);
	if (err)
		close(ret->fd);
	return err;
}

static int map_anonymous(size_t len, struct pier__own *ret)
{
	ret->fd = -1;
	ret->page_size = page_size();
	ret->len = round_up(len, ret->page_size);
	if (!ret->len)
		return -ENOMEM;
	return map(MAP_PRIVATE | MAP_ANONYMOUS, ret);
}

/* Huge pages of the kernel's default size; the mapping reserves them. */
static int map_huge(size_t len, struct pier__own *ret)
{
	int err = map_memfd(len, MFD_HUGETLB, ret);

	if (err)
		pier__log(PIER_LOG_INFO, "mem", "no huge pages for %zu bytes, "
			  "ordinary ones are used: %s; the kernel has as many "
			  "as vm.nr_hugepages", len, pier_strerror(err));
	return err;
}

static int map_pages(const struct pier_mmap_config *cfg, bool mapped,
		     struct pier__own *ret)
{
	bool shared = cfg->flags & PIER_MMAP_SHARED;
	int err = -ENOMEM;

	if (cfg->flags & PIER_MMAP_HUGE)
		err = map_huge(cfg->len, ret);
	if (err && (shared || mapped))
		err = map_memfd(cfg->len, 0, ret);
	if (err && !shared)
		err = map_anonymous(cfg->len, ret);
	if (err)
		return pier__fail(err, "mmap: no %zu bytes of memory: %s",
				  cfg->len, pier_strerror(err));
	return 0;
}

static int no_node(uint32_t node)
{
	FILE *file = fopen(NODES_FILE, "re");
	char nodes[64] = "";

	if (file) {
		if (!fgets(nodes, sizeof(nodes), file))
			nodes[0] = '\0';
		fclose(file);
	}
	nodes[strcspn(nodes, "\n")] = '\0';
	return pier__fail(-ERANGE, "mmap: no NUMA node %u with memory that "
			  "this process may use; the kernel has %s", node,
			  nodes[0] ? nodes : "none");
}

/*
 * The pages will come from @node, and from others when it has none left:
 * a stricter policy would kill the process in this case.
 */
static int bind_to(const struct pier__own *own, uint32_t node)
{
	unsigned long mask[NODES_MAX / LONG_BITS] = { 0 };
	int err = -EINVAL;

	if (node >= NODES_MAX)
		return no_node(node);
	mask[node / LONG_BITS] = 1ul << node % LONG_BITS;
	if (!syscall(SYS_mbind, own->addr, own->len, MPOL_PREFERRED, mask,
		     NODES_MAX + 1ul, 0))
		return 0;
	err = -errno;
	if (err == -EINVAL)
		return no_node(node);
	return pier__fail(err, "mmap: the kernel does not place memory on NUMA "
			  "node %u: mbind: %s", node, pier_strerror(err));
}

/*
 * Which peers of this host write is up to its access.  What the program gives
 * to others it may give to be written: then peers are not given it.
 */
static bool is_sealed(const struct pier_mmap_config *cfg,
		      const struct pier__own *own)
{
	if (pier__access_is_written(cfg->access))
		return true;
	return !(cfg->flags & PIER_MMAP_SHARED) &&
	       !fcntl(own->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
}

/* Only a memfd that was asked for is open to others. */
static void hide(const struct pier_mmap_config *cfg, bool mapped,
		 struct pier__own *own)
{
	if (own->fd < 0)
		return;
	own->mapped = mapped && is_sealed(cfg, own);
	if (own->mapped || cfg->flags & PIER_MMAP_SHARED)
		return;
	close(own->fd);
	own->fd = -1;
}

int pier__own_alloc(const struct pier_mmap_config *cfg, bool mapped,
		    struct pier__own *ret)
{
	struct pier__own own = { .fd = -1 };
	int err = map_pages(cfg, mapped, &own);

	if (err)
		return err;
	if (cfg->flags & PIER_MMAP_NODE)
		err = bind_to(&own, cfg->numa_node);
	if (err) {
		pier__own_free(&own);
		return err;
	}
	hide(cfg, mapped, &own);
	*ret = own;
	return 0;
}

void pier__own_free(struct pier__own *own)
{
	if (!own->len)
		return;
	munmap(own->addr, own->len);
	if (own->fd >= 0)
		close(own->fd);
	memset(own, 0, sizeof(*own));
}

/* Ordinary pages in the place of @own's.  Returns an error of mmap(2). */
static int replace(const struct pier__own *own)
{
	int err;
	void *new = mmap(NULL, own->len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (new == MAP_FAILED)
		return -errno;
	pier__device_access_begin();
	memcpy(new, own->addr, own->len);
	pier__device_access_end();
	if (mremap(new, own->len, own->len, MREMAP_MAYMOVE | MREMAP_FIXED,
		   own->addr) != MAP_FAILED)
		return 0;
	err = -errno;
	munmap(new, own->len);
	return err;
}

void pier__own_replace(struct pier__own *own)
{
	int err = replace(own);

	if (err) {
		pier__log(PIER_LOG_ERROR, "mem", "a process of this host is "
			  "stopped while it uses %zu bytes at %p, and may "
			  "write them when it goes on: no other memory for "
			  "them: %s", own->len, own->addr, pier_strerror(err));
		return;
	}
	own->mapped = false;
	own->page_size = page_size();
	pier__log(PIER_LOG_WARNING, "mem", "a process of this host was stopped "
		  "while it used %zu bytes at %p: they have other memory now, "
		  "which no process shares", own->len, own->addr);
}
