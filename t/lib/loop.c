/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/registry.h"
#include "t/lib/loop.h"
#include "t/lib/tap.h"

#define PATIENCE (10000 * PIER__MS)

static bool succeeded(int err)
{
	if (err)
		tap_note("%s", pier_last_error());
	return IS(err, 0);
}

static const struct pier__fabric_qp *ops_of(const struct loop_end *end)
{
	return end->chan->fdev->fabric->qp;
}

/* Is @port the one called @name, or active if that is NULL? */
static bool is_wanted(const struct pier__port *port, const char *name)
{
	if (name && name[0])
		return !strcmp(port->name, name) ||
		       !strcmp(port->netdev, name);
	return port->active && port->gid_count;
}

int loop_device(struct pier__fdev **ret)
{
	const char *name = getenv("PIER_DEVICE");
	struct pier__ports ports = { 0 };
	const struct pier__port *port;
	size_t i;
	int err = 0;

	for (i = 0; !err && pier__fabrics[i]; i++)
		err = pier__fabrics[i]->dev->list(&ports);
	for (i = 0; !err && i < ports.count; i++)
		if (is_wanted(&ports.port[i], name))
			break;
	port = &ports.port[i];
	if (!err && i == ports.count)
		err = pier__fail(-ENODEV, "no device %s", name && name[0] ?
				 name : "with an active port");
	if (!err)
		err = port->fabric->dev->open(port, ret);
	if (!err && (*ret)->fabric != port->fabric) {
		err = pier__fail(-EINVAL, "%s opens as a device of kind %s",
				 port->name, (*ret)->fabric->name);
		(*ret)->fabric->dev->close(*ret);
	}
	free(ports.port);
	return err;
}

bool loop_end_open(struct pier__fdev *fdev, uint32_t send_wr,
		   struct loop_end *ret)
{
	const struct pier__fabric *fabric = fdev->fabric;
	struct ibv_qp_cap cap = {
		.max_send_wr = send_wr,
		.max_send_sge = 2,
		.max_inline_data = fdev->port.limits.inline_size < 64 ?
				   fdev->port.limits.inline_size : 64,
	};
	int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	memset(ret, 0, sizeof(*ret));
	ret->buf = aligned_alloc(4096, LOOP_BUF);
	if (!OK(ret->buf))
		return false;
	memset(ret->buf, 0, LOOP_BUF);
	return succeeded(fabric->dev->reg(fdev, ret->buf, LOOP_BUF, all,
					  &ret->mr)) &&
	       succeeded(fabric->qp->chan_create(fdev, 0, &ret->chan)) &&
	       succeeded(
		       fabric->qp->cq_create(ret->chan, LOOP_CQE, &ret->cq)) &&
	       succeeded(fabric->qp->srq_create(ret->chan, LOOP_SRQ, 2,
						&ret->srq)) &&
	       succeeded(fabric->qp->qp_create(ret->cq, ret->srq, &cap,
					       &ret->qp));
}

void loop_end_close(struct loop_end *end)
{
	const struct pier__fabric *fabric;

	if (!end->mr) {
		free(end->buf);
		return;
	}
	fabric = end->mr->fdev->fabric;
	if (end->qp)
		fabric->qp->qp_destroy(end->qp);
	if (end->srq)
		fabric->qp->srq_destroy(end->srq);
	if (end->cq)
		fabric->qp->cq_destroy(end->cq);
	if (end->chan)
		fabric->qp->chan_destroy(end->chan);
	fabric->dev->dereg(end->mr);
	free(end->buf);
}

/* Prefer an IPv4 GID: link-local ones of IPv6 may be late. */
static const struct pier_gid *own_gid(const struct pier__port *port)
{
	uint32_t i;

	for (i = 0; i < port->gid_count; i++) {
		if (port->gids[i].type == PIER_GID_ROCE_V2 &&
		    !memcmp(port->gids[i].raw,
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12))
			return &port->gids[i];
	}
	for (i = 0; i < port->gid_count; i++) {
		if (port->gids[i].type != PIER_GID_ROCE_V1)
			return &port->gids[i];
	}
	return &port->gids[0];
}

static int to_init(struct loop_end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)end->chan->fdev->port.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	return ops_of(end)->qp_modify(end->qp, &attr, IBV_QP_STATE |
				      IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS, 0);
}

static int to_rtr(struct loop_end *end, uint32_t qpn, uint16_t udp_port)
{
	const struct pier__port *port = &end->chan->fdev->port;
	const struct pier_gid *gid = own_gid(port);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = port->mtu < IBV_MTU_1024 ? port->mtu :
			    IBV_MTU_1024,
		.dest_qp_num = qpn,
		.rq_psn = 0xfffff0,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {
			.port_num = (uint8_t)port->port,
			.dlid = port->lid,
			.is_global = port->link_layer ==
				     IBV_LINK_LAYER_ETHERNET,
			.grh = {
				.sgid_index = (uint8_t)gid->index,
				.hop_limit = 64,
			},
		},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, gid->raw, 16);
	return ops_of(end)->qp_modify(end->qp, &attr, IBV_QP_STATE |
				      IBV_QP_AV | IBV_QP_PATH_MTU |
				      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				      IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER, udp_port);
}

static int to_rts(struct loop_end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 0xfffff0,
		.timeout = 14,
		.retry_cnt = 5,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};

	return ops_of(end)->qp_modify(end->qp, &attr, IBV_QP_STATE |
				      IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_MAX_QP_RD_ATOMIC, 0);
}

int loop_try(struct loop_end *end, uint32_t qpn, uint16_t udp_port)
{
	int err = to_init(end);

	if (!err)
		err = to_rtr(end, qpn, udp_port);
	return err ? err : to_rts(end);
}

bool loop_connect(struct loop_end *end, uint32_t qpn, uint16_t udp_port)
{
	return succeeded(loop_try(end, qpn, udp_port));
}

static bool connect_both(struct loop *loop)
{
	struct loop_end *a = &loop->a, *b = &loop->b;

	return loop_connect(a, b->qp->qpn, b->chan->udp_port) &&
	       loop_connect(b, a->qp->qpn, a->chan->udp_port);
}

bool loop_open(struct pier__fdev *fdev, uint32_t send_wr, struct loop *ret)
{
	ret->fdev = fdev;
	ret->ops = fdev->fabric->qp;
	memset(&ret->b, 0, sizeof(ret->b));
	return loop_end_open(fdev, send_wr, &ret->a) &&
	       loop_end_open(fdev, send_wr, &ret->b) && connect_both(ret);
}

void loop_close(struct loop *loop)
{
	loop_end_close(&loop->a);
	loop_end_close(&loop->b);
}

static bool qp_anew(struct loop_end *end)
{
	struct ibv_qp_cap cap = { .max_send_wr = 16, .max_send_sge = 2 };

	ops_of(end)->qp_destroy(end->qp);
	end->qp = NULL;
	end->count = 0;
	return succeeded(
		ops_of(end)->qp_create(end->cq, end->srq, &cap, &end->qp));
}

bool loop_again(struct loop *loop)
{
	return qp_anew(&loop->a) && qp_anew(&loop->b) && connect_both(loop);
}

bool loop_poll(struct loop_end *end)
{
	int n = ops_of(end)->poll(end->cq, end->wc + end->count,
				  LOOP_CQE - end->count);

	if (n < 0)
		return succeeded(n);
	end->count += n;
	return true;
}

bool loop_take(struct loop_end *end, struct ibv_wc *ret)
{
	if (!end->count)
		return false;
	*ret = end->wc[0];
	end->count--;
	memmove(end->wc, end->wc + 1, (size_t)end->count * sizeof(*end->wc));
	return true;
}

static bool wait_for(struct loop_end *end, struct loop_end *other,
		     struct ibv_wc *ret)
{
	uint64_t until = pier__now() + PATIENCE;

	while (!loop_take(end, ret)) {
		if (!loop_poll(end) || (other && !loop_poll(other)))
			return false;
		if (!end->count && pier__now() > until)
			return OK(!"a completion within 10 s");
	}
	return true;
}

bool loop_wait(struct loop *loop, struct loop_end *end, struct ibv_wc *ret)
{
	return wait_for(end, end == &loop->a ? &loop->b : &loop->a, ret);
}

bool loop_wait_alone(struct loop_end *end, struct ibv_wc *ret)
{
	return wait_for(end, NULL, ret);
}

bool loop_post(struct loop_end *end, struct ibv_send_wr *wr, size_t at,
	       uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf + at,
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_send_wr *bad;

	wr->send_flags |= IBV_SEND_SIGNALED;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	return succeeded(ops_of(end)->post(end->qp, wr, &bad));
}

bool loop_recv(struct loop_end *end, uint64_t wr_id, size_t at, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf + at,
		.length = len,
		.lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge,
				  .num_sge = 1 }, *bad;

	return succeeded(ops_of(end)->srq_post(end->srq, &wr, &bad));
}
