/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/comch_dir.h"

/* Messages about the consumers of this end, in the connection's thread. */

/* Is there something to send about @m?  The lock is held. */
static bool prepare(struct pier__comch_member *m,
		    struct pier__comch_frame *frame,
		    enum pier__comch_kind *ret_kind)
{
	bool withdraw = m->sent_run && (!m->wanted || m->sent_run != m->run);

	if (!withdraw && (!m->wanted || m->sent_run))
		return false;
	*ret_kind = withdraw ? PIER__COMCH_EXPIRED : PIER__COMCH_CONSUMER;
	frame->run = withdraw ? 0 : m->run;
	frame->sge.length = withdraw ? PIER__COMCH_EXPIRED_LEN :
				       PIER__COMCH_CONSUMER_LEN;
	if (withdraw)
		pier__comch_expired_encode(m->id, frame->data);
	else
		pier__comch_consumer_encode(&m->own, frame->data);
	return true;
}

/* The next message, in c->frame.  The lock is held. */
static struct pier__comch_member *next_message(struct pier_comch_conn *c,
					       enum pier__comch_kind *ret_kind)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &c->dir->members) {
		struct pier__comch_member *m = pier__container_of(
			pos, struct pier__comch_member, link);

		if (prepare(m, c->frame, ret_kind))
			return m;
	}
	return NULL;
}

void pier__comch_frame_free(struct pier_comch_conn *c)
{
	c->comch->dev->fabric->dev->dereg(c->frame->mr);
	free(c->frame);
	c->frame = NULL;
}

static void frame_done(struct pier__comch_frame *frame, bool arrived)
{
	struct pier_comch_conn *c = frame->conn;
	struct pier__comch_member *m = frame->member;
	bool out = false;

	frame->busy = false;
	frame->member = NULL;
	if (m) {
		pthread_mutex_lock(&m->dir->lock);
		m->in_flight = false;
		if (frame->run && arrived)
			m->known_run = frame->run;
		pier__comch_member_notify(m);
		out = m->destroyed && pier__comch_member_take_out(m);
		pthread_mutex_unlock(&m->dir->lock);
	}
	if (out)
		pier__comch_member_free(m);
	if (c->open)
		pier__comch_dir_sync(c);
	else
		pier__comch_frame_free(c);
	pier__comch_conn_drop(c);
}

static void frame_succeed(struct pier__posted *posted)
{
	frame_done(pier__container_of(posted, struct pier__comch_frame,
				      posted), true);
}

static void frame_op_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_frame *frame =
		pier__container_of(op, struct pier__comch_frame, op);

	if (!pier__conn_done(frame->conn->conn, &frame->posted, wc))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		pier__conn_failed(frame->conn->conn, "consumer", wc);
	frame_done(frame, wc->status == IBV_WC_SUCCESS);
}

/* Errors: -ENOMEM; the device's. */
static int frame_create(struct pier_comch_conn *c)
{
	struct pier__comch_frame *frame = calloc(1, sizeof(*frame));
	struct pier_dev *dev = c->comch->dev;
	int err;

	if (!frame)
		return pier__fail(-ENOMEM, "comch: no memory");
	err = dev->fabric->dev->reg(dev->fdev, frame->data,
				    sizeof(frame->data),
				    IBV_ACCESS_LOCAL_WRITE, &frame->mr);
	if (err) {
		free(frame);
		return err;
	}
	frame->conn = c;
	frame->op.done = frame_op_done;
	frame->posted.op = &frame->op;
	frame->posted.succeed = frame_succeed;
	frame->sge.addr = (uintptr_t)frame->data;
	frame->sge.lkey = frame->mr->lkey;
	c->frame = frame;
	return 0;
}

static int post_next(struct pier_comch_conn *c)
{
	struct pier__comch_frame *frame = c->frame;
	enum pier__comch_kind kind;
	struct pier__comch_member *m;
	int err;

	pthread_mutex_lock(&c->dir->lock);
	m = next_message(c, &kind);
	if (m) {
		m->sent_run = frame->run;
		m->in_flight = true;
	}
	pthread_mutex_unlock(&c->dir->lock);
	if (!m)
		return 0;
	err = pier__comch_frame_post(c, kind);
	if (err)
		return err;
	frame->member = m;
	frame->busy = true;
	return 0;
}

void pier__comch_dir_sync(struct pier_comch_conn *c)
{
	int err = 0;

	if (!c->dir || !c->open || !pier__comch_may_frame(c) ||
	    (c->frame && c->frame->busy))
		return;
	if (!c->frame)
		err = frame_create(c);
	if (!err)
		err = post_next(c);
	if (err)
		pier__comch_violated(c, err);
}
