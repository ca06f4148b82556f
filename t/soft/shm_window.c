/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>

#include "t/lib/counted.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/* The window of a peer of shared memory, between which is no network. */
#define LEN (1u << 20)
#define PART 60000		/* by the ring */
#define WRITES 40		/* more than it has space for */

static struct shmpair it;
static struct pier_buf *src[WRITES], *dst[WRITES];
static int status[WRITES];

static void post(int i)
{
	src[i] = peer_data(&it.a, 0, PART);
	dst[i] = peer_far_tail(&it.a, 0, PART);
	status[i] = -EINPROGRESS;
	IS(pier_rdma_write(it.a.conn, src[i], dst[i], peer_done, &status[i]),
	   0);
}

static void finish(int i)
{
	IS(peer_await(&status[i]), 0);
	pier_buf_put(src[i]);
	pier_buf_put(dst[i]);
}

static void drive(struct soft_ep *ep)
{
	pier__soft_ep_enter(ep);
	pier__soft_ep_drive(ep);
	pier__soft_ep_leave(ep);
}

static uint32_t window_of(struct peer *peer)
{
	struct soft_ep *ep = shmpair_ep(peer);
	uint32_t window;

	pier__soft_ep_enter(ep);
	window = shmpair_qp(peer)->cwnd->window;
	pier__soft_ep_leave(ep);
	return window;
}

static void progress(struct soft_ep *ep, struct soft_qp *qp)
{
	pier__soft_ep_enter(ep);
	qp->req.progressed = true;
	pier__soft_ep_leave(ep);
}

/* As if something had been acknowledged before. */
static void a_peer_that_is_not_scheduled_does_not_cut_it(void)
{
	long long limit = limit_from_now();
	struct soft_ep *ep, *far;
	struct soft_qp *qp;
	uint32_t window;

	if (shmpair_begin(&it, false, LEN)) {
		qp = shmpair_qp(&it.a);
		ep = shmpair_ep(&it.a);
		far = shmpair_ep(&it.b);
		window = window_of(&it.a);
		pier__soft_ep_enter(far);
		post(0);
		drive(ep);
		progress(ep, qp);
		while (counted_conn(it.a.conn, "timeouts") < 2 &&
		       limit_nap(limit))
			drive(ep);
		pier__soft_ep_leave(far);
		finish(0);
		IS(window_of(&it.a), window);
		OK(window > SOFT_CWND_MAX / 2);
	}
	shmpair_end(&it);
}

/* Nor does an answer that takes longer than any before. */
static void a_late_answer_does_not_cut_it(void)
{
	struct soft_cwnd *cwnd;
	struct soft_ep *ep;
	uint32_t window;
	int i;

	if (shmpair_begin(&it, false, LEN)) {
		ep = shmpair_ep(&it.a);
		cwnd = shmpair_qp(&it.a)->cwnd;
		pier__soft_ep_enter(ep);
		window = cwnd->window;
		for (i = 0; i < 4; i++) {
			ep->now += 1000000000;
			pier__soft_cwnd_rtt(ep, cwnd, 500000000);
		}
		IS(cwnd->window, window);
		pier__soft_ep_leave(ep);
	}
	shmpair_end(&it);
}

/*
 * A ring that is full makes all peers of the endpoint wait.  A timeout would
 * take back what is in flight: none is due for long.
 */
static void what_is_in_flight_fits_into_the_ring(void)
{
	struct soft_cwnd *cwnd;
	struct soft_ep *ep, *far;
	int i;

	if (shmpair_begin(&it, false, LEN)) {
		cwnd = shmpair_qp(&it.a)->cwnd;
		ep = shmpair_ep(&it.a);
		far = shmpair_ep(&it.b);
		pier__soft_ep_enter(ep);
		cwnd->rtt = LIMIT_MS * 1000000ull;
		pier__soft_ep_leave(ep);
		pier__soft_ep_enter(far);
		for (i = 0; i < WRITES; i++)
			post(i);
		pier__soft_ep_enter(ep);
		for (i = 0; i < 8; i++) {
			pier__soft_ep_drive(ep);
			IS(ep->send_at, 0);
		}
		OK(cwnd->inflight + SOFT_JOIN_MAX + SOFT_CWND_PACKET >
		   cwnd->window);
		pier__soft_ep_leave(ep);
		pier__soft_ep_leave(far);
		for (i = 0; i < WRITES; i++)
			finish(i);
	}
	shmpair_end(&it);
}

int main(void)
{
	TEST(a_peer_that_is_not_scheduled_does_not_cut_it);
	TEST(a_late_answer_does_not_cut_it);
	TEST(what_is_in_flight_fits_into_the_ring);
	return tap_done();
}
