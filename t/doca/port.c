/* SPDX-License-Identifier: BSD-2-Clause */
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

static void a_device_that_cannot_import_does_not(void)
{
	static char memory[64];
	struct doca_mmap *mmap, *import;
	const void *desc;
	size_t len;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ),
	   DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(mmap, dev, &desc, &len), DOCA_SUCCESS);
	port_cannot_import = true;
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_ERROR_NOT_SUPPORTED);
	port_cannot_import = false;
	IS(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
	   DOCA_SUCCESS);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
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
	doca_dev_close(dev);
	return tap_done();
}
