/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_RDMA_IMPL_H
#define DOCA_RDMA_IMPL_H

#include <doca_rdma.h>

#include "doca_buf_impl.h"
#include "doca_dev_impl.h"
#include "doca_task_impl.h"

struct doca_rdma_addr {
	enum doca_rdma_addr_type type;
	char *address;
	uint16_t port;
	unsigned int attempts;		/* to connect that go on */
};

struct doca_rdma_connection {
	struct doca_rdma_connection *next, **at; /* in conns, or ended */
	struct doca_rdma *rdma;
	struct pier_conn *conn;		/* NULL: it has ended */
	union doca_data data;
	uint32_t id;
	unsigned int tasks;		/* but receives that refer to it */
	bool by_cm, ended;
	bool disconnected;		/* by the program */
	struct doca_rdma_addr *addr;	/* of an attempt that goes on */
	struct doca_rdma_addr peer;	/* filled when it is asked for */
};

/* In the order in which they were added. */
struct doca_rdma_conns {
	struct doca_rdma_connection *first, **end;
};

struct doca_rdma_listener {
	struct doca_rdma_listener *next;
	struct pier_listener *listener;
	uint16_t port;
};

struct doca_rdma {
	struct doca_ctx ctx;		/* first */
	struct doca_dev *dev;
	struct pier_rdma *rdma;
	struct doca_task_pool pools[PIER_TASK_TYPES];
	/* as set; 0: not set */
	uint32_t send_queue, recv_queue, send_list, recv_list;
	uint32_t permissions, gid_index, service_level;
	uint16_t max_conns, request_timeout;
	uint8_t rnr_retry, grh;
	bool gid_set, mtu_set;
	enum doca_mtu_size mtu;
	doca_rdma_connection_request_cb_t request;
	doca_rdma_connection_established_cb_t established;
	doca_rdma_connection_failure_cb_t failure;
	doca_rdma_connection_disconnection_cb_t disconnected;
	struct doca_rdma_conns conns, ended;
	uint32_t ids, ended_count;
	struct doca_rdma_listener *listeners;
};

/* Arguments of pier's task that cannot be changed. */
struct pier__doca_rdma_fixed {
	struct pier_conn *conn;
	doca_be32_t imm;
	uint64_t first, second;
};

/* All types have the same members. */
struct doca_rdma_task {
	struct doca_task task;		/* first */
	struct doca_rdma_connection *conn;
	const struct doca_buf *src;
	struct doca_buf *dst, *result;
	const struct doca_sync_event_remote_net *event;
	doca_be32_t imm;
	uint64_t first, second;		/* operands of an atomic */
	struct pier__doca_rdma_fixed fixed;	/* what task.spare has */
	/* Of a finished receive or read that was freed. */
	enum pier_recv_opcode opcode;
	uint32_t len;
};

static inline struct doca_rdma *pier__doca_rdma(struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

static inline bool pier__doca_is_ethernet(const struct doca_rdma *rdma)
{
	return pier_devinfo_link(rdma->dev->info.info) == PIER_LINK_ETHERNET;
}

/* @task is any of the types of tasks. */
static inline struct doca_rdma_task *pier__doca_rdma_task(const void *task)
{
	return (struct doca_rdma_task *)(uintptr_t)task;
}

/* Give pier what was set. */
doca_error_t pier__doca_rdma_configure(struct doca_rdma *rdma);

/* A wrapper of @conn.  NULL: no memory. */
struct doca_rdma_connection *pier__doca_conn_create(struct doca_rdma *rdma,
						    struct pier_conn *conn,
						    bool by_cm);

/* DOCA's code where a connection is not made; FULL: there are all that may. */
doca_error_t pier__doca_conn_error(int err);

/* @conn has ended; what refers to it stays valid. */
void pier__doca_conn_end(struct doca_rdma_connection *conn);

/* The program never had it. */
void pier__doca_conn_free(struct doca_rdma_connection *conn);

/* The attempt to connect @conn is over: its address may be destroyed. */
void pier__doca_conn_tried(struct doca_rdma_connection *conn);

/* Is @conn that of a received message whose task is not freed? */
bool pier__doca_rdma_received_from(const struct doca_rdma_connection *conn);

/* The context is idle; or about to start, or to be destroyed. */
void pier__doca_conns_init(struct doca_rdma *rdma);
void pier__doca_conns_end(struct doca_rdma *rdma);
void pier__doca_conns_free(struct doca_rdma *rdma);

/* pier calls these for connections by CM. */
void pier__doca_rdma_cm_init(struct doca_rdma *rdma);
void pier__doca_rdma_cm_idle(struct doca_rdma *rdma);

/* Take a task of @type, which is no receive. */
doca_error_t pier__doca_rdma_take(struct doca_rdma *rdma,
				  enum pier_task_type type,
				  struct doca_rdma_connection *conn,
				  union doca_data data,
				  struct doca_rdma_task **ret);

/* Has pier's task, which is kept, the arguments that cannot be changed? */
bool pier__doca_rdma_is_fixed(const struct doca_rdma_task *t);

/* For all types but those of sync events; and for receives. */
int pier__doca_rdma_reuse(struct doca_task *task, struct pier_task *pier);
int pier__doca_rdma_reuse_receive(struct doca_task *task,
				  struct pier_task *pier);

/* set_conf of @type. */
doca_error_t pier__doca_rdma_conf(struct doca_rdma *rdma,
				  enum pier_task_type type,
				  void (*done)(void), void (*failed)(void),
				  uint32_t count);

/* Allocate the tasks of all types. */
doca_error_t pier__doca_rdma_fill(struct doca_rdma *rdma);

/* Setters: the next submit has the new value.  None while submitted. */
void pier__doca_rdma_set_conn(struct doca_rdma_task *task,
			      struct doca_rdma_connection *conn);
void pier__doca_rdma_set_src(struct doca_rdma_task *task,
			     const struct doca_buf *src);
void pier__doca_rdma_set_dst(struct doca_rdma_task *task, struct doca_buf *dst);
void pier__doca_rdma_set_result(struct doca_rdma_task *task,
				struct doca_buf *result);
void pier__doca_rdma_set_imm(struct doca_rdma_task *task, doca_be32_t imm);
/* @field is one of @task. */
void pier__doca_rdma_set_value(struct doca_rdma_task *task, uint64_t *field,
			       uint64_t value);

/* One kind for each type, in the file of the type. */
extern const struct doca_task_kind pier__doca_rdma_receive;
extern const struct doca_task_kind pier__doca_rdma_send;
extern const struct doca_task_kind pier__doca_rdma_send_imm;
extern const struct doca_task_kind pier__doca_rdma_read;
extern const struct doca_task_kind pier__doca_rdma_write;
extern const struct doca_task_kind pier__doca_rdma_write_imm;
extern const struct doca_task_kind pier__doca_rdma_cmp_swp;
extern const struct doca_task_kind pier__doca_rdma_fetch_add;
extern const struct doca_task_kind pier__doca_rdma_event_get;
extern const struct doca_task_kind pier__doca_rdma_event_set;
extern const struct doca_task_kind pier__doca_rdma_event_add;

/* Its connection is one of its context, and has not ended. */
doca_error_t pier__doca_rdma_check_conn(struct doca_task *task);

/* What ends a task that has a connection. */
void pier__doca_rdma_task_freed(struct doca_task *task);

#endif
