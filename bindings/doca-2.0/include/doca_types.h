/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_TYPES_2_0_H
#define DOCA_TYPES_2_0_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_compat.h>

/* What a program attaches to objects and jobs. */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/* A file descriptor for poll(2) and its kind. */
typedef int doca_event_handle_t;
#define doca_event_invalid_handle (-1)

/* Numbers in network order, which no call converts. */
typedef uint16_t doca_be16_t;
typedef uint32_t doca_be32_t;
typedef uint64_t doca_be64_t;

/* Access to memory, or-ed: by this process, over RDMA, by a DPU. */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ_ONLY = 0,
	DOCA_ACCESS_LOCAL_READ_WRITE = 1 << 0,
	DOCA_ACCESS_RDMA_READ = 1 << 1,
	DOCA_ACCESS_RDMA_WRITE = 1 << 2,
	DOCA_ACCESS_RDMA_ATOMIC = 1 << 3,
	DOCA_ACCESS_DPU_READ_ONLY = 1 << 4,
	DOCA_ACCESS_DPU_READ_WRITE = 1 << 5,
};

enum doca_pci_func_type {
	DOCA_PCI_FUNC_PF = 0,
	DOCA_PCI_FUNC_VF,
	DOCA_PCI_FUNC_SF,
};

#endif
