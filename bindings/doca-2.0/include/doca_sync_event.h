/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_SYNC_EVENT_2_0_H
#define DOCA_SYNC_EVENT_2_0_H

#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A 64-bit counter that this process, and others that have its export, set, add
 * to and wait for: by calls once doca_sync_event_start() has started it, by
 * jobs once doca_ctx_start() has.
 */

struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;
struct doca_sync_event;

typedef uint64_t doca_dpa_dev_sync_event_t;
typedef uint64_t doca_gpu_dev_sync_event_t;

enum doca_sync_event_job_type {
	DOCA_SYNC_EVENT_JOB_GET = 0x300,
	DOCA_SYNC_EVENT_JOB_UPDATE_SET,
	DOCA_SYNC_EVENT_JOB_UPDATE_ADD,
	DOCA_SYNC_EVENT_JOB_WAIT,
};

struct doca_sync_event_job_get {
	struct doca_job base;
};

struct doca_sync_event_job_update_set {
	struct doca_job base;
	uint64_t value;
};

struct doca_sync_event_job_update_add {
	struct doca_job base;
	uint64_t value;
};

/* Until the value AND @mask is greater than @value. */
struct doca_sync_event_job_wait {
	struct doca_job base;
	uint64_t value;
	uint64_t mask;
};

/* What result.ptr of an event is filled in with, unless it is NULL. */
struct doca_sync_event_result {
	doca_error_t result;
	uint64_t value;		/* of a get; before an add */
};

doca_error_t doca_sync_event_create(struct doca_sync_event **event);
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/*
 * Before the start: who sets it and who waits for it, and the 8 aligned bytes
 * that have its value.  Both are CPUs; it has one device.
 */
doca_error_t
doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event,
					   struct doca_dev *dev);
doca_error_t
doca_sync_event_publisher_add_location_dpa(struct doca_sync_event *event,
					   struct doca_dpa *dpa);
doca_error_t
doca_sync_event_publisher_add_location_gpu(struct doca_sync_event *event,
					   struct doca_gpu *gpu);
doca_error_t
doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event,
					    struct doca_dev *dev);
doca_error_t
doca_sync_event_subscriber_add_location_dpa(struct doca_sync_event *event,
					    struct doca_dpa *dpa);
doca_error_t
doca_sync_event_subscriber_add_location_gpu(struct doca_sync_event *event,
					    struct doca_gpu *gpu);
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event,
				      uint64_t *addr);

doca_error_t doca_sync_event_start(struct doca_sync_event *event);
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/* For another process; the export belongs to @event. */
doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event,
					   struct doca_dev *dev,
					   const uint8_t **data, size_t *sz);
doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event,
					   struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *handle);
doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event,
					   struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t *handle);
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
						const uint8_t *data, size_t sz,
						struct doca_sync_event **event);

/* SUCCESS or NOT_SUPPORTED. */
doca_error_t doca_sync_event_get_create_from_export_supported(
	const struct doca_devinfo *info);
doca_error_t doca_sync_event_get_export_to_dpu_supported(
	const struct doca_devinfo *info);
doca_error_t doca_sync_event_get_export_to_dpa_supported(
	const struct doca_devinfo *info);
doca_error_t doca_sync_event_get_export_to_gpu_supported(
	const struct doca_devinfo *info);
doca_error_t
doca_sync_event_job_get_supported(const struct doca_devinfo *info,
				  enum doca_sync_event_job_type type);

doca_error_t doca_sync_event_get(struct doca_sync_event *event,
				 uint64_t *value);
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event,
					uint64_t value);
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event,
					uint64_t value, uint64_t *fetched);
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event,
				     uint64_t value, uint64_t mask);
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event,
					   uint64_t value, uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif
