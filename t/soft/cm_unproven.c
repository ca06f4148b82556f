/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * What an address gets that has proved nothing: a process that can forge it
 * must not have us send it more than three times what it has sent, nor to a
 * port of the forger's choice.  The victim answers nothing.
 */
#define VICTIM "192.0.2.66"
#define VICTIM_PORT 5353

static struct cm_pair *pair;
static struct soft_addr victim;
static uint64_t bytes_to_victim, bytes_from_victim;
static struct {
	bool (*tap)(const struct vnet_packet *packet, void *arg);
} before;

static bool count_bytes(const struct vnet_packet *packet, void *arg)
{
	if (IN6_ARE_ADDR_EQUAL(&packet->dst.ip, &victim.ip))
		bytes_to_victim += packet->len;
	return before.tap(packet, arg);
}

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static void begin(void)
{
	pair = cm_open(3, false, 8);
	victim = vnet_addr(vnet_node(&pair->net, VICTIM, VICTIM_PORT));
	bytes_to_victim = bytes_from_victim = 0;
	before.tap = pair->net.tap;
	pair->net.tap = count_bytes;
}

static void end(void)
{
	cm_close(pair);
}

static uint64_t soft_guid(uint16_t port)
{
	return UINT64_C(0x73f7) << 48 | (uint64_t)port << 32 | 17;
}

/* A REQ in the victim's name; a client of a soft device, or a RoCE device. */
static void forge(uint32_t comm_id, uint64_t guid)
{
	struct soft_mad mad;
	uint8_t data[92];

	cm_linux_req(pair, &victim, comm_id, 5000 + comm_id, &mad, data);
	if (guid)
		mad.guid = guid;
	cm_inject(pair, 1, &victim, CM_SERVICE, &mad);
	bytes_from_victim += SOFT_MAD_LEN + 24;	/* and the headers */
}

static void check_bound(void)
{
	cm_run(pair, 200000);
	tap_note("%llu bytes for %llu", (unsigned long long)bytes_to_victim,
		 (unsigned long long)bytes_from_victim);
	OK(bytes_to_victim > 0);
	OK(bytes_to_victim <= 3 * bytes_from_victim);
}

static void a_forged_request_draws_three_times_its_bytes_at_most(void)
{
	begin();
	forge(1, 0);
	check_bound();
	IS(sent(SOFT_MAD_REP)->count, 3);
	IS(sent(SOFT_MAD_REJ)->count, 0);
	end();
	begin();
	forge(1, soft_guid(VICTIM_PORT));
	check_bound();
	end();
}

static void so_do_many(void)
{
	uint32_t i;

	begin();
	for (i = 0; i < 100; i++) {
		forge(i % 7, 0);
		cm_run(pair, vnet_random(&pair->net) % 100);
	}
	check_bound();
	end();
}

static void so_do_those_whose_decision_takes_long(void)
{
	int i;

	begin();
	pair->node[1].manner = CM_WAIT;
	for (i = 0; i < 5; i++) {
		forge(1, 0);
		cm_run(pair, 1000);
	}
	if (OK(cm_last(&pair->node[1])))
		IS(cm_accept(cm_last(&pair->node[1]), NULL), 0);
	check_bound();
	end();
}

static void so_do_those_that_are_rejected(void)
{
	begin();
	pair->node[1].manner = CM_REFUSE;
	forge(1, 0);
	forge(1, 0);
	check_bound();
	end();
}

static void no_port_gets_anything_but_the_senders_and_4791(void)
{
	uint64_t dropped;

	begin();
	dropped = pair->node[1].ep->counters->dropped;
	forge(1, soft_guid(53));
	cm_run(pair, 60000);
	IS(pair->net.sent, 0);
	OK(!cm_last(&pair->node[1]));
	IS(pair->node[1].ep->counters->dropped, dropped + 1);
	forge(2, soft_guid(VICTIM_PORT));
	cm_run(pair, 1);
	IS(sent(SOFT_MAD_REP)->port, VICTIM_PORT);
	forge(3, 0);
	cm_run(pair, 1);
	IS(sent(SOFT_MAD_REP)->port, ROCE_UDP_PORT);
	end();
}

/* A server must not send its clients elsewhere either. */
static void a_response_that_names_another_port_is_dropped(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REP, .local_id = 5, .qpn = 99,
		.guid = soft_guid(53),
	};
	struct soft_addr src;
	struct cmpair_end *a;

	pair = cm_open(3, false, 0);
	src = pair->node[1].addr;
	a = cm_ask(pair, CM_SERVICE, NULL);
	mad.remote_id = sent(SOFT_MAD_REQ)->mad.local_id;
	mad.tid = sent(SOFT_MAD_REQ)->mad.tid;
	cm_inject(pair, 0, &src, CM_PORT0, &mad);
	cm_run(pair, 1);
	IS(a->events[PIER__CM_RESPONSE], 0);
	mad.guid = soft_guid(CM_PORT1);
	cm_inject(pair, 0, &src, CM_PORT0, &mad);
	cm_run(pair, 1);
	IS(a->events[PIER__CM_RESPONSE], 1);
	/* Nor does one without a connection draw a REJ there. */
	mad.remote_id++;
	mad.guid = soft_guid(53);
	cm_inject(pair, 0, &src, CM_PORT0, &mad);
	IS(sent(SOFT_MAD_REJ)->count, 0);
	end();
}

/* The second message of a client that is slow: REP comes as ever then. */
static void a_client_that_has_answered_gets_more(void)
{
	struct cmpair_end *a;

	pair = cm_open(3, false, 8);
	pair->node[0].manner = CM_WAIT;
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 200);
	IS(sent(SOFT_MAD_REQ)->count, 1);
	IS(a->events[PIER__CM_RESPONSE], 1);
	IS(sent(SOFT_MAD_MRA)->mad.message, SOFT_MAD_OF_REP);
	sent(SOFT_MAD_MRA)->lose = 1000;
	cm_run(pair, 20000);
	OK(sent(SOFT_MAD_REP)->count > 3);
	end();
}

static void an_rtu_that_is_lost_is_sent_again_by_its_client(void)
{
	pair = cm_open(3, false, 8);
	sent(SOFT_MAD_RTU)->lose = 4;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 3000);
	IS(sent(SOFT_MAD_REQ)->count, 1);
	IS(sent(SOFT_MAD_REP)->count, 2);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	cm_run(pair, 100000);
	OK(sent(SOFT_MAD_RTU)->count <= 8);
	IS(cm_last(&pair->node[0])->over, -1);
	IS(cm_last(&pair->node[1])->over, -1);
	end();
}

/* A client that sends its RTU once for each REP, and repeats nothing else. */
static void roce_client(struct soft_addr *src, struct soft_mad *rtu)
{
	struct soft_mad req;
	uint8_t data[92];

	begin();
	*src = vnet_addr(vnet_node(&pair->net, "192.0.2.67", ROCE_UDP_PORT));
	cm_linux_req(pair, src, 1000, 77, &req, data);
	cm_inject(pair, 1, src, CM_SERVICE, &req);
	cm_run(pair, 1);
	*rtu = (struct soft_mad) {
		.attr = SOFT_MAD_RTU, .local_id = 1000, .tid = req.tid,
		.remote_id = sent(SOFT_MAD_REP)->mad.local_id,
	};
}

/* All that the client has sent in the first @ms is lost. */
static void outage(uint64_t ms)
{
	struct soft_addr src;
	struct soft_mad rtu;
	unsigned int reps;
	int i;

	roce_client(&src, &rtu);
	cm_run(pair, ms);
	reps = (unsigned int)sent(SOFT_MAD_REP)->count;
	for (i = 0; i < 5000 && sent(SOFT_MAD_REP)->count == reps; i++)
		cm_run(pair, 1);
	if (OK(sent(SOFT_MAD_REP)->count > reps))
		cm_inject(pair, 1, &src, CM_SERVICE, &rtu);
	cm_run(pair, 1);
	IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 1);
	end();
}

static void a_roce_client_connects_after_an_outage_of_seconds(void)
{
	outage(10);
	outage(60);
	outage(300);
	outage(1000);
	outage(3000);
}

static void a_lost_rep_comes_again_with_the_next_req(void)
{
	struct soft_mad mad;
	uint8_t data[92];

	begin();
	sent(SOFT_MAD_REP)->lose = 1;
	cm_linux_req(pair, &victim, 1, 77, &mad, data);
	cm_inject(pair, 1, &victim, CM_SERVICE, &mad);
	cm_run(pair, 1);
	IS(sent(SOFT_MAD_REP)->count, 1);
	cm_inject(pair, 1, &victim, CM_SERVICE, &mad);
	cm_run(pair, 1);
	IS(sent(SOFT_MAD_REP)->count, 2);
	end();
}

/* Else the victim would get what is granted to another. */
static void a_req_again_from_another_address_draws_nothing(void)
{
	struct soft_addr other;
	struct soft_mad mad;
	uint8_t data[92];
	int i;

	begin();
	other = vnet_addr(vnet_node(&pair->net, "192.0.2.67", VICTIM_PORT));
	sent(SOFT_MAD_REP)->lose = 1;
	cm_linux_req(pair, &victim, 1, 77, &mad, data);
	cm_inject(pair, 1, &victim, CM_SERVICE, &mad);
	cm_run(pair, 1);
	cm_linux_req(pair, &other, 1, 77, &mad, data);
	for (i = 0; i < 10; i++)
		cm_inject(pair, 1, &other, CM_SERVICE, &mad);
	cm_run(pair, 200000);
	IS(sent(SOFT_MAD_REP)->count, 3);
	IS(pair->net.sent, 3);
	OK(!cm_last(&pair->node[1])->next);
	end();
}

int main(void)
{
	TEST(a_forged_request_draws_three_times_its_bytes_at_most);
	TEST(so_do_many);
	TEST(so_do_those_whose_decision_takes_long);
	TEST(so_do_those_that_are_rejected);
	TEST(no_port_gets_anything_but_the_senders_and_4791);
	TEST(a_response_that_names_another_port_is_dropped);
	TEST(a_client_that_has_answered_gets_more);
	TEST(an_rtu_that_is_lost_is_sent_again_by_its_client);
	TEST(a_roce_client_connects_after_an_outage_of_seconds);
	TEST(a_lost_rep_comes_again_with_the_next_req);
	TEST(a_req_again_from_another_address_draws_nothing);
	return tap_done();
}
