/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cm/rdmacm/peer_addr.h"
#include "core/fail.h"
#include "core/list.h"
#include "core/roce.h"
#include "t/lib/fakecm.h"

#define EVENTS 512

struct fake {
	struct pier__cm cm;
	struct pier__cm_event events[EVENTS];
	uint8_t data[EVENTS][PIER__CM_REP_DATA];
	unsigned int first, last;
};

struct fake_listener {
	struct pier__cm_listener listener;
	struct pier__list link;
};

struct fake_id {
	struct pier__cm_id id;
	struct fake_id *other;		/* NULL: none, or gone */
	struct pier__cm_param param;	/* what we sent */
	uint32_t psn;
	bool asked, up, over;
};

bool fakecm_lose_rtu, fakecm_lose_req, fakecm_no_way, fakecm_hang_up;
int fakecm_error = -EIO;
int fakecm_fail, fakecm_ids, fakecm_listeners, fakecm_stale;
static uint32_t stale_qpn;	/* of the last such REQ */
const uint8_t *fakecm_data;

static struct pier__list listeners = { &listeners, &listeners };
static uint16_t next_port = 20000;
static uint32_t next_psn = 1000;

static bool fails(void)
{
	return fakecm_fail && --fakecm_fail == 0;
}

static int broken(void)
{
	return pier__fail(fakecm_error, "it was made to fail");
}

static struct fake *fake(struct pier__cm *cm)
{
	return (struct fake *)cm;
}

static void tell(struct fake_id *id, enum pier__cm_kind kind,
		 struct pier__cm_listener *listener, uint16_t reason,
		 const void *data, size_t len, size_t field)
{
	struct fake *f = fake(id->id.cm);
	unsigned int at = f->last++ % EVENTS;
	struct pier__cm_event *ev = &f->events[at];
	uint64_t one = 1;

	memset(ev, 0, sizeof(*ev));
	memset(f->data[at], 0, sizeof(f->data[at]));
	if (len)
		memcpy(f->data[at], data, len);
	if (fakecm_data && field) {
		memcpy(f->data[at], fakecm_data, field);
		fakecm_data = NULL;
	}
	ev->kind = kind;
	ev->id = &id->id;
	ev->listener = listener;
	ev->reason = reason;
	ev->error = -EHOSTUNREACH;
	ev->data = f->data[at];
	ev->len = field;
	if (id->other) {
		ev->qpn = id->other->param.qpn;
		ev->responder_resources = id->other->param.initiator_depth;
		ev->initiator_depth = id->other->param.responder_resources;
	}
	if (write(f->cm.fd, &one, sizeof(one)) < 0)
		abort();
}

static int fake_create(struct pier__chan *chan, enum ibv_mtu mtu,
		       struct pier__cm **ret)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f || fails()) {
		free(f);
		return broken();
	}
	(void)mtu;
	f->cm.chan = chan;
	f->cm.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret = &f->cm;
	return 0;
}

static void fake_destroy(struct pier__cm *cm)
{
	close(cm->fd);
	free(fake(cm));
}

static int fake_next(struct pier__cm *cm, struct pier__cm_event *ret)
{
	struct fake *f = fake(cm);
	uint64_t count;

	while (f->first != f->last && !f->events[f->first % EVENTS].id)
		f->first++;	/* forgotten */
	if (f->first == f->last) {
		if (read(cm->fd, &count, sizeof(count)) < 0)
			count = 0;
		return -EAGAIN;
	}
	*ret = f->events[f->first++ % EVENTS];
	if (ret->kind == PIER__CM_REQUEST)
		ret->listener->held++;
	return 0;
}

static struct fake_listener *find(uint16_t port)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &listeners) {
		struct fake_listener *l = pier__container_of(
			pos, struct fake_listener, link);

		if (l->listener.port == port)
			return l;
	}
	return NULL;
}

/* Any address, or one of the device's? */
static bool is_ours(struct pier__cm *cm, const struct sockaddr *addr)
{
	const struct pier__port *port = &cm->chan->fdev->port;
	uint8_t raw[16], any[16] = { 0 };

	pier__sockaddr_to_gid(addr, raw);
	if (!memcmp(raw, any, 16))
		return true;
	for (uint32_t i = 0; i < port->gid_count; i++)
		if (!memcmp(port->gids[i].raw, raw, 16))
			return true;
	return false;
}

static int fake_listen(struct pier__cm *cm, const struct sockaddr *addr,
		       int backlog, void *owner, struct pier__cm_listener **ret)
{
	uint16_t port = ntohs(((const struct sockaddr_in *)(const void *)
			       addr)->sin_port);
	struct fake_listener *l;

	(void)backlog;
	if (fails())
		return broken();
	if (!is_ours(cm, addr))
		return pier__fail(-EADDRNOTAVAIL, "no such address");
	if (port && find(port))
		return pier__fail(-EADDRINUSE, "port %u is taken", port);
	l = calloc(1, sizeof(*l));
	if (!l)
		return broken();
	l->listener.cm = cm;
	l->listener.owner = owner;
	l->listener.port = port ? port : next_port++;
	pier__list_add(&listeners, &l->link);
	fakecm_listeners++;
	*ret = &l->listener;
	return 0;
}

/* Events of @id, or requests of @listener, are not reported any more. */
static void forget(struct fake *f, const struct pier__cm_id *id)
{
	for (unsigned int i = f->first; i != f->last; i++)
		if (f->events[i % EVENTS].id == id)
			f->events[i % EVENTS].id = NULL;
}

static void fake_release(struct pier__cm_id *id);

static void fake_unlisten(struct pier__cm_listener *listener)
{
	struct fake_listener *l = (struct fake_listener *)listener;
	struct fake *f = fake(listener->cm);

	for (unsigned int i = f->first; i != f->last; i++) {
		struct pier__cm_event *ev = &f->events[i % EVENTS];

		if (ev->id && ev->listener == listener)
			fake_release(ev->id);
	}
	pier__list_del(&l->link);
	free(l);
	fakecm_listeners--;
}

static struct fake_id *new_id(struct pier__cm *cm, void *owner)
{
	struct fake_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->id.cm = cm;
	id->id.owner = owner;
	id->psn = next_psn++;
	fakecm_ids++;
	return id;
}

static int fake_resolve(struct pier__cm *cm, const struct sockaddr *src,
			const struct sockaddr *dst, int timeout_ms, void *owner,
			struct pier__cm_id **ret)
{
	socklen_t len = dst->sa_family == AF_INET6 ?
				sizeof(struct sockaddr_in6) :
				sizeof(struct sockaddr_in);
	struct fake_id *id;

	(void)timeout_ms;
	if (fails())
		return broken();
	if (src && !is_ours(cm, src))
		return pier__fail(-EADDRNOTAVAIL, "no such address");
	id = new_id(cm, owner);
	if (!id)
		return broken();
	memcpy(&id->id.peer, dst, len);
	memcpy(&id->id.local, dst, len);
	tell(id, fakecm_no_way ? PIER__CM_UNREACHABLE : PIER__CM_RESOLVED,
	     NULL, 0, NULL, 0, 0);
	*ret = &id->id;
	return 0;
}

/* A QPN that was stale once remains so. */
static bool is_stale(uint32_t qpn)
{
	if (!fakecm_stale)
		return false;
	if (qpn != stale_qpn)
		fakecm_stale--;
	stale_qpn = qpn;
	return true;
}

static int fake_connect(struct pier__cm_id *cm_id,
			const struct pier__cm_param *param)
{
	struct fake_id *id = (struct fake_id *)cm_id, *other;
	struct sockaddr_in *dst = (void *)&cm_id->peer;
	struct fake_listener *l = find(ntohs(dst->sin_port));

	if (fails())
		return broken();
	id->param = *param;
	id->asked = true;
	if (fakecm_lose_req)
		return 0;
	if (!l || is_stale(param->qpn)) {
		tell(id, PIER__CM_REJECTED, NULL,
		     l ? ROCE_REJ_STALE : ROCE_REJ_SERVICE_ID, NULL, 0,
		     PIER__CM_REJ_DATA);
		return 0;
	}
	other = new_id(l->listener.cm, NULL);
	if (!other)
		return broken();
	other->id.local = cm_id->peer;
	other->id.peer = cm_id->local;
	other->other = id;
	id->other = other;
	tell(other, PIER__CM_REQUEST, &l->listener, 0, param->data, param->len,
	     PIER__CM_REQ_DATA);
	return 0;
}

static int fake_accept(struct pier__cm_id *cm_id,
		       const struct pier__cm_param *param)
{
	struct fake_id *id = (struct fake_id *)cm_id;

	if (fails())
		return broken();
	id->param = *param;
	if (id->other)
		tell(id->other, PIER__CM_RESPONSE, NULL, 0, param->data,
		     param->len, PIER__CM_REP_DATA);
	return 0;
}

static int fake_establish(struct pier__cm_id *cm_id)
{
	struct fake_id *id = (struct fake_id *)cm_id;

	if (fails())
		return broken();
	id->up = true;
	if (id->other)
		id->other->up = true;
	if (id->other && !fakecm_lose_rtu)
		tell(id->other, PIER__CM_ESTABLISHED, NULL, 0, NULL, 0, 0);
	if (id->other && fakecm_hang_up)
		tell(id->other, PIER__CM_DISCONNECTED, NULL, 0, NULL, 0, 0);
	return 0;
}

/* The other end gets the event that it is over. */
static void part(struct fake_id *id, uint16_t reason, const void *data,
		 size_t len)
{
	struct fake_id *other = id->other;

	if (!other)
		return;
	id->other = NULL;
	other->other = NULL;
	if (other->up)
		tell(other, PIER__CM_DISCONNECTED, NULL, 0, NULL, 0, 0);
	else
		tell(other, PIER__CM_REJECTED, NULL, reason, data, len,
		     PIER__CM_REJ_DATA);
}

static int fake_reject(struct pier__cm_id *cm_id, const void *data, size_t len)
{
	part((struct fake_id *)cm_id, 28, data, len);
	return 0;
}

static int fake_disconnect(struct pier__cm_id *cm_id)
{
	struct fake_id *id = (struct fake_id *)cm_id;

	part(id, 4, NULL, 0);
	tell(id, PIER__CM_DISCONNECTED, NULL, 0, NULL, 0, 0);
	return 0;
}

static void fake_release(struct pier__cm_id *cm_id)
{
	struct fake_id *id = (struct fake_id *)cm_id;

	part(id, id->asked ? 4 : 28, NULL, 0);
	forget(fake(cm_id->cm), cm_id);
	free(id);
	fakecm_ids--;
}

static int fake_qp_attr(struct pier__cm_id *cm_id, enum ibv_qp_state state,
			struct ibv_qp_attr *ret, int *ret_mask,
			uint16_t *ret_udp_port)
{
	struct fake_id *id = (struct fake_id *)cm_id, *other = id->other;
	struct pier__port *port = &cm_id->cm->chan->fdev->port;

	if (fails() || (state != IBV_QPS_INIT && !other))
		return broken();
	ret->qp_state = state;
	ret->port_num = 1;
	*ret_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		    IBV_QP_ACCESS_FLAGS;
	if (state == IBV_QPS_INIT)
		return 0;
	*ret_udp_port = other->id.cm->chan->udp_port;
	ret->path_mtu = port->mtu;
	ret->dest_qp_num = other->param.qpn;
	ret->rq_psn = id->psn;
	ret->max_dest_rd_atomic = 16;
	ret->ah_attr.is_global = 1;
	ret->ah_attr.port_num = 1;
	pier__sockaddr_to_gid((void *)&cm_id->peer,
			      ret->ah_attr.grh.dgid.raw);
	*ret_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	for (uint32_t i = 0; i < port->gid_count; i++)
		if (!memcmp(port->gids[i].raw, ret->ah_attr.grh.dgid.raw, 16))
			ret->ah_attr.grh.sgid_index =
				(uint8_t)port->gids[i].index;
	if (state == IBV_QPS_RTR)
		return 0;
	ret->sq_psn = other->psn;
	ret->max_rd_atomic = 16;
	*ret_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
		    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		    IBV_QP_MAX_QP_RD_ATOMIC;
	return 0;
}

const struct pier__fabric_cm fakecm = {
	.create = fake_create,
	.destroy = fake_destroy,
	.next = fake_next,
	.listen = fake_listen,
	.unlisten = fake_unlisten,
	.resolve = fake_resolve,
	.connect = fake_connect,
	.accept = fake_accept,
	.establish = fake_establish,
	.reject = fake_reject,
	.disconnect = fake_disconnect,
	.release = fake_release,
	.qp_attr = fake_qp_attr,
};
