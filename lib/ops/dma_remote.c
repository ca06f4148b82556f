/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/dma_remote.h"
#include "ops/rdma_impl.h"

/* Exports that a context uses at a time. */
#define CONNS_MAX 1024

bool pier__dma_is_remote(const struct pier__dma_task *t)
{
	return (t->src && t->held[0] && t->src->mmap && t->src->mmap->remote) ||
	       (t->dst && t->held[1] && t->dst->mmap && t->dst->mmap->remote);
}

/* Is the chain @buf memory of one export, with @access? */
static int check_remote(const struct pier_buf *buf,
			const struct pier_buf *held, uint32_t access,
			const char *name)
{
	const struct pier__mmap_origin *origin = buf->mmap->origin;

	if (buf->first != buf || held != buf)
		return pier__fail(-EINVAL, "copy: the %s is not the first of "
				  "its chain", name);
	for (; buf; buf = buf->next) {
		if (!buf->mmap->origin || !origin ||
		    memcmp(buf->mmap->origin->token, origin->token,
			   PIER__TOKEN))
			return pier__fail(-EINVAL, "copy: the %s is remote "
					  "memory, but not of one export",
					  name);
		if (!(buf->mmap->cfg.access & access))
			return pier__fail(-EACCES, "copy: the %s was exported "
					  "without PIER_PEER_%s", name,
					  access == PIER_REMOTE_READ ?
						  "READ" : "WRITE");
	}
	return 0;
}

/* Is all of @buf registered on the context's device? */
static int check_registered(const struct pier__dma_task *t,
			    const struct pier_buf *buf)
{
	const struct pier_dev *dev = pier__cpu_of(t->task.ctx)->dev;
	uint32_t lkey;

	for (; buf; buf = buf->next) {
		if (!pier__mmap_lkey(buf->mmap, dev, &lkey))
			return pier__fail(-EINVAL, "copy: local memory is not "
					  "registered on %s",
					  dev->info.port.name);
	}
	return 0;
}

static int check_read(const struct pier__dma_task *t, size_t len)
{
	int err = pier__local_check(t->dst, t->held[1], "copy", "destination");

	if (!err)
		err = check_remote(t->src, t->held[0], PIER_REMOTE_READ,
				   "source");
	if (!err)
		err = pier__local_check_tail(t->dst, len, "copy");
	return err ? err : check_registered(t, t->dst);
}

static int check_write(const struct pier__dma_task *t, size_t len)
{
	int err = pier__local_check(t->src, t->held[0], "copy", "source");
	size_t tail;

	if (!err)
		err = check_remote(t->dst, t->held[1], PIER_REMOTE_WRITE,
				   "destination");
	if (err)
		return err;
	tail = pier_buf_chain_tail_len(t->dst);
	if (len > tail)
		return pier__fail(-EMSGSIZE, "copy: %zu bytes, the tail space "
				  "of the destination is %zu", len, tail);
	return check_registered(t, t->src);
}

int pier__dma_remote_check(const struct pier__dma_task *t)
{
	size_t len;
	int err;

	if (!t->src || !t->held[0] || !t->src->mmap)
		return pier__local_check(t->src, t->held[0], "copy", "source");
	if (!t->dst || !t->held[1] || !t->dst->mmap)
		return pier__local_check(t->dst, t->held[1], "copy",
					 "destination");
	if (t->src->mmap->remote && t->dst->mmap->remote)
		return pier__fail(-EINVAL, "copy: source and destination are "
				  "both remote");
	len = pier_buf_chain_data_len(t->src);
	err = pier__dma_check_len(len);
	if (err)
		return err;
	return pier__dma_reads(t) ? check_read(t, len) : check_write(t, len);
}

/* Store why @peer can copy no more. */
static void set_end_reason(struct pier__dma_peer *peer)
{
	pier__dma_set_error(peer, pier__origin_ended(peer->conn, "memory"));
}

static void finish_tasks(struct pier__dma_peer *peer)
{
	while (peer->queue.first) {
		struct pier_task *task = pier__task_queue_pop(&peer->queue);

		if (task->ctx->state == PIER_CTX_STOPPING)
			pier__cpu_requeue(task);
		else
			pier__dma_finish(pier__dma_task(task),
					 pier__fail(peer->error, "copy: no "
						    "access to the export: %s",
						    peer->text));
	}
}

void pier__dma_peer_close(struct pier__dma_peer *peer)
{
	finish_tasks(peer);
	pier__origin_unwatch(&peer->user);
	pier__list_del(&peer->link);
	pier__list_del(&peer->starved);
	pier_conn_destroy(peer->conn);
	free(peer);
}

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct pier__dma_peer *peer = user_data;

	(void)conn;
	(void)ctx_user_data;
	peer->up = true;
	pier__dma_post(peer);
}

/* Requests in flight complete later. */
static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	struct pier__dma_peer *peer = user_data;

	(void)conn;
	(void)ctx_user_data;
	set_end_reason(peer);
	peer->ended = true;
	if (!peer->posted)
		pier__dma_peer_close(peer);
}

static int peer_create(struct pier_dma *dma,
		       const struct pier__mmap_origin *origin,
		       struct pier__dma_peer **ret)
{
	struct pier__dma_peer *peer = calloc(1, sizeof(*peer));
	int err;

	if (!peer)
		return pier__fail(-ENOMEM, "copy: no memory");
	peer->dma = dma;
	memcpy(peer->token, origin->token, PIER__TOKEN);
	pier__task_queue_init(&peer->queue);
	pier__list_init(&peer->starved);
	err = pier__origin_connect(origin, dma->cpu.dev,
				   dma->remote->owner.queues, peer,
				   &peer->conn);
	if (err) {
		free(peer);
		return err;
	}
	pier__list_add(&dma->remote->peers, &peer->link);
	peer->user.token = peer->token;
	peer->user.pe = dma->cpu.ctx.pe;
	peer->user.attention = &dma->remote->attention;
	pier__origin_watch(&peer->user);
	*ret = peer;
	return 0;
}

static int find_peer(struct pier_dma *dma,
		     const struct pier__mmap_origin *origin,
		     struct pier__dma_peer **ret)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &dma->remote->peers) {
		struct pier__dma_peer *peer = pier__container_of(
			pos, struct pier__dma_peer, link);

		if (!peer->error && !atomic_load(&peer->user.unused) &&
		    !memcmp(peer->token, origin->token, PIER__TOKEN)) {
			*ret = peer;
			return 0;
		}
	}
	return peer_create(dma, origin, ret);
}

/* Nothing of it is imported any more, so it has no task. */
static void end_unused(struct pier__dma_peer *peer)
{
	if (!atomic_load(&peer->user.unused) || peer->ended ||
	    pier__conn_is_ending(peer->conn))
		return;
	if (peer->up)
		pier_conn_disconnect(peer->conn);
	else
		pier_conn_abort(peer->conn);
	peer->up = false;
}

static struct pier__dma_remote *remote_of(struct pier__source *source)
{
	return pier__container_of(source, struct pier__dma_remote, source);
}

static int poll(struct pier__source *source, int budget)
{
	struct pier__dma_remote *remote = remote_of(source);
	struct pier__list *pos, *tmp;

	(void)budget;
	if (!atomic_load_explicit(&remote->attention, memory_order_relaxed))
		return 0;
	atomic_store(&remote->attention, false);
	PIER__LIST_EACH(pos, tmp, &remote->peers)
		end_unused(pier__container_of(pos, struct pier__dma_peer,
					      link));
	return 0;
}

static int arm(struct pier__source *source)
{
	return atomic_load(&remote_of(source)->attention) ? -EAGAIN : 0;
}

static int remote_create(struct pier_dma *dma)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = CONNS_MAX,
		.recv_queue = 1,
		.send_chain = PIER__DMA_ELEMENTS,
	};
	struct pier__dma_remote *remote;
	int err = pier__rdma_settle(&cfg, &dma->cpu.dev->info.port);

	if (err)
		return err;
	remote = calloc(1, sizeof(*remote));
	if (!remote)
		return pier__fail(-ENOMEM, "dma: no memory");
	pier__rdma_conn_config(&cfg, &remote->cfg);
	pier__list_init(&remote->peers);
	pier__list_init(&remote->starved);
	remote->source = (struct pier__source){
		.poll = poll,
		.arm = arm,
		.fd = -1,
		.slow = true,	/* who has something for it nudges */
		.due = PIER__NEVER,
	};
	err = pier__dma_ops_create(remote);
	if (err) {
		free(remote);
		return err;
	}
	dma->remote = remote;
	dma->cpu.ctx.drain_ms = pier__queues_stop_ms(cfg.drain_ms);
	return 0;
}

/* The connections have ended, and the queues. */
static void queues_stopped(struct pier_ctx *ctx)
{
	struct pier_dma *dma = pier__dma_of(pier__cpu_of(ctx));

	pier__pe_remove(&dma->remote->source);
	/* the next round of the context finds out */
}

/* The first task with remote memory since the start. */
static int remote_start(struct pier_dma *dma)
{
	struct pier__conn_owner *owner;
	int err = dma->remote ? 0 : remote_create(dma);

	if (err || dma->remote->owner.queues)
		return err;
	owner = &dma->remote->owner;
	pier__conn_owner_init(owner, &dma->cpu.ctx, queues_stopped);
	owner->quiet = true;
	owner->callbacks = (struct pier__conn_callbacks){
		.established = established,
		.failure = ended,
		.disconnected = ended,
	};
	err = pier__queues_create(owner, dma->cpu.dev, &dma->remote->cfg);
	if (err)
		return err;
	err = pier__pe_add(dma->cpu.ctx.pe, &dma->remote->source);
	if (err)
		pier__queues_abandon(owner->queues);
	return err;
}

int pier__dma_remote_run(struct pier__dma_task *t)
{
	struct pier_dma *dma = pier__dma_of(pier__cpu_of(t->task.ctx));
	int err = pier__dma_remote_check(t);

	if (!err)
		err = remote_start(dma);
	if (!err)
		err = find_peer(dma, pier__dma_reads(t) ? t->src->mmap->origin :
							t->dst->mmap->origin,
				&t->peer);
	if (err)
		return err;
	pier__dma_begin(t);
	pier__cpu_take_out(&t->task);
	pier__task_queue_add(&t->peer->queue, &t->task);
	pier__dma_post(t->peer);
	return PIER__CPU_ELSEWHERE;
}

void pier__dma_remote_recall(struct pier_task *task)
{
	struct pier__dma_task *t = pier__dma_task(task);
	struct pier__dma_peer *peer = t->peer;

	if (!t->posted && t->left == t->len) {
		pier__task_queue_take_out(&peer->queue, task);
		t->peer = NULL;
		pier__cpu_requeue(task);
	} else if (!pier__conn_is_ending(peer->conn)) {
		pier__conn_cancel(peer->conn, "copy");
		pier__dma_set_error(peer, -ECANCELED);
	}
}

void pier__dma_remote_stop(struct pier_dma *dma)
{
	if (pier__dma_remote_stopping(dma))
		pier__queues_stop(dma->remote->owner.queues);
}

bool pier__dma_remote_stopping(const struct pier_dma *dma)
{
	return dma->remote && dma->remote->owner.queues;
}

void pier__dma_remote_free(struct pier_dma *dma)
{
	if (!dma->remote)
		return;
	pier__conn_owner_destroy(&dma->remote->owner);
	free(dma->remote->ops);
	free(dma->remote);
}
