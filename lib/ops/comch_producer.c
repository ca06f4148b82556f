/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "cm/recall.h"
#include "core/fail.h"
#include "core/hash.h"
#include "engine/task_queue.h"
#include "ops/comch_data.h"
#include "ops/limit.h"
#include "ops/local_buf.h"

struct pier_comch_producer {
	struct pier__comch_data data;	/* first */
	struct pier__hash targets;	/* that have not ended; the code is */
					/* the consumer's id */
	struct pier__list all;		/* targets, those too that have */
};

/* A consumer that was sent to. */
struct pier__comch_target {
	struct pier__hash_link by_id;
	struct pier__list link;		/* producer->all */
	struct pier_comch_producer *producer;
	struct pier__comch_announced to;
	struct pier_conn *conn;
	bool up;			/* messages may be posted */
	bool ended;			/* it is not in producer->targets */
	bool over;			/* its connection has ended, too */
	uint32_t posted;		/* messages in flight */
	struct pier__task_queue waiting;	/* not posted yet */
	int error;			/* why it has ended */
	char text[256];
};

static struct pier_comch_producer *of_data(struct pier__comch_data *data)
{
	return pier__container_of(data, struct pier_comch_producer, data);
}

static struct pier_comch_producer *of_ctx(struct pier_ctx *ctx)
{
	return of_data(pier__comch_data_of(ctx));
}

/* Messages. */

static int post(struct pier__comch_target *target,
		struct pier__comch_data_task *t)
{
	int err = pier__conn_post(target->conn, &t->wr.send);

	if (err)
		return err;
	pier__conn_posted(target->conn, &t->posted);
	target->posted++;
	return 0;
}

static int check_len(const struct pier__comch_data_task *t,
		     const struct pier__comch_target *target)
{
	uint64_t most = target->conn->remote.message;

	if (t->imm_len > target->to.imm_len)
		return pier__fail(-EMSGSIZE, "comch: an immediate of %zu "
				  "bytes: consumer %u takes %u", t->imm_len,
				  target->to.id, target->to.imm_len);
	if (target->up && t->len + sizeof(t->head) > most)
		return pier__fail(-EMSGSIZE, "comch: %u bytes: the device of "
				  "consumer %u takes %llu", t->len,
				  target->to.id, (unsigned long long)most -
						 sizeof(t->head));
	return 0;
}

static void target_free(struct pier__comch_target *target)
{
	pier__list_del(&target->link);
	pier_conn_destroy(target->conn);
	free(target);
}

/* Finish the first one that waits with @err; its callback may end @target. */
static void refuse_waiting(struct pier__comch_target *target, int err)
{
	struct pier_task *task = pier__task_queue_pop(&target->waiting);

	target->posted++;	/* ended() does not free it */
	pier__comch_data_finish(pier__comch_data_task(task), err);
	target->posted--;
}

/* Post what waits, as much as there are credits for. */
static void post_waiting(struct pier__comch_target *target)
{
	while (target->waiting.first && target->up && !target->ended &&
	       pier__conn_is_up(target->conn) &&
	       pier__conn_has_credit(target->conn)) {
		struct pier__comch_data_task *t =
			pier__comch_data_task(target->waiting.first);
		int err = check_len(t, target);

		if (err) {	/* it has waited for the connection */
			refuse_waiting(target, err);
			continue;
		}
		err = post(target, t);
		if (err) {
			pier__conn_fail(target->conn, err);
			return;
		}
		pier__task_queue_pop(&target->waiting);
	}
	if (target->ended && target->over && !target->posted)
		target_free(target);
}

/* The error of a message that @target will not have. */
static int not_sent(const struct pier__comch_target *target)
{
	return pier__fail(target->error, "comch: no message to consumer %u: %s",
			  target->to.id, target->text);
}

/* No message is sent to it any more, for the reason of the last error. */
static void target_end(struct pier__comch_target *target, int err)
{
	struct pier_comch_producer *producer = target->producer;

	if (target->ended)
		return;
	target->ended = true;
	target->error = err;
	snprintf(target->text, sizeof(target->text), "%s", pier_last_error());
	pier__hash_del(&producer->targets, &target->by_id);
}

/* The waiting messages of one that has ended. */
static void fail_waiting(struct pier__comch_target *target)
{
	while (target->waiting.first) {
		struct pier_task *task =
			pier__task_queue_pop(&target->waiting);

		pier__comch_data_finish(pier__comch_data_task(task),
					not_sent(target));
	}
}

/* @target has one message less in flight. */
static void less(struct pier__comch_target *target)
{
	target->posted--;
	if (!target->ended)
		post_waiting(target);
	else if (!target->posted && target->over)
		target_free(target);
}

/* Soft-RoCE has the second answer to what is too long. */
static bool is_too_long(const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_REM_INV_REQ_ERR ||
	       wc->status == IBV_WC_REM_OP_ERR;
}

/* The error of a message that the stop has cancelled. */
static int stops(const struct pier__comch_data *data)
{
	if (data->error)
		return pier__fail(-ECONNRESET, "%s", data->text);
	return pier__fail(-ECANCELED, "the producer stops");
}

/* The error of a message that has failed as @wc has it, or has not. */
static int wc_error(const struct pier__comch_data_task *t,
		    const struct ibv_wc *wc)
{
	struct pier__comch_target *target = t->target;
	struct pier_conn *conn = target->conn;
	int err;

	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	err = pier__conn_failed(conn, pier_task_type_name(t->task.type), wc);
	if (is_too_long(wc))
		return pier__fail(-EMSGSIZE, "comch: a message of %u bytes "
				  "does not fit the buffer of consumer %u",
				  t->len, target->to.id);
	if (target->producer->data.ctx.state == PIER_CTX_STOPPING &&
	    wc->status == IBV_WC_WR_FLUSH_ERR)
		return stops(&target->producer->data);
	if (target->ended)
		return not_sent(target);
	if (conn->peer_disconnected &&	/* or it answers to our end */
	    target->producer->data.ctx.state != PIER_CTX_STOPPING)
		return pier__fail(-ECONNRESET, "comch: no message to consumer "
				  "%u: it has expired", target->to.id);
	return err;
}

static void finish(struct pier__comch_data_task *t, const struct ibv_wc *wc)
{
	struct pier__comch_target *target = t->target;
	struct pier__comch_data *data = &target->producer->data;
	int err = wc ? wc_error(t, wc) : 0;

	if (err) {	/* the next message makes a new connection */
		pier__comch_data_failed(t, wc);
		target_end(target, err == -EMSGSIZE ? -ECONNRESET : err);
	} else {
		data->counters.messages++;
		data->counters.bytes += t->len;
	}
	pier__comch_data_finish(t, err);
	less(target);
}

void pier__comch_produced(struct pier__posted *posted)
{
	finish(pier__container_of(posted, struct pier__comch_data_task,
				  posted), NULL);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_data_task *t =
		pier__container_of(op, struct pier__comch_data_task, task.op);

	if (pier__conn_done(t->target->conn, &t->posted, wc))
		finish(t, wc);
}

/* Connections. */

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct pier__comch_target *target = user_data;

	(void)conn;
	(void)ctx_user_data;
	target->up = true;
	post_waiting(target);
}

/* Why the connection has ended. */
static int end_error(const struct pier__comch_data *data,
		     struct pier_conn *conn)
{
	int err = pier__comch_data_rejected(conn);

	if (err)
		return err;
	if (data->ctx.state == PIER_CTX_STOPPING)
		return stops(data);
	err = pier_conn_error(conn);
	if (err)
		return pier__fail_again(err, pier_conn_error_text(conn));
	return pier__fail(-ECONNRESET, "it has expired");
}

static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	struct pier__comch_target *target = user_data;

	(void)ctx_user_data;
	target_end(target, end_error(&target->producer->data, conn));
	fail_waiting(target);
	target->over = true;
	if (!target->posted)
		target_free(target);
}

static int connect_to(struct pier__comch_target *target)
{
	struct pier__comch_data *data = &target->producer->data;
	char peer[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];
	uint8_t ask[PIER__COMCH_ASK];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = peer,
		.port = target->to.port,
		.source = source,
		.data = ask,
		.data_len = sizeof(ask),
		.timeout_ms = data->cfg.connect_timeout_ms,
		.user_data = target,
	};

	pier__gid_text(data->member->dir->peer_gid, peer);
	pier__gid_text(data->member->dir->own_gid, source);
	pier__comch_ask_encode(target->to.token, data->member->id, ask);
	return pier__connect_to(data->owner.queues, &cfg, &target->conn);
}

static int check_count(const struct pier_comch_producer *producer)
{
	uint32_t most = producer->data.cfg.max_peers;

	if (producer->targets.count < most)
		return 0;
	return pier__fail(-ENOSPC, "comch: the producer sends to %u consumers "
			  "already: raise max_peers", most);
}

static int target_create(struct pier_comch_producer *producer,
			 const struct pier__comch_announced *to,
			 struct pier__comch_target **ret)
{
	struct pier__comch_target *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return pier__fail(-ENOMEM, "comch: no memory");
	target->producer = producer;
	target->to = *to;
	pier__task_queue_init(&target->waiting);
	err = connect_to(target);
	if (err) {
		free(target);
		return err;
	}
	pier__hash_add(&producer->targets, &target->by_id, to->id);
	pier__list_add(&producer->all, &target->link);
	*ret = target;
	return 0;
}

/* Is the consumer of @target still there? */
static bool is_valid(const struct pier__comch_target *target)
{
	struct pier__comch_dir *dir = target->producer->data.member->dir;
	struct pier__comch_announced now;

	return !pier__comch_dir_find(dir, target->to.id, &now) &&
	       !memcmp(now.token, target->to.token, sizeof(now.token));
}

static int expired(void)
{
	return pier__fail(-ECONNRESET, "it has expired");
}

/* That of consumer @id, to which it connects if it is the first message. */
static int find(struct pier_comch_producer *producer, uint32_t id,
		struct pier__comch_target **ret)
{
	struct pier__hash_link *link = pier__hash_find(&producer->targets, id);
	struct pier__comch_target *target = link ?
		pier__container_of(link, struct pier__comch_target, by_id) :
		NULL;
	struct pier__comch_announced to;
	int err;

	if (target && (!atomic_load(&producer->data.member->attention) ||
		       is_valid(target))) {
		*ret = target;
		return 0;
	}
	if (target)		/* attend() does the rest */
		target_end(target, expired());
	err = pier__comch_dir_find(producer->data.member->dir, id, &to);
	if (!err)
		err = check_count(producer);
	return err ? err : target_create(producer, &to, ret);
}

/* Tasks. */

static void set_head(struct pier__comch_data_task *t)
{
	t->head.producer = htonl(pier__comch_data_of(t->task.ctx)->member->id);
	t->head.imm_len = htonl((uint32_t)t->imm_len);
	memset(t->head.imm, 0, sizeof(t->head.imm));
	if (t->imm_len)
		memcpy(t->head.imm, t->imm, t->imm_len);
}

/* Post it, or have it wait for the connection, or for credits. */
static int send_to(struct pier__comch_target *target,
		   struct pier__comch_data_task *t)
{
	if (target->up && !target->waiting.first &&
	    pier__conn_is_up(target->conn) &&
	    pier__conn_has_credit(target->conn))
		return post(target, t);
	pier__task_queue_add(&target->waiting, &t->task);
	return 0;
}

static int submit(struct pier_task *task, unsigned int flags)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	struct pier_comch_producer *producer = of_ctx(task->ctx);
	struct pier__comch_target *target = NULL;
	int err = pier__task_submit_error(task, flags), n;

	if (err)
		return err;
	n = pier__comch_data_build(t, false);
	if (n < 0)
		return n;
	err = find(producer, t->consumer, &target);
	if (!err)
		err = check_len(t, target);
	if (err)
		return err;
	set_head(t);
	t->wr.send = (struct ibv_send_wr){
		.wr_id = (uintptr_t)&task->op,
		.opcode = IBV_WR_SEND,
		.sg_list = t->sge,
		.num_sge = n,
	};
	t->target = target;
	err = send_to(target, t);
	if (err)
		return err;
	t->held = pier__local_hold(t->buf);
	pier__task_submitted(task);
	return 0;
}

static int cancel(struct pier_task *task)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	struct pier__queues *queues = of_ctx(task->ctx)->data.owner.queues;

	if (pier__task_queue_take_out(&t->target->waiting, task))
		pier__queues_end_later(queues, &t->posted,
				       pier__comch_data_end_recalled);
	else
		pier__conn_recall(t->target->conn, &t->posted,
				  pier__comch_data_end_recalled,
				  pier_task_type_name(task->type));
	return 0;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = pier__task_pool_give,
	.error = pier__comch_data_task_error,
	.cancel = cancel,
};

int pier_comch_task_produce(struct pier_comch_producer *producer,
			    struct pier_buf *src, const void *imm,
			    size_t imm_len, uint32_t consumer_id,
			    struct pier_task **ret)
{
	struct pier__comch_data_task *t;
	int err = pier__comch_data_take(&producer->data,
					PIER_TASK_COMCH_PRODUCE, &task_ops,
					src, &t);

	if (err)
		return err;
	t->task.op.done = done;
	t->posted.succeed = pier__comch_produced;
	t->consumer = consumer_id;
	err = pier_comch_task_set_imm(&t->task, imm, imm_len);
	if (err) {
		pier_task_free(&t->task);
		return err;
	}
	*ret = &t->task;
	return 0;
}

int pier_comch_produce(struct pier_comch_producer *producer,
		       struct pier_buf *src, const void *imm, size_t imm_len,
		       uint32_t consumer_id, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_comch_task_produce(producer, src, imm, imm_len,
					  consumer_id, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}

/* The object. */

static int start(struct pier__comch_data *data)
{
	struct pier_comch_producer *producer = of_data(data);

	return pier__hash_reserve(&producer->targets, data->cfg.max_peers);
}

static void stop(struct pier__comch_data *data)
{
	(void)data;	/* its connections end */
}

/* End those whose consumer has expired. */
static void attend(struct pier__comch_data *data)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &of_data(data)->all) {
		struct pier__comch_target *target = pier__container_of(
			pos, struct pier__comch_target, link);

		if (target->over || (!target->ended && is_valid(target)))
			continue;
		target_end(target, expired());
		pier_conn_disconnect(target->conn);
		fail_waiting(target);
	}
}

static void free_producer(struct pier__comch_data *data)
{
	struct pier_comch_producer *producer = of_data(data);

	pier__hash_fini(&producer->targets);
	free(producer);
}

static const struct pier__comch_data_role role = {
	.name = "comch producer",
	.callbacks = {
		.established = established,
		.failure = ended,
		.disconnected = ended,
	},
	.start = start,
	.stop = stop,
	.attend = attend,
	.free = free_producer,
};

int pier_comch_producer_create(struct pier_comch_conn *conn,
			       struct pier_comch_producer **ret)
{
	struct pier_comch_producer *producer = calloc(1, sizeof(*producer));
	int err;

	if (!producer)
		return pier__fail(-ENOMEM, "comch: no memory for a producer");
	pier__hash_init(&producer->targets);
	pier__list_init(&producer->all);
	err = pier__comch_data_init(&producer->data, &role, conn);
	if (err) {
		free(producer);
		return err;
	}
	*ret = producer;
	return 0;
}

void pier_comch_producer_destroy(struct pier_comch_producer *producer)
{
	if (producer)
		pier__comch_data_destroy(&producer->data);
}

int pier_comch_producer_configure(struct pier_comch_producer *producer,
				  const struct pier_comch_data_config *cfg)
{
	return pier__comch_data_configure(&producer->data, cfg);
}

void pier_comch_producer_get_config(const struct pier_comch_producer *producer,
				    struct pier_comch_data_config *ret)
{
	pier__comch_data_get_config(&producer->data, ret);
}

struct pier_ctx *pier_comch_producer_ctx(struct pier_comch_producer *producer)
{
	return &producer->data.ctx;
}

uint32_t pier_comch_producer_id(const struct pier_comch_producer *producer)
{
	return producer->data.member->id;
}

int pier_comch_producer_error(const struct pier_comch_producer *producer,
			      const char **ret_text)
{
	return pier__comch_data_error(&producer->data, ret_text);
}

void
pier_comch_producer_get_counters(const struct pier_comch_producer *producer,
				 struct pier_comch_data_counters *ret)
{
	*ret = producer->data.counters;
}
