/* SPDX-License-Identifier: BSD-2-Clause */
/* Why an RDMA device cannot be used: facts, cause, message. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include <pier/error.h>

#include "core/file.h"
#include "fabric/verbs/diagnose.h"

/* The versions that libibverbs supports; no header has the lower bound. */
#define ABI_MIN 3
#define ABI_MAX IB_USER_VERBS_ABI_VERSION

#define NAME_SIZE sizeof(((struct verbs_facts *)0)->device)

/* The first entry, in the order of names, of the directory @path. */
static void first_entry(const char *path, char ret[NAME_SIZE])
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	ret[0] = '\0';
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!ret[0] || strcmp(entry->d_name, ret) < 0)
			snprintf(ret, NAME_SIZE, "%.63s", entry->d_name);
	}
	closedir(dir);
}

/* The uverbsN whose file ibdev names @device; "" if there is none. */
static void find_node(const char *root, const char *device, char ret[NAME_SIZE])
{
	char path[PATH_MAX], name[64];
	struct dirent *entry;
	DIR *dir;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", root);
	dir = opendir(path);
	if (!dir)
		return;
	while (!ret[0] && (entry = readdir(dir))) {
		snprintf(path, sizeof(path),
			 "%s/sys/class/infiniband_verbs/%s/ibdev", root,
			 entry->d_name);
		pier__file_line(path, name, sizeof(name));
		if (name[0] && !strcmp(name, device))
			snprintf(ret, NAME_SIZE, "%.63s", entry->d_name);
	}
	closedir(dir);
}

/* By opening it: mode bits do not show the device rules of a container. */
static int try_node(const char *root, const char *node)
{
	char path[PATH_MAX];
	int fd;

	if (!node[0])
		return ENOENT;
	snprintf(path, sizeof(path), "%s/dev/infiniband/%s", root, node);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* The number in the file @path, -1: there is none. */
static int number_in(const char *path)
{
	char text[16];

	pier__file_line(path, text, sizeof(text));
	return text[0] ? atoi(text) : -1;
}

/* Is a library in the directory @path a provider, of any version? */
static bool has_provider(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = !fnmatch("*-rdmav*.so", entry->d_name, 0);
	closedir(dir);
	return found;
}

/* Of the libraries that are loaded: put the path of libibverbs in @arg. */
static int find_libibverbs(struct dl_phdr_info *lib, size_t size, void *arg)
{
	(void)size;
	if (fnmatch("*/libibverbs.so*", lib->dlpi_name, 0))
		return 0;
	snprintf(arg, PATH_MAX, "%s", lib->dlpi_name);
	return 1;
}

/*
 * Providers are libraries below libibverbs' own directory, in old versions
 * beside it.  Its configuration is not used: it outlives their removal.
 */
static bool look_for_providers(const char *root)
{
	char lib[PATH_MAX], path[2 * PATH_MAX];

	if (!dl_iterate_phdr(find_libibverbs, lib))
		return false;
	*strrchr(lib, '/') = '\0';
	snprintf(path, sizeof(path), "%s%s", root, lib);
	if (has_provider(path))
		return true;
	snprintf(path, sizeof(path), "%s%s/libibverbs", root, lib);
	return has_provider(path);
}

void pier__verbs_inspect(const char *root, const char *device,
			 struct verbs_facts *ret)
{
	char path[PATH_MAX];

	if (device) {
		snprintf(ret->device, sizeof(ret->device), "%s", device);
	} else {
		snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
		first_entry(path, ret->device);
	}
	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband_verbs/abi_version", root);
	ret->abi = number_in(path);
	find_node(root, ret->device, ret->node);
	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband_verbs/%s/abi_version", root,
		 ret->node[0] ? ret->node : "none");
	ret->driver_abi = number_in(path);
	ret->node_error = try_node(root, ret->node);
	ret->providers = look_for_providers(root);
}

/* Do the kernel's interface and libibverbs itself not match? */
static bool is_misfit(const struct verbs_facts *facts)
{
	return (facts->abi >= 0 && facts->abi < ABI_MIN) ||
	       facts->abi > ABI_MAX || facts->list_error == ENOSYS ||
	       facts->open_error == ENOSYS || facts->open_error == EPROTO;
}

/*
 * libibverbs omits a device, with a message on stderr only, if none of its
 * providers is for the driver or for the driver's version.
 */
enum verbs_cause pier__verbs_cause(const struct verbs_facts *facts)
{
	if (!facts->device[0])
		return VERBS_NO_DEVICE;
	if (facts->node_error == EACCES || facts->node_error == EPERM)
		return VERBS_DENIED;
	if (facts->node_error)
		return VERBS_NO_NODE;
	if (is_misfit(facts))
		return VERBS_MISFIT;
	if (!facts->listed)
		return facts->providers ? VERBS_MISFIT : VERBS_NO_PROVIDER;
	return facts->open_error ? VERBS_BROKEN : VERBS_FINE;
}

static void misfit_message(const struct verbs_facts *facts, char *ret,
			   size_t size)
{
	if (is_misfit(facts))
		snprintf(ret, size, "%s: the kernel's RDMA interface (version "
			 "%d) and libibverbs (%d to %d) do not fit: install "
			 "the rdma-core that goes with this kernel or driver",
			 facts->device, facts->abi, ABI_MIN, ABI_MAX);
	else
		snprintf(ret, size, "%s: its driver in the kernel (interface "
			 "version %d) and libibverbs' provider libraries do "
			 "not fit: install the rdma-core that goes with this "
			 "kernel or driver", facts->device, facts->driver_abi);
}

void pier__verbs_message(const struct verbs_facts *facts, char *ret,
			 size_t size)
{
	const char *node = facts->node[0] ? facts->node : "uverbs*";

	switch (pier__verbs_cause(facts)) {
	case VERBS_NO_DEVICE:
		snprintf(ret, size, "no RDMA device, /sys/class/infiniband is "
			 "empty: load the adapter's driver, or make a device "
			 "of any network interface: modprobe rdma_rxe; rdma "
			 "link add rxe0 type rxe netdev eth0");
		return;
	case VERBS_NO_NODE:
		snprintf(ret, size, "%s: there is no /dev/infiniband/%s (%s): "
			 "modprobe ib_uverbs; a container needs "
			 "--device=/dev/infiniband", facts->device, node,
			 pier_strerror(facts->node_error));
		return;
	case VERBS_DENIED:
		snprintf(ret, size, "%s: /dev/infiniband/%s may not be opened "
			 "(%s): chmod 666 it, as rdma-core's udev rules do; a "
			 "container needs --device=/dev/infiniband",
			 facts->device, node, pier_strerror(facts->node_error));
		return;
	case VERBS_MISFIT:
		misfit_message(facts, ret, size);
		return;
	case VERBS_NO_PROVIDER:
		snprintf(ret, size, "%s: libibverbs has no provider library: "
			 "install ibverbs-providers (Debian, Ubuntu) "
			 "or libibverbs (Fedora, RHEL)", facts->device);
		return;
	case VERBS_BROKEN:
		snprintf(ret, size, "%s: cannot be used: %s", facts->device,
			 pier_strerror(facts->open_error));
		return;
	case VERBS_FINE:
		ret[0] = '\0';
		return;
	}
}
