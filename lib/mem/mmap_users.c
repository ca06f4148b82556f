/* SPDX-License-Identifier: BSD-2-Clause */
/* What uses an mmap, and the error message of its stop that has it all. */
#include <errno.h>
#include <stdio.h>

#include "core/fail.h"
#include "mem/buf_impl.h"

#define BUFS_NAMED 4
#define TEXT 320

void pier__mmap_hold_for(struct pier_mmap *mmap, enum pier__mmap_user user)
{
	atomic_fetch_add(&mmap->users[user], 1);
	pier__mmap_hold(mmap);
}

void pier__mmap_drop_for(struct pier_mmap *mmap, enum pier__mmap_user user)
{
	atomic_fetch_sub(&mmap->users[user], 1);
	pier__mmap_drop(mmap);
}

size_t pier_mmap_buf_count(const struct pier_mmap *mmap)
{
	size_t refs, others = 1;

	if (!mmap)
		return 0;
	refs = atomic_load(&mmap->refs);
	for (int i = 0; i < PIER__MMAP_USERS; i++)
		others += atomic_load(&mmap->users[i]);
	/* another thread may change them between the loads */
	return refs > others ? refs - others : 0;
}

static size_t add_count(char *text, size_t len, size_t count, const char *name)
{
	if (!count || len >= TEXT)
		return len;
	return len + (size_t)snprintf(text + len, TEXT - len, "%s%zu %s%s",
				      len ? ", " : "", count, name,
				      count > 1 ? "s" : "");
}

/* The buffers, the first ones with their ranges. */
static size_t add_bufs(char *text, const struct pier_mmap *mmap)
{
	size_t count = pier_mmap_buf_count(mmap), found;
	size_t len = add_count(text, 0, count, "buffer");
	struct pier__range ranges[BUFS_NAMED];

	found = count ? pier__bufs_of(mmap, ranges, BUFS_NAMED) : 0;
	for (size_t i = 0; i < found && len < TEXT; i++)
		len += (size_t)snprintf(text + len, TEXT - len, "%s%zu bytes "
					"at %p", i ? ", " : " (",
					ranges[i].len, ranges[i].addr);
	if (found && len < TEXT)
		len += (size_t)snprintf(text + len, TEXT - len, "%s",
					found < count ? ", ...)" : ")");
	return len;
}

int pier__mmap_in_use(const struct pier_mmap *mmap)
{
	static const char *const names[PIER__MMAP_USERS] = {
		[PIER__MMAP_POOL] = "buffer pool",
		[PIER__MMAP_ARRAY] = "buffer array",
		[PIER__MMAP_EXPORT] = "export for DMA contexts",
		[PIER__MMAP_CONSUMER] = "Comm Channel consumer",
	};
	char devs[PIER__MMAP_DEVS_TEXT], text[TEXT] = "";
	size_t len = add_bufs(text, mmap);

	for (int i = 0; i < PIER__MMAP_USERS; i++)
		len = add_count(text, len, atomic_load(&mmap->users[i]),
				names[i]);
	return pier__fail(-EBUSY, "mmap: %zu bytes at %p on %s: stopped while "
			  "in use by %s; a task in flight holds its buffers",
			  mmap->cfg.len, mmap->cfg.addr,
			  pier__mmap_devs(mmap, devs), text);
}
