/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation and end. */
#include <errno.h>
#include <stdlib.h>

#include "dropin/dropin.h"
#include "fabric/soft/stats/counters_file.h"

static bool is_of(const struct ibv_context *context, const struct ibv_cq *cq)
{
	return cq && cq->context == context;
}

static int check(struct ibv_context *context,
		 const struct ibv_qp_init_attr *init)
{
	const struct pier__limits *limits =
		&dropin_of(context)->fdev->port.limits;
	const struct ibv_qp_cap *cap = &init->cap;

	if (init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UD)
		return -EOPNOTSUPP;
	if (!is_of(context, init->send_cq) || !is_of(context, init->recv_cq) ||
	    (init->srq && init->srq->context != context) ||
	    cap->max_send_wr > limits->send_wr ||
	    cap->max_send_sge > limits->send_sge ||
	    cap->max_inline_data > limits->inline_size)
		return -EINVAL;
	if (!init->srq && (cap->max_recv_wr > limits->srq_wr ||
			   cap->max_recv_sge > limits->recv_sge))
		return -EINVAL;
	return 0;
}

/* Queues have at least one entry. */
static struct ibv_qp_cap granted(const struct ibv_qp_init_attr *init)
{
	struct ibv_qp_cap cap = init->cap;

	if (!cap.max_send_wr)
		cap.max_send_wr = 1;
	if (!cap.max_recv_wr)
		cap.max_recv_wr = 1;
	if (init->srq) {
		cap.max_recv_wr = 0;
		cap.max_recv_sge = 0;
	}
	return cap;
}

static struct soft_cq *queue_of(struct ibv_cq *cq)
{
	return ((struct dropin_cq *)cq)->soft.queue;
}

/* Between begin and end. */
static int queues_create(struct dropin_qp *qp, struct soft_chan *chan,
			 struct ibv_pd *pd,
			 const struct ibv_qp_init_attr *init)
{
	uint32_t mtu = 128u << pier__port_mtu(&chan->chan.fdev->port);
	struct soft_srq *shared = NULL;
	int err = 0;

	if (init->srq)
		shared = ((struct dropin_srq *)init->srq)->queue;
	else
		err = pier__soft_srq_create(chan->ep, qp->cap.max_recv_wr,
					    qp->cap.max_recv_sge, &qp->own);
	if (err)
		return err;
	err = pier__soft_qp_create(queue_of(init->send_cq), shared, &qp->cap,
				   &qp->queue);
	if (err) {
		pier__soft_srq_destroy(qp->own);
		return err;
	}
	pier__soft_qp_protect(qp->queue, pier__dropin_pd_of(pd));
	if (qp->own)
		pier__soft_srq_protect(qp->own, pier__dropin_pd_of(pd));
	pier__dropin_watch(&qp->watched, DROPIN_QP, qp, pd->context);
	pier__soft_qp_async(qp->queue, &qp->watched);
	pier__soft_qp_recv_by(qp->queue, queue_of(init->recv_cq), qp->own);
	if (init->qp_type == IBV_QPT_UD)
		pier__soft_ud_set(qp->queue, mtu);
	else
		qp->row = pier__soft_chan_show(chan, qp->queue);
	return 0;
}

static void count_users(struct dropin_qp *qp, int change)
{
	struct ibv_qp *ibqp = &qp->qp;

	pier__dropin_pd_count(ibqp->pd, change);
	atomic_fetch_add(&((struct dropin_cq *)ibqp->send_cq)->objects,
			 change);
	atomic_fetch_add(&((struct dropin_cq *)ibqp->recv_cq)->objects,
			 change);
	if (ibqp->srq)
		atomic_fetch_add(&((struct dropin_srq *)ibqp->srq)->objects,
				 change);
}

static void fill(struct dropin_qp *qp, struct ibv_pd *pd,
		 const struct ibv_qp_init_attr *init)
{
	struct ibv_qp *ibqp = &qp->qp;

	qp->signal_all = init->sq_sig_all;
	ibqp->context = pd->context;
	ibqp->qp_context = init->qp_context;
	ibqp->pd = pd;
	ibqp->send_cq = init->send_cq;
	ibqp->recv_cq = init->recv_cq;
	ibqp->srq = init->srq;
	ibqp->qp_num = qp->queue->qpn;
	ibqp->state = IBV_QPS_RESET;
	ibqp->qp_type = init->qp_type;
	pthread_mutex_init(&ibqp->mutex, NULL);
	pthread_cond_init(&ibqp->cond, NULL);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct soft_chan *chan = dropin_chan(pd->context);
	struct dropin_qp *qp;
	int err = check(pd->context, init);

	if (err)
		return pier__dropin_null(err);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return pier__dropin_null(-ENOMEM);
	qp->cap = granted(init);
	pier__soft_chan_begin(chan);
	err = queues_create(qp, chan, pd, init);
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(qp);
		return pier__dropin_null(err);
	}

	fill(qp, pd, init);
	count_users(qp, 1);
	init->cap = qp->cap;
	return &qp->qp;
}

/* Between begin and end. */
static void queues_destroy(struct dropin_qp *qp, struct soft_chan *chan)
{
	pier__soft_chan_leave_all(chan, qp->queue);
	pier__soft_chan_roce_port_give(chan, &qp->roce_port);
	pier__soft_qp_destroy(qp->queue);
	pier__soft_row_put(qp->row);
	pier__dropin_dropped(qp->qp.send_cq);
	pier__dropin_dropped(qp->qp.recv_cq);
	pier__soft_srq_destroy(qp->own);
}

struct search {
	const struct ibv_context *context;
	struct dropin_qp *found;	/* NULL: none yet */
};

static void match(struct soft_qp *queue, void *arg)
{
	const struct dropin_watched *watched = queue->async;
	struct search *search = arg;

	if (watched->context == search->context)
		search->found = watched->object;
}

void pier__dropin_end_qps(struct dropin_context *ctx)
{
	struct search search = { .context = &ctx->verbs.context };
	struct soft_chan *chan = chan_of(ctx->chan);

	pier__soft_chan_begin(chan);
	do {
		search.found = NULL;
		pier__soft_table_each(chan->ep, match, &search);
		if (search.found)
			queues_destroy(search.found, chan);
	} while (search.found);
	pier__soft_chan_end(chan, 0);
}

int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct soft_chan *chan = dropin_chan(ibqp->context);
	struct dropin_qp *qp = (struct dropin_qp *)ibqp;

	if (pier__dropin_inherited(ibqp->context))
		return 0;
	pier__soft_chan_begin(chan);
	queues_destroy(qp, chan);
	pier__soft_chan_end(chan, 0);
	pier__dropin_unwatch(&qp->watched, &ibqp->mutex, &ibqp->cond,
			     &ibqp->events_completed);
	count_users(qp, -1);
	pier__dropin_batch_free(qp->batch);
	pthread_cond_destroy(&ibqp->cond);
	pthread_mutex_destroy(&ibqp->mutex);
	free(qp);
	return 0;
}
