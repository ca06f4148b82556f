/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MEM_BUF_IMPL_H
#define PIER_MEM_BUF_IMPL_H

#include <pier/buf.h>

#include "core/guard.h"
#include "mem/mmap_impl.h"

#define PIER__BUF_REFS_MAX 65535u

struct pier_buf {
	struct pier_mmap *mmap;		/* held; NULL: the buffer is free */
	uintptr_t head, data;		/* addresses, ours or the peer's */
	size_t len, data_len;
	struct pier_buf *next;		/* in the chain, or in the free list */
	struct pier_buf *first;		/* of the chain; itself if it is */
	struct pier_buf_inventory *inv;
	uint32_t refs;			/* of the first only */
	bool awaited;			/* a peer may write a reply to its */
					/* tail space */
	uint64_t stamp;			/* new when it is taken, moved, */
					/* chained or given back: with the */
					/* same one only data_len may be */
					/* another */
	struct pier__guard *guard;	/* of the engine of its last task; */
					/* NULL: none, or no debug build */
};

/* Bytes behind the data. */
static inline size_t pier__buf_tail_len(const struct pier_buf *buf)
{
	return buf->len - (size_t)(buf->data - buf->head) - buf->data_len;
}

/* Where they begin. */
static inline uintptr_t pier__buf_tail(const struct pier_buf *buf)
{
	return buf->data + buf->data_len;
}

/* The memory of a buffer. */
struct pier__range {
	void *addr;
	size_t len;
};

/*
 * At most @max buffers of @mmap, of all inventories; those of other threads may
 * be taken and put meanwhile.  Returns how many.  Any thread.
 */
size_t pier__bufs_of(const struct pier_mmap *mmap, struct pier__range *ret,
		     size_t max);

/* Which of its buffers @inv gives next; 0 if none is free. */
size_t pier__buf_next_index(const struct pier_buf_inventory *inv);

/* Bind @buf to @guard by @call, or unbind it: NULL. */
static inline void pier__buf_guard_by(struct pier_buf *buf,
				      struct pier__guard *guard,
				      const char *call)
{
	const struct pier__used used = { .at = (const void *)buf->head,
					 .len = buf->len };

	pier__guard_bind(&buf->guard, guard, call, &used);
}

/* Is the thread of its engine free to make @call? -EDEADLK: no, logged. */
static inline int pier__buf_check_thread(const struct pier_buf *buf,
					 const char *call)
{
	const struct pier__used used = { .at = (const void *)buf->head,
					 .len = buf->len };
	int err = pier__guard_enter_with(buf->guard, call, &used);

	if (!err)
		pier__guard_leave(buf->guard);
	return err;
}

/*
 * A task of an engine uses the chain @buf: only that engine's thread may use it
 * until it is put, which a debug build checks.
 */
static inline void pier__buf_bind(struct pier_buf *buf,
				  struct pier__guard *guard)
{
#ifdef PIER_DEBUG
	for (; buf; buf = buf->next)
		pier__buf_guard_by(buf, guard, "pier_task_submit");
#else
	(void)buf;
	(void)guard;
#endif
}

/* Mark it as changed. */
void pier__buf_changed(struct pier_buf *buf);

/* The last reference to the chain @buf was dropped: free all of it. */
void pier__buf_free_chain(struct pier_buf *buf);

/* @len bytes were written to the tails of the chain @buf. */
void pier__buf_grow(struct pier_buf *buf, size_t len);

#endif
