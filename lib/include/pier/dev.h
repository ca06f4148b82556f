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
 * A device is an RDMA device and one of its ports.  A snapshot (struct
 * pier_devinfo) describes it without opening it; memory, contexts and engines
 * use an open device (struct pier_dev).
 *
 * Any thread may list devices; threads may share an open device, which must
 * outlive the objects on it.
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
	uint32_t index;		/* in the port's table: the argument of -g */
	enum pier_gid_type type;
};

/* The kinds of descriptors. */
enum pier_export {
	PIER_EXPORT_MMAP,	/* memory, for RDMA */
	PIER_EXPORT_CONN,	/* one end of a connection */
	PIER_EXPORT_SYNC_EVENT,	/* a sync event, for RDMA */
};

enum pier_limit {
	PIER_LIMIT_MESSAGE,	/* bytes in one message */
	PIER_LIMIT_MMAP,	/* bytes in one registered range */
	PIER_LIMIT_INLINE,	/* bytes sent inline */
	PIER_LIMIT_SEND_SGE,	/* buffers chained in one send, write, read */
	PIER_LIMIT_RECV_SGE,	/* buffers chained in one receive */
	PIER_LIMIT_CONNS,	/* connections of one context */
	PIER_LIMIT_SEND_QUEUE,	/* requests in flight on one connection, two */
				/* of which are pier's */
	PIER_LIMIT_RECV_QUEUE,	/* receives posted on one context */
	PIER_LIMIT_RD_ATOMIC,	/* reads and atomics in flight, per */
				/* connection */
	PIER_LIMIT_GIDS,	/* entries of the GID table in use */
	PIER_LIMIT_CTX_SENDS,	/* tasks but receives in flight on one RDMA */
				/* context */
	PIER_LIMIT_TASKS,	/* tasks that one context preallocates; of an */
				/* RDMA context receives, and as many others */
	PIER_LIMIT_COPY,	/* bytes in one copy */
	PIER_LIMIT_COPY_CHAIN,	/* buffers in a chain of a copy */
	PIER_LIMIT_HASH,	/* bytes of which a digest is made */
	PIER_LIMIT_HASH_CHAIN,	/* buffers in a chain of a hash */
	PIER_LIMIT_MMAP_DEVS,	/* devices of one mmap */
	PIER_LIMIT_BUF_REFS,	/* references to one buffer */
	PIER_LIMIT_PRIVATE_DATA, /* bytes of it, between programs with pier */
	PIER_LIMIT_COMCH_NAME,	/* bytes in the name of a Comm Channel */
	PIER_LIMIT_COMCH_MESSAGE, /* bytes in its messages */
	PIER_LIMIT_COMCH_RECV_QUEUE, /* messages a peer may send at a time */
	PIER_LIMIT_COMCH_CLIENTS, /* clients of one server */
	PIER_LIMIT_COMCH_DATA,	/* bytes in a message of a producer */
	PIER_LIMIT_COMCH_CHAIN,	/* buffers of such a message */
	PIER_LIMIT_COMCH_CONSUMERS, /* of an end of a connection */
	PIER_LIMIT_COMCH_IMM,	/* bytes in the immediate of such a message */
};

/* What is neither a type of task nor a kind of descriptor. */
enum pier_feature {
	PIER_FEATURE_RC,	/* reliable connections */
	PIER_FEATURE_DC,	/* dynamically connected transport */
	PIER_FEATURE_UD,	/* unreliable datagrams */
	PIER_FEATURE_ADDRESS,	/* connections by address: pier/cm.h */
	PIER_FEATURE_ATOMIC_CPU, /* RDMA atomics are atomic with the CPU's */
	PIER_FEATURE_SHA_1,	/* hash tasks with the algorithm */
	PIER_FEATURE_SHA_256,
	PIER_FEATURE_SHA_512,
	PIER_FEATURE_WAIT_BUSY,	/* calls that wait for a sync event: polling */
	PIER_FEATURE_WAIT_YIELD, /* asleep */
	PIER_FEATURE_WAIT_GT,	/* for a greater value */
	PIER_FEATURE_WAIT_EQ,	/* for an equal one */
	PIER_FEATURE_WAIT_NEQ,	/* for another one */
	PIER_FEATURE_SYNC_CTX,	/* a sync event as a context with tasks */
	PIER_FEATURE_SYNC_IMPORTED, /* calls and tasks of sync events that */
				/* other processes export */
	PIER_FEATURE_CLOCK,	/* a clock of the device */
	PIER_FEATURE_HOTPLUG,	/* emulated devices, plugged by a program */
	PIER_FEATURE_MODERATION, /* of notifications */
	PIER_FEATURE_DPA,	/* programs on processors of the device */
	PIER_FEATURE_GPU,	/* memory and programs of a GPU */
	PIER_FEATURE_DMABUF,	/* memory of another device, by its dma-buf */
	PIER_FEATURE_COMCH,	/* servers and clients of a Comm Channel */
};

/*
 * Take a snapshot of every device and port; an empty one is not an error.  The
 * caller destroys it by pier_devlist_destroy().
 * Errors: -ENOMEM; -EMFILE and others of socket(2), which is used to list the
 * interfaces.
 */
int pier_devlist_create(struct pier_devlist **ret);
void pier_devlist_destroy(struct pier_devlist *list);

/* The number of devices; device @i, which belongs to @list, or NULL. */
size_t pier_devlist_count(const struct pier_devlist *list);
const struct pier_devinfo *pier_devlist_get(const struct pier_devlist *list,
					    size_t i);

/*
 * The reason why a device of the machine is not in @list, and the remedy: no
 * permission, no library ... "": there is none.  Belongs to @list.
 */
const char *pier_devlist_hint(const struct pier_devlist *list);

/*
 * RDMA device @i of the machine that is not in @list, at most 8: its name, ""
 * if the machine has none at all; and the reason, with the remedy.  NULL: there
 * is no @i.  Both belong to @list.
 */
const char *pier_devlist_missing(const struct pier_devlist *list, size_t i);
const char *pier_devlist_missing_text(const struct pier_devlist *list,
				      size_t i);

/*
 * Find a device by @name: a device ("rxe0", "mlx5_0:2" for port 2), a netdev or
 * a PCI address; NULL or "": the one in PIER_DEVICE, else the default.  Belongs
 * to @list.  Errors: -ENODEV.
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

/* Entry @i of the GIDs, whose index may differ from @i.  Errors: -ERANGE. */
int pier_devinfo_gid(const struct pier_devinfo *info, size_t i,
		     struct pier_gid *ret);

/*
 * Whether connections may choose that entry if no index is given: 0, or
 * -EADDRNOTAVAIL with the reason as its error message.  Errors: -ERANGE.
 */
int pier_devinfo_can_gid(const struct pier_devinfo *info, size_t i);

/*
 * Whether the device supports it: 0, or -EOPNOTSUPP with the reason as its
 * error message.  What needs no device, such as hash tasks, is the same of all.
 * Errors: -EINVAL, unknown @type, @kind, @feature.
 */
int pier_devinfo_can_task(const struct pier_devinfo *info,
			  enum pier_task_type type);
int pier_devinfo_can_export(const struct pier_devinfo *info,
			    enum pier_export kind);
int pier_devinfo_can_import(const struct pier_devinfo *info,
			    enum pier_export kind);

int pier_devinfo_has(const struct pier_devinfo *info,
		     enum pier_feature feature);

/*
 * The value of @limit; UINT64_MAX: there is none but memory.  Errors: -EINVAL,
 * unknown @limit.
 */
int pier_devinfo_limit(const struct pier_devinfo *info, enum pier_limit limit,
		       uint64_t *ret);

/*
 * Open the device that pier_devlist_find() finds for @name.  The caller closes
 * it by pier_dev_close().
 * Errors: -ENODEV; -ENETDOWN, its port is down; -ENOMEM; those of the system.
 */
int pier_dev_open(const char *name, struct pier_dev **ret);

/*
 * How many mmaps and contexts were created on @dev and exist, those of buffers
 * that are in use included.
 */
void pier_dev_users(const struct pier_dev *dev, unsigned int *ret_mmaps,
		    unsigned int *ret_ctxs);

/*
 * Close @dev; all objects on it must have been destroyed, else it remains open
 * and the log contains how many there are.  NULL is allowed.
 */
void pier_dev_close(struct pier_dev *dev);

/* The description of @dev when it was opened; belongs to @dev. */
const struct pier_devinfo *pier_dev_info(const struct pier_dev *dev);

#ifdef __cplusplus
}
#endif

#endif
