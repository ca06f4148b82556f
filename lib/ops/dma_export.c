/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include <pier/dma_export.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/origin.h"

struct pier_dma_export {
	struct pier__service_entry entry;
	struct pier_mmap *mmap;		/* the program's, held */
	struct pier_mmap *registered;	/* the same range with a key of ours */
	size_t len;
	uint8_t desc[PIER_DMA_EXPORT_DESC_MAX];
};

static int check(const struct pier_mmap *mmap, const struct pier_dev *dev)
{
	char has[PIER__ACCESS_TEXT];
	uint32_t lkey;

	if (mmap->remote)
		return pier__fail(-EINVAL, "export: the mmap is imported");
	if (!mmap->started)
		return pier__fail(-EINVAL, "export: the mmap is not started");
	if (!mmap->cpu)
		return pier__fail(-EINVAL, "export: the memory of a dma-buf");
	if (!pier__mmap_lkey(mmap, dev, &lkey))
		return pier__fail(-EINVAL, "export: %s is none of the mmap's "
				  "devices", dev->info.port.name);
	if (!(mmap->cfg.access & (PIER_PEER_READ | PIER_PEER_WRITE)))
		return pier__fail(-EACCES, "export: the mmap has %s, this "
				  "needs PIER_PEER_READ or PIER_PEER_WRITE",
				  pier__access_text(mmap->cfg.access, has));
	return 0;
}

static int register_again(const struct pier_mmap *mmap, struct pier_dev *dev,
			  struct pier_mmap **ret)
{
	uint32_t access = PIER_REMOTE_READ;

	if (mmap->cfg.access & PIER_PEER_WRITE)
		access |= PIER_REMOTE_WRITE;
	return pier_mmap_map(dev, mmap->cfg.addr, mmap->cfg.len, access, ret);
}

int pier_dma_export_create(struct pier_mmap *mmap, struct pier_dev *dev,
			   struct pier_dma_export **ret)
{
	struct pier_dma_export *exported;
	int err;

	if (!mmap)
		return pier__no_object(__func__);
	err = check(mmap, dev);
	if (err)
		return err;
	exported = calloc(1, sizeof(*exported));
	if (!exported)
		return pier__fail(-ENOMEM, "export: no memory");
	err = register_again(mmap, dev, &exported->registered);
	if (err)
		goto err_free;
	err = pier__service_add(dev, &exported->entry);
	if (err)
		goto err_mmap_destroy;
	err = pier__origin_describe(&exported->entry, dev, exported->registered,
				    PIER__WIRE_EXPORT, exported->desc,
				    sizeof(exported->desc));
	if (err < 0)
		goto err_service_remove;

	exported->len = (size_t)err;
	exported->mmap = mmap;
	pier__mmap_hold_for(mmap, PIER__MMAP_EXPORT);
	*ret = exported;
	return 0;

err_service_remove:
	pier__service_remove(&exported->entry);
err_mmap_destroy:
	pier_mmap_destroy(exported->registered);
err_free:
	free(exported);
	return err;
}

void pier_dma_export_desc(const struct pier_dma_export *exported,
			  const void **ret, size_t *ret_len)
{
	if (!exported)
		return;
	*ret = exported->desc;
	*ret_len = exported->len;
}

int pier_dma_export_wait(struct pier_dma_export *exported, int timeout_ms)
{
	int err;

	if (!exported)
		return pier__no_object(__func__);
	err = pier__service_wait(&exported->entry,
				 pier__deadline(pier__now(), timeout_ms));
	if (err != -ETIMEDOUT)
		return err;
	return pier__fail(-ETIMEDOUT, "export: after %d ms no peer has "
			  "connected and ended", timeout_ms);
}

void pier_dma_export_destroy(struct pier_dma_export *exported)
{
	if (!exported)
		return;
	pier_mmap_destroy(exported->registered);	/* access ends here */
	pier__service_remove(&exported->entry);
	pier__mmap_drop_for(exported->mmap, PIER__MMAP_EXPORT);
	free(exported);
}

int pier_dma_import(struct pier_dev *dev, const void *desc, size_t len,
		    struct pier_mmap **ret)
{
	return pier__origin_import(dev, desc, len, PIER__WIRE_EXPORT,
				   PIER__WIRE_MMAP, ret);
}
