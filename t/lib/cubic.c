/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/cubic.h"

#define MSS 1448
#define HEAD 24			/* TCP's and its options, less that of UDP */
#define WINDOW 4096		/* segments at most */
#define START 10
#define C 0.4
#define BETA 0.7
#define REORDER 3		/* segments that arrived later: it is lost */
#define RTO_MIN (200 * PIER__MS)
#define ROUND_SAMPLES 8		/* of HyStart */
#define ROUND_LEAST (4 * PIER__MS)
#define ROUND_MOST (16 * PIER__MS)

struct cubic_segment {
	uint64_t order, sent_at;
	bool acked, lost;
};

struct cubic {
	struct vnet_timer timer;	/* first */
	struct vnet *net;
	struct soft_io *src, *dst;
	struct cubic_segment segment[WINDOW];
	uint64_t una, nxt;
	uint64_t order, newest;		/* of transmissions; that arrived */
	uint64_t recover;		/* losses before are of one event */
	uint32_t inflight, lost, backoff;
	double cwnd, ssthresh, most, estimate;
	uint64_t epoch;			/* ns; 0: not in congestion avoidance */
	uint64_t rtt, var, rtt_min;
	uint64_t round_end, round_min;
	uint32_t round_samples;
	uint64_t arrived, sent, again;	/* segments */
};

static struct cubic_segment *at(struct cubic *cubic, uint64_t seq)
{
	return &cubic->segment[seq % WINDOW];
}

static void transmit(struct cubic *cubic, uint64_t seq)
{
	struct cubic_segment *segment = at(cubic, seq);
	struct vnet_packet packet = {
		.src = vnet_addr(cubic->src), .dst = vnet_addr(cubic->dst),
		.len = HEAD + MSS,
	};

	segment->order = ++cubic->order;
	segment->sent_at = cubic->net->now;
	segment->lost = false;
	memcpy(packet.data, &seq, sizeof(seq));
	memcpy(packet.data + 8, &segment->order, sizeof(segment->order));
	cubic->inflight++;
	cubic->sent++;
	vnet_send(cubic->src, &packet);
}

static uint64_t first_lost(struct cubic *cubic)
{
	uint64_t seq = cubic->una;

	while (!at(cubic, seq)->lost)
		seq++;
	return seq;
}

static void send_all(struct cubic *cubic)
{
	while (cubic->inflight < (uint32_t)cubic->cwnd) {
		if (cubic->lost) {
			cubic->lost--;
			cubic->again++;
			transmit(cubic, first_lost(cubic));
		} else if (cubic->nxt - cubic->una < WINDOW) {
			*at(cubic, cubic->nxt) = (struct cubic_segment){ 0 };
			transmit(cubic, cubic->nxt++);
		} else {
			break;
		}
	}
}

static void arm(struct cubic *cubic)
{
	uint64_t wait = cubic->rtt + 4 * cubic->var;

	if (wait < RTO_MIN)
		wait = RTO_MIN;
	if (!cubic->rtt)
		wait = 1000 * PIER__MS;
	vnet_timer_set(cubic->net, &cubic->timer,
		       cubic->net->now + (wait << cubic->backoff));
}

static void lose(struct cubic *cubic, struct cubic_segment *segment)
{
	segment->lost = true;
	cubic->lost++;
	cubic->inflight--;
}

/* With fast convergence. */
static void reduce(struct cubic *cubic)
{
	cubic->most = cubic->cwnd < cubic->most ?
			      cubic->cwnd * (1 + BETA) / 2 : cubic->cwnd;
	cubic->cwnd *= BETA;
	if (cubic->cwnd < 2)
		cubic->cwnd = 2;
	cubic->ssthresh = cubic->cwnd;
	cubic->epoch = 0;
	cubic->recover = cubic->order;
}

static void run(struct vnet *net, struct vnet_timer *timer)
{
	struct cubic *cubic = (struct cubic *)timer;
	uint64_t seq;

	(void)net;
	if (!cubic->nxt) {
		send_all(cubic);
		arm(cubic);
		return;
	}
	reduce(cubic);
	cubic->cwnd = 1;
	for (seq = cubic->una; seq < cubic->nxt; seq++)
		if (!at(cubic, seq)->acked && !at(cubic, seq)->lost)
			lose(cubic, at(cubic, seq));
	if (cubic->backoff < 6)
		cubic->backoff++;
	send_all(cubic);
	arm(cubic);
}

static void measure(struct cubic *cubic, uint64_t sample)
{
	uint64_t off = sample > cubic->rtt ? sample - cubic->rtt :
					     cubic->rtt - sample;

	cubic->backoff = 0;
	if (!cubic->rtt) {
		cubic->rtt = cubic->rtt_min = sample;
		cubic->var = sample / 2;
		return;
	}
	cubic->var = (3 * cubic->var + off) / 4;
	cubic->rtt = (7 * cubic->rtt + sample) / 8;
	if (cubic->rtt_min > sample)
		cubic->rtt_min = sample;
}

/* HyStart: does the round trip grow? */
static void end_of_slow_start(struct cubic *cubic, uint64_t sample)
{
	uint64_t more = cubic->rtt_min / 8;

	if (cubic->una >= cubic->round_end) {
		cubic->round_end = cubic->nxt;
		cubic->round_min = PIER__NEVER;
		cubic->round_samples = 0;
	}
	if (cubic->round_min > sample)
		cubic->round_min = sample;
	if (more < ROUND_LEAST)
		more = ROUND_LEAST;
	if (more > ROUND_MOST)
		more = ROUND_MOST;
	if (++cubic->round_samples >= ROUND_SAMPLES &&
	    cubic->round_min >= cubic->rtt_min + more)
		cubic->ssthresh = cubic->cwnd;
}

static void begin_epoch(struct cubic *cubic)
{
	cubic->epoch = cubic->net->now;
	cubic->estimate = cubic->cwnd;
	if (cubic->most < cubic->cwnd)
		cubic->most = cubic->cwnd;
}

/* Without a library of mathematics, which tests are not linked with. */
static double cube_root(double x)
{
	double root = 1 + x;
	int i;

	for (i = 0; x > 0 && i < 60; i++)
		root = (2 * root + x / (root * root)) / 3;
	return x > 0 ? root : 0;
}

/* Congestion avoidance, for one segment. */
static void avoid(struct cubic *cubic)
{
	double from, target, t;

	if (!cubic->epoch)
		begin_epoch(cubic);
	from = cubic->ssthresh < cubic->most ? cubic->ssthresh : cubic->most;
	t = 1e-9 * (cubic->net->now - cubic->epoch + cubic->rtt);
	t -= cube_root((cubic->most - from) / C);
	target = C * t * t * t + cubic->most;
	if (target > 1.5 * cubic->cwnd)
		target = 1.5 * cubic->cwnd;
	cubic->estimate += 3 * (1 - BETA) / (1 + BETA) / cubic->cwnd;
	if (target > cubic->cwnd)
		cubic->cwnd += (target - cubic->cwnd) / cubic->cwnd;
	if (cubic->cwnd < cubic->estimate)
		cubic->cwnd = cubic->estimate;
}

static void grow(struct cubic *cubic, uint64_t sample)
{
	if (cubic->cwnd < cubic->ssthresh) {
		end_of_slow_start(cubic, sample);
		cubic->cwnd++;
	} else {
		avoid(cubic);
	}
	if (cubic->cwnd > WINDOW)
		cubic->cwnd = WINDOW;
}

static void find_losses(struct cubic *cubic)
{
	struct cubic_segment *segment;
	uint64_t seq;

	for (seq = cubic->una; seq < cubic->nxt; seq++) {
		segment = at(cubic, seq);
		if (segment->acked || segment->lost ||
		    segment->order + REORDER > cubic->newest)
			continue;
		if (segment->order > cubic->recover)
			reduce(cubic);
		lose(cubic, segment);
	}
}

static void acked(void *arg, struct vnet_event *event)
{
	struct cubic *cubic = arg;
	struct cubic_segment *segment;
	uint64_t seq, order, sample;

	memcpy(&seq, event->packet.data, sizeof(seq));
	memcpy(&order, event->packet.data + 8, sizeof(order));
	free(event);
	segment = at(cubic, seq);
	if (seq < cubic->una || segment->acked)
		return;
	if (segment->lost)
		cubic->lost--;
	else
		cubic->inflight--;
	segment->lost = false;
	segment->acked = true;
	cubic->arrived++;
	sample = cubic->net->now - segment->sent_at;
	if (order == segment->order)
		measure(cubic, sample);
	if (cubic->newest < order)
		cubic->newest = order;
	while (cubic->una < cubic->nxt && at(cubic, cubic->una)->acked)
		cubic->una++;
	find_losses(cubic);
	if (!cubic->lost && cubic->newest >= cubic->recover)
		grow(cubic, sample);
	send_all(cubic);
	arm(cubic);
}

static void arrived(void *arg, struct vnet_event *event)
{
	struct cubic *cubic = arg;
	struct vnet_packet packet = {
		.src = vnet_addr(cubic->dst), .dst = vnet_addr(cubic->src),
		.len = HEAD,
	};

	memcpy(packet.data, event->packet.data, 16);
	free(event);
	vnet_send(cubic->dst, &packet);
}

struct cubic *cubic_open(struct vnet *net, struct soft_io *src,
			 struct soft_io *dst)
{
	struct cubic *cubic = calloc(1, sizeof(*cubic));

	if (!cubic)
		abort();
	cubic->timer.run = run;
	cubic->net = net;
	cubic->src = src;
	cubic->dst = dst;
	cubic->cwnd = START;
	cubic->ssthresh = WINDOW;
	vnet_taker(src, acked, cubic);
	vnet_taker(dst, arrived, cubic);
	vnet_timer_add(net);
	vnet_timer_set(net, &cubic->timer, net->now);
	return cubic;
}

void cubic_close(struct cubic *cubic)
{
	free(cubic);
}

uint64_t cubic_bytes(const struct cubic *cubic)
{
	return cubic->arrived * MSS;
}

double cubic_resent(const struct cubic *cubic)
{
	return (double)cubic->again / (double)cubic->sent;
}
