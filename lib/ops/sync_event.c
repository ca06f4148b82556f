/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/copy.h"
#include "core/fail.h"
#include "core/futex.h"
#include "ops/limit.h"
#include "ops/sync_event_remote.h"
#include "ops/type_tasks.h"

#define LOCATIONS (PIER_SYNC_EVENT_CPU | PIER_SYNC_EVENT_REMOTE)

static bool has(enum pier_task_type type)
{
	return type >= PIER_TASK_SYNC_GET && type <= PIER_TASK_SYNC_WAIT_NEQ;
}

static int settle(struct pier_sync_event_config *cfg)
{
	int err = pier__type_tasks_check(cfg->type_tasks, has, "a sync event");

	if (!err)
		err = pier__type_tasks_settle(cfg->type_tasks, has,
					      &cfg->tasks, "tasks");
	if (!err)
		err = pier__config_u32(&cfg->tasks, "tasks", 256, 1,
				       PIER__TASKS_MAX);
	if (!err)
		err = pier__config_u32(&cfg->stop_on_task_error,
				       "stop_on_task_error", 0, 0, UINT32_MAX);
	return err;
}

static void apply(struct pier_sync_event *event)
{
	const uint32_t *type_tasks = event->cfg.type_tasks;

	event->cpu.cfg.tasks = event->cfg.tasks;
	event->cpu.type_tasks =
		pier__type_tasks_sum(type_tasks, has) ? type_tasks : NULL;
	event->cpu.ctx.stop_on_task_error = event->cfg.stop_on_task_error;
	event->word = event->cfg.word ? event->cfg.word : &event->own_word;
}

int pier_sync_event_create(struct pier_sync_event **ret)
{
	struct pier_sync_event *event =
		aligned_alloc(PIER__CACHE_LINE, sizeof(*event));

	if (!event)
		return pier__fail(-ENOMEM, "sync event: no memory");
	memset(event, 0, sizeof(*event));
	event->cfg.size = sizeof(event->cfg);
	settle(&event->cfg);
	pier__cpu_init(&event->cpu, &pier__sync_cpu_ops, NULL);
	apply(event);
	*ret = event;
	return 0;
}

static int check_location(uint32_t location, const char *name)
{
	if (location & ~(uint32_t)LOCATIONS)
		return pier__fail(-EINVAL, "sync event: %s 0x%x, known are %d, "
				  "the CPU, and %d, remote", name, location,
				  PIER_SYNC_EVENT_CPU, PIER_SYNC_EVENT_REMOTE);
	if (location & (location - 1))
		return pier__fail(-EINVAL, "sync event: %s 0x%x is more than "
				  "one location, allowed is one", name,
				  location);
	return 0;
}

static int check_config(const struct pier_sync_event_config *cfg)
{
	int err = check_location(cfg->publisher, "publisher");

	if (!err)
		err = check_location(cfg->subscriber, "subscriber");
	if (!err && (uintptr_t)cfg->word % sizeof(*cfg->word))
		err = pier__fail(-EINVAL, "sync event: the word at %p is not "
				 "aligned to %zu bytes", (void *)cfg->word,
				 sizeof(*cfg->word));
	return err;
}

/* Of one that another process owns. */
static int check_remote(const struct pier_sync_event_config *cfg)
{
	if (cfg->publisher || cfg->subscriber || cfg->word || cfg->dev)
		return pier__fail(-EPERM, "sync event: imported, but more is "
				  "configured than its tasks: its owner "
				  "configures it");
	return 0;
}

int pier_sync_event_configure(struct pier_sync_event *event,
			      const struct pier_sync_event_config *cfg)
{
	struct pier_sync_event_config new = { 0 };
	int err;

	if (!event)
		return pier__no_object(__func__);
	if (event->inv)
		return pier__fail(-EPERM, "sync event: configured, but it is "
				  "imported: its owner configures it");
	if (pier__sync_life(event) != PIER__SYNC_NEW)
		return pier__fail(-EBUSY, "sync event: configured after start");
	err = pier__config_copy(&new, sizeof(new), cfg, cfg->size);
	if (!err && event->remote)
		err = check_remote(&new);
	if (!err)
		err = check_config(&new);
	if (!err)
		err = settle(&new);
	if (err)
		return err;
	event->cfg = new;
	apply(event);
	return 0;
}

void pier_sync_event_get_config(const struct pier_sync_event *event,
				struct pier_sync_event_config *ret)
{
	if (!event)
		return;
	*ret = event->cfg;
}

static int check_start(const struct pier_sync_event *event)
{
	enum pier__sync_life life = pier__sync_life(event);

	if (life == PIER__SYNC_STOPPED)
		return pier__fail(-ESHUTDOWN, "sync event: started after stop: "
				  "destroy it, and create another one");
	if (life != PIER__SYNC_NEW)
		return pier__fail(-EBUSY, "sync event: started twice");
	if (pier__sync_is_imported(event))
		return 0;
	if (!event->cfg.publisher)
		return pier__fail(-EINVAL, "sync event: started without the "
				  "location of its publisher");
	if (!event->cfg.subscriber)
		return pier__fail(-EINVAL, "sync event: started without the "
				  "location of its subscriber");
	if ((event->cfg.publisher | event->cfg.subscriber) &
	    PIER_SYNC_EVENT_REMOTE && !event->cfg.dev)
		return pier__fail(-EINVAL, "sync event: its publisher or "
				  "subscriber is remote, but it has no device");
	return 0;
}

int pier__sync_start(struct pier_sync_event *event, enum pier__sync_life life)
{
	int err = check_start(event);

	if (!err && !pier__sync_is_imported(event))
		err = pier__sync_register(event);
	if (err)
		return err;
	atomic_store(&event->life, life);
	return 0;
}

int pier_sync_event_start(struct pier_sync_event *event)
{
	if (!event)
		return pier__no_object(__func__);
	if (event->remote)
		return pier__sync_call_start(event->remote);
	return pier__sync_start(event, event->inv ? PIER__SYNC_IMPORTED :
						    PIER__SYNC_BLOCKING);
}

/* The new value comes before this load: see sleep_once(). */
void pier__sync_wake(struct pier_sync_event *event)
{
	if (!atomic_load(&event->sleepers))
		return;
	atomic_fetch_add(&event->changes, 1);
	pier__futex_wake(&event->changes);
}

void pier__sync_stop(struct pier_sync_event *event)
{
	atomic_store(&event->life, PIER__SYNC_STOPPED);
	pier__sync_revoke(event);
	pier__sync_wake(event);
}

int pier_sync_event_stop(struct pier_sync_event *event)
{
	enum pier__sync_life life;

	if (!event)
		return pier__no_object(__func__);
	life = pier__sync_life(event);
	if (life == PIER__SYNC_NEW)
		return pier__fail(-EINVAL, "sync event: stopped before start");
	if (life == PIER__SYNC_CONTEXT)
		return pier__fail(-EPERM, "sync event: it runs as a context: "
				  "pier_ctx_stop() stops it");
	if (event->remote)
		pier__sync_call_stop(event->remote);
	else
		pier__sync_stop(event);
	return 0;
}

void pier__sync_free(struct pier_sync_event *event)
{
	pier__sync_revoke(event);
	pier__sync_served_free(event);
	pier__sync_remote_destroy(event->remote);
	pier_buf_inventory_destroy(event->inv);
	pier_mmap_destroy(event->mmap);
	free(event);
}

void pier_sync_event_destroy(struct pier_sync_event *event)
{
	if (!event)
		return;
	if (event->remote && pier__sync_life(event) == PIER__SYNC_BLOCKING)
		pier__sync_call_stop(event->remote);
	pier__cpu_destroy(&event->cpu);
}

int pier__sync_usable(const struct pier_sync_event *event)
{
	switch (pier__sync_life(event)) {
	case PIER__SYNC_NEW:
		return pier__fail(-ESHUTDOWN, "sync event: used before start");
	case PIER__SYNC_STOPPED:
		return pier__fail(-ESHUTDOWN, "sync event: used after stop");
	case PIER__SYNC_IMPORTED:
		return pier__fail(-EOPNOTSUPP, "sync event: its value is at "
				  "the peer that exported it: use the tasks "
				  "of an RDMA context");
	case PIER__SYNC_BLOCKING:
	case PIER__SYNC_CONTEXT:
		break;
	}
	return 0;
}

void pier__sync_set(struct pier_sync_event *event, uint64_t value)
{
	__atomic_store_n(event->word, value, __ATOMIC_SEQ_CST);
	pier__sync_wake(event);
}

int pier_sync_event_set(struct pier_sync_event *event, uint64_t value)
{
	int err;

	if (!event)
		return pier__no_object(__func__);
	err = pier__sync_usable(event);
	if (err)
		return err;
	if (event->remote)
		return pier__sync_call(event->remote, PIER_TASK_SYNC_SET, value,
				       NULL);
	pier__sync_set(event, value);
	return 0;
}

uint64_t pier__sync_add(struct pier_sync_event *event, uint64_t value)
{
	uint64_t before = __atomic_fetch_add(event->word, value,
					     __ATOMIC_SEQ_CST);

	pier__sync_wake(event);
	return before;
}

int pier_sync_event_add(struct pier_sync_event *event, uint64_t value,
			uint64_t *ret)
{
	int err;
	uint64_t before;

	if (!event)
		return pier__no_object(__func__);
	err = pier__sync_usable(event);
	if (err)
		return err;
	if (event->remote)
		return pier__sync_call(event->remote, PIER_TASK_SYNC_ADD, value,
				       ret);
	before = pier__sync_add(event, value);
	if (ret)
		*ret = before;
	return 0;
}

int pier_sync_event_get(const struct pier_sync_event *event, uint64_t *ret)
{
	int err;

	if (!event)
		return pier__no_object(__func__);
	if (!ret)
		return pier__fail(-EINVAL, "sync event get: no place for the "
				  "value");
	err = pier__sync_usable(event);
	if (err)
		return err;
	if (event->remote)
		return pier__sync_call(event->remote, PIER_TASK_SYNC_GET, 0,
				       ret);
	*ret = pier__sync_load(event);
	return 0;
}
