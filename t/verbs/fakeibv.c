/* SPDX-License-Identifier: BSD-2-Clause */
/* A verbs device without a kernel. */
#include <errno.h>
#include <stddef.h>

#include "t/verbs/fakeibv.h"

int fake_deny;

static int poll_none(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	(void)cq;
	(void)max;
	(void)wc;
	return 0;
}

static struct ibv_device device = {
	.transport_type = IBV_TRANSPORT_IB,
	.name = "fake0",
};

struct ibv_context fake_context = {
	.device = &device,
	.num_comp_vectors = 1,
	.ops = { .poll_cq = poll_none },
	.async_fd = -1,
};

struct ibv_pd fake_pd = { .context = &fake_context };
struct ibv_cq fake_cqs[FAKE_QUEUES];
struct ibv_srq fake_srqs[FAKE_QUEUES];
static unsigned int cqs_made, srqs_made;

struct verbs_dev fake_dev = {
	.fdev = { .port = { .name = "fake0" } },
	.ibv = &fake_context,
	.pd = &fake_pd,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cqs = { &fake_dev.cqs, &fake_dev.cqs },
	.srqs = { &fake_dev.srqs, &fake_dev.srqs },
	.qps = { &fake_dev.qps, &fake_dev.qps },
};

void *fake_give(void *object)
{
	errno = fake_deny;
	return fake_deny ? NULL : object;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = &fake_cqs[cqs_made++ % FAKE_QUEUES];

	(void)arg;
	(void)channel;
	(void)vector;
	cq->context = ctx;
	cq->cqe = cqe;
	return fake_give(cq);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *in)
{
	struct ibv_srq *srq = &fake_srqs[srqs_made++ % FAKE_QUEUES];

	(void)in;
	srq->context = pd->context;
	return fake_give(srq);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}
