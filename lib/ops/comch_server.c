/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/rep.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/sockaddr.h"
#include "ops/comch_impl.h"

#define OPENING_MS 2000		/* for a handshake, if others need its place */

/* Is @rep one of @dev? */
static int check_rep(const struct pier_dev *dev, const struct pier_rep *rep)
{
	const struct pier__port *port = &dev->info.port;
	const char *parent = pier_repinfo_parent(pier_rep_info(rep));
	char name[80];

	snprintf(name, sizeof(name), "%s:%u", port->name, port->port);
	if (!strcmp(parent, name))
		return 0;
	return pier__fail(-EINVAL, "comch: the representor is one of %s, the "
			  "device is %s", parent, name);
}

static void reject(struct pier_comch *comch, struct pier_conn *conn,
		   enum pier__comch_reject reason)
{
	uint8_t rej[PIER__COMCH_REJ];

	comch->counters.rejected++;
	pier__comch_rej_encode(reason, rej);
	if (pier_conn_reject(conn, rej, sizeof(rej)))
		pier_conn_destroy(conn);
}

/* The address of the peer of @conn, a request. */
static void address_of(const struct pier_conn *conn, uint8_t ret[16])
{
	pier__sockaddr_to_gid((const void *)&conn->cm->id->peer, ret);
}

static void accept_client(struct pier_comch *comch, struct pier_conn *conn)
{
	const struct pier__comch_limits own = {
		.max_msg_size = comch->cfg.max_msg_size,
		.recv_queue = comch->cfg.recv_queue,
	};
	uint8_t rep[PIER__COMCH_REP];
	struct pier_comch_conn *c;

	pier__comch_rep_encode(&own, rep);
	if (pier__comch_recvs_reserve(comch, comch->conn_count + 1) ||
	    pier__comch_conn_create(comch, &c)) {
		reject(comch, conn, PIER__COMCH_REJECT_FULL);
		return;
	}
	if (pier_conn_accept(conn, rep, sizeof(rep))) {
		pier__comch_conn_drop(c);
		pier_conn_destroy(conn);
		return;
	}
	pier__comch_conn_bind(c, conn);
	c->since = pier__pe_now(comch->ctx.pe);
	address_of(conn, c->peer);
	pier__list_add(&comch->opening, &c->opening);
}

/* How many handshakes of @peer are under way? */
static unsigned int opening_of(struct pier_comch *comch, const uint8_t peer[16])
{
	struct pier__list *pos, *tmp;
	unsigned int n = 0;

	PIER__LIST_EACH(pos, tmp, &comch->opening)
		n += !memcmp(pier__container_of(pos, struct pier_comch_conn,
						opening)->peer, peer, 16);
	return n;
}

/*
 * All places are taken: end the oldest handshake for @conn, if it is late, or
 * if its host has more of them under way than that of @conn.  So a peer that
 * completes none of its handshakes does not hold the places.
 */
static bool make_place(struct pier_comch *comch, const struct pier_conn *conn)
{
	struct pier__list *oldest = comch->opening.next;
	struct pier_comch_conn *c;
	uint8_t peer[16];
	bool late;

	if (oldest == &comch->opening)
		return false;
	c = pier__container_of(oldest, struct pier_comch_conn, opening);
	late = pier__pe_now(comch->ctx.pe) > c->since + OPENING_MS * PIER__MS;
	address_of(conn, peer);
	if (!late &&
	    opening_of(comch, c->peer) <= opening_of(comch, peer) + 1)
		return false;
	pier__list_del(&c->opening);
	pier__log(PIER_LOG_WARNING, "comch", "%s: its handshake was not "
		  "complete, and another client needs its place",
		  pier_conn_peer_address(c->conn));
	pier_conn_abort(c->conn);
	return true;
}

static void requested(struct pier_conn *conn, void *arg)
{
	struct pier_comch *comch = arg;
	enum pier__comch_reject reason = PIER__COMCH_REJECT_MALFORMED;
	const void *data;
	size_t len;

	if (!pier_conn_private_data(conn, &data, &len))
		reason = pier__comch_req_reject(&comch->name, data, len);
	if (!reason && comch->conn_count >= comch->cfg.max_clients &&
	    !make_place(comch, conn))
		reason = PIER__COMCH_REJECT_FULL;
	if (reason)
		reject(comch, conn, reason);
	else
		accept_client(comch, conn);
}

/* On the first of the name's ports that is free. */
static int listen_on(struct pier_comch *comch)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	int err = -EADDRINUSE;

	for (unsigned int i = 0; i < PIER__COMCH_PORTS && err == -EADDRINUSE;
	     i++) {
		cfg.port = pier__comch_name_port(&comch->name, i);
		err = pier__listen(comch->owner.queues, &cfg, requested, comch,
				   &comch->listener);
	}
	if (err != -EADDRINUSE)
		return err;
	return pier__fail(err, "comch: no port for the server \"%s\" on %s: "
			  "others listen on %u to %u, which follow from its "
			  "name: end one of them, or choose another name",
			  comch->name.text, comch->dev->info.port.name,
			  pier__comch_name_port(&comch->name, 0),
			  pier__comch_name_port(&comch->name,
						PIER__COMCH_PORTS - 1));
}

static int start(struct pier_comch *comch)
{
	int err = pier__comch_name_lock(&comch->name, &comch->dev->info.port,
					&comch->lock);

	return err ? err : listen_on(comch);
}

static void stop(struct pier_comch *comch)
{
	pier_listener_destroy(comch->listener);
	comch->listener = NULL;
}

static void stopped(struct pier_comch *comch)
{
	stop(comch);
	if (comch->lock >= 0)
		close(comch->lock);
	comch->lock = -1;
}

/* All of the client's private data has arrived. */
static int check(struct pier_comch_conn *c)
{
	struct pier__comch_limits theirs;
	const void *data;
	size_t len;
	int err = pier_conn_private_data(c->conn, &data, &len);

	if (!err)
		err = pier__comch_req_decode(&c->comch->name, data, len,
					     &theirs);
	if (!err)
		pier__comch_conn_set_limits(c, &theirs);
	return err;
}

static void established(struct pier_comch *comch, struct pier_comch_conn *c)
{
	(void)comch;
	pier__list_del(&c->opening);
}

static void ended(struct pier_comch *comch, struct pier_comch_conn *c)
{
	(void)comch;
	(void)c;	/* others remain */
}

static void failed(struct pier_comch *comch, struct pier_comch_conn *c)
{
	(void)comch;
	(void)c;	/* the client reports it */
}

const struct pier__comch_role pier__comch_server = {
	.name = "server",
	.start = start,
	.stop = stop,
	.stopped = stopped,
	.check = check,
	.established = established,
	.ended = ended,
	.failed = failed,
};

int pier_comch_create_server(struct pier_dev *dev, struct pier_rep *rep,
			     const char *name, struct pier_comch **ret)
{
	int err;

	if (!dev)
		return pier__no_object(__func__);
	err = rep ? check_rep(dev, rep) : 0;
	if (!err)
		err = pier__comch_create(&pier__comch_server, dev, name, ret);
	if (!err)
		(*ret)->rep = rep;
	return err;
}
