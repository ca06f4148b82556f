/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_COMCH_WAYS_H
#define PIER_T_BENCH_COMCH_WAYS_H

#include <pier/pier.h>

/*
 * Ways to move bytes between two processes, each on an engine of its own, so
 * that one does not pay for the other's turn.
 */
#define MESSAGE 64			/* bytes of a round trip */
#define COPY (1u << 20)			/* bytes of a copy */
#define AHEAD 16			/* messages in flight, at most */
#define DEPTH 8				/* copies in flight, at most */

struct bench_way {
	const char *name;
	/*
	 * Of the process that serves: connect over @wire; then drive it once,
	 * NULL: it sleeps.
	 */
	void (*serve)(struct pier_dev *dev, int wire);
	void (*step)(void);
	/*
	 * Of the one that measures: connect; then @count operations, @depth in
	 * flight: microseconds.
	 */
	void (*meet)(struct pier_dev *dev, int wire);
	double (*run)(int count, int depth);
};

extern const struct bench_way way_send, way_comch, way_request,
			      way_write, way_dma;

#endif
