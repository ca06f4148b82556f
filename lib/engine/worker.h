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
	struct pier_pe *pe;		/* woken if it sleeps */
	void (*run)(struct pier_task *task, void *arg);
	void *arg;
	_Atomic(struct pier_task *) finished;	/* the last one first */
	pthread_mutex_t lock;		/* of the rest */
	pthread_cond_t more;
	struct pier__task_queue waiting;
	bool stop;
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

/* The thread sleeps only if nothing is waiting. */
static inline void pier__worker_pass(struct pier__worker *worker,
				     struct pier_task *task)
{
	pthread_mutex_lock(&worker->lock);
	if (!worker->waiting.first)
		pthread_cond_signal(&worker->more);
	pier__task_queue_add(&worker->waiting, task);
	pthread_mutex_unlock(&worker->lock);
}

/* The finished tasks up to @last, in their order. */
struct pier_task *pier__worker_in_order(struct pier_task *last);

/*
 * Take the tasks that are finished, or those not yet begun, in their order,
 * linked by their next; NULL: none.  Mostly one is finished.
 */
static inline struct pier_task *pier__worker_take(struct pier__worker *worker)
{
	struct pier_task *last = atomic_exchange(&worker->finished, NULL);

	return last && last->next ? pier__worker_in_order(last) : last;
}

struct pier_task *pier__worker_recall(struct pier__worker *worker);

/* Take @task if it is not yet begun; false: it is, or has finished. */
bool pier__worker_recall_one(struct pier__worker *worker,
			     struct pier_task *task);

/* Has pier__worker_take() something to take? */
static inline bool pier__worker_ready(struct pier__worker *worker)
{
	return atomic_load(&worker->finished);
}

#endif
