/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_LOCAL_BUF_H
#define PIER_OPS_LOCAL_BUF_H

#include <stdbool.h>

#include "mem/access.h"
#include "mem/buf_impl.h"

/*
 * Buffers of tasks that the CPU carries out.  From submit until completion the
 * task holds a reference to the chain; checks come at the completion.
 */

/* The chain of @buf; NULL: it was put, or there is none. */
static inline struct pier_buf *pier__local_chain(const struct pier_buf *buf)
{
	return buf && buf->mmap ? buf->first : NULL;
}

/* The same, referenced, and used by the engine of @guard. */
static inline struct pier_buf *pier__local_hold(struct pier_buf *buf,
						struct pier__guard *guard)
{
	struct pier_buf *first = pier__local_chain(buf);

	if (first)
		first->refs++;
	pier__buf_bind(first, guard);
	return first;
}

/* @held NULL: nothing is held. */
static inline void pier__local_drop(struct pier_buf *held)
{
	if (held && !--held->refs)
		pier__buf_free_chain(held);
}

/* May the memory of @mmap be written? */
static inline bool pier__local_writable(const struct pier_mmap *mmap)
{
	return pier__access_writes(mmap->cfg.access);
}

/*
 * Fail because it may not: @task would write to it, as its @name,
 * "destination".  Returns -EACCES.
 */
int pier__local_read_only(const struct pier_mmap *mmap, const char *task,
			  const char *name) __attribute__((cold));

/*
 * The usual case: are @src and @dst one buffer each, which the CPU can use, and
 * is @dst writable?  Stores their stamps: as long as they have the same ones
 * they still are.
 */
bool pier__local_is_plain(const struct pier_buf *src,
			  const struct pier_buf *dst, uint64_t stamp[2]);

static inline bool pier__local_is_same(const struct pier_buf *src,
				       const struct pier_buf *dst,
				       const uint64_t stamp[2])
{
	return src->stamp == stamp[0] && dst->stamp == stamp[1];
}

/*
 * Is @buf, of which @held is held, the first buffer of a chain of local memory
 * that the CPU can use?
 * Errors: -EINVAL, with @task and @name, "source", in the message.
 */
int pier__local_check(const struct pier_buf *buf, const struct pier_buf *held,
		      const char *task, const char *name);

/* The same as a question, without a message. */
bool pier__local_usable(const struct pier_buf *buf,
			const struct pier_buf *held);

/*
 * May @len bytes be appended to the chain @dst?
 * Errors: -EMSGSIZE, more than the tail space; -EACCES, not writable.
 */
int pier__local_check_tail(const struct pier_buf *dst, size_t len,
			   const char *task);

/* Append @len bytes to the chain @dst, which has so much tail space. */
void pier__local_append(struct pier_buf *dst, const void *bytes, size_t len);

#endif
