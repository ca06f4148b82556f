/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/dma_export_impl.h"

/* Fields of an export's descriptor; 1 and 2 are those of every descriptor. */
enum {
	FIELD_CREATED = 1,
	FIELD_VALID = 2,
	FIELD_PORT = 3,
	FIELD_TOKEN = 4,
	FIELD_GIDS = 5,
	FIELD_MEMORY = 6,	/* a memory descriptor, whole */
	FIELD_COUNT = 6,
};

#define GIDS_MAX 8	/* in a descriptor, so that it is short */

struct pier_dma_export {
	struct pier__service_entry entry;
	struct pier_mmap *mmap;		/* the program's, held */
	struct pier_mmap *registered;	/* the same range with a key of ours */
	size_t len;
	uint8_t desc[PIER_DMA_EXPORT_DESC_MAX];
};

static int check(const struct pier_mmap *mmap, const struct pier_dev *dev)
{
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
		return pier__fail(-EACCES, "export: the mmap's access 0x%x has "
				  "neither PIER_PEER_READ nor PIER_PEER_WRITE",
				  mmap->cfg.access);
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

/* Fill in the descriptor. */
static int describe(struct pier_dma_export *exported, struct pier_dev *dev)
{
	struct pier__gid_offer gids[PIER__GIDS_MAX];
	struct pier__wire_out out;
	struct pier__port port;
	const void *memory;
	int count, err;
	size_t len;

	pier__dev_port(dev, &port);
	count = pier__gid_offers(&port, PIER__GID_ANY, gids);
	if (count < 0)
		return count;
	err = pier_mmap_export(exported->registered, &memory, &len);
	if (err)
		return err;
	pier__wire_begin(&out, exported->desc, sizeof(exported->desc),
			 PIER__WIRE_EXPORT, FIELD_COUNT);
	pier__wire_uint(&out, FIELD_CREATED, pier__wall_seconds());
	pier__wire_uint(&out, FIELD_VALID, 0);
	pier__wire_uint(&out, FIELD_PORT, pier__service_port(&exported->entry));
	pier__wire_bytes(&out, FIELD_TOKEN, exported->entry.token,
			 PIER__TOKEN);
	pier__gids_encode(&out, FIELD_GIDS, gids,
			  count < GIDS_MAX ? (unsigned int)count : GIDS_MAX);
	pier__wire_bytes(&out, FIELD_MEMORY, memory, len);
	err = pier__wire_end(&out);
	if (err < 0)
		return err;
	exported->len = (size_t)err;
	return 0;
}

int pier_dma_export_create(struct pier_mmap *mmap, struct pier_dev *dev,
			   struct pier_dma_export **ret)
{
	struct pier_dma_export *exported;
	int err = check(mmap, dev);

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
	err = describe(exported, dev);
	if (err)
		goto err_service_remove;

	exported->mmap = mmap;
	pier__mmap_hold(mmap);
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
	*ret = exported->desc;
	*ret_len = exported->len;
}

int pier_dma_export_wait(struct pier_dma_export *exported, int timeout_ms)
{
	if (!pier__service_wait(&exported->entry,
				pier__deadline(pier__now(), timeout_ms)))
		return 0;
	return pier__fail(-ETIMEDOUT, "export: after %d ms no peer has "
			  "connected and ended", timeout_ms);
}

void pier_dma_export_destroy(struct pier_dma_export *exported)
{
	if (!exported)
		return;
	pier_mmap_destroy(exported->registered);	/* access ends here */
	pier__service_remove(&exported->entry);
	pier__mmap_drop(exported->mmap);
	free(exported);
}

static int read_origin(const struct pier__wire_in *in,
		       struct pier__mmap_origin *ret)
{
	const uint8_t *token;
	uint64_t port;
	size_t len;
	int err = pier__wire_get_uint(in, FIELD_PORT, 1, UINT16_MAX, &port);

	if (!err)
		err = pier__wire_get_bytes(in, FIELD_TOKEN, PIER__TOKEN,
					   PIER__TOKEN, &token, &len);
	if (!err)
		err = pier__gids_decode(in, FIELD_GIDS, ret->gids,
					&ret->gid_count);
	if (err)
		return err;
	if (!ret->gid_count)
		return pier__fail(-PIER_EDESC, "descriptor of an export: no "
				  "addresses");
	ret->port = (uint16_t)port;
	memcpy(ret->token, token, PIER__TOKEN);
	return 0;
}

static int read_memory(const struct pier__wire_in *in, struct pier_mmap **ret)
{
	const uint8_t *memory;
	size_t len;
	int err = pier__wire_get_bytes(in, FIELD_MEMORY, PIER__WIRE_HEAD,
				       PIER_DMA_EXPORT_DESC_MAX, &memory, &len);

	return err ? err : pier_mmap_create_from_export(memory, len, ret);
}

int pier_dma_import(const void *desc, size_t len, struct pier_mmap **ret)
{
	struct pier__mmap_origin *origin;
	struct pier__wire_in in;
	int err = pier__wire_expect(desc, len, PIER__WIRE_EXPORT, &in);

	if (err)
		return err;
	origin = calloc(1, sizeof(*origin));
	if (!origin)
		return pier__fail(-ENOMEM, "export: no memory");
	err = read_origin(&in, origin);
	if (!err)
		err = read_memory(&in, ret);
	if (err) {
		free(origin);
		return err;
	}
	(*ret)->origin = origin;
	return 0;
}
