/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_MMAP_IMPL_H
#define DOCA_MMAP_IMPL_H

#include <pier/pier.h>

#include <doca_mmap.h>

#define MMAP_DEVS 8	/* as many as pier takes */

/* An export by PCI. */
struct doca_mmap_pci {
	struct pier_dma_export *exported;	/* NULL: it has ended */
	void *desc;			/* NULL: there was none */
	size_t len;
};

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
	struct doca_mmap_pci pci[MMAP_DEVS];	/* by device */
	union doca_data data;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *opaque;
};

/* What makes one for programs of either generation; @data may be NULL. */
doca_error_t pier__doca_mmap_create(const union doca_data *data,
				    struct doca_mmap **mmap);

/* Log that @what was set after the start.  Returns BAD_STATE. */
doca_error_t pier__doca_mmap_started(const char *what);

/* Is @dev one of its devices?  *ret is its number among them. */
bool pier__doca_mmap_has(const struct doca_mmap *mmap,
			 const struct doca_dev *dev, uint32_t *ret);

/* Log that @dev is not.  Returns NOT_FOUND. */
doca_error_t pier__doca_mmap_lacks(const struct doca_dev *dev);

/* End its exports by PCI; and free what programs have of them. */
void pier__doca_mmap_pci_end(struct doca_mmap *mmap);
void pier__doca_mmap_pci_free(struct doca_mmap *mmap);

#endif
