/* SPDX-License-Identifier: BSD-2-Clause */
/* Folders of soft devices, and what is in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/dropin.h"
#include "dropin/files/files.h"

/* Without memory it is left out. */
static void add(struct dropin_names *names, const char *name, size_t len)
{
	char (*more)[DROPIN_NAME];
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!strncmp(names->name[i], name, len) &&
		    !names->name[i][len])
			return;
	more = len && len < DROPIN_NAME ?
		       realloc(names->name, (i + 1) * sizeof(*more)) : NULL;
	if (!more)
		return;
	names->name = more;
	memcpy(more[i], name, len);
	more[i][len] = '\0';
	names->count++;
}

static void add_gids(struct dropin_names *names, uint32_t count)
{
	char name[DROPIN_NAME];
	uint32_t gid;

	for (gid = 0; gid < count; gid++)
		add(names, name, (size_t)sprintf(name, "%u", gid));
}

/* What of @name, a path, is within @folder: "", or it ends with a slash. */
static void add_within(struct dropin_names *names, const char *folder,
		       const char *name)
{
	const char *rest = pier__dropin_behind(name, folder);

	if (rest)
		add(names, rest, strcspn(rest, "/"));
}

/* What is in @folder of the device of @port. */
static void list_device(struct dropin_names *names, const char *folder,
			const struct pier__port *port)
{
	char net[DROPIN_NAME];
	const char *name;
	bool by_gid;
	size_t i;

	for (i = 0; (name = pier__dropin_file_name(i, &by_gid)); i++) {
		if (by_gid && !strcmp(name, folder))
			add_gids(names, pier__dropin_gid_end(port));
		else
			add_within(names, folder, name);
	}
	snprintf(net, sizeof(net), "device/net/%s", port->netdev);
	add_within(names, folder, net);
}

/* The rest of @path if that is in the folder @name: "" or "x/" */
static const char *inside(const char *path, const char *name)
{
	const char *rest = pier__dropin_behind(path, name);

	return rest && *rest == '/' ? rest + 1 : NULL;
}

static void list_of(struct dropin_names *names, const char *path,
		    const struct ibv_device *dev)
{
	const char *rest = inside(path, DROPIN_DEVICES);

	if (rest && !*rest)
		add(names, dev->name, strlen(dev->name));
	else if (rest && (rest = inside(rest, dev->name)))
		list_device(names, rest,
			    &((const struct dropin_device *)dev)->port);
	rest = inside(path, DROPIN_VERBS);
	if (rest && !*rest)
		add(names, dev->dev_name, strlen(dev->dev_name));
	else if (rest && (rest = inside(rest, dev->dev_name)) && !*rest)
		add(names, "ibdev", 5);
	rest = inside(path, DROPIN_NODES);
	if (rest && !*rest)
		add(names, dev->dev_name, strlen(dev->dev_name));
}

/* Paths end with one slash from here on. */
bool pier__dropin_folder(const char *path, struct dropin_names *ret)
{
	struct dropin_names names = { 0 };
	struct ibv_device **list;
	char whole[DROPIN_PATH];
	size_t len, i;

	if (!path || (!pier__dropin_behind(path, DROPIN_DEVICES) &&
		      !pier__dropin_behind(path, DROPIN_NODES)))
		return false;
	len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	if (len + 2 > sizeof(whole))
		return false;
	memcpy(whole, path, len);
	strcpy(whole + len, "/");
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		list_of(&names, whole, list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!names.count)
		return false;
	if (!strcmp(whole, DROPIN_VERBS "/"))
		add(&names, "abi_version", 11);
	*ret = names;
	return true;
}

void pier__dropin_names_add(struct dropin_names *names, const char *name,
			    size_t len)
{
	add(names, name, len);
}
