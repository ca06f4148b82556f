/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/comch_dir.h"

/*
 * Receives are registered and posted for so many clients at a time, when there
 * are that many: a server of 1,000 clients pins no memory for those that may
 * come.
 */
#define BLOCK_CLIENTS 16

uint64_t pier__comch_recv_count(const struct pier_comch_config *cfg,
				bool is_server)
{
	uint64_t conns = is_server ? cfg->max_clients : 1;

	return conns * (cfg->recv_queue + PIER__COMCH_RESERVE);
}

void pier__comch_recv_post(struct pier__comch_recv *recv)
{
	struct pier__queues *queues = recv->comch->owner.queues;
	int err;

	if (queues->stopping || queues->error)
		return;
	err = pier__queues_post_recv(queues, &recv->posted, &recv->wr);
	if (err)
		pier__queues_fail(queues, err);
}

/* The peer returns @credits.  Errors: -EPROTO. */
static int add_credits(struct pier_comch_conn *c, uint32_t credits)
{
	if (credits > c->peer_queue - c->credits)
		return pier__fail(-EPROTO, "comch: the peer returned %u "
				  "credits to %u: at most %u are allowed",
				  credits, c->credits, c->peer_queue);
	c->credits += credits;
	return 0;
}

static void received(struct pier_comch_conn *c, const void *msg, size_t len)
{
	struct pier_comch *comch = c->comch;

	c->counters.received_messages++;
	c->counters.received_bytes += len;
	comch->counters.received_messages++;
	comch->counters.received_bytes += len;
	pier__pe_event(comch->ctx.pe);
	if (comch->callbacks.received)
		comch->callbacks.received(c, msg, len,
					  pier_ctx_user_data(&comch->ctx));
}

/* One that is not the program's: of consumers, or of requests. */
static int process_own(struct pier_comch_conn *c, enum pier__comch_kind kind,
		       struct pier__comch_recv *recv, size_t len)
{
	const void *msg = (const void *)(uintptr_t)recv->sge.addr;

	switch (kind) {
	case PIER__COMCH_REQUEST:
		c->owed--;		/* once it has its reply */
		return pier__comch_requested(c, recv, len);
	case PIER__COMCH_REPLY:
		return pier__comch_replied(c, msg, len);
	default:
		return pier__comch_dir_receive(c, kind, msg, len);
	}
}

/* One that took a credit. */
static void process(struct pier_comch_conn *c, enum pier__comch_kind kind,
		    struct pier__comch_recv *recv, size_t len)
{
	int err = 0;

	c->granted--;
	c->owed++;
	if (kind == PIER__COMCH_DATA)
		received(c, (const void *)(uintptr_t)recv->sge.addr, len);
	else
		err = process_own(c, kind, recv, len);
	if (err)
		pier__comch_violated(c, err);
	else
		pier__comch_return_credits(c);
}

/* A cancel of a client, or a server's answer to it. */
static int process_cancel(struct pier_comch_conn *c,
			  const struct pier__comch_recv *recv, size_t len)
{
	const void *msg = (const void *)(uintptr_t)recv->sge.addr;

	return pier__comch_is_server(c->comch) ?
		       pier__comch_cancelled(c, msg, len) :
		       pier__comch_cancel_late(c, len);
}

/* Does a message of @kind take a credit? */
static bool takes_credit(enum pier__comch_kind kind)
{
	return kind != PIER__COMCH_CREDITS && kind != PIER__COMCH_CANCEL;
}

/* Is it what a Comm Channel sends, and may the peer send it now? */
static int check(struct pier_comch_conn *c, const struct ibv_wc *wc,
		 struct pier__comch_head *ret)
{
	int err;

	if (!c->open)
		return pier__fail(-EPROTO, "comch: the peer sent a message "
				  "before it was connected");
	if (wc->opcode != IBV_WC_RECV || !(wc->wc_flags & IBV_WC_WITH_IMM))
		return pier__fail(-EPROTO, "comch: the peer sent a message "
				  "without a head, or wrote one");
	err = pier__comch_head_decode(wc->imm_data, ret);
	if (err)
		return err;
	if (takes_credit(ret->kind) && !c->granted)
		return pier__fail(-EPROTO, "comch: the peer sent more messages "
				  "than it had credits for, %u at a time",
				  c->comch->cfg.recv_queue);
	if (ret->kind == PIER__COMCH_CREDITS &&
	    (wc->byte_len || !ret->credits))
		return pier__fail(-EPROTO, "comch: the peer returned %u "
				  "credits in a message of %u bytes: 1 or more "
				  "in 0 are allowed", ret->credits,
				  wc->byte_len);
	if (ret->kind == PIER__COMCH_DATA &&
	    wc->byte_len > c->comch->cfg.max_msg_size)
		return pier__fail(-EPROTO, "comch: the peer sent a message of "
				  "%u bytes: at most %u are allowed",
				  wc->byte_len, c->comch->cfg.max_msg_size);
	return add_credits(c, ret->credits);
}

static void arrived(struct pier_conn *conn, struct pier__comch_recv *recv,
		    const struct ibv_wc *wc)
{
	struct pier_comch_conn *c = pier_conn_user_data(conn);
	struct pier__comch_head head;
	int err;

	if (!c || c->broken)
		return;
	pier__conn_peer_ready(conn);
	err = check(c, wc, &head);
	if (!err && head.kind == PIER__COMCH_CANCEL)
		err = process_cancel(c, recv, wc->byte_len);
	if (err) {
		pier__comch_violated(c, err);
		return;
	}
	if (takes_credit(head.kind))
		process(c, head.kind, recv, wc->byte_len);
	pier__comch_dir_sync(c);
	pier__comch_check_writable(c);
}

static void failed(struct pier_conn *conn, const struct ibv_wc *wc)
{
	struct pier_comch_conn *c = pier_conn_user_data(conn);
	int err = pier__conn_failed(conn, "receive", wc);

	if (c && wc->status != IBV_WC_WR_FLUSH_ERR)
		pier__comch_violated(c, err);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_recv *recv =
		pier__container_of(op, struct pier__comch_recv, op);
	struct pier__queues *queues = recv->comch->owner.queues;
	struct pier_conn *conn = pier__queues_conn(queues, wc->qp_num);

	pier__list_del(&recv->posted.link);
	if (conn && wc->status == IBV_WC_SUCCESS)
		arrived(conn, recv, wc);
	else if (conn)
		failed(conn, wc);
	if (!recv->request.is_request)
		pier__comch_recv_post(recv);
}

/* What each receives: messages about consumers, too, and requests. */
static uint32_t recv_len(const struct pier_comch *comch)
{
	uint32_t len = comch->cfg.max_msg_size + PIER__COMCH_REQUEST_HEAD;

	return len > PIER__COMCH_CONSUMER_LEN ? len : PIER__COMCH_CONSUMER_LEN;
}

static void init(struct pier__comch_recv *recv, struct pier_comch *comch,
		 uint32_t i, const struct pier__mr *mr)
{
	uint32_t len = recv_len(comch);

	recv->op.done = done;
	recv->posted.op = &recv->op;
	pier__list_init(&recv->posted.link);
	recv->comch = comch;
	recv->sge = (struct ibv_sge){
		.addr = (uintptr_t)comch->recv_mem + (uintptr_t)i * len,
		.length = len,
		.lkey = mr->lkey,
	};
	recv->wr = (struct ibv_recv_wr){
		.wr_id = (uintptr_t)&recv->op,
		.sg_list = &recv->sge,
		.num_sge = 1,
	};
	pier__comch_request_init(recv);
}

/* The receives of one block; the last one may have fewer. */
static uint32_t block_len(const struct pier_comch *comch)
{
	return BLOCK_CLIENTS * (comch->cfg.recv_queue + PIER__COMCH_RESERVE);
}

/* Memory that no receive uses yet has no pages. */
static int allocate(struct pier_comch *comch, uint32_t count)
{
	comch->recvs = calloc(count, sizeof(comch->recvs[0]));
	comch->recv_mem = calloc(count, recv_len(comch));
	comch->recv_mrs = calloc(count / block_len(comch) + 1,
				 sizeof(comch->recv_mrs[0]));
	if (comch->recvs && comch->recv_mem && comch->recv_mrs)
		return 0;
	return pier__fail(-ENOMEM, "comch: no memory for %u messages of %u "
			  "bytes", count, comch->cfg.max_msg_size);
}

/* How many receives the registered blocks have. */
static uint32_t registered(const struct pier_comch *comch)
{
	uint32_t most = comch->conn_cfg.recv_queue;
	uint32_t count = comch->recv_blocks * block_len(comch);

	return count < most ? count : most;
}

static int register_block(struct pier_comch *comch)
{
	uint32_t first = registered(comch);
	uint32_t count = comch->conn_cfg.recv_queue - first;
	size_t len = recv_len(comch);
	struct pier__mr *mr;
	int err;

	if (count > block_len(comch))
		count = block_len(comch);
	err = comch->dev->fabric->dev->reg(
		comch->dev->fdev, comch->recv_mem + first * len, count * len,
		IBV_ACCESS_LOCAL_WRITE, &mr);
	if (!err)
		comch->recv_mrs[comch->recv_blocks++] = mr;
	return err;
}

/* Post what is registered, from the one on that could not be posted before. */
static int post_registered(struct pier_comch *comch)
{
	uint32_t per = block_len(comch);
	int err = 0;

	while (!err && comch->recv_count < registered(comch)) {
		uint32_t i = comch->recv_count;

		init(&comch->recvs[i], comch, i, comch->recv_mrs[i / per]);
		err = pier__queues_post_recv(comch->owner.queues,
					     &comch->recvs[i].posted,
					     &comch->recvs[i].wr);
		if (!err)
			comch->recv_count++;
	}
	return err;
}

int pier__comch_recvs_reserve(struct pier_comch *comch, uint32_t clients)
{
	int err = post_registered(comch);

	while (!err && comch->recv_blocks * BLOCK_CLIENTS < clients &&
	       registered(comch) < comch->conn_cfg.recv_queue) {
		err = register_block(comch);
		if (!err)
			err = post_registered(comch);
	}
	return err;
}

int pier__comch_recvs_create(struct pier_comch *comch)
{
	int err = allocate(comch, comch->conn_cfg.recv_queue);

	return err ? err : pier__comch_recvs_reserve(comch, 1);
}

void pier__comch_recvs_destroy(struct pier_comch *comch)
{
	for (uint32_t i = 0; i < comch->recv_blocks; i++)
		comch->dev->fabric->dev->dereg(comch->recv_mrs[i]);
	comch->recv_blocks = 0;
	comch->recv_count = 0;
	free(comch->recv_mrs);
	comch->recv_mrs = NULL;
	free(comch->recv_mem);
	comch->recv_mem = NULL;
	free(comch->recvs);
	comch->recvs = NULL;
}
