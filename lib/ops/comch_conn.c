/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/fail.h"
#include "ops/comch_call.h"
#include "ops/comch_dir.h"

int pier__comch_conn_create(struct pier_comch *comch,
			    struct pier_comch_conn **ret)
{
	struct pier_comch_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return pier__fail(-ENOMEM, "comch: no memory for a connection");
	c->comch = comch;
	c->holds = 1;
	c->granted = comch->cfg.recv_queue;
	pier__list_init(&c->link);
	pier__list_init(&c->opening);
	pier__list_init(&c->starved);
	pier__list_init(&c->requests);
	pier__list_init(&c->replies);
	c->reply_sends = pier__comch_reply_sends(comch, &comch->cfg);
	pier__comch_send_init(c);
	*ret = c;
	return 0;
}

void pier__comch_conn_bind(struct pier_comch_conn *c, struct pier_conn *conn)
{
	c->conn = conn;
	conn->send_credits -= c->reply_sends;
	pier__conn_hold(conn);
	pier_conn_set_user_data(conn, c);
	pier__list_add(&c->comch->conns, &c->link);
	c->comch->conn_count++;
}

void pier__comch_conn_free(struct pier_comch_conn *c)
{
	pier__comch_dir_drop(c);
	free(c->calls);
	if (c->conn)
		pier__conn_drop(c->conn);
	free(c);
}

void pier__comch_conn_set_limits(struct pier_comch_conn *c,
				 const struct pier__comch_limits *theirs)
{
	uint32_t own = c->comch->cfg.max_msg_size;

	c->max_msg = theirs->max_msg_size < own ? theirs->max_msg_size : own;
	c->peer_queue = c->credits = theirs->recv_queue;
}

void pier__comch_violated(struct pier_comch_conn *c, int err)
{
	if (c->broken)
		return;
	c->broken = true;
	c->error = err;
	snprintf(c->text, sizeof(c->text), "%s", pier_last_error());
	c->counters.violations++;
	c->comch->counters.violations++;
	pier__log(PIER_LOG_WARNING, "comch", "%s: %s: the connection ends",
		  pier_conn_peer_address(c->conn), c->text);
	pier_conn_abort(c->conn);
}

int pier__comch_conn_end(struct pier_comch_conn *c)
{
	c->ending = true;
	return pier_conn_disconnect(c->conn);
}

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	struct pier_comch_conn *c = user_data;
	struct pier_comch *comch = c->comch;
	int err = comch->role->check(c);

	(void)conn;
	(void)ctx_user_data;
	if (err) {
		pier__comch_violated(c, err);
		return;
	}
	c->open = true;
	c->blocked = !pier__list_empty(&comch->starved);
	comch->role->established(comch, c);
	pier__pe_event(comch->ctx.pe);
	if (comch->callbacks.connected)
		comch->callbacks.connected(c,
					   pier_ctx_user_data(&comch->ctx));
}

static void report_disconnected(struct pier_comch_conn *c)
{
	struct pier_comch *comch = c->comch;

	c->open = false;
	pier__pe_event(comch->ctx.pe);
	if (comch->callbacks.disconnected)
		comch->callbacks.disconnected(c,
					      pier_ctx_user_data(&comch->ctx));
	comch->role->ended(comch, c);
}

static void take_out(struct pier_comch_conn *c)
{
	pier__list_del(&c->link);
	pier__list_del(&c->opening);
	pier__list_del(&c->starved);
	c->comch->conn_count--;
	if (c->tasks)
		c->comch->busy--;
	pier__comch_count_sent(c->comch, c->counters.sent_messages,
			       c->counters.sent_bytes);
	c->over = c->blocked = true;
}

/*
 * It has ended, or was never established.  If it failed, requests in flight
 * complete later, and messages that have arrived are dropped.
 */
static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	struct pier_comch_conn *c = user_data;
	struct pier_comch *comch = c->comch;

	(void)ctx_user_data;
	take_out(c);
	pier__comch_dir_end(c);
	pier__comch_requests_end(c);
	if (c->open)
		report_disconnected(c);
	else
		comch->role->failed(comch, c);
	pier__comch_calls_end(c);
	pier_conn_set_user_data(conn, NULL);
	pier_conn_destroy(conn);
	pier__comch_conn_drop(c);
	if (comch->ctx.state == PIER_CTX_STOPPING)
		pier__comch_finish(comch);
}

const struct pier__conn_callbacks pier__comch_conn_callbacks = {
	.established = established,
	.failure = ended,
	.disconnected = ended,
};

struct pier_comch *pier_comch_conn_comch(const struct pier_comch_conn *conn)
{
	if (!conn)
		return NULL;
	return conn->comch;
}

void pier_comch_conn_set_user_data(struct pier_comch_conn *conn,
				   void *user_data)
{
	if (!conn)
		return;
	conn->user_data = user_data;
}

void *pier_comch_conn_user_data(const struct pier_comch_conn *conn)
{
	if (!conn)
		return NULL;
	return conn->user_data;
}

uint32_t pier_comch_conn_max_msg_size(const struct pier_comch_conn *conn)
{
	if (!conn)
		return 0;
	return conn->max_msg;
}

void pier_comch_conn_get_counters(const struct pier_comch_conn *conn,
				  struct pier_comch_counters *ret)
{
	if (!conn)
		return;
	*ret = conn->counters;
}

int pier_comch_conn_error(const struct pier_comch_conn *conn,
			  const char **ret_text)
{
	int err;
	const char *text;

	if (!conn)
		return pier__no_object(__func__);
	err = conn->error;
	text = conn->text;
	if (!err && conn->conn) {
		err = pier_conn_error(conn->conn);
		text = pier_conn_error_text(conn->conn);
	}
	if (ret_text)
		*ret_text = text;
	return err;
}

int pier_comch_disconnect(struct pier_comch_conn *conn)
{
	int err;

	if (!conn)
		return pier__no_object(__func__);
	err = pier__comch_dir_idle(conn);
	return err ? err : pier__comch_conn_end(conn);
}
