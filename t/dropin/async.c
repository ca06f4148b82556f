/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/* Asynchronous events of queue pairs, completion queues and receive queues. */
#define WAIT_MS 20000
#define YIELDS 2000

static struct verbspair pair;

static bool is_readable(int timeout_ms)
{
	struct pollfd pfd = { pair.context->async_fd, POLLIN, 0 };

	return poll(&pfd, 1, timeout_ms) == 1;
}

static atomic_bool exhausted;	/* there is no memory */

/*
 * In the place of the C library's, also for the libraries.  ThreadSanitizer
 * calls it before it knows the thread.
 */
__attribute__((no_sanitize("thread")))
void *malloc(size_t size)
{
	static void *(*volatile allocate)(size_t, size_t) = calloc;

	return exhausted ? NULL : allocate(1, size);
}

/* The next event, which is of @type. */
static struct ibv_async_event expect(enum ibv_event_type type)
{
	struct ibv_async_event event = { 0 };

	if (OK(is_readable(WAIT_MS)) &&
	    IS(ibv_get_async_event(pair.context, &event), 0))
		IS(event.event_type, type);
	return event;
}

static struct ibv_srq *srq_new(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(pair.pd, &init);

	OK(srq);
	return srq;
}

static int post(struct ibv_srq *srq)
{
	struct ibv_sge sge = { (uintptr_t)pair.mem, 64, pair.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int change(struct ibv_srq *srq, uint32_t max_wr, uint32_t limit,
		  int mask)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr, .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, mask);
}

static uint32_t limit_of(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = UINT32_MAX };

	IS(ibv_query_srq(srq, &attr), 0);
	return attr.srq_limit;
}

static struct ibv_qp *qp_new(struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .srq = srq,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pair.pd, &init);

	OK(qp);
	return qp;
}

static int move(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	IS(ibv_query_qp(qp, &attr, 0, &init), 0);
	attr.qp_state = state;
	attr.en_sqd_async_notify = 1;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* QP 0 to @qp, which is in RESET and is to be in @state. */
static void connect_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	IS(move(pair.qp[0], IBV_QPS_RESET, 0), 0);
	IS(verbspair_connect(pair.qp[0], qp, IBV_QPS_RTS), 0);
	IS(verbspair_connect(qp, pair.qp[0], state), 0);
}

/* From QP 0 to its peer, which is QP 1 at first. */
static int send_to(enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)pair.mem, 8, pair.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)pair.mem + 4096,
			     .rkey = rkey },
	}, *bad;
	struct ibv_wc wc = { 0 };

	if (!IS(ibv_post_send(pair.qp[0], &wr, &bad), 0) ||
	    !verbspair_wait(&pair, &wc))
		return -1;
	return (int)wc.status;
}

static void nothing_is_readable_without_an_event(void)
{
	if (!verbspair_open(&pair))
		return;
	OK(!is_readable(0));
	IS(send_to(IBV_WR_RDMA_WRITE, pair.mr->rkey), IBV_WC_SUCCESS);
	OK(!is_readable(0));
	OK(verbspair_close(&pair));
}

/* One of two receives is taken: fewer than two are left. */
static void a_receive_queue_reports_its_limit_once(void)
{
	struct ibv_async_event event;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	if (!verbspair_open(&pair))
		return;
	srq = srq_new();
	qp = qp_new(ibv_cq_ex_to_cq(pair.cq), srq);
	IS(post(srq), 0);
	IS(post(srq), 0);
	IS(change(srq, 0, 2, IBV_SRQ_LIMIT), 0);
	IS(limit_of(srq), 2);
	OK(!is_readable(0));
	connect_to(qp, IBV_QPS_RTS);
	IS(send_to(IBV_WR_SEND, 0), IBV_WC_SUCCESS);
	event = expect(IBV_EVENT_SRQ_LIMIT_REACHED);
	OK(event.element.srq == srq);
	IS(limit_of(srq), 0);
	ibv_ack_async_event(&event);
	OK(!is_readable(0));
	IS(ibv_destroy_qp(qp), 0);
	IS(ibv_destroy_srq(srq), 0);
	OK(verbspair_close(&pair));
}

static void a_receive_queue_grows_and_shrinks(void)
{
	struct ibv_srq *srq;
	int i;

	if (!verbspair_open(&pair))
		return;
	srq = srq_new();
	for (i = 0; i < 4; i++)
		IS(post(srq), 0);
	IS(post(srq), ENOMEM);
	IS(change(srq, 3, 0, IBV_SRQ_MAX_WR), EINVAL);
	IS(change(srq, 6, 0, IBV_SRQ_MAX_WR), 0);
	IS(post(srq), 0);
	IS(change(srq, 5, 0, IBV_SRQ_MAX_WR), 0);
	IS(post(srq), ENOMEM);
	IS(change(srq, 0, 6, IBV_SRQ_LIMIT), EINVAL);
	IS(change(srq, 0, 0, 1 << 5), EINVAL);
	IS(ibv_destroy_srq(srq), 0);
	OK(verbspair_close(&pair));
}

/* With @without no memory is left when it happens. */
static void last_receive(bool without)
{
	struct ibv_async_event event;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	int err;

	if (!verbspair_open(&pair))
		return;
	srq = srq_new();
	qp = qp_new(ibv_cq_ex_to_cq(pair.cq), srq);
	exhausted = without;
	err = move(qp, IBV_QPS_ERR, 0);
	exhausted = false;
	IS(err, 0);
	event = expect(IBV_EVENT_QP_LAST_WQE_REACHED);
	OK(event.element.qp == qp);
	ibv_ack_async_event(&event);
	IS(ibv_destroy_qp(qp), 0);
	IS(ibv_destroy_srq(srq), 0);
	OK(verbspair_close(&pair));
}

static void a_queue_pair_in_error_takes_no_more_receives(void)
{
	last_receive(false);
}

static void an_event_needs_no_memory(void)
{
	last_receive(true);
}

/* Two receives are flushed into a queue of one. */
static void a_completion_queue_that_is_overrun_is_reported(void)
{
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_async_event event;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	if (!verbspair_open(&pair))
		return;
	cq = ibv_create_cq(pair.context, 1, NULL, NULL, 0);
	qp = qp_new(cq, NULL);
	IS(to_init(qp), 0);
	IS(ibv_post_recv(qp, &wr, &bad), 0);
	IS(ibv_post_recv(qp, &wr, &bad), 0);
	IS(move(qp, IBV_QPS_ERR, 0), 0);
	event = expect(IBV_EVENT_CQ_ERR);
	OK(event.element.cq == cq);
	ibv_ack_async_event(&event);
	IS(ibv_destroy_qp(qp), 0);
	IS(ibv_destroy_cq(cq), 0);
	OK(verbspair_close(&pair));
}

/* As many requests as @qp takes, of sends or of receives. */
static int fill(struct ibv_qp *qp, bool sends)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	int err = 0, n;

	for (n = 0; !err && n < 100; n += !err)
		err = sends ? ibv_post_send(qp, &send, &bad_send) :
			      ibv_post_recv(qp, &recv, &bad_recv);
	IS(err, ENOMEM);
	return n;
}

/* Each has its place until its completion is polled. */
static void a_queue_pair_in_error_takes_as_many_as_it_has_places(void)
{
	struct ibv_wc wc[8];
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int i;

	if (!verbspair_open(&pair))
		return;
	cq = ibv_create_cq(pair.context, 4, NULL, NULL, 0);
	qp = qp_new(cq, NULL);
	IS(to_init(qp), 0);
	IS(move(qp, IBV_QPS_ERR, 0), 0);
	for (i = 0; i < 3; i++) {
		IS(fill(qp, true), 2);
		IS(fill(qp, false), 2);
		IS(ibv_poll_cq(cq, 8, wc), 4);
		IS(wc[3].status, IBV_WC_WR_FLUSH_ERR);
	}
	IS(ibv_destroy_qp(qp), 0);
	IS(ibv_destroy_cq(cq), 0);
	OK(verbspair_close(&pair));
}

/* The completion of a receive. */
static void flush_into(struct ibv_cq *cq)
{
	struct ibv_qp *qp = qp_new(cq, NULL);
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_wc wc;

	IS(to_init(qp), 0);
	IS(ibv_post_recv(qp, &wr, &bad), 0);
	IS(move(qp, IBV_QPS_ERR, 0), 0);
	IS(ibv_poll_cq(cq, 1, &wc), 1);
	IS(ibv_destroy_qp(qp), 0);
}

/* A program that takes one event for each edge. */
static void each_completion_event_is_an_edge(void)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	struct ibv_cq *cq[2], *got;
	void *context;
	int set, i;

	if (!verbspair_open(&pair))
		return;
	set = epoll_create1(EPOLL_CLOEXEC);
	IS(epoll_ctl(set, EPOLL_CTL_ADD, pair.channel->fd, &edge), 0);
	for (i = 0; i < 2; i++) {
		cq[i] = ibv_create_cq(pair.context, 4, NULL, pair.channel, 0);
		IS(ibv_req_notify_cq(cq[i], 0), 0);
		flush_into(cq[i]);
		IS(epoll_wait(set, &edge, 1, WAIT_MS), 1);
	}
	for (i = 0; i < 2; i++) {
		IS(ibv_get_cq_event(pair.channel, &got, &context), 0);
		OK(got == cq[i]);
		ibv_ack_cq_events(got, 1);
	}
	IS(fcntl(pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
	IS(ibv_get_cq_event(pair.channel, &got, &context), -1);
	IS(errno, EAGAIN);
	close(set);
	IS(ibv_destroy_cq(cq[0]), 0);
	IS(ibv_destroy_cq(cq[1]), 0);
	OK(verbspair_close(&pair));
}

static void a_peer_that_sends_before_we_do_is_reported(void)
{
	struct ibv_async_event event;

	if (!verbspair_open(&pair))
		return;
	IS(move(pair.qp[1], IBV_QPS_RESET, 0), 0);
	connect_to(pair.qp[1], IBV_QPS_RTR);
	IS(send_to(IBV_WR_RDMA_WRITE, pair.mr->rkey), IBV_WC_SUCCESS);
	event = expect(IBV_EVENT_COMM_EST);
	OK(event.element.qp == pair.qp[1]);
	ibv_ack_async_event(&event);
	IS(send_to(IBV_WR_RDMA_WRITE, pair.mr->rkey), IBV_WC_SUCCESS);
	OK(!is_readable(0));
	OK(verbspair_close(&pair));
}

static void a_send_queue_is_drained(void)
{
	struct ibv_async_event event;

	if (!verbspair_open(&pair))
		return;
	IS(move(pair.qp[0], IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event = expect(IBV_EVENT_SQ_DRAINED);
	OK(event.element.qp == pair.qp[0]);
	ibv_ack_async_event(&event);
	OK(verbspair_close(&pair));
}

static void a_drained_queue_takes_other_attributes(void)
{
	const int mask = IBV_QP_AV | IBV_QP_TIMEOUT;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!verbspair_open(&pair))
		return;
	IS(move(pair.qp[0], IBV_QPS_SQD, 0), 0);
	IS(ibv_query_qp(pair.qp[0], &attr, mask, &init), 0);
	attr.ah_attr.grh.hop_limit = 9;
	attr.timeout = 20;
	attr.dest_qp_num = 0;
	IS(ibv_modify_qp(pair.qp[0], &attr, mask), 0);
	attr.ah_attr.grh.dgid.raw[15]++;
	IS(ibv_modify_qp(pair.qp[0], &attr, mask), EOPNOTSUPP);
	IS(ibv_query_qp(pair.qp[0], &attr, mask, &init), 0);
	IS(attr.ah_attr.grh.hop_limit, 9);
	IS(attr.timeout, 20);
	IS(move(pair.qp[0], IBV_QPS_RTS, 0), 0);
	OK(verbspair_close(&pair));
}

/* None is taken before the last one has come. */
static void each_event_of_a_type_is_taken(void)
{
	struct ibv_async_event event;
	int i;

	if (!verbspair_open(&pair))
		return;
	for (i = 0; i < 3; i++) {
		IS(move(pair.qp[0], IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY),
		   0);
		IS(move(pair.qp[0], IBV_QPS_RTS, 0), 0);
	}
	for (i = 0; i < 3; i++) {
		event = expect(IBV_EVENT_SQ_DRAINED);
		OK(event.element.qp == pair.qp[0]);
		ibv_ack_async_event(&event);
	}
	OK(!is_readable(0));
	OK(verbspair_close(&pair));
}

/* Those of the queue pairs of @order are taken as they came. */
static void drain_in_order(const int *order, int n)
{
	struct ibv_async_event event;
	struct ibv_qp *qp;
	int i;

	for (i = 0; i < n; i++) {
		qp = pair.qp[order[i]];
		IS(move(qp, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
		IS(move(qp, IBV_QPS_RTS, 0), 0);
	}
	for (i = 0; i < n; i++) {
		event = expect(IBV_EVENT_SQ_DRAINED);
		OK(event.element.qp == pair.qp[order[i]]);
		ibv_ack_async_event(&event);
	}
	OK(!is_readable(0));
}

/* Also if one object has several, or many. */
static void events_are_taken_in_their_order(void)
{
	static const int few[] = { 0, 0, 1, 0, 1 };
	static const int many[] = { 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

	if (!verbspair_open(&pair))
		return;
	drain_in_order(few, 5);
	drain_in_order(many, 14);
	drain_in_order(few, 5);
	OK(verbspair_close(&pair));
}

/* An object may end with many, too. */
static void many_events_end_with_their_object(void)
{
	int i;

	if (!verbspair_open(&pair))
		return;
	for (i = 0; i < 20; i++) {
		IS(move(pair.qp[0], IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY),
		   0);
		IS(move(pair.qp[0], IBV_QPS_RTS, 0), 0);
	}
	IS(ibv_destroy_qp(pair.qp[0]), 0);
	pair.qp[0] = NULL;
	OK(!is_readable(0));
	OK(verbspair_close(&pair));
}

static atomic_bool destroyed;

static void *destroy(void *qp)
{
	IS(ibv_destroy_qp(qp), 0);
	destroyed = true;
	return NULL;
}

/* The event is of a QP, which therefore waits for its acknowledgement. */
static void a_queue_pair_ends_when_its_events_are_acknowledged(void)
{
	struct ibv_async_event event;
	pthread_t thread;
	int i;

	if (!verbspair_open(&pair))
		return;
	IS(send_to(IBV_WR_RDMA_WRITE, 1), IBV_WC_REM_ACCESS_ERR);
	event = expect(IBV_EVENT_QP_ACCESS_ERR);
	OK(event.element.qp == pair.qp[1]);
	destroyed = false;
	IS(pthread_create(&thread, NULL, destroy, pair.qp[1]), 0);
	for (i = 0; i < YIELDS && !destroyed; i++)
		sched_yield();
	OK(!destroyed);
	ibv_ack_async_event(&event);
	IS(pthread_join(thread, NULL), 0);
	OK(destroyed);
	pair.qp[1] = NULL;
	OK(verbspair_close(&pair));
}

/* It is not taken: nothing waits for it. */
static void an_event_ends_with_its_object(void)
{
	if (!verbspair_open(&pair))
		return;
	IS(send_to(IBV_WR_RDMA_WRITE, 1), IBV_WC_REM_ACCESS_ERR);
	OK(is_readable(WAIT_MS));
	IS(ibv_destroy_qp(pair.qp[1]), 0);
	pair.qp[1] = NULL;
	OK(!is_readable(0));
	OK(verbspair_close(&pair));
}

int main(void)
{
	TEST(nothing_is_readable_without_an_event);
	TEST(a_receive_queue_reports_its_limit_once);
	TEST(a_receive_queue_grows_and_shrinks);
	TEST(a_queue_pair_in_error_takes_no_more_receives);
	TEST(an_event_needs_no_memory);
	TEST(a_completion_queue_that_is_overrun_is_reported);
	TEST(a_queue_pair_in_error_takes_as_many_as_it_has_places);
	TEST(each_completion_event_is_an_edge);
	TEST(a_peer_that_sends_before_we_do_is_reported);
	TEST(a_send_queue_is_drained);
	TEST(a_drained_queue_takes_other_attributes);
	TEST(each_event_of_a_type_is_taken);
	TEST(events_are_taken_in_their_order);
	TEST(many_events_end_with_their_object);
	TEST(a_queue_pair_ends_when_its_events_are_acknowledged);
	TEST(an_event_ends_with_its_object);
	return tap_done();
}
