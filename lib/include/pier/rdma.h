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
 * An RDMA context: connections, and the tasks that run on them.  Configure it
 * while idle, start it on a progress engine, stop it, destroy it.  When it is
 * idle again it can be configured and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread unless marked "any thread".
 */
struct pier_buf;
struct pier_dev;
struct pier_rdma;
struct pier_sync_event;

/* The value 0, where 0 in a configuration means the default. */
#define PIER_ZERO UINT32_MAX

/*
 * Whether connections to processes of this host use shared memory.  Soft
 * devices only; others have no use for it.
 */
enum pier_shm {
	PIER_SHM_OFF = 1,	/* UDP */
	PIER_SHM_AUTO,		/* shared memory if possible, else UDP */
	PIER_SHM_REQUIRE,	/* shared memory, or no packet */
};

/*
 * Whether the flight recorder has events of connections.  Soft devices only:
 * on others the adapter does the transport, whose events pier does not see.
 */
enum pier_events {
	PIER_EVENTS_OFF = 1,	/* it has none, which saves their time */
	PIER_EVENTS_ON,
};

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
	uint32_t inline_size;	/* bytes; 0: as many as cost nothing */
	uint32_t access;	/* PIER_REMOTE_*, what peers may do on these */
				/* connections; 0: all, PIER_ZERO: none */
	uint32_t gid_index;	/* PIER_ZERO: 0; 0: chosen by the peer's */
				/* family, never link-local on RoCE */
	uint32_t mtu;		/* path MTU, 256..4096 bytes; 0: both ports' */
	uint32_t ack_timeout;	/* 4.096 us * 2^n, 1..31; 0 means 14 (67 ms) */
	uint32_t retry_count;	/* 1..6; 0 means 6 */
	uint32_t rnr_retry;	/* 1..7, 7: no limit, PIER_ZERO; 0 means 7 */
	uint32_t min_rnr_timer;	/* verbs code 1..31; 0 means 12 (0.64 ms) */
	uint32_t max_rd_atomic;	/* reads and atomics in flight; 0 means 16 */
	uint32_t traffic_class;	/* 0..255 */
	uint32_t hop_limit;	/* 1..255; 0 means 64 */
	uint32_t pkey_index;	/* in the port's table, of connections by */
				/* descriptor; by CM it chooses the key */
	uint32_t service_level;	/* 0..15, InfiniBand only */
	uint32_t drain_ms;	/* limit of closing; 0 means 2000 */
	uint32_t connect_timeout_ms;	/* 0 means 60000 */
	uint32_t keepalive_ms;	/* idle time before a peer is probed; 0 means */
				/* 5000, PIER_ZERO: never.  A connection ends */
				/* after 1 + retry_count unanswered probes, */
				/* ack_timeout apart */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* whole context, as DOCA has it */
	uint32_t no_hello;	/* non-zero: pier_rdma_connect() connects at */
				/* once, without a word from the peer */
	uint32_t empty_bufs;	/* non-zero: buffers without data or tail */
				/* space move no bytes, as DOCA has it; 0: */
				/* submit refuses them, only NULL does so */
	uint32_t type_tasks[PIER_TASK_TYPES];	/* tasks to preallocate by */
				/* enum pier_task_type: a type whose element */
				/* is 0 has none then, and queues are as long */
				/* as the sum.  All 0: send_tasks for all */
				/* types but receives, which have recv_tasks */
	uint32_t rnr_timeout_ms;	/* a connection ends by -PIER_ERNR */
				/* when its tasks have waited so long for a */
				/* receive of the peer's; 0: no limit.  Only */
				/* soft devices detect it */
	uint32_t shm;		/* enum pier_shm; 0: as PIER_SHM of the */
				/* environment has it, else off.  Off with */
				/* PIER_PCAP or PIER_FAULTS, which are about */
				/* packets */
	uint32_t events;	/* enum pier_events; 0: as PIER_EVENTS of the */
				/* environment has it, else on */
};

/*
 * Create an idle context on @dev, which must outlive it.  The caller destroys
 * it by pier_rdma_destroy().
 * Errors: -ENOMEM; -EOPNOTSUPP, @dev has no reliable connections.
 */
int pier_rdma_create(struct pier_dev *dev, struct pier_rdma **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range. */
int pier_rdma_configure(struct pier_rdma *rdma,
			const struct pier_rdma_config *cfg);

/*
 * The values in use: with defaults, limited to those of the device.  A 0 whose
 * member has another default is returned as PIER_ZERO, so that
 * pier_rdma_configure() accepts *ret for the same configuration.
 */
void pier_rdma_get_config(const struct pier_rdma *rdma,
			  struct pier_rdma_config *ret);

/*
 * Stop it if it runs, drain for at most the drain time, destroy it.  NULL is
 * allowed.
 */
void pier_rdma_destroy(struct pier_rdma *rdma);

struct pier_ctx *pier_rdma_ctx(struct pier_rdma *rdma);
struct pier_dev *pier_rdma_dev(const struct pier_rdma *rdma);

/*
 * Create a connection and describe the local end.  *ret_desc belongs to *ret.
 * Errors: -ESHUTDOWN, not running; -ENOSPC, max_conns are in use; -ENOMEM;
 * -ENETDOWN; -ENODEV, the device was removed; -ERANGE, no such GID index.
 */
int pier_rdma_export(struct pier_rdma *rdma, const void **ret_desc,
		     size_t *ret_len, struct pier_conn **ret);

/*
 * Connect @conn to the peer whose pier_rdma_export() made @desc.  Returns
 * before it is connected: the state callback or pier_conn_wait() reports that.
 * With no_hello the state is CONNECTED on return and no callback runs.
 * Errors: -EISCONN; -PIER_EDESC, -PIER_EVERSION, -PIER_EKIND; -EHOSTUNREACH, no
 * GID of a common family; -EPROTOTYPE, other link layer; -EINVAL, the
 * descriptor is its own; -EADDRINUSE, soft to a RoCE device needs port 4791.
 */
int pier_rdma_connect(struct pier_conn *conn, const void *desc, size_t len);

/*
 * Take a preallocated task.  Data is read from the data of @src and appended to
 * the data of @dst; see pier/buf.h.  Remote buffers come from a remote mmap and
 * are not chained.  Immediates are in network order.  A read moves as much as
 * the tail space of @dst, which may be less than @src has; submit refuses a
 * write of more than the tail space with -EMSGSIZE, and memory that a result
 * may not be written to with -EACCES.  @src NULL: no bytes are sent, read or
 * written, and @dst, which may be NULL too then, is not used.  Submit refuses
 * buffers without data, or tail space, with -EINVAL, except with empty_bufs.
 * Errors: -ENOBUFS, none free, or none of the type; -EOPNOTSUPP, as
 * pier_devinfo_can_task(); -EINVAL, a buffer on the wrong side, or a read or
 * write with a source and no destination.
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

/*
 * The value of @event, which pier_sync_event_create_from_export() made and
 * pier_sync_event_start() started: get appends it to @dst, set replaces it with
 * the 8 bytes of data of @src, add appends the value before to @result.  Get
 * and set move bytes as the owner's host has them.  The event may be stopped
 * and destroyed while they are in flight.
 * Errors: as above; -EINVAL, not an imported event; -ESHUTDOWN, it is not
 * started, or was stopped.
 */
int pier_rdma_task_remote_get(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *dst, struct pier_task **ret);
int pier_rdma_task_notify_set(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *src, struct pier_task **ret);
int pier_rdma_task_notify_add(struct pier_conn *conn,
			      const struct pier_sync_event *event,
			      struct pier_buf *result, uint64_t add,
			      struct pier_task **ret);

/* Any connection can use it.  @dst NULL: for empty messages and immediates. */
int pier_rdma_task_receive(struct pier_rdma *rdma, struct pier_buf *dst,
			   struct pier_task **ret);

/*
 * Change the buffers of the next submit; of an atomic @src is the result, of a
 * receive only @dst counts.  Errors: -EBUSY, submitted; -EINVAL.
 */
int pier_rdma_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			    struct pier_buf *dst);

/*
 * The same of a remote get, a notify set or a notify add: the event and the
 * local buffer of the next submit.  Errors: as above; -EINVAL, another type;
 * -ESHUTDOWN, the event is not started, or was stopped.
 */
int pier_rdma_task_set_event(struct pier_task *task,
			     const struct pier_sync_event *event,
			     struct pier_buf *buf);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
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
int pier_rdma_remote_get(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *dst, pier_task_fn *fn, void *arg);
int pier_rdma_notify_set(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *src, pier_task_fn *fn, void *arg);
int pier_rdma_notify_add(struct pier_conn *conn,
			 const struct pier_sync_event *event,
			 struct pier_buf *result, uint64_t add,
			 pier_task_fn *fn, void *arg);
int pier_rdma_receive(struct pier_rdma *rdma, struct pier_buf *dst,
		      pier_task_fn *fn, void *arg);

/* The kind of message in a completed receive. */
enum pier_recv_opcode {
	PIER_RECV_SEND,
	PIER_RECV_SEND_IMM,
	PIER_RECV_WRITE_IMM,	/* bytes are in the mmap, not in @dst */
};

/*
 * Of a successful receive, until it is submitted again or freed: the immediate
 * in network order, 0 without one; the bytes of the message.
 */
enum pier_recv_opcode pier_recv_opcode(const struct pier_task *task);
uint32_t pier_recv_imm(const struct pier_task *task);
uint32_t pier_recv_len(const struct pier_task *task);

/* Of a successful read, until it is submitted again or freed: its bytes. */
uint32_t pier_read_len(const struct pier_task *task);

#ifdef __cplusplus
}
#endif

#endif
