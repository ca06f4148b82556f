/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/party.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/* Messages, tasks and connections of Comm Channels, and how they end. */

#define CALLS_MAX 8	/* of progress, until both are connected */

static struct party server, client, other;

/* Submit @task, which has been taken. */
static doca_error_t submit(struct doca_comch_task_send *task)
{
	return doca_task_submit(doca_comch_task_send_as_task(task));
}

static void give_back(struct doca_comch_task_send *task)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void messages_are_copied_at_submit(void)
{
	char text[] = "a text that is overwritten";

	if (party_pair(&server, &client)) {
		IS(party_send(&client, text, sizeof(text) - 1), DOCA_SUCCESS);
		memset(text, 'x', sizeof(text));
		if (party_until(&server.received, 1))
			party_has(&server, "a text that is overwritten");
	}
	party_unpair(&server, &client);
}

static void a_task_is_submitted_again(void)
{
	struct doca_comch_task_send *task;
	char text[] = "one";

	if (party_pair(&server, &client)) {
		client.hold = true;
		IS(party_take(&client, text, 3, &task), DOCA_SUCCESS);
		IS(submit(task), DOCA_SUCCESS);
		party_until(&client.done, 1);
		OK(client.held == task);
		memcpy(text, "two", 3);
		IS(submit(task), DOCA_SUCCESS);
		party_until(&client.done, 2);
		if (party_until(&server.received, 2))
			party_has(&server, "two");
		give_back(task);
	}
	party_unpair(&server, &client);
}

static void the_longest_message_and_an_empty_one_arrive(void)
{
	static char text[4080];

	memset(text, 'z', sizeof(text));
	if (party_pair(&server, &client)) {
		IS(party_send(&client, text, 4080), DOCA_SUCCESS);
		if (party_until(&server.received, 1))
			IS(server.last_len, 4080);
		OK(!memcmp(server.last, text, 4080));
		IS(party_send(&client, NULL, 0), DOCA_SUCCESS);
		if (party_until(&server.received, 2))
			IS(server.last_len, 0);
	}
	party_unpair(&server, &client);
}

static void messages_are_checked(void)
{
	struct doca_comch_task_send *task = NULL;
	static char text[4081];

	if (party_pair(&server, &client)) {
		IS(party_take(&client, text, 4081, &task),
		   DOCA_ERROR_INVALID_VALUE);
		IS(party_take(&client, NULL, 1, &task),
		   DOCA_ERROR_INVALID_VALUE);
		IS(doca_comch_client_task_send_alloc_init(
			   client.client, party_conn(&client), text, 1, NULL),
		   DOCA_ERROR_INVALID_VALUE);
		IS(doca_comch_client_task_send_alloc_init(
			   client.client, NULL, text, 1, &task),
		   DOCA_ERROR_INVALID_VALUE);
		IS(doca_comch_client_task_send_alloc_init(
			   client.client, server.conn, text, 1, &task),
		   DOCA_ERROR_INVALID_VALUE);
		OK(!task);
	}
	party_unpair(&server, &client);
}

/* A server that receives 8 bytes, and a message at a time. */
static bool pair_small(void)
{
	const char *name = party_name();

	memset(&client, 0, sizeof(client));
	return party_server(&server, name) &&
	       IS(doca_comch_server_set_max_msg_size(server.server, 8),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_server_set_recv_queue_size(server.server, 1),
		  DOCA_SUCCESS) &&
	       party_start(&server) && party_client(&client, name) &&
	       party_start(&client) && party_until(&server.connected, 1);
}

static void a_message_that_the_peer_does_not_take_is_invalid(void)
{
	if (pair_small()) {
		IS(party_send(&client, "123456789", 9),
		   DOCA_ERROR_INVALID_VALUE);
		IS(party_send(&client, "12345678", 8), DOCA_SUCCESS);
		party_until(&server.received, 1);
	}
	party_unpair(&server, &client);
}

static void a_submit_that_finds_the_peer_full_is_again(void)
{
	struct doca_comch_task_send *task;
	long long limit = limit_from_now();
	doca_error_t error;

	if (pair_small()) {
		IS(party_send(&client, "first", 5), DOCA_SUCCESS);
		IS(party_take(&client, "second", 6, &task), DOCA_SUCCESS);
		IS(submit(task), DOCA_ERROR_AGAIN);
		IS(doca_task_try_submit(doca_comch_task_send_as_task(task)),
		   DOCA_ERROR_AGAIN);
		while ((error = submit(task)) == DOCA_ERROR_AGAIN &&
		       party_step(limit))
			;
		IS(error, DOCA_SUCCESS);
		if (party_until(&server.received, 2))
			party_has(&server, "second");
		party_until(&client.done, 2);
	}
	party_unpair(&server, &client);
}

static void there_are_as_many_tasks_as_were_asked_for(void)
{
	struct doca_comch_task_send *tasks[PARTY_TASKS + 1];
	const char *name = party_name();
	int i;

	party_server(&server, name);
	IS(party_take(&server, "x", 1, &tasks[0]), DOCA_ERROR_INVALID_VALUE);
	party_start(&server);
	party_client(&client, name);
	party_start(&client);
	if (party_until(&server.connected, 1)) {
		for (i = 0; i < PARTY_TASKS; i++)
			IS(party_take(&server, "x", 1, &tasks[i]),
			   DOCA_SUCCESS);
		IS(party_take(&server, "x", 1, &tasks[i]),
		   DOCA_ERROR_NO_MEMORY);
		while (i--)
			give_back(tasks[i]);
		IS(party_send(&server, "x", 1), DOCA_SUCCESS);
		party_until(&client.received, 1);
	}
	party_unpair(&server, &client);
}

static uint64_t counter(struct doca_comch_connection *conn,
			enum doca_comch_counter type)
{
	uint64_t value = 99;

	IS(doca_comch_connection_get_counter(conn, type, &value),
	   DOCA_SUCCESS);
	return value;
}

static void an_update_counts_messages_and_bytes(void)
{
	struct doca_comch_connection *conn;
	uint64_t value = 99;

	if (party_pair(&server, &client)) {
		IS(party_send(&client, "12345", 5), DOCA_SUCCESS);
		IS(party_send(&client, "678", 3), DOCA_SUCCESS);
		party_until(&server.received, 2);
		party_until(&client.done, 2);
		conn = party_conn(&client);
		IS(counter(conn, DOCA_COMCH_COUNTER_SENT_MESSAGES), 0);
		IS(doca_comch_connection_update_info(conn), DOCA_SUCCESS);
		IS(counter(conn, DOCA_COMCH_COUNTER_SENT_MESSAGES), 2);
		IS(counter(conn, DOCA_COMCH_COUNTER_SENT_BYTES), 8);
		IS(counter(conn, DOCA_COMCH_COUNTER_RECV_MESSAGES), 0);
		conn = server.conn;
		IS(doca_comch_connection_update_info(conn), DOCA_SUCCESS);
		IS(counter(conn, DOCA_COMCH_COUNTER_RECV_MESSAGES), 2);
		IS(counter(conn, DOCA_COMCH_COUNTER_RECV_BYTES), 8);
		IS(doca_comch_connection_get_counter(conn, 5, &value),
		   DOCA_ERROR_INVALID_VALUE);
		IS(value, 99);
	}
	party_unpair(&server, &client);
}

static union doca_data seen;

static void look(struct party *party, struct doca_comch_connection *conn)
{
	seen = doca_comch_connection_get_user_data(conn);
	OK(doca_comch_server_get_server_ctx(conn) == party->server);
	IS(doca_comch_connection_update_info(conn), DOCA_SUCCESS);
	IS(doca_comch_server_disconnect(party->server, conn), DOCA_SUCCESS);
}

static void a_connection_is_known_until_its_end_was_reported(void)
{
	union doca_data data = { .u64 = 77 };
	struct doca_comch_connection *conn;

	if (party_pair(&server, &client)) {
		conn = party_conn(&client);
		OK(doca_comch_client_get_client_ctx(conn) == client.client);
		OK(!doca_comch_server_get_server_ctx(conn));
		OK(!doca_comch_client_get_client_ctx(server.conn));
		IS(doca_comch_connection_set_user_data(conn, data),
		   DOCA_SUCCESS);
		OK(!doca_comch_connection_get_user_data(server.conn).u64);
		data.u64 = 78;
		IS(doca_comch_connection_set_user_data(server.conn, data),
		   DOCA_SUCCESS);
		server.on_disconnected = look;
		seen.u64 = 0;
		IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
		party_until(&server.disconnected, 1);
		IS(seen.u64, 78);
		party_until_state(&client, DOCA_CTX_STATE_IDLE);
		party_start(&client);	/* with nothing of the last run */
		OK(!doca_comch_connection_get_user_data(
			   party_conn(&client)).u64);
		party_until(&server.connected, 2);
	}
	party_unpair(&server, &client);
}

static int before_the_end;

static void count_received(struct party *party,
			   struct doca_comch_connection *conn)
{
	(void)conn;
	before_the_end = party->received;
}

static void messages_before_a_stop_are_delivered(void)
{
	if (party_pair(&server, &client)) {
		server.on_disconnected = count_received;
		for (int i = 0; i < PARTY_TASKS; i++)
			IS(party_send(&client, "last words", 10),
			   DOCA_SUCCESS);
		IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
		IS(party_send(&client, "x", 1), DOCA_ERROR_BAD_STATE);
		party_until(&server.disconnected, 1);
		IS(before_the_end, PARTY_TASKS);
		party_until_state(&client, DOCA_CTX_STATE_IDLE);
		IS(client.done, PARTY_TASKS);
		IS(client.failed, 0);
	}
	party_unpair(&server, &client);
}

/* As servers do: a response, and nothing more. */
static void respond_and_stop(struct party *party)
{
	IS(party_send(party, "bye", 3), DOCA_SUCCESS);
	IS(doca_ctx_stop(party->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void a_server_responds_and_stops_in_its_callback(void)
{
	if (party_pair(&server, &client)) {
		server.on_received = respond_and_stop;
		IS(party_send(&client, "hello", 5), DOCA_SUCCESS);
		party_until_state(&client, DOCA_CTX_STATE_IDLE);
		party_has(&client, "bye");
		IS(client.states[2], DOCA_CTX_STATE_STOPPING);
		party_until_state(&server, DOCA_CTX_STATE_IDLE);
		IS(server.done, 1);
		IS(server.disconnected, 1);
	}
	party_unpair(&server, &client);
}

static void send_it_away(struct party *party)
{
	if (party->connected == 2)
		IS(doca_comch_server_disconnect(party->server, party->conn),
		   DOCA_SUCCESS);
}

static void a_server_disconnects_one_of_two_clients(void)
{
	struct doca_comch_connection *first;
	const char *name = party_name();

	party_server(&server, name);
	server.on_connected = send_it_away;
	party_start(&server);
	party_client(&client, name);
	party_start(&client);
	party_until(&server.connected, 1);
	first = server.conn;
	party_client(&other, name);
	IS(doca_ctx_start(other.ctx), DOCA_ERROR_IN_PROGRESS);
	party_until_state(&other, DOCA_CTX_STATE_IDLE);
	party_until(&server.disconnected, 1);
	IS(doca_comch_server_disconnect(server.server, party_conn(&client)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_disconnect(server.server, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	server.conn = first;
	IS(party_send(&server, "you stay", 8), DOCA_SUCCESS);
	if (party_until(&client.received, 1))
		party_has(&client, "you stay");
	party_close(&other);
	party_unpair(&server, &client);
}

static void a_task_of_an_ended_connection_is_not_sent(void)
{
	struct doca_comch_task_send *task, *built;

	if (party_pair(&server, &client)) {
		server.hold = true;
		IS(party_take(&server, "x", 1, &task), DOCA_SUCCESS);
		IS(party_send(&server, "x", 1), DOCA_SUCCESS);
		party_until(&server.done, 1);
		built = server.held;
		IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
		party_until(&server.disconnected, 1);
		IS(submit(task), DOCA_ERROR_NOT_CONNECTED);
		IS(submit(built), DOCA_ERROR_NOT_CONNECTED);
		IS(party_state(&server), DOCA_CTX_STATE_RUNNING);
		IS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
		give_back(built);
		for (int i = 0; i < 100; i++)
			party_step(limit_from_now());
		IS(party_state(&server), DOCA_CTX_STATE_STOPPING);
		give_back(task);	/* idle waits for it */
		party_until_state(&server, DOCA_CTX_STATE_IDLE);
	}
	party_unpair(&server, &client);
}

static void destroy_it(struct party *party, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	IS(party->server ? doca_comch_server_destroy(party->server) :
			   doca_comch_client_destroy(party->client),
	   DOCA_SUCCESS);
	party->ctx = NULL;
}

static void contexts_are_destroyed_when_idle_is_reported(void)
{
	if (party_pair(&server, &client)) {
		server.on_state = client.on_state = destroy_it;
		IS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
		party_until_state(&server, DOCA_CTX_STATE_IDLE);
		party_until_state(&client, DOCA_CTX_STATE_IDLE);
		OK(!server.ctx);
		OK(!client.ctx);
	}
	party_unpair(&server, &client);
}

static bool both_are_connected(void)
{
	return server.connected &&
	       party_state(&client) == DOCA_CTX_STATE_RUNNING;
}

/* Neither program does more than one call a second: how many it needs. */
static int calls_needed(void)
{
	long long limit = limit_from_now(), next = limit_now_ms();
	int calls = 0;

	while (!both_are_connected() && limit_nap(limit)) {
		if (limit_now_ms() < next)
			continue;
		doca_pe_progress(client.pe);
		doca_pe_progress(server.pe);
		calls++;
		next = limit_now_ms() + 1000;
	}
	tap_note("%d calls", calls);
	return calls;
}

static void a_call_a_second_connects(void)
{
	const char *name = party_name();

	party_server(&server, name);
	party_start(&server);
	party_client(&client, name);
	IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	OK(calls_needed() <= CALLS_MAX);
	party_unpair(&server, &client);
}

/* In a process of its own: send a message, and make no progress any more. */
static int sender(struct pair *me, void *arg)
{
	char c;

	party_client(&client, arg);
	if (!OK(pair_recv(me, &c, 1) == 1) || !party_start(&client))
		return 1;
	IS(party_send(&client, "and now I sleep", 15), DOCA_SUCCESS);
	OK(pair_recv(me, &c, 1) == 1);
	party_close(&client);
	return client.done != 1;
}

static void a_message_leaves_without_further_progress(void)
{
	char name[64];
	struct pair pair;

	strcpy(name, party_name());
	pair_start(&pair, sender, name);
	party_server(&server, name);
	party_start(&server);
	OK(pair_send(&pair, "s", 1));
	if (party_until(&server.received, 1))
		party_has(&server, "and now I sleep");
	OK(pair_send(&pair, "e", 1));
	party_until(&server.disconnected, 1);
	IS(pair_wait(&pair), 0);
	party_close(&server);
}

static void a_client_that_is_killed_has_disconnected(void)
{
	char name[64];
	struct pair pair;

	strcpy(name, party_name());
	pair_start(&pair, sender, name);
	party_server(&server, name);
	party_start(&server);
	OK(pair_send(&pair, "s", 1));
	if (party_until(&server.received, 1)) {
		pair_kill(&pair);
		IS(party_send(&server, "are you there?", 14), DOCA_SUCCESS);
		party_until(&server.disconnected, 1);
		party_until(&server.failed, 1);
		OK(server.error != DOCA_SUCCESS);
		IS(party_state(&server), DOCA_CTX_STATE_RUNNING);
	}
	party_close(&server);
}

int main(void)
{
	struct doca_dev *dev = end_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	TEST(a_message_leaves_without_further_progress);
	TEST(a_client_that_is_killed_has_disconnected);
	TEST(messages_are_copied_at_submit);
	TEST(a_task_is_submitted_again);
	TEST(the_longest_message_and_an_empty_one_arrive);
	TEST(messages_are_checked);
	TEST(a_message_that_the_peer_does_not_take_is_invalid);
	TEST(a_submit_that_finds_the_peer_full_is_again);
	TEST(there_are_as_many_tasks_as_were_asked_for);
	TEST(an_update_counts_messages_and_bytes);
	TEST(a_connection_is_known_until_its_end_was_reported);
	TEST(messages_before_a_stop_are_delivered);
	TEST(a_server_responds_and_stops_in_its_callback);
	TEST(a_server_disconnects_one_of_two_clients);
	TEST(a_task_of_an_ended_connection_is_not_sent);
	TEST(contexts_are_destroyed_when_idle_is_reported);
	TEST(a_call_a_second_connects);
	return tap_done();
}
