/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_CM_SPACE_H
#define PIER_FABRIC_CM_SPACE_H

#include <stdbool.h>

/*
 * The services that a port may have, as port spaces of rdma_cm number them.
 * Those for UD QPs have SIDR in place of connections.
 */
enum pier__cm_space {
	PIER__CM_TCP,			/* RDMA_PS_TCP */
	PIER__CM_UDP,			/* RDMA_PS_UDP: UD */
	PIER__CM_IB,			/* RDMA_PS_IB */
	PIER__CM_IB_UD,			/* the same, for UD */
	PIER__CM_SPACES,
};

static inline bool pier__cm_is_datagram(enum pier__cm_space space)
{
	return space == PIER__CM_UDP || space == PIER__CM_IB_UD;
}

#endif
