/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMCH_CONSUMER_H
#define DOCA_COMCH_CONSUMER_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fast path of a message channel: the end that receives. */

struct doca_buf;
struct doca_ctx;
struct doca_devinfo;
struct doca_dpa_thread;
struct doca_mmap;
struct doca_task;
struct doca_comch_connection;
struct doca_comch_consumer;
struct doca_comch_consumer_completion;
struct doca_comch_consumer_task_post_recv;

typedef uint64_t doca_dpa_dev_comch_consumer_t;
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(
	struct doca_comch_consumer_task_post_recv *task,
	union doca_data task_data, union doca_data ctx_data);

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *conn,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer);
doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);
doca_error_t
doca_comch_consumer_cap_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer,
			   uint32_t *id);
doca_error_t
doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks);
doca_error_t
doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size);
doca_error_t
doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret);
doca_error_t
doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *info,
					  uint32_t *max_consumers);
doca_error_t
doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *info,
					     uint32_t *max_imm_data_len);
doca_error_t
doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
				     uint32_t *imm_len);
doca_error_t
doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
				     uint32_t imm_len);
struct doca_ctx *
doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);
doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t done,
	doca_comch_consumer_task_post_recv_completion_cb_t failed,
	uint32_t count);
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
	struct doca_comch_consumer *consumer, struct doca_buf *buf,
	struct doca_comch_consumer_task_post_recv **task);
struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
	const struct doca_comch_consumer_task_post_recv *task);
void doca_comch_consumer_task_post_recv_set_buf(
	struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf);
uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task);
const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task);
uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task);
struct doca_task *doca_comch_consumer_task_post_recv_as_task(
	struct doca_comch_consumer_task_post_recv *task);

/* Not supported: consumers of a DPA, and completions that it polls. */
doca_error_t
doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
					 uint32_t count);
doca_error_t doca_comch_consumer_set_completion(
	struct doca_comch_consumer *consumer,
	struct doca_comch_consumer_completion *completion, uint32_t user_data);
doca_error_t
doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
				   doca_dpa_dev_comch_consumer_t *handle);
doca_error_t doca_comch_consumer_completion_create(
	struct doca_comch_consumer_completion **completion);
doca_error_t doca_comch_consumer_completion_destroy(
	struct doca_comch_consumer_completion *completion);
doca_error_t doca_comch_consumer_completion_start(
	struct doca_comch_consumer_completion *completion);
doca_error_t doca_comch_consumer_completion_stop(
	struct doca_comch_consumer_completion *completion);
doca_error_t doca_comch_consumer_completion_set_dpa_thread(
	struct doca_comch_consumer_completion *completion,
	struct doca_dpa_thread *thread);
doca_error_t doca_comch_consumer_completion_get_dpa_handle(
	struct doca_comch_consumer_completion *completion,
	doca_dpa_dev_comch_consumer_completion_t *handle);
doca_error_t doca_comch_consumer_completion_set_max_num_consumers(
	struct doca_comch_consumer_completion *completion, uint32_t count);
doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
	const struct doca_comch_consumer_completion *completion,
	uint32_t *count);
doca_error_t doca_comch_consumer_completion_set_max_num_recv(
	struct doca_comch_consumer_completion *completion, uint32_t count);
doca_error_t doca_comch_consumer_completion_get_max_num_recv(
	const struct doca_comch_consumer_completion *completion,
	uint32_t *count);
doca_error_t doca_comch_consumer_completion_set_imm_data_len(
	struct doca_comch_consumer_completion *completion, uint32_t len);
doca_error_t doca_comch_consumer_completion_get_imm_data_len(
	const struct doca_comch_consumer_completion *completion, uint32_t *len);

#ifdef __cplusplus
}
#endif

#endif
