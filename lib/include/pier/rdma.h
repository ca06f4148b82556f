/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_RDMA_H
#define PIER_RDMA_H

#include <stddef.h>
#include <stdint.h>

#include <pier/conn.h>
#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An RDMA context: connections, and the tasks that run on them.
 * Configure it while idle, start it on a progress engine, stop it, destroy it.
 *
 * Calls return 0 or a negative errno value and leave *ret alone on failure.
 * They belong to the engine's thread unless they say "any thread".
 */
struct pier_buf;
struct pier_dev;
struct pier_rdma;

/* Asks for 0 itself, where 0 in a configuration means the default. */
#define PIER_ZERO UINT32_MAX

struct pier_rdma_config {
	size_t size;		/* sizeof(struct pier_rdma_config), always */
	uint32_t max_conns;	/* connections; 1..65535, 0 means 64 */
	uint32_t send_queue;	/* tasks in flight, all connections; 0: 256 */
	uint32_t conn_send_queue; /* the same, one connection; 0: 64 */
	uint32_t recv_queue;	/* receives posted, shared; 0 means 256 */
	uint32_t send_tasks;	/* tasks but receives to preallocate; 0: */
				/* send_queue */
	uint32_t recv_tasks;	/* receives to preallocate; 0: recv_queue */
	uint32_t send_chain;	/* buffers in a chain; 0 means 4 */
	uint32_t recv_chain;	/* the same of a receive; 0 means 4 */
	uint32_t inline_size;	/* bytes; 0: what is free of cost */
	uint32_t access;	/* PIER_REMOTE_*, what peers may do on these */
				/* connections; 0: all, PIER_ZERO: nothing */
	uint32_t gid_index;	/* PIER_ZERO: 0; 0: chosen by the peer's */
				/* family, never link-local on RoCE */
	uint32_t mtu;		/* path MTU, 256..4096 bytes; 0: both ports' */
	uint32_t ack_timeout;	/* 4.096 us * 2^n, 1..31; 0 means 14 (67 ms) */
	uint32_t retry_count;	/* 1..6; 0 means 6 */
	uint32_t rnr_retry;	/* 1..7, 7 for ever, PIER_ZERO; 0 means 7 */
	uint32_t min_rnr_timer;	/* verbs code 1..31; 0 means 12 (0.64 ms) */
	uint32_t max_rd_atomic;	/* reads and atomics in flight; 0 means 16 */
	uint32_t traffic_class;	/* 0..255 */
	uint32_t hop_limit;	/* 1..255; 0 means 64 */
	uint32_t pkey_index;	/* in the port's table, of connections by */
				/* descriptor; by CM it has the choice */
	uint32_t service_level;	/* 0..15, InfiniBand only */
	uint32_t drain_ms;	/* bound on cleaning up; 0 means 2000 */
	uint32_t connect_timeout_ms;	/* 0 means 60000 */
	uint32_t keepalive_ms;	/* idle time before a peer is probed; 0 means */
				/* 5000, PIER_ZERO: never.  How many probes */
				/* in vain end a connection: 1 + retry_count, */
				/* ack_timeout apart */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* whole context, as DOCA has it */
};

/*
 * Make an idle context on @dev, which must outlive it.
 * The caller owns *ret and ends it with pier_rdma_destroy().
 * Errors: -ENOMEM; -EOPNOTSUPP, @dev has no reliable connections.
 */
int pier_rdma_create(struct pier_dev *dev, struct pier_rdma **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a field is out of range. */
int pier_rdma_configure(struct pier_rdma *rdma,
			const struct pier_rdma_config *cfg);

/*
 * The values in force: defaults filled in, clamped to the device.  A 0 whose
 * field would have a default instead is given as PIER_ZERO, so that
 * pier_rdma_configure() takes *ret for the same configuration.
 */
void pier_rdma_get_config(const struct pier_rdma *rdma,
			  struct pier_rdma_config *ret);

/* Stop if it runs, drain for at most the drain time, end.  NULL is fine. */
void pier_rdma_destroy(struct pier_rdma *rdma);

struct pier_ctx *pier_rdma_ctx(struct pier_rdma *rdma);
struct pier_dev *pier_rdma_dev(const struct pier_rdma *rdma);

/*
 * Begin a connection and describe this end of it.  *ret_desc stays *ret's.
 * Errors: -ESHUTDOWN, not running; -ENOSPC, max_conns are in use; -ENOMEM;
 * -ENETDOWN; -ENODEV, the device is gone; -ERANGE, no such GID index.
 */
int pier_rdma_export(struct pier_rdma *rdma, const void **ret_desc,
		     size_t *ret_len, struct pier_conn **ret);

/*
 * Connect @conn to the peer whose pier_rdma_export() made @desc.  Returns
 * before it is connected: the state callback or pier_conn_wait() tells.
 * Errors: -EISCONN; -PIER_EDESC, -PIER_EVERSION, -PIER_EKIND;
 * -EHOSTUNREACH, no GID of a common family; -EPROTOTYPE, other link layer;
 * -EINVAL, it is its own; -EADDRINUSE, soft to a RoCE device needs port 4791.
 */
int pier_rdma_connect(struct pier_conn *conn, const void *desc, size_t len);

/*
 * Take a task of the preallocated ones.  Data is read from the data of @src
 * and appended to the data of @dst; see pier/buf.h.  Remote buffers come from
 * a remote mmap and are not chained.  Immediates are in network order.
 * A read moves as much as @dst has room for, which may be less than @src has;
 * a write that is more than the room is refused with -EMSGSIZE by submit.
 * @src NULL: no bytes are sent, read or written, and @dst, which may be NULL
 * too then, is not used.
 * Errors: -ENOBUFS, none left; -EINVAL, a buffer on the wrong side, or a read
 * or write with a source and no destination.
 */
int pier_rdma_task_send(struct pier_conn *conn, struct pier_buf *src,
			struct pier_task **ret);
int pier_rdma_task_send_imm(struct pier_conn *conn, struct pier_buf *src,
			    uint32_t imm, struct pier_task **ret);
int pier_rdma_task_read(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, struct pier_task **ret);
int pier_rdma_task_write(struct pier_conn *conn, struct pier_buf *src,
			 struct pier_buf *dst, struct pier_task **ret);
int pier_rdma_task_write_imm(struct pier_conn *conn, struct pier_buf *src,
			     struct pier_buf *dst, uint32_t imm,
			     struct pier_task **ret);

/* @dst: 8 remote bytes, aligned; the old value is appended to @result. */
int pier_rdma_task_compare_swap(struct pier_conn *conn, struct pier_buf *dst,
				struct pier_buf *result, uint64_t compare,
				uint64_t swap, struct pier_task **ret);
int pier_rdma_task_fetch_add(struct pier_conn *conn, struct pier_buf *dst,
			     struct pier_buf *result, uint64_t add,
			     struct pier_task **ret);

/* Any connection may fill it.  @dst NULL: takes empty messages, immediates. */
int pier_rdma_task_receive(struct pier_rdma *rdma, struct pier_buf *dst,
			   struct pier_task **ret);

/*
 * Change what the next submit uses; of an atomic @src is the result, of a
 * receive only @dst counts.  Errors: -EBUSY, submitted; -EINVAL.
 */
int pier_rdma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			    struct pier_buf *dst);

/*
 * One shot: take, submit, and free after @fn has run; with @fn NULL when
 * pier_pe_retrieve() gives it out the task is the caller's to free.
 * Errors: as the calls above and pier_task_submit().
 */
int pier_rdma_send(struct pier_conn *conn, struct pier_buf *src,
		   pier_task_fn *fn, void *arg);
int pier_rdma_send_imm(struct pier_conn *conn, struct pier_buf *src,
		       uint32_t imm, pier_task_fn *fn, void *arg);
int pier_rdma_read(struct pier_conn *conn, struct pier_buf *src,
		   struct pier_buf *dst, pier_task_fn *fn, void *arg);
int pier_rdma_write(struct pier_conn *conn, struct pier_buf *src,
		    struct pier_buf *dst, pier_task_fn *fn, void *arg);
int pier_rdma_write_imm(struct pier_conn *conn, struct pier_buf *src,
			struct pier_buf *dst, uint32_t imm, pier_task_fn *fn,
			void *arg);
int pier_rdma_compare_swap(struct pier_conn *conn, struct pier_buf *dst,
			   struct pier_buf *result, uint64_t compare,
			   uint64_t swap, pier_task_fn *fn, void *arg);
int pier_rdma_fetch_add(struct pier_conn *conn, struct pier_buf *dst,
			struct pier_buf *result, uint64_t add,
			pier_task_fn *fn, void *arg);
int pier_rdma_receive(struct pier_rdma *rdma, struct pier_buf *dst,
		      pier_task_fn *fn, void *arg);

/* What a finished receive took in. */
enum pier_recv_opcode {
	PIER_RECV_SEND,
	PIER_RECV_SEND_IMM,
	PIER_RECV_WRITE_IMM,	/* bytes are in the mmap, not in @dst */
};

/*
 * Of a receive that has succeeded, until it is submitted again or freed: the
 * immediate in network order, 0 without one; the bytes of the message.
 */
enum pier_recv_opcode pier_recv_opcode(const struct pier_task *task);
uint32_t pier_recv_imm(const struct pier_task *task);
uint32_t pier_recv_len(const struct pier_task *task);

#ifdef __cplusplus
}
#endif

#endif
