/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_rdma.h>

#include "doca_fail.h"

/* There are no sync events yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t
doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma,
				    struct rdma_cm_id *cm_id,
				    struct doca_rdma_connection **conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *priv,
				     uint8_t priv_len,
				     struct doca_rdma_connection *conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
					  struct doca_rdma_connection *conn)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	const struct doca_sync_event_remote_net *event, struct doca_buf *dst,
	union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_get **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(
	struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	const struct doca_sync_event_remote_net *event)
{
}

const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_buf *dst)
{
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return NULL;
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return 0;
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_rdma_connection *conn)
{
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return NULL;
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_sync_event_remote_net *event, const struct doca_buf *src,
	union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_sync_event_remote_net *event)
{
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_rdma_connection *conn)
{
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	const struct doca_buf *src)
{
}

const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	return NULL;
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t done,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *conn,
	struct doca_sync_event_remote_net *event, struct doca_buf *result,
	uint64_t add, union doca_data data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_sync_event_remote_net *event)
{
}

struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_buf *result)
{
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	uint64_t add)
{
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return 0;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_rdma_connection *conn)
{
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	return NULL;
}
