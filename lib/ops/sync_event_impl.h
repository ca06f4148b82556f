/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_SYNC_EVENT_IMPL_H
#define PIER_OPS_SYNC_EVENT_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <pier/sync_event.h>

#include "mem/buf_impl.h"
#include "ops/cpu_ctx.h"

#define PIER__CACHE_LINE 64

enum pier__sync_life {
	PIER__SYNC_NEW,
	PIER__SYNC_BLOCKING,
	PIER__SYNC_CONTEXT,
	PIER__SYNC_IMPORTED,		/* started: the value is at a peer */
	PIER__SYNC_STOPPED,
};

struct pier__sync_remote;
struct pier__sync_served;

struct pier_sync_event {
	struct pier__cpu_ctx cpu;	/* first; idle in blocking mode */
	struct pier_sync_event_config cfg;
	uint64_t *word;			/* the value: own_word or cfg.word */
	struct pier_mmap *mmap;		/* the word, registered, or the */
					/* peer's; NULL: not remote */
	struct pier_buf_inventory *inv;	/* of one imported for RDMA: */
	struct pier_buf *buf;		/* the peer's word, NULL once stopped */
	struct pier__sync_remote *remote;	/* of one imported from a */
					/* process; else NULL */
	struct pier__sync_served *served;	/* exported to processes; */
					/* NULL: never */
	atomic_int life;		/* enum pier__sync_life */
	atomic_uint sleepers;		/* threads that sleep on changes, */
	atomic_uint changes;		/* which is counted only for them */
	/* alone in its cache line: polling it disturbs nothing else */
	_Alignas(PIER__CACHE_LINE) uint64_t own_word;
};

/* What is waited for. */
enum pier__sync_compare {
	PIER__SYNC_GT,
	PIER__SYNC_EQ,
	PIER__SYNC_NEQ,
};

struct pier__sync_goal {
	enum pier__sync_compare compare;
	uint64_t value, mask;
};

struct pier__sync_task {
	struct pier_task task;		/* first */
	struct pier__sync_goal goal;	/* its value is also that of sets */
	uint64_t *result;		/* NULL: none */
	/* Of a wait for the event of another process: when to look again, */
	uint64_t due, nap;		/* 0: at once; ns, before the next */
};

static inline struct pier__sync_task *pier__sync_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__sync_task, task);
}

/* Sleeps between looks at a value: each twice the last. */
#define PIER__SYNC_NAP_MIN UINT64_C(50000)	/* ns */
#define PIER__SYNC_NAP_MAX UINT64_C(1000000)

static inline uint64_t pier__sync_next_nap(uint64_t nap)
{
	return nap < PIER__SYNC_NAP_MAX ? 2 * nap : nap;
}

/* In one order with the sets and with the count of sleepers. */
static inline uint64_t pier__sync_load(const struct pier_sync_event *event)
{
	return __atomic_load_n(event->word, __ATOMIC_SEQ_CST);
}

static inline bool pier__sync_is(uint64_t value,
				 const struct pier__sync_goal *goal)
{
	value &= goal->mask;
	if (goal->compare == PIER__SYNC_GT)
		return value > goal->value;
	return (value == goal->value) == (goal->compare == PIER__SYNC_EQ);
}

static inline bool pier__sync_reached(const struct pier_sync_event *event,
				      const struct pier__sync_goal *goal)
{
	return pier__sync_is(pier__sync_load(event), goal);
}

static inline enum pier__sync_life
pier__sync_life(const struct pier_sync_event *event)
{
	return (enum pier__sync_life)atomic_load_explicit(
		&event->life, memory_order_relaxed);
}

static inline bool pier__sync_is_imported(const struct pier_sync_event *event)
{
	return event->inv || event->remote;
}

/* May the value be used here?  Errors: -ESHUTDOWN; -EOPNOTSUPP.  Any thread. */
int pier__sync_usable(const struct pier_sync_event *event);

/* Change the value of an event that may be used.  Any thread. */
void pier__sync_set(struct pier_sync_event *event, uint64_t value);
uint64_t pier__sync_add(struct pier_sync_event *event, uint64_t value);

/* Wake the threads that sleep on @event, after a change.  Any thread. */
void pier__sync_wake(struct pier_sync_event *event);

/*
 * Fail: a wait has ended without its value; @value is what was seen last.
 * Returns -ETIMEDOUT.
 */
int pier__sync_timed_out(uint64_t value, const struct pier__sync_goal *goal,
			 int timeout_ms);

/* The context's part: what distinguishes it from other contexts. */
extern const struct pier__cpu_ops pier__sync_cpu_ops;

/*
 * Start it in mode @life, blocking or context.  Errors: as
 * pier_sync_event_start().
 */
int pier__sync_start(struct pier_sync_event *event, enum pier__sync_life life);

/* End it in either mode.  Any thread. */
void pier__sync_stop(struct pier_sync_event *event);

/*
 * Let peers use the word of @event, which starts, if its configuration says
 * so; and no longer.  Errors: those of pier_mmap_start().
 */
int pier__sync_register(struct pier_sync_event *event);
void pier__sync_revoke(struct pier_sync_event *event);

/* The memory to export.  Errors: as pier_sync_event_export(). */
int pier__sync_mmap(struct pier_sync_event *event, struct pier_mmap **ret);

/* Is @mmap, which a peer described, the word of an event?  -PIER_EDESC. */
int pier__sync_check_word(const struct pier_mmap *mmap);

/* Serve other processes no longer, if it does; and free what that needed. */
void pier__sync_served_end(struct pier_sync_event *event);
void pier__sync_served_free(struct pier_sync_event *event);

/*
 * Create the event whose word is the remote @mmap, which is destroyed with it,
 * also on an error.  Errors: as pier_sync_event_create_from_export().
 */
int pier__sync_import(struct pier_mmap *mmap, struct pier_sync_event **ret);

/* Free it; its context is idle. */
void pier__sync_free(struct pier_sync_event *event);

#endif
