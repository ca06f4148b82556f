/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of an engine that wait to be retrieved, and those in flight. */
#include <errno.h>

#include "core/fail.h"
#include "engine/ctx_impl.h"
#include "engine/pe_impl.h"
#include "engine/task_impl.h"

void pier__pe_drop_finished(struct pier_pe *pe)
{
	struct pier__list *link;

	while ((link = pier__list_pop(&pe->finished))) {
		struct pier_task *task =
			pier__container_of(link, struct pier_task, link);

		if (task->one_shot)
			pier_task_free(task);
	}
}

static int take_finished(struct pier_pe *pe, struct pier_event *ret)
{
	struct pier__list *link = pier__list_pop(&pe->finished);
	struct pier_task *task;

	if (!link)
		return -EAGAIN;
	task = pier__container_of(link, struct pier_task, link);
	task->one_shot = false;
	ret->task = task;
	ret->status = task->status;
	return 0;
}

int pier_pe_retrieve(struct pier_pe *pe, struct pier_event *ret)
{
	int err;

	if (!pe)
		return pier__no_object(__func__);
	if (!ret)
		return pier__fail(-EINVAL, "pe: retrieve without an event to "
				  "fill in");
	err = pier__guard_enter(pe->guard, "pier_pe_retrieve");
	if (err)
		return err;
	err = take_finished(pe, ret);
	pier__guard_leave(pe->guard);
	return err;
}

size_t pier_pe_inflight(const struct pier_pe *pe)
{
	const struct pier__list *pos;
	size_t n = 0;

	if (!pe)
		return 0;
	for (pos = pe->ctxs.next; pos != &pe->ctxs; pos = pos->next)
		n += pier__container_of(pos, struct pier_ctx, link)->inflight;
	return n;
}
