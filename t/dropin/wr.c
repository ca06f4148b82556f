/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/* Requests built call by call, and completions read field by field. */
#define TO 4096			/* where what is sent arrives */

static struct verbspair pair;
static struct ibv_qp_ex *qp;

static void open_pair(void)
{
	if (!verbspair_open(&pair))
		return;
	qp = ibv_qp_to_qp_ex(pair.qp[0]);
	OK(qp);
	memset(pair.mem, 0x5a, 64);
}

static void close_pair(void)
{
	verbspair_close(&pair);
}

static void set_sge(uint32_t len)
{
	ibv_wr_set_sge(qp, pair.mr->lkey, (uintptr_t)pair.mem, len);
}

static void begin(uint64_t wr_id)
{
	qp->wr_id = wr_id;
	qp->wr_flags = IBV_SEND_SIGNALED;
}

static void add_write(uint64_t wr_id, uint32_t off, uint32_t len)
{
	begin(wr_id);
	ibv_wr_rdma_write(qp, pair.mr->rkey, (uintptr_t)pair.mem + off);
	set_sge(len);
}

static void wait_for(uint64_t wr_id)
{
	struct ibv_wc wc = { 0 };

	OK(verbspair_wait(&pair, &wc));
	IS(wc.status, IBV_WC_SUCCESS);
	IS(wc.wr_id, wr_id);
}

static bool is_empty(void)
{
	struct ibv_wc wc;

	return ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 1, &wc) == 0;
}

static void a_batch_is_posted_in_order(void)
{
	open_pair();
	ibv_wr_start(qp);
	add_write(1, TO, 32);
	add_write(2, TO + 32, 32);
	begin(3);
	ibv_wr_rdma_read(qp, pair.mr->rkey, (uintptr_t)pair.mem + TO);
	ibv_wr_set_sge(qp, pair.mr->lkey, (uintptr_t)pair.mem + 2 * TO, 64);
	IS(ibv_wr_complete(qp), 0);
	wait_for(1);
	wait_for(2);
	wait_for(3);
	IS(memcmp(pair.mem, pair.mem + 2 * TO, 64), 0);
	close_pair();
}

static void an_aborted_batch_posts_nothing(void)
{
	open_pair();
	ibv_wr_start(qp);
	add_write(1, TO, 32);
	ibv_wr_abort(qp);
	ibv_wr_start(qp);
	add_write(2, 2 * TO, 32);
	IS(ibv_wr_complete(qp), 0);
	wait_for(2);
	OK(is_empty());
	IS(pair.mem[TO], 0);
	close_pair();
}

static void a_batch_that_does_not_fit_is_posted_in_no_part(void)
{
	int i;

	open_pair();
	ibv_wr_start(qp);
	for (i = 0; i <= VERBSPAIR_WR; i++)
		add_write(1, TO, 32);
	IS(ibv_wr_complete(qp), ENOMEM);
	ibv_wr_start(qp);
	add_write(2, 2 * TO, 32);
	IS(ibv_wr_complete(qp), 0);
	wait_for(2);
	OK(is_empty());
	IS(pair.mem[TO], 0);
	close_pair();
}

/* Its second request cannot be posted. */
static void a_batch_with_a_wrong_request_is_posted_in_no_part(void)
{
	open_pair();
	ibv_wr_start(qp);
	add_write(1, TO, 32);
	begin(2);
	ibv_wr_atomic_fetch_add(qp, pair.mr->rkey, (uintptr_t)pair.mem + 3, 1);
	set_sge(8);
	IS(ibv_wr_complete(qp), EINVAL);
	ibv_wr_start(qp);
	add_write(3, 2 * TO, 32);
	IS(ibv_wr_complete(qp), 0);
	wait_for(3);
	OK(is_empty());
	IS(pair.mem[TO], 0);
	close_pair();
}

static void a_batch_with_a_window_that_is_none_is_posted_in_no_part(void)
{
	struct ibv_mw_bind_info info = { 0 };

	open_pair();
	ibv_wr_start(qp);
	add_write(1, TO, 32);
	begin(2);
	ibv_wr_bind_mw(qp, NULL, 1, &info);
	IS(ibv_wr_complete(qp), EINVAL);
	OK(is_empty());
	IS(pair.mem[TO], 0);
	close_pair();
}

static void a_queue_pair_of_datagrams_offers_only_sends(void)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct ibv_qp *ud;

	open_pair();
	init.pd = pair.pd;
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(pair.cq);
	ud = ibv_create_qp_ex(pair.context, &init);
	if (OK(ud))
		IS(ibv_destroy_qp(ud), 0);
	init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ;
	errno = 0;
	OK(!ibv_create_qp_ex(pair.context, &init));
	IS(errno, EOPNOTSUPP);
	close_pair();
}

static void inline_data_are_copied_at_once(void)
{
	uint8_t data[16];

	open_pair();
	memset(data, 1, sizeof(data));
	IS(verbspair_recv(&pair, 1, 9, TO, 64), 0);
	ibv_wr_start(qp);
	begin(4);
	ibv_wr_send_imm(qp, 77);
	ibv_wr_set_inline_data(qp, data, sizeof(data));
	memset(data, 2, sizeof(data));
	IS(ibv_wr_complete(qp), 0);
	wait_for(9);
	wait_for(4);
	IS(pair.mem[TO], 1);
	IS(pair.mem[TO + 15], 1);
	close_pair();
}

static void more_inline_data_than_agreed_are_refused(void)
{
	uint8_t data[VERBSPAIR_INLINE + 1] = { 0 };

	open_pair();
	ibv_wr_start(qp);
	begin(1);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, data, sizeof(data));
	IS(ibv_wr_complete(qp), EINVAL);
	OK(is_empty());
	close_pair();
}

static void a_completion_is_read_field_by_field(void)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int n = 0;

	open_pair();
	IS(ibv_start_poll(pair.cq, &attr), ENOENT);
	IS(verbspair_recv(&pair, 1, 9, TO, 64), 0);
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = 0;
	ibv_wr_send_imm(qp, 77);
	set_sge(24);
	IS(ibv_wr_complete(qp), 0);
	while (ibv_start_poll(pair.cq, &attr) && n < 100000000)
		n++;
	IS(pair.cq->wr_id, 9);
	IS(pair.cq->status, IBV_WC_SUCCESS);
	IS(ibv_wc_read_opcode(pair.cq), IBV_WC_RECV);
	IS(ibv_wc_read_byte_len(pair.cq), 24);
	IS(ibv_wc_read_wc_flags(pair.cq), IBV_WC_WITH_IMM);
	IS(ibv_wc_read_imm_data(pair.cq), 77);
	IS(ibv_wc_read_qp_num(pair.cq), pair.qp[1]->qp_num);
	IS(ibv_next_poll(pair.cq), ENOENT);
	ibv_end_poll(pair.cq);
	close_pair();
}

static bool has_event(void)
{
	struct pollfd pfd = { .fd = pair.channel->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* Returns when it has arrived; a call after that finds what it caused. */
static void send_with(unsigned int flags)
{
	uint8_t *last = pair.mem + TO + 23;

	*last = 0;
	IS(verbspair_recv(&pair, 1, 9, TO, 64), 0);
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = flags;
	ibv_wr_send(qp);
	set_sge(24);
	IS(ibv_wr_complete(qp), 0);
	while (!__atomic_load_n(last, __ATOMIC_ACQUIRE))
		sched_yield();
	IS(verbspair_recv(&pair, 0, 8, 2 * TO, 64), 0);
}

/* Armed for that, the queue has no event of other completions. */
static void only_solicited_completions_have_an_event(void)
{
	struct ibv_cq *cq;
	void *context;

	open_pair();
	IS(ibv_req_notify_cq(ibv_cq_ex_to_cq(pair.cq), 1), 0);
	send_with(0);
	OK(!has_event());
	send_with(IBV_SEND_SOLICITED);
	if (OK(has_event())) {
		IS(ibv_get_cq_event(pair.channel, &cq, &context), 0);
		OK(cq == ibv_cq_ex_to_cq(pair.cq));
		ibv_ack_cq_events(cq, 1);
	}
	OK(!has_event());
	close_pair();
}

/* One more completion, which is not polled. */
static void complete_one(uint64_t wr_id)
{
	struct ibv_cq *cq;
	void *context;

	IS(ibv_req_notify_cq(ibv_cq_ex_to_cq(pair.cq), 0), 0);
	ibv_wr_start(qp);
	add_write(wr_id, TO, 32);
	IS(ibv_wr_complete(qp), 0);
	if (IS(ibv_get_cq_event(pair.channel, &cq, &context), 0))
		ibv_ack_cq_events(cq, 1);
}

static void unread_completions_stay_in_a_queue_of_another_size(void)
{
	struct ibv_cq *cq;
	uint64_t i;

	open_pair();
	cq = ibv_cq_ex_to_cq(pair.cq);
	for (i = 1; i <= 3; i++)
		complete_one(i);
	IS(ibv_resize_cq(cq, 2), EINVAL);
	IS(cq->cqe, 4 * VERBSPAIR_WR);
	IS(ibv_resize_cq(cq, 3), 0);
	IS(cq->cqe, 3);
	wait_for(1);
	complete_one(4);
	IS(ibv_resize_cq(cq, 2 * VERBSPAIR_WR), 0);
	for (i = 2; i <= 4; i++)
		wait_for(i);
	OK(is_empty());
	close_pair();
}

static void what_soft_lacks_is_not_offered(void)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 1, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .send_ops_flags = IBV_QP_EX_WITH_TSO,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};

	open_pair();
	init.pd = pair.pd;
	OK(!ibv_create_cq_ex(pair.context, &cq));
	IS(errno, EOPNOTSUPP);
	OK(!ibv_create_qp_ex(pair.context, &init));
	IS(errno, EOPNOTSUPP);
	close_pair();
}

/* As rdma-core answers. */
static void what_is_in_use_cannot_be_destroyed(void)
{
	open_pair();
	IS(ibv_destroy_cq(ibv_cq_ex_to_cq(pair.cq)), EBUSY);
	IS(ibv_dealloc_pd(pair.pd), EBUSY);
	close_pair();
}

/* Post what was started, and destroy QP @i when there is a completion. */
static void complete_and_destroy(int i)
{
	struct pollfd pfd = { .fd = pair.channel->fd, .events = POLLIN };

	IS(ibv_req_notify_cq(ibv_cq_ex_to_cq(pair.cq), 0), 0);
	IS(ibv_wr_complete(qp), 0);
	IS(poll(&pfd, 1, -1), 1);
	IS(ibv_destroy_qp(pair.qp[i]), 0);
	pair.qp[i] = NULL;
}

/* As of software adapters: a program may see the end of a peer first. */
static void a_send_that_succeeded_stays_after_its_queue_pair(void)
{
	open_pair();
	ibv_wr_start(qp);
	add_write(4, TO, 32);
	complete_and_destroy(0);
	wait_for(4);
	close_pair();
}

/* A program that posts it again may do so where there is nothing any more. */
static void a_receive_goes_with_its_queue_pair(void)
{
	open_pair();
	IS(verbspair_recv(&pair, 1, 9, TO, 64), 0);
	ibv_wr_start(qp);
	begin(4);
	qp->wr_flags = 0;
	ibv_wr_send(qp);
	set_sge(32);
	complete_and_destroy(1);
	OK(is_empty());
	close_pair();
}

int main(void)
{
	TEST(a_batch_is_posted_in_order);
	TEST(an_aborted_batch_posts_nothing);
	TEST(a_batch_that_does_not_fit_is_posted_in_no_part);
	TEST(a_batch_with_a_wrong_request_is_posted_in_no_part);
	TEST(a_batch_with_a_window_that_is_none_is_posted_in_no_part);
	TEST(a_queue_pair_of_datagrams_offers_only_sends);
	TEST(inline_data_are_copied_at_once);
	TEST(more_inline_data_than_agreed_are_refused);
	TEST(a_completion_is_read_field_by_field);
	TEST(only_solicited_completions_have_an_event);
	TEST(unread_completions_stay_in_a_queue_of_another_size);
	TEST(what_soft_lacks_is_not_offered);
	TEST(what_is_in_use_cannot_be_destroyed);
	TEST(a_send_that_succeeded_stays_after_its_queue_pair);
	TEST(a_receive_goes_with_its_queue_pair);
	return tap_done();
}
