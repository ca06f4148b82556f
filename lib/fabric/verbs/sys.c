/* SPDX-License-Identifier: BSD-2-Clause */
/* What sysfs and the network interfaces report about a device. */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "fabric/fabric.h"
#include "fabric/verbs/sys.h"

/*
 * InfiniBand: no GID has a netdev, but IPoIB's hangs on the same hardware.
 * dev_port counts from 0.
 */
static void netdev_of_hardware(const char *root, const char *device,
			       uint32_t port, char *ret, size_t size)
{
	char path[PATH_MAX], number[16];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/net",
		 root, device);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path),
			 "%s/sys/class/infiniband/%s/device/net/%s/dev_port",
			 root, device, entry->d_name);
		pier__file_line(path, number, sizeof(number));
		if (!number[0] || strtoul(number, NULL, 10) + 1 != port)
			continue;
		snprintf(ret, size, "%s", entry->d_name);
		break;
	}
	closedir(dir);
}

void pier__sys_netdev(const char *root, const char *device, uint32_t port,
		      char *ret, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path),
		 "%s/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0",
		 root, device, port);
	pier__file_line(path, ret, size);
	if (!ret[0])
		netdev_of_hardware(root, device, port, ret, size);
}

void pier__sys_pci(const char *root, const char *device, const char *netdev,
		   char ret[PIER__PCI_SIZE])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device", root,
		 device);
	pier__pci_of_link(path, ret);
	if (!ret[0] && netdev[0])
		pier__pci_of_netdev(root, netdev, ret);
	else if (!ret[0])
		pier__pci_make_up(device, ret);
}

static uint8_t count_bits(const void *mask, size_t len)
{
	const uint8_t *byte = mask;
	unsigned int bits = 0;

	for (size_t i = 0; i < len; i++)
		bits += (unsigned int)__builtin_popcount(byte[i]);
	return (uint8_t)bits;
}

/* The bits of @addr's mask if it is the address @gid, else 0. */
static uint8_t prefix_if_equal(const struct ifaddrs *addr,
			       const uint8_t gid[16])
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in6 *a6, *m6;
	const struct sockaddr_in *a4, *m4;

	if (!addr->ifa_addr || !addr->ifa_netmask)
		return 0;
	if (addr->ifa_addr->sa_family == AF_INET6) {
		a6 = (const void *)addr->ifa_addr;
		m6 = (const void *)addr->ifa_netmask;
		return memcmp(&a6->sin6_addr, gid, 16) ? 0 :
		       count_bits(&m6->sin6_addr, 16);
	}
	if (addr->ifa_addr->sa_family == AF_INET && !memcmp(gid, v4, 12)) {
		a4 = (const void *)addr->ifa_addr;
		m4 = (const void *)addr->ifa_netmask;
		return memcmp(&a4->sin_addr, gid + 12, 4) ? 0 :
		       count_bits(&m4->sin_addr, 4);
	}
	return 0;
}

uint8_t pier__sys_prefix(const struct ifaddrs *addrs, const uint8_t gid[16])
{
	uint8_t bits = 0;

	for (; addrs && !bits; addrs = addrs->ifa_next)
		bits = prefix_if_equal(addrs, gid);
	return bits;
}

static int is_counter(const struct dirent *entry)
{
	/* how old the values may be is no counter */
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "lifespan");
}

static void counters_below(const char *dir, struct pier_counters *ret)
{
	char path[PATH_MAX], text[32], *end;
	struct dirent **entry;
	uint64_t value;
	int i, n;

	n = scandir(dir, &entry, is_counter, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		pier__file_line(path, text, sizeof(text));
		errno = 0;
		value = strtoull(text, &end, 10);
		if (end > text && !*end && !errno)
			pier__counters_put(ret, entry[i]->d_name, value);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

void pier__sys_counters(const char *root, const char *device, uint32_t port,
			struct pier_counters *ret)
{
	static const char *const dirs[] = { "counters", "hw_counters" };
	char path[PATH_MAX / 2];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path),
			 "%s/sys/class/infiniband/%s/ports/%u/%s", root,
			 device, port, dirs[i]);
		counters_below(path, ret);
	}
}
