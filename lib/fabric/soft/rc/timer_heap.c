/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap of timers. */
#include <errno.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/rc/timer_heap.h"

#define SIZE_MIN 16

int pier__soft_heap_fit(struct soft_heap *heap, uint32_t count)
{
	uint32_t size = heap->size ? heap->size : SIZE_MIN;
	struct soft_timer **timer;

	if (count <= heap->size)
		return 0;
	while (size < count)
		size *= 2;
	timer = realloc(heap->timer, size * sizeof(struct soft_timer *));
	if (!timer)
		return pier__fail(-ENOMEM, "no memory for %u timers", size);
	heap->timer = timer;
	heap->size = size;
	return 0;
}

void pier__soft_heap_fini(struct soft_heap *heap)
{
	free(heap->timer);
}

static void put(struct soft_heap *heap, uint32_t i, struct soft_timer *timer)
{
	heap->timer[i] = timer;
	timer->at = i + 1;
}

static void up(struct soft_heap *heap, uint32_t i)
{
	struct soft_timer *timer = heap->timer[i];
	uint32_t above;

	for (; i; i = above) {
		above = (i - 1) / 2;
		if (heap->timer[above]->due <= timer->due)
			break;
		put(heap, i, heap->timer[above]);
	}
	put(heap, i, timer);
}

static void down(struct soft_heap *heap, uint32_t i)
{
	struct soft_timer *timer = heap->timer[i];
	uint32_t below;

	for (; (below = 2 * i + 1) < heap->len; i = below) {
		if (below + 1 < heap->len &&
		    heap->timer[below + 1]->due < heap->timer[below]->due)
			below++;
		if (timer->due <= heap->timer[below]->due)
			break;
		put(heap, i, heap->timer[below]);
	}
	put(heap, i, timer);
}

static void take_out(struct soft_heap *heap, struct soft_timer *timer)
{
	struct soft_timer *last = heap->timer[--heap->len];
	uint32_t i = timer->at - 1;

	timer->at = 0;
	if (last == timer)
		return;
	put(heap, i, last);
	up(heap, i);
	down(heap, last->at - 1);
}

void pier__soft_heap_set(struct soft_heap *heap, struct soft_timer *timer,
			 uint64_t due)
{
	uint64_t was;

	if (due == PIER__NEVER) {
		if (timer->at)
			take_out(heap, timer);
		return;
	}
	was = timer->due;
	timer->due = due;
	if (!timer->at) {
		put(heap, heap->len++, timer);
		up(heap, timer->at - 1);
	} else if (due < was) {
		up(heap, timer->at - 1);
	} else if (due > was) {
		down(heap, timer->at - 1);
	}
}

uint64_t pier__soft_heap_due(const struct soft_heap *heap)
{
	return heap->len ? heap->timer[0]->due : PIER__NEVER;
}
