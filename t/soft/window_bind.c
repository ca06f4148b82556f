/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/mw.h"
#include "t/lib/tap.h"

/* Requests that bind and invalidate memory windows, and their queue. */
#define SECOND (1000 * PIER__MS)
#define OTHER 65536		/* at a: where nothing is written */

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(void)
{
	pair = mw_open(IBV_ACCESS_LOCAL_WRITE | MW_REMOTE);
	a = &pair->end[0];
	b = &pair->end[1];
}

/* It is executed at once, though. */
static void a_bind_completes_behind_what_was_posted_before_it(void)
{
	struct soft_local op;

	open_pair();
	IS(softpair_send(b, 1, IBV_WR_RDMA_READ, MW_SRC, 70000, a, MW_DST), 0);
	op = mw_binding(true, MW_REMOTE);
	IS(pier__soft_local_post(b->qp, &op), 0);
	IS(softpair_send(b, 3, IBV_WR_RDMA_WRITE, MW_SRC, 8, a, MW_DST), 0);
	IS(b->mr.windows, 1);
	IS(softpair_poll(b), 0);
	OK(softpair_wait(pair, 1, 3, SECOND));
	mw_completed(0, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_READ, b->qp);
	mw_completed(1, 7, IBV_WC_SUCCESS, IBV_WC_BIND_MW, b->qp);
	mw_completed(2, 3, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, b->qp);
	mw_close();
}

static void a_bind_that_is_not_signalled_has_no_completion(void)
{
	struct soft_local op;

	open_pair();
	op = mw_binding(true, MW_REMOTE);
	op.flags = 0;
	IS(pier__soft_local_post(b->qp, &op), 0);
	IS(softpair_poll(b), 0);
	mw_works(op.key);
	IS(pier__soft_local_post(b->qp, &op), 0);	/* this one fails */
	IS(softpair_poll(b), 1);
	mw_completed(0, 7, IBV_WC_MW_BIND_ERR, IBV_WC_BIND_MW, b->qp);
	mw_close();
}

/* A write, a bind that fails, a write, and an invalidation. */
static void post_around_a_failure(uint32_t key)
{
	struct soft_local bad = mw_binding(true, MW_REMOTE);
	struct soft_local last = mw_invalidation(key);

	IS(softpair_send(b, 1, IBV_WR_RDMA_WRITE, MW_SRC, MW_LEN, a, MW_DST),
	   0);
	IS(pier__soft_local_post(b->qp, &bad), 0);
	IS(softpair_send(b, 3, IBV_WR_RDMA_WRITE, MW_SRC, MW_LEN, a, OTHER), 0);
	IS(pier__soft_local_post(b->qp, &last), 0);
}

static void check_around_a_failure(void)
{
	mw_completed(1, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, b->qp);
	mw_completed(2, 7, IBV_WC_MW_BIND_ERR, IBV_WC_BIND_MW, b->qp);
	mw_completed(3, 3, IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_WRITE, b->qp);
	mw_completed(4, 8, IBV_WC_WR_FLUSH_ERR, IBV_WC_LOCAL_INV, b->qp);
	OK(softpair_is_pattern(a->mem + MW_DST, MW_LEN, 1));
	OK(mw_is_all(a->mem + OTHER, MW_LEN, 0));
	IS(b->qp->state, IBV_QPS_ERR);
	IS(b->mr.windows, 1);		/* it was not invalidated */
	IS(b->qp->req.posted, 0);
}

static void stops_behind_a_failure(double loss)
{
	uint32_t key;

	open_pair();
	key = mw_bind(true, MW_REMOTE);
	softpair_pattern(b->mem + MW_SRC, MW_LEN, 1);
	pair->net.faults.loss = loss;
	post_around_a_failure(key);
	OK(softpair_wait(pair, 1, 5, 10 * SECOND));
	check_around_a_failure();
	mw_close();
}

static void what_follows_a_bind_that_fails_is_flushed(void)
{
	stops_behind_a_failure(0);
	stops_behind_a_failure(0.4);
}

/* The queue stops at the same place when it goes on. */
static void a_bind_that_fails_in_sqd_stops_the_queue(void)
{
	uint32_t key;

	open_pair();
	key = mw_bind(true, MW_REMOTE);
	softpair_pattern(b->mem + MW_SRC, MW_LEN, 1);
	IS(softpair_state(b->qp, IBV_QPS_SQD), 0);
	post_around_a_failure(key);
	OK(softpair_idle(pair));
	IS(b->wcs, 1);
	IS(softpair_state(b->qp, IBV_QPS_RTS), 0);
	OK(softpair_wait(pair, 1, 5, SECOND));
	check_around_a_failure();
	mw_close();
}

static void a_bind_behind_a_request_that_fails_is_flushed(void)
{
	struct soft_local op;

	open_pair();
	a->mr.access = IBV_ACCESS_LOCAL_WRITE;
	IS(softpair_send(b, 1, IBV_WR_RDMA_WRITE, MW_SRC, 8, a, MW_DST), 0);
	op = mw_binding(true, MW_REMOTE);
	IS(pier__soft_local_post(b->qp, &op), 0);
	OK(softpair_wait(pair, 1, 2, SECOND));
	mw_completed(0, 1, IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_WRITE, b->qp);
	mw_completed(1, 7, IBV_WC_WR_FLUSH_ERR, IBV_WC_BIND_MW, b->qp);
	mw_close();
}

static void a_qp_in_error_flushes_a_bind(void)
{
	struct soft_local op;

	open_pair();
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	op = mw_binding(true, MW_REMOTE);
	mw_local(&op, IBV_WC_WR_FLUSH_ERR);
	IS(b->mr.windows, 0);
	mw_close();
}

/* It ends the QP, which is as new after that. */
static void refused(const struct soft_local *op)
{
	mw_local(op, IBV_WC_MW_BIND_ERR);
	IS(b->qp->state, IBV_QPS_ERR);
	IS(b->mr.windows, 0);
	mw_reconnect();
}

/* The window may not be bound to @len bytes from @addr on. */
static void range_is_refused(bool by_qp, uint64_t addr, uint64_t len)
{
	struct soft_local op = mw_binding(by_qp, MW_REMOTE);

	op.to.addr = addr;
	op.to.len = len;
	refused(&op);
}

static void region_is_refused(bool by_qp, int access, const void *pd)
{
	struct soft_local op = mw_binding(by_qp, MW_REMOTE);
	int all = b->mr.access;

	b->mr.access = access;
	b->mr.pd = pd;
	refused(&op);
	b->mr.access = all;
	b->mr.pd = NULL;
}

static void what_may_not_be_bound_is_refused(void)
{
	struct soft_local op;
	uint64_t mem;
	int type, all;

	for (type = 0; type < 2; type++) {
		open_pair();
		mem = (uintptr_t)b->mem;
		all = b->mr.access;
		range_is_refused(type, mem - 1, MW_LEN);
		range_is_refused(type, mem + PAIR_MEM - MW_LEN + 1, MW_LEN);
		range_is_refused(type, mem, PAIR_MEM + 1);
		range_is_refused(type, mem + 8, UINT64_MAX - 7);
		region_is_refused(type, all & ~IBV_ACCESS_MW_BIND, NULL);
		region_is_refused(type, all & ~IBV_ACCESS_LOCAL_WRITE, NULL);
		region_is_refused(type, all, &all);
		op = mw_binding(type, MW_REMOTE);
		op.to.region = NULL;
		refused(&op);
		b->mr.access &= ~IBV_ACCESS_LOCAL_WRITE;
		mw_bind(type, IBV_ACCESS_REMOTE_READ);
		mw_close();
	}
}

static void a_window_of_another_pd_is_refused(void)
{
	int type, there;

	for (type = 0; type < 2; type++) {
		struct soft_local op;

		open_pair();
		mw_renew(&there);
		op = mw_binding(type, MW_REMOTE);
		refused(&op);
		mw_close();
	}
}

static void keys_of_type_2_differ_in_their_lowest_byte(void)
{
	struct soft_local op;

	open_pair();
	op = mw_binding(true, MW_REMOTE);
	op.key ^= 0x100;
	refused(&op);
	op.key ^= 0x80000100u;
	refused(&op);
	op.key ^= 0x800000ffu;
	op.to.len = 0;
	refused(&op);
	op.to.len = MW_LEN;
	mw_local(&op, IBV_WC_SUCCESS);
	mw_works(op.key);
	mw_close();
}

static void a_window_of_type_2_that_is_bound_stays_so(void)
{
	struct soft_local op;
	uint32_t key;

	open_pair();
	key = mw_bind(true, MW_REMOTE);
	op = mw_binding(true, MW_REMOTE);
	op.key ^= 1;
	mw_local(&op, IBV_WC_MW_BIND_ERR);
	IS(b->mr.windows, 1);
	mw_reconnect();
	mw_each_denied(op.key, mw_start());
	mw_works(key);
	mw_close();
}

static void a_key_in_use_is_refused(void)
{
	struct soft_local op;
	struct soft_mr mr = { .len = 1 };

	open_pair();
	op = mw_binding(true, MW_REMOTE);
	IS(pier__soft_mr_show(b->keys, &mr, op.key ^ 3), 0);
	op.key ^= 3;
	refused(&op);
	pier__soft_mr_hide(b->keys, &mr);
	mw_local(&op, IBV_WC_SUCCESS);
	mw_works(op.key);
	mw_close();
}

static void a_queue_takes_no_more_than_its_size(void)
{
	struct soft_local op;
	struct ibv_wc wc;
	uint32_t i;

	open_pair();
	op = mw_binding(false, 0);
	op.to.len = 0;
	for (i = 0; i < b->qp->send_wr; i++)
		IS(pier__soft_local_post(b->qp, &op), 0);
	IS(pier__soft_local_post(b->qp, &op), -EAGAIN);
	IS(pier__soft_cq_poll(b->cq, &wc, 1), 1);
	IS(pier__soft_local_post(b->qp, &op), 0);
	IS(pier__soft_local_post(b->qp, &op), -EAGAIN);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	IS(pier__soft_local_post(b->qp, &op), -EINVAL);
	mw_close();
}

int main(void)
{
	TEST(a_bind_completes_behind_what_was_posted_before_it);
	TEST(a_bind_that_is_not_signalled_has_no_completion);
	TEST(what_follows_a_bind_that_fails_is_flushed);
	TEST(a_bind_that_fails_in_sqd_stops_the_queue);
	TEST(a_bind_behind_a_request_that_fails_is_flushed);
	TEST(a_qp_in_error_flushes_a_bind);
	TEST(what_may_not_be_bound_is_refused);
	TEST(a_window_of_another_pd_is_refused);
	TEST(keys_of_type_2_differ_in_their_lowest_byte);
	TEST(a_window_of_type_2_that_is_bound_stays_so);
	TEST(a_key_in_use_is_refused);
	TEST(a_queue_takes_no_more_than_its_size);
	return tap_done();
}
