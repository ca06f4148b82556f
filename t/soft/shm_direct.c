/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/link.h"
#include "mem/mmap_impl.h"
#include "t/lib/counted.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Memory that pier allocated, of a peer of this host: what is read and written
 * without the owner.
 */
#define LEN (1u << 20)
#define PART 4096
#define DEPTH 16

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

static struct soft_qp *qp_of(const struct peer *peer)
{
	return pier__soft_table_find(chan_of(peer->conn->queues->chan)->ep,
				     peer->conn->qp->qpn);
}

static struct soft_link *link_of(const struct peer *peer)
{
	return (struct soft_link *)qp_of(peer)->io;
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

/* A program that posts the next request as soon as one is completed. */
static struct posting {
	struct pier_buf *src, *dst;
	int status;
} streams[DEPTH];
static uint64_t posted;

/* Number @posted, to the same place as those before it. */
static void post(struct posting *one)
{
	size_t off = (size_t)(one - streams) * sizeof(posted);

	posted++;
	memcpy(a.mem + off, &posted, sizeof(posted));
	one->src = peer_data(&a, off, sizeof(posted));
	one->dst = peer_far_tail(&a, 0, sizeof(posted));
	one->status = -EINPROGRESS;
	IS(pier_rdma_write(a.conn, one->src, one->dst, peer_done,
			   &one->status), 0);
}

static void finish(struct posting *one)
{
	IS(one->status, 0);
	pier_buf_put(one->src);
	pier_buf_put(one->dst);
}

/* Until @count more need no packet. */
static void keep_posting(uint64_t count)
{
	uint64_t want = counted_conn(a.conn, "shm_direct") + count;
	long long limit = limit_from_now();
	int i;

	while (counted_conn(a.conn, "shm_direct") < want && peer_step(limit))
		for (i = 0; i < DEPTH; i++) {
			if (streams[i].status == -EINPROGRESS)
				continue;
			finish(&streams[i]);
			post(&streams[i]);
		}
	OK(counted_conn(a.conn, "shm_direct") >= want);
}

static void finish_all(void)
{
	int i;

	for (i = 0; i < DEPTH; i++) {
		peer_await(&streams[i].status);
		finish(&streams[i]);
	}
}

/* All but the first are posted while there is one before them. */
static void a_stream_becomes_direct(void)
{
	long long limit = limit_from_now();
	struct soft_ep *ep;
	uint64_t sent, seen;
	int i;

	if (begin()) {
		posted = 0;
		ep = link_of(&b)->ep;
		pier__soft_ep_enter(ep);
		for (i = 0; i < DEPTH; i++)
			post(&streams[i]);
		pier__soft_ep_leave(ep);
		finish_all();
		while (!counted_dev(dev, "shm_mapped") && peer_step(limit))
			;
		for (i = 0; i < DEPTH; i++)
			post(&streams[i]);
		sent = counted_conn(a.conn, "tx_packets");
		keep_posting(100);
		IS(counted_conn(a.conn, "tx_packets"), sent);
		finish_all();
		memcpy(&seen, b.mem, sizeof(seen));
		IS(seen, posted);
	}
	end();
}

/* Of polls that return what was direct some receive. */
static void direct_requests_do_not_keep_all_others_away(void)
{
	const unsigned int count = 800;
	const struct soft_ep *ep;
	unsigned int before, i;

	if (begin() && is_mapped(&a)) {
		ep = link_of(&a)->ep;
		before = ep->rounds;
		for (i = 0; i < count && !move(&a, true, 0, 8); i++)
			;
		IS(i, count);
		OK(ep->rounds - before >= count / 8);
	}
	end();
}

/* The memory of @b once more, by a key that is not granted. */
static struct pier_mmap *register_again(struct pier_mmap **far)
{
	struct pier_mmap *again = NULL;
	const void *desc;
	size_t len;

	IS(pier_mmap_map(dev, b.mem, LEN, PEER_ACCESS, &again), 0);
	IS(pier_mmap_export(again, &desc, &len), 0);
	IS(pier_mmap_create_from_export(NULL, desc, len, far), 0);
	return again;
}

static void a_request_waits_for_those_before_it(void)
{
	struct pier_mmap *again, *far, *near = NULL;
	uint64_t direct;
	struct soft_ep *ep;
	int i;

	if (begin() && is_mapped(&a)) {
		direct = counted_conn(a.conn, "shm_direct");
		again = register_again(&far);
		near = a.remote;
		posted = 0;
		ep = link_of(&b)->ep;
		pier__soft_ep_enter(ep);
		a.remote = far;
		post(&streams[0]);
		a.remote = near;
		for (i = 1; i < DEPTH; i++)
			post(&streams[i]);
		IS(*(uint64_t *)b.mem != DEPTH, true);
		IS(counted_conn(a.conn, "shm_direct"), direct);
		pier__soft_ep_leave(ep);
		finish_all();
		IS(*(uint64_t *)b.mem, DEPTH);
		IS(counted_conn(a.conn, "shm_direct"), direct + DEPTH - 1);
		pier_mmap_destroy(far);
		pier_mmap_destroy(again);
	}
	end();
}

/* They are flushed with the others. */
static void requests_that_wait_fail_with_the_queue_pair(void)
{
	struct pier_mmap *again, *far, *near;
	struct soft_ep *ep;
	int i;

	if (begin() && is_mapped(&a)) {
		again = register_again(&far);
		near = a.remote;
		ep = link_of(&b)->ep;
		pier__soft_ep_enter(ep);
		a.remote = far;
		post(&streams[0]);
		a.remote = near;
		for (i = 1; i < DEPTH; i++)
			post(&streams[i]);
		pier__soft_ep_enter(qp_of(&a)->ep);
		pier__soft_qp_fail(qp_of(&a), IBV_WC_RETRY_EXC_ERR);
		pier__soft_ep_leave(qp_of(&a)->ep);
		pier__soft_ep_leave(ep);
		for (i = 0; i < DEPTH; i++) {
			IS(peer_await(&streams[i].status), i ? -ECANCELED :
							     -PIER_ERETRY);
			pier_buf_put(streams[i].src);
			pier_buf_put(streams[i].dst);
		}
		pier_mmap_destroy(far);
		pier_mmap_destroy(again);
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
		IS(counted_conn(a.conn, "shm_direct") > 0, writes);
		IS(move(&a, writes, 0, 8), -EACCES);
	}
	end();
}

static void a_write_without_the_right_fails(void)
{
	fails(PIER_LOCAL_WRITE | PIER_REMOTE_READ, true);
}

/* What is mapped can be read. */
static void a_read_without_the_right_fails(void)
{
	fails(PIER_LOCAL_WRITE | PIER_REMOTE_WRITE, false);
}

/* A full ring of what is no answer has space for what is asked for. */
static void a_full_ring_has_space_for_a_grant(void)
{
	struct soft_link *from, *to;
	struct pier_buf *src, *dst;
	int status = -EINPROGRESS;
	uint32_t i;

	if (begin()) {
		IS(move(&a, true, 0, 8), 0);
		src = peer_data(&a, 0, 8);
		dst = peer_far_tail(&a, 0, 8);
		to = link_of(&a);
		from = link_of(&b);
		pier__soft_ep_enter(from->ep);
		IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
		pier__soft_ep_enter(to->ep);
		for (i = 0; i < SOFT_RING_CELLS; i++)
			pier__soft_link_greet(from, qp_of(&b));
		for (i = 0; i < 64; i++)
			pier__soft_ep_drive(from->ep);
		pier__soft_ep_leave(from->ep);
		pier__soft_ep_leave(to->ep);
		IS(peer_await(&status), 0);
		is_mapped(&a);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	end();
}

/* As if @b answered what @a has just asked: memory to be read, all rights. */
static struct soft_given grant_without_writes(void)
{
	const struct pier__mmap_key *key = &b.mmap->keys[0];
	struct soft_link *from = link_of(&b), *link = link_of(&a);
	struct soft_gift gift = { .id = 7777 };
	struct soft_given given = {
		.slot = (key->rkey ^ a.conn->qp->qpn) % SOFT_RING_GRANTS,
		.rkey = key->rkey,
		.from = a.conn->qp->qpn,
		.stamp = 7777,
		.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC,
		.addr = (uintptr_t)b.mem,
		.len = LEN,
		.id = gift.id,
	};

	pier__soft_ep_enter(link->ep);
	IS(pier__soft_fds_send(from->sock, &gift, sizeof(gift),
			       b.mmap->own.fd), 0);
	pier__soft_import_given(link, (const uint8_t *)&given, sizeof(given));
	pier__soft_ep_leave(link->ep);
	return given;
}

/* A QP of @b that lets its peer read only, of memory that is written too. */
static void a_qp_that_is_only_read_gives_nothing_to_write(void)
{
	uint64_t before;
	int i;

	if (begin()) {
		before = counted_dev(dev, "shm_unmapped");
		qp_of(&b)->access = IBV_ACCESS_REMOTE_READ;
		for (i = 0; i < 8; i++)
			IS(move(&a, false, 0, PART), 0);
		IS(counted_conn(a.conn, "shm_direct"), 0);
		IS(counted_dev(dev, "shm_unmapped"), before + 1);
	}
	end();
}

static void a_mapping_that_is_only_read_is_not_written(void)
{
	struct pier_buf *src, *dst;
	struct soft_given given;
	int status = -EINPROGRESS;

	if (begin()) {
		IS(move(&a, true, 0, 8), 0);
		src = peer_data(&a, 0, 8);
		dst = peer_far_tail(&a, 0, 8);
		IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
		given = grant_without_writes();
		IS(peer_await(&status), 0);
		atomic_store(&link_of(&b)->out.own->live[given.slot],
			     given.stamp);
		IS(move(&a, true, 0, PART), 0);
		IS(counted_conn(a.conn, "shm_direct"), 0);
		IS(move(&a, false, 0, PART), 0);
		IS(counted_conn(a.conn, "shm_direct"), 1);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	end();
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

int main(void)
{
	TEST(requests_need_no_packet);
	TEST(ordinary_memory_is_not_mapped);
	TEST(atomics_are_those_of_the_cpu);
	TEST(a_write_does_not_overtake_a_send);
	TEST(a_stream_becomes_direct);
	TEST(direct_requests_do_not_keep_all_others_away);
	TEST(a_request_waits_for_those_before_it);
	TEST(requests_that_wait_fail_with_the_queue_pair);
	TEST(a_write_without_the_right_fails);
	TEST(a_read_without_the_right_fails);
	TEST(a_full_ring_has_space_for_a_grant);
	TEST(a_qp_that_is_only_read_gives_nothing_to_write);
	TEST(a_mapping_that_is_only_read_is_not_written);
	TEST(memory_that_was_taken_back_fails);
	return tap_done();
}
