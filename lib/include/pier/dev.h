/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DEV_H
#define PIER_DEV_H

#include <stddef.h>
#include <stdint.h>

#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Devices.  A device is an RDMA device and one of its ports.  What it is and
 * can do is read from a snapshot (struct pier_devinfo), without opening it;
 * memory, contexts and engines use it open (struct pier_dev).
 *
 * Any thread may list; an open device may be shared by threads, and must
 * outlive what was made on it.
 */
struct pier_devlist;
struct pier_devinfo;
struct pier_dev;

enum pier_link {
	PIER_LINK_ETHERNET,	/* RoCE */
	PIER_LINK_INFINIBAND,
};

enum pier_gid_type {
	PIER_GID_IB,
	PIER_GID_ROCE_V1,
	PIER_GID_ROCE_V2,
};

struct pier_gid {
	uint8_t raw[16];	/* IPv4 is ::ffff:a.b.c.d */
	uint32_t index;		/* in the port's table: what -g takes */
	enum pier_gid_type type;
};

/* Descriptors that can be made and read. */
enum pier_export {
	PIER_EXPORT_MMAP,	/* memory, for RDMA */
	PIER_EXPORT_CONN,	/* one end of a connection */
};

enum pier_limit {
	PIER_LIMIT_MESSAGE,	/* bytes in one message */
	PIER_LIMIT_MMAP,	/* bytes in one registered range */
	PIER_LIMIT_INLINE,	/* bytes sent inline */
	PIER_LIMIT_SEND_SGE,	/* buffers chained in one send, write, read */
	PIER_LIMIT_RECV_SGE,	/* buffers chained in one receive */
	PIER_LIMIT_CONNS,	/* connections */
	PIER_LIMIT_SEND_QUEUE,	/* requests in flight on one connection, two */
				/* of which are pier's */
	PIER_LIMIT_RECV_QUEUE,	/* receives posted */
	PIER_LIMIT_RD_ATOMIC,	/* reads and atomics in flight, a connection */
	PIER_LIMIT_GIDS,	/* entries of the GID table in use */
};

/*
 * Take a snapshot of every device and port; none is not an error.
 * The caller ends it with pier_devlist_destroy().  Errors: -ENOMEM; -EMFILE
 * and others of socket(2), of which the interfaces are asked.
 */
int pier_devlist_create(struct pier_devlist **ret);
void pier_devlist_destroy(struct pier_devlist *list);

/* How many there are, and number @i, which belongs to @list; else NULL. */
size_t pier_devlist_count(const struct pier_devlist *list);
const struct pier_devinfo *pier_devlist_get(const struct pier_devlist *list,
					    size_t i);

/*
 * Why a device that the machine has is not in @list, and what helps: no
 * permission, no library ...  "": nothing of the kind.  Belongs to @list.
 */
const char *pier_devlist_hint(const struct pier_devlist *list);

/*
 * The device that @name means: a device ("rxe0", "mlx5_0:2" for port 2), a
 * netdev or a PCI address; NULL or "": what PIER_DEVICE names, else the
 * default.  Belongs to @list.  Errors: -ENODEV.
 */
int pier_devlist_find(const struct pier_devlist *list, const char *name,
		      const struct pier_devinfo **ret);

/* Strings belong to the snapshot; "" if there is none. */
const char *pier_devinfo_name(const struct pier_devinfo *info);
const char *pier_devinfo_kind(const struct pier_devinfo *info);
const char *pier_devinfo_netdev(const struct pier_devinfo *info);
const char *pier_devinfo_pci(const struct pier_devinfo *info);
unsigned int pier_devinfo_port(const struct pier_devinfo *info);
enum pier_link pier_devinfo_link(const struct pier_devinfo *info);

/* Non-zero if the port is active. */
int pier_devinfo_active(const struct pier_devinfo *info);

/* The port's address in an InfiniBand subnet; 0: none, or Ethernet. */
unsigned int pier_devinfo_lid(const struct pier_devinfo *info);

/* The port's largest usable path MTU, in bytes: 256 to 4096. */
unsigned int pier_devinfo_mtu(const struct pier_devinfo *info);

/* GID number @i, not necessarily of index @i.  Errors: -ERANGE. */
int pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
		     struct pier_gid *ret);

/* What it can do: 0, or -EOPNOTSUPP, or -EINVAL for an unknown @type. */
int pier_devinfo_can_task(const struct pier_devinfo *info,
			  enum pier_task_type type);
int pier_devinfo_can_export(const struct pier_devinfo *info,
			    enum pier_export kind);
int pier_devinfo_can_import(const struct pier_devinfo *info,
			    enum pier_export kind);

/* How much it can do.  Errors: -EINVAL, unknown @limit. */
int pier_devinfo_limit(const struct pier_devinfo *info, enum pier_limit limit,
		       uint64_t *ret);

/*
 * Open what pier_devlist_find() finds for @name.
 * The caller ends it with pier_dev_close().
 * Errors: -ENODEV; -ENETDOWN, its port is down; -ENOMEM; the system's own.
 */
int pier_dev_open(const char *name, struct pier_dev **ret);

/* Close @dev, on which nothing may be left; NULL is fine. */
void pier_dev_close(struct pier_dev *dev);

/* What was opened, as it was then; belongs to @dev. */
const struct pier_devinfo *pier_dev_info(const struct pier_dev *dev);

#ifdef __cplusplus
}
#endif

#endif
