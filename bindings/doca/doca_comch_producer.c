/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch_producer.h>

#include "doca_fail.h"

/* There are no message channels yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_comch_producer_create(struct doca_comch_connection *conn,
					struct doca_comch_producer **producer)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_producer_cap_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_producer_get_id(const struct doca_comch_producer *producer,
			   uint32_t *id)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *info,
					  uint32_t *max_producers)
{
	return pier__doca_no_cap(info);
}

struct doca_ctx *
doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return NULL;
}

doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t done,
	doca_comch_producer_task_send_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_producer_task_send_alloc_init(
	struct doca_comch_producer *producer, const struct doca_buf *buf,
	uint8_t *imm, uint32_t imm_len, uint32_t id,
	struct doca_comch_producer_task_send **task)
{
	return pier__doca_unsupported(__func__);
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(
	const struct doca_comch_producer_task_send *task)
{
	return NULL;
}

void doca_comch_producer_task_send_set_buf(
	struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
}

uint32_t doca_comch_producer_task_send_get_consumer_id(
	const struct doca_comch_producer_task_send *task)
{
	return 0;
}

void doca_comch_producer_task_send_set_consumer_id(
	struct doca_comch_producer_task_send *task, const uint32_t id)
{
}

uint8_t *doca_comch_producer_task_send_get_imm_data(
	const struct doca_comch_producer_task_send *task)
{
	return NULL;
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(
	const struct doca_comch_producer_task_send *task)
{
	return 0;
}

void doca_comch_producer_task_send_set_imm_data(
	struct doca_comch_producer_task_send *task, uint8_t *imm,
	uint32_t imm_len)
{
}

struct doca_task *doca_comch_producer_task_send_as_task(
	struct doca_comch_producer_task_send *task)
{
	return NULL;
}
