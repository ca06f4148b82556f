/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

/*
 * Requests before the program hears of them: they wait for their turn with
 * their listener, and neither take a connection nor are told of as one.
 */
#define STEPS 16	/* in one round */

static bool is_full(const struct pier__qset *qset)
{
	return qset->conn_count >= qset->cfg->max_conns;
}

/* Is it to be refused at once?  Then sets *ret_why. */
static bool is_refused(const struct pier__qset *qset,
		       const struct pier_listener *listener,
		       enum pier__refusal *ret_why)
{
	if (qset->stopping || qset->error)
		*ret_why = PIER__REFUSED_CLOSING;
	else if (is_full(qset))
		*ret_why = PIER__REFUSED_FULL;
	else if (listener->cm->held > listener->backlog)
		*ret_why = PIER__REFUSED_BUSY;
	else
		return false;
	return true;
}

void pier__request_came(struct pier__room *room,
			const struct pier__cm_event *ev)
{
	struct pier_listener *listener = ev->listener->owner;
	struct pier__qset *qset = room->qset;
	enum pier__refusal why = PIER__REFUSED_BUSY;
	struct pier__waiting *w = NULL;

	ev->id->owner = NULL;
	if (!is_refused(qset, listener, &why))
		w = malloc(sizeof(*w));
	if (!w) {
		listener->cm->held--;
		pier__passive_turn_away(room, ev, why);
		return;
	}
	w->ev = *ev;
	w->ev.data = w->data;
	if (w->ev.len > sizeof(w->data))
		w->ev.len = sizeof(w->data);
	if (w->ev.len)
		memcpy(w->data, ev->data, w->ev.len);
	w->deadline = pier__pe_now(qset->pe) +
		      qset->cfg->connect_timeout_ms * PIER__MS;
	pier__list_add(&listener->waiting, &w->link);
}

static struct pier__waiting *waiting_of(struct pier__list *link)
{
	return pier__container_of(link, struct pier__waiting, link);
}

static void turn_away(struct pier__room *room, struct pier__waiting *w,
		      enum pier__refusal why)
{
	pier__passive_turn_away(room, &w->ev, why);
	free(w);
}

static bool refuse_one(struct pier__room *room)
{
	struct pier__list *link = pier__list_pop(&room->refused);

	if (link)
		turn_away(room, waiting_of(link), PIER__REFUSED_CLOSING);
	return link;
}

/* The listener's first one, which is its no more. */
static struct pier__waiting *take(struct pier_listener *listener)
{
	listener->cm->held--;
	return waiting_of(pier__list_pop(&listener->waiting));
}

/*
 * What has become of the first one that waits with @listener.  Returns
 * whether anything has; if not, *ret_due is when to look again.
 */
static bool serve(struct pier__room *room, struct pier_listener *listener,
		  uint64_t now, uint64_t *ret_due)
{
	struct pier__waiting *w = waiting_of(listener->waiting.next);

	if (listener->rate && pier__passive_is_void(room, w->ev.id)) {
		w = take(listener);
		room->fab->release(w->ev.id);
		free(w);
	} else if (now >= w->deadline) {
		turn_away(room, take(listener), PIER__REFUSED_BUSY);
	} else if (is_full(room->qset)) {
		turn_away(room, take(listener), PIER__REFUSED_FULL);
	} else if (pier__listener_admits(listener, now, ret_due)) {
		w = take(listener);
		pier__list_del(&listener->link);	/* others' turn */
		pier__list_add(&room->qset->kept->listeners, &listener->link);
		pier__passive_request(room, listener, &w->ev);
		free(w);
	} else {
		if (*ret_due > w->deadline)
			*ret_due = w->deadline;
		return false;
	}
	return true;
}

/* One of one listener, which may be gone when it was told. */
static bool serve_one(struct pier__room *room, uint64_t now, uint64_t *ret_due)
{
	struct pier__list *listeners = &room->qset->kept->listeners;
	struct pier__list *pos, *tmp;
	uint64_t due;

	PIER__LIST_EACH(pos, tmp, listeners) {
		struct pier_listener *listener = pier__container_of(
			pos, struct pier_listener, link);

		if (!listener->qset || pier__list_empty(&listener->waiting))
			continue;
		due = now;
		if (serve(room, listener, now, &due))
			return true;
		if (due < *ret_due)
			*ret_due = due;
	}
	return false;
}

uint64_t pier__requests_step(struct pier__room *room, uint64_t now)
{
	struct pier__qset *qset = room->qset;
	uint64_t due = PIER__NEVER;
	int n;

	for (n = 0; n < STEPS && pier__pe_budget(qset->pe) > 0; n++) {
		if (!refuse_one(room) && !serve_one(room, now, &due))
			break;
	}
	if (qset->stopping && pier__list_empty(&room->refused))
		pier__qset_kick(qset);		/* it waits for that */
	return n < STEPS && pier__pe_budget(qset->pe) > 0 ? due : 0;
}

/* Move all members of @from behind those of @to. */
static void join(struct pier__list *from, struct pier__list *to)
{
	if (pier__list_empty(from))
		return;
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
	pier__list_init(from);
}

void pier__requests_doom(struct pier_listener *listener)
{
	struct pier__room *room = listener->qset->cm;

	join(&listener->waiting, &room->refused);
	pier__pe_due(&room->source, 0);
}

void pier__requests_end(struct pier__room *room)
{
	while (refuse_one(room))
		;
}
