/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/peer.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

static struct talker *talkers;

const char *talker_name(void)
{
	static char names[8][64];
	static int n;
	char *name = names[n++ % 8];

	snprintf(name, sizeof(names[0]), "test %d of %d", n, (int)getpid());
	return name;
}

static void connected(struct pier_comch_conn *conn, void *data)
{
	struct talker *talker = data;

	talker->connected++;
	talker->conn = conn;
	if (talker->on_connected)
		talker->on_connected(talker, conn);
}

static void disconnected(struct pier_comch_conn *conn, void *data)
{
	struct talker *talker = data;
	const char *text;

	talker->disconnected++;
	talker->end_error = pier_comch_conn_error(conn, &text);
	snprintf(talker->end_text, sizeof(talker->end_text), "%s", text);
	talker->end_data = pier_comch_conn_user_data(conn);
	if (talker->conn == conn)
		talker->conn = NULL;
	if (talker->on_disconnected)
		talker->on_disconnected(talker, conn);
}

static void received(struct pier_comch_conn *conn, const void *msg, size_t len,
		     void *data)
{
	struct talker *talker = data;

	talker->received++;
	talker->last_len = len;
	if (len <= sizeof(talker->last))
		memcpy(talker->last, msg, len);
	else
		talker->wrong++;
	if (talker->on_received)
		talker->on_received(talker, conn);
}

static void writable(struct pier_comch_conn *conn, void *data)
{
	struct talker *talker = data;

	talker->writable++;
	if (talker->on_writable)
		talker->on_writable(talker, conn);
}

static void consumer(struct pier_comch_conn *conn, uint32_t id, void *data)
{
	struct talker *talker = data;

	talker->consumers++;
	talker->consumer = id;
	if (talker->on_consumer)
		talker->on_consumer(talker, conn);
}

static void expired(struct pier_comch_conn *conn, uint32_t id, void *data)
{
	struct talker *talker = data;

	(void)id;
	talker->expired++;
	if (talker->on_expired)
		talker->on_expired(talker, conn);
}

static void state_changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
			  enum pier_ctx_state next, void *data)
{
	struct talker *talker = data;

	(void)prev;
	if (pier_ctx_state(ctx) != next)
		talker->wrong++;
	if (talker->state_count < TALKER_STATES)
		talker->states[talker->state_count++] = next;
}

static bool prepare(struct talker *talker, const struct pier_comch_config *cfg)
{
	talker->ctx = pier_comch_ctx(talker->comch);
	pier_ctx_set_user_data(talker->ctx, talker);
	pier_ctx_set_state_changed(talker->ctx, state_changed);
	IS(pier_comch_set_callbacks(talker->comch, connected, disconnected,
				    received, writable), 0);
	IS(pier_comch_set_consumer_callbacks(talker->comch, consumer, expired),
	   0);
	if (cfg && !IS(pier_comch_configure(talker->comch, cfg), 0)) {
		tap_note("%s", pier_last_error());
		return false;
	}
	return talker_engine(talker);
}

bool talker_engine(struct talker *talker)
{
	if (!IS(pier_pe_create(&talker->pe), 0))
		return false;
	talker->next = talkers;
	talkers = talker;
	return true;
}

bool talker_server(struct talker *talker, struct pier_dev *dev,
		   const char *name, const struct pier_comch_config *cfg)
{
	memset(talker, 0, sizeof(*talker));
	return IS(pier_comch_create_server(dev, NULL, name, &talker->comch),
		  0) && prepare(talker, cfg);
}

bool talker_client(struct talker *talker, struct pier_dev *dev,
		   const char *name, const char *address,
		   const struct pier_comch_config *cfg)
{
	memset(talker, 0, sizeof(*talker));
	return IS(pier_comch_create_client(dev, name, address, &talker->comch),
		  0) && prepare(talker, cfg);
}

void talker_close(struct talker *talker)
{
	struct talker **at = &talkers;

	pier_comch_destroy(talker->comch);
	pier_pe_destroy(talker->pe);
	while (*at && *at != talker)
		at = &(*at)->next;
	if (*at)
		*at = talker->next;
	IS(talker->wrong, 0);
	talker->comch = NULL;
	talker->pe = NULL;
}

bool talker_start(struct talker *talker)
{
	int err = pier_ctx_start(talker->ctx, talker->pe);
	const char *text = pier_last_error();

	if (err == -EINPROGRESS) {
		if (talker_state(talker, PIER_CTX_RUNNING))
			return true;
		err = pier_comch_error(talker->comch, &text);
	}
	if (!IS(err, 0))
		tap_note("%s", text);
	return !err;
}

bool talker_pair(struct talker *server, struct talker *client,
		 struct pier_dev *dev, const struct pier_comch_config *cfg)
{
	const char *name = talker_name();

	memset(client, 0, sizeof(*client));
	return talker_server(server, dev, name, cfg) && talker_start(server) &&
	       talker_client(client, dev, name, NULL, cfg) &&
	       talker_start(client) && talker_count(&server->connected, 1);
}

void talker_unpair(struct talker *server, struct talker *client)
{
	talker_close(client);
	talker_close(server);
}

bool talker_step(long long limit)
{
	struct talker *at;
	int did = 0;

	for (at = talkers; at; at = at->next)
		did += pier_pe_progress(at->pe, 0) > 0;
	return did ? limit_holds(limit) : limit_nap(limit);
}

bool talker_count(const int *count, int want)
{
	long long limit = limit_from_now();

	while (*count < want && talker_step(limit))
		;
	return *count >= want;
}

bool talker_state(const struct talker *talker, enum pier_ctx_state state)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(talker->ctx) != state && talker_step(limit))
		if (pier_ctx_state(talker->ctx) == PIER_CTX_IDLE &&
		    state != PIER_CTX_IDLE)
			return false;
	return pier_ctx_state(talker->ctx) == state;
}

static void fill(uint8_t *mem, unsigned int seed, size_t len)
{
	for (size_t i = 0; i < len; i++)
		mem[i] = peer_byte(seed, i);
}

int talker_send(struct pier_comch_conn *conn, unsigned int seed, size_t len)
{
	static uint8_t mem[PIER_COMCH_MESSAGE_MAX];
	long long limit = limit_from_now();
	int status = -EINPROGRESS, err;

	fill(mem, seed, len);
	err = pier_comch_send(conn, mem, len, peer_done, &status);
	if (err)
		return err;
	memset(mem, 0, len);	/* submit has copied it */
	while (status == -EINPROGRESS && talker_step(limit))
		;
	return status;
}

bool talker_holds(const struct talker *talker, unsigned int seed, size_t len)
{
	if (!IS(talker->last_len, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (talker->last[i] != peer_byte(seed, i))
			return IS(talker->last[i], peer_byte(seed, i));
	return true;
}

static struct pier_comch_counters counters(const struct talker *talker)
{
	struct pier_comch_counters counters;

	pier_comch_get_counters(talker->comch, &counters);
	return counters;
}

int talker_violations(const struct talker *talker)
{
	return (int)counters(talker).violations;
}

int talker_rejected(const struct talker *talker)
{
	return (int)counters(talker).rejected;
}
