/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DOCA_2_0_DESK_H
#define PIER_T_DOCA_2_0_DESK_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

/*
 * What a program for DOCA 2.0 sets up: a device, memory, buffers, a work queue.
 */
#define DESK_BYTES 8192
#define DESK_DEPTH 4

struct desk {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	struct doca_workq *workq;
	char memory[DESK_BYTES] __attribute__((aligned(64)));
};

/* The device that PIER_DEVICE names, soft_lo without it; or NULL. */
struct doca_dev *desk_device(void);

void desk_open(struct desk *desk);
void desk_close(struct desk *desk);

/* Give @ctx the device, start it and add it; the opposite. */
void desk_add(struct desk *desk, struct doca_ctx *ctx);
void desk_rm(struct desk *desk, struct doca_ctx *ctx);

/* Buffers at an offset of the memory: all data, or none. */
struct doca_buf *desk_data(struct desk *desk, size_t at, size_t len);
struct doca_buf *desk_space(struct desk *desk, size_t at, size_t len);

/* A sync event of this process that is not started. */
struct doca_sync_event *desk_event(struct desk *desk);

/* Retrieve until there is an event, or for too long: AGAIN. */
doca_error_t desk_retrieve(struct desk *desk, struct doca_event *event);

#endif
