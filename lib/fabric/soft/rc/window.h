/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_WINDOW_H
#define PIER_FABRIC_SOFT_RC_WINDOW_H

#include "fabric/soft/rc/ep.h"

/*
 * Memory windows, of one PD; for endpoints whose device has no other.  A window
 * that is bound has a range of a region, as peers may use it by the window's
 * key: those of QPs of the PD, or if @by_qp that of one QP.
 */
struct soft_window;
struct soft_binding {
	struct soft_mr *region;
	uint64_t addr, len;		/* len 0: to nothing */
	int access;			/* IBV_ACCESS_* */
	bool by_qp;
};

int pier__soft_window_create(struct soft_ep *ep, const void *pd,
			     struct soft_window **ret);
uint32_t pier__soft_window_key(const struct soft_window *window);
void pier__soft_window_destroy(struct soft_ep *ep, struct soft_window *window);

/*
 * A request without a packet: bind @window to what @to has, by a new key or if
 * that is @by_qp by @key; with NULL, invalidate the window @key.  It is
 * executed at once, and completed behind those that were posted before it.
 * Errors: -EINVAL, the state of @qp; -EAGAIN.
 */
struct soft_local {
	uint64_t wr_id;
	unsigned int flags;		/* enum ibv_send_flags */
	struct soft_window *window;
	struct soft_binding to;
	uint32_t key;
};
int pier__soft_local_post(struct soft_qp *qp, const struct soft_local *op);

/*
 * Where the sequence numbers end of what was posted before a request without a
 * packet that has failed, behind which nothing is sent; UINT64_MAX: none has.
 */
uint64_t pier__soft_local_barrier(const struct soft_qp *qp);

/*
 * The window @key, which is bound to @qp, is not valid any more.  Returns
 * false: there is none.
 */
bool pier__soft_window_invalidate(struct soft_qp *qp, uint32_t key);

/* @qp ends: the windows that are bound to it are not valid any more. */
void pier__soft_window_unbind_all(struct soft_qp *qp);

/*
 * Complete the requests without a packet from @local on, behind one that was
 * completed with @status.
 */
void pier__soft_local_complete(struct soft_qp *qp, struct soft_wqe *local,
			       enum ibv_wc_status status);

#endif
