/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <pier/error.h>

#include "dev/rep_impl.h"
#include "t/lib/esw.h"
#include "t/lib/tap.h"
#include "t/lib/tree.h"

char esw_root[] = "/tmp/pier-esw.XXXXXX";

const struct pier__port esw_adapter = {
	.name = "mlx5_0",
	.port = 1,
	.netdev = "eth0",
	.pci = "0000:03:00.0",
};

void esw_port(const char *netdev, const char *id, const char *name)
{
	char path[128], text[512];

	snprintf(path, sizeof(path), "sys/class/net/%s/phys_switch_id", netdev);
	snprintf(text, sizeof(text), "%s\n", id);
	tree_file(esw_root, path, text);
	snprintf(path, sizeof(path), "sys/class/net/%s/phys_port_name", netdev);
	snprintf(text, sizeof(text), "%s\n", name);
	tree_file(esw_root, path, text);
}

/* Function @fn, as "0", of the adapter, on the bus. */
static void make_function(const char *fn)
{
	char path[128], target[128];

	snprintf(path, sizeof(path), ESW_PCI "%s/vendor", fn);
	tree_file(esw_root, path, "0x15b3\n");
	snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:03:00.%s", fn);
	snprintf(target, sizeof(target), "../../../../" ESW_PCI "%s", fn);
	tree_link(esw_root, path, target);
}

static void fill(void)
{
	make_function("0");
	make_function("1");
	make_function("2");
	make_function("3");
	tree_link(esw_root, ESW_PCI "0/virtfn0", "../0000:03:00.2");
	tree_link(esw_root, ESW_PCI "0/virtfn1", "../0000:03:00.3");
	esw_port("eth0", ESW_ID, "p0");
	esw_port("vf1", ESW_ID, "pf0vf1");
	esw_port("vf0", ESW_ID, "pf0vf0");
	esw_port("sf88", ESW_ID, "pf0sf88");
	esw_port("host_vf2", ESW_ID, "c1pf0vf2");
	esw_port("host", ESW_ID, "c1pf0");
	esw_port("second", ESW_ID, "p0pf1");
	esw_port("other", "00154d1300bd", "pf0vf0");
	tree_file(esw_root, "sys/class/net/lo/mtu", "65536\n");
	tree_file(esw_root, "sys/class/net/bonding_masters", "\n");
}

bool esw_make(void)
{
	if (!mkdtemp(esw_root))
		return false;
	fill();
	return true;
}

void esw_remove(void)
{
	tree_remove(esw_root, "");
}

void esw_remake(void)
{
	tree_remove(esw_root, "sys");
	fill();
}

struct pier_replist *esw_list_of(const struct pier__port *parent,
				 unsigned int kinds)
{
	struct pier_replist *list = NULL;

	if (!IS(pier__replist_create(esw_root, parent, kinds, &list), 0))
		tap_note("%s", pier_last_error());
	return list;
}

struct pier_replist *esw_list(unsigned int kinds)
{
	return esw_list_of(&esw_adapter, kinds);
}

void esw_lists(unsigned int kinds, const char *want)
{
	struct pier_replist *list = esw_list(kinds);
	const struct pier_repinfo *rep;
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; list && (rep = pier_replist_get(list, i)); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ",
					pier_repinfo_port(rep));
	IS_STR(text, want);
	pier_replist_destroy(list);
}

const struct pier_repinfo *esw_find(const struct pier_replist *list,
				    const char *name)
{
	const struct pier_repinfo *rep = NULL;

	if (!IS(pier_replist_find(list, name, &rep), 0))
		tap_note("%s", pier_last_error());
	return rep;
}

void esw_pci_is(const char *netdev, const char *pci)
{
	struct pier_replist *list = esw_list(PIER_REP_ALL);
	const struct pier_repinfo *rep = esw_find(list, netdev);

	if (OK(rep))
		IS_STR(pier_repinfo_pci(rep), pci);
	pier_replist_destroy(list);
}
