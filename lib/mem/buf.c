/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/list.h"
#include "core/random.h"
#include "mem/buf_impl.h"

/* Buffers that an inventory was given later. */
struct extent {
	struct extent *next;
	size_t count;
	struct pier_buf bufs[];
};

struct pier_buf_inventory {
	struct pier_buf *free;		/* list through next */
	size_t count, free_count;
	struct extent *extents;
	bool destroyed;			/* freed with its last buffer */
	uint64_t stamp;			/* the last one given */
	struct pier__list link;		/* in all */
	size_t first_count;		/* of bufs */
	struct pier_buf bufs[];
};

/* All inventories, to find the buffers of an mmap; and their extents. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pier__list all = { &all, &all };

/* @count buffers behind @size bytes, all zero.  NULL, reported: no memory. */
static void *allocate(size_t size, size_t count)
{
	const size_t most = (SIZE_MAX - size) / sizeof(struct pier_buf);
	void *memory;

	if (count > most) {
		pier__fail(-ENOMEM, "inventory: %zu buffers, at most %zu in "
			   "any memory", count, most);
		return NULL;
	}
	memory = calloc(1, size + count * sizeof(struct pier_buf));
	if (!memory)
		pier__fail(-ENOMEM, "inventory: no memory for %zu buffers",
			   count);
	return memory;
}

/* @count new buffers of @inv, of which the first is taken first. */
static void add(struct pier_buf_inventory *inv, struct pier_buf *bufs,
		size_t count)
{
	for (size_t i = count; i-- > 0;) {
		bufs[i].inv = inv;
		bufs[i].next = inv->free;
		inv->free = &bufs[i];
	}
	inv->count += count;
	inv->free_count += count;
}

int pier_buf_inventory_create(size_t count, struct pier_buf_inventory **ret)
{
	struct pier_buf_inventory *inv = allocate(sizeof(*inv), count);

	if (!inv)
		return -ENOMEM;
	inv->stamp = pier__random64();
	inv->first_count = count;
	add(inv, inv->bufs, count);
	pthread_mutex_lock(&lock);
	pier__list_add(&all, &inv->link);
	pthread_mutex_unlock(&lock);
	*ret = inv;
	return 0;
}

int pier_buf_inventory_expand(struct pier_buf_inventory *inv, size_t count)
{
	struct extent *extent;

	if (!inv)
		return pier__no_object(__func__);
	extent = allocate(sizeof(*extent), count);
	if (!extent)
		return -ENOMEM;
	extent->count = count;
	pthread_mutex_lock(&lock);
	extent->next = inv->extents;
	inv->extents = extent;
	pthread_mutex_unlock(&lock);
	add(inv, extent->bufs, count);
	return 0;
}

static void free_unused(struct pier_buf_inventory *inv)
{
	struct extent *extent;

	if (!inv->destroyed || inv->free_count != inv->count)
		return;
	pthread_mutex_lock(&lock);
	pier__list_del(&inv->link);
	pthread_mutex_unlock(&lock);
	while ((extent = inv->extents)) {
		inv->extents = extent->next;
		free(extent);
	}
	free(inv);
}

void pier_buf_inventory_destroy(struct pier_buf_inventory *inv)
{
	if (!inv)
		return;
	inv->destroyed = true;
	free_unused(inv);
}

size_t pier_buf_inventory_count(const struct pier_buf_inventory *inv)
{
	if (!inv)
		return 0;
	return inv->count;
}

size_t pier_buf_inventory_free_count(const struct pier_buf_inventory *inv)
{
	if (!inv)
		return 0;
	return inv->free_count;
}

size_t pier__buf_next_index(const struct pier_buf_inventory *inv)
{
	return inv->free ? (size_t)(inv->free - inv->bufs) : 0;
}

void pier__buf_changed(struct pier_buf *buf)
{
	buf->stamp = ++buf->inv->stamp;
}

/* Only the owner writes, while pier__bufs_of() may read. */
static void set_memory(struct pier_buf *buf, struct pier_mmap *mmap,
		       void *addr, size_t len)
{
	__atomic_store_n(&buf->head, (uintptr_t)addr, __ATOMIC_RELAXED);
	__atomic_store_n(&buf->len, len, __ATOMIC_RELAXED);
	__atomic_store_n(&buf->mmap, mmap, __ATOMIC_RELAXED);
}

/* Those of @mmap among @bufs, at most @max.  Returns how many. */
static size_t find(const struct pier_buf *bufs, size_t count,
		   const struct pier_mmap *mmap, struct pier__range *ret,
		   size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < count && found < max; i++) {
		const struct pier_buf *buf = &bufs[i];

		if (__atomic_load_n(&buf->mmap, __ATOMIC_RELAXED) != mmap)
			continue;
		ret[found].addr = (void *)__atomic_load_n(&buf->head,
							  __ATOMIC_RELAXED);
		ret[found++].len = __atomic_load_n(&buf->len,
						   __ATOMIC_RELAXED);
	}
	return found;
}

size_t pier__bufs_of(const struct pier_mmap *mmap, struct pier__range *ret,
		     size_t max)
{
	struct pier__list *pos, *tmp;
	size_t n = 0;

	pthread_mutex_lock(&lock);
	PIER__LIST_EACH(pos, tmp, &all) {
		const struct pier_buf_inventory *inv = pier__container_of(
			pos, struct pier_buf_inventory, link);

		n += find(inv->bufs, inv->first_count, mmap, ret + n, max - n);
		for (const struct extent *e = inv->extents; e; e = e->next)
			n += find(e->bufs, e->count, mmap, ret + n, max - n);
	}
	pthread_mutex_unlock(&lock);
	return n;
}

/* Is [@addr, @addr + @len) inside [@base, @base + @size)? */
static bool inside(uintptr_t addr, size_t len, uintptr_t base, size_t size)
{
	return addr >= base && addr - base <= size &&
	       len <= size - (addr - base);
}

int pier_buf_by_args(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *addr, size_t len, void *data, size_t data_len,
		     struct pier_buf **ret)
{
	struct pier_buf *buf;

	if (!inv || !mmap)
		return pier__no_object(__func__);
	buf = inv->free;
	if (!mmap->started)
		return pier__fail(-EINVAL, "buf: its mmap is not started");
	if (!inside((uintptr_t)addr, len, (uintptr_t)mmap->cfg.addr,
		    mmap->cfg.len))
		return pier__fail(-ERANGE, "buf: %zu bytes at %p are outside "
				  "the mmap's %zu at %p", len, addr,
				  mmap->cfg.len, mmap->cfg.addr);
	if (!inside((uintptr_t)data, data_len, (uintptr_t)addr, len))
		return pier__fail(-ERANGE, "buf: %zu bytes of data at %p are "
				  "outside its %zu at %p", data_len, data, len,
				  addr);
	if (!buf)
		return pier__fail(-ENOBUFS, "buf: all %zu of the inventory are "
				  "in use", inv->count);

	inv->free = buf->next;
	inv->free_count--;
	pier__mmap_hold(mmap);
	set_memory(buf, mmap, addr, len);
	buf->data = (uintptr_t)data;
	buf->data_len = data_len;
	buf->next = NULL;
	buf->first = buf;
	buf->refs = 1;
	pier__buf_changed(buf);
	*ret = buf;
	return 0;
}

int pier_buf_by_addr(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *addr, size_t len, struct pier_buf **ret)
{
	return pier_buf_by_args(inv, mmap, addr, len, addr, 0, ret);
}

int pier_buf_by_data(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		     void *data, size_t len, struct pier_buf **ret)
{
	return pier_buf_by_args(inv, mmap, data, len, data, len, ret);
}

int pier_buf_whole(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		   struct pier_buf **ret)
{
	if (!mmap)
		return pier__no_object(__func__);
	return pier_buf_by_data(inv, mmap, mmap->cfg.addr, mmap->cfg.len, ret);
}

int pier_buf_empty(struct pier_buf_inventory *inv, struct pier_mmap *mmap,
		   struct pier_buf **ret)
{
	if (!mmap)
		return pier__no_object(__func__);
	return pier_buf_by_addr(inv, mmap, mmap->cfg.addr, mmap->cfg.len, ret);
}

/* One buffer like @buf, behind @last, which is in the chain @first. */
static int dup_one(struct pier_buf_inventory *inv, const struct pier_buf *buf,
		   struct pier_buf *first, struct pier_buf **last)
{
	struct pier_buf *copy;
	int err = pier_buf_by_args(inv, buf->mmap, (void *)buf->head, buf->len,
				   (void *)buf->data, buf->data_len, &copy);

	if (err)
		return err;
	if (first) {
		(*last)->next = copy;
		copy->first = first;
		copy->refs = 0;
	}
	*last = copy;
	return 0;
}

int pier_buf_dup(struct pier_buf_inventory *inv, const struct pier_buf *buf,
		 struct pier_buf **ret)
{
	struct pier_buf *first = NULL, *last = NULL;
	int err = 0;

	if (!inv)
		return pier__no_object(__func__);
	if (!buf->mmap)
		return pier__fail(-EINVAL, "buf: duplicated after it was put");
	for (; buf && !err; buf = buf->next) {
		err = dup_one(inv, buf, first, &last);
		if (!first)
			first = last;
	}
	if (err)
		pier_buf_put(first);
	else
		*ret = first;
	return err;
}

int pier_buf_ref(struct pier_buf *buf)
{
	int err;

	if (!buf)
		return pier__no_object(__func__);
	err = pier__buf_check_thread(buf, __func__);
	if (err)
		return err;
	if (buf->first != buf)
		return pier__fail(-EPERM, "buf: referenced inside a chain");
	if (buf->refs >= PIER__BUF_REFS_MAX)	/* tasks hold some too */
		return pier__fail(-EOVERFLOW, "buf: more than %u references",
				  PIER__BUF_REFS_MAX);
	buf->refs++;
	return 0;
}

/* One element back to its inventory. */
static void give_back(struct pier_buf *buf)
{
	struct pier_buf_inventory *inv = buf->inv;

	pier__buf_guard_by(buf, NULL, "pier_buf_put");
	pier__mmap_drop(buf->mmap);
	set_memory(buf, NULL, (void *)buf->head, buf->len);
	pier__buf_changed(buf);		/* a task may still point here */
	buf->next = inv->free;
	inv->free = buf;
	inv->free_count++;
	free_unused(inv);
}

void pier__buf_free_chain(struct pier_buf *buf)
{
	while (buf) {
		struct pier_buf *next = buf->next;

		give_back(buf);
		buf = next;
	}
}

void pier_buf_put(struct pier_buf *buf)
{
	if (!buf || pier__buf_check_thread(buf, __func__))
		return;
	if (buf->first != buf) {
		pier__fail(-EPERM, "buf: put inside a chain, its first only");
		return;
	}
	if (--buf->refs == 0)
		pier__buf_free_chain(buf);
}

unsigned int pier_buf_refs(const struct pier_buf *buf)
{
	if (!buf)
		return 0;
	return buf->refs;
}

void *pier_buf_head(const struct pier_buf *buf)
{
	if (!buf)
		return NULL;
	return (void *)buf->head;
}

size_t pier_buf_len(const struct pier_buf *buf)
{
	if (!buf)
		return 0;
	return buf->len;
}

void *pier_buf_data(const struct pier_buf *buf)
{
	if (!buf)
		return NULL;
	return (void *)buf->data;
}

size_t pier_buf_data_len(const struct pier_buf *buf)
{
	if (!buf)
		return 0;
	return buf->data_len;
}

struct pier_mmap *pier_buf_mmap(const struct pier_buf *buf)
{
	if (!buf)
		return NULL;
	return buf->mmap;
}

int pier_buf_set_data(struct pier_buf *buf, void *data, size_t data_len)
{
	int err;

	if (!buf)
		return pier__no_object(__func__);
	err = pier__buf_check_thread(buf, __func__);
	if (err)
		return err;
	if (!inside((uintptr_t)data, data_len, buf->head, buf->len))
		return pier__fail(-ERANGE, "buf: %zu bytes of data at %p are "
				  "outside its %zu at %p", data_len, data,
				  buf->len, (void *)buf->head);
	if (buf->data != (uintptr_t)data)
		pier__buf_changed(buf);
	buf->data = (uintptr_t)data;
	buf->data_len = data_len;
	return 0;
}

void pier_buf_reset(struct pier_buf *buf)
{
	if (!pier__buf_check_thread(buf, __func__))
		buf->data_len = 0;
}
