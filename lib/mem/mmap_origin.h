/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MEM_MMAP_ORIGIN_H
#define PIER_MEM_MMAP_ORIGIN_H

struct pier__mmap_origin;

/* What pier_mmap.origin begins with: who made it frees it, in any thread. */
struct pier__mmap_origin_head {
	void (*free)(struct pier__mmap_origin *origin);
};

#endif
