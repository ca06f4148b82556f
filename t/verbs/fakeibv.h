/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_VERBS_FAKEIBV_H
#define PIER_T_VERBS_FAKEIBV_H

#include "fabric/verbs/verbs_impl.h"

/*
 * A verbs device without a kernel, "fake0": calls of libibverbs that create and
 * destroy queues are made here, in place of the library's.
 */
#define FAKE_QUEUES 2		/* of each kind, one after the other */

extern struct ibv_context fake_context;
extern struct ibv_pd fake_pd;
extern struct ibv_cq fake_cqs[FAKE_QUEUES];
extern struct ibv_srq fake_srqs[FAKE_QUEUES];
extern struct verbs_dev fake_dev;	/* its limits are the test's */

extern int fake_deny;		/* errno of creating a queue; 0: it works */

/* The queue that a call creates: @object, or NULL with errno set. */
void *fake_give(void *object);

#endif
