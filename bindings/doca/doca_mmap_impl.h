/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_MMAP_IMPL_H
#define DOCA_MMAP_IMPL_H

#include <pier/pier.h>

#include <doca_mmap.h>

#define MMAP_DEVS 8	/* as many as pier takes */

struct doca_mmap {
	struct pier_mmap *mmap;		/* NULL: it was never started */
	bool started, imported;
	void *addr;
	size_t len;			/* 0: no range */
	bool dmabuf;			/* the range is one of a dma-buf: */
	int dmabuf_fd;
	size_t dmabuf_offset;
	uint32_t access;		/* enum doca_access_flag */
	struct doca_dev *devs[MMAP_DEVS];
	uint32_t dev_count, dev_max;
	void *desc;			/* the export; NULL: there is none */
	size_t desc_len;
	union doca_data data;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *opaque;
};

/* Log that @what was set after the start.  Returns BAD_STATE. */
doca_error_t pier__doca_mmap_started(const char *what);

#endif
