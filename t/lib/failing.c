/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/failing.h"

#define PIECES 4096

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *ptr);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *ptr);

/* What is allocated, in order; under the lock. */
static struct {
	void *ptr;
	size_t size;
} pieces[PIECES];
static size_t live;
static long allocations, frees, fail_at = -1;
static bool happened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Count one; is it the one to fail? */
static bool refuse(void)
{
	bool now;

	pthread_mutex_lock(&lock);
	allocations++;
	now = fail_at == 0;
	if (fail_at >= 0)
		fail_at--;
	happened |= now;
	pthread_mutex_unlock(&lock);
	if (now)
		errno = ENOMEM;
	return now;
}

static void *keep(void *ptr, size_t size)
{
	if (!ptr)
		return NULL;
	pthread_mutex_lock(&lock);
	if (live == PIECES)
		abort();
	pieces[live].ptr = ptr;
	pieces[live++].size = size;
	pthread_mutex_unlock(&lock);
	return ptr;
}

/* Others' memory may be freed here too, and is not counted. */
static void forget(const void *ptr)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = live; i-- > 0;) {
		if (pieces[i].ptr != ptr)
			continue;
		memmove(&pieces[i], &pieces[i + 1],
			(--live - i) * sizeof(pieces[0]));
		frees++;
		break;
	}
	pthread_mutex_unlock(&lock);
}

void *__wrap_malloc(size_t size)
{
	return refuse() ? NULL : keep(__real_malloc(size), size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return refuse() ? NULL : keep(__real_calloc(count, size),
				      count * size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	void *new;

	if (refuse())
		return NULL;
	if (ptr)
		forget(ptr);
	new = __real_realloc(ptr, size);
	return keep(new, size);
}

char *__wrap_strdup(const char *text)
{
	return refuse() ? NULL : keep(__real_strdup(text), strlen(text) + 1);
}

void __wrap_free(void *ptr)
{
	if (ptr)
		forget(ptr);
	__real_free(ptr);
}

void failing_at(long n)
{
	pthread_mutex_lock(&lock);
	fail_at = n;
	happened = false;
	pthread_mutex_unlock(&lock);
}

bool failing_happened(void)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = happened;
	pthread_mutex_unlock(&lock);
	return ret;
}

long failing_allocations(void)
{
	long ret;

	pthread_mutex_lock(&lock);
	ret = allocations;
	pthread_mutex_unlock(&lock);
	return ret;
}

long failing_frees(void)
{
	long ret;

	pthread_mutex_lock(&lock);
	ret = frees;
	pthread_mutex_unlock(&lock);
	return ret;
}

long failing_live(void)
{
	long ret;

	pthread_mutex_lock(&lock);
	ret = (long)live;
	pthread_mutex_unlock(&lock);
	return ret;
}

size_t failing_oldest(void)
{
	size_t ret;

	pthread_mutex_lock(&lock);
	ret = live ? pieces[0].size : 0;
	pthread_mutex_unlock(&lock);
	return ret;
}
