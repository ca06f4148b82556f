/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <unistd.h>

#include "t/doca/party.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

int (*party_extra)(void);

static struct party *parties;

const char *party_name(void)
{
	static char names[8][64];
	static int n;
	char *name = names[n++ % 8];

	snprintf(name, sizeof(names[0]), "party %d of %d", n, (int)getpid());
	return name;
}

/* The open one that has this connection. */
static struct party *party_of(const struct doca_comch_connection *conn)
{
	union doca_data data = { .ptr = NULL };
	struct doca_ctx *ctx;

	ctx = doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(conn));
	if (!ctx)
		ctx = doca_comch_client_as_ctx(
			doca_comch_client_get_client_ctx(conn));
	IS(doca_ctx_get_user_data(ctx, &data), DOCA_SUCCESS);
	return data.ptr;
}

static void on_connected(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *conn, uint8_t successful)
{
	struct party *party = party_of(conn);

	OK(event);
	IS(successful, 1);
	party->reports++;
	party->connected++;
	party->conn = conn;
	if (party->on_connected)
		party->on_connected(party);
}

static void on_disconnected(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *conn, uint8_t successful)
{
	struct party *party = party_of(conn);

	OK(event);
	IS(successful, 1);
	party->reports++;
	party->disconnected++;
	if (party->conn == conn)
		party->conn = NULL;
	if (party->on_disconnected)
		party->on_disconnected(party, conn);
}

static void on_received(struct doca_comch_event_msg_recv *event, uint8_t *msg,
			uint32_t len, struct doca_comch_connection *conn)
{
	struct party *party = party_of(conn);

	OK(event);
	party->reports++;
	party->received++;
	if (OK(len <= sizeof(party->last)))
		memcpy(party->last, msg, len);
	party->last_len = len;
	if (party->on_received)
		party->on_received(party);
}

static void on_joined(struct doca_comch_event_consumer *event,
		      struct doca_comch_connection *conn, uint32_t id)
{
	struct party *party = party_of(conn);

	OK(event);
	party->reports++;
	party->joined++;
	party->consumer = id;
}

static void on_expired(struct doca_comch_event_consumer *event,
		       struct doca_comch_connection *conn, uint32_t id)
{
	struct party *party = party_of(conn);

	OK(event);
	OK(id);
	party->reports++;
	party->expired++;
}

/* What a task is can be read after it was freed. */
static void task_ended(struct party *party, struct doca_comch_task_send *task)
{
	struct doca_task *base = doca_comch_task_send_as_task(task);

	party->reports++;
	party->error = doca_task_get_status(base);
	if (party->hold) {
		party->held = task;
		return;
	}
	doca_task_free(base);
	OK(doca_comch_task_send_as_task(task) == base);
	IS(doca_task_get_status(base), party->error);
	OK(doca_task_get_ctx(base) == party->ctx);
}

static void on_done(struct doca_comch_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	struct party *party = ctx_data.ptr;

	OK(!data.ptr);
	task_ended(party, task);
	IS(party->error, DOCA_SUCCESS);
	party->done++;
}

static void on_failed(struct doca_comch_task_send *task, union doca_data data,
		      union doca_data ctx_data)
{
	struct party *party = ctx_data.ptr;

	OK(!data.ptr);
	task_ended(party, task);
	OK(party->error != DOCA_SUCCESS);
	party->failed++;
}

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct party *party = data.ptr;

	OK(prev != next);
	OK(ctx == party->ctx);
	IS(party_state(party), next);
	party->reports++;
	if (party->state_count < PARTY_STATES)
		party->states[party->state_count++] = next;
	if (party->on_state)
		party->on_state(party, next);
}

static void open_ctx(struct party *party, struct doca_ctx *ctx)
{
	union doca_data data = { .ptr = party };

	party->ctx = ctx;
	IS(doca_pe_create(&party->pe), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(party->pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(ctx, on_state), DOCA_SUCCESS);
	party->next = parties;
	parties = party;
}

bool party_server(struct party *party, const char *name)
{
	struct doca_comch_server *server;

	memset(party, 0, sizeof(*party));
	party->dev = end_device();
	if (!IS(doca_comch_server_create(party->dev, NULL, name, &server),
		DOCA_SUCCESS))
		return false;
	party->server = server;
	open_ctx(party, doca_comch_server_as_ctx(server));
	return IS(doca_comch_server_task_send_set_conf(
			  server, on_done, on_failed, PARTY_TASKS),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_server_event_msg_recv_register(server,
							    on_received),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_server_event_consumer_register(server, on_joined,
							    on_expired),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_server_event_connection_status_changed_register(
			  server, on_connected, on_disconnected),
		  DOCA_SUCCESS);
}

bool party_client(struct party *party, const char *name)
{
	struct doca_comch_client *client;

	memset(party, 0, sizeof(*party));
	party->dev = end_device();
	if (!IS(doca_comch_client_create(party->dev, name, &client),
		DOCA_SUCCESS))
		return false;
	party->client = client;
	open_ctx(party, doca_comch_client_as_ctx(client));
	return IS(doca_comch_client_task_send_set_conf(
			  client, on_done, on_failed, PARTY_TASKS),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_client_event_consumer_register(client, on_joined,
							    on_expired),
		  DOCA_SUCCESS) &&
	       IS(doca_comch_client_event_msg_recv_register(client,
							    on_received),
		  DOCA_SUCCESS);
}

bool party_start(struct party *party)
{
	return IS(doca_ctx_start(party->ctx), party->server ?
			  DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS) &&
	       party_until_state(party, DOCA_CTX_STATE_RUNNING);
}

bool party_pair(struct party *server, struct party *client)
{
	const char *name = party_name();

	memset(client, 0, sizeof(*client));
	return party_server(server, name) && party_start(server) &&
	       party_client(client, name) && party_start(client) &&
	       party_until(&server->connected, 1);
}

static void forget(struct party *party)
{
	struct party **at = &parties;

	while (*at && *at != party)
		at = &(*at)->next;
	if (*at)
		*at = party->next;
}

void party_close(struct party *party)
{
	if (party->ctx) {
		doca_ctx_stop(party->ctx);
		party_until_state(party, DOCA_CTX_STATE_IDLE);
	}
	if (party->ctx && party->server)
		IS(doca_comch_server_destroy(party->server), DOCA_SUCCESS);
	if (party->ctx && party->client)
		IS(doca_comch_client_destroy(party->client), DOCA_SUCCESS);
	party->ctx = NULL;
	if (party->pe)
		IS(doca_pe_destroy(party->pe), DOCA_SUCCESS);
	party->pe = NULL;
	IS(doca_dev_close(party->dev), DOCA_SUCCESS);
	party->dev = NULL;
	forget(party);
}

void party_unpair(struct party *server, struct party *client)
{
	party_close(client);
	party_close(server);
}

struct doca_comch_connection *party_conn(struct party *party)
{
	struct doca_comch_connection *conn = NULL;

	if (party->server)
		return party->conn;
	IS(doca_comch_client_get_connection(party->client, &conn),
	   DOCA_SUCCESS);
	return conn;
}

doca_error_t party_take(struct party *party, const void *msg, uint32_t len,
			struct doca_comch_task_send **ret)
{
	struct doca_comch_connection *conn = party_conn(party);

	return party->server ?
		       doca_comch_server_task_send_alloc_init(
			       party->server, conn, msg, len, ret) :
		       doca_comch_client_task_send_alloc_init(
			       party->client, conn, msg, len, ret);
}

doca_error_t party_send(struct party *party, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t error = party_take(party, msg, len, &task);

	if (error)
		return error;
	error = doca_task_submit(doca_comch_task_send_as_task(task));
	if (error)
		doca_task_free(doca_comch_task_send_as_task(task));
	return error;
}

enum doca_ctx_states party_state(const struct party *party)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	IS(doca_ctx_get_state(party->ctx, &state), DOCA_SUCCESS);
	return state;
}

bool party_step(long long limit)
{
	struct party *at, *next;
	int did = 0, before;

	for (at = parties; at; at = next) {
		next = at->next;
		before = at->reports;
		if (!doca_pe_progress(at->pe))
			continue;
		OK(at->reports > before);
		did++;
	}
	if (party_extra)
		did += party_extra();
	return did ? limit_holds(limit) : limit_nap(limit);
}

bool party_until(const int *count, int want)
{
	long long limit = limit_from_now();

	while (*count < want && party_step(limit))
		;
	return *count >= want;
}

/* A client that is idle again does not run. */
bool party_until_state(struct party *party, enum doca_ctx_states state)
{
	long long limit = limit_from_now();

	while (party->ctx && party_state(party) != state && party_step(limit))
		if (party->ctx && state != DOCA_CTX_STATE_IDLE &&
		    !IS(party_state(party) != DOCA_CTX_STATE_IDLE, true))
			return false;
	return !party->ctx || party_state(party) == state;
}

bool party_has(const struct party *party, const char *text)
{
	return IS(party->last_len, strlen(text)) &&
	       OK(!memcmp(party->last, text, party->last_len));
}
