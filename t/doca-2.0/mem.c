/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_bufpool.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Memory and buffers under the names of DOCA 2.0. */

static struct desk desk;
static int freed;

static void note_free(void *addr, size_t len, void *cookie)
{
	OK(addr == desk.memory && len == 64);
	++*(int *)cookie;
}

static void memory_has_what_was_set(void)
{
	const union doca_data data = { .u64 = 9 };
	union doca_data got = { .u64 = 0 };
	struct doca_mmap *mmap;
	uint32_t bufs = 77;
	void *addr;
	size_t len;

	desk_open(&desk);
	freed = 0;
	IS(doca_mmap_create(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_create(&data, &mmap), DOCA_SUCCESS);
	IS(doca_mmap_get_user_data(mmap, &got), DOCA_SUCCESS);
	IS(got.u64, 9);
	IS(doca_mmap_set_memrange(mmap, desk.memory, 64), DOCA_SUCCESS);
	IS(doca_mmap_set_free_cb(mmap, note_free, &freed), DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	OK(addr == desk.memory && len == 64);
	IS(doca_mmap_dev_add(mmap, desk.dev), DOCA_SUCCESS);
	IS(doca_mmap_dev_rm(mmap, desk.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_dev_add(mmap, desk.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_get_num_bufs(mmap, &bufs), DOCA_SUCCESS);
	IS(bufs, 0);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(freed, 1);
	desk_close(&desk);
}

/* The guides have three spellings. */
static void the_range_is_set_under_each_of_its_names(void)
{
	struct doca_mmap *mmap;
	size_t len = 0;
	void *addr;

	desk_open(&desk);
	IS(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memory_range(mmap, desk.memory, 5), DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	IS(len, 5);
	IS(doca_mmap_set_memrang(mmap, desk.memory, 6),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrang(mmap, desk.memory, 7), DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	IS(len, 7);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	desk_close(&desk);
}

typedef doca_error_t export_fn(struct doca_mmap *mmap,
			       const struct doca_dev *dev, const void **desc,
			       size_t *len);

/* Memory with those permissions, for another process. */
static doca_error_t export_with(uint32_t access, export_fn *export)
{
	struct doca_mmap *mmap, *imported;
	const void *desc = NULL;
	size_t len = 0, range = 0;
	void *addr = NULL;
	doca_error_t error;

	IS(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, desk.memory, 64), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	IS(doca_mmap_dev_add(mmap, desk.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	error = export(mmap, desk.dev, &desc, &len);
	if (!error) {
		IS(doca_mmap_create_from_export(NULL, desc, len, desk.dev,
						&imported), DOCA_SUCCESS);
		IS(doca_mmap_get_memrange(imported, &addr, &range),
		   DOCA_SUCCESS);
		OK(addr == desk.memory && range == 64);
		IS(doca_mmap_destroy(imported), DOCA_SUCCESS);
	}
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	return error;
}

static void an_export_needs_its_permissions(void)
{
	desk_open(&desk);
	IS(export_with(DOCA_ACCESS_LOCAL_READ_WRITE, doca_mmap_export_dpu),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(export_with(DOCA_ACCESS_DPU_READ_WRITE, doca_mmap_export_dpu),
	   DOCA_SUCCESS);
	IS(export_with(DOCA_ACCESS_DPU_READ_ONLY, doca_mmap_export),
	   DOCA_SUCCESS);
	IS(export_with(DOCA_ACCESS_DPU_READ_ONLY, doca_mmap_export_rdma),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(export_with(DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ |
		       DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC,
		       doca_mmap_export_rdma), DOCA_SUCCESS);
	desk_close(&desk);
}

static void inventories_count_their_buffers(void)
{
	const union doca_data data = { .u64 = 8 };
	union doca_data got = { .u64 = 0 };
	struct doca_buf_inventory *inv;
	uint32_t count = 0, left = 0;
	struct doca_buf *buf;

	desk_open(&desk);
	IS(doca_buf_inventory_create(NULL, 3, 1, &inv),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_buf_inventory_create(&data, 3, DOCA_BUF_EXTENSION_NONE, &inv),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_get_user_data(inv, &got), DOCA_SUCCESS);
	IS(got.u64, 8);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_by_addr(inv, desk.mmap, desk.memory, 8,
					  &buf), DOCA_SUCCESS);
	IS(doca_buf_inventory_get_num_elements(inv, &count), DOCA_SUCCESS);
	IS(doca_buf_inventory_get_num_free_elements(inv, &left),
	   DOCA_SUCCESS);
	IS(count, 3);
	IS(left, 2);
	IS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	desk_close(&desk);
}

static void a_buffer_has_its_parts(void)
{
	struct doca_buf *buf = NULL, *copy = NULL;
	size_t len = 0, data_len = 0;
	void *head, *data;
	uint16_t refs = 0;

	desk_open(&desk);
	IS(doca_buf_inventory_buf_by_args(desk.inv, desk.mmap, desk.memory, 90,
					  desk.memory + 10, 20, &buf),
	   DOCA_SUCCESS);
	IS(doca_buf_set_data(buf, desk.memory + 30, 40), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_dup(desk.inv, buf, &copy), DOCA_SUCCESS);
	IS(doca_buf_get_len(copy, &len), DOCA_SUCCESS);
	IS(doca_buf_get_head(copy, &head), DOCA_SUCCESS);
	IS(doca_buf_get_data(copy, &data), DOCA_SUCCESS);
	IS(doca_buf_get_data_len(copy, &data_len), DOCA_SUCCESS);
	IS(len, 90);
	OK(head == desk.memory && data == desk.memory + 30);
	IS(data_len, 40);
	IS(doca_buf_refcount_add(buf, &refs), DOCA_SUCCESS);
	IS(refs, 1);
	IS(doca_buf_refcount_get(buf, &refs), DOCA_SUCCESS);
	IS(refs, 2);
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(copy, NULL), DOCA_SUCCESS);
	desk_close(&desk);
}

static void a_list_is_taken_apart(void)
{
	struct doca_buf *a, *b, *next = NULL;
	uint32_t count = 0;

	desk_open(&desk);
	a = desk_data(&desk, 0, 10);
	b = desk_data(&desk, 20, 10);
	IS(doca_buf_list_chain(a, b), DOCA_SUCCESS);
	IS(doca_buf_list_next(a, &next), DOCA_SUCCESS);
	OK(next == b);
	IS(doca_buf_list_unchain(a, b), DOCA_SUCCESS);
	IS(doca_buf_list_num_elements(a, &count), DOCA_SUCCESS);
	IS(count, 1);
	IS(doca_buf_refcount_rm(a, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(b, NULL), DOCA_SUCCESS);
	desk_close(&desk);
}

static void pools_are_found_under_their_old_header(void)
{
	struct doca_buf_pool *pool;
	struct doca_buf *buf;

	desk_open(&desk);
	IS(doca_buf_pool_create(4, 64, desk.mmap, &pool), DOCA_SUCCESS);
	IS(doca_buf_pool_start(pool), DOCA_SUCCESS);
	IS(doca_buf_pool_buf_alloc(pool, &buf), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_pool_stop(pool), DOCA_SUCCESS);
	IS(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	desk_close(&desk);
}

int main(void)
{
	TEST(memory_has_what_was_set);
	TEST(the_range_is_set_under_each_of_its_names);
	TEST(an_export_needs_its_permissions);
	TEST(inventories_count_their_buffers);
	TEST(a_buffer_has_its_parts);
	TEST(a_list_is_taken_apart);
	TEST(pools_are_found_under_their_old_header);
	return tap_done();
}
