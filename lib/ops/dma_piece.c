/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cm/post.h"
#include "core/fail.h"
#include "ops/dma_remote.h"

/*
 * A copy is a row of RDMA requests, each of which reads or writes one piece of
 * remote memory: it ends with a remote buffer, with the elements of a request,
 * or at PIECE_MAX.  The copies of one export are posted in the order of their
 * submission.
 */
#define PIECE_MAX (1u << 20)

/* A request. */
struct pier__dma_op {
	struct pier__op op;		/* first: wr_id points here */
	struct pier__posted posted;
	struct pier__dma_task *task;
	struct pier__dma_op *next;	/* free */
	struct ibv_send_wr wr;
	struct ibv_sge sge[PIER__DMA_ELEMENTS];
};

/* Where the bytes at @place are, and how many of @most follow. */
static uintptr_t range(const struct pier__dma_place *place, bool tail,
		       size_t most, size_t *ret_len)
{
	const struct pier_buf *buf = place->buf;
	size_t len = (tail ? pier__buf_tail_len(buf) : buf->data_len) -
		     place->off;

	*ret_len = len < most ? len : most;
	return (tail ? pier__buf_tail(buf) : buf->data) + place->off;
}

/* Move @place on by @len, which the buffer has, and over empty buffers. */
static void advance(struct pier__dma_place *place, bool tail, size_t len)
{
	place->off += len;
	while (place->buf) {
		size_t all = tail ? pier__buf_tail_len(place->buf) :
				    place->buf->data_len;

		if (place->off < all)
			break;
		place->buf = place->buf->next;
		place->off = 0;
	}
}

void pier__dma_begin(struct pier__dma_task *t)
{
	t->from = (struct pier__dma_place){ .buf = t->src };
	t->to = (struct pier__dma_place){ .buf = t->dst };
	advance(&t->from, false, 0);
	advance(&t->to, true, 0);
	t->len = t->left = pier_buf_chain_data_len(t->src);
	t->posted = 0;
	t->failed = false;
}

/* Fill @op with the next piece of its task.  Returns its length. */
static size_t build(struct pier__dma_op *op, uint32_t elements)
{
	struct pier__dma_task *t = op->task;
	bool reads = pier__dma_reads(t);
	struct pier__dma_place *local = reads ? &t->to : &t->from;
	struct pier__dma_place *remote = reads ? &t->from : &t->to;
	const struct pier_dev *dev = pier__cpu_of(t->task.ctx)->dev;
	size_t most = t->left < PIECE_MAX ? t->left : PIECE_MAX;
	size_t done = 0, len;
	int n = 0;

	op->wr.wr.rdma.remote_addr = range(remote, !reads, most, &most);
	while (done < most && n < (int)elements) {
		struct ibv_sge *sge = &op->sge[n++];

		sge->addr = range(local, reads, most - done, &len);
		sge->length = (uint32_t)len;
		pier__mmap_lkey(local->buf->mmap, dev, &sge->lkey);
		advance(local, reads, len);
		done += len;
	}
	op->wr.num_sge = n;
	op->wr.opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	advance(remote, !reads, done);
	return done;
}

/* The key of the remote memory where the next piece is. */
static int next_key(const struct pier__dma_task *t, uint32_t *ret)
{
	const struct pier__dma_place *place = pier__dma_reads(t) ? &t->from :
								 &t->to;

	if (pier__mmap_rkey(place->buf->mmap, t->peer->conn->remote.dev_id,
			    ret))
		return 0;
	return pier__fail(-ESTALE, "copy: the export is not of the device that "
			  "its service is on");
}

static void take_op(struct pier__dma_remote *remote, struct pier__dma_op *op)
{
	remote->free = op->next;
}

static void give_op(struct pier__dma_remote *remote, struct pier__dma_op *op)
{
	op->next = remote->free;
	remote->free = op;
}

/* Post the next piece.  Errors: -EAGAIN, no request is free. */
static int post_piece(struct pier__dma_task *t)
{
	struct pier__dma_remote *remote = t->peer->dma->remote;
	struct pier_conn *conn = t->peer->conn;
	struct pier__dma_op *op = remote->free;
	size_t len;
	int err;

	if (!op || !pier__conn_has_credit(conn))
		return -EAGAIN;
	op->task = t;
	op->wr.send_flags = 0;
	err = next_key(t, &op->wr.wr.rdma.rkey);
	if (err)
		return err;
	len = build(op, remote->cfg.send_chain);
	err = pier__conn_post(conn, &op->wr);
	if (err)
		return err;
	pier__conn_posted(conn, &op->posted);
	take_op(remote, op);
	t->left -= len;
	t->posted++;
	t->peer->posted++;
	return 0;
}

void pier__dma_finish(struct pier__dma_task *t, int status)
{
	t->peer = NULL;
	pier__dma_drop(&t->task);
	pier__cpu_finish(&t->task, status);
}

void pier__dma_set_error(struct pier__dma_peer *peer, int err)
{
	peer->up = false;
	if (peer->error)
		return;
	peer->error = err;
	snprintf(peer->text, sizeof(peer->text), "%s", pier_last_error());
}

/* Nothing of @peer is in flight that would have it post again. */
static void wait_for_op(struct pier__dma_peer *peer)
{
	pier__list_del(&peer->starved);
	if (!peer->posted)
		pier__list_add(&peer->dma->remote->starved, &peer->starved);
}

void pier__dma_post(struct pier__dma_peer *peer)
{
	while (peer->up && peer->queue.first) {
		struct pier__dma_task *t = pier__dma_task(peer->queue.first);
		int err = 0;

		while (!err && t->left)
			err = post_piece(t);
		if (err == -EAGAIN) {
			wait_for_op(peer);
			return;
		}
		if (!err) {
			pier__task_queue_pop(&peer->queue);
			continue;
		}
		pier__dma_set_error(peer, err);
		pier_conn_abort(peer->conn);
	}
}

/* A request is free: the peer that has waited longest for one comes first. */
static void post_again(struct pier__dma_peer *peer)
{
	struct pier__list *link = pier__list_pop(&peer->dma->remote->starved);

	if (link)
		pier__dma_post(pier__container_of(link, struct pier__dma_peer,
						  starved));
	pier__dma_post(peer);
}

/*
 * A request is over.  A failure ends the connection, and that the task; until
 * then it is in the queue, as are those that still have something to post.
 */
static void settle(struct pier__dma_op *op, bool failed)
{
	struct pier__dma_task *t = op->task;
	struct pier__dma_peer *peer = t->peer;

	give_op(peer->dma->remote, op);
	t->posted--;
	peer->posted--;
	t->failed |= failed;
	if (!t->posted && !t->left && t->failed) {
		pier__task_queue_add(&peer->queue, &t->task);
	} else if (!t->posted && !t->left) {
		pier__buf_grow(t->dst, t->len);
		pier__dma_finish(t, 0);
	}
	post_again(peer);
	if (peer->ended && !peer->posted)
		pier__dma_peer_close(peer);
}

static struct pier__dma_op *of_posted(struct pier__posted *posted)
{
	return pier__container_of(posted, struct pier__dma_op, posted);
}

static void succeed(struct pier__posted *posted)
{
	settle(of_posted(posted), false);
}

static void op_failed(struct pier__dma_op *op, const struct ibv_wc *wc)
{
	struct pier__dma_peer *peer = op->task->peer;
	int err = pier__conn_failed(peer->conn, "copy", wc);

	peer->up = false;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		pier__dma_set_error(peer, err);
	settle(op, true);
}

static void op_done(struct pier__op *done, const struct ibv_wc *wc)
{
	struct pier__dma_op *op =
		pier__container_of(done, struct pier__dma_op, op);
	struct pier_conn *conn = op->task->peer->conn;
	enum pier__outcome outcome = pier__conn_outcome(conn, &op->posted, wc);

	if (outcome == PIER__SUCCEEDED)
		settle(op, false);
	else if (outcome == PIER__FAILED)
		op_failed(op, wc);
}

int pier__dma_ops_create(struct pier__dma_remote *remote)
{
	remote->ops = calloc(remote->cfg.send_queue, sizeof(remote->ops[0]));
	if (!remote->ops)
		return pier__fail(-ENOMEM, "dma: no memory");
	for (uint32_t i = 0; i < remote->cfg.send_queue; i++) {
		struct pier__dma_op *op = &remote->ops[i];

		op->op.done = op_done;
		op->posted.op = &op->op;
		op->posted.succeed = succeed;
		op->wr.wr_id = (uintptr_t)&op->op;
		op->wr.sg_list = op->sge;
		give_op(remote, op);
	}
	return 0;
}
