/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "dropin/cma/cma.h"
#include "t/lib/tap.h"

/* A process that is forked while a thread opens the devices of rdma_cm. */
#define LIMIT_S 20

static atomic_bool stops;	/* the thread, while it opens a device */
static sem_t stopped, go_on;

/*
 * In the place of the C library's, also for the libraries.  ThreadSanitizer
 * calls it before it knows the thread.
 */
__attribute__((no_sanitize("thread")))
void *calloc(size_t count, size_t size)
{
	static void *(*volatile allocate)(size_t) = malloc;
	void *ret;

	if (size == sizeof(struct cma_device) && stops) {
		stops = false;
		sem_post(&stopped);
		while (sem_wait(&go_on))
			;
	}
	if (size && count > SIZE_MAX / size)
		return NULL;
	ret = allocate(count * size);
	return ret ? memset(ret, 0, count * size) : NULL;
}

/* How many devices there are. */
static int count(void)
{
	struct ibv_context **list;
	int n = 0;

	list = rdma_get_devices(&n);
	rdma_free_devices(list);
	return n;
}

static void *open_all(void *arg)
{
	*(int *)arg = count();
	return NULL;
}

static void a_child_opens_devices_while_its_parent_does(void)
{
	pthread_t thread;
	int n = 0, status = -1;
	pid_t pid;

	sem_init(&stopped, 0, 0);
	sem_init(&go_on, 0, 0);
	stops = true;
	if (!IS(pthread_create(&thread, NULL, open_all, &n), 0))
		return;
	while (sem_wait(&stopped))
		;
	pid = fork();
	if (!pid) {
		alarm(LIMIT_S);
		_exit(count() ? 3 : 1);
	}
	IS(waitpid(pid, &status, 0), pid);
	if (OK(WIFEXITED(status)))
		IS(WEXITSTATUS(status), 3);
	sem_post(&go_on);
	IS(pthread_join(thread, NULL), 0);
	OK(n > 0);
}

int main(void)
{
	TEST(a_child_opens_devices_while_its_parent_does);
	return tap_done();
}
