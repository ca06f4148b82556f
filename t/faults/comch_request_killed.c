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
 * One end of a Comm Channel is killed with requests outstanding: each of them
 * ends once at the other end, with an error message, and nothing remains.
 */
#define REQUESTS 8
#define MEM 65536

static struct pier_dev *dev;
static struct talker server, client;
static struct pair pair;
static char name[64];

/* Of a server. */
static uint64_t handles[REQUESTS];
static int requested, ended, wrong;

static void on_request(struct pier_comch_conn *conn, uint64_t request,
		       const void *msg, size_t len, void *data)
{
	(void)conn;
	(void)msg;
	(void)len;
	(void)data;
	handles[requested++ % REQUESTS] = request;
}

static void on_end(struct pier_comch *comch, uint64_t request, int status,
		   void *data)
{
	(void)comch;
	(void)request;
	(void)data;
	ended++;
	if (status >= 0)
		wrong++;
}

static bool open_server(void)
{
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       talker_server(&server, dev, name, NULL) &&
	       IS(pier_comch_set_request_callbacks(server.comch, on_request,
						   on_end), 0) &&
	       talker_start(&server);
}

/* Of a client. */
static struct pier_task *tasks[REQUESTS];
static char reply[REQUESTS][8];
static int completed;

static void on_reply(struct pier_task *task, void *arg)
{
	(void)arg;
	completed++;
	if (pier_task_status(task) >= 0 || !pier_task_error_text(task)[0])
		wrong++;
}

/* @dst is the buffer of the first one; NULL: none. */
static bool submit_all(struct pier_buf *dst)
{
	for (int i = 0; i < REQUESTS; i++) {
		if (!IS(pier_comch_task_request(client.conn, "hello", 6,
						reply[i], 8, &tasks[i]), 0))
			return false;
		pier_task_set_done(tasks[i], on_reply, NULL);
		if (!i)
			pier_comch_task_set_reply_buf(tasks[i], dst);
		if (!IS(pier_task_submit(tasks[i], 0), 0))
			return false;
	}
	return true;
}

/* Victims: each reports when all requests are with the server. */

static int server_main(struct pair *me, void *arg)
{
	(void)arg;
	if (!open_server() || !pair_send(me, "", 1) ||
	    !talker_count(&requested, REQUESTS) || !pair_send(me, "", 1))
		return 1;
	for (;;)
		pause();
}

static int client_main(struct pair *me, void *arg)
{
	char go;

	(void)arg;
	if (pair_recv(me, &go, 1) != 1 || pier_dev_open(NULL, &dev) ||
	    !talker_client(&client, dev, name, NULL, NULL) ||
	    !talker_start(&client) || !submit_all(NULL))
		return 1;
	for (;;)
		pier_pe_wait(client.pe, 1000);
}

static bool reported(void)
{
	char byte;

	while (!pair_readable(&pair) && tap_holds())
		talker_step(limit_from_now());
	return IS(pair_recv(&pair, &byte, 1), 1);
}

static bool begin(pair_fn *victim)
{
	requested = ended = completed = wrong = 0;
	snprintf(name, sizeof(name), "%s", talker_name());
	pair_start(&pair, victim, NULL);
	return true;
}

static void kill_server(struct pier_buf *dst, bool cancel)
{
	if (!submit_all(dst) || !reported())
		return;
	if (cancel) {	/* the first one's buffer is with the server */
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		IS(pier_task_cancel(tasks[0]), 0);
	}
	pair_kill(&pair);
	talker_state(&client, PIER_CTX_IDLE);
	IS(completed, REQUESTS);
	IS(wrong, 0);
	IS(pier_task_status(tasks[0]) == -ECANCELED, cancel);
	IS(pier_pe_inflight(client.pe), 0);
	IS(client.disconnected, 1);
	IS(pier_buf_refs(dst), 1);
	for (int i = 0; i < REQUESTS; i++)
		IS(pier_task_free(tasks[i]), 0);
}

static void a_client_outlives_its_server(bool cancel)
{
	struct pier_buf_inventory *inv = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf *dst = NULL;

	if (begin(server_main) && IS(pier_dev_open(NULL, &dev), 0) &&
	    reported() && talker_client(&client, dev, name, NULL, NULL) &&
	    talker_start(&client) &&
	    IS(pier_mmap_map(dev, NULL, MEM, PIER_LOCAL_WRITE |
			     PIER_REMOTE_WRITE, &mmap), 0)) {
		pier_buf_inventory_create(1, &inv);
		pier_buf_empty(inv, mmap, &dst);
		kill_server(dst, cancel);
	}
	pier_buf_put(dst);
	talker_close(&client);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	dev = NULL;
}

static void a_server_is_killed_with_requests(void)
{
	a_client_outlives_its_server(false);
}

static void a_server_is_killed_with_a_cancelled_request(void)
{
	a_client_outlives_its_server(true);
}

/* All its receives are free again: another client's requests arrive. */
static void another_is_served(void)
{
	if (talker_client(&client, dev, name, NULL, NULL) &&
	    talker_start(&client) && submit_all(NULL) &&
	    talker_count(&requested, 2 * REQUESTS)) {
		for (int i = 0; i < REQUESTS; i++)
			IS(pier_comch_refuse(server.comch, handles[i]), 0);
		talker_count(&completed, REQUESTS);
		for (int i = 0; i < REQUESTS; i++)
			IS(pier_task_free(tasks[i]), 0);
		talker_count(&ended, 2 * REQUESTS);
	}
	talker_close(&client);
}

static void a_client_is_killed_with_requests(void)
{
	long long limit = limit_from_now();

	if (begin(client_main) && open_server() &&
	    OK(pair_send(&pair, "", 1)) &&
	    talker_count(&requested, REQUESTS)) {
		pair_kill(&pair);
		talker_count(&ended, REQUESTS);
		IS(ended, REQUESTS);
		IS(wrong, 0);
		for (int i = 0; i < REQUESTS; i++)
			IS(pier_comch_reply(server.comch, handles[i], "x", 1),
			   -ESTALE);
		while (server.comch->conn_count && talker_step(limit))
			;
		IS(server.comch->conn_count, 0);
		IS(pier_pe_inflight(server.pe), 0);
		another_is_served();
	}
	talker_close(&server);
	pier_dev_close(dev);
	dev = NULL;
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(a_server_is_killed_with_requests);
	TEST(a_server_is_killed_with_a_cancelled_request);
	TEST(a_client_is_killed_with_requests);
	return tap_done();
}
