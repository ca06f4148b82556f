/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_PE_H
#define DOCA_PE_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The progress engine, which runs contexts and all callbacks in the thread that
 * drives it, and what is common to all tasks: allocated, submitted, completed,
 * submitted again or freed.
 */

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;

typedef void (*doca_task_completion_cb_t)(struct doca_task *task,
					  union doca_data task_data,
					  union doca_data ctx_data);

enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL,
};

enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0,
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1,
};

doca_error_t doca_pe_create(struct doca_pe **pe);
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/*
 * 1: something was done, 0: there is nothing to do.  One event a call, in the
 * mode ALL all that there are.
 */
uint8_t doca_pe_progress(struct doca_pe *pe);
doca_error_t doca_pe_clear_notification(struct doca_pe *pe,
					doca_notification_handle_t handle);
doca_error_t doca_pe_request_notification(struct doca_pe *pe);
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
					    size_t *ret);

/*
 * All three submit; try checks the arguments first.  Without FLUSH a task may
 * be posted later: by doca_ctx_flush_tasks() or the next progress at the
 * latest.
 */
doca_error_t doca_task_submit(struct doca_task *task);
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);
doca_error_t doca_task_try_submit(struct doca_task *task);
void doca_task_free(struct doca_task *task);
doca_error_t doca_task_get_status(const struct doca_task *task);
void doca_task_set_user_data(struct doca_task *task, union doca_data data);

union doca_data doca_task_get_user_data(const struct doca_task *task);

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);
doca_error_t doca_pe_set_event_mode(struct doca_pe *pe,
				    enum doca_pe_event_mode event_mode);

/* To sleep: request, poll the handle, clear, progress until 0. */
doca_error_t
doca_pe_get_notification_handle(const struct doca_pe *pe,
				doca_notification_handle_t *handle);

/*
 * Not supported, and there is no call that makes one: a batch of tasks.
 * doca_task_submit_ex() without FLUSH posts several tasks at once.
 */
doca_error_t doca_task_batch_submit(struct doca_task_batch *batch);
doca_error_t doca_task_batch_try_submit(struct doca_task_batch *batch);
void doca_task_batch_free(struct doca_task_batch *batch);
doca_error_t doca_task_batch_get_status(const struct doca_task_batch *batch);
void doca_task_batch_set_user_data(struct doca_task_batch *batch,
				   union doca_data data);

union doca_data
doca_task_batch_get_user_data(const struct doca_task_batch *batch);

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *batch);

union doca_data
doca_task_batch_get_ctx_user_data(const struct doca_task_batch *batch);

size_t doca_task_batch_get_tasks_num(const struct doca_task_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
