/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Buffers, what is counted of them, and lists. */

#define BUFS 4

static char memory[1024];
static struct doca_dev *dev;
static struct doca_mmap *mmap;
static struct doca_buf_inventory *inv;

static void open_memory(void)
{
	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(BUFS, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
}

static void close_memory(void)
{
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static struct doca_buf *take(size_t at, size_t len)
{
	struct doca_buf *buf = NULL;

	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, memory + at, len,
					      &buf), DOCA_SUCCESS);
	return buf;
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static void data_stays_inside_the_buffer(void)
{
	struct doca_buf *buf = take(100, 50), *other;
	size_t len = 0;
	void *data;

	IS(doca_buf_set_data(buf, memory + 99, 1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_set_data(buf, memory + 140, 11), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_set_data_len(buf, 51), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	IS(len, 50);				/* nothing was changed */
	IS(doca_buf_set_data(buf, memory + 150, 0), DOCA_SUCCESS);
	IS(doca_buf_set_data(buf, memory + 110, 7), DOCA_SUCCESS);
	IS(doca_buf_set_data_len(buf, 40), DOCA_SUCCESS);
	IS(doca_buf_get_data(buf, &data), DOCA_SUCCESS);
	OK(data == memory + 110);
	IS(doca_buf_inventory_buf_get_by_args(inv, mmap, memory, 10,
					      memory + 5, 6, &other),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_buf_get_by_args(inv, mmap, memory, 10,
					      memory + 5, 5, &other),
	   DOCA_SUCCESS);
	put(other);
	put(buf);
}

static void memory_is_mapped_before_buffers_are_taken(void)
{
	struct doca_mmap *idle;
	struct doca_buf *buf;

	IS(doca_mmap_create(&idle), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(idle, memory, 10), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(inv, idle, memory, 10, &buf),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_destroy(idle), DOCA_SUCCESS);
}

/* 65,535 are counted; the value is that before. */
static void references_are_counted(void)
{
	struct doca_buf *buf = take(0, 1);
	uint16_t before = 9;
	int wrong = 0;

	IS(doca_buf_get_refcount(buf, &before), DOCA_SUCCESS);
	IS(before, 1);
	for (int i = 1; i < UINT16_MAX; i++)
		wrong += doca_buf_inc_refcount(buf, &before) || before != i;
	IS(wrong, 0);
	IS(doca_buf_inc_refcount(buf, &before), DOCA_ERROR_TOO_BIG);
	IS(doca_buf_get_refcount(buf, &before), DOCA_SUCCESS);
	IS(before, UINT16_MAX);
	for (int i = 1; i < UINT16_MAX; i++)
		wrong += doca_buf_dec_refcount(buf, NULL) != DOCA_SUCCESS;
	IS(wrong, 0);
	IS(doca_buf_dec_refcount(buf, &before), DOCA_SUCCESS);
	IS(before, 1);
	IS(doca_buf_inc_refcount(buf, NULL), DOCA_ERROR_BAD_STATE);
}

static void lists_are_made_of_their_first_buffers(void)
{
	struct doca_buf *one = take(0, 1), *two = take(1, 1);
	struct doca_buf *three = take(2, 1), *at = NULL;
	uint32_t n = 0;
	uint8_t flag = 9;

	IS(doca_buf_is_in_list(one, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_buf_chain_list(one, one), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(doca_buf_chain_list(two, three), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_chain_list(three, two), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_chain_list_tail(one, two, three), DOCA_SUCCESS);
	IS(doca_buf_get_list_len(one, &n), DOCA_SUCCESS);
	IS(n, 3);
	IS(doca_buf_get_next_in_list(one, &at), DOCA_SUCCESS);
	OK(at == two);
	IS(doca_buf_get_next_in_list(three, &at), DOCA_SUCCESS);
	OK(!at);
	IS(doca_buf_is_in_list(three, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_buf_is_last_in_list(three, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_buf_is_last_in_list(two, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_buf_is_first_in_list(one, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	put(one);
}

static void a_list_is_divided_in_two(void)
{
	struct doca_buf *one = take(0, 1), *two = take(1, 1);
	struct doca_buf *three = take(2, 1), *other = take(3, 1);
	uint32_t n = 0;

	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(doca_buf_chain_list(one, three), DOCA_SUCCESS);
	IS(doca_buf_unchain_list(one, other), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_unchain_list(one, two), DOCA_SUCCESS);
	IS(doca_buf_get_list_len(one, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_buf_get_list_len(two, &n), DOCA_SUCCESS);
	IS(n, 2);
	put(one);
	put(two);
	put(other);
	IS(doca_buf_inventory_get_num_free_elements(inv, &n), DOCA_SUCCESS);
	IS(n, BUFS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	open_memory();
	TEST(data_stays_inside_the_buffer);
	TEST(memory_is_mapped_before_buffers_are_taken);
	TEST(references_are_counted);
	TEST(lists_are_made_of_their_first_buffers);
	TEST(a_list_is_divided_in_two);
	close_memory();
	doca_dev_close(dev);
	return tap_done();
}
