/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/wire.h"
#include "mem/mmap_impl.h"

/* Fields of a memory descriptor; 1 and 2 are those of every descriptor. */
enum {
	FIELD_CREATED = 1,	/* seconds since 1970 */
	FIELD_VALID = 2,	/* seconds from then; 0: no bound */
	FIELD_ADDR = 3,
	FIELD_LEN = 4,
	FIELD_ACCESS = 5,
	FIELD_KEYS = 6,		/* of maps: */
	KEY_DEV = 1,
	KEY_RKEY = 2,
	KEY_LINK = 3,		/* link layer of the device */
};

#define REMOTE_ACCESS \
	(PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

int pier__mmap_describe(const struct pier_mmap *mmap, uint32_t valid_s,
			void *buf, size_t size)
{
	char has[PIER__ACCESS_TEXT];
	struct pier__wire_out out;

	if (mmap->remote)
		return pier__fail(-EINVAL, "mmap: a remote one is exported");
	if (!mmap->started)
		return pier__fail(-EINVAL, "mmap: exported before start");
	if (!(mmap->cfg.access & REMOTE_ACCESS))
		return pier__fail(-EACCES, "mmap: exported without remote "
				  "access, with %s: add PIER_REMOTE_READ, "
				  "_WRITE or _ATOMIC",
				  pier__access_text(mmap->cfg.access, has));

	pier__wire_begin(&out, buf, size, mmap->kind, 6);
	pier__wire_uint(&out, FIELD_CREATED, pier__wall_seconds());
	pier__wire_uint(&out, FIELD_VALID, valid_s);
	pier__wire_uint(&out, FIELD_ADDR, (uintptr_t)mmap->cfg.addr);
	pier__wire_uint(&out, FIELD_LEN, mmap->cfg.len);
	pier__wire_uint(&out, FIELD_ACCESS, mmap->cfg.access & REMOTE_ACCESS);
	pier__wire_array(&out, FIELD_KEYS, mmap->key_count);
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		pier__wire_map(&out, 3);
		pier__wire_bytes(&out, KEY_DEV, mmap->keys[i].dev_id, 8);
		pier__wire_uint(&out, KEY_RKEY, mmap->keys[i].rkey);
		pier__wire_uint(&out, KEY_LINK, mmap->keys[i].link_layer);
	}
	return pier__wire_end(&out);
}

int pier_mmap_export(struct pier_mmap *mmap, const void **ret, size_t *ret_len)
{
	uint8_t buf[PIER_DESC_MAX];
	int len;

	if (!mmap)
		return pier__no_object(__func__);
	if (!mmap->desc || !mmap->started) {
		len = pier__mmap_describe(mmap, 0, buf, sizeof(buf));
		if (len < 0)
			return len;
		mmap->desc = malloc((size_t)len);
		if (!mmap->desc)
			return pier__fail(-ENOMEM, "mmap: no memory");
		memcpy(mmap->desc, buf, (size_t)len);
		mmap->desc_len = (size_t)len;
	}
	*ret = mmap->desc;
	*ret_len = mmap->desc_len;
	return 0;
}

static int read_key(const struct pier__wire_in *in, struct pier__mmap_key *ret)
{
	const uint8_t *dev_id;
	uint64_t rkey, link;
	size_t len;
	int err = pier__wire_get_bytes(in, KEY_DEV, 8, 8, &dev_id, &len);

	if (!err)
		err = pier__wire_get_uint(in, KEY_RKEY, 0, UINT32_MAX, &rkey);
	if (!err)
		err = pier__wire_get_uint(in, KEY_LINK,
					  IBV_LINK_LAYER_INFINIBAND,
					  IBV_LINK_LAYER_ETHERNET, &link);
	if (err)
		return err;
	memcpy(ret->dev_id, dev_id, 8);
	ret->rkey = (uint32_t)rkey;
	ret->link_layer = (uint8_t)link;
	return 0;
}

static int read_keys(const struct pier__wire_in *in, struct pier_mmap *mmap)
{
	struct pier__wire_in map;
	unsigned int count;
	int err = pier__wire_get_array(in, FIELD_KEYS, PIER__MMAP_DEVS, &count);

	if (err)
		return err;
	if (!count)
		return pier__fail(-PIER_EDESC, "memory descriptor: no keys");
	for (unsigned int i = 0; i < count; i++) {
		err = pier__wire_get_map(in, FIELD_KEYS, i, &map);
		if (!err)
			err = read_key(&map, &mmap->keys[i]);
		if (err)
			return err;
	}
	mmap->key_count = count;
	return 0;
}

static int read_range(const struct pier__wire_in *in, struct pier_mmap *mmap)
{
	uint64_t addr, len, access;
	int err = pier__wire_get_uint(in, FIELD_ADDR, 0, UINTPTR_MAX, &addr);

	if (!err)
		err = pier__wire_get_uint(in, FIELD_LEN, 1, SIZE_MAX, &len);
	if (!err)
		err = pier__wire_get_uint(in, FIELD_ACCESS, 0, REMOTE_ACCESS,
					  &access);
	if (err)
		return err;
	if (addr + (len - 1) < addr)
		return pier__fail(-PIER_EDESC, "memory descriptor: %llu bytes "
				  "at 0x%llx wrap around",
				  (unsigned long long)len,
				  (unsigned long long)addr);
	mmap->cfg.addr = (void *)(uintptr_t)addr;
	mmap->cfg.len = len;
	mmap->cfg.access = (uint32_t)access;
	return 0;
}

int pier__mmap_import(struct pier_dev *dev, const void *desc, size_t len,
		      enum pier__wire_kind kind, struct pier_mmap **ret)
{
	struct pier__wire_in in;
	struct pier_mmap *mmap;
	int err = pier__wire_expect(desc, len, kind, &in);

	if (err)
		return err;
	err = pier_mmap_create(&mmap);
	if (err)
		return err;
	mmap->remote = true;
	mmap->cpu = false;
	mmap->kind = kind;
	err = read_range(&in, mmap);
	if (!err)
		err = read_keys(&in, mmap);
	if (!err && dev)
		err = pier__mmap_check_link(mmap, dev);
	if (err) {
		pier_mmap_destroy(mmap);
		return err;
	}
	mmap->started = true;
	*ret = mmap;
	return 0;
}

int pier_mmap_create_from_export(struct pier_dev *dev, const void *desc,
				 size_t len, struct pier_mmap **ret)
{
	return pier__mmap_import(dev, desc, len, PIER__WIRE_MMAP, ret);
}
