/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_buf_impl.h"
#include "doca_dev_impl.h"
#include "doca_fail.h"
#include "doca_sync_event_call.h"
#include "doca_sync_event_impl.h"

struct pier_sync_event *pier__doca_sync_of(const struct doca_sync_event *event)
{
	return event->event;
}

/* What was set is the same in both modes. */
static int configure(struct doca_sync_event *event)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = event->publisher,
		.subscriber = event->subscriber,
		.word = event->word,
		.dev = event->dev && !event->imported ? event->dev->dev : NULL,
	};

	for (int i = 0; i < PIER_TASK_TYPES; i++)
		cfg.type_tasks[i] = event->pools[i].count;
	return pier_sync_event_configure(event->event, &cfg);
}

/* It starts once, in one of the modes. */
static doca_error_t may_start(const struct doca_sync_event *event)
{
	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	if (event->started || event->ctx.ran)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "sync event: started already");
	return DOCA_SUCCESS;
}

static doca_error_t may_set(const struct doca_sync_event *event)
{
	doca_error_t error = may_start(event);

	if (!error && event->imported)
		error = pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "sync event: "
					"its exporter configures it");
	return error;
}

static doca_error_t prepare(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	doca_error_t error = may_start(event);

	if (!error)
		error = pier__doca_sync_fill(event);
	return error ? error : pier__doca_error(configure(event));
}

/* The stop of an imported one ends a connection. */
static const struct doca_ctx_kind kind = {
	.prepare = prepare,
	.stop_ms = 2000,
};

/* It may not be closed before @event is destroyed. */
static void set_dev(struct doca_sync_event *event, struct doca_dev *dev)
{
	if (event->dev)
		atomic_fetch_sub(&event->dev->events, 1);
	if (dev)
		atomic_fetch_add(&dev->events, 1);
	event->dev = dev;
}

doca_error_t pier__doca_sync_create(struct pier_sync_event *pier,
				    struct doca_dev *imported_on,
				    struct doca_sync_event **ret)
{
	struct doca_sync_event *new = calloc(1, sizeof(*new));

	if (!new) {
		pier_sync_event_destroy(pier);
		return DOCA_ERROR_NO_MEMORY;
	}
	new->event = pier;
	new->imported = imported_on;
	set_dev(new, imported_on);
	pier__doca_ctx_init(&new->ctx, &kind, pier_sync_event_ctx(pier));
	*ret = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct pier_sync_event *new;
	int err;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	err = pier_sync_event_create(&new);
	return err ? pier__doca_error(err) :
		     pier__doca_sync_create(new, NULL, event);
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t error;

	if (!event)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_ctx_release(&event->ctx);
	if (error)
		return error;
	for (int i = 0; i < PIER_TASK_TYPES; i++)
		pier__doca_pool_free(&event->pools[i]);
	pier_sync_event_destroy(event->event);
	set_dev(event, NULL);
	free(event);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	return event ? &event->ctx : NULL;
}

/* The device is that through which peers reach the event. */
static doca_error_t add_cpu(struct doca_sync_event *event, uint32_t *location,
			    struct doca_dev *dev)
{
	doca_error_t error = may_set(event);

	if (error)
		return error;
	if (!dev)
		return DOCA_ERROR_INVALID_VALUE;
	set_dev(event, dev);
	if (*location != PIER_SYNC_EVENT_REMOTE)
		*location = PIER_SYNC_EVENT_CPU;
	return DOCA_SUCCESS;
}

/* pier has one location: a remote one includes this process. */
static doca_error_t add_remote(struct doca_sync_event *event,
			       uint32_t *location)
{
	doca_error_t error = may_set(event);

	if (!error)
		*location = PIER_SYNC_EVENT_REMOTE;
	return error;
}

doca_error_t
doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
					   struct doca_dev *dev)
{
	return add_cpu(event, event ? &event->publisher : NULL, dev);
}

doca_error_t
doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	return add_remote(event, event ? &event->publisher : NULL);
}

doca_error_t
doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	return add_remote(event, event ? &event->publisher : NULL);
}

doca_error_t
doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
					    struct doca_dev *dev)
{
	return add_cpu(event, event ? &event->subscriber : NULL, dev);
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(
	struct doca_sync_event *event)
{
	return add_remote(event, event ? &event->subscriber : NULL);
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

/* Its data is a word that the CPU can use. */
static bool has_word(const struct pier_buf *buf)
{
	const struct pier_mmap *mmap = pier_buf_mmap(buf);
	struct pier_mmap_config cfg;

	if (!mmap || pier_mmap_is_remote(mmap))
		return false;
	pier_mmap_get_config(mmap, &cfg);
	return !(cfg.flags & PIER_MMAP_DMABUF) &&
	       pier_buf_data_len(buf) >= sizeof(uint64_t) &&
	       (uintptr_t)pier_buf_data(buf) % sizeof(uint64_t) == 0;
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event,
					  struct doca_buf *buf)
{
	const struct pier_buf *b = pier__doca_buf(buf);
	doca_error_t error = may_set(event);

	if (error)
		return error;
	if (!buf)
		return DOCA_ERROR_INVALID_VALUE;
	if (!has_word(b))
		return pier__doca_fail(DOCA_ERROR_NOT_PERMITTED, "sync event: "
				       "a buffer that was released, or whose "
				       "data is not 8 aligned bytes of local "
				       "memory");
	event->word = pier_buf_data(b);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t error = may_start(event);
	int err;

	if (error)
		return error;
	err = configure(event);
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
	if (!event->started)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "sync event: stopped without start");
	return pier__doca_error(pier_sync_event_stop(event->event));
}

doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event,
				     uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_eq, event, value,
				    mask, PIER_SYNC_EVENT_BUSY);
}

doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event,
					   uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_eq, event, value,
				    mask, PIER_SYNC_EVENT_YIELD);
}

doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event,
				      uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_neq, event, value,
				    mask, PIER_SYNC_EVENT_BUSY);
}

doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event,
					    uint64_t value, uint64_t mask)
{
	return pier__doca_sync_wait(pier_sync_event_wait_neq, event, value,
				    mask, PIER_SYNC_EVENT_YIELD);
}
