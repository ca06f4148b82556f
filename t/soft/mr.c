/* SPDX-License-Identifier: BSD-2-Clause */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/soft/rc/mr.h"
#include "t/lib/tap.h"

/* Memory keys of the soft device. */
#define MANY 5000
#define CHANGES 100000
#define GROWTH 65536		/* bytes, of the heap */

static struct soft_mr_table *table;

static struct soft_mr *mr_new(uintptr_t addr, size_t len, int access)
{
	struct soft_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		abort();
	mr->addr = addr;
	mr->len = len;
	mr->access = access;
	IS(pier__soft_mr_add(table, mr), 0);
	return mr;
}

static void mr_end(struct soft_mr *mr)
{
	pier__soft_mr_remove(table, mr);
	memset(mr, 0xee, sizeof(*mr));
	free(mr);
}

static void a_key_is_good_for_its_range_and_rights(void)
{
	struct soft_mr *mr = mr_new(0x1000, 0x100, IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_LOCAL_WRITE);
	uint32_t key = mr->mr.rkey;

	IS(mr->mr.lkey, key);
	OK(pier__soft_mr_find(table, key, 0x1000, 0x100, 0) == mr);
	OK(pier__soft_mr_find(table, key, 0x10ff, 1,
			      IBV_ACCESS_REMOTE_READ) == mr);
	OK(pier__soft_mr_find(table, key, 0x1100, 0, 0) == mr);
	OK(!pier__soft_mr_find(table, key, 0x1000, 0x101, 0));
	OK(!pier__soft_mr_find(table, key, 0x0fff, 2, 0));
	OK(!pier__soft_mr_find(table, key, 0x1100, 1, 0));
	OK(!pier__soft_mr_find(table, key, UINT64_MAX, 2, 0));
	OK(!pier__soft_mr_find(table, key, 0x1080, SIZE_MAX, 0));
	OK(!pier__soft_mr_find(table, key, 0x1000, 1,
			       IBV_ACCESS_REMOTE_WRITE));
	OK(!pier__soft_mr_find(table, key, 0x1000, 1, IBV_ACCESS_REMOTE_READ |
			       IBV_ACCESS_REMOTE_WRITE));
	OK(!pier__soft_mr_find(table, key ^ 1, 0x1000, 1, 0));
	OK(!pier__soft_mr_find(table, 0, 0x1000, 1, 0));
	mr_end(mr);
	OK(!pier__soft_mr_find(table, key, 0x1000, 1, 0));
}

static void there_may_be_many_keys(void)
{
	static struct soft_mr *mr[MANY];
	uint32_t i, found = 0, round;

	for (i = 0; i < MANY; i++)
		mr[i] = mr_new(i, 1, 0);
	for (i = 0; i < MANY; i++)
		found += pier__soft_mr_find(table, mr[i]->mr.rkey, i, 1, 0) ==
			 mr[i];
	IS(found, MANY);
	/* They come and go. */
	for (round = 0; round < 4 * MANY; round++) {
		i = round * 7919 % MANY;
		mr_end(mr[i]);
		mr[i] = mr_new(i, 1, 0);
	}
	for (found = 0, i = 0; i < MANY; i++)
		found += pier__soft_mr_find(table, mr[i]->mr.rkey, i, 1, 0) ==
			 mr[i];
	IS(found, MANY);
	for (i = 0; i < MANY; i++)
		mr_end(mr[i]);
}

/* As a memory window is bound and invalidated, without an end. */
static void keys_that_change_take_no_memory(void)
{
	struct soft_mr mr = { 0 };
	uint32_t i, key, failed = 0;
	size_t before = 0;

	for (i = 0; i < CHANGES; i++) {
		if (i == CHANGES / 10)
			before = mallinfo2().uordblks;
		key = pier__soft_mr_new_key(table);
		if (pier__soft_mr_show(table, &mr, key))
			failed++;
		else
			pier__soft_mr_hide(table, &mr);
	}
	IS(failed, 0);
	if (!OK(mallinfo2().uordblks < before + GROWTH))
		tap_note("%zu bytes, before %zu", mallinfo2().uordblks,
			 before);
}

static struct reader {
	struct soft_mr_user user;
	pthread_mutex_t lock;
	pthread_t thread;
	_Atomic uint64_t found;
	uint64_t wrong;
} reader[2];
static _Atomic uint32_t shown;
static atomic_bool stop;

/* Looks up, under its lock, what is being taken away. */
static void *read_on(void *arg)
{
	struct reader *me = arg;
	const volatile struct soft_mr *mr;
	int i, k;

	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&me->lock);
		for (i = 0; i < 100; i++) {
			mr = pier__soft_mr_find(table, atomic_load(&shown), 5,
						1, 0);
			me->found += mr != NULL;
			for (k = 0; mr && k < 100; k++)
				me->wrong += mr->addr != 5 || mr->len != 1;
		}
		pthread_mutex_unlock(&me->lock);
		if (atomic_load(&me->user.waiters))
			sched_yield();
	}
	return NULL;
}

static void a_key_is_gone_when_it_is_removed(void)
{
	struct soft_mr *mr;
	uint64_t found;
	int i;

	for (i = 0; i < 2; i++) {
		pthread_mutex_init(&reader[i].lock, NULL);
		reader[i].user.lock = &reader[i].lock;
		pier__soft_mr_join(table, &reader[i].user);
		IS(pthread_create(&reader[i].thread, NULL, read_on,
				  &reader[i]), 0);
	}
	/* The memory is freed at once: a reader of it would fail. */
	for (i = 0; i < 1000; i++) {
		mr = mr_new(5, 1, 0);
		atomic_store(&shown, mr->mr.rkey);
		/* Now and then until it is seen. */
		found = reader[i & 1].found;
		while (i % 32 < 2 && reader[i & 1].found == found)
			sched_yield();
		mr_end(mr);
	}
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++) {
		pthread_join(reader[i].thread, NULL);
		pier__soft_mr_leave(table, &reader[i].user);
		tap_note("found %llu times",
			 (unsigned long long)reader[i].found);
		IS(reader[i].wrong, 0);
	}
}

int main(void)
{
	if (pier__soft_mr_table_create(&table))
		return 1;
	TEST(a_key_is_good_for_its_range_and_rights);
	TEST(there_may_be_many_keys);
	TEST(keys_that_change_take_no_memory);
	TEST(a_key_is_gone_when_it_is_removed);
	pier__soft_mr_table_destroy(table);
	return tap_done();
}
