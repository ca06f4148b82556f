/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "t/lib/mw.h"
#include "t/lib/tap.h"

/*
 * What memory windows allow: those of type 1, which are bound by a call and
 * belong to a PD, and those of type 2, which are bound by a request and belong
 * to a QP.
 */
#define SECOND (1000 * PIER__MS)
#define BACK 16384		/* at a: what a second request has read */
#define RECV 65536		/* at b: where receives are */
#define LONG 1000000
#define ROUNDS 40

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_with(int access)
{
	pair = mw_open(access);
	a = &pair->end[0];
	b = &pair->end[1];
}

static void open_pair(void)
{
	open_with(IBV_ACCESS_LOCAL_WRITE | MW_REMOTE);
}

static void a_window_of_type_1_has_a_new_key_when_it_is_bound(void)
{
	uint32_t old;

	open_pair();
	old = mw_key();
	mw_works(mw_bind(false, MW_REMOTE));
	mw_each_denied(old, mw_start());
	mw_close();
}

static void a_window_of_type_2_has_the_key_that_was_chosen(void)
{
	uint32_t old;

	open_pair();
	old = mw_key();
	mw_works(mw_bind(true, MW_REMOTE));
	mw_each_denied(old, mw_start());
	mw_close();
}

/* @type: 0, of type 1; 1, of type 2. */
static void beyond_its_range_a_window_is_refused(void)
{
	uint32_t key;
	int type;

	for (type = 0; type < 2; type++) {
		open_pair();
		key = mw_bind(type, MW_REMOTE);
		mw_each_denied(key, mw_start() - 8);
		mw_each_denied(key, mw_start() + MW_LEN);
		mw_denied(IBV_WR_RDMA_WRITE, key, mw_start() - 1, 2);
		mw_denied(IBV_WR_RDMA_READ, key, mw_start() - 1, 2);
		mw_denied(IBV_WR_RDMA_WRITE, key, mw_start(), MW_LEN + 1);
		mw_denied(IBV_WR_RDMA_READ, key, mw_start(), MW_LEN + 1);
		mw_works(key);
		mw_close();
	}
}

static void rights_are_those_of_the_window(void)
{
	static const int needs[MW_REMOTES] = {
		IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_ATOMIC,
	};
	size_t right, i;
	uint32_t key;

	for (right = 0; right < 2 * 3; right++) {
		open_pair();
		key = mw_bind(right % 2, needs[right / 2]);
		for (i = 0; i < MW_REMOTES; i++) {
			if (needs[i] != needs[right / 2])
				mw_denied(mw_remote[i], key, mw_start(), 8);
			else
				IS(mw_use(mw_remote[i], key, mw_start(), 8),
				   IBV_WC_SUCCESS);
		}
		mw_close();
	}
}

/* The region is for windows: it has no right of its own. */
static void a_region_without_the_right_has_windows_with_it(void)
{
	open_with(IBV_ACCESS_LOCAL_WRITE);
	mw_each_denied(b->mr.mr.rkey, mw_start());
	mw_works(mw_bind(false, MW_REMOTE));
	mw_close();
}

static void a_window_that_is_zero_based_begins_at_0(void)
{
	uint32_t key;
	int type;

	for (type = 0; type < 2; type++) {
		open_pair();
		key = mw_bind(type, MW_REMOTE | IBV_ACCESS_ZERO_BASED);
		mw_works_by(a->qp, key, 0);
		mw_each_denied(key, MW_LEN);
		mw_each_denied(key, mw_start());
		mw_close();
	}
}

/* A second connection of both ends. */
static struct soft_qp *qp_a, *qp_b;

static void open_second(void)
{
	open_pair();
	qp_a = softpair_qp(a);
	qp_b = softpair_qp(b);
	softpair_connect(pair, qp_a, qp_b);
}

static void close_second(void)
{
	pier__soft_qp_destroy(qp_a);
	pier__soft_qp_destroy(qp_b);
	mw_close();
}

static void a_window_of_type_1_is_for_each_qp_of_its_pd(void)
{
	uint32_t key;
	int here;

	open_second();
	key = mw_bind(false, MW_REMOTE);
	mw_works(key);
	mw_works_by(qp_a, key, mw_start());
	pier__soft_qp_protect(b->qp, &here);
	mw_each_denied(key, mw_start());
	mw_works_by(qp_a, key, mw_start());
	close_second();
}

static void a_window_of_type_2_is_for_one_qp(void)
{
	uint32_t key;

	open_second();
	key = mw_bind_by(qp_b, true, MW_REMOTE);
	mw_each_denied(key, mw_start());
	mw_works_by(qp_a, key, mw_start());
	close_second();
}

static void a_window_of_type_2_ends_with_its_qp(void)
{
	uint32_t key;

	open_second();
	key = mw_bind_by(qp_b, true, MW_REMOTE);
	pier__soft_qp_destroy(qp_b);
	qp_b = NULL;
	IS(b->mr.windows, 0);
	mw_each_denied(key, mw_start());
	mw_works(mw_bind(true, MW_REMOTE));
	close_second();
}

static void a_window_of_type_1_outlives_the_qp_that_has_bound_it(void)
{
	uint32_t key;

	open_second();
	key = mw_bind_by(qp_b, false, MW_REMOTE);
	pier__soft_qp_destroy(qp_b);
	qp_b = NULL;
	IS(b->mr.windows, 1);
	mw_works(key);
	close_second();
}

static void a_window_is_no_local_key(void)
{
	struct ibv_sge piece;
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = &piece,
		.num_sge = 1,
	};
	int type;

	for (type = 0; type < 2; type++) {
		open_pair();
		piece = softpair_sge(b, MW_DST, 8);
		piece.lkey = mw_bind(type, MW_REMOTE);
		IS(softpair_post(b->qp, &wr), 0);
		OK(softpair_wait(pair, 1, 2, SECOND));
		mw_completed(1, 1, IBV_WC_LOC_PROT_ERR, IBV_WC_SEND, b->qp);
		mw_close();
	}
}

static void a_window_that_was_bound_again_has_lost_its_old_key(void)
{
	struct soft_local op;
	uint32_t old, key;

	open_pair();
	old = mw_bind(false, MW_REMOTE);
	key = mw_bind(false, MW_REMOTE);
	OK(old != key);
	mw_each_denied(old, mw_start());
	mw_works(key);
	op = mw_binding(false, 0);
	op.to.len = 0;
	mw_local(&op, IBV_WC_SUCCESS);
	IS(b->mr.windows, 0);
	mw_each_denied(key, mw_start());
	mw_each_denied(mw_key(), mw_start());
	mw_close();
}

static void region_is_usable(void)
{
	IS(mw_use(IBV_WR_RDMA_WRITE, b->mr.mr.rkey, mw_start(), 8),
	   IBV_WC_SUCCESS);
}

static void a_window_that_is_destroyed_has_no_key(void)
{
	uint32_t key;
	int type;

	for (type = 0; type < 2; type++) {
		open_pair();
		key = mw_bind(type, MW_REMOTE);
		mw_renew(NULL);
		IS(b->mr.windows, 0);
		mw_each_denied(key, mw_start());
		region_is_usable();
		mw_close();
	}
}

static void a_local_invalidation_ends_a_window_of_type_2(void)
{
	struct soft_local op;
	uint32_t key;

	open_pair();
	key = mw_bind(true, MW_REMOTE);
	op = mw_invalidation(key);
	mw_local(&op, IBV_WC_SUCCESS);
	IS(b->mr.windows, 0);
	mw_each_denied(key, mw_start());
	op = mw_binding(true, MW_REMOTE);	/* by the same key */
	IS(op.key, key);
	mw_local(&op, IBV_WC_SUCCESS);
	mw_works(key);
	mw_close();
}

/* A local invalidation of @key fails, and ends the QP. */
static void not_invalidated(uint32_t key)
{
	struct soft_local op = mw_invalidation(key);

	mw_local(&op, IBV_WC_MW_BIND_ERR);
	IS(b->qp->state, IBV_QPS_ERR);
	mw_reconnect();
}

static void no_other_key_is_invalidated(void)
{
	uint32_t key;

	open_second();
	key = mw_bind_by(qp_b, true, MW_REMOTE);
	not_invalidated(key);
	mw_works_by(qp_a, key, mw_start());
	not_invalidated(b->mr.mr.rkey);
	region_is_usable();
	not_invalidated(key ^ 1);
	close_second();
	open_pair();
	key = mw_bind(false, MW_REMOTE);
	not_invalidated(key);
	mw_works(key);
	mw_close();
}

/* Receive number @i of b has ended a window. */
static void has_ended(uint32_t i, uint32_t key, uint32_t len)
{
	mw_completed(i, 9, IBV_WC_SUCCESS, IBV_WC_RECV, b->qp);
	IS(b->wc[i].wc_flags, IBV_WC_WITH_INV);
	IS(b->wc[i].invalidated_rkey, key);
	IS(b->wc[i].byte_len, len);
	IS(b->mr.windows, 0);
}

static void a_peer_ends_a_window_by_a_send(void)
{
	static const uint32_t lens[] = { 0, 8, MW_LEN };
	uint32_t key;
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		open_pair();
		key = mw_bind(true, MW_REMOTE);
		IS(softpair_recv(b, 9, RECV, MW_LEN), 0);
		softpair_pattern(a->mem + MW_SRC, MW_LEN, 1);
		IS(mw_use(IBV_WR_SEND_WITH_INV, key, 0, lens[i]),
		   IBV_WC_SUCCESS);
		IS(softpair_poll(b), 2);
		has_ended(1, key, lens[i]);
		OK(softpair_is_pattern(b->mem + RECV, lens[i], 1));
		mw_each_denied(key, mw_start());
		mw_close();
	}
}

/* A SEND with @key fails at both ends. */
static void peer_does_not_end(uint32_t key)
{
	uint32_t n = softpair_poll(b);

	IS(softpair_recv(b, 9, RECV, MW_LEN), 0);
	IS(mw_use(IBV_WR_SEND_WITH_INV, key, 0, MW_LEN), IBV_WC_REM_ACCESS_ERR);
	OK(softpair_idle(pair));
	if (IS(b->wcs, n + 1))
		mw_completed(n, 9, IBV_WC_LOC_ACCESS_ERR, IBV_WC_RECV, b->qp);
	IS(b->qp->state, IBV_QPS_ERR);
	mw_reconnect();
}

static void a_peer_ends_no_window_of_another_qp(void)
{
	uint32_t key;

	open_second();
	key = mw_bind_by(qp_b, true, MW_REMOTE);
	peer_does_not_end(key);
	IS(b->mr.windows, 1);
	mw_works_by(qp_a, key, mw_start());
	close_second();
}

static void a_peer_ends_neither_a_region_nor_a_window_of_type_1(void)
{
	uint32_t key;

	open_pair();
	key = mw_bind(false, MW_REMOTE);
	peer_does_not_end(key);
	mw_works(key);
	peer_does_not_end(b->mr.mr.rkey);
	region_is_usable();
	peer_does_not_end(0);
	peer_does_not_end(key ^ 1);
	mw_close();
}

/*
 * One use of the window: written, read, added to, and ended.  A result that is
 * sent again is read again: what changes the memory, or ends the window, waits
 * for the results before it.
 */
static void post_round(uint32_t key)
{
	uint64_t last = mw_start() + MW_LEN - 8;
	struct ibv_send_wr wr;

	wr = mw_request(IBV_WR_RDMA_WRITE, key, mw_start(), MW_LEN);
	IS(softpair_post(a->qp, &wr), 0);
	wr = mw_request(IBV_WR_RDMA_READ, key, mw_start(), MW_LEN);
	wr.sg_list->addr = (uintptr_t)a->mem + BACK;
	IS(softpair_post(a->qp, &wr), 0);
	wr = mw_request(IBV_WR_ATOMIC_FETCH_AND_ADD, key, last, 8);
	wr.sg_list->addr = (uintptr_t)a->mem;
	wr.send_flags |= IBV_SEND_FENCE;
	IS(softpair_post(a->qp, &wr), 0);
	wr = mw_request(IBV_WR_SEND_WITH_INV, key, 0, MW_LEN);
	wr.send_flags |= IBV_SEND_FENCE;
	IS(softpair_post(a->qp, &wr), 0);
}

static void check_round(uint32_t i)
{
	uint64_t before, word;

	OK(softpair_is_pattern(b->mem + RECV, MW_LEN, i));
	OK(softpair_is_pattern(a->mem + BACK, MW_LEN, i));
	OK(softpair_is_pattern(b->mem + MW_DST, MW_LEN - 8, i));
	memcpy(&before, a->mem + MW_SRC + MW_LEN - 8, sizeof(before));
	OK(!memcmp(a->mem, &before, sizeof(before)));
	memcpy(&word, b->mem + MW_DST + MW_LEN - 8, sizeof(word));
	OK(word == before + MW_ADD);
}

static void round_under_loss(uint32_t i)
{
	struct soft_local op = mw_binding(true, MW_REMOTE);
	uint32_t done, k;

	mw_local(&op, IBV_WC_SUCCESS);
	done = b->wcs;
	softpair_pattern(a->mem + MW_SRC, MW_LEN, i);
	IS(softpair_recv(b, 9, RECV, MW_LEN), 0);
	post_round(op.key);
	OK(softpair_wait(pair, 0, 4 * i + 4, 10 * SECOND));
	OK(softpair_wait(pair, 1, done + 1, 10 * SECOND));
	for (k = 4 * i; k < 4 * i + 4; k++)
		IS(a->wc[k].status, IBV_WC_SUCCESS);
	has_ended(done, op.key, MW_LEN);
	check_round(i);
}

/* A packet of an earlier round, come again, does not end the window. */
static void windows_come_and_go_under_loss(void)
{
	uint32_t i;

	open_pair();
	pair->net.faults = (struct vnet_faults){
		.loss = 0.1, .duplicate = 0.1, .reorder = 0.2,
	};
	for (i = 0; i < ROUNDS && tap_holds(); i++)
		round_under_loss(i);
	OK(b->ep->counters->duplicates > 0);
	OK(a->ep->counters->resent > 0);
	pair->net.faults = (struct vnet_faults){ 0 };
	OK(softpair_idle(pair));
	mw_each_denied(mw_key(), mw_start());
	mw_close();
}

static bool half(void *arg)
{
	(void)arg;
	return pair->net.sent > 200;
}

static void ends_in_the_middle(enum ibv_wr_opcode opcode)
{
	struct soft_local op;
	struct ibv_send_wr wr;

	open_pair();
	op = mw_binding(true, MW_REMOTE);
	op.to.len = LONG;
	mw_local(&op, IBV_WC_SUCCESS);
	wr = mw_request(opcode, op.key, mw_start(), LONG);
	IS(softpair_post(a->qp, &wr), 0);
	OK(vnet_run(&pair->net, SECOND, half, NULL));
	IS(softpair_poll(a), 0);
	op = mw_invalidation(op.key);
	mw_local(&op, IBV_WC_SUCCESS);
	memset(b->mem, 0x5a, PAIR_MEM);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_REM_ACCESS_ERR);
	OK(mw_is_all(b->mem, PAIR_MEM, 0x5a));
	mw_close();
}

static void a_window_that_ends_ends_requests_in_the_middle(void)
{
	ends_in_the_middle(IBV_WR_RDMA_WRITE);
	ends_in_the_middle(IBV_WR_RDMA_READ);
}

int main(void)
{
	TEST(a_window_of_type_1_has_a_new_key_when_it_is_bound);
	TEST(a_window_of_type_2_has_the_key_that_was_chosen);
	TEST(beyond_its_range_a_window_is_refused);
	TEST(rights_are_those_of_the_window);
	TEST(a_region_without_the_right_has_windows_with_it);
	TEST(a_window_that_is_zero_based_begins_at_0);
	TEST(a_window_of_type_1_is_for_each_qp_of_its_pd);
	TEST(a_window_of_type_2_is_for_one_qp);
	TEST(a_window_of_type_2_ends_with_its_qp);
	TEST(a_window_of_type_1_outlives_the_qp_that_has_bound_it);
	TEST(a_window_is_no_local_key);
	TEST(a_window_that_was_bound_again_has_lost_its_old_key);
	TEST(a_window_that_is_destroyed_has_no_key);
	TEST(a_local_invalidation_ends_a_window_of_type_2);
	TEST(no_other_key_is_invalidated);
	TEST(a_peer_ends_a_window_by_a_send);
	TEST(a_peer_ends_no_window_of_another_qp);
	TEST(a_peer_ends_neither_a_region_nor_a_window_of_type_1);
	TEST(windows_come_and_go_under_loss);
	TEST(a_window_that_ends_ends_requests_in_the_middle);
	return tap_done();
}
