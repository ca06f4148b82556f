/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/verbs.h>

#include "core/fail.h"
#include "mem/buf.h"

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
	return pier__fail(-EINVAL, "the buffer's memory is not registered on "
			  "%s", dev->info.port.name);
}

int pier_buf_lkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret)
{
	const struct pier__mmap_key *key = NULL;
	int err = find_key(buf, dev, &key);

	if (!err)
		*ret = key->lkey;
	return err;
}

int pier_buf_rkey(const struct pier_buf *buf, const struct pier_dev *dev,
		  uint32_t *ret)
{
	const struct pier__mmap_key *key = NULL;
	int err = find_key(buf, dev, &key);

	if (!err)
		*ret = key->rkey;
	return err;
}
