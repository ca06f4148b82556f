/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA20_SYNC_EVENT_IMPL_H
#define DOCA20_SYNC_EVENT_IMPL_H

#include <doca_sync_event.h>

#include "doca20_workq_impl.h"

struct doca_sync_event {
	struct doca_ctx ctx;		/* first */
	struct pier_sync_event *event;
	bool publisher, subscriber;	/* their locations were added */
	uint64_t *word;
	bool started;			/* in blocking mode */
	bool imported;
};

#endif
