/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_version.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Devices and representors under the names of DOCA 2.0. */

static void the_list_ends_with_null(void)
{
	struct doca_devinfo **list;
	uint32_t count = 0, n = 0;

	IS(doca_devinfo_list_create(&list, &count), DOCA_SUCCESS);
	while (list[n])
		n++;
	IS(n, count);
	OK(n > 0);
	IS(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
	IS(doca_devinfo_list_create(NULL, &count), DOCA_ERROR_INVALID_VALUE);
}

static void a_device_has_its_names(void)
{
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct doca_dev *dev = desk_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint8_t is = 0;

	IS(doca_devinfo_get_pci_addr_str(info, pci), DOCA_SUCCESS);
	IS(doca_devinfo_is_equal_pci_addr(info, pci, &is), DOCA_SUCCESS);
	IS(is, 1);
	IS(doca_devinfo_is_equal_pci_addr(info, "0000:ff:1f.7", &is),
	   DOCA_SUCCESS);
	IS(is, 0);
	IS(doca_devinfo_get_iface_name(info, text, sizeof(text)),
	   DOCA_SUCCESS);
	OK(text[0]);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void a_device_answers_for_its_abilities(void)
{
	struct doca_dev *dev = desk_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t is = 0;

	IS(doca_devinfo_get_is_mmap_export_dpu_supported(info, &is),
	   DOCA_SUCCESS);
	IS(is, 1);
	is = 0;
	IS(doca_devinfo_get_is_mmap_from_export_dpu_supported(info, &is),
	   DOCA_SUCCESS);
	IS(is, 1);
	IS(doca_devinfo_get_is_hotplug_manager_supported(info, &is),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_get_is_hotplug_manager_supported(NULL, &is),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

/* Soft devices have none; those of verbs are the same after a round trip. */
static void protection_domains_are_those_of_verbs(void)
{
	struct doca_dev *dev = desk_device(), *other;
	struct ibv_pd *pd = NULL;
	doca_error_t error = doca_dev_get_pd(dev, &pd);

	IS(doca_dev_open_from_pd(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	if (error) {
		IS(error, DOCA_ERROR_NOT_SUPPORTED);
	} else if (IS(doca_dev_open_from_pd(pd, &other), DOCA_SUCCESS)) {
		IS(doca_dev_close(other), DOCA_SUCCESS);
	}
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void the_key_of_a_buffer_is_that_of_its_device(void)
{
	static struct desk desk;
	struct doca_buf *buf;
	uint32_t key = 0;

	desk_open(&desk);
	buf = desk_data(&desk, 0, 8);
	IS(doca_buf_get_mkey(buf, desk.dev, &key), DOCA_SUCCESS);
	OK(key);
	IS(doca_buf_get_mkey(buf, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
	desk_close(&desk);
}

/* One that is opened stands for the function of its address. */
static void open_rep(struct doca_devinfo_rep *info)
{
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	enum doca_pci_func_type type;
	struct doca_dev_rep *rep;
	uint8_t is = 0;

	IS(doca_devinfo_rep_get_pci_addr_str(info, pci), DOCA_SUCCESS);
	IS(doca_devinfo_rep_is_equal_pci_addr(info, pci, &is), DOCA_SUCCESS);
	IS(is, 1);
	IS(doca_devinfo_rep_get_pci_func_type(info, &type), DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_PF);
	IS(doca_dev_rep_open(info, &rep), DOCA_SUCCESS);
	OK(doca_dev_rep_as_devinfo(rep));
	IS(doca_dev_rep_close(rep), DOCA_SUCCESS);
}

static void representors_are_listed_and_opened(void)
{
	struct doca_dev *dev = desk_device();
	struct doca_devinfo_rep **list;
	uint32_t count = 77, n = 0;

	IS(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &list,
					&count), DOCA_SUCCESS);
	for (; list[n]; n++)
		open_rep(list[n]);
	IS(n, count);
	IS(doca_devinfo_rep_list_destroy(list), DOCA_SUCCESS);
	IS(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &list,
					NULL), DOCA_SUCCESS);
	IS(doca_devinfo_rep_list_destroy(list), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void the_version_is_that_of_the_headers(void)
{
	IS_STR(doca_version_runtime(), DOCA_VERSION_STRING);
	IS_STR(DOCA_VERSION_STRING, "2.0.2");
}

int main(void)
{
	TEST(the_list_ends_with_null);
	TEST(a_device_has_its_names);
	TEST(a_device_answers_for_its_abilities);
	TEST(protection_domains_are_those_of_verbs);
	TEST(the_key_of_a_buffer_is_that_of_its_device);
	TEST(representors_are_listed_and_opened);
	TEST(the_version_is_that_of_the_headers);
	return tap_done();
}
