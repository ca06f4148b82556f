/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/counted.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/*
 * A queue pair fails, is reset or destroyed, at either end, while its records
 * are in the ring: another one of the same ring goes on.
 */
#define LEN (1u << 16)
#define PART 4096
#define WRITES 30
#define TURNS 20

static struct shmpair it;
static struct peer a2, b2;	/* the other connection */
static struct pier_buf *src[WRITES], *dst[WRITES];
static int status[WRITES];
static uint64_t ended;

static bool begin(void)
{
	if (!shmpair_begin(&it, false, LEN))
		return false;
	ended = counted_dev(it.dev[0], "shm_ended");
	a2 = it.a;
	b2 = it.b;
	a2.conn = NULL;
	b2.conn = NULL;
	return peer_join(&a2, &b2);
}

static void end(void)
{
	pier_conn_destroy(a2.conn);
	pier_conn_destroy(b2.conn);
	shmpair_end(&it);
}

static void post_all(void)
{
	int i;

	for (i = 0; i < WRITES; i++) {
		src[i] = peer_data(&it.a, 0, PART);
		dst[i] = peer_far_tail(&it.a, 0, PART);
		status[i] = -EINPROGRESS;
		IS(pier_rdma_write(it.a.conn, src[i], dst[i], peer_done,
				   &status[i]), 0);
	}
}

static void put_all(void)
{
	int i;

	for (i = 0; i < WRITES; i++) {
		OK(peer_await(&status[i]) != -ETIMEDOUT);
		pier_buf_put(src[i]);
		pier_buf_put(dst[i]);
	}
}

static void goes_on(uint64_t sent_by_shm)
{
	peer_fill(&it.a, 3);
	IS(shmpair_write(&a2, PART, PART), 0);
	OK(peer_holds(&it.b, PART, PART, 3, PART));
	OK(counted_conn(a2.conn, "shm_sent") > sent_by_shm);
	IS(counted_dev(it.dev[0], "shm_ended"), ended);
}

/* Until @then is over, all that was sent is in the ring. */
static void is_alone_in(void (*then)(void))
{
	struct soft_ep *ep, *far;
	uint64_t sent;

	if (begin()) {
		sent = counted_conn(a2.conn, "shm_sent");
		ep = shmpair_ep(&it.a);
		far = shmpair_ep(&it.b);
		pier__soft_ep_enter(far);
		post_all();
		pier__soft_ep_enter(ep);
		pier__soft_ep_send_posted(ep, false);
		OK(shmpair_qp(&it.a)->req.inflight > 0);
		then();
		pier__soft_ep_leave(ep);
		pier__soft_ep_leave(far);
		put_all();
		goes_on(sent);
	}
	end();
}

static void fail_sender(void)
{
	pier__soft_qp_fail(shmpair_qp(&it.a), IBV_WC_RETRY_EXC_ERR);
}

static void fail_receiver(void)
{
	pier__soft_qp_fail(shmpair_qp(&it.b), IBV_WC_WR_FLUSH_ERR);
}

/* Its requests are for no queue pair of RTS. */
static void reset_receiver(void)
{
	pier__soft_qp_reset(shmpair_qp(&it.b));
}

static void a_sender_fails_with_records_in_the_ring(void)
{
	is_alone_in(fail_sender);
}

static void a_receiver_fails_with_records_in_the_ring(void)
{
	is_alone_in(fail_receiver);
}

static void a_receiver_is_reset_with_records_in_the_ring(void)
{
	is_alone_in(reset_receiver);
}

/* By the program, at any time. */
static void destroy_in_turns(bool sender)
{
	struct peer *peer = sender ? &it.a : &it.b;
	uint64_t sent;
	int i;

	if (begin()) {
		sent = counted_conn(a2.conn, "shm_sent");
		for (i = 0; i < TURNS && tap_holds(); i++) {
			post_all();
			pier_conn_destroy(peer->conn);
			peer->conn = NULL;
			put_all();
			pier_conn_destroy(it.a.conn);
			pier_conn_destroy(it.b.conn);
			it.a.conn = NULL;
			it.b.conn = NULL;
			if (!peer_join(&it.a, &it.b))
				break;
		}
		goes_on(sent);
	}
	end();
}

static void a_sender_is_destroyed_with_records_in_the_ring(void)
{
	destroy_in_turns(true);
}

static void a_receiver_is_destroyed_with_records_in_the_ring(void)
{
	destroy_in_turns(false);
}

int main(void)
{
	TEST(a_sender_fails_with_records_in_the_ring);
	TEST(a_receiver_fails_with_records_in_the_ring);
	TEST(a_receiver_is_reset_with_records_in_the_ring);
	TEST(a_sender_is_destroyed_with_records_in_the_ring);
	TEST(a_receiver_is_destroyed_with_records_in_the_ring);
	return tap_done();
}
