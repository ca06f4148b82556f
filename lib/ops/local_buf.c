/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/local_buf.h"

static bool is_one(const struct pier_buf *buf)
{
	return buf && buf->mmap && buf->first == buf && !buf->next &&
	       buf->mmap->cpu;
}

bool pier__local_is_plain(const struct pier_buf *src,
			  const struct pier_buf *dst, uint64_t stamp[2])
{
	if (!is_one(src) || !is_one(dst) || !pier__local_writable(dst->mmap))
		return false;
	stamp[0] = src->stamp;
	stamp[1] = dst->stamp;
	return true;
}

static bool is_local(const struct pier_buf *buf)
{
	for (; buf; buf = buf->next) {
		if (!buf->mmap->cpu)
			return false;
	}
	return true;
}

bool pier__local_usable(const struct pier_buf *buf, const struct pier_buf *held)
{
	return buf && held && buf->mmap && buf->first == buf && is_local(buf);
}

static int not_local(const struct pier_buf *buf, const char *task,
		     const char *name)
{
	while (buf->mmap->cpu)
		buf = buf->next;
	return pier__fail(-EINVAL, "%s: the %s is %s", task, name,
			  buf->mmap->remote ? "remote memory" : "memory of a "
			  "dma-buf, of which the CPU has no address");
}

int pier__local_check(const struct pier_buf *buf, const struct pier_buf *held,
		      const char *task, const char *name)
{
	if (pier__local_usable(buf, held))
		return 0;
	if (!buf)
		return pier__fail(-EINVAL, "%s: no %s", task, name);
	if (!held || !buf->mmap)
		return pier__fail(-EINVAL, "%s: the %s was put before the "
				  "task was submitted", task, name);
	if (buf->first != buf)
		return pier__fail(-EINVAL, "%s: the %s is not the first of "
				  "its chain", task, name);
	return not_local(buf, task, name);
}

int pier__local_read_only(const struct pier_mmap *mmap, const char *task,
			  const char *name)
{
	char access[PIER__ACCESS_TEXT];

	return pier__fail(-EACCES, "%s: the %s is memory with %s, this needs "
			  "PIER_LOCAL_WRITE", task, name,
			  pier__access_text(mmap->cfg.access, access));
}

static int check_access(const struct pier_buf *dst, size_t len,
			const char *task)
{
	for (; dst && len; dst = dst->next) {
		size_t tail = pier__buf_tail_len(dst);

		if (tail && !pier__local_writable(dst->mmap))
			return pier__local_read_only(dst->mmap, task,
						     "destination");
		len -= tail < len ? tail : len;
	}
	return 0;
}

int pier__local_check_tail(const struct pier_buf *dst, size_t len,
			   const char *task)
{
	size_t tail = pier_buf_chain_tail_len(dst);

	if (len > tail)
		return pier__fail(-EMSGSIZE, "%s: %zu bytes, the tail space "
				  "of the destination is %zu", task, len, tail);
	return check_access(dst, len, task);
}

void pier__local_append(struct pier_buf *dst, const void *bytes, size_t len)
{
	const char *at = bytes;

	for (; dst && len; dst = dst->next) {
		size_t tail = pier__buf_tail_len(dst);
		size_t part = len < tail ? len : tail;

		memcpy((void *)pier__buf_tail(dst), at, part);
		dst->data_len += part;
		at += part;
		len -= part;
	}
}
