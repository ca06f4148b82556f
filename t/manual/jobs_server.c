/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs_server CLIENTS: until so many clients have disconnected.  A job whose
 * word is "never" has no result.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pier/pier.h>
#include "jobs.h"

#define NAME_LEN 16	/* bytes that arrive with the request itself */

struct job_client {
	struct pier_conn *conn;		/* NULL: it has disconnected */
	char name[4 * NAME_LEN + 1], word[WORD_MAX];
	size_t len, at;
	int busy;			/* a job of it runs */
};

static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_func *func;

static struct job_table table;
static struct job_client clients[CLIENTS];
static const void *table_desc;
static size_t table_desc_len;
static int to_come;

static void complain(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, pier_last_error());
}

/* A function task: -EINPROGRESS until the last letter is in place. */
static int reverse(void *arg)
{
	struct job_client *client = arg;
	struct job_slot *slot = &table.slot[client - clients];

	if (!client->conn)
		return -ECANCELED;
	if (client->at == client->len) {
		slot->len = client->len;
		return 0;
	}
	slot->text[client->at] = client->word[client->len - 1 - client->at];
	client->at++;
	return -EINPROGRESS;
}

static void replied(struct pier_task *task, void *arg)
{
	(void)arg;
	if (pier_task_status(task))
		fprintf(stderr, "reply: %s\n", pier_task_error_text(task));
}

static void reversed(struct pier_task *task, void *arg)
{
	struct job_client *client = arg;

	client->busy = 0;
	if (pier_task_status(task))
		return;
	if (pier_rdma_send_imm(client->conn, NULL,
			       htonl((uint32_t)(client - clients)), replied,
			       NULL))
		complain("reply");
}

static void start_job(struct job_client *client, const char *word, size_t len)
{
	printf("%s: %s\n", client->name, shown(word, len));
	if (len == 5 && !memcmp(word, "never", 5))
		return;
	if (client->busy || len > WORD_MAX) {
		fprintf(stderr, "%s broke the protocol\n", client->name);
		pier_conn_disconnect(client->conn);
		return;
	}
	memcpy(client->word, word, len);
	client->len = len;
	client->at = 0;
	client->busy = !pier_func_call(func, reverse, client, reversed, client);
	if (!client->busy)
		complain("job");
}

/* A word has arrived, of any client; the receive is posted again. */
static void received(struct pier_task *task, void *arg)
{
	int status = pier_task_status(task);
	int on = pier_ctx_state(pier_task_ctx(task)) == PIER_CTX_RUNNING &&
		 pier_error_scope(status) != PIER_SCOPE_CTX;
	struct pier_conn *conn = pier_task_conn(task);
	struct pier_buf *buf = arg;

	if (!status && pier_conn_state(conn) == PIER_CONN_CONNECTED)
		start_job(pier_conn_user_data(conn), pier_buf_data(buf),
			  pier_buf_data_len(buf));
	pier_buf_reset(buf);
	if (!on || pier_task_submit(task, 0)) {
		pier_task_free(task);
		pier_buf_put(buf);
	}
}

static void request(struct pier_conn *conn, void *user_data, void *ctx_data)
{
	struct job_client *client = clients;
	const void *name;
	size_t len;
	int err;

	(void)user_data, (void)ctx_data;
	while (client < clients + CLIENTS && (client->conn || client->busy))
		client++;
	if (pier_conn_private_data(conn, &name, &len) || len > NAME_LEN) {
		err = pier_conn_reject(conn, "the name is too long", 20);
	} else if (client == clients + CLIENTS) {
		err = pier_conn_reject(conn, "too many clients", 16);
	} else {
		memset(client, 0, sizeof(*client));
		pier_text_escape(name, len, client->name,
				 sizeof(client->name));
		client->conn = conn;
		pier_conn_set_user_data(conn, client);
		err = pier_conn_accept(conn, table_desc, table_desc_len);
	}
	if (err)		/* ended() is next */
		complain("request");
}

/* One was disconnected, or was never established. */
static void ended(struct pier_conn *conn, void *user_data, void *ctx_data)
{
	struct job_client *client = user_data;

	(void)ctx_data;
	if (client) {
		client->conn = NULL;
		to_come--;
	}
	pier_conn_destroy(conn);
}

static int post_receives(struct pier_buf_pool *pool)
{
	struct pier_task *task;
	struct pier_buf *buf;
	int err = 0;

	while (!err && pier_buf_pool_free_count(pool)) {
		err = pier_buf_pool_take(pool, &buf) ?:
		      pier_rdma_task_receive(rdma, buf, &task);
		if (err)
			return err;
		pier_task_set_done(task, received, buf);
		err = pier_task_submit(task, 0);
	}
	return err;
}

static int serve(struct pier_dev *dev)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_buf_pool_config pool_cfg = {
		.size = sizeof(pool_cfg), .count = 32, .len = WORD_MAX,
	};
	struct pier_mmap *words = NULL, *results = NULL;
	struct pier_listener *listener = NULL;
	struct pier_buf_pool *pool = NULL;
	int err;

	err = pier_func_create(&func) ?:
	      pier_ctx_start(pier_func_ctx(func), pe) ?:
	      pier_mmap_map(dev, &table, sizeof(table), PIER_REMOTE_READ |
			    PIER_REMOTE_ATOMIC, &results) ?:
	      pier_mmap_export(results, &table_desc, &table_desc_len) ?:
	      pier_mmap_alloc(dev, 32 * WORD_MAX, NULL, &words) ?:
	      pier_buf_pool_create(words, &pool_cfg, &pool) ?:
	      post_receives(pool) ?:
	      pier_rdma_set_conn_callbacks(rdma, request, NULL, ended, ended) ?:
	      pier_rdma_listen(rdma, &cfg, &listener);
	if (!err)
		printf("port %u\n", pier_listener_port(listener));
	while (!err && to_come > 0)
		err = pier_pe_wait(pe, -1);
	if (!err)
		printf("%u jobs\n", (unsigned int)table.count);
	else
		complain("jobs_server");

	if (listener)
		pier_listener_destroy(listener);
	pier_ctx_stop_wait(pier_rdma_ctx(rdma), 10000);
	pier_func_destroy(func);
	pier_buf_pool_destroy(pool);
	pier_mmap_destroy(words);
	pier_mmap_destroy(results);
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_dev *dev = NULL;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	to_come = argc > 1 ? atoi(argv[1]) : 1;
	err = pier_dev_open(NULL, &dev) ?:
	      pier_pe_create(&pe) ?:
	      pier_rdma_create(dev, &rdma) ?:
	      pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (err)
		complain("jobs_server");
	else
		err = serve(dev);
	pier_rdma_destroy(rdma);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
