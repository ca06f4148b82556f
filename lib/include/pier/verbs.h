/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_VERBS_H
#define PIER_VERBS_H

#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The bridge to rdma-core, for programs that use raw verbs beside pier's
 * objects.  Returned objects belong to pier and live as long as the object that
 * they come from.  Only devices of kind "verbs" have protection domains and
 * queue pairs; the soft device has keys, too.  Threads: as the calls of the
 * object that is passed; for the returned object, as in rdma-core.
 */
struct pier_buf;
struct pier_conn;
struct pier_dev;
struct pier_mmap;

/*
 * Open the device of @pd, port @port from 1, on that protection domain; keys of
 * either are then valid for both.  @pd and its context stay the caller's,
 * asynchronous events included, and must outlive *ret.
 * Errors: as pier_dev_open(); -ENODEV, pier does not list the device.
 */
int pier_dev_open_pd(struct ibv_pd *pd, uint32_t port, struct pier_dev **ret);

/* Errors: -EOPNOTSUPP, @dev is not a verbs device. */
int pier_dev_pd(const struct pier_dev *dev, struct ibv_pd **ret);

/*
 * The keys of the memory of @buf on @dev; of a remote buffer only rkey, for the
 * device of @conn's peer.  Errors: -EINVAL, not registered there.
 */
int pier_buf_lkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret);
int pier_buf_rkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret);
int pier_conn_rkey(struct pier_conn *conn, const struct pier_buf *buf,
		   uint32_t *ret);

/*
 * Create a remote mmap of memory of a peer that does not use pier: @len bytes
 * at @addr under @rkey, for @access of PIER_REMOTE_*.  It is valid only on
 * connections to such peers, of any device; the peer refuses requests if the
 * values are wrong.  Destroy it by pier_mmap_destroy().
 * Errors: -EINVAL, an empty range, one that wraps, other access; -ENOMEM.
 */
int pier_mmap_create_remote(uint64_t addr, uint64_t len, uint32_t rkey,
			    uint32_t access, struct pier_mmap **ret);

/*
 * The queue pair of @conn, to be queried, or posted to: sends only, with wr_id
 * 0 and unsignalled, since pier reaps the completions.
 * Errors: -EOPNOTSUPP; -ENOTCONN, it is closed.
 */
int pier_conn_qp(const struct pier_conn *conn, struct ibv_qp **ret);

#ifdef __cplusplus
}
#endif

#endif
