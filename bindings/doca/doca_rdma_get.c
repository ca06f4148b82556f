/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

/* The values in use: while idle those of the next start. */
static doca_error_t effective(const struct doca_rdma *rdma, const void *ret,
			      struct pier_rdma_config *cfg)
{
	struct doca_rdma *changed = (struct doca_rdma *)(uintptr_t)rdma;
	doca_error_t error = DOCA_SUCCESS;

	if (!rdma || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.state == DOCA_CTX_STATE_IDLE)
		error = pier__doca_rdma_configure(changed);
	pier_rdma_get_config(rdma->rdma, cfg);
	return error;
}

doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma,
					   uint32_t *size)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, size, &cfg);

	if (!error)
		*size = cfg.send_queue;
	return error;
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma,
					   uint32_t *size)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, size, &cfg);

	if (!error)
		*size = cfg.recv_queue;
	return error;
}

doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
						 uint32_t *len)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, len, &cfg);

	if (!error)
		*len = cfg.send_chain;
	return error;
}

doca_error_t
doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma,
					    uint32_t *len)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, len, &cfg);

	if (!error)
		*len = cfg.recv_chain;
	return error;
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *type)
{
	if (!rdma || !type)
		return DOCA_ERROR_INVALID_VALUE;
	*type = DOCA_RDMA_TRANSPORT_TYPE_RC;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma,
			       enum doca_mtu_size *mtu)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, mtu, &cfg);

	if (error)
		return error;
	*mtu = DOCA_MTU_SIZE_256_BYTES;
	while (*mtu < DOCA_MTU_SIZE_4K_BYTES && 256u << *mtu < cfg.mtu)
		*mtu = (enum doca_mtu_size)(*mtu + 1);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *access)
{
	if (!rdma || !access)
		return DOCA_ERROR_INVALID_VALUE;
	*access = rdma->permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma,
				       uint8_t *grh_enabled)
{
	if (!rdma || !grh_enabled)
		return DOCA_ERROR_INVALID_VALUE;
	*grh_enabled = rdma->grh;
	return DOCA_SUCCESS;
}

/* That of a connection to an IPv4 peer, unless another one was set. */
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma,
				     uint32_t *index)
{
	struct pier_gid gid;

	if (!rdma || !index)
		return DOCA_ERROR_INVALID_VALUE;
	*index = rdma->gid_index;
	for (size_t i = 0; !rdma->gid_set &&
	     !pier_devinfo_gid(rdma->dev->info.info, i, &gid); i++) {
		if (gid.type != PIER_GID_ROCE_V2 || !pier__doca_is_ipv4(&gid))
			continue;
		*index = gid.index;
		break;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
	if (!rdma || !sl)
		return DOCA_ERROR_INVALID_VALUE;
	*sl = rdma->service_level;
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma,
					 uint16_t *timeout)
{
	struct pier_rdma_config cfg;
	doca_error_t error = effective(rdma, timeout, &cfg);

	if (!error)
		*timeout = (uint16_t)cfg.connect_timeout_ms;
	return error;
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma,
					       uint16_t *max)
{
	if (!rdma || !max)
		return DOCA_ERROR_INVALID_VALUE;
	*max = rdma->max_conns;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma,
					   uint8_t *count)
{
	if (!rdma || !count)
		return DOCA_ERROR_INVALID_VALUE;
	*count = rdma->rnr_retry;
	return DOCA_SUCCESS;
}
