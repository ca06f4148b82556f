/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_mmap.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Memory and buffers. */

static char memory[4096];
static struct doca_dev *dev;

/* Started with @access, unless that is UINT32_MAX. */
static struct doca_mmap *map(uint32_t access)
{
	struct doca_mmap *mmap;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	if (access != UINT32_MAX)
		IS(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static struct doca_buf_inventory *inventory(size_t count)
{
	struct doca_buf_inventory *inv;

	IS(doca_buf_inventory_create(count, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	return inv;
}

static void an_mmap_is_set_up_before_it_starts(void)
{
	struct doca_mmap *mmap;
	void *addr;
	size_t len;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_memrange(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_memrange(mmap, memory, 4096), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, 4096),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_ALREADY_EXIST);
	IS(doca_mmap_rm_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_rm_dev(mmap, dev), DOCA_ERROR_NOT_FOUND);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, 1 << 10),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_set_permissions(mmap, 1), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	OK(addr == memory);
	IS(len, 4096);
	IS(doca_mmap_stop(mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static int freed;

static void on_free(void *addr, size_t len, void *cookie)
{
	OK(addr == memory);
	IS(len, sizeof(memory));
	freed += *(int *)cookie;
}

static void memory_is_freed_with_its_mmap(void)
{
	struct doca_mmap *mmap;
	int one = 1;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_set_free_cb(mmap, on_free, &one), DOCA_SUCCESS);
	IS(freed, 0);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(freed, 1);
}

static void an_export_lives_as_long_as_its_mmap(void)
{
	struct doca_mmap *mmap = map(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
				     DOCA_ACCESS_FLAG_RDMA_READ);
	struct doca_mmap *local = map(UINT32_MAX), *import;
	const void *desc, *again;
	size_t len, size;
	uint8_t flag;
	void *addr;

	IS(doca_mmap_export_rdma(local, dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_export_rdma(mmap, dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(mmap, dev, &again, &len), DOCA_SUCCESS);
	OK(again == desc);
	OK(len <= 4096);
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(import, &addr, &size), DOCA_SUCCESS);
	OK(addr == memory);
	IS(size, sizeof(memory));
	IS(doca_mmap_get_from_export(import, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_mmap_start(import), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_stop(import), DOCA_SUCCESS);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	IS(doca_mmap_stop(mmap), DOCA_SUCCESS);
	*(char *)(uintptr_t)desc ^= 1;	/* still memory, and writable */
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(local), DOCA_SUCCESS);
}

static void an_export_by_pci_lives_as_long_as_its_mmap(void)
{
	struct doca_mmap *mmap = map(DOCA_ACCESS_FLAG_PCI_READ_WRITE), *import;
	struct doca_mmap *local = map(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	const void *desc, *again;
	uint8_t flag = 0;
	uint32_t n = 9;
	size_t len;

	IS(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(dev),
						 &flag), DOCA_SUCCESS);
	IS(flag, 1);
	flag = 0;
	IS(doca_mmap_cap_is_create_from_export_pci_supported(
		doca_dev_as_devinfo(dev), &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_mmap_cap_is_create_from_export_pci_supported(NULL, &flag),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_export_pci(local, dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_export_pci(mmap, NULL, &desc, &len),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_get_exported(mmap, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_mmap_export_pci(mmap, dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_export_pci(mmap, dev, &again, &len), DOCA_SUCCESS);
	OK(again == desc);
	OK(len <= 512);
	IS(doca_mmap_get_exported(mmap, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_mmap_get_num_bufs(mmap, &n), DOCA_SUCCESS);
	IS(n, 0);
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	IS(doca_mmap_stop(mmap), DOCA_SUCCESS);
	*(char *)(uintptr_t)desc ^= 1;	/* still memory, and writable */
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(local), DOCA_SUCCESS);
}

static void buffers_are_taken_from_a_started_inventory(void)
{
	struct doca_buf_inventory *inv;
	struct doca_mmap *mmap = map(UINT32_MAX);
	struct doca_buf *one, *two;
	uint32_t n;

	IS(doca_buf_inventory_create(1, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory, 10, &one),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory + 4090, 10,
					      &one), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory, 10, &one),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory, 10, &two),
	   DOCA_ERROR_NO_MEMORY);
	IS(doca_buf_inventory_get_num_free_elements(inv, &n), DOCA_SUCCESS);
	IS(n, 0);
	IS(doca_buf_inventory_destroy(inv), DOCA_ERROR_IN_USE);
	IS(doca_mmap_get_num_bufs(mmap, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_dec_refcount(one, NULL), DOCA_SUCCESS);
	IS(doca_mmap_get_num_bufs(mmap, &n), DOCA_SUCCESS);
	IS(n, 0);
	IS(doca_buf_dec_refcount(one, NULL), DOCA_ERROR_BAD_STATE);
	IS(doca_buf_inventory_expand(inv, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_expand(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_expand(inv, 2), DOCA_SUCCESS);
	IS(doca_buf_inventory_get_num_elements(inv, &n), DOCA_SUCCESS);
	IS(n, 3);
	IS(doca_buf_inventory_get_num_free_elements(inv, &n), DOCA_SUCCESS);
	IS(n, 3);
	IS(doca_buf_inventory_stop(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_stop(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void a_buffer_has_data_inside(void)
{
	struct doca_buf_inventory *inv = inventory(2);
	struct doca_mmap *mmap = map(UINT32_MAX);
	struct doca_buf *buf, *copy;
	void *data;
	size_t len;

	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory, 100, &buf),
	   DOCA_SUCCESS);
	IS(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	IS(len, 0);
	IS(doca_buf_set_data(buf, memory + 10, 20), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_dup(inv, buf, &copy), DOCA_SUCCESS);
	IS(doca_buf_reset_data_len(buf), DOCA_SUCCESS);
	IS(doca_buf_get_data(buf, &data), DOCA_SUCCESS);
	OK(data == memory + 10);
	IS(doca_buf_get_len(buf, &len), DOCA_SUCCESS);
	IS(len, 100);
	IS(doca_buf_get_data_len(copy, &len), DOCA_SUCCESS);
	IS(len, 20);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(copy, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_dup(inv, buf, &copy), DOCA_ERROR_BAD_STATE);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void the_first_of_a_list_frees_all_of_it(void)
{
	struct doca_buf_inventory *inv = inventory(2);
	struct doca_mmap *mmap = map(UINT32_MAX);
	struct doca_buf *one, *two, *at;
	uint16_t refs = 9;
	uint32_t n = 0;
	uint8_t flag;

	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, memory, 10, &one),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, memory, 20, &two),
	   DOCA_SUCCESS);
	IS(doca_buf_inc_refcount(two, &refs), DOCA_SUCCESS);
	IS(refs, 1);
	IS(doca_buf_chain_list(one, two), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_dec_refcount(two, &refs), DOCA_SUCCESS);
	IS(refs, 2);
	IS(doca_buf_chain_list(one, two), DOCA_SUCCESS);
	IS(doca_buf_get_list_len(one, &n), DOCA_SUCCESS);
	IS(n, 2);
	IS(doca_buf_get_list_len(two, &n), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_is_first_in_list(two, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_buf_get_last_in_list(one, &at), DOCA_SUCCESS);
	OK(at == two);
	IS(doca_buf_dec_refcount(two, NULL), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_unchain_list(two, one), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_dec_refcount(one, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_get_num_free_elements(inv, &n), DOCA_SUCCESS);
	IS(n, 2);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void a_pool_has_buffers_of_one_size(void)
{
	struct doca_mmap *mmap = map(UINT32_MAX);
	struct doca_buf *one, *two, *three;
	struct doca_buf_pool *pool;
	uint32_t n = 0;
	size_t len = 0;
	void *head;

	IS(doca_buf_pool_create(2, 100, mmap, &pool), DOCA_SUCCESS);
	IS(doca_buf_pool_get_num_elements(pool, &n), DOCA_SUCCESS);
	IS(n, 2);
	IS(doca_buf_pool_get_element_alignment(pool, &len), DOCA_SUCCESS);
	IS(len, 1);
	IS(doca_buf_pool_set_element_alignment(pool, 3),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_pool_set_element_alignment(pool, 64), DOCA_SUCCESS);
	IS(doca_buf_pool_buf_alloc(pool, &one), DOCA_ERROR_BAD_STATE);
	IS(doca_buf_pool_get_element_alignment(pool, &len), DOCA_SUCCESS);
	IS(len, 64);
	IS(doca_buf_pool_start(pool), DOCA_SUCCESS);
	IS(doca_buf_pool_set_element_alignment(pool, 8), DOCA_ERROR_BAD_STATE);
	IS(doca_buf_pool_buf_alloc(pool, &one), DOCA_SUCCESS);
	IS(doca_buf_pool_buf_alloc(pool, &two), DOCA_SUCCESS);
	IS(doca_buf_pool_buf_alloc(pool, &three), DOCA_ERROR_NO_MEMORY);
	IS(doca_buf_get_len(two, &len), DOCA_SUCCESS);
	IS(len, 100);
	IS(doca_buf_get_head(two, &head), DOCA_SUCCESS);
	IS((uintptr_t)head % 64, 0);
	IS(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
	IS(doca_buf_dec_refcount(one, NULL), DOCA_SUCCESS);
	IS(doca_buf_pool_get_num_free_elements(pool, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_buf_pool_destroy(pool), DOCA_ERROR_IN_USE);
	IS(doca_buf_dec_refcount(two, NULL), DOCA_SUCCESS);
	IS(doca_buf_pool_stop(pool), DOCA_SUCCESS);
	IS(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void pools_and_inventories_have_data_of_the_program(void)
{
	struct doca_mmap *mmap = map(UINT32_MAX);
	union doca_data data = { .u64 = 0 };
	struct doca_buf_inventory *inv;
	struct doca_buf_pool *pool;

	IS(doca_buf_pool_create(2, 100, mmap, &pool), DOCA_SUCCESS);
	IS(doca_buf_pool_get_user_data(pool, &data), DOCA_SUCCESS);
	IS(data.u64, 0);
	data.u64 = 11;
	IS(doca_buf_pool_set_user_data(pool, data), DOCA_SUCCESS);
	IS(doca_buf_pool_start(pool), DOCA_SUCCESS);
	data.u64 = 22;
	IS(doca_buf_inventory_create(1, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_set_user_data(inv, data), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_pool_get_user_data(pool, &data), DOCA_SUCCESS);
	IS(data.u64, 11);
	IS(doca_buf_inventory_get_user_data(inv, &data), DOCA_SUCCESS);
	IS(data.u64, 22);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void getters_of_memory_need_an_object_and_a_place(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;
	struct doca_mmap *mmap = map(UINT32_MAX);
	union doca_data data = { .u64 = 1 };
	struct doca_buf_inventory *inv;
	struct doca_buf_pool *pool;
	uint32_t n = 0;
	size_t len = 0;

	IS(doca_buf_inventory_create(1, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_set_user_data(NULL, data), no);
	IS(doca_buf_inventory_get_user_data(NULL, &data), no);
	IS(doca_buf_inventory_get_user_data(inv, NULL), no);
	IS(doca_buf_pool_create(2, 100, mmap, &pool), DOCA_SUCCESS);
	IS(doca_buf_pool_set_user_data(NULL, data), no);
	IS(doca_buf_pool_get_user_data(NULL, &data), no);
	IS(doca_buf_pool_get_user_data(pool, NULL), no);
	IS(doca_buf_pool_get_num_elements(NULL, &n), no);
	IS(doca_buf_pool_get_num_elements(pool, NULL), no);
	IS(doca_buf_pool_get_element_alignment(NULL, &len), no);
	IS(doca_buf_pool_get_element_alignment(pool, NULL), no);
	IS(doca_buf_pool_set_element_alignment(NULL, 64), no);
	IS(doca_buf_pool_set_element_alignment(pool, 0), no);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void a_range_of_a_dma_buf_is_passed_on_to_the_device(void)
{
	void *at = (void *)0x10000, *addr;
	struct doca_mmap *mmap;
	size_t len;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_dmabuf_memrange(NULL, 0, at, 0, 4096),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_dmabuf_memrange(mmap, -1, at, 0, 4096),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_dmabuf_memrange(mmap, 0, NULL, 0, 4096),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_dmabuf_memrange(mmap, 0, at, 0, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_dmabuf_memrange(mmap, 0, at, SIZE_MAX, 4096),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_dmabuf_memrange(mmap, 0, at, 8192, 4096),
	   DOCA_SUCCESS);
	IS(doca_mmap_set_dmabuf_memrange(mmap, 0, at, 8192, 4096),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
	OK(addr == at);
	IS(len, 4096);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void a_device_that_is_used_is_not_closed(void)
{
	struct doca_mmap *mmap;
	struct doca_rdma *rdma;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_mmap_rm_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	mmap = map(UINT32_MAX);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(an_mmap_is_set_up_before_it_starts);
	TEST(memory_is_freed_with_its_mmap);
	TEST(an_export_lives_as_long_as_its_mmap);
	TEST(an_export_by_pci_lives_as_long_as_its_mmap);
	TEST(buffers_are_taken_from_a_started_inventory);
	TEST(a_buffer_has_data_inside);
	TEST(the_first_of_a_list_frees_all_of_it);
	TEST(a_pool_has_buffers_of_one_size);
	TEST(pools_and_inventories_have_data_of_the_program);
	TEST(getters_of_memory_need_an_object_and_a_place);
	TEST(a_range_of_a_dma_buf_is_passed_on_to_the_device);
	TEST(a_device_that_is_used_is_not_closed);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	return tap_done();
}
