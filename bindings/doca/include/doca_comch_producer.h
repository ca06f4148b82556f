/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMCH_PRODUCER_H
#define DOCA_COMCH_PRODUCER_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fast path of a message channel: the end that sends. */

struct doca_buf;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_completion;
struct doca_task;
struct doca_comch_connection;
struct doca_comch_producer;
struct doca_comch_producer_task_send;

typedef uint64_t doca_dpa_dev_comch_producer_t;

typedef void (*doca_comch_producer_task_send_completion_cb_t)(
	struct doca_comch_producer_task_send *task, union doca_data task_data,
	union doca_data ctx_data);

doca_error_t doca_comch_producer_create(struct doca_comch_connection *conn,
					struct doca_comch_producer **producer);
doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);
doca_error_t
doca_comch_producer_cap_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_comch_producer_get_id(const struct doca_comch_producer *producer,
			   uint32_t *id);
doca_error_t
doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks);
doca_error_t
doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size);
doca_error_t
doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret);
doca_error_t
doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *info,
					  uint32_t *max_producers);
struct doca_ctx *
doca_comch_producer_as_ctx(struct doca_comch_producer *producer);
doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t done,
	doca_comch_producer_task_send_completion_cb_t failed, uint32_t count);
doca_error_t doca_comch_producer_task_send_alloc_init(
	struct doca_comch_producer *producer, const struct doca_buf *buf,
	uint8_t *imm, uint32_t imm_len, uint32_t id,
	struct doca_comch_producer_task_send **task);
const struct doca_buf *doca_comch_producer_task_send_get_buf(
	const struct doca_comch_producer_task_send *task);
void doca_comch_producer_task_send_set_buf(
	struct doca_comch_producer_task_send *task, const struct doca_buf *buf);
uint32_t doca_comch_producer_task_send_get_consumer_id(
	const struct doca_comch_producer_task_send *task);
void doca_comch_producer_task_send_set_consumer_id(
	struct doca_comch_producer_task_send *task, const uint32_t id);
uint8_t *doca_comch_producer_task_send_get_imm_data(
	const struct doca_comch_producer_task_send *task);
uint32_t doca_comch_producer_task_send_get_imm_data_len(
	const struct doca_comch_producer_task_send *task);
void doca_comch_producer_task_send_set_imm_data(
	struct doca_comch_producer_task_send *task, uint8_t *imm,
	uint32_t imm_len);
struct doca_task *doca_comch_producer_task_send_as_task(
	struct doca_comch_producer_task_send *task);

/* Not supported: producers of a DPA. */
doca_error_t
doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
					 uint32_t count);
doca_error_t doca_comch_producer_dpa_completion_attach(
	struct doca_comch_producer *producer,
	struct doca_dpa_completion *completion);
doca_error_t
doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
				   doca_dpa_dev_comch_producer_t *handle);

#ifdef __cplusplus
}
#endif

#endif
