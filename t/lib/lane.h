/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LANE_H
#define PIER_T_LIB_LANE_H

#include <stdint.h>

#include <pier/pier.h>

/*
 * A lane: two RDMA contexts that are connected to each other, and a context of
 * every other kind, on one engine.  It moves random data by operations of every
 * type and compares what has arrived.  Lanes share nothing but the device: each
 * thread can have its own, or several.
 *
 * Calls return 0 or a negative error; -EBADMSG: data has arrived wrong.
 */
#define LANE_SLOTS 16
#define LANE_SLOT 4096u			/* bytes */
#define LANE_MEM (2 * LANE_SLOTS * LANE_SLOT)

struct lane_end {
	struct pier_rdma *rdma;
	struct pier_conn *conn;
	struct pier_mmap *mmap;		/* of mem */
	struct pier_mmap *remote;	/* of the other end's */
	struct pier_buf_inventory *inv;
	struct pier_sync_event *event;	/* that the other end may set */
	struct pier_sync_event *far;	/* the other end's */
	uint8_t *mem;			/* sources, then destinations */
};

/* What a function copies, once it was called @again times more. */
struct lane_call {
	uint8_t *dst;
	const uint8_t *src;
	size_t len;
	unsigned int again;
};

/* After an operation the bytes at @got are those at @want. */
struct lane_check {
	const uint8_t *got, *want;
	size_t len;
};

struct lane {
	struct pier_dev *dev;		/* borrowed */
	struct pier_pe *pe;		/* borrowed */
	struct lane_end ends[2];
	struct pier_dma *dma;
	struct pier_func *func;
	struct pier_sha *sha;
	struct pier_graph *graph;
	struct pier_graph_node *nodes[3];	/* digest, copy, function */
	struct pier_sync_event *event;	/* a context, set to all values */
	struct pier_sync_event *counter;	/* the same, added to only */
	uint64_t random;
	unsigned int pending;		/* tasks submitted, not completed */
	int error;			/* of the first task that failed */
	struct lane_check checks[4 * LANE_SLOTS];
	unsigned int check_count;
	uint64_t words[LANE_SLOTS][2];	/* expected: old, new */
	uint64_t seen[LANE_SLOTS][2];	/* of the event: old, new */
	uint64_t count;			/* of the counter */
	struct lane_call calls[LANE_SLOTS];
	uint8_t digests[LANE_SLOTS][PIER_SHA_DIGEST_MAX];	/* expected */
	unsigned int far_events;	/* operations on one in this batch */
	struct pier_task *tasks[8 * LANE_SLOTS];	/* to be freed, and */
	struct pier_buf *bufs[4 * LANE_SLOTS];	/* put, after the batch */
	unsigned int task_count, buf_count;
	unsigned long long operations;	/* compared, in all */
};

/* Create and start all of it but the connection.  On an error close it too. */
int lane_open(struct lane *lane, struct pier_dev *dev, struct pier_pe *pe,
	      uint64_t seed);
void lane_close(struct lane *lane);

/* Connect the ends to each other, or by @address; and end that. */
int lane_connect(struct lane *lane);
int lane_connect_to(struct lane *lane, const char *address);
void lane_disconnect(struct lane *lane);

/*
 * Submit LANE_SLOTS operations of random types and lengths; then wait until all
 * have completed, and compare.
 */
int lane_submit(struct lane *lane);
int lane_await(struct lane *lane);

/* @batches times both. */
int lane_run(struct lane *lane, unsigned int batches);

#endif
