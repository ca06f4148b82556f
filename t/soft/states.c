/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * The soft device's queue pairs through their states, and what ends by time:
 * peers that are gone, receivers that are not ready.
 */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(const struct softpair_opts *opts)
{
	static const struct softpair_opts plain;

	pair = softpair_open(opts ? opts : &plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

static void write_one(uint64_t wr_id)
{
	IS(softpair_send(a, wr_id, IBV_WR_RDMA_WRITE, SRC, 3000, b, DST), 0);
}

static void an_error_flushes_all_in_order(void)
{
	uint32_t i;

	open_pair(NULL);
	for (i = 0; i < 5; i++)
		IS(softpair_recv(a, 100 + i, DST, 1000), 0);
	for (i = 0; i < 10; i++)
		write_one(i);
	IS(softpair_state(a->qp, IBV_QPS_ERR), 0);
	IS(softpair_poll(a), 10);
	for (i = 0; i < 10; i++) {
		IS(a->wc[i].wr_id, i);
		IS(a->wc[i].status, IBV_WC_WR_FLUSH_ERR);
		IS(a->wc[i].qp_num, a->qp->qpn);
	}
	/* Later ones at once; the shared receives stay. */
	write_one(10);
	IS(softpair_poll(a), 11);
	IS(a->wc[10].status, IBV_WC_WR_FLUSH_ERR);
	OK(softpair_idle(pair));
	IS(a->wcs, 11);
	IS(b->qp->state, IBV_QPS_RTS);
	softpair_close(pair);
}

static void unsignalled_requests_are_flushed_too(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .wr_id = 3,
				  .sg_list = &sge, .num_sge = 1 };

	open_pair(NULL);
	sge = softpair_sge(a, SRC, 8);
	IS(softpair_post(a->qp, &wr), 0);
	IS(softpair_state(a->qp, IBV_QPS_ERR), 0);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].status, IBV_WC_WR_FLUSH_ERR);
	softpair_close(pair);
}

static bool some_sent(void *arg)
{
	(void)arg;
	return pair->net.sent >= 2;
}

static bool only_the_first(const struct vnet_packet *packet, void *arg)
{
	(void)arg;
	return packet->data[0] == SOFT_SEND_FIRST;
}

static void a_receive_at_hand_is_flushed_with_its_qp(void)
{
	open_pair(NULL);
	IS(softpair_recv(b, 7, DST, 100000), 0);
	IS(softpair_recv(b, 8, DST, 100000), 0);
	pair->net.tap = only_the_first;
	a->mem[SRC] = 1;
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100000, b, 0), 0);
	vnet_run(&pair->net, PIER__MS, NULL, NULL);
	IS(b->mem[DST], 1);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(softpair_poll(b), 1);
	IS(b->wc[0].wr_id, 7);
	IS(b->wc[0].status, IBV_WC_WR_FLUSH_ERR);
	softpair_close(pair);
}

static void a_qp_is_as_new_after_reset(void)
{
	uint32_t i;

	open_pair(NULL);
	for (i = 0; i < 10; i++)
		write_one(i);
	vnet_run(&pair->net, SECOND, some_sent, NULL);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	pair->opts.psn[0] = 99;
	softpair_connect(pair, a->qp, b->qp);
	a->wcs = 0;
	/* What was posted is gone without a word. */
	write_one(50);
	OK(softpair_wait(pair, 0, 1, SECOND));
	OK(softpair_idle(pair));
	IS(a->wcs, 1);
	IS(a->wc[0].wr_id, 50);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void an_errored_qp_lives_again_after_reset(void)
{
	open_pair(NULL);
	IS(softpair_state(a->qp, IBV_QPS_ERR), 0);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	softpair_connect(pair, a->qp, b->qp);
	write_one(1);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void destroying_a_qp_purges_what_is_unread(void)
{
	struct soft_qp *qp[2];

	open_pair(NULL);
	qp[0] = softpair_qp(a);
	qp[1] = softpair_qp(b);
	softpair_connect(pair, qp[0], qp[1]);
	write_one(1);
	IS(softpair_state(qp[0], IBV_QPS_ERR), 0);
	IS(softpair_post(qp[0], &(struct ibv_send_wr){
		     .wr_id = 9, .opcode = IBV_WR_SEND }), 0);
	vnet_run(&pair->net, SECOND, NULL, NULL);
	pier__soft_qp_destroy(qp[0]);
	pier__soft_qp_destroy(qp[1]);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].wr_id, 1);
	softpair_close(pair);
}

/* The peer is in @state: nothing comes back. */
static void silent(enum ibv_qp_state state)
{
	struct softpair_opts opts = { .timeout = 10, .retry_cnt = 2 };

	open_pair(&opts);
	IS(softpair_state(b->qp, state == IBV_QPS_ERR ? state : IBV_QPS_RESET),
	   0);
	if (state == IBV_QPS_INIT)
		IS(softpair_init(b->qp, &pair->opts), 0);
	write_one(1);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_RETRY_EXC_ERR);
	IS(a->qp->state, IBV_QPS_ERR);
	IS(counters(b)->tx_packets, 0);
	OK(counters(b)->dropped > 0);
	softpair_close(pair);
}

static void a_qp_in_reset_init_or_error_is_silent(void)
{
	silent(IBV_QPS_RESET);
	silent(IBV_QPS_INIT);
	silent(IBV_QPS_ERR);
}

static void the_peer_may_still_be_in_rtr(void)
{
	open_pair(NULL);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	IS(softpair_init(b->qp, &pair->opts), 0);
	IS(softpair_rtr(pair, 1, b->qp, a->qp->qpn), 0);
	write_one(1);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(softpair_send(b, 1, IBV_WR_RDMA_WRITE, 0, 1, a, 0), -EINVAL);
	softpair_close(pair);
}

static void a_peer_that_comes_late_is_reached(void)
{
	open_pair(NULL);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	write_one(1);
	OK(!softpair_wait(pair, 0, 1, 400 * PIER__MS));
	IS(softpair_init(b->qp, &pair->opts), 0);
	IS(softpair_rtr(pair, 1, b->qp, a->qp->qpn), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

/* Given up exactly when the time without progress is over. */
static void gives_up(uint8_t timeout, uint8_t retry_cnt)
{
	struct softpair_opts opts = { .timeout = timeout,
				      .retry_cnt = retry_cnt,
				      .no_retry = true };
	uint64_t budget = (UINT64_C(4096) << timeout) * (retry_cnt + 1);
	uint64_t start;

	open_pair(&opts);
	vnet_attach(b->io, NULL);
	pair->net.now += 12345;
	start = pair->net.now;
	write_one(1);
	write_one(2);
	OK(softpair_wait(pair, 0, 2, 100000 * SECOND));
	IS(pair->net.now - start, budget);
	IS(a->wc[0].status, IBV_WC_RETRY_EXC_ERR);
	IS(a->wc[1].status, IBV_WC_WR_FLUSH_ERR);
	OK(counters(a)->timeouts >= retry_cnt);
	softpair_close(pair);
}

static void a_peer_that_is_gone_is_given_up_in_time(void)
{
	gives_up(14, 7);
	gives_up(14, 0);
	gives_up(8, 3);
	gives_up(1, 1);
	gives_up(19, 6);
}

/* Suspended, or not scheduled on a busy processor. */
static void time_that_we_were_away_is_not_the_peers(void)
{
	int i;

	open_pair(NULL);
	vnet_attach(b->io, NULL);
	write_one(1);
	for (i = 0; i < 3; i++) {
		OK(!softpair_wait(pair, 0, 1, 100 * PIER__MS));
		pair->net.now += SECOND;
		pier__soft_ep_drive(a->ep);
	}
	vnet_attach(b->io, b->ep);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void progress_gives_new_time(void)
{
	struct softpair_opts opts = { .timeout = 10, .no_retry = true };
	uint64_t start;

	/* 4.2 ms without an answer would be the end. */
	open_pair(&opts);
	pair->net.latency = 2 * PIER__MS;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 1000000, b, 0), 0);
	IS(softpair_send(a, 2, IBV_WR_RDMA_READ, 0, 1000000, b, 0), 0);
	start = pair->net.now;
	OK(softpair_wait(pair, 0, 2, 10 * SECOND));
	OK(pair->net.now - start > 10 * PIER__MS);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(a->wc[1].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void without_a_timeout_nothing_is_given_up(void)
{
	struct softpair_opts opts = { .timeout = 14 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = 0,
				    .max_rd_atomic = 1 };

	open_pair(&opts);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_init(a->qp, &pair->opts), 0);
	IS(softpair_rtr(pair, 0, a->qp, b->qp->qpn), 0);
	IS(pier__soft_qp_modify(a->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
				NULL, 0), 0);
	vnet_attach(b->io, NULL);
	write_one(1);
	OK(!softpair_wait(pair, 0, 1, 100 * SECOND));
	vnet_attach(b->io, b->ep);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void the_deadline_is_when_something_happens(void)
{
	uint64_t due;
	int i;

	open_pair(NULL);
	OK(pier__soft_ep_deadline(a->ep) == PIER__NEVER);
	vnet_attach(b->io, NULL);
	write_one(1);
	OK(pier__soft_ep_deadline(a->ep) <= pair->net.now);
	vnet_settle(&pair->net);
	for (i = 0; i < 5; i++) {
		due = pier__soft_ep_deadline(a->ep);
		OK(due > pair->net.now && due < pair->net.now + SECOND);
		pair->net.now = due - 1;
		IS(pier__soft_ep_drive(a->ep), 0);
		pair->net.now = due;
		OK(pier__soft_ep_drive(a->ep) > 0);
	}
	IS(softpair_state(a->qp, IBV_QPS_ERR), 0);
	OK(pier__soft_ep_deadline(a->ep) == PIER__NEVER);
	softpair_close(pair);
}

/* The time that RNR timer code @code asks for, from the wire's table. */
static void rnr_waits(uint8_t code, uint64_t us)
{
	struct softpair_opts opts = { .min_rnr_timer = code };
	uint64_t start;

	open_pair(&opts);
	pair->net.latency = 1000;
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, 0), 0);
	start = pair->net.now;
	while (!counters(a)->rnr_received)
		vnet_run(&pair->net, 1000, NULL, NULL);
	IS(softpair_recv(b, 5, DST, 100), 0);
	OK(softpair_wait(pair, 0, 1, 2 * SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	OK(pair->net.now - start >= us * 1000);
	OK(pair->net.now - start < us * 1000 + 10000);
	IS(counters(b)->rnr_sent, 1);
	softpair_close(pair);
}

static void a_receiver_not_ready_is_waited_for(void)
{
	/* By code, in units of 10 us; code 0 is looked at below. */
	static const uint32_t units[32] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768, 49152,
	};
	uint8_t code;

	for (code = 1; code < 32; code++)
		rnr_waits(code, 10 * units[code]);
}

static void the_longest_wait_has_code_0(void)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = 0 };
	uint64_t start;

	open_pair(NULL);
	IS(pier__soft_qp_modify(b->qp, &attr, IBV_QP_MIN_RNR_TIMER, NULL, 0),
	   0);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, 0), 0);
	start = pair->net.now;
	OK(!softpair_wait(pair, 0, 1, 100 * PIER__MS));
	IS(softpair_recv(b, 5, DST, 100), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	OK(pair->net.now - start >= 655360000);
	softpair_close(pair);
}

static void waiting_for_receives_ends_after_the_retries(void)
{
	struct softpair_opts opts = { .rnr_retry = 3 };
	int i;

	open_pair(&opts);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, 0), 0);
	write_one(2);
	OK(softpair_wait(pair, 0, 2, SECOND));
	IS(a->wc[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
	IS(a->wc[1].status, IBV_WC_WR_FLUSH_ERR);
	IS(counters(b)->rnr_sent, 4);
	IS(b->qp->state, IBV_QPS_RTS);
	softpair_close(pair);

	/* For a write with immediate the same; 0 retries is none. */
	opts.rnr_retry = 0;
	opts.no_rnr_retry = true;
	for (i = 0; i < 2; i++) {
		open_pair(&opts);
		IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE_WITH_IMM, SRC,
				 i ? 0 : 5000, b, DST), 0);
		OK(softpair_wait(pair, 0, 1, SECOND));
		IS(a->wc[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
		IS(counters(b)->rnr_sent, 1);
		softpair_close(pair);
	}
}

static void seven_rnr_retries_are_for_ever(void)
{
	open_pair(NULL);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100000, b, 0), 0);
	OK(!softpair_wait(pair, 0, 1, 10 * SECOND));
	OK(counters(b)->rnr_sent > 1000);
	/* It is asked with one packet, not with all of the message. */
	OK(counters(a)->tx_packets < 2 * counters(b)->rnr_sent);
	/* What follows draws no NAK for missing packets. */
	IS(counters(b)->naks_sent[0], 0);
	IS(softpair_recv(b, 1, DST, 100000), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void each_message_has_its_own_rnr_retries(void)
{
	struct softpair_opts opts = { .rnr_retry = 2 };
	uint32_t i;

	open_pair(&opts);
	for (i = 0; i < 5; i++)
		IS(softpair_send(a, i, IBV_WR_SEND, SRC, 100, b, 0), 0);
	for (i = 0; i < 5; i++) {
		OK(!softpair_wait(pair, 0, i + 1, 1300000));
		IS(softpair_recv(b, i, DST, 100), 0);
		OK(softpair_wait(pair, 0, i + 1, SECOND));
		IS(a->wc[i].status, IBV_WC_SUCCESS);
	}
	softpair_close(pair);
}

static void what_is_not_for_a_qp_is_dropped(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_WRITE_ONLY, .dma_len = 4 };
	uint64_t dropped;
	uint8_t i;

	open_pair(NULL);
	hdr.va = (uintptr_t)b->mem;
	hdr.rkey = b->mr.mr.rkey;
	for (i = 0; i < 7; i++) {
		hdr.qpn = b->qp->qpn ^ (i == 0);
		hdr.pkey = i == 1 ? 0xfffe : 0xffff;
		hdr.opcode = i == 2 ? SOFT_UD_SEND_ONLY
			   : i == 3 ? 0x18 : SOFT_WRITE_ONLY;
		dropped = counters(b)->dropped;
		if (i == 4)
			pair->end[0].io = vnet_node(&pair->net, "192.0.2.9",
						    5000);
		if (i == 5) {
			pair->end[0].io = a->io;
			softpair_state(b->qp, IBV_QPS_ERR);
		}
		softpair_inject(pair, 1, &hdr, "abcd", 4);
		if (!IS(counters(b)->dropped, dropped + 1))
			tap_note("case %d", i);
	}
	IS(counters(b)->tx_packets, 0);
	IS(b->mem[0], 0);
	softpair_close(pair);
}

static void a_drained_queue_finishes_what_was_begun(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	uint32_t i;

	open_pair(NULL);
	for (i = 0; i < 4; i++)
		IS(softpair_send(a, i, IBV_WR_RDMA_WRITE, SRC, 500000, b, DST),
		   0);
	vnet_run(&pair->net, SECOND, some_sent, NULL);
	IS(pier__soft_qp_modify(a->qp, &attr, IBV_QP_STATE, NULL, 0), 0);
	OK(softpair_idle(pair));
	IS(a->wcs, 1);
	attr.qp_state = IBV_QPS_RTS;
	IS(pier__soft_qp_modify(a->qp, &attr, IBV_QP_STATE, NULL, 0), 0);
	OK(softpair_wait(pair, 0, 4, SECOND));
	IS(a->wc[3].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void moves_that_are_not_allowed_change_nothing(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct soft_qp *qp;

	open_pair(NULL);
	qp = softpair_qp(a);
	IS(softpair_rts(pair, 0, qp), -EINVAL);
	IS(softpair_rtr(pair, 0, qp, 5), -EINVAL);
	attr.qp_state = IBV_QPS_INIT;
	IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE, NULL, 0), -EINVAL);
	attr.qp_state = IBV_QPS_RTR;
	IS(softpair_init(qp, &pair->opts), 0);
	IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE, NULL, 0), -EINVAL);
	pair->opts.max_dest_rd_atomic = SOFT_RD_ATOMIC + 1;
	IS(softpair_rtr(pair, 0, qp, 5), -EINVAL);
	pair->opts.max_dest_rd_atomic = SOFT_RD_ATOMIC;
	IS(softpair_rtr(pair, 0, qp, 0x1000000), -EINVAL);
	IS(qp->state, IBV_QPS_INIT);
	IS(softpair_rtr(pair, 0, qp, 5), 0);
	pair->opts.timeout = 32;
	IS(softpair_rts(pair, 0, qp), -EINVAL);
	IS(qp->state, IBV_QPS_RTR);
	pair->opts.timeout = 14;
	IS(softpair_rts(pair, 0, qp), 0);
	pier__soft_qp_destroy(qp);
	softpair_close(pair);
}

static void an_overrun_completion_queue_is_dead(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 8, .max_send_sge = 1 };
	struct soft_cq *cq;
	struct ibv_wc wc[8];
	struct soft_qp *qp;
	int i;

	open_pair(NULL);
	IS(pier__soft_cq_create(a->ep, 4, &cq), 0);
	IS(pier__soft_qp_create(cq, a->srq, &cap, &qp), 0);
	IS(softpair_init(qp, &pair->opts), 0);
	IS(softpair_state(qp, IBV_QPS_ERR), 0);
	for (i = 0; i < 5; i++)
		IS(softpair_post(
			   qp, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND }),
		   0);
	IS(pier__soft_cq_poll(cq, wc, 8), 4);
	IS(pier__soft_cq_poll(cq, wc, 8), -EOVERFLOW);
	IS(counters(a)->cq_overflows, 1);
	pier__soft_qp_destroy(qp);
	pier__soft_cq_destroy(cq);
	softpair_close(pair);
}

static void limits_are_reported(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 8,
				  .max_send_sge = SOFT_SEND_SGE + 1 };
	struct soft_srq *srq;
	struct soft_cq *cq;
	struct soft_qp *qp;

	open_pair(NULL);
	IS(pier__soft_cq_create(a->ep, 0, &cq), -EINVAL);
	IS(pier__soft_cq_create(a->ep, SOFT_QUEUE_MAX + 1, &cq), -EINVAL);
	IS(pier__soft_srq_create(a->ep, 0, 1, &srq), -EINVAL);
	IS(pier__soft_srq_create(a->ep, 1, SOFT_RECV_SGE + 1, &srq), -EINVAL);
	IS(pier__soft_qp_create(a->cq, a->srq, &cap, &qp), -EINVAL);
	cap.max_send_sge = 1;
	cap.max_inline_data = SOFT_INLINE_MAX + 1;
	IS(pier__soft_qp_create(a->cq, a->srq, &cap, &qp), -EINVAL);
	softpair_close(pair);
}

int main(void)
{
	TEST(an_error_flushes_all_in_order);
	TEST(unsignalled_requests_are_flushed_too);
	TEST(a_receive_at_hand_is_flushed_with_its_qp);
	TEST(a_qp_is_as_new_after_reset);
	TEST(an_errored_qp_lives_again_after_reset);
	TEST(destroying_a_qp_purges_what_is_unread);
	TEST(a_qp_in_reset_init_or_error_is_silent);
	TEST(the_peer_may_still_be_in_rtr);
	TEST(a_peer_that_comes_late_is_reached);
	TEST(a_peer_that_is_gone_is_given_up_in_time);
	TEST(time_that_we_were_away_is_not_the_peers);
	TEST(progress_gives_new_time);
	TEST(without_a_timeout_nothing_is_given_up);
	TEST(the_deadline_is_when_something_happens);
	TEST(a_receiver_not_ready_is_waited_for);
	TEST(the_longest_wait_has_code_0);
	TEST(waiting_for_receives_ends_after_the_retries);
	TEST(seven_rnr_retries_are_for_ever);
	TEST(each_message_has_its_own_rnr_retries);
	TEST(what_is_not_for_a_qp_is_dropped);
	TEST(a_drained_queue_finishes_what_was_begun);
	TEST(moves_that_are_not_allowed_change_nothing);
	TEST(an_overrun_completion_queue_is_dead);
	TEST(limits_are_reported);
	return tap_done();
}
