/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/lib/event.h"
#include "t/lib/tap.h"

struct pier_sync_event *event_own(struct pier_dev *dev, uint64_t value)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_REMOTE,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.dev = dev,
	};
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_set(event, value), 0);
	return event;
}

struct pier_sync_event *event_import(struct pier_sync_event *event)
{
	struct pier_sync_event *remote = NULL;
	const void *desc = NULL;
	size_t len = 0;

	IS(pier_sync_event_export(event, &desc, &len), 0);
	IS(pier_sync_event_create_from_export(NULL, desc, len, &remote), 0);
	IS(pier_sync_event_start(remote), 0);
	return remote;
}
