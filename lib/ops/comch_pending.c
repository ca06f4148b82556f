/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of a client that have no reply yet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/local_buf.h"

/* What the server writes before its answer to a cancel, at least. */
#define BYTES_PER_MS 16384

/* An id is the slot, and above it how often that was used. */
#define SLOT_BITS 12

_Static_assert(PIER__COMCH_QUEUE_MAX <= 1 << SLOT_BITS, "a slot has an id");

int pier__comch_calls_create(struct pier_comch_conn *c)
{
	uint32_t count = c->peer_queue;
	struct pier__comch_calls *calls =
		calloc(1, sizeof(*calls) + count * sizeof(calls->slots[0]));

	if (!calls)
		return pier__fail(-ENOMEM, "comch: no memory for requests");
	calls->count = count;
	for (uint32_t i = 0; i < count; i++) {
		calls->slots[i].id = i;
		calls->slots[i].next = i + 1;
	}
	pier__list_init(&calls->cancels);
	c->calls = calls;
	return 0;
}

static struct pier__comch_slot *slot_of(const struct pier_comch_conn *c,
					uint32_t id)
{
	return &c->calls->slots[id & ((1 << SLOT_BITS) - 1)];
}

void pier__comch_calls_add(struct pier_comch_conn *c,
			   struct pier__comch_call *call)
{
	struct pier__comch_calls *calls = c->calls;
	struct pier__comch_slot *slot = &calls->slots[calls->free];

	calls->free = slot->next;
	slot->used = true;
	slot->call = call;
	slot->id += 1 << SLOT_BITS;
	call->id = slot->id;
}

static void free_slot(struct pier_comch_conn *c, struct pier__comch_slot *slot)
{
	struct pier__comch_calls *calls = c->calls;

	slot->used = false;
	slot->call = NULL;
	slot->next = calls->free;
	calls->free = (uint32_t)(slot - calls->slots);
}

void pier__comch_calls_abandon(struct pier__comch_call *call)
{
	struct pier__comch_slot *slot = slot_of(call->conn, call->id);

	if (slot->call == call)
		slot->call = NULL;
}

void pier__comch_calls_forget(struct pier__comch_call *call)
{
	struct pier__comch_slot *slot = slot_of(call->conn, call->id);

	if (slot->call == call)
		free_slot(call->conn, slot);
	if (call->conn->calls->cancel == call)
		call->conn->calls->cancel = NULL;
}

static void post_cancel(struct pier__comch_call *call)
{
	struct pier_comch_conn *c = call->conn;
	int err;

	pier__comch_cancel_encode(call->id, call->cancel_data);
	call->cancel_wr.imm_data =
		pier__comch_next_head(c, PIER__COMCH_CANCEL);
	if (pier__conn_chained(c->conn))
		pier__conn_flush(c->conn);
	err = pier__conn_post(c->conn, &call->cancel_wr);
	if (err) {
		pier__comch_violated(c, err);
		return;
	}
	pier__comch_take_reply_send(c);
	pier__conn_posted(c->conn, &call->cancel_posted);
	pier__comch_head_posted(c);
	call->cancel_sends = true;
	c->calls->posted = c->calls->unanswered = true;
}

/* How much the server may write before its answer: to the buffers of all. */
static uint64_t tail_lens(const struct pier__comch_calls *calls)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < calls->count; i++) {
		const struct pier__comch_call *call = calls->slots[i].call;

		if (call && call->dst)
			len += pier__buf_tail_len(call->dst);
	}
	return len;
}

/* It is the turn of the next one; its time begins. */
static void begin_next(struct pier__comch_calls *calls)
{
	struct pier__list *link = pier__list_pop(&calls->cancels);
	struct pier__comch_call *call;
	uint64_t ms;

	if (!link)
		return;
	call = pier__container_of(link, struct pier__comch_call, waiting);
	calls->cancel = call;
	calls->posted = false;
	ms = PIER__COMCH_CANCEL_MS + tail_lens(calls) / BYTES_PER_MS;
	call->deadline = pier__now() + ms * PIER__MS;
	pier__comch_call_time(call);
}

void pier__comch_cancels_post(struct pier_comch_conn *c)
{
	struct pier__comch_calls *calls = c->calls;

	if (!pier__conn_is_up(c->conn))
		return;
	if (!calls->cancel)
		begin_next(calls);
	if (calls->cancel && !calls->posted && !calls->unanswered &&
	    c->reply_sends)
		post_cancel(calls->cancel);
}

void pier__comch_calls_cancel(struct pier__comch_call *call)
{
	call->cancelled = true;
	pier__list_del(&call->timed);
	pier__list_add(&call->conn->calls->cancels, &call->waiting);
	pier__comch_cancels_post(call->conn);
}

int pier__comch_cancel_late(struct pier_comch_conn *c, size_t len)
{
	if (len || !c->calls || !c->calls->unanswered)
		return pier__fail(-EPROTO, "comch: the peer answered a cancel "
				  "with %zu bytes: 0 are allowed, after one "
				  "was sent", len);
	c->calls->unanswered = false;
	pier__comch_cancels_post(c);
	return 0;
}

/* Is it the answer to a cancel that was sent? */
static bool may_be_cancelled(const struct pier__comch_call *call)
{
	const struct pier__comch_calls *calls = call->conn->calls;

	return calls->cancel == call && calls->posted && calls->unanswered;
}

/* Is it a reply that @call can have? */
static int check(const struct pier__comch_call *call,
		 const struct pier__comch_reply_head *head, size_t len)
{
	const struct pier_buf *dst = call->dst;
	size_t most = dst ? pier__buf_tail_len(dst) : call->reply_size;

	if (head->status == PIER__COMCH_REPLY_CANCELLED &&
	    !may_be_cancelled(call))
		return pier__fail(-EPROTO, "comch: the peer cancelled 0x%08x, "
				  "which this end has not", call->id);
	if (len + head->written > most || (head->written && !dst))
		return pier__fail(-EPROTO, "comch: the peer sent a reply of "
				  "%zu bytes and wrote %u: %zu are allowed%s",
				  len, head->written, most,
				  dst ? "" : ", none written");
	return 0;
}

/* Store the reply, @len bytes at @data, or those that were written. */
static void store(struct pier__comch_call *call, uint32_t written,
		  const void *data, size_t len)
{
	struct pier_buf *dst = call->dst;

	if (written)
		pier__buf_grow(dst, written);
	else if (dst)
		pier__local_append(dst, data, len);
	else if (len)
		memcpy(call->reply, data, len);
	call->reply_len = len + written;
}

/* How it ends. */
static enum pier__comch_call_end end_of(enum pier__comch_reply_status status)
{
	switch (status) {
	case PIER__COMCH_REPLY_REFUSED:
		return PIER__COMCH_CALL_REFUSED;
	case PIER__COMCH_REPLY_NONE:
		return PIER__COMCH_CALL_NO_SERVICE;
	case PIER__COMCH_REPLY_CANCELLED:
		return PIER__COMCH_CALL_CANCELLED;
	default:
		return PIER__COMCH_CALL_REPLIED;
	}
}

static int unknown(uint32_t id)
{
	return pier__fail(-EPROTO, "comch: the peer replied to 0x%08x: there "
			  "is no such request, or it has its reply", id);
}

/* The slot of a request without a reply; NULL: there is none of @id. */
static struct pier__comch_slot *find(const struct pier_comch_conn *c,
				     uint32_t id)
{
	struct pier__comch_slot *slot;

	if (!c->calls || (id & ((1 << SLOT_BITS) - 1)) >= c->calls->count)
		return NULL;
	slot = slot_of(c, id);
	return slot->used && slot->id == id ? slot : NULL;
}

/* @call has its reply. */
static void end(struct pier__comch_call *call,
		enum pier__comch_reply_status status)
{
	struct pier_comch_conn *c = call->conn;

	pier__list_del(&call->waiting);
	if (status == PIER__COMCH_REPLY_CANCELLED)
		c->calls->unanswered = false;
	if (c->calls->cancel == call) {
		c->calls->cancel = NULL;
		pier__comch_cancels_post(c);
	}
	pier__comch_call_end(call, end_of(status));
}

int pier__comch_replied(struct pier_comch_conn *c, const void *msg, size_t len)
{
	const uint8_t *data = (const uint8_t *)msg + PIER__COMCH_REPLY_HEAD;
	struct pier__comch_reply_head head;
	struct pier__comch_slot *slot;
	struct pier__comch_call *call;
	int err = pier__comch_reply_decode(msg, len, &head);

	if (err)
		return err;
	slot = find(c, head.id);
	if (!slot)
		return unknown(head.id);
	call = slot->call;
	len -= PIER__COMCH_REPLY_HEAD;
	err = call ? check(call, &head, len) : 0;
	if (err)
		return err;
	free_slot(c, slot);
	if (call) {	/* or it was cancelled */
		store(call, head.written, data, len);
		end(call, head.status);
	}
	return 0;
}

void pier__comch_calls_end(struct pier_comch_conn *c)
{
	struct pier__comch_calls *calls = c->calls;

	if (calls)
		calls->cancel = NULL;
	for (uint32_t i = 0; calls && i < calls->count; i++) {
		struct pier__comch_call *call = calls->slots[i].call;

		if (!call)
			continue;
		free_slot(c, &calls->slots[i]);
		pier__list_del(&call->waiting);
		pier__list_del(&call->timed);
		pier__comch_call_end(call, PIER__COMCH_CALL_LOST);
	}
}
