/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Responses to READs and atomics that are lost on the way: only those are
 * requested again, in virtual time.
 */
#define SECOND (1000 * PIER__MS)
#define WAY 50000		/* ns, one way */
#define MTU 4096
#define PSNS 1024
#define SRC (1u << 20)
#define LEN (16 * MTU)		/* of one request, as the window is at first */

static struct softpair *pair;
static struct softpair_end *a, *b;

/* What was sent, and which responses are lost. */
static struct reads_seen {
	uint8_t lose[PSNS];		/* so often */
	uint8_t seen[PSNS];		/* it has been requested */
	uint32_t span[PSNS];		/* packets of the first request there */
	uint32_t end[PSNS];		/* behind the first that had it */
	uint32_t ends;			/* requests again with another end */
	uint32_t requests, responses;
	uint32_t lose_request;		/* its PSN, once; 0: none */
	uint32_t ahead;			/* parts of what was not executed */
	uint32_t most;			/* parts at a time */
	uint64_t pause;			/* of b's, from a response on */
	uint32_t pause_psn;
	struct vnet_packet copy;	/* the last response of PSN 3 */
} watch;

static uint32_t big_endian(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

/* A part is not what was requested there first. */
static void look_request(uint32_t psn, const uint8_t *data)
{
	uint32_t len = big_endian(data + 24), packets = (len + MTU - 1) / MTU;
	const struct soft_board *board = a->qp->req.board;
	uint64_t seq = pier__soft_seq(b->qp->resp.epsn, psn);
	uint32_t i;

	watch.requests++;
	if (board && watch.most < board->parts)
		watch.most = board->parts;
	if (!watch.seen[psn % PSNS]) {
		watch.span[psn % PSNS] = packets;
		memset(watch.seen + psn % PSNS, 1, packets);
		for (i = 0; i < packets; i++)
			watch.end[(psn + i) % PSNS] = psn + packets;
	} else if (watch.span[psn % PSNS] != packets) {
		watch.ahead += seq + packets > b->qp->resp.epsn;
	}
	watch.ends += watch.end[psn % PSNS] != psn + packets;
}

static bool look(const struct vnet_packet *packet, void *arg)
{
	uint32_t psn = big_endian(packet->data + 8) & SOFT_PSN_MASK;
	uint8_t opcode = packet->data[0];

	(void)arg;
	if (opcode == SOFT_READ_REQUEST)
		look_request(psn, packet->data);
	if (opcode == SOFT_READ_REQUEST && psn && psn == watch.lose_request) {
		watch.lose_request = 0;
		return false;
	}
	if ((opcode < SOFT_READ_FIRST || opcode > SOFT_READ_ONLY) &&
	    opcode != SOFT_ATOMIC_ACK)
		return true;
	watch.responses++;
	if (psn == 3)
		watch.copy = *packet;
	if (watch.pause && psn == watch.pause_psn) {
		b->ep->send_at = pair->net.now + watch.pause;
		watch.pause = 0;
	}
	if (!watch.lose[psn % PSNS])
		return true;
	watch.lose[psn % PSNS]--;
	return false;
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

static void open_pair(uint16_t port, uint64_t seed)
{
	struct softpair_opts opts = { .mtu = MTU, .port = port };

	memset(&watch, 0, sizeof(watch));
	pair = softpair_open(&opts, seed);
	pair->net.latency = WAY;
	pair->net.tap = look;
	a = &pair->end[0];
	b = &pair->end[1];
	softpair_pattern(b->mem + SRC, 1u << 20, 3);
}

static void read_at(uint64_t id, uint32_t off, uint32_t len)
{
	IS(softpair_send(a, id, IBV_WR_RDMA_READ, off, len, b, SRC + off), 0);
}

/* The first one, of PSN 0, measures the round trip. */
static void warm_up(void)
{
	read_at(0, 0, 8);
	OK(softpair_wait(pair, 0, 1, SECOND));
	memset(a->mem, 0, SRC);
}

/* All of @count completed in order; nothing is left. */
static void is_done(uint32_t count)
{
	uint32_t i = 0;

	OK(softpair_wait(pair, 0, count, 20 * SECOND));
	OK(softpair_idle(pair));
	while (i < a->wcs && !a->wc[i].status && a->wc[i].wr_id == i)
		i++;
	IS(i, count);
	OK(!a->qp->req.board);
	IS(a->qp->req.inflight, 0);
	IS(a->qp->cwnd->inflight, 0);
	IS(a->qp->req.rd_atomic, 0);
	IS(b->qp->resp.part_count, 0);
	IS(b->qp->resp.res_todo, 0);
	IS(watch.ahead, 0);
}

/* One READ of 16 responses, of PSN 1 to 16: so many more packets are sent. */
static void read_again(uint32_t requests, uint32_t responses)
{
	read_at(1, 0, LEN);
	is_done(2);
	OK(softpair_is_pattern(a->mem, LEN, 3));
	IS(watch.requests, 2 + requests);
	IS(watch.responses, 17 + responses);
	IS(counters(a)->timeouts, 0);
	IS(counters(a)->resent, requests);
	softpair_close(pair);
}

static void a_lost_response_is_requested_alone(void)
{
	static const uint32_t psns[] = { 1, 2, 8, 15, 16 };
	unsigned int i;

	for (i = 0; i < sizeof(psns) / sizeof(*psns); i++) {
		open_pair(0, 1);
		warm_up();
		watch.lose[psns[i]] = 1;
		read_again(1, 1);
	}
}

static void the_only_response_is_requested_again(void)
{
	open_pair(0, 1);
	warm_up();
	watch.lose[1] = 1;
	read_at(1, 0, 8);
	is_done(2);
	OK(softpair_is_pattern(a->mem, 8, 3));
	IS(watch.responses, 3);
	IS(counters(a)->timeouts, 0);
	softpair_close(pair);
}

static void responses_in_a_row_are_one_part(void)
{
	open_pair(0, 1);
	warm_up();
	watch.lose[4] = watch.lose[5] = watch.lose[6] = 1;
	read_again(1, 3);
}

/* The second does not end the first. */
static void parts_of_one_read_are_independent(void)
{
	open_pair(0, 1);
	warm_up();
	watch.lose[1] = watch.lose[4] = watch.lose[9] = watch.lose[16] = 1;
	read_again(4, 4);
}

static void a_part_that_is_lost_is_requested_again(void)
{
	open_pair(0, 1);
	warm_up();
	watch.lose[4] = 2;
	read_again(2, 2);
	/* By one behind it that has arrived. */
	open_pair(0, 1);
	warm_up();
	watch.lose[4] = 2;
	watch.lose[9] = 1;
	read_again(3, 3);
}

static void all_responses_may_be_lost(void)
{
	open_pair(0, 1);
	warm_up();
	memset(watch.lose + 1, 1, 16);
	read_again(1, 16);
}

static void what_is_behind_a_lost_response_is_not_sent_again(void)
{
	uint32_t i;

	open_pair(0, 1);
	warm_up();
	watch.lose[3] = 1;
	read_at(1, 0, LEN);
	for (i = 2; i < 40; i++)
		softpair_send(a, i, IBV_WR_RDMA_WRITE, LEN, MTU, b, 0);
	is_done(40);
	OK(softpair_is_pattern(a->mem, LEN, 3));
	IS(counters(a)->resent, 1);
	IS(watch.responses, 18);
	softpair_close(pair);
}

/* A lost response of an atomic has its result, and it is executed once. */
static void atomics_between_are_executed_once(void)
{
	uint64_t *word, *result;

	open_pair(0, 1);
	warm_up();
	word = (uint64_t *)(void *)b->mem;
	result = (uint64_t *)(void *)(a->mem + 2 * LEN);
	*word = 100;
	watch.lose[16] = watch.lose[20] = 1;
	watch.lose[17] = 2;
	read_at(1, 0, LEN);
	softpair_send(a, 2, IBV_WR_ATOMIC_FETCH_AND_ADD, 2 * LEN, 8, b, 0);
	read_at(3, LEN, LEN);
	softpair_send(a, 4, IBV_WR_ATOMIC_FETCH_AND_ADD, 2 * LEN + 8, 8, b, 0);
	is_done(5);
	OK(softpair_is_pattern(a->mem, 2 * LEN, 3));
	IS(*word, 106);
	IS(result[0], 100);
	IS(result[1], 102);
	IS(counters(a)->timeouts, 0);
	softpair_close(pair);
}

/* Of 128 responses each second one. */
static void parts_are_bounded(void)
{
	uint32_t i;

	open_pair(0, 1);
	warm_up();
	a->qp->cwnd->window = 256 * (MTU + SOFT_PACKET_COST);
	for (i = 1; i < 129; i += 2)
		watch.lose[i] = 1;
	read_at(1, 0, 128 * MTU);
	is_done(2);
	OK(softpair_is_pattern(a->mem, 128 * MTU, 3));
	IS(watch.most, SOFT_PARTS);
	IS(watch.responses, 129 + 64);
	IS(counters(a)->timeouts, 0);
	softpair_close(pair);
}

/* The responder pauses after 64 of 128 responses, of which @psn is lost. */
static void pause(uint32_t psn)
{
	open_pair(0, 1);
	warm_up();
	a->qp->cwnd->window = 256 * (MTU + SOFT_PACKET_COST);
	watch.lose[psn] = 1;
	watch.pause = 20 * PIER__MS;
	watch.pause_psn = 2;
	read_at(1, 0, 128 * MTU);
	read_at(2, 128 * MTU, 8);
	is_done(3);
	OK(softpair_is_pattern(a->mem, 128 * MTU + 8, 3));
	OK(!watch.pause);
	softpair_close(pair);
}

static void a_slow_responder_is_asked_for_what_it_has_executed(void)
{
	pause(5);
	pause(40);
	pause(64);
	pause(65);
	pause(128);
}

/* It repeats nothing that is still to be sent. */
static void a_responder_that_has_sent_nothing_repeats_nothing(void)
{
	open_pair(0, 1);
	warm_up();
	b->ep->send_at = pair->net.now + 3 * PIER__MS;
	read_at(1, 0, LEN);
	is_done(2);
	OK(softpair_is_pattern(a->mem, LEN, 3));
	OK(counters(a)->resent);
	IS(watch.responses, 17);
	softpair_close(pair);
}

/* The responses to the second wait for it, and have the window meanwhile. */
static void a_lost_request_is_sent_without_space_in_the_window(void)
{
	open_pair(0, 1);
	warm_up();
	a->qp->cwnd->window = 32 * SOFT_CWND_PACKET;
	watch.lose_request = 1;
	read_at(1, 0, LEN);
	read_at(2, LEN, LEN);
	OK(!softpair_wait(pair, 0, 2, WAY));
	IS(watch.requests, 3);
	a->qp->cwnd->window = a->qp->cwnd->ssthresh = 24 * SOFT_CWND_PACKET;
	is_done(3);
	OK(softpair_is_pattern(a->mem, 2 * LEN, 3));
	IS(counters(a)->resent, 1);
	IS(counters(a)->timeouts, 0);
	softpair_close(pair);
}

static void stale_responses_of_parts_are_dropped(void)
{
	open_pair(0, 1);
	warm_up();
	watch.lose[2] = 2;
	watch.lose[3] = 1;
	watch.lose[5] = 1;
	read_at(1, 0, LEN);
	vnet_run(&pair->net, 5 * WAY, NULL, NULL);
	IS(a->qp->req.una & SOFT_PSN_MASK, 2);
	OK(pier__soft_board_is_answered(a->qp, a->qp->req.una + 3));
	vnet_deliver(&pair->net, &watch.copy);
	is_done(2);
	vnet_deliver(&pair->net, &watch.copy);
	vnet_settle(&pair->net);
	is_done(2);
	IS(counters(a)->stale, 2);
	OK(softpair_is_pattern(a->mem, LEN, 3));
	softpair_close(pair);
}

static void faults_at_random(uint64_t seed)
{
	uint32_t posted = 1, i;

	open_pair(0, seed);
	warm_up();
	pair->net.faults.loss = 0.05;
	pair->net.faults.duplicate = 0.1;
	pair->net.faults.reorder = 0.1;
	pair->net.faults.refuse = seed % 2 ? 0.1 : 0;
	for (i = 0; i < 12; i++) {
		read_at(posted++, i * 70000, 70000);
		softpair_send(a, posted++, IBV_WR_ATOMIC_FETCH_AND_ADD,
			      SRC, 8, b, 0);
		softpair_send(a, posted++, IBV_WR_RDMA_WRITE, SRC + 8, 20000,
			      b, 8);
	}
	is_done(posted);
	OK(softpair_is_pattern(a->mem, 12 * 70000, 3));
	softpair_close(pair);
}

static void whatever_is_lost_reads_are_whole(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++)
		faults_at_random(seed);
}

/* With it not announced, or to a RoCE device, all behind is requested again. */
static void others_go_back(uint16_t port, bool selective)
{
	open_pair(port, 1);
	a->qp->selective &= selective;
	b->qp->selective &= selective;
	warm_up();
	watch.lose[4] = watch.lose[9] = 1;
	read_at(1, 0, LEN);
	is_done(2);
	OK(softpair_is_pattern(a->mem, LEN, 3));
	IS(counters(a)->early, 0);
	IS(counters(a)->selective_resent, 0);
	OK(watch.responses > 17 + 8);
	softpair_close(pair);
}

static void a_peer_without_it_is_asked_for_the_rest(void)
{
	others_go_back(ROCE_UDP_PORT, true);
	others_go_back(0, false);
}

/*
 * In incast a READ is requested by the packet.  Two READs of 16 responses, all
 * of which are lost once, and two that are sent behind them.
 */
static void read_in_incast(uint16_t port, bool selective)
{
	open_pair(port, 1);
	a->qp->selective &= selective;
	b->qp->selective &= selective;
	warm_up();
	/* As if others had responded. */
	a->ep->senders = (struct soft_senders){
		.begun_at = pair->net.now, .period = 1, .count = 15,
		.reported = 4,
	};
	a->qp->cwnd->rtt = 0;		/* no probe of the last one */
	memset(watch.lose + 1, 1, 32);
	read_at(1, 0, LEN);
	read_at(2, LEN, LEN);
	OK(!softpair_wait(pair, 0, 2, 3 * WAY));
	IS(watch.requests, 3);
	OK(softpair_wait(pair, 0, 2, SECOND));
	IS(a->qp->cwnd->incast, true);
	read_at(3, 2 * LEN, LEN);
	is_done(4);
	OK(softpair_is_pattern(a->mem, 3 * LEN, 3));
	IS(watch.span[1], 16);
	IS(watch.span[33], 1);
}

/* Soft-RoCE ignores a repeated request that has another end. */
static void a_roce_device_is_asked_for_the_same_again(void)
{
	read_in_incast(ROCE_UDP_PORT, true);
	IS(watch.ends, 0);
	softpair_close(pair);
	read_in_incast(0, false);
	IS(watch.ends, 0);
	softpair_close(pair);
}

static void a_soft_peer_is_asked_for_a_packet_each(void)
{
	read_in_incast(0, true);
	OK(watch.ends);
	softpair_close(pair);
}

/* Of a READ that waits, a response of @len bytes that is ahead by two. */
static void forge(uint8_t opcode, uint32_t len, enum ibv_wc_status status)
{
	struct soft_hdr hdr = { .opcode = opcode, .pkey = 0xffff,
				.syndrome = SOFT_SYN_ACK };
	static const uint8_t data[MTU];

	open_pair(0, 1);
	warm_up();
	vnet_attach(b->io, NULL);
	read_at(1, 0, LEN);
	vnet_settle(&pair->net);
	hdr.qpn = a->qp->qpn;
	hdr.psn = (a->qp->req.una + 2) & SOFT_PSN_MASK;
	softpair_inject(pair, 0, &hdr, data, len);
	if (status)
		IS(softpair_poll(a), 2);
	IS(a->wc[1].status, status);
	IS(counters(a)->early, !status && opcode == SOFT_READ_MIDDLE);
	softpair_close(pair);
}

static void what_is_no_response_of_its_place_is_an_error(void)
{
	forge(SOFT_READ_MIDDLE, MTU, IBV_WC_SUCCESS);
	forge(SOFT_READ_MIDDLE, 100, IBV_WC_BAD_RESP_ERR);
	forge(SOFT_READ_FIRST, MTU, IBV_WC_BAD_RESP_ERR);
	forge(SOFT_READ_LAST, MTU, IBV_WC_BAD_RESP_ERR);
	forge(SOFT_READ_ONLY, MTU, IBV_WC_BAD_RESP_ERR);
	forge(SOFT_ATOMIC_ACK, 0, IBV_WC_SUCCESS);
}

int main(void)
{
	TEST(a_lost_response_is_requested_alone);
	TEST(the_only_response_is_requested_again);
	TEST(responses_in_a_row_are_one_part);
	TEST(parts_of_one_read_are_independent);
	TEST(a_part_that_is_lost_is_requested_again);
	TEST(all_responses_may_be_lost);
	TEST(what_is_behind_a_lost_response_is_not_sent_again);
	TEST(atomics_between_are_executed_once);
	TEST(parts_are_bounded);
	TEST(a_slow_responder_is_asked_for_what_it_has_executed);
	TEST(a_responder_that_has_sent_nothing_repeats_nothing);
	TEST(a_lost_request_is_sent_without_space_in_the_window);
	TEST(stale_responses_of_parts_are_dropped);
	TEST(whatever_is_lost_reads_are_whole);
	TEST(a_peer_without_it_is_asked_for_the_rest);
	TEST(a_roce_device_is_asked_for_the_same_again);
	TEST(a_soft_peer_is_asked_for_a_packet_each);
	TEST(what_is_no_response_of_its_place_is_an_error);
	return tap_done();
}
