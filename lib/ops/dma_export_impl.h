/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DMA_EXPORT_IMPL_H
#define PIER_OPS_DMA_EXPORT_IMPL_H

#include <pier/dma_export.h>

#include "cm/addr.h"
#include "mem/mmap_impl.h"
#include "ops/service.h"

/* Where the service that serves an imported mmap is; pier_mmap.origin. */
struct pier__mmap_origin {
	uint8_t token[PIER__TOKEN];
	uint16_t port;
	unsigned int gid_count;
	struct pier__gid_offer gids[PIER__GIDS_MAX];
};

#endif
