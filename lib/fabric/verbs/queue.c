/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels, completion queues, shared receive queues. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "fabric/verbs/verbs_impl.h"

/* What an entry takes of pinned memory at least. */
#define CQE_SIZE 64
#define SRQ_WR_SIZE 32

static const char *name_of(const struct pier__chan *chan)
{
	return chan->fdev->port.name;
}

/* An adapter has one path to all of its peers. */
int pier__verbs_chan_create(struct pier__fdev *fdev, uint32_t shm,
			    struct pier__chan **ret)
{
	struct verbs_chan *chan = calloc(1, sizeof(*chan));
	int err;

	(void)shm;
	if (!chan)
		return pier__fail(-ENOMEM, "%s: no memory", fdev->port.name);
	errno = 0;
	chan->ibv = ibv_create_comp_channel(verbs_dev(fdev)->ibv);
	if (!chan->ibv) {
		err = pier__verbs_error(-1);
		goto err_free;
	}
	if (fcntl(chan->ibv->fd, F_SETFL, O_NONBLOCK) < 0) {
		err = -errno;
		goto err_destroy;
	}

	chan->chan.fdev = fdev;
	chan->chan.fd = chan->ibv->fd;
	chan->chan.udp_port = ROCE_UDP_PORT;
	*ret = &chan->chan;
	return 0;

err_destroy:
	ibv_destroy_comp_channel(chan->ibv);
err_free:
	free(chan);
	return pier__fail(err, "%s: no completion channel: %s",
			  fdev->port.name, pier_strerror(err));
}

void pier__verbs_chan_destroy(struct pier__chan *chan)
{
	if (!chan)
		return;
	pier__verbs_log_end(name_of(chan),
			    ibv_destroy_comp_channel(verbs_chan(chan)->ibv),
			    "a completion channel is in use");
	free(chan);
}

/*
 * Each event is acknowledged here: ibv_destroy_cq(3) waits for those that are
 * not.
 */
void pier__verbs_chan_clear(struct pier__chan *chan)
{
	struct ibv_cq *cq;
	void *arg;

	while (!ibv_get_cq_event(verbs_chan(chan)->ibv, &cq, &arg))
		ibv_ack_cq_events(cq, 1);
}

/* Fail: a queue of @count entries could not be created. */
static int no_queue(const struct pier__chan *chan, const char *kind,
		    uint32_t count, size_t entry, int err)
{
	char what[64];

	snprintf(what, sizeof(what), "no %s queue of %u", kind, count);
	if (err == -ENOMEM)
		return pier__verbs_no_memory(name_of(chan), count * entry,
					     what);
	return pier__fail(err, "%s: %s: %s", name_of(chan), what,
			  pier_strerror(err));
}

int pier__verbs_cq_create(struct pier__chan *chan, uint32_t cqe,
			  struct pier__cq **ret)
{
	struct verbs_dev *dev = verbs_dev(chan->fdev);
	struct verbs_cq *cq;
	unsigned int vector;
	int err;

	if (!cqe || cqe > chan->fdev->port.limits.cqe)
		return pier__fail(-EINVAL, "%s: completion queue of %u: 1 to "
				  "%u", name_of(chan), cqe,
				  chan->fdev->port.limits.cqe);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return pier__fail(-ENOMEM, "%s: no memory", name_of(chan));

	/* A vector, and so an interrupt, for each engine. */
	vector = atomic_fetch_add(&dev->vectors, 1);
	vector %= (unsigned int)(dev->ibv->num_comp_vectors > 0 ?
				 dev->ibv->num_comp_vectors : 1);
	errno = 0;
	cq->ibv = ibv_create_cq(dev->ibv, (int)cqe, NULL,
				verbs_chan(chan)->ibv, (int)vector);
	if (!cq->ibv) {
		err = pier__verbs_error(-1);
		goto err_free;
	}
	cq->early = calloc((size_t)cq->ibv->cqe, sizeof(*cq->early));
	if (!cq->early) {
		err = -ENOMEM;
		goto err_destroy;
	}
	cq->cq.chan = chan;
	pthread_mutex_lock(&dev->lock);
	pier__list_add(&dev->cqs, &cq->link);
	pthread_mutex_unlock(&dev->lock);
	*ret = &cq->cq;
	return 0;

err_destroy:
	ibv_destroy_cq(cq->ibv);
err_free:
	free(cq);
	return no_queue(chan, "completion", cqe, CQE_SIZE, err);
}

void pier__verbs_cq_broken(struct verbs_dev *dev, const struct ibv_cq *ibv)
{
	struct pier__list *pos, *tmp;
	struct verbs_cq *cq;

	pthread_mutex_lock(&dev->lock);
	PIER__LIST_EACH(pos, tmp, &dev->cqs) {
		cq = pier__container_of(pos, struct verbs_cq, link);
		if (cq->ibv == ibv)
			atomic_store(&cq->broken, VERBS_CQ_BROKEN);
	}
	pthread_mutex_unlock(&dev->lock);
}

/* Under the lock. */
static void break_cqs_on(struct verbs_dev *dev, const struct pier__chan *chan)
{
	struct pier__list *pos, *tmp;
	struct verbs_cq *cq;

	PIER__LIST_EACH(pos, tmp, &dev->cqs) {
		cq = pier__container_of(pos, struct verbs_cq, link);
		if (cq->cq.chan == chan)
			atomic_store(&cq->broken, VERBS_SRQ_BROKEN);
	}
}

void pier__verbs_srq_broken(struct verbs_dev *dev, const struct ibv_srq *ibv)
{
	struct pier__list *pos, *tmp;
	struct verbs_srq *srq;

	pthread_mutex_lock(&dev->lock);
	PIER__LIST_EACH(pos, tmp, &dev->srqs) {
		srq = pier__container_of(pos, struct verbs_srq, link);
		if (srq->ibv == ibv)
			break_cqs_on(dev, srq->srq.chan);
	}
	pthread_mutex_unlock(&dev->lock);
}

void pier__verbs_cq_destroy(struct pier__cq *cq)
{
	struct verbs_dev *dev;

	if (!cq)
		return;
	dev = verbs_dev(cq->chan->fdev);
	pthread_mutex_lock(&dev->lock);
	pier__list_del(&verbs_cq(cq)->link);
	pthread_mutex_unlock(&dev->lock);
	pier__verbs_chan_clear(cq->chan);
	pier__verbs_log_end(name_of(cq->chan),
			    ibv_destroy_cq(verbs_cq(cq)->ibv),
			    "a completion queue is in use");
	free(verbs_cq(cq)->early);
	free(cq);
}

/* Keep those of @early from @from on that are not of @qpn. */
static void keep_others(struct verbs_cq *cq, int from, int count, uint32_t qpn)
{
	for (int i = from; i < from + count; i++) {
		if (cq->early[i].qp_num != qpn)
			cq->early[cq->early_count++] = cq->early[i];
	}
}

/*
 * Some providers purge in ibv_destroy_qp(), that of rxe does not, and the
 * caller frees what the wr_id of the QP's requests point at.
 */
void pier__verbs_cq_purge(struct pier__cq *cq, uint32_t qpn)
{
	struct verbs_cq *self = verbs_cq(cq);
	int from = self->early_next;
	int count = self->early_count - from;
	int n;

	self->early_next = 0;
	self->early_count = 0;
	keep_others(self, from, count, qpn);
	/* Unread completions are never more than the queue has entries. */
	while (self->early_count < self->ibv->cqe) {
		n = ibv_poll_cq(self->ibv, self->ibv->cqe - self->early_count,
				self->early + self->early_count);
		if (n <= 0)
			break;
		keep_others(self, self->early_count, n, qpn);
	}
}

static int take_early(struct verbs_cq *cq, struct ibv_wc *wc, int max)
{
	int n = cq->early_count - cq->early_next;

	if (n > max)
		n = max;
	memcpy(wc, cq->early + cq->early_next, (size_t)n * sizeof(*wc));
	cq->early_next += n;
	if (cq->early_next == cq->early_count)
		cq->early_next = cq->early_count = 0;
	return n;
}

static int __attribute__((noinline, cold))
fail_broken(const struct verbs_cq *cq, int broken)
{
	const char *name = name_of(cq->cq.chan);

	if (broken == VERBS_SRQ_BROKEN)
		return pier__fail(-PIER_EDEVICE, "%s: the receive queue has "
				  "failed, the device reports: what was "
				  "posted to it is lost", name);
	return pier__fail(-PIER_EDEVICE, "%s: the completion queue of %d "
			  "entries has overflowed: more requests were posted "
			  "by hand than completions taken", name,
			  cq->ibv->cqe);
}

int pier__verbs_poll(struct pier__cq *cq, struct ibv_wc *wc, int max)
{
	int n, broken;

	if (verbs_cq(cq)->early_count)
		return take_early(verbs_cq(cq), wc, max);
	broken = atomic_load_explicit(&verbs_cq(cq)->broken,
				      memory_order_relaxed);
	if (broken)
		return fail_broken(verbs_cq(cq), broken);
	n = ibv_poll_cq(verbs_cq(cq)->ibv, max, wc);
	if (n >= 0)
		return n;
	return pier__fail(-PIER_EDEVICE, "%s: its completion queue failed: "
			  "%d", name_of(cq->chan), n);
}

/* Is there a completion, which is kept?  A failed queue has an error. */
static bool has_one(struct verbs_cq *cq)
{
	int n;

	if (cq->early_count || atomic_load(&cq->broken))
		return true;
	n = ibv_poll_cq(cq->ibv, 1, cq->early);
	cq->early_count = n > 0 ? n : 0;
	return n;
}

/* A completion from before the request for notification makes no event. */
int pier__verbs_arm(struct pier__cq *cq)
{
	int err = ibv_req_notify_cq(verbs_cq(cq)->ibv, 0);

	if (!err)
		return has_one(verbs_cq(cq)) ? -EAGAIN : 0;
	err = pier__verbs_error(err);
	return pier__fail(err, "%s: its completion queue cannot be armed: %s",
			  name_of(cq->chan), pier_strerror(err));
}

static int check_srq(const struct pier__chan *chan, uint32_t max_wr,
		     uint32_t max_sge)
{
	const struct pier__limits *limits = &chan->fdev->port.limits;

	if (!max_wr || max_wr > limits->srq_wr)
		return pier__fail(-EINVAL, "%s: receive queue of %u: 1 to %u",
				  name_of(chan), max_wr, limits->srq_wr);
	if (max_sge > limits->recv_sge)
		return pier__fail(-EINVAL, "%s: receives of %u buffers: at "
				  "most %u", name_of(chan), max_sge,
				  limits->recv_sge);
	return 0;
}

int pier__verbs_srq_create(struct pier__chan *chan, uint32_t max_wr,
			   uint32_t max_sge, struct pier__srq **ret)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
	};
	struct verbs_dev *dev = verbs_dev(chan->fdev);
	struct verbs_srq *srq;
	int err = check_srq(chan, max_wr, max_sge);

	if (err)
		return err;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return pier__fail(-ENOMEM, "%s: no memory", name_of(chan));

	errno = 0;
	srq->ibv = ibv_create_srq(dev->pd, &attr);
	if (!srq->ibv) {
		err = pier__verbs_error(-1);
		free(srq);
		return no_queue(chan, "receive", max_wr, SRQ_WR_SIZE, err);
	}
	srq->srq.chan = chan;
	pthread_mutex_lock(&dev->lock);
	pier__list_add(&dev->srqs, &srq->link);
	pthread_mutex_unlock(&dev->lock);
	*ret = &srq->srq;
	return 0;
}

void pier__verbs_srq_destroy(struct pier__srq *srq)
{
	struct verbs_srq *self = (struct verbs_srq *)srq;
	struct verbs_dev *dev;

	if (!srq)
		return;
	dev = verbs_dev(srq->chan->fdev);
	pthread_mutex_lock(&dev->lock);
	pier__list_del(&self->link);
	pthread_mutex_unlock(&dev->lock);
	pier__verbs_log_end(name_of(srq->chan), ibv_destroy_srq(self->ibv),
			    "a receive queue is in use");
	free(srq);
}

int pier__verbs_srq_post(struct pier__srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	int err;

	*bad = wr;
	err = ibv_post_srq_recv(((struct verbs_srq *)srq)->ibv, wr, bad);
	if (!err)
		return 0;
	err = pier__verbs_error(err);
	if (err == -ENOMEM || err == -EAGAIN)
		return -EAGAIN;		/* full: not always an error */
	return pier__fail(err, "%s: a receive cannot be posted: %s",
			  name_of(srq->chan), pier_strerror(err));
}
