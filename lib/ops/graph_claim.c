/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While an instance is submitted the tasks of its nodes are its own: they are
 * claimed before the first one begins, and given back when it finishes.  Those
 * of the instances among them are, too.
 */
#include <errno.h>

#include "core/fail.h"
#include "ops/graph_impl.h"

/* The instance that was submitted, or is about to be. */
static const struct pier__graph_task *root_of(const struct pier__graph_step *s)
{
	const struct pier__graph_task *instance = s->instance;

	while (instance->claimed)
		instance = instance->up->instance;
	return instance;
}

/* Another node of the same root that has the same task; NULL: none. */
static const struct pier__graph_step *
find_same(const struct pier__graph_step *step)
{
	const struct pier__list *places = &step->place.task->places, *link;

	for (link = places->next; link != places; link = link->next) {
		const struct pier__graph_step *at = pier__container_of(
			link, struct pier__graph_step, place.link);

		if (at != step && root_of(at) == root_of(step))
			return at;
	}
	return NULL;
}

int pier__graph_refuse(const struct pier__graph_step *step)
{
	const struct pier_task *task = step->place.task;
	const struct pier__graph_step *same = task ? find_same(step) : NULL;
	uint32_t index = step->node->index;
	int err;

	if (!task)
		err = pier__fail(-EINVAL, "node %u has no task", index);
	else if (pier__task_busy(task))
		err = pier__fail(-EBUSY, "the task of node %u is submitted",
				 index);
	else if (same)
		err = pier__fail(-EINVAL, "node %u has the task of node %u%s: "
				 "each needs its own", index,
				 same->node->index,
				 same->instance == step->instance ? "" :
				 " of another graph of the instance");
	else
		err = pier__fail(-EBUSY, "the task of node %u is that of "
				 "another node, of an instance that is "
				 "submitted", index);
	return pier__task_named(&step->instance->task, err);
}

static inline void hold_bufs(struct pier__graph_step *step)
{
	struct pier_task *task = step->place.task;
	struct pier__guard *guard = pier__ctx_guard(task->ctx);

	if (!task->own->bufs)
		return;
	task->own->bufs(task, step->held);
	step->held[0] = pier__local_hold(step->held[0], guard);
	step->held[1] = pier__local_hold(step->held[1], guard);
	step->holds = true;
}

void pier__graph_hold_bufs(struct pier__graph_step *step)
{
	if (!step->holds)
		hold_bufs(step);
}

/* Those of a node of @root that waits for none begin in its submit. */
static inline void claim_step(struct pier__graph_step *step,
			      const struct pier__graph_task *root)
{
	struct pier_task *task = step->place.task;

	pier__task_claim(task);
	if (step->waits || step->instance != root)
		hold_bufs(step);
	if (step->node->sub) {
		pier__graph_task(task)->claimed = true;
		pier__graph_task(task)->up = step;
	}
}

/*
 * The node that comes after @step: the nodes of an instance that is the task of
 * a node come after this one.  NULL: it is the last.
 */
static struct pier__graph_step *next_turn(struct pier__graph_step *step)
{
	const struct pier__graph_task *instance = step->instance;

	if (step->node->sub)
		return pier__graph_task(step->place.task)->step;
	while (step + 1 == instance->step + instance->count) {
		step = instance->up;
		if (!step)
			return NULL;
		instance = step->instance;
	}
	return step + 1;
}

static inline struct pier__graph_step *next(struct pier__graph_step *step)
{
	return step->turns ? next_turn(step) : step + 1;
}

static inline void give_back_one(struct pier__graph_step *step)
{
	struct pier_task *task = step->place.task;

	pier__graph_drop_bufs(step);
	pier__task_give_back(task);
	if (step->node->sub)
		pier__graph_task(task)->claimed = false;
}

/* The same as give_back(); those that were abandoned are freed after it. */
static void __attribute__((noinline))
give_back_and_free(struct pier__graph_step *step,
		   const struct pier__graph_step *end)
{
	struct pier__list abandoned, *link;

	pier__list_init(&abandoned);
	for (; step != end; step = next(step)) {
		struct pier_task *task = step->place.task;

		if (!step->node->ctx)
			continue;
		give_back_one(step);
		if (task->one_shot)
			pier__list_add(&abandoned, &task->link);
	}
	while ((link = pier__list_pop(&abandoned)))
		pier__task_release(pier__container_of(link, struct pier_task,
						      link));
}

/* Those before @end; NULL: all. */
static void give_back(struct pier__graph_step *step,
		      const struct pier__graph_step *end)
{
	for (; step != end; step = next(step)) {
		if (!step->node->ctx)
			continue;
		if (step->place.task->one_shot) {
			give_back_and_free(step, end);
			return;
		}
		give_back_one(step);
	}
}

int pier__graph_claim(struct pier__graph_task *instance)
{
	struct pier__graph_step *step;
	int err = 0;

	instance->up = NULL;
	for (step = instance->step; step; step = next(step)) {
		step->waits = step->node->before;
		step->begun = false;
		if (!step->node->ctx)
			continue;
		err = pier__graph_check_step(step);
		if (err)
			break;
		claim_step(step, instance);
	}
	if (err)
		give_back(instance->step, step);
	else
		instance->claims = true;
	return err;
}

void pier__graph_claim_only(struct pier__graph_task *instance)
{
	instance->up = NULL;
	instance->claims = true;
	pier__task_claim(instance->step->place.task);
}

void pier__graph_hold_again(struct pier__graph_task *instance)
{
	for (uint32_t i = 0; i < instance->count; i++) {
		struct pier__graph_step *step = &instance->step[i];

		if (!step->node->ctx || step->begun)
			continue;
		pier__graph_drop_bufs(step);
		hold_bufs(step);
	}
}

void pier__graph_give_back(struct pier__graph_task *instance)
{
	instance->claims = false;
	give_back(instance->step, NULL);
}
