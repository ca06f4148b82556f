/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "ops/sync_event_impl.h"

#define WORD_SIZE sizeof(uint64_t)
#define ACCESS (PIER_REMOTE_READ | PIER_REMOTE_WRITE)

int pier__sync_register(struct pier_sync_event *event)
{
	const struct pier_sync_event_config *cfg = &event->cfg;
	uint32_t access = ACCESS;
	int err;

	if (!((cfg->publisher | cfg->subscriber) & PIER_SYNC_EVENT_REMOTE))
		return 0;
	if (!pier_devinfo_can_task(pier_dev_info(cfg->dev),
				   PIER_TASK_NOTIFY_ADD))
		access |= PIER_REMOTE_ATOMIC;
	err = pier_mmap_map(cfg->dev, event->word, WORD_SIZE, access,
			    &event->mmap);
	if (!err)
		event->mmap->kind = PIER__WIRE_SYNC_EVENT;
	return err;
}

void pier__sync_revoke(struct pier_sync_event *event)
{
	if (event->buf)		/* tasks in flight hold it still */
		pier_buf_put(event->buf);
	else if (event->mmap && !pier__sync_is_imported(event))
		pier_mmap_stop(event->mmap);
	event->buf = NULL;
	pier__sync_served_end(event);
}

int pier__sync_mmap(struct pier_sync_event *event, struct pier_mmap **ret)
{
	int err = pier__sync_usable(event);

	if (err)
		return err;
	if (event->remote)
		return pier__fail(-EOPNOTSUPP, "sync event: exported, but it "
				  "is imported: its owner exports it");
	if (!event->mmap)
		return pier__fail(-EACCES, "sync event: exported, but neither "
				  "its publisher nor its subscriber is remote");
	*ret = event->mmap;
	return 0;
}

int pier_sync_event_export(struct pier_sync_event *event, const void **ret,
			   size_t *ret_len)
{
	struct pier_mmap *mmap;
	int err;

	if (!event)
		return pier__no_object(__func__);
	err = pier__sync_mmap(event, &mmap);
	return err ? err : pier_mmap_export(mmap, ret, ret_len);
}

int pier__sync_check_word(const struct pier_mmap *mmap)
{
	uintptr_t addr = (uintptr_t)mmap->cfg.addr;
	char has[PIER__ACCESS_TEXT];

	if (mmap->cfg.len != WORD_SIZE || addr % WORD_SIZE)
		return pier__fail(-PIER_EDESC, "sync event descriptor: %zu "
				  "bytes at 0x%zx are not %zu aligned ones",
				  mmap->cfg.len, (size_t)addr, WORD_SIZE);
	if ((mmap->cfg.access & ACCESS) != ACCESS)
		return pier__fail(-PIER_EDESC, "sync event descriptor: it has "
				  "%s, an event has PIER_REMOTE_READ and "
				  "PIER_REMOTE_WRITE",
				  pier__access_text(mmap->cfg.access, has));
	return 0;
}

/* @event owns @mmap from now on. */
static int import(struct pier_sync_event *event, struct pier_mmap *mmap)
{
	int err;

	event->mmap = mmap;
	err = pier__sync_check_word(mmap);
	if (!err)
		err = pier_buf_inventory_create(1, &event->inv);
	if (!err)
		err = pier_buf_whole(event->inv, mmap, &event->buf);
	return err;
}

int pier__sync_import(struct pier_mmap *mmap, struct pier_sync_event **ret)
{
	struct pier_sync_event *event;
	int err = pier_sync_event_create(&event);

	if (err) {
		pier_mmap_destroy(mmap);
		return err;
	}
	err = import(event, mmap);
	if (err) {
		pier_sync_event_destroy(event);
		return err;
	}
	*ret = event;
	return 0;
}

int pier_sync_event_create_from_export(struct pier_dev *dev, const void *desc,
				       size_t len, struct pier_sync_event **ret)
{
	struct pier_mmap *mmap;
	int err = pier__mmap_import(dev, desc, len, PIER__WIRE_SYNC_EVENT,
				    &mmap);

	return err ? err : pier__sync_import(mmap, ret);
}
