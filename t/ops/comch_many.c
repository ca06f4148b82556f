/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/* Many clients of one server, in several processes. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MANY 100
#else
#define MANY 1000
#endif
#define MANY_VERBS 48
#define PROCESSES 4
#define UNDER_WAY 16		/* clients that connect at a time */
#define CLIENTS_MAX (MANY / PROCESSES)

static struct pier_dev *dev;
static struct talker server;
static char name[64];

/* The clients of one process, on one engine. */
static struct asker {
	struct pier_comch *comch;
	struct pier_comch_conn *conn;
	uint32_t number, reply;
	bool answered;
} clients[CLIENTS_MAX];
static int connected, answered, idle, wrong;

static void client_connected(struct pier_comch_conn *conn, void *data)
{
	struct asker *c = data;

	c->conn = conn;
	connected++;
}

static void client_received(struct pier_comch_conn *conn, const void *msg,
			    size_t len, void *data)
{
	struct asker *c = data;

	(void)conn;
	if (len != sizeof(c->number) || memcmp(msg, &c->number, len) ||
	    c->answered)
		wrong++;
	c->answered = true;
	answered++;
}

static void client_state(struct pier_ctx *ctx, enum pier_ctx_state prev,
			 enum pier_ctx_state next, void *data)
{
	(void)ctx;
	(void)prev;
	(void)data;
	if (next == PIER_CTX_IDLE)
		idle++;
}

static bool begin(struct asker *c, struct pier_pe *pe)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg), .tasks = 2,
					 .connect_timeout_ms = 60000 };
	struct pier_ctx *ctx;

	if (pier_comch_create_client(dev, name, NULL, &c->comch) ||
	    pier_comch_configure(c->comch, &cfg))
		return false;
	ctx = pier_comch_ctx(c->comch);
	pier_ctx_set_user_data(ctx, c);
	pier_ctx_set_state_changed(ctx, client_state);
	pier_comch_set_callbacks(c->comch, client_connected, NULL,
				 client_received, NULL);
	return pier_ctx_start(ctx, pe) == -EINPROGRESS;
}

static bool until(struct pier_pe *pe, const int *count, int want)
{
	long long limit = limit_from_now() + 2LL * LIMIT_MS;

	while (*count < want && !idle && !wrong && limit_holds(limit))
		pier_pe_wait(pe, 5);
	return *count >= want;
}

static void sent(struct pier_task *task, void *arg)
{
	(void)arg;
	wrong += pier_task_status(task) != 0;
}

static bool all_begin(struct pier_pe *pe, uint32_t base, int count)
{
	for (int i = 0; i < count; i++) {
		clients[i].number = base + (uint32_t)i;
		if (!begin(&clients[i], pe) ||
		    !until(pe, &connected, i - UNDER_WAY))
			return false;
	}
	return until(pe, &connected, count);
}

static bool all_ask(struct pier_pe *pe, int count)
{
	for (int i = 0; i < count; i++)
		if (pier_comch_send(clients[i].conn, &clients[i].number,
				    sizeof(clients[i].number), sent, NULL))
			return false;
	return until(pe, &answered, count);
}

static int replied;

static void has_reply(struct pier_task *task, void *arg)
{
	struct asker *c = arg;

	replied++;
	wrong += pier_task_status(task) != 0 || c->reply != c->number ||
		 pier_comch_reply_len(task) != sizeof(c->reply);
	pier_task_free(task);
}

/* A request of each, all at a time. */
static bool all_request(struct pier_pe *pe, int count)
{
	for (int i = 0; i < count; i++) {
		struct asker *c = &clients[i];
		struct pier_task *task;

		if (pier_comch_task_request(c->conn, &c->number,
					    sizeof(c->number), &c->reply,
					    sizeof(c->reply), &task))
			return false;
		pier_task_set_done(task, has_reply, c);
		if (pier_task_submit(task, 0))
			return false;
	}
	return until(pe, &replied, count);
}

static void all_end(struct pier_pe *pe, int count)
{
	long long limit = limit_from_now();

	for (int i = 0; i < count; i++)
		pier_ctx_stop(pier_comch_ctx(clients[i].comch));
	while (idle < count && limit_holds(limit))
		pier_pe_wait(pe, 5);
	for (int i = 0; i < count; i++)
		pier_comch_destroy(clients[i].comch);
}

/* @me gets the first number and the count, and replies when it is served. */
static int process(struct pair *me, void *arg)
{
	struct rlimit files;
	struct pier_pe *pe;
	uint32_t order[2];
	int count;
	bool ok;

	(void)arg;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (pair_recv(me, order, sizeof(order)) != sizeof(order) ||
	    pier_dev_open(NULL, &dev) || pier_pe_create(&pe))
		return 1;
	count = (int)order[1];
	ok = all_begin(pe, order[0], count) && all_ask(pe, count) &&
	     all_request(pe, count);
	if (!OK(ok))
		tap_note("%d connected, %d answered, %d idle: %s", connected,
			 answered, idle, pier_last_error());
	IS(wrong, 0);
	if (!pair_send(me, "", 1) || pair_recv(me, order, 1) != 1)
		ok = false;
	all_end(pe, count);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return !ok;
}

static void answer(struct talker *talker, struct pier_comch_conn *conn)
{
	if (pier_comch_send(conn, talker->last, talker->last_len, sent, NULL))
		talker->wrong++;
}

static int requests, ended;

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *arg)
{
	(void)conn;
	(void)arg;
	requests++;
	if (pier_comch_reply(server.comch, request, msg, len))
		server.wrong++;
}

static void request_ended(struct pier_comch *comch, uint64_t request,
			  int status, void *arg)
{
	(void)comch;
	(void)request;
	(void)arg;
	ended++;
	server.wrong += status != 0;
}

static void serve(struct pair *pairs, int count)
{
	long long limit = limit_from_now() + 2LL * LIMIT_MS;
	int i, ready = 0;
	char word;

	while (ready < PROCESSES && pier_pe_wait(server.pe, 5) != -EBUSY &&
	       limit_holds(limit))
		for (i = ready = 0; i < PROCESSES; i++)
			ready += pair_readable(&pairs[i]);
	IS(server.connected, count);
	IS(server.received, count);
	IS(requests, count);
	talker_count(&ended, count);
	IS(server.disconnected, 0);
	for (i = 0; i < PROCESSES; i++)
		OK(pair_recv(&pairs[i], &word, 1) == 1 &&
		   pair_send(&pairs[i], "", 1));
	talker_count(&server.disconnected, count);
	for (i = 0; i < PROCESSES; i++)
		IS(pair_wait(&pairs[i]), 0);
}

static void many_clients_are_served_by_one_server(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = 4, .tasks = 2048 };
	struct pair pairs[PROCESSES];
	uint32_t order[2];
	int i, count;

	strcpy(name, talker_name());
	for (i = 0; i < PROCESSES; i++)
		pair_start(&pairs[i], process, NULL);
	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	count = strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft") ?
			MANY_VERBS : MANY;
	cfg.max_clients = (uint32_t)count;
	if (talker_server(&server, dev, name, &cfg) && talker_start(&server)) {
		server.on_received = answer;
		IS(pier_comch_set_request_callbacks(server.comch, requested,
						    request_ended), 0);
		order[1] = (uint32_t)(count / PROCESSES);
		for (i = 0; i < PROCESSES; i++) {
			order[0] = (uint32_t)i * order[1];
			OK(pair_send(&pairs[i], order, sizeof(order)));
		}
		serve(pairs, count);
	}
	talker_close(&server);
	pier_dev_close(dev);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(many_clients_are_served_by_one_server);
	return tap_done();
}
