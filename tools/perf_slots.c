/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "perf.h"

/* Messages that can be in flight, each with its buffers and its task. */

/*
 * Receives for bandwidth are many: messages are acknowledged before they are
 * processed, so that more than are outstanding arrive while this end does not
 * run.
 */
#define RECVS PERF_RECVS

/* The next echo need not wait for the ACK of the last one. */
#define ECHOES 4

static int sends_of_a_conn(const struct perf *perf)
{
	if (perf->opts.operation == PERF_CONNECT)
		return 0;
	if (perf->opts.respond && !perf->opts.both)
		return perf_echoes(perf) ? ECHOES : 0;
	return perf->opts.measure == PERF_LAT ? 1 : perf->opts.outstanding;
}

int perf_requests(const struct perf *perf)
{
	int conns = perf->conn_count ? perf->conn_count : 1;

	return perf->opts.measure == PERF_LAT ? conns :
						conns * perf->opts.outstanding;
}

/* Each has memory of its own, if it is verified: then they are fewer. */
static int many_recvs(const struct perf *perf)
{
	int count = 2 * perf_requests(perf) + PERF_ORDER_RECVS;

	return perf->opts.verify && count < RECVS ? count : RECVS;
}

static int recvs_of_all(const struct perf *perf)
{
	if (perf->opts.both)
		return perf_receives(perf) ? many_recvs(perf) :
					     PERF_ORDER_RECVS;
	if (!perf->opts.respond)
		return perf_echoes(perf) ? 1 : 0;
	if (perf_echoes(perf))
		return ECHOES * perf->opts.connections;
	return perf_receives(perf) ? many_recvs(perf) : 0;
}

void perf_slots_count(struct perf *perf)
{
	bool local = perf->opts.operation == PERF_COPY;

	perf->conn_count = local ? 0 : perf->opts.connections;
	perf->conn_sends = sends_of_a_conn(perf);
	perf->send_count = perf->conn_sends * (local ? 1 : perf->conn_count);
	perf->recv_count = recvs_of_all(perf);
}

/* A gap between two pieces of a message, so that they are not one. */
#define GAP 64

/*
 * The local buffer of a message: @slot's memory, in --sge pieces.  @data: it
 * is sent, else written to.
 */
static int make_near(struct perf *perf, const struct perf_slot *slot,
		     bool data, struct pier_buf **ret)
{
	uint64_t pieces = (uint64_t)perf->opts.sge;
	uint64_t len = perf->size / pieces;
	char *at = perf_near_at(perf, slot->index);
	int err = 0;

	for (uint64_t i = 0; i < pieces && !err; i++, at += len + GAP) {
		struct pier_buf *buf = NULL;

		if (i == pieces - 1)
			len = perf->size - i * len;
		err = data ? pier_buf_by_data(perf->inv, perf->local, at, len,
					      &buf) :
			     pier_buf_by_addr(perf->inv, perf->local, at, len,
					      &buf);
		if (err)
			break;
		if (i)
			err = pier_buf_chain(*ret, buf);
		else
			*ret = buf;
	}
	return err;
}

/* The buffers of a message. */
static int make_bufs(struct perf *perf, struct perf_slot *slot)
{
	struct pier_mmap *far = perf->dma ? perf->local : perf->remote;
	uint64_t size = perf->size;
	int err;

	if (perf_echoes(perf) && perf->opts.respond)
		return pier_buf_by_data(perf->inv, perf->local,
					perf_near_at(perf, slot->index),
					perf_recv_size(perf), &slot->src);
	if (perf_is_fetched(perf)) {
		err = pier_buf_by_data(perf->inv, far,
				       perf_far_at(perf, slot->index), size,
				       &slot->src);
		return err ? err : make_near(perf, slot, false, &slot->dst);
	}
	err = make_near(perf, slot, true, &slot->src);
	if (err || perf_is_send(perf))
		return err;
	return pier_buf_by_addr(perf->inv, far, perf_far_at(perf, slot->index),
				size, &slot->dst);
}

/* What is written is read back. */
static int make_check(struct perf *perf, struct perf_slot *slot)
{
	int err;

	if (!perf->opts.verify || perf->dma || perf_is_send(perf) ||
	    perf_is_fetched(perf) || perf_is_channel(perf))
		return 0;
	err = pier_buf_by_data(perf->inv, perf->remote,
			       perf_far_at(perf, slot->index), perf->size,
			       &slot->check_src);
	if (!err)
		err = pier_buf_by_addr(perf->inv, perf->local,
				       perf_check_at(perf, slot->index),
				       perf->size, &slot->check_dst);
	if (!err)
		err = pier_rdma_task_read(slot->conn->conn, slot->check_src,
					  slot->check_dst, &slot->check);
	return err;
}

static int make_send(struct perf *perf, struct perf_slot *slot)
{
	int err = perf_is_channel(perf) ? 0 : make_bufs(perf, slot);

	slot->is_verified = perf->opts.verify;
	if (!err)
		err = make_check(perf, slot);
	return err ? err : perf_take_task(perf, slot);
}

static int make_recv(struct perf *perf, struct perf_slot *slot)
{
	int err;

	err = pier_buf_by_addr(perf->inv, perf->local,
			       perf_recv_at(perf, slot->index),
			       perf_recv_size(perf), &slot->dst);
	if (!err)
		err = pier_rdma_task_receive(perf->rdma, slot->dst,
					     &slot->task);
	return err;
}

static int make_slots(struct perf *perf, int count,
		      int (*make)(struct perf *perf, struct perf_slot *slot),
		      struct perf_slot *slots)
{
	int i, err;

	for (i = 0; i < count; i++) {
		slots[i].perf = perf;
		slots[i].index = i;
		slots[i].conn = perf->conn_count ?
				&perf->conns[i % perf->conn_count] : NULL;
		err = make(perf, &slots[i]);
		if (err)
			return perf_fail(perf, err);
	}
	return 0;
}

int perf_slots_create(struct perf *perf)
{
	size_t sends = (size_t)perf->send_count + 1;
	size_t recvs = (size_t)perf->recv_count + 1;
	int err;

	perf->sends = calloc(sends, sizeof(*perf->sends));
	perf->recvs = calloc(recvs, sizeof(*perf->recvs));
	perf->free = calloc(sends, sizeof(struct perf_slot *));
	if (!perf->sends || !perf->recvs || !perf->free)
		return perf_err(perf, -ENOMEM, "out of memory");
	err = pier_buf_inventory_create(sends * ((size_t)perf->opts.sge + 3) +
					recvs + 4, &perf->inv);
	return err ? perf_fail(perf, err) : 0;
}

int perf_slots_make_recvs(struct perf *perf)
{
	return make_slots(perf, perf->recv_count, make_recv, perf->recvs);
}

int perf_slots_make_sends(struct perf *perf)
{
	return make_slots(perf, perf->send_count, make_send, perf->sends);
}

static void free_slots(struct perf_slot *slots, int count)
{
	while (slots && count-- > 0) {
		struct perf_slot *slot = &slots[count];
		uint64_t verified = slot->count;

		pier_task_free(slot->task);
		pier_task_free(slot->check);
		pier_buf_put(slot->src);
		pier_buf_put(slot->dst);
		pier_buf_put(slot->check_src);
		pier_buf_put(slot->check_dst);
		*slot = (struct perf_slot){ .count = verified };
	}
}

/* None is in flight: their buffers and tasks are made again. */
int perf_set_size(struct perf *perf, uint64_t size)
{
	free_slots(perf->sends, perf->send_count);
	perf->size = size;
	return perf_slots_make_sends(perf);
}

void perf_slots_destroy(struct perf *perf)
{
	free_slots(perf->sends, perf->send_count);
	free_slots(perf->recvs, perf->recv_count);
	free_slots(&perf->order, 1);
	pier_buf_inventory_destroy(perf->inv);
	free(perf->sends);
	free(perf->recvs);
	free(perf->free);
	perf->inv = NULL;
	perf->sends = perf->recvs = NULL;
	perf->free = NULL;
	perf->send_count = perf->recv_count = 0;
}
