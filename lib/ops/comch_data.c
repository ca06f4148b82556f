/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/rdma.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"
#include "core/random.h"
#include "ops/comch_data.h"
#include "ops/limit.h"
#include "ops/rdma_impl.h"

#define EXTRA_CONNS 4		/* that are ending */
#define CONN_SENDS 64		/* messages in flight to one consumer */

static const uint8_t magic[4] = { 'p', 'c', 'p', '1' };

_Static_assert(sizeof(struct pier__comch_data_head) == PIER__COMCH_DATA_HEAD,
	       "a head has no holes");

static int settle_fields(struct pier_comch_data_config *c)
{
	int err = pier__config_u32(&c->tasks, "tasks", 256, 1,
				   PIER__TASKS_MAX);

	if (!err)
		err = pier__config_u32(&c->max_peers, "max_peers", 64, 1,
				       PIER_COMCH_CONSUMERS_MAX);
	if (!err)
		err = pier__config_u32(&c->chain, "chain", 1, 1,
				       PIER__CHAIN_MAX);
	if (!err)
		err = pier__config_u32(&c->imm_len, "imm_len",
				       PIER_COMCH_IMM_MAX, 0,
				       PIER_COMCH_IMM_MAX);
	if (!err)
		err = pier__config_u32(&c->connect_timeout_ms,
				       "connect_timeout_ms", 10000, 1,
				       INT32_MAX);
	if (!err)
		err = pier__config_u32(&c->drain_ms, "drain_ms", 2000, 1,
				       INT32_MAX);
	if (!err)
		err = pier__config_u32(&c->stop_on_task_error,
				       "stop_on_task_error", 0, 0, UINT32_MAX);
	if (!err)
		err = pier__config_u32(&c->ack_timeout, "ack_timeout", 14, 1,
				       31);
	return err;
}

/* Has the device what the tasks need? */
static int check_limits(const struct pier__comch_data *data,
			const struct pier_comch_data_config *c)
{
	const struct pier__port *port = &data->dev->info.port;
	uint64_t chain = pier__port_limit(port, PIER_LIMIT_COMCH_CHAIN);
	uint64_t tasks = pier__port_limit(port, data->role->is_consumer ?
							PIER_LIMIT_RECV_QUEUE :
							PIER_LIMIT_CTX_SENDS);

	if (c->tasks > tasks)
		return pier__fail(-EINVAL, "tasks %u: %s has %llu", c->tasks,
				  port->name, (unsigned long long)tasks);
	if (c->chain > chain)
		return pier__fail(-EINVAL, "chain %u: %s has %llu", c->chain,
				  port->name, (unsigned long long)chain);
	return 0;
}

/* @cfg is settled. */
static int apply(struct pier__comch_data *data,
		 const struct pier_comch_data_config *cfg)
{
	bool is_consumer = data->role->is_consumer;
	uint32_t sends = is_consumer ? 1 : cfg->tasks;
	struct pier_rdma_config rdma = {
		.size = sizeof(rdma),
		.max_conns = cfg->max_peers + EXTRA_CONNS,
		.send_queue = sends,
		.recv_queue = is_consumer ? cfg->tasks : 1,
		.conn_send_queue = sends < CONN_SENDS ? sends : CONN_SENDS,
		.send_chain = is_consumer ? 1 : 1 + cfg->chain,
		.recv_chain = is_consumer ? 1 + cfg->chain : 1,
		.access = PIER_ZERO,
		.drain_ms = cfg->drain_ms,
		.connect_timeout_ms = cfg->connect_timeout_ms,
		.ack_timeout = cfg->ack_timeout,
	};
	int err = pier__rdma_settle(&rdma, &data->dev->info.port);

	if (err)
		return err;
	data->cfg = *cfg;
	pier__rdma_conn_config(&rdma, &data->conn_cfg);
	data->ctx.drain_ms = pier__queues_stop_ms(cfg->drain_ms);
	data->ctx.stop_on_task_error = cfg->stop_on_task_error;
	return 0;
}

static int settle(struct pier__comch_data *data,
		  struct pier_comch_data_config *cfg)
{
	int err = settle_fields(cfg);

	if (!err)
		err = check_limits(data, cfg);
	return err ? err : apply(data, cfg);
}

int pier__comch_data_configure(struct pier__comch_data *data,
			       const struct pier_comch_data_config *cfg)
{
	struct pier_comch_data_config new = { 0 };
	int err = pier__ctx_may_configure(&data->ctx);

	if (!err)
		err = pier__config_copy(&new, sizeof(new), cfg, cfg->size);
	return err ? err : settle(data, &new);
}

void pier__comch_data_get_config(const struct pier__comch_data *data,
				 struct pier_comch_data_config *ret)
{
	*ret = data->cfg;
	if (!ret->imm_len)
		ret->imm_len = PIER_ZERO;
}

int pier__comch_data_error(const struct pier__comch_data *data,
			   const char **ret_text)
{
	if (ret_text)
		*ret_text = data->text;
	return data->error;
}

void pier__comch_data_fail(struct pier__comch_data *data, int err)
{
	if (!data->error) {
		data->error = err;
		snprintf(data->text, sizeof(data->text), "%s",
			 pier_last_error());
	}
	pier__ctx_stop(&data->ctx);
}

/* The life of the context. */

static void drop_memory(struct pier__comch_data *data)
{
	if (data->pool_mr)
		data->dev->fabric->dev->dereg(data->pool_mr);
	data->pool_mr = NULL;	/* tasks may not be freed yet */
}

/* The queues have ended, and with them all connections and tasks. */
static void queues_stopped(struct pier_ctx *ctx)
{
	struct pier__comch_data *data = pier__comch_data_of(ctx);

	drop_memory(data);
	pier__pe_remove(&data->source);
	pier__comch_member_stop(data->member);
	if (ctx->state == PIER_CTX_IDLE)	/* its start has failed */
		return;
	if (data->error)
		pier__fail_again(data->error, data->text);
	pier__ctx_stopped(ctx);
}

static int create_pool(struct pier__comch_data *data)
{
	uint32_t held = pier__task_pool_held(data->pool);
	size_t size = sizeof(struct pier__comch_data_task) +
		      (1 + data->cfg.chain) * sizeof(struct ibv_sge);
	struct pier__task_pool *pool;
	int err;

	if (held)
		return pier__fail(-EBUSY, "%s: %u tasks of the last run are "
				  "not freed", data->ctx.name, held);
	pier__task_pool_destroy(data->pool, data->ctx.name);
	data->pool = NULL;
	err = pier__task_pool_create(&data->ctx, data->cfg.tasks, size,
				     pier_task_type_name, &pool);
	if (err)
		return err;
	data->pool = pool;
	return data->dev->fabric->dev->reg(data->dev->fdev, pool->memory,
					   pool->count * pool->size,
					   IBV_ACCESS_LOCAL_WRITE,
					   &data->pool_mr);
}

static int start_queues(struct pier__comch_data *data)
{
	int err = pier__queues_create(&data->owner, data->dev,
				      &data->conn_cfg);

	if (err)
		return err;
	err = pier__pe_add(data->ctx.pe, &data->source);
	if (!err)
		err = data->role->start(data);
	if (err && err != -EINPROGRESS)
		pier__queues_abandon(data->owner.queues);
	return err;
}

static int start(struct pier_ctx *ctx)
{
	struct pier__comch_data *data = pier__comch_data_of(ctx);
	int err = pier__comch_member_start(data->member, ctx->pe);

	if (err)
		return err;
	data->error = 0;
	data->text[0] = '\0';
	err = create_pool(data);
	if (!err)
		err = start_queues(data);
	if (!err || err == -EINPROGRESS)
		return err;
	drop_memory(data);
	pier__comch_member_stop(data->member);
	return err;
}

/* Messages in flight have the drain time. */
static void stop(struct pier_ctx *ctx)
{
	struct pier__comch_data *data = pier__comch_data_of(ctx);

	data->epoch++;
	data->role->stop(data);
	pier__queues_stop(data->owner.queues);
}

static void flush(struct pier_ctx *ctx)
{
	pier__queues_flush(pier__comch_data_of(ctx)->owner.queues);
}

static const struct pier__ctx_ops ctx_ops = {
	.start = start,
	.stop = stop,
	.flush = flush,
};

/* The connection of the Comm Channel has ended. */
static int dir_ended(void)
{
	return pier__fail(-ECONNRESET, "comch: the connection to the peer has "
			  "ended");
}

/* The directory has changed. */
static int poll(struct pier__source *source, int budget)
{
	struct pier__comch_data *data =
		pier__container_of(source, struct pier__comch_data, source);

	(void)budget;
	if (!atomic_load(&data->member->attention))
		return 0;
	atomic_store(&data->member->attention, false);
	if (data->ctx.state == PIER_CTX_STOPPING)
		return 0;
	if (pier__comch_dir_ended(data->member->dir))
		pier__comch_data_fail(data, dir_ended());
	else
		data->role->attend(data);
	return 1;
}

static int arm(struct pier__source *source)
{
	struct pier__comch_data *data =
		pier__container_of(source, struct pier__comch_data, source);

	return atomic_load(&data->member->attention) ? -EAGAIN : 0;
}

int pier__comch_data_init(struct pier__comch_data *data,
			  const struct pier__comch_data_role *role,
			  struct pier_comch_conn *c)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg) };
	int err;

	if (!c->open)
		return pier__fail(-ENOTCONN, "comch: the connection has ended");
	data->role = role;
	data->dev = c->comch->dev;
	data->source = (struct pier__source){
		.poll = poll,
		.arm = arm,
		.fd = -1,
		.slow = true,	/* who has something for it nudges */
		.due = PIER__NEVER,
	};
	pier__ctx_init(&data->ctx, &ctx_ops, role->name);
	pier__conn_owner_init(&data->owner, &data->ctx, queues_stopped);
	data->owner.quiet = true;
	data->owner.callbacks = role->callbacks;
	data->epoch = 1;
	data->most = pier__port_limit(&data->dev->info.port,
				      PIER_LIMIT_COMCH_DATA);
	err = settle(data, &cfg);
	if (!err)
		err = pier__comch_member_create(c, role->is_consumer,
						&data->member);
	if (!err)
		pier__dev_hold(data->dev);
	return err;
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier__comch_data *data =
		pier__container_of(deferred, struct pier__comch_data, deferred);

	if (data->ctx.state != PIER_CTX_IDLE && pier__ctx_drain(&data->ctx)) {
		pier__log(PIER_LOG_CRITICAL, data->ctx.name, "a context does "
			  "not stop, with %zu tasks in flight: its memory is "
			  "not freed", data->ctx.inflight);
		return;
	}
	pier__conn_owner_destroy(&data->owner);
	pier__listeners_destroy(&data->owner);
	pier__task_pool_destroy(data->pool, data->ctx.name);
	pier__comch_member_destroy(data->member);
	pier__dev_drop(data->dev);
	data->role->free(data);
}

void pier__comch_data_destroy(struct pier__comch_data *data)
{
	pier__ctx_destroy(&data->ctx, &data->deferred, destroy);
}

/* What a producer sends to connect. */

void pier__comch_ask_encode(const uint8_t token[PIER__COMCH_TOKEN],
			    uint32_t producer, uint8_t ret[PIER__COMCH_ASK])
{
	uint32_t id = htonl(producer);

	memcpy(ret, magic, sizeof(magic));
	memcpy(ret + sizeof(magic), token, PIER__COMCH_TOKEN);
	memcpy(ret + sizeof(magic) + PIER__COMCH_TOKEN, &id, sizeof(id));
}

uint32_t pier__comch_ask_decode(const void *ask, size_t len,
				const uint8_t token[PIER__COMCH_TOKEN])
{
	const uint8_t *bytes = ask;
	uint32_t id;

	if (len != PIER__COMCH_ASK || memcmp(bytes, magic, sizeof(magic)) ||
	    !pier__random_same(bytes + sizeof(magic), token,
			       PIER__COMCH_TOKEN))
		return 0;
	memcpy(&id, bytes + sizeof(magic) + PIER__COMCH_TOKEN, sizeof(id));
	id = ntohl(id);
	return id <= PIER__COMCH_ID_MAX ? id : 0;
}

int pier__comch_data_rejected(struct pier_conn *conn)
{
	const void *data;
	size_t len;

	if (!pier_conn_reject_reason(conn))
		return 0;
	if (!pier_conn_private_data(conn, &data, &len) &&
	    pier__comch_rej_decode(data, len) == PIER__COMCH_REJECT_FULL)
		return pier__fail(-ENOSPC, "it has max_peers producers");
	/* by it, its listener that ends, or another one on its port */
	return pier__fail(-ECONNRESET, "it has expired");
}
