/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_TASK_TYPE_H
#define PIER_OPS_TASK_TYPE_H

#include "ops/rdma_impl.h"

/* Where a buffer of a task is. */
enum pier__buf_place {
	PIER__BUF_UNUSED,
	PIER__BUF_LOCAL,
	PIER__BUF_REMOTE,
};

/* How an RDMA task reaches the device and how it completes. */
struct pier__rdma_kind {
	struct pier__task_ops ops;
	void (*done)(struct pier__op *op, const struct ibv_wc *wc);
	void (*succeed)(struct pier__posted *posted);	/* not of receives */
};

extern const struct pier__rdma_kind pier__rdma_send;	/* at most a source */
extern const struct pier__rdma_kind pier__rdma_copy;	/* two buffers */
extern const struct pier__rdma_kind pier__rdma_store;	/* two, none grows */
extern const struct pier__rdma_kind pier__rdma_nothing;	/* a copy of no bytes */
extern const struct pier__rdma_kind pier__rdma_recv;	/* at most a */
							/* destination */

/* All that distinguishes one type of task from another. */
struct pier__task_type {
	const char *name;		/* in messages */
	const char *key;		/* for programs, as in JSON */
	enum ibv_wr_opcode opcode;	/* of a receive: of what fills it; */
					/* bit in pier__limits.opcodes */
	enum pier__buf_place src, dst;
	uint32_t access;		/* PIER_REMOTE_*, 0: none is needed */

	/* Build the work request.  Returns its elements, or an error. */
	int (*build)(struct pier__rdma_task *t);

	const struct pier__rdma_kind *kind;	/* NULL: not of an RDMA */
						/* context */
	const struct pier__rdma_kind *empty;	/* the kind without buffers; */
						/* NULL: it needs them */
	bool receives;			/* in the pool of receives */
	bool may_inline;		/* its data is copied at post if it */
					/* is short */
	bool src_grows;			/* the result goes into the source */
	bool none_grows;		/* neither buffer */
	bool event;			/* the remote one is the word of an */
					/* imported sync event */
	bool by_cpu;			/* no device: only its name and key */
					/* are set */
};

extern const struct pier__task_type pier__task_types[];	/* by pier_task_type */
extern const unsigned int pier__task_type_count;

/* Does the device carry out the opcode of @type? */
static inline bool pier__task_type_fits(const struct pier__task_type *type,
					const struct pier__limits *limits)
{
	return limits->opcodes & UINT32_C(1) << type->opcode;
}

/* Fail because it does not.  Returns -EOPNOTSUPP. */
int pier__task_type_lacks(const struct pier__task_type *type,
			  const struct pier__port *port);

static inline const struct pier__task_type *
pier__rdma_type(const struct pier__rdma_task *t)
{
	return &pier__task_types[t->task.type];
}

static inline const char *pier__rdma_name(const struct pier__rdma_task *t)
{
	return pier__rdma_type(t)->name;
}

/* Cancel a task in flight, as pier_task_cancel(). */
int pier__rdma_cancel_send(struct pier_task *task);
int pier__rdma_cancel_recv(struct pier_task *task);

/* What holds it up, and whether a receive can still finish: see task_impl.h. */
const char *pier__rdma_obstacle(const struct pier_task *task);
int pier__rdma_recv_hope(const struct pier_task *task,
			 const struct pier_conn *conn);

/* Drop the buffers of @t, and finish it; its message is the last error. */
void pier__rdma_finish_failed(struct pier__rdma_task *t, int status);

/* The builders of the table.  Errors: as pier_task_submit(). */
int pier__rdma_build_send(struct pier__rdma_task *t);
int pier__rdma_build_recv(struct pier__rdma_task *t);
int pier__rdma_build_read(struct pier__rdma_task *t);
int pier__rdma_build_write(struct pier__rdma_task *t);
int pier__rdma_build_atomic(struct pier__rdma_task *t);
int pier__rdma_build_remote_get(struct pier__rdma_task *t);
int pier__rdma_build_notify_set(struct pier__rdma_task *t);

#endif
