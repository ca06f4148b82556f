/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/soft.h"
#include "t/lib/nic.h"
#include "t/lib/tap.h"

/*
 * When a program that polls sends what, and that it is left to.  It must not be
 * away for long in between, else the helper acts for it: what must be seen is
 * seen in one of many tries.
 */
#define PATIENCE (10000 * PIER__MS)
#define TRIES 200
#define LONG_CALL (20 * PIER__MS)	/* the helper looks meanwhile */

static struct pier__fdev *fdev;
static struct loop_end end;
static struct nic nic;

static struct soft_chan *chan(void)
{
	return (struct soft_chan *)end.chan;
}

static int poll_once(void)
{
	struct ibv_wc wc;

	return fdev->fabric->qp->poll(end.cq, &wc, 1);
}

/* Poll until the helper has seen that, and trusts us to go on. */
static bool be_trusted(void)
{
	uint64_t until = pier__now() + PATIENCE;
	bool checking = false;

	while (!checking && pier__now() < until) {
		poll_once();
		sched_yield();
		pier__soft_ep_enter(chan()->ep);
		checking = chan()->checking;
		pier__soft_ep_leave(chan()->ep);
	}
	return OK(checking);
}

/* @sees: what a try has to see to pass. */
static void some_try(bool (*sees)(void))
{
	bool seen = false;
	int i;

	if (!loop_end_open(fdev, 16, &end))
		return;
	if (nic_meet(&nic, &end)) {
		for (i = 0; i < TRIES && !seen && be_trusted(); i++)
			seen = sees();
		OK(seen);
	}
	loop_end_close(&end);
}

static bool received_only(uint8_t opcode)
{
	struct nic_packets got;

	nic_receive(&nic, &got);
	return got.count == 1 && got.opcode[0] == opcode;
}

static bool received_nothing(void)
{
	struct nic_packets got;

	nic_receive(&nic, &got);
	return !got.count;
}

/* Leave nothing on its way: the next try begins anew. */
static void settle(uint32_t psn)
{
	nic_ack(&nic, &end, psn);
	while (poll_once() > 0)
		;
	poll_once();
	received_nothing();
}

static uint32_t posted_psn = NIC_PSN;

static bool post(void)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_SEND };

	return loop_post(&end, &wr, 0, 8);
}

static bool post_is_alone(void)
{
	bool ok;

	loop_recv(&end, 7, 64, 64);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
	ok = poll_once() == 1;
	ok = post() && received_only(SOFT_SEND_ONLY) && ok;
	poll_once();
	ok = received_only(SOFT_ACK) && ok;
	settle(posted_psn++ & 0xffffff);
	return ok;
}

static void an_answer_leaves_before_the_acknowledgement(void)
{
	posted_psn = NIC_PSN;
	some_try(post_is_alone);
}

static bool poll_acknowledges(void)
{
	bool ok;

	loop_recv(&end, 7, 64, 64);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "no answer");
	ok = poll_once() == 1 && received_nothing();
	return poll_once() == 0 && received_only(SOFT_ACK) && ok;
}

static void without_an_answer_the_next_poll_acknowledges(void)
{
	some_try(poll_acknowledges);
}

static bool second_acknowledges(void)
{
	bool ok;
	int i;

	for (i = 0; i < 2; i++)
		loop_recv(&end, 7, 64, 64);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "one");
	ok = poll_once() == 1 && received_nothing();
	nic_send(&nic, &end, SOFT_SEND_ONLY, "two");
	return poll_once() == 1 && received_only(SOFT_ACK) && ok;
}

static void it_waits_for_one_poll_and_no_more(void)
{
	some_try(second_acknowledges);
}

/* What completes a request of our own leaves nothing to be acknowledged. */
static bool held_after_completion(void)
{
	bool ok;

	ok = post() && received_only(SOFT_SEND_ONLY);
	nic_ack(&nic, &end, posted_psn++ & 0xffffff);
	ok = poll_once() == 1 && ok;
	loop_recv(&end, 7, 64, 64);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
	ok = poll_once() == 1 && received_nothing() && ok;
	poll_once();
	return received_only(SOFT_ACK) && ok;
}

static void a_poll_that_owes_nothing_does_not_count(void)
{
	posted_psn = NIC_PSN;
	some_try(held_after_completion);
}

#define ROUNDS 40		/* of a conversation, until more is tried */

/* The peer goes on by the answer.  Returns whether it was acknowledged. */
static bool round_acknowledges(void)
{
	struct nic_packets got;
	bool asked, acked = false;
	int i;

	loop_recv(&end, 7, 64, 64);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
	asked = poll_once() == 1;
	if (!asked || !post())
		return true;
	poll_once();
	nic_receive(&nic, &got);
	for (i = 0; i < got.count; i++)
		acked = acked || got.opcode[i] == SOFT_ACK;
	nic_ack(&nic, &end, posted_psn++ & 0xffffff);
	while (poll_once() > 0)
		;
	return acked;
}

static int left;		/* rounds without an acknowledgement */

static bool some_are_left(void)
{
	int i;

	left = 0;
	for (i = 0; i < ROUNDS && !left; i++)
		left += !round_acknowledges();
	return left;
}

static void one_acknowledgement_is_for_several_messages(void)
{
	posted_psn = NIC_PSN;
	some_try(some_are_left);
}

/* Receive nothing but an acknowledgement, while polling. */
static bool acknowledged_in_the_end(void)
{
	uint64_t until = pier__now() + PATIENCE;
	struct nic_packets got = { 0 };

	while (!got.count && pier__now() < until) {
		poll_once();
		nic_receive(&nic, &got);
	}
	return got.count == 1 && got.opcode[0] == SOFT_ACK;
}

static bool left_for_a_while(void)
{
	return some_are_left() && acknowledged_in_the_end();
}

static void what_is_not_followed_is_acknowledged_soon(void)
{
	posted_psn = NIC_PSN;
	some_try(left_for_a_while);
}

/* The peer goes on by the answer, until that has no acknowledgement. */
static bool answer_is_alone(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		loop_recv(&end, 7, 64, 64);
		nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
		if (poll_once() != 1 || !post())
			return false;
		poll_once();	/* what is not left for later goes now */
		if (received_only(SOFT_SEND_ONLY))
			return true;
		settle(posted_psn++ & 0xffffff);
	}
	return false;
}

/* No call between the answer and the end could acknowledge. */
static bool left_until_the_end(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!answer_is_alone())
		return false;
	fdev->fabric->qp->qp_modify(end.qp, &attr, IBV_QP_STATE, 0);
	return received_only(SOFT_ACK);
}

static void a_queue_pair_that_ends_acknowledges_first(void)
{
	posted_psn = NIC_PSN;
	some_try(left_until_the_end);
}

/* A call that lasts until the helper has checked, or rather long. */
static bool call_checked(void)
{
	uint64_t until = pier__now() + LONG_CALL;

	pier__soft_chan_begin(chan());
	while (!chan()->checking && pier__now() < until)
		sched_yield();
	pier__soft_chan_end(chan(), 0);
	return chan()->checking;
}

/* No call until the helper watches the socket; then long ones. */
static bool drives_from_within_a_call(void)
{
	uint64_t until = pier__now() + PATIENCE;

	while (chan()->checking && pier__now() < until)
		sched_yield();
	while (!call_checked() && pier__now() < until)
		;
	return chan()->checking && pier__now() < until;
}

static void a_program_always_in_a_call_drives(void)
{
	some_try(drives_from_within_a_call);
}

/* No call is made any more: it is the helper that acknowledges. */
static bool absent_after_the_call(void)
{
	uint64_t until = pier__now() + PATIENCE;
	struct nic_packets got = { 0 };

	loop_recv(&end, 7, 64, 64);
	if (!drives_from_within_a_call())
		return false;
	nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
	while (!got.count && pier__now() < until)
		nic_receive(&nic, &got);
	return got.count == 1 && got.opcode[0] == SOFT_ACK;
}

static void the_helper_drives_for_a_program_that_is_absent_after_that(void)
{
	some_try(absent_after_the_call);
}

static bool asleep_after_the_call(void)
{
	struct pollfd wait = { .fd = chan()->chan.fd, .events = POLLIN };
	bool woken;

	loop_recv(&end, 7, 64, 64);
	if (!drives_from_within_a_call() || fdev->fabric->qp->arm(end.cq))
		return false;
	nic_send(&nic, &end, SOFT_SEND_ONLY, "question");
	woken = poll(&wait, 1, PATIENCE / PIER__MS) == 1;
	fdev->fabric->qp->chan_clear(end.chan);
	return woken && poll_once() == 1;
}

static void a_program_that_sleeps_after_that_is_woken(void)
{
	some_try(asleep_after_the_call);
}

int main(void)
{
	if (nic_device(&fdev) || nic_open(fdev, &nic))
		return tap_skip_all("lo cannot be had");
	TEST(an_answer_leaves_before_the_acknowledgement);
	TEST(without_an_answer_the_next_poll_acknowledges);
	TEST(it_waits_for_one_poll_and_no_more);
	TEST(a_poll_that_owes_nothing_does_not_count);
	TEST(one_acknowledgement_is_for_several_messages);
	TEST(what_is_not_followed_is_acknowledged_soon);
	TEST(a_queue_pair_that_ends_acknowledges_first);
	TEST(a_program_always_in_a_call_drives);
	TEST(the_helper_drives_for_a_program_that_is_absent_after_that);
	TEST(a_program_that_sleeps_after_that_is_woken);
	nic_close(&nic);
	pier__soft.dev->close(fdev);
	return tap_done();
}
