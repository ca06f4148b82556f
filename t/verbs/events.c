/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/error.h>

#include "fabric/verbs/verbs_impl.h"
#include "t/lib/tap.h"

/*
 * A device that reports failures of its queues when told to: no rxe does so of
 * a receive queue.  libibverbs' calls are made here.
 */
#define ENTRIES 16

static struct ibv_async_event pending;
static bool is_pending;
static int acknowledged;

static int poll_none(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	(void)cq;
	(void)max;
	(void)wc;
	return 0;
}

static struct ibv_context context = {
	.num_comp_vectors = 1,
	.ops = { .poll_cq = poll_none },
	.async_fd = -1,
};

static struct ibv_pd domain = { .context = &context };
static struct ibv_cq cqs[2];
static struct ibv_srq srqs[2], foreign;
static int cqs_made, srqs_made;

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

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = &cqs[cqs_made++];

	(void)arg;
	(void)channel;
	(void)vector;
	cq->context = ctx;
	cq->cqe = cqe;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **arg)
{
	(void)channel;
	(void)cq;
	(void)arg;
	return -1;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *in)
{
	(void)pd;
	(void)in;
	return &srqs[srqs_made++];
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}

static struct verbs_dev dev = {
	.fdev = {
		.port = {
			.name = "fake0",
			.limits = {
				.cqe = ENTRIES, .srq_wr = ENTRIES,
				.recv_sge = 1,
			},
		},
	},
	.ibv = &context,
	.pd = &domain,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cqs = { &dev.cqs, &dev.cqs },
	.srqs = { &dev.srqs, &dev.srqs },
};

/* Two sets of queues, each of a channel of its own. */
static struct verbs_chan chan[2];
static struct pier__cq *cq[2];
static struct pier__srq *srq[2];

static bool make_queues(void)
{
	bool made = true;

	cqs_made = srqs_made = acknowledged = 0;
	for (int i = 0; i < 2; i++) {
		chan[i].chan.fdev = &dev.fdev;
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
	OK(pier__list_empty(&dev.cqs));
	OK(pier__list_empty(&dev.srqs));
}

/* The device reports @pending, which goes on to who reads events. */
static void report(enum ibv_event_type type)
{
	int event = -1;

	pending.event_type = type;
	is_pending = true;
	IS(pier__verbs_event(&dev.fdev, &event), 0);
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
	pending.element.srq = &srqs[1];
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
	pending.element.cq = &cqs[0];
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
	pending.element.srq = &srqs[0];
	report(IBV_EVENT_SRQ_LIMIT_REACHED);
	IS(poll(0), 0);
	destroy_queues();
}

int main(void)
{
	TEST(a_receive_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_completion_queue_that_fails_ends_its_set_of_queues_only);
	TEST(a_receive_queue_of_the_program_harms_no_other);
	TEST(a_receive_queue_that_ran_low_has_not_failed);
	return tap_done();
}
