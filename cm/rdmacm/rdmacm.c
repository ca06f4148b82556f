/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

#define STEPS 16	/* events in one round */

static void gone(struct pier_conn *conn)
{
	int err = pier__dev_lost(conn->qset->dev);

	pier__conn_fail(conn, pier__side_why(conn, err, pier__side_stage(conn),
					     "%s", pier_last_error()));
}

/* Told of a connection; it may be at its end already. */
static void take(struct pier_conn *conn, const struct pier__cm_event *ev)
{
	if (conn->phase >= PIER__CONN_CLOSED)
		return;
	if (ev->kind == PIER__CM_DISCONNECTED)
		conn->side->over = true;
	else if (ev->kind == PIER__CM_GONE)
		gone(conn);
	else if (conn->side->active)
		pier__active_event(conn, ev);
	else
		pier__passive_event(conn, ev);
	pier__conn_kick(conn);
}

static int poll_events(struct pier__source *source, int budget)
{
	struct pier__room *room =
		pier__container_of(source, struct pier__room, source);
	struct pier__qset *qset = room->qset;
	struct pier__cm_event ev;
	uint64_t due;
	int n, err = 0;

	(void)budget;
	source->due = PIER__NEVER;
	for (n = 0; n < STEPS && !err; n++) {
		err = room->fab->next(room->cm, &ev);
		if (err)
			break;
		if (ev.kind == PIER__CM_REQUEST)
			pier__request_came(room, &ev);
		else if (ev.id && ev.id->owner)
			take(ev.id->owner, &ev);
	}
	due = pier__requests_step(room, pier__pe_now(qset->pe));
	if (n == STEPS)
		due = 0;	/* the others have a turn */
	if (due < source->due)	/* a callback may have asked for sooner */
		pier__pe_due(source, due);
	if (err && err != -EAGAIN)
		pier__qset_fail(qset, err);
	return n > 0;
}

int pier__room_open(struct pier__qset *qset)
{
	const struct pier__fabric_cm *fab = qset->dev->fabric->cm;
	uint32_t mtu = qset->cfg->mtu;
	struct pier__room *room;
	int err;

	if (qset->cm)
		return 0;
	if (!fab)
		return pier__fail(-EOPNOTSUPP, "%s has no connection manager: "
				  "connect by descriptors",
				  qset->dev->info.port.name);
	err = pier__conn_allowed(qset->dev);
	if (err)
		return err;
	room = calloc(1, sizeof(*room));
	if (!room)
		return pier__fail(-ENOMEM, "connection manager: no memory");
	room->qset = qset;
	room->fab = fab;
	pier__list_init(&room->refused);
	err = fab->create(qset->chan, mtu ? pier__conn_mtu_code(mtu) :
					    IBV_MTU_4096, &room->cm);
	if (err)
		goto err_free;
	room->source.poll = poll_events;
	room->source.fd = room->cm->fd;
	room->source.slow = true;
	room->source.due = PIER__NEVER;
	pier__list_init(&room->refused);
	err = pier__pe_add(qset->pe, &room->source);
	if (err)
		goto err_destroy;

	qset->cm = room;
	return 0;

err_destroy:
	fab->destroy(room->cm);
err_free:
	free(room);
	return err;
}

void pier__room_stop(struct pier__qset *qset)
{
	struct pier__list *pos, *tmp;

	if (!qset->cm)
		return;
	PIER__LIST_EACH(pos, tmp, &qset->kept->listeners) {
		struct pier_listener *listener = pier__container_of(
			pos, struct pier_listener, link);

		if (listener->qset)
			pier__unlisten(listener);
	}
}

bool pier__room_idle(const struct pier__qset *qset)
{
	return !qset->cm || pier__list_empty(&qset->cm->refused);
}

void pier__room_close(struct pier__qset *qset)
{
	struct pier__room *room = qset->cm;

	if (!room)
		return;
	pier__room_stop(qset);
	pier__requests_end(room);
	pier__lookup_destroy(room->lookup);
	pier__pe_remove(&room->source);
	room->fab->destroy(room->cm);
	free(room);
	qset->cm = NULL;
}

void pier__room_tell(struct pier_conn *conn, enum pier_conn_state prev)
{
	const struct pier__cm_fns *fns = &conn->qset->kept->fns;
	pier_conn_fn *fn;

	if (conn->state == PIER_CONN_CONNECTED)
		fn = fns->established;
	else if (prev == PIER_CONN_CONNECTED)
		fn = fns->disconnected;
	else
		fn = fns->failure;
	if (fn)
		fn(conn, conn->user_data,
		   pier_ctx_user_data(pier_rdma_ctx(conn->rdma)));
}
