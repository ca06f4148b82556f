/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/rep.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/fail.h"
#include "ops/comch_impl.h"

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

static void accept_client(struct pier_comch *comch, struct pier_conn *conn)
{
	const struct pier__comch_limits own = {
		.max_msg_size = comch->cfg.max_msg_size,
		.recv_queue = comch->cfg.recv_queue,
	};
	uint8_t rep[PIER__COMCH_REP];
	struct pier_comch_conn *c;

	pier__comch_rep_encode(&own, rep);
	if (pier__comch_conn_create(comch, &c)) {
		reject(comch, conn, PIER__COMCH_REJECT_FULL);
		return;
	}
	if (pier_conn_accept(conn, rep, sizeof(rep))) {
		pier__comch_conn_drop(c);
		pier_conn_destroy(conn);
		return;
	}
	pier__comch_conn_bind(c, conn);
}

static void requested(struct pier_conn *conn, void *arg)
{
	struct pier_comch *comch = arg;
	enum pier__comch_reject reason = PIER__COMCH_REJECT_MALFORMED;
	const void *data;
	size_t len;

	if (!pier_conn_private_data(conn, &data, &len))
		reason = pier__comch_req_reject(&comch->name, data, len);
	if (!reason && comch->conn_count >= comch->cfg.max_clients)
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
	return err;
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
	.ended = ended,
	.failed = failed,
};

int pier_comch_create_server(struct pier_dev *dev, struct pier_rep *rep,
			     const char *name, struct pier_comch **ret)
{
	int err = rep ? check_rep(dev, rep) : 0;

	if (!err)
		err = pier__comch_create(&pier__comch_server, dev, name, ret);
	if (!err)
		(*ret)->rep = rep;
	return err;
}
