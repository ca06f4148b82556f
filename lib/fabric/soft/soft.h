/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SOFT_H
#define PIER_FABRIC_SOFT_SOFT_H

#include "fabric/fabric.h"

extern const struct pier__fabric pier__soft;

extern const struct pier__fabric_dev pier__soft_dev;

/*
 * As the fabric's member reg(), for QPs of @pd only.  Requests have @iova for
 * @addr.  What is registered IBV_ACCESS_ON_DEMAND need not be mapped yet.
 */
int pier__soft_reg_in(struct pier__fdev *fdev, const void *pd, void *addr,
		      size_t len, uint64_t iova, int access,
		      struct pier__mr **ret);

/* What it checks but for @iova.  Errors: -EINVAL, -EFAULT. */
int pier__soft_reg_check(const void *addr, size_t len, int access);

/* As the fabric's member counters; where the QP's body is known. */
int pier__soft_counters(struct pier__fdev *fdev, const struct pier__qp *qp,
			struct pier_counters *ret);

extern const struct pier__fabric_cm pier__soft_cm_table;

/*
 * Have @take called with each event of @cm, which is new, as soon as there is
 * one; next() then reports none.  It is called by the thread that drives, which
 * may be the helper's, holding the endpoint: it makes no call on @cm.  The end
 * of timewait is an event, too.  A request that it returns false for is as one
 * that the network has lost.
 */
typedef bool pier__soft_cm_take(struct pier__cm *cm,
				const struct pier__cm_event *event);
void pier__soft_cm_take_by(struct pier__cm *cm, pier__soft_cm_take *take);

/* As the fabric's listen(), for requests of @space. */
int pier__soft_cm_listen_for(struct pier__cm *cm, enum pier__cm_space space,
			     const struct sockaddr *addr, int backlog,
			     void *owner, struct pier__cm_listener **ret);

/*
 * The process ends: send DREQ for each connection, once.  Without effect if
 * another thread does not let go of the endpoint.
 */
void pier__soft_cm_goodbye_all(struct pier__cm *cm);

#endif
