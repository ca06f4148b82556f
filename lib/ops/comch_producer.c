/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/fail.h"
#include "ops/comch_target.h"

static struct pier_comch_producer *of_data(struct pier__comch_data *data)
{
	return pier__container_of(data, struct pier_comch_producer, data);
}

/* Messages. */

static int post(struct pier__comch_target *target,
		struct pier__comch_data_task *t)
{
	int err;

	if (pier__conn_chained(target->conn))
		pier__conn_flush(target->conn);
	err = pier__conn_post(target->conn, &t->wr.send);
	if (err)
		return err;
	pier__conn_posted(target->conn, &t->posted);
	target->posted++;
	return 0;
}

int pier__comch_target_check(const struct pier__comch_target *target,
			     const struct pier__comch_data_task *t)
{
	if (t->imm_len > target->to.imm_len)
		return pier__fail(-EMSGSIZE, "comch: an immediate of %zu "
				  "bytes: consumer %u takes %u", t->imm_len,
				  target->to.id, target->to.imm_len);
	if (!target->up || t->len < target->limit)
		return 0;
	return pier__fail(-EMSGSIZE, "comch: %u bytes: the device of consumer "
			  "%u takes less than %llu", t->len, target->to.id,
			  (unsigned long long)target->limit);
}

static void target_free(struct pier__comch_target *target)
{
	pier__list_del(&target->link);
	pier_conn_destroy(target->conn);
	free(target);
}

static void add_waiting(struct pier__comch_target *target,
			struct pier__comch_data_task *t)
{
	pier__task_queue_add(&target->waiting, &t->task);
	target->busy = true;
	target->producer->data.epoch++;
}

static struct pier_task *pop_waiting(struct pier__comch_target *target)
{
	struct pier_task *task = pier__task_queue_pop(&target->waiting);

	target->busy = target->ended || target->waiting.first;
	return task;
}

/* Finish the first one that waits with @err; its callback may end @target. */
static void refuse_waiting(struct pier__comch_target *target, int err)
{
	struct pier_task *task = pop_waiting(target);

	target->posted++;	/* ended() does not free it */
	pier__comch_data_finish_failed(pier__comch_data_task(task), err);
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
		int err = pier__comch_target_check(target, t);

		if (err) {	/* it has waited for the connection */
			refuse_waiting(target, err);
			continue;
		}
		err = post(target, t);
		if (err) {
			pier__conn_fail(target->conn, err);
			return;
		}
		pop_waiting(target);
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
	target->ended = target->busy = true;
	producer->data.epoch++;
	target->error = err;
	snprintf(target->text, sizeof(target->text), "%s", pier_last_error());
	pier__hash_del(&producer->targets, &target->by_id);
}

/* The waiting messages of one that has ended. */
static void fail_waiting(struct pier__comch_target *target)
{
	while (target->waiting.first) {
		pier__comch_data_finish_failed(
			pier__comch_data_task(pop_waiting(target)),
			not_sent(target));
	}
}

void pier__comch_target_less(struct pier__comch_target *target)
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

/* The error of a message that has failed as @wc has it. */
static int wc_error(const struct pier__comch_data_task *t,
		    const struct ibv_wc *wc)
{
	struct pier__comch_target *target = t->target;
	struct pier_conn *conn = target->conn;
	int err = pier__conn_failed(conn, pier_task_type_name(t->task.type),
				    wc);

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

void pier__comch_target_fail(struct pier__comch_data_task *t,
			     const struct ibv_wc *wc)
{
	struct pier__comch_target *target = t->target;
	int err = wc_error(t, wc);

	pier__comch_data_failed(t, wc);
	target_end(target, err == -EMSGSIZE ? -ECONNRESET : err);
	pier__comch_data_finish_failed(t, err);
	pier__comch_target_less(target);
}

/* Connections. */

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct pier__comch_target *target = user_data;
	uint64_t most = conn->remote.message;

	(void)ctx_user_data;
	target->up = true;
	target->limit = most < PIER__COMCH_DATA_HEAD ? 0 :
		       most - PIER__COMCH_DATA_HEAD + 1;
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

int pier__comch_target_find(struct pier_comch_producer *producer, uint32_t id,
			    struct pier__comch_target **ret)
{
	struct pier__hash_link *link = pier__hash_find(&producer->targets, id);
	struct pier__comch_target *target = link ?
		pier__container_of(link, struct pier__comch_target, by_id) :
		NULL;
	struct pier__comch_announced to;
	int err;

	if (target && (!pier__comch_is_suspect(producer) || is_valid(target))) {
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

int pier__comch_target_send(struct pier__comch_target *target,
			    struct pier__comch_data_task *t)
{
	if (!target->up || target->waiting.first ||
	    !pier__comch_target_may_post(target)) {
		add_waiting(target, t);
		return 0;
	}
	pier__comch_data_remember(t);
	return post(target, t);
}

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
	struct pier_comch_producer *producer;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	producer = calloc(1, sizeof(*producer));
	if (!producer)
		return pier__fail(-ENOMEM, "comch: no memory for a producer");
	pier__hash_init(&producer->targets);
	pier__list_init(&producer->all);
	err = pier__comch_data_init(&producer->data, &role, conn);
	if (err)
		free(producer);
	else
		*ret = producer;
	return err;
}

void pier_comch_producer_destroy(struct pier_comch_producer *producer)
{
	if (producer)
		pier__comch_data_destroy(&producer->data);
}

int pier_comch_producer_configure(struct pier_comch_producer *producer,
				  const struct pier_comch_data_config *cfg)
{
	return producer ? pier__comch_data_configure(&producer->data, cfg) :
			  pier__no_object(__func__);
}

void pier_comch_producer_get_config(const struct pier_comch_producer *producer,
				    struct pier_comch_data_config *ret)
{
	if (!producer)
		return;
	pier__comch_data_get_config(&producer->data, ret);
}

struct pier_ctx *pier_comch_producer_ctx(struct pier_comch_producer *producer)
{
	if (!producer)
		return NULL;
	return &producer->data.ctx;
}

uint32_t pier_comch_producer_id(const struct pier_comch_producer *producer)
{
	if (!producer)
		return 0;
	return producer->data.member->id;
}

int pier_comch_producer_error(const struct pier_comch_producer *producer,
			      const char **ret_text)
{
	return producer ? pier__comch_data_error(&producer->data, ret_text) :
			  pier__no_object(__func__);
}

void
pier_comch_producer_get_counters(const struct pier_comch_producer *producer,
				 struct pier_comch_data_counters *ret)
{
	if (producer)
		*ret = producer->data.counters;
}
