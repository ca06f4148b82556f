/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/rc/post_direct.h"
#include "mem/mmap_impl.h"
#include "t/lib/counted.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Memory that pier allocated, of a peer of this host: what is read and written
 * without the owner, and that the owner can end this.
 */
#define LEN (1u << 20)
#define PART 4096
#define USERS 3
#define ROUNDS 500
#define EACH 4		/* are taken back in a round */
#define TAKEN 4096		/* bytes that are taken back */

static struct pier_dev *dev;
static struct peer a, b;

/* Two peers in this process, joined by shared memory. */
static bool begin(void)
{
	long long limit = limit_from_now();

	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	if (!IS(pier_dev_open("soft_lo", &dev), 0) ||
	    !peer_pair(&a, &b, dev, NULL, LEN))
		return false;
	while ((!counted_conn(a.conn, "shm_connected") ||
		!counted_conn(b.conn, "shm_connected")) && peer_step(limit))
		;
	return OK(counted_conn(b.conn, "shm_connected"));
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
}

static int move(struct peer *peer, bool writes, size_t off, size_t len)
{
	struct pier_buf *here = writes ? peer_data(peer, off, len)
				       : peer_tail(peer, off, len);
	struct pier_buf *there = writes ? peer_far_tail(peer, off, len)
					: peer_far_data(peer, off, len);
	int status = -EINPROGRESS, err;

	err = writes ? pier_rdma_write(peer->conn, here, there, peer_done,
				       &status)
		     : pier_rdma_read(peer->conn, there, here, peer_done,
				      &status);
	if (!err)
		err = peer_await(&status);
	pier_buf_put(here);
	pier_buf_put(there);
	return err;
}

/* Until requests of @peer need no packet. */
static bool is_mapped(struct peer *peer)
{
	long long limit = limit_from_now();

	while (!counted_conn(peer->conn, "shm_direct") && peer_step(limit))
		if (!IS(move(peer, true, 0, 8), 0))
			return false;
	return OK(counted_conn(peer->conn, "shm_direct"));
}

static void requests_need_no_packet(void)
{
	uint64_t sent, direct;
	size_t len;

	if (begin() && is_mapped(&a)) {
		sent = counted_conn(a.conn, "tx_packets");
		direct = counted_conn(a.conn, "shm_direct");
		for (len = 1; len <= LEN / 2; len = len * 3 + 1) {
			peer_fill(&a, 1);
			peer_fill(&b, 2);
			IS(move(&a, true, 7, len), 0);
			OK(peer_holds(&b, 7, len, 1, 7));
			OK(peer_holds(&b, 0, 7, 2, 0));
			OK(peer_holds(&b, 7 + len, LEN - 7 - len, 2, 7 + len));
			peer_fill(&b, 3);
			IS(move(&a, false, 7, len), 0);
			OK(peer_holds(&a, 7, len, 3, 7));
			OK(peer_holds(&a, 0, 7, 1, 0));
			direct += 2;
		}
		IS(counted_conn(a.conn, "shm_direct"), direct);
		IS(counted_conn(a.conn, "tx_packets"), sent);
	}
	end();
}

/* @b has no memory. */
static void forget_memory(void)
{
	pier_mmap_destroy(a.remote);
	a.remote = NULL;
	pier_mmap_destroy(b.mmap);
	b.mmap = NULL;
}

/* What allocates ordinary memory is read and written by packets. */
static void ordinary_memory_is_not_mapped(void)
{
	long long limit = limit_from_now();

	if (begin()) {
		forget_memory();
		b.mem = calloc(1, LEN);
		b.own_mem = false;
		IS(pier_mmap_map(dev, b.mem, LEN, PEER_ACCESS, &b.mmap), 0);
		OK(peer_swap(&a, &b));
		while (!counted_dev(dev, "shm_unmapped") && peer_step(limit))
			IS(move(&a, true, 0, PART), 0);
		peer_fill(&a, 1);
		IS(move(&a, true, 0, LEN), 0);
		OK(peer_holds(&b, 0, LEN, 1, 0));
		IS(counted_conn(a.conn, "shm_direct"), 0);
	}
	end();
}

/* The owner's engine is not driven. */
static void atomics_are_those_of_the_cpu(void)
{
	struct pier_buf *dst, *result;
	uint64_t old;
	int status, i;

	if (begin() && is_mapped(&a)) {
		*(uint64_t *)b.mem = 7;
		dst = peer_far_tail(&a, 0, 8);
		result = peer_tail(&a, 0, 8);
		for (i = 0; i < 10; i++) {
			status = -EINPROGRESS;
			pier_buf_reset(result);
			IS(pier_rdma_fetch_add(a.conn, dst, result, 3,
					       peer_done, &status), 0);
			IS(*(uint64_t *)b.mem, 10 + 3 * i);
			IS(peer_await(&status), 0);
			memcpy(&old, a.mem, 8);
			IS(old, 7 + 3 * i);
		}
		status = -EINPROGRESS;
		pier_buf_reset(result);
		IS(pier_rdma_compare_swap(a.conn, dst, result, 37, 99,
					  peer_done, &status), 0);
		IS(*(uint64_t *)b.mem, 99);
		IS(peer_await(&status), 0);
		memcpy(&old, a.mem, 8);
		IS(old, 37);
		pier_buf_put(dst);
		pier_buf_put(result);
	}
	end();
}

/* A send that finds no receive is before it. */
static void a_write_does_not_overtake_a_send(void)
{
	struct pier_buf *src, *dst, *recv;
	int sent = -EINPROGRESS, written = -EINPROGRESS, got = -EINPROGRESS;

	if (begin() && is_mapped(&a)) {
		peer_fill(&a, 1);
		peer_fill(&b, 2);
		src = peer_data(&a, 0, PART);
		dst = peer_far_tail(&a, 0, PART);
		recv = peer_tail(&b, LEN / 2, PART);
		IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
		IS(pier_rdma_write(a.conn, src, dst, peer_done, &written), 0);
		peer_drive_quietly(20);
		OK(peer_holds(&b, 0, PART, 2, 0));
		IS(pier_rdma_receive(b.rdma, recv, peer_done, &got), 0);
		IS(peer_await(&written), 0);
		IS(sent, 0);
		IS(peer_await(&got), 0);
		OK(peer_holds(&b, 0, PART, 1, 0));
		pier_buf_put(src);
		pier_buf_put(dst);
		pier_buf_put(recv);
	}
	end();
}

/* Each right is granted by itself. */
static void fails(uint32_t access, bool writes)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = access };
	int i;

	if (begin()) {
		forget_memory();
		IS(pier_mmap_alloc(dev, PART, &cfg, &b.mmap), 0);
		b.mem = pier_mmap_addr(b.mmap);
		OK(peer_swap(&a, &b));
		for (i = 0; i < 8; i++)
			IS(move(&a, !writes, 0, PART), 0);
		OK(counted_conn(a.conn, "shm_direct") > 0);
		IS(move(&a, writes, 0, 8), -EACCES);
	}
	end();
}

static void a_write_without_the_right_fails(void)
{
	fails(PIER_LOCAL_WRITE | PIER_REMOTE_READ, true);
}

static void a_read_without_the_right_fails(void)
{
	fails(PIER_LOCAL_WRITE | PIER_REMOTE_WRITE, false);
}

static void memory_that_was_taken_back_fails(void)
{
	if (begin() && is_mapped(&a)) {
		IS(pier_mmap_stop(b.mmap), 0);
		peer_fill(&a, 1);
		peer_fill(&b, 2);
		OK(move(&a, true, 0, 8) != 0);
		OK(peer_holds(&b, 0, LEN, 2, 0));
	}
	end();
}

/* What is written in a round of users(). */
struct target {
	uint64_t addr;
	uint32_t rkey, len;
};

/* As a request that is posted, without the packets that it would become. */
static bool put(const struct target *target)
{
	struct soft_ep *ep = chan_of(a.conn->queues->chan)->ep;
	const struct soft_direct op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.pieces = 1,
		.rkey = target->rkey,
		.length = target->len,
		.remote = target->addr,
		.iov[0] = { a.mem, target->len },
	};
	struct soft_qp *qp;
	bool did;

	pier__soft_ep_enter(ep);
	qp = pier__soft_table_find(ep, a.conn->qp->qpn);
	did = qp->io->ops->direct && qp->io->ops->direct(qp->io, qp, &op);
	if (!did)
		pier__soft_ep_drive(ep);
	pier__soft_ep_leave(ep);
	return did;
}

/* Writes memory of another process until it cannot, in each round. */
static int user(struct pair *pair, void *arg)
{
	struct target targets[EACH];
	int i, written;

	(void)arg;
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&a, dev, NULL, NULL, TAKEN) || !peer_meet(&a, pair))
		return 1;
	memset(a.mem, 0xff, TAKEN);
	while (pair_recv(pair, targets, sizeof(targets)) == sizeof(targets)) {
		for (i = 0; i < EACH; i++)
			while (!put(&targets[i]))
				sched_yield();
		pair_send(pair, "", 1);
		do
			for (i = 0, written = 0; i < EACH; i++)
				written += put(&targets[i]);
		while (written);
		pair_send(pair, "", 1);
	}
	return 0;
}

static void all_have_sent(struct pair *pairs)
{
	char byte;
	int i;

	for (i = 0; i < USERS; i++) {
		while (!pair_readable(&pairs[i])) {
			pier_pe_progress(a.pe, 0);
			sched_yield();
		}
		IS(pair_recv(&pairs[i], &byte, 1), 1);
	}
}

static bool allocate(struct pier_mmap **mmap, struct target *target)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = PEER_ACCESS };

	if (!IS(pier_mmap_alloc(dev, TAKEN, &cfg, mmap), 0))
		return false;
	target->addr = (uintptr_t)pier_mmap_addr(*mmap);
	target->rkey = (*mmap)->keys[0].rkey;
	target->len = TAKEN;
	return true;
}

/* Is what was taken back as the owner has filled it? */
static bool is_unchanged(struct pier_mmap *mmap, int round)
{
	const uint8_t *mem = pier_mmap_addr(mmap);
	int i;

	for (i = 0; i < TAKEN && mem[i] == (uint8_t)round; i++)
		;
	pier_mmap_destroy(mmap);
	return IS(i, TAKEN);
}

/* Taken back while all write it, the memory is the owner's alone. */
static bool take_back(struct pair *pairs, int round)
{
	struct pier_mmap *mmaps[EACH];
	struct target targets[EACH];
	bool unchanged = true;
	int i;

	for (i = 0; i < EACH; i++)
		if (!allocate(&mmaps[i], &targets[i]))
			return false;
	for (i = 0; i < USERS; i++)
		pair_send(&pairs[i], targets, sizeof(targets));
	all_have_sent(pairs);
	for (i = 0; i < EACH; i++) {
		IS(pier_mmap_stop(mmaps[i]), 0);
		memset(pier_mmap_addr(mmaps[i]), round, TAKEN);
	}
	all_have_sent(pairs);
	for (i = 0; i < EACH; i++)
		unchanged = is_unchanged(mmaps[i], round) && unchanged;
	return unchanged;
}

static void memory_is_taken_back_under_fire(void)
{
	static struct pair pairs[USERS];
	static struct pier_conn *conns[USERS];
	int i, round;

	for (i = 0; i < USERS; i++)
		pair_start(&pairs[i], user, NULL);
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	IS(pier_dev_open("soft_lo", &dev), 0);
	OK(peer_open(&a, dev, NULL, NULL, TAKEN));
	for (i = 0; i < USERS; i++) {
		OK(peer_meet(&a, &pairs[i]));
		conns[i] = a.conn;
		pier_mmap_destroy(a.remote);
		a.remote = NULL;
	}
	for (round = 0; round < ROUNDS && take_back(pairs, round); round++)
		;
	IS(round, ROUNDS);
	for (i = 0; i < USERS; i++) {
		pair_kill(&pairs[i]);
		pier_conn_destroy(conns[i]);
	}
	a.conn = NULL;
	peer_close(&a);
	pier_dev_close(dev);
}

int main(void)
{	TEST(memory_is_taken_back_under_fire);	/* forks */
	TEST(requests_need_no_packet);
	TEST(ordinary_memory_is_not_mapped);
	TEST(atomics_are_those_of_the_cpu);
	TEST(a_write_does_not_overtake_a_send);
	TEST(a_write_without_the_right_fails);
	TEST(a_read_without_the_right_fails);
	TEST(memory_that_was_taken_back_fails);
	return tap_done();
}
