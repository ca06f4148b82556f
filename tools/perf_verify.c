/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "perf.h"

/*
 * --verify: each message has bytes of its own, which depend on its number on
 * its connection and on its direction, so that one that was lost, repeated,
 * reordered or changed is found.  The receiver compares them; what is written
 * is read back by its writer.
 */

enum seed_kind { SEED_CLIENT, SEED_SERVER, SEED_READ };

/* Of what this end sends, and of what it is sent. */
static enum seed_kind own_kind(const struct perf *perf)
{
	return perf->opts.respond ? SEED_SERVER : SEED_CLIENT;
}

static enum seed_kind peer_kind(const struct perf *perf)
{
	return perf->opts.respond ? SEED_CLIENT : SEED_SERVER;
}

static uint64_t seed_of(enum seed_kind kind, int conn, uint64_t number)
{
	return ((uint64_t)kind << 62) ^ ((uint64_t)conn << 48) ^ number;
}

/* Eight bytes of the message of @seed, from eight times @index on. */
static uint64_t word_of(uint64_t seed, uint64_t index)
{
	uint64_t word = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) +
			index * UINT64_C(0xc2b2ae3d27d4eb4f);

	word ^= word >> 29;
	return word * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Up to eight bytes, from @at on, of which *ret_count are in a word. */
static const char *bytes_of(uint64_t seed, uint64_t at, uint64_t *word,
			    size_t *ret_count)
{
	*word = htole64(word_of(seed, at / 8));
	*ret_count = 8 - at % 8;
	return (const char *)word + at % 8;
}

static void fill(char *to, size_t len, uint64_t seed, uint64_t from)
{
	uint64_t word;
	size_t count;

	for (size_t i = 0; i < len; i += count) {
		const char *bytes = bytes_of(seed, from + i, &word, &count);

		if (count > len - i)
			count = len - i;
		if (count == 8)
			memcpy(to + i, bytes, 8);
		else
			memcpy(to + i, bytes, count);
	}
}

static void fill_chain(struct pier_buf *buf, uint64_t seed)
{
	uint64_t at = 0;

	for (; buf; buf = pier_buf_next(buf)) {
		fill(pier_buf_data(buf), pier_buf_data_len(buf), seed, at);
		at += pier_buf_data_len(buf);
	}
}

/* Overwrite what an earlier message has left. */
static void clear_chain(struct pier_buf *buf)
{
	for (; buf; buf = pier_buf_next(buf))
		memset(pier_buf_head(buf), 0x5a, pier_buf_len(buf));
}

/* How many bytes of @data are those from @from on. */
static size_t match_data(const char *data, size_t len, uint64_t seed,
			 uint64_t from)
{
	uint64_t word;
	size_t count;

	for (size_t i = 0; i < len; i += count) {
		const char *bytes = bytes_of(seed, from + i, &word, &count);

		if (count > len - i)
			count = len - i;
		if (count == 8 && !memcmp(data + i, bytes, 8))
			continue;
		for (size_t j = 0; j < count; j++)
			if (data[i + j] != bytes[j])
				return i + j;
	}
	return len;
}

static uint64_t match(const struct pier_buf *buf, uint64_t seed)
{
	uint64_t at = 0;

	for (; buf; buf = pier_buf_next(buf)) {
		size_t len = pier_buf_data_len(buf);
		size_t same = match_data(pier_buf_data(buf), len, seed, at);

		at += same;
		if (same < len)
			break;
	}
	return at;
}

static void compare(struct perf *perf, const struct pier_buf *buf,
		    uint64_t seed)
{
	uint64_t same = match(buf, seed);

	if (same != perf->size)
		perf_err(perf, -EBADMSG, "--verify: message %" PRIu64 " of "
			 "connection %u: byte %" PRIu64 " of %" PRIu64
			 " is wrong, or missing",
			 seed & ((UINT64_C(1) << 48) - 1),
			 (unsigned int)(seed >> 48 & 0x3fff), same, perf->size);
}

static int index_of(const struct perf *perf, const struct perf_conn *conn)
{
	return conn ? (int)(conn - perf->conns) : 0;
}

void perf_verify_lay(struct perf *perf, int i, char *at)
{
	if (perf_is_atomic(perf))
		memset(at, 0, perf->opts.size);
	else
		fill(at, perf->opts.size, seed_of(SEED_READ, 0, (uint64_t)i),
		     0);
}

/* A message of a Comm Channel is in this end's memory, without a buffer. */
static void fill_message(struct perf_slot *slot)
{
	struct perf *perf = slot->perf;

	slot->seed = seed_of(own_kind(perf), index_of(perf, slot->conn),
			     slot->conn->sent++);
	fill(perf_near_at(perf, slot->index), perf->size, slot->seed, 0);
}

void perf_verify_fill(struct perf_slot *slot)
{
	struct perf *perf = slot->perf;

	if (perf_is_atomic(perf))
		return;
	if (perf_is_channel(perf)) {
		fill_message(slot);
		return;
	}
	if (perf->opts.operation == PERF_READ) {
		clear_chain(slot->dst);
		return;
	}
	slot->seed = seed_of(own_kind(perf), index_of(perf, slot->conn),
			     slot->conn ? slot->conn->sent++ :
					  perf->submitted);
	fill_chain(slot->src, slot->seed);
}

/* The value before: this slot's memory has seen its messages only. */
static void compare_atomic(struct perf_slot *slot)
{
	struct perf *perf = slot->perf;
	uint64_t expected = slot->count++, value;

	if (perf->opts.operation == PERF_COMPARE_SWAP)
		expected = expected > 0;
	memcpy(&value, pier_buf_data(slot->dst), sizeof(value));
	if (value != expected)
		perf_err(perf, -EBADMSG, "--verify: %s: the value was %" PRIu64
			 ", not %" PRIu64, perf_operation_name(perf), value,
			 expected);
}

static void compare_bytes(struct perf *perf, const char *msg, size_t len,
			  uint64_t seed)
{
	size_t same = match_data(msg, len, seed, 0);

	if (same != len)
		perf_err(perf, -EBADMSG, "--verify: message %" PRIu64 " of "
			 "connection %u: byte %zu of %zu is wrong",
			 seed & ((UINT64_C(1) << 48) - 1),
			 (unsigned int)(seed >> 48 & 0x3fff), same, len);
}

void perf_verify_message(struct perf_conn *conn, const void *msg, size_t len)
{
	struct perf *perf = conn->perf;

	compare_bytes(perf, msg, len, seed_of(peer_kind(perf),
					      index_of(perf, conn),
					      conn->taken++));
}

void perf_verify_answer(struct perf_conn *conn, char *ret, size_t len)
{
	fill(ret, len, seed_of(own_kind(conn->perf), index_of(conn->perf, conn),
			       conn->taken - 1), 0);
}

/* It has the number of its request. */
static void compare_reply(struct perf_slot *slot)
{
	uint64_t kinds = seed_of(SEED_CLIENT, 0, 0) ^ seed_of(SEED_SERVER, 0,
							      0);

	compare_bytes(slot->perf, perf_near_at(slot->perf, slot->index),
		      slot->perf->size, slot->seed ^ kinds);
}

static bool read_back(struct perf_slot *slot)
{
	int err;

	clear_chain(slot->check_dst);
	pier_buf_reset(slot->check_dst);
	err = pier_task_submit(slot->check, 0);
	if (err)
		perf_fail(slot->perf, err);
	return true;
}

bool perf_verify_done(struct perf_slot *slot, const struct pier_task *task)
{
	struct perf *perf = slot->perf;

	if (task == slot->task && slot->check)
		return read_back(slot);
	if (perf->opts.operation == PERF_REQUEST)
		compare_reply(slot);
	else if (slot->check)
		compare(perf, slot->check_dst, slot->seed);
	else if (perf_is_atomic(perf))
		compare_atomic(slot);
	else if (perf->opts.operation == PERF_READ)
		compare(perf, slot->dst, seed_of(SEED_READ, 0,
						 (uint64_t)slot->index));
	else if (perf->opts.operation == PERF_COPY)
		compare(perf, slot->dst, slot->seed);
	return false;
}

void perf_verify_received(struct perf_slot *slot, const struct pier_task *task)
{
	struct perf *perf = slot->perf;
	struct perf_conn *conn = pier_conn_user_data(pier_task_conn(task));
	uint64_t same, seed;

	if (pier_recv_opcode(task) == PIER_RECV_WRITE_IMM)
		return;
	seed = seed_of(peer_kind(perf), index_of(perf, conn), conn->taken++);
	same = match(slot->dst, seed);
	if (same != pier_recv_len(task))
		perf_err(perf, -EBADMSG, "--verify: message %" PRIu64 " of "
			 "connection %d: byte %" PRIu64 " of %" PRIu32
			 " is wrong", conn->taken - 1, index_of(perf, conn),
			 same, pier_recv_len(task));
}
