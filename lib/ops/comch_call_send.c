/* SPDX-License-Identifier: BSD-2-Clause */
/* The sends of requests: what is in flight when their tasks have completed. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/comch_call.h"

static struct pier__comch_call_send *of_posted(struct pier__posted *posted)
{
	return pier__container_of(posted, struct pier__comch_call_send, posted);
}

static void give(struct pier__comch_call_sends *sends,
		 struct pier__comch_call_send *send)
{
	send->next = sends->free;
	sends->free = send;
}

/* It is not in flight any more. */
static void sent(struct pier__comch_call_send *send)
{
	struct pier_comch_conn *c = send->conn;

	if (send->call)
		send->call->send = NULL;
	give(c->comch->call_sends, send);
	if (c->blocked)
		pier__comch_check_writable(c);
	pier__comch_conn_drop(c);
}

static void succeed(struct pier__posted *posted)
{
	sent(of_posted(posted));
}

static void __attribute__((noinline, cold))
fail(struct pier__comch_call_send *send, const struct ibv_wc *wc)
{
	struct pier__comch_call *call = send->call;

	pier__conn_failed(send->conn->conn, "request", wc);
	if (!call)
		return;
	call->verbs_status = (int)wc->status;
	call->vendor_error = wc->vendor_err;
	pier__comch_calls_forget(call);
	if (!call->end)
		pier__comch_call_end(call, PIER__COMCH_CALL_LOST);
}

static void done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_call_send *send =
		pier__container_of(op, struct pier__comch_call_send, op);

	if (!pier__conn_done(send->conn->conn, &send->posted, wc))
		return;
	if (wc->status != IBV_WC_SUCCESS)
		fail(send, wc);
	sent(send);
}

static void init(struct pier__comch_call_sends *sends, uint32_t count,
		 size_t size)
{
	for (uint32_t i = count; i-- > 0;) {
		struct pier__comch_call_send *send =
			(void *)(sends->memory + i * size);

		send->op.done = done;
		send->posted.op = &send->op;
		send->posted.succeed = succeed;
		send->sge = (struct ibv_sge){
			.addr = (uintptr_t)send->data,
			.lkey = sends->mr->lkey,
		};
		send->wr = (struct ibv_send_wr){
			.wr_id = (uintptr_t)&send->op,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.sg_list = &send->sge,
			.num_sge = 1,
		};
		give(sends, send);
	}
}

int pier__comch_call_sends_create(struct pier_comch *comch)
{
	struct pier_dev *dev = comch->dev;
	size_t size = sizeof(struct pier__comch_call_send) +
		      PIER__COMCH_REQUEST_HEAD + comch->cfg.max_msg_size;
	uint32_t count = pier__comch_conn_tasks(&comch->cfg);
	struct pier__comch_call_sends *sends = calloc(1, sizeof(*sends));
	int err;

	size = (size + 63) & ~(size_t)63;
	if (sends)
		sends->memory = calloc(count, size);
	if (!sends || !sends->memory) {
		free(sends);
		return pier__fail(-ENOMEM, "comch: no memory for %u requests "
				  "of %zu bytes", count, size);
	}
	err = dev->fabric->dev->reg(dev->fdev, sends->memory, count * size,
				    IBV_ACCESS_LOCAL_WRITE, &sends->mr);
	if (err) {
		free(sends->memory);
		free(sends);
		return err;
	}
	init(sends, count, size);
	comch->call_sends = sends;
	return 0;
}

void pier__comch_call_sends_destroy(struct pier_comch *comch)
{
	struct pier__comch_call_sends *sends = comch->call_sends;

	if (!sends)
		return;
	comch->dev->fabric->dev->dereg(sends->mr);
	free(sends->memory);
	free(sends);
	comch->call_sends = NULL;
}
