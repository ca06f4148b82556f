/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "doca20_workq_impl.h"

#define DEPTH_MAX (1u << 20)	/* as many tasks as pier takes */

doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
	struct doca_workq *new;
	int err;

	if (!depth || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (depth > DEPTH_MAX)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "workq: a depth of %u, at most %u",
				       depth, DEPTH_MAX);
	new = calloc(1, sizeof(*new) + depth * sizeof(new->flights[0]));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_pe_create(&new->pe);
	if (err) {
		free(new);
		return pier__doca_error(err);
	}
	new->depth = depth;
	new->late_end = &new->late;
	for (uint32_t i = 0; i < depth; i++) {
		new->flights[i].next = new->free;
		new->free = &new->flights[i];
	}
	*workq = new;
	return DOCA_SUCCESS;
}

/* The job of @task, which has ended; all but its event is released. */
static struct flight *settle(struct pier_task *task)
{
	struct flight *flight = pier_task_arg(task);

	flight->error = pier__doca_code(pier_task_status(task));
	if (flight->error)
		pier__doca_expected(DOCA_ERROR_IO_FAILED, "%s",
				    pier_task_error_text(task));
	if (flight->kind->ended)
		flight->kind->ended(task, flight);
	pier_task_free(task);
	return flight;
}

void pier__doca20_keep_events(struct doca_workq *workq, struct pier_pe *pe)
{
	struct pier_event done;

	while (!pier_pe_retrieve(pe, &done)) {
		struct flight *flight = settle(done.task);

		flight->next = NULL;
		*workq->late_end = flight;
		workq->late_end = &flight->next;
	}
}

/* Events that were not retrieved end with it. */
doca_error_t doca_workq_destroy(struct doca_workq *workq)
{
	if (!workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->ctxs)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "workq: destroyed "
				       "with %u contexts", workq->ctxs);
	pier__doca20_keep_events(workq, workq->pe);
	pier_pe_destroy(workq->pe);
	free(workq);
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq,
						uint8_t enable)
{
	if (!workq || enable > 1)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->jobs)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "workq: its mode was "
				       "changed with %u jobs", workq->jobs);
	if (enable && workq->alone)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED, "workq: event-"
				       "driven with a context that was used "
				       "before it was added: %s",
				       workq->alone->kind->name);
	workq->event_driven = enable;
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_driven_enable(const struct doca_workq *workq,
						uint8_t *enable)
{
	if (!workq || !enable)
		return DOCA_ERROR_INVALID_VALUE;
	*enable = workq->event_driven;
	return DOCA_SUCCESS;
}

static doca_error_t check_events(const struct doca_workq *workq)
{
	if (!workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (!workq->event_driven)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "workq: it is "
				       "polled, and not event-driven");
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_handle(const struct doca_workq *workq,
					 doca_event_handle_t *handle)
{
	doca_error_t error = check_events(workq);

	if (error || !handle)
		return error ? error : DOCA_ERROR_INVALID_VALUE;
	*handle = pier_pe_fd(workq->pe);
	return DOCA_SUCCESS;
}

/*
 * What is pending already makes the handle readable at once.  Events are
 * retrieved without a round, so a wake may be left of an earlier call: a round
 * takes it, or the one below would be no other.
 */
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
	doca_error_t error = check_events(workq);
	int err;

	if (error)
		return error;
	err = workq->late ? -EAGAIN : pier_pe_arm(workq->pe);
	if (err != -EAGAIN)
		return pier__doca_error(err);
	pier_pe_progress(workq->pe, 0);
	pier_pe_wake(workq->pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq,
					   doca_event_handle_t handle)
{
	doca_error_t error = check_events(workq);

	if (error)
		return error;
	if (handle != pier_pe_fd(workq->pe))
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "workq: its handle is %d, and not %d",
				       pier_pe_fd(workq->pe), handle);
	pier_pe_clear(workq->pe);
	return DOCA_SUCCESS;
}

doca_error_t pier__doca20_job_kind(const struct doca_job *job,
				   const struct doca_job_kind **ret)
{
	const struct doca_job_kind *kind = job->ctx->kind->jobs;

	while (kind->build && kind->type != job->type)
		kind++;
	if (!kind->build)
		return pier__doca_fail(DOCA_ERROR_NOT_SUPPORTED,
				       "%s: jobs of type 0x%x",
				       job->ctx->kind->name,
				       (unsigned int)job->type);
	*ret = kind;
	return DOCA_SUCCESS;
}

doca_error_t pier__doca20_flight(struct doca_workq *workq,
				 const struct doca_job_kind *kind,
				 union doca_data user_data, struct flight **ret)
{
	if (!workq->free)
		return pier__doca_expected(DOCA_ERROR_NO_MEMORY, "workq: it "
					   "has %u jobs, its depth",
					   workq->depth);
	*ret = workq->free;
	(*ret)->kind = kind;
	(*ret)->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t pier__doca20_submit(struct doca_workq *workq,
				 struct flight *flight, struct pier_task *task)
{
	int err;

	pier_task_set_done(task, NULL, flight);
	err = pier_task_submit(task, 0);
	if (err) {
		pier_task_free(task);
		return pier__doca_error(err);
	}
	workq->free = flight->next;
	workq->jobs++;
	return DOCA_SUCCESS;
}

static doca_error_t check_job(const struct doca_workq *workq,
			      const struct doca_job *job)
{
	if (!workq || !job || !job->ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (job->ctx->workq != workq)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "workq: a job "
				       "of a context that was not added to it");
	if (job->flags != DOCA_JOB_FLAGS_NONE)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "workq: a job with flags 0x%x, none is "
				       "known", (unsigned int)job->flags);
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_submit(struct doca_workq *workq,
			       const struct doca_job *job)
{
	const struct doca_job_kind *kind = NULL;
	doca_error_t error = check_job(workq, job);
	struct flight *flight = NULL;
	struct pier_task *task = NULL;

	if (!error)
		error = pier__doca20_job_kind(job, &kind);
	if (!error)
		error = pier__doca20_flight(workq, kind, job->user_data,
					    &flight);
	if (!error)
		error = kind->build(job->ctx, job, flight, &task);
	return error ? error : pier__doca20_submit(workq, flight, task);
}

static int retrieve_from(struct pier_pe *pe, struct pier_event *ret)
{
	int err = pier_pe_retrieve(pe, ret);

	if (err != -EAGAIN)
		return err;
	err = pier_pe_progress(pe, 0);
	return err < 0 ? err : pier_pe_retrieve(pe, ret);
}

static struct flight *take_late(struct doca_workq *workq)
{
	struct flight *flight = workq->late;

	workq->late = flight->next;
	if (!workq->late)
		workq->late_end = &workq->late;
	return flight;
}

/* A job that has ended: one that is late, or of one of the engines. */
static int retrieve(struct doca_workq *workq, struct flight **ret)
{
	struct pier_event event;
	int err;

	if (workq->late) {
		*ret = take_late(workq);
		return 0;
	}
	err = retrieve_from(workq->pe, &event);
	for (struct doca_ctx *at = workq->alone; at && err == -EAGAIN;
	     at = at->next)
		err = retrieve_from(at->pe, &event);
	if (!err)
		*ret = settle(event.task);
	return err;
}

/* The event of @flight, whose place in @workq is free then. */
static doca_error_t finish(struct doca_workq *workq, struct flight *flight,
			   struct doca_event *event)
{
	event->type = flight->kind->type;
	event->user_data = flight->user_data;
	if (flight->kind->result)
		flight->kind->result(flight, &event->result);
	else
		event->result.u64 = flight->error;
	flight->next = workq->free;
	workq->free = flight;
	workq->jobs--;
	return flight->error ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq,
					  struct doca_event *event, int flags)
{
	struct flight *flight;
	int err;

	if (!workq || !event)
		return DOCA_ERROR_INVALID_VALUE;
	if (flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE)
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "workq: retrieve with flags 0x%x, none "
				       "is known", (unsigned int)flags);
	err = retrieve(workq, &flight);
	if (err == -EAGAIN)
		return DOCA_ERROR_AGAIN;
	if (err) {
		pier__doca_error(err);
		return DOCA_ERROR_INVALID_VALUE;	/* not of a job */
	}
	return finish(workq, flight, event);
}
