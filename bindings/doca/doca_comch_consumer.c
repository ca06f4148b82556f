/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch_consumer.h>

#include "doca_fail.h"

/* There are no message channels yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *conn,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_consumer_cap_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer,
			   uint32_t *id)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *info,
					  uint32_t *max_consumers)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *info,
					     uint32_t *max_imm_data_len)
{
	return pier__doca_no_cap(info);
}

doca_error_t
doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
				     uint32_t *imm_len)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
				     uint32_t imm_len)
{
	return pier__doca_unsupported(__func__);
}

struct doca_ctx *
doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return NULL;
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t done,
	doca_comch_consumer_task_post_recv_completion_cb_t failed,
	uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
	struct doca_comch_consumer *consumer, struct doca_buf *buf,
	struct doca_comch_consumer_task_post_recv **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return NULL;
}

void doca_comch_consumer_task_post_recv_set_buf(
	struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return 0;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return NULL;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return 0;
}

struct doca_task *doca_comch_consumer_task_post_recv_as_task(
	struct doca_comch_consumer_task_post_recv *task)
{
	return NULL;
}
