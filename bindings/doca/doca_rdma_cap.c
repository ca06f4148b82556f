/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"

doca_error_t
doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *info,
				      uint32_t *max_recv_queue_size)
{
	return pier__doca_limit(info, PIER_LIMIT_RECV_QUEUE,
				max_recv_queue_size);
}

/* Two of the requests in flight are pier's. */
doca_error_t
doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *info,
				      uint32_t *max_send_queue_size)
{
	doca_error_t error = pier__doca_limit(info, PIER_LIMIT_SEND_QUEUE,
					      max_send_queue_size);

	if (!error)
		*max_send_queue_size -= 2;
	return error;
}

doca_error_t
doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *info,
					uint32_t *max_send_buf_list_len)
{
	return pier__doca_limit(info, PIER_LIMIT_SEND_SGE,
				max_send_buf_list_len);
}

doca_error_t
doca_rdma_cap_get_max_message_size(const struct doca_devinfo *info,
				   uint32_t *max_message_size)
{
	return pier__doca_limit(info, PIER_LIMIT_MESSAGE, max_message_size);
}

/* As far as it is in use; there may be entries between that are not. */
doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *info,
					      uint32_t *gid_table_size)
{
	struct pier_gid gid;

	if (!info || !gid_table_size)
		return DOCA_ERROR_INVALID_VALUE;
	*gid_table_size = 0;
	for (size_t i = 0; !pier_devinfo_gid(info->info, i, &gid); i++) {
		if (gid.index >= *gid_table_size)
			*gid_table_size = gid.index + 1;
	}
	return DOCA_SUCCESS;
}

/* Entries that are not in use are zero. */
doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *info,
				   uint32_t start_index, uint32_t num_entries,
				   struct doca_rdma_gid *gid_array)
{
	struct pier_gid gid;

	if (!info || !num_entries || !gid_array)
		return DOCA_ERROR_INVALID_VALUE;
	memset(gid_array, 0, num_entries * sizeof(gid_array[0]));
	for (size_t i = 0; !pier_devinfo_gid(info->info, i, &gid); i++) {
		if (gid.index >= start_index &&
		    gid.index - start_index < num_entries)
			memcpy(gid_array[gid.index - start_index].raw, gid.raw,
			       sizeof(gid.raw));
	}
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *info,
					  enum doca_rdma_transport_type type)
{
	return pier__doca_has(info, type == DOCA_RDMA_TRANSPORT_TYPE_RC ?
					    PIER_FEATURE_RC :
					    PIER_FEATURE_DC);
}

doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
	const struct doca_devinfo *info, enum doca_rdma_transport_type type,
	uint32_t *ret)
{
	if (!info || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	if (type != DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_ERROR_NOT_SUPPORTED;
	return pier__doca_limit(info, PIER_LIMIT_RECV_SGE, ret);
}
