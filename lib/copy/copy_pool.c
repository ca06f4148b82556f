/* SPDX-License-Identifier: BSD-2-Clause */
#include "copy/copy_pool.h"
#include "core/thread.h"

void pier__copy_pool_init(struct pier__copy_pool *pool)
{
	for (uint32_t i = 0; i < PIER__COPY_THREADS; i++) {
		struct pier__copy_worker *worker = &pool->worker[i];

		worker->started = false;
		sem_init(&worker->begun, 0, 0);
		sem_init(&worker->ended, 0, 0);
	}
}

/* Signals are blocked in workers only. */
static void wait_for(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static void *thread_main(void *arg)
{
	struct pier__copy_worker *worker = arg;

	for (wait_for(&worker->begun); worker->run; wait_for(&worker->begun)) {
		worker->run(worker->arg);
		sem_post(&worker->ended);
	}
	return NULL;
}

bool pier__copy_pool_begin(struct pier__copy_pool *pool, uint32_t i,
			   void (*run)(void *arg), void *arg)
{
	struct pier__copy_worker *worker = &pool->worker[i];

	if (!worker->started)
		worker->started = !pier__thread_start(&worker->thread,
						      thread_main, worker,
						      "copy");
	if (!worker->started)
		return false;
	worker->run = run;
	worker->arg = arg;
	sem_post(&worker->begun);
	return true;
}

void pier__copy_pool_end(struct pier__copy_pool *pool, uint32_t i)
{
	wait_for(&pool->worker[i].ended);
}

void pier__copy_pool_fini(struct pier__copy_pool *pool)
{
	for (uint32_t i = 0; i < PIER__COPY_THREADS; i++) {
		struct pier__copy_worker *worker = &pool->worker[i];

		worker->run = NULL;
		if (worker->started) {
			sem_post(&worker->begun);
			pthread_join(worker->thread, NULL);
		}
		sem_destroy(&worker->begun);
		sem_destroy(&worker->ended);
	}
}
