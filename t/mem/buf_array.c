/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>

#include <pier/pier.h>

#include "t/lib/tap.h"

/* Buffer arrays: elements of an mmap, by index. */

#define SIZE 1024

static char memory[SIZE];
static struct pier_dev *dev;
static struct pier_mmap *mmap;

/* The array of these elements of @of; NULL, and the error in *err. */
static struct pier_buf_array *array_of(struct pier_mmap *of, size_t count,
				       size_t len, size_t offset, int *err)
{
	struct pier_buf_array_config cfg = {
		.size = sizeof(cfg), .count = count, .len = len,
		.offset = offset,
	};
	struct pier_buf_array *array = NULL;

	*err = pier_buf_array_create(of, &cfg, &array);
	return array;
}

static void an_index_is_a_place_in_the_memory(void)
{
	struct pier_buf *empty = NULL, *data = NULL;
	struct pier_buf_array *array;
	int err;

	array = array_of(mmap, 9, 100, 124, &err);
	if (!IS(err, 0))
		return;
	IS(pier_buf_array_count(array), 9);
	for (size_t i = 0; i < 9; i++) {
		const char *at = memory + 124 + i * 100;

		IS(pier_buf_array_take(array, i, &empty), 0);
		OK(pier_buf_head(empty) == at && pier_buf_data(empty) == at);
		IS(pier_buf_len(empty), 100);
		IS(pier_buf_data_len(empty), 0);
		IS(pier_buf_array_take_data(array, i, &data), 0);
		OK(pier_buf_head(data) == at && pier_buf_data(data) == at);
		IS(pier_buf_len(data), 100);
		IS(pier_buf_data_len(data), 100);
		pier_buf_put(empty);
		pier_buf_put(data);
	}
	pier_buf_array_destroy(array);
}

static void there_are_as_many_buffers_as_elements(void)
{
	struct pier_buf *buf[3] = { 0 }, *more = NULL;
	struct pier_buf_array *array;
	int err;

	array = array_of(mmap, 3, 8, 0, &err);
	if (!IS(err, 0))
		return;
	for (size_t i = 0; i < 3; i++)
		IS(pier_buf_array_take(array, 1, &buf[i]), 0);
	IS(pier_buf_array_take(array, 0, &more), -ENOBUFS);
	OK(!more);
	pier_buf_put(buf[1]);
	IS(pier_buf_array_take(array, 0, &buf[1]), 0);
	IS(pier_buf_array_take(array, 3, &more), -ERANGE);
	LIKE(pier_last_error(), "element 3, the array has 0..2");
	IS(pier_buf_array_take_data(array, SIZE_MAX, &more), -ERANGE);
	OK(!more);
	IS(pier_buf_chain(buf[0], buf[1]), 0);
	pier_buf_put(buf[0]);
	pier_buf_put(buf[2]);
	for (size_t i = 0; i < 3; i++)
		IS(pier_buf_array_take(array, i, &buf[i]), 0);
	for (size_t i = 0; i < 3; i++)
		pier_buf_put(buf[i]);
	pier_buf_array_destroy(array);
}

static void elements_are_inside_the_mmap(void)
{
	static const struct {
		size_t count, len, offset;
		int err;
	} cases[] = {
		{ 1, SIZE, 0, 0 }, { 1, SIZE + 1, 0, -ERANGE },
		{ 1, SIZE, 1, -ERANGE }, { 1, 1, SIZE - 1, 0 },
		{ 1, 1, SIZE, -ERANGE }, { 1, 1, SIZE_MAX, -ERANGE },
		{ SIZE, 1, 0, 0 }, { SIZE + 1, 1, 0, -ERANGE },
		{ SIZE_MAX, SIZE_MAX, 0, -ERANGE },
		{ 2, SIZE_MAX / 2 + 2, 0, -ERANGE },
		{ SIZE_MAX / 2 + 2, 2, 0, -ERANGE },
		{ 0, 1, 0, -EINVAL }, { 1, 0, 0, -EINVAL },
	};
	struct pier_buf_array *array;
	int err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		array = array_of(mmap, cases[i].count, cases[i].len,
				 cases[i].offset, &err);
		if (!IS(err, cases[i].err))
			tap_note("case %zu: %s", i, pier_last_error());
		OK(!array == (err != 0));
		pier_buf_array_destroy(array);
	}
}

static void an_array_holds_its_mmap_and_outlives_itself(void)
{
	struct pier_buf_array *array;
	struct pier_buf *buf = NULL;
	int err;

	array = array_of(mmap, 4, 16, 0, &err);
	if (!IS(err, 0) || !IS(pier_buf_array_take(array, 0, &buf), 0))
		return;
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "1 buffer array");
	pier_buf_array_destroy(array);
	IS(pier_mmap_stop(mmap), -EBUSY);
	*(char *)pier_buf_head(buf) = 1;
	pier_buf_put(buf);
	IS(pier_mmap_stop(mmap), 0);
	array = array_of(mmap, 4, 16, 0, &err);
	IS(err, -EINVAL);
	LIKE(pier_last_error(), "not started");
	IS(pier_mmap_start(mmap), 0);
	pier_buf_array_destroy(NULL);
}

static void remote_memory_has_elements_at_the_owners_addresses(void)
{
	struct pier_buf_array *array;
	struct pier_buf *buf = NULL;
	struct pier_mmap *remote;
	const void *desc;
	size_t len;
	int err;

	if (!IS(pier_mmap_export(mmap, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	array = array_of(remote, 4, 32, 8, &err);
	if (IS(err, 0) && IS(pier_buf_array_take_data(array, 2, &buf), 0)) {
		OK(pier_buf_data(buf) == memory + 8 + 2 * 32);
		OK(pier_buf_mmap(buf) == remote);
	}
	pier_buf_put(buf);
	pier_buf_array_destroy(array);
	pier_mmap_destroy(remote);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	IS(pier_mmap_map(dev, memory, SIZE, PIER_LOCAL_WRITE | PIER_REMOTE_READ,
			 &mmap), 0);
	TEST(an_index_is_a_place_in_the_memory);
	TEST(there_are_as_many_buffers_as_elements);
	TEST(elements_are_inside_the_mmap);
	TEST(an_array_holds_its_mmap_and_outlives_itself);
	TEST(remote_memory_has_elements_at_the_owners_addresses);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return tap_done();
}
