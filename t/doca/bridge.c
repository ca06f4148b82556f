/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_rdma_bridge.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Devices and keys that a program shares with rdma-core. */

static char memory[4096];
static struct doca_dev *dev;
static struct ibv_pd *pd;	/* NULL: the device has none */

static struct doca_mmap *map(struct doca_dev *on)
{
	struct doca_mmap *mmap = NULL;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, on), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static void calls_without_an_object_fail(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;
	struct doca_mmap *mmap = map(dev);
	struct doca_dev *other;
	uint32_t key;

	IS(doca_rdma_bridge_get_dev_pd(NULL, &pd), no);
	IS(doca_rdma_bridge_get_dev_pd(dev, NULL), no);
	IS(doca_rdma_bridge_open_dev_from_pd(NULL, &other), no);
	IS(doca_rdma_bridge_get_buf_mkey(NULL, dev, &key), no);
	IS(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, NULL, &key), no);
	IS(doca_rdma_bridge_get_mmap_mkey_from_pd(NULL, pd, &key), no);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static uint32_t key_of_buf(struct doca_mmap *mmap)
{
	struct doca_buf_inventory *inv;
	struct doca_buf *buf;
	uint32_t key = 0;

	IS(doca_buf_inventory_create(1, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory, 8, &buf),
	   DOCA_SUCCESS);
	IS(doca_rdma_bridge_get_buf_mkey(buf, dev, &key), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	return key;
}

static void memory_has_a_key_on_its_device(void)
{
	struct doca_mmap *mmap = map(dev), *idle;
	uint32_t key = 0;

	OK(key_of_buf(mmap));
	if (pd) {
		IS(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &key),
		   DOCA_SUCCESS);
		IS(key, key_of_buf(mmap));
		IS(doca_mmap_create(&idle), DOCA_SUCCESS);
		IS(doca_rdma_bridge_get_mmap_mkey_from_pd(idle, pd, &key),
		   DOCA_ERROR_BAD_STATE);
		IS(doca_mmap_destroy(idle), DOCA_SUCCESS);
	}
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* A device of its own, which works as any other. */
static void a_device_is_opened_on_a_protection_domain(void)
{
	struct doca_dev *other = NULL, *third = NULL;
	struct ibv_pd *same = NULL;
	struct doca_mmap *mmap;
	uint32_t key = 0;

	if (!pd) {
		OK(true);
		return;
	}
	IS(doca_rdma_bridge_open_dev_from_pd(pd, &other), DOCA_SUCCESS);
	OK(other != dev);
	IS(doca_rdma_bridge_get_dev_pd(other, &same), DOCA_SUCCESS);
	OK(same == pd);
	third = end_device();
	OK(third == dev);
	IS(doca_dev_close(third), DOCA_SUCCESS);
	mmap = map(other);
	IS(doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &key),
	   DOCA_SUCCESS);
	IS(doca_dev_close(other), DOCA_ERROR_IN_USE);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_dev_close(other), DOCA_SUCCESS);
}

static void connections_by_rdma_cm_are_not_supported(void)
{
	struct doca_rdma_connection *conn;

	IS(doca_rdma_bridge_prepare_connection(NULL, NULL, &conn),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_bridge_accept(NULL, NULL, 0, NULL),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_bridge_established(NULL, NULL), DOCA_ERROR_NOT_SUPPORTED);
}

int main(void)
{
	doca_error_t error;

	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(calls_without_an_object_fail);
	error = doca_rdma_bridge_get_dev_pd(dev, &pd);
	OK(error == DOCA_SUCCESS || error == DOCA_ERROR_NOT_SUPPORTED);
	IS(!!pd, !error);
	TEST(memory_has_a_key_on_its_device);
	TEST(a_device_is_opened_on_a_protection_domain);
	TEST(connections_by_rdma_cm_are_not_supported);
	doca_dev_close(dev);
	return tap_done();
}
