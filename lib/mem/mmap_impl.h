/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MEM_MMAP_IMPL_H
#define PIER_MEM_MMAP_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <pier/mmap.h>

#include "core/wire.h"
#include "dev/dev_impl.h"
#include "mem/access.h"
#include "mem/own.h"

#define PIER__MMAP_DEVS 8

/* One device's key: of our registration, or of the exporter's. */
struct pier__mmap_key {
	struct pier_dev *dev;		/* local only; held */
	struct pier__mr *mr;		/* local only; NULL while stopped */
	uint8_t dev_id[8];		/* pier_dev.id of the owner */
	uint8_t link_layer;		/* of that device, IBV_LINK_LAYER_* */
	uint32_t lkey, rkey;
};

/* What holds an mmap besides buffers, each by its own calls. */
enum pier__mmap_user {
	PIER__MMAP_POOL,
	PIER__MMAP_ARRAY,
	PIER__MMAP_EXPORT,
	PIER__MMAP_CONSUMER,
	PIER__MMAP_USERS,
};

struct pier__mmap_origin;

struct pier_mmap {
	struct pier_mmap_config cfg;
	enum pier__wire_kind kind;	/* of its descriptor: memory, or the */
					/* word of a sync event */
	uint64_t serial;		/* never used again in this process */
	bool remote, started;
	bool cpu;			/* the CPU can use its addresses */
	struct pier__own own;		/* its length is 0 if it is none */
	atomic_bool held;		/* as the fabric's share() has it */
	atomic_uint refs;		/* of buffers, users, and its maker */
	atomic_uint users[PIER__MMAP_USERS];
	uint32_t key_count;
	struct pier__mmap_key keys[PIER__MMAP_DEVS];
	struct pier__mmap_origin *origin;	/* of what a service serves; */
					/* owned; NULL: none */
	void *desc;			/* export; NULL: not made yet */
	size_t desc_len;
};

/* Check @cfg, then settle its defaults.  Errors: -EINVAL. */
int pier__mmap_settle(struct pier_mmap_config *cfg);

/* The local key of @mmap on @dev.  Returns false: not on this device. */
static inline bool pier__mmap_lkey(const struct pier_mmap *mmap,
				   const struct pier_dev *dev, uint32_t *ret)
{
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		if (mmap->keys[i].dev == dev) {
			*ret = mmap->keys[i].lkey;
			return true;
		}
	}
	return false;
}

/* Its devices, as many as fit, for error messages.  Returns @ret. */
#define PIER__MMAP_DEVS_TEXT 256
const char *pier__mmap_devs(const struct pier_mmap *mmap,
			    char ret[PIER__MMAP_DEVS_TEXT]);

/*
 * Fail: a buffer of @mmap is used on @dev, which it is not registered on.
 * Returns -EINVAL.
 */
int pier__mmap_lacks(const struct pier_mmap *mmap, const struct pier_dev *dev);

/*
 * Can a task on @dev reach one of the devices of the remote @mmap, as far as
 * its descriptor shows it?  Errors: -EPROTOTYPE, other link layers.
 */
int pier__mmap_check_link(const struct pier_mmap *mmap,
			  const struct pier_dev *dev);

/* The key of the remote @mmap on the peer's device @dev_id. */
bool pier__mmap_rkey(const struct pier_mmap *mmap, const uint8_t dev_id[8],
		     uint32_t *ret);

/*
 * Describe @mmap for @valid_s seconds (0: for as long as it lives) in @buf.
 * Returns the length.  Errors: as pier_mmap_export(); -ENOBUFS.
 */
int pier__mmap_describe(const struct pier_mmap *mmap, uint32_t valid_s,
			void *buf, size_t size);

/*
 * The remote mmap that @desc of @kind describes, for @dev; NULL: not known yet.
 * Errors: as pier_mmap_create_from_export().
 */
int pier__mmap_import(struct pier_dev *dev, const void *desc, size_t len,
		      enum pier__wire_kind kind, struct pier_mmap **ret);

/* Buffers hold their mmap, and so does @user. */
void pier__mmap_hold(struct pier_mmap *mmap);
void pier__mmap_drop(struct pier_mmap *mmap);
void pier__mmap_hold_for(struct pier_mmap *mmap, enum pier__mmap_user user);
void pier__mmap_drop_for(struct pier_mmap *mmap, enum pier__mmap_user user);

/* Fail to stop @mmap, which is held: by what, as far as is known. */
int pier__mmap_in_use(const struct pier_mmap *mmap);

#endif
