/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

#define WAIT_S 20

static bool is_named(const struct doca_devinfo *info, const char *name)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	return !doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev)) &&
	       !strcmp(ibdev, name);
}

struct doca_dev *desk_device(void)
{
	const char *name = getenv("PIER_DEVICE");
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;

	if (doca_devinfo_list_create(&list, NULL))
		return NULL;
	for (struct doca_devinfo **at = list; *at && !dev; at++) {
		if (is_named(*at, name && name[0] ? name : "soft_lo"))
			doca_dev_open(*at, &dev);
	}
	IS(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
	return dev;
}

void desk_open(struct desk *desk)
{
	*desk = (struct desk){ .dev = desk_device() };
	IS(doca_mmap_create(NULL, &desk->mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(desk->mmap, desk->memory, DESK_BYTES),
	   DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(desk->mmap, DOCA_ACCESS_LOCAL_READ_WRITE |
				     DOCA_ACCESS_RDMA_READ |
				     DOCA_ACCESS_RDMA_WRITE |
				     DOCA_ACCESS_RDMA_ATOMIC), DOCA_SUCCESS);
	IS(doca_mmap_dev_add(desk->mmap, desk->dev), DOCA_SUCCESS);
	IS(doca_mmap_start(desk->mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(NULL, 64, DOCA_BUF_EXTENSION_NONE,
				     &desk->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(desk->inv), DOCA_SUCCESS);
	IS(doca_workq_create(DESK_DEPTH, &desk->workq), DOCA_SUCCESS);
}

void desk_close(struct desk *desk)
{
	IS(doca_workq_destroy(desk->workq), DOCA_SUCCESS);
	IS(doca_buf_inventory_stop(desk->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(desk->inv), DOCA_SUCCESS);
	IS(doca_mmap_stop(desk->mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(desk->mmap), DOCA_SUCCESS);
	IS(doca_dev_close(desk->dev), DOCA_SUCCESS);
}

void desk_add(struct desk *desk, struct doca_ctx *ctx)
{
	IS(doca_ctx_dev_add(ctx, desk->dev), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(ctx, desk->workq), DOCA_SUCCESS);
}

void desk_rm(struct desk *desk, struct doca_ctx *ctx)
{
	IS(doca_ctx_workq_rm(ctx, desk->workq), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_ctx_dev_rm(ctx, desk->dev), DOCA_SUCCESS);
}

struct doca_buf *desk_data(struct desk *desk, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	IS(doca_buf_inventory_buf_by_data(desk->inv, desk->mmap,
					  desk->memory + at, len, &buf),
	   DOCA_SUCCESS);
	return buf;
}

struct doca_buf *desk_space(struct desk *desk, size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	IS(doca_buf_inventory_buf_by_addr(desk->inv, desk->mmap,
					  desk->memory + at, len, &buf),
	   DOCA_SUCCESS);
	return buf;
}

struct doca_sync_event *desk_event(struct desk *desk)
{
	struct doca_sync_event *event = NULL;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_publisher_add_location_cpu(event, desk->dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_subscriber_add_location_cpu(event, desk->dev),
	   DOCA_SUCCESS);
	return event;
}

doca_error_t desk_retrieve(struct desk *desk, struct doca_event *event)
{
	time_t end = time(NULL) + WAIT_S;
	doca_error_t error;

	do
		error = doca_workq_progress_retrieve(
			desk->workq, event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (error == DOCA_ERROR_AGAIN && time(NULL) < end);
	return error;
}
