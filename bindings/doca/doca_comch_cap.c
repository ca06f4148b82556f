/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

/* What public samples expect of DOCA's devices; pier's messages are longer. */
#define MSG_SIZE_MAX 4080

#define CLIENTS_MAX 1024
#define SEND_TASKS_MAX 8192
#define LONG_QUEUE_CLIENTS 64	/* of a server with the longest queue */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * So many clients and tasks have a third and a half of the device's requests in
 * flight; the rest are those that pier sends itself.
 */
doca_error_t pier__doca_comch_limits(const struct doca_devinfo *info,
				     struct doca_comch_limits *ret)
{
	uint32_t sends = 0;
	doca_error_t error = pier__doca_has(info, PIER_FEATURE_COMCH);

	if (error)
		return error;
	pier__doca_limit(info, PIER_LIMIT_RECV_QUEUE, &ret->recvs);
	pier__doca_limit(info, PIER_LIMIT_CTX_SENDS, &sends);
	pier__doca_limit(info, PIER_LIMIT_COMCH_NAME, &ret->name);
	pier__doca_limit(info, PIER_LIMIT_COMCH_MESSAGE, &ret->msg_size);
	pier__doca_limit(info, PIER_LIMIT_COMCH_RECV_QUEUE, &ret->recv_queue);
	pier__doca_limit(info, PIER_LIMIT_COMCH_CLIENTS, &ret->clients);
	ret->msg_size = least(ret->msg_size, MSG_SIZE_MAX);
	ret->clients = least(ret->clients / 3, CLIENTS_MAX);
	if (!ret->clients)
		return DOCA_ERROR_NOT_SUPPORTED;
	ret->recv_queue =
		least(ret->recv_queue,
		      ret->recvs / least(ret->clients, LONG_QUEUE_CLIENTS) / 2);
	ret->send_tasks = least(sends / 2, SEND_TASKS_MAX);
	return DOCA_SUCCESS;
}

/* Half of the device's receives are left to what pier receives itself. */
uint32_t pier__doca_comch_clients(const struct doca_comch_limits *limits,
				  uint32_t recv_queue)
{
	return least(limits->clients, limits->recvs / 2 / recv_queue);
}

/* The member of the limits at @offset. */
static doca_error_t get(const struct doca_devinfo *info, size_t offset,
			uint32_t *ret)
{
	struct doca_comch_limits limits;
	doca_error_t error;

	if (!ret)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_limits(info, &limits);
	if (!error)
		memcpy(ret, (const char *)&limits + offset, sizeof(*ret));
	return error;
}

doca_error_t pier__doca_comch_limit(const struct doca_devinfo *info,
				    enum pier_limit limit, uint32_t *ret)
{
	doca_error_t error = pier__doca_has(info, PIER_FEATURE_COMCH);

	return error ? error : pier__doca_limit(info, limit, ret);
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *info,
					     uint32_t *max_name_len)
{
	return get(info, offsetof(struct doca_comch_limits, name),
		   max_name_len);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *info,
					     uint32_t *size)
{
	return get(info, offsetof(struct doca_comch_limits, msg_size), size);
}

doca_error_t
doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *info,
				       uint32_t *size)
{
	return get(info, offsetof(struct doca_comch_limits, recv_queue), size);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *info,
					    uint32_t *num_clients)
{
	return get(info, offsetof(struct doca_comch_limits, clients),
		   num_clients);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *info,
					       uint32_t *max_send_tasks)
{
	return get(info, offsetof(struct doca_comch_limits, send_tasks),
		   max_send_tasks);
}

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_COMCH);
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_COMCH);
}
