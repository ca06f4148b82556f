/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_VERBS_H
#define PIER_VERBS_H

#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The bridge to rdma-core, for programs that mix raw verbs with pier's
 * objects.  What it gives out belongs to pier and lives as long as the object
 * it came from.  Only devices of kind "verbs" have protection domains and
 * queue pairs; keys are told of the soft device, too.  Threads: as the calls
 * of the object that is asked; what is given out, as rdma-core says.
 */
struct pier_buf;
struct pier_conn;
struct pier_dev;
struct pier_mmap;

/*
 * Open the device of @pd, port @port from 1, on that protection domain; keys
 * of either are then good for both.  @pd and its context stay the caller's,
 * asynchronous events included, and must outlive *ret.
 * Errors: as pier_dev_open(); -ENODEV, pier does not list the device.
 */
int pier_dev_open_pd(struct ibv_pd *pd, uint32_t port, struct pier_dev **ret);

/* Errors: -EOPNOTSUPP, @dev is not a verbs device. */
int pier_dev_pd(const struct pier_dev *dev, struct ibv_pd **ret);

/*
 * The keys of the memory under @buf on @dev; of a remote buffer only rkey, for
 * the device of @conn's peer.  Errors: -EINVAL, not registered there.
 */
int pier_buf_lkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret);
int pier_buf_rkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret);
int pier_conn_rkey(struct pier_conn *conn, const struct pier_buf *buf,
		   uint32_t *ret);

/*
 * Make a remote mmap of what a peer that does not use pier has told by its own
 * means: @len bytes at @addr under @rkey, for @access of PIER_REMOTE_*.  It is
 * good on connections to such peers only, of any device; the peer refuses
 * what is wrong.  End it with pier_mmap_destroy().
 * Errors: -EINVAL, an empty range, one that wraps, other access; -ENOMEM.
 */
int pier_mmap_create_remote(uint64_t addr, uint64_t len, uint32_t rkey,
			    uint32_t access, struct pier_mmap **ret);

/*
 * The queue pair under @conn, to be queried, or posted to: sends only, with
 * wr_id 0 and unsignalled, since pier reaps the completions.
 * Errors: -EOPNOTSUPP; -ENOTCONN, it is closed.
 */
int pier_conn_qp(const struct pier_conn *conn, struct ibv_qp **ret);

#ifdef __cplusplus
}
#endif

#endif
