/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Queue pairs whose receives complete in a queue of their own, and are posted
 * to one.
 */
#define SECOND UINT64_C(1000000000)

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_cq *cq;		/* of b's receives */
static struct soft_srq *own;		/* of b's QP */
static struct ibv_wc wc[16];

/* A pair whose b receives by @own. */
static void open_pair(void)
{
	static const struct softpair_opts opts;

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	IS(pier__soft_cq_create(b->ep, 16, &cq), 0);
	IS(pier__soft_srq_create(b->ep, 4, 1, &own), 0);
	pier__soft_qp_recv_by(b->qp, cq, own);
}

static void close_pair(void)
{
	pier__soft_qp_destroy(b->qp);
	b->qp = NULL;
	pier__soft_srq_destroy(own);
	pier__soft_cq_destroy(cq);
	softpair_close(pair);
}

static int receive_to(struct soft_srq *srq, uint64_t wr_id, uint32_t lkey)
{
	struct ibv_sge sge = softpair_sge(b, 0, 64);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	sge.lkey = lkey;
	return pier__soft_srq_post(srq, &wr, &bad);
}

static int receive(uint64_t wr_id)
{
	return receive_to(own, wr_id, b->mr.mr.lkey);
}

/* Checks @n completions from @wr_id on. */
static void completed(int n, uint64_t wr_id, enum ibv_wc_status status)
{
	int i;

	if (!IS(pier__soft_cq_poll(cq, wc, 16), n))
		return;
	for (i = 0; i < n; i++) {
		IS(wc[i].wr_id, wr_id + i);
		IS(wc[i].status, status);
		IS(wc[i].opcode, IBV_WC_RECV);
		IS(wc[i].qp_num, b->qp->qpn);
	}
}

static void receives_complete_apart_from_sends(void)
{
	open_pair();
	IS(receive(5), 0);
	IS(softpair_send(a, 1, IBV_WR_SEND, 0, 8, b, 0), 0);
	IS(softpair_send(b, 2, IBV_WR_RDMA_WRITE, 0, 8, a, 0), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	OK(softpair_wait(pair, 1, 1, SECOND));
	IS(b->wcs, 1);
	IS(b->wc[0].wr_id, 2);
	completed(1, 5, IBV_WC_SUCCESS);
	close_pair();
}

static void a_failed_qp_flushes_its_own_receives(void)
{
	open_pair();
	IS(receive(5), 0);
	IS(receive(6), 0);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	completed(2, 5, IBV_WC_WR_FLUSH_ERR);
	close_pair();
}

static void a_receive_posted_in_err_is_flushed(void)
{
	uint64_t i;

	open_pair();
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	for (i = 0; i < 6; i++) {		/* more than it holds */
		IS(receive(7 + i), 0);
		completed(1, 7 + i, IBV_WC_WR_FLUSH_ERR);
	}
	close_pair();
}

static void a_reset_drops_own_receives_and_their_completions(void)
{
	int i;

	open_pair();
	IS(receive(5), 0);
	IS(softpair_send(a, 1, IBV_WR_SEND, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(receive(6), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	IS(pier__soft_cq_poll(cq, wc, 16), 0);
	for (i = 0; i < 4; i++)			/* all its places are free */
		IS(receive(8), 0);
	IS(receive(9), -EAGAIN);
	close_pair();
}

static void a_shared_queue_is_not_flushed(void)
{
	static const struct softpair_opts opts;

	pair = softpair_open(&opts, 1);
	b = &pair->end[1];
	IS(softpair_recv(b, 5, 0, 64), 0);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(softpair_poll(b), 0);
	OK(pier__soft_srq_recall(b->srq, 5));
	softpair_close(pair);
}

/* A shared queue whose receives have other keys than the QP's requests. */
static void a_shared_queue_has_keys_of_its_own(void)
{
	static const struct softpair_opts opts;
	struct soft_mr received = { 0 };
	int here, there;

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	received = b->mr;
	received.pd = &there;
	IS(pier__soft_mr_add(b->keys, &received), 0);
	pier__soft_qp_protect(b->qp, &here);
	pier__soft_srq_protect(b->srq, &there);
	IS(receive_to(b->srq, 5, received.mr.lkey), 0);
	IS(softpair_send(a, 1, IBV_WR_SEND, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 1, 1, SECOND));
	IS(b->wc[0].wr_id, 5);
	IS(b->wc[0].status, IBV_WC_SUCCESS);
	/* Those of the QP are not for receives. */
	b->mr.pd = &here;
	IS(receive_to(b->srq, 6, b->mr.mr.lkey), 0);
	IS(softpair_send(a, 2, IBV_WR_SEND, 0, 8, b, 0), 0);
	OK(softpair_wait(pair, 1, 2, SECOND));
	IS(b->wc[1].status, IBV_WC_LOC_PROT_ERR);
	pier__soft_mr_remove(b->keys, &received);
	softpair_close(pair);
}

int main(void)
{
	TEST(receives_complete_apart_from_sends);
	TEST(a_failed_qp_flushes_its_own_receives);
	TEST(a_receive_posted_in_err_is_flushed);
	TEST(a_reset_drops_own_receives_and_their_completions);
	TEST(a_shared_queue_is_not_flushed);
	TEST(a_shared_queue_has_keys_of_its_own);
	return tap_done();
}
