/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "ops/comch_impl.h"

/* The device's own address, as text. */
static int own_address(const struct pier_comch *comch, char *ret)
{
	struct pier__gid_offer gids[PIER__GIDS_MAX];
	struct pier__port port;
	int count;

	pier__dev_port(comch->dev, &port);
	count = pier__gid_offers(&port, PIER__GID_ANY, gids);
	if (count < 0)
		return count;
	pier__gid_text(gids[0].raw, ret);
	return 0;
}

static void set_error(struct pier_comch *comch, int err)
{
	comch->error = err;
	snprintf(comch->text, sizeof(comch->text), "%s", pier_last_error());
}

/* Send a request to @port. */
static int try_port(struct pier_comch *comch, uint16_t port)
{
	const struct pier__comch_limits own = {
		.max_msg_size = comch->cfg.max_msg_size,
		.recv_queue = comch->cfg.recv_queue,
	};
	char address[INET6_ADDRSTRLEN];
	uint8_t req[PIER__COMCH_REQ];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = comch->address ? comch->address : address,
		.port = port,
		.source = comch->address ? NULL : address,
		.data = req,
		.data_len = pier__comch_req_encode(&comch->name, &own, req),
	};
	struct pier_comch_conn *c;
	struct pier_conn *conn;
	int err = comch->address ? 0 : own_address(comch, address);

	if (!err)
		err = pier__comch_conn_create(comch, &c);
	if (err)
		return err;
	err = pier__connect_to(comch->owner.queues, &cfg, &conn);
	if (err) {
		pier__comch_conn_drop(c);
		return err;
	}
	c->port = port;
	pier__comch_conn_bind(c, conn);
	return 0;
}

/* All ports at once, as the program may call its engine once a second only. */
static int start(struct pier_comch *comch)
{
	int err = 0;

	comch->is_elsewhere = false;
	for (unsigned int i = 0; i < PIER__COMCH_PORTS; i++) {
		err = try_port(comch, pier__comch_name_port(&comch->name, i));
		if (err)
			set_error(comch, err);
	}
	return comch->conn_count ? -EINPROGRESS : err;
}

static void stop(struct pier_comch *comch)
{
	(void)comch;	/* its connections end */
}

static void stopped(struct pier_comch *comch)
{
	(void)comch;
}

static int check(struct pier_comch_conn *c)
{
	struct pier__comch_limits theirs;
	const void *data;
	size_t len;
	int err = pier_conn_private_data(c->conn, &data, &len);

	if (!err)
		err = pier__comch_rep_decode(data, len, &theirs);
	if (!err)
		pier__comch_conn_set_limits(c, &theirs);
	return err;
}

static void ended(struct pier_comch *comch, struct pier_comch_conn *c)
{
	const char *text;
	int err = pier_comch_conn_error(c, &text);

	if (err)
		set_error(comch, pier__fail_again(err, text));
	comch->conn = NULL;
	pier__ctx_stop(&comch->ctx);
}

/* What the peer rejected the request for; 0: it did not, or is no server. */
static enum pier__comch_reject reject_of(struct pier_conn *conn)
{
	const void *data;
	size_t len;

	if (!pier_conn_reject_reason(conn) ||
	    pier_conn_private_data(conn, &data, &len))
		return 0;
	return pier__comch_rej_decode(data, len);
}

/* The server is not on the port of @c. */
static int not_there(const struct pier_comch *comch,
		     const struct pier_comch_conn *c)
{
	const char *host = comch->address, *text;
	int err = pier_comch_conn_error(c, &text);

	if (!host)
		host = comch->dev->info.port.name;
	return pier__fail(err ? err : -ECONNREFUSED, "comch: no server "
			  "\"%s\" on %s, ports %u to %u; of one of them: %s",
			  comch->name.text, host,
			  pier__comch_name_port(&comch->name, 0),
			  pier__comch_name_port(&comch->name,
						PIER__COMCH_PORTS - 1), text);
}

/* Fail for the reason of @c, which was not established. */
static int not_established(const struct pier_comch *comch,
			   const struct pier_comch_conn *c)
{
	switch (reject_of(c->conn)) {
	case PIER__COMCH_REJECT_FULL:
		return pier__fail(-ENOSPC, "comch: the server \"%s\" has "
				  "max_clients clients: end one there, or "
				  "raise its max_clients", comch->name.text);
	case PIER__COMCH_REJECT_MALFORMED:
		return pier__fail(-EPROTO, "comch: the server on port %u does "
				  "not understand the request: use the same "
				  "release on both", c->port);
	default:
		return not_there(comch, c);
	}
}

static void end_others(struct pier_comch *comch,
		       const struct pier_comch_conn *but)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &comch->conns) {
		struct pier_comch_conn *c = pier__container_of(
			pos, struct pier_comch_conn, link);

		if (c != but)
			pier_conn_abort(c->conn);
	}
}

static void established(struct pier_comch *comch, struct pier_comch_conn *c)
{
	end_others(comch, c);
	comch->error = 0;
	comch->text[0] = '\0';
	comch->conn = c;
	pier__ctx_started(&comch->ctx);
}

/*
 * Is the error message of @c, of the last port that has failed, more than that
 * of those before?  Its peer may be the server, or be on another device.
 */
static bool is_reason(struct pier_comch *comch, const struct pier_comch_conn *c)
{
	if (comch->error == -ENOSPC || comch->error == -EPROTO)
		return false;
	if (pier_conn_reject_reason(c->conn) == ROCE_REJ_GID)
		comch->is_elsewhere = true;
	else if (comch->is_elsewhere)
		return reject_of(c->conn) > PIER__COMCH_REJECT_NAME;
	return true;
}

/* A connection was not established: was it to the server, or the last one? */
static void failed(struct pier_comch *comch, struct pier_comch_conn *c)
{
	if (comch->ctx.state != PIER_CTX_STARTING)
		return;
	if (is_reason(comch, c))
		set_error(comch, not_established(comch, c));
	if (comch->error == -ENOSPC)
		end_others(comch, c);
	pier__comch_finish(comch);
}

const struct pier__comch_role pier__comch_client = {
	.name = "client",
	.start = start,
	.stop = stop,
	.stopped = stopped,
	.check = check,
	.established = established,
	.ended = ended,
	.failed = failed,
};

int pier_comch_create_client(struct pier_dev *dev, const char *name,
			     const char *address, struct pier_comch **ret)
{
	struct pier_comch *comch;
	int err;

	if (!dev)
		return pier__no_object(__func__);
	err = pier__comch_create(&pier__comch_client, dev, name, &comch);
	if (err)
		return err;
	if (address && address[0]) {
		comch->address = strdup(address);
		if (!comch->address) {
			pier_comch_destroy(comch);
			return pier__fail(-ENOMEM, "comch: no memory");
		}
	}
	*ret = comch;
	return 0;
}
