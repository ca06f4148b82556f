/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * A REQ with the QPN of a connection's peer: either the peer has restarted, or
 * the REQ is forged.  In virtual time, with queue pairs that answer.
 */
static struct cm_pair *pair;
static struct {
	bool (*tap)(const struct vnet_packet *packet, void *arg);
	unsigned int probes;		/* WRITEs of nothing by the server */
} seen;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static struct cmpair_end *end_of(int i)
{
	return cm_last(&pair->node[i]);
}

static bool see(const struct vnet_packet *packet, void *arg)
{
	struct soft_hdr hdr;

	seen.probes += packet->src.port == CM_PORT1 &&
		       pier__soft_decode(packet->data, packet->len, &hdr) &&
		       hdr.opcode == SOFT_WRITE_ONLY && !hdr.dma_len;
	return seen.tap(packet, arg);
}

static void begin(void)
{
	int i;

	pair = cm_open(2, false, 8);
	seen.probes = 0;
	seen.tap = pair->net.tap;
	pair->net.tap = see;
	for (i = 0; i < 2; i++) {
		pair->node[i].manner = CM_WAIT;
		cm_queue(pair, i);
	}
}

static void end(void)
{
	cm_close(pair);
}

/* Until the client may send RTU. */
static void accepted(void)
{
	begin();
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	cm_queue_connect(pair, 1);
	IS(cm_accept(end_of(1), NULL), 0);
	cm_run(pair, 1);
	cm_queue_connect(pair, 0);
}

static void connected(void)
{
	accepted();
	IS(cm_establish(end_of(0)), 0);
	cm_run(pair, 1);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
}

/* A REQ for a new connection, from the client's address and with its QPN. */
static void forge(uint32_t comm_id)
{
	struct soft_addr src = pair->node[0].addr;
	struct soft_mad mad;
	uint8_t data[92];

	cm_linux_req(pair, &src, comm_id, pair->qp[0]->qpn, &mad, data);
	mad.guid = sent(SOFT_MAD_REQ)->mad.guid;
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
}

/* One to the client, which listens too, with the server's address and QPN. */
static void forge_to_client(void)
{
	struct soft_addr src = pair->node[1].addr;
	struct soft_addr dst = pair->node[0].addr;
	struct soft_mad_ip ip = { .src = src.ip, .dst = dst.ip };
	struct soft_mad mad;
	uint8_t data[92];

	cm_linux_req(pair, &src, 1000, pair->qp[1]->qpn, &mad, data);
	mad.guid = sent(SOFT_MAD_REP)->mad.guid;
	memcpy(mad.primary.remote_gid, &dst.ip, 16);
	pier__soft_mad_ip_encode(&ip, data);
	cm_inject(pair, 0, &src, CM_SERVICE, &mad);
}

static void check_data(int i)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	IS(pier__soft_qp_post(pair->qp[i], &wr, &bad), 0);
	cm_run(pair, 10);
	IS(pier__soft_cq_poll(pair->node[i].cq, &wc, 1), 1);
	IS(wc.status, IBV_WC_SUCCESS);
}

static void both_last(void)
{
	IS(end_of(0)->over, -1);
	IS(end_of(1)->over, -1);
	IS(sent(SOFT_MAD_DREQ)->count, 0);
	check_data(0);
	check_data(1);
}

static void a_forged_request_ends_no_connection(void)
{
	connected();
	forge(1000);
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_STALE);
	IS(sent(SOFT_MAD_REJ)->mad.remote_id, 1000);
	cm_run(pair, 20000);
	IS(seen.probes, 1);
	both_last();
	end();
}

static void nor_do_a_thousand(void)
{
	uint32_t i;

	connected();
	check_data(0);
	for (i = 0; i < 1000; i++) {
		forge(1000 + i);
		if (i % 10 == 9)
			cm_run(pair, 7);
	}
	cm_run(pair, 20000);
	/* Not one for each: none while the answer is awaited. */
	OK(seen.probes >= 100 && seen.probes <= 200);
	both_last();
	end();
}

/* Probes and answers are lost as well. */
static void nor_does_one_on_a_lossy_network(void)
{
	connected();
	pair->net.faults.loss = 0.2;
	forge(1000);
	cm_run(pair, 20000);
	pair->net.faults.loss = 0;
	both_last();
	end();
}

static void nor_does_one_that_comes_before_the_rtu(void)
{
	accepted();
	forge(1000);
	cm_run(pair, 300);
	IS(end_of(1)->over, -1);
	IS(cm_establish(end_of(0)), 0);
	cm_run(pair, 20000);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
	both_last();
	end();
}

/* The answer to a probe, which comes twice, does not end the RTU's repeats. */
static void a_probed_server_gets_the_rtu_that_was_lost(void)
{
	accepted();
	cm_listen(pair, 0, 8);
	pair->net.faults.duplicate = 1;
	sent(SOFT_MAD_REP)->lose = 1000;
	sent(SOFT_MAD_RTU)->lose = 1;
	IS(cm_establish(end_of(0)), 0);
	forge_to_client();
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_STALE);
	cm_run(pair, 190);
	IS(sent(SOFT_MAD_RTU)->count, 1);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 0);
	cm_run(pair, 100);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
	pair->net.faults.duplicate = 0;
	both_last();
	cm_run(pair, 20000);
	OK(sent(SOFT_MAD_RTU)->count <= 3);
	cm_unlisten(pair, 0);
	end();
}

/* The program has not decided yet. */
static void nor_does_one_that_comes_before_the_rep(void)
{
	begin();
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	forge(1000);
	cm_run(pair, 1000);
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_STALE);
	cm_queue_connect(pair, 1);
	IS(cm_accept(end_of(1), NULL), 0);
	cm_run(pair, 1);
	cm_queue_connect(pair, 0);
	IS(cm_establish(end_of(0)), 0);
	cm_run(pair, 10);
	both_last();
	end();
}

/* What a host sends whose connection manager has lost everything. */
static void confirm_end(const struct soft_addr *src)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_DREP, .tid = sent(SOFT_MAD_DREQ)->mad.tid,
		.local_id = sent(SOFT_MAD_DREQ)->mad.remote_id,
		.remote_id = sent(SOFT_MAD_DREQ)->mad.local_id,
	};

	cm_inject(pair, 1, src, CM_SERVICE, &mad);
}

/*
 * The client restarts, with the same QPN, and sends a REQ each half second.
 * Returns after how many of them it has its connection.
 */
static int restart(const struct soft_addr *src)
{
	struct cmpair_end *old = end_of(1);
	struct soft_mad mad;
	uint8_t data[92];
	int i;

	for (i = 0; i < 20 && end_of(1) == old; i++) {
		cm_run(pair, 500);
		if (sent(SOFT_MAD_DREQ)->count)
			confirm_end(src);
		cm_linux_req(pair, src, 1001 + (uint32_t)i, 77, &mad, data);
		cm_inject(pair, 1, src, CM_SERVICE, &mad);
		cm_run(pair, 1);
	}
	OK(old->over >= 0);
	return i;
}

/* A RoCE device whose QPs have the same numbers again. */
static void first_connection(struct soft_addr *src, bool establish)
{
	struct soft_mad mad;
	uint8_t data[92];

	begin();
	*src = vnet_addr(vnet_node(&pair->net, "192.0.2.66", ROCE_UDP_PORT));
	cm_linux_req(pair, src, 1000, 77, &mad, data);
	cm_inject(pair, 1, src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	cm_queue_connect(pair, 1);
	IS(cm_accept(end_of(1), NULL), 0);
	if (!establish)
		return;
	mad = (struct soft_mad) {
		.attr = SOFT_MAD_RTU, .local_id = 1000, .tid = mad.tid,
		.remote_id = sent(SOFT_MAD_REP)->mad.local_id,
	};
	cm_inject(pair, 1, src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	IS(end_of(1)->events[PIER__CM_ESTABLISHED], 1);
}

static void a_client_that_restarted_connects_after_seconds(void)
{
	struct soft_addr src;
	int tries;

	first_connection(&src, true);
	tries = restart(&src);
	OK(tries > 1 && tries <= 9);
	OK(seen.probes >= 6);
	end();
}

static void so_does_one_that_restarted_before_its_rtu(void)
{
	struct soft_addr src;
	int tries;

	first_connection(&src, false);
	tries = restart(&src);
	OK(tries > 1 && tries <= 9);
	end();
}

int main(void)
{
	TEST(a_forged_request_ends_no_connection);
	TEST(nor_do_a_thousand);
	TEST(nor_does_one_on_a_lossy_network);
	TEST(nor_does_one_that_comes_before_the_rtu);
	TEST(nor_does_one_that_comes_before_the_rep);
	TEST(a_probed_server_gets_the_rtu_that_was_lost);
	TEST(a_client_that_restarted_connects_after_seconds);
	TEST(so_does_one_that_restarted_before_its_rtu);
	return tap_done();
}
