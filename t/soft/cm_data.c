/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * A connection whose RTU is lost, in virtual time: the first packet of its peer
 * stands for it, and no other.
 */
static struct cm_pair *pair;

/* Side 1's end, which has accepted and got no RTU. */
static struct cmpair_end *accepted(void)
{
	struct cmpair_end *end;

	pair = cm_open(1, false, 8);
	pair->node[1].manner = CM_WAIT;
	cm_queue(pair, 1);
	pair->sent[SOFT_MAD_RTU].lose = 1000;
	cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 1);
	end = cm_last(&pair->node[1]);
	cm_queue_connect(pair, 1);
	IS(cm_accept(end, NULL), 0);
	cm_run(pair, 1);
	IS(end->events[PIER__CM_ESTABLISHED], 0);
	return end;
}

static void finish(void)
{
	cm_close(pair);
}

/* A packet of side 0, @ahead of @psn. */
static void packet(uint32_t psn, int32_t ahead, uint8_t opcode)
{
	struct soft_hdr hdr = {
		.opcode = opcode, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = pair->qp[1]->qpn,
		.psn = (psn + (uint32_t)ahead) & SOFT_PSN_MASK,
		.syndrome = SOFT_SYN_ACK, .ack_req = true,
	};
	struct soft_tx tx = {
		.src = pair->node[0].addr, .dst = pair->node[1].addr,
	};
	struct vnet_packet built;

	tx.hdr_len = (uint8_t)pier__soft_encode(&hdr, tx.hdr);
	vnet_build(&pair->net, &tx, &built);
	vnet_deliver(&pair->net, &built);
	vnet_settle(&pair->net);
	cm_events(&pair->node[1]);
}

/* @ahead of the one that is next. */
static void request(int32_t ahead)
{
	packet(pair->sent[SOFT_MAD_REP].mad.psn, ahead, SOFT_SEND_ONLY);
}

static void response(int32_t ahead)
{
	packet(pair->sent[SOFT_MAD_REQ].mad.psn, ahead, SOFT_ACK);
}

static void the_first_packet_stands_for_a_lost_rtu(void)
{
	struct cmpair_end *end = accepted();

	request(0);
	IS(end->events[PIER__CM_ESTABLISHED], 1);
	finish();
}

/* Its QP may have the number of an earlier one of the same hosts. */
static void a_packet_of_an_earlier_connection_does_not(void)
{
	struct cmpair_end *end = accepted();

	request(1);
	request(-1);
	request(-1000);
	request(1 << 22);
	packet(pair->sent[SOFT_MAD_REP].mad.psn, 0, SOFT_ACK);
	IS(end->events[PIER__CM_ESTABLISHED], 0);
	request(0);
	IS(end->events[PIER__CM_ESTABLISHED], 1);
	finish();
}

/* The sender of a forged REQ chooses the PSNs that our requests have. */
static void an_acknowledgement_does_not_either(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct cmpair_end *end = accepted();

	response(-1);
	IS(end->events[PIER__CM_ESTABLISHED], 0);
	IS(pier__soft_qp_post(pair->qp[1], &wr, &bad), 0);
	cm_run(pair, 1);
	response(0);
	IS(end->events[PIER__CM_ESTABLISHED], 0);
	request(0);
	IS(end->events[PIER__CM_ESTABLISHED], 1);
	finish();
}

int main(void)
{
	TEST(the_first_packet_stands_for_a_lost_rtu);
	TEST(a_packet_of_an_earlier_connection_does_not);
	TEST(an_acknowledgement_does_not_either);
	return tap_done();
}
