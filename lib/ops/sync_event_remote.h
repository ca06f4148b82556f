/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_SYNC_EVENT_REMOTE_H
#define PIER_OPS_SYNC_EVENT_REMOTE_H

#include <stdatomic.h>

#include "ops/origin.h"
#include "ops/sync_event_impl.h"

/*
 * The event of another process: its tasks are RDMA requests on a connection to
 * the service of its owner, which the first task makes (sync_event_remote.c).
 * In blocking mode it runs on an engine of its own, and calls are tasks that
 * the calling thread waits for (sync_event_call.c).
 */
struct pier__sync_op;

struct pier__sync_remote {
	struct pier_sync_event *event;
	struct pier__conn_owner owner;
	struct pier__queues_config cfg;
	struct pier_conn *conn;		/* NULL: none */
	bool up, ended;			/* requests may be posted; conn has */
					/* ended */
	uint32_t posted;		/* requests in flight */
	struct pier__task_queue queue;	/* tasks to be posted; failed ones, */
					/* until the connection has ended */
	struct pier__task_queue ending;	/* those that fail now */
	int error;			/* the first one on conn; 0: none */
	char text[512];			/* its message */
	struct pier__sync_op *ops, *free;	/* requests */
	struct pier_mmap *words;	/* a word for each of them */

	atomic_uint turn;		/* of blocking mode: which thread */
					/* uses the rest */
	atomic_uint callers;		/* threads that are in a call */
	struct pier_pe *pe;		/* NULL: not in this mode */
	struct pier_task *call;		/* may be in flight after a timeout */
	uint64_t result;		/* of call */
};

/*
 * Create what @event, whose word is that of the remote event->mmap, needs on
 * @dev; it becomes event->remote.  Errors: -ENOMEM; those of pier_mmap_map().
 */
int pier__sync_remote_create(struct pier_sync_event *event,
			     struct pier_dev *dev);
void pier__sync_remote_destroy(struct pier__sync_remote *remote);

/* As run, recall, stop and stopping of struct pier__cpu_ops. */
int pier__sync_remote_run(struct pier__sync_remote *remote,
			  struct pier_task *task);
void pier__sync_remote_recall(struct pier__sync_remote *remote,
			      struct pier_task *task);
void pier__sync_remote_stop(struct pier__sync_remote *remote);
bool pier__sync_remote_stopping(const struct pier__sync_remote *remote);

/* Blocking mode: start and stop it. */
int pier__sync_call_start(struct pier__sync_remote *remote);
void pier__sync_call_stop(struct pier__sync_remote *remote);

/*
 * Do what a task of @type with @value does.  @ret may be NULL.  Any thread.
 * Errors: -EPERM, it runs as a context; -ESHUTDOWN; those of the task.
 */
int pier__sync_call(struct pier__sync_remote *remote, enum pier_task_type type,
		    uint64_t value, uint64_t *ret);

/* Wait for @goal.  Any thread.  Errors: the same; -ETIMEDOUT. */
int pier__sync_call_wait(struct pier__sync_remote *remote,
			 const struct pier__sync_goal *goal,
			 enum pier_sync_event_wait how, int timeout_ms);

#endif
