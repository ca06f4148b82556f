/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "perf.h"

/*
 * Both directions at once: the client orders when its server sends too, and
 * gets what the server has measured.  An order is written into the memory of
 * the peer's note, with an immediate, on the first connection.  The client's
 * next order comes when the server has answered, so none is written over.
 */
#define TAKEN_AT 1024		/* an order of the peer */
#define SENT_AT 2048		/* one of this end */
#define ORDER_IMM UINT32_C(0x504f5244)

enum order_kind { ORDER_GO = 1, ORDER_STARTED, ORDER_HALT,
		  ORDER_RESULT };

struct order {			/* numbers are in network order */
	uint32_t kind;		/* enum order_kind */
	uint32_t size;		/* bytes of the messages from now on */
	uint64_t messages;	/* of a result */
	uint64_t elapsed;	/* nanoseconds */
};

static void *note_at(const struct perf *perf, size_t offset)
{
	return (char *)pier_mmap_addr(perf->local) + offset;
}

int perf_both_export(struct perf *perf, const void **ret, size_t *ret_len)
{
	int err = pier_mmap_export(perf->local, ret, ret_len);

	return err ? perf_fail(perf, err) : 0;
}

int perf_both_import(struct perf *perf)
{
	const void *data;
	size_t len;
	int err = pier_conn_private_data(perf->conns[0].conn, &data, &len);

	if (!err && len < PERF_SPEC_SIZE)
		return perf_err(perf, -EPROTO, "the client's memory has no "
				"descriptor");
	if (!err)
		err = pier_mmap_create_from_export(
			perf->dev, (const char *)data + PERF_SPEC_SIZE,
			len - PERF_SPEC_SIZE, &perf->remote);
	if (err)
		return perf_fail(perf, err);
	if (pier_mmap_len(perf->remote) < perf_far_size(perf))
		return perf_err(perf, -EPROTO, "the client's memory has %zu "
				"bytes, too few", pier_mmap_len(perf->remote));
	return 0;
}

static void order_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;

	slot->perf->is_ordering = false;
	perf_task_ok(slot->perf, task);
}

static void send_order(struct perf *perf, enum order_kind kind,
		       uint64_t messages)
{
	struct order order = {
		.kind = htonl((uint32_t)kind),
		.size = htonl((uint32_t)perf->size),
		.messages = htobe64(messages),
		.elapsed = htobe64(perf->elapsed),
	};

	memcpy(note_at(perf, SENT_AT), &order, sizeof(order));
	perf->is_ordering = true;
	perf_submit(&perf->order, 0);
}

/* The server sends from now on. */
static void go(struct perf *perf, uint64_t size)
{
	if (perf->done != perf->submitted || !size || size > perf->opts.size) {
		perf_err(perf, -EPROTO, "the client has ordered %" PRIu64
			 " bytes, of %" PRIu64 ", or before the end", size,
			 perf->opts.size);
		return;
	}
	if (perf_set_size(perf, size))
		return;
	perf_stream_prepare(perf);
	perf->begun = perf_now();
	perf->owes_start = true;
	perf_stream_begin(perf, UINT64_MAX);
}

static void halt(struct perf *perf)
{
	perf->elapsed = perf_now() - perf->begun;
	perf->counted = perf->done;
	perf->is_over = true;
	perf->owes_result = true;
}

static void take_order(struct perf *perf)
{
	bool respond = perf->opts.respond;
	struct order order;

	memcpy(&order, note_at(perf, TAKEN_AT), sizeof(order));
	switch (ntohl(order.kind) | (respond ? 0 : 0x100)) {
	case ORDER_GO:
		go(perf, ntohl(order.size));
		return;
	case ORDER_HALT:
		halt(perf);
		return;
	case ORDER_STARTED | 0x100:
		perf->has_started = true;
		return;
	case ORDER_RESULT | 0x100:
		perf->peer_messages = be64toh(order.messages);
		perf->peer_elapsed = be64toh(order.elapsed);
		perf->has_result = true;
		return;
	default:
		perf_err(perf, -EPROTO, "the peer has ordered what there is "
			 "not, %" PRIu32, ntohl(order.kind));
	}
}

static void received(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_task_ok(perf, task))
		return;
	if (pier_recv_opcode(task) == PIER_RECV_WRITE_IMM &&
	    pier_recv_imm(task) == htonl(ORDER_IMM))
		take_order(perf);
	else
		perf_count_received(perf, slot, task);
	perf_submit(slot, 0);
}

/* The task of this end's orders, and its buffers. */
static int make_order(struct perf *perf)
{
	struct perf_slot *slot = &perf->order;
	char *far = (char *)pier_mmap_addr(perf->remote) + TAKEN_AT;
	int err;

	slot->perf = perf;
	err = pier_buf_by_data(perf->inv, perf->local, note_at(perf, SENT_AT),
			       sizeof(struct order), &slot->src);
	if (!err)
		err = pier_buf_by_addr(perf->inv, perf->remote, far,
				       sizeof(struct order), &slot->dst);
	if (!err)
		err = pier_rdma_task_write_imm(perf->conns[0].conn, slot->src,
					       slot->dst, htonl(ORDER_IMM),
					       &slot->task);
	if (err)
		return perf_fail(perf, err);
	pier_task_set_done(slot->task, order_done, slot);
	return 0;
}

int perf_both_start(struct perf *perf)
{
	int err = make_order(perf);

	for (int i = 0; i < perf->recv_count && !err; i++) {
		pier_task_set_done(perf->recvs[i].task, received,
				   &perf->recvs[i]);
		perf_submit(&perf->recvs[i], 0);
		err = perf->err;
	}
	return err;
}

int perf_both_begin(struct perf *perf)
{
	int err;

	perf->has_started = perf->has_result = false;
	send_order(perf, ORDER_GO, 0);
	err = perf->err;
	while (!err && !(perf->has_started && !perf->is_ordering))
		err = perf_drive_request(perf);
	return err;
}

/* After Ctrl-C messages are still in flight, which do not count. */
int perf_both_end(struct perf *perf)
{
	uint64_t done = perf->done;
	int err = 0;

	perf->is_over = true;
	while (!err && perf->is_ordering)
		err = perf_drive_request(perf);
	if (!err) {
		send_order(perf, ORDER_HALT, 0);
		err = perf->err;
	}
	while (!err && !perf->has_result)
		err = perf_drive_request(perf);
	perf->done = done;
	return err;
}

int perf_both_round(struct perf *perf)
{
	int err = perf_drive(perf);

	if (err || perf->is_ordering)
		return err;
	if (perf->owes_start) {
		perf->owes_start = false;
		send_order(perf, ORDER_STARTED, 0);
	} else if (perf->owes_result && perf->done == perf->submitted) {
		perf->owes_result = false;
		send_order(perf, ORDER_RESULT, perf->counted);
	}
	return perf->err;
}
