/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DMA_EXPORT_H
#define PIER_DMA_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An export: memory that DMA contexts of other processes, of this host or of
 * another, read and write while this process does anything else, or sleeps.
 * A thread of pier's, one for each open device with exports, accepts their
 * connections.  An export is neither configured nor started: create another one
 * of the same mmap, which has another descriptor.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * One thread at a time uses an export.
 */
struct pier_dev;
struct pier_dma_export;
struct pier_mmap;

/* No export's descriptor is longer, in bytes. */
#define PIER_DMA_EXPORT_DESC_MAX 512

/*
 * Export the started @mmap on @dev, one of its devices, with the access
 * PIER_PEER_READ or PIER_PEER_WRITE that @mmap is configured with.  @mmap
 * cannot be stopped meanwhile.
 * Errors: -EACCES, neither was configured; -EINVAL, not started, not on @dev, a
 * dma-buf, or itself imported; -ENOMEM; those of pier_mmap_start() and
 * pier_rdma_listen().
 */
int pier_dma_export_create(struct pier_mmap *mmap, struct pier_dev *dev,
			   struct pier_dma_export **ret);

/* Its descriptor, a secret, which belongs to @exported and lives as long. */
void pier_dma_export_desc(const struct pier_dma_export *exported,
			  const void **ret, size_t *ret_len);

/*
 * Wait until a peer has connected to it and none is connected any more, at most
 * @timeout_ms milliseconds, below 0: without limit.  Any thread.
 * Errors: -ETIMEDOUT; -ENODEV, the device was removed.
 */
int pier_dma_export_wait(struct pier_dma_export *exported, int timeout_ms);

/*
 * End it: peers have lost access on return.  The descriptor is never valid
 * again.  NULL is allowed.
 */
void pier_dma_export_destroy(struct pier_dma_export *exported);

/*
 * Create the remote mmap that @desc, of an export, describes; it is started,
 * and for tasks of DMA contexts only.  @desc is copied.  @dev is the device of
 * these contexts; NULL: not known yet.  No connection is made before the first
 * task, which is the first to find that no peer is there.
 * Errors: -PIER_EDESC, -PIER_EVERSION, -PIER_EKIND; -ENOMEM; with @dev
 * -EPROTOTYPE, the owner is on another link layer; -EHOSTUNREACH, no address of
 * the owner is of a family that @dev has; -EADDRNOTAVAIL, @dev has none.
 */
int pier_dma_import(struct pier_dev *dev, const void *desc, size_t len,
		    struct pier_mmap **ret);

#ifdef __cplusplus
}
#endif

#endif
