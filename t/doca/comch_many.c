/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "t/doca/party.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/* Many clients of one server, in several processes, under DOCA's names. */

#define MANY 1000
#define MANY_SLOW 100		/* with a sanitizer */
#define MANY_VERBS 48
#define PROCESSES 4
#define UNDER_WAY 16		/* clients that connect at a time */
#define CLIENTS_MAX (MANY / PROCESSES)

static char name[64];
static struct party server;

/* The clients of one process, on one engine. */
static struct doca_comch_client *clients[CLIENTS_MAX];
static struct doca_pe *pe;
static int running, idle, done, failed;

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	running += next == DOCA_CTX_STATE_RUNNING;
	idle += next == DOCA_CTX_STATE_IDLE;
}

static void on_done(struct doca_comch_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
	done++;
}

static void on_failed(struct doca_comch_task_send *task, union doca_data data,
		      union doca_data ctx_data)
{
	on_done(task, data, ctx_data);
	failed++;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *msg,
		       uint32_t len, struct doca_comch_connection *conn)
{
	(void)event;
	(void)msg;
	(void)len;
	(void)conn;
}

static bool until(const int *count, int want, int may_end)
{
	long long limit = limit_from_now() + 2LL * LIMIT_MS;

	while (*count < want && idle <= may_end &&
	       (doca_pe_progress(pe) ? limit_holds(limit) : limit_nap(limit)))
		;
	return *count >= want;
}

static bool begin(struct doca_dev *dev, int i)
{
	struct doca_comch_client *c;
	struct doca_ctx *ctx;

	if (doca_comch_client_create(dev, name, &c))
		return false;
	clients[i] = c;
	ctx = doca_comch_client_as_ctx(c);
	return !doca_comch_client_task_send_set_conf(c, on_done, on_failed,
						     1) &&
	       !doca_comch_client_event_msg_recv_register(c, on_message) &&
	       !doca_ctx_set_state_changed_cb(ctx, on_state) &&
	       !doca_pe_connect_ctx(pe, ctx) &&
	       doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS &&
	       until(&running, i - UNDER_WAY, 0);
}

static bool send_one(int i)
{
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *task;

	return !doca_comch_client_get_connection(clients[i], &conn) &&
	       !doca_comch_client_task_send_alloc_init(clients[i], conn, &i,
						       sizeof(i), &task) &&
	       !doca_task_submit(doca_comch_task_send_as_task(task));
}

static bool talk(struct doca_dev *dev, int count)
{
	for (int i = 0; i < count; i++)
		if (!begin(dev, i))
			return false;
	if (!until(&running, count, 0))
		return false;
	for (int i = 0; i < count; i++)
		if (!send_one(i))
			return false;
	return until(&done, count, 0) && !failed;
}

static void end_all(int count)
{
	for (int i = 0; i < count; i++)
		doca_ctx_stop(doca_comch_client_as_ctx(clients[i]));
	until(&idle, count, count);
	for (int i = 0; i < count; i++)
		IS(doca_comch_client_destroy(clients[i]), DOCA_SUCCESS);
}

/* @me gets how many clients it is, and replies when all have sent. */
static int process(struct pair *me, void *arg)
{
	struct rlimit files;
	struct doca_dev *dev;
	int count;

	(void)arg;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (pair_recv(me, &count, sizeof(count)) != sizeof(count) ||
	    doca_pe_create(&pe))
		return 1;
	dev = end_device();
	if (!OK(talk(dev, count)))
		tap_note("%d run, %d are idle, %d have sent, %d failed",
			 running, idle, done, failed);
	OK(pair_send(me, "", 1));
	pair_recv(me, name, 1);
	end_all(count);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	return 0;
}

static void serve(struct pair *pairs, int count)
{
	long long limit = limit_from_now() + 2LL * LIMIT_MS;
	char word;
	int i;

	while (server.received < count && !server.disconnected &&
	       party_step(limit))
		;
	IS(server.connected, count);
	IS(server.received, count);
	IS(server.disconnected, 0);
	for (i = 0; i < PROCESSES; i++)
		OK(pair_recv(&pairs[i], &word, 1) == 1 &&
		   pair_send(&pairs[i], "", 1));
	party_until(&server.disconnected, count);
	for (i = 0; i < PROCESSES; i++)
		IS(pair_wait(&pairs[i]), 0);
}

/* As many as the device has; a soft one has MANY. */
static int most(void)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(server.dev);
	const char *kind = getenv("PIER_DEVICE");
	uint32_t clients_max = 0;

	IS(doca_comch_cap_get_max_clients(info, &clients_max), DOCA_SUCCESS);
	if (kind && strncmp(kind, "soft", 4))
		return MANY_VERBS;
	OK(clients_max >= MANY);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return MANY_SLOW;
#endif
	return MANY;
}

static void many_clients_connect_to_one_server(void)
{
	struct pair pairs[PROCESSES];
	int i, count;

	strcpy(name, party_name());
	for (i = 0; i < PROCESSES; i++)
		pair_start(&pairs[i], process, NULL);
	if (party_server(&server, name) && party_start(&server)) {
		count = most() / PROCESSES;
		for (i = 0; i < PROCESSES; i++)
			OK(pair_send(&pairs[i], &count, sizeof(count)));
		serve(pairs, count * PROCESSES);
	}
	party_close(&server);
}

int main(void)
{
	struct doca_dev *dev = end_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	TEST(many_clients_connect_to_one_server);
	return tap_done();
}
