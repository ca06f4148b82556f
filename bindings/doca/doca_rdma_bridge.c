/* SPDX-License-Identifier: BSD-2-Clause */
#include <pier/verbs.h>

#include <doca_rdma.h>
#include <doca_rdma_bridge.h>

#include "doca_buf_impl.h"
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

#define OWN_CONNS "pier makes its connections itself, without an rdma_cm_id"

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev,
					 struct ibv_pd **pd)
{
	if (!dev || !pd)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_dev_pd(dev->dev, pd));
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf,
					   struct doca_dev *dev, uint32_t *mkey)
{
	if (!buf || !dev || !mkey)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_buf_lkey(pier__doca_buf(buf), dev->dev,
					      mkey));
}

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd,
					       struct doca_dev **dev)
{
	if (!pd || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_dev_of_pd(pd, dev);
}

/* The device of @mmap that has @pd; NULL: none has. */
static struct pier_dev *find_dev(const struct doca_mmap *mmap,
				 const struct ibv_pd *pd)
{
	for (uint32_t i = 0; i < mmap->dev_count; i++) {
		struct pier_dev *dev = mmap->devs[i]->dev;
		struct ibv_pd *own;

		if (!pier_dev_pd(dev, &own) && own == pd)
			return dev;
	}
	return NULL;
}

static int get_key(struct pier_mmap *mmap, const struct pier_dev *dev,
		   uint32_t *ret)
{
	struct pier_buf_inventory *inv;
	struct pier_buf *buf;
	int err = pier_buf_inventory_create(1, &inv);

	if (err)
		return err;
	err = pier_buf_whole(inv, mmap, &buf);
	if (!err) {
		err = pier_buf_lkey(buf, dev, ret);
		pier_buf_put(buf);
	}
	pier_buf_inventory_destroy(inv);
	return err;
}

doca_error_t
doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap,
				       struct ibv_pd *pd, uint32_t *mkey)
{
	const struct pier_dev *dev;

	if (!mmap || !pd || !mkey)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "mmap: a key of it before start");
	dev = find_dev(mmap, pd);
	if (!dev)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "mmap: the "
				       "protection domain is of none of its %u "
				       "devices", mmap->dev_count);
	return pier__doca_error(get_key(mmap->mmap, dev, mkey));
}

/* Connections that the program makes itself, by rdma_cm. */

doca_error_t
doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma,
				    struct rdma_cm_id *cm_id,
				    struct doca_rdma_connection **conn)
{
	(void)rdma;
	(void)cm_id;
	(void)conn;
	return pier__doca_unsupported(__func__, OWN_CONNS);
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *priv,
				     uint8_t priv_len,
				     struct doca_rdma_connection *conn)
{
	(void)rdma;
	(void)priv;
	(void)priv_len;
	(void)conn;
	return pier__doca_unsupported(__func__, OWN_CONNS);
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
					  struct doca_rdma_connection *conn)
{
	(void)rdma;
	(void)conn;
	return pier__doca_unsupported(__func__, OWN_CONNS);
}
