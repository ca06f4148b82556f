/* SPDX-License-Identifier: BSD-2-Clause */
#include <pier/verbs.h>

#include <doca_rdma.h>
#include <doca_rdma_bridge.h>

#include "doca_buf_impl.h"
#include "doca_dev_impl.h"
#include "doca_fail.h"

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
	(void)pd;
	(void)dev;
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap,
				       struct ibv_pd *pd, uint32_t *mkey)
{
	(void)mmap;
	(void)pd;
	(void)mkey;
	return pier__doca_unsupported(__func__);
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
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *priv,
				     uint8_t priv_len,
				     struct doca_rdma_connection *conn)
{
	(void)rdma;
	(void)priv;
	(void)priv_len;
	(void)conn;
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
					  struct doca_rdma_connection *conn)
{
	(void)rdma;
	(void)conn;
	return pier__doca_unsupported(__func__);
}
