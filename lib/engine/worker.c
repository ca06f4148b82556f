/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/thread.h"
#include "engine/worker.h"

/* The next task; NULL: the thread ends.  @lock is held. */
static struct pier_task *next_task(struct pier__worker *worker)
{
	while (!worker->waiting.first && !worker->stop)
		pthread_cond_wait(&worker->more, &worker->lock);
	return worker->waiting.first ? pier__task_queue_pop(&worker->waiting) :
				       NULL;
}

/* An engine that does not sleep looks by itself. */
static void finish(struct pier__worker *worker, struct pier_task *task)
{
	task->next = atomic_load_explicit(&worker->finished,
					  memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&worker->finished, &task->next,
					     task))
		;
	if (atomic_load(&worker->pe->armed))
		pier__pe_nudge(worker->pe);
}

static void *worker_main(void *arg)
{
	struct pier__worker *worker = arg;
	struct pier_task *task;

	pthread_mutex_lock(&worker->lock);
	while ((task = next_task(worker))) {
		pthread_mutex_unlock(&worker->lock);
		worker->run(task, worker->arg);
		finish(worker, task);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static void free_locks(struct pier__worker *worker)
{
	pthread_cond_destroy(&worker->more);
	pthread_mutex_destroy(&worker->lock);
}

int pier__worker_start(struct pier__worker *worker, struct pier_pe *pe,
		       void (*run)(struct pier_task *task, void *arg),
		       void *arg)
{
	int err;

	worker->pe = pe;
	worker->run = run;
	worker->arg = arg;
	worker->stop = false;
	atomic_init(&worker->finished, NULL);
	pier__task_queue_init(&worker->waiting);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->more, NULL);
	err = pier__thread_start(&worker->thread, worker_main, worker,
				 "worker");
	if (err)
		free_locks(worker);
	return err;
}

void pier__worker_stop(struct pier__worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->more);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	free_locks(worker);
}

struct pier_task *pier__worker_in_order(struct pier_task *last)
{
	struct pier_task *task = last, *first = NULL;

	while (task) {
		struct pier_task *before = task->next;

		task->next = first;
		first = task;
		task = before;
	}
	return first;
}

struct pier_task *pier__worker_recall(struct pier__worker *worker)
{
	struct pier_task *first;

	pthread_mutex_lock(&worker->lock);
	first = worker->waiting.first;
	pier__task_queue_init(&worker->waiting);
	pthread_mutex_unlock(&worker->lock);
	return first;
}

bool pier__worker_recall_one(struct pier__worker *worker,
			     struct pier_task *task)
{
	bool recalled;

	pthread_mutex_lock(&worker->lock);
	recalled = pier__task_queue_take_out(&worker->waiting, task);
	pthread_mutex_unlock(&worker->lock);
	return recalled;
}
