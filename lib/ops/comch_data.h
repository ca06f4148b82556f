/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_COMCH_DATA_H
#define PIER_OPS_COMCH_DATA_H

#include <pier/comch_data.h>

#include "mem/buf_impl.h"
#include "ops/comch_dir.h"

/*
 * What consumers and producers have in common: each is a context with queues
 * and connections of its own.  A consumer listens; a producer connects when it
 * first sends to it, with the token of the consumer.  The head of a message is
 * received into the task, the rest into the buffer of the program.
 */

struct pier__comch_target;

/* A message that is sent or received. */
struct pier__comch_data_task {
	struct pier_task task;		/* first */
	struct pier__posted posted;
	struct pier_buf *buf;		/* referenced while submitted; NULL: */
					/* none */
	uint64_t built_stamp;		/* of buf when wr was built; 0: it is */
					/* a chain, or NULL */
	size_t built_len;		/* the same, its data's */
	const void *imm;		/* of a producer; NULL: none */
	size_t imm_len;
	uint32_t consumer;
	uint64_t epoch;			/* when wr was built for one buffer; */
					/* 0: build it again */
	uint32_t len;			/* without the head */
	uint32_t space;			/* of a consumer: what buf takes */
	struct pier__comch_target *target;	/* while submitted, and in */
						/* this epoch */
	int verbs_status;		/* of a failure; -1: none */
	uint32_t vendor_error;
	union {
		struct ibv_send_wr send;
		struct ibv_recv_wr recv;
	} wr;
	struct pier__comch_data_head head;
	struct ibv_sge sge[];		/* that of the head, and the chain's */
};

struct pier__comch_data;

/* What distinguishes a consumer from a producer. */
struct pier__comch_data_role {
	const char *name;		/* of the context, in messages */
	bool is_consumer;
	struct pier__conn_callbacks callbacks;
	/* The queues exist.  Errors: as of a context's start. */
	int (*start)(struct pier__comch_data *data);
	void (*stop)(struct pier__comch_data *data);
	/* The directory has changed, and its connection has not ended. */
	void (*attend)(struct pier__comch_data *data);
	void (*free)(struct pier__comch_data *data);
};

struct pier__comch_data {
	struct pier_ctx ctx;		/* first */
	const struct pier__comch_data_role *role;
	struct pier_comch_data_config cfg;	/* settled */
	struct pier__queues_config conn_cfg;	/* of cfg */
	struct pier_dev *dev;		/* held */
	struct pier__comch_member *member;	/* owned */
	struct pier__conn_owner owner;	/* of its connections */
	struct pier__source source;
	struct pier__task_pool *pool;	/* NULL before the start */
	struct pier__mr *pool_mr;	/* of the heads */
	uint64_t most;			/* bytes of a message */
	uint64_t epoch;			/* another one when tasks cannot be */
					/* posted as before; not 0 */
	struct pier__deferred deferred;	/* destroy inside a callback */
	struct pier_comch_data_counters counters;
	int error;			/* 0: none */
	char text[256];			/* its message */
};

static inline struct pier__comch_data *pier__comch_data_of(struct pier_ctx *ctx)
{
	return pier__container_of(ctx, struct pier__comch_data, ctx);
}

static inline struct pier__comch_data_task *
pier__comch_data_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__comch_data_task, task);
}

/*
 * Make @data one of @role on @c.  Errors: -ENOTCONN; -ENOSPC; -ENOMEM;
 * -EOPNOTSUPP, the device gathers and scatters nothing.
 */
int pier__comch_data_init(struct pier__comch_data *data,
			  const struct pier__comch_data_role *role,
			  struct pier_comch_conn *c);
int pier__comch_data_configure(struct pier__comch_data *data,
			       const struct pier_comch_data_config *cfg);
void pier__comch_data_get_config(const struct pier__comch_data *data,
				 struct pier_comch_data_config *ret);
void pier__comch_data_destroy(struct pier__comch_data *data);
int pier__comch_data_error(const struct pier__comch_data *data,
			   const char **ret_text);

/* Stop @data by itself, for the reason of the thread's last error. */
void pier__comch_data_fail(struct pier__comch_data *data, int err);

/* comch_data_task.c: a free task, as new.  Errors: -ENOBUFS. */
int pier__comch_data_take(struct pier__comch_data *data,
			  enum pier_task_type type,
			  const struct pier__task_ops *ops,
			  struct pier_buf *buf,
			  struct pier__comch_data_task **ret);

/*
 * Make elements of the head and of the data of the chain of @t, or of its tail
 * space.  Returns how many, and the bytes of the chain in *ret_len.
 * Errors: -EINVAL; -EMSGSIZE.
 */
int pier__comch_data_build(struct pier__comch_data_task *t, bool tails,
			   uint32_t *ret_len);

/* Can it be posted as before, with the same buffer in the same epoch? */
static inline bool pier__comch_data_same(const struct pier__comch_data_task *t)
{
	return t->epoch == pier__comch_data_of(t->task.ctx)->epoch &&
	       t->built_stamp == t->buf->stamp &&
	       t->built_len == t->buf->data_len;
}

/* It can from now on, if it has one buffer. */
static inline void
pier__comch_data_remember(struct pier__comch_data_task *t)
{
	if (t->built_stamp)
		t->epoch = pier__comch_data_of(t->task.ctx)->epoch;
}

/* It is posted, with one buffer, which is referenced; any, or none. */
static inline void
pier__comch_data_submitted_one(struct pier__comch_data_task *t)
{
	t->buf->refs++;
	pier__task_submitted(&t->task);
}

static inline void pier__comch_data_submitted(struct pier__comch_data_task *t)
{
	if (t->buf)
		t->buf->refs++;
	pier__task_submitted(&t->task);
}

/* Submit one that cannot be posted as before, by @post; or it may not be. */
static inline int
pier__comch_data_submit_anew(struct pier__comch_data_task *t,
			     unsigned int flags,
			     int (*post)(struct pier__comch_data_task *t))
{
	int err = pier__task_submit_error(&t->task, flags);

	if (err)
		return err;
	err = post(t);
	return err ? pier__task_named(&t->task, err) : 0;
}

/* Was it one buffer, which the program holds, too?  The usual case. */
static inline bool
pier__comch_data_is_held(const struct pier__comch_data_task *t)
{
	return t->built_stamp && t->buf->refs > 1;
}

/* Drop the buffer and finish it, with 0 or an error. */
void pier__comch_data_finish(struct pier__comch_data_task *t);
void pier__comch_data_finish_failed(struct pier__comch_data_task *t,
				    int status);

/* The same of one that was recalled, as @posted. */
void pier__comch_data_end_recalled(struct pier__posted *posted);

/* A message was sent: posted->succeed of those of producers. */
void pier__comch_produced(struct pier__posted *posted);

/*
 * Why the consumer has rejected the connection; 0: it has not.
 * Errors: -ENOSPC, it has enough producers; -ECONNRESET, it is there no longer.
 */
int pier__comch_data_rejected(struct pier_conn *conn);

/* Note what the device has reported of a failure. */
void pier__comch_data_failed(struct pier__comch_data_task *t,
			     const struct ibv_wc *wc);

void pier__comch_data_task_error(const struct pier_task *task,
				 struct pier_task_error *ret);
void pier__comch_data_bufs(struct pier_task *task, struct pier_buf *ret[2]);

/* The private data of a producer's request; and back: its id, 0: it is none. */
void pier__comch_ask_encode(const uint8_t token[PIER__COMCH_TOKEN],
			    uint32_t producer, uint8_t ret[PIER__COMCH_ASK]);
uint32_t pier__comch_ask_decode(const void *data, size_t len,
				const uint8_t token[PIER__COMCH_TOKEN]);

#endif
