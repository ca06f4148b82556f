/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "mem/buf_impl.h"

static struct pier_buf *last(struct pier_buf *buf)
{
	while (buf->next)
		buf = buf->next;
	return buf;
}

int pier_buf_chain(struct pier_buf *head, struct pier_buf *tail)
{
	int err;

	if (!head)
		return pier__no_object(__func__);
	err = pier__buf_check_thread(head, __func__);
	if (err)
		return err;
	if (head == tail)
		return pier__fail(-ELOOP, "buf: chained to itself");
	if (head->first != head || tail->first != tail || tail->refs != 1)
		return pier__fail(-EPERM, "buf: chaining takes the first of "
				  "two chains, the second with one reference");

	last(head)->next = tail;
	pier__buf_changed(head);
	for (struct pier_buf *buf = tail; buf; buf = buf->next) {
		buf->first = head;
		buf->refs = 0;
		pier__buf_changed(buf);
	}
	return 0;
}

int pier_buf_unchain(struct pier_buf *head, struct pier_buf *tail)
{
	struct pier_buf *before = head;
	int err;

	if (!head)
		return pier__no_object(__func__);
	err = pier__buf_check_thread(head, __func__);
	if (err)
		return err;
	while (before && before->next != tail)
		before = before->next;
	if (!tail || head->first != head || !before)
		return pier__fail(-EINVAL, "buf: unchained from a chain it is "
				  "not in");

	before->next = NULL;
	pier__buf_changed(head);
	tail->refs = 1;
	for (struct pier_buf *buf = tail; buf; buf = buf->next)
		buf->first = tail;
	return 0;
}

struct pier_buf *pier_buf_next(const struct pier_buf *buf)
{
	if (!buf)
		return NULL;
	return buf->next;
}

size_t pier_buf_chain_len(const struct pier_buf *buf)
{
	size_t n = 0;

	for (; buf; buf = buf->next)
		n++;
	return n;
}

size_t pier_buf_chain_data_len(const struct pier_buf *buf)
{
	size_t n = 0;

	for (; buf; buf = buf->next)
		n += buf->data_len;
	return n;
}

size_t pier_buf_chain_tail_len(const struct pier_buf *buf)
{
	size_t n = 0;

	for (; buf; buf = buf->next)
		n += pier__buf_tail_len(buf);
	return n;
}

void pier__buf_grow(struct pier_buf *buf, size_t len)
{
	for (; buf && len; buf = buf->next) {
		size_t tail = pier__buf_tail_len(buf);
		size_t part = len < tail ? len : tail;

		buf->data_len += part;
		len -= part;
	}
}
