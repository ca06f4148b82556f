/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * How a connection is made, in virtual time: what each side does on what it
 * receives, and when it receives nothing.
 */
static struct cm_pair *pair;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static void begin(void)
{
	pair = cm_open(1, false, 8);
}

static void end(void)
{
	cm_close(pair);
}

static void two_soft_peers_need_three_messages(void)
{
	begin();
	if (cm_connected(pair)) {
		IS(sent(SOFT_MAD_REQ)->count, 1);
		IS(sent(SOFT_MAD_REQ)->port, CM_SERVICE);
		IS(sent(SOFT_MAD_REP)->count, 1);
		IS(sent(SOFT_MAD_REP)->port, CM_PORT0);
		IS(sent(SOFT_MAD_RTU)->count, 1);
		IS(sent(SOFT_MAD_RTU)->port, CM_PORT1);
		IS(pair->node[0].roce_port_users, 0);
	}
	end();
}

static void so_do_they_over_ipv6(void)
{
	pair = cm_open(1, true, 8);
	cm_connected(pair);
	end();
}

static void what_is_asked_for_is_reported_and_granted(void)
{
	struct ibv_qp_attr attr;
	struct cmpair_end *a, *b;
	uint16_t port;
	int mask;

	begin();
	if (!cm_connected(pair))
		goto out;
	a = cm_last(&pair->node[0]);
	b = cm_last(&pair->node[1]);
	IS(sent(SOFT_MAD_REQ)->mad.qpn, a->qpn);
	IS(sent(SOFT_MAD_REQ)->mad.responder_resources, 4);
	IS(sent(SOFT_MAD_REQ)->mad.initiator_depth, 3);
	IS(sent(SOFT_MAD_REQ)->mad.retry_count, 6);
	IS(pier__soft_cm_qp_attr(a->id, IBV_QPS_RTR, &attr, &mask, &port), 0);
	IS(port, CM_PORT1);
	IS(attr.dest_qp_num, b->qpn);
	IS(attr.path_mtu, IBV_MTU_1024);
	IS(attr.rq_psn, sent(SOFT_MAD_REQ)->mad.psn);
	IS(attr.max_dest_rd_atomic, 3);
	IS(attr.ah_attr.grh.sgid_index, 3);
	IS(pier__soft_cm_qp_attr(a->id, IBV_QPS_RTS, &attr, &mask, &port), 0);
	IS(attr.sq_psn, sent(SOFT_MAD_REP)->mad.psn);
	IS(attr.max_rd_atomic, 3);
	IS(attr.retry_cnt, 6);
	IS(attr.rnr_retry, 7);
	IS(pier__soft_cm_qp_attr(b->id, IBV_QPS_RTR, &attr, &mask, &port), 0);
	IS(port, CM_PORT0);
	IS(attr.dest_qp_num, a->qpn);
	IS(attr.rq_psn, sent(SOFT_MAD_REP)->mad.psn);
	pair->node[1].no_gid = true;
	IS(pier__soft_cm_qp_attr(b->id, IBV_QPS_RTR, &attr, &mask, &port),
	   -EADDRNOTAVAIL);
out:
	end();
}

static void private_data_is_reported_whole(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[0].manner = CM_WAIT;
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, "may I");
	cm_run(pair, 1);
	b = cm_last(&pair->node[1]);
	if (OK(b) && IS(b->events[PIER__CM_REQUEST], 1)) {
		IS(b->event.len, PIER__CM_REQ_DATA);
		IS_STR((char *)b->data, "may I");
		OK(b->event.listener == &pair->node[1].listener.listener);
		IS(cm_accept(b, "yes"), 0);
		cm_run(pair, 1);
		IS(a->events[PIER__CM_RESPONSE], 1);
		IS(a->event.len, PIER__CM_REP_DATA);
		IS_STR((char *)a->data, "yes");
	}
	end();
}

static void what_does_not_fit_is_refused_and_changes_nothing(void)
{
	char big[PIER__CM_REP_DATA + 2];
	struct cmpair_end *b;

	memset(big, 'x', sizeof(big));
	big[PIER__CM_REP_DATA + 1] = 0;
	begin();
	pair->node[1].manner = CM_WAIT;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		IS(cm_accept(b, big), -EINVAL);
		IS(pier__soft_cm_reject(b->id, big, PIER__CM_REJ_DATA + 1),
		   -EINVAL);
		IS(sent(SOFT_MAD_REP)->count, 0);
		IS(cm_accept(b, "fits"), 0);
		cm_run(pair, 5);
		IS(b->events[PIER__CM_ESTABLISHED], 1);
		IS(cm_accept(b, "again"), -EINVAL);
		IS(pier__soft_cm_reject(b->id, "", 0), -EINVAL);
	}
	end();
}

static void a_connect_is_checked_and_done_once(void)
{
	struct pier__cm_param param = { .qpn = 101, .retry_count = 8 };
	struct soft_addr dst;
	struct pier__cm_id *id;

	begin();
	dst = pair->node[1].addr;
	IS(pier__soft_cm_resolved(pair->node[0].cm, &pair->node[0].addr, &dst,
				  NULL, &id), 0);
	IS(pier__soft_cm_connect(id, &param), -EINVAL);
	param.retry_count = 7;
	param.rnr_retry = 8;
	IS(pier__soft_cm_connect(id, &param), -EINVAL);
	param.rnr_retry = 7;
	IS(pier__soft_cm_connect(id, &param), 0);
	IS(pier__soft_cm_connect(id, &param), -EINVAL);
	vnet_settle(&pair->net);
	IS(sent(SOFT_MAD_REQ)->count, 1);
	pier__soft_cm_release(id);
	end();
}

static void a_lost_request_is_repeated_soon(void)
{
	begin();
	pair->node[0].manner = CM_WAIT;
	sent(SOFT_MAD_REQ)->lose = 1;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 90);
	IS(pair->node[0].roce_port_users, 0);
	IS(cm_establish(cm_last(&pair->node[0])), 0);
	cm_run(pair, 10);
	IS(cm_last(&pair->node[0])->events[PIER__CM_RESPONSE], 1);
	IS(sent(SOFT_MAD_REQ)->count, 2);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	end();
}

static void a_lost_response_is_repeated_soon(void)
{
	begin();
	sent(SOFT_MAD_REP)->lose = 2;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 300);
	IS(cm_last(&pair->node[0])->events[PIER__CM_RESPONSE], 1);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	IS(cm_last(&pair->node[1])->events[PIER__CM_REQUEST], 1);
	end();
}

static void a_lost_rtu_is_sent_again_when_the_response_comes_again(void)
{
	begin();
	sent(SOFT_MAD_RTU)->lose = 1;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 30);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 0);
	cm_run(pair, 100);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	IS(sent(SOFT_MAD_REP)->count, 2);
	IS(sent(SOFT_MAD_RTU)->count, 2);
	IS(cm_last(&pair->node[0])->events[PIER__CM_RESPONSE], 1);
	end();
}

/* No peer ever sends anything. */
static void no_peer_there_is_reported_in_the_end(void)
{
	struct cmpair_end *a;

	pair = cm_open(1, false, 0);
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 20000);
	IS(a->over, -1);
	IS(pair->node[0].roce_port_users, 1);
	cm_run(pair, 60000);
	IS(a->over, PIER__CM_UNREACHABLE);
	IS(a->error, -ETIMEDOUT);
	OK(sent(SOFT_MAD_REQ)->count >= 16 && sent(SOFT_MAD_REQ)->count <= 32);
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_TIMEOUT);
	cm_run(pair, 60000);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	IS(pair->node[0].roce_port_users, 0);
	end();
}

static void a_port_that_is_taken_does_not_keep_a_client_from_soft_peers(void)
{
	begin();
	pair->node[0].roce_port_taken = true;
	sent(SOFT_MAD_REQ)->lose = 5;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 2000);
	IS(cm_last(&pair->node[0])->events[PIER__CM_RESPONSE], 1);
	end();
}

/* The one who asks for patience gets it. */
static void a_program_that_decides_slowly_is_waited_for(void)
{
	struct cmpair_end *b;

	begin();
	pair->node[1].manner = CM_WAIT;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 60);
	IS(sent(SOFT_MAD_MRA)->count, 1);
	IS(sent(SOFT_MAD_MRA)->mad.message, SOFT_MAD_OF_REQ);
	IS(sent(SOFT_MAD_REQ)->count, 2);
	cm_run(pair, 4000);
	IS(sent(SOFT_MAD_REQ)->count, 2);
	cm_run(pair, 1000);
	OK(sent(SOFT_MAD_REQ)->count > 2);
	b = cm_last(&pair->node[1]);
	IS(cm_accept(b, NULL), 0);
	cm_run(pair, 10);
	IS(b->events[PIER__CM_REQUEST], 1);
	IS(b->events[PIER__CM_ESTABLISHED], 1);
	end();
}

static void a_client_that_moves_its_qp_slowly_is_waited_for(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[0].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 3000);
	OK(sent(SOFT_MAD_REP)->count >= 2);
	IS(sent(SOFT_MAD_MRA)->mad.message, SOFT_MAD_OF_REP);
	IS(a->events[PIER__CM_RESPONSE], 1);
	b = cm_last(&pair->node[1]);
	IS(b->events[PIER__CM_ESTABLISHED], 0);
	IS(cm_establish(a), 0);
	cm_run(pair, 10);
	IS(b->events[PIER__CM_ESTABLISHED], 1);
	end();
}

static void a_client_that_dies_is_given_up(void)
{
	struct cmpair_end *b;

	begin();
	cm_ask(pair, CM_SERVICE, NULL);
	sent(SOFT_MAD_RTU)->lose = 1000;
	vnet_settle(&pair->net);
	cm_run(pair, 60000);
	b = cm_last(&pair->node[1]);
	IS(b->over, PIER__CM_UNREACHABLE);
	IS(b->error, -ETIMEDOUT);
	/* It is reported to the client, if that still runs. */
	IS(cm_last(&pair->node[0])->over, PIER__CM_DISCONNECTED);
	end();
}

static void a_rejection_is_reported_with_its_reason_and_data(void)
{
	struct cmpair_end *a;

	begin();
	pair->node[1].manner = CM_REFUSE;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 10);
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_CONSUMER);
	IS(a->event.len, PIER__CM_REJ_DATA);
	IS_STR((char *)a->data, "go away");
	IS(cm_last(&pair->node[1])->over, -1);
	end();
}

static void a_lost_rejection_is_sent_again_and_not_decided_again(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[1].manner = CM_REFUSE;
	sent(SOFT_MAD_REJ)->lose = 2;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 500);
	IS(a->over, PIER__CM_REJECTED);
	IS_STR((char *)a->data, "go away");
	b = cm_last(&pair->node[1]);
	OK(b && !b->next);
	end();
}

/* A client had it, for one attempt. */
static void a_listener_gets_port_4791_when_it_is_free_again(void)
{
	struct cm_node *server;

	pair = cm_open(1, false, 0);
	server = &pair->node[1];
	server->needs_roce_port = true;
	server->roce_port_taken = true;
	cm_listen(pair, 1, 8);
	cm_run(pair, 3500);
	IS(server->roce_port_users, 0);
	OK(!server->listener.roce_port);
	server->roce_port_taken = false;
	cm_run(pair, 1500);
	IS(server->roce_port_users, 1);
	OK(server->listener.roce_port);
	end();
}

static void a_listener_that_is_not_to_never_gets_port_4791(void)
{
	struct cm_node *server;

	pair = cm_open(1, false, 0);
	server = &pair->node[1];
	server->needs_roce_port = true;
	server->roce_port_taken = true;
	server->no_roce_port = true;
	cm_listen(pair, 1, 8);
	cm_run(pair, 3500);
	server->roce_port_taken = false;
	cm_run(pair, 1500);
	IS(server->roce_port_users, 0);
	OK(!server->listener.roce_port);
	end();
}

static void requests_beyond_the_backlog_are_put_off(void)
{
	struct cm_node *server;
	struct cmpair_end *b;
	int i, n = 0;

	pair = cm_open(1, false, 3);
	server = &pair->node[1];
	for (i = 0; i < 10; i++)
		cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	IS(server->listener.waiting, 3);
	IS(sent(SOFT_MAD_MRA)->count, 7);
	IS(pier__soft_cm_count(server->cm), 3);
	IS(server->rings, 1);
	IS(sent(SOFT_MAD_MRA)->mad.message, SOFT_MAD_OF_REQ);
	/* They try again, and get their turn. */
	cm_run(pair, 10000);
	for (b = cm_last(server); b; b = b->next)
		n += b->events[PIER__CM_ESTABLISHED];
	IS(n, 10);
	end();
}

/* Another thread may take requests in before its program has looked at it. */
static void a_request_just_reported_still_has_its_place(void)
{
	struct pier__cm_event event;
	struct cm_node *server;
	struct cmpair_end *b;

	pair = cm_open(1, false, 1);
	server = &pair->node[1];
	cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	if (IS(pier__soft_cm_next(server->cm, &event), 0) &&
	    IS(event.kind, PIER__CM_REQUEST)) {
		b = cm_ask(pair, CM_SERVICE, NULL);
		vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
		IS(server->listener.waiting, 0);
		IS(sent(SOFT_MAD_MRA)->count, 1);
		event.listener->held--;
		pier__soft_cm_release(event.id);
		cm_run(pair, 10000);
		IS(b->events[PIER__CM_RESPONSE], 1);
	}
	end();
}

static void requests_not_reported_are_rejected_when_the_listener_goes(void)
{
	struct cmpair_end *a;

	begin();
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	IS(pair->node[1].listener.waiting, 1);
	cm_unlisten(pair, 1);
	cm_run(pair, 10);
	OK(!cm_last(&pair->node[1]));
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_CONSUMER);
	end();
}

static void a_request_that_died_unreported_is_never_reported(void)
{
	struct cmpair_end *a;

	begin();
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	cm_release(a);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	cm_run(pair, 10);
	OK(!cm_last(&pair->node[1]));
	IS(pair->node[1].listener.waiting, 0);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	end();
}

static void a_dead_request_cannot_be_accepted(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	b = cm_last(&pair->node[1]);
	cm_release(a);
	vnet_run(&pair->net, PIER__MS, NULL, NULL);
	IS(cm_accept(b, NULL), -ECONNABORTED);
	IS(pier__soft_cm_reject(b->id, NULL, 0), -ECONNABORTED);
	cm_run(pair, 1);
	IS(b->over, PIER__CM_REJECTED);
	IS(b->reason, ROCE_REJ_TIMEOUT);
	end();
}

static void mtus(uint8_t client, uint8_t server)
{
	begin();
	pair->node[0].host.mtu = client;
	pair->node[1].host.mtu = server;
}

/* The path MTU that side @i's QP is to have. */
static int path_mtu(int i)
{
	struct cmpair_end *end = cm_last(&pair->node[i]);
	struct ibv_qp_attr attr = { 0 };
	uint16_t port;
	int mask;

	pier__soft_cm_qp_attr(end->id, IBV_QPS_RTR, &attr, &mask, &port);
	return attr.path_mtu;
}

static void peers_take_the_smaller_of_their_mtus(void)
{
	mtus(IBV_MTU_4096, IBV_MTU_1024);
	if (cm_connected(pair)) {
		IS(path_mtu(0), IBV_MTU_1024);
		IS(path_mtu(1), IBV_MTU_1024);
		IS(sent(SOFT_MAD_REQ)->count, 2);
		IS(cm_last(&pair->node[1])->events[PIER__CM_REQUEST], 1);
	}
	end();
	mtus(IBV_MTU_256, IBV_MTU_4096);
	if (cm_connected(pair)) {
		IS(path_mtu(0), IBV_MTU_256);
		IS(path_mtu(1), IBV_MTU_256);
	}
	end();
}

/* Other private data is in it than the addresses: it must stay. */
static void a_request_with_another_mtu_says_the_same(void)
{
	struct cmpair_end *a, *b;

	mtus(IBV_MTU_2048, IBV_MTU_512);
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, "may I");
	cm_run(pair, 1);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		IS_STR((char *)b->data, "may I");
		IS(sent(SOFT_MAD_REQ)->mad.qpn, a->qpn);
		IS(sent(SOFT_MAD_REQ)->mad.mtu, IBV_MTU_512);
	}
	end();
}

/* Its REJ does not have the MTU that it takes; it takes none in the end. */
static void a_roce_devices_mtu_is_found_by_trying(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .reason = ROCE_REJ_MTU,
	};
	struct cmpair_end *a;
	uint8_t mtu;

	pair = cm_open(1, false, 0);
	pair->node[0].host.mtu = IBV_MTU_4096;
	a = cm_ask(pair, CM_SERVICE, NULL);
	mad.remote_id = sent(SOFT_MAD_REQ)->mad.local_id;
	mad.tid = sent(SOFT_MAD_REQ)->mad.tid;
	for (mtu = IBV_MTU_4096; mtu >= IBV_MTU_256; mtu--) {
		IS(a->over, -1);
		IS(sent(SOFT_MAD_REQ)->mad.mtu, mtu);
		cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
		cm_run(pair, 1);
	}
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_MTU);
	end();
}

static void a_rejection_of_an_mtu_that_comes_twice_counts_once(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .reason = ROCE_REJ_MTU,
		.info_len = 1, .info = { IBV_MTU_1024 },
	};

	pair = cm_open(1, false, 0);
	pair->node[0].host.mtu = IBV_MTU_4096;
	cm_ask(pair, CM_SERVICE, NULL);
	mad.remote_id = sent(SOFT_MAD_REQ)->mad.local_id;
	mad.tid = sent(SOFT_MAD_REQ)->mad.tid;
	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	IS(sent(SOFT_MAD_REQ)->count, 2);
	IS(sent(SOFT_MAD_REQ)->mad.mtu, IBV_MTU_1024);
	end();
}

int main(void)
{
	TEST(two_soft_peers_need_three_messages);
	TEST(so_do_they_over_ipv6);
	TEST(what_is_asked_for_is_reported_and_granted);
	TEST(private_data_is_reported_whole);
	TEST(what_does_not_fit_is_refused_and_changes_nothing);
	TEST(a_connect_is_checked_and_done_once);
	TEST(a_lost_request_is_repeated_soon);
	TEST(a_lost_response_is_repeated_soon);
	TEST(a_lost_rtu_is_sent_again_when_the_response_comes_again);
	TEST(no_peer_there_is_reported_in_the_end);
	TEST(a_port_that_is_taken_does_not_keep_a_client_from_soft_peers);
	TEST(a_program_that_decides_slowly_is_waited_for);
	TEST(a_client_that_moves_its_qp_slowly_is_waited_for);
	TEST(a_client_that_dies_is_given_up);
	TEST(a_rejection_is_reported_with_its_reason_and_data);
	TEST(a_lost_rejection_is_sent_again_and_not_decided_again);
	TEST(a_listener_gets_port_4791_when_it_is_free_again);
	TEST(a_listener_that_is_not_to_never_gets_port_4791);
	TEST(requests_beyond_the_backlog_are_put_off);
	TEST(a_request_just_reported_still_has_its_place);
	TEST(requests_not_reported_are_rejected_when_the_listener_goes);
	TEST(a_request_that_died_unreported_is_never_reported);
	TEST(a_dead_request_cannot_be_accepted);
	TEST(peers_take_the_smaller_of_their_mtus);
	TEST(a_request_with_another_mtu_says_the_same);
	TEST(a_roce_devices_mtu_is_found_by_trying);
	TEST(a_rejection_of_an_mtu_that_comes_twice_counts_once);
	return tap_done();
}
