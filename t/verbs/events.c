/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/error.h>

#include "t/lib/tap.h"
#include "t/verbs/fakeibv.h"

/*
 * A device that reports failures of its queues on demand: no rxe does so of
 * a receive queue or of a queue pair.
 */
#define ENTRIES 16

static struct ibv_async_event pending;
static bool is_pending;
static int acknowledged;

static struct ibv_srq foreign;
static struct ibv_qp fake_qps[3];	/* the last one is foreign, too */
static unsigned int qps_made;

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd;
	(void)attr;
	return &fake_qps[qps_made++ % 2];
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)mask;
	qp->state = attr->qp_state;
	return 0;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	(void)ctx;
	if (!is_pending) {
		errno = EAGAIN;
		return -1;
	}
	is_pending = false;
	*event = pending;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	acknowledged++;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **arg)
{
	(void)channel;
	(void)cq;
	(void)arg;
	return -1;
}

/* Two sets of queues, each of a channel of its own. */
static struct verbs_chan chan[2];
static struct pier__cq *cq[2];
static struct pier__srq *srq[2];

static bool make_queues(void)
{
	bool made = true;

	acknowledged = 0;
	for (int i = 0; i < 2; i++) {
		chan[i].chan.fdev = &fake_dev.fdev;
		made = made &&
		       IS(pier__verbs_cq_create(&chan[i].chan, ENTRIES,
						&cq[i]), 0) &&
		       IS(pier__verbs_srq_create(&chan[i].chan, ENTRIES, 1,
						 &srq[i]), 0);
	}
	return made;
}

static void destroy_queues(void)
{
	for (int i = 0; i < 2; i++) {
		pier__verbs_srq_destroy(srq[i]);
		pier__verbs_cq_destroy(cq[i]);
	}
	OK(pier__list_empty(&fake_dev.cqs));
	OK(pier__list_empty(&fake_dev.srqs));
}

/* The device reports @pending, which goes on to who reads events. */
static void report(enum ibv_event_type type)
{
	int event = -1;

	pending.event_type = type;
	is_pending = true;
	IS(pier__verbs_event(&fake_dev.fdev, &event), 0);
	IS(event, (int)type);
	IS(acknowledged, 1);
}

static int poll(int which)
{
	struct ibv_wc wc;

	return pier__verbs_poll(cq[which], &wc, 1);
}

static void a_receive_queue_that_fails_ends_its_set_of_queues_only(void)
{
	if (!make_queues())
		return;
	pending.element.srq = &fake_srqs[1];
	report(IBV_EVENT_SRQ_ERR);
	IS(poll(0), 0);
	IS(poll(1), -PIER_EDEVICE);
	LIKE(pier_last_error(), "fake0: the receive queue has failed");
	IS(poll(1), -PIER_EDEVICE);
	destroy_queues();
}

static void a_completion_queue_that_fails_ends_its_set_of_queues_only(void)
{
	if (!make_queues())
		return;
	pending.element.cq = &fake_cqs[0];
	report(IBV_EVENT_CQ_ERR);
	IS(poll(1), 0);
	IS(poll(0), -PIER_EDEVICE);
	LIKE(pier_last_error(), "fake0: the completion queue of 16 entries");
	destroy_queues();
}

static void a_receive_queue_of_the_program_harms_no_other(void)
{
	if (!make_queues())
		return;
	pending.element.srq = &foreign;
	report(IBV_EVENT_SRQ_ERR);
	IS(poll(0), 0);
	IS(poll(1), 0);
	destroy_queues();
}

/* @event is of the second of two queue pairs; returns its fault. */
static enum ibv_wc_status fault_by(enum ibv_event_type event)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	struct pier__fault fault = { .status = IBV_WC_SUCCESS };
	struct pier__qp *qp[2];

	if (!make_queues())
		return IBV_WC_SUCCESS;
	for (int i = 0; i < 2; i++)
		IS(pier__verbs_qp_create(cq[i], srq[i], &cap, &qp[i]), 0);
	OK(!pier__verbs_qp_fault(qp[1], &fault));
	pending.element.qp = &fake_qps[2];
	report(event);
	OK(!pier__verbs_qp_fault(qp[1], &fault));
	acknowledged = 0;
	pending.element.qp = &fake_qps[1];
	report(event);
	OK(!pier__verbs_qp_fault(qp[0], &fault));
	OK(pier__verbs_qp_fault(qp[1], &fault));
	OK(!fault.request && !fault.has_range);
	for (int i = 0; i < 2; i++)
		pier__verbs_qp_destroy(qp[i]);
	OK(pier__list_empty(&fake_dev.qps));
	destroy_queues();
	return fault.status;
}

static void a_queue_pair_that_refuses_a_request_has_a_fault(void)
{
	IS(fault_by(IBV_EVENT_QP_ACCESS_ERR), IBV_WC_REM_ACCESS_ERR);
	IS(fault_by(IBV_EVENT_QP_REQ_ERR), IBV_WC_REM_INV_REQ_ERR);
}

static void a_queue_pair_that_fails_is_moved_to_error_and_has_a_fault(void)
{
	fake_qps[1].state = IBV_QPS_RTS;
	IS(fault_by(IBV_EVENT_QP_FATAL), IBV_WC_FATAL_ERR);
	IS(fake_qps[1].state, IBV_QPS_ERR);
}

static void a_queue_pair_that_is_reset_has_no_fault_any_more(void)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct pier__fault fault;
	struct pier__qp *qp;

	if (!make_queues())
		return;
	qps_made = 0;
	IS(pier__verbs_qp_create(cq[0], srq[0], &cap, &qp), 0);
	pending.element.qp = &fake_qps[0];
	report(IBV_EVENT_QP_ACCESS_ERR);
	OK(pier__verbs_qp_fault(qp, &fault));
	IS(pier__verbs_qp_modify(qp, &attr, IBV_QP_STATE, 0), 0);
	OK(!pier__verbs_qp_fault(qp, &fault));
	pier__verbs_qp_destroy(qp);
	destroy_queues();
}

static void a_receive_queue_that_ran_low_has_not_failed(void)
{
	if (!make_queues())
		return;
	pending.element.srq = &fake_srqs[0];
	report(IBV_EVENT_SRQ_LIMIT_REACHED);
	IS(poll(0), 0);
	destroy_queues();
}

int main(void)
{
	fake_dev.fdev.port.limits = (struct pier__limits){
		.cqe = ENTRIES, .srq_wr = ENTRIES, .recv_sge = 1,
		.send_wr = ENTRIES, .send_sge = 1,
	};
	TEST(a_receive_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_completion_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_receive_queue_of_the_program_harms_no_other);
	TEST(a_queue_pair_that_refuses_a_request_has_a_fault);
	TEST(a_queue_pair_that_fails_is_moved_to_error_and_has_a_fault);
	TEST(a_queue_pair_that_is_reset_has_no_fault_any_more);
	TEST(a_receive_queue_that_ran_low_has_not_failed);
	return tap_done();
}
