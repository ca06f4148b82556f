/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests: posted at random, completed, received. */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/history.h"

static uint64_t wr_id_of(const struct history_end *end, uint32_t n)
{
	return (uint64_t)end->life->number << 33 |
	       (uint64_t)(end - end->life->end) << 32 | n;
}

static uint32_t imm_of(const struct history_end *end, uint32_t n)
{
	return (uint32_t)wr_id_of(end, n) ^ end->life->number << 8;
}

static bool is_atomic(const struct history_op *op)
{
	return op->kind == HISTORY_ADD || op->kind == HISTORY_SWAP;
}

static bool takes_receive(const struct history_op *op)
{
	return op->kind == HISTORY_SEND || op->kind == HISTORY_SEND_IMM ||
	       op->kind == HISTORY_WRITE_IMM;
}

/* Small, or around the borders of packets, or anything. */
static uint32_t some_length(struct history *h, uint32_t mtu)
{
	uint32_t len;

	switch (history_random(h, 4)) {
	case 0:
		return (uint32_t)history_random(h, 64);
	case 1:
		len = mtu * (1 + (uint32_t)history_random(h, 4)) - 1 +
		      (uint32_t)history_random(h, 3);
		return len < HISTORY_SLOT ? len : HISTORY_SLOT;
	case 2:
		return 8 * (uint32_t)history_random(h, HISTORY_WORDS + 1);
	default:
		return (uint32_t)history_random(h, HISTORY_SLOT + 1);
	}
}

/* An end on @peer's host whose area is to be read: mostly its own. */
static struct history_end *some_area(struct history *h,
				     struct history_end *peer)
{
	struct history_life *life;
	struct history_end *other;

	if (!peer->open || history_chance(h, 0.6))
		return peer;
	for (life = h->life; life; life = life->next) {
		other = &life->end[history_random(h, 2)];
		if (other->open && other->born == peer->born &&
		    history_chance(h, 0.5))
			return other;
	}
	return peer;
}

static void prepare_read(struct history_end *end, struct history_op *op,
			 struct ibv_send_wr *wr)
{
	struct history *h = end->host->history;
	struct history_end *peer = history_peer(end);

	op->area = some_area(h, peer);
	if (op->area == peer) {
		wr->wr.rdma.remote_addr = end->peer_target;
		wr->wr.rdma.rkey = end->target_rkey;
	} else {
		wr->wr.rdma.remote_addr = op->area->target.addr;
		wr->wr.rdma.rkey = end->all_rkey;
	}
	wr->wr.rdma.remote_addr += op->slot * HISTORY_SLOT;
	history_read_begin(end, op);
}

static void prepare_atomic(struct history_end *end, struct history_op *op,
			   uint32_t n, struct ibv_send_wr *wr)
{
	struct history_words *words = history_peer(end)->born;
	bool swap = op->kind == HISTORY_SWAP;

	op->words = words;
	op->compare = swap ? words->guess : 1;
	op->swap = wr_id_of(end, n) + 1;
	wr->wr.atomic.remote_addr = end->peer_mem + 8 * swap;
	wr->wr.atomic.rkey = end->atomics_rkey;
	wr->wr.atomic.compare_add = op->compare;
	wr->wr.atomic.swap = op->swap;
	words->op = realloc(words->op,
			    (words->count + 1) * sizeof(*words->op));
	if (!words->op)
		abort();
	words->op[words->count++] = op;
}

/* A word that is written in part is not checked any more. */
static void prepare_write(struct history_end *end, struct history_op *op,
			  struct ibv_send_wr *wr)
{
	wr->wr.rdma.remote_addr = end->peer_target + op->slot * HISTORY_SLOT;
	wr->wr.rdma.rkey = end->target_rkey;
	if (op->len % 8)
		history_peer(end)->slots[op->slot].torn[op->len / 8] = true;
}

static void prepare(struct history_end *end, uint32_t n, struct ibv_send_wr *wr)
{
	struct history_op *op = &end->ops[n];
	uint8_t *local = history_local(end, n);

	if (takes_receive(op)) {
		op->receive = end->expected_put;
		end->expected[end->expected_put++] = n;
	}
	if (is_atomic(op)) {
		prepare_atomic(end, op, n, wr);
	} else if (op->kind == HISTORY_READ) {
		memset(local, 0, HISTORY_SLOT);
		prepare_read(end, op, wr);
	} else {
		history_fill(local, op->len, end, n);
		prepare_write(end, op, wr);
	}
}

static void draw(struct history_end *end, uint32_t n)
{
	struct history *h = end->host->history;
	struct history_op *op = &end->ops[n];

	op->kind = (uint8_t)history_random(h, HISTORY_KINDS);
	op->slot = (uint8_t)history_random(h, HISTORY_SLOTS);
	op->len = is_atomic(op) ? 8 : some_length(h, end->qp->mtu);
	op->silent = n % 4 != 3 && !is_atomic(op) && history_chance(h, 0.2);
	op->fenced = history_chance(h, 0.1);
}

void history_post(struct history_end *end)
{
	static const enum ibv_wr_opcode opcodes[HISTORY_KINDS] = {
		[HISTORY_SEND] = IBV_WR_SEND,
		[HISTORY_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[HISTORY_WRITE] = IBV_WR_RDMA_WRITE,
		[HISTORY_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[HISTORY_READ] = IBV_WR_RDMA_READ,
		[HISTORY_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[HISTORY_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct history *h = end->host->history;
	uint32_t n = end->posted;
	struct history_op *op = &end->ops[n];
	struct ibv_sge sge = { .lkey = end->host->all.mr.lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	draw(end, n);
	sge.addr = (uintptr_t)history_local(end, n);
	sge.length = op->len;
	wr.wr_id = wr_id_of(end, n);
	wr.opcode = opcodes[op->kind];
	wr.imm_data = imm_of(end, n);
	wr.send_flags = (op->silent ? 0 : IBV_SEND_SIGNALED) |
			(op->fenced ? IBV_SEND_FENCE : 0);
	prepare(end, n, &wr);
	op->begin = ++h->tick;
	end->posted++;
	history_log(h, end, n, "posted, of kind", op->kind);
	if (pier__soft_qp_post(end->qp, &wr, &bad))
		history_fail(h, end, n, "not posted");
}

static void atomic_succeeded(struct history_end *end, uint32_t n)
{
	struct history_op *op = &end->ops[n];

	memcpy(&op->original, history_local(end, n), 8);
	if (op->kind == HISTORY_SWAP)
		op->words->guess = op->original == op->compare ? op->swap
							       : op->original;
}

static void succeeded(struct history_end *end, uint32_t n)
{
	struct history *h = end->host->history;
	struct history_op *op = &end->ops[n];

	op->end = ++h->tick;
	h->completed[op->kind]++;
	if (takes_receive(op) && end->expected_got <= op->receive)
		history_fail(h, end, n, "completed, but was not received");
	if (is_atomic(op))
		atomic_succeeded(end, n);
	if (op->kind == HISTORY_READ)
		history_read_end(end, n);
	if (op->kind == HISTORY_WRITE || op->kind == HISTORY_WRITE_IMM)
		history_written(end, n);
}

static void failed(struct history_end *end, uint32_t n, uint8_t status)
{
	struct history *h = end->host->history;

	end->ops[n].status = status;
	end->ops[n].end = ++h->tick;
	h->failed++;
	if (end->flushing && status != IBV_WC_WR_FLUSH_ERR)
		history_fail(h, end, n, "not flushed after a failure");
	if (status != IBV_WC_WR_FLUSH_ERR && status != IBV_WC_RETRY_EXC_ERR &&
	    status != IBV_WC_RNR_RETRY_EXC_ERR)
		history_fail(h, end, n, "failed with another status");
	if (h->mild && !end->closing)
		history_fail(h, end, n, "failed on a mild network");
	end->flushing = true;
	end->failed = true;
}

void history_sent(struct history_end *end, const struct ibv_wc *wc)
{
	struct history *h = end->host->history;
	uint32_t n = (uint32_t)wc->wr_id;

	history_log(h, end, n, "completed with status", wc->status);
	while (end->done < n && end->done < end->posted &&
	       end->ops[end->done].silent)
		succeeded(end, end->done++);
	if (wc->wr_id != wr_id_of(end, n) || n != end->done ||
	    n >= end->posted) {
		history_fail(h, end, n, "completed twice or out of order");
		return;
	}
	end->done++;
	if (wc->status)
		failed(end, n, (uint8_t)wc->status);
	else if (end->flushing)
		history_fail(h, end, n, "completed after a failure");
	else
		succeeded(end, n);
}

void history_settled(struct history_end *end)
{
	while (end->done < end->posted) {
		if (!end->ops[end->done].silent) {
			history_fail(end->host->history, end, end->done,
				     "has not completed");
			return;
		}
		succeeded(end, end->done++);
	}
}

/* The receive's memory ends in zeros behind the message. */
static bool ends_there(const uint8_t *mem, uint32_t len)
{
	static const uint8_t zeros[HISTORY_SLOT];

	return !memcmp(mem + len, zeros, HISTORY_SLOT - len);
}

static const char *flaw_of(const struct history_end *sender, uint32_t n,
			   const struct ibv_wc *wc)
{
	const uint8_t *mem = (const uint8_t *)(uintptr_t)wc->wr_id;
	const struct history_op *op = &sender->ops[n];
	bool write = op->kind == HISTORY_WRITE_IMM;
	bool imm = op->kind != HISTORY_SEND;

	if (write != (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) ||
	    imm != !!(wc->wc_flags & IBV_WC_WITH_IMM))
		return "received as another kind";
	if (wc->byte_len != op->len)
		return "received with another length";
	if (imm && wc->imm_data != imm_of(sender, n))
		return "received with another immediate";
	if (!write && !history_is(mem, op->len, sender, n))
		return "received with other data";
	if (!ends_there(mem, write ? 0 : op->len))
		return "received with data behind it";
	return NULL;
}

void history_received(struct history_host *host, const struct ibv_wc *wc)
{
	struct history *h = host->history;
	struct history_end *end = history_end_find(host, wc->qp_num), *sender;
	const char *flaw;
	uint32_t n;

	if (!end) {
		history_fail(h, NULL, wc->qp_num, "received by no queue pair");
		return;
	}
	if (wc->status) {
		history_log(h, end, 0, "receive flushed", wc->status);
		return;
	}
	sender = history_peer(end);
	if (sender->expected_got == sender->expected_put) {
		history_fail(h, end, 0, "received what was not sent");
		return;
	}
	n = sender->expected[sender->expected_got++];
	history_log(h, end, n, "received request of the peer", wc->byte_len);
	flaw = flaw_of(sender, n, wc);
	if (flaw)
		history_fail(h, sender, n, flaw);
	else if (sender->ops[n].kind == HISTORY_WRITE_IMM)
		history_written(sender, n);
}
