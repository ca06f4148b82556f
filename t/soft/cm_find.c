/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * How a client finds out where its peer is and whether it is there at all, in
 * virtual time.  A soft listener has the service's UDP port; port 4791 of its
 * host may be another process's, or a RoCE device's.
 */
static struct cm_pair *pair;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static void begin(uint32_t backlog)
{
	pair = cm_open(3, false, backlog);
}

static void end(void)
{
	cm_close(pair);
}

/* The REJ of another process with the peer's port 4791: no such listener. */
static void deny(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .reason = ROCE_REJ_SERVICE_ID,
		.tid = sent(SOFT_MAD_REQ)->mad.tid,
		.remote_id = sent(SOFT_MAD_REQ)->mad.local_id,
	};

	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
}

/* The listener's process is stopped, or it goes on. */
static void stop(bool on)
{
	vnet_attach(pair->node[1].listen_io, on ? NULL : pair->node[1].ep);
}

static void refused(const struct cmpair_end *a)
{
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_SERVICE_ID);
}

static void no_listener_of_one_does_not_silence_the_other(void)
{
	struct cmpair_end *a;

	begin(8);
	sent(SOFT_MAD_REQ)->lose = 1;
	a = cm_ask(pair, CM_SERVICE, NULL);
	deny();
	cm_run(pair, 1000);
	IS(a->over, -1);
	IS(a->events[PIER__CM_RESPONSE], 1);
	end();
}

static void a_listener_that_is_stopped_for_a_while_is_waited_for(void)
{
	struct cmpair_end *a;
	int i;

	begin(8);
	stop(true);
	a = cm_ask(pair, CM_SERVICE, NULL);
	for (i = 0; i < 40; i++) {
		deny();
		cm_run(pair, 100);
		IS(a->over, -1);
	}
	stop(false);
	cm_run(pair, 2000);
	IS(a->events[PIER__CM_RESPONSE], 1);
	if (OK(cm_last(&pair->node[1])))
		IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	end();
}

static void a_listener_that_asked_for_patience_cannot_be_denied(void)
{
	struct cmpair_end *a, *b;
	int i;

	begin(8);
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	deny();
	for (i = 0; i < 100; i++) {
		cm_run(pair, 100);
		deny();
	}
	IS(a->over, -1);
	IS(pair->node[0].roce_port_users, 0);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		IS(cm_accept(b, NULL), 0);
		cm_run(pair, 10);
		IS(b->events[PIER__CM_ESTABLISHED], 1);
	}
	end();
}

/* It has one place, and no program takes the request out of it. */
static void a_full_backlog_cannot_be_denied(void)
{
	struct cmpair_end *a, *b;

	begin(1);
	b = cm_ask(pair, CM_SERVICE, NULL);
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	deny();
	vnet_run(&pair->net, 8000 * PIER__MS, NULL, NULL);
	deny();
	vnet_run(&pair->net, 8000 * PIER__MS, NULL, NULL);
	cm_run(pair, 10000);
	IS(a->events[PIER__CM_RESPONSE], 1);
	IS(b->events[PIER__CM_RESPONSE], 1);
	end();
}

/* However long it was full. */
static void a_full_backlog_is_asked_again_and_again(void)
{
	struct cmpair_end *a, *b;

	begin(1);
	b = cm_ask(pair, CM_SERVICE, NULL);
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 20000 * PIER__MS, NULL, NULL);
	IS(a->over, -1);
	cm_run(pair, 300);
	IS(a->events[PIER__CM_RESPONSE], 1);
	IS(b->events[PIER__CM_RESPONSE], 1);
	end();
}

static void no_process_on_the_services_port_makes_a_denial_final(void)
{
	struct cmpair_end *a;

	begin(0);
	pair->node[0].peer_closed = true;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 40);
	IS(pair->node[0].port_probes, 0);
	IS(pair->node[0].roce_port_users, 0);
	cm_run(pair, 20);
	IS(sent(SOFT_MAD_REQ)->port, ROCE_UDP_PORT);
	IS(pair->node[0].roce_port_users, 1);
	deny();
	cm_run(pair, 1);
	refused(a);
	IS(pair->node[0].roce_port_users, 0);
	end();
}

/* The answer about the port is on its way. */
static void a_denial_before_that_is_known_waits_for_it(void)
{
	struct cmpair_end *a;

	begin(0);
	a = cm_ask(pair, CM_SERVICE, NULL);
	deny();
	cm_run(pair, 1);
	IS(a->over, -1);
	IS(pair->node[0].port_probes, 1);
	pair->node[0].peer_closed = true;
	cm_run(pair, 70);
	refused(a);
	end();
}

/* No other reply about the port arrives: the REJ counts in the end. */
static void a_denial_that_nothing_contradicts_is_believed(void)
{
	struct cmpair_end *a;

	begin(0);
	a = cm_ask(pair, CM_SERVICE, NULL);
	deny();
	cm_run(pair, 4000);
	IS(a->over, -1);
	cm_run(pair, 1000);
	refused(a);
	/* Was it there after all, it is not to accept what is over. */
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_TIMEOUT);
	cm_run(pair, 5000);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	end();
}

static void a_listener_that_dies_can_be_denied_again(void)
{
	struct cmpair_end *a;

	begin(8);
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 100);
	IS(sent(SOFT_MAD_MRA)->count, 1);
	stop(true);
	pair->node[0].peer_closed = true;
	cm_run(pair, 5000);
	IS(sent(SOFT_MAD_REQ)->port, ROCE_UDP_PORT);
	deny();
	cm_run(pair, 1);
	refused(a);
	stop(false);
	end();
}

static void a_listener_that_begins_late_is_one_like_any(void)
{
	struct cmpair_end *a;

	begin(0);
	pair->node[0].peer_closed = true;
	pair->node[1].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 60);
	cm_listen(pair, 1, 8);
	pair->node[0].peer_closed = false;
	cm_run(pair, 1000);
	IS(sent(SOFT_MAD_MRA)->mad.message, SOFT_MAD_OF_REQ);
	deny();
	cm_run(pair, 1);
	IS(a->over, -1);
	end();
}

/* Some kernels crash on what is no packet there; cmpair.c looks. */
static void port_4791_is_not_probed(void)
{
	begin(0);
	pair->node[0].peer_closed = true;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_ask(pair, ROCE_UDP_PORT, NULL);
	cm_run(pair, 3000);
	IS(pair->node[0].port_probes, 1);
	end();
}

/* No other port can have the listener. */
static void no_listener_on_port_4791_is_final(void)
{
	struct cmpair_end *a;

	begin(0);
	a = cm_ask(pair, ROCE_UDP_PORT, NULL);
	deny();
	cm_run(pair, 1);
	refused(a);
	IS(pair->node[0].port_probes, 0);
	IS(pair->node[0].roce_port_users, 0);
	end();
}

/* Its answers come to our port 4791, which is not ours. */
static void a_roce_device_without_our_port_4791_is_reported_as_that(void)
{
	struct cmpair_end *a;

	begin(0);
	pair->node[0].peer_closed = true;
	pair->node[0].roce_port_taken = true;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1000);
	IS(a->over, -1);	/* it may be free soon */
	cm_run(pair, 1000);
	IS(a->over, PIER__CM_UNREACHABLE);
	IS(a->error, -EADDRINUSE);
	end();
}

static void a_port_4791_that_is_free_again_is_taken(void)
{
	struct cmpair_end *a;

	begin(0);
	pair->node[0].peer_closed = true;
	pair->node[0].roce_port_taken = true;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 500);
	pair->node[0].roce_port_taken = false;
	cm_run(pair, 10000);
	IS(a->over, -1);
	IS(pair->node[0].roce_port_users, 1);
	end();
}

static void without_news_of_its_ports_both_are_asked_soon(void)
{
	begin(0);
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 140);
	IS(sent(SOFT_MAD_REQ)->port, CM_SERVICE);
	IS(pair->node[0].roce_port_users, 0);
	cm_run(pair, 20);
	IS(sent(SOFT_MAD_REQ)->port, ROCE_UDP_PORT);
	IS(pair->node[0].roce_port_users, 1);
	end();
}

static void a_request_that_came_both_ways_is_one(void)
{
	struct cm_node *server;
	struct cmpair_end *b;

	begin(8);
	server = &pair->node[1];
	server->manner = CM_WAIT;
	server->host.ops->roce_port(&server->host, true);
	sent(SOFT_MAD_REQ)->lose = 2;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 160);
	IS(sent(SOFT_MAD_REQ)->count, 4);
	b = cm_last(server);
	OK(b && !b->next);
	IS(sent(SOFT_MAD_MRA)->count, 0);
	server->host.ops->roce_port(&server->host, false);
	end();
}

/* Say REP as Linux would, to the REQ that was sent last. */
static void linux_answers(struct cmpair_end *a)
{
	struct soft_addr src = pair->node[1].addr;
	struct soft_mad mad = {
		.attr = SOFT_MAD_REP, .local_id = 5, .qpn = 99,
		.remote_id = sent(SOFT_MAD_REQ)->mad.local_id,
		.tid = sent(SOFT_MAD_REQ)->mad.tid, .psn = 7,
		.guid = 0x505400fffe123456,
	};

	src.port = 0xd872;
	cm_inject(pair, 0, &src, ROCE_UDP_PORT, &mad);
	cm_run(pair, 1);
	IS(a->events[PIER__CM_RESPONSE], 1);
}

static void a_linux_server_is_met_at_port_4791(void)
{
	struct cm_node *client;
	struct cmpair_end *a;

	begin(0);
	client = &pair->node[0];
	client->peer_closed = true;
	a = cm_ask(pair, CM_SERVICE, NULL);
	IS(sent(SOFT_MAD_REQ)->port, CM_SERVICE);
	cm_run(pair, 55);
	IS(sent(SOFT_MAD_REQ)->port, ROCE_UDP_PORT);
	IS(client->roce_port_users, 1);
	linux_answers(a);
	IS(sent(SOFT_MAD_RTU)->port, ROCE_UDP_PORT);
	IS(sent(SOFT_MAD_RTU)->mad.remote_id, 5);
	end();
}

static void the_next_time_it_is_asked_there_at_once(void)
{
	begin(0);
	pair->node[0].peer_closed = true;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 55);
	linux_answers(cm_last(&pair->node[0]));
	cm_ask(pair, CM_SERVICE, NULL);
	IS(sent(SOFT_MAD_REQ)->port, ROCE_UDP_PORT);
	end();
}

static void an_attempt_that_is_released_sends_no_more_probes(void)
{
	struct cmpair_end *a;
	int port_probes;

	begin(0);
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 300);
	IS(pair->node[0].port_probes_open, 1);
	cm_release(a);
	port_probes = pair->node[0].port_probes;
	cm_run(pair, 5000);
	IS(pair->node[0].port_probes, port_probes);
	IS(pair->node[0].port_probes_open, 0);
	end();
}

static void a_request_between_two_listeners_of_rdma_cm_is_dropped(void)
{
	struct cmpair_end *a;

	begin(8);
	pier__soft_cm_report_timewait(pair->node[1].cm);
	cm_unlisten(pair, 1);
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	IS(sent(SOFT_MAD_REQ)->count, 1);
	IS(sent(SOFT_MAD_REJ)->count, 0);
	cm_listen(pair, 1, 4);
	cm_run(pair, 10000);
	IS(a->events[PIER__CM_RESPONSE], 1);
	end();
}

static void a_request_long_after_a_listener_of_rdma_cm_is_rejected(void)
{
	struct cmpair_end *a;

	begin(8);
	pier__soft_cm_report_timewait(pair->node[1].cm);
	cm_unlisten(pair, 1);
	vnet_run(&pair->net, 1001 * PIER__MS, NULL, NULL);
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 10000);
	refused(a);
	end();
}

int main(void)
{
	TEST(no_listener_of_one_does_not_silence_the_other);
	TEST(a_listener_that_is_stopped_for_a_while_is_waited_for);
	TEST(a_listener_that_asked_for_patience_cannot_be_denied);
	TEST(a_full_backlog_cannot_be_denied);
	TEST(a_full_backlog_is_asked_again_and_again);
	TEST(no_process_on_the_services_port_makes_a_denial_final);
	TEST(a_denial_before_that_is_known_waits_for_it);
	TEST(a_denial_that_nothing_contradicts_is_believed);
	TEST(a_listener_that_dies_can_be_denied_again);
	TEST(a_listener_that_begins_late_is_one_like_any);
	TEST(port_4791_is_not_probed);
	TEST(no_listener_on_port_4791_is_final);
	TEST(a_roce_device_without_our_port_4791_is_reported_as_that);
	TEST(a_port_4791_that_is_free_again_is_taken);
	TEST(without_news_of_its_ports_both_are_asked_soon);
	TEST(a_request_that_came_both_ways_is_one);
	TEST(a_linux_server_is_met_at_port_4791);
	TEST(the_next_time_it_is_asked_there_at_once);
	TEST(an_attempt_that_is_released_sends_no_more_probes);
	TEST(a_request_between_two_listeners_of_rdma_cm_is_dropped);
	TEST(a_request_long_after_a_listener_of_rdma_cm_is_rejected);
	return tap_done();
}
