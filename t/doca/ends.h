/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DOCA_ENDS_H
#define PIER_T_DOCA_ENDS_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

/*
 * Two ends of a connection in one process, each with an engine, a context,
 * memory and buffers of its own, as two programs for DOCA would have them.
 */
#define END_BYTES 4096
#define END_TASKS 4	/* of each type */

struct end {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap, *remote;
	struct doca_buf_inventory *inv;
	struct doca_rdma_connection *conn;
	uint32_t access;			/* of memory */
	char memory[END_BYTES] __attribute__((aligned(64)));
	/* What has happened. */
	enum doca_ctx_states states[16];	/* in which order */
	int state_count;
	int done, failed;			/* tasks */
	doca_error_t error;			/* of the last one */
	doca_error_t stop_error;		/* of a stop in a callback */
	int stop_after;				/* tasks done; 0: never */
};

/* The device that PIER_DEVICE names, soft_lo without it; or NULL. */
struct doca_dev *end_device(void);

/* Another one than @dev; NULL: there is none that can be opened. */
struct doca_dev *end_other_device(const struct doca_dev *dev);

/* All that a peer may do, where memory and context permit it. */
#define END_RDMA \
	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* Everything but a connection; the context is idle, or runs. */
void end_open(struct end *end);
void end_open_with(struct end *end, uint32_t memory, uint32_t context);
void end_start(struct end *end);

/* Stop it, drive it until it is idle, and destroy everything. */
void end_close(struct end *end);

/*
 * Connect two that run by what each exports; get each other's memory, if it may
 * be exported.
 */
void ends_connect(struct end *a, struct end *b);

/* Drive both engines until *@count is @want: true; or for too long. */
bool ends_drive(struct end *a, struct end *b, const int *count, int want);

/* Drive one until it is idle. */
bool end_drain(struct end *end);

/* Buffers at an offset of this end's memory, or of the other's. */
struct doca_buf *end_data(struct end *end, size_t at, size_t len);
struct doca_buf *end_space(struct end *end, size_t at, size_t len);
struct doca_buf *end_far_data(struct end *end, size_t at, size_t len);
struct doca_buf *end_far_space(struct end *end, size_t at, size_t len);

/* An event of this process, on @dev, that is not started. */
struct doca_sync_event *end_event(struct doca_dev *dev);

/* An event of @end that runs, and what @other imports of it. */
struct doca_sync_event *
end_share_event(struct end *end, struct end *other,
		struct doca_sync_event_remote_net **remote);

/* Submit @task, drive both until it is done, free it. */
doca_error_t ends_run(struct end *a, struct end *b, struct doca_task *task);

#endif
