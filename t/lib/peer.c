/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

#define ENGINES_MAX 8
#define LOOK_MS 5	/* of a sleep, where nothing is armed */

/* Every engine of an open peer, once each. */
static struct {
	struct pier_pe *pe;
	int users;
} engines[ENGINES_MAX];
static pid_t engines_owner;

/*
 * A child of fork(2) has its parent's list, and must not drive what is in it:
 * the queues of a verbs device are shared memory, so that it would take the
 * parent's completions away.
 */
static void forget_parents(void)
{
	if (engines_owner == getpid())
		return;
	memset(engines, 0, sizeof(engines));
	engines_owner = getpid();
}

static void engine_add(struct pier_pe *pe)
{
	int i, free = -1;

	forget_parents();
	for (i = 0; i < ENGINES_MAX; i++) {
		if (engines[i].pe == pe) {
			engines[i].users++;
			return;
		}
		if (!engines[i].pe && free < 0)
			free = i;
	}
	if (!OK(free >= 0))
		abort();
	engines[free].pe = pe;
	engines[free].users = 1;
}

static void engine_drop(struct pier_pe *pe)
{
	int i;

	for (i = 0; i < ENGINES_MAX; i++)
		if (engines[i].pe == pe && !--engines[i].users)
			engines[i].pe = NULL;
}

/* One sleep until one of several engines has work. */
static void sleep_all(void)
{
	struct pollfd fds[ENGINES_MAX];
	nfds_t n = 0;
	bool busy = false;
	int i;

	for (i = 0; i < ENGINES_MAX; i++) {
		if (!engines[i].pe)
			continue;
		busy |= pier_pe_arm(engines[i].pe) != 0;
		fds[n].fd = pier_pe_fd(engines[i].pe);
		fds[n++].events = POLLIN;
	}
	if (!busy)
		poll(fds, n, LOOK_MS);
	for (i = 0; i < ENGINES_MAX; i++)
		if (engines[i].pe)
			pier_pe_clear(engines[i].pe);
}

/* One round of all engines. */
static void drive(void)
{
	struct pier_pe *only = NULL;
	int i, n = 0, events = 0;

	for (i = 0; i < ENGINES_MAX; i++) {
		if (!engines[i].pe)
			continue;
		only = engines[i].pe;
		n++;
	}
	if (n == 1) {
		pier_pe_wait(only, LOOK_MS);
		return;
	}
	for (i = 0; i < ENGINES_MAX; i++)
		if (engines[i].pe)
			events += pier_pe_progress(engines[i].pe, 0);
	if (!events)
		sleep_all();
}

bool peer_step(long long limit)
{
	drive();
	return limit_holds(limit);
}

/* The same, where it is not this file's to fail. */
static bool step(long long limit)
{
	drive();
	return limit_now_ms() <= limit;
}

int peer_await(const int *status)
{
	long long limit = limit_from_now();

	while (*status == -EINPROGRESS)
		if (!step(limit))
			return -ETIMEDOUT;
	return *status;
}

bool peer_count(const int *count, int want)
{
	long long limit = limit_from_now();

	while (*count < want && step(limit))
		;
	return *count >= want;
}

bool peer_conn(const struct pier_conn *conn, enum pier_conn_state state)
{
	long long limit = limit_from_now();

	while (pier_conn_state(conn) != state && step(limit))
		;
	if (pier_conn_error(conn) && state == PIER_CONN_CONNECTED)
		tap_note("%s", pier_conn_error_text(conn));
	return IS(pier_conn_state(conn), state);
}

bool peer_ctx(const struct peer *peer, enum pier_ctx_state state)
{
	struct pier_ctx *ctx = pier_rdma_ctx(peer->rdma);
	long long limit = limit_from_now();

	while (pier_ctx_state(ctx) != state && step(limit))
		;
	return IS(pier_ctx_state(ctx), state);
}

bool peer_quiet(const struct peer *peer)
{
	const struct pier_ctx *ctx = pier_rdma_ctx(peer->rdma);
	long long limit = limit_from_now();

	while (pier_ctx_inflight(ctx) && step(limit))
		;
	return pier_ctx_inflight(ctx) == 0;
}

void peer_serve(void)
{
	for (;;)
		drive();
}

void peer_drive_quietly(int ms)
{
	long long end = limit_now_ms() + ms;

	do
		drive();
	while (limit_now_ms() < end);
}

void peer_done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

bool peer_own_memory;

/* Allocated by pier, it is what peers of this host access directly. */
static bool open_memory(struct peer *peer)
{
	const char *shm = getenv("PIER_SHM");

	peer->own_mem = peer_own_memory || (shm && !strcmp(shm, "require"));
	peer->mem = peer->own_mem ? NULL : calloc(1, peer->len);
	if (!OK(peer->own_mem || peer->mem) ||
	    !IS(pier_mmap_map(peer->dev, peer->mem, peer->len, PEER_ACCESS,
			      &peer->mmap), 0))
		return false;
	peer->mem = pier_mmap_addr(peer->mmap);
	return true;
}

bool peer_create(struct peer *peer, struct pier_dev *dev, struct pier_pe *pe,
		 const struct pier_rdma_config *cfg, size_t len)
{
	memset(peer, 0, sizeof(*peer));
	peer->dev = dev;
	peer->pe = pe;
	peer->len = len;
	if (!pe) {
		if (!IS(pier_pe_create(&peer->pe), 0))
			return false;
		peer->own_pe = true;
	}
	engine_add(peer->pe);
	return open_memory(peer) &&
	       IS(pier_buf_inventory_create(PEER_BUFS, &peer->inv), 0) &&
	       IS(pier_rdma_create(dev, &peer->rdma), 0) &&
	       (!cfg || IS(pier_rdma_configure(peer->rdma, cfg), 0));
}

bool peer_open(struct peer *peer, struct pier_dev *dev, struct pier_pe *pe,
	       const struct pier_rdma_config *cfg, size_t len)
{
	if (!peer_create(peer, dev, pe, cfg, len))
		return false;
	if (IS(pier_ctx_start(pier_rdma_ctx(peer->rdma), peer->pe), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

void peer_close(struct peer *peer)
{
	pier_rdma_destroy(peer->rdma);
	pier_mmap_destroy(peer->remote);
	pier_mmap_destroy(peer->mmap);
	if (peer->inv)
		IS(pier_buf_inventory_free_count(peer->inv), PEER_BUFS);
	pier_buf_inventory_destroy(peer->inv);
	if (peer->pe)
		engine_drop(peer->pe);
	if (peer->own_pe)
		pier_pe_destroy(peer->pe);
	if (!peer->own_mem)
		free(peer->mem);
	memset(peer, 0, sizeof(*peer));
}

bool peer_export(struct peer *peer)
{
	if (IS(pier_rdma_export(peer->rdma, &peer->desc, &peer->desc_len,
				&peer->conn), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

bool peer_export_later(struct peer *peer)
{
	long long limit = limit_from_now();

	while (pier_rdma_export(peer->rdma, &peer->desc, &peer->desc_len,
				&peer->conn) == -ENOSPC)
		if (!peer_step(limit))
			return false;
	return OK(peer->conn);
}

/* Take the memory of @from over to @to. */
static bool import(struct peer *to, struct peer *from)
{
	const void *desc;
	size_t len;

	if (to->remote)
		return true;
	return IS(pier_mmap_export(from->mmap, &desc, &len), 0) &&
	       IS(pier_mmap_create_from_export(NULL, desc, len,
					       &to->remote), 0);
}

bool peer_swap(struct peer *a, struct peer *b)
{
	return import(a, b) && import(b, a);
}

bool peer_join(struct peer *a, struct peer *b)
{
	if (!peer_export(a) || !peer_export(b) ||
	    !IS(pier_rdma_connect(a->conn, b->desc, b->desc_len), 0) ||
	    !IS(pier_rdma_connect(b->conn, a->desc, a->desc_len), 0))
		return false;
	return peer_conn(a->conn, PIER_CONN_CONNECTED) &&
	       peer_conn(b->conn, PIER_CONN_CONNECTED) && peer_swap(a, b);
}

bool peer_meet(struct peer *peer, struct pair *pair)
{
	uint8_t buf[PIER_DESC_MAX];
	const void *desc;
	size_t len;
	int got;

	if (!peer_export(peer) ||
	    !IS(pier_mmap_export(peer->mmap, &desc, &len), 0) ||
	    !OK(pair_send(pair, peer->desc, peer->desc_len)) ||
	    !OK(pair_send(pair, desc, len)))
		return false;
	got = pair_recv(pair, buf, sizeof(buf));
	if (!OK(got > 0) ||
	    !IS(pier_rdma_connect(peer->conn, buf, (size_t)got), 0))
		return false;
	got = pair_recv(pair, buf, sizeof(buf));
	return OK(got > 0) &&
	       IS(pier_mmap_create_from_export(NULL, buf, (size_t)got,
					       &peer->remote), 0) &&
	       peer_conn(peer->conn, PIER_CONN_CONNECTED);
}

bool peer_pair(struct peer *a, struct peer *b, struct pier_dev *dev,
	       const struct pier_rdma_config *cfg, size_t len)
{
	memset(b, 0, sizeof(*b));
	return peer_open(a, dev, NULL, cfg, len) &&
	       peer_open(b, dev, a->pe, cfg, len) && peer_join(a, b);
}

void peer_unpair(struct peer *a, struct peer *b)
{
	peer_close(b);
	peer_close(a);
}

static struct pier_buf *take(struct peer *peer, struct pier_mmap *mmap,
			     size_t off, size_t len, size_t data_len)
{
	uint8_t *at = mmap ? (uint8_t *)pier_mmap_addr(mmap) + off : NULL;
	struct pier_buf *buf = NULL;

	if (OK(at) && !IS(pier_buf_by_args(peer->inv, mmap, at, len, at,
					   data_len, &buf), 0))
		tap_note("%s", pier_last_error());
	return buf;
}

struct pier_buf *peer_data(struct peer *peer, size_t off, size_t len)
{
	return take(peer, peer->mmap, off, len, len);
}

struct pier_buf *peer_tail(struct peer *peer, size_t off, size_t len)
{
	return take(peer, peer->mmap, off, len, 0);
}

struct pier_buf *peer_far_data(struct peer *peer, size_t off, size_t len)
{
	return take(peer, peer->remote, off, len, len);
}

struct pier_buf *peer_far_tail(struct peer *peer, size_t off, size_t len)
{
	return take(peer, peer->remote, off, len, 0);
}

uint8_t peer_byte(unsigned int seed, size_t i)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (uint8_t)(x >> 24 ^ x >> 13);
}

void peer_fill(struct peer *peer, unsigned int seed)
{
	size_t i;

	for (i = 0; i < peer->len; i++)
		peer->mem[i] = peer_byte(seed, i);
}

bool peer_holds(const struct peer *peer, size_t off, size_t len,
		unsigned int seed, size_t at)
{
	size_t i;

	for (i = 0; i < len; i++) {
		uint8_t want = peer_byte(seed, at + i);

		if (peer->mem[off + i] == want)
			continue;
		tap_note("byte %zu of %zu is 0x%02x, not 0x%02x", off + i,
			 peer->len, peer->mem[off + i], want);
		return false;
	}
	return true;
}

uint64_t peer_limit(const struct pier_dev *dev, enum pier_limit limit)
{
	uint64_t value = 0;

	IS(pier_devinfo_limit(pier_dev_info(dev), limit, &value), 0);
	return value;
}
