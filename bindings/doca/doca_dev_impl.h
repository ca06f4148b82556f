/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_DEV_IMPL_H
#define DOCA_DEV_IMPL_H

#include <stdatomic.h>

#include <pier/pier.h>

#include <doca_dev.h>

struct doca_devinfo {
	const struct pier_devinfo *info;
};

/* An open device; whoever opens it again gets the same one. */
struct doca_dev {
	struct doca_dev *next;
	struct doca_devinfo info;	/* as it was when opened */
	struct pier_dev *dev;
	unsigned int opens;
	bool of_pd;			/* of the program's: not shared */
	atomic_uint mmaps, events;	/* that have it, started or not */
	atomic_uint ctxs;		/* the same, of DOCA 2.0 */
};

struct doca_devinfo_rep {
	const struct pier_repinfo *info;
};

struct doca_dev_rep {
	struct doca_devinfo_rep info;
	struct pier_rep *rep;
	atomic_uint servers;		/* of Comm Channels that have it */
};

/* Open the device of @pd on it, port 1. */
struct ibv_pd;
doca_error_t pier__doca_dev_of_pd(struct ibv_pd *pd, struct doca_dev **ret);

/* "NAME:PORT", by which pier opens the device. */
#define DEV_NAME_SIZE 80
void pier__doca_devinfo_name(const struct doca_devinfo *info,
			     char ret[DEV_NAME_SIZE]);

/* Is it the address of an IPv4 interface? */
bool pier__doca_is_ipv4(const struct pier_gid *gid);

/* What a device can do: SUCCESS or NOT_SUPPORTED. */
doca_error_t pier__doca_can_task(const struct doca_devinfo *info,
				 enum pier_task_type type);
doca_error_t pier__doca_has(const struct doca_devinfo *info,
			    enum pier_feature feature);

/* Can @dev use what a peer exports? */
doca_error_t pier__doca_can_import(const struct doca_dev *dev,
				   enum pier_export kind);

/* One of its limits; at most UINT32_MAX. */
doca_error_t pier__doca_limit64(const struct doca_devinfo *info,
				enum pier_limit limit, uint64_t *ret);
doca_error_t pier__doca_limit(const struct doca_devinfo *info,
			      enum pier_limit limit, uint32_t *ret);

/* Copy the string @text of a device.  NOT_SUPPORTED: it is empty. */
doca_error_t pier__doca_copy_text(const char *text, char *ret, size_t size);

/* Does @pci, with or without a domain, name @text, "DDDD:BB:DD.F"? */
doca_error_t pier__doca_pci_equal(const char *text, const char *pci,
				  uint8_t *ret);

#endif
