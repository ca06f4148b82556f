/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_APP_RENDEZVOUS_IMPL_H
#define PIER_APP_RENDEZVOUS_IMPL_H

#include <pier/rendezvous.h>

#include "core/wire.h"

/* pier_rendezvous() with memory whose descriptor is of @kind. */
int pier__rendezvous(struct pier_rdma *rdma, const struct pier_args *args,
		     enum pier__wire_kind kind, struct pier_mmap *mmap,
		     struct pier_conn **ret, struct pier_mmap **ret_remote);

/* The same by CM, where @rdma runs. */
int pier__rendezvous_cm(struct pier_rdma *rdma, const struct pier_args *args,
			enum pier__wire_kind kind, struct pier_mmap *mmap,
			struct pier_conn **ret, struct pier_mmap **ret_remote);

/* The server's side of it, for @count clients, by one listener. */
int pier__rendezvous_cm_many(struct pier_rdma *rdma,
			     const struct pier_args *args, unsigned int count,
			     struct pier_conn **ret);

/* Destroy the @made connections of several that could not all be made. */
void pier__rendezvous_undo(struct pier_conn **conns, unsigned int made);

/* Errors: -ESHUTDOWN, the context of @rdma does not run. */
int pier__rendezvous_runs(const struct pier_rdma *rdma);

/* Have the file @path, just written, removed at the end of @conn. */
void pier__desc_file_keep(struct pier_conn *conn, const char *path);

#endif
