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

static void *worker_main(void *arg)
{
	struct pier__worker *worker = arg;
	struct pier_task *task;

	pthread_mutex_lock(&worker->lock);
	while ((task = next_task(worker))) {
		pthread_mutex_unlock(&worker->lock);
		worker->run(task, worker->arg);
		pthread_mutex_lock(&worker->lock);
		pier__task_queue_add(&worker->finished, task);
		atomic_store_explicit(&worker->any, true,
				      memory_order_release);
		pier__pe_nudge(worker->pe);
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
	atomic_init(&worker->any, false);
	pier__task_queue_init(&worker->waiting);
	pier__task_queue_init(&worker->finished);
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

void pier__worker_pass(struct pier__worker *worker, struct pier_task *task)
{
	pthread_mutex_lock(&worker->lock);
	pier__task_queue_add(&worker->waiting, task);
	pthread_cond_signal(&worker->more);
	pthread_mutex_unlock(&worker->lock);
}

void pier__worker_take(struct pier__worker *worker,
		       struct pier__task_queue *ret)
{
	if (!pier__worker_ready(worker))
		return;
	pthread_mutex_lock(&worker->lock);
	atomic_store_explicit(&worker->any, false, memory_order_relaxed);
	pier__task_queue_move(ret, &worker->finished);
	pthread_mutex_unlock(&worker->lock);
}

void pier__worker_recall(struct pier__worker *worker,
			 struct pier__task_queue *ret)
{
	pthread_mutex_lock(&worker->lock);
	pier__task_queue_move(ret, &worker->waiting);
	pthread_mutex_unlock(&worker->lock);
}
