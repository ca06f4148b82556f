/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/* Messages of another transaction, and what a client chooses for us. */
static struct cm_pair *pair;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

/* What every end of a connection may be sent by the one at the other end. */
static struct soft_mad to_server(enum soft_mad_attr attr)
{
	return (struct soft_mad) {
		.attr = (uint16_t)attr,
		.tid = sent(SOFT_MAD_REQ)->mad.tid,
		.local_id = sent(SOFT_MAD_REQ)->mad.local_id,
		.remote_id = sent(SOFT_MAD_REP)->mad.local_id,
		.qpn = sent(SOFT_MAD_REP)->mad.qpn,
		.guid = sent(SOFT_MAD_REQ)->mad.guid,
		.reason = ROCE_REJ_CONSUMER,
	};
}

static struct soft_mad to_client(enum soft_mad_attr attr)
{
	struct soft_mad mad = to_server(attr);

	mad.local_id = sent(SOFT_MAD_REP)->mad.local_id;
	mad.remote_id = sent(SOFT_MAD_REQ)->mad.local_id;
	mad.guid = sent(SOFT_MAD_REP)->mad.guid;
	return mad;
}

/* @mad from side !@i, with a transaction ID that is not the one in use. */
static void other_transaction(int i, struct soft_mad mad)
{
	mad.tid ^= 1;
	cm_inject(pair, i, &pair->node[!i].addr, i ? CM_PORT1 : CM_PORT0, &mad);
}

static void a_client_takes_its_own_transaction_only(void)
{
	struct soft_mad mad;
	struct cmpair_end *a;
	unsigned int count;

	pair = cm_open(3, false, 8);
	sent(SOFT_MAD_REP)->lose = 1000;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 10);
	other_transaction(0, to_client(SOFT_MAD_REP));
	other_transaction(0, to_client(SOFT_MAD_REJ));
	mad = to_client(SOFT_MAD_MRA);
	mad.service_timeout = 20;
	other_transaction(0, mad);
	count = sent(SOFT_MAD_REQ)->count;
	cm_run(pair, 200);
	IS(a->events[PIER__CM_RESPONSE], 0);
	IS(a->over, -1);
	OK(sent(SOFT_MAD_REQ)->count > count);
	mad = to_client(SOFT_MAD_REP);
	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	cm_run(pair, 1);
	IS(a->events[PIER__CM_RESPONSE], 1);
	cm_close(pair);
}

static void so_does_a_server(void)
{
	struct soft_mad mad;
	struct cmpair_end *b;

	pair = cm_open(3, false, 8);
	sent(SOFT_MAD_RTU)->lose = 1000;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 10);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		other_transaction(1, to_server(SOFT_MAD_RTU));
		other_transaction(1, to_server(SOFT_MAD_REJ));
		cm_run(pair, 1);
		IS(b->events[PIER__CM_ESTABLISHED], 0);
		IS(b->over, -1);
		mad = to_server(SOFT_MAD_RTU);
		cm_inject(pair, 1, &pair->node[0].addr, CM_PORT1, &mad);
		cm_run(pair, 1);
		IS(b->events[PIER__CM_ESTABLISHED], 1);
	}
	cm_close(pair);
}

static void the_end_is_confirmed_by_the_same_transaction(void)
{
	struct soft_mad mad;
	struct cmpair_end *b;

	pair = cm_open(3, false, 8);
	if (cm_connected(pair)) {
		sent(SOFT_MAD_DREP)->lose = 1000;
		b = cm_last(&pair->node[1]);
		IS(pier__soft_cm_disconnect(b->id), 0);
		cm_run(pair, 1);
		mad = to_server(SOFT_MAD_DREP);
		mad.tid = sent(SOFT_MAD_DREQ)->mad.tid;
		other_transaction(1, mad);
		cm_run(pair, 1);
		IS(b->over, -1);
		cm_inject(pair, 1, &pair->node[0].addr, CM_PORT1, &mad);
		cm_run(pair, 1);
		IS(b->over, PIER__CM_DISCONNECTED);
	}
	cm_close(pair);
}

static bool sees_marks(const struct vnet_packet *packet, void *arg)
{
	*(uint8_t *)arg |= packet->tclass;
	return true;
}

/* ECN: packets are not marked because their receiver's client said so. */
static void a_client_chooses_no_ecn_marks(void)
{
	struct ibv_qp_attr attr;
	struct soft_addr src;
	struct soft_mad mad;
	uint8_t data[92], marks = 0;
	uint16_t port;
	int mask;

	pair = cm_open(3, false, 8);
	src = pair->node[0].addr;
	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	mad.primary.tclass = 0xff;
	pair->net.tap = sees_marks;
	pair->net.tap_arg = &marks;
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	IS(marks, 0xfc);
	if (OK(cm_last(&pair->node[1])) &&
	    IS(pier__soft_cm_qp_attr(cm_last(&pair->node[1])->id, IBV_QPS_RTR,
				     &attr, &mask, &port), 0))
		IS(attr.ah_attr.grh.traffic_class, 0xfc);
	cm_close(pair);
}

int main(void)
{
	TEST(a_client_takes_its_own_transaction_only);
	TEST(so_does_a_server);
	TEST(the_end_is_confirmed_by_the_same_transaction);
	TEST(a_client_chooses_no_ecn_marks);
	return tap_done();
}
