/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pier/error.h>

#include "t/lib/loop.h"
#include "t/lib/tap.h"

/*
 * The contract of fabric/fabric.h in executable form, on the device that
 * PIER_DEVICE names.  Nothing here asks what kind of device it is.
 */
static struct pier__fdev *fdev;
static struct loop loop;

static const struct pier__limits *limits(void)
{
	return &fdev->port.limits;
}

static bool can(enum ibv_wr_opcode opcode)
{
	if (limits()->opcodes & UINT32_C(1) << opcode)
		return true;
	tap_skip("the device cannot do it");
	return false;
}

static void fill(uint8_t *buf, size_t len, uint8_t first)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t)(first + i * 7);
}

static bool is_filled(const uint8_t *buf, size_t len, uint8_t first)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (buf[i] != (uint8_t)(first + i * 7))
			return false;
	}
	return true;
}

/* A request for @len bytes at @at of the buffer of @peer. */
static struct ibv_send_wr remote(enum ibv_wr_opcode opcode,
				 const struct loop_end *peer, size_t at)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = opcode };

	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + at;
	wr.wr.rdma.rkey = peer->mr->rkey;
	return wr;
}

/* Post @wr from A and wait for how it ends; -1: it never does. */
static int outcome(struct ibv_send_wr *wr, size_t at, uint32_t len)
{
	struct ibv_wc wc;

	if (!loop_post(&loop.a, wr, at, len) ||
	    !loop_wait(&loop, &loop.a, &wc))
		return -1;
	IS(wc.wr_id, wr->wr_id);
	return (int)wc.status;
}

/* Does A reach B's memory? */
static bool pair_works(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 512);

	fill(loop.a.buf, 100, loop.b.buf[512] + 1);
	return IS(outcome(&wr, 0, 100), IBV_WC_SUCCESS) &&
	       OK(!memcmp(loop.a.buf, loop.b.buf + 512, 100));
}

static void to_error(struct loop_end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	IS(loop.ops->qp_modify(end->qp, &attr, IBV_QP_STATE, 0), 0);
}

static void every_port_listed_is_filled_in(void)
{
	struct pier__ports ports = { 0 };
	size_t i, k;

	IS(fdev->fabric->dev->list(&ports), 0);
	OK(ports.count > 0);
	for (i = 0; i < ports.count; i++) {
		const struct pier__port *port = &ports.port[i];

		OK(port->fabric == fdev->fabric && port->name[0]);
		OK(port->port >= 1 && port->gid_count <= 32);
		OK(port->mtu >= IBV_MTU_256 && port->mtu <= IBV_MTU_4096);
		OK(port->limits.message >= 4096 && port->limits.mmap >= 4096);
		OK(port->limits.send_sge && port->limits.recv_sge);
		OK(port->limits.qps && port->limits.send_wr &&
		   port->limits.srq_wr && port->limits.cqe);
		OK(port->limits.inline_free <= port->limits.inline_size);
		for (k = 0; k < i; k++)
			OK(strcmp(ports.port[k].name, port->name) ||
			   ports.port[k].port != port->port);
	}
	free(ports.port);
}

static void a_port_that_is_gone_does_not_open(void)
{
	struct pier__port port = fdev->port;
	struct pier__fdev *none = NULL;

	memcpy(port.name, "nowhere", sizeof("nowhere"));
	IS(fdev->fabric->dev->open(&port, &none), -ENODEV);
	OK(!none);
}

static void query_finds_the_port_as_it_was(void)
{
	struct pier__port was = fdev->port;

	IS(fdev->fabric->dev->query(fdev), 0);
	IS_STR(fdev->port.name, was.name);
	IS(fdev->port.guid, was.guid);
	IS(fdev->port.gid_count, was.gid_count);
	IS(fdev->port.active, was.active);
}

static void a_queue_beyond_the_limit_is_refused(void)
{
	struct pier__cq *cq = NULL;

	IS(loop.ops->cq_create(loop.a.chan, limits()->cqe + 1, &cq), -EINVAL);
	OK(!cq);
}

static void a_send_arrives_in_a_receive_of_the_shared_queue(void)
{
	struct ibv_send_wr wr = { .wr_id = 5, .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	fill(loop.a.buf, 3000, 9);
	if (!loop_recv(&loop.b, 77, 1024, 8192) ||
	    !IS(outcome(&wr, 0, 3000), IBV_WC_SUCCESS) ||
	    !loop_wait(&loop, &loop.b, &wc))
		return;
	IS(wc.wr_id, 77);
	IS(wc.status, IBV_WC_SUCCESS);
	IS(wc.opcode, IBV_WC_RECV);
	IS(wc.byte_len, 3000);
	IS(wc.qp_num, loop.b.qp->qpn);
	OK(is_filled(loop.b.buf + 1024, 3000, 9));
}

static void an_immediate_arrives_as_given(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM,
				  .imm_data = 0x12345678 };
	struct ibv_wc wc;

	if (!can(IBV_WR_SEND_WITH_IMM) || !loop_recv(&loop.b, 1, 0, 64) ||
	    !IS(outcome(&wr, 0, 64), IBV_WC_SUCCESS) ||
	    !loop_wait(&loop, &loop.b, &wc))
		return;
	OK(wc.wc_flags & IBV_WC_WITH_IMM);
	IS(wc.imm_data, 0x12345678);
}

static void an_inline_send_takes_its_data_at_once(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_INLINE };
	uint32_t len = loop.a.qp->inline_size;
	struct ibv_wc wc;

	if (!len) {
		tap_skip("the device sends nothing inline");
		return;
	}
	fill(loop.a.buf, len, 3);
	if (!loop_recv(&loop.b, 1, 0, 256) ||
	    !loop_post(&loop.a, &wr, 0, len))
		return;
	memset(loop.a.buf, 0, len);
	if (loop_wait(&loop, &loop.b, &wc))
		OK(is_filled(loop.b.buf, len, 3));
	loop_wait(&loop, &loop.a, &wc);
}

static void a_send_before_its_receive_waits_for_it(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;
	int i;

	if (!loop_post(&loop.a, &wr, 0, 16))
		return;
	for (i = 0; i < 100; i++) {
		loop_poll(&loop.a);
		loop_poll(&loop.b);
	}
	IS(loop.a.count, 0);
	if (loop_recv(&loop.b, 1, 0, 16) && loop_wait(&loop, &loop.a, &wc))
		IS(wc.status, IBV_WC_SUCCESS);
	loop_wait(&loop, &loop.b, &wc);
}

static void a_write_lands_where_it_should_and_nowhere_else(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 4097);

	fill(loop.a.buf + 3, 30001, 40);
	memset(loop.b.buf, 0xee, LOOP_BUF);
	if (!IS(outcome(&wr, 3, 30001), IBV_WC_SUCCESS))
		return;
	OK(is_filled(loop.b.buf + 4097, 30001, 40));
	IS(loop.b.buf[4096], 0xee);
	IS(loop.b.buf[4097 + 30001], 0xee);
	loop_poll(&loop.b);
	IS(loop.b.count, 0);
}

static void a_write_with_an_immediate_takes_a_receive(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE_WITH_IMM, &loop.b,
				       2048);
	struct ibv_wc wc;

	if (!can(IBV_WR_RDMA_WRITE_WITH_IMM))
		return;
	wr.imm_data = 0xfeed;
	fill(loop.a.buf, 2000, 1);
	if (!loop_recv(&loop.b, 6, 0, 16) ||
	    !IS(outcome(&wr, 0, 2000), IBV_WC_SUCCESS) ||
	    !loop_wait(&loop, &loop.b, &wc))
		return;
	IS(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	IS(wc.imm_data, 0xfeed);
	IS(wc.byte_len, 2000);
	OK(is_filled(loop.b.buf + 2048, 2000, 1));
}

static void a_read_fetches(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_READ, &loop.b, 5);

	fill(loop.b.buf + 5, 50003, 90);
	memset(loop.a.buf, 0, LOOP_BUF);
	if (IS(outcome(&wr, 11, 50003), IBV_WC_SUCCESS))
		OK(is_filled(loop.a.buf + 11, 50003, 90));
	IS(loop.a.buf[11 + 50003], 0);
}

static void atomics_return_what_was_there(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };
	uint64_t *word = (uint64_t *)(loop.b.buf + 64);
	const uint64_t *was = (const uint64_t *)loop.a.buf;

	if (!can(IBV_WR_ATOMIC_FETCH_AND_ADD))
		return;
	*word = 1000;
	wr.wr.atomic.remote_addr = (uintptr_t)word;
	wr.wr.atomic.rkey = loop.b.mr->rkey;
	wr.wr.atomic.compare_add = 5;
	IS(outcome(&wr, 0, 8), IBV_WC_SUCCESS);
	IS(*was, 1000);
	IS(*word, 1005);

	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.swap = 7;
	IS(outcome(&wr, 0, 8), IBV_WC_SUCCESS);
	IS(*was, 1005);
	IS(*word, 1005);
	wr.wr.atomic.compare_add = 1005;
	IS(outcome(&wr, 0, 8), IBV_WC_SUCCESS);
	IS(*word, 7);
}

/* Post a chain of @count zero-byte writes from A.  Returns how many went. */
static uint32_t post_chain(uint32_t count, int *err)
{
	struct ibv_send_wr *wr = calloc(count, sizeof(*wr)), *bad = NULL;
	uint32_t i, posted;

	for (i = 0; i < count; i++) {
		wr[i] = remote(IBV_WR_RDMA_WRITE, &loop.b, 0);
		wr[i].wr_id = 100 + i;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
	}
	*err = loop.ops->post(loop.a.qp, wr, &bad);
	posted = *err ? (uint32_t)(bad - wr) : count;
	free(wr);
	return posted;
}

static void a_full_send_queue_says_from_where_on(void)
{
	uint32_t posted, i;
	struct ibv_wc wc;
	int err;

	posted = post_chain(LOOP_CQE, &err);
	IS(err, -EAGAIN);
	OK(posted >= 16 && posted < LOOP_CQE);
	for (i = 0; i < posted; i++) {
		if (!loop_wait(&loop, &loop.a, &wc))
			return;
		IS(wc.wr_id, 100 + i);
		IS(wc.status, IBV_WC_SUCCESS);
	}
	pair_works();
}

static void an_error_flushes_every_send_once_and_the_marker_last(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, marker = wr;
	struct ibv_wc wc;
	uint64_t i;

	for (i = 0; i < 8; i++) {
		wr.wr_id = i;
		if (!loop_post(&loop.a, &wr, 0, 16))
			return;
	}
	to_error(&loop.a);
	marker.wr_id = 8;
	loop_post(&loop.a, &marker, 0, 0);
	for (i = 0; i <= 8 && loop_wait(&loop, &loop.a, &wc); i++) {
		IS(wc.wr_id, i);
		OK(wc.status != IBV_WC_SUCCESS);
	}
	IS(wc.status, IBV_WC_WR_FLUSH_ERR);
	loop_poll(&loop.a);
	IS(loop.a.count, 0);
	if (loop_again(&loop))
		pair_works();
}

static void receives_of_a_shared_queue_survive_the_QP_by_default(void)
{
	struct ibv_send_wr marker = { .wr_id = 9, .opcode = IBV_WR_SEND };
	struct ibv_wc wc;
	int receives = 0;

	loop_recv(&loop.a, 1, 0, 64);
	to_error(&loop.a);
	if (!loop_post(&loop.a, &marker, 0, 0))
		return;
	while (loop_wait(&loop, &loop.a, &wc) && wc.wr_id != 9)
		receives++;
	loop_poll(&loop.a);
	receives += loop.a.count;
	IS(receives, limits()->srq_flush);
	if (!loop_again(&loop))
		return;
	if (!receives && loop_post(&loop.b, &marker, 0, 32) &&
	    loop_wait(&loop, &loop.a, &wc)) {
		IS(wc.wr_id, 1);
		IS(wc.status, IBV_WC_SUCCESS);
		loop_wait(&loop, &loop.b, &wc);
	}
}

static void an_unknown_key_is_refused_and_the_responder_unharmed(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 0);

	wr.wr.rdma.rkey ^= 0x5a5a5a;
	memset(loop.b.buf, 0x11, 256);
	IS(outcome(&wr, 0, 200), IBV_WC_REM_ACCESS_ERR);
	OK(loop.b.buf[0] == 0x11 && loop.b.buf[199] == 0x11);
	if (loop_again(&loop))
		pair_works();
}

static void a_write_beyond_the_end_is_refused(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b,
				       LOOP_BUF - 64);

	memset(loop.b.buf + LOOP_BUF - 64, 0x22, 64);
	IS(outcome(&wr, 0, 65), IBV_WC_REM_ACCESS_ERR);
	IS(loop.b.buf[LOOP_BUF - 64], 0x22);
	if (loop_again(&loop))
		pair_works();
}

static void a_region_without_the_right_is_refused(void)
{
	static uint8_t guarded[4096];
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 0);
	struct pier__mr *mr;

	if (!IS(fdev->fabric->dev->reg(fdev, guarded, sizeof(guarded),
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_READ, &mr), 0))
		return;
	wr.wr.rdma.remote_addr = (uintptr_t)guarded;
	wr.wr.rdma.rkey = mr->rkey;
	IS(outcome(&wr, 0, 8), IBV_WC_REM_ACCESS_ERR);
	loop_again(&loop);
	wr.opcode = IBV_WR_RDMA_READ;
	IS(outcome(&wr, 0, 8), IBV_WC_SUCCESS);
	fdev->fabric->dev->dereg(mr);
}

static int reg(void *addr, size_t len, int access)
{
	struct pier__mr *mr;
	int err = fdev->fabric->dev->reg(fdev, addr, len, access, &mr);

	if (!err)
		fdev->fabric->dev->dereg(mr);
	return err;
}

static void memory_that_the_process_may_not_use_is_refused(void)
{
	const int writes = IBV_ACCESS_LOCAL_WRITE, reads = 0;
	size_t pagesize = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at = mmap(NULL, 4 * pagesize, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Two to be written, one to be read, and a hole. */
	if (!OK(at != MAP_FAILED) ||
	    !OK(!mprotect(at + 2 * pagesize, pagesize, PROT_READ)) ||
	    !OK(!munmap(at + 3 * pagesize, pagesize)))
		return;
	IS(reg(at, 2 * pagesize, writes | IBV_ACCESS_REMOTE_WRITE), 0);
	IS(reg(at, 2 * pagesize + 1, writes | IBV_ACCESS_REMOTE_WRITE),
	   -EFAULT);
	LIKE(pier_last_error(), "bytes at 0x");
	IS(reg(at + 2 * pagesize, 1, writes), -EFAULT);
	IS(reg(at + 3 * pagesize - 1, 1, reads | IBV_ACCESS_REMOTE_READ), 0);
	IS(reg(at + 3 * pagesize - 1, 2, reads), -EFAULT);
	IS(reg((void *)8, 4096, writes), -EFAULT);
	OK(!mprotect(at, 1, PROT_NONE));
	IS(reg(at, 2 * pagesize, writes), -EFAULT);
	munmap(at, 3 * pagesize);
}

static void deregistering_ends_remote_access(void)
{
	static uint8_t lent[4096];
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_READ, &loop.b, 0);
	struct pier__mr *mr;

	if (!IS(fdev->fabric->dev->reg(fdev, lent, sizeof(lent),
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_READ, &mr), 0))
		return;
	wr.wr.rdma.remote_addr = (uintptr_t)lent;
	wr.wr.rdma.rkey = mr->rkey;
	IS(outcome(&wr, 0, 8), IBV_WC_SUCCESS);
	fdev->fabric->dev->dereg(mr);
	IS(outcome(&wr, 0, 8), IBV_WC_REM_ACCESS_ERR);
	if (loop_again(&loop))
		pair_works();
}

static void a_message_longer_than_its_receive_fails_at_both_ends(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_wc wc;

	if (!loop_recv(&loop.b, 4, 0, 100))
		return;
	OK(outcome(&wr, 0, 101) > IBV_WC_SUCCESS);
	if (loop_wait(&loop, &loop.b, &wc)) {
		IS(wc.wr_id, 4);
		/* the latter is how Soft-RoCE has it */
		OK(wc.status == IBV_WC_LOC_LEN_ERR ||
		   wc.status == IBV_WC_LOC_QP_OP_ERR);
	}
	if (loop_again(&loop))
		pair_works();
}

static void a_peer_that_is_not_there_ends_in_retry_exceeded(void)
{
	struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, &loop.b, 0);

	loop.ops->qp_destroy(loop.b.qp);
	loop.b.qp = NULL;
	IS(outcome(&wr, 0, 8), IBV_WC_RETRY_EXC_ERR);
	loop_close(&loop);
	if (loop_open(fdev, 16, &loop))
		pair_works();
}

static void destroying_a_QP_purges_its_completions(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1 };
	uint32_t posted, i;
	struct ibv_wc wc;
	int err;

	posted = post_chain(3, &err);
	IS(posted, 3);
	for (i = 0; i < posted; i++)
		loop_poll(&loop.b);
	loop.ops->qp_destroy(loop.a.qp);
	loop.a.qp = NULL;
	IS(loop.ops->poll(loop.a.cq, &wc, 1), 0);
	IS(loop.ops->qp_create(loop.a.cq, loop.a.srq, &cap, &loop.a.qp), 0);
	if (loop_again(&loop))
		pair_works();
}

static void run(void)
{
	TEST(every_port_listed_is_filled_in);
	TEST(a_port_that_is_gone_does_not_open);
	TEST(query_finds_the_port_as_it_was);
	TEST(a_queue_beyond_the_limit_is_refused);
	TEST(a_send_arrives_in_a_receive_of_the_shared_queue);
	TEST(an_immediate_arrives_as_given);
	TEST(an_inline_send_takes_its_data_at_once);
	TEST(a_send_before_its_receive_waits_for_it);
	TEST(a_write_lands_where_it_should_and_nowhere_else);
	TEST(a_write_with_an_immediate_takes_a_receive);
	TEST(a_read_fetches);
	TEST(atomics_return_what_was_there);
	TEST(a_full_send_queue_says_from_where_on);
	TEST(an_error_flushes_every_send_once_and_the_marker_last);
	TEST(receives_of_a_shared_queue_survive_the_QP_by_default);
	TEST(an_unknown_key_is_refused_and_the_responder_unharmed);
	TEST(a_write_beyond_the_end_is_refused);
	TEST(a_region_without_the_right_is_refused);
	TEST(memory_that_the_process_may_not_use_is_refused);
	TEST(deregistering_ends_remote_access);
	TEST(a_message_longer_than_its_receive_fails_at_both_ends);
	TEST(a_peer_that_is_not_there_ends_in_retry_exceeded);
	TEST(destroying_a_QP_purges_its_completions);
}

int main(void)
{
	if (loop_device(&fdev))
		return tap_skip_all(pier_last_error());
	if (!loop_open(fdev, 16, &loop))
		return tap_done() | 1;
	run();
	loop_close(&loop);
	fdev->fabric->dev->close(fdev);
	return tap_done();
}
