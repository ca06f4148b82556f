/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch_consumer.h>

#include "doca_buf_impl.h"
#include "doca_comch_impl.h"
#include "doca_fail.h"
#include "doca_mmap_impl.h"

struct doca_comch_consumer {
	struct doca_ctx ctx;		/* first */
	struct doca_dev *dev;
	struct pier_comch_consumer *consumer;
	struct doca_task_pool pool;
	uint32_t imm_len;		/* the most bytes */
};

struct doca_comch_consumer_task_post_recv {
	struct doca_task task;		/* first */
	struct doca_buf *buf;		/* NULL: immediates only */
	uint32_t producer, imm_len;	/* as it was freed */
	uint8_t imm[PIER_COMCH_IMM_MAX];
};

static struct doca_comch_consumer_task_post_recv *
recv_of(struct doca_task *task)
{
	return (struct doca_comch_consumer_task_post_recv *)task;
}

static int build(struct doca_task *task)
{
	struct doca_comch_consumer *consumer =
		(struct doca_comch_consumer *)task->ctx;

	return pier_comch_task_receive(consumer->consumer,
				       pier__doca_buf(recv_of(task)->buf),
				       &task->task);
}

static int set_buf(struct doca_task *task, struct pier_task *pier)
{
	return pier_comch_task_set_buf(pier,
				       pier__doca_buf(recv_of(task)->buf));
}

/* What it received can still be read. */
static void freed(struct doca_task *task)
{
	struct doca_comch_consumer_task_post_recv *recv = recv_of(task);
	const void *imm;
	size_t len;

	if (!task->task)
		return;
	imm = pier_comch_task_imm(task->task, &len);
	recv->producer = pier_comch_task_producer(task->task);
	recv->imm_len = (uint32_t)len;
	memcpy(recv->imm, imm, sizeof(recv->imm));
}

static const struct doca_task_kind recv_kind = {
	.build = build,
	.reuse = set_buf,
	.freed = freed,
};

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer =
		(struct doca_comch_consumer *)ctx;
	struct pier_comch_data_config cfg = {
		.size = sizeof(cfg),
		.tasks = consumer->pool.count,
		.imm_len = consumer->imm_len ? consumer->imm_len : PIER_ZERO,
	};
	const size_t size = sizeof(struct doca_comch_consumer_task_post_recv);
	doca_error_t error = pier__doca_limit(&consumer->dev->info,
					      PIER_LIMIT_COMCH_CHAIN,
					      &cfg.chain);

	if (error)
		return error;
	if (!consumer->pool.count)
		return pier__doca_fail(DOCA_ERROR_BAD_CONFIG, "comch: a "
				       "consumer was started without tasks");
	error = pier__doca_error(pier_comch_consumer_configure(
		consumer->consumer, &cfg));
	return error ? error :
		       pier__doca_pool_fill(&consumer->pool, ctx, &recv_kind,
					    size);
}

/* No call returns why it is idle again. */
static void idle(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer =
		(struct doca_comch_consumer *)ctx;
	const char *text;
	int err = pier_comch_consumer_error(consumer->consumer, &text);

	if (err)
		pier__doca_fail(pier__doca_code(err), "%s", text);
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
	.idle = idle,
};

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *conn,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer)
{
	struct doca_comch_consumer *new;
	doca_error_t error;

	if (!conn || !consumer)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_may_use(conn);
	if (error)
		return error;
	if (buf_mmap && !buf_mmap->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "comch: the mmap "
				       "of a consumer is not started");
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	error = pier__doca_error(pier_comch_consumer_create(
		conn->conn, buf_mmap ? buf_mmap->mmap : NULL, &new->consumer));
	if (error) {
		free(new);
		return error;
	}
	new->dev = conn->end->dev;
	new->imm_len = PIER_COMCH_IMM_MAX;
	pier__doca_ctx_init(&new->ctx, &kind,
			    pier_comch_consumer_ctx(new->consumer));
	*consumer = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	if (!consumer)
		return DOCA_ERROR_INVALID_VALUE;
	if (consumer->ctx.state != DOCA_CTX_STATE_IDLE)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "comch: a consumer "
				       "was destroyed while %s, not idle",
				       pier__doca_ctx_state_name(
					       &consumer->ctx));
	pier__doca_ctx_release(&consumer->ctx);
	pier__doca_pool_free(&consumer->pool);
	pier_comch_consumer_destroy(consumer->consumer);
	free(consumer);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_cap_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_COMCH);
}

doca_error_t
doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer,
			   uint32_t *id)
{
	if (!consumer || !id)
		return DOCA_ERROR_INVALID_VALUE;
	*id = pier_comch_consumer_id(consumer->consumer);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_RECV_QUEUE,
				      max_num_tasks);
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_DATA,
				      max_buf_size);
}

doca_error_t
doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_CHAIN, ret);
}

doca_error_t
doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *info,
					  uint32_t *max_consumers)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_CONSUMERS,
				      max_consumers);
}

doca_error_t
doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *info,
					     uint32_t *max_imm_data_len)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_IMM,
				      max_imm_data_len);
}

doca_error_t
doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
				     uint32_t *imm_len)
{
	if (!consumer || !imm_len)
		return DOCA_ERROR_INVALID_VALUE;
	*imm_len = consumer->imm_len;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
				     uint32_t imm_len)
{
	doca_error_t error;

	if (!consumer)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_may_set(&consumer->ctx);
	if (error)
		return error;
	if (imm_len > PIER_COMCH_IMM_MAX)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: "
				       "immediates of %u bytes, at most %u",
				       imm_len, PIER_COMCH_IMM_MAX);
	consumer->imm_len = imm_len;
	return DOCA_SUCCESS;
}

struct doca_ctx *
doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return consumer ? &consumer->ctx : NULL;
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t done,
	doca_comch_consumer_task_post_recv_completion_cb_t failed,
	uint32_t count)
{
	if (!consumer)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pool_conf(&consumer->pool, &consumer->ctx,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
	struct doca_comch_consumer *consumer, struct doca_buf *buf,
	struct doca_comch_consumer_task_post_recv **task)
{
	const union doca_data none = { .ptr = NULL };
	struct doca_task *new;
	doca_error_t error;

	if (!consumer || !task)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_pool_take(&consumer->pool, none, &new);
	if (error)
		return error;
	*task = recv_of(new);
	(*task)->buf = buf;
	return DOCA_SUCCESS;
}

struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->buf;
}

void doca_comch_consumer_task_post_recv_set_buf(
	struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->buf = buf;
	if (task->task.task && set_buf(&task->task, task->task.task))
		pier__doca_task_unbuild(&task->task);
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->task.task ? pier_comch_task_producer(task->task.task) :
				 task->producer;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->task.task ? pier_comch_task_imm(task->task.task, NULL) :
				 task->imm;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task)
{
	size_t len = task->imm_len;

	if (task->task.task)
		pier_comch_task_imm(task->task.task, &len);
	return (uint32_t)len;
}

struct doca_task *doca_comch_consumer_task_post_recv_as_task(
	struct doca_comch_consumer_task_post_recv *task)
{
	return task ? &task->task : NULL;
}
