/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_RENDEZVOUS_H
#define PIER_RENDEZVOUS_H

#include <pier/args.h>
#include <pier/conn.h>
#include <pier/mmap.h>
#include <pier/rdma.h>
#include <pier/sync_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Connect to the peer that the command line names, in straight-line programs:
 * by CM, or each side writes its descriptor file and waits for the other's.
 * Files are written atomically with mode 0600, and removed by their reader; a
 * file that is older than its writer's timeout is refused, and the wait
 * continues.  Calls belong to the engine's thread.
 */

/*
 * Connect the running @rdma according to @args; export @mmap unless NULL; get
 * the peer's unless @ret_remote is NULL.  Returns when data can flow.
 * Errors: -ETIMEDOUT, with what was missing; those of pier_rdma_connect().
 */
int pier_rendezvous(struct pier_rdma *rdma, const struct pier_args *args,
		    struct pier_mmap *mmap, struct pier_conn **ret,
		    struct pier_mmap **ret_remote);

/*
 * The same with sync events instead of memory: export the running @event unless
 * NULL; get the peer's, started, unless @ret_remote is NULL.  The caller
 * destroys it.
 * Errors: as pier_rendezvous() and pier_sync_event_export().
 */
int pier_rendezvous_event(struct pier_rdma *rdma, const struct pier_args *args,
			  struct pier_sync_event *event,
			  struct pier_conn **ret,
			  struct pier_sync_event **ret_remote);

/*
 * Make @count connections into the array @ret, one after the other, as
 * pier_rendezvous() makes one without memory: with files whose names end in
 * -0000, -0001 and so on, or as a server by CM; a client makes one only.
 * Errors: -EINVAL, not 1 to 10000, or a client; as pier_rendezvous(), and then
 * no connection is left.
 */
int pier_rendezvous_many(struct pier_rdma *rdma, const struct pier_args *args,
			 unsigned int count, struct pier_conn **ret);

/*
 * Drive the engine until the peer disconnects; Enter ends it too, and is read
 * only while this process is the terminal's foreground process group.
 * Keepalive detects a peer that dies.
 * Errors: that of the connection.
 */
int pier_rendezvous_serve(struct pier_conn *conn);

/*
 * The same for the @count connections at @conns, of one context, until all of
 * their peers have disconnected.  A connection that fails does not end it.
 * Errors: that of the first connection in @conns that failed.
 */
int pier_rendezvous_serve_many(struct pier_conn **conns, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif
