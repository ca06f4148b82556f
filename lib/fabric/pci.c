/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fabric/pci.h"

static bool is_pci(const char *text)
{
	unsigned int domain, bus, dev, fn;
	int end = 0;

	return strlen(text) == strlen("0000:00:00.0") &&
	       sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &dev, &fn,
		      &end) == 4 && !text[end];
}

/* A virtio device, and what is below it, are below a function. */
void pier__pci_of_link(const char *path, char ret[PIER__PCI_SIZE])
{
	char target[PATH_MAX], *slash;

	ret[0] = '\0';
	if (!realpath(path, target))
		return;
	while (!ret[0] && (slash = strrchr(target, '/'))) {
		if (is_pci(slash + 1))
			memcpy(ret, slash + 1, strlen(slash + 1) + 1);
		*slash = '\0';
	}
}

/* FNV-1a. */
void pier__pci_make_up(const char *name, char ret[PIER__PCI_SIZE])
{
	uint32_t hash = 2166136261u;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	snprintf(ret, PIER__PCI_SIZE, "fffe:%02x:%02x.%x", hash >> 8 & 0xff,
		 hash >> 3 & 0x1f, hash & 7);
}

void pier__pci_of_netdev(const char *root, const char *name,
			 char ret[PIER__PCI_SIZE])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device", root, name);
	pier__pci_of_link(path, ret);
	if (!ret[0])
		pier__pci_make_up(name, ret);
}

bool pier__pci_is(const char *pci, const char *name)
{
	const char *colon = strchr(pci, ':');

	return pci[0] && (!strcasecmp(pci, name) ||
			  (colon && !strcasecmp(colon + 1, name)));
}
