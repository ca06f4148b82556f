/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cm/conn_impl.h"
#include "cm/post.h"
#include "cm/queues.h"
#include "core/fail.h"
#include "core/probe.h"

#define BATCH 32		/* completions reaped at once */

static struct pier__queues *queues_of(struct pier__source *source)
{
	return pier__container_of(source, struct pier__queues, source);
}

void pier__queues_flush(struct pier__queues *queues)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&queues->pending)))
		pier__conn_flush(pier__container_of(link, struct pier_conn,
						    pending));
}

void __attribute__((noinline, cold))
pier__queues_fail(struct pier__queues *queues, int err)
{
	if (queues->error)
		return;
	snprintf(queues->error_text, sizeof(queues->error_text), "%s",
		 pier_last_error());
	queues->error = err;
	queues->attention = true;
	pier__scheduler_recheck(queues);
}

void pier__queues_complete(struct pier__queues *queues, int max)
{
	struct pier__posted *posted;

	while (max-- > 0 && (posted = pier__posted_pop(&queues->ready)))
		posted->succeed(posted);
}

/* Complete what the device never completes. */
static void cancel_receives(struct pier__queues *queues)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };
	struct pier__list *link;

	while (pier__pe_budget(queues->pe) > 0 &&
	       (link = pier__list_pop(&queues->posted))) {
		struct pier__op *op = pier__container_of(
			link, struct pier__posted, link)->op;

		wc.wr_id = (uintptr_t)op;
		op->done(op, &wc);
	}
}

/* Failed queues complete no more receives. */
static bool has_orphans(const struct pier__queues *queues)
{
	return queues->error && !queues->conn_count &&
	       !pier__list_empty(&queues->posted);
}

/*
 * Post chains, complete what is in ready, and cancel receives of failed
 * queues.  Returns whether a task was completed.
 */
static int __attribute__((noinline))
do_other_work(struct pier__queues *queues)
{
	bool completed = queues->ready.first;

	pier__queues_flush(queues);
	pier__queues_complete(queues, queues->budget);
	if (has_orphans(queues)) {
		cancel_receives(queues);
		completed = true;
	}
	queues->attention = !pier__list_empty(&queues->pending) ||
			  queues->ready.first || queues->error;
	return completed;
}

/* A queue pair has ended by itself. */
static void fault_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__queues *queues = pier__container_of(
		op, struct pier__queues, fault_op);
	struct pier_conn *conn = pier__queues_conn(queues, wc->qp_num);

	if (conn)
		pier__conn_check_fault(conn);
}

static inline int reap(struct pier__queues *queues)
{
	struct ibv_wc wc[BATCH], *w = wc;
	int budget = queues->budget;
	int n = queues->fab->poll(queues->cq, wc,
				  budget < BATCH ? budget : BATCH);

	if (n <= 0) {
		queues->polled += queues->cqe;
		if (n < 0)
			pier__queues_fail(queues, n);
		return 0;
	}
	queues->polled += (unsigned int)n;
	queues->budget -= n;	/* one event each */
	for (; n; n--, w++) {
		struct pier__op *op = (struct pier__op *)(uintptr_t)w->wr_id;

		pier__probe_completion(op, w);
		if (op)		/* 0: the program's own, see pier/verbs.h */
			op->done(op, w);
	}
	return 1;
}

static int __attribute__((noinline)) do_and_reap(struct pier__queues *queues)
{
	int did = do_other_work(queues);

	return did || queues->error ? did : reap(queues);
}

/* Complete one that is ready, if that is all that is to be done. */
static int __attribute__((noinline))
complete_one(struct pier__queues *queues)
{
	struct pier__posted *posted = queues->ready.first;

	if (!posted || queues->budget != 1 || queues->error ||
	    !pier__list_empty(&queues->pending))
		return do_and_reap(queues);
	queues->ready.first = posted->next;
	posted->succeed(posted);
	return 1;
}

static int poll_completions(struct pier__source *source, int budget)
{
	struct pier__queues *queues = queues_of(source);

	queues->budget = budget;
	return queues->attention ? complete_one(queues) : reap(queues);
}

static int arm(struct pier__source *source)
{
	struct pier__queues *queues = queues_of(source);

	if (!pier__list_empty(&queues->pending) ||
	    queues->ready.first || has_orphans(queues))
		return -EAGAIN;
	return queues->error ? 0 : queues->fab->arm(queues->cq);
}

static void clear(struct pier__source *source)
{
	struct pier__queues *queues = queues_of(source);

	queues->fab->chan_clear(queues->chan);
}

static void destroy(struct pier__queues *queues)
{
	if (queues->rdmacm)
		queues->rdmacm_ops->close(queues);
	pier__pe_remove(&queues->source);
	pier__scheduler_stop(queues);
	if (queues->srq)
		queues->fab->srq_destroy(queues->srq);
	if (queues->cq)
		queues->fab->cq_destroy(queues->cq);
	if (queues->chan)
		queues->fab->chan_destroy(queues->chan);
	if (queues->ctl_mr)
		queues->dev->fabric->dev->dereg(queues->ctl_mr);
	pier__hash_fini(&queues->by_qpn);
	free(queues->free_slots);
	free(queues->slots);
	free(queues->ctl);
	free(queues);
}

void pier__queues_finish(struct pier__queues *queues)
{
	struct pier__conn_owner *owner = queues->owner;
	struct pier__list *pos, *tmp;

	if (!queues->stopping || queues->conn_count || queues->unended ||
	    (queues->rdmacm && !queues->rdmacm_ops->idle(queues)))
		return;
	if (queues->srq)
		queues->fab->srq_destroy(queues->srq);
	queues->srq = NULL;
	pier__queues_complete(queues, pier__pe_budget(queues->pe));
	cancel_receives(queues);
	if (queues->ready.first || !pier__list_empty(&queues->posted)) {
		pier__scheduler_wake(queues);
		return;
	}
	PIER__LIST_EACH(pos, tmp, &owner->conns)
		pier__container_of(pos, struct pier_conn, link)->queues = NULL;
	destroy(queues);
	owner->queues = NULL;
	owner->stopped(owner->ctx);
}

static int create_queues(struct pier__queues *queues)
{
	const struct pier__queues_config *cfg = queues->cfg;
	const struct pier__limits *limits = &queues->dev->info.port.limits;
	uint32_t user = cfg->send_queue + cfg->recv_queue;
	uint32_t cqe = user + PIER__CTL_WRS * cfg->max_conns;
	int err;

	if (cqe > limits->cqe)
		cqe = limits->cqe;
	queues->ctl_max = cqe - user;
	queues->cqe = cqe;

	err = queues->fab->chan_create(queues->dev->fdev, cfg->shm,
				       &queues->chan);
	if (!err && cfg->events && queues->fab->chan_record)
		queues->fab->chan_record(queues->chan, cfg->events);
	if (!err)
		err = queues->fab->cq_create(queues->chan, cqe, &queues->cq);
	if (!err)
		queues->cq->faults = &queues->fault_op;
	if (!err)
		err = queues->fab->srq_create(queues->chan, cfg->recv_queue,
					      cfg->recv_chain, &queues->srq);
	return err;
}

static int create_tables(struct pier__queues *queues)
{
	uint32_t conns = queues->cfg->max_conns;
	int err = pier__hash_reserve(&queues->by_qpn, conns);

	if (err)
		return err;
	queues->ctl = calloc(conns, sizeof(*queues->ctl));
	queues->slots = calloc(conns, sizeof(struct pier_conn *));
	queues->free_slots = calloc(conns, sizeof(*queues->free_slots));
	if (!queues->ctl || !queues->slots || !queues->free_slots)
		return pier__fail(-ENOMEM, "no memory for %u connections",
				  conns);
	for (uint32_t i = 0; i < conns; i++)
		queues->free_slots[i] = i;
	return queues->dev->fabric->dev->reg(queues->dev->fdev, queues->ctl,
					     conns * sizeof(*queues->ctl),
					     IBV_ACCESS_LOCAL_WRITE |
						     IBV_ACCESS_REMOTE_WRITE,
					     &queues->ctl_mr);
}

static int add_sources(struct pier__queues *queues)
{
	int err;

	queues->source.poll = poll_completions;
	queues->source.arm = arm;
	queues->source.clear = clear;
	queues->source.fd = queues->chan->fd;
	err = pier__pe_add(queues->pe, &queues->source);
	return err ? err : pier__scheduler_start(queues);
}

int pier__queues_create(struct pier__conn_owner *owner, struct pier_dev *dev,
			const struct pier__queues_config *cfg)
{
	int err = pier__dev_alive(dev);
	struct pier__queues *queues;

	if (err)
		return err;
	queues = calloc(1, sizeof(*queues));
	if (!queues)
		return pier__fail(-ENOMEM, "queues: no memory");
	queues->owner = owner;
	queues->dev = dev;
	queues->fab = dev->fabric->qp;
	queues->pe = owner->ctx->pe;
	queues->cfg = cfg;
	queues->send_credits = cfg->send_queue;
	queues->fault_op.done = fault_done;
	pier__list_init(&queues->posted);
	pier__list_init(&queues->pending);
	pier__scheduler_init(&queues->scheduler);
	pier__hash_init(&queues->by_qpn);

	err = create_tables(queues);
	if (!err)
		err = create_queues(queues);
	if (!err)
		err = add_sources(queues);
	if (err)
		destroy(queues);
	else
		owner->queues = queues;
	return err;
}

void pier__queues_stop(struct pier__queues *queues)
{
	struct pier__list *pos, *tmp;

	queues->stopping = true;
	if (queues->rdmacm)
		queues->rdmacm_ops->stop(queues);
	/* at once: nothing may be submitted after this */
	PIER__LIST_EACH(pos, tmp, &queues->owner->conns) {
		struct pier_conn *conn =
			pier__container_of(pos, struct pier_conn, link);

		if (!conn->queues)
			continue;	/* of an earlier run */
		pier__conn_end(conn);
		pier__conn_schedule(conn);
	}
	pier__scheduler_wake(queues);
}

void pier__queues_abandon(struct pier__queues *queues)
{
	while (pier__list_pop(&queues->posted))
		;
	pier__queues_stop(queues);
	pier__queues_finish(queues);
}

int pier__queues_add_conn(struct pier__queues *queues, struct pier_conn *conn,
			  uint32_t *ret_slot)
{
	uint32_t max = queues->cfg->max_conns, slot;

	if (queues->conn_count == max)
		return pier__fail(-ENOSPC, "all %u connections are in use: "
				  "end one or raise max_conns", max);
	slot = queues->free_slots[queues->free_first];
	queues->free_first = (queues->free_first + 1) % max;
	queues->slots[slot] = conn;
	queues->conn_count++;
	queues->ctl[slot] = (struct pier__ctl){ 0 };
	*ret_slot = slot;
	return 0;
}

void pier__queues_remove_conn(struct pier__queues *queues, uint32_t slot)
{
	uint32_t max = queues->cfg->max_conns, free_count;

	free_count = max - queues->conn_count--;
	queues->slots[slot] = NULL;
	queues->free_slots[(queues->free_first + free_count) % max] = slot;
}
