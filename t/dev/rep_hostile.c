/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <pier/error.h>

#include "dev/rep_impl.h"
#include "t/lib/esw.h"
#include "t/lib/tap.h"
#include "t/lib/tree.h"

/* What representors are made of in a sysfs with faults of every sort. */

/* As EOPNOTSUPP: the file is there, is opened, and fails to be read. */
static void a_switch_that_cannot_be_read_is_none(void)
{
	tree_remove(esw_root, "sys/class/net/eth0/phys_switch_id");
	esw_lists(PIER_REP_ALL, "");
	tree_file(esw_root, "sys/class/net/eth0/phys_switch_id/x", "");
	esw_lists(PIER_REP_ALL, "");
	esw_remake();
	tree_remove(esw_root, "sys/class/net/vf0/phys_port_name");
	tree_file(esw_root, "sys/class/net/vf0/phys_port_name/x", "");
	tree_remove(esw_root, "sys/class/net/vf1/phys_switch_id");
	tree_file(esw_root, "sys/class/net/vf1/phys_switch_id/x", "");
	esw_lists(PIER_REP_VF, "c1pf0vf2 ");
	esw_remake();
}

static void a_switch_id_is_of_hexadecimal_digits(void)
{
	static const char *const ids[] = {
		"", "\n", "e41d2d 0300fd8b3a", "../..", "%s%n", "xyz",
		/* 65 digits, one more than the kernel has */
		"0123456789012345678901234567890123456789012345678901234567890"
		"1234",
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		esw_port("eth0", ids[i], "p0");
		esw_port("vf0", ids[i], "pf0vf0");
		esw_lists(PIER_REP_ALL, "");
	}
	esw_remake();
}

/* As the longest of the kernel. */
static void a_switch_id_has_up_to_32_bytes(void)
{
	static const char id[] = "0123456789abcdef0123456789abcdef"
				 "0123456789abcdef0123456789abcdef";
	struct pier_replist *list;
	const struct pier_repinfo *rep;

	esw_port("eth0", id, "p0");
	esw_port("vf0", id, "pf0vf123456789");
	list = esw_list(PIER_REP_ALL);
	IS(pier_replist_count(list), 1);
	rep = esw_find(list, "vf0");
	if (OK(rep)) {
		IS(strncmp(pier_repinfo_vuid(rep) + 4, id, 64), 0);
		IS_STR(pier_repinfo_vuid(rep) + 68, "_pf0vf123456789");
	}
	pier_replist_destroy(list);
	esw_remake();
}

static bool parses(const char *name)
{
	struct pier_repinfo rep = { .kind = PIER_REP_PF };

	snprintf(rep.port, sizeof(rep.port), "%s", name);
	return pier__rep_parse(&rep);
}

static void every_form_of_the_kernel_is_read(void)
{
	OK(parses("pf0"));
	OK(parses("p1pf0"));
	OK(parses("c2pf15"));
	OK(parses("pf1vf255"));
	OK(parses("c1pf0vf2"));
	OK(parses("p0pf1vf2"));
	OK(parses("pf0sf88"));
	OK(parses("c1pf0sf88"));
	OK(parses("c1p0pf0sf88"));
	OK(parses("pf4294967295"));
}

static void ports_of_cables_stand_for_no_function(void)
{
	OK(!parses("p0"));
	OK(!parses("p0s1"));
	OK(!parses("l2p1"));
	OK(!parses("c1p0"));
}

static void other_names_stand_for_no_function(void)
{
	static const char *const names[] = {
		"", " ", "0", "17", "pf", "pfvf0", "pf0vf", "pf0sf", "pf0vf1 ",
		" pf0vf1", "pf0vf1x", "pf0vf1sf2", "pf0vf1vf2", "PF0VF1",
		"pf-1", "pf+1", "pf0vf-1", "pf00", "pf01vf1", "pf0x1", "pf0.1",
		"cpf0", "c1", "c1c1pf0", "p0p0pf0", "pf0hpf", "pf0vf0x0",
		"pf4294967296", "c99999999999pf0", "pf0vf99999999999", "vf0",
		"sf1", "pf0,pf1", "%s%s%n", "\xff\xfe",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!OK(!parses(names[i])))
			tap_note("\"%s\"", names[i]);
	}
}

static void a_name_that_is_too_long_is_no_name(void)
{
	char name[301];

	memset(name, '1', sizeof(name));
	memcpy(name, "pf1vf", 5);
	name[300] = '\0';
	esw_port("vf0", ESW_ID, name);
	esw_port("vf1", ESW_ID, "pf0vf1234567890");	/* 15 characters */
	esw_lists(PIER_REP_VF, "pf0vf1234567890 c1pf0vf2 ");
	esw_port("vf1", ESW_ID, "pf0vf1234567890\n1");
	esw_lists(PIER_REP_VF, "pf0vf1234567890 c1pf0vf2 ");
	esw_port("vf1", ESW_ID, "pf10vf1234567890");	/* cut: another */
	esw_lists(PIER_REP_VF, "c1pf0vf2 ");
	esw_port("a_netdev_of_15c", ESW_ID, "pf0vf3");
	esw_port("a_netdev_of_15chars", ESW_ID, "pf0vf4");
	esw_lists(PIER_REP_VF, "pf0vf3 c1pf0vf2 ");
	esw_remake();
}

static void loops_of_links_end(void)
{
	tree_remove(esw_root, ESW_PCI "0/virtfn0");
	tree_link(esw_root, ESW_PCI "0/virtfn0", "virtfn0");
	tree_link(esw_root, "sys/class/net/self", "self");
	tree_link(esw_root, "sys/class/net/ping", "pong");
	tree_link(esw_root, "sys/class/net/pong", "ping");
	tree_link(esw_root, "sys/class/net/up", "../net");
	esw_pci_is("vf0", "");
	esw_pci_is("vf1", "0000:03:00.3");
	esw_lists(PIER_REP_VF, "pf0vf0 pf0vf1 c1pf0vf2 ");
	tree_remove(esw_root, "sys/bus/pci/devices/0000:03:00.0");
	tree_link(esw_root, "sys/bus/pci/devices/0000:03:00.0",
		  "0000:03:00.0");
	esw_pci_is("vf1", "");
	esw_remake();
}

static void a_directory_that_cannot_be_read_is_an_error(void)
{
	struct pier_replist *list = NULL;

	tree_remove(esw_root, "sys/class/net");
	tree_file(esw_root, "sys/class/net", "");
	IS(pier__replist_create(esw_root, &esw_adapter, PIER_REP_ALL, &list),
	   -ENOTDIR);
	LIKE(pier_last_error(), "sys/class/net");
	OK(!list);
	pier_replist_destroy(list);
	esw_remake();
}

static void a_lack_of_descriptors_is_an_error(void)
{
	struct pier_replist *list = NULL;
	struct rlimit old, none;

	IS(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	IS(setrlimit(RLIMIT_NOFILE, &none), 0);
	IS(pier__replist_create(esw_root, &esw_adapter, PIER_REP_ALL, &list),
	   -EMFILE);
	IS(setrlimit(RLIMIT_NOFILE, &old), 0);
	LIKE(pier_last_error(), "sys/class/net");
	OK(!list);
	pier_replist_destroy(list);
}

#define MANY 3000

static void thousands_are_listed_in_order(void)
{
	struct pier_replist *list;
	const struct pier_repinfo *rep;
	char netdev[16], name[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(netdev, sizeof(netdev), "sf%d", i * 7 % MANY);
		snprintf(name, sizeof(name), "pf2sf%d", i * 7 % MANY);
		esw_port(netdev, ESW_ID, name);
	}
	list = esw_list(PIER_REP_SF);
	IS(pier_replist_count(list), MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		rep = pier_replist_get(list, i);
		if (!OK(rep && pier_repinfo_number(rep) == i))
			break;
	}
	pier_replist_destroy(list);
	esw_remake();
}

int main(void)
{
	if (!esw_make())
		return tap_skip_all("no directory in /tmp");
	TEST(a_switch_that_cannot_be_read_is_none);
	TEST(a_switch_id_is_of_hexadecimal_digits);
	TEST(a_switch_id_has_up_to_32_bytes);
	TEST(every_form_of_the_kernel_is_read);
	TEST(ports_of_cables_stand_for_no_function);
	TEST(other_names_stand_for_no_function);
	TEST(a_name_that_is_too_long_is_no_name);
	TEST(loops_of_links_end);
	TEST(a_directory_that_cannot_be_read_is_an_error);
	TEST(a_lack_of_descriptors_is_an_error);
	TEST(thousands_are_listed_in_order);
	esw_remove();
	return tap_done();
}
