/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_DEV_H
#define DOCA_DEV_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Devices: a list describes them, open makes one of use.  An open device does
 * not need the list.  Whoever opens a device twice closes it twice; close
 * accepts NULL.
 */

struct doca_dev;
struct doca_devinfo;
struct doca_dev_rep;
struct doca_devinfo_rep;

/* Bytes of names and addresses, the terminating 0 included. */
#define DOCA_DEVINFO_VUID_SIZE 128
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_PCI_BDF_SIZE 8
#define DOCA_DEVINFO_REP_VUID_SIZE 128
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8

enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2,
};

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***list,
				      uint32_t *count);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **list);

/*
 * Representors: the other side of a PCI function, of which pier has one for
 * each device.
 */
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***list,
					  uint32_t *count);
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **list);
doca_error_t doca_dev_open(struct doca_devinfo *info, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *info,
			       struct doca_dev_rep **rep);
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *rep);

/*
 * Properties of a device; a rate is in bits a second.  NOT_SUPPORTED: it has
 * none of the kind.
 */
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *info,
					   char *pci);
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *info,
					    const char *pci, uint8_t *ret);
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *info,
					uint8_t *ipv4_addr, uint32_t size);
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *info,
					uint8_t *ipv6_addr, uint32_t size);
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *info,
				       uint8_t *mac_addr, uint32_t size);
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *info,
					 char *iface_name, uint32_t size);
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *info,
					 char *ibdev_name, uint32_t size);
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *info,
				  uint16_t *lid);
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *info,
					  uint64_t *active_rate);
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *info,
				      uint16_t *vhca_id);
doca_error_t
doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *info,
					      uint8_t *is_hotplug_manager);
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
	const struct doca_devinfo *info,
	uint8_t *is_notification_moderation_supported);
doca_error_t
doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *info,
					     uint8_t *filter_all_supported);
doca_error_t
doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *info,
					     uint8_t *filter_net_supported);
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
	const struct doca_devinfo *info, uint8_t *filter_emulated_supported);
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *info,
	uint8_t *is_accelerate_resource_reclaim);
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *info,
				       char *rep_vuid, uint32_t size);
doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *info,
				  char *pci);
doca_error_t
doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *info,
				   enum doca_pci_func_type *pci_func_type);
doca_error_t
doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *info,
				uint8_t *is_hotplug);
doca_error_t
doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *info,
				char *iface_name, uint32_t size);
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *info,
					  uint16_t *vhca_id);
doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *info,
				   const char *pci, uint8_t *ret);
doca_error_t
doca_devinfo_get_pci_func_type(const struct doca_devinfo *info,
			       enum doca_pci_func_type *pci_func_type);
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *info,
				       uint32_t *sf_index);

#ifdef __cplusplus
}
#endif

#endif
