/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

/*
 * Messages, and requests, of Comm Channels as what is measured: beside each of
 * the client's connections its server has a channel, whose name has the token
 * that it has sent with its reply, and the number of the connection.  In both
 * directions messages use one channel; only clients send requests, so that the
 * client has a channel for those of its server too.
 */
#define NAME_SIZE 64

/*
 * Messages that an end receives at a time; more than 64 are never in flight on
 * a connection.  Many connections have fewer, so that adapters have as many.
 */
#define RECVS 128
#define RECVS_MIN 8

/* One, and attempts of its own that have not ended; each takes receives. */
#define CLIENTS 4

/* Tasks beside those of slots, for echoes. */
#define SPARE_TASKS 256

static int index_of(const struct perf_conn *own)
{
	return (int)(own - own->perf->conns);
}

static void name_of(const struct perf_conn *own, bool back, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "pier-perf-%016" PRIx64 "-%d%s",
		 own->perf->token, index_of(own), back ? "-back" : "");
}

static struct pier_comch **comch_of(struct perf_conn *own, bool back)
{
	return back ? &own->back : &own->comch;
}

/* That on which this end sends; NULL: it has none. */
static struct pier_comch_conn *peer_of(const struct perf_conn *own)
{
	if (!own->perf->opts.respond)
		return pier_comch_conn(own->comch);
	return own->back ? pier_comch_conn(own->back) : own->client;
}

static int configure(struct perf_conn *own, struct pier_comch *comch)
{
	struct perf *perf = own->perf;
	uint32_t recvs = RECVS / (uint32_t)perf->conn_count;
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.max_msg_size = (uint32_t)perf->opts.size,
		.recv_queue = recvs > RECVS_MIN ? recvs : RECVS_MIN,
		.tasks = (uint32_t)perf->conn_sends + SPARE_TASKS,
		.max_clients = CLIENTS,
		.connect_timeout_ms = (uint32_t)perf->args.timeout_ms,
		.ack_timeout = perf_ack_timeout(perf),
	};

	pier_ctx_set_user_data(pier_comch_ctx(comch), own);
	return pier_comch_configure(comch, &cfg);
}

static void count(struct perf *perf, size_t len)
{
	perf->received++;
	if (len > perf->longest)
		perf->longest = len;
}

/* What is sent back: with --verify bytes of this end's own. */
static const void *answer(struct perf_conn *own, const void *msg, size_t len)
{
	static char bytes[PIER_COMCH_MESSAGE_MAX];

	if (!own->perf->opts.verify)
		return msg;
	perf_verify_answer(own, bytes, len);
	return bytes;
}

static void take(struct perf_conn *own, const void *msg, size_t len)
{
	count(own->perf, len);
	if (own->perf->opts.verify)
		perf_verify_message(own, msg, len);
}

static void echo_sent(struct pier_task *task, void *arg)
{
	perf_task_ok(arg, task);
}

/* Only one message of a latency is in flight, which the server sends back. */
static void message(struct pier_comch_conn *conn, const void *msg, size_t len,
		    void *arg)
{
	struct perf_conn *own = arg;
	struct perf *perf = own->perf;
	int err;

	take(own, msg, len);
	if (!perf_is_round(perf))
		return;
	err = pier_comch_send(conn, answer(own, msg, len), len, echo_sent,
			      perf);
	if (err)
		perf_fail(perf, err);
}

static void request(struct pier_comch_conn *conn, uint64_t handle,
		    const void *msg, size_t len, void *arg)
{
	struct perf_conn *own = arg;
	int err;

	take(own, msg, len);
	err = pier_comch_reply(pier_comch_conn_comch(conn), handle,
			       answer(own, msg, len), len);
	if (err)
		perf_fail(own->perf, err);
}

/* The client of a server, which has one. */
static void arrived(struct pier_comch_conn *conn, void *arg)
{
	struct perf_conn *own = arg;

	own->client = conn;
}

static void left(struct pier_comch_conn *conn, void *arg)
{
	struct perf_conn *own = arg;

	if (own->client == conn)
		own->client = NULL;
}

void perf_comch_defer(struct perf_slot *slot)
{
	if (slot->is_verified)
		slot->conn->sent--;
	slot->conn->free[slot->conn->free_count++] = slot;
}

/* Those without credits; one that has none again is the last that is tried. */
static void writable(struct pier_comch_conn *conn, void *arg)
{
	struct perf_conn *own = arg;
	int count = own->free_count;

	(void)conn;
	while (count-- > 0) {
		int before = own->free_count--;

		perf_submit(own->free[before - 1], 0);
		if (own->free_count == before)
			return;
	}
}

static int serve(struct perf_conn *own, bool back)
{
	struct pier_comch **comch = comch_of(own, back);
	struct perf *perf = own->perf;
	char name[NAME_SIZE];
	int err;

	name_of(own, back, name);
	err = pier_comch_create_server(perf->dev, NULL, name, comch);
	if (!err)
		err = configure(own, *comch);
	if (!err)
		err = pier_comch_set_callbacks(*comch, arrived, left, message,
					       writable);
	if (!err && perf->opts.operation == PERF_REQUEST)
		err = pier_comch_set_request_callbacks(*comch, request, NULL);
	if (!err)
		err = pier_ctx_start(pier_comch_ctx(*comch), perf->pe);
	return err ? perf_fail(perf, err) : 0;
}

/* Do @fn with each connection, until one fails. */
static int each(struct perf *perf, int (*fn)(struct perf_conn *own, bool back),
		bool back)
{
	int err = 0;

	for (int i = 0; i < perf->conn_count && !err; i++) {
		perf->conns[i].perf = perf;
		err = fn(&perf->conns[i], back);
	}
	return err;
}

int perf_comch_serve(struct perf *perf)
{
	return each(perf, serve, false);
}

/* The client's: an echo, of a latency; else a message of its server. */
static void echo(struct pier_comch_conn *conn, const void *msg, size_t len,
		 void *arg)
{
	struct perf_conn *own = arg;
	struct perf *perf = own->perf;

	if (!perf_is_round(perf)) {
		message(conn, msg, len, arg);
		return;
	}
	perf->finish = perf_now();
	if (len != perf->size)
		perf_err(perf, -EPROTO, "the echo has %zu bytes, not %" PRIu64,
			 len, perf->size);
	if (perf->opts.verify)
		perf_verify_message(own, msg, len);
	perf->done++;
}

/* The client ends it; what its server has in flight then fails. */
static void ended(struct pier_comch_conn *conn, void *arg)
{
	struct perf_conn *own = arg;
	const char *text;
	int err = pier_comch_conn_error(conn, &text);

	if (own->perf->opts.respond)
		return;
	perf_err(own->perf, err ? err : -ENOTCONN,
		 "the Comm Channel has ended%s%s", err ? ": " : "",
		 err ? text : "");
}

/* Until it is connected, or the reason why it is not. */
static int wait_for_server(struct perf *perf, struct pier_comch *comch)
{
	struct pier_ctx *ctx = pier_comch_ctx(comch);
	const char *text;
	int err = 0;

	while (!err && pier_ctx_state(ctx) == PIER_CTX_STARTING &&
	       perf->open_conns == perf->conn_count)
		err = pier_pe_wait(perf->pe, perf->args.timeout_ms);
	if (err)
		return perf_fail(perf, err);
	if (pier_comch_conn(comch))
		return 0;
	err = pier_comch_error(comch, &text);
	return perf_err(perf, err ? err : -ENOTCONN, "no Comm Channel: %s",
			err ? text : "it has ended");
}

static int meet(struct perf_conn *own, bool back)
{
	struct pier_comch **comch = comch_of(own, back);
	struct perf *perf = own->perf;
	char name[NAME_SIZE], address[TOOL_ADDRESS_MAX];
	uint32_t port;
	int err;

	name_of(own, back, name);
	if (!perf_peer_address(perf, address, &port))
		return perf_err(perf, -EPROTO, "the peer's address is not "
				"known");
	err = pier_comch_create_client(perf->dev, name, address, comch);
	if (err)
		return perf_fail(perf, err);
	pier_comch_set_callbacks(*comch, NULL, ended, echo, writable);
	err = configure(own, *comch);
	if (!err)
		err = pier_ctx_start(pier_comch_ctx(*comch), perf->pe);
	if (err && err != -EINPROGRESS)
		return perf_fail(perf, err);
	return wait_for_server(perf, *comch);
}

/* Requests of the server have a channel of their own. */
static bool has_back(const struct perf *perf)
{
	return perf->opts.both && perf->opts.operation == PERF_REQUEST;
}

/* The server connects when its client has: then the other channel is there. */
int perf_comch_meet(struct perf *perf)
{
	int err = has_back(perf) ? each(perf, serve, true) : 0;

	return err ? err : each(perf, meet, false);
}

static int await(struct perf_conn *own, bool back)
{
	int err = 0;

	(void)back;
	while (!err && !own->client)
		err = perf_drive_request(own->perf);
	return err;
}

int perf_comch_await(struct perf *perf)
{
	int err = each(perf, await, false);

	return err || !has_back(perf) ? err : each(perf, meet, true);
}

/* The message is copied when it is submitted: its memory takes the reply. */
int perf_comch_task(struct perf_slot *slot, struct pier_task **ret)
{
	struct pier_comch_conn *conn = peer_of(slot->conn);
	struct perf *perf = slot->perf;
	char *msg = perf_near_at(perf, slot->index);

	if (!conn)
		return perf_err(perf, -ENOTCONN, "the Comm Channel has ended");
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

static void stop(struct perf *perf, struct pier_comch *comch)
{
	if (comch)
		pier_ctx_stop_wait(pier_comch_ctx(comch),
				   perf->args.timeout_ms);
}

void perf_comch_stop(struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++) {
		stop(perf, perf->conns[i].comch);
		stop(perf, perf->conns[i].back);
	}
}

void perf_comch_destroy(struct perf *perf)
{
	for (int i = 0; i < perf->conn_count; i++) {
		pier_comch_destroy(perf->conns[i].comch);
		pier_comch_destroy(perf->conns[i].back);
		perf->conns[i].comch = perf->conns[i].back = NULL;
		perf->conns[i].client = NULL;
	}
}
