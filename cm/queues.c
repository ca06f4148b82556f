/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "core/clock.h"
#include "core/fail.h"

#define BATCH 32		/* completions reaped at once */
#define STEPS 64		/* connections that are looked at in a round, */
#define SWEEP 256		/* and whose time is */
#define SOON (5 * PIER__MS)	/* to be looked at again without a sweep */
#define CTL_PER_CONN 2		/* a control request and the marker */

static struct pier__queues *queues_of(struct pier__source *source)
{
	return pier__container_of(source, struct pier__queues, source);
}

static void flush_pending(struct pier__queues *queues)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&queues->pending)))
		pier__conn_flush(pier__container_of(link, struct pier_conn,
						    pending));
}

/* Have every connection looked at: the sweep does it, some in a round. */
static void recheck_all(struct pier__queues *queues)
{
	queues->recheck_wanted = true;
	pier__queues_schedule(queues);
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
	recheck_all(queues);
}

void pier__queues_complete(struct pier__queues *queues, int max)
{
	struct pier__posted *posted;

	while (max-- > 0 && (posted = pier__posted_pop(&queues->ready)))
		posted->succeed(posted);
}

/* Complete what the device will never complete. */
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

/* Nothing will come any more for receives on dead queues. */
static bool has_orphans(const struct pier__queues *queues)
{
	return queues->error && !queues->conn_count &&
	       !pier__list_empty(&queues->posted);
}

/* Chains to post, successes to tell, a dead queue.  Whether there was any. */
static int __attribute__((noinline))
do_other_work(struct pier__queues *queues)
{
	bool completed = queues->ready.first;

	flush_pending(queues);
	pier__queues_complete(queues, queues->budget);
	if (has_orphans(queues)) {
		cancel_receives(queues);
		completed = true;
	}
	queues->attention = !pier__list_empty(&queues->pending) ||
			  queues->ready.first || queues->error;
	return completed;
}

static int poll_completions(struct pier__source *source, int budget)
{
	struct pier__queues *queues = queues_of(source);
	struct ibv_wc wc[BATCH], *w = wc;
	int n;

	queues->budget = budget;
	if (queues->attention) {
		n = do_other_work(queues);
		if (n || queues->error)
			return n;
	}
	n = queues->fab->poll(queues->cq, wc,
			    budget < BATCH ? budget : BATCH);
	if (n <= 0) {
		queues->polled += queues->cqe;
		if (n < 0)
			pier__queues_fail(queues, n);
		return 0;
	}
	queues->polled += (unsigned int)n;
	queues->budget -= n;	/* each of them is one event */
	for (; n; n--, w++) {
		struct pier__op *op = (struct pier__op *)(uintptr_t)w->wr_id;

		if (op)		/* 0: the program's own, see pier/verbs.h */
			op->done(op, w);
	}
	return 1;
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
	while (pier__list_pop(&queues->hot))
		;
	if (queues->rdmacm)
		queues->rdmacm_ops->close(queues);
	pier__pe_remove(&queues->source);
	pier__pe_remove(&queues->slow);
	if (queues->slow.fd >= 0)
		close(queues->slow.fd);
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

/*
 * No connection is left: give back what is posted, as much in a round as the
 * budget allows, then tell the owner.
 */
static void finish_stop(struct pier__queues *queues)
{
	struct pier__conn_owner *owner = queues->owner;
	struct pier__list *pos, *tmp;

	if (queues->srq)
		queues->fab->srq_destroy(queues->srq);
	queues->srq = NULL;
	pier__queues_complete(queues, pier__pe_budget(queues->pe));
	cancel_receives(queues);
	if (queues->ready.first || !pier__list_empty(&queues->posted)) {
		pier__queues_schedule(queues);
		return;
	}
	PIER__LIST_EACH(pos, tmp, &owner->conns)
		pier__container_of(pos, struct pier_conn, link)->queues = NULL;
	destroy(queues);
	owner->queues = NULL;
	owner->stopped(owner->ctx);
}

/* Addresses may have come or gone. */
static void check_port(struct pier__queues *queues)
{
	unsigned int changes = atomic_load(&queues->dev->changes);

	if (changes == queues->changes)
		return;
	queues->changes = changes;
	recheck_all(queues);
}

/*
 * Let @conn do what is due.  A connection whose next step is due soon is hot,
 * the others are found when all are swept through.
 */
static uint64_t step(struct pier__queues *queues, struct pier_conn *conn,
		     uint64_t now)
{
	uint64_t next = pier__conn_step(conn, now);

	if (next == PIER__NEVER)
		return next;	/* it may be gone */
	if (next <= now + SOON) {
		if (pier__list_empty(&conn->hot))
			pier__list_add(&queues->hot, &conn->hot);
	} else if (next < queues->sweep_due) {
		queues->sweep_due = next;
	}
	return next;
}

static uint64_t step_hot(struct pier__queues *queues, uint64_t now)
{
	struct pier__list batch, *link;
	uint64_t due = PIER__NEVER, next;
	int n;

	pier__list_take_all(&queues->hot, &batch);
	for (n = 0; n < STEPS && pier__pe_budget(queues->pe) > 0; n++) {
		link = pier__list_pop(&batch);
		if (!link)
			return due;
		next = step(queues, pier__container_of(link, struct pier_conn,
						     hot), now);
		if (next < due)
			due = next;
	}
	while ((link = pier__list_pop(&batch)))
		pier__list_add(&queues->hot, link);
	return now;
}

/* What is the matter with all of them may be so with @conn. */
static void recheck(struct pier__queues *queues, struct pier_conn *conn,
		    const struct pier__port *port, uint64_t now)
{
	pier__conn_check_gid(conn, port, now);
	if (queues->error)
		pier__conn_queues_failed(conn);
}

/* Where the sweep is, and how far it goes in this round. */
static uint32_t sweep_end(struct pier__queues *queues, struct pier__port *ret)
{
	uint32_t end = queues->sweep_at + SWEEP;

	if (!queues->sweep_at)
		queues->sweep_due = PIER__NEVER;
	if (queues->rechecking)
		pier__dev_port(queues->dev, ret);
	return end < queues->cfg->max_conns ? end : queues->cfg->max_conns;
}

/* Look whose time has come, a part of them in one round. */
static uint64_t sweep(struct pier__queues *queues, uint64_t now)
{
	uint64_t due = PIER__NEVER, next;
	struct pier__port port;
	uint32_t end;

	if (queues->recheck_wanted) {	/* from the first one on */
		queues->recheck_wanted = false;
		queues->rechecking = true;
		queues->sweep_at = 0;
		queues->sweep_due = 0;
	}
	if (!queues->sweep_at && now < queues->sweep_due)
		return queues->sweep_due;
	end = sweep_end(queues, &port);
	for (; queues->sweep_at < end && pier__pe_budget(queues->pe) > 0;
	     queues->sweep_at++) {
		struct pier_conn *conn = queues->slots[queues->sweep_at];

		if (conn && queues->rechecking)
			recheck(queues, conn, &port, now);
		if (conn && (conn->due <= now || queues->rechecking)) {
			next = step(queues, conn, now);
			if (next < due)
				due = next;
		} else if (conn && conn->due < queues->sweep_due) {
			queues->sweep_due = conn->due;
		}
	}
	if (queues->sweep_at < queues->cfg->max_conns)
		return now;
	queues->sweep_at = 0;
	queues->rechecking = false;
	if (queues->recheck_wanted)
		return now;
	return due < queues->sweep_due ? due : queues->sweep_due;
}

static void check_device(struct pier__queues *queues, uint64_t now)
{
	if (now < queues->look_due)
		return;
	queues->look_due = now + PIER__MS;
	pier__dev_events(queues->dev);
	if (!queues->error && pier__dev_alive(queues->dev))
		pier__queues_fail(queues, -ENODEV);
	check_port(queues);
}

static int housekeep(struct pier__source *source, int budget)
{
	struct pier__queues *queues =
		pier__container_of(source, struct pier__queues, slow);
	uint64_t now = pier__pe_now(queues->pe), due, next;

	(void)budget;
	if (now < source->due)
		return 0;
	check_device(queues, now);
	source->due = PIER__NEVER;
	due = step_hot(queues, now);
	next = sweep(queues, now);
	if (next < due)
		due = next;
	if (due < source->due)	/* a callback may have asked for sooner */
		pier__pe_due(source, due);
	if (queues->stopping && !queues->conn_count &&
	    (!queues->rdmacm || queues->rdmacm_ops->idle(queues)))
		finish_stop(queues);
	return 0;
}

static int create_queues(struct pier__queues *queues)
{
	const struct pier__queues_config *cfg = queues->cfg;
	const struct pier__limits *limits = &queues->dev->info.port.limits;
	uint32_t user = cfg->send_queue + cfg->recv_queue;
	uint32_t cqe = user + CTL_PER_CONN * cfg->max_conns;
	int err;

	if (cqe > limits->cqe)
		cqe = limits->cqe;
	queues->ctl_max = cqe - user;
	queues->cqe = cqe;

	err = queues->fab->chan_create(queues->dev->fdev, &queues->chan);
	if (!err)
		err = queues->fab->cq_create(queues->chan, cqe, &queues->cq);
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
	queues->slow.poll = housekeep;
	queues->slow.fd = -1;
	if (queues->dev->fdev->event_fd >= 0) {
		/* an own one: contexts on one engine share the device's */
		queues->slow.fd = fcntl(queues->dev->fdev->event_fd,
				      F_DUPFD_CLOEXEC, 0);
		if (queues->slow.fd < 0)
			return pier__fail(-errno, "no file descriptor: %s",
					  pier_strerror(errno));
	}
	queues->slow.slow = true;
	queues->slow.due = PIER__NEVER;
	err = pier__pe_add(queues->pe, &queues->source);
	return err ? err : pier__pe_add(queues->pe, &queues->slow);
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
	queues->slow.fd = -1;
	queues->send_credits = cfg->send_queue;
	pier__list_init(&queues->posted);
	pier__list_init(&queues->pending);
	pier__list_init(&queues->hot);
	queues->sweep_due = PIER__NEVER;
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
	/* at once, for nothing may be submitted from now on */
	PIER__LIST_EACH(pos, tmp, &queues->owner->conns) {
		struct pier_conn *conn =
			pier__container_of(pos, struct pier_conn, link);

		if (!conn->queues)
			continue;	/* of an earlier run */
		pier__conn_end(conn);
		pier__conn_schedule(conn);
	}
	pier__queues_schedule(queues);
}

void pier__queues_schedule(struct pier__queues *queues)
{
	pier__pe_due(&queues->slow, 0);
}

int pier__queues_post_recv(struct pier__queues *queues,
			   struct pier__posted *posted, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad;
	int err = queues->fab->srq_post(queues->srq, wr, &bad);

	if (!err)
		pier__list_add(&queues->posted, &posted->link);
	return err;
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

void pier__queues_map_qpn(struct pier__queues *queues, struct pier_conn *conn)
{
	pier__hash_add(&queues->by_qpn, &conn->by_qpn, conn->local.qpn);
}

struct pier_conn *pier__queues_conn(const struct pier__queues *queues,
				    uint32_t qpn)
{
	struct pier__hash_link *link = pier__hash_find(&queues->by_qpn, qpn);

	return link ? pier__container_of(link, struct pier_conn, by_qpn) :
		      NULL;
}

void pier__queues_unmap_qpn(struct pier__queues *queues,
			    struct pier_conn *conn)
{
	pier__hash_del(&queues->by_qpn, &conn->by_qpn);
}
