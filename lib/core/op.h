/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_OP_H
#define PIER_CORE_OP_H

/*
 * What is posted to a queue.  It is the first member of everything that a
 * work request's wr_id points at, and lives until done() was called, which is
 * exactly once for each posted request.
 */
struct ibv_wc;

struct pier__op {
	void (*done)(struct pier__op *op, const struct ibv_wc *wc);
};

#endif
