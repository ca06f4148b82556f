/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Single packets made by hand, for what two correct endpoints seldom send to
 * each other.
 */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_hdr last;		/* of the packet sent last */
static uint8_t last_data[SOFT_MTU_MAX];
static uint32_t sent;

/* Nothing arrives but what is injected. */
static bool catch(const struct vnet_packet *packet, void *arg)
{
	size_t len = pier__soft_decode(packet->data, packet->len, &last);

	(void)arg;
	memcpy(last_data, packet->data + len, packet->len - len - 4);
	sent++;
	return false;
}

static void open_pair(const struct softpair_opts *opts)
{
	static const struct softpair_opts plain;

	pair = softpair_open(opts ? opts : &plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	pair->net.tap = catch;
	sent = 0;
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

/* A request to @b. */
static void ask(uint8_t opcode, uint32_t psn, uint32_t off, uint32_t len)
{
	static const uint8_t data[SOFT_MTU_MAX] = "data";
	struct soft_hdr hdr = {
		.opcode = opcode,
		.psn = psn,
		.ack_req = true,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = b->qp->qpn,
		.rkey = b->mr.mr.rkey,
		.va = (uintptr_t)b->mem + off,
		.dma_len = len,
		.swap_add = 5,
	};
	bool data_too = opcode < SOFT_READ_REQUEST;

	softpair_inject(pair, 1, &hdr, data, data_too ? len : 0);
}

/* An answer to @a. */
static void answer(uint8_t opcode, uint32_t psn, uint8_t syndrome,
		   uint32_t len)
{
	static const uint8_t data[SOFT_MTU_MAX] = "answer";
	struct soft_hdr hdr = {
		.opcode = opcode, .psn = psn, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = a->qp->qpn, .syndrome = syndrome,
		.original = 77,
	};

	softpair_inject(pair, 0, &hdr, data, len);
}

static void a_repeated_read_stays_in_the_range_of_the_first(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_READ_REQUEST,
				.pkey = ROCE_PKEY_DEFAULT };
	uint32_t before;

	open_pair(NULL);
	ask(SOFT_READ_REQUEST, 0, 8192, 3000);
	IS(sent, 3);
	ask(SOFT_READ_REQUEST, 0, 8192, 3000);
	IS(sent, 6);
	ask(SOFT_READ_REQUEST, 1, 8192 + 1024, 1976);
	IS(sent, 8);
	ask(SOFT_READ_REQUEST, 2, 8192 + 2048, 952);
	IS(sent, 9);
	IS(last.opcode, SOFT_READ_ONLY);
	ask(SOFT_READ_REQUEST, 1, 8192 + 1024, 1024);
	IS(sent, 10);

	/* Longer, elsewhere, by another key: no answer at all. */
	before = sent;
	ask(SOFT_READ_REQUEST, 0, 8192, 3001);
	ask(SOFT_READ_REQUEST, 1, 8192 + 1024, 1977);
	ask(SOFT_READ_REQUEST, 1, 8192, 1024);
	ask(SOFT_READ_REQUEST, 0, 4096, 1024);
	ask(SOFT_READ_REQUEST, -1, 8192, 1024);
	hdr.qpn = b->qp->qpn;
	hdr.rkey = b->mr.mr.rkey ^ 1;
	hdr.va = (uintptr_t)b->mem + 8192;
	hdr.dma_len = 3000;
	softpair_inject(pair, 1, &hdr, NULL, 0);
	IS(sent, before);
	IS(b->qp->state, IBV_QPS_RTS);
	softpair_close(pair);
}

static void a_repeated_read_reads_anew(void)
{
	open_pair(NULL);
	b->mem[SRC] = 1;
	ask(SOFT_READ_REQUEST, 0, SRC, 10);
	IS(last_data[0], 1);
	b->mem[SRC] = 2;
	ask(SOFT_READ_REQUEST, 0, SRC, 10);
	IS(last_data[0], 2);
	softpair_close(pair);
}

static void a_repeated_atomic_is_answered_and_not_done(void)
{
	open_pair(NULL);
	b->mem[SRC] = 3;
	ask(SOFT_FETCH_ADD, 0, SRC, 0);
	ask(SOFT_FETCH_ADD, 0, SRC, 0);
	IS(sent, 2);
	IS(last.original, 3);
	IS(b->mem[SRC], 8);
	/* Four more, and it is forgotten. */
	ask(SOFT_FETCH_ADD, 1, SRC, 0);
	ask(SOFT_FETCH_ADD, 2, SRC, 0);
	ask(SOFT_FETCH_ADD, 3, SRC, 0);
	ask(SOFT_FETCH_ADD, 4, SRC, 0);
	IS(sent, 6);
	ask(SOFT_FETCH_ADD, 0, SRC, 0);
	IS(sent, 6);
	ask(SOFT_FETCH_ADD, 1, SRC, 0);
	IS(last.original, 8);
	IS(b->mem[SRC], 28);
	softpair_close(pair);
}

static void memory_taken_away_is_not_read_for_an_answer(void)
{
	open_pair(NULL);
	pair->net.faults.refuse = 1;
	ask(SOFT_READ_REQUEST, 0, 0, 3000);
	pier__soft_mr_remove(b->keys, &b->mr);
	memset(b->mem, 0x77, PAIR_MEM);
	sent = 0;
	pair->net.faults.refuse = 0;
	vnet_run(&pair->net, PIER__MS, NULL, NULL);
	IS(sent, 1);
	IS(last.opcode, SOFT_ACK);
	IS(last.syndrome, 0x62);
	IS(last.psn, 0);
	IS(b->qp->state, IBV_QPS_ERR);
	IS(pier__soft_mr_add(b->keys, &b->mr), 0);
	softpair_close(pair);
}

/* The requester has the result, and does not expect an error. */
static void memory_taken_away_is_not_read_again(void)
{
	open_pair(NULL);
	ask(SOFT_READ_REQUEST, 0, SRC, 10);
	ask(SOFT_FETCH_ADD, 1, SRC, 0);
	IS(sent, 2);
	pier__soft_mr_remove(b->keys, &b->mr);
	ask(SOFT_READ_REQUEST, 0, SRC, 10);
	IS(sent, 2);
	IS(b->qp->state, IBV_QPS_RTS);
	ask(SOFT_FETCH_ADD, 1, SRC, 0);
	IS(sent, 3);
	IS(last.opcode, SOFT_ATOMIC_ACK);
	IS(pier__soft_mr_add(b->keys, &b->mr), 0);
	ask(SOFT_READ_REQUEST, 2, SRC, 10);
	IS(sent, 4);
	IS(last.opcode, SOFT_READ_ONLY);
	softpair_close(pair);
}

static void a_gap_is_reported_once(void)
{
	open_pair(NULL);
	ask(SOFT_WRITE_ONLY, 2, DST, 8);
	IS(sent, 1);
	IS(last.syndrome, 0x60);
	IS(last.psn, 0);
	ask(SOFT_WRITE_ONLY, 3, DST, 8);
	ask(SOFT_WRITE_ONLY, 1, DST, 8);
	IS(sent, 1);
	IS(b->mem[DST], 0);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	IS(last.syndrome, 0x1f);
	/* Another gap, another word. */
	ask(SOFT_WRITE_ONLY, 3, DST, 8);
	IS(last.syndrome, 0x60);
	IS(last.psn, 1);
	IS(counters(b)->naks_sent[0], 2);
	IS(counters(b)->out_of_order, 4);
	softpair_close(pair);
}

/* A requester may take each NAK for a retry, and an ACK for a new start. */
static void a_message_with_many_gaps_is_acknowledged_on_the_way(void)
{
	struct soft_hdr hdr;
	uint32_t psn, acks = 0;

	open_pair(NULL);
	for (psn = 0; psn < 60; psn++) {
		hdr = (struct soft_hdr){
			.opcode = psn ? SOFT_WRITE_MIDDLE : SOFT_WRITE_FIRST,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = b->qp->qpn,
			.rkey = b->mr.mr.rkey,
			.va = (uintptr_t)b->mem + DST,
			.dma_len = 100 * 1024,
		};
		if (psn % 5 == 0) {
			hdr.psn = psn + 1;
			softpair_inject(pair, 1, &hdr, last_data, 1024);
			IS(last.syndrome, 0x60);
			IS(last.psn, psn);
		}
		sent = 0;
		hdr.psn = psn;
		softpair_inject(pair, 1, &hdr, last_data, 1024);
		if (!sent)
			continue;
		IS(last.syndrome, 0x1f);
		IS(last.psn, psn);
		acks++;
	}
	IS(counters(b)->naks_sent[0], 12);
	IS(acks, 9);	/* of the fourth gap, and those behind it */
	softpair_close(pair);
}

static void a_gap_that_is_filled_is_not_reported(void)
{
	open_pair(NULL);
	pair->net.faults.refuse = 1;
	ask(SOFT_WRITE_ONLY, 1, DST, 8);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	pair->net.faults.refuse = 0;
	vnet_run(&pair->net, PIER__MS, NULL, NULL);
	IS(sent, 1);
	IS(last.syndrome, 0x1f);
	IS(last.psn, 0);
	softpair_close(pair);
}

static void a_gap_is_reported_in_spite_of_a_duplicate(void)
{
	open_pair(NULL);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	pair->net.faults.refuse = 1;
	ask(SOFT_WRITE_ONLY, 2, DST, 8);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	pair->net.faults.refuse = 0;
	vnet_run(&pair->net, PIER__MS, NULL, NULL);
	IS(last.syndrome, 0x60);
	IS(last.psn, 1);
	softpair_close(pair);
}

static void a_duplicate_is_acknowledged_and_not_written(void)
{
	open_pair(NULL);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	ask(SOFT_WRITE_ONLY, 1, DST + 8, 8);
	memset(b->mem + DST, 0, 8);
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	IS(b->mem[DST], 0);
	IS(last.opcode, SOFT_ACK);
	IS(last.psn, 1);
	IS(last.msn, 2);
	IS(counters(b)->duplicates, 1);
	softpair_close(pair);
}

static void a_read_answer_that_does_not_fit_is_an_error(void)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
	} bad[] = {
		{ SOFT_READ_FIRST, 1000 }, { SOFT_READ_FIRST, 1028 },
		{ SOFT_READ_ONLY, 1024 }, { SOFT_READ_LAST, 1024 },
		{ SOFT_READ_ONLY, 900 }, { SOFT_READ_MIDDLE, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		open_pair(NULL);
		softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 2048 + 900, b, 0);
		vnet_settle(&pair->net);
		answer(bad[i].opcode, 0, 0x1f, bad[i].len);
		IS(softpair_poll(a), 1);
		IS(a->wc[0].status, IBV_WC_BAD_RESP_ERR);
		IS(a->mem[DST], 0);
		softpair_close(pair);
	}
}

/* Each READ of @len is answered by @opcode, which is not due. */
static void misplaced(uint32_t len, uint8_t opcode)
{
	open_pair(NULL);
	softpair_send(a, 1, IBV_WR_RDMA_READ, DST, len, b, 0);
	vnet_settle(&pair->net);
	answer(opcode, 0, 0x1f, len < 1024 ? len : 1024);
	if (!IS(softpair_poll(a), 1) ||
	    !IS(a->wc[0].status, IBV_WC_BAD_RESP_ERR))
		tap_note("opcode %#x for a READ of %u", opcode, len);
	softpair_close(pair);
}

static void a_read_answer_begins_with_first_or_only(void)
{
	misplaced(0, SOFT_READ_LAST);
	misplaced(900, SOFT_READ_LAST);
	misplaced(1024, SOFT_READ_LAST);
	misplaced(3000, SOFT_READ_MIDDLE);
	misplaced(900, SOFT_READ_FIRST);
	misplaced(900, SOFT_READ_MIDDLE);
	misplaced(3000, SOFT_READ_LAST);
	misplaced(3000, SOFT_READ_ONLY);
}

static void nor_does_it_begin_twice(void)
{
	open_pair(NULL);
	softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 3000, b, 0);
	vnet_settle(&pair->net);
	answer(SOFT_READ_FIRST, 0, 0x1f, 1024);
	answer(SOFT_READ_FIRST, 1, 0x1f, 1024);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].status, IBV_WC_BAD_RESP_ERR);
	softpair_close(pair);
}

/* Of the second request, or of the first one that was late; or of a kernel. */
static void a_read_that_is_requested_again_may_begin_or_go_on(void)
{
	static const uint8_t opcodes[] = { SOFT_READ_FIRST, SOFT_READ_MIDDLE };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		open_pair(NULL);
		softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 3000, b, SRC);
		vnet_settle(&pair->net);
		answer(SOFT_READ_FIRST, 0, 0x1f, 1024);
		pair->net.now += PIER__MS;
		answer(SOFT_READ_LAST, 2, 0x1f, 952);
		IS(counters(a)->resent, 1);
		answer(opcodes[i], 1, 0x1f, 1024);
		answer(SOFT_READ_LAST, 2, 0x1f, 952);
		IS(softpair_poll(a), 1);
		IS(a->wc[0].status, IBV_WC_SUCCESS);
		softpair_close(pair);
	}
}

static void answers_to_nothing_are_ghosts(void)
{
	open_pair(NULL);
	answer(SOFT_ACK, 0, 0x1f, 0);
	answer(SOFT_ACK, 0, 0x62, 0);
	answer(SOFT_READ_ONLY, 0, 0x1f, 8);
	answer(SOFT_ATOMIC_ACK, 0, 0x1f, 0);
	softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 8, b, DST);
	vnet_settle(&pair->net);
	answer(SOFT_ACK, -1, 0x62, 0);
	answer(SOFT_ACK, 1, 0x1f, 0);
	answer(SOFT_ACK, 1, 0x62, 0);
	answer(SOFT_READ_ONLY, 0, 0x1f, 8);
	answer(SOFT_ATOMIC_ACK, 0, 0x1f, 0);
	answer(SOFT_ACK, 0, 0x5f, 0);
	answer(SOFT_ACK, 0, 0x9f, 0);
	IS(softpair_poll(a), 0);
	answer(SOFT_ACK, 0, 0x1f, 0);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void an_acknowledgement_is_of_all_before_it(void)
{
	uint32_t i;

	open_pair(NULL);
	for (i = 0; i < 3; i++)
		softpair_send(a, i, IBV_WR_RDMA_WRITE, SRC, 2000, b, DST);
	vnet_settle(&pair->net);
	answer(SOFT_ACK, 2, 0x1f, 0);
	IS(softpair_poll(a), 1);
	answer(SOFT_ACK, 5, 0x05, 0);
	IS(softpair_poll(a), 3);
	/* A refusal acknowledges what was before. */
	for (i = 0; i < 3; i++)
		softpair_send(a, i, IBV_WR_RDMA_WRITE, SRC, 2000, b, DST);
	vnet_settle(&pair->net);
	answer(SOFT_ACK, 8, 0x62, 0);
	IS(softpair_poll(a), 6);
	IS(a->wc[3].status, IBV_WC_SUCCESS);
	IS(a->wc[4].status, IBV_WC_REM_ACCESS_ERR);
	IS(a->wc[5].status, IBV_WC_WR_FLUSH_ERR);
	softpair_close(pair);
}

static void an_answer_behind_a_read_means_that_the_read_was_lost(void)
{
	open_pair(NULL);
	softpair_send(a, 1, IBV_WR_RDMA_READ, DST, 3000, b, SRC);
	softpair_send(a, 2, IBV_WR_RDMA_WRITE, SRC, 8, b, DST);
	vnet_settle(&pair->net);
	answer(SOFT_READ_FIRST, 0, 0x1f, 1024);
	pair->net.now += PIER__MS / 2;
	sent = 0;
	answer(SOFT_ACK, 3, 0x1f, 0);
	/* At once, from where it was lost; the write was not. */
	IS(sent, 1);
	IS(counters(a)->resent, 1);
	IS(counters(a)->timeouts, 0);
	IS(softpair_poll(a), 0);
	answer(SOFT_READ_FIRST, 1, 0x1f, 1024);
	answer(SOFT_READ_LAST, 2, 0x1f, 952);
	answer(SOFT_ACK, 3, 0x1f, 0);
	IS(softpair_poll(a), 2);
	softpair_close(pair);
}

static void the_same_rnr_nak_twice_is_one(void)
{
	struct softpair_opts opts = { .rnr_retry = 1 };

	open_pair(&opts);
	softpair_send(a, 1, IBV_WR_SEND, SRC, 3000, b, DST);
	vnet_settle(&pair->net);
	answer(SOFT_ACK, 0, 0x2c, 0);
	answer(SOFT_ACK, 0, 0x2c, 0);
	/* As harmless is what the peer misses meanwhile. */
	answer(SOFT_ACK, 0, 0x60, 0);
	IS(softpair_poll(a), 0);
	sent = 0;
	vnet_run(&pair->net, 639000, NULL, NULL);
	IS(sent, 0);
	vnet_run(&pair->net, 2000, NULL, NULL);
	/* One packet asks whether there is a receive now. */
	IS(sent, 1);
	OK(last.ack_req);
	answer(SOFT_ACK, 0, 0x2c, 0);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
	softpair_close(pair);
}

static void a_migrated_packet_with_marks_is_as_good(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_WRITE_ONLY, .pkey = 0x7fff,
				.dma_len = 4 };

	open_pair(NULL);
	hdr.qpn = b->qp->qpn;
	hdr.va = (uintptr_t)b->mem + DST;
	hdr.rkey = b->mr.mr.rkey;
	softpair_inject(pair, 1, &hdr, "word", 4);
	OK(!memcmp(b->mem + DST, "word", 5));
	softpair_close(pair);
}

static void a_soft_peer_has_a_small_identification(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_WRITE_ONLY,
				.pkey = ROCE_PKEY_DEFAULT,
				.dma_len = 4 };
	struct soft_tx tx = { .payload_len = 4, .iov_count = 1,
			      .iov = { { (char *)"word", 4 } } };
	struct vnet_packet packet;
	uint32_t icrc;
	int i;

	open_pair(NULL);
	tx.src = vnet_addr(a->io);
	tx.dst = vnet_addr(b->io);
	hdr.qpn = b->qp->qpn;
	hdr.va = (uintptr_t)b->mem + DST;
	hdr.rkey = b->mr.mr.rkey;
	tx.hdr_len = pier__soft_encode(&hdr, tx.hdr);
	vnet_build(&pair->net, &tx, &packet);
	icrc = pier__soft_icrc(&tx, 64);
	for (i = 0; i < 4; i++)
		packet.data[packet.len - 4 + i] = icrc >> 8 * i;
	vnet_deliver(&pair->net, &packet);
	vnet_settle(&pair->net);
	IS(counters(b)->bad_icrc, 1);
	IS(b->mem[DST], 0);
	softpair_close(pair);
}

static void a_packet_for_another_address_is_not_taken(void)
{
	struct soft_io *io;

	open_pair(NULL);
	softpair_state(b->qp, IBV_QPS_RESET);
	softpair_init(b->qp, &pair->opts);
	io = b->io;
	b->io = vnet_node(&pair->net, "192.0.2.8", 5000);
	IS(softpair_rtr(pair, 1, b->qp, a->qp->qpn), 0);
	b->io = io;
	ask(SOFT_WRITE_ONLY, 0, DST, 8);
	IS(counters(b)->dropped, 1);
	IS(b->mem[DST], 0);
	softpair_close(pair);
}

static void in_rtr_answers_are_dropped(void)
{
	open_pair(NULL);
	softpair_state(a->qp, IBV_QPS_RESET);
	softpair_init(a->qp, &pair->opts);
	IS(softpair_rtr(pair, 0, a->qp, b->qp->qpn), 0);
	answer(SOFT_ACK, 0, 0x1f, 0);
	IS(counters(a)->dropped, 1);
	softpair_close(pair);
}

static void a_receive_needs_the_right_to_write(void)
{
	struct softpair_opts opts = { .mr_access = IBV_ACCESS_REMOTE_READ };

	open_pair(&opts);
	IS(softpair_recv(b, 1, DST, 100), 0);
	ask(SOFT_SEND_ONLY, 0, 0, 8);
	IS(last.syndrome, 0x63);
	IS(softpair_poll(b), 1);
	IS(b->wc[0].status, IBV_WC_LOC_PROT_ERR);
	IS(b->mem[DST], 0);
	softpair_close(pair);
}

int main(void)
{
	TEST(a_repeated_read_stays_in_the_range_of_the_first);
	TEST(a_repeated_read_reads_anew);
	TEST(a_repeated_atomic_is_answered_and_not_done);
	TEST(memory_taken_away_is_not_read_for_an_answer);
	TEST(memory_taken_away_is_not_read_again);
	TEST(a_gap_is_reported_once);
	TEST(a_message_with_many_gaps_is_acknowledged_on_the_way);
	TEST(a_gap_that_is_filled_is_not_reported);
	TEST(a_gap_is_reported_in_spite_of_a_duplicate);
	TEST(a_duplicate_is_acknowledged_and_not_written);
	TEST(a_read_answer_that_does_not_fit_is_an_error);
	TEST(a_read_answer_begins_with_first_or_only);
	TEST(nor_does_it_begin_twice);
	TEST(a_read_that_is_requested_again_may_begin_or_go_on);
	TEST(answers_to_nothing_are_ghosts);
	TEST(an_acknowledgement_is_of_all_before_it);
	TEST(an_answer_behind_a_read_means_that_the_read_was_lost);
	TEST(the_same_rnr_nak_twice_is_one);
	TEST(a_migrated_packet_with_marks_is_as_good);
	TEST(a_soft_peer_has_a_small_identification);
	TEST(a_packet_for_another_address_is_not_taken);
	TEST(in_rtr_answers_are_dropped);
	TEST(a_receive_needs_the_right_to_write);
	return tap_done();
}
