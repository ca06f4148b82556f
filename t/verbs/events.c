/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/error.h>

#include "t/lib/tap.h"
#include "t/verbs/fakeibv.h"

/*
 * A device that reports failures of its queues on demand: no rxe does so of
 * a receive queue.
 */
#define ENTRIES 16

static struct ibv_async_event pending;
static bool is_pending;
static int acknowledged;

static struct ibv_srq foreign;

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
	};
	TEST(a_receive_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_completion_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_receive_queue_of_the_program_harms_no_other);
	TEST(a_receive_queue_that_ran_low_has_not_failed);
	return tap_done();
}
