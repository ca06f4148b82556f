/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_DEV_2_0_H
#define DOCA_DEV_2_0_H

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Devices: a list describes them, and has NULL behind the last; open makes one
 * of use.  An open device does not need the list.
 */

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_devinfo_rep;
struct ibv_pd;

/* Bytes of names and addresses, the terminating 0 included. */
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13

enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,
};

/* @count may be NULL. */
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***list,
				      uint32_t *count);
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **list);
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***list,
					  uint32_t *count);
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **list);
doca_error_t doca_dev_open(struct doca_devinfo *info, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *info,
			       struct doca_dev_rep **rep);
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *rep);

/* Devices of verbs: the device of a protection domain, and the reverse. */
doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev);
doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/* Properties of a device.  NOT_SUPPORTED: it has none of the kind. */
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *info,
					   char *pci);
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *info,
					    const char *pci, uint8_t *ret);
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *info,
					 char *iface_name, uint32_t size);
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *info,
					 char *ibdev_name, uint32_t size);
doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *info,
				  char *pci);
doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *info,
				   const char *pci, uint8_t *ret);
doca_error_t
doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *info,
				   enum doca_pci_func_type *pci_func_type);
doca_error_t
doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *info,
					      uint8_t *mmap_export);
doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(
	const struct doca_devinfo *info, uint8_t *from_export);
doca_error_t
doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *info,
					      uint8_t *is_hotplug_manager);

#ifdef __cplusplus
}
#endif

#endif
