/* SPDX-License-Identifier: BSD-2-Clause */
#include <pier/desc.h>

#include "mem/mmap_impl.h"
#include "t/doca/ends.h"
#include "t/lib/port_instead.h"
#include "t/lib/tap.h"

/* A port of which the test decides what it has. */

static struct doca_dev *dev;
static struct doca_rdma *rdma;

static void open_rdma(void)
{
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
}

static void close_rdma(void)
{
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

static void a_gid_table_has_gaps(void)
{
	static const struct doca_rdma_gid unused;
	struct doca_rdma_gid gids[8];
	uint32_t size = 0;

	open_rdma();
	IS(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(dev), &size),
	   DOCA_SUCCESS);
	IS(size, 8);
	IS(doca_rdma_cap_get_gid(doca_dev_as_devinfo(dev), 0, size, gids),
	   DOCA_SUCCESS);
	for (uint32_t i = 0; i < size; i++) {
		bool used = i == 1 || i == 3 || i == 7;

		IS(!!memcmp(&gids[i], &unused, sizeof(unused)), used);
		IS(doca_rdma_set_gid_index(rdma, i),
		   used ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	}
	IS(doca_rdma_set_gid_index(rdma, size), DOCA_ERROR_INVALID_VALUE);
	close_rdma();
}

static void the_gid_of_ipv4_is_used_unless_one_is_set(void)
{
	uint32_t index = 0;

	open_rdma();
	IS(doca_rdma_get_gid_index(rdma, &index), DOCA_SUCCESS);
	IS(index, 3);
	IS(doca_rdma_set_gid_index(rdma, 7), DOCA_SUCCESS);
	IS(doca_rdma_get_gid_index(rdma, &index), DOCA_SUCCESS);
	IS(index, 7);
	close_rdma();
}

static void an_mtu_above_that_of_the_port_is_not_supported(void)
{
	open_rdma();
	IS(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES), DOCA_SUCCESS);
	IS(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_2K_BYTES),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET),
	   DOCA_ERROR_NOT_SUPPORTED);
	close_rdma();
}

static void ethernet_requires_a_global_header(void)
{
	uint8_t grh = 9;

	open_rdma();
	IS(doca_rdma_get_grh_enabled(rdma, &grh), DOCA_SUCCESS);
	IS(grh, 1);
	IS(doca_rdma_set_grh_enabled(rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_grh_enabled(rdma, 2), DOCA_SUCCESS);
	IS(doca_rdma_get_grh_enabled(rdma, &grh), DOCA_SUCCESS);
	IS(grh, 1);
	close_rdma();
	port_is_infiniband = true;
	open_rdma();
	IS(doca_rdma_get_grh_enabled(rdma, &grh), DOCA_SUCCESS);
	IS(grh, 0);
	IS(doca_rdma_set_grh_enabled(rdma, 1), DOCA_SUCCESS);
	IS(doca_rdma_set_grh_enabled(rdma, 0), DOCA_SUCCESS);
	close_rdma();
	port_is_infiniband = false;
}

/* 64 bytes that peers may read. */
static struct doca_mmap *share_memory(const void **desc, size_t *len)
{
	static char memory[64];
	struct doca_mmap *mmap = NULL;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ),
	   DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(mmap, dev, desc, len), DOCA_SUCCESS);
	return mmap;
}

/* An event that peers may set. */
static struct doca_sync_event *share_event(const uint8_t **desc, size_t *len)
{
	struct doca_sync_event *event = NULL;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_net(event, desc, len),
	   DOCA_SUCCESS);
	return event;
}

static void a_device_that_cannot_import_does_not(void)
{
	struct doca_mmap *mmap, *import;
	const void *desc;
	size_t len;

	mmap = share_memory(&desc, &len);
	port_cannot_import = true;
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_ERROR_NOT_SUPPORTED);
	port_cannot_import = false;
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* What @desc of @kind describes, on a device of the other link layer. */
static size_t on_other_link(enum pier__wire_kind kind, const void *desc,
			    size_t len, uint8_t *ret)
{
	struct pier_mmap *mmap = NULL;
	int n;

	if (!IS(pier__mmap_import(NULL, desc, len, kind, &mmap), 0))
		return 0;
	mmap->remote = false;		/* only these are described */
	mmap->keys[0].link_layer = IBV_LINK_LAYER_INFINIBAND +
				   IBV_LINK_LAYER_ETHERNET -
				   mmap->keys[0].link_layer;
	n = pier__mmap_describe(mmap, 0, ret, PIER_DESC_MAX);
	mmap->remote = true;
	pier_mmap_destroy(mmap);
	return OK(n > 0) ? (size_t)n : 0;
}

static void imports_from_another_link_layer_are_not_supported(void)
{
	struct doca_sync_event_remote_net *remote = NULL;
	struct doca_mmap *mmap, *import = NULL;
	struct doca_sync_event *event;
	uint8_t other[PIER_DESC_MAX];
	const uint8_t *event_desc;
	const void *desc;
	size_t len;

	mmap = share_memory(&desc, &len);
	len = on_other_link(PIER__WIRE_MMAP, desc, len, other);
	IS(doca_mmap_create_from_export(NULL, other, len, dev, &import),
	   DOCA_ERROR_NOT_SUPPORTED);
	OK(!import);
	event = share_event(&event_desc, &len);
	IS(doca_sync_event_remote_net_create_from_export(dev, event_desc, len,
							 &remote),
	   DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	remote = NULL;
	len = on_other_link(PIER__WIRE_SYNC_EVENT, event_desc, len, other);
	IS(doca_sync_event_remote_net_create_from_export(dev, other, len,
							 &remote),
	   DOCA_ERROR_NOT_SUPPORTED);
	OK(!remote);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(a_gid_table_has_gaps);
	TEST(the_gid_of_ipv4_is_used_unless_one_is_set);
	TEST(an_mtu_above_that_of_the_port_is_not_supported);
	TEST(ethernet_requires_a_global_header);
	TEST(a_device_that_cannot_import_does_not);
	TEST(imports_from_another_link_layer_are_not_supported);
	doca_dev_close(dev);
	return tap_done();
}
