/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_PEER_H
#define PIER_T_LIB_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/pier.h>

#include "t/lib/limit.h"

struct pair;

/*
 * A peer: an RDMA context with memory, buffers and a connection, on an engine
 * of its own or on another peer's.  Whatever a test waits for is bounded by
 * PEER_LIMIT_MS, which PIER_TEST_SLOWER stretches; nothing sleeps where an
 * engine has work.
 */
#define PEER_LIMIT_MS LIMIT_MS
#define PEER_BUFS 128
#define PEER_ACCESS (PIER_LOCAL_WRITE | PIER_REMOTE_READ | \
		     PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

struct peer {
	struct pier_dev *dev;		/* borrowed */
	struct pier_pe *pe;
	bool own_pe;
	struct pier_rdma *rdma;
	struct pier_conn *conn;		/* the one to the other peer */
	const void *desc;		/* conn's */
	size_t desc_len;
	uint8_t *mem;			/* owned, unless it is: */
	bool own_mem;			/* of pier's own */
	size_t len;
	struct pier_mmap *mmap;		/* of mem */
	struct pier_mmap *remote;	/* of the other's mem */
	struct pier_buf_inventory *inv;
};

/* Have pier allocate their memory, as with PIER_SHM=require. */
extern bool peer_own_memory;

/*
 * Make @peer with @len bytes of memory, all rights granted, and start it on
 * @pe, or on an engine of its own if NULL.  @cfg NULL: the defaults.
 */
bool peer_open(struct peer *peer, struct pier_dev *dev, struct pier_pe *pe,
	       const struct pier_rdma_config *cfg, size_t len);

/* The same, one step earlier: nothing is started. */
bool peer_create(struct peer *peer, struct pier_dev *dev, struct pier_pe *pe,
		 const struct pier_rdma_config *cfg, size_t len);

/* End what there is of it. */
void peer_close(struct peer *peer);

/* Export a connection, which becomes peer->conn. */
bool peer_export(struct peer *peer);

/* The same; one that was just destroyed may have its place for a while. */
bool peer_export_later(struct peer *peer);

/* Let two peers import each other's memory. */
bool peer_swap(struct peer *a, struct peer *b);

/* Connect two running peers by their descriptors, and swap their memory. */
bool peer_join(struct peer *a, struct peer *b);

/* The same with a peer in another process, which does it too. */
bool peer_meet(struct peer *peer, struct pair *pair);

/* Two peers on one engine, joined; and their end. */
bool peer_pair(struct peer *a, struct peer *b, struct pier_dev *dev,
	       const struct pier_rdma_config *cfg, size_t len);
void peer_unpair(struct peer *a, struct peer *b);

/*
 * Drive the engines of all open peers until *@status is not -EINPROGRESS, and
 * return it; until *@count is at least @want; until @conn or @ctx is in
 * @state.  Beyond the limit: -ETIMEDOUT, or false.
 */
int peer_await(const int *status);
bool peer_count(const int *count, int want);
bool peer_conn(const struct pier_conn *conn, enum pier_conn_state state);
bool peer_ctx(const struct peer *peer, enum pier_ctx_state state);

/* Until no task of @peer is in flight. */
bool peer_quiet(const struct peer *peer);

/*
 * One round of the engines, for any other condition that a test waits for:
 *
 *	limit = limit_from_now();
 *	while (!condition && peer_step(limit))
 *		;
 *
 * False, and a failed check, when @limit has passed.
 */
bool peer_step(long long limit);

/* Drive them until this process is killed. */
void peer_serve(void) __attribute__((noreturn));

/*
 * Drive them for @ms milliseconds to see that nothing more happens; never to
 * wait for something to happen.
 */
void peer_drive_quietly(int ms);

/* For a pier_task_fn: @arg is an int, the status. */
void peer_done(struct pier_task *task, void *arg);

/*
 * Buffers: @len bytes at @off of its own memory or of the other's, as data or
 * as tail space.  NULL, and a failed check, if there is none.
 */
struct pier_buf *peer_data(struct peer *peer, size_t off, size_t len);
struct pier_buf *peer_tail(struct peer *peer, size_t off, size_t len);
struct pier_buf *peer_far_data(struct peer *peer, size_t off, size_t len);
struct pier_buf *peer_far_tail(struct peer *peer, size_t off, size_t len);

/* A pattern without a short period; byte @i of pattern @seed. */
uint8_t peer_byte(unsigned int seed, size_t i);

/* Fill all of its memory with pattern @seed. */
void peer_fill(struct peer *peer, unsigned int seed);

/* Do @len bytes from @off on hold the pattern @seed from @at on? */
bool peer_holds(const struct peer *peer, size_t off, size_t len,
		unsigned int seed, size_t at);

/* A limit of @dev. */
uint64_t peer_limit(const struct pier_dev *dev, enum pier_limit limit);

#endif
