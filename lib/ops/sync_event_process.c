/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/sync_event_remote.h"

/* What other processes have of an event. */
struct pier__sync_served {
	struct pier__service_entry entry;
	bool ended;
	size_t len;
	uint8_t desc[PIER_SYNC_EVENT_DESC_MAX];
};

static int serve(struct pier_sync_event *event, struct pier_mmap *mmap)
{
	struct pier_dev *dev = event->cfg.dev;
	struct pier__sync_served *served = calloc(1, sizeof(*served));
	int err;

	if (!served)
		return pier__fail(-ENOMEM, "sync event: no memory");
	err = pier__service_add(dev, &served->entry);
	if (err)
		goto err_free;
	err = pier__origin_describe(&served->entry, dev, mmap,
				    PIER__WIRE_SYNC_EXPORT, served->desc,
				    sizeof(served->desc));
	if (err < 0)
		goto err_service_remove;

	served->len = (size_t)err;
	event->served = served;
	return 0;

err_service_remove:
	pier__service_remove(&served->entry);
err_free:
	free(served);
	return err;
}

int pier_sync_event_export_process(struct pier_sync_event *event,
				   const void **ret, size_t *ret_len)
{
	struct pier_mmap *mmap;
	int err;

	if (!event)
		return pier__no_object(__func__);
	err = pier__sync_mmap(event, &mmap);
	if (!err && !event->served)
		err = serve(event, mmap);
	if (err)
		return err;
	*ret = event->served->desc;
	*ret_len = event->served->len;
	return 0;
}

int pier_sync_event_export_wait(struct pier_sync_event *event, int timeout_ms)
{
	struct pier__sync_served *served;
	int err;

	if (!event)
		return pier__no_object(__func__);
	served = event->served;
	if (!served || served->ended)
		return pier__fail(-EINVAL, "sync event: waits for a process to "
				  "end, but is not exported to any");
	err = pier__service_wait(&served->entry,
				 pier__deadline(pier__now(), timeout_ms));
	if (err != -ETIMEDOUT)
		return err;
	return pier__fail(-ETIMEDOUT, "sync event: after %d ms no process has "
			  "connected and ended", timeout_ms);
}

void pier__sync_served_end(struct pier_sync_event *event)
{
	if (!event->served || event->served->ended)
		return;
	pier__service_remove(&event->served->entry);
	event->served->ended = true;
}

void pier__sync_served_free(struct pier_sync_event *event)
{
	free(event->served);
}

/* @event owns @mmap from now on. */
static int import(struct pier_sync_event *event, struct pier_dev *dev,
		  struct pier_mmap *mmap)
{
	int err;

	event->mmap = mmap;
	err = pier__sync_check_word(mmap);
	return err ? err : pier__sync_remote_create(event, dev);
}

int pier_sync_event_import_process(struct pier_dev *dev, const void *desc,
				   size_t len, struct pier_sync_event **ret)
{
	struct pier_sync_event *event;
	struct pier_mmap *mmap;
	int err = pier__origin_import(dev, desc, len, PIER__WIRE_SYNC_EXPORT,
				      PIER__WIRE_SYNC_EVENT, &mmap);

	if (err)
		return err;
	err = pier_sync_event_create(&event);
	if (err) {
		pier_mmap_destroy(mmap);
		return err;
	}
	err = import(event, dev, mmap);
	if (err) {
		pier_sync_event_destroy(event);
		return err;
	}
	*ret = event;
	return 0;
}
