/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_WORKER_H
#define PIER_ENGINE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/task_queue.h"

/*
 * A thread that carries out tasks of one context, in their order, while the
 * engine goes on.  All calls are the engine's thread's.  A task that was passed
 * to it is not the engine's until it is taken or recalled.
 */
struct pier__worker {
	pthread_t thread;
	struct pier_pe *pe;		/* woken for each that is finished */
	void (*run)(struct pier_task *task, void *arg);
	void *arg;
	pthread_mutex_t lock;		/* of the rest */
	pthread_cond_t more;
	struct pier__task_queue waiting, finished;
	bool stop;
	atomic_bool any;		/* finished has some: without lock */
};

/*
 * Start the thread, which calls @run with @arg for each task.
 * Errors: those of pthread_create(3).
 */
int pier__worker_start(struct pier__worker *worker, struct pier_pe *pe,
		       void (*run)(struct pier_task *task, void *arg),
		       void *arg);

/* End the thread; nothing may be waiting. */
void pier__worker_stop(struct pier__worker *worker);

void pier__worker_pass(struct pier__worker *worker, struct pier_task *task);

/* Append to @ret the tasks that are finished; or those not yet begun. */
void pier__worker_take(struct pier__worker *worker,
		       struct pier__task_queue *ret);
void pier__worker_recall(struct pier__worker *worker,
			 struct pier__task_queue *ret);

/* Has pier__worker_take() something to take? */
static inline bool pier__worker_ready(struct pier__worker *worker)
{
	return atomic_load_explicit(&worker->any, memory_order_acquire);
}

#endif
