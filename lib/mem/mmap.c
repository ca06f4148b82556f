/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/copy.h"
#include "core/fail.h"
#include "mem/mmap_impl.h"
#include "mem/mmap_origin.h"

int pier_mmap_create(struct pier_mmap **ret)
{
	static _Atomic uint64_t serial;
	struct pier_mmap *mmap = calloc(1, sizeof(*mmap));

	if (!mmap)
		return pier__fail(-ENOMEM, "mmap: no memory");
	mmap->cfg.size = sizeof(mmap->cfg);
	mmap->kind = PIER__WIRE_MMAP;
	mmap->cpu = true;
	mmap->serial = atomic_fetch_add(&serial, 1) + 1;
	atomic_init(&mmap->refs, 1);
	*ret = mmap;
	return 0;
}

/* Of a remote one nothing can be changed. */
static int check_local(const struct pier_mmap *mmap, const char *what)
{
	if (!mmap->remote)
		return 0;
	return pier__fail(mmap->started ? -EBUSY : -EINVAL, "mmap: %s, but it "
			  "is a remote one: that is its owner's", what);
}

int pier_mmap_configure(struct pier_mmap *mmap,
			const struct pier_mmap_config *cfg)
{
	struct pier_mmap_config new = { 0 };
	int err;

	if (!mmap)
		return pier__no_object(__func__);
	err = check_local(mmap, "configured");
	if (err)
		return err;
	if (mmap->started || mmap->own.len)
		return pier__fail(-EBUSY, "mmap: configured after start");
	err = pier__config_copy(&new, sizeof(new), cfg, cfg->size);
	if (!err)
		err = pier__mmap_settle(&new);
	if (err)
		return err;

	mmap->cfg = new;
	mmap->cpu = !(new.flags & PIER_MMAP_DMABUF);
	return 0;
}

void pier_mmap_get_config(const struct pier_mmap *mmap,
			  struct pier_mmap_config *ret)
{
	if (!mmap)
		return;
	*ret = mmap->cfg;
}

int pier_mmap_add_dev(struct pier_mmap *mmap, struct pier_dev *dev)
{
	struct pier__mmap_key *key;
	uint32_t lkey;
	int err;

	if (!mmap || !dev)
		return pier__no_object(__func__);
	key = &mmap->keys[mmap->key_count];
	err = check_local(mmap, "device added");
	if (err)
		return err;
	if (mmap->started)
		return pier__fail(-EBUSY, "mmap: device added after start");
	if (pier__mmap_lkey(mmap, dev, &lkey))
		return pier__fail(-EEXIST, "mmap: has device %s already",
				  dev->info.port.name);
	if (mmap->key_count == PIER__MMAP_DEVS)
		return pier__fail(-ENOSPC, "mmap: more than %d devices",
				  PIER__MMAP_DEVS);

	memset(key, 0, sizeof(*key));
	key->dev = dev;
	memcpy(key->dev_id, dev->id, sizeof(key->dev_id));
	key->link_layer = dev->info.port.link_layer;
	pier__dev_hold_mmap(dev);
	mmap->key_count++;
	return 0;
}

/* In verbs remote write and atomics need local write. */
static int verbs_access(uint32_t access)
{
	int flags = 0;

	if (pier__access_writes(access))
		flags |= IBV_ACCESS_LOCAL_WRITE;
	if (access & PIER_REMOTE_READ)
		flags |= IBV_ACCESS_REMOTE_READ;
	if (access & PIER_REMOTE_WRITE)
		flags |= IBV_ACCESS_REMOTE_WRITE;
	if (access & PIER_REMOTE_ATOMIC)
		flags |= IBV_ACCESS_REMOTE_ATOMIC;
	return flags;
}

/* Can processes of this host map what is registered on one of its devices? */
static bool is_mapped(const struct pier_mmap *mmap)
{
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		const struct pier_dev *dev = mmap->keys[i].dev;

		if (dev->fabric->dev->maps && dev->fabric->dev->maps(dev->fdev))
			return true;
	}
	return false;
}

/* Allocate it at the first start; *@ret: did this one? */
static int own_memory(struct pier_mmap *mmap, bool *ret)
{
	int err = pier__own_alloc(&mmap->cfg, is_mapped(mmap), &mmap->own);

	if (err)
		return err;
	mmap->cfg.addr = mmap->own.addr;
	*ret = true;
	return 0;
}

static void free_own(struct pier_mmap *mmap)
{
	pier__own_free(&mmap->own);
	mmap->cfg.addr = NULL;
}

static void deregister(struct pier_mmap *mmap)
{
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		struct pier__mmap_key *key = &mmap->keys[i];

		if (key->mr)
			key->dev->fabric->dev->dereg(key->mr);
		key->mr = NULL;
		key->lkey = key->rkey = 0;
	}
}

static int reg(struct pier__mmap_key *key, const struct pier_mmap_config *cfg)
{
	const struct pier__fabric_dev *calls = key->dev->fabric->dev;
	int access = verbs_access(cfg->access);

	if (cfg->flags & PIER_MMAP_DMABUF)
		return calls->reg_dmabuf(key->dev->fdev, cfg->dmabuf_fd,
					 cfg->dmabuf_offset, cfg->len,
					 (uintptr_t)cfg->addr, access,
					 &key->mr);
	return calls->reg(key->dev->fdev, cfg->addr, cfg->len, access,
			  &key->mr);
}

static int register_on(struct pier__mmap_key *key, struct pier_mmap *mmap)
{
	const struct pier__fabric_dev *calls = key->dev->fabric->dev;
	const struct pier__limits *limits = &key->dev->info.port.limits;
	int err;

	if (mmap->cfg.len > limits->mmap)
		return pier__fail(-EMSGSIZE, "mmap: %zu bytes, %s takes %llu",
				  mmap->cfg.len, key->dev->info.port.name,
				  (unsigned long long)limits->mmap);
	err = pier__dev_alive(key->dev);
	if (err)
		return err;
	err = reg(key, &mmap->cfg);
	if (err)
		return err;
	if (mmap->own.mapped && calls->share)
		calls->share(key->mr, mmap->own.fd, &mmap->held);
	key->lkey = key->mr->lkey;
	key->rkey = key->mr->rkey;
	return 0;
}

static void forget_desc(struct pier_mmap *mmap)
{
	free(mmap->desc);
	mmap->desc = NULL;
	mmap->desc_len = 0;
}

int pier_mmap_start(struct pier_mmap *mmap)
{
	int err;
	bool new = false;

	if (!mmap)
		return pier__no_object(__func__);
	err = check_local(mmap, "started");
	if (err)
		return err;
	if (mmap->started)
		return pier__fail(-EBUSY, "mmap: started twice");
	if (!mmap->cfg.len)
		return pier__fail(-EINVAL, "mmap: started without a range");
	if (!mmap->key_count)
		return pier__fail(-EINVAL, "mmap: started without a device");

	if (!mmap->cfg.addr && mmap->cpu)
		err = own_memory(mmap, &new);
	for (uint32_t i = 0; !err && i < mmap->key_count; i++)
		err = register_on(&mmap->keys[i], mmap);
	if (err)
		goto err_deregister;
	forget_desc(mmap);	/* of an earlier start */
	mmap->started = true;
	return 0;

err_deregister:
	deregister(mmap);
	if (new)
		free_own(mmap);
	return err;
}

int pier_mmap_stop(struct pier_mmap *mmap)
{
	if (!mmap)
		return pier__no_object(__func__);
	if (atomic_load(&mmap->refs) != 1)
		return pier__mmap_in_use(mmap);
	if (!mmap->remote)
		deregister(mmap);
	if (atomic_exchange(&mmap->held, false))
		pier__own_replace(&mmap->own);
	mmap->started = false;
	return 0;
}

static void free_origin(struct pier__mmap_origin *origin)
{
	if (origin)
		((struct pier__mmap_origin_head *)origin)->free(origin);
}

/* The last reference was dropped. */
static void release(struct pier_mmap *mmap)
{
	struct pier_mmap_config *cfg = &mmap->cfg;

	if (!mmap->remote) {
		deregister(mmap);
		for (uint32_t i = 0; i < mmap->key_count; i++)
			pier__dev_drop_mmap(mmap->keys[i].dev);
	}
	forget_desc(mmap);
	free_origin(mmap->origin);
	pier__own_free(&mmap->own);
	if (cfg->release)
		cfg->release(cfg->addr, cfg->len, cfg->release_arg);
	free(mmap);
}

void pier__mmap_hold(struct pier_mmap *mmap)
{
	atomic_fetch_add_explicit(&mmap->refs, 1, memory_order_relaxed);
}

void pier__mmap_drop(struct pier_mmap *mmap)
{
	if (atomic_fetch_sub(&mmap->refs, 1) == 1)
		release(mmap);
}

void pier_mmap_destroy(struct pier_mmap *mmap)
{
	if (mmap)
		pier__mmap_drop(mmap);
}

/* The four steps with @cfg. */
static int map(struct pier_dev *dev, const struct pier_mmap_config *cfg,
	       struct pier_mmap **ret)
{
	struct pier_mmap *mmap;
	int err = pier_mmap_create(&mmap);

	if (err)
		return err;
	err = pier_mmap_configure(mmap, cfg);
	if (!err)
		err = pier_mmap_add_dev(mmap, dev);
	if (!err)
		err = pier_mmap_start(mmap);
	if (err) {
		pier_mmap_destroy(mmap);
		return err;
	}
	*ret = mmap;
	return 0;
}

int pier_mmap_map(struct pier_dev *dev, void *addr, size_t len,
		  uint32_t access, struct pier_mmap **ret)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .addr = addr,
					.len = len, .access = access };

	if (!dev)
		return pier__no_object(__func__);
	return map(dev, &cfg, ret);
}

/* What is not allocated, and a second length. */
static int check_alloc(const struct pier_mmap_config *cfg, size_t len)
{
	if (cfg->addr)
		return pier__fail(-EINVAL, "mmap: allocated, but with the "
				  "address %p: it must be NULL", cfg->addr);
	if (cfg->flags & PIER_MMAP_DMABUF)
		return pier__fail(-EINVAL, "mmap: allocated, but with the flag "
				  "PIER_MMAP_DMABUF: a dma-buf is memory of "
				  "another device");
	if (cfg->len && cfg->len != len)
		return pier__fail(-EINVAL, "mmap: %zu bytes are allocated, but "
				  "the configuration has %zu: it must be 0 or "
				  "the same", len, cfg->len);
	return 0;
}

int pier_mmap_alloc(struct pier_dev *dev, size_t len,
		    const struct pier_mmap_config *cfg, struct pier_mmap **ret)
{
	struct pier_mmap_config own = { .size = sizeof(own) };
	int err = 0;

	if (!dev)
		return pier__no_object(__func__);
	if (cfg)
		err = pier__config_copy(&own, sizeof(own), cfg, cfg->size);
	if (!err)
		err = check_alloc(&own, len);
	if (err)
		return err;
	own.len = len;
	return map(dev, &own, ret);
}

bool pier__mmap_rkey(const struct pier_mmap *mmap, const uint8_t dev_id[8],
		     uint32_t *ret)
{
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		if (!memcmp(mmap->keys[i].dev_id, dev_id, 8)) {
			*ret = mmap->keys[i].rkey;
			return true;
		}
	}
	return false;
}

void *pier_mmap_addr(const struct pier_mmap *mmap)
{
	if (!mmap)
		return NULL;
	return mmap->cfg.addr;
}

size_t pier_mmap_len(const struct pier_mmap *mmap)
{
	if (!mmap)
		return 0;
	return mmap->cfg.len;
}

size_t pier_mmap_page_size(const struct pier_mmap *mmap)
{
	if (!mmap)
		return 0;
	return mmap->own.page_size;
}

int pier_mmap_fd(const struct pier_mmap *mmap)
{
	if (!mmap)
		return pier__no_object(__func__);
	if (!(mmap->cfg.flags & PIER_MMAP_SHARED))
		return pier__fail(-EINVAL, "mmap: its memory is not shared: "
				  "configure PIER_MMAP_SHARED");
	if (!mmap->own.len)
		return pier__fail(-EINVAL, "mmap: its memory is not allocated "
				  "before the start");
	return mmap->own.fd;
}

int pier_mmap_is_remote(const struct pier_mmap *mmap)
{
	if (!mmap)
		return 0;
	return mmap->remote;
}
