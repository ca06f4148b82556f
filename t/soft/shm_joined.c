/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <sys/syscall.h>

#include "t/lib/counted.h"
#include "t/lib/forbid.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/*
 * Packets of one message that are one record of a ring.  The kernel lets no
 * process read the memory of another, so that all data come by the ring.
 */
#define LEN (1u << 20)
#define OFF 5
#define JOIN ((size_t)SOFT_JOIN_MAX)

static struct shmpair it;
static size_t mtu;

struct arrival {
	int status;
	uint32_t len, imm;
};

static void received(struct pier_task *task, void *arg)
{
	struct arrival *got = arg;

	got->len = pier_recv_len(task);
	got->imm = pier_recv_imm(task);
	got->status = pier_task_status(task);
}

/* Both ends have the same MTU. */
static void set_mtu(const struct peer *peer, uint32_t bytes)
{
	pier__soft_ep_enter(shmpair_ep(peer));
	shmpair_qp(peer)->mtu = bytes;
	pier__soft_ep_leave(shmpair_ep(peer));
}

static bool begin(uint32_t bytes)
{
	mtu = bytes;
	if (!shmpair_begin(&it, false, LEN))
		return false;
	set_mtu(&it.a, bytes);
	set_mtu(&it.b, bytes);
	return true;
}

static void end(void)
{
	shmpair_end(&it);
}

static void take(size_t off, size_t len, struct arrival *got)
{
	struct pier_buf *dst = peer_tail(&it.b, off, len);

	*got = (struct arrival){ .status = -EINPROGRESS };
	IS(pier_rdma_receive(it.b.rdma, dst, received, got), 0);
	pier_buf_put(dst);
}

static void post(size_t off, size_t len, bool imm, int *status)
{
	struct pier_buf *src = peer_data(&it.a, off, len);

	*status = -EINPROGRESS;
	if (imm)
		IS(pier_rdma_send_imm(it.a.conn, src, htobe32((uint32_t)len),
				      peer_done, status), 0);
	else
		IS(pier_rdma_send(it.a.conn, src, peer_done, status), 0);
	pier_buf_put(src);
}

/* Records of the data of @peer, but for those that were sent again. */
static uint64_t sent_by(const struct peer *peer)
{
	return counted_conn(peer->conn, "tx_packets") -
	       counted_conn(peer->conn, "resent");
}

/* A duplicate is answered, with a packet more. */
static uint64_t again(void)
{
	return counted_conn(it.a.conn, "resent") +
	       counted_conn(it.b.conn, "resent") +
	       counted_conn(it.b.conn, "duplicates");
}

static int send_plain(size_t len)
{
	struct arrival got;
	int status;

	take(OFF, LEN - OFF, &got);
	post(OFF, len, false, &status);
	IS(peer_await(&status), 0);
	IS(peer_await(&got.status), 0);
	IS(got.len, len);
	return status;
}

static int send_imm(size_t len)
{
	struct arrival got;
	int status;

	take(OFF, LEN - OFF, &got);
	post(OFF, len, true, &status);
	IS(peer_await(&status), 0);
	IS(peer_await(&got.status), 0);
	IS(got.len, len);
	IS(got.imm, htobe32((uint32_t)len));
	return status;
}

static int write_there(size_t len)
{
	return shmpair_write(&it.a, OFF, len);
}

static int read_here(size_t len)
{
	return shmpair_read(&it.b, OFF, len);
}

/* From the memory of a to that of b, by as few records as hold it. */
static void is_moved(int (*move)(size_t len), size_t len)
{
	uint64_t sent, before = again();

	peer_fill(&it.a, (unsigned int)len);
	peer_fill(&it.b, 100);
	sent = sent_by(&it.a);
	IS(move(len), 0);
	sent = sent_by(&it.a) - sent;
	if (again() == before)
		IS(sent, (len + JOIN - 1) / JOIN);
	OK(peer_holds(&it.b, 0, OFF, 100, 0));
	OK(peer_holds(&it.b, OFF, len, (unsigned int)len, OFF));
	OK(peer_holds(&it.b, OFF + len, LEN - OFF - len, 100, OFF + len));
}

static void each_length(int (*move)(size_t len))
{
	const size_t around[] = {
		mtu, 2 * mtu, 3 * mtu, 7 * mtu, JOIN, JOIN + mtu, 2 * JOIN,
		2 * JOIN + mtu, 3 * JOIN,
	};
	size_t i, d;

	for (i = 0; i < sizeof(around) / sizeof(*around); i++)
		for (d = 0; d < 3 && tap_holds(); d++)
			is_moved(move, around[i] + d - 1);
}

static void each_length_by(int (*move)(size_t len))
{
	if (begin(4096))
		each_length(move);
	end();
	if (begin(1024))
		each_length(move);
	end();
}

static void messages_are_records_of_several_packets(void)
{
	each_length_by(send_plain);
}

static void messages_with_immediate_are(void)
{
	each_length_by(send_imm);
}

static void writes_are(void)
{
	each_length_by(write_there);
}

static void responses_to_reads_are(void)
{
	each_length_by(read_here);
}

/* The first is received; those behind it have no receive yet. */
static void messages_without_a_receive_wait_for_it(uint32_t bytes)
{
	static const size_t lens[] = { JOIN + 1, 3 * JOIN - 1, 9000, JOIN };
	long long limit = limit_from_now();
	size_t at = OFF, i;
	struct arrival got[4];
	int status[4];

	if (begin(bytes)) {
		peer_fill(&it.a, 1);
		peer_fill(&it.b, 2);
		take(OFF, lens[0], &got[0]);
		for (i = 0; i < 4; i++)
			post(i, lens[i], i & 1, &status[i]);
		while (!counted_conn(it.a.conn, "rnr_received") &&
		       peer_step(limit))
			;
		for (i = 1, at += lens[0]; i < 4; at += lens[i++])
			take(at, lens[i], &got[i]);
		for (i = 0, at = OFF; i < 4; at += lens[i++]) {
			IS(peer_await(&status[i]), 0);
			IS(peer_await(&got[i].status), 0);
			IS(got[i].len, lens[i]);
			OK(peer_holds(&it.b, at, lens[i], 1, i));
		}
		OK(peer_holds(&it.b, at, LEN - at, 2, at));
	}
	end();
}

static void a_receive_that_is_missing_is_waited_for(void)
{
	messages_without_a_receive_wait_for_it(4096);
	messages_without_a_receive_wait_for_it(1024);
}

/* The receive is one byte too short for the second record. */
static void nothing_is_written_behind_a_receive(void)
{
	struct arrival got;
	int status;

	if (begin(4096)) {
		peer_fill(&it.a, 1);
		peer_fill(&it.b, 2);
		take(OFF, 2 * JOIN - 1, &got);
		post(OFF, 2 * JOIN, false, &status);
		OK(peer_await(&status));
		OK(peer_await(&got.status));
		OK(peer_holds(&it.b, OFF + JOIN, LEN - OFF - JOIN, 2,
			      OFF + JOIN));
	}
	end();
}

int main(void)
{
	OK(forbid(SYS_process_vm_readv, EPERM));
	TEST(messages_are_records_of_several_packets);
	TEST(messages_with_immediate_are);
	TEST(writes_are);
	TEST(responses_to_reads_are);
	TEST(a_receive_that_is_missing_is_waited_for);
	TEST(nothing_is_written_behind_a_receive);
	return tap_done();
}
