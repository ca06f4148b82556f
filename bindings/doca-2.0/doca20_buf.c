/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf.h>

#include "bindings/doca/include/doca_buf.h"
#include "bindings/doca/include/doca_rdma_bridge.h"

doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount)
{
	return doca_buf_inc_refcount(buf, refcount);
}

doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount)
{
	return doca_buf_dec_refcount(buf, refcount);
}

doca_error_t doca_buf_refcount_get(const struct doca_buf *buf,
				   uint16_t *refcount)
{
	return doca_buf_get_refcount(buf, refcount);
}

doca_error_t doca_buf_list_chain(struct doca_buf *list1,
				 struct doca_buf *list2)
{
	return doca_buf_chain_list(list1, list2);
}

doca_error_t doca_buf_list_unchain(struct doca_buf *list1,
				   struct doca_buf *list2)
{
	return doca_buf_unchain_list(list1, list2);
}

doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next)
{
	return doca_buf_get_next_in_list(buf, next);
}

doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf,
					uint32_t *count)
{
	return doca_buf_get_list_len(buf, count);
}

doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev,
			       uint32_t *mkey)
{
	return doca_rdma_bridge_get_buf_mkey(buf, dev, mkey);
}
