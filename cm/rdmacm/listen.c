/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"

/*
 * A listener and its requests.  They are pending here before they take a
 * connection and are presented to the program.
 */
#define STEPS 16	/* requests in one round */
#define BACKLOG 128
#define BACKLOG_MAX 65535
#define SECOND (1000 * PIER__MS)

static int settle(struct pier_listen_config *cfg)
{
	int err = pier__config_u32(&cfg->backlog, "backlog", BACKLOG, 1,
				   BACKLOG_MAX);

	if (!err && cfg->port > UINT16_MAX)
		err = pier__fail(-EINVAL, "listen: port %u: 1 to 65535, 0 for "
				 "a free one", cfg->port);
	return err;
}

int pier__listen(struct pier__queues *queues,
		 const struct pier_listen_config *cfg,
		 pier__request_fn *request, void *arg,
		 struct pier_listener **ret)
{
	struct pier_listen_config c = { 0 };
	struct pier_listener *listener;
	union pier__sockaddr addr;
	int err = pier__config_copy(&c, sizeof(c), cfg, cfg->size);

	if (!err)
		err = settle(&c);
	if (!err)
		err = pier__own_parse(c.address, (uint16_t)c.port, &addr);
	if (!err)
		err = pier__dev_alive(queues->dev);
	if (!err)
		err = pier__rdmacm_open(queues);
	if (err)
		return err;
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		return pier__fail(-ENOMEM, "listen: no memory");
	err = queues->rdmacm->fab->listen(queues->rdmacm->cm, &addr.sa,
					  (int)c.backlog, listener,
					  &listener->cm);
	if (err) {
		free(listener);
		return err;
	}
	listener->queues = queues;
	listener->rate = c.rate;
	listener->backlog = c.backlog;
	pier__list_init(&listener->waiting);
	listener->request = request;
	listener->arg = arg;
	pier__list_add(&queues->owner->listeners, &listener->link);
	*ret = listener;
	return 0;
}

/* Have the requests that wait on @listener rejected in the next steps. */
static void reject_pending(struct pier_listener *listener)
{
	struct pier__rdmacm *rdmacm = listener->queues->rdmacm;
	struct pier__list *link;

	while ((link = pier__list_pop(&listener->waiting)))
		pier__list_add(&rdmacm->to_reject, link);
	pier__pe_due(&rdmacm->source, 0);
}

void pier__unlisten(struct pier_listener *listener)
{
	reject_pending(listener);
	listener->queues->rdmacm->fab->unlisten(listener->cm);
	listener->cm = NULL;
	listener->queues = NULL;
}

uint16_t pier_listener_port(const struct pier_listener *listener)
{
	if (!listener)
		return 0;
	return listener->cm ? listener->cm->port : 0;
}

static void destroy(struct pier_listener *listener)
{
	if (listener->queues)
		pier__unlisten(listener);
	pier__list_del(&listener->link);
	free(listener);
}

void pier_listener_destroy(struct pier_listener *listener)
{
	struct pier__guard *guard = NULL;

	if (!listener)
		return;
	if (listener->queues)
		guard = pier__ctx_guard(listener->queues->owner->ctx);
	if (pier__guard_enter(guard, "pier_listener_destroy"))
		return;
	destroy(listener);
	pier__guard_leave(guard);
}

static bool is_full(const struct pier__queues *queues)
{
	return queues->conn_count >= queues->cfg->max_conns;
}

/* Must a request be rejected at once?  Then sets *ret_reason. */
static bool must_reject(const struct pier__queues *queues,
			const struct pier_listener *listener,
			enum pier__reject_reason *ret_reason)
{
	if (queues->stopping || queues->error)
		*ret_reason = PIER__REJECT_CLOSING;
	else if (is_full(queues))
		*ret_reason = PIER__REJECT_FULL;
	else if (listener->cm->held > listener->backlog)
		*ret_reason = PIER__REJECT_BUSY;
	else
		return false;
	return true;
}

void pier__request_arrived(struct pier__rdmacm *rdmacm,
			   const struct pier__cm_event *ev)
{
	struct pier_listener *listener = ev->listener->owner;
	struct pier__queues *queues = rdmacm->queues;
	enum pier__reject_reason reason = PIER__REJECT_BUSY;
	struct pier__pending_request *w = NULL;

	ev->id->owner = NULL;
	if (!must_reject(queues, listener, &reason))
		w = malloc(sizeof(*w));
	if (!w) {
		listener->cm->held--;
		pier__request_reject(rdmacm, ev, reason);
		return;
	}
	w->ev = *ev;
	w->ev.data = w->data;
	if (w->ev.len > sizeof(w->data))
		w->ev.len = sizeof(w->data);
	if (w->ev.len)
		memcpy(w->data, ev->data, w->ev.len);
	w->deadline = pier__pe_now(queues->pe) +
		      queues->cfg->connect_timeout_ms * PIER__MS;
	pier__list_add(&listener->waiting, &w->link);
}

bool pier__requests_are_full(const struct pier__rdmacm *rdmacm)
{
	struct pier__list *listeners = &rdmacm->queues->owner->listeners;
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, listeners) {
		const struct pier_listener *listener = pier__container_of(
			pos, struct pier_listener, link);

		if (listener->queues && !listener->rate &&
		    listener->cm->held >= listener->backlog)
			return true;
	}
	return false;
}

static struct pier__pending_request *waiting_of(struct pier__list *link)
{
	return pier__container_of(link, struct pier__pending_request, link);
}

static void reject_request(struct pier__rdmacm *rdmacm,
			   struct pier__pending_request *w,
			   enum pier__reject_reason reason)
{
	pier__request_reject(rdmacm, &w->ev, reason);
	free(w);
}

static bool reject_first(struct pier__rdmacm *rdmacm)
{
	struct pier__list *link = pier__list_pop(&rdmacm->to_reject);

	if (link)
		reject_request(rdmacm, waiting_of(link), PIER__REJECT_CLOSING);
	return link;
}

/* Remove and return the listener's first pending request. */
static struct pier__pending_request *take(struct pier_listener *listener)
{
	listener->cm->held--;
	return waiting_of(pier__list_pop(&listener->waiting));
}

/* May a request be presented at @now?  If not, *ret_due is when. */
static bool admits(struct pier_listener *listener, uint64_t now,
		   uint64_t *ret_due)
{
	uint64_t gap;

	if (!listener->rate)
		return true;
	if (now < listener->next) {
		*ret_due = listener->next;
		return false;
	}
	gap = SECOND / listener->rate;
	/* the rate unused in the last tenth of a second is not lost */
	if (listener->next + SECOND / 10 < now)
		listener->next = now - SECOND / 10;
	listener->next += gap ? gap : 1;
	return true;
}

/*
 * Present, reject or drop the first pending request of @listener.  Returns
 * whether it did; if not, *ret_due is when to try again.
 */
static bool serve(struct pier__rdmacm *rdmacm, struct pier_listener *listener,
		  uint64_t now, uint64_t *ret_due)
{
	struct pier__pending_request *w = waiting_of(listener->waiting.next);

	if (listener->rate && pier__request_is_abandoned(rdmacm, w->ev.id)) {
		w = take(listener);
		rdmacm->fab->release(w->ev.id);
		free(w);
	} else if (now >= w->deadline) {
		reject_request(rdmacm, take(listener), PIER__REJECT_BUSY);
	} else if (is_full(rdmacm->queues)) {
		reject_request(rdmacm, take(listener), PIER__REJECT_FULL);
	} else if (admits(listener, now, ret_due)) {
		w = take(listener);
		pier__list_del(&listener->link);	/* behind the others */
		pier__list_add(&rdmacm->queues->owner->listeners,
			       &listener->link);
		pier__passive_request(rdmacm, listener, &w->ev);
		free(w);
	} else {
		if (*ret_due > w->deadline)
			*ret_due = w->deadline;
		return false;
	}
	return true;
}

/* Serve one listener, which its request callback may destroy. */
static bool serve_one(struct pier__rdmacm *rdmacm, uint64_t now,
		      uint64_t *ret_due)
{
	struct pier__list *listeners = &rdmacm->queues->owner->listeners;
	struct pier__list *pos, *tmp;
	uint64_t due;

	PIER__LIST_EACH(pos, tmp, listeners) {
		struct pier_listener *listener = pier__container_of(
			pos, struct pier_listener, link);

		if (!listener->queues || pier__list_empty(&listener->waiting))
			continue;
		due = now;
		if (serve(rdmacm, listener, now, &due))
			return true;
		if (due < *ret_due)
			*ret_due = due;
	}
	return false;
}

uint64_t pier__requests_step(struct pier__rdmacm *rdmacm, uint64_t now)
{
	struct pier__queues *queues = rdmacm->queues;
	uint64_t due = PIER__NEVER;
	int n;

	for (n = 0; n < STEPS && pier__pe_budget(queues->pe) > 0; n++) {
		if (!reject_first(rdmacm) && !serve_one(rdmacm, now, &due))
			break;
	}
	if (queues->stopping && pier__list_empty(&rdmacm->to_reject))
		pier__scheduler_wake(queues);		/* it waits for that */
	return n < STEPS && pier__pe_budget(queues->pe) > 0 ? due : 0;
}

void pier__requests_end(struct pier__rdmacm *rdmacm)
{
	while (reject_first(rdmacm))
		;
}

void pier__listeners_destroy(struct pier__conn_owner *owner)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &owner->listeners)
		pier_listener_destroy(pier__container_of(
			pos, struct pier_listener, link));
}
