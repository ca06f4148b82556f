/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/fuzz/cm.h"

/* What the program does, and which events it may get when. */
#define KINDS (PIER__CM_GONE + 1)

static const uint8_t some[SOFT_MAD_DATA_MAX + 1] = "private data";

static struct net_end *end_new(struct net *net)
{
	struct net_end *end;
	int i;

	for (i = 0; i < NET_ENDS; i++) {
		end = &net->end[i];
		if (end->step == NET_FREE || (end->step == NET_OVER &&
					      !end->id)) {
			memset(end, 0, sizeof(*end));
			end->qpn = 0x4000 + net->ends++;
			return end;
		}
	}
	return NULL;
}

/* The peer receives what is in messages. */
static void overhear(struct net_end *end)
{
	const struct soft_cm_conn *conn = ((struct soft_cm_id *)end->id)->conn;

	if (!conn)
		return;
	end->local_id = conn->local_id;
	end->remote_id = conn->remote_id;
	end->guid = conn->guid;
	end->tid = conn->tid;
}

void net_listen(struct net *net, unsigned int i, bool on)
{
	struct soft_cm_listener *listener = &net->listener[i];

	if (net->listening[i] == on)
		return;
	net->listening[i] = on;
	if (on) {
		listener->roce_port =
			net->host.ops->roce_port(&net->host, true);
		pier__soft_cm_listen(net->cm, listener);
		return;
	}
	pier__soft_cm_unlisten(net->cm, listener);
	if (listener->roce_port)
		net->host.ops->roce_port(&net->host, false);
}

static struct pier__cm_param param(const struct net_end *end, size_t len)
{
	return (struct pier__cm_param) {
		.qpn = end->qpn, .responder_resources = 16,
		.initiator_depth = 3, .retry_count = 6, .rnr_retry = 7,
		.data = some, .len = len,
	};
}

void net_connect(struct net *net, size_t len)
{
	struct soft_addr dst = net->peer;
	struct net_end *end = end_new(net);
	struct pier__cm_param p;

	if (!end)
		return;
	p = param(end, len);
	dst.port = len & 1 ? NET_SERVICE : ROCE_UDP_PORT;
	MUST(!pier__soft_cm_resolved(net->cm, &net->here, &dst, end,
				     &end->id));
	end->step = NET_RESOLVED;
	if (len <= PIER__CM_REQ_DATA)
		end->step = NET_ASKED;
	MUST(pier__soft_cm_connect(end->id, &p) ==
	     (len <= PIER__CM_REQ_DATA ? 0 : -EINVAL));
	overhear(end);
}

/* The QP changes as the connection's state does, whatever its peer has sent. */
static void move(struct net *net, const struct net_end *end)
{
	static const enum ibv_qp_state path[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	uint16_t port = 0;
	int i, mask, err;

	MUST(!pier__soft_qp_modify(net->qp, &attr, IBV_QP_STATE, NULL, 0));
	for (i = 0; i < 3; i++) {
		err = pier__soft_cm_qp_attr(end->id, path[i], &attr, &mask,
					    &port);
		if (err) {
			MUST(err == -ECONNABORTED ||
			     (err == -EADDRNOTAVAIL && net->no_gid));
			return;
		}
		MUST(port || !i);
		MUST(!(mask & IBV_QP_DEST_QPN) || (attr.dest_qp_num > 1 &&
						   attr.dest_qp_num <
						   0xffffff));
		MUST(!pier__soft_qp_modify(net->qp, &attr, mask, &net->here,
					   port));
	}
}

static bool lives(const struct net_end *end)
{
	return ((struct soft_cm_id *)end->id)->conn;
}

void net_accept(struct net *net, struct net_end *end, size_t len)
{
	struct pier__cm_param p = param(end, len);
	int err;

	if (!end->id)
		return;
	if (end->step == NET_REQUESTED)
		move(net, end);
	err = pier__soft_cm_accept(end->id, &p);
	if (!lives(end))
		MUST(err == -ECONNABORTED);
	else if (end->step != NET_REQUESTED || len > PIER__CM_REP_DATA)
		MUST(err == -EINVAL);
	else
		MUST(!err);
	if (!err)
		end->step = NET_ACCEPTED;
}

void net_reject(struct net_end *end, size_t len)
{
	bool alive;
	int err;

	if (!end->id)
		return;
	alive = lives(end);
	err = pier__soft_cm_reject(end->id, some, len);
	if (!alive)
		MUST(err == -ECONNABORTED);
	else if (end->step != NET_REQUESTED || len > PIER__CM_REJ_DATA)
		MUST(err == -EINVAL);
	else
		MUST(!err);
	if (!err)
		end->step = NET_OVER;
}

void net_establish(struct net *net, struct net_end *end)
{
	int err;

	if (!end->id || end->step == NET_ASKED)
		return;		/* RESPONSE may be there, not reported yet */
	if (end->step == NET_ANSWERED)
		move(net, end);
	err = pier__soft_cm_establish(end->id);
	if (!lives(end))
		MUST(err == -ECONNABORTED);
	else
		MUST(err == (end->step == NET_ANSWERED ? 0 : -EINVAL));
	if (!err)
		end->step = NET_UP;
}

void net_disconnect(struct net_end *end)
{
	int err;

	if (!end->id)
		return;
	err = pier__soft_cm_disconnect(end->id);
	MUST(!err || err == -ENOTCONN);
	if (!lives(end) || end->step == NET_UP)
		MUST(!err);
}

void net_release(struct net_end *end)
{
	if (!end->id)
		return;
	overhear(end);
	pier__soft_cm_release(end->id);
	end->id = NULL;
	end->step = NET_OVER;
}

static void reported_data(const struct pier__cm_event *event)
{
	static const size_t field[KINDS] = {
		[PIER__CM_REQUEST] = PIER__CM_REQ_DATA,
		[PIER__CM_RESPONSE] = PIER__CM_REP_DATA,
		[PIER__CM_REJECTED] = PIER__CM_REJ_DATA,
	};
	uint32_t sum = 0;
	size_t i;

	MUST(!event->len || event->len == field[event->kind]);
	for (i = 0; i < event->len; i++)
		sum += event->data[i];
	MUST(sum <= 255 * event->len);
}

static void requested(struct net *net, const struct pier__cm_event *event)
{
	struct net_end *end = end_new(net);
	uintptr_t i = (uintptr_t)((struct soft_cm_listener *)event->listener -
				  net->listener);

	MUST(i < NET_LISTENERS && net->listening[i]);
	MUST(!event->id->owner && event->len);
	event->listener->held--;
	if (!end) {
		pier__soft_cm_release(event->id);
		return;
	}
	event->id->owner = end;
	end->id = event->id;
	end->passive = true;
	end->step = NET_REQUESTED;
	overhear(end);
}

static void reported(const struct pier__cm_event *event)
{
	struct net_end *end = event->id->owner;

	MUST(end && end->id == event->id && end->step != NET_OVER);
	overhear(end);
	switch (event->kind) {
	case PIER__CM_RESOLVED:
		MUST(!end->passive && !end->resolved &&
		     end->step <= NET_ASKED);
		end->resolved = true;
		return;
	case PIER__CM_RESPONSE:
		MUST(end->step == NET_ASKED && end->resolved);
		end->step = NET_ANSWERED;
		return;
	case PIER__CM_ESTABLISHED:
		MUST(end->step == NET_ACCEPTED && end->passive);
		end->step = NET_UP;
		return;
	case PIER__CM_DISCONNECTED:
		MUST(end->step == NET_UP);
		break;
	case PIER__CM_REJECTED:
		MUST(end->step != NET_UP && end->step != NET_RESOLVED);
		break;
	case PIER__CM_UNREACHABLE:
		MUST(end->step != NET_UP && end->step != NET_RESOLVED);
		MUST(event->error < 0);
		break;
	default:
		MUST(false);
	}
	end->step = NET_OVER;
}

void net_events(struct net *net, int max)
{
	struct pier__cm_event event;

	while (max-- && !pier__soft_cm_next(net->cm, &event)) {
		reported_data(&event);
		MUST(!event.listener == (event.kind != PIER__CM_REQUEST));
		if (event.kind == PIER__CM_REQUEST)
			requested(net, &event);
		else
			reported(&event);
	}
}
