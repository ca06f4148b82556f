/* SPDX-License-Identifier: BSD-2-Clause */
#include "bindings/doca/doca_sync_event_call.h"

#include "doca20_sync_event_impl.h"

struct pier_sync_event *pier__doca_sync_of(const struct doca_sync_event *event)
{
	return event->event;
}

static struct doca_sync_event *of(struct doca_ctx *ctx)
{
	return (struct doca_sync_event *)ctx;
}

/* A location may be this process or another; pier calls that remote. */
static uint32_t location(bool added)
{
	return added ? PIER_SYNC_EVENT_REMOTE : 0;
}

static int configure(struct doca_ctx *ctx, uint32_t depth)
{
	struct doca_sync_event *event = of(ctx);
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = location(event->publisher),
		.subscriber = location(event->subscriber),
		.word = event->word,
		.tasks = depth,
		.dev = event->imported ? NULL : ctx->dev->dev,
	};

	return pier_sync_event_configure(event->event, &cfg);
}

static int create(struct doca_ctx *ctx)
{
	ctx->ctx = pier_sync_event_ctx(of(ctx)->event);
	return 0;
}

/* It lives until it is destroyed, but does not start again. */
static void destroy(struct doca_ctx *ctx)
{
	(void)ctx;
}

static void destroyed(struct doca_ctx *ctx)
{
	pier_sync_event_destroy(of(ctx)->event);
}

static doca_error_t build_get(struct doca_ctx *ctx, const struct doca_job *job,
			      struct flight *flight, struct pier_task **ret)
{
	(void)job;
	return pier__doca_error(
		pier_sync_event_task_get(of(ctx)->event, &flight->value, ret));
}

static doca_error_t build_set(struct doca_ctx *ctx, const struct doca_job *job,
			      struct flight *flight, struct pier_task **ret)
{
	const struct doca_sync_event_job_update_set *set =
		(const struct doca_sync_event_job_update_set *)job;

	flight->value = set->value;
	return pier__doca_error(
		pier_sync_event_task_set(of(ctx)->event, set->value, ret));
}

static doca_error_t build_add(struct doca_ctx *ctx, const struct doca_job *job,
			      struct flight *flight, struct pier_task **ret)
{
	const struct doca_sync_event_job_update_add *add =
		(const struct doca_sync_event_job_update_add *)job;

	return pier__doca_error(
		pier_sync_event_task_add(of(ctx)->event, add->value,
					 &flight->value, ret));
}

static doca_error_t build_wait(struct doca_ctx *ctx, const struct doca_job *job,
			       struct flight *flight, struct pier_task **ret)
{
	const struct doca_sync_event_job_wait *wait =
		(const struct doca_sync_event_job_wait *)job;

	flight->value = wait->value;
	return pier__doca_error(
		pier_sync_event_task_wait_gt(of(ctx)->event, wait->value,
					     wait->mask, ret));
}

static void result(const struct flight *flight, union doca_data *result)
{
	struct doca_sync_event_result *out = result->ptr;

	if (!out)
		return;
	out->result = flight->error;
	out->value = flight->value;
}

static const struct doca_job_kind jobs[] = {
	{ DOCA_SYNC_EVENT_JOB_GET, build_get, NULL, result },
	{ DOCA_SYNC_EVENT_JOB_UPDATE_SET, build_set, NULL, result },
	{ DOCA_SYNC_EVENT_JOB_UPDATE_ADD, build_add, NULL, result },
	{ DOCA_SYNC_EVENT_JOB_WAIT, build_wait, NULL, result },
	{ 0 },
};

static const struct doca_ctx_kind kind = {
	.name = "sync event",
	.size = sizeof(struct doca_sync_event),
	.create = create,
	.destroy = destroy,
	.destroyed = destroyed,
	.configure = configure,
	.jobs = jobs,
};

static doca_error_t create_of(struct pier_sync_event *pier,
			      struct doca_sync_event **ret)
{
	doca_error_t error = pier__doca20_create(&kind, ret);

	if (error)
		pier_sync_event_destroy(pier);
	else
		(*ret)->event = pier;
	return error;
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct pier_sync_event *pier;
	int err;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_sync_event_create(&pier);
	return err ? pier__doca_error(err) : create_of(pier, event);
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev,
						const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct pier_sync_event *pier;
	doca_error_t error;
	int err;

	if (!dev || !data || !sz || !event)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_sync_event_import_process(dev->dev, data, sz, &pier);
	if (err)
		return pier__doca_error(err);
	error = create_of(pier, event);
	if (error)
		return error;
	(*event)->imported = true;
	return doca_ctx_dev_add(&(*event)->ctx, dev);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	return pier__doca20_destroy(doca_sync_event_as_ctx(event));
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	return event ? &event->ctx : NULL;
}

static doca_error_t may_set(const struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->started || event->ctx.ctx)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "sync event: set while started");
	if (event->imported)
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "sync event: "
				       "its exporter configures it");
	return DOCA_SUCCESS;
}

static doca_error_t add_cpu(struct doca_sync_event *event, bool *location,
			    struct doca_dev *dev)
{
	doca_error_t error = may_set(event);

	if (!error && (!dev || event->ctx.dev != dev))
		error = doca_ctx_dev_add(&event->ctx, dev);
	if (!error)
		*location = true;
	return error;
}

doca_error_t
doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event,
					   struct doca_dev *dev)
{
	return add_cpu(event, event ? &event->publisher : NULL, dev);
}

doca_error_t
doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event,
					    struct doca_dev *dev)
{
	return add_cpu(event, event ? &event->subscriber : NULL, dev);
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event,
				      uint64_t *addr)
{
	doca_error_t error = may_set(event);

	if (!error)
		error = pier__doca_sync_check_addr(addr);
	if (!error)
		event->word = addr;
	return error;
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	int err;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->ctx.ctx || !event->ctx.dev)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "sync event: "
				       "started as a context, or without a "
				       "location");
	err = configure(&event->ctx, 1);
	if (!err)
		err = pier_sync_event_start(event->event);
	if (!err)
		event->started = true;
	return pier__doca_error(err);
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_error(pier_sync_event_stop(event->event));
}
