/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of soft devices, and what is in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dropin/dropin.h"
#include "dropin/files/files.h"

#define DEVICES DROPIN_DEVICES "/"
#define VERBS DROPIN_VERBS "/"
#define NODES DROPIN_NODES "/"
#define INTERFACES "/sys/class/net/"
#define FOLDER "/sys/class"	/* one that is there, to look at */
#define VERBS_ABI 6
#define CONTENT_MAX 256

/* A file of a device; @print writes its content. */
struct file {
	const char *name;	/* below the folder of the device */
	bool by_gid;		/* the index of one follows */
	void (*print)(char *to, const struct pier__port *port, uint32_t gid);
};

static const uint8_t no_gid[16];

static void print_guid(char *to, const struct pier__port *port, uint32_t gid)
{
	uint64_t guid = port->guid;

	(void)gid;
	sprintf(to, "%04x:%04x:%04x:%04x", (unsigned int)(guid >> 48),
		(unsigned int)(guid >> 32) & 0xffff,
		(unsigned int)(guid >> 16) & 0xffff,
		(unsigned int)guid & 0xffff);
}

static void print_node_type(char *to, const struct pier__port *port,
			    uint32_t gid)
{
	(void)port;
	(void)gid;
	strcpy(to, "1: CA");
}

static void print_state(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)gid;
	strcpy(to, port->active ? "4: ACTIVE" : "1: DOWN");
}

static void print_phys(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)gid;
	strcpy(to, port->active ? "5: LinkUp" : "3: Disabled");
}

/* As ibv_query_port(3) has it. */
static void print_rate(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)port;
	(void)gid;
	strcpy(to, "2.5 Gb/sec (1X SDR)");
}

static void print_link(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)port;
	(void)gid;
	strcpy(to, "Ethernet");
}

static void print_lid(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)port;
	(void)gid;
	strcpy(to, "0x0");
}

static void print_pkey(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)port;
	(void)gid;
	strcpy(to, "0xffff");
}

/* An index that is not in use has a zero GID, as in a device of the kernel. */
static void print_gid(char *to, const struct pier__port *port, uint32_t gid)
{
	const struct pier_gid *entry = pier__dropin_gid(port, gid);
	const uint8_t *raw = entry ? entry->raw : no_gid;
	int i;

	for (i = 0; i < 16; i += 2)
		to += sprintf(to, "%s%02x%02x", i ? ":" : "", raw[i],
			      raw[i + 1]);
}

static void print_gid_type(char *to, const struct pier__port *port,
			   uint32_t gid)
{
	strcpy(to, pier__dropin_gid(port, gid) ? "RoCE v2" : "IB/RoCE v1");
}

static void print_netdev(char *to, const struct pier__port *port, uint32_t gid)
{
	(void)gid;
	strcpy(to, port->netdev);
}

static const struct file files[] = {
	{ "node_guid", false, print_guid },
	{ "node_type", false, print_node_type },
	{ "sys_image_guid", false, print_guid },
	{ "ports/1/gid_attrs/ndevs/", true, print_netdev },
	{ "ports/1/gid_attrs/types/", true, print_gid_type },
	{ "ports/1/gids/", true, print_gid },
	{ "ports/1/lid", false, print_lid },
	{ "ports/1/link_layer", false, print_link },
	{ "ports/1/phys_state", false, print_phys },
	{ "ports/1/pkeys/0", false, print_pkey },
	{ "ports/1/rate", false, print_rate },
	{ "ports/1/state", false, print_state },
};

const char *pier__dropin_file_name(size_t i, bool *by_gid)
{
	if (i >= sizeof(files) / sizeof(files[0]))
		return NULL;
	*by_gid = files[i].by_gid;
	return files[i].name;
}

const char *pier__dropin_behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

static const char *behind(const char *text, const char *prefix)
{
	return pier__dropin_behind(text, prefix);
}

/* Is @text the index of a GID of @port? */
static bool read_index(const char *text, const struct pier__port *port,
		       uint32_t *ret)
{
	char *end;
	unsigned long index;

	if (*text < '0' || *text > '9')
		return false;
	index = strtoul(text, &end, 10);
	*ret = (uint32_t)index;
	return !*end && index < pier__dropin_gid_end(port);
}

/* The content of the file @name of @port's device; false: there is none. */
static bool print(const struct pier__port *port, const char *name, char *ret)
{
	const char *rest;
	uint32_t gid = 0;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		rest = behind(name, files[i].name);
		if (!rest || (files[i].by_gid ? !read_index(rest, port, &gid) :
						*rest != '\0'))
			continue;
		files[i].print(ret, port, gid);
		strcat(ret, "\n");
		return true;
	}
	return false;
}

/* Is @path `@name/` and more?  Returns what that is, or NULL. */
static const char *within(const char *path, const char *name)
{
	const char *rest = behind(path, name);

	return rest && *rest == '/' ? rest + 1 : NULL;
}

/* The content of @path, which is in one of the folders in /sys. */
static bool print_of(const struct ibv_device *dev, const char *path, char *ret)
{
	const struct pier__port *port =
		&((const struct dropin_device *)dev)->port;
	const char *name = behind(path, DEVICES);

	if (name) {
		name = within(name, dev->name);
		return name && print(port, name, ret);
	}
	name = behind(path, VERBS);
	name = name ? within(name, dev->dev_name) : NULL;
	if (!name || strcmp(name, "ibdev"))
		return false;
	sprintf(ret, "%s\n", dev->name);
	return true;
}

/* The device of @path, and the content unless it is in /dev. */
static bool find(const char *path, char *ret)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	const char *node = behind(path, NODES);
	bool found = false;
	size_t i;

	for (i = 0; list && list[i] && !found; i++)
		found = node ? !strcmp(node, list[i]->dev_name) :
			       print_of(list[i], path, ret);
	if (list)
		ibv_free_device_list(list);
	return found;
}

/* Is @path @name, or a file below it? */
static bool is_in(const char *path, const char *name)
{
	const char *rest = behind(path, name);

	return rest && (!*rest || *rest == '/');
}

/*
 * The path of @name, below the `device` of @port; false: it is a folder, or of
 * another interface.
 */
static bool of_interface(const struct pier__port *port, const char *name,
			 char *ret)
{
	const char *rest = within(name, "net");
	int len;

	if (is_in(name, "net") && !(rest && is_in(rest, port->netdev)))
		return false;
	if (rest)
		len = snprintf(ret, DROPIN_PATH, INTERFACES "%s", rest);
	else
		len = snprintf(ret, DROPIN_PATH, INTERFACES "%s/device/%s",
			       port->netdev, name);
	return len < DROPIN_PATH;
}

/* A file of the interface in place of @path; false: it is none such. */
static bool find_interface(const char *path, char *ret)
{
	const char *name = behind(path, DEVICES);
	struct ibv_device **list;
	bool found = false;
	size_t i;

	if (!name || !strstr(name, "/device/"))
		return false;
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i] && !found; i++) {
		const char *rest = within(name, list[i]->name);

		rest = rest ? within(rest, "device") : NULL;
		found = rest && *rest &&
			of_interface(&((struct dropin_device *)list[i])->port,
				     rest, ret);
	}
	if (list)
		ibv_free_device_list(list);
	return found;
}

/* An unnamed file with @content.  Returns its path; NULL: it failed. */
static const char *file_new(const char *content, struct dropin_file *ret)
{
	size_t len = strlen(content);

	ret->fd = memfd_create("pier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ret->fd < 0)
		return NULL;
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	if (write(ret->fd, content, len) == (ssize_t)len &&
	    !fchmod(ret->fd, 0444) &&
	    !fcntl(ret->fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW))
		return ret->path;
	pier__dropin_file_close(ret);
	return NULL;
}

const char *pier__dropin_file_open(const char *path, struct dropin_file *ret)
{
	char content[CONTENT_MAX];
	const char *instead = NULL;
	int err = errno;

	ret->fd = -1;
	if (!path || (!behind(path, "/sys/class/infiniband") &&
		      !behind(path, NODES)))
		return path;
	if (!strcmp(path, VERBS "abi_version")) {
		sprintf(content, "%d\n", VERBS_ABI);
		instead = file_new(content, ret);
	} else if (find_interface(path, ret->path)) {
		instead = ret->path;
	} else if (find(path, content)) {
		instead = behind(path, NODES) ? "/dev/null" :
						file_new(content, ret);
	}
	errno = err;
	return instead ? instead : path;
}

const char *pier__dropin_file_look(const char *path, struct dropin_file *ret)
{
	const char *instead = pier__dropin_file_open(path, ret);
	struct dropin_names names;
	int err = errno;

	if (path && instead == path && pier__dropin_folder(path, &names)) {
		free(names.name);
		instead = FOLDER;
	}
	errno = err;
	return instead;
}

void pier__dropin_file_close(struct dropin_file *file)
{
	int err = errno;

	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	errno = err;
}
