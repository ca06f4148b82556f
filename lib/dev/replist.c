/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "dev/rep_impl.h"

struct pier_replist {
	struct pier_repinfo *info;
	size_t count;
};

/*
 * The function behind the port, as it is a link below its PF, which is in the
 * slot of the parent.
 */
static void find_pci(const char *root, const struct pier__port *parent,
		     struct pier_repinfo *rep)
{
	const char *dot = strrchr(parent->pci, '.');
	char path[PATH_MAX], vf[32] = "";

	rep->pci[0] = '\0';
	if (rep->controller || rep->kind == PIER_REP_SF || !dot)
		return;
	if (rep->kind == PIER_REP_VF)
		snprintf(vf, sizeof(vf), "/virtfn%u", rep->number);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%.*s.%u%s", root,
		 (int)(dot - parent->pci), parent->pci, rep->pf, vf);
	pier__pci_of_link(path, rep->pci);
}

static int reserve(struct pier_replist *list, size_t count)
{
	list->info = calloc(count + 1, sizeof(*list->info));
	if (!list->info)
		return pier__fail(-ENOMEM, "no memory for %zu representors",
				  count);
	return 0;
}

static void name_parent(const struct pier__port *parent,
			struct pier_repinfo *rep)
{
	snprintf(rep->parent, sizeof(rep->parent), "%s:%u", parent->name,
		 parent->port);
}

/* A device without a switch. */
static int add_itself(struct pier_replist *list,
		      const struct pier__port *parent, unsigned int kinds)
{
	struct pier_repinfo *rep;
	int err;

	if (!(kinds & PIER_REP_PF))
		return 0;
	err = reserve(list, 1);
	if (err)
		return err;
	rep = list->info;
	rep->kind = PIER_REP_PF;
	name_parent(parent, rep);
	memcpy(rep->netdev, parent->netdev, sizeof(rep->netdev));
	memcpy(rep->pci, parent->pci, sizeof(rep->pci));
	snprintf(rep->port, sizeof(rep->port), "pf0");
	snprintf(rep->vuid, sizeof(rep->vuid), "PIER%s", parent->name);
	list->count = 1;
	return 0;
}

/* Add @netdev if it is a port of @switch_id with a function behind it. */
static void add_port(struct pier_replist *list, const char *root,
		     const struct pier__port *parent, const char *switch_id,
		     unsigned int kinds, const char *netdev)
{
	struct pier_repinfo *rep = &list->info[list->count];

	snprintf(rep->netdev, sizeof(rep->netdev), "%.15s", netdev);
	pier__rep_read(root, rep);
	if (strcmp(rep->switch_id, switch_id) || !pier__rep_parse(rep) ||
	    !(rep->kind & kinds))
		return;
	name_parent(parent, rep);
	find_pci(root, parent, rep);
	snprintf(rep->vuid, sizeof(rep->vuid), "PIER%s_%s", rep->switch_id,
		 rep->port);
	list->count++;
}

/* There are other entries than interfaces, and names have 15 characters. */
static int is_netdev(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       strlen(entry->d_name) <
		       sizeof(((struct pier_repinfo *)0)->netdev);
}

static int compare(const void *one, const void *two)
{
	const struct pier_repinfo *a = one, *b = two;
	const uint32_t keys[][2] = {
		{ a->controller, b->controller },
		{ a->pf, b->pf },
		{ a->kind, b->kind },
		{ a->number, b->number },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return strcmp(a->netdev, b->netdev);
}

/* Of the interfaces @names those that are ports of the parent's switch. */
static int add_ports(struct pier_replist *list, const char *root,
		     const struct pier__port *parent, unsigned int kinds,
		     struct dirent *const *names, size_t count)
{
	struct pier_repinfo own = { 0 };
	int err;

	memcpy(own.netdev, parent->netdev, sizeof(own.netdev));
	pier__rep_read(root, &own);
	if (!own.switch_id[0])
		return 0;
	err = reserve(list, count);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		add_port(list, root, parent, own.switch_id, kinds,
			 names[i]->d_name);
	qsort(list->info, list->count, sizeof(*list->info), compare);
	return 0;
}

static int add_switch(struct pier_replist *list, const char *root,
		      const struct pier__port *parent, unsigned int kinds)
{
	struct dirent **names;
	char path[PATH_MAX];
	int err, n;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	n = scandir(path, &names, is_netdev, NULL);
	if (n < 0 && errno == ENOENT)	/* no sysfs, no switch */
		return 0;
	if (n < 0) {
		err = -errno;
		return pier__fail(err, "%s: cannot list %s: %s", parent->name,
				  path, pier_strerror(err));
	}
	err = add_ports(list, root, parent, kinds, names, (size_t)n);
	while (n)
		free(names[--n]);
	free(names);
	return err;
}

int pier__replist_create(const char *root, const struct pier__port *parent,
			 unsigned int kinds, struct pier_replist **ret)
{
	struct pier_replist *list;
	int err;

	if (!kinds || kinds & ~(unsigned int)PIER_REP_ALL)
		return pier__fail(-EINVAL, "kinds of representors 0x%x: "
				  "0x1 to 0x%x", kinds, PIER_REP_ALL);
	list = calloc(1, sizeof(*list));
	if (!list)
		return pier__fail(-ENOMEM, "representors: no memory");
	if (parent->limits.self_rep)
		err = add_itself(list, parent, kinds);
	else
		err = add_switch(list, root, parent, kinds);
	if (err) {
		pier_replist_destroy(list);
		return err;
	}

	*ret = list;
	return 0;
}

int pier_replist_create(const struct pier_devinfo *parent, unsigned int kinds,
			struct pier_replist **ret)
{
	if (!parent)
		return pier__no_object(__func__);
	return pier__replist_create("", &parent->port, kinds, ret);
}

void pier_replist_destroy(struct pier_replist *list)
{
	if (!list)
		return;
	free(list->info);
	free(list);
}

size_t pier_replist_count(const struct pier_replist *list)
{
	if (!list)
		return 0;
	return list->count;
}

const struct pier_repinfo *pier_replist_get(const struct pier_replist *list,
					    size_t i)
{
	if (!list)
		return NULL;
	return i < list->count ? &list->info[i] : NULL;
}

static bool is_named(const struct pier_repinfo *rep, const char *name)
{
	return !strcmp(rep->port, name) || !strcmp(rep->vuid, name) ||
	       (rep->netdev[0] && !strcmp(rep->netdev, name)) ||
	       pier__pci_is(rep->pci, name);
}

int pier_replist_find(const struct pier_replist *list, const char *name,
		      const struct pier_repinfo **ret)
{
	if (!list || !name)
		return pier__no_object(__func__);
	for (size_t i = 0; i < list->count; i++) {
		if (is_named(&list->info[i], name)) {
			*ret = &list->info[i];
			return 0;
		}
	}
	return pier__fail(-ENODEV, "no netdev, port, id or PCI address "
			  "\"%.100s\" among %zu representors", name,
			  list->count);
}
