/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LANE_H
#define PIER_T_LIB_LANE_H

#include <stdint.h>

#include <pier/pier.h>

/*
 * A lane: two RDMA contexts that are connected to each other, and a DMA
 * context, on one engine.  It moves random data by operations of every type and
 * compares what has arrived.  Lanes share nothing but the device: each thread
 * can have its own, or several.
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
	uint8_t *mem;			/* sources, then destinations */
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
	uint64_t random;
	unsigned int pending;		/* tasks submitted, not completed */
	int error;			/* of the first task that failed */
	struct lane_check checks[2 * LANE_SLOTS];
	unsigned int check_count;
	uint64_t words[LANE_SLOTS][2];	/* expected of atomics: old, new */
	unsigned long long operations;	/* compared, in all */
};

/* Create and start all of it but the connection.  On an error close it too. */
int lane_open(struct lane *lane, struct pier_dev *dev, struct pier_pe *pe,
	      uint64_t seed);
void lane_close(struct lane *lane);

/* Connect the ends to each other; and end that. */
int lane_connect(struct lane *lane);
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
