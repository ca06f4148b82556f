/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/tap.h"

/* What a copy writes, and what it refuses to write. */

#define LEN 65536		/* looked at */
#define BIG (4u << 20)		/* in one buffer */
#define CHAIN 100
#define ROUNDS 200

static struct pier_dev *dev;
static struct copier c;
static uint8_t *want;			/* what dst should hold */
static uint8_t *before;			/* what src held */
static unsigned int seed = 1;

static unsigned int below(unsigned int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void fill(uint8_t *mem)
{
	for (size_t i = 0; i < LEN; i++)
		mem[i] = (uint8_t)below(256);
}

static void fresh(void)
{
	fill(c.src);
	fill(c.dst);
	memcpy(before, c.src, LEN);
	memcpy(want, c.dst, LEN);
}

/* Source and destination hold what they should. */
static bool holds(void)
{
	return OK(!memcmp(c.src, before, LEN)) && OK(!memcmp(c.dst, want, LEN));
}

/* A chain that exists: its parts, in order. */
struct parts {
	struct pier_buf *first, *buf[CHAIN];
	uint8_t *data[CHAIN];
	size_t data_len[CHAIN], tail_len[CHAIN];
	int count;
};

/* One buffer with random head space, data and tail space; its end. */
static uint8_t *add(struct parts *lay, struct pier_mmap *mmap, uint8_t *at)
{
	int i = lay->count++;
	size_t head = below(40), data = below(4) ? below(200) : 0;
	size_t tail = below(4) ? below(200) : 0;

	at += below(30);		/* a gap */
	IS(pier_buf_by_args(c.inv, mmap, at, head + data + tail, at + head,
			    data, &lay->buf[i]), 0);
	lay->data[i] = at + head;
	lay->data_len[i] = data;
	lay->tail_len[i] = tail;
	if (!i)
		lay->first = lay->buf[0];
	else
		IS(pier_buf_chain(lay->first, lay->buf[i]), 0);
	return at + head + data + tail;
}

static void lay_out(struct parts *lay, struct pier_mmap *mmap, uint8_t *mem,
		    int count)
{
	memset(lay, 0, sizeof(*lay));
	while (lay->count < count)
		mem = add(lay, mmap, mem);
}

/* The data of @from, in one piece at @flat; its length. */
static size_t flatten(const struct parts *from, uint8_t *flat)
{
	size_t len = 0;

	for (int i = 0; i < from->count; i++) {
		memcpy(flat + len, from->data[i], from->data_len[i]);
		len += from->data_len[i];
	}
	return len;
}

/* Note in want what belongs into the tails of @to, and how its data grows. */
static size_t expect(struct parts *to, const uint8_t *flat, size_t len)
{
	size_t left = len;

	for (int i = 0; i < to->count; i++) {
		size_t n = left < to->tail_len[i] ? left : to->tail_len[i];
		size_t at = (size_t)(to->data[i] - c.dst) + to->data_len[i];

		memcpy(want + at, flat + len - left, n);
		to->data_len[i] += n;
		left -= n;
	}
	return left;
}

static bool is_laid_out(const struct parts *lay)
{
	bool ok = true;

	for (int i = 0; i < lay->count; i++) {
		ok &= IS(pier_buf_data_len(lay->buf[i]), lay->data_len[i]);
		ok &= OK(pier_buf_data(lay->buf[i]) == lay->data[i]);
	}
	return ok;
}

static size_t tail_of(const struct parts *lay)
{
	size_t len = 0;

	for (int i = 0; i < lay->count; i++)
		len += lay->tail_len[i];
	return len;
}

/* Copy one random layout into another; true: as it should be. */
static bool copy_random(int sources, int destinations)
{
	static uint8_t flat[LEN];
	struct parts from, to;
	size_t len;
	int status;
	bool ok;

	fresh();
	lay_out(&from, c.from, c.src, sources);
	lay_out(&to, c.to, c.dst, destinations);
	len = flatten(&from, flat);
	status = copier_copy(&c, from.first, to.first);
	if (!len)
		ok = IS(status, -EINVAL);
	else if (len > tail_of(&to))
		ok = IS(status, -EMSGSIZE);
	else
		ok = IS(status, 0) && IS(expect(&to, flat, len), 0);
	ok = ok && is_laid_out(&from) && is_laid_out(&to) && holds();
	pier_buf_put(from.first);
	pier_buf_put(to.first);
	return ok;
}

static void a_copy_fills_the_tail_space_and_nothing_else(void)
{
	struct pier_buf *src, *dst;

	fresh();
	src = copier_data(&c, 10, 500);
	if (!IS(pier_buf_by_args(c.inv, c.to, c.dst + 100, 1000, c.dst + 200,
				 50, &dst), 0))
		return;
	IS(copier_copy(&c, src, dst), 0);
	memcpy(want + 250, c.src + 10, 500);
	OK(holds());
	OK(pier_buf_data(dst) == c.dst + 200);
	IS(pier_buf_data_len(dst), 550);
	IS(copier_copy(&c, src, dst), -EMSGSIZE);
	pier_buf_reset(dst);
	IS(copier_copy(&c, src, dst), 0);
	memcpy(want + 200, c.src + 10, 500);
	OK(holds());
	IS(pier_buf_data_len(dst), 500);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void chains_of_any_layout_are_copied(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int at = seed;

		if (!copy_random(1 + (int)below(8), 1 + (int)below(12)))
			tap_note("seed %u", at);
	}
}

static void chains_of_64_and_more_buffers_are_copied(void)
{
	int sizes[][2] = { { 64, 64 }, { 100, 100 }, { 1, 100 }, { 80, 90 } };

	for (size_t i = 0; i < 40; i++)
		copy_random(sizes[i % 4][0], sizes[i % 4][1]);
}

static void the_source_may_be_the_destination(void)
{
	struct pier_buf *buf;

	fresh();
	if (!IS(pier_buf_by_args(c.inv, c.to, c.dst, 300, c.dst + 100, 100,
				 &buf), 0))
		return;
	IS(copier_copy(&c, buf, buf), 0);
	memcpy(want + 200, want + 100, 100);
	OK(holds());
	IS(pier_buf_data_len(buf), 200);
	pier_buf_put(buf);
}

/* A submit that looks at the buffers fails as the copy would. */
static void refused_at_once(struct pier_buf *src, struct pier_buf *dst, int err,
			    const char *text)
{
	struct pier_task *task;

	if (!IS(pier_dma_task_copy(c.dma, src, dst, &task), 0))
		return;
	IS(pier_task_try_submit(task, 0), err);
	LIKE(pier_last_error(), text);
	IS(pier_task_status(task), 0);
	IS(pier_ctx_inflight(c.ctx), 0);
	pier_task_free(task);
}

/* The copy completes with @err and a message that has @text. */
static void refused(struct pier_buf *src, struct pier_buf *dst, int err,
		    const char *text)
{
	size_t grown = dst && pier_buf_mmap(dst) ? pier_buf_data_len(dst) : 0;

	memcpy(want, c.dst, LEN);
	memcpy(before, c.src, LEN);
	IS(copier_copy(&c, src, dst), err);
	LIKE(pier_last_error(), text);
	refused_at_once(src, dst, err, text);
	OK(holds());
	if (dst && pier_buf_mmap(dst))
		IS(pier_buf_data_len(dst), grown);
}

static void a_buffer_that_is_missing_or_empty_is_refused(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 10);
	struct pier_buf *none = copier_data(&c, 0, 0);

	refused(NULL, dst, -EINVAL, "no source");
	refused(src, NULL, -EINVAL, "no destination");
	refused(none, dst, -EINVAL, "has no data");
	pier_buf_put(none);
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_source_longer_than_the_tail_space_is_refused(void)
{
	struct pier_buf *src = copier_data(&c, 0, 11);
	struct pier_buf *dst = copier_tail(&c, 0, 10);

	refused(src, dst, -EMSGSIZE, "11 bytes, the tail space of the "
		"destination is 10");
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void a_buffer_inside_a_chain_is_refused(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *more = copier_data(&c, 20, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 30);
	struct pier_buf *last = copier_tail(&c, 40, 30);

	IS(pier_buf_chain(src, more), 0);
	IS(pier_buf_chain(dst, last), 0);
	refused(more, dst, -EINVAL, "source is not the first of its chain");
	refused(src, last, -EINVAL, "destination is not the first");
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void memory_of_a_peer_is_refused(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10), *far = NULL;
	struct pier_buf *dst = copier_tail(&c, 0, 10);
	struct pier_mmap *mmap, *remote;
	const void *desc;
	size_t len;

	if (!IS(pier_mmap_map(dev, c.dst, LEN, PIER_REMOTE_WRITE |
			      PIER_REMOTE_READ, &mmap), 0) ||
	    !IS(pier_mmap_export(mmap, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	IS(pier_buf_by_args(c.inv, remote, c.dst, 30, c.dst, 10, &far), 0);
	refused(far, dst, -EINVAL, "the source is remote memory");
	refused(src, far, -EINVAL, "the destination is remote memory");
	IS(pier_buf_chain(src, far), 0);
	refused(src, dst, -EINVAL, "the source is remote memory");
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(mmap);
}

/* Copy 10 bytes into memory that was mapped with @access. */
static int copy_into(uint32_t access)
{
	struct pier_buf *src = copier_data(&c, 0, 10), *dst;
	struct pier_mmap *mmap;
	int status;

	if (!IS(pier_mmap_map(dev, c.dst, LEN, access, &mmap), 0) ||
	    !IS(pier_buf_by_addr(c.inv, mmap, c.dst, 20, &dst), 0))
		return 1;
	status = copier_copy(&c, src, dst);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_mmap_destroy(mmap);
	return status;
}

static void memory_without_local_write_is_no_destination(void)
{
	fresh();
	IS(copy_into(PIER_LOCAL_READ), -EACCES);
	LIKE(pier_last_error(), "needs PIER_LOCAL_WRITE");
	IS(copy_into(PIER_REMOTE_READ), -EACCES);
	OK(holds());
	IS(copy_into(0), 0);
	IS(copy_into(PIER_LOCAL_WRITE), 0);
	IS(copy_into(PIER_REMOTE_WRITE), 0);
}

/* What is only read of a chain, or not reached, need not be writable. */
static void only_what_is_written_must_be_writable(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 10);
	struct pier_buf *rest, *whole = copier_data(&c, 10, 10);

	IS(pier_buf_by_addr(c.inv, c.from, c.src + 40, 10, &rest), 0);
	IS(pier_buf_chain(whole, dst), 0);
	IS(pier_buf_chain(whole, rest), 0);
	IS(copier_copy(&c, src, whole), 0);
	refused(src, whole, -EACCES, "needs PIER_LOCAL_WRITE");
	pier_buf_put(whole);
	pier_buf_put(src);
}

static void a_buffer_that_was_put_is_refused(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 10);
	struct pier_buf *old = copier_data(&c, 0, 10);

	pier_buf_put(old);
	refused(old, dst, -EINVAL, "the source was put before");
	refused(src, old, -EINVAL, "the destination was put before");
	pier_buf_put(dst);
	pier_buf_put(src);
}

static void buffers_put_while_submitted_are_copied_and_given_back(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 10);
	struct pier_task *task;

	fresh();
	if (!IS(pier_dma_task_copy(c.dma, src, dst, &task), 0))
		return;
	IS(pier_task_submit(task, 0), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	IS(pier_buf_inventory_free_count(c.inv), COPIER_BUFS - 2);
	IS(copier_wait(&c, task), 0);
	IS(pier_buf_inventory_free_count(c.inv), COPIER_BUFS);
	memcpy(want, c.src, 10);
	OK(holds());
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&c, task), -EINVAL);
	pier_task_free(task);
}

/* A chain of @count buffers of the same memory: any length costs nothing. */
static struct pier_buf *repeat(struct pier_buf *(*take)(struct copier *,
							size_t, size_t),
			       size_t count, size_t rest)
{
	struct pier_buf *first = take(&c, 0, BIG);

	while (--count)
		IS(pier_buf_chain(first, take(&c, 0, BIG)), 0);
	if (rest)
		IS(pier_buf_chain(first, take(&c, 0, rest)), 0);
	return first;
}

static void lengths_are_allowed_up_to_the_maximum(void)
{
	const size_t count = PIER_DMA_MAX / BIG;
	struct pier_buf_inventory *inv = c.inv;
	struct pier_buf *src, *over, *dst;

	IS(pier_buf_inventory_create(3 * count + 2, &c.inv), 0);
	src = repeat(copier_data, count, 0);
	over = repeat(copier_data, count, 1);
	dst = repeat(copier_tail, count, 1);
	refused(over, dst, -EMSGSIZE, "1073741825 bytes, at most 1073741824");
	IS(copier_copy(&c, src, dst), 0);
	IS(pier_buf_chain_data_len(dst), PIER_DMA_MAX);
	OK(!memcmp(c.src, c.dst, BIG));
	pier_buf_put(src);
	pier_buf_put(over);
	pier_buf_put(dst);
	pier_buf_inventory_destroy(c.inv);
	c.inv = inv;
}

static void buffers_of_a_task_are_changed_between_submits(void)
{
	struct pier_buf *src = copier_data(&c, 0, 10);
	struct pier_buf *other = copier_data(&c, 100, 10);
	struct pier_buf *dst = copier_tail(&c, 0, 20);
	struct pier_task *task;

	fresh();
	if (!IS(pier_dma_task_copy(c.dma, src, dst, &task), 0))
		return;
	IS(pier_task_submit(task, 0), 0);
	IS(pier_dma_task_set_bufs(task, other, dst), -EBUSY);
	IS(copier_wait(&c, task), 0);
	IS(pier_dma_task_set_bufs(task, other, dst), 0);
	IS(pier_task_try_submit(task, 0), 0);
	IS(pier_task_try_submit(task, 0), -EBUSY);
	IS(copier_wait(&c, task), 0);
	memcpy(want, c.src, 10);
	memcpy(want + 10, c.src + 100, 10);
	OK(holds());
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(other);
	pier_buf_put(src);
}

static void a_task_copies_what_became_of_its_buffers(void)
{
	struct pier_buf *first, *src, *dst;
	struct pier_task *task;

	first = copier_data(&c, 0, 10);
	src = copier_data(&c, 10, 10);
	dst = copier_tail(&c, 0, LEN);
	IS(pier_dma_task_copy(c.dma, src, dst, &task), 0);
	for (size_t len = 10; len <= 20; len += 10) {
		IS(pier_task_submit(task, 0), 0);
		IS(copier_wait(&c, task), 0);
		IS(pier_buf_data_len(dst), len);
	}
	IS(pier_buf_chain(first, src), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&c, task), -EINVAL);
	LIKE(pier_last_error(), "source is not the first of its chain");
	IS(pier_buf_data_len(dst), 20);
	IS(pier_dma_task_set_bufs(task, first, dst), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&c, task), 0);
	IS(pier_buf_data_len(dst), 40);
	pier_task_free(task);
	pier_buf_put(first);
	pier_buf_put(dst);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	want = calloc(1, LEN);
	before = calloc(1, LEN);
	if (!copier_open(&c, dev, NULL, BIG))
		return tap_done();
	TEST(a_copy_fills_the_tail_space_and_nothing_else);
	TEST(chains_of_any_layout_are_copied);
	TEST(chains_of_64_and_more_buffers_are_copied);
	TEST(the_source_may_be_the_destination);
	TEST(a_buffer_that_is_missing_or_empty_is_refused);
	TEST(a_source_longer_than_the_tail_space_is_refused);
	TEST(a_buffer_inside_a_chain_is_refused);
	TEST(memory_of_a_peer_is_refused);
	TEST(memory_without_local_write_is_no_destination);
	TEST(only_what_is_written_must_be_writable);
	TEST(a_buffer_that_was_put_is_refused);
	TEST(buffers_put_while_submitted_are_copied_and_given_back);
	TEST(lengths_are_allowed_up_to_the_maximum);
	TEST(buffers_of_a_task_are_changed_between_submits);
	TEST(a_task_copies_what_became_of_its_buffers);
	copier_close(&c);
	free(want);
	free(before);
	pier_dev_close(dev);
	return tap_done();
}
