/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>

#include "core/clock.h"
#include "t/lib/crowd.h"
#include "t/lib/tap.h"

/*
 * Many connections at once: as many as a server has, all that come in a
 * storm, and those of others while a peer is stopped.
 */
#define UNDER_WAY 64
#define ROUNDS 2
#define STORM 512
#define RATE 2			/* of the requests of a storm, a second */
#define STOPPED 16		/* connections of the stopped, each sort */

static int size;		/* of a crowd */

/* What a server does. */
struct plan {
	int conns, rounds;
	bool ends;		/* those with odd numbers */
	uint32_t backlog, rate;
};

/* All connections of a round are established at once. */
static bool serve_round(struct pair *pair, const struct plan *plan, int round)
{
	int all = plan->conns * (round + 1);

	if (round && !OK(pair_send(pair, &round, sizeof(round))))
		return false;
	if (!crowd_until(&crowd.up, all))
		return false;
	crowd_fds_few();
	if (plan->ends) {
		crowd_until(&crowd.answered, all);
		crowd_hang_up(1, plan->conns - 1, 2);
	}
	return crowd_until(&crowd.over, all);
}

static int serve(struct pair *pair, void *arg)
{
	const struct plan *plan = arg;
	int round;

	if (crowd_open(plan->conns, true) &&
	    crowd_listen(plan->backlog, plan->rate) && crowd_send_port(pair))
		for (round = 0; round < plan->rounds; round++)
			if (!serve_round(pair, plan, round))
				break;
	IS(crowd.requests, plan->conns * plan->rounds);
	/* no sooner, however fast the machine; a tenth of a second is given */
	if (plan->rate)
		OK(crowd.last_ns - crowd.first_ns >=
		   (1000 / RATE - 150) * PIER__MS);
	crowd_close();
	return 0;
}

/* All are established, all exchange, all end, half of them by either side. */
static bool one_round(int count, uint16_t port)
{
	if (!crowd_call_all(0, count, UNDER_WAY, port))
		return false;
	crowd_fds_few();
	if (!crowd_exchange(0, count))
		return false;
	crowd_hang_up(0, count, 2);
	return crowd_await(0, count, OVER);
}

/* The server has room for another round. */
static bool is_next(struct pair *pair, int round)
{
	int next = 0;

	return !round || (IS(pair_recv(pair, &next, sizeof(next)),
			     sizeof(next)) && IS(next, round));
}

static void all_that_a_server_has_exchange_messages_and_end(void)
{
	struct plan plan = { .conns = size, .rounds = ROUNDS, .ends = true };
	struct pair pair;
	uint16_t port;
	int i = 0;

	pair_start(&pair, serve, &plan);
	if (crowd_open(size, false)) {
		port = crowd_recv_port(&pair);
		while (i < ROUNDS && is_next(&pair, i) &&
		       one_round(size, port))
			i++;
	}
	IS(i, ROUNDS);
	tap_note("%d connections, at most %d events a call", size, crowd.most);
	crowd_close();
	IS(pair_wait(&pair), 0);
}

/* All at once. */
static void storm(struct plan *plan)
{
	struct pair pair;

	plan->conns = size < STORM ? size : STORM;
	plan->rate *= (uint32_t)plan->conns;
	plan->rounds = 1;
	pair_start(&pair, serve, plan);
	if (crowd_open(plan->conns, false) &&
	    crowd_call_all(0, plan->conns, plan->conns,
			   crowd_recv_port(&pair))) {
		crowd_hang_up(0, plan->conns, 1);
		crowd_await(0, plan->conns, OVER);
	}
	crowd_close();
	IS(pair_wait(&pair), 0);
}

static void all_of_a_storm_get_in_through_a_small_backlog(void)
{
	struct plan plan = { .backlog = 16 };

	storm(&plan);
}

static void all_of_a_storm_get_in_at_the_rate_that_was_set(void)
{
	struct plan plan = { .rate = RATE };

	storm(&plan);
}

/* Of the others, who go on. */
static int others(void)
{
	return size < 256 ? 16 : 256;
}

/* While the first server is stopped, all goes on with the second. */
static void go_on_without(struct pair *stopped, struct pair *other)
{
	int first = 2 * STOPPED, count = others(), i;
	uint16_t port = crowd_recv_port(stopped);

	if (!crowd_call_all(0, STOPPED, STOPPED, port))
		return;
	kill(stopped->pid, SIGSTOP);
	OK(pair_is_stopped(stopped, true));
	for (i = STOPPED; i < first; i++)
		crowd_call(i, port);
	crowd_hang_up(0, STOPPED / 2, 1);
	if (crowd_call_all(first, count, UNDER_WAY, crowd_recv_port(other)) &&
	    crowd_exchange(first, count)) {
		crowd_hang_up(first, count, 1);
		crowd_await(first, count, OVER);
	}
	IS(crowd_count(STOPPED, STOPPED, BEGUN), STOPPED);
	pair_go_on(stopped);
	crowd_await(STOPPED, STOPPED, UP);
	crowd_hang_up(0, first, 1);
	crowd_await(0, first, OVER);
}

static void a_stopped_server_stalls_no_other(void)
{
	struct plan first = { .conns = 2 * STOPPED, .rounds = 1 };
	struct plan second = { .conns = others(), .rounds = 1 };
	struct pair stopped, other;

	pair_start(&stopped, serve, &first);
	pair_start(&other, serve, &second);
	if (crowd_open(first.conns + second.conns, false))
		go_on_without(&stopped, &other);
	crowd_close();
	pair_go_on(&stopped);
	IS(pair_wait(&other), 0);
	IS(pair_wait(&stopped), 0);
}

/* A client that begins @arg connections, stops itself, and goes on. */
static int visit_late(struct pair *pair, void *arg)
{
	int count = *(int *)arg, i;
	uint16_t port;

	if (crowd_open(count, false)) {
		port = crowd_recv_port(pair);
		for (i = 0; i < count; i++)
			crowd_call(i, port);
		crowd_turn();
		raise(SIGSTOP);
		if (crowd_await(0, count, UP) && crowd_exchange(0, count))
			crowd_hang_up(0, count, 1);
		crowd_await(0, count, OVER);
	}
	crowd_close();
	return 0;
}

static int visit(struct pair *pair, void *arg)
{
	int count = *(int *)arg;

	if (crowd_open(count, false) &&
	    crowd_call_all(0, count, UNDER_WAY, crowd_recv_port(pair)) &&
	    crowd_exchange(0, count)) {
		crowd_hang_up(0, count, 1);
		crowd_await(0, count, OVER);
	}
	crowd_close();
	return 0;
}

static void a_stopped_client_stalls_no_other(void)
{
	int few = STOPPED, count = others();
	struct pair stopped, other;

	pair_start(&stopped, visit_late, &few);
	pair_start(&other, visit, &count);
	if (crowd_open(few + count, true) && crowd_listen(0, 0) &&
	    crowd_send_port(&stopped)) {
		OK(pair_is_stopped(&stopped, true));
		crowd_send_port(&other);
		crowd_until(&crowd.over, count);
		IS(crowd.up, count);
		pair_go_on(&stopped);
		crowd_until(&crowd.over, few + count);
		IS(crowd.up, few + count);
	}
	crowd_close();
	pair_go_on(&stopped);
	IS(pair_wait(&other), 0);
	IS(pair_wait(&stopped), 0);
}

int main(void)
{
	size = crowd_size();
	if (!size)
		return tap_skip_all(pier_last_error());
	TEST(all_that_a_server_has_exchange_messages_and_end);
	TEST(all_of_a_storm_get_in_through_a_small_backlog);
	TEST(all_of_a_storm_get_in_at_the_rate_that_was_set);
	TEST(a_stopped_server_stalls_no_other);
	TEST(a_stopped_client_stalls_no_other);
	return tap_done();
}
