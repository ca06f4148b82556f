/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TASK_H
#define PIER_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A task: one operation on a context.  Taken from a context's pool by a call
 * like pier_rdma_task_read(), submitted any number of times, freed.  From
 * submit until its callback the task and its buffers belong to pier; at other
 * times the task holds no reference to a buffer: to submit it again, keep one.
 * Calls belong to the engine's thread.
 */
struct pier_conn;
struct pier_ctx;
struct pier_task;

enum pier_task_type {
	PIER_TASK_SEND,
	PIER_TASK_SEND_IMM,
	PIER_TASK_RECEIVE,
	PIER_TASK_READ,
	PIER_TASK_WRITE,
	PIER_TASK_WRITE_IMM,
	PIER_TASK_COMPARE_SWAP,
	PIER_TASK_FETCH_ADD,
	PIER_TASK_COPY,
	PIER_TASK_CALL,
	PIER_TASK_HASH,
	PIER_TASK_GRAPH,
	PIER_TASK_SYNC_GET,
	PIER_TASK_SYNC_SET,
	PIER_TASK_SYNC_ADD,
	PIER_TASK_SYNC_WAIT_GT,
	PIER_TASK_SYNC_WAIT_EQ,
	PIER_TASK_SYNC_WAIT_NEQ,
	PIER_TASK_REMOTE_GET,
	PIER_TASK_NOTIFY_SET,
	PIER_TASK_NOTIFY_ADD,
	PIER_TASK_COMCH_SEND,
	PIER_TASK_COMCH_RECEIVE,
	PIER_TASK_COMCH_PRODUCE,
	PIER_TASK_COMCH_REQUEST,
};

/* The elements of arrays by type in configurations: for more types than are. */
#define PIER_TASK_TYPES 32

/* Flags of pier_task_submit(). */
enum pier_submit {
	PIER_SUBMIT_MORE = 1,	/* more follow: post with the next one that */
				/* lacks this flag, or at the next progress */
};

/* Runs on the engine's thread, never from inside pier_task_submit(). */
typedef void pier_task_fn(struct pier_task *task, void *arg);

/* Details of a failure. */
struct pier_task_error {
	int status;		/* as pier_task_status() */
	int verbs_status;	/* enum ibv_wc_status; -1: no completion */
	uint32_t vendor_error;	/* as the device gave it */
	uint8_t peer_gid[16];	/* zero without a peer */
	uint32_t peer_qpn;
	enum pier_scope scope;	/* as pier_task_error_scope() */
};

/* Call @fn with @arg when done; NULL: pier_pe_retrieve() takes it. */
void pier_task_set_done(struct pier_task *task, pier_task_fn *fn, void *arg);

/*
 * Have the engine cancel @task, and stop its context if that does not end it,
 * when it is in flight for @timeout_ms milliseconds; 0: never.  It then ends
 * with -ETIMEDOUT.  What is on an RDMA connection ends that, as in
 * pier_task_cancel().  A task that was just taken has its context's timeout.
 * Errors: -EINVAL, below 0; -EBUSY, it is submitted.
 */
int pier_task_set_timeout_ms(struct pier_task *task, int timeout_ms);

/*
 * Submit @task.  On an error it belongs to the caller and nothing was done.
 * Errors: -EBUSY, already submitted, itself or in an instance; -ESHUTDOWN, the
 * context is not running; -ENOTCONN; -EAGAIN, a full queue: progress first;
 * -EMSGSIZE, more than the limit of the device or the tail space of a write;
 * -EACCES, the peer forbids it; -EINVAL: a buffer was put, the task was freed.
 */
int pier_task_submit(struct pier_task *task, unsigned int flags);

/*
 * The same, but a full queue is no failure to report: on -EAGAIN
 * pier_last_error() stays as it was.  For programs that submit until the queue
 * is full.  A copy or hash whose buffers make it fail at completion fails here,
 * with the error that would be its status.
 */
int pier_task_try_submit(struct pier_task *task, unsigned int flags);

/*
 * Drive its engine until @task is complete; after @timeout_ms milliseconds,
 * below 0: never, cancel it, and stop its context if that does not end it.  So
 * it is not in flight when this returns, unless with -EBUSY.  A receive is
 * cancelled too when all connections of its context have ended and none is
 * listened for.  Returns its status.
 * Errors: -ETIMEDOUT, it was cancelled; the error of the last connection, or
 * -ENOTCONN, of such a receive; -EBUSY, nothing was done: in a callback, or it
 * is a node's in a graph's instance that is submitted.
 */
int pier_task_wait(struct pier_task *task, int timeout_ms);

/*
 * The same for a receive that @conn is to fill, a reply: the end of @conn
 * cancels it, whatever other connections there are.
 * Errors: also -EINVAL, no receive, or @conn is none of its context.
 */
int pier_task_wait_conn(struct pier_task *task, struct pier_conn *conn,
			int timeout_ms);

/* Submit @task and wait for it.  Errors: as of both. */
int pier_task_run(struct pier_task *task, int timeout_ms);

/*
 * The same, then free it, also if it was not submitted: a one-shot's wait.  The
 * task's callback must not free it.
 */
int pier_task_once(struct pier_task *task, int timeout_ms);

/*
 * End @task early; its callback comes in a later round, with -ECANCELED unless
 * it has finished otherwise.  What is on an RDMA connection cannot be recalled:
 * the connection ends, and its error says so.  pier_task(3) has the rest.
 * Nothing is done to a task that is not in flight.
 * Errors, which change nothing: -EOPNOTSUPP, a receive, on a device that gives
 * none back; -EBUSY, a message is arriving in it, or its function runs.
 */
int pier_task_cancel(struct pier_task *task);

/*
 * Return @task to its pool; its buffers stay the caller's.  Call it before the
 * context is destroyed: a task that is not freed keeps the pool and its
 * connection.  In its own callback @task may be freed.  NULL is allowed.
 * Errors, which change nothing: -EBUSY, it is submitted, or a node's in a
 * graph's instance that is, and finishes as if this had not been called;
 * -EINVAL, it is in the pool already.
 */
int pier_task_free(struct pier_task *task);

/*
 * Free @task at once, or as soon as pier_task_free() would, without its
 * callback; one in flight is cancelled, and that of a node that has not begun
 * does not begin, which fails its instance with -ECANCELED.  The program does
 * not use @task any more.  NULL is allowed.
 */
void pier_task_abandon(struct pier_task *task);

/* Would pier_task_free() free @task? */
bool pier_task_may_free(const struct pier_task *task);

/*
 * May the calls that change @task do so now?  Not while it is submitted.  While
 * an instance of a graph that has it as a node's task is submitted: only inside
 * a function of that instance.
 */
bool pier_task_may_change(const struct pier_task *task);

/* 0, a negative error, or -EINPROGRESS while submitted. */
int pier_task_status(const struct pier_task *task);
enum pier_task_type pier_task_type(const struct pier_task *task);

/* "send with immediate", for people; "send_imm", for programs, as in JSON. */
const char *pier_task_type_name(enum pier_task_type type);
const char *pier_task_type_key(enum pier_task_type type);

struct pier_ctx *pier_task_ctx(const struct pier_task *task);
void *pier_task_arg(const struct pier_task *task);

/* The connection it runs on or was received from; NULL: none. */
struct pier_conn *pier_task_conn(const struct pier_task *task);

/* Details of the failure; all zero after success. */
void pier_task_error(const struct pier_task *task,
		     struct pier_task_error *ret);

/*
 * What has ended with the failure, or since: PIER_SCOPE_TASK, the task alone;
 * PIER_SCOPE_CONN, its connection, whose state is no longer connected;
 * PIER_SCOPE_CTX, its context, which does not run.  PIER_SCOPE_TASK unless it
 * has failed.
 */
enum pier_scope pier_task_error_scope(const struct pier_task *task);

/*
 * What failed, where and why: "dma: copy: the source has no data".  "" unless
 * it has failed.  Valid until the task is submitted again or freed.
 */
const char *pier_task_error_text(const struct pier_task *task);

#ifdef __cplusplus
}
#endif

#endif
