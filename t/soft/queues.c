/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>

#include "core/clock.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/rc/short.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Completion queues and shared receive queues of programs of libibverbs: their
 * sizes, and the asynchronous events of them and of queue pairs.
 */
#define SECOND (1000 * PIER__MS)
#define PORT (SOFT_QPN_PORT_MIN + 9)	/* that QPNs can carry */
#define SRC 4096
#define DST (PAIR_MEM / 2)
#define RECV 64			/* bytes of a receive */

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_cq *cq;		/* of b's receives */
static uint32_t sent;			/* messages, by a */

/* Of each queue. */
static int cq_async, srq_async, qp_async, peer_async;

static struct event {
	int type;
	void *async;
	uint32_t sends;		/* that have completed at b by then */
} events[8];
static int event_count;

static void take_event(int type, void *async)
{
	if (event_count < 8)
		events[event_count] = (struct event){
			.type = type, .async = async, .sends = b->cq->count,
		};
	event_count++;
}

static void event_is(int i, int type, const void *async)
{
	IS(events[i].type, type);
	OK(events[i].async == async);
}

/* A pair whose b has a queue of @cqe completions for its receives. */
static void open_with(struct softpair_opts opts, uint32_t cqe)
{
	opts.port = PORT;
	opts.verbs = true;
	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	sent = 0;
	event_count = 0;
	a->ep->event = take_event;
	b->ep->event = take_event;
	IS(pier__soft_cq_create(b->ep, cqe, &cq), 0);
	pier__soft_qp_recv_by(b->qp, cq, NULL);
}

static void open_pair(uint32_t cqe)
{
	open_with((struct softpair_opts){ 0 }, cqe);
}

/* The same with a shared receive queue of @max_wr. */
static void open_srq(uint32_t max_wr)
{
	open_pair(16);
	pier__soft_srq_destroy(b->srq);
	IS(pier__soft_srq_create(b->ep, max_wr, 1, &b->srq), 0);
	b->qp->srq = b->srq;
}

static void close_pair(void)
{
	pier__soft_qp_destroy(b->qp);
	b->qp = NULL;
	pier__soft_cq_destroy(cq);
	softpair_close(pair);
}

static int receive(uint64_t wr_id)
{
	return softpair_recv(b, wr_id, DST, RECV);
}

/* @n messages that arrive; the length is the wr_id of the receive. */
static void send_to(int n, uint32_t wr_id)
{
	int i;

	for (i = 0; i < n; i++, wr_id++) {
		IS(softpair_send(a, sent, IBV_WR_SEND, SRC, wr_id, b, 0), 0);
		OK(softpair_wait(pair, 0, sent + 1, SECOND));
		IS(a->wc[sent++].status, IBV_WC_SUCCESS);
	}
}

static void arrive(int n, uint32_t wr_id)
{
	int i;

	for (i = 0; i < n; i++)
		IS(receive(wr_id + (uint32_t)i), 0);
	send_to(n, wr_id);
}

/* The queue has the completions of @n receives, and no more. */
static void has(int n, uint64_t wr_id)
{
	struct ibv_wc wc[16];
	int i;

	if (!IS(pier__soft_cq_poll(cq, wc, 16), n))
		return;
	for (i = 0; i < n; i++, wr_id++) {
		IS(wc[i].wr_id, wr_id);
		IS(wc[i].byte_len, wr_id);
		IS(wc[i].status, IBV_WC_SUCCESS);
		IS(wc[i].opcode, IBV_WC_RECV);
		IS(wc[i].qp_num, b->qp->qpn);
	}
}

/* Its oldest completion is the last entry of the array. */
static void a_resized_queue_has_what_was_unread(void)
{
	static const uint32_t sizes[] = { 3, 4, 5, 64 };
	uint64_t sum;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		open_pair(4);
		arrive(3, 1);
		has(3, 1);
		arrive(3, 4);
		sum = b->ep->cqe_sum;
		IS(pier__soft_cq_resize(&cq, sizes[i]), 0);
		IS(cq->size, sizes[i]);
		IS(b->ep->cqe_sum, sum + sizes[i] - 4);
		has(3, 4);
		arrive(3, 7);
		has(3, 7);
		close_pair();
	}
}

static void a_resized_queue_takes_as_many_as_it_has_entries(void)
{
	open_pair(4);
	arrive(4, 1);
	IS(pier__soft_cq_resize(&cq, 6), 0);
	arrive(2, 5);
	IS(b->ep->counters->cq_overflows, 0);
	has(6, 1);
	IS(pier__soft_cq_resize(&cq, 1), 0);
	arrive(1, 7);
	IS(b->ep->counters->cq_overflows, 0);
	arrive(1, 8);
	IS(b->ep->counters->cq_overflows, 1);
	close_pair();
}

static void each_qp_uses_the_queue_that_was_resized(void)
{
	struct soft_qp *other;
	uint64_t i;

	open_pair(4);
	other = softpair_qp(b);
	for (i = 1; i <= 3; i++)
		IS(softpair_send(b, i, IBV_WR_RDMA_WRITE, SRC, 8, a, DST), 0);
	OK(vnet_run(&pair->net, SECOND, NULL, NULL));
	IS(pier__soft_cq_resize(&b->cq, 8), 0);
	OK(b->qp->cq == b->cq);
	OK(b->qp->recv_cq == cq);
	OK(other->cq == b->cq);
	OK(other->recv_cq == b->cq);
	IS(softpair_send(b, 4, IBV_WR_RDMA_WRITE, SRC, 8, a, DST), 0);
	OK(softpair_wait(pair, 1, 4, SECOND));
	for (i = 1; i <= 4; i++) {
		IS(b->wc[i - 1].wr_id, i);
		IS(b->wc[i - 1].status, IBV_WC_SUCCESS);
	}
	pier__soft_qp_destroy(other);
	close_pair();
}

static void no_queue_is_resized_below_what_it_has(void)
{
	const struct soft_cq *old;
	uint64_t sum;

	open_pair(4);
	old = cq;
	sum = b->ep->cqe_sum;
	IS(pier__soft_cq_resize(&cq, 0), -EINVAL);
	IS(pier__soft_cq_resize(&cq, SOFT_QUEUE_MAX + 1), -EINVAL);
	arrive(3, 1);
	IS(pier__soft_cq_resize(&cq, 2), -EINVAL);
	OK(cq == old);
	IS(cq->size, 4);
	IS(b->ep->cqe_sum, sum);
	has(3, 1);
	close_pair();
}

/* A fault of a QP, which is reported behind its completions, moves along. */
static void a_resized_queue_reports_the_fault_of_a_qp(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_SEND_MIDDLE, .pkey = 0xffff };

	open_pair(4);
	hdr.qpn = b->qp->qpn;
	softpair_inject(pair, 1, &hdr, NULL, 0);
	IS(pier__soft_cq_resize(&b->cq, 8), 0);
	OK(!pier__soft_cq_empty(b->cq));
	IS(softpair_poll(b), 0);
	IS(b->faults, 1);
	OK(pier__soft_cq_empty(b->cq));
	close_pair();
}

static void is_overrun(void)
{
	struct ibv_wc wc;

	OK(!pier__soft_cq_empty(cq));
	IS(pier__soft_cq_poll(cq, &wc, 1), -EOVERFLOW);
}

static void an_overrun_is_reported_once(void)
{
	open_pair(2);
	pier__soft_cq_async(cq, &cq_async);
	arrive(2, 1);
	IS(event_count, 0);
	arrive(1, 3);
	IS(event_count, 1);
	event_is(0, IBV_EVENT_CQ_ERR, &cq_async);
	arrive(1, 4);
	IS(event_count, 1);
	IS(b->ep->counters->cq_overflows, 2);
	IS(b->qp->counters->cq_overflows, 2);
	has(2, 1);
	is_overrun();
	is_overrun();
	close_pair();
}

static void an_overrun_outlives_a_resize(void)
{
	open_pair(2);
	pier__soft_cq_async(cq, &cq_async);
	arrive(3, 1);
	IS(pier__soft_cq_resize(&cq, 8), 0);
	has(2, 1);
	is_overrun();
	IS(event_count, 1);
	close_pair();
}

static void a_resized_queue_reports_its_overrun(void)
{
	open_pair(2);
	pier__soft_cq_async(cq, &cq_async);
	IS(pier__soft_cq_resize(&cq, 3), 0);
	arrive(4, 1);
	IS(event_count, 1);
	event_is(0, IBV_EVENT_CQ_ERR, &cq_async);
	close_pair();
}

static void without_a_watcher_nothing_is_reported(void)
{
	open_pair(2);
	arrive(3, 1);
	pier__soft_srq_limit(b->srq, 5);
	arrive(1, 4);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(event_count, 0);
	has(2, 1);
	is_overrun();
	close_pair();
}

static void a_receive_queue_takes_as_many_as_it_was_resized_to(void)
{
	open_srq(2);
	IS(receive(1), 0);
	IS(receive(2), 0);
	IS(receive(3), -EAGAIN);
	IS(pier__soft_srq_resize(b->srq, 5), 0);
	IS(receive(3), 0);
	IS(receive(4), 0);
	IS(receive(5), 0);
	IS(receive(6), -EAGAIN);
	send_to(3, 1);
	has(3, 1);
	IS(pier__soft_srq_resize(b->srq, 3), 0);
	IS(receive(6), 0);
	IS(receive(7), -EAGAIN);
	send_to(3, 4);
	has(3, 4);
	close_pair();
}

static void no_receive_queue_is_resized_below_what_it_has(void)
{
	open_srq(4);
	IS(receive(1), 0);
	IS(receive(2), 0);
	IS(pier__soft_srq_resize(b->srq, 1), -EINVAL);
	IS(pier__soft_srq_resize(b->srq, 0), -EINVAL);
	IS(pier__soft_srq_resize(b->srq, SOFT_QUEUE_MAX + 1), -EINVAL);
	IS(receive(3), 0);
	IS(receive(4), 0);
	IS(receive(5), -EAGAIN);
	send_to(4, 1);
	has(4, 1);
	IS(pier__soft_srq_resize(b->srq, 0), -EINVAL);
	close_pair();
}

static void a_limit_is_reported_once(void)
{
	uint64_t i;

	open_srq(4);
	pier__soft_srq_async(b->srq, &srq_async);
	for (i = 1; i <= 4; i++)
		IS(receive(i), 0);
	pier__soft_srq_limit(b->srq, 2);
	send_to(2, 1);
	IS(event_count, 0);
	send_to(1, 3);
	IS(event_count, 1);
	event_is(0, IBV_EVENT_SRQ_LIMIT_REACHED, &srq_async);
	IS(b->srq->limit, 0);
	send_to(1, 4);
	IS(event_count, 1);
	pier__soft_srq_limit(b->srq, 1);
	arrive(1, 5);
	IS(event_count, 2);
	event_is(1, IBV_EVENT_SRQ_LIMIT_REACHED, &srq_async);
	has(5, 1);
	close_pair();
}

/* Behind the completions of what was flushed. */
static void the_end_of_a_shared_queue_is_reported(void)
{
	open_pair(4);
	pier__soft_qp_async(b->qp, &qp_async);
	IS(softpair_send(b, 1, IBV_WR_RDMA_WRITE, SRC, 8, a, DST), 0);
	IS(softpair_send(b, 2, IBV_WR_RDMA_WRITE, SRC, 8, a, DST), 0);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(event_count, 1);
	event_is(0, IBV_EVENT_QP_LAST_WQE_REACHED, &qp_async);
	IS(events[0].sends, 2);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(event_count, 1);
	close_pair();
}

static void a_queue_of_a_qp_alone_has_no_such_end(void)
{
	struct soft_srq *own;

	open_pair(4);
	pier__soft_qp_async(b->qp, &qp_async);
	IS(pier__soft_srq_create(b->ep, 4, 1, &own), 0);
	pier__soft_qp_recv_by(b->qp, cq, own);
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
	IS(event_count, 0);
	pier__soft_qp_destroy(b->qp);
	b->qp = NULL;
	pier__soft_srq_destroy(own);
	close_pair();
}

static void write_to(struct softpair_end *from, struct softpair_end *to)
{
	int i = from == b;
	uint32_t n = softpair_poll(from);

	IS(softpair_send(from, 1, IBV_WR_RDMA_WRITE, SRC, 8, to, DST), 0);
	OK(softpair_wait(pair, i, n + 1, SECOND));
	IS(from->wc[n].status, IBV_WC_SUCCESS);
}

static void a_request_in_rtr_is_reported_once(void)
{
	open_pair(4);
	pier__soft_qp_async(a->qp, &peer_async);
	pier__soft_qp_async(b->qp, &qp_async);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	softpair_connect(pair, a->qp, b->qp);
	write_to(a, b);			/* both are in RTS */
	IS(event_count, 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_init(a->qp, &pair->opts), 0);
	IS(softpair_init(b->qp, &pair->opts), 0);
	IS(softpair_rtr(pair, 1, b->qp, a->qp->qpn), 0);
	IS(softpair_rtr(pair, 0, a->qp, b->qp->qpn), 0);
	IS(softpair_rts(pair, 0, a->qp), 0);
	write_to(a, b);
	IS(event_count, 1);
	event_is(0, IBV_EVENT_COMM_EST, &qp_async);
	write_to(a, b);
	IS(softpair_rts(pair, 1, b->qp), 0);
	write_to(b, a);
	IS(event_count, 1);
	close_pair();
}

/*
 * A request ends both QPs: a WRITE for which there is @type at b; 0: a SEND for
 * which its receive is too short.
 */
static void request_is_refused(int access, int mr_access, int type)
{
	int at = type ? 1 : 0;

	open_with((struct softpair_opts){ .access = access,
					  .mr_access = mr_access }, 4);
	pier__soft_qp_async(b->qp, &qp_async);
	pier__soft_qp_async(a->qp, &peer_async);
	IS(receive(1), 0);
	IS(softpair_send(a, 1, type ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, SRC,
			 RECV + 1, b, DST), 0);
	OK(softpair_idle(pair));
	IS(a->qp->state, IBV_QPS_ERR);
	IS(event_count, at + 2);
	if (type)
		event_is(0, type, &qp_async);
	event_is(at, IBV_EVENT_QP_LAST_WQE_REACHED, &qp_async);
	event_is(at + 1, IBV_EVENT_QP_LAST_WQE_REACHED, &peer_async);
	close_pair();
}

static void a_request_that_is_refused_is_reported(void)
{
	request_is_refused(0, IBV_ACCESS_LOCAL_WRITE, IBV_EVENT_QP_ACCESS_ERR);
	request_is_refused(IBV_ACCESS_LOCAL_WRITE, 0, IBV_EVENT_QP_REQ_ERR);
	/* A receive that has failed reports that by its completion. */
	request_is_refused(0, 0, 0);
}

/* One request of a, and how many solicited completions b has by it. */
static void solicits(enum ibv_wr_opcode opcode, unsigned int flags,
		     uint32_t len, uint32_t count)
{
	struct ibv_sge sge = softpair_sge(a, SRC, len);
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	uint32_t before = cq->solicited;

	wr.wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	IS(softpair_recv(b, 1, DST, 5000), 0);
	IS(softpair_post(a->qp, &wr), 0);
	OK(softpair_wait(pair, 0, sent + 1, SECOND));
	IS(a->wc[sent++].status, IBV_WC_SUCCESS);
	if (!IS(cq->solicited - before, count))
		tap_note("opcode %d, %u bytes", opcode, len);
}

static void solicited_completions_are_counted(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	size_t i;

	open_pair(32);
	for (i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		solicits(opcodes[i], 0, 8, 0);
		solicits(opcodes[i], IBV_SEND_SOLICITED, 8, 1);
		solicits(opcodes[i], 0, 5000, 0);
		solicits(opcodes[i], IBV_SEND_SOLICITED, 5000, 1);
	}
	solicits(IBV_WR_RDMA_WRITE, IBV_SEND_SOLICITED, 8, 0);
	IS(b->cq->solicited, 0);
	IS(a->cq->solicited, 0);
	IS(pier__soft_cq_resize(&cq, 64), 0);
	IS(cq->solicited, 6);
	solicits(IBV_WR_SEND, IBV_SEND_SOLICITED, 8, 1);
	close_pair();
}

static void completions_with_an_error_are_solicited(void)
{
	struct ibv_wc wc;

	open_pair(4);
	IS(receive(1), 0);
	write_to(b, a);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, RECV + 1, b, 0), 0);
	OK(softpair_idle(pair));
	IS(cq->solicited, 1);
	IS(pier__soft_cq_poll(cq, &wc, 1), 1);
	IS(wc.status, IBV_WC_LOC_LEN_ERR);
	IS(a->cq->solicited, 1);
	IS(b->cq->solicited, 0);
	IS(softpair_send(b, 2, IBV_WR_RDMA_WRITE, SRC, 8, a, DST), 0);
	IS(b->cq->solicited, 1);
	close_pair();
}

/* A message as shared memory brings it: the next one of a, of 8 bytes. */
static bool short_arrives(uint8_t flags)
{
	const struct soft_resp *resp = &b->qp->resp;
	uint32_t word[5] = {
		htobe32(SOFT_SEND_ONLY << 24 | (uint32_t)flags << 16 | 0xffff),
		htobe32(b->qp->qpn),
		htobe32(UINT32_C(1) << 31 | (resp->epsn & SOFT_PSN_MASK) |
			(uint32_t)b->qp->cwnd->senders <<
				(24 + SOFT_SENDERS_SHIFT)),
		0x5a5a5a5a, 0x5a5a5a5a,
	};

	return pier__soft_short_receive(b->ep, b->io, (uint8_t *)word,
					sizeof(word));
}

static void short_messages_are_solicited_too(void)
{
	struct ibv_wc wc[4];

	open_pair(4);
	arrive(1, 1);
	IS(receive(8), 0);
	OK(short_arrives(0));
	IS(cq->solicited, 0);
	IS(receive(8), 0);
	OK(short_arrives(0x80));
	IS(cq->solicited, 1);
	IS(pier__soft_cq_poll(cq, wc, 4), 3);
	IS(wc[1].byte_len, 8);
	IS(wc[2].byte_len, 8);
	IS(b->mem[DST + 7], 0x5a);
	close_pair();
}

int main(void)
{
	TEST(a_resized_queue_has_what_was_unread);
	TEST(a_resized_queue_takes_as_many_as_it_has_entries);
	TEST(each_qp_uses_the_queue_that_was_resized);
	TEST(no_queue_is_resized_below_what_it_has);
	TEST(a_resized_queue_reports_the_fault_of_a_qp);
	TEST(an_overrun_is_reported_once);
	TEST(an_overrun_outlives_a_resize);
	TEST(a_resized_queue_reports_its_overrun);
	TEST(without_a_watcher_nothing_is_reported);
	TEST(a_receive_queue_takes_as_many_as_it_was_resized_to);
	TEST(no_receive_queue_is_resized_below_what_it_has);
	TEST(a_limit_is_reported_once);
	TEST(the_end_of_a_shared_queue_is_reported);
	TEST(a_queue_of_a_qp_alone_has_no_such_end);
	TEST(a_request_in_rtr_is_reported_once);
	TEST(a_request_that_is_refused_is_reported);
	TEST(solicited_completions_are_counted);
	TEST(completions_with_an_error_are_solicited);
	TEST(short_messages_are_solicited_too);
	return tap_done();
}
