/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory keys: the lock-free table, and the check of key, bounds and access. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/random.h"
#include "fabric/soft/rc/mr.h"

/*
 * Open addressing, a power of two of slots.  A slot is empty, holds a region,
 * or held one that was removed (GONE).  A full array is replaced by a new one.
 * A user may still read the old array: it is freed after the lock of each user
 * was taken and released once.
 */
#define SLOTS_MIN 64

struct slots {
	struct slots *retired;	/* older ones, to be freed */
	size_t mask;
	size_t used;		/* regions and GONE */
	_Atomic(struct soft_mr *) slot[];
};

struct soft_mr_table {
	_Atomic(struct slots *) slots;
	pthread_mutex_t slots_lock;	/* writers of slots; held briefly */
	size_t count;			/* regions */
	struct slots *retired;
	pthread_mutex_t users_lock;	/* the list; taken before theirs */
	struct pier__list users;
};

static struct soft_mr gone;
#define GONE (&gone)

static struct slots *slots_new(size_t size)
{
	struct slots *slots;

	slots = calloc(1, sizeof(*slots) + size * sizeof(*slots->slot));
	if (slots)
		slots->mask = size - 1;
	return slots;
}

int pier__soft_mr_table_create(struct soft_mr_table **ret)
{
	struct soft_mr_table *table = calloc(1, sizeof(*table));
	struct slots *slots = slots_new(SLOTS_MIN);

	if (!table || !slots) {
		free(slots);
		free(table);
		return pier__fail(-ENOMEM, "no memory for the table of keys");
	}
	atomic_init(&table->slots, slots);
	pthread_mutex_init(&table->slots_lock, NULL);
	pthread_mutex_init(&table->users_lock, NULL);
	pier__list_init(&table->users);
	*ret = table;
	return 0;
}

static void retired_free(struct slots *slots)
{
	struct slots *older;

	for (; slots; slots = older) {
		older = slots->retired;
		free(slots);
	}
}

void pier__soft_mr_table_destroy(struct soft_mr_table *table)
{
	if (!table)
		return;
	retired_free(table->retired);
	free(atomic_load(&table->slots));
	pthread_mutex_destroy(&table->users_lock);
	pthread_mutex_destroy(&table->slots_lock);
	free(table);
}

void pier__soft_mr_join(struct soft_mr_table *table, struct soft_mr_user *user)
{
	pthread_mutex_lock(&table->users_lock);
	pier__list_add(&table->users, &user->link);
	pthread_mutex_unlock(&table->users_lock);
}

void pier__soft_mr_leave(struct soft_mr_table *table, struct soft_mr_user *user)
{
	pthread_mutex_lock(&table->users_lock);
	pier__list_del(&user->link);
	pthread_mutex_unlock(&table->users_lock);
}

/* Keys are random: they are their own hash. */
static struct soft_mr *lookup(const struct soft_mr_table *table, uint32_t key)
{
	const struct slots *slots = atomic_load_explicit(&table->slots,
							 memory_order_acquire);
	struct soft_mr *mr;
	size_t i;

	for (i = key & slots->mask;; i = (i + 1) & slots->mask) {
		mr = atomic_load_explicit(&slots->slot[i],
					  memory_order_acquire);
		if (!mr)
			return NULL;
		if (mr != GONE && mr->mr.rkey == key)
			return mr;
	}
}

static void slots_put(struct slots *slots, struct soft_mr *mr)
{
	size_t i = mr->mr.rkey & slots->mask;

	while (atomic_load_explicit(&slots->slot[i], memory_order_relaxed))
		i = (i + 1) & slots->mask;
	atomic_store_explicit(&slots->slot[i], mr, memory_order_release);
	slots->used++;
}

/* Make space for one more: at most three quarters may be used. */
static int slots_fit(struct soft_mr_table *table)
{
	struct slots *old = atomic_load(&table->slots), *new;
	size_t size = SLOTS_MIN, i;
	struct soft_mr *mr;

	if ((old->used + 1) * 4 <= (old->mask + 1) * 3)
		return 0;
	while (size < (table->count + 1) * 2)
		size *= 2;
	new = slots_new(size);
	if (!new)
		return pier__fail(-ENOMEM, "no memory for %zu keys", size);
	for (i = 0; i <= old->mask; i++) {
		mr = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
		if (mr && mr != GONE)
			slots_put(new, mr);
	}
	atomic_store_explicit(&table->slots, new, memory_order_release);
	old->retired = table->retired;
	table->retired = old;
	return 0;
}

static uint32_t key_pick(const struct soft_mr_table *table)
{
	uint32_t key;

	do
		pier__random(&key, sizeof(key));
	while (!key || lookup(table, key));
	return key;
}

int pier__soft_mr_add(struct soft_mr_table *table, struct soft_mr *mr)
{
	int err;

	pthread_mutex_lock(&table->slots_lock);
	err = slots_fit(table);
	if (!err) {
		mr->mr.rkey = key_pick(table);
		mr->mr.lkey = mr->mr.rkey;
		slots_put(atomic_load(&table->slots), mr);
		table->count++;
	}
	pthread_mutex_unlock(&table->slots_lock);
	return err;
}

/* With the lock. */
static void slots_take(struct soft_mr_table *table, struct soft_mr *mr)
{
	struct slots *slots = atomic_load(&table->slots);
	size_t i = mr->mr.rkey & slots->mask;

	while (atomic_load_explicit(&slots->slot[i], memory_order_relaxed) !=
	       mr)
		i = (i + 1) & slots->mask;
	atomic_store_explicit(&slots->slot[i], GONE, memory_order_release);
	table->count--;
}

/* Remove @mr.  Returns the retired arrays, no longer reachable. */
static struct slots *slots_remove(struct soft_mr_table *table,
				  struct soft_mr *mr)
{
	struct slots *retired;

	pthread_mutex_lock(&table->slots_lock);
	slots_take(table, mr);
	retired = table->retired;
	table->retired = NULL;
	pthread_mutex_unlock(&table->slots_lock);
	return retired;
}

void pier__soft_mr_remove(struct soft_mr_table *table, struct soft_mr *mr)
{
	struct slots *retired = slots_remove(table, mr);
	struct pier__list *pos, *tmp;
	struct soft_mr_user *user;

	pthread_mutex_lock(&table->users_lock);
	PIER__LIST_EACH(pos, tmp, &table->users) {
		user = pier__container_of(pos, struct soft_mr_user, link);
		atomic_fetch_add(&user->waiters, 1);
		pthread_mutex_lock(user->lock);
		if (user->revoke)
			user->revoke(user->arg, mr);
		pthread_mutex_unlock(user->lock);
		atomic_fetch_sub(&user->waiters, 1);
	}
	pthread_mutex_unlock(&table->users_lock);
	retired_free(retired);
}

uint32_t pier__soft_mr_new_key(struct soft_mr_table *table)
{
	uint32_t key;

	pthread_mutex_lock(&table->slots_lock);
	key = key_pick(table);
	pthread_mutex_unlock(&table->slots_lock);
	return key;
}

/* No other thread looks a key up: nothing reads the retired arrays. */
int pier__soft_mr_show(struct soft_mr_table *table, struct soft_mr *mr,
		       uint32_t key)
{
	int err;

	pthread_mutex_lock(&table->slots_lock);
	err = lookup(table, key) ? -EEXIST : slots_fit(table);
	retired_free(table->retired);
	table->retired = NULL;
	if (!err) {
		mr->mr.rkey = key;
		slots_put(atomic_load(&table->slots), mr);
		table->count++;
	}
	pthread_mutex_unlock(&table->slots_lock);
	return err;
}

void pier__soft_mr_hide(struct soft_mr_table *table, struct soft_mr *mr)
{
	pthread_mutex_lock(&table->slots_lock);
	slots_take(table, mr);
	pthread_mutex_unlock(&table->slots_lock);
}

struct soft_mr *pier__soft_mr_of(const struct soft_mr_table *table,
				 uint32_t key)
{
	return lookup(table, key);
}

const struct soft_mr *pier__soft_mr_find(const struct soft_mr_table *table,
					 uint32_t key, uint64_t addr,
					 size_t len, int access)
{
	const struct soft_mr *mr = lookup(table, key);

	if (!mr || (mr->access & access) != access)
		return NULL;
	if (addr < mr->addr || len > mr->len || addr - mr->addr > mr->len - len)
		return NULL;
	return mr;
}
