/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_CMA_CMA_REAL_CALLS_H
#define PIER_DROPIN_CMA_CMA_REAL_CALLS_H

#include <rdma/rdma_verbs.h>

#include "dropin/cma/cma.h"

/* What is used of the host's librdmacm.so.1: cma_real.h. */
#define CMA_REAL_CALLS(X) \
	X(rdma_accept) \
	X(rdma_ack_cm_event) \
	X(rdma_bind_addr) \
	X(rdma_connect) \
	X(rdma_create_event_channel) \
	X(rdma_create_id) \
	X(rdma_create_qp_ex) \
	X(rdma_create_srq) \
	X(rdma_destroy_event_channel) \
	X(rdma_destroy_id) \
	X(rdma_destroy_qp) \
	X(rdma_destroy_srq) \
	X(rdma_disconnect) \
	X(rdma_establish) \
	X(rdma_free_devices) \
	X(rdma_get_cm_event) \
	X(rdma_get_devices) \
	X(rdma_init_qp_attr) \
	X(rdma_join_multicast) \
	X(rdma_join_multicast_ex) \
	X(rdma_leave_multicast) \
	X(rdma_listen) \
	X(rdma_migrate_id) \
	X(rdma_notify) \
	X(rdma_reject) \
	X(rdma_resolve_addr) \
	X(rdma_resolve_route) \
	X(rdma_set_option) \
	/* end, sorted */

#define CMA_REAL_FIELD(name) __typeof__(name) *name;

struct cma_real_calls {
	CMA_REAL_CALLS(CMA_REAL_FIELD)
};

extern struct cma_real_calls pier__cma_real_calls;

/*
 * Around a call for id->real: what the program has set in @id is there before,
 * and what the call has set is in @id after.  after() returns @ret, with its
 * errno.
 */
void pier__cma_real_before(struct cma_id *id);
int pier__cma_real_after(struct cma_id *id, int ret);
/* The second part of after() alone. */
void pier__cma_real_show(struct cma_id *id);
/*
 * What of that an event sets.  The rest is the program's, which may set it, or
 * call for it in another thread, meanwhile.
 */
void pier__cma_real_show_names(struct cma_id *id);

/*
 * cma_real_qp.c: @id has a real one; and none any more.  And before @qp is
 * destroyed: no real id has it from then on.
 */
void pier__cma_real_add(struct cma_id *id);
void pier__cma_real_remove(struct cma_id *id);
void pier__cma_real_qp_ends(struct ibv_qp *qp);

#endif
