/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch_producer.h>

#include "doca_buf_impl.h"
#include "doca_comch_impl.h"
#include "doca_fail.h"

struct doca_comch_producer {
	struct doca_ctx ctx;		/* first */
	struct doca_dev *dev;
	struct pier_comch_producer *producer;
	struct doca_task_pool pool;
};

struct doca_comch_producer_task_send {
	struct doca_task task;		/* first */
	const struct doca_buf *buf;	/* NULL: an immediate only */
	uint8_t *imm;			/* the program's */
	uint32_t imm_len, consumer;
};

static struct doca_comch_producer_task_send *send_of(struct doca_task *task)
{
	return (struct doca_comch_producer_task_send *)task;
}

static int build(struct doca_task *task)
{
	struct doca_comch_producer *producer =
		(struct doca_comch_producer *)task->ctx;
	struct doca_comch_producer_task_send *send = send_of(task);

	return pier_comch_task_produce(producer->producer,
				       pier__doca_buf(send->buf), send->imm,
				       send->imm_len, send->consumer,
				       &task->task);
}

static int reuse(struct doca_task *task, struct pier_task *pier)
{
	const struct doca_comch_producer_task_send *send = send_of(task);
	int err = pier_comch_task_set_buf(pier,
					  pier__doca_buf(send->buf));

	if (!err)
		err = pier_comch_task_set_consumer(pier, send->consumer);
	if (!err)
		err = pier_comch_task_set_imm(pier, send->imm,
					      send->imm_len);
	return err;
}

static const struct doca_task_kind send_kind = {
	.build = build,
	.reuse = reuse,
};

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer =
		(struct doca_comch_producer *)ctx;
	struct pier_comch_data_config cfg = {
		.size = sizeof(cfg),
		.tasks = producer->pool.count,
	};
	doca_error_t error = pier__doca_limit(&producer->dev->info,
					      PIER_LIMIT_COMCH_CHAIN,
					      &cfg.chain);

	if (error)
		return error;
	if (!producer->pool.count)
		return pier__doca_fail(DOCA_ERROR_BAD_CONFIG, "comch: a "
				       "producer was started without tasks");
	error = pier__doca_error(pier_comch_producer_configure(
		producer->producer, &cfg));
	return error ? error :
		       pier__doca_pool_fill(
			       &producer->pool, ctx, &send_kind,
			       sizeof(struct doca_comch_producer_task_send));
}

/* No call returns why it is idle again. */
static void idle(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer =
		(struct doca_comch_producer *)ctx;
	const char *text;
	int err = pier_comch_producer_error(producer->producer, &text);

	if (err)
		pier__doca_fail(pier__doca_code(err), "%s", text);
}

static const struct doca_ctx_kind kind = {
	.prepare = prepare,
	.idle = idle,
};

doca_error_t doca_comch_producer_create(struct doca_comch_connection *conn,
					struct doca_comch_producer **producer)
{
	struct doca_comch_producer *new;
	doca_error_t error;

	if (!conn || !producer)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_comch_may_use(conn);
	if (error)
		return error;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	error = pier__doca_error(pier_comch_producer_create(conn->conn,
							    &new->producer));
	if (error) {
		free(new);
		return error;
	}
	new->dev = conn->end->dev;
	pier__doca_ctx_init(&new->ctx, &kind,
			    pier_comch_producer_ctx(new->producer));
	*producer = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	if (!producer)
		return DOCA_ERROR_INVALID_VALUE;
	if (producer->ctx.state != DOCA_CTX_STATE_IDLE)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "comch: a producer "
				       "was destroyed while %s, not idle",
				       pier__doca_ctx_state_name(
					       &producer->ctx));
	pier__doca_ctx_release(&producer->ctx);
	pier__doca_pool_free(&producer->pool);
	pier_comch_producer_destroy(producer->producer);
	free(producer);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_cap_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_COMCH);
}

doca_error_t
doca_comch_producer_get_id(const struct doca_comch_producer *producer,
			   uint32_t *id)
{
	if (!producer || !id)
		return DOCA_ERROR_INVALID_VALUE;
	*id = pier_comch_producer_id(producer->producer);
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *info,
					  uint32_t *max_num_tasks)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_CTX_SENDS,
				      max_num_tasks);
}

doca_error_t
doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *info,
					 uint32_t *max_buf_size)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_DATA,
				      max_buf_size);
}

doca_error_t
doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *info,
					     uint32_t *ret)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_CHAIN, ret);
}

doca_error_t
doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *info,
					  uint32_t *max_producers)
{
	return pier__doca_comch_limit(info, PIER_LIMIT_COMCH_CONSUMERS,
				      max_producers);
}

struct doca_ctx *
doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return producer ? &producer->ctx : NULL;
}

doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t done,
	doca_comch_producer_task_send_completion_cb_t failed, uint32_t count)
{
	if (!producer)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_pool_conf(&producer->pool, &producer->ctx,
				    (void (*)(void))done,
				    (void (*)(void))failed, count);
}

static doca_error_t check_imm(const uint8_t *imm, uint32_t imm_len)
{
	if (imm_len <= PIER_COMCH_IMM_MAX && (imm || !imm_len))
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "comch: an immediate "
			       "of %u bytes at %p, at most %u", imm_len,
			       (const void *)imm, PIER_COMCH_IMM_MAX);
}

doca_error_t doca_comch_producer_task_send_alloc_init(
	struct doca_comch_producer *producer, const struct doca_buf *buf,
	uint8_t *imm, uint32_t imm_len, uint32_t id,
	struct doca_comch_producer_task_send **task)
{
	const union doca_data none = { .ptr = NULL };
	struct doca_task *new;
	doca_error_t error;

	if (!producer || !task)
		return DOCA_ERROR_INVALID_VALUE;
	error = check_imm(imm, imm_len);
	if (!error)
		error = pier__doca_pool_take(&producer->pool, none, &new);
	if (error)
		return error;
	*task = send_of(new);
	(*task)->buf = buf;
	(*task)->imm = imm;
	(*task)->imm_len = imm_len;
	(*task)->consumer = id;
	return DOCA_SUCCESS;
}

/* The next submit builds it anew. */
static void changed(struct doca_comch_producer_task_send *task)
{
	if (task->task.task)
		pier__doca_task_unbuild(&task->task);
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(
	const struct doca_comch_producer_task_send *task)
{
	return task->buf;
}

void doca_comch_producer_task_send_set_buf(
	struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->buf = buf;
	changed(task);
}

uint32_t doca_comch_producer_task_send_get_consumer_id(
	const struct doca_comch_producer_task_send *task)
{
	return task->consumer;
}

void doca_comch_producer_task_send_set_consumer_id(
	struct doca_comch_producer_task_send *task, const uint32_t id)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->consumer = id;
	changed(task);
}

uint8_t *doca_comch_producer_task_send_get_imm_data(
	const struct doca_comch_producer_task_send *task)
{
	return task->imm;
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(
	const struct doca_comch_producer_task_send *task)
{
	return task->imm_len;
}

void doca_comch_producer_task_send_set_imm_data(
	struct doca_comch_producer_task_send *task, uint8_t *imm,
	uint32_t imm_len)
{
	if (!pier__doca_task_may_change(&task->task))
		return;
	task->imm = imm;
	task->imm_len = imm_len;
	changed(task);
}

struct doca_task *doca_comch_producer_task_send_as_task(
	struct doca_comch_producer_task_send *task)
{
	return task ? &task->task : NULL;
}
