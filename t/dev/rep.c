/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/dev.h>
#include <pier/error.h>

#include "dev/rep_impl.h"
#include "t/lib/esw.h"
#include "t/lib/tap.h"
#include "t/lib/tree.h"

/* Representors, of an adapter with a switch and of devices without one. */
static void functions_behind_the_ports_of_the_switch_are_listed(void)
{
	esw_lists(PIER_REP_ALL,
		  "pf0vf0 pf0vf1 pf0sf88 p0pf1 c1pf0 c1pf0vf2 ");
}

static void a_list_is_of_the_kinds_asked_for(void)
{
	esw_lists(PIER_REP_PF, "p0pf1 c1pf0 ");
	esw_lists(PIER_REP_VF, "pf0vf0 pf0vf1 c1pf0vf2 ");
	esw_lists(PIER_REP_SF, "pf0sf88 ");
	esw_lists(PIER_REP_PF | PIER_REP_SF, "pf0sf88 p0pf1 c1pf0 ");
}

static void unknown_kinds_are_refused(void)
{
	struct pier_replist *list = NULL;

	IS(pier__replist_create(esw_root, &esw_adapter, 0, &list), -EINVAL);
	LIKE(pier_last_error(), "0x0: 0x1 to 0x7");
	IS(pier__replist_create(esw_root, &esw_adapter, 8 | PIER_REP_VF, &list),
	   -EINVAL);
	LIKE(pier_last_error(), "0xa: 0x1 to 0x7");
	OK(!list);
	pier_replist_destroy(NULL);
}

static void an_entry_has_what_its_name_and_sysfs_report(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *rep = esw_find(list, "vf1");

	if (OK(rep)) {
		IS(pier_repinfo_kind(rep), PIER_REP_VF);
		IS(pier_repinfo_controller(rep), 0);
		IS(pier_repinfo_pf(rep), 0);
		IS(pier_repinfo_number(rep), 1);
		IS_STR(pier_repinfo_port(rep), "pf0vf1");
		IS_STR(pier_repinfo_netdev(rep), "vf1");
		IS_STR(pier_repinfo_vuid(rep), "PIER" ESW_ID "_pf0vf1");
		IS_STR(pier_repinfo_parent(rep), "mlx5_0:1");
		IS_STR(pier_repinfo_pci(rep), "0000:03:00.3");
	}
	rep = esw_find(list, "c1pf0vf2");
	if (OK(rep)) {
		IS(pier_repinfo_kind(rep), PIER_REP_VF);
		IS(pier_repinfo_controller(rep), 1);
		IS(pier_repinfo_number(rep), 2);
	}
	rep = esw_find(list, "sf88");
	if (OK(rep)) {
		IS(pier_repinfo_kind(rep), PIER_REP_SF);
		IS(pier_repinfo_number(rep), 88);
	}
	pier_replist_destroy(list);
}

static void a_function_has_the_address_that_sysfs_links_to(void)
{
	esw_pci_is("vf0", "0000:03:00.2");
	esw_pci_is("vf1", "0000:03:00.3");
	esw_pci_is("second", "0000:03:00.1");
	esw_port("first", ESW_ID, "pf0");
	esw_pci_is("first", "0000:03:00.0");
	esw_remake();
}

static void what_has_no_address_here_has_none(void)
{
	esw_pci_is("sf88", "");
	esw_pci_is("host", "");
	esw_pci_is("host_vf2", "");
	esw_port("vf7", ESW_ID, "pf0vf7");
	esw_pci_is("vf7", "");
	esw_port("pf9", ESW_ID, "pf9");
	esw_pci_is("pf9", "");
	esw_port("pf7", ESW_ID, "pf7");
	esw_pci_is("pf7", "");
	esw_remake();
}

static void a_representor_is_found_by_every_name_it_has(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *rep = esw_find(list, "vf1"), *none = NULL;

	OK(esw_find(list, "pf0vf1") == rep);
	OK(esw_find(list, "PIER" ESW_ID "_pf0vf1") == rep);
	OK(esw_find(list, "0000:03:00.3") == rep);
	OK(esw_find(list, "03:00.3") == rep);
	IS(pier_replist_find(list, "03:00.4", &none), -ENODEV);
	LIKE(pier_last_error(), "\"03:00.4\" among 6");
	IS(pier_replist_find(list, "", &none), -ENODEV);
	OK(!none);
	OK(!pier_replist_get(list, pier_replist_count(list)));
	pier_replist_destroy(list);
}

static void addresses_are_compared_with_and_without_domain(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *rep = esw_find(list, "vf1");

	if (OK(rep)) {
		OK(pier_repinfo_is_pci(rep, "0000:03:00.3"));
		OK(pier_repinfo_is_pci(rep, "03:00.3"));
		OK(!pier_repinfo_is_pci(rep, "0000:03:00.2"));
		OK(!pier_repinfo_is_pci(rep, "00.3"));
	}
	rep = esw_find(list, "sf88");
	if (OK(rep)) {
		OK(!pier_repinfo_is_pci(rep, ""));
		OK(!pier_repinfo_is_pci(rep, "0000:03:00.0"));
	}
	pier_replist_destroy(list);
}

static void vuids_differ(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	size_t n = pier_replist_count(list);

	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++)
			OK(strcmp(pier_repinfo_vuid(pier_replist_get(list, i)),
				  pier_repinfo_vuid(pier_replist_get(list,
								     j))));
	}
	pier_replist_destroy(list);
}

static void a_list_is_a_snapshot(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *rep = esw_find(list, "vf1");

	tree_remove(esw_root, "sys");
	IS(pier_replist_count(list), 6);
	if (OK(rep)) {
		IS_STR(pier_repinfo_netdev(rep), "vf1");
		IS_STR(pier_repinfo_pci(rep), "0000:03:00.3");
	}
	pier_replist_destroy(list);
	esw_lists(PIER_REP_ALL, "");
	esw_remake();
}

static void an_open_representor_outlives_the_list(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *info = esw_find(list, "vf1");
	struct pier_rep *rep = NULL;

	if (OK(info))
		IS(pier__rep_open(esw_root, info, &rep), 0);
	pier_replist_destroy(list);
	tree_remove(esw_root, "sys");
	if (OK(rep)) {
		info = pier_rep_info(rep);
		IS_STR(pier_repinfo_netdev(info), "vf1");
		IS_STR(pier_repinfo_vuid(info), "PIER" ESW_ID "_pf0vf1");
		IS(pier_repinfo_number(info), 1);
	}
	pier_rep_close(rep);
	pier_rep_close(NULL);
	esw_remake();
}

/* What was @netdev when it was listed cannot be opened now. */
static void is_not_opened(const struct pier_replist *list, const char *netdev)
{
	const struct pier_repinfo *info = esw_find(list, netdev);
	struct pier_rep *rep = NULL;

	if (!OK(info))
		return;
	IS(pier__rep_open(esw_root, info, &rep), -ENODEV);
	LIKE(pier_last_error(), "mlx5_0:1");
	LIKE(pier_last_error(), netdev);
	LIKE(pier_last_error(), "was removed or renamed");
	OK(!rep);
	pier_rep_close(rep);
}

static void what_was_removed_is_not_opened(void)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);

	tree_remove(esw_root, "sys/class/net/vf1");
	is_not_opened(list, "vf1");
	esw_port("vf0", ESW_ID, "pf0vf9");	/* another one has the name */
	is_not_opened(list, "vf0");
	esw_port("sf88", "00154d1300bd", "pf0sf88");
	is_not_opened(list, "sf88");
	pier_replist_destroy(list);
	esw_remake();
}

static void an_adapter_without_a_switch_has_none(void)
{
	static const struct pier__port plain = {
		.name = "mlx5_9",
		.port = 1,
		.netdev = "lo",
		.pci = "0000:03:00.0",
	};
	struct pier__port none = plain;
	struct pier_replist *list = esw_list_of(&plain, PIER_REP_ALL);

	IS(pier_replist_count(list), 0);
	pier_replist_destroy(list);
	none.netdev[0] = '\0';
	list = esw_list_of(&none, PIER_REP_ALL);
	IS(pier_replist_count(list), 0);
	pier_replist_destroy(list);
}

/* Of the device of the test itself. */
static void a_device_without_a_switch_represents_itself(void)
{
	const struct pier_devinfo *parent;
	const struct pier_repinfo *rep;
	struct pier_replist *list;
	struct pier_devlist *devs;
	struct pier_rep *open = NULL;
	char vuid[80];

	if (!IS(pier_devlist_create(&devs), 0) ||
	    !IS(pier_devlist_find(devs, "soft_lo", &parent), 0) ||
	    !IS(pier_replist_create(parent, PIER_REP_ALL, &list), 0))
		return;
	IS(pier_replist_count(list), 1);
	rep = esw_find(list, "lo");
	if (OK(rep)) {
		IS(pier_repinfo_kind(rep), PIER_REP_PF);
		IS_STR(pier_repinfo_pci(rep), pier_devinfo_pci(parent));
		IS_STR(pier_repinfo_parent(rep), "soft_lo:1");
		snprintf(vuid, sizeof(vuid), "PIER%s",
			 pier_devinfo_name(parent));
		IS_STR(pier_repinfo_vuid(rep), vuid);
		IS(pier_rep_open(rep, &open), 0);
	}
	pier_replist_destroy(list);
	pier_devlist_destroy(devs);
	if (OK(open))
		IS_STR(pier_repinfo_netdev(pier_rep_info(open)), "lo");
	pier_rep_close(open);
}

/* A representor outlives its device. */
static void a_name_is_enough_to_open_one(void)
{
	struct pier_rep *open = NULL;
	struct pier_dev *lo;

	if (!IS(pier_dev_open("soft_lo", &lo), 0))
		return;
	IS(pier_rep_open_by_name(lo, "pf1", &open), -ENODEV);
	LIKE(pier_last_error(), "address \"pf1\" among 1 representor");
	OK(!open);
	IS(pier_rep_open_by_name(lo, "pf0", &open), 0);
	pier_dev_close(lo);
	if (OK(open))
		IS_STR(pier_repinfo_netdev(pier_rep_info(open)), "lo");
	pier_rep_close(open);
}

static const struct pier__port no_such = {
	.name = "soft_no_such",
	.netdev = "no_such",
	.port = 1,
	.limits.self_rep = true,
};

static void it_is_a_pf_and_of_no_other_kind(void)
{
	struct pier_replist *list;

	list = esw_list_of(&no_such, PIER_REP_VF | PIER_REP_SF);
	IS(pier_replist_count(list), 0);
	pier_replist_destroy(list);
	list = esw_list_of(&no_such, PIER_REP_PF);
	IS(pier_replist_count(list), 1);
	pier_replist_destroy(list);
}

static void it_is_not_opened_without_its_device(void)
{
	struct pier_replist *list = esw_list_of(&no_such, PIER_REP_PF);
	const struct pier_repinfo *rep = esw_find(list, "no_such");
	struct pier_rep *open = NULL;

	if (OK(rep))
		IS(pier_rep_open(rep, &open), -ENODEV);
	LIKE(pier_last_error(), "soft_no_such:1");
	OK(!open);
	pier_replist_destroy(list);
}

/* A list of a real one: its entries are of this parent. */
static void has_a_list(const struct pier_devinfo *info)
{
	bool soft = !strcmp(pier_devinfo_kind(info), "soft");
	const struct pier_repinfo *rep;
	struct pier_replist *list;
	char parent[80];

	snprintf(parent, sizeof(parent), "%s:%u", pier_devinfo_name(info),
		 pier_devinfo_port(info));
	if (!IS(pier_replist_create(info, PIER_REP_ALL, &list), 0))
		return;
	if (soft)
		IS(pier_replist_count(list), 1);
	else
		tap_note("%s has %zu", parent, pier_replist_count(list));
	for (size_t i = 0; (rep = pier_replist_get(list, i)); i++)
		IS_STR(pier_repinfo_parent(rep), parent);
	pier_replist_destroy(list);
}

static void every_device_here_has_a_list(void)
{
	const struct pier_devinfo *info;
	struct pier_devlist *devs;

	if (!IS(pier_devlist_create(&devs), 0))
		return;
	for (size_t i = 0; (info = pier_devlist_get(devs, i)); i++)
		has_a_list(info);
	pier_devlist_destroy(devs);
}

int main(void)
{
	if (!esw_make())
		return tap_skip_all("no directory in /tmp");
	TEST(functions_behind_the_ports_of_the_switch_are_listed);
	TEST(a_list_is_of_the_kinds_asked_for);
	TEST(unknown_kinds_are_refused);
	TEST(an_entry_has_what_its_name_and_sysfs_report);
	TEST(a_function_has_the_address_that_sysfs_links_to);
	TEST(what_has_no_address_here_has_none);
	TEST(a_representor_is_found_by_every_name_it_has);
	TEST(addresses_are_compared_with_and_without_domain);
	TEST(vuids_differ);
	TEST(a_list_is_a_snapshot);
	TEST(an_open_representor_outlives_the_list);
	TEST(what_was_removed_is_not_opened);
	TEST(an_adapter_without_a_switch_has_none);
	TEST(a_device_without_a_switch_represents_itself);
	TEST(a_name_is_enough_to_open_one);
	TEST(it_is_a_pf_and_of_no_other_kind);
	TEST(it_is_not_opened_without_its_device);
	TEST(every_device_here_has_a_list);
	esw_remove();
	return tap_done();
}
