/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/star.h"
#include "t/lib/tap.h"

/* Switches that mark packets, and what peers make of it, in virtual time. */
#define GBIT UINT64_C(1000000000)
#define US 1000
#define MS PIER__MS
#define QUEUE 200
#define MARK 20

static const struct softpair_opts plain;
static struct star *star;

static const struct soft_counters *counters(const struct soft_qp *qp)
{
	return qp->counters;
}

static void open_star(int clients, uint32_t mark, enum ibv_wr_opcode opcode,
		      uint16_t port)
{
	struct star_opts opts = {
		.clients = clients,
		.up = { .rate = 10 * GBIT, .latency = 25 * US },
		.server = { .rate = GBIT, .latency = 25 * US, .queue = QUEUE,
			    .mark = mark },
		.opcode = opcode,
		.pair.port = port,
	};

	star = star_open(&opts, 1);
}

/* Of the server, to which all is written. */
static struct vlink_counts bottleneck(void)
{
	return vlink_counts(star->server.down);
}

static void a_marked_packet_draws_a_cnp_each_50_us_at_most(void)
{
	const struct soft_qp *qp, *peer;

	open_star(1, MARK, IBV_WR_RDMA_WRITE, 0);
	qp = star->client[0].qp;
	peer = star->client[0].peer;
	star_run(star, 20 * MS);
	OK(counters(peer)->marked > counters(peer)->cnps_sent);
	OK(counters(peer)->cnps_sent > 0);
	OK(counters(peer)->cnps_sent <= 20 * MS / (50 * US));
	OK(counters(qp)->cnps_received > 0);
	OK(counters(qp)->cnps_received <= counters(peer)->cnps_sent);
	IS(counters(qp)->marked, 0);
	IS(counters(qp)->cnps_sent, 0);
	star_close(star);
}

static void nothing_is_lost_where_packets_are_marked(void)
{
	open_star(3, 0, IBV_WR_RDMA_WRITE, 0);
	star_run(star, 200 * MS);
	OK(bottleneck().dropped > 0);
	star_close(star);
	open_star(3, MARK, IBV_WR_RDMA_WRITE, 0);
	star_run(star, 20 * MS);		/* slow start ends */
	IS(bottleneck().dropped, 0);
	star_run(star, 180 * MS);
	IS(bottleneck().dropped, 0);
	OK((double)bottleneck().bytes > 0.95 * GBIT / 8 * 0.2);
	star_close(star);
}

/*
 * The requester's window is the limit: there is nothing to notify.  Where
 * nothing is marked the delay of the responses is what limits it, at some
 * 300,000 bytes; marks do before the queue is as long.
 */
static void marked_responses_of_a_soft_peer_reduce_the_window(void)
{
	const struct soft_qp *qp;
	uint32_t unmarked;

	open_star(1, 0, IBV_WR_RDMA_READ, 0);
	star_run(star, 20 * MS);
	unmarked = star->client[0].qp->cwnd->window;
	star_close(star);
	open_star(1, MARK, IBV_WR_RDMA_READ, 0);
	qp = star->client[0].qp;
	star_run(star, 20 * MS);
	OK(counters(qp)->marked > 0);
	IS(counters(qp)->cnps_sent, 0);
	OK(qp->cwnd->window < unmarked / 2);
	star_close(star);
}

static void of_those_of_a_roce_device_it_is_notified(void)
{
	open_star(1, MARK, IBV_WR_RDMA_READ, ROCE_UDP_PORT);
	star_run(star, 20 * MS);
	OK(counters(star->client[0].qp)->marked > 0);
	OK(counters(star->client[0].qp)->cnps_sent > 0);
	star_close(star);
}

/* Give the second end of @pair a CNP for @qpn. */
static void inject(struct softpair *pair, uint32_t qpn)
{
	struct soft_hdr hdr = { .opcode = SOFT_CNP, .qpn = qpn,
				.pkey = ROCE_PKEY_DEFAULT };
	static const uint8_t zero[16];

	softpair_inject(pair, 1, &hdr, zero, 16);
}

/* Not twice within a round trip, and not below two packets. */
static void a_cnp_halves_the_window(void)
{
	struct softpair *pair = softpair_open(&plain, 1);
	struct soft_qp *qp = pair->end[1].qp;
	uint32_t window = qp->cwnd->window;
	uint64_t sent = pair->net.sent;
	int i;

	qp->cwnd->rtt = MS;
	for (i = 0; i < 3; i++)
		inject(pair, qp->qpn);
	IS(qp->cwnd->window, window / 2);
	for (i = 0; i < 20; i++) {
		pair->net.now += MS;
		inject(pair, qp->qpn);
	}
	IS(qp->cwnd->window, 2 * SOFT_CWND_PACKET);
	IS(counters(qp)->cnps_received, 23);
	IS(counters(qp)->dropped, 0);
	IS(pair->net.sent, sent);
	IS(qp->state, IBV_QPS_RTS);
	softpair_close(pair);
}

static void one_for_a_qp_that_is_not_connected_is_dropped(void)
{
	struct softpair *pair = softpair_open(&plain, 1);
	struct soft_qp *qp = pair->end[1].qp;

	softpair_state(qp, IBV_QPS_ERR);
	inject(pair, qp->qpn);
	inject(pair, qp->qpn + 1);
	IS(pair->end[1].ep->counters->cnps_received, 0);
	IS(counters(qp)->cnps_received, 0);
	IS(pair->end[1].ep->counters->dropped, 2);
	softpair_close(pair);
}

int main(void)
{
	TEST(a_marked_packet_draws_a_cnp_each_50_us_at_most);
	TEST(nothing_is_lost_where_packets_are_marked);
	TEST(marked_responses_of_a_soft_peer_reduce_the_window);
	TEST(of_those_of_a_roce_device_it_is_notified);
	TEST(a_cnp_halves_the_window);
	TEST(one_for_a_qp_that_is_not_connected_is_dropped);
	return tap_done();
}
