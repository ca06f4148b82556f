/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Selective acknowledgements: what is lost on the way is sent again alone, in
 * virtual time.
 */
#define SECOND (1000 * PIER__MS)
#define WAY 50000		/* ns, one way */
#define LEN (1u << 20)		/* of a message */
#define DST (1u << 20)
#define FLIGHT 4		/* messages at a time */

static struct softpair *pair;
static struct softpair_end *a, *b;

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

static void open_pair(const struct softpair_opts *opts, uint64_t seed)
{
	static const struct softpair_opts usual = { .mtu = 4096 };

	pair = softpair_open(opts ? opts : &usual, seed);
	pair->net.latency = WAY;
	a = &pair->end[0];
	b = &pair->end[1];
}

static bool post(enum ibv_wr_opcode opcode, int id)
{
	if (opcode == IBV_WR_SEND && softpair_recv(b, (uint64_t)id, DST, LEN))
		return false;
	return !softpair_send(a, (uint64_t)id, opcode, 0, LEN, b, DST);
}

/* @count messages.  Returns the time that they take, ns. */
static uint64_t move(enum ibv_wr_opcode opcode, int count)
{
	uint64_t start = pair->net.now;
	int posted = 0, done = 0;

	softpair_poll(b);
	a->wcs = b->wcs = 0;
	while (done < count && pair->net.now < start + 10 * SECOND) {
		while (posted < count && posted - done < FLIGHT)
			if (!OK(post(opcode, posted++)))
				return PIER__NEVER;
		softpair_wait(pair, 0, (uint32_t)done + 1, SECOND);
		done = (int)softpair_poll(a);
	}
	return pair->net.now - start;
}

/* All of @end's completions, in order, without an error. */
static void in_order(const struct softpair_end *end, uint32_t count)
{
	uint32_t i = 0;

	IS(end->wcs, count);
	while (i < end->wcs && !end->wc[i].status && end->wc[i].wr_id == i)
		i++;
	IS(i, count);
}

static uint64_t time_with(enum ibv_wr_opcode opcode,
			  const struct vnet_faults *faults)
{
	uint64_t took;

	open_pair(NULL, 1);
	move(opcode, 16);		/* the window grows */
	pair->net.faults = *faults;
	softpair_pattern(a->mem, LEN, 5);
	took = move(opcode, 200);
	softpair_poll(b);
	in_order(a, 200);
	if (opcode == IBV_WR_SEND)
		in_order(b, 200);
	OK(softpair_is_pattern(b->mem + DST, LEN, 5));
	tap_note("%2.0f %% lost, %2.0f %% reordered: %.1f ms, %lu packets, "
		 "%lu again", 100 * faults->loss, 100 * faults->reorder,
		 took / 1e6, (unsigned long)counters(a)->tx_packets,
		 (unsigned long)counters(a)->resent);
	IS(counters(a)->timeouts, 0);
	IS(b->ep->early, 0);
	softpair_close(pair);
	return took;
}

/* At 100 us there and back: shares of what it does without a fault. */
static void passes(enum ibv_wr_opcode opcode)
{
	static const struct {
		struct vnet_faults faults;
		unsigned int percent;
	} rows[] = {
		{ { .loss = 0.01 }, 90 },
		{ { .loss = 0.05 }, 70 },
		{ { .reorder = 0.01 }, 95 },
	};
	uint64_t clean = time_with(opcode, &(struct vnet_faults){ 0 });
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		OK(clean * 100 >=
		   time_with(opcode, &rows[i].faults) * rows[i].percent);
}

static void writes_hardly_notice_losses(void)
{
	passes(IBV_WR_RDMA_WRITE);
}

static void sends_hardly_notice_losses(void)
{
	passes(IBV_WR_SEND);
}

struct watch {
	uint32_t announced, bitmaps;
	int lose;		/* requests, the next ones */
};

static bool look(const struct vnet_packet *packet, void *arg)
{
	struct watch *watch = arg;

	watch->announced += packet->data[8] & SOFT_SELECTIVE;
	watch->bitmaps += packet->data[0] == SOFT_ACK && packet->len > 20;
	if (packet->data[0] == SOFT_ACK || !watch->lose)
		return true;
	watch->lose--;
	return false;
}

/* Each of 240 messages of one packet arrives, though some are lost. */
static void arrives(struct watch *watch, double loss)
{
	uint64_t i;

	pair->net.faults.loss = loss;
	pair->net.tap = look;
	pair->net.tap_arg = watch;
	for (i = 0; i < 240; i++) {
		softpair_recv(b, i, DST, 64);
		softpair_send(a, i, IBV_WR_SEND, 0, 64, b, 0);
	}
	OK(softpair_wait(pair, 0, 240, 60 * SECOND));
	softpair_poll(b);
	in_order(a, 240);
	in_order(b, 240);
}

static void a_roce_device_sees_nothing_new(void)
{
	struct softpair_opts opts = { .port = ROCE_UDP_PORT };
	struct watch watch = { 0 };

	open_pair(&opts, 1);
	arrives(&watch, 0.1);
	IS(watch.announced, 0);
	IS(watch.bitmaps, 0);
	IS(counters(b)->early, 0);
	OK(counters(b)->out_of_order);
	softpair_close(pair);
}

static void who_does_not_announce_it_gets_none(void)
{
	struct watch watch = { 0 };

	open_pair(NULL, 1);
	a->qp->selective = false;
	arrives(&watch, 0.1);
	OK(watch.announced);
	IS(watch.bitmaps, 0);
	IS(counters(b)->early, 0);
	softpair_close(pair);
}

static void only_what_is_lost_is_sent_again(void)
{
	struct watch watch = { .lose = 1 };

	open_pair(NULL, 1);
	arrives(&watch, 0);
	OK(watch.bitmaps);
	IS(counters(a)->resent, 1);
	IS(counters(a)->selective_resent, 1);
	IS(counters(b)->early, 239);
	IS(counters(b)->out_of_order, 0);
	OK(counters(b)->selective_sent);
	IS(counters(a)->selective_received, counters(b)->selective_sent);
	softpair_close(pair);
}

/* Once its round trip is known, the last one is not left to the timer. */
static void a_last_packet_that_is_lost_is_probed_for(void)
{
	struct watch watch = { 0 };
	uint64_t start;

	open_pair(NULL, 1);
	arrives(&watch, 0);
	watch.lose = 1;
	start = pair->net.now;
	softpair_send(a, 240, IBV_WR_RDMA_WRITE, 0, 8, b, 0);
	OK(softpair_wait(pair, 0, 241, SECOND));
	OK(pair->net.now - start < 2 * PIER__MS);
	IS(counters(a)->tail_probes, 1);
	IS(counters(a)->timeouts, 0);
	IS(counters(a)->resent, 1);
	softpair_close(pair);
}

/* What is too much is dropped, and requested as from a RoCE device. */
static void what_is_held_is_bounded(void)
{
	struct watch watch = { .lose = 1 };
	uint64_t early;

	open_pair(NULL, 1);
	b->ep->early = SOFT_EARLY_EP - 3;
	arrives(&watch, 0);
	OK(counters(b)->early >= 3);
	OK(counters(b)->out_of_order > 200);
	IS(b->ep->early, SOFT_EARLY_EP - 3);
	b->ep->early = SOFT_EARLY_EP;
	early = counters(b)->early;
	watch.lose = 1;
	a->wcs = b->wcs = 0;
	arrives(&watch, 0);
	IS(counters(b)->early, early);
	IS(b->ep->early, SOFT_EARLY_EP);
	softpair_close(pair);
}

/* Post 100 requests of one packet, the first of which is lost. */
static void lose_one_of_100(enum ibv_wr_opcode opcode)
{
	static struct watch watch;
	uint64_t i;

	watch.lose = 1;
	open_pair(NULL, 1);
	pair->net.tap = look;
	pair->net.tap_arg = &watch;
	for (i = 0; i < 100; i++)
		softpair_send(a, i, opcode, 0, 64, b, 0);
}

static void what_is_held_waits_for_receives(void)
{
	uint64_t i;

	lose_one_of_100(IBV_WR_SEND);
	softpair_recv(b, 0, DST, 64);
	OK(softpair_wait(pair, 1, 1, SECOND));
	OK(b->ep->early > 50);
	for (i = 1; i < 100; i++) {
		vnet_run(&pair->net, PIER__MS / 3, NULL, NULL);
		softpair_recv(b, i, DST, 64);
	}
	OK(softpair_wait(pair, 0, 100, 10 * SECOND));
	softpair_poll(b);
	in_order(a, 100);
	in_order(b, 100);
	IS(b->ep->early, 0);
	softpair_close(pair);
}

/* It may cost time, but completes nothing that did not arrive. */
static void bitmaps_that_lie_do_no_harm(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_ACK, .pkey = 0xffff,
				.syndrome = SOFT_NAK_SEQUENCE };
	struct watch watch = { 0 };
	uint8_t bits[4096];
	uint64_t i, una;

	open_pair(NULL, 1);
	arrives(&watch, 0);
	vnet_attach(b->io, NULL);
	for (i = 240; i < 400; i++)
		softpair_send(a, i, i % 3 ? IBV_WR_RDMA_WRITE :
			      IBV_WR_RDMA_READ, 0, 9000, b, DST);
	vnet_settle(&pair->net);
	una = a->qp->req.una;
	hdr.qpn = a->qp->qpn;
	for (i = 0; i < 2000; i++) {
		memset(bits, i % 4 ? (int)vnet_random(&pair->net) : 0xff,
		       sizeof(bits));
		hdr.psn = una & SOFT_PSN_MASK;
		softpair_inject(pair, 0, &hdr, bits,
				(uint32_t)vnet_random(&pair->net) % 4097);
	}
	IS(a->qp->req.una, una);
	IS(softpair_poll(a), 240);
	vnet_attach(b->io, b->ep);
	OK(softpair_wait(pair, 0, 400, 10 * SECOND));
	in_order(a, 400);
	IS(a->qp->req.inflight, 0);
	IS(a->qp->cwnd->inflight, 0);
	softpair_close(pair);
}

/* The peer dies while packets are missing. */
static void a_peer_that_dies_is_given_up(void)
{
	lose_one_of_100(IBV_WR_RDMA_WRITE);
	vnet_run(&pair->net, 2 * WAY + WAY / 5, NULL, NULL);
	OK(a->qp->req.board);
	OK(b->ep->early);
	vnet_attach(b->io, NULL);
	OK(softpair_wait(pair, 0, 100, 10 * SECOND));
	IS(a->wc[0].status, IBV_WC_RETRY_EXC_ERR);
	IS(a->wc[99].status, IBV_WC_WR_FLUSH_ERR);
	OK(!a->qp->req.board);
	IS(a->qp->cwnd->inflight, 0);
	softpair_state(b->qp, IBV_QPS_ERR);
	IS(b->ep->early, 0);
	softpair_close(pair);
}

/* Two losses: of all for 20 ms, and of one when that is sent again. */
struct outage {
	uint64_t end;
	int to_lose;		/* this one, of what follows the probe */
	uint64_t timeouts;	/* until then */
};

static bool outage(const struct vnet_packet *packet, void *arg)
{
	struct outage *outage = arg;

	if (packet->data[0] == SOFT_ACK)
		return true;
	if (pair->net.now < outage->end)
		return false;
	if (a->qp->req.probe || --outage->to_lose)
		return true;
	outage->timeouts = counters(a)->timeouts;
	return false;
}

static void lose_after_going_back(int to_lose, uint32_t window)
{
	struct outage lost = { .to_lose = to_lose };
	int i;

	open_pair(NULL, 1);
	move(IBV_WR_RDMA_WRITE, 16);
	lost.end = pair->net.now + 20 * PIER__MS;
	pair->net.tap = outage;
	pair->net.tap_arg = &lost;
	for (i = 16; i < 20; i++)
		post(IBV_WR_RDMA_WRITE, i);
	OK(!softpair_wait(pair, 0, 20, 2 * PIER__MS));
	a->qp->cwnd->window = window * (4096 + SOFT_PACKET_COST);
	a->qp->cwnd->ssthresh = a->qp->cwnd->window;
	OK(softpair_wait(pair, 0, 20, SECOND));
	in_order(a, 20);
	OK(lost.timeouts);
	IS(counters(a)->timeouts, lost.timeouts);
	softpair_close(pair);
}

static void a_loss_after_going_back_is_not_left_to_the_timer(void)
{
	lose_after_going_back(5, 16);
	lose_after_going_back(5, 32);
	lose_after_going_back(20, 64);
	lose_after_going_back(5, 128);
}

/* As @a would send it, @ahead of what @b expects: a write of 64 times @byte. */
static void forge(uint64_t ahead, int byte, uint32_t off)
{
	struct soft_hdr hdr = { .opcode = SOFT_WRITE_ONLY, .pkey = 0xffff,
				.selective = true, .dma_len = 64 };
	uint8_t data[64];

	memset(data, byte, sizeof(data));
	hdr.qpn = b->qp->qpn;
	hdr.psn = (b->qp->resp.epsn + ahead) & SOFT_PSN_MASK;
	hdr.va = (uintptr_t)b->mem + off;
	hdr.rkey = b->mr.mr.rkey;
	softpair_inject(pair, 1, &hdr, data, sizeof(data));
}

static void what_was_never_sent_does_not_slow_the_rest(void)
{
	uint32_t i;

	open_pair(NULL, 1);
	post(IBV_WR_RDMA_WRITE, 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	forge(900, 0x66, 0);
	IS(b->ep->early, 1);
	for (i = 1; i < 800; i++) {
		softpair_send(a, i, IBV_WR_RDMA_WRITE, 0, 64, b, DST);
		if (!softpair_wait(pair, 0, i + 1, 2 * WAY + PIER__MS / 2))
			break;
	}
	IS(i, 800);
	in_order(a, i);
	IS(counters(a)->stale, 0);
	IS(counters(a)->resent, 0);
	softpair_close(pair);
}

/* What @a sends is that, whichever of the two arrives first. */
static void forge_one_of_ten(bool before)
{
	struct watch watch = { .lose = 1 };
	uint32_t i;

	open_pair(NULL, 1);
	move(IBV_WR_RDMA_WRITE, 4);
	pair->net.tap = look;
	pair->net.tap_arg = &watch;
	softpair_pattern(a->mem, LEN, 7);
	if (before)
		forge(3, 0x66, 0);
	vnet_run(&pair->net, 2 * WAY, NULL, NULL);
	for (i = 0; i < 10; i++)
		softpair_send(a, 4 + i, IBV_WR_RDMA_WRITE, 64 * i, 64, b,
			      DST + 64 * i);
	vnet_run(&pair->net, WAY + WAY / 2, NULL, NULL);
	IS(b->ep->early, before ? 8 : 9);
	if (!before)
		forge(3, 0x66, 0);
	IS(b->ep->early, 8);
	OK(softpair_wait(pair, 0, 14, SECOND));
	in_order(a, 14);
	OK(softpair_is_pattern(b->mem + DST, 640, 7));
	for (i = 0; i < 64 && !b->mem[i]; )
		i++;
	IS(i, 64);
	IS(counters(a)->resent, 2);
	IS(counters(a)->timeouts, 0);
	softpair_close(pair);
}

static void a_forged_copy_does_not_take_the_place_of_one_held(void)
{
	forge_one_of_ten(true);
	forge_one_of_ten(false);
}

static void a_bitmap_of_nothing_takes_no_memory(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_ACK, .pkey = 0xffff,
				.syndrome = SOFT_NAK_SEQUENCE };
	uint8_t bits[SOFT_EARLY / 8] = { 0 };

	open_pair(NULL, 1);
	vnet_attach(b->io, NULL);
	softpair_send(a, 0, IBV_WR_RDMA_WRITE, 0, 64, b, 0);
	softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 64, b, 0);
	vnet_settle(&pair->net);
	hdr.qpn = a->qp->qpn;
	hdr.psn = a->qp->req.una & SOFT_PSN_MASK;
	bits[0] = 0xfe;			/* those that were not sent */
	softpair_inject(pair, 0, &hdr, bits, sizeof(bits));
	IS(counters(a)->selective_received, 1);
	OK(!a->qp->req.board);
	bits[0] = 1;
	softpair_inject(pair, 0, &hdr, bits, sizeof(bits));
	OK(a->qp->req.board);
	softpair_close(pair);
}

static bool probes(void *arg)
{
	(void)arg;
	return a->qp->req.probe;
}

/* What a probe is for: the window is not known to be free. */
static void a_bitmap_does_not_widen_a_probe(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_ACK, .pkey = 0xffff,
				.syndrome = SOFT_NAK_SEQUENCE };
	const struct soft_req *req;
	uint8_t bits[SOFT_EARLY / 8];
	uint64_t i, sent;

	open_pair(NULL, 1);
	req = &a->qp->req;
	vnet_attach(b->io, NULL);
	softpair_send(a, 0, IBV_WR_RDMA_WRITE, 0, 64, b, 0);
	OK(vnet_run(&pair->net, SECOND, probes, NULL));
	for (i = 1; i < 200; i++)
		softpair_send(a, i, IBV_WR_RDMA_WRITE, 0, 4096, b, 0);
	vnet_settle(&pair->net);
	OK(req->probe);
	IS(req->nxt, req->una + 1);
	sent = counters(a)->tx_packets;
	memset(bits, 0xff, sizeof(bits));
	hdr.qpn = a->qp->qpn;
	hdr.psn = req->una & SOFT_PSN_MASK;
	softpair_inject(pair, 0, &hdr, bits, sizeof(bits));
	vnet_settle(&pair->net);
	IS(counters(a)->selective_received, 1);
	IS(counters(a)->tx_packets, sent);
	vnet_attach(b->io, b->ep);
	OK(softpair_wait(pair, 0, 200, 10 * SECOND));
	in_order(a, 200);
	softpair_close(pair);
}

int main(void)
{
	TEST(writes_hardly_notice_losses);
	TEST(sends_hardly_notice_losses);
	TEST(a_roce_device_sees_nothing_new);
	TEST(who_does_not_announce_it_gets_none);
	TEST(only_what_is_lost_is_sent_again);
	TEST(a_last_packet_that_is_lost_is_probed_for);
	TEST(what_is_held_is_bounded);
	TEST(what_is_held_waits_for_receives);
	TEST(bitmaps_that_lie_do_no_harm);
	TEST(a_peer_that_dies_is_given_up);
	TEST(a_loss_after_going_back_is_not_left_to_the_timer);
	TEST(what_was_never_sent_does_not_slow_the_rest);
	TEST(a_forged_copy_does_not_take_the_place_of_one_held);
	TEST(a_bitmap_of_nothing_takes_no_memory);
	TEST(a_bitmap_does_not_widen_a_probe);
	return tap_done();
}
