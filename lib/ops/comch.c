/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/rdma.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/comch_dir.h"
#include "ops/limit.h"
#include "ops/rdma_impl.h"

#define CLIENT_CONNS PIER__COMCH_PORTS	/* all are tried at once */
#define RNR_MS 10000	/* a peer without the receives that it has granted */
#define REPLY_SENDS 16	/* in flight on a connection, at most */
#define REPLIES 4096	/* in flight on all, if that is enough for some each */

static int settle_fields(struct pier_comch_config *c)
{
	int err = pier__config_u32(&c->max_msg_size, "max_msg_size", 4080, 1,
				   PIER_COMCH_MESSAGE_MAX);

	if (!err)
		err = pier__config_u32(&c->recv_queue, "recv_queue", 16, 1,
				       PIER__COMCH_QUEUE_MAX);
	if (!err)
		err = pier__config_u32(&c->tasks, "tasks", 256, 1,
				       PIER__TASKS_MAX);
	if (!err)
		err = pier__config_u32(&c->max_clients, "max_clients", 64, 1,
				       PIER__COMCH_CLIENTS_MAX);
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

static uint32_t conn_limit(const struct pier_comch *comch,
			   const struct pier_comch_config *c)
{
	uint64_t most = pier__port_limit(&comch->dev->info.port,
					 PIER_LIMIT_CONNS);
	uint32_t conns = c->max_clients + PIER__COMCH_EXTRA_CONNS;

	if (!pier__comch_is_server(comch))
		return CLIENT_CONNS;
	return conns < most ? conns : (uint32_t)most;
}

/* Requests of pier's own, at least. */
static uint64_t own_sends(const struct pier_comch *comch,
			  const struct pier_comch_config *c)
{
	return (uint64_t)conn_limit(comch, c) * PIER__COMCH_OWN_SENDS;
}

/* As many as replies can use, and the device has. */
uint32_t pier__comch_reply_sends(const struct pier_comch *comch,
				 const struct pier_comch_config *c)
{
	uint64_t sends = pier__port_limit(&comch->dev->info.port,
					  PIER_LIMIT_CTX_SENDS);
	uint32_t conns = conn_limit(comch, c), most = REPLY_SENDS;
	uint64_t more = (sends - own_sends(comch, c) - c->tasks) / conns;

	if (!pier__comch_is_server(comch))
		return PIER__COMCH_REPLY_SENDS;
	if (more > REPLIES / conns)
		more = REPLIES / conns;
	more += PIER__COMCH_REPLY_SENDS;
	if (most > 2 * c->recv_queue)
		most = 2 * c->recv_queue;
	return more < most ? (uint32_t)more : most;
}

/* Has the device what so many clients need? */
static int check_limits(const struct pier_comch *comch,
			const struct pier_comch_config *c)
{
	const struct pier__port *port = &comch->dev->info.port;
	bool is_server = pier__comch_is_server(comch);
	uint64_t recvs = pier__comch_recv_count(c, is_server);
	uint64_t sends = own_sends(comch, c) + c->tasks;
	uint64_t conns_most = pier__port_limit(port, PIER_LIMIT_CONNS);
	uint64_t recvs_most = pier__port_limit(port, PIER_LIMIT_RECV_QUEUE);
	uint64_t sends_most = pier__port_limit(port, PIER_LIMIT_CTX_SENDS);

	if (is_server && c->max_clients > conns_most)
		return pier__fail(-EINVAL, "max_clients %u: %s has %llu "
				  "connections", c->max_clients, port->name,
				  (unsigned long long)conns_most);
	if (recvs > recvs_most)
		return pier__fail(-EINVAL, "recv_queue %u and max_clients %u "
				  "need %llu receives: %s has %llu",
				  c->recv_queue, c->max_clients,
				  (unsigned long long)recvs, port->name,
				  (unsigned long long)recvs_most);
	if (sends > sends_most)
		return pier__fail(-EINVAL, "tasks %u and max_clients %u need "
				  "%llu requests in flight: %s has %llu",
				  c->tasks, c->max_clients,
				  (unsigned long long)sends, port->name,
				  (unsigned long long)sends_most);
	return 0;
}

static int settle(const struct pier_comch *comch, struct pier_comch_config *cfg)
{
	struct pier_comch_config c = *cfg;
	int err = settle_fields(&c);

	if (!err)
		err = check_limits(comch, &c);
	if (err)
		return err;
	*cfg = c;
	return 0;
}

/* @cfg is settled. */
static int apply(struct pier_comch *comch, const struct pier_comch_config *cfg)
{
	const struct pier__port *port = &comch->dev->info.port;
	uint32_t conns = conn_limit(comch, cfg);
	uint32_t own = PIER__COMCH_NOTE_SENDS +
		       pier__comch_reply_sends(comch, cfg);
	struct pier_rdma_config rdma = {
		.size = sizeof(rdma),
		.max_conns = conns,
		.send_queue = cfg->tasks + conns * own,
		.recv_queue = (uint32_t)pier__comch_recv_count(
			cfg, pier__comch_is_server(comch)),
		.conn_send_queue = pier__comch_conn_tasks(cfg) + own,
		.send_chain = 1,
		.recv_chain = 1,
		.access = PIER_ZERO,
		.drain_ms = cfg->drain_ms,
		.connect_timeout_ms = cfg->connect_timeout_ms,
		.rnr_timeout_ms = RNR_MS,
		.ack_timeout = cfg->ack_timeout,
	};
	int err = pier__rdma_settle(&rdma, port);

	if (err)
		return err;
	comch->cfg = *cfg;
	pier__rdma_conn_config(&rdma, &comch->conn_cfg);
	comch->ctx.drain_ms = pier__queues_stop_ms(cfg->drain_ms);
	comch->ctx.stop_on_task_error = cfg->stop_on_task_error;
	return 0;
}

/* The queues have ended, and with them all connections and requests. */
static void queues_stopped(struct pier_ctx *ctx)
{
	struct pier_comch *comch = pier__comch_of(ctx);

	pier__pe_remove(&comch->source);
	pier__comch_recvs_destroy(comch);
	pier__comch_sends_destroy(comch);
	comch->role->stopped(comch);
	if (ctx->state == PIER_CTX_IDLE)	/* its start has failed */
		return;
	if (comch->error)
		pier__fail_again(comch->error, comch->text);
	pier__ctx_stopped(ctx);
}

/* The device was removed, or has failed. */
static void queues_failed(struct pier_ctx *ctx)
{
	struct pier_comch *comch = pier__comch_of(ctx);
	const struct pier__queues *queues = comch->owner.queues;

	if (!comch->error) {
		comch->error = queues->error;
		snprintf(comch->text, sizeof(comch->text), "%s",
			 queues->error_text);
	}
	pier__ctx_stop(ctx);
}

/* Directories, of connections with consumers, have something to send. */
static int poll(struct pier__source *source, int budget)
{
	struct pier_comch *comch =
		pier__container_of(source, struct pier_comch, source);
	struct pier__list *pos, *tmp;

	(void)budget;
	pier__comch_expire(comch);
	if (!atomic_load(&comch->attention))
		return 0;
	atomic_store(&comch->attention, false);
	PIER__LIST_EACH(pos, tmp, &comch->conns)
		pier__comch_dir_sync(pier__container_of(
			pos, struct pier_comch_conn, link));
	return 1;
}

static int arm(struct pier__source *source)
{
	struct pier_comch *comch =
		pier__container_of(source, struct pier_comch, source);

	return atomic_load(&comch->attention) ? -EAGAIN : 0;
}

static int start(struct pier_ctx *ctx)
{
	struct pier_comch *comch = pier__comch_of(ctx);
	uint32_t held = pier__task_pool_held(comch->pool);
	int err;

	if (held)
		return pier__fail(-EBUSY, "comch: %u tasks of the last run are "
				  "not freed", held);
	comch->queues_stop = false;
	comch->error = 0;
	comch->text[0] = '\0';
	err = pier__queues_create(&comch->owner, comch->dev, &comch->conn_cfg);
	if (err)
		return err;
	err = pier__pe_add(ctx->pe, &comch->source);
	if (!err)
		err = pier__comch_sends_create(comch);
	if (!err)
		err = pier__comch_recvs_create(comch);
	if (!err)
		err = comch->role->start(comch);
	if (err && err != -EINPROGRESS)
		pier__queues_abandon(comch->owner.queues);
	return err;
}

void pier__comch_finish(struct pier_comch *comch)
{
	if (comch->conn_count || comch->queues_stop || !comch->owner.queues)
		return;
	comch->queues_stop = true;
	pier__queues_stop(comch->owner.queues);
}

/* Messages in flight are delivered first, so the connections end later. */
static void stop(struct pier_ctx *ctx)
{
	struct pier_comch *comch = pier__comch_of(ctx);
	struct pier__list *pos, *tmp;

	comch->role->stop(comch);
	PIER__LIST_EACH(pos, tmp, &comch->conns)
		pier__comch_conn_end(pier__container_of(
			pos, struct pier_comch_conn, link));
	pier__comch_finish(comch);
}

static int may_stop(struct pier_ctx *ctx)
{
	struct pier_comch *comch = pier__comch_of(ctx);
	struct pier__list *pos, *tmp;
	int err = 0;

	PIER__LIST_EACH(pos, tmp, &comch->conns) {
		err = pier__comch_dir_idle(pier__container_of(
			pos, struct pier_comch_conn, link));
		if (err)
			break;
	}
	return err;
}

static void flush(struct pier_ctx *ctx)
{
	pier__queues_flush(pier__comch_of(ctx)->owner.queues);
}

static const struct pier__ctx_ops ctx_ops = {
	.start = start,
	.stop = stop,
	.may_stop = may_stop,
	.flush = flush,
};

static void free_comch(struct pier_comch *comch)
{
	free(comch->address);
	free(comch);
}

int pier__comch_create(const struct pier__comch_role *role,
		       struct pier_dev *dev, const char *name,
		       struct pier_comch **ret)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg) };
	int err = pier_devinfo_has(&dev->info, PIER_FEATURE_COMCH);
	struct pier_comch *comch;

	if (err)
		return err;
	comch = calloc(1, sizeof(*comch));
	if (!comch)
		return pier__fail(-ENOMEM, "comch: no memory");
	comch->role = role;
	comch->dev = dev;
	comch->lock = -1;
	pier__list_init(&comch->conns);
	pier__list_init(&comch->opening);
	pier__list_init(&comch->starved);
	pier__list_init(&comch->timed);
	comch->source = (struct pier__source){
		.poll = poll,
		.arm = arm,
		.fd = -1,
		.slow = true,	/* who has something for it nudges */
		.due = PIER__NEVER,
	};
	pier__ctx_init(&comch->ctx, &ctx_ops, "comch");
	err = pier__comch_name_set(&comch->name, name);
	if (!err)
		err = settle(comch, &cfg);
	if (!err)
		err = apply(comch, &cfg);
	if (err) {
		free_comch(comch);
		return err;
	}
	pier__dev_hold(dev);
	pier__conn_owner_init(&comch->owner, &comch->ctx, queues_stopped);
	comch->owner.quiet = true;
	comch->owner.failed = queues_failed;
	comch->owner.callbacks = pier__comch_conn_callbacks;
	*ret = comch;
	return 0;
}

int pier_comch_configure(struct pier_comch *comch,
			 const struct pier_comch_config *cfg)
{
	struct pier_comch_config new = { 0 };
	int err;

	if (!comch)
		return pier__no_object(__func__);
	err = pier__ctx_may_configure(&comch->ctx);
	if (!err)
		err = pier__config_copy(&new, sizeof(new), cfg, cfg->size);
	if (!err)
		err = settle(comch, &new);
	return err ? err : apply(comch, &new);
}

void pier_comch_get_config(const struct pier_comch *comch,
			   struct pier_comch_config *ret)
{
	if (!comch)
		return;
	*ret = comch->cfg;
}

int pier_comch_set_callbacks(struct pier_comch *comch,
			     pier_comch_conn_fn *connected,
			     pier_comch_conn_fn *disconnected,
			     pier_comch_msg_fn *received,
			     pier_comch_conn_fn *writable)
{
	if (!comch)
		return pier__no_object(__func__);
	comch->callbacks.connected = connected;
	comch->callbacks.disconnected = disconnected;
	comch->callbacks.received = received;
	comch->callbacks.writable = writable;
	return 0;
}

int pier_comch_set_consumer_callbacks(struct pier_comch *comch,
				      pier_comch_consumer_fn *added,
				      pier_comch_consumer_fn *expired)
{
	if (!comch)
		return pier__no_object(__func__);
	comch->callbacks.consumer = added;
	comch->callbacks.expired = expired;
	return 0;
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier_comch *comch =
		pier__container_of(deferred, struct pier_comch, deferred);

	if (comch->ctx.state != PIER_CTX_IDLE && pier__ctx_drain(&comch->ctx)) {
		pier__log(PIER_LOG_CRITICAL, "comch", "a context does not "
			  "stop, with %zu tasks in flight: its memory is not "
			  "freed", comch->ctx.inflight);
		return;
	}
	pier__conn_owner_destroy(&comch->owner);
	pier__listeners_destroy(&comch->owner);
	pier__task_pool_destroy(comch->pool, "comch");
	pier__dev_drop(comch->dev);
	free_comch(comch);
}

void pier_comch_destroy(struct pier_comch *comch)
{
	if (comch)
		pier__ctx_destroy(&comch->ctx, &comch->deferred, destroy);
}

struct pier_ctx *pier_comch_ctx(struct pier_comch *comch)
{
	if (!comch)
		return NULL;
	return &comch->ctx;
}

struct pier_dev *pier_comch_dev(const struct pier_comch *comch)
{
	if (!comch)
		return NULL;
	return comch->dev;
}

struct pier_rep *pier_comch_rep(const struct pier_comch *comch)
{
	if (!comch)
		return NULL;
	return comch->rep;
}

struct pier_comch_conn *pier_comch_conn(const struct pier_comch *comch)
{
	if (!comch)
		return NULL;
	return comch->conn;
}

int pier_comch_error(const struct pier_comch *comch, const char **ret_text)
{
	if (!comch)
		return pier__no_object(__func__);
	if (ret_text)
		*ret_text = comch->text;
	return comch->error;
}

void pier_comch_get_counters(const struct pier_comch *comch,
			     struct pier_comch_counters *ret)
{
	const struct pier__list *conns, *pos;

	if (!comch)
		return;
	conns = &comch->conns;
	*ret = comch->counters;
	for (pos = conns->next; pos != conns; pos = pos->next) {
		const struct pier_comch_conn *c = pier__container_of(
			pos, const struct pier_comch_conn, link);

		ret->sent_messages += c->counters.sent_messages;
		ret->sent_bytes += c->counters.sent_bytes;
	}
}
