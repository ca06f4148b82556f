/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Memory and its descriptors, as programs pass them around. */

#define BYTES 4096

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void open_pair(void)
{
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
}

static void close_pair(void)
{
	end_close(&a);
	end_close(&b);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static struct doca_mmap *map(struct doca_dev *dev, void *memory, size_t len,
			     uint32_t access)
{
	struct doca_mmap *mmap = NULL;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, len), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static void check_devices(struct doca_dev *dev, struct doca_dev *other)
{
	static char memory[64];
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	mmap = map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_RDMA_READ |
						DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	IS(doca_mmap_export_pci(mmap, other, &desc, &len),
	   DOCA_ERROR_NOT_FOUND);
	IS(doca_mmap_export_rdma(mmap, other, &desc, &len),
	   DOCA_ERROR_NOT_FOUND);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_max_num_devices(mmap, 1), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, other), DOCA_ERROR_NO_MEMORY);
	IS(doca_mmap_set_max_num_devices(mmap, 2), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, other), DOCA_SUCCESS);
	IS(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void devices_are_those_that_were_added(void)
{
	struct doca_dev *dev = end_device();
	struct doca_dev *other = end_other_device(dev);

	if (other)
		check_devices(dev, other);
	else
		tap_skip("there is one device only");
	doca_dev_close(other);
	doca_dev_close(dev);
}

/* The descriptor is sent as it is, and its receiver imports what has come. */
static void a_descriptor_is_sent_from_where_it_is(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	struct doca_mmap *whole, *import = NULL;
	struct doca_buf *src, *dst;
	const void *desc;
	size_t len = 0, size = 0;
	void *at, *addr = NULL;

	open_pair();
	IS(doca_mmap_export_rdma(a.mmap, a.dev, &desc, &len), DOCA_SUCCESS);
	at = (void *)(uintptr_t)desc;
	whole = map(a.dev, at, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	IS(doca_buf_inventory_buf_get_by_data(a.inv, whole, at, len, &src),
	   DOCA_SUCCESS);
	dst = end_space(&b, 0, END_BYTES);
	IS(doca_rdma_task_receive_allocate_init(b.rdma, dst, no_data, &receive),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &send), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, 1);
	IS(doca_mmap_create_from_export(NULL, b.memory, len, b.dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(import, &addr, &size), DOCA_SUCCESS);
	OK(addr == a.memory);
	IS(size, END_BYTES);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	put(src);
	put(dst);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	IS(doca_mmap_destroy(whole), DOCA_SUCCESS);
	close_pair();
}

static doca_error_t read_8(struct doca_mmap *remote)
{
	struct doca_buf *src = NULL, *dst = end_space(&a, 0, 8);
	struct doca_rdma_task_read *task;
	doca_error_t error;

	IS(doca_buf_inventory_buf_get_by_data(a.inv, remote, b.memory, 8, &src),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	error = ends_run(&a, &a, doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
	return error;
}

/* The import stays one, and the peer's device refuses what it is used for. */
static void a_stop_ends_the_access_of_peers(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	open_pair();
	memcpy(b.memory, "readable", 8);
	IS(read_8(a.remote), DOCA_SUCCESS);
	OK(!memcmp(a.memory, "readable", 8));
	IS(doca_mmap_stop(b.mmap), DOCA_SUCCESS);
	memset(a.memory, 0, 8);
	IS(read_8(a.remote), DOCA_ERROR_IO_FAILED);
	IS(a.memory[0], 0);
	IS(doca_ctx_get_state(a.ctx, &state), DOCA_SUCCESS);
	OK(state != DOCA_CTX_STATE_RUNNING);
	close_pair();
}

/* What it exported before names memory that is not there any more. */
static void a_start_after_a_stop_exports_anew(void)
{
	struct doca_mmap *import = NULL;
	const void *desc;
	size_t len = 0;

	open_pair();
	IS(doca_mmap_stop(b.mmap), DOCA_SUCCESS);
	IS(doca_mmap_start(b.mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(b.mmap, b.dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, a.dev, &import),
	   DOCA_SUCCESS);
	memcpy(b.memory, "readable", 8);
	IS(read_8(import), DOCA_SUCCESS);
	OK(!memcmp(a.memory, "readable", 8));
	IS(read_8(a.remote), DOCA_ERROR_IO_FAILED);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	close_pair();
}

/* As programs end: the memory is freed first. */
static void memory_may_be_gone_before_its_mmap(void)
{
	struct doca_dev *dev = end_device();
	struct doca_mmap *mmap_, *import = NULL, *pci = NULL;
	const void *desc;
	size_t len;
	void *memory;

	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap_ = map(dev, memory, BYTES, DOCA_ACCESS_FLAG_RDMA_READ |
					DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	IS(doca_mmap_export_rdma(mmap_, dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_export_pci(mmap_, dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &pci),
	   DOCA_SUCCESS);
	munmap(memory, BYTES);
	IS(doca_mmap_stop(mmap_), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap_), DOCA_SUCCESS);
	IS(doca_mmap_stop(import), DOCA_SUCCESS);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	IS(doca_mmap_destroy(pci), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void an_import_is_ready_and_does_not_change(void)
{
	static char memory[64];
	struct doca_mmap *import;
	const void *desc;
	uint8_t flag = 9;
	size_t len;

	end_open(&a);
	IS(doca_mmap_export_rdma(a.mmap, a.dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, a.dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_get_from_export(import, &flag), DOCA_SUCCESS);
	IS(flag, 1);
	IS(doca_mmap_start(import), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_set_memrange(import, memory, 64), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_set_permissions(import, 0), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_add_dev(import, a.dev), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_rm_dev(import, a.dev), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_export_rdma(import, a.dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_export_pci(import, a.dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_mmap_get_exported(import, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_mmap_get_from_export(a.mmap, &flag), DOCA_SUCCESS);
	IS(flag, 0);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	end_close(&a);
}

static void is(struct doca_buf *buf, size_t head, size_t len, size_t data,
	       size_t data_len)
{
	size_t its_len = 0, its_data_len = 0;
	void *its_head, *its_data;

	IS(doca_buf_get_head(buf, &its_head), DOCA_SUCCESS);
	IS(doca_buf_get_len(buf, &its_len), DOCA_SUCCESS);
	IS(doca_buf_get_data(buf, &its_data), DOCA_SUCCESS);
	IS(doca_buf_get_data_len(buf, &its_data_len), DOCA_SUCCESS);
	OK(its_head == a.memory + head);
	IS(its_len, len);
	OK(its_data == a.memory + data);
	IS(its_data_len, data_len);
	put(buf);
}

static void a_buffer_begins_with_data_or_without(void)
{
	char *at = a.memory;
	struct doca_buf *buf;

	end_open(&a);
	IS(doca_buf_inventory_buf_get_by_addr(a.inv, a.mmap, at + 9, 30, &buf),
	   DOCA_SUCCESS);
	is(buf, 9, 30, 9, 0);
	IS(doca_buf_inventory_buf_get_by_data(a.inv, a.mmap, at + 9, 30, &buf),
	   DOCA_SUCCESS);
	is(buf, 9, 30, 9, 30);
	IS(doca_buf_inventory_buf_get_by_args(a.inv, a.mmap, at + 9, 30,
					      at + 12, 5, &buf), DOCA_SUCCESS);
	is(buf, 9, 30, 12, 5);
	IS(doca_buf_inventory_buf_get_by_args(a.inv, a.mmap, at + 9, 30,
					      at + 8, 5, &buf),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_buf_get_by_data(a.inv, a.mmap, at, END_BYTES + 1,
					      &buf), DOCA_ERROR_INVALID_VALUE);
	end_close(&a);
}

static void a_stopped_inventory_has_no_buffers(void)
{
	struct doca_buf *taken, *buf;

	end_open(&a);
	taken = end_data(&a, 0, 8);
	IS(doca_buf_inventory_stop(a.inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(a.inv, a.mmap, a.memory, 8, &buf),
	   DOCA_ERROR_BAD_STATE);
	is(taken, 0, 8, 0, 8);
	IS(doca_buf_inventory_start(a.inv), DOCA_SUCCESS);
	put(end_data(&a, 0, 8));
	end_close(&a);
}

int main(void)
{
	TEST(devices_are_those_that_were_added);
	TEST(a_descriptor_is_sent_from_where_it_is);
	TEST(a_stop_ends_the_access_of_peers);
	TEST(a_start_after_a_stop_exports_anew);
	TEST(memory_may_be_gone_before_its_mmap);
	TEST(an_import_is_ready_and_does_not_change);
	TEST(a_buffer_begins_with_data_or_without);
	TEST(a_stopped_inventory_has_no_buffers);
	return tap_done();
}
