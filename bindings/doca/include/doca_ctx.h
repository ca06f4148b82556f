/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_CTX_H
#define DOCA_CTX_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is common to all contexts: started on an engine, stopped, and idle again
 * when all of their tasks are freed.
 *
 *	idle -> starting -> running -> stopping -> idle
 */

struct doca_ctx;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;

enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,
	DOCA_CTX_STATE_STARTING = 1,
	DOCA_CTX_STATE_RUNNING = 2,
	DOCA_CTX_STATE_STOPPING = 3,
};

/* The state is @next_state already when it is called. */
typedef void (*doca_ctx_state_changed_callback_t)(
	const union doca_data user_data, struct doca_ctx *ctx,
	enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

doca_error_t doca_ctx_start(struct doca_ctx *ctx);
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *ret);
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data data);
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx,
				    union doca_data *data);
doca_error_t
doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
			      doca_ctx_state_changed_callback_t cb);
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx,
				enum doca_ctx_states *state);
void doca_ctx_flush_tasks(struct doca_ctx *ctx);
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx,
					    uint32_t comp_vector);
doca_error_t
doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *info,
					uint32_t *num_comp_vectors);

/* Not supported: a context whose tasks another processor submits. */
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx,
					  struct doca_gpu *gpu);
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx,
					  struct doca_dpa *dpa);

#ifdef __cplusplus
}
#endif

#endif
