/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * What the soft device refuses, what is reported to both ends then, and that
 * the memory is not touched.
 */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(const struct softpair_opts *opts)
{
	static const struct softpair_opts plain;

	pair = softpair_open(opts ? opts : &plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

static bool untouched(const struct softpair_end *end)
{
	uint32_t i;

	for (i = 0; i < PAIR_MEM; i++)
		if (end->mem[i] != 0x5a)
			return false;
	return true;
}

/* The endpoint of @b still serves others. */
static void others_go_on(void)
{
	struct soft_qp *old[2] = { a->qp, b->qp };
	bool may = b->mr.access & IBV_ACCESS_REMOTE_WRITE;

	a->qp = softpair_qp(a);
	b->qp = softpair_qp(b);
	softpair_connect(pair, a->qp, b->qp);
	a->wcs = 0;
	IS(softpair_send(a, 9, IBV_WR_RDMA_WRITE, SRC, may ? 5000 : 0, b, DST),
	   0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	pier__soft_qp_destroy(a->qp);
	pier__soft_qp_destroy(b->qp);
	a->qp = old[0];
	b->qp = old[1];
}

static struct ibv_sge local;	/* of the request */

/* The QP of @b reports once that it has refused a request with @status. */
static void fault_is(enum ibv_wc_status status, struct pier__fault *ret)
{
	softpair_poll(b);
	IS(b->faults, 1);
	OK(pier__soft_qp_fault(b->qp, ret));
	IS(ret->status, status);
}

/* The range of a fault is that of @wr, @len bytes. */
static void range_is(const struct pier__fault *fault,
		     const struct ibv_send_wr *wr, uint32_t len)
{
	bool atomic = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
		      wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;

	OK(fault->has_range);
	IS(fault->addr, atomic ? wr->wr.atomic.remote_addr :
				 wr->wr.rdma.remote_addr);
	IS(fault->rkey, atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey);
	IS(fault->len, len);
}

/*
 * Post @wr and two more behind it: the first fails with @status, the others
 * are flushed, both QPs are in error, the memory of @b is as it was.
 */
static void refused(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	uint32_t received = b->wcs;
	struct pier__fault fault;

	memset(b->mem, 0x5a, PAIR_MEM);
	memset(a->mem, 0xa5, PAIR_MEM);
	a->wcs = 0;
	wr->wr_id = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	IS(softpair_post(a->qp, wr), 0);
	IS(softpair_send(a, 2, IBV_WR_RDMA_WRITE, SRC, 2000, b, DST), 0);
	IS(softpair_send(a, 3, IBV_WR_SEND, SRC, 2, b, DST), 0);
	OK(softpair_wait(pair, 0, 3, SECOND));
	OK(softpair_idle(pair));
	IS(a->wcs, 3);
	IS(a->wc[0].status, status);
	IS(a->wc[1].status, IBV_WC_WR_FLUSH_ERR);
	IS(a->wc[2].status, IBV_WC_WR_FLUSH_ERR);
	IS(a->wc[0].wr_id + 10 * a->wc[1].wr_id + 100 * a->wc[2].wr_id, 321);
	fault_is(status, &fault);
	if (wr->opcode != IBV_WR_SEND_WITH_INV)
		range_is(&fault, wr, local.length);
	IS(b->wcs, received);
	OK(untouched(b));
	IS(a->qp->state, IBV_QPS_ERR);
	IS(b->qp->state, IBV_QPS_ERR);
	others_go_on();
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, uint32_t len,
				  uint64_t va, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &local,
				  .num_sge = 1 };

	local = softpair_sge(a, SRC, len);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = va;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = va;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

static const enum ibv_wr_opcode remote[] = {
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
};
#define REMOTES (sizeof(remote) / sizeof(*remote))

/* Each operation with @len, @off beyond DST, and @flip of the key. */
static void each_refused(const struct softpair_opts *opts, uint32_t len,
			 uint64_t off, uint32_t flip, enum ibv_wc_status status)
{
	struct ibv_send_wr wr;
	bool atomic;
	size_t i;

	for (i = 0; i < REMOTES; i++) {
		open_pair(opts);
		IS(softpair_recv(b, 1, 0, 0), 0);
		atomic = i >= 3;
		wr = request(remote[i], atomic ? 8 : len,
			     (uintptr_t)b->mem + DST + off,
			     b->mr.mr.rkey ^ flip);
		refused(&wr, status);
		softpair_close(pair);
	}
}

static void a_wrong_key_is_an_access_error(void)
{
	each_refused(NULL, 7, 0, 1, IBV_WC_REM_ACCESS_ERR);
	each_refused(NULL, 5000, 0, 0x80000000u, IBV_WC_REM_ACCESS_ERR);
}

static void a_range_beyond_the_region_is_an_access_error(void)
{
	uint64_t end = PAIR_MEM - DST;

	each_refused(NULL, 8, end, 0, IBV_WC_REM_ACCESS_ERR);
	each_refused(NULL, 9, end - 8 + 8, 0, IBV_WC_REM_ACCESS_ERR);
	each_refused(NULL, 5000, end + 8, 0, IBV_WC_REM_ACCESS_ERR);
	each_refused(NULL, 8, -(uint64_t)DST - 8, 0, IBV_WC_REM_ACCESS_ERR);
}

static void one_byte_too_much_is_an_access_error(void)
{
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < 3; i++) {
		open_pair(NULL);
		IS(softpair_recv(b, 1, 0, 0), 0);
		wr = request(remote[i], 3001,
			     (uintptr_t)b->mem + PAIR_MEM - 3000,
			     b->mr.mr.rkey);
		refused(&wr, IBV_WC_REM_ACCESS_ERR);
		softpair_close(pair);
	}
}

static void an_address_that_wraps_is_an_access_error(void)
{
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < 3; i++) {
		open_pair(NULL);
		IS(softpair_recv(b, 1, 0, 0), 0);
		wr = request(remote[i], 8, UINT64_MAX - 3, b->mr.mr.rkey);
		refused(&wr, IBV_WC_REM_ACCESS_ERR);
		softpair_close(pair);
	}
}

static void a_region_without_the_right_is_an_access_error(void)
{
	struct softpair_opts opts = { .mr_access = IBV_ACCESS_LOCAL_WRITE };

	each_refused(&opts, 8, 0, 0, IBV_WC_REM_ACCESS_ERR);
}

static void a_qp_without_the_right_is_an_invalid_request(void)
{
	struct softpair_opts opts = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct ibv_send_wr wr;
	size_t i;

	for (i = 0; i < REMOTES; i++) {
		open_pair(&opts);
		IS(softpair_recv(b, 1, 0, 0), 0);
		wr = request(remote[i], 8, (uintptr_t)b->mem + DST,
			     b->mr.mr.rkey);
		memset(b->mem, 0x5a, PAIR_MEM);
		IS(softpair_post(a->qp, &wr), 0);
		OK(softpair_wait(pair, 0, 1, SECOND));
		IS(a->wc[0].status, IBV_WC_REM_INV_REQ_ERR);
		OK(untouched(b));
		IS(b->qp->state, IBV_QPS_ERR);
		softpair_close(pair);
	}
}

static void reads_that_the_peer_does_not_keep_are_invalid(void)
{
	struct softpair_opts opts = { .max_dest_rd_atomic = 0xff };
	struct ibv_send_wr wr;
	int i;

	for (i = 2; i < 4; i++) {
		open_pair(&opts);
		wr = request(remote[i], 8, (uintptr_t)b->mem + DST,
			     b->mr.mr.rkey);
		refused(&wr, IBV_WC_REM_INV_REQ_ERR);
		softpair_close(pair);
	}
}

static void a_zero_length_needs_no_key(void)
{
	struct ibv_send_wr wr;
	int i;

	open_pair(NULL);
	IS(softpair_recv(b, 1, 0, 0), 0);
	for (i = 0; i < 3; i++) {
		wr = request(remote[i], 0, 0, 0);
		wr.send_flags = IBV_SEND_SIGNALED;
		IS(softpair_post(a->qp, &wr), 0);
		OK(softpair_wait(pair, 0, i + 1, SECOND));
		IS(a->wc[i].status, IBV_WC_SUCCESS);
	}
	softpair_close(pair);
}

static void invalidation_is_refused(void)
{
	struct ibv_send_wr wr;

	open_pair(NULL);
	IS(softpair_recv(b, 1, DST, 100), 0);
	wr = request(IBV_WR_SEND_WITH_INV, 8, 0, 0);
	wr.invalidate_rkey = b->mr.mr.rkey;
	refused(&wr, IBV_WC_REM_INV_REQ_ERR);
	softpair_close(pair);
}

/* A SEND of @len to a receive of @recv_len fails at both ends. */
static void send_fails(uint32_t len, uint32_t recv_len, bool bad_key,
		       enum ibv_wc_status here, enum ibv_wc_status there)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .wr_id = 77, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	open_pair(NULL);
	memset(b->mem, 0x5a, PAIR_MEM);
	sge = softpair_sge(b, DST, recv_len);
	sge.lkey ^= bad_key;
	IS(pier__soft_srq_post(b->srq, &wr, &bad), 0);
	IS(softpair_recv(b, 78, DST, 100), 0);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, len, b, 0), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	OK(softpair_idle(pair));
	IS(a->wc[0].status, here);
	/* The other receive is the queue's, not the connection's. */
	IS(b->wcs, 1);
	IS(b->wc[0].status, there);
	IS(b->wc[0].wr_id, 77);
	IS(b->mem[DST + recv_len], 0x5a);
	IS(b->qp->state, IBV_QPS_ERR);
	others_go_on();
	softpair_close(pair);
}

static void a_message_too_long_fails_at_both_ends(void)
{
	send_fails(65, 64, false, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR);
	send_fails(5000, 1024, false, IBV_WC_REM_INV_REQ_ERR,
		   IBV_WC_LOC_LEN_ERR);
	send_fails(5000, 4999, false, IBV_WC_REM_INV_REQ_ERR,
		   IBV_WC_LOC_LEN_ERR);
	send_fails(1, 0, false, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR);
}

static void a_receive_with_a_wrong_key_fails_at_both_ends(void)
{
	send_fails(50, 64, true, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR);
}

static void a_wrong_local_key_fails_in_its_turn(void)
{
	struct ibv_send_wr wr;
	size_t i;

	for (i = 0; i < REMOTES + 1; i++) {
		open_pair(NULL);
		IS(softpair_recv(b, 1, 0, 0), 0);
		memset(b->mem, 0x5a, PAIR_MEM);
		wr = request(i < REMOTES ? remote[i] : IBV_WR_SEND, 8,
			     (uintptr_t)b->mem + DST, b->mr.mr.rkey);
		local.lkey ^= 1;
		wr.wr_id = 2;
		IS(softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 70000, b, SRC),
		   0);
		IS(softpair_post(a->qp, &wr), 0);
		IS(softpair_send(a, 3, IBV_WR_RDMA_WRITE, SRC, 9, b, DST), 0);
		OK(softpair_wait(pair, 0, 3, SECOND));
		IS(a->wc[0].status, IBV_WC_SUCCESS);
		IS(a->wc[1].status, IBV_WC_LOC_PROT_ERR);
		IS(a->wc[1].wr_id, 2);
		IS(a->wc[2].status, IBV_WC_WR_FLUSH_ERR);
		OK(untouched(b));
		softpair_close(pair);
	}
}

static void only_local_write_is_asked_of_where_a_read_goes(void)
{
	struct softpair_opts opts = { .mr_access = IBV_ACCESS_REMOTE_READ };

	open_pair(&opts);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 8, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_REM_ACCESS_ERR);
	softpair_close(pair);
	open_pair(&opts);
	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, SRC, 8, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_LOC_PROT_ERR);
	softpair_close(pair);
}

static bool half(void *arg)
{
	(void)arg;
	return pair->net.sent > 200;
}

static void a_region_taken_away_ends_a_read_in_the_middle(void)
{
	open_pair(NULL);
	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, SRC, 1000000, b, 0), 0);
	OK(vnet_run(&pair->net, SECOND, half, NULL));
	IS(softpair_poll(a), 0);
	pier__soft_mr_remove(b->keys, &b->mr);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_REM_ACCESS_ERR);
	IS(pier__soft_mr_add(b->keys, &b->mr), 0);
	softpair_close(pair);
}

static void a_region_taken_away_ends_a_write_in_the_middle(void)
{
	open_pair(NULL);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 1000000, b, 0), 0);
	OK(vnet_run(&pair->net, SECOND, half, NULL));
	pier__soft_mr_remove(b->keys, &b->mr);
	memset(b->mem, 0x5a, PAIR_MEM);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_REM_ACCESS_ERR);
	OK(untouched(b));
	IS(pier__soft_mr_add(b->keys, &b->mr), 0);
	softpair_close(pair);
}

/* A packet that is out of place in its message is answered by NAK @code. */
static void packet_refused(int code, uint8_t opcode, uint32_t dma_len,
			   uint32_t len)
{
	static const uint8_t data[SOFT_MTU_MAX];
	struct soft_hdr hdr = { .opcode = opcode, .pkey = ROCE_PKEY_DEFAULT,
				.dma_len = dma_len };
	struct pier__fault fault;

	hdr.qpn = b->qp->qpn;
	hdr.va = (uintptr_t)b->mem + DST;
	hdr.rkey = b->mr.mr.rkey;
	memset(b->mem, 0x5a, PAIR_MEM);
	softpair_inject(pair, 1, &hdr, data, len);
	OK(untouched(b));
	if (code == 1) {
		fault_is(IBV_WC_REM_INV_REQ_ERR, &fault);
		IS(fault.opcode, opcode);
	}
	if (!IS(b->ep->counters->naks_sent[code], 1))
		tap_note("opcode %#x, %u of %u", opcode, len, dma_len);
	IS(b->qp->state, IBV_QPS_ERR);
}

static void packets_out_of_place_are_invalid_requests(void)
{
	static const struct {
		uint8_t opcode;
		uint32_t dma_len, len;
	} bad[] = {
		{ SOFT_SEND_MIDDLE, 0, 1024 },
		{ SOFT_SEND_LAST, 0, 10 },
		{ SOFT_SEND_LAST_IMM, 0, 10 },
		{ SOFT_WRITE_MIDDLE, 0, 1024 },
		{ SOFT_WRITE_LAST, 0, 10 },
		{ SOFT_WRITE_LAST_IMM, 0, 10 },
		{ SOFT_SEND_FIRST, 0, 1023 },
		{ SOFT_SEND_FIRST, 0, 1025 },
		{ SOFT_SEND_FIRST, 0, 0 },
		{ SOFT_SEND_ONLY, 0, 1025 },
		{ SOFT_WRITE_FIRST, 1024, 1024 },
		{ SOFT_WRITE_FIRST, 5000, 1000 },
		{ SOFT_WRITE_FIRST, 0x80000001, 1024 },
		{ SOFT_WRITE_ONLY, 10, 9 },
		{ SOFT_WRITE_ONLY, 10, 11 },
		{ SOFT_WRITE_ONLY, 2000, 1024 },
		{ SOFT_WRITE_ONLY, 0x80000008, 8 },
		{ SOFT_WRITE_ONLY_IMM, 4, 5 },
		{ SOFT_READ_REQUEST, 100, 4 },
		{ SOFT_READ_REQUEST, 0x80000001, 0 },
		{ SOFT_FETCH_ADD, 0, 4 },
		{ SOFT_SEND_ONLY_INV, 0, 4 },
		{ SOFT_SEND_LAST_INV, 0, 4 },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		open_pair(NULL);
		IS(softpair_recv(b, 1, DST, 5000), 0);
		packet_refused(1, bad[i].opcode, bad[i].dma_len, bad[i].len);
		IS(softpair_poll(b), 0);
		softpair_close(pair);
	}
}

/* After the beginning of a message, what does not go on with it. */
static void a_message_is_not_left_in_the_middle(void)
{
	static const uint8_t bad[] = {
		SOFT_SEND_FIRST, SOFT_SEND_ONLY, SOFT_WRITE_FIRST,
		SOFT_WRITE_ONLY, SOFT_READ_REQUEST, SOFT_FETCH_ADD,
		SOFT_COMPARE_SWAP, SOFT_WRITE_MIDDLE, SOFT_WRITE_LAST,
	};
	static const uint8_t data[1024];
	struct soft_hdr hdr;
	size_t i;

	for (i = 0; i < sizeof(bad); i++) {
		open_pair(NULL);
		IS(softpair_recv(b, 1, DST, 5000), 0);
		memset(&hdr, 0, sizeof(hdr));
		hdr.opcode = SOFT_SEND_FIRST;
		hdr.qpn = b->qp->qpn;
		hdr.pkey = ROCE_PKEY_DEFAULT;
		softpair_inject(pair, 1, &hdr, data, 1024);
		hdr.opcode = bad[i];
		hdr.psn = 1;
		hdr.va = (uintptr_t)b->mem;
		hdr.rkey = b->mr.mr.rkey;
		softpair_inject(pair, 1, &hdr, data, 0);
		IS(b->ep->counters->naks_sent[1], 1);
		IS(b->qp->state, IBV_QPS_ERR);
		/* The receive that was begun comes back. */
		IS(softpair_poll(b), 1);
		IS(b->wc[0].status, IBV_WC_WR_FLUSH_ERR);
		softpair_close(pair);
	}
}

static void an_empty_last_packet_is_an_invalid_request(void)
{
	static const uint8_t data[1024];
	struct soft_hdr hdr = { .opcode = SOFT_SEND_FIRST,
				.pkey = ROCE_PKEY_DEFAULT };

	open_pair(NULL);
	IS(softpair_recv(b, 1, DST, 5000), 0);
	hdr.qpn = b->qp->qpn;
	softpair_inject(pair, 1, &hdr, data, 1024);
	hdr.opcode = SOFT_SEND_LAST;
	hdr.psn = 1;
	softpair_inject(pair, 1, &hdr, data, 0);
	IS(b->ep->counters->naks_sent[1], 1);
	softpair_close(pair);
}

static void an_atomic_on_a_crooked_address_is_invalid(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_FETCH_ADD,
				.pkey = ROCE_PKEY_DEFAULT };

	open_pair(NULL);
	hdr.qpn = b->qp->qpn;
	hdr.va = (uintptr_t)b->mem + 4;
	hdr.rkey = b->mr.mr.rkey;
	hdr.swap_add = 1;
	softpair_inject(pair, 1, &hdr, NULL, 0);
	IS(b->ep->counters->naks_sent[1], 1);
	IS(b->mem[4], 0);
	softpair_close(pair);
}

static void more_reads_than_agreed_are_invalid(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_READ_REQUEST,
				.pkey = ROCE_PKEY_DEFAULT };
	struct softpair_opts opts = { .max_dest_rd_atomic = 2 };
	uint32_t i;

	open_pair(&opts);
	hdr.qpn = b->qp->qpn;
	hdr.va = (uintptr_t)b->mem;
	hdr.rkey = b->mr.mr.rkey;
	hdr.dma_len = 1 << 20;
	/* The socket is full: no answer gets out. */
	pair->net.faults.refuse = 1;
	for (i = 0; i < 3; i++) {
		IS(b->qp->state, IBV_QPS_RTS);
		hdr.psn = i * 1024;
		softpair_inject(pair, 1, &hdr, NULL, 0);
	}
	IS(b->qp->state, IBV_QPS_ERR);
	pair->net.faults.refuse = 0;
	softpair_close(pair);
}

int main(void)
{
	TEST(a_wrong_key_is_an_access_error);
	TEST(a_range_beyond_the_region_is_an_access_error);
	TEST(one_byte_too_much_is_an_access_error);
	TEST(an_address_that_wraps_is_an_access_error);
	TEST(a_region_without_the_right_is_an_access_error);
	TEST(a_qp_without_the_right_is_an_invalid_request);
	TEST(reads_that_the_peer_does_not_keep_are_invalid);
	TEST(a_zero_length_needs_no_key);
	TEST(invalidation_is_refused);
	TEST(a_message_too_long_fails_at_both_ends);
	TEST(a_receive_with_a_wrong_key_fails_at_both_ends);
	TEST(a_wrong_local_key_fails_in_its_turn);
	TEST(only_local_write_is_asked_of_where_a_read_goes);
	TEST(a_region_taken_away_ends_a_read_in_the_middle);
	TEST(a_region_taken_away_ends_a_write_in_the_middle);
	TEST(packets_out_of_place_are_invalid_requests);
	TEST(a_message_is_not_left_in_the_middle);
	TEST(an_empty_last_packet_is_an_invalid_request);
	TEST(an_atomic_on_a_crooked_address_is_invalid);
	TEST(more_reads_than_agreed_are_invalid);
	return tap_done();
}
