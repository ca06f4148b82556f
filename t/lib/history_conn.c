/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: made by CM or by hand, ended, and made anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/history.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define QUEUE (2 * HISTORY_FLIGHT)

/* The private data of REQ and REP. */
struct greeting {
	uint32_t conn, life;
	uint8_t text[32];
};

struct history_end *history_peer(const struct history_end *end)
{
	struct history_life *life = end->life;

	return end == life->end ? &life->end[1] : &life->end[0];
}

struct history_end *history_end_find(const struct history_host *host,
				     uint32_t qpn)
{
	struct history_life *life;
	int i;

	for (life = host->history->life; life; life = life->next)
		for (i = 0; i < 2; i++)
			if (life->end[i].open && life->end[i].host == host &&
			    life->end[i].qpn == qpn)
				return &life->end[i];
	return NULL;
}

/* Have @qp the number that an earlier one had. */
static void number_again(struct soft_qp *qp, uint32_t qpn)
{
	if (!qpn || pier__soft_table_find(qp->ep, qpn))
		return;
	pier__soft_table_del(qp->ep, qp);
	qp->qpn = qpn;
	pier__hash_add(&qp->ep->qps, &qp->link, qpn);
}

/* An end of an earlier life is given up for the place that it takes. */
static void give_up_old(struct history_host *host)
{
	struct history_life *life;
	int i;

	for (life = host->history->life; life; life = life->next)
		for (i = 0; i < 2; i++)
			if (life->end[i].open && life->end[i].host == host &&
			    life != life->conn->life) {
				history_end_close(&life->end[i], true);
				return;
			}
}

static bool end_open(struct history_life *life, int i)
{
	struct ibv_qp_cap cap = { .max_send_wr = QUEUE, .max_send_sge = 2 };
	struct history_end *end = &life->end[i];
	struct history_host *host = end->host;
	struct history *h = host->history;

	end->area = history_area_get(host);
	if (!end->area)
		give_up_old(host);
	if (!end->area)
		end->area = history_area_get(host);
	if (!end->area)
		return false;
	if (pier__soft_qp_create(host->cq, host->srq, &cap, &end->qp))
		abort();
	if (history_chance(h, h->violent ? 0.9 : 0.5))
		number_again(end->qp, life->conn->last_qpn[i]);
	end->qpn = end->qp->qpn;
	life->conn->last_qpn[i] = end->qpn;
	end->target.addr = (uintptr_t)end->area;
	end->target.len = HISTORY_SLOTS * HISTORY_SLOT;
	end->target.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	if (pier__soft_mr_add(host->keys, &end->target))
		abort();
	end->born = host->words;
	end->used = true;
	end->open = true;
	history_log(h, end, 0, "opens, QP", end->qpn);
	return true;
}

void history_end_close(struct history_end *end, bool error_first)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct history *h = end->host->history;

	history_log(h, end, 0, "closes", error_first);
	end->closing = true;
	if (error_first)
		pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE, NULL, 0);
	history_poll(h);
	if (error_first)
		history_settled(end);
	/* A message that has begun to come loses its receive with the QP. */
	if (end->qp->resp.rwqe)
		end->host->recv_posted[(uint32_t)end->qp->resp.rwqe->wr_id] =
			false, end->host->recvs--;
	pier__soft_qp_destroy(end->qp);
	pier__soft_mr_remove(end->host->keys, &end->target);
	if (end->id)
		pier__soft_cm_release(end->id);
	history_area_put(end->host, end->area);
	end->qp = NULL;
	end->id = NULL;
	end->area = NULL;
	end->open = false;
	end->ready = false;
}

/* Requests may be posted: with the keys and addresses of the peer. */
static void end_ready(struct history_end *end)
{
	struct history_end *peer = history_peer(end);

	if (end->ready)
		return;
	if (!peer->used) {
		history_fail(end->host->history, end, 0,
			     "connected to an end that was never opened");
		return;
	}
	history_log(end->host->history, end, 0, "is connected", 0);
	end->peer_target = peer->target.addr;
	end->target_rkey = peer->target.mr.rkey;
	end->peer_mem = peer->host->all.addr;
	end->all_rkey = peer->host->all.mr.rkey;
	end->atomics_rkey = peer->host->atomics.mr.rkey;
	/* Keys of a process that has been killed meanwhile are no use. */
	end->ready = peer->born == peer->host->words;
	end->failed = !end->ready;
}

static void life_new(struct history *h, struct history_conn *conn)
{
	struct history_life *life = calloc(1, sizeof(*life));
	int i;

	if (!life)
		abort();
	life->number = ++h->lives;
	life->conn = conn;
	life->next = h->life;
	h->life = life;
	conn->life = life;
	for (i = 0; i < 2; i++) {
		life->end[i].life = life;
		life->end[i].host = conn->host[i];
	}
}

static void must(struct history_end *end, int err, const char *what)
{
	if (err)
		history_fail(end->host->history, end, (uint32_t)-err, what);
}

static struct ibv_qp_attr attr_by_hand(struct history *h)
{
	return (struct ibv_qp_attr){
		.port_num = 1,
		.qp_access_flags = ACCESS,
		.path_mtu = IBV_MTU_256 + (int)history_random(h, 5),
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = (uint8_t)(1 + history_random(h, 4)),
		.min_rnr_timer = (uint8_t)(1 + history_random(h, 14)),
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .hop_limit = 64 } },
		.timeout = (uint8_t)(12 + history_random(h, 4)),
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

/* Through all states with what is in @attr. */
static void move_by_hand(struct history_end *end, struct ibv_qp_attr attr,
			 uint32_t psn, uint32_t peer_psn)
{
	struct history_end *peer = history_peer(end);
	struct soft_addr src = end->host->addr, dst = peer->host->addr;

	memcpy(&attr.ah_attr.grh.dgid, &dst.ip, 16);
	attr.dest_qp_num = peer->qpn;
	attr.sq_psn = psn;
	attr.rq_psn = peer_psn;
	attr.qp_state = IBV_QPS_INIT;
	must(end, pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE |
				       IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS, NULL, 0), "INIT");
	attr.qp_state = IBV_QPS_RTR;
	must(end, pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE |
				       IBV_QP_AV | IBV_QP_PATH_MTU |
				       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				       IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER, &src, dst.port),
	     "RTR");
	attr.qp_state = IBV_QPS_RTS;
	must(end, pier__soft_qp_modify(end->qp, &attr, IBV_QP_STATE |
				       IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MAX_QP_RD_ATOMIC, NULL, 0),
	     "RTS");
}

static void connect_by_hand(struct history *h, struct history_conn *conn)
{
	struct history_end *end = conn->life->end;
	struct ibv_qp_attr attr = attr_by_hand(h);
	uint32_t psn[2] = { (uint32_t)history_random(h, 1 << 24),
			    (uint32_t)history_random(h, 1 << 24) };

	if (!conn->host[1]->up || !end_open(conn->life, 0))
		return;
	if (!end_open(conn->life, 1)) {
		history_end_close(&end[0], true);
		return;
	}
	move_by_hand(&end[0], attr, psn[0], psn[1]);
	move_by_hand(&end[1], attr, psn[1], psn[0]);
	end_ready(&end[0]);
	end_ready(&end[1]);
}

static struct pier__cm_param param_of(const struct history_end *end,
				      const struct greeting *greeting)
{
	return (struct pier__cm_param){
		.qpn = end->qpn,
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = 7, .rnr_retry = 7,
		.data = greeting, .len = sizeof(*greeting),
	};
}

static struct greeting greeting_of(const struct history_life *life)
{
	struct greeting ret = {
		.conn = (uint32_t)(life->conn - life->end[0].host->history
				   ->conn),
		.life = life->number,
	};

	history_fill(ret.text, sizeof(ret.text), &life->end[0], 0);
	return ret;
}

static void connect_by_cm(struct history *h, struct history_conn *conn)
{
	struct history_end *end = conn->life->end;
	struct greeting greeting = greeting_of(conn->life);
	struct pier__cm_param param;
	struct soft_addr dst = conn->host[1]->addr;

	(void)h;
	dst.port = HISTORY_SERVICE;
	if (!end_open(conn->life, 0))
		return;
	param = param_of(end, &greeting);
	must(end, pier__soft_cm_resolved(conn->host[0]->cm,
					 &conn->host[0]->addr, &dst, end,
					 &end->id), "resolve");
	must(end, pier__soft_cm_connect(end->id, &param), "connect");
}

/* To RTS by the attributes that CM has. */
static void move_by_cm(struct history_end *end)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	struct ibv_qp_attr attr;
	uint16_t port;
	int mask, err;

	for (int i = 0; i < 3; i++) {
		err = pier__soft_cm_qp_attr(end->id, states[i], &attr, &mask,
					    &port);
		if (!err)
			err = pier__soft_qp_modify(end->qp, &attr, mask,
						   &end->host->addr, port);
		if (err) {
			history_fail(end->host->history, end, (uint32_t)-err,
				     "not moved to RTS");
			return;
		}
	}
}

static struct history_life *life_find(const struct history *h,
				      const struct greeting *greeting)
{
	struct history_life *life = h->life;

	while (life && life->number != greeting->life)
		life = life->next;
	return life;
}

static void request(struct history_host *host, struct pier__cm_event *event)
{
	struct history *h = host->history;
	struct greeting greeting;
	struct history_life *life;
	struct pier__cm_param param;
	struct history_end *end;

	memcpy(&greeting, event->data, sizeof(greeting));
	life = life_find(h, &greeting);
	if (!life || life->end[1].host != host ||
	    !history_is(greeting.text, sizeof(greeting.text), life->end, 0)) {
		history_fail(h, NULL, 0, "a request that was not sent");
		pier__soft_cm_release(event->id);
		return;
	}
	end = &life->end[1];
	if (end->open)
		history_fail(h, end, 0, "one request came twice");
	/* It may come again when this process or its end is another. */
	if (end->used || (!h->mild && history_chance(h, 0.05)) ||
	    !end_open(life, 1)) {
		pier__soft_cm_release(event->id);
		return;
	}
	event->id->owner = end;
	end->id = event->id;
	param = param_of(end, &greeting);
	move_by_cm(end);
	must(end, pier__soft_cm_accept(end->id, &param), "accept");
}

static void response(struct history_end *end, struct pier__cm_event *event)
{
	struct greeting greeting = greeting_of(end->life);

	if (event->len < sizeof(greeting) ||
	    memcmp(event->data, &greeting, sizeof(greeting))) {
		history_fail(end->host->history, end, 0,
			     "a response to another request");
		return;
	}
	move_by_cm(end);
	must(end, pier__soft_cm_establish(end->id), "establish");
	end_ready(end);
}

static void ended(struct history_end *end, enum pier__cm_kind kind)
{
	struct history *h = end->host->history;

	history_log(h, end, 0, "is ended by CM", kind);
	if (h->mild && !h->quiet)
		history_fail(h, end, 0, "ended on a mild network");
	end->failed = true;
}

static void events(struct history_host *host)
{
	struct pier__cm_event event;
	struct history_end *end;

	while (!pier__soft_cm_next(host->cm, &event)) {
		end = event.id->owner;
		switch (event.kind) {
		case PIER__CM_REQUEST:
			event.listener->held--;
			request(host, &event);
			break;
		case PIER__CM_RESPONSE:
			response(end, &event);
			break;
		case PIER__CM_ESTABLISHED:
			end_ready(end);
			break;
		case PIER__CM_RESOLVED:
			break;
		default:
			ended(end, event.kind);
		}
	}
}

static void connect_due(struct history *h, struct history_conn *conn)
{
	struct history_life *life = conn->life;

	if (!conn->host[0]->up || (life && life->end[0].open))
		return;
	if (!conn->connect_at)
		conn->connect_at = h->net.now + 1 +
				   history_random(h, h->violent ?
						  PIER__MS / 10 : 3 * PIER__MS);
	if (h->net.now < conn->connect_at)
		return;
	conn->connect_at = 0;
	life_new(h, conn);
	if (history_chance(h, 0.3))
		connect_by_hand(h, conn);
	else
		connect_by_cm(h, conn);
}

/* Does the program end it, for a reason or at a whim? */
static bool is_over(struct history *h, const struct history_end *end)
{
	const struct history_end *peer = history_peer(end);

	if (!end->open || h->mild)
		return false;
	if (end->failed)
		return history_chance(h, 0.3);
	if (h->quiet || !peer->used)
		return false;
	if (peer->born != peer->host->words)	/* its process has ended */
		return history_chance(h, h->violent ? 0.001 : 0.02);
	return end->done == HISTORY_OPS && history_chance(h, 0.02);
}

void history_conns_turn(struct history *h)
{
	struct history_life *life;
	int i;

	for (i = 0; i < h->hosts; i++)
		if (h->host[i].up)
			events(&h->host[i]);
	for (life = h->life; life; life = life->next)
		for (i = 0; i < 2; i++)
			if (is_over(h, &life->end[i]))
				history_end_close(&life->end[i],
						  history_chance(h, 0.7));
	for (i = 0; i < h->conns && !h->quiet; i++)
		connect_due(h, &h->conn[i]);
}
