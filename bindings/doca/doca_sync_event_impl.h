/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_SYNC_EVENT_IMPL_H
#define DOCA_SYNC_EVENT_IMPL_H

#include <doca_sync_event.h>

#include "doca_task_impl.h"

struct doca_sync_event {
	struct doca_ctx ctx;		/* first */
	struct pier_sync_event *event;
	struct doca_task_pool pools[PIER_TASK_TYPES];
	uint32_t publisher, subscriber;	/* enum pier_sync_event_location */
	uint64_t *word;
	struct doca_dev *dev;
	bool started;			/* in blocking mode */
	bool imported;			/* another process owns it */
};

/* The event of a peer, for tasks of RDMA contexts. */
struct doca_sync_event_remote_net {
	struct pier_sync_event *event;
};

/* All types have the same members. */
struct doca_sync_event_task {
	struct doca_task task;		/* first */
	uint64_t value, mask;
	uint64_t *result;
};

/*
 * Make @pier, which is its from now on, an event for DOCA; @imported_on NULL:
 * it is not imported.  NO_MEMORY.
 */
doca_error_t pier__doca_sync_create(struct pier_sync_event *pier,
				    struct doca_dev *imported_on,
				    struct doca_sync_event **ret);

/* Allocate the tasks of all types. */
doca_error_t pier__doca_sync_fill(struct doca_sync_event *event);

#endif
