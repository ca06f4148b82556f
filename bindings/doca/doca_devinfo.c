/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"

/* What create_list returns is the last member. */
struct devlist {
	struct pier_devlist *list;
	struct doca_devinfo *infos;
	struct doca_devinfo *array[];
};

static struct devlist *list_of(struct doca_devinfo **array)
{
	return (struct devlist *)((char *)array -
				  offsetof(struct devlist, array));
}

static struct devlist *allocate(size_t count)
{
	struct devlist *list =
		calloc(1, sizeof(*list) + (count + 1) * sizeof(list->array[0]));

	if (!list)
		return NULL;
	list->infos = calloc(count + 1, sizeof(list->infos[0]));
	if (list->infos)
		return list;
	free(list);
	return NULL;
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***list,
				      uint32_t *count)
{
	struct pier_devlist *devs;
	struct devlist *new;
	size_t n;
	int err;

	if (!list || !count)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_devlist_create(&devs);
	if (err)
		return pier__doca_error(err);
	n = pier_devlist_count(devs);
	new = allocate(n);
	if (!new) {
		pier_devlist_destroy(devs);
		return DOCA_ERROR_NO_MEMORY;
	}

	new->list = devs;
	for (size_t i = 0; i < n; i++) {
		new->infos[i].info = pier_devlist_get(devs, i);
		new->array[i] = &new->infos[i];
	}
	*list = new->array;
	*count = (uint32_t)n;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **array)
{
	struct devlist *list;

	if (!array)
		return DOCA_ERROR_INVALID_VALUE;
	list = list_of(array);
	pier_devlist_destroy(list->list);
	free(list->infos);
	free(list);
	return DOCA_SUCCESS;
}

void pier__doca_devinfo_name(const struct doca_devinfo *info,
			     char ret[DEV_NAME_SIZE])
{
	snprintf(ret, DEV_NAME_SIZE, "%s:%u", pier_devinfo_name(info->info),
		 pier_devinfo_port(info->info));
}

doca_error_t pier__doca_copy_text(const char *text, char *ret, size_t size)
{
	if (!*text)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (strlen(text) >= size)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "\"%s\" needs "
				       "%zu bytes, there are %zu", text,
				       strlen(text) + 1, size);
	strcpy(ret, text);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *info,
					 char *iface_name, uint32_t size)
{
	if (!info || !iface_name)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_devinfo_netdev(info->info), iface_name,
				    size);
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *info,
					 char *ibdev_name, uint32_t size)
{
	if (!info || !ibdev_name)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_devinfo_name(info->info), ibdev_name,
				    size);
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *info,
					   char *pci)
{
	if (!info || !pci)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_devinfo_pci(info->info), pci,
				    DOCA_DEVINFO_PCI_ADDR_SIZE);
}

/* "DDDD:BB:DD.F" or "BB:DD.F", without signs, blanks, or more behind it. */
static bool parse_pci(const char *text, unsigned int ret[4])
{
	int end = 0;

	if (text[strspn(text, "0123456789abcdefABCDEF:.")])
		return false;
	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &ret[0], &ret[1], &ret[2],
		   &ret[3], &end) == 4 && end == 12 && !text[12])
		return true;
	ret[0] = 0;
	end = 0;
	return sscanf(text, "%2x:%2x.%1x%n", &ret[1], &ret[2], &ret[3],
		      &end) == 3 && end == 7 && !text[7];
}

doca_error_t pier__doca_pci_equal(const char *text, const char *pci,
				  uint8_t *ret)
{
	unsigned int own[4], other[4];

	if (!parse_pci(pci, other))
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "PCI address "
				       "\"%s\": DDDD:BB:DD.F or BB:DD.F", pci);
	*ret = parse_pci(text, own) && !memcmp(own, other, sizeof(own));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *info,
					    const char *pci, uint8_t *ret)
{
	if (!info || !pci || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pci_equal(pier_devinfo_pci(info->info), pci, ret);
}

/* pier opens functions, and does not know which kind they are. */
doca_error_t
doca_devinfo_get_pci_func_type(const struct doca_devinfo *info,
			       enum doca_pci_func_type *pci_func_type)
{
	if (!info || !pci_func_type)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = DOCA_PCI_FUNC_TYPE_PF;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *info,
				       uint32_t *sf_index)
{
	if (!info || !sf_index)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

bool pier__doca_is_ipv4(const struct pier_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

/* The first address of a family in the GID table. */
static doca_error_t get_ip(const struct doca_devinfo *info, bool ipv4,
			   uint8_t *ret, uint32_t size)
{
	uint32_t len = ipv4 ? DOCA_DEVINFO_IPV4_ADDR_SIZE :
			      DOCA_DEVINFO_IPV6_ADDR_SIZE;
	struct pier_gid gid;

	if (!info || !ret || size < len)
		return DOCA_ERROR_INVALID_VALUE;
	for (size_t i = 0; !pier_devinfo_gid(info->info, i, &gid); i++) {
		if (pier__doca_is_ipv4(&gid) != ipv4)
			continue;
		memcpy(ret, gid.raw + sizeof(gid.raw) - len, len);
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *info,
					uint8_t *ipv4_addr, uint32_t size)
{
	return get_ip(info, true, ipv4_addr, size);
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *info,
					uint8_t *ipv6_addr, uint32_t size)
{
	return get_ip(info, false, ipv6_addr, size);
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *info,
				  uint16_t *lid)
{
	if (!info || !lid)
		return DOCA_ERROR_INVALID_VALUE;
	if (!pier_devinfo_lid(info->info))
		return DOCA_ERROR_NOT_SUPPORTED;
	*lid = (uint16_t)pier_devinfo_lid(info->info);
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_can_task(const struct doca_devinfo *info,
				 enum pier_task_type type)
{
	if (!info)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_devinfo_can_task(info->info, type));
}

doca_error_t pier__doca_has(const struct doca_devinfo *info,
			    enum pier_feature feature)
{
	if (!info)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_devinfo_has(info->info, feature));
}

doca_error_t pier__doca_can_import(const struct doca_dev *dev,
				   enum pier_export kind)
{
	return pier__doca_error(pier_devinfo_can_import(dev->info.info, kind));
}

doca_error_t pier__doca_limit64(const struct doca_devinfo *info,
				enum pier_limit limit, uint64_t *ret)
{
	if (!info || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_devinfo_limit(info->info, limit, ret));
}

doca_error_t pier__doca_limit(const struct doca_devinfo *info,
			      enum pier_limit limit, uint32_t *ret)
{
	uint64_t value;
	doca_error_t error =
		pier__doca_limit64(info, limit, ret ? &value : NULL);

	if (!error)
		*ret = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	return error;
}

/* What the kernel has of a network interface. */
static doca_error_t ask(const char *netdev, struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = fd < 0;

	if (!err) {
		snprintf(req->ifr_name, sizeof(req->ifr_name), "%s", netdev);
		err = ioctl(fd, SIOCGIFHWADDR, req);
		close(fd);
	}
	if (err)
		return pier__doca_fail(DOCA_ERROR_OPERATING_SYSTEM,
				       "%s: its MAC address cannot be read: %m",
				       netdev);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *info,
				       uint8_t *mac_addr, uint32_t size)
{
	struct ifreq req = { 0 };
	const char *netdev;
	doca_error_t error;

	if (!info || !mac_addr || size < DOCA_DEVINFO_MAC_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	netdev = pier_devinfo_netdev(info->info);
	if (!*netdev)
		return DOCA_ERROR_NOT_SUPPORTED;
	error = ask(netdev, &req);
	if (error)
		return error;
	if (req.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return DOCA_ERROR_NOT_SUPPORTED;
	memcpy(mac_addr, req.ifr_hwaddr.sa_data, DOCA_DEVINFO_MAC_ADDR_SIZE);
	return DOCA_SUCCESS;
}

/* An interface without a link, or one that has no speed, has none or -1. */
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *info,
					  uint64_t *active_rate)
{
	char path[PATH_MAX];
	long megabits = 0;
	FILE *file;

	if (!info || !active_rate)
		return DOCA_ERROR_INVALID_VALUE;
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed",
		 pier_devinfo_netdev(info->info));
	file = fopen(path, "re");
	if (!file)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (fscanf(file, "%ld", &megabits) != 1)
		megabits = 0;
	fclose(file);
	if (megabits <= 0)
		return DOCA_ERROR_NOT_SUPPORTED;
	*active_rate = (uint64_t)megabits * 1000000;
	return DOCA_SUCCESS;
}
