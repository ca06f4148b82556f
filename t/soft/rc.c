/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * The soft device's RC protocol on a network without faults: each operation,
 * its completions, limits and states.
 */
#define SECOND (1000 * PIER__MS)
#define SRC 4096		/* where data comes from, and goes to */
#define DST (PAIR_MEM / 2)
#define LARGEST 300000		/* the largest message here */

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(const struct softpair_opts *opts)
{
	static const struct softpair_opts plain;

	pair = softpair_open(opts ? opts : &plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

/* Is [DST, DST + len) of @end the pattern, and nothing beside it touched? */
static bool arrived(struct softpair_end *end, uint32_t len, uint32_t seed)
{
	return OK(softpair_is_pattern(end->mem + DST, len, seed)) &&
	       IS(end->mem[DST - 1], 0) && IS(end->mem[DST + len], 0);
}

static bool is_wc(const struct ibv_wc *wc, uint64_t wr_id, int opcode,
		  uint32_t len)
{
	return IS(wc->status, IBV_WC_SUCCESS) && IS(wc->wr_id, wr_id) &&
	       IS(wc->opcode, opcode) && IS(wc->byte_len, len);
}

/* One message of @len bytes by @opcode, checked at both ends. */
static bool message_ok(enum ibv_wr_opcode opcode, uint32_t len, uint64_t id)
{
	bool imm = opcode == IBV_WR_SEND_WITH_IMM ||
		   opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool write = opcode == IBV_WR_RDMA_WRITE ||
		     opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t received = opcode == IBV_WR_RDMA_WRITE ? 0 : 1;
	bool good;

	a->wcs = 0;
	b->wcs = 0;
	memset(b->mem + DST - 8, 0, len + 16);
	softpair_pattern(a->mem + SRC, len, id);
	if (received &&
	    !IS(softpair_recv(b, id + 1, write ? 0 : DST, write ? 0 : len), 0))
		return false;
	good = IS(softpair_send(a, id, opcode, SRC, len, b, DST), 0) &&
	       OK(softpair_wait(pair, 0, 1, SECOND)) && IS(a->wcs, 1) &&
	       is_wc(&a->wc[0], id, write ? IBV_WC_RDMA_WRITE : IBV_WC_SEND,
		     len) &&
	       IS(softpair_poll(b), received) && arrived(b, len, id);
	if (good && received)
		good = is_wc(&b->wc[0], id + 1,
			     write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
			     len) &&
		       IS(b->wc[0].wc_flags, imm ? IBV_WC_WITH_IMM : 0) &&
		       IS(b->wc[0].imm_data,
			  imm ? (uint32_t)id ^ 0x12345678 : 0) &&
		       IS(b->wc[0].qp_num, b->qp->qpn) &&
		       IS(b->wc[0].src_qp, a->qp->qpn);
	return good;
}

static bool read_ok(uint32_t len, uint64_t id)
{
	a->wcs = 0;
	memset(a->mem + DST - 8, 0, len + 16);
	softpair_pattern(b->mem + SRC, len, id);
	return OK(!softpair_send(a, id, IBV_WR_RDMA_READ, DST, len, b, SRC)) &&
	       OK(softpair_wait(pair, 0, 1, SECOND)) && IS(a->wcs, 1) &&
	       is_wc(&a->wc[0], id, IBV_WC_RDMA_READ, len) &&
	       arrived(a, len, id);
}

/* All that moves data, with @len bytes. */
static bool moves(uint32_t len)
{
	bool good = message_ok(IBV_WR_SEND, len, 2) &&
		    message_ok(IBV_WR_SEND_WITH_IMM, len, 4) &&
		    message_ok(IBV_WR_RDMA_WRITE, len, 6) &&
		    message_ok(IBV_WR_RDMA_WRITE_WITH_IMM, len, 8) &&
		    read_ok(len, 10);

	if (!good)
		tap_note("mtu %u, %u bytes", pair->opts.mtu, len);
	return good;
}

static void moves_at_all_borders(struct softpair_opts *opts)
{
	uint32_t mtu = opts->mtu, i;
	const uint32_t len[] = {
		0, 1, 3, 4, 7, 8, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu,
		2 * mtu + 1, 5 * mtu + 3, 16 * mtu, 64 * mtu, 64 * mtu + 1,
		LARGEST,
	};

	open_pair(opts);
	for (i = 0; i < sizeof(len) / sizeof(*len); i++)
		if (!moves(len[i]))
			break;
	IS(counters(a)->resent, 0);
	IS(counters(a)->dropped + counters(b)->dropped, 0);
	OK(softpair_idle(pair));
	softpair_close(pair);
}

static void data_moves_at_every_mtu_and_size_over_ipv4(void)
{
	struct softpair_opts opts = { 0 };

	for (opts.mtu = 256; opts.mtu <= 4096; opts.mtu *= 2)
		moves_at_all_borders(&opts);
}

static void data_moves_at_every_mtu_and_size_over_ipv6(void)
{
	struct softpair_opts opts = { .ip = { "2001:db8::1", "2001:db8::2" } };

	for (opts.mtu = 256; opts.mtu <= 4096; opts.mtu *= 2)
		moves_at_all_borders(&opts);
}

static void psns_wrap(void)
{
	struct softpair_opts opts = { .mtu = 256, .psn[1] = 0xffffff };
	uint32_t back;

	for (back = 1; back < 12; back++) {
		opts.psn[0] = 0x1000000 - back;
		open_pair(&opts);
		OK(moves(700));
		softpair_close(pair);
	}
	/* In the middle of a READ, and of one that is several requests. */
	opts.psn[0] = 0x1000000 - 100;
	open_pair(&opts);
	OK(read_ok(LARGEST, 3));
	OK(message_ok(IBV_WR_SEND, LARGEST, 4));
	IS(counters(a)->resent, 0);
	softpair_close(pair);
}

static void a_roce_device_may_have_any_identification(void)
{
	struct softpair_opts opts = { .port = ROCE_UDP_PORT };

	open_pair(&opts);
	OK(moves(5000));
	IS(counters(a)->bad_icrc + counters(b)->bad_icrc, 0);
	softpair_close(pair);
}

static bool atomic_ok(enum ibv_wr_opcode opcode, uint64_t arg, uint64_t want,
		      uint64_t left)
{
	uint64_t found, word;

	a->wcs = 0;
	memset(a->mem + DST, 0xee, 8);
	if (!IS(softpair_send(a, arg, opcode, DST, 8, b, SRC), 0) ||
	    !OK(softpair_wait(pair, 0, 1, SECOND)))
		return false;
	memcpy(&found, a->mem + DST, 8);
	memcpy(&word, b->mem + SRC, 8);
	return is_wc(&a->wc[0], arg, opcode == IBV_WR_ATOMIC_FETCH_AND_ADD
		     ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP, 8) &&
	       IS(found, want) && IS(word, left);
}

static void atomics_act_once_and_return_what_was(void)
{
	uint64_t word = 0x0123456789abcdefu;

	open_pair(NULL);
	memcpy(b->mem + SRC, &word, 8);
	OK(atomic_ok(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, word, word + 1));
	OK(atomic_ok(IBV_WR_ATOMIC_FETCH_AND_ADD, -1, word + 1, word));
	/* Compares with the request's number, swaps in the next. */
	OK(atomic_ok(IBV_WR_ATOMIC_CMP_AND_SWP, 5, word, word));
	OK(atomic_ok(IBV_WR_ATOMIC_CMP_AND_SWP, word, word, word + 1));
	softpair_close(pair);
}

static void a_request_in_pieces_is_one_message(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .wr_id = 1,
				  .send_flags = IBV_SEND_SIGNALED };
	static const uint32_t len[SOFT_SEND_SGE] = { 1, 0, 2000, 7, 1024, 1,
						     900, 3 };
	struct ibv_sge sge[SOFT_SEND_SGE], into[4];
	struct ibv_recv_wr recv = { .sg_list = into, .num_sge = 4 }, *bad;
	uint32_t at = SRC, i;

	open_pair(NULL);
	for (i = 0; i < SOFT_SEND_SGE; i++) {
		sge[i] = softpair_sge(a, at, len[i]);
		at += len[i];
	}
	softpair_pattern(a->mem + SRC, at - SRC, 5);
	into[0] = softpair_sge(b, DST, 3);
	into[1] = softpair_sge(b, DST + 3, 0);
	into[2] = softpair_sge(b, DST + 3, 1500);
	into[3] = softpair_sge(b, DST + 1503, 100000);
	wr.sg_list = sge;
	wr.num_sge = SOFT_SEND_SGE;
	IS(pier__soft_srq_post(b->srq, &recv, &bad), 0);
	IS(softpair_post(a->qp, &wr), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	arrived(b, at - SRC, 5);
	IS(softpair_poll(b), 1);
	IS(b->wc[0].byte_len, at - SRC);
	wr.num_sge++;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	softpair_close(pair);
}

static void inline_data_needs_no_key_and_is_taken_at_once(void)
{
	uint8_t bytes[SOFT_INLINE_MAX + 1];
	struct ibv_sge sge = { .addr = (uintptr_t)bytes,
			       .length = SOFT_INLINE_MAX };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
				  .num_sge = 1, .send_flags =
				  IBV_SEND_SIGNALED | IBV_SEND_INLINE };

	open_pair(NULL);
	wr.wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	softpair_pattern(bytes, SOFT_INLINE_MAX, 6);
	IS(softpair_post(a->qp, &wr), 0);
	memset(bytes, 0, sizeof(bytes));
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	arrived(b, SOFT_INLINE_MAX, 6);
	sge.length++;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	wr.opcode = IBV_WR_RDMA_READ;
	sge.length = 8;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	softpair_close(pair);
}

static void an_unsignalled_request_completes_silently(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr[3] = { { 0 } }, *bad;
	uint32_t i;

	open_pair(NULL);
	sge = softpair_sge(a, SRC, 100);
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		wr[i].wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
		wr[i].wr.rdma.rkey = b->mr.mr.rkey;
	}
	wr[2].send_flags = IBV_SEND_SIGNALED;
	IS(pier__soft_qp_post(a->qp, wr, &bad), 0);
	OK(softpair_idle(pair));
	IS(a->wcs, 1);
	is_wc(&a->wc[0], 2, IBV_WC_RDMA_WRITE, 100);
	softpair_close(pair);
}

static void a_full_queue_takes_what_fits_and_no_more(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr[300] = { { 0 } }, *bad = NULL;
	uint32_t i;

	open_pair(NULL);
	sge = softpair_sge(a, SRC, 8);
	for (i = 0; i < 300; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < 299 ? &wr[i + 1] : NULL;
		wr[i].wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
		wr[i].wr.rdma.rkey = b->mr.mr.rkey;
	}
	IS(pier__soft_qp_post(a->qp, wr, &bad), -EAGAIN);
	IS(bad - wr, 256);
	OK(softpair_idle(pair));
	IS(a->wcs, 256);
	for (i = 0; i < 256; i++)
		if (a->wc[i].wr_id != i)
			break;
	IS(i, 256);
	IS(pier__soft_qp_post(a->qp, bad, &bad), 0);
	OK(softpair_idle(pair));
	IS(a->wcs, 300);
	softpair_close(pair);
}

/* A request with every check of post wrong in its turn. */
static void bad_requests_are_refused_at_once(void)
{
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = { .opcode = 99, .sg_list = sge, .num_sge = 1 };
	struct ibv_send_wr *bad = NULL;

	open_pair(NULL);
	sge[0] = softpair_sge(a, SRC, 8);
	IS(pier__soft_qp_post(a->qp, &wr, &bad), -EINVAL);
	OK(bad == &wr);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = 4;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	wr.wr.atomic.remote_addr = 8;
	sge[0].length = 4;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 2;
	sge[0].length = 0x80000000u;
	sge[1] = softpair_sge(a, SRC, 1);
	IS(softpair_post(a->qp, &wr), -EINVAL);
	wr.num_sge = -1;
	IS(softpair_post(a->qp, &wr), -EINVAL);
	OK(softpair_idle(pair));
	IS(a->wcs, 0);
	softpair_close(pair);
}

/* What the tap counts. */
struct seen {
	uint32_t solicited, ack_req, requests, acks, reads;
	int32_t reading, reading_max;
	bool fence_broken;
	struct soft_hdr last;
};

static bool look(const struct vnet_packet *packet, void *arg)
{
	struct seen *seen = arg;
	struct soft_hdr *hdr = &seen->last;

	if (!pier__soft_decode(packet->data, packet->len, hdr))
		return true;
	seen->solicited += hdr->solicited;
	seen->ack_req += hdr->ack_req;
	seen->acks += hdr->opcode == SOFT_ACK;
	seen->requests += hdr->opcode < SOFT_READ_REQUEST;
	if (hdr->opcode == SOFT_READ_REQUEST ||
	    hdr->opcode == SOFT_FETCH_ADD) {
		seen->reads++;
		if (++seen->reading > seen->reading_max)
			seen->reading_max = seen->reading;
	}
	if (hdr->opcode == SOFT_READ_LAST || hdr->opcode == SOFT_READ_ONLY ||
	    hdr->opcode == SOFT_ATOMIC_ACK)
		seen->reading--;
	if (hdr->opcode == SOFT_SEND_ONLY && seen->reading)
		seen->fence_broken = true;
	return true;
}

static void watch(struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	pair->net.tap = look;
	pair->net.tap_arg = seen;
}

static void solicited_marks_the_last_packet_alone(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge,
				  .num_sge = 1, .send_flags =
				  IBV_SEND_SIGNALED | IBV_SEND_SOLICITED };
	struct seen seen;

	open_pair(NULL);
	watch(&seen);
	sge = softpair_sge(a, SRC, 5000);
	softpair_recv(b, 1, DST, 5000);
	IS(softpair_post(a->qp, &wr), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(seen.solicited, 1);
	IS(seen.requests, 5);
	softpair_close(pair);
}

static void acknowledgements_are_asked_for_and_gathered(void)
{
	struct seen seen;
	uint32_t i;

	open_pair(NULL);
	watch(&seen);
	OK(message_ok(IBV_WR_RDMA_WRITE, 100 * 1024, 3));
	IS(seen.requests, 100);
	/* Of a quarter of the window each, which is 96 packets and grows. */
	OK(seen.ack_req >= 4 && seen.ack_req <= 6);
	OK(seen.acks >= 1 && seen.acks <= seen.ack_req);

	/* However wide it is, not of more than 64 packets. */
	for (i = 0; i < 20; i++)
		message_ok(IBV_WR_RDMA_WRITE, 256 * 1024, i);
	watch(&seen);
	OK(message_ok(IBV_WR_RDMA_WRITE, 256 * 1024, 3));
	IS(seen.requests, 256);
	OK(seen.ack_req >= 4 && seen.ack_req <= 5);

	/* Messages that come together are acknowledged together. */
	a->wcs = 0;
	watch(&seen);
	for (i = 0; i < 20; i++)
		softpair_send(a, i, IBV_WR_RDMA_WRITE, SRC, 8, b, DST);
	vnet_settle(&pair->net);
	pair->net.now += PIER__MS / 2;
	vnet_settle(&pair->net);
	IS(seen.ack_req, 20);
	IS(seen.acks, 1);
	OK(softpair_wait(pair, 0, 20, SECOND));
	softpair_close(pair);
}

static void no_more_reads_are_on_their_way_than_agreed(void)
{
	struct softpair_opts opts = { .rd_atomic = 3 };
	struct seen seen;
	uint32_t i;

	open_pair(&opts);
	watch(&seen);
	for (i = 0; i < 20; i++)
		IS(softpair_send(a, i, i % 3 ? IBV_WR_RDMA_READ :
				 IBV_WR_ATOMIC_FETCH_AND_ADD, DST + 4096 * i,
				 i % 3 ? 3000 : 8, b, SRC), 0);
	OK(softpair_wait(pair, 0, 20, SECOND));
	IS(seen.reads, 20);
	IS(seen.reading_max, 3);
	for (i = 0; i < 20; i++)
		IS(a->wc[i].wr_id, i);
	softpair_close(pair);
}

/* How many requests a READ of 256 packets is, after @count others. */
static uint32_t requests_after(uint32_t count)
{
	struct seen seen;

	while (count--)
		read_ok(256 * 1024, count);
	pair->net.faults.loss = 0;
	watch(&seen);
	OK(read_ok(256 * 1024, 3));
	pair->net.tap = NULL;
	return seen.reads;
}

static void a_wide_window_makes_reads_of_fewer_requests(void)
{
	open_pair(NULL);
	IS(requests_after(0), 4);
	IS(requests_after(40), 1);
	a->qp->selective = false;	/* losses shrink it, borders stay */
	pair->net.faults.loss = 0.05;
	IS(requests_after(20), 4);
	softpair_close(pair);
}

static void a_fence_waits_for_reads(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge,
				  .num_sge = 1, .send_flags =
				  IBV_SEND_SIGNALED | IBV_SEND_FENCE };
	struct seen seen;

	open_pair(NULL);
	watch(&seen);
	sge = softpair_sge(a, SRC, 8);
	softpair_recv(b, 1, DST, 100);
	softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 50000, b, SRC);
	IS(softpair_post(a->qp, &wr), 0);
	OK(softpair_wait(pair, 0, 2, SECOND));
	OK(!seen.fence_broken);
	IS(seen.reads, 1);

	/* Without the fence it does not wait: the check above can fail. */
	wr.send_flags = IBV_SEND_SIGNALED;
	softpair_recv(b, 1, DST, 100);
	softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 50000, b, SRC);
	IS(softpair_post(a->qp, &wr), 0);
	OK(softpair_wait(pair, 0, 4, SECOND));
	OK(seen.fence_broken);
	softpair_close(pair);
}

static void two_connections_share_the_window_fairly(void)
{
	struct soft_qp *qp[2];
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED };
	uint32_t i;

	open_pair(NULL);
	qp[0] = softpair_qp(a);
	qp[1] = softpair_qp(b);
	softpair_connect(pair, qp[0], qp[1]);
	sge = softpair_sge(a, SRC, LARGEST);
	wr.wr.rdma.remote_addr = (uintptr_t)b->mem + DST;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	for (i = 0; i < 8; i++) {
		wr.wr_id = i;
		IS(softpair_post(a->qp, &wr), 0);
		wr.wr_id = 100 + i;
		IS(softpair_post(qp[0], &wr), 0);
	}
	OK(softpair_wait(pair, 0, 16, SECOND));
	/* Each pair of neighbours is of both. */
	for (i = 0; i < 16; i += 2)
		OK((a->wc[i].wr_id < 100) != (a->wc[i + 1].wr_id < 100));
	pier__soft_qp_destroy(qp[0]);
	pier__soft_qp_destroy(qp[1]);
	softpair_close(pair);
}

static void what_is_on_its_way_is_bounded(void)
{
	open_pair(NULL);
	softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, LARGEST, b, DST);
	softpair_send(a, 2, IBV_WR_RDMA_WRITE, SRC, LARGEST, b, DST);
	vnet_attach(b->io, NULL);
	vnet_settle(&pair->net);
	/* 32 packets of the largest MTU with their overhead. */
	OK(pair->net.sent > 60);
	OK(pair->net.sent <= 32 * (4096 + 512) / (1024 + 512));
	vnet_attach(b->io, b->ep);
	OK(softpair_wait(pair, 0, 2, SECOND));
	softpair_close(pair);
}

static void a_full_socket_loses_nothing(void)
{
	uint32_t i;

	open_pair(NULL);
	pair->net.faults.refuse = 0.7;
	for (i = 0; i < 20; i++) {
		OK(moves(20000));
		memset(b->mem + SRC, 0, 8);
		OK(atomic_ok(IBV_WR_ATOMIC_FETCH_AND_ADD, 7, 0, 7));
	}
	IS(counters(a)->timeouts + counters(b)->timeouts, 0);
	IS(counters(a)->resent + counters(b)->duplicates, 0);
	softpair_close(pair);
}

int main(void)
{
	TEST(data_moves_at_every_mtu_and_size_over_ipv4);
	TEST(data_moves_at_every_mtu_and_size_over_ipv6);
	TEST(psns_wrap);
	TEST(a_roce_device_may_have_any_identification);
	TEST(atomics_act_once_and_return_what_was);
	TEST(a_request_in_pieces_is_one_message);
	TEST(inline_data_needs_no_key_and_is_taken_at_once);
	TEST(an_unsignalled_request_completes_silently);
	TEST(a_full_queue_takes_what_fits_and_no_more);
	TEST(bad_requests_are_refused_at_once);
	TEST(solicited_marks_the_last_packet_alone);
	TEST(acknowledgements_are_asked_for_and_gathered);
	TEST(no_more_reads_are_on_their_way_than_agreed);
	TEST(a_wide_window_makes_reads_of_fewer_requests);
	TEST(a_fence_waits_for_reads);
	TEST(two_connections_share_the_window_fairly);
	TEST(what_is_on_its_way_is_bounded);
	TEST(a_full_socket_loses_nothing);
	return tap_done();
}
