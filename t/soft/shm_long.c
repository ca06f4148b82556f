/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/op.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/shm/link.h"
#include "mem/mmap_impl.h"
#include "t/lib/counted.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/*
 * Long requests in memory of the peer that is mapped here: they take several
 * rounds, in which others are served.
 */
#define LEN (4 * SOFT_DIRECT_ROUND - 4096)

static struct shmpair it;
static struct soft_ep *ep;

static int status;			/* of what fails */

static void failed(struct pier__op *op, const struct ibv_wc *wc)
{
	(void)op;
	status = (int)wc->status;
}

static struct pier__op failing = { failed };

/* Posted without the program, which so cannot drive the endpoint. */
static void post_to(enum ibv_wr_opcode opcode, size_t here, size_t there,
		    size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)it.a.mem + here,
		.length = (uint32_t)len,
		.lkey = it.a.mmap->keys[0].rkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = (uintptr_t)&failing,
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = (uintptr_t)it.b.mem + there,
		.wr.rdma.rkey = it.b.mmap->keys[0].rkey,
	};

	IS(pier__soft_qp_post(shmpair_qp(&it.a), &wr, &bad), 0);
}

static void post(enum ibv_wr_opcode opcode, size_t here, size_t len)
{
	post_to(opcode, here, 0, len);
}

static bool begin(void)
{
	if (!shmpair_begin(&it, true, LEN) || !shmpair_map(&it.a))
		return false;
	ep = shmpair_ep(&it.a);
	peer_fill(&it.a, 1);
	peer_fill(&it.b, 2);
	pier__soft_ep_enter(ep);
	return true;
}

/* Until @more requests have needed no packet.  Returns the rounds. */
static int rounds_until(uint64_t more)
{
	uint64_t want = counted_conn(it.a.conn, "shm_direct") + more;
	long long limit = limit_from_now();
	int rounds = 0;

	while (counted_conn(it.a.conn, "shm_direct") < want &&
	       limit_holds(limit)) {
		pier__soft_ep_drive(ep);
		rounds++;
	}
	return rounds;
}

static void a_long_write_takes_several_rounds(void)
{
	uint64_t sent;

	if (begin()) {
		sent = counted_conn(it.a.conn, "tx_packets");
		post(IBV_WR_RDMA_WRITE, 0, LEN);
		OK(peer_holds(&it.b, 0, SOFT_DIRECT_ROUND, 1, 0));
		OK(peer_holds(&it.b, SOFT_DIRECT_ROUND, 8, 2,
			      SOFT_DIRECT_ROUND));
		OK(rounds_until(1) >= 3);
		OK(peer_holds(&it.b, 0, LEN, 1, 0));
		IS(counted_conn(it.a.conn, "tx_packets"), sent);
		pier__soft_ep_leave(ep);
	}
	shmpair_end(&it);
}

static void a_long_read_takes_several_rounds(void)
{
	if (begin()) {
		post(IBV_WR_RDMA_READ, 0, LEN);
		OK(peer_holds(&it.a, SOFT_DIRECT_ROUND, 8, 1,
			      SOFT_DIRECT_ROUND));
		OK(rounds_until(1) >= 3);
		OK(peer_holds(&it.a, 0, LEN, 2, 0));
		pier__soft_ep_leave(ep);
	}
	shmpair_end(&it);
}

/* It writes where the long one began. */
static void a_request_behind_a_long_one_is_later(void)
{
	if (begin()) {
		post(IBV_WR_RDMA_WRITE, 0, LEN);
		post(IBV_WR_RDMA_WRITE, 4096, 64);
		OK(peer_holds(&it.b, 0, 64, 1, 0));
		rounds_until(2);
		OK(peer_holds(&it.b, 0, 64, 1, 4096));
		OK(peer_holds(&it.b, 64, LEN - 64, 1, 64));
		pier__soft_ep_leave(ep);
	}
	shmpair_end(&it);
}

/* No round of it is executed, though the first ones are inside. */
static void one_that_ends_outside_writes_nothing(void)
{
	long long limit = limit_from_now();

	if (begin()) {
		status = 0;
		post_to(IBV_WR_RDMA_WRITE, 0, 4096, LEN);
		pier__soft_ep_leave(ep);
		while (!status && peer_step(limit))
			;
		IS(status, IBV_WC_REM_ACCESS_ERR);
		OK(peer_holds(&it.b, 0, LEN, 2, 0));
	}
	shmpair_end(&it);
}

static uint32_t requests(const struct soft_qp *qp)
{
	uint32_t posted;

	pier__soft_ep_enter(ep);
	posted = qp->req.posted;
	pier__soft_ep_leave(ep);
	return posted;
}

/* As on the wire, those that are behind it wait. */
static void one_that_has_begun_ends_before_the_queue_is_drained(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	long long limit = limit_from_now();
	struct soft_qp *qp;
	int i;

	if (begin()) {
		qp = shmpair_qp(&it.a);
		post(IBV_WR_RDMA_WRITE, 0, LEN);
		post(IBV_WR_RDMA_WRITE, 4096, 64);
		IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE, NULL, 0), 0);
		pier__soft_ep_leave(ep);
		while (it.b.mem[LEN - 1] != it.a.mem[LEN - 1] &&
		       peer_step(limit))
			;
		while (requests(qp) > 1 && peer_step(limit))
			;
		for (i = 0; i < 8; i++)
			peer_step(limit);
		IS(requests(qp), 1);
		OK(peer_holds(&it.b, 0, LEN, 1, 0));
		pier__soft_ep_enter(ep);
		attr.qp_state = IBV_QPS_RTS;
		IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE, NULL, 0), 0);
		pier__soft_ep_leave(ep);
		while (it.b.mem[63] != it.a.mem[4096 + 63] &&
		       peer_step(limit))
			;
		OK(peer_holds(&it.b, 0, 64, 1, 4096));
	}
	shmpair_end(&it);
}

/* By the program's calls, which sleep in between. */
static void a_program_that_waits_is_woken_for_the_rest(void)
{
	if (begin()) {
		pier__soft_ep_leave(ep);
		IS(shmpair_write(&it.a, 0, LEN), 0);
		OK(peer_holds(&it.b, 0, LEN, 1, 0));
	}
	shmpair_end(&it);
}

/* The rounds that receive what a process has sent before it ended. */
static void no_memory_of_a_peer_that_has_ended_is_written(void)
{
	long long limit = limit_from_now();
	struct soft_link *link;
	struct soft_ep *far;
	int i;

	if (begin()) {
		far = shmpair_ep(&it.b);
		pier__soft_ep_enter(far);	/* takes no packet yet */
		post(IBV_WR_RDMA_WRITE, 0, LEN);
		link = (struct soft_link *)shmpair_qp(&it.a)->io;
		link->ended = true;
		for (i = 0; i < 8; i++)
			pier__soft_ep_drive(ep);
		OK(peer_holds(&it.b, SOFT_DIRECT_ROUND, 8, 2,
			      SOFT_DIRECT_ROUND));
		link->ended = false;
		pier__soft_ep_leave(far);
		pier__soft_ep_leave(ep);
		while (!peer_holds(&it.b, LEN - 8, 8, 1, LEN - 8) &&
		       peer_step(limit))
			;
		OK(peer_holds(&it.b, 0, LEN, 1, 0));	/* as packets */
	}
	shmpair_end(&it);
}

int main(void)
{
	TEST(a_long_write_takes_several_rounds);
	TEST(a_long_read_takes_several_rounds);
	TEST(a_request_behind_a_long_one_is_later);
	TEST(no_memory_of_a_peer_that_has_ended_is_written);
	TEST(one_that_ends_outside_writes_nothing);
	TEST(one_that_has_begun_ends_before_the_queue_is_drained);
	TEST(a_program_that_waits_is_woken_for_the_rest);
	return tap_done();
}
