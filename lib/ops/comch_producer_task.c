/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "cm/recall.h"
#include "core/fail.h"
#include "ops/comch_target.h"

/* Tasks of a producer: how they are submitted, and how they end. */

/* One after which others may be posted, or the last of a target. */
static void __attribute__((noinline))
finish_slowly(struct pier__comch_data_task *t)
{
	struct pier__comch_target *target = t->target;

	target->posted++;	/* ended() does not free it */
	pier__comch_data_finish(t);
	pier__comch_target_less(target);
}

static inline void __attribute__((always_inline))
finish(struct pier__comch_data_task *t)
{
	struct pier__comch_data *data = pier__comch_data_of(t->task.ctx);

	data->counters.messages++;
	t->target->posted--;
	data->counters.bytes += t->len;
	if (t->target->busy || !pier__comch_data_is_held(t)) {
		finish_slowly(t);
		return;
	}
	t->buf->refs--;
	pier__task_finish(&t->task, 0);
}

void pier__comch_produced(struct pier__posted *posted)
{
	finish(pier__container_of(posted, struct pier__comch_data_task,
				  posted));
}

/* One with others before it, or a failure. */
static void __attribute__((noinline))
done_late(struct pier__comch_data_task *t, const struct ibv_wc *wc)
{
	if (!pier__conn_done(t->target->conn, &t->posted, wc))
		return;
	if (wc->status == IBV_WC_SUCCESS)
		finish(t);
	else
		pier__comch_target_fail(t, wc);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_data_task *t =
		pier__container_of(op, struct pier__comch_data_task, task.op);

	if (pier__conn_done_first(t->target->conn, &t->posted, wc))
		finish(t);
	else
		done_late(t, wc);
}

static int post_anew(struct pier__comch_data_task *t)
{
	struct pier__comch_target *target = NULL;
	int err, n;

	n = pier__comch_data_build(t, false, &t->len);
	if (n < 0)
		return n;
	err = pier__comch_target_find(pier__comch_producer_of(t->task.ctx),
				      t->consumer, &target);
	if (!err)
		err = pier__comch_target_check(target, t);
	if (err)
		return err;
	if (t->imm_len)
		memcpy(t->head.imm, t->imm, t->imm_len);
	t->wr.send = (struct ibv_send_wr){
		.wr_id = (uintptr_t)&t->task.op,
		.opcode = IBV_WR_SEND,
		.sg_list = t->sge,
		.num_sge = n,
	};
	t->target = target;
	err = pier__comch_target_send(target, t);
	if (err)
		return err;
	pier__comch_data_submitted(t);
	return 0;
}

/* Its target may be a new one, or its buffer, or it may not be submitted. */
static int __attribute__((noinline))
submit_anew(struct pier__comch_data_task *t, unsigned int flags)
{
	return pier__comch_data_submit_anew(t, flags, post_anew);
}

/* The ways of one that may be posted now, to t->target. */

static inline int __attribute__((always_inline))
posted(struct pier__comch_data_task *t)
{
	t->target->posted++;
	pier__comch_data_submitted_one(t);
	return 0;
}

static inline int __attribute__((always_inline))
post_alone(struct pier__comch_data_task *t)
{
	int err;

	err = pier__conn_post(t->target->conn, &t->wr.send);
	if (err)
		return err;
	pier__conn_posted(t->target->conn, &t->posted);
	return posted(t);
}

static int __attribute__((noinline))
chain_first(struct pier__comch_data_task *t)
{
	pier__conn_chain_first(t->target->conn, &t->posted, &t->wr.send);
	return posted(t);
}

static int __attribute__((noinline))
chain_next(struct pier__comch_data_task *t)
{
	pier__conn_chain(t->target->conn, &t->posted, &t->wr.send);
	return posted(t);
}

static int __attribute__((noinline))
chain_last(struct pier__comch_data_task *t)
{
	chain_next(t);
	pier__conn_flush(t->target->conn);
	return 0;
}

typedef int post_fn(struct pier__comch_data_task *t);

/* More are to follow. */
static inline int __attribute__((always_inline))
post_more(struct pier__comch_data_task *t)
{
	return pier__conn_chained(t->target->conn) ? chain_next(t) :
						     chain_first(t);
}

static inline int __attribute__((always_inline))
post_last(struct pier__comch_data_task *t)
{
	return pier__conn_chained(t->target->conn) ? chain_last(t) :
						     post_alone(t);
}

/* Its immediate is copied; the rest of the head stays. */
static int __attribute__((noinline))
post_with_imm(struct pier__comch_data_task *t, unsigned int flags)
{
	memcpy(t->head.imm, t->imm, t->imm_len);
	return flags ? post_more(t) : post_last(t);
}

/* The usual case, by @post: as before, to a consumer that is connected. */
static inline int __attribute__((always_inline))
submit_by(struct pier_task *task, unsigned int flags, post_fn *post)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	struct pier_comch_producer *producer =
		pier__comch_producer_of(task->ctx);

	if (!pier__task_may_submit(task, flags) || !pier__comch_data_same(t) ||
	    pier__comch_is_suspect(producer) ||
	    !pier__comch_target_may_post(t->target))
		return submit_anew(t, flags);
	return t->imm_len ? post_with_imm(t, flags) : post(t);
}

static int __attribute__((noinline)) submit_last(struct pier_task *task)
{
	return submit_by(task, 0, post_last);
}

static int submit(struct pier_task *task, unsigned int flags)
{
	return flags ? submit_by(task, flags, post_more) : submit_last(task);
}

/* One that is deferred counts as posted. */
static int cancel(struct pier_task *task)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	struct pier__comch_target *target = t->target;

	if (t->posted.succeed == pier__comch_data_end_recalled)
		return 0;	/* it was; the target may be gone */
	if (pier__task_queue_take_out(&target->waiting, task)) {
		pier__queues_end_later(
			pier__comch_data_of(task->ctx)->owner.queues,
			&t->posted, pier__comch_data_end_recalled);
		return 0;
	}
	if (pier__conn_chained(target->conn))
		pier__conn_flush(target->conn);
	pier__conn_recall(target->conn, &t->posted,
			  pier__comch_data_end_recalled,
			  pier_task_type_name(task->type));
	return 0;
}

static const struct pier__task_ops task_ops = {
	.submit = submit,
	.release = pier__task_pool_give,
	.error = pier__comch_data_task_error,
	.bufs = pier__comch_data_bufs,
	.cancel = cancel,
};

int pier_comch_task_produce(struct pier_comch_producer *producer,
			    struct pier_buf *src, const void *imm,
			    size_t imm_len, uint32_t consumer_id,
			    struct pier_task **ret)
{
	struct pier__comch_data_task *t;
	int err;

	if (!producer)
		return pier__no_object(__func__);
	err = pier__comch_data_take(&producer->data, PIER_TASK_COMCH_PRODUCE,
				    &task_ops, src, &t);
	if (err)
		return err;
	t->task.op.done = done;
	t->posted.succeed = pier__comch_produced;
	t->consumer = consumer_id;
	t->head.producer = htonl(producer->data.member->id);
	err = pier_comch_task_set_imm(&t->task, imm, imm_len);
	if (err) {
		pier_task_free(&t->task);
		return err;
	}
	*ret = &t->task;
	return 0;
}

int pier_comch_produce(struct pier_comch_producer *producer,
		       struct pier_buf *src, const void *imm, size_t imm_len,
		       uint32_t consumer_id, pier_task_fn *fn, void *arg)
{
	struct pier_task *task;
	int err = pier_comch_task_produce(producer, src, imm, imm_len,
					  consumer_id, &task);

	return err ? err : pier__task_one_shot(task, fn, arg);
}
