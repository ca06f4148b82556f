/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that a server replies to. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/limit.h"
#include "ops/local_buf.h"

/* A handle: the receive, and above it a number that no other one has. */
#define INDEX_BITS 28
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)

_Static_assert((PIER__COMCH_QUEUE_MAX + PIER__COMCH_RESERVE) *
	       (uint64_t)PIER__COMCH_CLIENTS_MAX <= INDEX_MASK,
	       "each receive has an index");

static struct pier__comch_recv *recv_of(struct pier__comch_request *request)
{
	return pier__container_of(request, struct pier__comch_recv, request);
}

static uint8_t *memory_of(struct pier__comch_request *request)
{
	return (uint8_t *)(uintptr_t)recv_of(request)->sge.addr;
}

/* The request of @handle; NULL: it is void. */
static struct pier__comch_request *find(const struct pier_comch *comch,
					uint64_t handle)
{
	uint64_t i = handle & INDEX_MASK;
	struct pier__comch_request *request;

	if (!handle || !comch->recvs || i >= comch->conn_cfg.recv_queue)
		return NULL;
	request = &comch->recvs[i].request;
	return request->handle == handle ? request : NULL;
}

static int is_void(uint64_t handle)
{
	return pier__fail(-ESTALE, "comch: the request 0x%llx was replied to, "
			  "or cancelled, or its connection has ended",
			  (unsigned long long)handle);
}

/* The receive is pier's again. */
static void leave(struct pier__comch_request *request)
{
	pier__list_del(&request->link);
	pier__list_del(&request->waiting);
	pier__local_drop(request->src);
	request->src = NULL;
	request->handle = 0;
	request->is_request = false;
	pier__comch_recv_post(recv_of(request));
}

/* Sending. */

static void report(struct pier_comch *comch, uint64_t handle, int status)
{
	if (!handle || !comch->callbacks.request_ended)
		return;
	pier__pe_event(comch->ctx.pe);
	comch->callbacks.request_ended(comch, handle, status,
				       pier_ctx_user_data(&comch->ctx));
}

/* All of it was sent, or has failed: its credit goes back. */
static void finish(struct pier__comch_request *request)
{
	struct pier_comch_conn *c = request->conn;
	struct pier_comch *comch = c->comch;
	uint64_t handle = request->reported;
	int status = request->status;

	leave(request);
	if (!c->over) {
		c->owed++;
		pier__comch_return_credits(c);
	}
	report(comch, handle, status);
	pier__comch_check_writable(c);
	pier__comch_conn_drop(c);
}

static void sent(struct pier__comch_request *request)
{
	pier__comch_give_reply_send(request->conn);
	if (!--request->sends)
		finish(request);
}

static void write_succeed(struct pier__posted *posted)
{
	sent(pier__container_of(posted, struct pier__comch_request,
				write_posted));
}

static void send_succeed(struct pier__posted *posted)
{
	sent(pier__container_of(posted, struct pier__comch_request,
				send_posted));
}

static void completed(struct pier__comch_request *request,
		      struct pier__posted *posted, const char *what,
		      const struct ibv_wc *wc)
{
	struct pier_conn *conn = request->conn->conn;
	int err;

	if (!pier__conn_done(conn, posted, wc))
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		err = pier__conn_failed(conn, what, wc);
		if (!request->status)
			request->status = err;
	}
	sent(request);
}

static void write_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_request *request =
		pier__container_of(op, struct pier__comch_request, write_op);

	completed(request, &request->write_posted,
		  "write into the buffer of a request", wc);
}

static void send_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_request *request =
		pier__container_of(op, struct pier__comch_request, send_op);

	completed(request, &request->send_posted, "reply", wc);
}

static int post_write(struct pier__comch_request *request)
{
	struct pier_comch_conn *c = request->conn;
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&request->write_op,
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &request->write_sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = request->head.addr,
		.wr.rdma.rkey = request->head.rkey,
	};
	int err = pier__conn_post(c->conn, &wr);

	if (err)
		return err;
	pier__comch_take_reply_send(c);
	pier__conn_posted(c->conn, &request->write_posted);
	request->sends++;
	return 0;
}

static int post_send(struct pier__comch_request *request)
{
	const struct pier__comch_recv *recv = recv_of(request);
	struct pier_comch_conn *c = request->conn;
	struct ibv_sge sge = {
		.addr = recv->sge.addr,
		.length = request->len,
		.lkey = recv->sge.lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&request->send_op,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = pier__comch_next_head(c, PIER__COMCH_REPLY),
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err = pier__comch_post(c, &request->send_posted, &wr, 0);

	if (err)
		return err;
	pier__comch_take_reply_send(c);
	request->sends++;
	return 0;
}

/* There is a credit, and there are sends. */
static int post(struct pier__comch_request *request)
{
	struct pier_comch_conn *c = request->conn;
	int err = 0;

	pier__list_del(&request->waiting);
	request->handle = 0;
	if (request->status == -ECANCELED)
		c->cancelling = false;
	if (pier__conn_chained(c->conn))
		pier__conn_flush(c->conn);
	c->holds++;
	if (request->src)
		err = post_write(request);
	if (!err)
		err = post_send(request);
	if (!err)
		return 0;
	request->status = err;
	pier__comch_violated(c, err);
	if (!request->sends)	/* it ends with the connection */
		pier__comch_conn_drop(c);
	return err;
}

bool pier__comch_replies_post(struct pier_comch_conn *c)
{
	while (!pier__list_empty(&c->replies)) {
		struct pier__comch_request *request = pier__container_of(
			c->replies.next, struct pier__comch_request, waiting);

		if (!c->credits || !pier__conn_is_up(c->conn) ||
		    c->reply_sends < (request->src ? 2 : 1))
			return false;
		if (post(request))
			return false;
	}
	return true;
}

/* Send it now, or when there are credits. */
static void reply(struct pier__comch_request *request,
		  enum pier__comch_reply_status status, uint32_t written,
		  size_t len)
{
	struct pier__comch_reply_head head = {
		.id = request->head.id,
		.status = status,
		.written = written,
	};
	struct pier_comch_conn *c = request->conn;

	pier__comch_reply_encode(&head, memory_of(request));
	request->len = (uint32_t)(PIER__COMCH_REPLY_HEAD + len);
	request->has_reply = true;
	pier__list_add(&c->replies, &request->waiting);
	if (!pier__comch_replies_post(c))
		c->blocked = true;
}

/* Requests. */

void pier__comch_request_init(struct pier__comch_recv *recv)
{
	struct pier__comch_request *request = &recv->request;

	pier__list_init(&request->link);
	pier__list_init(&request->waiting);
	request->write_op.done = write_done;
	request->write_posted.op = &request->write_op;
	request->write_posted.succeed = write_succeed;
	request->send_op.done = send_done;
	request->send_posted.op = &request->send_op;
	request->send_posted.succeed = send_succeed;
}

int pier__comch_requested(struct pier_comch_conn *c,
			  struct pier__comch_recv *recv, size_t len)
{
	struct pier__comch_request *request = &recv->request;
	struct pier_comch *comch = c->comch;
	const uint8_t *msg = memory_of(request) + PIER__COMCH_REQUEST_HEAD;
	int err = pier__comch_request_decode(memory_of(request), len,
					     &request->head);

	if (!err && !pier__comch_is_server(comch))
		err = pier__fail(-EPROTO, "comch: the server sent a request");
	if (err)
		return err;
	len -= PIER__COMCH_REQUEST_HEAD;
	if (len > comch->cfg.max_msg_size)
		return pier__fail(-EPROTO, "comch: the peer sent a request of "
				  "%zu bytes: at most %u are allowed", len,
				  comch->cfg.max_msg_size);
	c->received++;
	request->conn = c;
	request->is_request = true;
	request->has_reply = false;
	request->status = 0;
	request->reported = 0;
	request->handle = ++comch->request_serial << INDEX_BITS |
			  (uint64_t)(recv - comch->recvs);
	pier__list_add(&c->requests, &request->link);
	if (!comch->callbacks.requested) {
		reply(request, PIER__COMCH_REPLY_NONE, 0, 0);
		return 0;
	}
	request->reported = request->handle;
	pier__pe_event(comch->ctx.pe);
	comch->callbacks.requested(c, request->handle, msg, len,
				   pier_ctx_user_data(&comch->ctx));
	return 0;
}

/* The request of @id that has no reply; NULL: it was sent, or is under way. */
static struct pier__comch_request *without_reply(struct pier_comch_conn *c,
						 uint32_t id)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &c->requests) {
		struct pier__comch_request *request = pier__container_of(
			pos, struct pier__comch_request, link);

		if (request->head.id == id && !request->has_reply)
			return request;
	}
	return NULL;
}

int pier__comch_cancelled(struct pier_comch_conn *c, const void *msg,
			  size_t len)
{
	struct pier__comch_request *request;
	uint32_t id;
	int err = pier__comch_cancel_decode(msg, len, &id);

	if (!err && (c->late_cancel || c->cancelling))
		err = pier__fail(-EPROTO, "comch: the peer cancelled 0x%08x "
				 "before its last cancel was answered", id);
	if (!err && ++c->cancels > c->received)
		err = pier__fail(-EPROTO, "comch: the peer has cancelled %llu "
				 "requests, and sent %llu",
				 (unsigned long long)c->cancels,
				 (unsigned long long)c->received);
	if (err)
		return err;
	request = without_reply(c, id);
	if (request) {
		request->status = -ECANCELED;
		c->cancelling = true;
		reply(request, PIER__COMCH_REPLY_CANCELLED, 0, 0);
		return 0;
	}
	c->late_cancel = true;
	pier__comch_return_credits(c);
	return 0;
}

/* What is in flight completes later. */
void pier__comch_requests_end(struct pier_comch_conn *c)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &c->requests) {
		struct pier__comch_request *request = pier__container_of(
			pos, struct pier__comch_request, link);
		int status = request->status;

		if (request->sends)
			continue;
		leave(request);
		report(c->comch, request->reported,
		       status ? status : -ECONNRESET);
	}
}

/* The program's calls. */

int pier_comch_set_request_callbacks(struct pier_comch *comch,
				     pier_comch_request_fn *requested,
				     pier_comch_request_end_fn *ended)
{
	if (!comch)
		return pier__no_object(__func__);
	if (!pier__comch_is_server(comch))
		return pier__fail(-EINVAL, "comch: servers get requests, this "
				  "is a client");
	comch->callbacks.requested = requested;
	comch->callbacks.request_ended = ended;
	return 0;
}

static int too_long(const struct pier__comch_request *request, size_t len,
		    size_t most)
{
	return pier__fail(-EMSGSIZE, "comch: a reply of %zu bytes: at most "
			  "%zu by a message, and the client takes %u", len,
			  most, request->head.reply_max);
}

/* The most bytes of a reply that is a message. */
static size_t message_max(const struct pier__comch_request *request)
{
	size_t most = request->conn->max_msg;

	return request->head.reply_max < most ? request->head.reply_max : most;
}

/* Find one without a reply. */
static struct pier__comch_request *open_one(const struct pier_comch *comch,
					    uint64_t handle)
{
	struct pier__comch_request *request = find(comch, handle);

	return request && !request->has_reply ? request : NULL;
}

static int reply_copy(const struct pier_comch *comch, uint64_t handle,
		      const void *msg, size_t len)
{
	struct pier__comch_request *request = open_one(comch, handle);

	if (!request)
		return is_void(handle);
	if (!msg && len)
		return pier__fail(-EINVAL, "comch: a reply of %zu bytes at "
				  "NULL", len);
	if (len > message_max(request))
		return too_long(request, len, message_max(request));
	if (len)
		memmove(memory_of(request) + PIER__COMCH_REPLY_HEAD, msg, len);
	reply(request, PIER__COMCH_REPLY_DATA, 0, len);
	return 0;
}

int pier_comch_reply(struct pier_comch *comch, uint64_t handle,
		     const void *msg, size_t len)
{
	struct pier__guard *guard;
	int err;

	if (!comch)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&comch->ctx);
	err = pier__guard_enter(guard, "pier_comch_reply");
	if (err)
		return err;
	err = reply_copy(comch, handle, msg, len);
	pier__guard_leave(guard);
	return err;
}

/* The most bytes of a reply that is written. */
static uint64_t write_max(const struct pier__comch_request *request)
{
	const struct pier_dev *dev = request->conn->comch->dev;
	uint64_t most = pier__port_limit(&dev->info.port, PIER_LIMIT_MESSAGE);
	uint32_t reply_max = request->head.reply_max;

	return reply_max < most ? reply_max : most;
}

static int check_src(const struct pier__comch_request *request,
		     const struct pier_buf *src, uint32_t *lkey)
{
	const struct pier_dev *dev = request->conn->comch->dev;

	if (!src || !src->mmap || src->first != src || src->next ||
	    src->mmap->remote || !src->mmap->cpu)
		return pier__fail(-EINVAL, "comch: the buffer of a reply is "
				  "NULL, was put, is a part of a chain, or no "
				  "local memory");
	if (!pier__mmap_lkey(src->mmap, dev, lkey))
		return pier__mmap_lacks(src->mmap, dev);
	return 0;
}

static int reply_buf(const struct pier_comch *comch, uint64_t handle,
		     struct pier_buf *src)
{
	struct pier__comch_request *request = open_one(comch, handle);
	uint32_t lkey = 0;
	int err;

	if (!request)
		return is_void(handle);
	err = check_src(request, src, &lkey);
	if (err)
		return err;
	if (src->data_len <= message_max(request))
		return reply_copy(comch, handle, pier_buf_data(src),
				  src->data_len);
	if (!request->head.writes || src->data_len > write_max(request))
		return too_long(request, src->data_len, message_max(request));
	src->refs++;
	request->src = src;
	request->write_sge = (struct ibv_sge){
		.addr = src->data,
		.length = (uint32_t)src->data_len,
		.lkey = lkey,
	};
	reply(request, PIER__COMCH_REPLY_DATA, (uint32_t)src->data_len, 0);
	return 0;
}

int pier_comch_reply_buf(struct pier_comch *comch, uint64_t handle,
			 struct pier_buf *src)
{
	struct pier__guard *guard;
	int err;

	if (!comch)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&comch->ctx);
	err = pier__guard_enter(guard, "pier_comch_reply_buf");
	if (err)
		return err;
	err = reply_buf(comch, handle, src);
	pier__guard_leave(guard);
	return err;
}

int pier_comch_refuse(struct pier_comch *comch, uint64_t handle)
{
	struct pier__comch_request *request;
	struct pier__guard *guard;
	int err;

	if (!comch)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&comch->ctx);
	err = pier__guard_enter(guard, "pier_comch_refuse");
	if (err)
		return err;
	request = open_one(comch, handle);
	if (request)
		reply(request, PIER__COMCH_REPLY_REFUSED, 0, 0);
	else
		err = is_void(handle);
	pier__guard_leave(guard);
	return err;
}

struct pier_comch_conn *pier_comch_request_conn(struct pier_comch *comch,
						uint64_t handle)
{
	struct pier__guard *guard;
	struct pier__comch_request *request;

	if (!comch)
		return NULL;
	guard = pier__ctx_guard(&comch->ctx);
	if (pier__guard_enter(guard, "pier_comch_request_conn"))
		return NULL;
	request = open_one(comch, handle);
	pier__guard_leave(guard);
	return request ? request->conn : NULL;
}

size_t pier_comch_reply_max(struct pier_comch *comch, uint64_t handle)
{
	struct pier__guard *guard;
	struct pier__comch_request *request;

	if (!comch)
		return 0;
	guard = pier__ctx_guard(&comch->ctx);
	if (pier__guard_enter(guard, "pier_comch_reply_max"))
		return 0;
	request = open_one(comch, handle);
	pier__guard_leave(guard);
	return request ? message_max(request) : 0;
}

size_t pier_comch_reply_buf_max(struct pier_comch *comch, uint64_t handle)
{
	struct pier__guard *guard;
	struct pier__comch_request *request;

	if (!comch)
		return 0;
	guard = pier__ctx_guard(&comch->ctx);
	if (pier__guard_enter(guard, "pier_comch_reply_buf_max"))
		return 0;
	request = open_one(comch, handle);
	pier__guard_leave(guard);
	if (!request)
		return 0;
	return request->head.writes ? (size_t)write_max(request) :
				      message_max(request);
}
