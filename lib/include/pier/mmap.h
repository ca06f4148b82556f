/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MMAP_H
#define PIER_MMAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memory: one range, registered on one or more devices (a local mmap), or one
 * that a peer has exported (a remote mmap).  Configure it, add devices, start
 * it; then take buffers of it and export it.  A stopped one can be configured
 * and started again; one with memory of pier's own can only be started again.
 *
 * One thread at a time; once started it may be used by contexts of several
 * threads.  Calls return 0 or a negative errno value and do not write *ret on
 * failure.
 */
struct pier_dev;
struct pier_mmap;

/* Access to the memory; no bit means PIER_LOCAL_WRITE. */
enum pier_access {
	PIER_LOCAL_READ = 1,
	PIER_LOCAL_WRITE = 2,	/* and read */
	PIER_REMOTE_READ = 4,
	PIER_REMOTE_WRITE = 8,	/* implies PIER_LOCAL_WRITE */
	PIER_REMOTE_ATOMIC = 16,	/* implies PIER_LOCAL_WRITE */
	PIER_PEER_READ = 32,	/* by DMA contexts, see pier/dma_export.h */
	PIER_PEER_WRITE = 64,	/* and read; implies PIER_LOCAL_WRITE */
};

/* What the memory is; no bit means ordinary memory. */
enum pier_mmap_flag {
	PIER_MMAP_HUGE = 1,	/* huge pages if the kernel has enough */
	PIER_MMAP_NODE = 2,	/* pages of numa_node */
	PIER_MMAP_SHARED = 4,	/* other processes can map pier_mmap_fd() */
	PIER_MMAP_DMABUF = 8,	/* another device's, by dmabuf_fd: the CPU */
				/* has no address of it */
};

struct pier_mmap_config {
	size_t size;		/* sizeof(struct pier_mmap_config), always */
	void *addr;		/* the caller's memory; NULL: pier's own, */
				/* page-aligned and zeroed */
	size_t len;		/* bytes; at least 1 */
	uint32_t access;	/* enum pier_access, or-ed */
	/* called when the range is no longer in use; or NULL */
	void (*release)(void *addr, size_t len, void *arg);
	void *release_arg;
	uint32_t flags;		/* enum pier_mmap_flag, or-ed */
	uint32_t numa_node;	/* its number, with PIER_MMAP_NODE */
	/* with PIER_MMAP_DMABUF, where addr is what buffers and peers name */
	/* the first byte by; NULL: its offset */
	uint64_t dmabuf_offset;	/* of the first byte */
	int dmabuf_fd;		/* the caller's; must be open at each start */
};

/*
 * Create an empty mmap, not started; the caller destroys it.  Errors: -ENOMEM.
 */
int pier_mmap_create(struct pier_mmap **ret);

/*
 * Errors: -EBUSY, started; -EINVAL, no length, unknown bits, or fields that
 * exclude each other.
 */
int pier_mmap_configure(struct pier_mmap *mmap,
			const struct pier_mmap_config *cfg);
void pier_mmap_get_config(const struct pier_mmap *mmap,
			  struct pier_mmap_config *ret);

/* Errors: -EBUSY, started; -EEXIST; -ENOSPC, more than 8 devices. */
int pier_mmap_add_dev(struct pier_mmap *mmap, struct pier_dev *dev);

/*
 * Register the range.
 * Errors: -EINVAL, no range or device; -EFAULT, it is not mapped, or is
 * read-only; -ENOMEM; -ERANGE, no such NUMA node; -EOPNOTSUPP, a device does
 * not register dma-bufs; ...
 */
int pier_mmap_start(struct pier_mmap *mmap);

/*
 * Revoke the registration: peers lose access before this returns, exported
 * descriptors become invalid.  Errors: -EBUSY, buffers, pools, arrays or
 * exports of it still exist; the message has how many, and the ranges of some
 * buffers.
 */
int pier_mmap_stop(struct pier_mmap *mmap);

/*
 * Destroy it, stopped or not.  Buffers of it keep it alive.  NULL is allowed.
 */
void pier_mmap_destroy(struct pier_mmap *mmap);

/*
 * Create, configure, add @dev and start in one step; @addr stays the caller's.
 * Errors: those of the four; then nothing was created.
 */
int pier_mmap_map(struct pier_dev *dev, void *addr, size_t len,
		  uint32_t access, struct pier_mmap **ret);

/*
 * The same with @len bytes of pier's own memory, at pier_mmap_addr().  @cfg is
 * its access and flags; NULL: PIER_LOCAL_WRITE, ordinary memory.
 * Errors: those of the four; -EINVAL, @cfg has an address, a dma-buf, or a
 * length other than 0 and @len.
 */
int pier_mmap_alloc(struct pier_dev *dev, size_t len,
		    const struct pier_mmap_config *cfg, struct pier_mmap **ret);

/*
 * Describe the started @mmap, with all its devices, for peers.  *ret belongs to
 * @mmap and lives until it is started again or destroyed; every peer that reads
 * it may use the memory.
 * Errors: -EACCES, no remote access was requested; -EINVAL, not started.
 */
int pier_mmap_export(struct pier_mmap *mmap, const void **ret,
		     size_t *ret_len);

/*
 * Create the remote mmap that @desc describes; it is started.  @desc is copied.
 * @dev is the device that it will be used on; NULL: not known yet.  Whether a
 * connection leads to the owner is known only when a task is submitted on it.
 * Errors: -PIER_EDESC, -PIER_EVERSION, -PIER_EKIND; -EPROTOTYPE, the owner's
 * devices are all on another link layer than @dev; -ENOMEM.
 */
int pier_mmap_create_from_export(struct pier_dev *dev, const void *desc,
				 size_t len, struct pier_mmap **ret);

/* The range, in the address space of the owner of the memory. */
void *pier_mmap_addr(const struct pier_mmap *mmap);
size_t pier_mmap_len(const struct pier_mmap *mmap);

/* The bytes in a page of pier's own memory; 0: not allocated, or another's. */
size_t pier_mmap_page_size(const struct pier_mmap *mmap);

/*
 * The memfd of memory with PIER_MMAP_SHARED, which begins at offset 0.  It
 * belongs to @mmap: duplicate or send it, do not close it.
 * Errors: -EINVAL, other memory, or not started yet.
 */
int pier_mmap_fd(const struct pier_mmap *mmap);

/* How many buffers of it exist, those that tasks in flight hold included. */
size_t pier_mmap_buf_count(const struct pier_mmap *mmap);

/* Non-zero if @mmap was made from an export. */
int pier_mmap_is_remote(const struct pier_mmap *mmap);

#ifdef __cplusplus
}
#endif

#endif
