/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LANE_OP_H
#define PIER_T_LIB_LANE_OP_H

#include "t/lib/lane.h"

/* One operation of a lane: what lane.c and those who carry it out share. */
struct lane_op {
	struct lane *lane;
	struct lane_end *from, *to;
	unsigned int slot;		/* whose memory is the operation's */
	size_t len;
};

uint64_t lane_random(struct lane *lane);

/* The memory of @slot at @end, LANE_SLOT bytes each. */
uint8_t *lane_source(const struct lane_end *end, unsigned int slot);
uint8_t *lane_target(const struct lane_end *end, unsigned int slot);

/* After the batch @len bytes at @got are those at @want. */
void lane_expect(struct lane *lane, const void *got, const void *want,
		 size_t len);

/* A task was submitted with these, which may be NULL; they are put. */
int lane_submitted(struct lane *lane, int err, struct pier_buf *src,
		   struct pier_buf *dst);

/* The callback of every task that was submitted. */
void lane_done(struct pier_task *task, void *arg);

/*
 * Unless there was an error, @err: *@buf is put, *@task is freed after the
 * batch; run submits it too.  Each returns the error.
 */
int lane_keep(struct lane *lane, int err, struct pier_buf **buf);
int lane_take(struct lane *lane, int err, struct pier_task **task);
int lane_run_task(struct lane *lane, int err, struct pier_task **task);

/* Contexts whose tasks the CPU carries out, and operations on them. */
int lane_cpu_open(struct lane *lane);
void lane_cpu_close(struct lane *lane);
int lane_call(const struct lane_op *op);
int lane_hash(const struct lane_op *op);
int lane_graph(const struct lane_op *op);

/* The same of sync events, of this process and of a peer. */
int lane_events_open(struct lane *lane);
void lane_events_close(struct lane *lane);
int lane_event(const struct lane_op *op);
int lane_far_event(const struct lane_op *op);

#endif
