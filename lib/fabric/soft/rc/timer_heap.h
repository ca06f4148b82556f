/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_TIMER_HEAP_H
#define PIER_FABRIC_SOFT_RC_TIMER_HEAP_H

#include <stdint.h>

/* Timers, the next one first: a binary heap of pointers. */
struct soft_timer {
	uint64_t due;		/* ns */
	uint32_t at;		/* place in the heap plus 1; 0: none */
};

struct soft_heap {
	struct soft_timer **timer;	/* owned */
	uint32_t len, size;
};

/* Have memory for @count timers in all.  Errors: -ENOMEM. */
int pier__soft_heap_fit(struct soft_heap *heap, uint32_t count);
void pier__soft_heap_fini(struct soft_heap *heap);

/* Set @timer, for which there is memory, to @due; PIER__NEVER removes it. */
void pier__soft_heap_set(struct soft_heap *heap, struct soft_timer *timer,
			 uint64_t due);

/* When the first one is due; PIER__NEVER. */
uint64_t pier__soft_heap_due(const struct soft_heap *heap);

#endif
