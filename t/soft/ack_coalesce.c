/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * When what a program has received is acknowledged, if it answers at once:
 * a conversation of two programs that poll, in virtual time.
 */
#define SECOND (1000 * PIER__MS)
#define WAY 2000		/* ns */
#define ACK_DELAY 50000		/* ns, at most */
#define TOGETHER 8		/* messages, at most */
#define LAPS 1000
#define PLACES 64			/* receives posted */
#define SELDOM 32		/* of LAPS */
#define ASKED 9			/* wr_id; of all others 1 */

static struct softpair *pair;
static struct softpair_end *a, *b;

/* How b has acknowledged a's messages. */
static struct {
	uint32_t messages, acks;	/* come; gone */
	uint64_t came, acked;		/* the last ones, ns */
	uint64_t longest;		/* between the two */
	uint32_t held;			/* that did not leave at once */
	uint32_t psn;			/* of the last one */
	uint32_t responses;		/* to READs */
	uint32_t left;			/* turns with one left waiting */
} seen;

/* Of a and of b: their messages are numbers, from 0 on. */
static struct count {
	uint64_t posted, completed, received;
} count[2];

/* How a goes on, and how b answers. */
static struct {
	bool by_completion;		/* and not by the answer */
	int answers;			/* posts to each message */
	int laps, done;
	bool silent;			/* a sends no more */
	bool first_only;		/* the rest of a message is lost */
} talk;

static bool is_from(const struct vnet_packet *packet,
		    const struct softpair_end *end)
{
	struct soft_addr addr = vnet_addr(end->io);

	return packet->src.port == addr.port &&
	       IN6_ARE_ADDR_EQUAL(&packet->src.ip, &addr.ip);
}

static void acknowledged(const struct vnet_packet *packet)
{
	uint64_t late = pair->net.now - seen.came;

	seen.acks++;
	seen.acked = pair->net.now;
	seen.psn = (uint32_t)packet->data[9] << 16 |
		   (uint32_t)packet->data[10] << 8 | packet->data[11];
	seen.held += late > 0;
	if (late > seen.longest)
		seen.longest = late;
}

static bool watch(const struct vnet_packet *packet, void *arg)
{
	(void)arg;
	if (!is_from(packet, b))
		return !talk.first_only || packet->data[0] == SOFT_WRITE_FIRST;
	if (packet->data[0] == SOFT_ACK)
		acknowledged(packet);
	seen.responses += packet->data[0] >= SOFT_READ_FIRST &&
			  packet->data[0] <= SOFT_READ_ONLY;
	return true;
}

static struct count *count_of(const struct softpair_end *end)
{
	return &count[end == b];
}

static uint32_t send_place(uint64_t posted)
{
	return (uint32_t)(8 * (posted % PLACES));
}

static uint32_t recv_place(uint64_t received)
{
	return 4096 + 64 * (uint32_t)(received % PLACES);
}

static void send_next(struct softpair_end *from, struct softpair_end *to)
{
	uint64_t *posted = &count_of(from)->posted;
	uint32_t place = send_place(*posted);

	memcpy(from->mem + place, posted, 8);
	IS(softpair_send(from, 1, IBV_WR_SEND, place, 8, to, 0), 0);
	++*posted;
}

static void received_next(struct softpair_end *end)
{
	uint64_t *received = &count_of(end)->received;
	uint32_t place = recv_place(*received);

	OK(!memcmp(end->mem + place, received, 8));
	IS(softpair_recv(end, 1, place, 64), 0);
	++*received;
}

/* Returns how many of what is there are receives; posts them again. */
static int take(struct softpair_end *end, int *others)
{
	uint32_t i;
	int n = 0;

	*others = 0;
	end->wcs = 0;
	softpair_poll(end);
	for (i = 0; i < end->wcs; i++) {
		IS(end->wc[i].status, IBV_WC_SUCCESS);
		if (end->wc[i].opcode & IBV_WC_RECV) {
			received_next(end);
			n++;
		} else {
			++*others;
			count_of(end)->completed++;
		}
	}
	return n;
}

/* One round of both programs. */
static bool turn(void *arg)
{
	int received, sent, i;

	(void)arg;
	received = take(a, &sent);
	talk.done += talk.by_completion ? sent : received;
	for (; sent > 0 || received > 0; sent--, received--)
		if ((talk.by_completion ? sent : received) > 0 &&
		    talk.done < talk.laps && !talk.silent)
			send_next(a, b);
	received = take(b, &sent);
	if (received) {
		seen.messages += (uint32_t)received;
		seen.came = pair->net.now;
	}
	for (i = 0; i < received * talk.answers; i++)
		send_next(b, a);
	seen.left += !pier__list_empty(&b->ep->coalesced);
	return talk.done >= talk.laps;
}

static void open_pair(void)
{
	struct softpair_opts opts = { .mtu = 1024 };
	int i;

	memset(&seen, 0, sizeof(seen));
	memset(&talk, 0, sizeof(talk));
	memset(&count, 0, sizeof(count));
	talk.answers = 1;
	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	pair->net.polls = true;
	pair->net.latency = WAY;
	pair->net.tap = watch;
	for (i = 0; i < PLACES; i++) {
		IS(softpair_recv(a, 1, recv_place(i), 64), 0);
		IS(softpair_recv(b, 1, recv_place(i), 64), 0);
	}
}

/* Returns whether it came to its end. */
static bool converse(int laps)
{
	talk.done = 0;
	talk.laps = laps;
	send_next(a, b);
	return OK(vnet_run(&pair->net, 10 * SECOND, turn, NULL)) &&
	       IS(talk.done, laps);
}

/* Nothing was ever sent again. */
static void none_again(void)
{
	const struct soft_counters *c;
	int i;

	for (i = 0; i < 2; i++) {
		c = pair->end[i].ep->counters;
		IS(c->resent, 0);
		IS(c->timeouts, 0);
		IS(c->duplicates, 0);
	}
}

static void one_acknowledgement_is_for_several_messages(void)
{
	open_pair();
	converse(LAPS);
	OK(seen.acks < LAPS / 2);
	OK(seen.acks >= LAPS / (2 * TOGETHER));
	tap_note("%u of %u", seen.acks, seen.messages);
	none_again();
	softpair_close(pair);
}

static bool all_completed(void *arg)
{
	turn(arg);
	return count[0].completed == count[0].posted &&
	       count[1].completed == count[1].posted;
}

static void converse_lossy(double loss)
{
	int i;

	open_pair();
	pair->net.faults = (struct vnet_faults){
		.loss = loss, .duplicate = 0.1, .reorder = 0.1,
		.corrupt = 0.01, .truncate = 0.01,
	};
	converse(LAPS);
	talk.silent = true;
	OK(vnet_run(&pair->net, 10 * SECOND, all_completed, NULL));
	for (i = 0; i < 2; i++) {
		IS(count[i].posted, LAPS);
		IS(count[i].received, LAPS);
		IS(pair->end[i].qp->state, IBV_QPS_RTS);
	}
	OK(seen.left > 0);
	tap_note("%u times left, %u acknowledgements, at a loss of %g",
		 seen.left, seen.acks, loss);
	softpair_close(pair);
}

static void what_is_left_may_be_lost_and_come_twice(void)
{
	converse_lossy(0);
	converse_lossy(0.01);
	converse_lossy(0.05);
	converse_lossy(0.2);
}

/* Until b has left a message unacknowledged; a does not go on then. */
static bool leave_one(void)
{
	uint32_t before;
	int i;

	if (!converse(LAPS))
		return false;
	for (i = 0; i < 2 * TOGETHER; i++) {
		before = seen.acks;
		if (!converse(1))
			return false;
		if (seen.acks == before && !pier__list_empty(&b->ep->coalesced))
			return true;
	}
	return OK(false);
}

static void what_is_not_followed_is_acknowledged_in_time(void)
{
	uint64_t came;

	open_pair();
	if (leave_one()) {
		came = seen.came;
		talk.laps = 1 << 30;
		talk.silent = true;
		vnet_run(&pair->net, SECOND, turn, NULL);
		IS(seen.came, came);
		IS(seen.acked, came + ACK_DELAY);
	}
	none_again();
	softpair_close(pair);
}

/* Returns how many times of LAPS the last answer left b's waiting. */
static int waits(void (*before)(void))
{
	int i, n = 0;

	for (i = 0; i < LAPS && converse(1); i++) {
		if (pier__list_empty(&b->ep->coalesced))
			continue;
		n++;
		before();
	}
	IS(i, LAPS);
	tap_note("%d of %d waited", n, LAPS);
	return n;
}

static void be_away(void)
{
	pair->net.now += 3 * PIER__MS;
	pier__soft_ep_drive(b->ep);	/* as the helper does */
}

static void who_is_away_after_an_answer_learns_of_it(void)
{
	open_pair();
	if (leave_one())
		OK(waits(be_away) < SELDOM);
	softpair_close(pair);
}

static void repeat(void)
{
	pair->net.now = pier__soft_ep_deadline(a->ep);
	pier__soft_ep_receive(a->ep, true);
	pier__soft_ep_send(a->ep);
	pair->net.now += 2 * WAY;
	pier__soft_ep_receive(b->ep, true);
}

static void a_peer_that_repeats_does_not_wait_again(void)
{
	open_pair();
	if (leave_one()) {
		OK(waits(repeat) < SELDOM);
		OK(b->ep->counters->duplicates > 0);
	}
	softpair_close(pair);
}

/* An answer is to the last whole message, whose acknowledgement is gone. */
static void the_middle_of_a_message_is_never_left(void)
{
	open_pair();
	if (!leave_one())
		goto out_close;
	talk.silent = true;
	talk.laps = 1 << 30;
	vnet_run(&pair->net, SECOND, turn, NULL);
	talk.answers = 0;
	send_next(a, b);
	vnet_run(&pair->net, SECOND, turn, NULL);
	OK(b->qp->resp.coalesce.limit > 0);
	talk.first_only = true;
	a->qp->req.probe = true;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 4096, b, 0), 0);
	pier__soft_ep_send_posted(a->ep, true);
	pair->net.now += 2 * WAY;
	pier__soft_ep_receive(b->ep, true);
	IS(b->qp->resp.due, SOFT_DUE_ACK);
	send_next(b, a);
	OK(pier__list_empty(&b->ep->coalesced));
	OK(!pier__list_empty(&b->ep->replying));
out_close:
	softpair_close(pair);
}

/* Until the request that a numbered ASKED is complete. */
static bool asked_completed(void *arg)
{
	struct ibv_wc *last = arg;
	int sent;

	take(b, &sent);
	a->wcs = 0;
	if (softpair_poll(a))
		*last = a->wc[a->wcs - 1];
	return last->wr_id == ASKED;
}

/* a's request now has b send a response that also acknowledges all before. */
static void asks(enum ibv_wr_opcode opcode, uint32_t off, int status)
{
	struct ibv_wc last = { 0 };

	open_pair();
	if (!leave_one())
		goto out_close;
	IS(softpair_send(a, ASKED, opcode, 0, 8, b, off), 0);
	OK(vnet_run(&pair->net, SECOND, asked_completed, &last));
	IS(last.status, status);
	OK(!b->qp->resp.coalesce.waiting);
	OK(pier__list_empty(&b->ep->coalesced));
out_close:
	softpair_close(pair);
}

static void what_answers_otherwise_ends_the_waiting(void)
{
	asks(IBV_WR_RDMA_READ, 0, IBV_WC_SUCCESS);
	asks(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, IBV_WC_SUCCESS);
	asks(IBV_WR_RDMA_WRITE, 1u << 30, IBV_WC_REM_ACCESS_ERR);
}

/* Each delays the requester as long as an ACK may be held back. */
static void a_peer_that_waits_for_each_seldom_waits_longer(void)
{
	int answers;

	for (answers = 1; answers <= 8; answers *= 8) {
		open_pair();
		talk.by_completion = true;
		talk.answers = answers;
		converse(10 * LAPS);
		OK(seen.acks >= 10 * LAPS - 1);
		OK(seen.held <= 16);
		OK(seen.longest <= ACK_DELAY);
		tap_note("%u of %u waited, %llu ns at most", seen.held,
			 seen.acks, (unsigned long long)seen.longest);
		none_again();
		softpair_close(pair);
	}
}

static void check_last(uint32_t acks)
{
	IS(seen.acks, acks + 1);
	IS(seen.acked, pair->net.now);
	OK(pier__list_empty(&b->ep->coalesced));
}

static void by_error(void)
{
	IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
}

static void by_reset(void)
{
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
}

static void by_destruction(void)
{
	pier__soft_qp_destroy(b->qp);
	b->qp = NULL;
}

/* Of itself: what is to be sent is not registered. */
static void by_failure(void)
{
	struct ibv_sge sge = softpair_sge(b, 0, 8);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	pier__soft_ep_drive(a->ep);	/* which acknowledges the answers */
	pair->net.now += 2 * WAY;
	pier__soft_ep_receive(b->ep, true);
	sge.lkey++;
	IS(softpair_post(b->qp, &wr), 0);
	pier__soft_ep_send_posted(b->ep, true);
	IS(b->qp->state, IBV_QPS_ERR);
}

static void by_driver(void)
{
	pier__soft_ep_drive(b->ep);
}

static void check_end(void (*end)(void))
{
	uint32_t acks;

	open_pair();
	if (leave_one()) {
		acks = seen.acks;
		end();
		check_last(acks);
	}
	softpair_close(pair);
}

static void a_queue_pair_that_ends_acknowledges_first(void)
{
	check_end(by_error);
	check_end(by_reset);
	check_end(by_destruction);
	check_end(by_failure);
}

static void who_drives_for_the_program_lets_nothing_wait(void)
{
	check_end(by_driver);
}

/* A program that does not poll any more, but posts. */
static void posts_take_along_what_has_waited_for_long(void)
{
	uint32_t acks;

	open_pair();
	if (leave_one()) {
		acks = seen.acks;
		pair->net.now = seen.came + ACK_DELAY - 1;
		pier__soft_ep_send_posted(b->ep, true);
		IS(seen.acks, acks);
		pair->net.now++;
		pier__soft_ep_send_posted(b->ep, true);
		check_last(acks);
	}
	softpair_close(pair);
}

/* Before the answers to what came first, and those are not given any more. */
static void end_amid_reads(void (*end)(void))
{
	uint32_t before = a->qp->req.nxt & SOFT_PSN_MASK;

	send_next(a, b);
	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, 0, 64 * 1024, b, 0), 0);
	send_next(a, b);
	pier__soft_ep_send_posted(a->ep, true);
	pair->net.now += 2 * WAY;
	pier__soft_ep_receive(b->ep, true);
	end();
	IS(seen.acks, 1);
	IS(seen.psn, before);
	pier__soft_ep_drive(b->ep);
	pier__soft_ep_drive(b->ep);
	IS(seen.responses, 0);
	IS(seen.acks, 1);
}

static void the_last_acknowledgement_is_for_what_was_answered(void)
{
	open_pair();
	end_amid_reads(by_error);
	softpair_close(pair);
	open_pair();
	end_amid_reads(by_failure);
	softpair_close(pair);
}

/* The request is lost; a thread that polls reads the clock often enough. */
static void timers_are_looked_at_while_nothing_comes(void)
{
	const struct soft_counters *c;
	int i;

	open_pair();
	pair->net.faults.loss = 1;
	send_next(a, b);
	pier__soft_ep_send_posted(a->ep, true);
	pair->net.now = pier__soft_ep_deadline(a->ep);
	for (i = 0; i < 4; i++) {
		pier__soft_ep_receive(a->ep, false);
		pier__soft_ep_send(a->ep);
	}
	c = a->ep->counters;
	IS(c->timeouts, 1);
	IS(c->resent, 1);
	softpair_close(pair);
}

int main(void)
{
	TEST(one_acknowledgement_is_for_several_messages);
	TEST(what_is_left_may_be_lost_and_come_twice);
	TEST(what_is_not_followed_is_acknowledged_in_time);
	TEST(who_is_away_after_an_answer_learns_of_it);
	TEST(a_peer_that_repeats_does_not_wait_again);
	TEST(the_middle_of_a_message_is_never_left);
	TEST(what_answers_otherwise_ends_the_waiting);
	TEST(a_peer_that_waits_for_each_seldom_waits_longer);
	TEST(a_queue_pair_that_ends_acknowledges_first);
	TEST(who_drives_for_the_program_lets_nothing_wait);
	TEST(posts_take_along_what_has_waited_for_long);
	TEST(the_last_acknowledgement_is_for_what_was_answered);
	TEST(timers_are_looked_at_while_nothing_comes);
	return tap_done();
}
