/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ops/comch_impl.h"
#include "t/lib/pair.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/*
 * One end of a Comm Channel is killed, at every stage: each message of the
 * other end completes once, its end is reported with an error message, and a
 * server serves others.  t/ops/comch_flow.c has those that are connected.
 */
#define ROUNDS 6		/* of an engine while it connects */
#define MESSAGES 8

static struct pier_dev *dev;
static struct talker server, client;
static struct pair pair;
static char name[64];
static int completed;

/* What the victim does when it is killed. */
enum stage {
	STARTED,	/* a server: nothing; a client: it has begun */
	CONNECTED,	/* it sleeps */
	SENDING,
	STOPPING,	/* with messages in flight */
};

static void count(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
	completed++;
}

/* As many messages as there are credits for.  Returns their number. */
static int send_some(struct talker *talker)
{
	int n = 0;

	completed = 0;
	while (n < MESSAGES && !pier_comch_send(talker->conn, "x", 1, count,
						NULL))
		n++;
	return n;
}

static void send_for_ever(struct talker *talker)
{
	for (;;) {
		if (talker->conn)
			send_some(talker);
		pier_pe_progress(talker->pe, 0);
	}
}

/* The rest of a victim's life, from the stage on. */
static int reach(struct pair *me, struct talker *talker, enum stage stage)
{
	if (stage != STARTED &&
	    (!talker_count(&talker->connected, 1) || !send_some(talker)))
		return 1;
	if (stage == STOPPING) {
		pier_ctx_stop(talker->ctx);
		pier_pe_progress(talker->pe, 1);
	}
	if (!pair_send(me, "", 1))
		return 1;
	if (stage == SENDING)
		send_for_ever(talker);
	for (;;)
		pause();
}

static int server_main(struct pair *me, void *arg)
{
	if (pier_dev_open(NULL, &dev) ||
	    !talker_server(&server, dev, name, NULL) ||
	    !talker_start(&server) || !pair_send(me, "", 1))
		return 1;
	return reach(me, &server, *(enum stage *)arg);
}

static bool reported(void)
{
	char byte;

	return IS(pair_recv(&pair, &byte, 1), 1);
}

static bool begin_client(enum stage stage)
{
	snprintf(name, sizeof(name), "%s", talker_name());
	pair_start(&pair, server_main, &stage);
	return IS(pier_dev_open(NULL, &dev), 0) && reported() &&
	       talker_client(&client, dev, name, NULL, NULL);
}

static void end_client(void)
{
	talker_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

/* A kernel disconnects for a process that has died, without a reason. */
static bool may_disconnect(void)
{
	return client.connected &&
	       strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
}

/* The client is idle, and has the reason. */
static void client_has_reason(void)
{
	const char *text = "";

	talker_state(&client, PIER_CTX_IDLE);
	if (pier_comch_error(client.comch, &text) || !may_disconnect()) {
		OK(pier_comch_error(client.comch, &text) < 0);
		OK(text[0]);
	}
	IS(client.connected, client.disconnected);
	IS(pier_pe_inflight(client.pe), 0);
}

static void a_server_is_killed_before_its_client_connects(void)
{
	if (begin_client(STARTED)) {
		pair_kill(&pair);
		IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
		client_has_reason();
		IS(client.connected, 0);
	}
	end_client();
}

static void a_server_is_killed_while_its_client_connects(void)
{
	for (int rounds = 1; rounds <= ROUNDS && tap_holds(); rounds++) {
		if (begin_client(CONNECTED)) {
			IS(pier_ctx_start(client.ctx, client.pe),
			   -EINPROGRESS);
			for (int i = 0; i < rounds; i++)
				pier_pe_progress(client.pe, 1);
			pair_kill(&pair);
			client_has_reason();
		}
		end_client();
	}
}

static void kill_server(enum stage stage)
{
	int sent;

	if (begin_client(stage) && talker_start(&client)) {
		while (!pair_readable(&pair) && tap_holds())
			talker_step(limit_from_now());
		if (reported() && client.conn) {
			sent = send_some(&client);
			pair_kill(&pair);
			client_has_reason();
			IS(completed, sent);
		}
	}
	end_client();
}

static void a_server_is_killed_while_it_sleeps(void)
{
	kill_server(CONNECTED);
}

static void a_server_is_killed_while_it_sends(void)
{
	kill_server(SENDING);
}

static void a_server_is_killed_while_its_client_stops(void)
{
	if (begin_client(CONNECTED) && talker_start(&client)) {
		while (!pair_readable(&pair) && tap_holds())
			talker_step(limit_from_now());
		reported();
		send_some(&client);
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		IS(pier_ctx_stop(client.ctx), -EINPROGRESS);
		pier_pe_progress(client.pe, 1);
		pair_kill(&pair);
		talker_state(&client, PIER_CTX_IDLE);
		IS(pier_pe_inflight(client.pe), 0);
		IS(client.disconnected, 1);
	}
	end_client();
}

static int client_main(struct pair *me, void *arg)
{
	enum stage stage = *(enum stage *)arg;
	char go;

	if (pair_recv(me, &go, 1) != 1 || pier_dev_open(NULL, &dev) ||
	    !talker_client(&client, dev, name, NULL, NULL) ||
	    pier_ctx_start(client.ctx, client.pe) != -EINPROGRESS)
		return 1;
	for (int i = 0; i < ROUNDS / 2 && stage == STARTED; i++)
		pier_pe_progress(client.pe, 1);
	return reach(me, &client, stage);
}

/* Another client is served, and the end of that which was killed is known. */
static void is_served(void)
{
	long long limit = limit_from_now();

	if (talker_client(&client, dev, name, NULL, NULL) &&
	    talker_start(&client)) {
		int before = server.received;

		IS(talker_send(client.conn, 3, 100), 0);
		talker_count(&server.received, before + 1);
	}
	talker_close(&client);
	while (server.comch->conn_count && talker_step(limit))
		;
	IS(server.comch->conn_count, 0);
	IS(server.connected, server.disconnected);
	IS(pier_pe_inflight(server.pe), 0);
}

/* A server whose client has reached @stage. */
static bool begin_server(enum stage stage, const struct pier_comch_config *cfg)
{
	snprintf(name, sizeof(name), "%s", talker_name());
	pair_start(&pair, client_main, &stage);
	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !talker_server(&server, dev, name, cfg) || !talker_start(&server) ||
	    !OK(pair_send(&pair, "", 1)))
		return false;
	while (!pair_readable(&pair) && tap_holds())
		talker_step(limit_from_now());
	return reported();
}

static void end_server(void)
{
	talker_close(&server);
	pier_dev_close(dev);
	dev = NULL;
}

static void kill_client(enum stage stage)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .max_clients = 2,
					 .connect_timeout_ms = 1000 };

	if (begin_server(stage, &cfg)) {
		pair_kill(&pair);
		is_served();
	}
	end_server();
}

static void a_client_is_killed_while_it_connects(void)
{
	kill_client(STARTED);
}

static void a_client_is_killed_while_it_sleeps(void)
{
	kill_client(CONNECTED);
}

static void a_client_is_killed_while_it_sends(void)
{
	kill_client(SENDING);
}

static void a_client_is_killed_while_it_stops(void)
{
	kill_client(STOPPING);
}

/* The client may know it before the server's callback is called. */
static bool is_connected(void)
{
	long long limit = limit_from_now();

	while (!server.conn && talker_step(limit))
		;
	return OK(server.conn != NULL);
}

/*
 * The server has received what the client has sent, and nothing of its own is
 * in flight: else credits might be what fails first.
 */
static bool is_quiet(void)
{
	completed = 0;
	return talker_count(&server.received, MESSAGES) &&
	       IS(pier_comch_send(server.conn, "x", 1, count, NULL), 0) &&
	       talker_count(&completed, 1);
}

/* On a verbs device the kernel receives for a process that is stopped. */
static void a_message_that_fails_stops_a_server_that_is_to_stop(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .stop_on_task_error = 1 };
	int sent;

	if (begin_server(CONNECTED, &cfg) && is_connected() && is_quiet()) {
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		sent = send_some(&server);
		pair_kill(&pair);
		if (!strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
			talker_state(&server, PIER_CTX_IDLE);
		else
			talker_count(&completed, sent);
		OK(sent > 0);
		IS(completed, sent);
	}
	end_server();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(a_server_is_killed_before_its_client_connects);
	TEST(a_server_is_killed_while_its_client_connects);
	TEST(a_server_is_killed_while_it_sleeps);
	TEST(a_server_is_killed_while_it_sends);
	TEST(a_server_is_killed_while_its_client_stops);
	TEST(a_client_is_killed_while_it_connects);
	TEST(a_client_is_killed_while_it_sleeps);
	TEST(a_client_is_killed_while_it_sends);
	TEST(a_client_is_killed_while_it_stops);
	TEST(a_message_that_fails_stops_a_server_that_is_to_stop);
	return tap_done();
}
