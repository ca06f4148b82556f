/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/copy.h"
#include "core/fail.h"
#include "ops/rdma_impl.h"

static int create_pool(struct pier_rdma *rdma, uint32_t count, uint32_t chain,
		       struct pier__task_pool **ret)
{
	return pier__task_pool_create(&rdma->ctx, count,
				      sizeof(struct pier__rdma_task) +
					      chain * sizeof(struct ibv_sge),
				      pier_task_type_name, ret);
}

static void destroy_pools(struct pier_rdma *rdma)
{
	pier__task_pool_destroy(rdma->sends, "rdma");
	pier__task_pool_destroy(rdma->recvs, "rdma");
	rdma->sends = rdma->recvs = NULL;
}

static int create_pools(struct pier_rdma *rdma)
{
	const struct pier_rdma_config *cfg = &rdma->cfg;
	uint32_t held = pier__task_pool_held(rdma->sends) +
			pier__task_pool_held(rdma->recvs);
	int err;

	if (held)
		return pier__fail(-EBUSY, "rdma: %u tasks of the last run are "
				  "not freed", held);
	destroy_pools(rdma);
	err = create_pool(rdma, cfg->send_tasks, cfg->send_chain, &rdma->sends);
	if (!err)
		err = create_pool(rdma, cfg->recv_tasks, cfg->recv_chain,
				  &rdma->recvs);
	if (err) {
		destroy_pools(rdma);
		return err;
	}
	if (pier__rdma_has_numbers(cfg))
		pier__task_pool_set_numbers(rdma->sends, cfg->type_tasks);
	if (cfg->type_tasks[PIER_TASK_RECEIVE])
		pier__task_pool_set_numbers(rdma->recvs, cfg->type_tasks);
	return 0;
}

static int start(struct pier_ctx *ctx)
{
	struct pier_rdma *rdma = pier__rdma_of(ctx);
	int err = create_pools(rdma);

	if (err)
		return err;
	ctx->drain_ms = pier__queues_stop_ms(rdma->cfg.drain_ms);
	ctx->stop_on_task_error = rdma->cfg.stop_on_task_error;
	return pier__queues_create(&rdma->owner, rdma->dev, &rdma->conn_cfg);
}

static void stop(struct pier_ctx *ctx)
{
	pier__queues_stop(pier__rdma_of(ctx)->owner.queues);
}

static void flush(struct pier_ctx *ctx)
{
	pier__queues_flush(pier__rdma_of(ctx)->owner.queues);
}

static const struct pier__ctx_ops ctx_ops = {
	.start = start,
	.stop = stop,
	.flush = flush,
};

int pier_rdma_create(struct pier_dev *dev, struct pier_rdma **ret)
{
	const struct pier__port *port;
	struct pier_rdma *rdma;
	int err;

	if (!dev)
		return pier__no_object(__func__);
	port = &dev->info.port;
	if (!(port->limits.opcodes & 1u << IBV_WR_SEND))
		return pier__fail(-EOPNOTSUPP, "%s has no reliable connections",
				  port->name);
	rdma = calloc(1, sizeof(*rdma));
	if (!rdma)
		return pier__fail(-ENOMEM, "rdma: no memory");
	rdma->cfg.size = sizeof(rdma->cfg);
	err = pier__rdma_settle(&rdma->cfg, port);
	if (err) {
		free(rdma);
		return err;
	}
	pier__rdma_conn_config(&rdma->cfg, &rdma->conn_cfg);
	rdma->dev = dev;
	pier__dev_hold(dev);
	pier__ctx_init(&rdma->ctx, &ctx_ops, "rdma");
	pier__conn_owner_init(&rdma->owner, &rdma->ctx, pier__ctx_stopped);
	*ret = rdma;
	return 0;
}

int pier_rdma_configure(struct pier_rdma *rdma,
			const struct pier_rdma_config *cfg)
{
	struct pier_rdma_config new = { 0 };
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	err = pier__ctx_may_configure(&rdma->ctx);
	if (!err)
		err = pier__config_copy(&new, sizeof(new), cfg, cfg->size);
	if (!err)
		err = pier__rdma_settle(&new, &rdma->dev->info.port);
	if (err)
		return err;
	rdma->cfg = new;
	pier__rdma_conn_config(&rdma->cfg, &rdma->conn_cfg);
	return 0;
}

void pier_rdma_get_config(const struct pier_rdma *rdma,
			  struct pier_rdma_config *ret)
{
	struct pier__port port;

	if (!rdma)
		return;
	pier__dev_port(rdma->dev, &port);
	*ret = rdma->cfg;
	pier__rdma_restate(ret, &port);
}

static void destroy(struct pier__deferred *deferred)
{
	struct pier_rdma *rdma =
		pier__container_of(deferred, struct pier_rdma, deferred);

	if (rdma->ctx.state != PIER_CTX_IDLE && pier__ctx_drain(&rdma->ctx)) {
		pier__log(PIER_LOG_CRITICAL, "rdma", "a context does not stop, "
			  "with %zu tasks in flight: its memory is not freed",
			  rdma->ctx.inflight);
		return;
	}
	pier__conn_owner_destroy(&rdma->owner);
	pier__listeners_destroy(&rdma->owner);
	destroy_pools(rdma);
	pier__dev_drop(rdma->dev);
	free(rdma);
}

void pier_rdma_destroy(struct pier_rdma *rdma)
{
	if (rdma)
		pier__ctx_destroy(&rdma->ctx, &rdma->deferred, destroy);
}

struct pier_rdma *pier_conn_rdma(const struct pier_conn *conn)
{
	struct pier_ctx *ctx = pier_conn_ctx(conn);

	return ctx && ctx->ops == &ctx_ops ? pier__rdma_of(ctx) : NULL;
}

struct pier_ctx *pier_rdma_ctx(struct pier_rdma *rdma)
{
	if (!rdma)
		return NULL;
	return &rdma->ctx;
}

struct pier_dev *pier_rdma_dev(const struct pier_rdma *rdma)
{
	if (!rdma)
		return NULL;
	return rdma->dev;
}

static int export(struct pier_rdma *rdma, const void **ret_desc,
		  size_t *ret_len, struct pier_conn **ret)
{
	struct pier_conn *conn;
	int err;

	if (rdma->ctx.state != PIER_CTX_RUNNING)
		return pier__fail(-ESHUTDOWN, "rdma: exported while %s",
				  pier_ctx_state_name(rdma->ctx.state));
	err = pier__conn_export(rdma->owner.queues, rdma->conn_cfg.gid_index, 0,
				&conn);
	if (err)
		return err;
	*ret_desc = conn->desc;
	*ret_len = conn->desc_len;
	*ret = conn;
	return 0;
}

int pier_rdma_export(struct pier_rdma *rdma, const void **ret_desc,
		     size_t *ret_len, struct pier_conn **ret)
{
	struct pier__guard *guard;
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&rdma->ctx);
	err = pier__guard_enter(guard, "pier_rdma_export");
	if (err)
		return err;
	err = export(rdma, ret_desc, ret_len, ret);
	pier__guard_leave(guard);
	return err;
}

int pier_rdma_connect(struct pier_conn *conn, const void *desc, size_t len)
{
	struct pier__guard *guard;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	if (!conn->queues || pier__conn_may_retarget(conn))
		return pier__fail(-EISCONN, "connected twice: this connection "
				  "is in state %s",
				  pier_conn_state_name(pier_conn_state(conn)));
	guard = pier__ctx_guard(conn->owner->ctx);
	err = pier__guard_enter(guard, "pier_rdma_connect");
	if (err)
		return err;
	err = pier__conn_connect(conn, desc, len,
				 conn->queues->cfg->connect_timeout_ms);
	pier__guard_leave(guard);
	return err;
}
