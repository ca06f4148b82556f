/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include <pier/verbs.h>

#include "core/fail.h"
#include "mem/buf_impl.h"

static int find_key(const struct pier_buf *buf, const struct pier_dev *dev,
		    const struct pier__mmap_key **ret)
{
	const struct pier_mmap *mmap = buf->mmap;

	for (uint32_t i = 0; i < mmap->key_count; i++) {
		if (mmap->keys[i].dev == dev && mmap->keys[i].mr) {
			*ret = &mmap->keys[i];
			return 0;
		}
	}
	return pier__mmap_lacks(mmap, dev);
}

#define REMOTE_ACCESS \
	(PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

int pier_mmap_create_remote(uint64_t addr, uint64_t len, uint32_t rkey,
			    uint32_t access, struct pier_mmap **ret)
{
	char has[PIER__ACCESS_TEXT];
	struct pier_mmap *mmap;
	int err;

	if (!len || addr > UINTPTR_MAX || len - 1 > UINTPTR_MAX - addr)
		return pier__fail(-EINVAL, "mmap: %" PRIu64 " bytes at 0x%"
				  PRIx64 " are no range", len, addr);
	if (!access || access & ~(uint32_t)REMOTE_ACCESS)
		return pier__fail(-EINVAL, "mmap: remote memory with %s: "
				  "PIER_REMOTE_READ, _WRITE and _ATOMIC only, "
				  "at least one",
				  pier__access_text(access, has));
	err = pier_mmap_create(&mmap);
	if (err)
		return err;

	/* A peer without pier has the device identity of zeros. */
	mmap->remote = true;
	mmap->cpu = false;
	mmap->started = true;
	mmap->cfg.addr = (void *)(uintptr_t)addr;
	mmap->cfg.len = len;
	mmap->cfg.access = access;
	mmap->keys[0].rkey = rkey;
	mmap->key_count = 1;
	*ret = mmap;
	return 0;
}

int pier_buf_lkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret)
{
	const struct pier__mmap_key *key = NULL;
	int err;

	if (!buf)
		return pier__no_object(__func__);
	err = find_key(buf, dev, &key);
	if (!err)
		*ret = key->lkey;
	return err;
}

int pier_buf_rkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret)
{
	const struct pier__mmap_key *key = NULL;
	int err;

	if (!buf)
		return pier__no_object(__func__);
	err = find_key(buf, dev, &key);
	if (!err)
		*ret = key->rkey;
	return err;
}
