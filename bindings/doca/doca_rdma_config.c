/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_fail.h"
#include "doca_rdma_impl.h"

/* A peer that makes progress once a second connects in 8 calls. */
#define CONNECT_MIN_MS 10000

#define ACCESS_RDMA \
	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static uint32_t remote_access(uint32_t permissions)
{
	uint32_t ret = 0;

	if (permissions & DOCA_ACCESS_FLAG_RDMA_READ)
		ret |= PIER_REMOTE_READ;
	if (permissions & DOCA_ACCESS_FLAG_RDMA_WRITE)
		ret |= PIER_REMOTE_WRITE;
	if (permissions & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		ret |= PIER_REMOTE_ATOMIC;
	return ret ? ret : PIER_ZERO;
}

/* In pier 0 is the default of most values, and PIER_ZERO is 0. */
static uint32_t or_zero(uint32_t value)
{
	return value ? value : PIER_ZERO;
}

doca_error_t pier__doca_rdma_configure(struct doca_rdma *rdma)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = rdma->max_conns,
		.send_queue = rdma->send_queue,
		.conn_send_queue = rdma->send_queue,
		.recv_queue = rdma->recv_queue,
		.send_chain = rdma->send_list,
		.recv_chain = rdma->recv_list,
		.access = remote_access(rdma->permissions),
		.gid_index = rdma->gid_set ? or_zero(rdma->gid_index) : 0,
		.mtu = rdma->mtu_set ? 256u << rdma->mtu : 0,
		.rnr_retry = or_zero(rdma->rnr_retry),
		.service_level = rdma->service_level,
		.connect_timeout_ms = rdma->request_timeout,
		.stop_on_task_error = 1,
		.no_hello = 1,
		.empty_bufs = 1,
	};

	for (int i = 0; i < PIER_TASK_TYPES; i++)
		cfg.type_tasks[i] = rdma->pools[i].count;
	return pier__doca_error(pier_rdma_configure(rdma->rdma, &cfg));
}

/* Of a setter: something to set, on a context that is idle. */
static doca_error_t may_set(const struct doca_rdma *rdma)
{
	return rdma ? pier__doca_ctx_may_set(&rdma->ctx) :
		      DOCA_ERROR_INVALID_VALUE;
}

/* At most @max, which the device has. */
static doca_error_t check_most(const struct doca_rdma *rdma, const char *what,
			       uint32_t value, uint32_t max)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!value)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: %s 0, at least 1", what);
	if (value > max)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "rdma: %s %u, the device has %u", what,
				       value, max);
	return DOCA_SUCCESS;
}

static doca_error_t check_limit(const struct doca_rdma *rdma, const char *what,
				uint32_t value, enum pier_limit limit)
{
	uint32_t max = 0;

	if (rdma)
		pier__doca_limit(&rdma->dev->info, limit, &max);
	return check_most(rdma, what, value, max);
}

/* A power of two, or all that the device has. */
static uint32_t rounded(uint32_t value, uint32_t max)
{
	uint64_t n = 1;

	while (n < value)
		n <<= 1;
	return n < max ? (uint32_t)n : max;
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma,
					   uint32_t size)
{
	uint32_t max = 0;
	doca_error_t error;

	if (rdma)
		doca_rdma_cap_get_max_send_queue_size(&rdma->dev->info, &max);
	error = check_most(rdma, "a send queue of", size, max);
	if (!error)
		rdma->send_queue = rounded(size, max);
	return error;
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma,
					   uint32_t size)
{
	uint32_t max = 0;
	doca_error_t error;

	if (rdma)
		doca_rdma_cap_get_max_recv_queue_size(&rdma->dev->info, &max);
	error = check_most(rdma, "a receive queue of", size, max);
	if (!error)
		rdma->recv_queue = rounded(size, max);
	return error;
}

doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
						 uint32_t len)
{
	doca_error_t error = check_limit(rdma, "a list of buffers of", len,
					 PIER_LIMIT_SEND_SGE);

	if (!error)
		rdma->send_list = len;
	return error;
}

doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma,
							 uint32_t len)
{
	doca_error_t error = check_limit(rdma, "a list of buffers of", len,
					 PIER_LIMIT_RECV_SGE);

	if (!error)
		rdma->recv_list = len;
	return error;
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type type)
{
	doca_error_t error = may_set(rdma);

	if (!error && type != DOCA_RDMA_TRANSPORT_TYPE_RC)
		error = pier__doca_expected(DOCA_ERROR_NOT_SUPPORTED,
					    "rdma: a transport other than RC");
	return error;
}

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if ((unsigned int)mtu > DOCA_MTU_SIZE_4K_BYTES)
		return pier__doca_unsupported("an MTU of raw Ethernet",
					      "connections are RC, whose MTU "
					      "is 256 to 4096");
	if (256u << mtu > pier_devinfo_mtu(rdma->dev->info.info))
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "rdma: MTU "
				       "%u, the port has %u", 256u << mtu,
				       pier_devinfo_mtu(rdma->dev->info.info));
	rdma->mtu = mtu;
	rdma->mtu_set = true;
	return DOCA_SUCCESS;
}

/* Local access is not a matter of connections: its bit changes nothing. */
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t access)
{
	const uint32_t known = ACCESS_RDMA | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (access & ~known)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: "
				       "permissions 0x%x, known is 0x%x",
				       access, known);
	rdma->permissions = access;
	return DOCA_SUCCESS;
}

/* Ethernet has it always, InfiniBand also where the path needs it. */
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma,
				       uint8_t grh_enabled)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!grh_enabled && pier__doca_is_ethernet(rdma))
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "rdma: no GRH "
				       "on Ethernet, which requires it");
	rdma->grh = grh_enabled != 0;
	return DOCA_SUCCESS;
}

static bool has_gid(const struct pier_devinfo *info, uint32_t index)
{
	struct pier_gid gid;

	for (size_t i = 0; !pier_devinfo_gid(info, i, &gid); i++) {
		if (gid.index == index)
			return true;
	}
	return false;
}

/* Addresses come and go while a device is open. */
static bool has_gid_now(const struct doca_dev *dev, uint32_t index)
{
	const struct pier_devinfo *info;
	char name[DEV_NAME_SIZE];
	struct pier_devlist *list;
	bool ret;

	if (pier_devlist_create(&list))
		return has_gid(dev->info.info, index);
	pier__doca_devinfo_name(&dev->info, name);
	ret = !pier_devlist_find(list, name, &info) && has_gid(info, index);
	pier_devlist_destroy(list);
	return ret;
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t index)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!has_gid_now(rdma->dev, index))
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: GID "
				       "index %u: %s has no such entry", index,
				       pier_devinfo_name(rdma->dev->info.info));
	rdma->gid_index = index;
	rdma->gid_set = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (sl > 15)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "rdma: service level %u, at most 15",
				       sl);
	rdma->service_level = sl;
	return DOCA_SUCCESS;
}

/* DOCA's is for resolving the address only, pier's for the whole attempt. */
doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma,
						      uint16_t timeout)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!timeout)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: a "
				       "request timeout of 0 ms, at least 1");
	rdma->request_timeout = timeout;
	if (timeout < CONNECT_MIN_MS)
		rdma->request_timeout = CONNECT_MIN_MS;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma,
					       uint16_t max)
{
	doca_error_t error = check_limit(rdma, "connections:", max,
					 PIER_LIMIT_CONNS);

	if (!error)
		rdma->max_conns = max;
	return error;
}

doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma,
					   uint8_t count)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (count > 7)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "rdma: %u RNR retries, 0 to 7", count);
	rdma->rnr_retry = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_connection_state_callbacks(
	struct doca_rdma *rdma, doca_rdma_connection_request_cb_t request,
	doca_rdma_connection_established_cb_t established,
	doca_rdma_connection_failure_cb_t failure,
	doca_rdma_connection_disconnection_cb_t disconnected)
{
	doca_error_t error = may_set(rdma);

	if (error)
		return error;
	if (!established || !failure || !disconnected)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "rdma: "
				       "callbacks of connections: only the "
				       "request's may be NULL");
	rdma->request = request;
	rdma->established = established;
	rdma->failure = failure;
	rdma->disconnected = disconnected;
	return DOCA_SUCCESS;
}
