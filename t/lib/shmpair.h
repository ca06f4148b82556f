/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_SHMPAIR_H
#define PIER_T_LIB_SHMPAIR_H

#include "fabric/soft/rc/qp.h"
#include "t/lib/peer.h"

/*
 * Two peers in this process, on one engine, that are joined by shared memory.
 * Each has a device of its own, so that what one registers is no matter of the
 * other's endpoint, which a test may hold.
 */
struct shmpair {
	struct pier_dev *dev[2];
	struct peer a, b;
};

/* @own: their memory, of @len bytes, is pier's own. */
bool shmpair_begin(struct shmpair *pair, bool own, size_t len);
void shmpair_end(struct shmpair *pair);

/* Their queue pair and endpoint, of the connection that is peer->conn. */
struct soft_qp *shmpair_qp(const struct peer *peer);
struct soft_ep *shmpair_ep(const struct peer *peer);

/* Write to the same place of the other's memory, or read it; the status. */
int shmpair_write(struct peer *peer, size_t off, size_t len);
int shmpair_read(struct peer *peer, size_t off, size_t len);

/* Until requests of @peer need no packet. */
bool shmpair_map(struct peer *peer);

#endif
