/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "doca_fail.h"

/* Exports and tasks are not there yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
						const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_is_create_from_export_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_remote_net_create_from_export(
	struct doca_dev *dev, const uint8_t *data, size_t sz,
	struct doca_sync_event_remote_net **event)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_get_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_get_completion_cb_t done,
	doca_sync_event_task_get_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t
doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
				    uint64_t *ret, union doca_data data,
				    struct doca_sync_event_task_get **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *
doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	return NULL;
}

void doca_sync_event_task_get_set_ret_val_ptr(
	struct doca_sync_event_task_get *task, uint64_t *ret)
{
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(
	const struct doca_sync_event_task_get *task)
{
	return NULL;
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_notify_set_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_set_completion_cb_t done,
	doca_sync_event_task_notify_set_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(
	struct doca_sync_event *event, uint64_t value, union doca_data data,
	struct doca_sync_event_task_notify_set **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_sync_event_task_notify_set_as_doca_task(
	struct doca_sync_event_task_notify_set *task)
{
	return NULL;
}

void doca_sync_event_task_notify_set_set_set_val(
	struct doca_sync_event_task_notify_set *task, uint64_t value)
{
}

uint64_t doca_sync_event_task_notify_set_get_set_val(
	const struct doca_sync_event_task_notify_set *task)
{
	return 0;
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_notify_add_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_add_completion_cb_t done,
	doca_sync_event_task_notify_add_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_notify_add_alloc_init(
	struct doca_sync_event *event, uint64_t add, uint64_t *fetched,
	union doca_data data, struct doca_sync_event_task_notify_add **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_sync_event_task_notify_add_as_doca_task(
	struct doca_sync_event_task_notify_add *task)
{
	return NULL;
}

void doca_sync_event_task_notify_add_set_inc_val(
	struct doca_sync_event_task_notify_add *task, uint64_t add)
{
}

uint64_t doca_sync_event_task_notify_add_get_inc_val(
	const struct doca_sync_event_task_notify_add *task)
{
	return 0;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(
	struct doca_sync_event_task_notify_add *task, uint64_t *fetched)
{
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
	const struct doca_sync_event_task_notify_add *task)
{
	return NULL;
}

doca_error_t
doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_wait_eq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_eq_completion_cb_t done,
	doca_sync_event_task_wait_eq_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(
	struct doca_sync_event *event, uint64_t value, uint64_t mask,
	union doca_data data, struct doca_sync_event_task_wait_eq **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(
	struct doca_sync_event_task_wait_eq *task)
{
	return NULL;
}

void doca_sync_event_task_wait_eq_set_wait_val(
	struct doca_sync_event_task_wait_eq *task, uint64_t value)
{
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(
	const struct doca_sync_event_task_wait_eq *task)
{
	return 0;
}

void doca_sync_event_task_wait_eq_set_mask(
	struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
}

uint64_t doca_sync_event_task_wait_eq_get_mask(
	const struct doca_sync_event_task_wait_eq *task)
{
	return 0;
}

doca_error_t
doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_wait_neq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_neq_completion_cb_t done,
	doca_sync_event_task_wait_neq_completion_cb_t failed, uint32_t count)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(
	struct doca_sync_event *event, uint64_t value, uint64_t mask,
	union doca_data data, struct doca_sync_event_task_wait_neq **task)
{
	return pier__doca_unsupported(__func__);
}

struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(
	struct doca_sync_event_task_wait_neq *task)
{
	return NULL;
}

void doca_sync_event_task_wait_neq_set_wait_val(
	struct doca_sync_event_task_wait_neq *task, uint64_t value)
{
}

uint64_t doca_sync_event_task_wait_neq_get_wait_val(
	const struct doca_sync_event_task_wait_neq *task)
{
	return 0;
}

void doca_sync_event_task_wait_neq_set_mask(
	struct doca_sync_event_task_wait_neq *task, uint64_t mask)
{
}

uint64_t doca_sync_event_task_wait_neq_get_mask(
	const struct doca_sync_event_task_wait_neq *task)
{
	return 0;
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev,
						  const uint8_t **data,
						  size_t *sz)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data,
						  size_t *sz)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(
	const struct doca_devinfo *info)
{
	return pier__doca_unsupported(__func__);
}
