/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

#define BATCH 32		/* completions reaped at once */
#define STEPS 64		/* connections that are looked at in a round, */
#define SWEEP 256		/* and whose time is */
#define SOON (5 * PIER__MS)	/* to be looked at again without a sweep */
#define CTL_PER_CONN 2		/* a control request and the marker */

static struct pier__qset *qset_of(struct pier__source *source)
{
	return pier__container_of(source, struct pier__qset, source);
}

static void flush_pending(struct pier__qset *qset)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&qset->pending)))
		pier__conn_flush(pier__container_of(link, struct pier_conn,
						    pending));
}

/* Have every connection looked at: the sweep does it, some in a round. */
static void look_at_all(struct pier__qset *qset)
{
	qset->look_wanted = true;
	pier__qset_kick(qset);
}

void __attribute__((noinline, cold))
pier__qset_fail(struct pier__qset *qset, int err)
{
	if (qset->error)
		return;
	snprintf(qset->why, sizeof(qset->why), "%s", pier_last_error());
	qset->error = err;
	qset->attention = true;
	look_at_all(qset);
}

void pier__qset_tell(struct pier__qset *qset, int max)
{
	struct pier__posted *posted;

	while (max-- > 0 && (posted = pier__posted_pop(&qset->ready)))
		posted->succeed(posted);
}

/* Complete what the device will never complete. */
static void cancel_receives(struct pier__qset *qset)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };
	struct pier__list *link;

	while (pier__pe_budget(qset->pe) > 0 &&
	       (link = pier__list_pop(&qset->posted))) {
		struct pier__op *op = pier__container_of(
			link, struct pier__posted, link)->op;

		wc.wr_id = (uintptr_t)op;
		op->done(op, &wc);
	}
}

/* Nothing will come any more for receives on dead queues. */
static bool has_orphans(const struct pier__qset *qset)
{
	return qset->error && !qset->conn_count &&
	       !pier__list_empty(&qset->posted);
}

/* Chains to post, successes to tell, a dead queue.  Whether there was any. */
static int __attribute__((noinline))
do_other_work(struct pier__qset *qset)
{
	bool told = qset->ready.first;

	flush_pending(qset);
	pier__qset_tell(qset, qset->room);
	if (has_orphans(qset)) {
		cancel_receives(qset);
		told = true;
	}
	qset->attention = !pier__list_empty(&qset->pending) ||
			  qset->ready.first || qset->error;
	return told;
}

static int poll_completions(struct pier__source *source, int budget)
{
	struct pier__qset *qset = qset_of(source);
	struct ibv_wc wc[BATCH], *w = wc;
	int n;

	qset->room = budget;
	if (qset->attention) {
		n = do_other_work(qset);
		if (n || qset->error)
			return n;
	}
	n = qset->fab->poll(qset->cq, wc,
			    budget < BATCH ? budget : BATCH);
	if (n <= 0) {
		qset->polled += qset->cqe;
		if (n < 0)
			pier__qset_fail(qset, n);
		return 0;
	}
	qset->polled += (unsigned int)n;
	qset->room -= n;	/* each of them is one event */
	for (; n; n--, w++) {
		struct pier__op *op = (struct pier__op *)(uintptr_t)w->wr_id;

		if (op)		/* 0: the program's own, see pier/verbs.h */
			op->done(op, w);
	}
	return 1;
}

static int arm(struct pier__source *source)
{
	struct pier__qset *qset = qset_of(source);

	if (!pier__list_empty(&qset->pending) ||
	    qset->ready.first || has_orphans(qset))
		return -EAGAIN;
	return qset->error ? 0 : qset->fab->arm(qset->cq);
}

static void clear(struct pier__source *source)
{
	struct pier__qset *qset = qset_of(source);

	qset->fab->chan_clear(qset->chan);
}

/* No connection is left; as many rounds as the budget makes of it. */
static void finish_stop(struct pier__qset *qset)
{
	void (*stopped)(struct pier_rdma *rdma) = qset->stopped;

	if (qset->srq)
		qset->fab->srq_destroy(qset->srq);
	qset->srq = NULL;
	pier__qset_tell(qset, pier__pe_budget(qset->pe));
	cancel_receives(qset);
	if (qset->ready.first || !pier__list_empty(&qset->posted)) {
		pier__qset_kick(qset);
		return;
	}
	qset->stopped = NULL;
	stopped(qset->rdma);
}

/* Addresses may have come or gone. */
static void look_at_port(struct pier__qset *qset)
{
	unsigned int changes = atomic_load(&qset->dev->changes);

	if (changes == qset->changes)
		return;
	qset->changes = changes;
	look_at_all(qset);
}

/*
 * Let @conn do what is due.  Whoever wants to be looked at soon is hot, the
 * others are found when all are swept through.
 */
static uint64_t step(struct pier__qset *qset, struct pier_conn *conn,
		     uint64_t now)
{
	uint64_t next = pier__conn_step(conn, now);

	if (next == PIER__NEVER)
		return next;	/* it may be gone */
	if (next <= now + SOON) {
		if (pier__list_empty(&conn->hot))
			pier__list_add(&qset->hot, &conn->hot);
	} else if (next < qset->sweep_due) {
		qset->sweep_due = next;
	}
	return next;
}

static uint64_t step_hot(struct pier__qset *qset, uint64_t now)
{
	struct pier__list batch, *link;
	uint64_t due = PIER__NEVER, next;
	int n;

	pier__list_take_all(&qset->hot, &batch);
	for (n = 0; n < STEPS && pier__pe_budget(qset->pe) > 0; n++) {
		link = pier__list_pop(&batch);
		if (!link)
			return due;
		next = step(qset, pier__container_of(link, struct pier_conn,
						     hot), now);
		if (next < due)
			due = next;
	}
	while ((link = pier__list_pop(&batch)))
		pier__list_add(&qset->hot, link);
	return now;
}

/* What is the matter with all of them may be so with @conn. */
static void look_at(struct pier__qset *qset, struct pier_conn *conn,
		    const struct pier__port *port, uint64_t now)
{
	pier__conn_look(conn, port, now);
	if (qset->error)
		pier__conn_lost(conn);
}

/* Where the sweep is, and how far it goes in this round. */
static uint32_t sweep_end(struct pier__qset *qset, struct pier__port *ret)
{
	uint32_t end = qset->sweep_at + SWEEP;

	if (!qset->sweep_at)
		qset->sweep_due = PIER__NEVER;
	if (qset->looking)
		pier__dev_port(qset->dev, ret);
	return end < qset->cfg->max_conns ? end : qset->cfg->max_conns;
}

/* Look whose time has come, a part of them in one round. */
static uint64_t sweep(struct pier__qset *qset, uint64_t now)
{
	uint64_t due = PIER__NEVER, next;
	struct pier__port port;
	uint32_t end;

	if (qset->look_wanted) {	/* from the first one on */
		qset->look_wanted = false;
		qset->looking = true;
		qset->sweep_at = 0;
		qset->sweep_due = 0;
	}
	if (!qset->sweep_at && now < qset->sweep_due)
		return qset->sweep_due;
	end = sweep_end(qset, &port);
	for (; qset->sweep_at < end && pier__pe_budget(qset->pe) > 0;
	     qset->sweep_at++) {
		struct pier_conn *conn = qset->slots[qset->sweep_at];

		if (conn && qset->looking)
			look_at(qset, conn, &port, now);
		if (conn && (conn->due <= now || qset->looking)) {
			next = step(qset, conn, now);
			if (next < due)
				due = next;
		} else if (conn && conn->due < qset->sweep_due) {
			qset->sweep_due = conn->due;
		}
	}
	if (qset->sweep_at < qset->cfg->max_conns)
		return now;
	qset->sweep_at = 0;
	qset->looking = false;
	if (qset->look_wanted)
		return now;
	return due < qset->sweep_due ? due : qset->sweep_due;
}

static void look_at_device(struct pier__qset *qset, uint64_t now)
{
	if (now < qset->look_due)
		return;
	qset->look_due = now + PIER__MS;
	pier__dev_events(qset->dev);
	if (!qset->error && pier__dev_alive(qset->dev))
		pier__qset_fail(qset, -ENODEV);
	look_at_port(qset);
}

static int housekeep(struct pier__source *source, int budget)
{
	struct pier__qset *qset =
		pier__container_of(source, struct pier__qset, slow);
	uint64_t now = pier__pe_now(qset->pe), due, next;

	(void)budget;
	if (now < source->due)
		return 0;
	look_at_device(qset, now);
	source->due = PIER__NEVER;
	due = step_hot(qset, now);
	next = sweep(qset, now);
	if (next < due)
		due = next;
	if (due < source->due)	/* a callback may have asked for sooner */
		pier__pe_due(source, due);
	if (qset->stopping && qset->stopped && !qset->conn_count &&
	    pier__room_idle(qset))
		finish_stop(qset);
	return 0;
}

static int create_queues(struct pier__qset *qset)
{
	const struct pier_rdma_config *cfg = qset->cfg;
	const struct pier__limits *limits = &qset->dev->info.port.limits;
	uint32_t user = cfg->send_queue + cfg->recv_queue;
	uint32_t cqe = user + CTL_PER_CONN * cfg->max_conns;
	int err;

	if (cqe > limits->cqe)
		cqe = limits->cqe;
	qset->ctl_max = cqe - user;
	qset->cqe = cqe;

	err = qset->fab->chan_create(qset->dev->fdev, &qset->chan);
	if (!err)
		err = qset->fab->cq_create(qset->chan, cqe, &qset->cq);
	if (!err)
		err = qset->fab->srq_create(qset->chan, cfg->recv_queue,
					    cfg->recv_chain, &qset->srq);
	return err;
}

static uint32_t table_size(uint32_t conns)
{
	uint32_t size = 4;

	while (size < 2 * conns)
		size *= 2;
	return size;
}

static int create_tables(struct pier__qset *qset)
{
	uint32_t conns = qset->cfg->max_conns, size = table_size(conns);

	qset->ctl = calloc(conns, sizeof(*qset->ctl));
	qset->slots = calloc(conns, sizeof(struct pier_conn *));
	qset->free_slots = calloc(conns, sizeof(*qset->free_slots));
	qset->by_qpn = calloc(size, sizeof(struct pier_conn *));
	qset->by_qpn_mask = size - 1;
	if (!qset->ctl || !qset->slots || !qset->free_slots || !qset->by_qpn)
		return pier__fail(-ENOMEM, "no memory for %u connections",
				  conns);
	for (uint32_t i = 0; i < conns; i++)
		qset->free_slots[i] = i;
	return qset->dev->fabric->dev->reg(qset->dev->fdev, qset->ctl,
					   conns * sizeof(*qset->ctl),
					   IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_WRITE,
					   &qset->ctl_mr);
}

static int add_sources(struct pier__qset *qset)
{
	int err;

	qset->source.poll = poll_completions;
	qset->source.arm = arm;
	qset->source.clear = clear;
	qset->source.fd = qset->chan->fd;
	qset->slow.poll = housekeep;
	qset->slow.fd = -1;
	if (qset->dev->fdev->event_fd >= 0) {
		/* an own one: contexts on one engine share the device's */
		qset->slow.fd = fcntl(qset->dev->fdev->event_fd,
				      F_DUPFD_CLOEXEC, 0);
		if (qset->slow.fd < 0)
			return pier__fail(-errno, "no file descriptor: %s",
					  pier_strerror(errno));
	}
	qset->slow.slow = true;
	qset->slow.due = PIER__NEVER;
	err = pier__pe_add(qset->pe, &qset->source);
	return err ? err : pier__pe_add(qset->pe, &qset->slow);
}

int pier__qset_create(struct pier_dev *dev, struct pier_pe *pe,
		      struct pier_rdma *rdma,
		      const struct pier_rdma_config *cfg,
		      struct pier__list *conns, struct pier__kept *kept,
		      struct pier__qset **ret)
{
	int err = pier__dev_alive(dev);
	struct pier__qset *qset;

	if (err)
		return err;
	qset = calloc(1, sizeof(*qset));
	if (!qset)
		return pier__fail(-ENOMEM, "queues: no memory");
	qset->dev = dev;
	qset->fab = dev->fabric->qp;
	qset->pe = pe;
	qset->rdma = rdma;
	qset->cfg = cfg;
	qset->conns = conns;
	qset->kept = kept;
	qset->slow.fd = -1;
	qset->send_room = cfg->send_queue;
	pier__list_init(&qset->posted);
	pier__list_init(&qset->pending);
	pier__list_init(&qset->hot);
	qset->sweep_due = PIER__NEVER;

	err = create_tables(qset);
	if (!err)
		err = create_queues(qset);
	if (!err)
		err = add_sources(qset);
	if (err) {
		pier__qset_destroy(qset);
		return err;
	}
	*ret = qset;
	return 0;
}

void pier__qset_stop(struct pier__qset *qset,
		     void (*stopped)(struct pier_rdma *rdma))
{
	struct pier__list *pos, *tmp;

	qset->stopping = true;
	qset->stopped = stopped;
	pier__room_stop(qset);
	/* at once, for nothing may be submitted from now on */
	PIER__LIST_EACH(pos, tmp, qset->conns) {
		struct pier_conn *conn =
			pier__container_of(pos, struct pier_conn, link);

		if (!conn->qset)
			continue;	/* of an earlier run */
		pier__conn_leave(conn);
		pier__conn_kick(conn);
	}
	pier__qset_kick(qset);
}

void pier__qset_destroy(struct pier__qset *qset)
{
	if (!qset)
		return;
	while (pier__list_pop(&qset->hot))
		;
	pier__room_close(qset);
	pier__pe_remove(&qset->source);
	pier__pe_remove(&qset->slow);
	if (qset->slow.fd >= 0)
		close(qset->slow.fd);
	if (qset->srq)
		qset->fab->srq_destroy(qset->srq);
	if (qset->cq)
		qset->fab->cq_destroy(qset->cq);
	if (qset->chan)
		qset->fab->chan_destroy(qset->chan);
	if (qset->ctl_mr)
		qset->dev->fabric->dev->dereg(qset->ctl_mr);
	free(qset->by_qpn);
	free(qset->free_slots);
	free(qset->slots);
	free(qset->ctl);
	free(qset);
}

void pier__qset_kick(struct pier__qset *qset)
{
	pier__pe_due(&qset->slow, 0);
}

int pier__qset_post_recv(struct pier__qset *qset, struct pier__posted *posted,
			 struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad;
	int err = qset->fab->srq_post(qset->srq, wr, &bad);

	if (!err)
		pier__list_add(&qset->posted, &posted->link);
	return err;
}

int pier__qset_add_conn(struct pier__qset *qset, struct pier_conn *conn,
			uint32_t *ret_slot)
{
	uint32_t max = qset->cfg->max_conns, slot;

	if (qset->conn_count == max)
		return pier__fail(-ENOSPC, "all %u connections are in use: "
				  "end one or raise max_conns", max);
	slot = qset->free_slots[qset->free_first];
	qset->free_first = (qset->free_first + 1) % max;
	qset->slots[slot] = conn;
	qset->conn_count++;
	qset->ctl[slot] = (struct pier__ctl){ 0 };
	*ret_slot = slot;
	return 0;
}

void pier__qset_remove_conn(struct pier__qset *qset, uint32_t slot)
{
	uint32_t max = qset->cfg->max_conns, free_count;

	free_count = max - qset->conn_count--;
	qset->slots[slot] = NULL;
	qset->free_slots[(qset->free_first + free_count) % max] = slot;
}

static uint32_t hash(const struct pier__qset *qset, uint32_t qpn)
{
	return (qpn * 2654435761u >> 8) & qset->by_qpn_mask;
}

void pier__qset_map_qpn(struct pier__qset *qset, struct pier_conn *conn)
{
	uint32_t i = hash(qset, conn->qp->qpn);

	while (qset->by_qpn[i])
		i = (i + 1) & qset->by_qpn_mask;
	qset->by_qpn[i] = conn;
}

struct pier_conn *pier__qset_conn(const struct pier__qset *qset, uint32_t qpn)
{
	uint32_t i = hash(qset, qpn);

	while (qset->by_qpn[i] && qset->by_qpn[i]->us.qpn != qpn)
		i = (i + 1) & qset->by_qpn_mask;
	return qset->by_qpn[i];
}

/* Take one out and move up whoever stands behind it for lack of room. */
void pier__qset_unmap_qpn(struct pier__qset *qset, uint32_t qpn)
{
	uint32_t mask = qset->by_qpn_mask, i = hash(qset, qpn), j;

	while (qset->by_qpn[i] && qset->by_qpn[i]->us.qpn != qpn)
		i = (i + 1) & mask;
	for (j = i; qset->by_qpn[i]; ) {
		qset->by_qpn[i] = NULL;
		do {
			j = (j + 1) & mask;
			if (!qset->by_qpn[j])
				return;
		} while (((j - hash(qset, qset->by_qpn[j]->us.qpn)) & mask) <
			 ((j - i) & mask));
		qset->by_qpn[i] = qset->by_qpn[j];
		i = j;
	}
}
