/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <pier/pier.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

/*
 * Buffers that another thread uses than that of the engine whose task had
 * them.  Only a debug build detects that; a hand-over is allowed.
 */

#define LEN 64

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_dma *dma;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static struct pier_buf *src, *dst;
static char memory[2 * LEN];

static bool begin(void)
{
	return IS(pier_pe_create(&pe), 0) &&
	       IS(pier_dma_create(dev, &dma), 0) &&
	       IS(pier_ctx_start(pier_dma_ctx(dma), pe), 0) &&
	       IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE,
				&mmap), 0) &&
	       IS(pier_buf_inventory_create(2, &inv), 0) &&
	       IS(pier_buf_by_data(inv, mmap, memory, LEN, &src), 0) &&
	       IS(pier_buf_by_addr(inv, mmap, memory + LEN, LEN, &dst), 0);
}

static void end(void)
{
	pier_dma_destroy(dma);
	pier_pe_destroy(pe);
	pier_buf_put(src);	/* their engine may have been destroyed */
	pier_buf_put(dst);
	IS(pier_buf_inventory_free_count(inv), 2);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
}

static void *copy(void *arg)
{
	struct pier_task *task;

	(void)arg;
	pier_buf_reset(dst);
	IS(pier_dma_task_copy(dma, src, dst, &task), 0);
	IS(pier_task_once(task, LIMIT_MS), 0);
	return NULL;
}

static void buffers_are_handed_over_with_their_engine(void)
{
	pthread_t thread;

	if (!begin())
		return;
	copy(NULL);
	pthread_create(&thread, NULL, copy, NULL);
	pthread_join(thread, NULL);
	copy(NULL);
	IS(pier_buf_data_len(dst), LEN);
	end();
}

#ifdef PIER_DEBUG

static atomic_int held;			/* 1: the owner is in its callback, */
					/* 2: it may leave */
static pid_t owner_tid;
static char logged[512];

static void hold(struct pier_task *task, void *arg)
{
	long long limit = limit_from_now();

	(void)task;
	(void)arg;
	IS(pier_buf_set_data(src, memory, LEN), 0);	/* the owner may */
	atomic_store(&held, 1);
	while (atomic_load(&held) != 2 && limit_nap(limit))
		;
}

static void *own(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "the owner");
	owner_tid = gettid();
	pier_buf_reset(dst);
	IS(pier_dma_copy(dma, src, dst, hold, NULL), 0);
	while (atomic_load(&held) != 2)
		pier_pe_progress(pe, 0);
	return NULL;
}

static void keep(enum pier_log_level level, const char *area,
		 const char *message, void *arg)
{
	(void)area;
	(void)arg;
	if (level == PIER_LOG_CRITICAL)
		snprintf(logged, sizeof(logged), "%s", message);
}

static void names_all(const char *call, const void *at)
{
	char text[256];

	snprintf(text, sizeof(text), "(%d) makes the call %s (buffer of %d "
		 "bytes at %p) while thread \"the owner\" (%d) is inside "
		 "pier_pe_progress", (int)gettid(), call, LEN, at,
		 (int)owner_tid);
	LIKE(logged, text);
	logged[0] = '\0';
}

static void both_threads_are_named_with_the_buffer(void)
{
	long long limit = limit_from_now();
	pthread_t owner;

	if (!begin())
		return;
	pier_log_set_callback(keep, NULL);
	pthread_create(&owner, NULL, own, NULL);
	while (!atomic_load(&held) && limit_nap(limit))
		;
	IS(pier_buf_set_data(src, memory, 1), -EDEADLK);
	names_all("pier_buf_set_data", pier_buf_head(src));
	IS(pier_buf_ref(src), -EDEADLK);
	names_all("pier_buf_ref", pier_buf_head(src));
	pier_buf_reset(dst);
	names_all("pier_buf_reset", pier_buf_head(dst));
	pier_buf_put(src);
	names_all("pier_buf_put", pier_buf_head(src));
	IS(pier_buf_data_len(src), LEN);
	IS(pier_buf_data_len(dst), LEN);
	atomic_store(&held, 2);
	pthread_join(owner, NULL);
	pier_log_set_callback(NULL, NULL);
	IS(pier_buf_refs(src), 1);
	copy(NULL);		/* they belong to this thread again */
	end();
}

#endif

int main(void)
{
	if (pier_dev_open("soft_lo", &dev))
		return tap_skip_all(pier_last_error());
	TEST(buffers_are_handed_over_with_their_engine);
#ifdef PIER_DEBUG
	TEST(both_threads_are_named_with_the_buffer);
#endif
	pier_dev_close(dev);
	return tap_done();
}
