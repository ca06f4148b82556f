/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/* Messages of a Comm Channel: order, credits, ends. */

#define MANY 2000
#define QUEUE 4
#define PAUSE_ROUNDS 200	/* of an engine, to see that nothing happens */

static struct pier_dev *dev;
static struct talker server, client, other;

struct numbered {
	uint32_t number;
	uint8_t rest[1000];
};

/* Messages of growing numbers, from the client and from the server. */
static struct numbers {
	uint32_t sent, completed, received, failed, refused;
} streams[2];

static size_t length(uint32_t number)
{
	return sizeof(uint32_t) + (number * 37) % sizeof(((struct numbered *)
							  0)->rest);
}

static void stream_done(struct pier_task *task, void *arg)
{
	struct numbers *stream = arg;

	stream->completed++;
	if (pier_task_status(task))
		stream->failed++;
}

static void ignore(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

/* Send until that is refused. */
static void send_on(struct talker *talker, struct pier_comch_conn *conn)
{
	struct numbers *stream = &streams[talker == &server];
	struct numbered message;
	int err = 0;

	memset(&message, 0x55, sizeof(message));
	while (stream->sent < MANY && !err) {
		message.number = stream->sent;
		err = pier_comch_send(conn, &message, length(stream->sent),
				      stream_done, stream);
		if (!err)
			stream->sent++;
	}
	if (err) {
		stream->refused++;
		IS(err, -EAGAIN);
	}
}

static void take_next(struct talker *talker, struct pier_comch_conn *conn)
{
	struct numbers *stream = &streams[talker == &client];
	const struct numbered *message = (const void *)talker->last;

	(void)conn;
	if (message->number != stream->received ||
	    talker->last_len != length(stream->received) ||
	    (talker->last_len > 4 &&
	     talker->last[talker->last_len - 1] != 0x55))
		talker->wrong++;
	stream->received++;
}

static bool all_done(const struct numbers *stream)
{
	return stream->received == MANY && stream->completed == MANY;
}

/* A counter of the device, 0 if it does not count that. */
static uint64_t counter(const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t value = 0;

	if (!pier_dev_counters(dev, &counters))
		pier_counters_find(&counters, name, &value);
	return value;
}

static void check_counters(const struct pier_comch_conn *conn)
{
	struct pier_comch_counters counters;

	pier_comch_conn_get_counters(conn, &counters);
	IS(counters.sent_messages, MANY);
	IS(counters.received_messages, MANY);
	IS(counters.violations, 0);
	pier_comch_get_counters(pier_comch_conn_comch(conn), &counters);
	IS(counters.sent_messages, MANY);
	IS(counters.received_messages, MANY);
}

/* In both directions at a time, which return credits with messages. */
static void messages_keep_their_order(uint32_t queue)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = queue,
					 .max_clients = 1 };
	uint64_t rnr = counter("rnr_received");
	long long limit = limit_from_now();

	memset(streams, 0, sizeof(streams));
	if (talker_pair(&server, &client, dev, &cfg)) {
		server.on_received = client.on_received = take_next;
		server.on_writable = client.on_writable = send_on;
		send_on(&client, client.conn);
		send_on(&server, server.conn);
		while ((!all_done(&streams[0]) || !all_done(&streams[1])) &&
		       talker_step(limit))
			;
		for (int i = 0; i < 2; i++) {
			IS(streams[i].received, MANY);
			IS(streams[i].completed, MANY);
			IS(streams[i].failed, 0);
			OK(streams[i].refused > 0);
		}
		OK(client.writable > 0);
		OK(server.writable > 0);
		IS(counter("rnr_received"), rnr);
		check_counters(client.conn);
		check_counters(server.conn);
	}
	talker_unpair(&server, &client);
}

static void messages_keep_their_order_with_any_queue(void)
{
	messages_keep_their_order(1);
	messages_keep_their_order(2);
	messages_keep_their_order(3);
	messages_keep_their_order(16);
	messages_keep_their_order(500);
}

/* Drive one end alone. */
static void drive(struct talker *talker)
{
	for (int i = 0; i < PAUSE_ROUNDS; i++)
		pier_pe_progress(talker->pe, 0);
}

static void a_sender_without_credit_gets_an_error(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };
	long long limit = limit_from_now();
	struct pier_task *task = NULL;
	int i;

	if (talker_pair(&server, &client, dev, &cfg)) {
		for (i = 0; i < QUEUE; i++)
			IS(talker_send(client.conn, 1, 10), 0);
		/* the server has received them; from now on it does not */
		talker_count(&server.received, QUEUE);
		for (i = 0; i < 10 * QUEUE; i++) {
			if (pier_comch_send(client.conn, "y", 1, ignore, NULL))
				break;
			drive(&client);
		}
		OK(i > 0 && i <= QUEUE);
		IS(client.writable, 0);
		LIKE(pier_last_error(), "at a time, 4");
		IS(pier_comch_task_send(client.conn, "z", 1, &task), 0);
		IS(pier_task_try_submit(task, 0), -EAGAIN);
		IS(server.received, QUEUE);
		talker_count(&client.writable, 1);
		IS(pier_task_submit(task, 0), 0);
		talker_count(&server.received, QUEUE + i + 1);
		IS(client.writable, 1);
		while (pier_task_status(task) && talker_step(limit))
			;
		IS(pier_task_free(task), 0);
	}
	talker_unpair(&server, &client);
}

static void a_stalled_client_harms_no_other(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };
	struct pier_comch_conn *stalled;
	const char *name = talker_name();
	struct pier_pe *pe;
	int i, sent = 0;

	if (talker_server(&server, dev, name, &cfg) && talker_start(&server) &&
	    talker_client(&other, dev, name, NULL, &cfg) &&
	    talker_start(&other) && talker_count(&server.connected, 1)) {
		stalled = server.conn;
		pe = other.pe;
		IS(pier_pe_create(&other.pe), 0);	/* instead, to be */
							/* driven */
		while (!pier_comch_send(stalled, "x", 1, ignore, NULL))
			sent++;
		IS(sent, QUEUE);
		if (talker_client(&client, dev, name, NULL, &cfg) &&
		    talker_start(&client) &&
		    talker_count(&server.connected, 2)) {
			for (i = 1; i <= 100; i++) {
				IS(talker_send(client.conn, 1, 100), 0);
				talker_count(&server.received, i);
				IS(talker_send(server.conn, 2, 100), 0);
				talker_count(&client.received, i);
			}
		}
		talker_close(&client);
		IS(other.received, 0);
		pier_pe_destroy(other.pe);
		other.pe = pe;			/* it goes on */
		talker_count(&other.received, sent);
		talker_count(&server.writable, 1);
		talker_count(&server.disconnected, 1);	/* the other one */
		IS(server.disconnected, 1);
	}
	talker_unpair(&server, &other);
}

static void answer_and_stop(struct talker *talker, struct pier_comch_conn *conn)
{
	IS(pier_comch_send(conn, "answer", 6, ignore, NULL), 0);
	pier_ctx_stop(talker->ctx);
}

static void must_have_the_answer(struct talker *talker,
				 struct pier_comch_conn *conn)
{
	(void)conn;
	IS(talker->received, 1);
}

static void messages_before_a_stop_are_delivered(void)
{
	for (int i = 0; i < 20 && tap_holds(); i++) {
		if (talker_pair(&server, &client, dev, NULL)) {
			server.on_received = answer_and_stop;
			client.on_disconnected = must_have_the_answer;
			IS(pier_comch_send(client.conn, "?", 1, ignore,
					   NULL), 0);
			talker_count(&client.disconnected, 1);
			IS(client.received, 1);
			talker_state(&client, PIER_CTX_IDLE);
			talker_state(&server, PIER_CTX_IDLE);
		}
		talker_unpair(&server, &client);
	}
}

/* The first thing that a client does, even in its callback. */
static void the_message_of_a_client_that_stops_is_delivered(void)
{
	const char *name = talker_name();

	for (int i = 0; i < 20 && tap_holds(); i++) {
		if (talker_server(&server, dev, name, NULL) &&
		    talker_start(&server) &&
		    talker_client(&client, dev, name, NULL, NULL)) {
			client.on_connected = answer_and_stop;
			server.on_disconnected = must_have_the_answer;
			IS(pier_ctx_start(client.ctx, client.pe),
			   -EINPROGRESS);
			talker_count(&server.disconnected, 1);
			IS(server.received, 1);
		}
		talker_unpair(&server, &client);
	}
}

static void lengths_are_checked(void)
{
	struct pier_comch_config small = { .size = sizeof(small),
					   .max_msg_size = 100 };
	struct pier_comch_config large = { .size = sizeof(large),
					   .max_msg_size =
						   PIER_COMCH_MESSAGE_MAX };
	const char *name = talker_name();

	if (talker_pair(&server, &client, dev, &large)) {
		IS(talker_send(client.conn, 4, PIER_COMCH_MESSAGE_MAX), 0);
		talker_count(&server.received, 1);
		talker_holds(&server, 4, PIER_COMCH_MESSAGE_MAX);
		IS(talker_send(client.conn, 5, 0), 0);
		talker_count(&server.received, 2);
		IS(server.last_len, 0);
		IS(pier_comch_send(client.conn, NULL, 0, ignore, NULL), 0);
		talker_count(&server.received, 3);
		IS(pier_comch_send(client.conn, NULL, 1, ignore, NULL),
		   -EINVAL);
		IS(pier_comch_send(client.conn, "", PIER_COMCH_MESSAGE_MAX + 1,
				   ignore, NULL), -EMSGSIZE);
	}
	talker_unpair(&server, &client);
	if (talker_server(&server, dev, name, &small) &&
	    talker_start(&server) &&
	    talker_client(&client, dev, name, NULL, &large) &&
	    talker_start(&client) && talker_count(&server.connected, 1)) {
		IS(pier_comch_conn_max_msg_size(client.conn), 100);
		IS(pier_comch_conn_max_msg_size(server.conn), 100);
		IS(talker_send(client.conn, 6, 101), -EMSGSIZE);
		LIKE(pier_last_error(), "at most 100");
		IS(talker_send(client.conn, 6, 100), 0);
		IS(talker_send(server.conn, 6, 100), 0);
	}
	talker_unpair(&server, &client);
}

static void tasks_are_used_again(void)
{
	struct pier_task *task, *another;
	struct pier_comch_config cfg = { .size = sizeof(cfg), .tasks = 1 };
	int status = -EINPROGRESS;
	long long limit = limit_from_now();

	if (talker_pair(&server, &client, dev, &cfg) &&
	    IS(pier_comch_task_send(client.conn, "one", 3, &task), 0)) {
		IS(pier_task_type(task), PIER_TASK_COMCH_SEND);
		IS_STR(pier_task_type_name(PIER_TASK_COMCH_SEND), "comch send");
		OK(pier_task_ctx(task) == client.ctx);
		IS(pier_comch_task_send(client.conn, "", 0, &another),
		   -ENOBUFS);
		LIKE(pier_last_error(), "all 1 tasks");
		pier_task_set_done(task, peer_done, &status);
		IS(pier_task_submit(task, 0), 0);
		IS(pier_task_submit(task, 0), -EBUSY);
		IS(pier_comch_task_set_msg(task, "two", 3), -EBUSY);
		while (status == -EINPROGRESS && talker_step(limit))
			;
		IS(status, 0);
		IS(pier_task_submit(task, 2), -EINVAL);
		IS(pier_comch_task_set_msg(task, NULL, 3), -EINVAL);
		IS(pier_comch_task_set_msg(task, "two", 4), 0);
		IS(pier_task_submit(task, 0), 0);
		talker_count(&server.received, 2);
		IS_STR((const char *)server.last, "two");
		IS(pier_ctx_stop_wait(client.ctx, LIMIT_MS), 0);
		IS(pier_task_submit(task, 0), -ESHUTDOWN);
		IS(pier_ctx_start(client.ctx, client.pe), -EBUSY);
		pier_task_free(task);
		talker_start(&client);
	}
	talker_unpair(&server, &client);
}

/* A server in a process of its own, until it is killed. */
static int serve(struct pair *me, void *arg)
{
	int err = pier_dev_open(NULL, &dev);

	if (!err && talker_server(&server, dev, arg, NULL) &&
	    talker_start(&server) && pair_send(me, "", 1))
		for (;;)
			pier_pe_wait(server.pe, 100);
	return 1;
}

/* One event a round, as programs for DOCA do. */
static void idle_step_by_step(struct talker *talker)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(talker->ctx) != PIER_CTX_IDLE &&
	       limit_holds(limit))
		pier_pe_progress(talker->pe, 1);
}

static void fail_each_task_once(bool one_event)
{
	char name[64];
	struct pair pair;
	uint32_t sent;

	strcpy(name, talker_name());
	memset(streams, 0, sizeof(streams));
	pair_start(&pair, serve, name);
	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	if (IS(pair_recv(&pair, &sent, 1), 1) &&
	    talker_client(&client, dev, name, NULL, NULL) &&
	    talker_start(&client)) {
		IS(talker_send(client.conn, 1, 10), 0);
		pair_kill(&pair);
		send_on(&client, client.conn);
		OK(streams[0].sent > 1);
		if (one_event)
			idle_step_by_step(&client);
		talker_state(&client, PIER_CTX_IDLE);
		IS(streams[0].completed, streams[0].sent);
		IS(streams[0].failed, streams[0].sent);
		IS(client.disconnected, 1);
	}
	talker_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

static void a_server_that_is_killed_fails_each_task_once(void)
{
	fail_each_task_once(false);
}

static void tasks_complete_after_the_end_of_their_connection(void)
{
	fail_each_task_once(true);
}

static int call_and_die(struct pair *me, void *arg)
{
	char go;

	if (pier_dev_open(NULL, &dev) ||
	    !talker_client(&client, dev, arg, NULL, NULL) ||
	    pair_recv(me, &go, 1) != 1 || !talker_start(&client) ||
	    pier_comch_send(client.conn, "x", 1, ignore, NULL))
		return 1;
	for (;;)
		pier_pe_wait(client.pe, 100);
}

static void a_client_that_is_killed_is_reported(void)
{
	char name[64];
	struct pair pair;

	strcpy(name, talker_name());
	pair_start(&pair, call_and_die, name);
	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	if (talker_server(&server, dev, name, NULL) && talker_start(&server) &&
	    OK(pair_send(&pair, "", 1)) && talker_count(&server.received, 1)) {
		pair_kill(&pair);
		talker_count(&server.disconnected, 1);
		IS(pier_ctx_state(server.ctx), PIER_CTX_RUNNING);
	}
	talker_close(&server);
	pier_dev_close(dev);
	dev = NULL;
}

#define STOPPED 3
#define SHARED 16		/* tasks of their server */

static struct pier_comch_conn *stopped[STOPPED];

static int call_and_stop(struct pair *me, void *arg)
{
	char go;

	if (pier_dev_open(NULL, &dev) ||
	    !talker_client(&client, dev, arg, NULL, NULL) ||
	    pair_recv(me, &go, 1) != 1 || !talker_start(&client))
		return 1;
	raise(SIGSTOP);
	for (;;)
		pier_pe_wait(client.pe, 100);
}

static void note_stopped(struct talker *talker, struct pier_comch_conn *conn)
{
	if (talker->connected <= STOPPED)
		stopped[talker->connected - 1] = conn;
}

/* Messages to each of them, until the sender has to wait. */
static void fill_stopped(void)
{
	int err;

	for (int i = 0; i < STOPPED; i++) {
		do
			err = pier_comch_send(stopped[i], "x", 1, ignore,
					      NULL);
		while (!err);
		if (!IS(err, -EAGAIN))
			tap_note("%s", pier_last_error());
	}
}

/* Messages to and from another client, which they do not hold up. */
static void talk_to_other(const char *name)
{
	if (!talker_client(&other, dev, name, NULL, NULL) ||
	    !talker_start(&other) ||
	    !talker_count(&server.connected, STOPPED + 1))
		return;
	fill_stopped();		/* again: some tasks were left for this one */
	for (int i = 1; i <= 20 && tap_holds(); i++) {
		IS(talker_send(other.conn, 1, 100), 0);
		IS(talker_send(server.conn, 2, 100), 0);
		talker_count(&other.received, i);
	}
	IS(server.received, other.received);
}

static void clients_that_stop_leave_tasks_to_others(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .tasks = SHARED };
	struct pair pairs[STOPPED];
	char name[64];
	int i;

	strcpy(name, talker_name());
	for (i = 0; i < STOPPED; i++)
		pair_start(&pairs[i], call_and_stop, name);
	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	if (talker_server(&server, dev, name, &cfg) && talker_start(&server)) {
		server.on_connected = note_stopped;
		for (i = 0; i < STOPPED; i++)
			OK(pair_send(&pairs[i], "", 1) &&
			   talker_count(&server.connected, i + 1) &&
			   pair_is_stopped(&pairs[i], true));
		fill_stopped();
		talk_to_other(name);
		for (i = 0; i < STOPPED; i++)
			pair_go_on(&pairs[i]);
		talker_count(&server.writable, STOPPED);
		for (i = 0; i < STOPPED; i++)
			pair_kill(&pairs[i]);
		talker_close(&other);
		talker_count(&server.disconnected, STOPPED + 1);
	}
	talker_close(&server);
	pier_dev_close(dev);
	dev = NULL;
}

int main(void)
{
	TEST(clients_that_stop_leave_tasks_to_others);
	TEST(a_server_that_is_killed_fails_each_task_once);
	TEST(tasks_complete_after_the_end_of_their_connection);
	TEST(a_client_that_is_killed_is_reported);
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(messages_keep_their_order_with_any_queue);
	TEST(a_sender_without_credit_gets_an_error);
	TEST(a_stalled_client_harms_no_other);
	TEST(messages_before_a_stop_are_delivered);
	TEST(the_message_of_a_client_that_stops_is_delivered);
	TEST(lengths_are_checked);
	TEST(tasks_are_used_again);
	pier_dev_close(dev);
	return tap_done();
}
