/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* Many connections on one endpoint: what they share, and what they cost. */
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

static int write_on(struct soft_qp *qp, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = softpair_sge(a, SRC, len);
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	return softpair_post(qp, &wr);
}

static void an_idle_connection_costs_little(void)
{
	OK(sizeof(struct soft_qp) <= 1776);
	tap_note("%zu bytes, and %zu a request in flight",
		 sizeof(struct soft_qp), sizeof(struct soft_wqe));
}

static void each_connection_has_a_number_of_its_own(void)
{
	enum { MANY = 10000 };
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	struct soft_qp **qp = calloc(MANY, sizeof(struct soft_qp *));
	uint8_t *seen = calloc(1 << 24, 1);
	uint32_t i, qpn, twice = 0, found = 0;

	if (!OK(qp && seen))
		return;
	open_pair(NULL);
	for (i = 0; i < MANY; i++) {
		if (pier__soft_qp_create(a->cq, a->srq, &cap, &qp[i]))
			break;
		qpn = qp[i]->qpn;
		twice += qpn < 2 || qpn > 0xfffffe || seen[qpn]++;
		found += pier__soft_table_find(a->ep, qpn) == qp[i];
	}
	IS(i, MANY);
	IS(twice, 0);
	IS(found, MANY);
	for (i = 0; i < MANY; i++)
		found -= pier__soft_table_find(a->ep, qp[i]->qpn) == qp[i];
	IS(found, 0);
	for (i = 0; i < MANY; i++)
		pier__soft_qp_destroy(qp[i]);
	IS(a->ep->qps.count, 1);
	softpair_close(pair);
	free(qp);
	free(seen);
}

/* When the peer of @qp, connected with the pair's options, is given up. */
static uint64_t give_up_time(void)
{
	return pair->net.now + (UINT64_C(4096) << pair->opts.timeout) *
	       (pair->opts.retry_cnt + 1);
}

static void their_timers_go_off_each_at_its_time(void)
{
	enum { MANY = 60 };
	struct soft_qp *qp[MANY];
	uint64_t due[MANY];
	uint32_t i, early = 0, seen = 0;

	open_pair(NULL);
	for (i = 0; i < MANY; i++) {
		qp[i] = softpair_qp(a);
		pair->opts.timeout = 8 + vnet_random(&pair->net) % 8;
		pair->opts.retry_cnt = vnet_random(&pair->net) % 8;
		IS(softpair_init(qp[i], &pair->opts), 0);
		IS(softpair_rtr(pair, 0, qp[i], 5), 0);
		IS(softpair_rts(pair, 0, qp[i]), 0);
		/* Timers that go off late would give their peers more time. */
		softpair_wait(pair, 0, MANY, vnet_random(&pair->net) % 100000);
		IS(write_on(qp[i], i, 8), 0);
		due[i] = give_up_time();
		vnet_settle(&pair->net);
	}
	/* Some are called off. */
	for (i = 0; i < MANY; i += 7)
		softpair_state(qp[i], IBV_QPS_RESET);
	for (i = 0; i < MANY; i++)
		early += i % 7 && due[i] < pair->net.now;
	while (seen < MANY - (MANY + 6) / 7 &&
	       softpair_wait(pair, 0, seen + 1, 10 * SECOND)) {
		if (!OK(seen < early ||
			due[a->wc[seen].wr_id] == pair->net.now))
			break;
		seen = softpair_poll(a);
	}
	IS(seen, MANY - (MANY + 6) / 7);
	OK(pier__soft_ep_deadline(a->ep) == PIER__NEVER);
	for (i = 0; i < MANY; i++)
		pier__soft_qp_destroy(qp[i]);
	softpair_close(pair);
}

static void what_one_does_not_use_of_the_window_is_for_the_other(void)
{
	struct soft_qp *qp[2];

	open_pair(NULL);
	qp[0] = softpair_qp(a);
	qp[1] = softpair_qp(b);
	softpair_connect(pair, qp[0], qp[1]);
	/* The first fills the window, and wants no more. */
	IS(write_on(a->qp, 1, 96 * 1024), 0);
	vnet_settle(&pair->net);
	IS(write_on(qp[0], 2, 50 * 1024), 0);
	OK(softpair_wait(pair, 0, 2, PIER__MS));
	IS(a->ep->counters->timeouts, 0);
	pier__soft_qp_destroy(qp[0]);
	pier__soft_qp_destroy(qp[1]);
	softpair_close(pair);
}

static void one_that_dies_frees_its_share_of_the_window(void)
{
	struct soft_qp *qp = NULL;
	int i;

	open_pair(NULL);
	for (i = 0; i < 50; i++) {
		qp = softpair_qp(a);
		IS(softpair_init(qp, &pair->opts), 0);
		IS(softpair_rtr(pair, 0, qp, 5), 0);
		IS(softpair_rts(pair, 0, qp), 0);
		IS(write_on(qp, 1, 90 * 1024), 0);
		vnet_settle(&pair->net);
		pier__soft_qp_destroy(qp);
	}
	IS(write_on(a->qp, 2, 50 * 1024), 0);
	OK(softpair_wait(pair, 0, 1, PIER__MS));
	softpair_close(pair);
}

static void those_without_an_answer_hold_up_no_other(void)
{
	enum { MANY = 120 };
	struct soft_qp *qp[MANY];
	int i;

	open_pair(NULL);
	for (i = 0; i < MANY; i++) {
		qp[i] = softpair_qp(a);
		IS(softpair_init(qp[i], &pair->opts), 0);
		IS(softpair_rtr(pair, 0, qp[i], 5), 0);
		IS(softpair_rts(pair, 0, qp[i]), 0);
		IS(write_on(qp[i], 1, 20000), 0);
	}
	OK(!softpair_wait(pair, 0, 1, 400 * PIER__MS));
	IS(write_on(a->qp, 2, 50 * 1024), 0);
	OK(softpair_wait(pair, 0, 1, PIER__MS));
	IS(a->wc[0].wr_id, 2);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	for (i = 0; i < MANY; i++)
		pier__soft_qp_destroy(qp[i]);
	softpair_close(pair);
}

static bool only_the_first_forty(const struct vnet_packet *packet, void *arg)
{
	(void)arg;
	return packet->data[0] == SOFT_ACK || pair->net.sent <= 40;
}

static void loss_makes_the_window_smaller(void)
{
	uint32_t before = 0;
	uint64_t sent = 0;

	open_pair(NULL);
	pair->net.tap = only_the_first_forty;
	IS(write_on(a->qp, 1, 90 * 1024), 0);
	while (!a->ep->counters->timeouts) {
		before = a->qp->cwnd->window;
		sent = pair->net.sent;
		vnet_run(&pair->net, PIER__MS / 10, NULL, NULL);
	}
	/* One packet asks; and there is half the room when it gets there. */
	IS(pair->net.sent, sent + 1);
	IS(a->qp->cwnd->window, before / 2);
	pair->net.tap = NULL;
	OK(softpair_wait(pair, 0, 1, SECOND));
	softpair_close(pair);
}

static void a_full_socket_is_tried_again_later(void)
{
	uint64_t due;

	open_pair(NULL);
	pair->net.faults.refuse = 1;
	IS(write_on(a->qp, 1, 8), 0);
	vnet_settle(&pair->net);
	due = pier__soft_ep_deadline(a->ep);
	OK(due > pair->net.now && due < pair->net.now + PIER__MS);
	pair->net.faults.refuse = 0;
	IS(pier__soft_ep_drive(a->ep), 0);
	pair->net.now = due;
	OK(pier__soft_ep_drive(a->ep) > 0);
	OK(softpair_wait(pair, 0, 1, PIER__MS));
	softpair_close(pair);
}

static void a_reset_gives_all_requests_back(void)
{
	int round, i;

	open_pair(NULL);
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 256; i++)
			if (write_on(a->qp, i, 8))
				break;
		IS(i, 256);
		IS(write_on(a->qp, i, 8), -EAGAIN);
		softpair_state(a->qp, IBV_QPS_RESET);
		softpair_state(b->qp, IBV_QPS_RESET);
		softpair_connect(pair, a->qp, b->qp);
	}
	softpair_close(pair);
}

static void a_reset_gives_the_receive_at_hand_back(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_SEND_FIRST,
				.pkey = ROCE_PKEY_DEFAULT };
	static const uint8_t data[1024];
	int round, i;

	open_pair(NULL);
	hdr.qpn = b->qp->qpn;
	for (round = 0; round < 1025; round++) {
		if (softpair_recv(b, 1, DST, 5000))
			break;
		softpair_inject(pair, 1, &hdr, data, 1024);
		softpair_state(a->qp, IBV_QPS_RESET);
		softpair_state(b->qp, IBV_QPS_RESET);
		softpair_connect(pair, a->qp, b->qp);
	}
	IS(round, 1025);
	for (i = 0; !softpair_recv(b, 1, DST, 8); i++)
		;
	IS(i, 1024);
	softpair_close(pair);
}

static void one_may_not_post_more_than_its_own_queue_holds(void)
{
	struct soft_qp *other;
	int i;

	open_pair(NULL);
	other = softpair_qp(a);
	for (i = 0; !write_on(a->qp, i, 8); i++)
		;
	IS(i, 256);
	pier__soft_qp_destroy(other);
	softpair_close(pair);
}

int main(void)
{
	TEST(an_idle_connection_costs_little);
	TEST(each_connection_has_a_number_of_its_own);
	TEST(their_timers_go_off_each_at_its_time);
	TEST(what_one_does_not_use_of_the_window_is_for_the_other);
	TEST(one_that_dies_frees_its_share_of_the_window);
	TEST(those_without_an_answer_hold_up_no_other);
	TEST(loss_makes_the_window_smaller);
	TEST(a_full_socket_is_tried_again_later);
	TEST(a_reset_gives_all_requests_back);
	TEST(a_reset_gives_the_receive_at_hand_back);
	TEST(one_may_not_post_more_than_its_own_queue_holds);
	return tap_done();
}
