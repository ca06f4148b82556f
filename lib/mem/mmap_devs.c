/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of an mmap, by name. */
#include <errno.h>
#include <stdio.h>

#include "core/fail.h"
#include "mem/mmap_impl.h"

/* A remote device has no name here, but the identity of its opening. */
static size_t add(const struct pier__mmap_key *key, const char *comma,
		  char *ret, size_t size)
{
	char id[PIER__DEV_ID_TEXT];
	const char *name = key->dev ? key->dev->info.port.name : "device";
	int n = snprintf(ret, size, "%s%s %s", comma, name,
			 pier__dev_id_text(key->dev_id, id));

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

const char *pier__mmap_devs(const struct pier_mmap *mmap,
			    char ret[PIER__MMAP_DEVS_TEXT])
{
	size_t len = 0, n = 1;

	for (uint32_t i = 0; n && i < mmap->key_count; i++) {
		n = add(&mmap->keys[i], i ? ", " : "", ret + len,
			PIER__MMAP_DEVS_TEXT - len);
		len += n;
	}
	ret[len] = '\0';		/* the last did not fit */
	return ret;
}

int pier__mmap_lacks(const struct pier_mmap *mmap, const struct pier_dev *dev)
{
	char devs[PIER__MMAP_DEVS_TEXT], id[PIER__DEV_ID_TEXT];

	return pier__fail(-EINVAL, "the buffer's memory is not registered on "
			  "%s %s, but on: %s", dev->info.port.name,
			  pier__dev_id_text(dev->id, id),
			  pier__mmap_devs(mmap, devs));
}

static const char *link_text(uint8_t link_layer)
{
	return link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" :
							 "Ethernet";
}

int pier__mmap_check_link(const struct pier_mmap *mmap,
			  const struct pier_dev *dev)
{
	uint8_t link_layer = dev->info.port.link_layer;

	for (uint32_t i = 0; i < mmap->key_count; i++) {
		if (mmap->keys[i].link_layer == link_layer)
			return 0;
	}
	return pier__fail(-EPROTOTYPE, "import: the memory is on %s only, and "
			  "%s is on %s", link_text(mmap->keys[0].link_layer),
			  dev->info.port.name, link_text(link_layer));
}
