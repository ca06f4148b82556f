/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "fabric/soft/rc/short.h"
#include "fabric/soft/shm/link.h"
#include "t/lib/counted.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/* Messages of a few bytes by shared memory, which need no batch of packets. */
#define LEN (1u << 20)
#define SLOT 131072		/* of the longest message */
#define BTH 12

static struct shmpair it;

/* What a receive has got. */
struct taken {
	int status;
	uint32_t len, imm;
	enum pier_recv_opcode opcode;
};

static void received(struct pier_task *task, void *arg)
{
	struct taken *got = arg;

	got->len = pier_recv_len(task);
	got->imm = pier_recv_imm(task);
	got->opcode = pier_recv_opcode(task);
	got->status = pier_task_status(task);
}

static bool begin(void)
{
	return shmpair_begin(&it, false, LEN);
}

static void end(void)
{
	shmpair_end(&it);
}

static void post(size_t off, size_t len, int *status)
{
	struct pier_buf *src = peer_data(&it.a, off, len);

	*status = -EINPROGRESS;
	IS(pier_rdma_send(it.a.conn, src, peer_done, status), 0);
	pier_buf_put(src);
}

static void take(size_t off, size_t len, struct taken *got)
{
	struct pier_buf *dst = peer_tail(&it.b, off, len);

	*got = (struct taken){ .status = -EINPROGRESS };
	IS(pier_rdma_receive(it.b.rdma, dst, received, got), 0);
	pier_buf_put(dst);
}

/* How many packets have left, but for those that left again. */
static uint64_t sent_by(const struct peer *peer)
{
	uint64_t max;

	pier__soft_ep_enter(shmpair_ep(peer));
	max = shmpair_qp(peer)->req.max;
	pier__soft_ep_leave(shmpair_ep(peer));
	return max;
}

static void messages_leave_when_they_are_posted(void)
{
	int status[3], i;
	struct taken got[3];
	uint64_t sent;

	if (begin()) {
		for (i = 0; i < 3; i++)
			take(64 * i, 64, &got[i]);
		peer_fill(&it.a, 1);
		sent = sent_by(&it.a);
		for (i = 0; i < 3; i++) {
			post(64 * i, 8, &status[i]);
			IS(sent_by(&it.a), sent + i + 1);
		}
		for (i = 0; i < 3; i++) {
			IS(peer_await(&status[i]), 0);
			IS(peer_await(&got[i].status), 0);
			IS(got[i].len, 8);
			OK(peer_holds(&it.b, 64 * i, 8, 1, 64 * i));
		}
	}
	end();
}

/* With its immediate data, and nothing behind its end. */
static void exchange(size_t len, bool imm)
{
	struct pier_buf *src = peer_data(&it.a, 3, len);
	int status = -EINPROGRESS;
	struct taken got;

	peer_fill(&it.a, (unsigned int)len);
	peer_fill(&it.b, 100);
	take(5, 128, &got);
	if (imm)
		IS(pier_rdma_send_imm(it.a.conn, src, htobe32(len + 7),
				      peer_done, &status), 0);
	else
		IS(pier_rdma_send(it.a.conn, src, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	IS(peer_await(&got.status), 0);
	IS(got.len, len);
	IS(got.opcode, imm ? PIER_RECV_SEND_IMM : PIER_RECV_SEND);
	IS(got.imm, imm ? htobe32(len + 7) : 0);
	OK(peer_holds(&it.b, 0, 5, 100, 0));
	OK(peer_holds(&it.b, 5, len, (unsigned int)len, 3));
	OK(peer_holds(&it.b, 5 + len, 128, 100, 5 + len));
	pier_buf_put(src);
}

static void each_length_arrives_as_it_was_sent(void)
{
	size_t len;

	if (begin())
		for (len = 1; len <= SOFT_SHORT_MAX + 24 && tap_holds();
		     len++) {
			exchange(len, false);
			exchange(len, true);
		}
	end();
}

static void short_and_long_messages_stay_in_order(void)
{
	static const size_t lens[] = { 8, 5000, 1, 40, SLOT, 8, 41, 3, 70000 };
	const int count = sizeof(lens) / sizeof(*lens);
	int status[sizeof(lens) / sizeof(*lens)], round, i;
	struct taken got[sizeof(lens) / sizeof(*lens)];

	if (begin())
		for (round = 0; round < 30 && tap_holds(); round++) {
			peer_fill(&it.a, (unsigned int)round);
			/* One after the other, in memory of their own. */
			for (i = 0; i < 6; i++)
				take((size_t)i * SLOT, SLOT, &got[i]);
			for (i = 0; i < 6; i++)
				post((size_t)i, lens[(round + i) % count],
				     &status[i]);
			for (i = 0; i < 6; i++) {
				size_t len = lens[(round + i) % count];

				IS(peer_await(&status[i]), 0);
				IS(peer_await(&got[i].status), 0);
				IS(got[i].len, len);
				OK(peer_holds(&it.b, (size_t)i * SLOT, len,
					      (unsigned int)round, i));
			}
		}
	end();
}

static void a_message_without_a_receive_waits_for_it(void)
{
	long long limit = limit_from_now();
	int status[4], i;
	struct taken got[4];

	if (begin()) {
		peer_fill(&it.a, 1);
		for (i = 0; i < 2; i++)
			post((size_t)i, 8, &status[i]);
		while (!counted_conn(it.a.conn, "rnr_received") &&
		       peer_step(limit))
			;
		for (; i < 4; i++)
			post((size_t)i, 8, &status[i]);
		for (i = 0; i < 4; i++)
			take((size_t)i * 64, 64, &got[i]);
		for (i = 0; i < 4; i++) {
			IS(peer_await(&status[i]), 0);
			IS(peer_await(&got[i].status), 0);
			IS(got[i].len, 8);
			OK(peer_holds(&it.b, (size_t)i * 64, 8, 1, (size_t)i));
		}
	}
	end();
}

/* What becomes of a message of @len bytes in a receive of fewer. */
static void too_long(size_t len, int *sent, int *got)
{
	struct taken taken = { .status = 0 };
	int status = 0;

	if (begin()) {
		take(0, len - 1, &taken);
		post(0, len, &status);
		peer_await(&status);
		peer_await(&taken.status);
	}
	*sent = status;
	*got = taken.status;
	end();
}

static void one_that_is_too_long_fails_as_long_ones_do(void)
{
	int sent[2], got[2];

	too_long(8, &sent[0], &got[0]);
	too_long(5000, &sent[1], &got[1]);
	OK(sent[0] < 0);
	OK(got[0] < 0);
	IS(sent[0], sent[1]);
	IS(got[0], got[1]);
}

/* The other end has not rung for it yet. */
static bool is_asleep(const struct peer *peer)
{
	const struct peer *other = peer == &it.a ? &it.b : &it.a;
	const struct soft_link *link = (struct soft_link *)shmpair_qp(peer)->io;
	const struct soft_link *back =
		(struct soft_link *)shmpair_qp(other)->io;
	uint32_t value = atomic_load_explicit(&link->in.own->asleep,
					      memory_order_relaxed);
	uint32_t rung;

	pier__soft_ep_enter(shmpair_ep(other));
	rung = back->rung;
	pier__soft_ep_leave(shmpair_ep(other));
	return value & 1 && rung != value;
}

/* Keep @peer asleep, until its endpoint is left. */
static void hold_asleep(const struct peer *peer)
{
	long long limit = limit_from_now();

	for (;;) {
		while (!is_asleep(peer) && limit_nap(limit))
			;
		pier__soft_ep_enter(shmpair_ep(peer));
		if (is_asleep(peer) || !limit_holds(limit))
			return;
		pier__soft_ep_leave(shmpair_ep(peer));
	}
}

static void a_peer_that_sleeps_is_woken_by_a_post(void)
{
	struct taken got;
	uint64_t before;
	int status;

	if (begin()) {
		take(0, 64, &got);
		hold_asleep(&it.b);
		before = shmpair_ep(&it.a)->counters->shm_wakes;
		post(0, 8, &status);
		IS(shmpair_ep(&it.a)->counters->shm_wakes, before + 1);
		pier__soft_ep_leave(shmpair_ep(&it.b));
		IS(peer_await(&status), 0);
		IS(peer_await(&got.status), 0);
	}
	end();
}

/* No call follows the posts: what does not wake the peer, the helper does. */
static void a_peer_that_sleeps_receives_all_that_was_posted(void)
{
	long long limit = limit_from_now();
	int status[3], round, i;
	struct taken got[3];
	uint64_t before;

	if (begin())
		for (round = 0; round < 20 && tap_holds(); round++) {
			for (i = 0; i < 3; i++)
				take(64 * i, 64, &got[i]);
			limit_nap_for(limit, 10);	/* both ends sleep */
			before = counted_conn(it.b.conn, "rx_packets");
			for (i = 0; i < 3; i++)
				post(64 * i, 8, &status[i]);
			while (counted_conn(it.b.conn, "rx_packets") <
				       before + 3 && limit_nap(limit))
				;
			for (i = 0; i < 3; i++) {
				IS(peer_await(&status[i]), 0);
				IS(peer_await(&got[i].status), 0);
			}
		}
	end();
}

/* The next packet of @a, of @len bytes. */
static void make_packet(uint8_t *bytes, size_t len)
{
	const struct soft_qp *from = shmpair_qp(&it.a), *to = shmpair_qp(&it.b);
	uint32_t word[3] = {
		htobe32(SOFT_SEND_ONLY << 24 | 0xffff),
		htobe32(to->qpn),
		htobe32(UINT32_C(1) << 31 | (from->req.nxt & SOFT_PSN_MASK) |
			(uint32_t)to->cwnd->senders <<
				(24 + SOFT_SENDERS_SHIFT)),
	};

	memcpy(bytes, word, sizeof(word));
	memset(bytes + BTH, 0x5a, len - BTH);
}

/* Bits whose change makes it another packet; others are not looked at. */
static const uint8_t matters[BTH] = {
	0xff, 0x0f, 0x7f, 0xff, 0, 0xff, 0xff, 0xff, 0xbe, 0xff, 0xff, 0xff,
};

static bool is_taken(const uint8_t *bytes, uint32_t len)
{
	struct soft_qp *qp = shmpair_qp(&it.b);

	return pier__soft_short_receive(qp->ep, qp->io, bytes, len);
}

static void only_the_next_message_is_taken(void)
{
	uint8_t bytes[56] = { 0 };
	struct soft_ep *ep;
	struct taken got;
	int at, bit;

	if (begin()) {
		take(0, 64, &got);
		ep = shmpair_qp(&it.b)->ep;
		pier__soft_ep_enter(ep);
		make_packet(bytes, BTH + 8);
		for (at = 0; at < BTH; at++)
			for (bit = 1; bit < 0x100; bit <<= 1) {
				if (!(matters[at] & bit))
					continue;
				bytes[at] ^= (uint8_t)bit;
				OK(!is_taken(bytes, BTH + 8));
				bytes[at] ^= (uint8_t)bit;
			}
		OK(!is_taken(bytes, 0));
		OK(!is_taken(bytes, BTH - 4));
		OK(!is_taken(bytes, BTH + 7));
		OK(!pier__soft_short_receive(ep, ep->io, bytes, BTH + 8));
		IS(got.status, -EINPROGRESS);
		OK(is_taken(bytes, BTH + 8));
		OK(!is_taken(bytes, BTH + 8));
		pier__soft_ep_leave(ep);
		IS(peer_await(&got.status), 0);
		IS(got.len, 8);
		OK(it.b.mem[7] == 0x5a && it.b.mem[8] != 0x5a);
	}
	end();
}

int main(void)
{
	TEST(messages_leave_when_they_are_posted);
	TEST(each_length_arrives_as_it_was_sent);
	TEST(short_and_long_messages_stay_in_order);
	TEST(a_message_without_a_receive_waits_for_it);
	TEST(one_that_is_too_long_fails_as_long_ones_do);
	TEST(a_peer_that_sleeps_is_woken_by_a_post);
	TEST(a_peer_that_sleeps_receives_all_that_was_posted);
	TEST(only_the_next_message_is_taken);
	return tap_done();
}
