/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "doca_fail.h"
#include "doca_rdma_impl.h"

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type type,
				   const char *address, uint16_t port,
				   struct doca_rdma_addr **addr)
{
	struct doca_rdma_addr *new;

	if (!address || !addr || (unsigned int)type > DOCA_RDMA_ADDR_TYPE_GID)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->address = strdup(address);
	if (!new->address) {
		free(new);
		return DOCA_ERROR_NO_MEMORY;
	}
	new->type = type;
	new->port = port;
	*addr = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	if (!addr)
		return DOCA_ERROR_INVALID_VALUE;
	if (addr->attempts)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "rdma: an address "
				       "is destroyed during %u attempts to "
				       "connect to it", addr->attempts);
	free(addr->address);
	free(addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr,
				       enum doca_rdma_addr_type *type,
				       const char **address, uint16_t *port)
{
	if (!addr || !type || !address || !port)
		return DOCA_ERROR_INVALID_VALUE;
	*type = addr->type;
	*address = addr->address;
	*port = addr->port;
	return DOCA_SUCCESS;
}
