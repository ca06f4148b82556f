/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <pier/desc.h>
#include <pier/pe.h>

#include "app/rendezvous_impl.h"
#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "mem/mmap_impl.h"
#include "ops/rdma_impl.h"

/*
 * A rendezvous by CM: no files, the descriptor of the memory offered is the
 * private data of whichever side offers it.
 */
#define PAUSE_MS 50	/* before a rejected request is sent again */
#define ATTEMPT_MS 3000	/* one request, before another is sent */

struct rendezvous_cm {
	struct pier_rdma *rdma;
	const struct pier_args *args;
	uint64_t deadline;
	struct pier_conn *conn;		/* the accepted one; or NULL */
	uint8_t desc[PIER_DESC_MAX];	/* what we offer */
	size_t desc_len;
	int error;			/* of the last attempt */
	char text[900];
};

static int describe(struct rendezvous_cm *m, const struct pier_mmap *mmap)
{
	uint32_t valid_s = ((uint32_t)m->args->timeout_ms + 999) / 1000;
	int len;

	if (!mmap)
		return 0;
	len = pier__mmap_describe(mmap, valid_s, m->desc, sizeof(m->desc));
	if (len < 0)
		return len;
	m->desc_len = (size_t)len;
	return 0;
}

/* The address of the command line's GID index; "": any. */
static int own_address(const struct rendezvous_cm *m, char *ret)
{
	struct pier__gid_offer gid;
	struct pier__port port;
	int err;

	ret[0] = '\0';
	if (m->args->gid_index < 0)
		return 0;
	pier__dev_port(m->rdma->dev, &port);
	err = pier__gid_at(&port, m->args->gid_index, &gid);
	if (err < 0)
		return err;
	pier__gid_text(gid.raw, ret);
	return 0;
}

/* Accept one connection at a time: the first. */
static void requested(struct pier_conn *conn, void *arg)
{
	struct rendezvous_cm *m = arg;

	if (m->conn || pier_conn_accept(conn, m->desc, m->desc_len)) {
		if (!m->conn)
			pier__log(PIER_LOG_WARNING, "rendezvous", "%s",
				  pier_last_error());
		if (pier_conn_reject(conn, NULL, 0))
			pier_conn_destroy(conn);
		return;
	}
	m->conn = conn;
}

/*
 * The attempt has failed: keep its error, and prepare the next one.  A timeout
 * of an attempt that was @cut_short does not replace an earlier error.
 */
static void drop(struct rendezvous_cm *m, bool cut_short)
{
	int err = pier_conn_error(m->conn);

	if (!cut_short || err != -ETIMEDOUT || !m->error) {
		m->error = err ? err : -ECONNRESET;
		snprintf(m->text, sizeof(m->text), "%s",
			 pier_conn_error_text(m->conn));
	}
	pier_conn_destroy(m->conn);
	m->conn = NULL;
}

static int timed_out(const struct rendezvous_cm *m)
{
	int seconds = (m->args->timeout_ms + 999) / 1000;

	if (m->error)
		return pier__fail(m->args->server_addr ? m->error : -ETIMEDOUT,
				  "not connected after %d s: %s", seconds,
				  m->text[0] ? m->text :
					       "the peer has disconnected");
	return pier__fail(-ETIMEDOUT, "no client has connected to port %d "
			  "after %d s: is the client running, and is its "
			  "-sa this host's address?",
			  m->args->listen_port, seconds);
}

static int start_listener(struct rendezvous_cm *m, struct pier_listener **ret)
{
	char address[INET6_ADDRSTRLEN];
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.address = address,
		.port = (uint32_t)m->args->listen_port,
	};
	int err = own_address(m, address);

	return err ? err : pier__listen(m->rdma->owner.queues, &cfg, requested,
					m, ret);
}

/* Wait for a client of the listener that is there. */
static int await_client(struct rendezvous_cm *m)
{
	int err;

	while (!m->conn || !pier__conn_was_connected(m->conn)) {
		uint64_t now = pier__now();

		if (now >= m->deadline)
			return timed_out(m);
		err = pier_pe_wait(m->rdma->ctx.pe,
				   pier__ms_left(now, m->deadline));
		if (err && err != -ETIMEDOUT)
			return err;
		if (m->conn && pier_conn_state(m->conn) != PIER_CONN_INIT &&
		    !pier__conn_was_connected(m->conn))
			drop(m, false);
	}
	return 0;
}

static int serve(struct rendezvous_cm *m)
{
	struct pier_listener *listener;
	int err = start_listener(m, &listener);

	if (err)
		return err;
	err = await_client(m);
	pier_listener_destroy(listener);
	return err;
}

static enum pier_addr_type type_of(const struct pier_args *args)
{
	const char *type = args->server_addr_type;

	if (!type)
		return PIER_ADDR_ANY;
	if (!strcasecmp(type, "GID"))
		return PIER_ADDR_GID;
	return type[strlen(type) - 1] == '6' ? PIER_ADDR_IPV6 : PIER_ADDR_IPV4;
}

/*
 * May the server not have started yet?  The error that UDP port 4791
 * is in use here is reported until it is free.
 */
static bool may_come(int err)
{
	return err == -ECONNREFUSED || err == -ETIMEDOUT ||
	       err == -EADDRINUSE ||
	       err == -EHOSTUNREACH || err == -ENETUNREACH ||
	       err == -ECONNRESET || err == -PIER_ENOHELLO ||
	       err == -PIER_ERETRY;
}

static int attempt(struct rendezvous_cm *m, const char *source)
{
	int left = pier__ms_left(pier__now(), m->deadline);
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = m->args->server_addr,
		.type = type_of(m->args),
		.port = (uint32_t)m->args->listen_port,
		.source = source,
		.data = m->desc,
		.data_len = m->desc_len,
		.timeout_ms = (uint32_t)(left < ATTEMPT_MS ? left : ATTEMPT_MS),
	};
	int err;

	if (!left)
		return timed_out(m);
	err = pier__connect_to(m->rdma->owner.queues, &cfg, &m->conn);
	if (err)
		return err;
	err = pier_conn_wait(m->conn, left + ATTEMPT_MS);
	if (!err || !may_come(err))
		return err;
	drop(m, left < ATTEMPT_MS);
	pier_pe_wait(m->rdma->ctx.pe, PAUSE_MS);
	return -EAGAIN;
}

static int connect_client(struct rendezvous_cm *m)
{
	char source[INET6_ADDRSTRLEN];
	int err = own_address(m, source);

	if (err)
		return err;
	do
		err = attempt(m, source);
	while (err == -EAGAIN);
	return err;
}

static int take_remote(struct rendezvous_cm *m, enum pier__wire_kind kind,
		       struct pier_mmap **ret)
{
	const void *desc;
	size_t len;
	int err = pier_conn_private_data(m->conn, &desc, &len);

	if (!err && !len)
		err = pier__fail(-PIER_EDESC, "%s offers no memory: this side "
				 "needs a peer that does, such as a responder",
				 pier_conn_peer_address(m->conn));
	if (!err)
		err = pier__mmap_import(NULL, desc, len, kind, ret);
	return err;
}

int pier__rendezvous_cm(struct pier_rdma *rdma, const struct pier_args *args,
			enum pier__wire_kind kind, struct pier_mmap *mmap,
			struct pier_conn **ret, struct pier_mmap **ret_remote)
{
	struct rendezvous_cm m = {
		.rdma = rdma,
		.args = args,
		.deadline = pier__deadline(pier__now(), args->timeout_ms),
	};
	int err = describe(&m, mmap);

	if (!err)
		err = args->server_addr ? connect_client(&m) : serve(&m);
	if (!err && ret_remote)
		err = take_remote(&m, kind, ret_remote);
	if (err) {
		snprintf(m.text, sizeof(m.text), "%s", pier_last_error());
		pier_conn_destroy(m.conn);
		return pier__fail_again(err, m.text);
	}
	*ret = m.conn;
	return 0;
}

/* Wait for the next client, and take it from @m. */
static int next_client(struct rendezvous_cm *m, struct pier_conn **ret)
{
	int err;

	m->error = 0;
	m->text[0] = '\0';
	m->deadline = pier__deadline(pier__now(), m->args->timeout_ms);
	err = await_client(m);
	if (err)
		return err;
	*ret = m->conn;
	m->conn = NULL;
	return 0;
}

int pier__rendezvous_cm_many(struct pier_rdma *rdma,
			     const struct pier_args *args, unsigned int count,
			     struct pier_conn **ret)
{
	struct rendezvous_cm m = { .rdma = rdma, .args = args };
	struct pier_listener *listener;
	unsigned int made = 0;
	int err = start_listener(&m, &listener);

	if (err)
		return err;
	while (made < count) {
		err = next_client(&m, &ret[made]);
		if (err)
			goto fail;
		made++;
	}
	pier_listener_destroy(listener);
	return 0;

fail:
	snprintf(m.text, sizeof(m.text), "%s", pier_last_error());
	pier_conn_destroy(m.conn);
	pier__rendezvous_undo(ret, made);
	pier_listener_destroy(listener);
	return pier__fail_again(err, m.text);
}
