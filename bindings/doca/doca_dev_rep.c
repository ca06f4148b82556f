/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_dev_impl.h"
#include "doca_fail.h"

/* What create_list returns is the last member. */
struct replist {
	struct pier_replist *list;
	struct doca_devinfo_rep *infos;
	struct doca_devinfo_rep *array[];
};

static struct replist *allocate(size_t count)
{
	struct replist *list =
		calloc(1, sizeof(*list) + (count + 1) * sizeof(list->array[0]));

	if (!list)
		return NULL;
	list->infos = calloc(count + 1, sizeof(list->infos[0]));
	if (list->infos)
		return list;
	free(list);
	return NULL;
}

/* All functions have a network interface; none is emulated. */
static doca_error_t check_filter(int filter)
{
	const int known = DOCA_DEVINFO_REP_FILTER_NET |
			  DOCA_DEVINFO_REP_FILTER_EMULATED;

	if (filter & ~known)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "filter of "
				       "representors 0x%x: 0x%x or-ed at most",
				       (unsigned int)filter,
				       (unsigned int)known);
	if (filter & DOCA_DEVINFO_REP_FILTER_EMULATED)
		return pier__doca_unsupported("a filter of emulated devices",
					      "no device here emulates any");
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***list,
					  uint32_t *count)
{
	struct pier_replist *reps;
	struct replist *new;
	doca_error_t error;
	size_t n;
	int err;

	if (!dev || !list || !count)
		return DOCA_ERROR_INVALID_VALUE;
	error = check_filter(filter);
	if (error)
		return error;
	err = pier_replist_create(pier_dev_info(dev->dev), PIER_REP_ALL, &reps);
	if (err)
		return pier__doca_error(err);
	n = pier_replist_count(reps);
	new = allocate(n);
	if (!new) {
		pier_replist_destroy(reps);
		return DOCA_ERROR_NO_MEMORY;
	}

	new->list = reps;
	for (size_t i = 0; i < n; i++) {
		new->infos[i].info = pier_replist_get(reps, i);
		new->array[i] = &new->infos[i];
	}
	*list = new->array;
	*count = (uint32_t)n;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **array)
{
	struct replist *list;

	if (!array)
		return DOCA_ERROR_INVALID_VALUE;
	list = (struct replist *)((char *)array -
				  offsetof(struct replist, array));
	pier_replist_destroy(list->list);
	free(list->infos);
	free(list);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *info,
			       struct doca_dev_rep **rep)
{
	struct doca_dev_rep *new;
	int err;

	if (!info || !rep)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_rep_open(info->info, &new->rep);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->info.info = pier_rep_info(new->rep);
	*rep = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	unsigned int servers;

	if (!dev)
		return DOCA_SUCCESS;
	servers = atomic_load(&dev->servers);
	if (servers)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "rep: closed while "
				       "%u servers have it", servers);
	pier_rep_close(dev->rep);
	free(dev);
	return DOCA_SUCCESS;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *rep)
{
	return rep ? &rep->info : NULL;
}

/* Of any device: its list may be empty. */
static doca_error_t set_flag(const struct doca_devinfo *info, bool supported,
			     uint8_t *ret)
{
	if (!info || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = supported;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *info,
					     uint8_t *filter_all_supported)
{
	return set_flag(info, true, filter_all_supported);
}

doca_error_t
doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *info,
					     uint8_t *filter_net_supported)
{
	return set_flag(info, true, filter_net_supported);
}

doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(
	const struct doca_devinfo *info, uint8_t *filter_emulated_supported)
{
	return set_flag(info, false, filter_emulated_supported);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *info,
				       char *rep_vuid, uint32_t size)
{
	if (!info || !rep_vuid)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_repinfo_vuid(info->info), rep_vuid,
				    size);
}

doca_error_t
doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *info,
				  char *pci)
{
	if (!info || !pci)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_repinfo_pci(info->info), pci,
				    DOCA_DEVINFO_REP_PCI_ADDR_SIZE);
}

doca_error_t
doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *info,
				   enum doca_pci_func_type *pci_func_type)
{
	if (!info || !pci_func_type)
		return DOCA_ERROR_INVALID_VALUE;
	switch (pier_repinfo_kind(info->info)) {
	case PIER_REP_PF:
		*pci_func_type = DOCA_PCI_FUNC_TYPE_PF;
		return DOCA_SUCCESS;
	case PIER_REP_VF:
		*pci_func_type = DOCA_PCI_FUNC_TYPE_VF;
		return DOCA_SUCCESS;
	case PIER_REP_SF:
		*pci_func_type = DOCA_PCI_FUNC_TYPE_SF;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_UNEXPECTED;
}

doca_error_t
doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *info,
				uint8_t *is_hotplug)
{
	if (!info || !is_hotplug)
		return DOCA_ERROR_INVALID_VALUE;
	*is_hotplug = 0;
	return DOCA_SUCCESS;
}

doca_error_t
doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *info,
				char *iface_name, uint32_t size)
{
	if (!info || !iface_name)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_copy_text(pier_repinfo_netdev(info->info),
				    iface_name, size);
}

doca_error_t
doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *info,
				   const char *pci, uint8_t *ret)
{
	if (!info || !pci || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pci_equal(pier_repinfo_pci(info->info), pci, ret);
}
