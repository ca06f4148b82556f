/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_POOL_H
#define PIER_COPY_COPY_POOL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Threads for file operations, each of which runs one job at a time.  A thread
 * starts with its first job.  The calls are one thread's.
 */
#define PIER__COPY_THREADS 3

struct pier__copy_worker {
	pthread_t thread;
	bool started;
	sem_t begun, ended;
	void (*run)(void *arg);		/* NULL: the thread ends */
	void *arg;
};

struct pier__copy_pool {
	struct pier__copy_worker worker[PIER__COPY_THREADS];
};

void pier__copy_pool_init(struct pier__copy_pool *pool);

/* Wait for the threads, none of which has a job. */
void pier__copy_pool_fini(struct pier__copy_pool *pool);

/* Have thread @i, which has no job, run @run with @arg.  False: no thread. */
bool pier__copy_pool_begin(struct pier__copy_pool *pool, uint32_t i,
			   void (*run)(void *arg), void *arg);

/* Wait until thread @i has run its job. */
void pier__copy_pool_end(struct pier__copy_pool *pool, uint32_t i);

#endif
