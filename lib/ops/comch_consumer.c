/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "cm/recall.h"
#include "core/fail.h"
#include "ops/comch_data.h"
#include "ops/local_buf.h"

struct pier_comch_consumer {
	struct pier__comch_data data;	/* first */
	struct pier_mmap *mmap;		/* held; NULL: none */
	struct pier_listener *listener;
	uint32_t producers;		/* that are connected, or about to */
};

static struct pier_comch_consumer *of_data(struct pier__comch_data *data)
{
	return pier__container_of(data, struct pier_comch_consumer, data);
}

static struct pier_comch_consumer *of_ctx(struct pier_ctx *ctx)
{
	return of_data(pier__comch_data_of(ctx));
}

/* Producers. */

static void reject(struct pier_comch_consumer *consumer, struct pier_conn *conn,
		   enum pier__comch_reject reason)
{
	uint8_t rej[PIER__COMCH_REJ];

	consumer->data.counters.rejected++;
	pier__comch_rej_encode(reason, rej);
	if (pier_conn_reject(conn, rej, sizeof(rej)))
		pier_conn_destroy(conn);
}

static void requested(struct pier_conn *conn, void *arg)
{
	struct pier_comch_consumer *consumer = arg;
	const void *ask;
	size_t len;

	if (pier_conn_private_data(conn, &ask, &len) ||
	    !pier__comch_ask_decode(ask, len,
				    consumer->data.member->own.token)) {
		pier__log(PIER_LOG_INFO, "comch", "%s has no token of consumer "
			  "%u", pier_conn_peer_address(conn),
			  consumer->data.member->id);
		reject(consumer, conn, PIER__COMCH_REJECT_NAME);
	} else if (consumer->producers >= consumer->data.cfg.max_peers) {
		reject(consumer, conn, PIER__COMCH_REJECT_FULL);
	} else if (pier_conn_accept(conn, NULL, 0)) {
		pier_conn_destroy(conn);
	} else {
		consumer->producers++;
	}
}

static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	of_ctx(pier_conn_ctx(conn))->producers--;
	pier_conn_destroy(conn);
}

/* The producer on @conn broke the protocol, the last error is how. */
static void violated(struct pier_comch_consumer *consumer,
		     struct pier_conn *conn)
{
	consumer->data.counters.violations++;
	pier__log(PIER_LOG_WARNING, "comch", "%s: %s: the connection ends",
		  pier_conn_peer_address(conn), pier_last_error());
	pier_conn_abort(conn);
}

/* Receives. */

/* The error of one that ends without a message. */
static int cancelled(const struct pier_comch_consumer *consumer)
{
	const struct pier__queues *queues = consumer->data.owner.queues;

	if (queues->error)
		return pier__fail(queues->error, "comch receive: cancelled: %s",
				  queues->error_text);
	if (consumer->data.error)
		return pier__fail(-ECONNRESET, "comch receive: cancelled: %s",
				  consumer->data.text);
	return pier__fail(-ECANCELED, "comch receive: cancelled: the consumer "
			  "stops");
}

static inline bool is_message(const struct pier__comch_data_task *t,
			      const struct ibv_wc *wc)
{
	uint32_t producer = ntohl(t->head.producer);

	return wc->opcode == IBV_WC_RECV && wc->byte_len >= sizeof(t->head) &&
	       producer - 1 < PIER__COMCH_ID_MAX &&
	       ntohl(t->head.imm_len) <=
		       pier__comch_data_of(t->task.ctx)->cfg.imm_len;
}

static void __attribute__((cold))
no_message(const struct pier__comch_data_task *t, const struct ibv_wc *wc)
{
	pier__fail(-EPROTO, "comch: a producer sent a message of %u bytes, "
		   "as %u, with an immediate of %u: %zu bytes or more, 1 to %u "
		   "and 0 to %u are allowed", wc->byte_len,
		   ntohl(t->head.producer), ntohl(t->head.imm_len),
		   sizeof(t->head), PIER__COMCH_ID_MAX,
		   pier__comch_data_of(t->task.ctx)->cfg.imm_len);
}

/* It has no message yet: have it wait on. */
static void post_again(struct pier__comch_data_task *t)
{
	struct pier_comch_consumer *consumer = of_ctx(t->task.ctx);
	struct pier__queues *queues = consumer->data.owner.queues;
	int err;

	if (queues->stopping || queues->error)
		err = cancelled(consumer);
	else
		err = pier__queues_post_recv(queues, &t->posted, &t->wr.recv);
	if (err)
		pier__comch_data_finish_failed(t, err);
}

/* It is a message: store its length. */
static inline uint32_t arrived(struct pier__comch_data_task *t,
			       const struct ibv_wc *wc)
{
	t->len = wc->byte_len - (uint32_t)sizeof(t->head);
	return t->len;
}

static void succeed(struct pier__comch_data_task *t, const struct ibv_wc *wc)
{
	struct pier__comch_data *data = pier__comch_data_of(t->task.ctx);

	data->counters.bytes += arrived(t, wc);
	data->counters.messages++;
	pier__buf_grow(t->buf, t->len);
	pier__comch_data_finish(t);
}

/*
 * Was the message longer than the buffer?  Soft-RoCE reports "local operation"
 * for it; the memory was checked when the receive was posted.
 */
static bool is_too_long(const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_LOC_LEN_ERR ||
	       wc->status == IBV_WC_LOC_QP_OP_ERR;
}

static void fail(struct pier__comch_data_task *t, struct pier_conn *conn,
		 const struct ibv_wc *wc)
{
	struct pier_comch_consumer *consumer = of_ctx(t->task.ctx);

	if (conn && is_too_long(wc)) {
		pier__fail(-EMSGSIZE, "comch: a producer sent more than the "
			   "%u bytes of the buffer", t->space);
		violated(consumer, conn);
		post_again(t);
		return;
	}
	/* only its connection has ended, unless the queues have */
	if (conn)
		pier__conn_failed(conn, "receive", wc);
	post_again(t);
}

/* The first on its connection, a chain, a failure, or no message. */
static void __attribute__((noinline))
done_any(struct pier__comch_data_task *t, struct pier_conn *conn,
	 const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fail(t, conn, wc);
		return;
	}
	if (conn)
		pier__conn_peer_ready(conn);
	if (is_message(t, wc)) {
		succeed(t, wc);
		return;
	}
	no_message(t, wc);
	if (conn)
		violated(of_ctx(t->task.ctx), conn);
	post_again(t);
}

/* The usual case is that of one buffer on a connection that is up. */
static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_data_task *t =
		pier__container_of(op, struct pier__comch_data_task, task.op);
	struct pier__comch_data *data = pier__comch_data_of(t->task.ctx);
	struct pier_conn *conn =
		pier__queues_conn(data->owner.queues, wc->qp_num);

	pier__list_take_out(&t->posted.link);
	if (wc->status != IBV_WC_SUCCESS || !conn ||
	    !pier__conn_is_met(conn) || !is_message(t, wc) ||
	    !pier__comch_data_is_held(t)) {
		done_any(t, conn, wc);
		return;
	}
	data->counters.messages++;
	t->buf->data_len += arrived(t, wc);
	t->buf->refs--;
	data->counters.bytes += t->len;
	pier__task_finish(&t->task, 0);
}

/* Is all of the chain memory of the consumer's mmap that can be written? */
static int check_buf(const struct pier_comch_consumer *consumer,
		     const struct pier_buf *buf)
{
	for (; buf; buf = buf->next) {
		if (buf->mmap != consumer->mmap)
			return pier__fail(-EINVAL, "comch: the buffer is not "
					  "of the mmap of consumer %u",
					  consumer->data.member->id);
	}
	return 0;
}

static inline struct pier__queues *
queues_of(const struct pier__comch_data_task *t)
{
	return pier__comch_data_of(t->task.ctx)->owner.queues;
}

static int post_anew(struct pier__comch_data_task *t)
{
	int err = check_buf(of_ctx(t->task.ctx), t->buf), n;

	if (err)
		return err;
	n = pier__comch_data_build(t, true, &t->space);
	if (n < 0)
		return n;
	t->wr.recv = (struct ibv_recv_wr){
		.wr_id = (uintptr_t)&t->task.op,
		.sg_list = t->sge,
		.num_sge = n,
	};
	err = pier__queues_post_recv(queues_of(t), &t->posted, &t->wr.recv);
	if (err)
		return err;
	pier__comch_data_remember(t);
	pier__comch_data_submitted(t);
	return 0;
}

/* The buffer has changed, or the task may not be submitted. */
static int __attribute__((noinline))
submit_anew(struct pier__comch_data_task *t, unsigned int flags)
{
	return pier__comch_data_submit_anew(t, flags, post_anew);
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	int err;

	if (!pier__task_may_submit(task, flags) || !pier__comch_data_same(t))
		return submit_anew(t, flags);
	err = pier__queues_pass_recv(queues_of(t), &t->wr.recv);
	if (err)
		return err;
	pier__queues_note_recv(queues_of(t), &t->posted);
	pier__comch_data_submitted_one(t);
	return 0;
}

static int cancel(struct pier_task *task)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);

	return pier__queues_recall(of_ctx(task->ctx)->data.owner.queues,
				   &t->posted, pier__comch_data_end_recalled,
				   pier_task_type_name(task->type));
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = pier__task_pool_give,
	.error = pier__comch_data_task_error,
	.bufs = pier__comch_data_bufs,
	.cancel = cancel,
};

int pier_comch_task_receive(struct pier_comch_consumer *consumer,
			    struct pier_buf *dst, struct pier_task **ret)
{
	struct pier__comch_data_task *t;
	int err;

	if (!consumer)
		return pier__no_object(__func__);
	err = pier__comch_data_take(&consumer->data, PIER_TASK_COMCH_RECEIVE,
				    &task_ops, dst, &t);
	if (err)
		return err;
	t->task.op.done = done;
	*ret = &t->task;
	return 0;
}

int pier_comch_receive(struct pier_comch_consumer *consumer,
		       struct pier_buf *dst, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_comch_task_receive(consumer, dst, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

/* The object. */

static int start(struct pier__comch_data *data)
{
	struct pier_comch_consumer *consumer = of_data(data);
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	int err = pier__listen(data->owner.queues, &cfg, requested, consumer,
			       &consumer->listener);

	if (err)
		return err;
	consumer->producers = 0;
	pier__comch_member_announce(data->member,
				    pier_listener_port(consumer->listener),
				    data->cfg.imm_len);
	return -EINPROGRESS;
}

static void stop(struct pier__comch_data *data)
{
	struct pier_comch_consumer *consumer = of_data(data);

	pier__comch_member_withdraw(data->member);
	pier_listener_destroy(consumer->listener);
	consumer->listener = NULL;
}

static void attend(struct pier__comch_data *data)
{
	if (data->ctx.state == PIER_CTX_STARTING &&
	    pier__comch_member_known(data->member))
		pier__ctx_started(&data->ctx);
}

static void free_consumer(struct pier__comch_data *data)
{
	struct pier_comch_consumer *consumer = of_data(data);

	if (consumer->mmap)
		pier__mmap_drop_for(consumer->mmap, PIER__MMAP_CONSUMER);
	free(consumer);
}

static const struct pier__comch_data_role role = {
	.name = "comch consumer",
	.is_consumer = true,
	.callbacks = {
		.failure = ended,
		.disconnected = ended,
	},
	.start = start,
	.stop = stop,
	.attend = attend,
	.free = free_consumer,
};

/* Is @mmap memory that can be received into? */
static int check_mmap(const struct pier_comch_conn *conn,
		      const struct pier_mmap *mmap)
{
	const struct pier_dev *dev = pier_comch_dev(conn->comch);
	uint32_t lkey;

	if (mmap->remote || !mmap->started)
		return pier__fail(-EINVAL, "comch: the mmap of a consumer is "
				  "%s", mmap->remote ? "remote" :
						       "not started");
	if (!pier__local_writable(mmap))
		return pier__local_read_only(mmap, "comch consumer", "mmap");
	return pier__mmap_lkey(mmap, dev, &lkey) ? 0 :
						   pier__mmap_lacks(mmap, dev);
}

int pier_comch_consumer_create(struct pier_comch_conn *conn,
			       struct pier_mmap *mmap,
			       struct pier_comch_consumer **ret)
{
	int err;
	struct pier_comch_consumer *consumer;

	if (!conn)
		return pier__no_object(__func__);
	err = mmap && conn->open ? check_mmap(conn, mmap) : 0;
	if (err)
		return err;
	consumer = calloc(1, sizeof(*consumer));
	if (!consumer)
		return pier__fail(-ENOMEM, "comch: no memory for a consumer");
	err = pier__comch_data_init(&consumer->data, &role, conn);
	if (err) {
		free(consumer);
		return err;
	}
	if (mmap)
		pier__mmap_hold_for(mmap, PIER__MMAP_CONSUMER);
	consumer->mmap = mmap;
	*ret = consumer;
	return 0;
}

void pier_comch_consumer_destroy(struct pier_comch_consumer *consumer)
{
	if (consumer)
		pier__comch_data_destroy(&consumer->data);
}

int pier_comch_consumer_configure(struct pier_comch_consumer *consumer,
				  const struct pier_comch_data_config *cfg)
{
	if (!consumer)
		return pier__no_object(__func__);
	return pier__comch_data_configure(&consumer->data, cfg);
}

void pier_comch_consumer_get_config(const struct pier_comch_consumer *consumer,
				    struct pier_comch_data_config *ret)
{
	if (!consumer)
		return;
	pier__comch_data_get_config(&consumer->data, ret);
}

struct pier_ctx *pier_comch_consumer_ctx(struct pier_comch_consumer *consumer)
{
	if (!consumer)
		return NULL;
	return &consumer->data.ctx;
}

uint32_t pier_comch_consumer_id(const struct pier_comch_consumer *consumer)
{
	if (!consumer)
		return 0;
	return consumer->data.member->id;
}

int pier_comch_consumer_error(const struct pier_comch_consumer *consumer,
			      const char **ret_text)
{
	if (!consumer)
		return pier__no_object(__func__);
	return pier__comch_data_error(&consumer->data, ret_text);
}

void
pier_comch_consumer_get_counters(const struct pier_comch_consumer *consumer,
				 struct pier_comch_data_counters *ret)
{
	if (consumer)
		*ret = consumer->data.counters;
}
