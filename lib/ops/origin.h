/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_ORIGIN_H
#define PIER_OPS_ORIGIN_H

#include <stdatomic.h>

#include "cm/addr.h"
#include "cm/conn_impl.h"
#include "mem/mmap_impl.h"
#include "mem/mmap_origin.h"
#include "ops/service.h"

/* Where the service that serves an imported mmap is; pier_mmap.origin. */
struct pier__mmap_origin {
	struct pier__mmap_origin_head head;	/* first */
	struct pier__list link;		/* of all imports */
	uint8_t token[PIER__TOKEN];
	uint16_t port;
	unsigned int gid_count;
	struct pier__gid_offer gids[PIER__GIDS_MAX];
};

/* A connection to a service, which ends when nothing of it is imported. */
struct pier__origin_user {
	struct pier__list link;
	const uint8_t *token;
	struct pier_pe *pe;
	atomic_bool unused;		/* the last import was destroyed */
	atomic_bool *attention;		/* set with it, and @pe is nudged */
};

/*
 * Count @origin, an import; free it.  Any thread.
 */
void pier__origin_add(struct pier__mmap_origin *origin);
void pier__origin_free(struct pier__mmap_origin *origin);

/* Begin and end to watch the imports of user->token.  Any thread. */
void pier__origin_watch(struct pier__origin_user *user);
void pier__origin_unwatch(struct pier__origin_user *user);

/*
 * Write the descriptor of @kind of @mmap, which is registered on @dev and is
 * served as @entry, to @buf.  Returns its length.
 * Errors: those of pier__gid_offers() and pier_mmap_export(); -ENOBUFS.
 */
int pier__origin_describe(const struct pier__service_entry *entry,
			  struct pier_dev *dev, struct pier_mmap *mmap,
			  enum pier__wire_kind kind, void *buf, size_t size);

/*
 * Create the remote mmap, with an origin, of such a descriptor, for @dev unless
 * that is NULL.
 * Errors: those of pier_dma_import().
 */
int pier__origin_import(struct pier_dev *dev, const void *desc, size_t len,
			enum pier__wire_kind kind,
			enum pier__wire_kind mmap_kind, struct pier_mmap **ret);

/*
 * Connect to the service from @dev, the device of @queues.
 * Errors: those of pier_rdma_connect_to().
 */
int pier__origin_connect(const struct pier__mmap_origin *origin,
			 struct pier_dev *dev,
			 struct pier__queues *queues, void *user_data,
			 struct pier_conn **ret);

/*
 * The connection to the service has ended.  Returns the error, the thread's
 * last one; @what was served, "memory".
 */
int pier__origin_ended(const struct pier_conn *conn, const char *what);

#endif
