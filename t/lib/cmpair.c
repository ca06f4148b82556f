/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

#define QPN_FIRST 101		/* of the ends of a side */

static void must(bool ok, const char *what)
{
	if (!ok) {
		printf("Bail out! %s\n", what);
		exit(1);
	}
}

static int node_gid(struct soft_cm_host *host, const struct in6_addr *ip)
{
	struct cm_node *node = (struct cm_node *)host;

	if (node->no_gid || !IN6_ARE_ADDR_EQUAL(ip, &node->addr.ip))
		return -1;
	return 3;
}

static struct soft_io *further(struct cm_node *node, uint16_t port)
{
	struct soft_io *io = vnet_node(&node->pair->net, node->ip, port);

	pier__soft_ep_add_io(node->ep, io);
	vnet_attach(io, node->ep);
	return io;
}

static bool node_roce_port(struct soft_cm_host *host, bool on)
{
	struct cm_node *node = (struct cm_node *)host;

	if (on && node->roce_port_taken)
		return false;
	node->roce_port_users += on ? 1 : -1;
	if (on && !node->roce_io)
		node->roce_io = further(node, ROCE_UDP_PORT);
	return true;
}

static bool node_port_probe(struct soft_cm_host *host,
			    const struct in6_addr *src,
			    const struct soft_addr *dst, void **state)
{
	struct cm_node *node = (struct cm_node *)host;

	OK(IN6_ARE_ADDR_EQUAL(src, &node->addr.ip));
	node->port_probes++;
	if (!*state)
		node->port_probes_open++;
	*state = node;
	OK(dst->port != ROCE_UDP_PORT);	/* that crashes some */
	return node->peer_closed;
}

static void node_port_probe_end(struct soft_cm_host *host, void *state)
{
	struct cm_node *node = (struct cm_node *)host;

	OK(state == node);
	node->port_probes_open--;
}

static void node_notify(struct soft_cm_host *host)
{
	((struct cm_node *)host)->rings++;
}

static const struct soft_cm_host_ops node_ops = {
	.gid = node_gid,
	.roce_port = node_roce_port,
	.port_probe = node_port_probe,
	.port_probe_end = node_port_probe_end,
	.notify = node_notify,
};

static void node_open(struct cm_pair *pair, int i, const char *ip,
		      uint16_t port)
{
	struct cm_node *node = &pair->node[i];

	node->pair = pair;
	node->ip = ip;
	node->host.ops = &node_ops;
	node->host.mtu = IBV_MTU_1024;
	node->io = vnet_node(&pair->net, ip, port);
	node->addr = vnet_addr(node->io);
	must(!pier__soft_mr_table_create(&node->keys), "keys");
	must(!pier__soft_ep_create(node->io, node->keys, &node->ep), "ep");
	must(!pier__soft_cq_create(node->ep, 64, &node->cq), "cq");
	must(!pier__soft_srq_create(node->ep, 64, 4, &node->srq), "srq");
	must(!pier__soft_cm_create(node->ep, &node->host, &node->cm), "cm");
	vnet_attach(node->io, node->ep);
}

static void node_close(struct cm_node *node)
{
	struct cmpair_end *end;

	while ((end = node->ends)) {
		node->ends = end->next;
		if (end->id)
			pier__soft_cm_release(end->id);
		free(end);
	}
	pier__soft_cm_destroy(node->cm);
	IS(node->roce_port_users, 0);
	IS(node->port_probes_open, 0);
	pier__soft_srq_destroy(node->srq);
	pier__soft_cq_destroy(node->cq);
	pier__soft_ep_destroy(node->ep);
	pier__soft_mr_table_destroy(node->keys);
}

/* Count what is sent, lose what is to be lost. */
static bool tap(const struct vnet_packet *packet, void *arg)
{
	struct cm_pair *pair = arg;
	struct soft_hdr hdr;
	struct soft_mad mad;
	struct cm_sent *sent;
	size_t len = pier__soft_decode(packet->data, packet->len, &hdr);

	if (!len || hdr.qpn != ROCE_GSI_QPN ||
	    !pier__soft_mad_decode(packet->data + len, SOFT_MAD_LEN, &mad))
		return true;
	sent = &pair->sent[mad.attr];
	sent->count++;
	sent->port = packet->dst.port;
	sent->packet = *packet;
	sent->mad = mad;
	sent->mad.data = NULL;
	sent->mad.len = 0;
	if (!sent->lose)
		return true;
	sent->lose--;
	return false;
}

struct cm_pair *cm_open(uint64_t seed, bool v6, uint32_t backlog)
{
	struct cm_pair *pair = calloc(1, sizeof(*pair));

	must(pair, "memory");
	vnet_init(&pair->net, seed);
	pair->net.tap = tap;
	pair->net.tap_arg = pair;
	node_open(pair, 0, v6 ? "2001:db8::1" : "192.0.2.1", CM_PORT0);
	node_open(pair, 1, v6 ? "2001:db8::2" : "192.0.2.2", CM_PORT1);
	pair->node[0].manner = CM_AGREE;
	pair->node[1].manner = CM_AGREE;
	if (backlog)
		cm_listen(pair, 1, backlog);
	return pair;
}

void cm_close(struct cm_pair *pair)
{
	int i;

	for (i = 0; i < 2; i++)
		if (pair->qp[i])
			pier__soft_qp_destroy(pair->qp[i]);
	if (pair->node[1].listener.backlog)
		cm_unlisten(pair, 1);
	node_close(&pair->node[0]);
	node_close(&pair->node[1]);
	vnet_fini(&pair->net);
	free(pair);
}

void cm_queue(struct cm_pair *pair, int i)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_send_sge = 1, .max_inline_data = 64,
	};
	struct cm_node *node = &pair->node[i];

	must(!pier__soft_qp_create(node->cq, node->srq, &cap, &pair->qp[i]),
	     "qp");
	node->last_qpn = pair->qp[i]->qpn - QPN_FIRST;
}

void cm_queue_connect(struct cm_pair *pair, int i)
{
	static const enum ibv_qp_state path[3] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	struct cm_node *node = &pair->node[i];
	struct ibv_qp_attr attr;
	uint16_t port;
	int k, mask;

	for (k = 0; k < 3; k++) {
		IS(pier__soft_cm_qp_attr(cm_last(node)->id, path[k], &attr,
					 &mask, &port), 0);
		IS(pier__soft_qp_modify(pair->qp[i], &attr, mask, &node->addr,
					port), 0);
	}
}

void cm_listen(struct cm_pair *pair, int i, uint32_t backlog)
{
	struct cm_node *node = &pair->node[i];

	if (!node->listen_io)
		node->listen_io = further(node, CM_SERVICE);
	memset(&node->listener, 0, sizeof(node->listener));
	node->listener.listener.port = CM_SERVICE;
	node->listener.backlog = backlog;
	node->listener.roce_port = !node->needs_roce_port;
	node->listener.no_roce_port = node->no_roce_port;
	pier__soft_cm_listen(node->cm, &node->listener);
}

void cm_unlisten(struct cm_pair *pair, int i)
{
	struct cm_node *node = &pair->node[i];

	pier__soft_cm_unlisten(node->cm, &node->listener);
	if (node->needs_roce_port && node->listener.roce_port)
		node_roce_port(&node->host, false);
	node->listener.backlog = 0;
}

static struct cmpair_end *end_new(struct cm_node *node, struct pier__cm_id *id)
{
	struct cmpair_end *end = calloc(1, sizeof(*end));

	must(end, "memory");
	end->id = id;
	end->over = -1;
	end->qpn = QPN_FIRST + node->last_qpn++;
	end->next = node->ends;
	node->ends = end;
	if (id)
		id->owner = end;
	return end;
}

static struct pier__cm_param param(const struct cmpair_end *end,
				   const char *data)
{
	return (struct pier__cm_param) {
		.qpn = end->qpn,
		.responder_resources = 4, .initiator_depth = 3,
		.retry_count = 6, .rnr_retry = 7, .qkey = CM_QKEY,
		.data = data, .len = data ? strlen(data) : 0,
	};
}

struct cmpair_end *cm_ask_in(struct cm_pair *pair, uint16_t port,
			     const char *data, enum pier__cm_space space)
{
	struct cm_node *node = &pair->node[0];
	struct cmpair_end *end = end_new(node, NULL);
	struct soft_addr dst = pair->node[1].addr;
	struct pier__cm_param p = param(end, data);

	p.space = space;
	dst.port = port;
	if (!IS(pier__soft_cm_resolved(node->cm, &node->addr, &dst, end,
				       &end->id), 0))
		return end;
	IS(pier__soft_cm_connect(end->id, &p), 0);
	return end;
}

struct cmpair_end *cm_ask(struct cm_pair *pair, uint16_t port, const char *data)
{
	return cm_ask_in(pair, port, data, PIER__CM_TCP);
}

struct cmpair_end *cm_ask_datagram(struct cm_pair *pair, uint16_t port,
				   const char *data)
{
	return cm_ask_in(pair, port, data, PIER__CM_UDP);
}

int cm_accept(struct cmpair_end *end, const char *data)
{
	struct pier__cm_param p = param(end, data);

	return pier__soft_cm_accept(end->id, &p);
}

int cm_establish(struct cmpair_end *end)
{
	return pier__soft_cm_establish(end->id);
}

void cm_release(struct cmpair_end *end)
{
	pier__soft_cm_release(end->id);
	end->id = NULL;
}

static void behave(struct cm_node *node, struct cmpair_end *end, int kind)
{
	if (kind == PIER__CM_REQUEST && node->manner == CM_AGREE)
		IS(cm_accept(end, NULL), 0);
	else if (kind == PIER__CM_REQUEST && node->manner == CM_REFUSE)
		IS(pier__soft_cm_reject(end->id, "go away", 7), 0);
	else if (kind == PIER__CM_RESPONSE && node->manner == CM_AGREE)
		IS(cm_establish(end), 0);
}

void cm_events(struct cm_node *node)
{
	struct pier__cm_event event;
	struct cmpair_end *end;

	while (!pier__soft_cm_next(node->cm, &event)) {
		end = event.kind == PIER__CM_REQUEST ?
		      end_new(node, event.id) : event.id->owner;
		end->event = event;
		end->events[event.kind]++;
		if (event.kind == PIER__CM_REQUEST)
			event.listener->held--;
		if (event.len)
			memcpy(end->data, event.data, event.len);
		if (event.kind >= PIER__CM_REJECTED &&
		    event.kind != PIER__CM_TIMEWAIT_EXIT) {
			IS(end->over, -1);
			end->over = event.kind;
			end->error = event.error;
			end->reason = event.reason;
		}
		behave(node, end, event.kind);
	}
}

static bool both(void *arg)
{
	struct cm_pair *pair = arg;

	cm_events(&pair->node[0]);
	cm_events(&pair->node[1]);
	return false;
}

void cm_run(struct cm_pair *pair, uint64_t ms)
{
	vnet_run(&pair->net, ms * PIER__MS, both, pair);
	both(pair);
}

struct cmpair_end *cm_last(struct cm_node *node)
{
	return node->ends;
}

bool cm_connected(struct cm_pair *pair)
{
	struct cmpair_end *end = cm_ask(pair, CM_SERVICE, NULL);

	cm_run(pair, 10);
	return IS(end->events[PIER__CM_RESPONSE], 1) &&
	       OK(cm_last(&pair->node[1])) &&
	       IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
}

void cm_inject(struct cm_pair *pair, int i, const struct soft_addr *src,
	       uint16_t port, const struct soft_mad *mad)
{
	struct soft_hdr hdr = {
		.opcode = SOFT_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = ROCE_GSI_QPN, .src_qpn = ROCE_GSI_QPN,
		.qkey = ROCE_GSI_QKEY, .ack_req = true,
	};
	uint8_t bytes[SOFT_MAD_LEN];
	struct soft_tx tx = {
		.src = *src, .dst = pair->node[i].addr,
		.payload_len = SOFT_MAD_LEN, .iov_count = 1,
		.iov = { { bytes, SOFT_MAD_LEN } },
	};
	struct vnet_packet packet;

	tx.dst.port = port;
	pier__soft_mad_encode(mad, bytes);
	tx.hdr_len = (uint8_t)pier__soft_encode(&hdr, tx.hdr);
	vnet_build(&pair->net, &tx, &packet);
	vnet_deliver(&pair->net, &packet);
	vnet_settle(&pair->net);
}

void cm_linux_req(struct cm_pair *pair, const struct soft_addr *src,
		  uint32_t comm_id, uint32_t qpn, struct soft_mad *ret,
		  uint8_t *data)
{
	struct soft_mad_ip ip = {
		.src = src->ip, .dst = pair->node[1].addr.ip,
		.src_port = 33333,
	};

	*ret = (struct soft_mad){
		.attr = SOFT_MAD_REQ,
		.tid = 0x1234500000000 | comm_id,
		.local_id = comm_id,
		.guid = 0x505400fffe123456,
		.service_id = 0x0106u << 16 | CM_SERVICE,
		.qpn = qpn,
		.psn = 0x123456,
		.responder_resources = 8,
		.initiator_depth = 8,
		.remote_timeout = 20,
		.local_timeout = 20,
		.retry_count = 7,
		.rnr_retry = 7,
		.max_retries = 15,
		.mtu = IBV_MTU_1024,
		.pkey = ROCE_PKEY_DEFAULT,
		.primary = { .local_lid = 0xffff,
			     .remote_lid = 0xffff,
			     .hop_limit = 64,
			     .ack_timeout = 19 },
		.data = data,
		.len = 92,
	};
	memcpy(ret->primary.local_gid, &src->ip, 16);
	memcpy(ret->primary.remote_gid, &ip.dst, 16);
	memset(data, 0, 92);
	pier__soft_mad_ip_encode(&ip, data);
}
