/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * How connections end, what is left of them, and peers that are no soft
 * devices, in virtual time.
 */
static struct cm_pair *pair;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static bool begin(void)
{
	pair = cm_open(2, false, 8);
	return cm_connected(pair);
}

static void end(void)
{
	cm_close(pair);
}

static struct cmpair_end *end_of(int i)
{
	return cm_last(&pair->node[i]);
}

static int disconnect(int i)
{
	return pier__soft_cm_disconnect(end_of(i)->id);
}

static void both_are_notified(void)
{
	IS(end_of(0)->over, PIER__CM_DISCONNECTED);
	IS(end_of(1)->over, PIER__CM_DISCONNECTED);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
}

/* All is forgotten once timewait is over. */
static void nothing_is_left(void)
{
	cm_run(pair, 20000);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
}

static void the_end_of_timewait_is_reported_where_it_is_to_be(void)
{
	if (begin()) {
		pier__soft_cm_report_timewait(pair->node[0].cm);
		IS(disconnect(1), 0);
		cm_run(pair, 100);
		both_are_notified();
		IS(end_of(0)->events[PIER__CM_TIMEWAIT_EXIT], 0);
		nothing_is_left();
		IS(end_of(0)->events[PIER__CM_TIMEWAIT_EXIT], 1);
		IS(end_of(1)->events[PIER__CM_TIMEWAIT_EXIT], 0);
	}
	end();
}

static void not_to_what_was_released(void)
{
	if (begin()) {
		pier__soft_cm_report_timewait(pair->node[0].cm);
		IS(disconnect(0), 0);
		cm_run(pair, 100);
		cm_release(end_of(0));
		nothing_is_left();
		IS(end_of(0)->events[PIER__CM_TIMEWAIT_EXIT], 0);
	}
	end();
}

static void all_connections_are_ended_by_one_call(void)
{
	struct cmpair_end *first;

	if (begin() && cm_connected(pair)) {
		first = end_of(1)->next;
		pier__soft_cm_disconnect_all(pair->node[0].cm);
		cm_run(pair, 10);
		both_are_notified();
		IS(first->over, PIER__CM_DISCONNECTED);
		nothing_is_left();
	}
	end();
}

static void either_end_disconnects_and_both_are_notified(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (begin()) {
			IS(disconnect(i), 0);
			cm_run(pair, 10);
			both_are_notified();
			IS(sent(SOFT_MAD_DREQ)->count, 1);
			IS(sent(SOFT_MAD_DREP)->count, 1);
			IS(disconnect(i), 0);
			nothing_is_left();
		}
		end();
	}
}

static void both_at_once_is_as_good(void)
{
	if (begin()) {
		IS(disconnect(0), 0);
		IS(disconnect(1), 0);
		cm_run(pair, 10);
		both_are_notified();
		nothing_is_left();
	}
	end();
}

static void a_lost_dreq_or_drep_is_repeated(void)
{
	if (begin()) {
		sent(SOFT_MAD_DREQ)->lose = 1;
		sent(SOFT_MAD_DREP)->lose = 1;
		IS(disconnect(0), 0);
		cm_run(pair, 500);
		both_are_notified();
		IS(sent(SOFT_MAD_DREQ)->count, 3);
		IS(sent(SOFT_MAD_DREP)->count, 2);
	}
	end();
}

/* RTU is lost, and DREQ shows that it was meant. */
static void a_dreq_stands_for_a_lost_rtu(void)
{
	pair = cm_open(2, false, 8);
	sent(SOFT_MAD_RTU)->lose = 1;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 5);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 0);
	IS(disconnect(0), 0);
	cm_run(pair, 10);
	both_are_notified();
	end();
}

static void a_peer_that_is_gone_is_not_waited_for_long(void)
{
	if (begin()) {
		vnet_attach(pair->node[1].io, NULL);
		IS(disconnect(0), 0);
		cm_run(pair, 3000);
		IS(end_of(0)->over, -1);
		cm_run(pair, 7000);
		IS(end_of(0)->over, PIER__CM_DISCONNECTED);
		vnet_attach(pair->node[1].io, pair->node[1].ep);
	}
	end();
}

static void a_dreq_for_no_connection_is_answered_with_the_ids_exchanged(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_DREQ, .local_id = 17, .remote_id = 18,
		.tid = 19, .qpn = 20,
	};

	pair = cm_open(2, false, 8);
	cm_inject(pair, 1, &pair->node[0].addr, CM_PORT1, &mad);
	IS(sent(SOFT_MAD_DREP)->count, 1);
	IS(sent(SOFT_MAD_DREP)->mad.local_id, 18);
	IS(sent(SOFT_MAD_DREP)->mad.remote_id, 17);
	IS(sent(SOFT_MAD_DREP)->mad.tid, 19);
	IS(sent(SOFT_MAD_DREP)->port, CM_PORT0);
	end();
}

static void an_end_that_is_released_disconnects_by_itself(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (begin()) {
			sent(SOFT_MAD_DREQ)->lose = 2;
			cm_release(end_of(i));
			cm_run(pair, 1000);
			IS(end_of(!i)->over, PIER__CM_DISCONNECTED);
			IS(end_of(i)->over, -1);
			nothing_is_left();
		}
		end();
	}
}

/* Side @i lets go when things are as @before made them. */
static void released(int i, enum cm_manner client, enum cm_manner server,
		     int kind)
{
	pair = cm_open(2, false, 8);
	pair->node[0].manner = client;
	pair->node[1].manner = server;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 5);
	sent(SOFT_MAD_REJ)->lose = 1;
	if (OK(end_of(i))) {
		cm_release(end_of(i));
		cm_run(pair, 10000);
		if (OK(end_of(!i)))
			IS(end_of(!i)->over, kind);
		nothing_is_left();
	}
	end();
}

static void an_attempt_can_be_released_at_every_step(void)
{
	/* REQ is sent; the server's program has it. */
	released(0, CM_AGREE, CM_WAIT, PIER__CM_REJECTED);
	/* The same, seen from the server. */
	released(1, CM_AGREE, CM_WAIT, PIER__CM_REJECTED);
	/* REP was reported to a client that does not go on. */
	released(0, CM_WAIT, CM_AGREE, PIER__CM_REJECTED);
	/* The same, seen from the server: it waits for RTU. */
	released(1, CM_WAIT, CM_AGREE, PIER__CM_REJECTED);
}

static void what_was_only_resolved_is_released_without_a_word(void)
{
	struct pier__cm_id *id;
	struct soft_cm *cm;
	struct soft_addr dst;

	pair = cm_open(2, false, 8);
	cm = pair->node[0].cm;
	dst = pair->node[1].addr;
	IS(pier__soft_cm_resolved(cm, &pair->node[0].addr, &dst, NULL, &id), 0);
	pier__soft_cm_release(id);
	cm_run(pair, 100);
	IS(pair->net.sent, 0);
	IS(pier__soft_cm_count(cm), 0);
	end();
}

static void only_what_is_connected_can_be_disconnected(void)
{
	struct cmpair_end *a;

	pair = cm_open(2, false, 8);
	pair->node[0].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	IS(disconnect(0), -ENOTCONN);
	IS(cm_establish(a), -EINVAL);
	cm_run(pair, 5);
	IS(disconnect(0), -ENOTCONN);
	IS(cm_establish(a), 0);
	IS(cm_establish(a), -EINVAL);
	end();
}

/* A peer that has lost our connection, and uses its QPN again. */
static void a_stale_connection_ends_when_its_peer_begins_anew(void)
{
	struct soft_addr src;
	struct soft_mad mad;
	struct cmpair_end *b;
	uint8_t data[92];

	pair = cm_open(2, false, 8);
	src = pair->node[0].addr;
	src.port = 0xd872;
	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	b = end_of(1);
	if (!OK(b))
		goto out;
	mad = (struct soft_mad) {
		.attr = SOFT_MAD_RTU, .local_id = 1000, .tid = mad.tid,
		.remote_id = sent(SOFT_MAD_REP)->mad.local_id,
	};
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	IS(b->events[PIER__CM_ESTABLISHED], 1);

	cm_linux_req(pair, &src, 1001, 77, &mad, data);
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_STALE);
	IS(sent(SOFT_MAD_REJ)->mad.remote_id, 1001);
	IS(sent(SOFT_MAD_DREQ)->mad.remote_id, 1000);
	IS(sent(SOFT_MAD_DREQ)->mad.qpn, 77);
	cm_run(pair, 20000);
	IS(b->over, PIER__CM_DISCONNECTED);
	/* Now it may. */
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	OK(end_of(1) != b);
out:
	end();
}

static void a_linux_client_is_answered_at_port_4791(void)
{
	struct cm_node *server;
	struct soft_addr src;
	struct ibv_qp_attr attr;
	struct soft_mad mad;
	uint8_t data[92];
	uint16_t port;
	int mask;

	pair = cm_open(2, false, 8);
	server = &pair->node[1];
	server->host.ops->roce_port(&server->host, true);
	src = pair->node[0].addr;
	src.port = 0xd872;
	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	cm_inject(pair, 1, &src, ROCE_UDP_PORT, &mad);
	cm_run(pair, 1);
	if (OK(end_of(1))) {
		IS(sent(SOFT_MAD_REP)->port, ROCE_UDP_PORT);
		IS(sent(SOFT_MAD_REP)->mad.tid, mad.tid);
		IS(sent(SOFT_MAD_REP)->mad.remote_id, 1000);
		IS(pier__soft_cm_qp_attr(end_of(1)->id, IBV_QPS_RTR, &attr,
					 &mask, &port),
		   0);
		IS(port, ROCE_UDP_PORT);
		IS(attr.dest_qp_num, 77);
		IS(pier__soft_cm_qp_attr(end_of(1)->id, IBV_QPS_RTS, &attr,
					 &mask, &port),
		   0);
		IS(attr.timeout, 19);
		IS(attr.sq_psn, 0x123456);
	}
	server->host.ops->roce_port(&server->host, false);
	end();
}

static void datagram_services_are_refused_and_paths_stay(void)
{
	struct soft_addr src;
	struct soft_mad mad = {
		.attr = SOFT_MAD_SIDR_REQ, .local_id = 3, .tid = 4,
		.service_id = 0x01111d2f, .pkey = ROCE_PKEY_DEFAULT,
	};

	if (begin()) {
		src = pair->node[0].addr;
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		IS(sent(SOFT_MAD_SIDR_REP)->count, 1);
		IS(sent(SOFT_MAD_SIDR_REP)->mad.result, 1);
		IS(sent(SOFT_MAD_SIDR_REP)->mad.local_id, 3);
		IS(sent(SOFT_MAD_SIDR_REP)->mad.service_id, 0x01111d2f);
		mad.attr = SOFT_MAD_LAP;
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		IS(sent(SOFT_MAD_APR)->count, 0);
	}
	end();
}

/* Until the client may send RTU. */
static void begin_with_queues(void)
{
	pair = cm_open(2, false, 8);
	pair->node[0].manner = CM_WAIT;
	pair->node[1].manner = CM_WAIT;
	cm_queue(pair, 0);
	cm_queue(pair, 1);
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	cm_queue_connect(pair, 1);
	IS(cm_accept(end_of(1), NULL), 0);
	cm_run(pair, 1);
	cm_queue_connect(pair, 0);
	cm_run(pair, 1);
}

/* RTU is lost, but the client's QP sends: that is as good. */
static void data_makes_a_connection_established(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	begin_with_queues();
	sent(SOFT_MAD_RTU)->lose = 1000;
	IS(cm_establish(end_of(0)), 0);
	cm_run(pair, 1);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 0);
	IS(pier__soft_qp_post(pair->qp[0], &wr, &bad), 0);
	cm_run(pair, 1);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
	cm_run(pair, 2000);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
	IS(end_of(1)->over, -1);
	end();
}

/* What the server sends: its opcodes, and a second receiver of them. */
static struct {
	uint8_t opcode[8];
	size_t count;
	bool (*tap)(const struct vnet_packet *packet, void *arg);
} spoken;

static bool listen_in(const struct vnet_packet *packet, void *arg)
{
	if (packet->src.port == CM_PORT1 && spoken.count < 8)
		spoken.opcode[spoken.count++] = packet->data[0];
	return spoken.tap(packet, arg);
}

static void what_has_come_is_acknowledged_before_the_end(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;

	begin_with_queues();
	IS(cm_establish(end_of(0)), 0);
	cm_run(pair, 1);
	IS(pier__soft_qp_post(pair->qp[0], &wr, &bad), 0);
	pier__soft_ep_send_posted(pair->node[0].ep, true);
	pair->net.now += PIER__MS;
	pier__soft_ep_receive(pair->node[1].ep, true);
	spoken.count = 0;
	spoken.tap = pair->net.tap;
	pair->net.tap = listen_in;
	IS(disconnect(1), 0);
	IS(spoken.count, 2);
	IS(spoken.opcode[0], SOFT_ACK);
	IS(sent(SOFT_MAD_DREQ)->count, 1);
	cm_run(pair, 100);
	both_are_notified();
	end();
}

int main(void)
{
	TEST(either_end_disconnects_and_both_are_notified);
	TEST(the_end_of_timewait_is_reported_where_it_is_to_be);
	TEST(not_to_what_was_released);
	TEST(all_connections_are_ended_by_one_call);
	TEST(both_at_once_is_as_good);
	TEST(a_lost_dreq_or_drep_is_repeated);
	TEST(a_dreq_stands_for_a_lost_rtu);
	TEST(a_peer_that_is_gone_is_not_waited_for_long);
	TEST(a_dreq_for_no_connection_is_answered_with_the_ids_exchanged);
	TEST(an_end_that_is_released_disconnects_by_itself);
	TEST(an_attempt_can_be_released_at_every_step);
	TEST(what_was_only_resolved_is_released_without_a_word);
	TEST(only_what_is_connected_can_be_disconnected);
	TEST(a_stale_connection_ends_when_its_peer_begins_anew);
	TEST(a_linux_client_is_answered_at_port_4791);
	TEST(datagram_services_are_refused_and_paths_stay);
	TEST(data_makes_a_connection_established);
	TEST(what_has_come_is_acknowledged_before_the_end);
	return tap_done();
}
