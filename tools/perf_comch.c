/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

/*
 * Messages, and requests, of a Comm Channel as what is measured: beside the
 * client's connection its server has a channel, whose name has the token that
 * it has sent with its reply.
 */
#define NAME_SIZE 64

/* Messages that an end receives at a time; more than 64 are never in flight. */
#define RECVS 128

/* One, and attempts of its own that have not ended; each takes receives. */
#define CLIENTS 4

/* Tasks beside those of slots, for echoes. */
#define SPARE_TASKS 256

static void name_of(const struct perf *perf, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "pier-perf-%016" PRIx64, perf->token);
}

static int configure(struct perf *perf)
{
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.max_msg_size = (uint32_t)perf->opts.size,
		.recv_queue = RECVS,
		.tasks = (uint32_t)perf->send_count + SPARE_TASKS,
		.max_clients = CLIENTS,
		.connect_timeout_ms = (uint32_t)perf->args.timeout_ms,
	};

	pier_ctx_set_user_data(pier_comch_ctx(perf->comch), perf);
	return pier_comch_configure(perf->comch, &cfg);
}

static void count(struct perf *perf, size_t len)
{
	perf->received++;
	if (len > perf->longest)
		perf->longest = len;
}

static void echo_sent(struct pier_task *task, void *arg)
{
	perf_task_ok(arg, task);
}

/* The server's: only one message of a latency is in flight. */
static void message(struct pier_comch_conn *conn, const void *msg, size_t len,
		    void *arg)
{
	struct perf *perf = arg;
	int err;

	count(perf, len);
	if (!perf_is_round(perf))
		return;
	err = pier_comch_send(conn, msg, len, echo_sent, perf);
	if (err)
		perf_fail(perf, err);
}

static void request(struct pier_comch_conn *conn, uint64_t handle,
		    const void *msg, size_t len, void *arg)
{
	struct perf *perf = arg;
	int err;

	(void)conn;
	count(perf, len);
	err = pier_comch_reply(perf->comch, handle, msg, len);
	if (err)
		perf_fail(perf, err);
}

int perf_comch_serve(struct perf *perf)
{
	char name[NAME_SIZE];
	int err;

	name_of(perf, name);
	err = pier_comch_create_server(perf->dev, NULL, name, &perf->comch);
	if (err)
		return perf_fail(perf, err);
	err = configure(perf);
	if (!err && perf->opts.operation == PERF_COMCH)
		pier_comch_set_callbacks(perf->comch, NULL, NULL, message,
					 NULL);
	else if (!err)
		err = pier_comch_set_request_callbacks(perf->comch, request,
						       NULL);
	if (!err)
		err = pier_ctx_start(pier_comch_ctx(perf->comch), perf->pe);
	return err ? perf_fail(perf, err) : 0;
}

/* The client's: an echo, of a latency. */
static void echo(struct pier_comch_conn *conn, const void *msg, size_t len,
		 void *arg)
{
	struct perf *perf = arg;

	(void)conn;
	(void)msg;
	perf->finish = perf_now();
	if (len != perf->size)
		perf_err(perf, -EPROTO, "the echo has %zu bytes, not %" PRIu64,
			 len, perf->size);
	perf->done++;
}

static void ended(struct pier_comch_conn *conn, void *arg)
{
	const char *text;
	int err = pier_comch_conn_error(conn, &text);

	perf_err(arg, err ? err : -ENOTCONN, "the Comm Channel has ended%s%s",
		 err ? ": " : "", err ? text : "");
}

void perf_comch_defer(struct perf_slot *slot)
{
	slot->conn->free[slot->conn->free_count++] = slot;
}

/* Those without credits; one that has none again is the last that is tried. */
static void writable(struct pier_comch_conn *conn, void *arg)
{
	struct perf_conn *own = &((struct perf *)arg)->conns[0];
	int count = own->free_count;

	(void)conn;
	while (count-- > 0) {
		int before = own->free_count--;

		perf_submit(own->free[before - 1], 0);
		if (own->free_count == before)
			return;
	}
}

/* Until it is connected, or the reason why it is not. */
static int wait_for_server(struct perf *perf)
{
	struct pier_ctx *ctx = pier_comch_ctx(perf->comch);
	const char *text;
	int err = 0;

	while (!err && pier_ctx_state(ctx) == PIER_CTX_STARTING)
		err = pier_pe_wait(perf->pe, perf->args.timeout_ms);
	if (err)
		return perf_fail(perf, err);
	if (pier_comch_conn(perf->comch))
		return 0;
	err = pier_comch_error(perf->comch, &text);
	return perf_err(perf, err ? err : -ENOTCONN, "no Comm Channel: %s",
			err ? text : "it has ended");
}

int perf_comch_meet(struct perf *perf)
{
	char name[NAME_SIZE], address[TOOL_ADDRESS_MAX];
	uint32_t port;
	int err;

	name_of(perf, name);
	if (!perf_server_address(perf, address, &port))
		return perf_err(perf, -EPROTO, "the server's address is not "
				"known");
	err = pier_comch_create_client(perf->dev, name, address, &perf->comch);
	if (err)
		return perf_fail(perf, err);
	pier_comch_set_callbacks(perf->comch, NULL, ended, echo, writable);
	err = configure(perf);
	if (!err)
		err = pier_ctx_start(pier_comch_ctx(perf->comch), perf->pe);
	if (err && err != -EINPROGRESS)
		return perf_fail(perf, err);
	return wait_for_server(perf);
}

/* The message is copied when it is submitted: its memory takes the reply. */
int perf_comch_task(struct perf *perf, struct pier_task **ret)
{
	struct pier_comch_conn *conn = pier_comch_conn(perf->comch);
	char *msg = perf_near_at(perf, 0);

	if (perf->opts.operation == PERF_COMCH)
		return pier_comch_task_send(conn, msg, perf->size, ret);
	return pier_comch_task_request(conn, msg, perf->size, msg, perf->size,
				       ret);
}

int perf_comch_check(struct perf *perf, const struct pier_task *task)
{
	size_t len = pier_comch_reply_len(task);

	if (len == perf->size)
		return 0;
	return perf_err(perf, -EPROTO, "the reply has %zu bytes, not %" PRIu64,
			len, perf->size);
}

void perf_comch_stop(struct perf *perf)
{
	if (perf->comch)
		pier_ctx_stop_wait(pier_comch_ctx(perf->comch),
				   perf->args.timeout_ms);
}

void perf_comch_destroy(struct perf *perf)
{
	pier_comch_destroy(perf->comch);
	perf->comch = NULL;
}
