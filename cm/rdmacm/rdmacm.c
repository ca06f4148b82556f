/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

#define STEPS 16	/* events in one round */

static void gone(struct pier_conn *conn)
{
	int err = pier__dev_lost(conn->queues->dev);

	pier__conn_fail(conn,
			pier__rdmacm_fail(conn, err, pier__conn_stage(conn),
					  "%s", pier_last_error()));
}

/* An event of a connection, which may be closed already. */
static void take(struct pier_conn *conn, struct pier__cm_event *ev)
{
	if (ev->kind == PIER__CM_REJECTED)
		pier__rdmacm_take_reject(ev);
	if (pier__conn_is_closed(conn))
		return;
	if (ev->kind == PIER__CM_DISCONNECTED)
		conn->peer_disconnected = true;
	else if (ev->kind == PIER__CM_GONE)
		gone(conn);
	else if (pier__rdmacm_is_active(conn))
		pier__active_event(conn, ev);
	else
		pier__passive_event(conn, ev);
	pier__conn_schedule(conn);
}

static int poll_events(struct pier__source *source, int budget)
{
	struct pier__rdmacm *rdmacm =
		pier__container_of(source, struct pier__rdmacm, source);
	struct pier__queues *queues = rdmacm->queues;
	struct pier__cm_event ev;
	uint64_t due;
	bool full = pier__requests_are_full(rdmacm);
	int n, err = 0;

	(void)budget;
	source->due = PIER__NEVER;
	for (n = 0; n < STEPS && !full && !err; n++) {
		err = rdmacm->fab->next(rdmacm->cm, &ev);
		if (err)
			break;
		if (ev.kind == PIER__CM_REQUEST) {
			pier__request_arrived(rdmacm, &ev);
			full = pier__requests_are_full(rdmacm);
		} else if (ev.id && ev.id->owner) {
			take(ev.id->owner, &ev);
		}
	}
	due = pier__requests_step(rdmacm, pier__pe_now(queues->pe));
	if (n == STEPS || full)
		due = 0;	/* other sources are polled meanwhile */
	if (due < source->due)	/* a callback may have asked for sooner */
		pier__pe_due(source, due);
	if (err && err != -EAGAIN)
		pier__queues_fail(queues, err);
	return n > 0;
}

static void stop(struct pier__queues *queues)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &queues->owner->listeners) {
		struct pier_listener *listener = pier__container_of(
			pos, struct pier_listener, link);

		if (listener->queues)
			pier__unlisten(listener);
	}
}

static bool is_idle(const struct pier__queues *queues)
{
	return pier__list_empty(&queues->rdmacm->to_reject);
}

static void close_all(struct pier__queues *queues)
{
	struct pier__rdmacm *rdmacm = queues->rdmacm;

	stop(queues);
	pier__requests_end(rdmacm);
	pier__lookup_destroy(rdmacm->lookup);
	pier__pe_remove(&rdmacm->source);
	rdmacm->fab->destroy(rdmacm->cm);
	free(rdmacm);
	queues->rdmacm = NULL;
}

static const struct pier__rdmacm_ops ops = {
	.idle = is_idle,
	.stop = stop,
	.close = close_all,
};

/* What a device's own REJ has for clients of pier. */
static void set_elsewhere(struct pier__cm *cm)
{
	static const uint8_t gid[16];	/* that, the device fills in */
	const struct pier__cm_reject reject = {
		.reason = PIER__REJECT_ELSEWHERE,
		.data = gid, .len = sizeof(gid),
	};
	uint8_t field[PIER__CM_ELSEWHERE];

	pier__cm_reject_encode(&reject, field, sizeof(field));
	memcpy(cm->elsewhere, field, sizeof(cm->elsewhere));
}

int pier__rdmacm_open(struct pier__queues *queues)
{
	const struct pier__fabric_cm *fab = queues->dev->fabric->cm;
	uint32_t mtu = queues->cfg->mtu;
	struct pier__rdmacm *rdmacm;
	int err;

	if (queues->rdmacm)
		return 0;
	if (!fab)
		return pier__fail(-EOPNOTSUPP, "%s has no connection manager: "
				  "connect by descriptors",
				  queues->dev->info.port.name);
	err = pier__devinfo_connects(&queues->dev->info);
	if (err)
		return err;
	rdmacm = calloc(1, sizeof(*rdmacm));
	if (!rdmacm)
		return pier__fail(-ENOMEM, "connection manager: no memory");
	rdmacm->queues = queues;
	rdmacm->fab = fab;
	pier__list_init(&rdmacm->to_reject);
	err = fab->create(queues->chan, mtu ? pier__conn_mtu_code(mtu) :
					    IBV_MTU_4096, &rdmacm->cm);
	if (err)
		goto err_free;
	rdmacm->cm->no_roce_port = queues->owner->no_roce_port;
	set_elsewhere(rdmacm->cm);
	rdmacm->source.poll = poll_events;
	rdmacm->source.fd = rdmacm->cm->fd;
	rdmacm->source.slow = true;
	rdmacm->source.due = PIER__NEVER;
	err = pier__pe_add(queues->pe, &rdmacm->source);
	if (err)
		goto err_destroy;

	queues->rdmacm = rdmacm;
	queues->rdmacm_ops = &ops;
	return 0;

err_destroy:
	fab->destroy(rdmacm->cm);
err_free:
	free(rdmacm);
	return err;
}
