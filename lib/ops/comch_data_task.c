/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/comch_data.h"
#include "ops/local_buf.h"

static int take(struct pier__comch_data *data, enum pier_task_type type,
		const struct pier__task_ops *ops, struct pier_buf *buf,
		struct pier__comch_data_task **ret)
{
	bool idle = data->ctx.state == PIER_CTX_IDLE;
	struct pier_task *task =
		idle ? NULL : pier__task_pool_take(data->pool, type);
	struct pier__comch_data_task *t;

	if (idle)
		return pier__fail(-ENOBUFS, "%s: there are no tasks while the "
				  "context is idle", data->ctx.name);
	if (!task)
		return pier__task_pool_empty(data->pool, type, data->ctx.name,
					     "tasks");
	t = pier__comch_data_task(task);
	task->ops = ops;
	task->ctx = &data->ctx;
	task->conn = NULL;
	t->posted.op = &task->op;
	pier__list_init(&t->posted.link);
	t->buf = buf;
	t->epoch = 0;
	t->imm = NULL;
	t->imm_len = 0;
	t->head.imm_len = 0;
	t->len = 0;
	t->verbs_status = -1;
	t->vendor_error = 0;
	t->sge[0] = (struct ibv_sge){
		.addr = (uintptr_t)&t->head,
		.length = sizeof(t->head),
		.lkey = data->pool_mr->lkey,
	};
	*ret = t;
	return 0;
}

int pier__comch_data_take(struct pier__comch_data *data,
			  enum pier_task_type type,
			  const struct pier__task_ops *ops,
			  struct pier_buf *buf,
			  struct pier__comch_data_task **ret)
{
	struct pier__guard *guard = pier__ctx_guard(&data->ctx);
	int err = pier__guard_enter(guard, "a call that takes a task");

	if (err)
		return err;
	err = take(data, type, ops, buf, ret);
	pier__guard_leave(guard);
	return err;
}

/* The memory of @buf that is used: its data, or its tail space. */
static size_t part(const struct pier_buf *buf, bool tails, uintptr_t *ret)
{
	*ret = tails ? pier__buf_tail(buf) : buf->data;
	return tails ? pier__buf_tail_len(buf) : buf->data_len;
}

static int check_chain(const struct pier__comch_data_task *t)
{
	const char *name;

	if (t->buf->mmap && t->buf->first == t->buf)
		return 0;
	name = pier_task_type_name(t->task.type);
	if (!t->buf->mmap)
		return pier__fail(-EINVAL, "%s: the buffer was given back by "
				  "pier_buf_put(): a task holds no buffer "
				  "while it is not submitted", name);
	return pier__fail(-EINVAL, "%s: the buffer is not the first of its "
			  "chain", name);
}

static int add(struct pier__comch_data_task *t, const struct pier_buf *buf,
	       uintptr_t addr, size_t len, uint32_t n)
{
	const struct pier__comch_data *data = pier__comch_data_of(t->task.ctx);

	if (n > data->cfg.chain)
		return pier__fail(-EINVAL, "%s: more than %u buffers in the "
				  "chain: raise chain",
				  pier_task_type_name(t->task.type),
				  data->cfg.chain);
	if (!pier__mmap_lkey(buf->mmap, data->dev, &t->sge[n].lkey))
		return pier__mmap_lacks(buf->mmap, data->dev);
	t->sge[n].addr = addr;
	t->sge[n].length = (uint32_t)len;
	return 0;
}

static int too_long(const struct pier__comch_data_task *t, uint64_t total,
		    uint64_t most)
{
	return pier__fail(-EMSGSIZE, "%s: %llu bytes or more, at most %llu",
			  pier_task_type_name(t->task.type),
			  (unsigned long long)total, (unsigned long long)most);
}

int pier__comch_data_build(struct pier__comch_data_task *t, bool tails,
			   uint32_t *ret_len)
{
	uint64_t most = pier__comch_data_of(t->task.ctx)->most, total = 0;
	const struct pier_buf *buf = t->buf;
	int err = buf ? check_chain(t) : 0, n = 1;

	t->epoch = 0;
	for (; buf && !err; buf = buf->next) {
		uintptr_t addr;
		size_t len = part(buf, tails, &addr);

		if (tails && len > most - total)
			len = most - total;	/* none is longer */
		total += len;
		if (total > most)
			return too_long(t, total, most);
		if (len)
			err = add(t, buf, addr, len, (uint32_t)n++);
	}
	if (err)
		return err;
	pier__buf_bind(t->buf, pier__ctx_guard(t->task.ctx));
	/* it is not known of chains whether they have changed */
	t->built_stamp = t->buf && !t->buf->next ? t->buf->stamp : 0;
	t->built_len = t->buf ? t->buf->data_len : 0;
	*ret_len = (uint32_t)total;
	return n;
}

void pier__comch_data_finish_failed(struct pier__comch_data_task *t, int status)
{
	pier__local_drop(t->buf);
	pier__task_finish_failed(&t->task, status);
}

void pier__comch_data_finish(struct pier__comch_data_task *t)
{
	pier__local_drop(t->buf);
	pier__task_finish(&t->task, 0);
}

void pier__comch_data_end_recalled(struct pier__posted *posted)
{
	struct pier__comch_data_task *t = pier__container_of(
		posted, struct pier__comch_data_task, posted);

	posted->succeed = t->task.type == PIER_TASK_COMCH_PRODUCE ?
				  pier__comch_produced : NULL;
	pier__comch_data_finish_failed(t, pier__task_cancelled(&t->task));
}

void pier__comch_data_failed(struct pier__comch_data_task *t,
			     const struct ibv_wc *wc)
{
	t->verbs_status = (int)wc->status;
	t->vendor_error = wc->vendor_err;
}

void pier__comch_data_task_error(const struct pier_task *task,
				 struct pier_task_error *ret)
{
	const struct pier__comch_data_task *t =
		pier__comch_data_task((struct pier_task *)(uintptr_t)task);

	ret->verbs_status = t->verbs_status;
	ret->vendor_error = t->vendor_error;
}

void pier__comch_data_bufs(struct pier_task *task, struct pier_buf *ret[2])
{
	ret[0] = pier__comch_data_task(task)->buf;
	ret[1] = NULL;
}

/* May @task be changed, which is to be of @type? */
static int may_change(const struct pier_task *task, enum pier_task_type type)
{
	if (task->type != type)
		return pier__fail(-EINVAL, "%s: not a task of this type: %s",
				  pier_task_type_name(type),
				  pier_task_type_name(task->type));
	return pier__task_may_change(task);
}

int pier_comch_task_set_buf(struct pier_task *task, struct pier_buf *buf)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = may_change(task, task->type == PIER_TASK_COMCH_RECEIVE ?
				       PIER_TASK_COMCH_RECEIVE :
				       PIER_TASK_COMCH_PRODUCE);
	if (err)
		return err;
	pier__comch_data_task(task)->buf = buf;
	pier__comch_data_task(task)->epoch = 0;
	return 0;
}

static int check_imm(const void *imm, size_t len)
{
	if (imm || !len)
		return 0;
	return pier__fail(-EINVAL, "comch: an immediate of %zu bytes at NULL",
			  len);
}

int pier_comch_task_set_imm(struct pier_task *task, const void *imm,
			    size_t imm_len)
{
	struct pier__comch_data_task *t = pier__comch_data_task(task);
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = may_change(task, PIER_TASK_COMCH_PRODUCE);
	if (!err)
		err = check_imm(imm, imm_len);
	if (err)
		return err;
	t->epoch = 0;
	t->imm = imm;
	t->imm_len = imm_len;
	t->head.imm_len = htonl((uint32_t)imm_len);
	memset(t->head.imm, 0, sizeof(t->head.imm));
	return 0;
}

int pier_comch_task_set_consumer(struct pier_task *task, uint32_t consumer_id)
{
	int err;

	if (!task)
		return pier__no_object(__func__);
	err = may_change(task, PIER_TASK_COMCH_PRODUCE);
	if (err)
		return err;
	pier__comch_data_task(task)->consumer = consumer_id;
	pier__comch_data_task(task)->epoch = 0;
	return 0;
}

static const struct pier__comch_data_task *of(const struct pier_task *task)
{
	return (const struct pier__comch_data_task *)task;
}

uint32_t pier_comch_task_len(const struct pier_task *task)
{
	if (!task)
		return 0;
	return of(task)->len;
}

const void *pier_comch_task_imm(const struct pier_task *task, size_t *ret_len)
{
	const struct pier__comch_data_head *head;
	uint32_t len;

	if (!task)
		return NULL;
	head = &of(task)->head;
	len = ntohl(head->imm_len);
	if (ret_len)	/* a receive that failed may have any number there */
		*ret_len = len <= sizeof(head->imm) ? len : 0;
	return head->imm;
}

uint32_t pier_comch_task_producer(const struct pier_task *task)
{
	if (!task)
		return 0;
	return ntohl(of(task)->head.producer);
}
