/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <doca_dev.h>
#include <doca_error.h>

#include "t/lib/esw.h"
#include "t/lib/tap.h"
#include "t/lib/tree.h"

/*
 * Representors as programs for DOCA have them: of a soft device, and of an
 * adapter in switchdev mode.  For the adapter the library reads the tree of
 * t/lib/esw.c instead of /sys.
 */
static struct doca_dev *dev;

static void open_soft_lo(void)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	if (!IS(doca_devinfo_create_list(&list, &count), DOCA_SUCCESS))
		return;
	for (uint32_t i = 0; i < count && !dev; i++) {
		if (!doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) &&
		    !strcmp(name, "soft_lo"))
			IS(doca_dev_open(list[i], &dev), DOCA_SUCCESS);
	}
	IS(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static struct doca_devinfo_rep **list_of(int filter, uint32_t want)
{
	struct doca_devinfo_rep **list = NULL;
	uint32_t count = 99;

	if (!IS(doca_devinfo_rep_create_list(dev, filter, &list, &count),
		DOCA_SUCCESS))
		return NULL;
	IS(count, want);
	OK(!list[count]);
	return list;
}

/* The first of @list with the interface @name. */
static struct doca_devinfo_rep *find(struct doca_devinfo_rep **list,
				     const char *name)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];

	for (; list && *list; list++) {
		if (!doca_devinfo_rep_get_iface_name(*list, iface,
						     sizeof(iface)) &&
		    !strcmp(iface, name))
			return *list;
	}
	return NULL;
}

static void a_soft_device_has_one_of_its_own_address(void)
{
	struct doca_devinfo_rep **list;
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], own[sizeof(pci)];
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	uint8_t equal = 2;

	IS(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), own),
	   DOCA_SUCCESS);
	list = list_of(DOCA_DEVINFO_REP_FILTER_NET, 1);
	if (!list)
		return;
	IS(doca_devinfo_rep_get_pci_addr_str(list[0], pci), DOCA_SUCCESS);
	IS_STR(pci, own);
	IS(doca_devinfo_rep_is_equal_pci_addr(list[0], own, &equal),
	   DOCA_SUCCESS);
	IS(equal, 1);
	IS(doca_devinfo_rep_get_pci_func_type(list[0], &type), DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_TYPE_PF);
	IS(doca_devinfo_rep_get_vuid(list[0], vuid, sizeof(vuid)),
	   DOCA_SUCCESS);
	IS_STR(vuid, "PIERsoft_lo");
	OK(find(list, "lo") == list[0]);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
}

static void functions_of_an_adapter_have_their_types(void)
{
	struct doca_devinfo_rep **list;
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_PF;

	esw_instead = true;
	list = list_of(DOCA_DEVINFO_REP_FILTER_ALL, 6);
	IS(doca_devinfo_rep_get_pci_func_type(find(list, "vf1"), &type),
	   DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_TYPE_VF);
	IS(doca_devinfo_rep_get_pci_func_type(find(list, "sf88"), &type),
	   DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_TYPE_SF);
	IS(doca_devinfo_rep_get_pci_func_type(find(list, "host"), &type),
	   DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_TYPE_PF);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_instead = false;
}

static void addresses_are_compared_by_value(void)
{
	struct doca_devinfo_rep **list, *rep;
	uint8_t equal = 2;

	esw_instead = true;
	list = list_of(DOCA_DEVINFO_REP_FILTER_NET, 6);
	rep = find(list, "vf1");
	IS(doca_devinfo_rep_is_equal_pci_addr(rep, "0000:03:00.3", &equal),
	   DOCA_SUCCESS);
	IS(equal, 1);
	equal = 2;
	IS(doca_devinfo_rep_is_equal_pci_addr(rep, "03:00.3", &equal),
	   DOCA_SUCCESS);
	IS(equal, 1);
	IS(doca_devinfo_rep_is_equal_pci_addr(rep, "0001:03:00.3", &equal),
	   DOCA_SUCCESS);
	IS(equal, 0);
	equal = 2;
	IS(doca_devinfo_rep_is_equal_pci_addr(rep, "03:00", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	IS(equal, 2);
	IS(doca_devinfo_rep_is_equal_pci_addr(find(list, "sf88"), "03:00.0",
					      &equal), DOCA_SUCCESS);
	IS(equal, 0);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_instead = false;
}

static void what_a_representor_lacks_is_not_supported(void)
{
	char text[DOCA_DEVINFO_REP_VUID_SIZE] = "?";
	struct doca_devinfo_rep **list, *rep;
	uint8_t hotplug = 2;
	uint16_t id;

	esw_instead = true;
	list = list_of(DOCA_DEVINFO_REP_FILTER_NET, 6);
	rep = find(list, "sf88");
	IS(doca_devinfo_rep_get_pci_addr_str(rep, text),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS_STR(text, "?");
	IS(doca_devinfo_rep_get_vhca_id(rep, &id), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_rep_get_is_hotplug(rep, &hotplug), DOCA_SUCCESS);
	IS(hotplug, 0);
	IS(doca_devinfo_rep_get_vuid(rep, text, 4), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_get_vuid(rep, text, sizeof(text)), DOCA_SUCCESS);
	IS_STR(text, "PIER" ESW_ID "_pf0sf88");
	IS(doca_devinfo_rep_get_iface_name(rep, text, 4),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_instead = false;
}

static void a_list_is_a_snapshot(void)
{
	char text[DOCA_DEVINFO_REP_VUID_SIZE] = "";
	struct doca_devinfo_rep **list, *rep;
	struct doca_dev_rep *open = NULL;

	esw_instead = true;
	list = list_of(DOCA_DEVINFO_REP_FILTER_NET, 6);
	rep = find(list, "vf1");
	tree_remove(esw_root, "sys");
	OK(find(list, "vf1") == rep);
	IS(doca_devinfo_rep_get_pci_addr_str(rep, text), DOCA_SUCCESS);
	IS_STR(text, "0000:03:00.3");
	IS(doca_dev_rep_open(rep, &open), DOCA_ERROR_NOT_FOUND);
	OK(!open);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_remake();
	esw_instead = false;
}

/* As a host's, whose switch is not its own. */
static void a_device_without_representors_has_an_empty_list(void)
{
	struct doca_devinfo_rep **list;

	esw_instead = true;
	tree_remove(esw_root, "sys");
	list = list_of(DOCA_DEVINFO_REP_FILTER_ALL, 0);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_remake();
	list = list_of(DOCA_DEVINFO_REP_FILTER_ALL, 6);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	esw_instead = false;
}

static void an_open_one_outlives_the_list(void)
{
	char text[DOCA_DEVINFO_REP_VUID_SIZE] = "";
	struct doca_dev_rep *one = NULL, *two = NULL;
	struct doca_devinfo_rep **list;

	esw_instead = true;
	list = list_of(DOCA_DEVINFO_REP_FILTER_NET, 6);
	IS(doca_dev_rep_open(find(list, "vf1"), &one), DOCA_SUCCESS);
	IS(doca_dev_rep_open(find(list, "vf1"), &two), DOCA_SUCCESS);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	IS(doca_dev_rep_close(one), DOCA_SUCCESS);
	IS(doca_devinfo_rep_get_vuid(doca_dev_rep_as_devinfo(two), text,
				     sizeof(text)), DOCA_SUCCESS);
	IS_STR(text, "PIER" ESW_ID "_pf0vf1");
	IS(doca_dev_rep_close(two), DOCA_SUCCESS);
	IS(doca_dev_rep_close(NULL), DOCA_SUCCESS);
	esw_instead = false;
}

static void filters_are_checked(void)
{
	struct doca_devinfo_rep **list = NULL;
	uint32_t count = 99;

	IS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_EMULATED,
					&list, &count),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET |
					DOCA_DEVINFO_REP_FILTER_EMULATED,
					&list, &count),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_rep_create_list(dev, 1, &list, &count),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_create_list(dev, -1, &list, &count),
	   DOCA_ERROR_INVALID_VALUE);
	OK(!list);
	IS(count, 99);
}

static void filters_are_reported(void)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t all = 2, net = 2, emulated = 2;

	IS(doca_devinfo_rep_cap_is_filter_all_supported(info, &all),
	   DOCA_SUCCESS);
	IS(doca_devinfo_rep_cap_is_filter_net_supported(info, &net),
	   DOCA_SUCCESS);
	IS(doca_devinfo_rep_cap_is_filter_emulated_supported(info, &emulated),
	   DOCA_SUCCESS);
	IS(all, 1);
	IS(net, 1);
	IS(emulated, 0);
	IS(doca_devinfo_rep_cap_is_filter_all_supported(NULL, &all),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_cap_is_filter_net_supported(info, NULL),
	   DOCA_ERROR_INVALID_VALUE);
}

static void calls_without_an_object_are_refused(void)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *open;
	uint32_t count;
	uint8_t equal;

	IS(doca_devinfo_rep_create_list(NULL, 0, &list, &count),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_create_list(dev, 0, NULL, &count),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_create_list(dev, 0, &list, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_dev_rep_open(NULL, &open), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_rep_is_equal_pci_addr(NULL, "03:00.0", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	OK(!doca_dev_rep_as_devinfo(NULL));
}

int main(void)
{
	if (!esw_make())
		return tap_skip_all("no directory in /tmp");
	open_soft_lo();
	if (dev) {
		TEST(a_soft_device_has_one_of_its_own_address);
		TEST(functions_of_an_adapter_have_their_types);
		TEST(addresses_are_compared_by_value);
		TEST(what_a_representor_lacks_is_not_supported);
		TEST(a_list_is_a_snapshot);
		TEST(a_device_without_representors_has_an_empty_list);
		TEST(an_open_one_outlives_the_list);
		TEST(filters_are_checked);
		TEST(filters_are_reported);
		TEST(calls_without_an_object_are_refused);
	}
	doca_dev_close(dev);
	esw_remove();
	return tap_done();
}
