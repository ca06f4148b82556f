/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <pier/pier.h>

#include "t/lib/tap.h"

/* Buffer pools: an mmap cut into elements. */

#define SIZE 1024

static char memory[SIZE] __attribute__((aligned(64)));
static struct pier_dev *dev;
static struct pier_mmap *mmap;

/* The pool of @count elements of @len bytes; NULL, and the error in *err. */
static struct pier_buf_pool *pool_of(size_t count, size_t len, size_t align,
				     int *err)
{
	struct pier_buf_pool_config cfg = {
		.size = sizeof(cfg), .count = count, .len = len,
		.align = align,
	};
	struct pier_buf_pool *pool = NULL;

	*err = pier_buf_pool_create(mmap, &cfg, &pool);
	return pool;
}

static bool overlap(const struct pier_buf *a, const struct pier_buf *b)
{
	const char *one = pier_buf_head(a), *two = pier_buf_head(b);

	return one < two + pier_buf_len(b) && two < one + pier_buf_len(a);
}

static void check_elements(struct pier_buf *const *buf, size_t n, size_t len,
			   size_t align)
{
	for (size_t i = 0; i < n; i++) {
		const char *head = pier_buf_head(buf[i]);

		IS(pier_buf_len(buf[i]), len);
		IS(pier_buf_data_len(buf[i]), 0);
		OK(pier_buf_data(buf[i]) == head);
		IS((uintptr_t)head % align, 0);
		OK(head >= memory && head + len <= memory + SIZE);
		for (size_t k = 0; k < i; k++)
			OK(!overlap(buf[i], buf[k]));
	}
}

static void elements_are_apart_aligned_and_given_once(void)
{
	struct pier_buf *buf[8] = { 0 }, *more = NULL;
	struct pier_buf_pool *pool;
	int err;

	pool = pool_of(8, 100, 32, &err);
	if (!IS(err, 0))
		return;
	IS(pier_buf_pool_count(pool), 8);
	for (int i = 0; i < 8; i++)
		IS(pier_buf_pool_take(pool, &buf[i]), 0);
	check_elements(buf, 8, 100, 32);
	IS(pier_buf_pool_free_count(pool), 0);
	IS(pier_buf_pool_take(pool, &more), -ENOBUFS);
	OK(!more);
	more = buf[3];
	pier_buf_put(buf[3]);
	IS(pier_buf_pool_free_count(pool), 1);
	IS(pier_buf_pool_take(pool, &buf[3]), 0);
	OK(buf[3] == more);
	check_elements(buf, 8, 100, 32);
	for (int i = 0; i < 8; i++)
		pier_buf_put(buf[i]);
	IS(pier_buf_pool_free_count(pool), 8);
	pier_buf_pool_destroy(pool);
}

static void a_pool_fills_its_memory_to_the_last_byte(void)
{
	static const struct {
		size_t count, len, align;
		int err;
	} cases[] = {
		{ 1, SIZE, 0, 0 }, { 1, SIZE + 1, 0, -ERANGE },
		{ SIZE, 1, 1, 0 }, { SIZE + 1, 1, 1, -ERANGE },
		{ 16, 64, 64, 0 }, { 17, 64, 64, -ERANGE },
		{ 16, 33, 64, 0 }, { 17, 33, 64, -ERANGE },
		{ 1, 512, 512, 0 },
		{ SIZE_MAX, SIZE_MAX, 1, -ERANGE },
		{ SIZE_MAX, 1, 1, -ERANGE },
		{ 2, SIZE_MAX / 2 + 2, 1, -ERANGE },
		{ 1, SIZE_MAX, 1024, -ERANGE },
		{ 1, 1, SIZE_MAX / 2 + 1, -ERANGE },
		{ 0, 1, 1, -EINVAL }, { 1, 0, 1, -EINVAL },
		{ 1, 1, 3, -EINVAL },
	};
	struct pier_buf_pool *pool;
	int err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pool = pool_of(cases[i].count, cases[i].len, cases[i].align,
			       &err);
		if (!IS(err, cases[i].err))
			tap_note("case %zu: %s", i, pier_last_error());
		OK(!pool == (err != 0));
		pier_buf_pool_destroy(pool);
	}
}

static void the_last_element_needs_no_padding(void)
{
	struct pier_buf_pool_config cfg = {
		.size = sizeof(cfg), .count = 2, .len = 33, .align = 64,
	};
	struct pier_buf_pool *pool = NULL;
	struct pier_mmap *part;

	if (!IS(pier_mmap_map(dev, memory, 97, PIER_LOCAL_WRITE, &part), 0))
		return;
	IS(pier_buf_pool_create(part, &cfg, &pool), 0);
	pier_buf_pool_destroy(pool);
	cfg.len = 34;
	IS(pier_buf_pool_create(part, &cfg, &pool), -ERANGE);
	LIKE(pier_last_error(), "have space for 1");
	pier_mmap_destroy(part);
}

static void a_pool_holds_its_mmap_and_outlives_itself(void)
{
	struct pier_buf_pool *pool;
	struct pier_buf *buf = NULL;
	int err;

	pool = pool_of(4, 16, 0, &err);
	if (!IS(err, 0) || !IS(pier_buf_pool_take(pool, &buf), 0))
		return;
	IS(pier_mmap_stop(mmap), -EBUSY);
	pier_buf_pool_destroy(pool);
	IS(pier_mmap_stop(mmap), -EBUSY);
	memset(pier_buf_head(buf), 1, pier_buf_len(buf));
	pier_buf_put(buf);
	IS(pier_mmap_stop(mmap), 0);
	pool = pool_of(4, 16, 0, &err);
	IS(err, -EINVAL);
	LIKE(pier_last_error(), "not started");
	IS(pier_mmap_start(mmap), 0);
	pier_buf_pool_destroy(NULL);
}

static void remote_memory_is_refused(void)
{
	struct pier_buf_pool_config cfg = {
		.size = sizeof(cfg), .count = 1, .len = 1,
	};
	struct pier_buf_pool *pool = NULL;
	struct pier_mmap *remote;
	const void *desc;
	size_t len;

	if (!IS(pier_mmap_export(mmap, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	IS(pier_buf_pool_create(remote, &cfg, &pool), -EINVAL);
	LIKE(pier_last_error(), "remote");
	pier_mmap_destroy(remote);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	IS(pier_mmap_map(dev, memory, SIZE, PIER_LOCAL_WRITE | PIER_REMOTE_READ,
			 &mmap), 0);
	TEST(elements_are_apart_aligned_and_given_once);
	TEST(a_pool_fills_its_memory_to_the_last_byte);
	TEST(the_last_element_needs_no_padding);
	TEST(a_pool_holds_its_mmap_and_outlives_itself);
	TEST(remote_memory_is_refused);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return tap_done();
}
