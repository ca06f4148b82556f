/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_H
#define PIER_CM_H

#include <stddef.h>
#include <stdint.h>

#include <pier/conn.h>
#include <pier/rdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Connection management: a server listens on a port, a client connects to an
 * address, and what they make is a struct pier_conn like any other.
 *
 * Nothing here blocks or calls back: the engine does, later.  Calls belong to
 * the engine's thread.
 */
struct pier_listener;

/* Most private data between two programs that use pier, bytes. */
#define PIER_PRIVATE_DATA_MAX 4096

/* What a text may be. */
enum pier_addr_type {
	PIER_ADDR_ANY,	/* any of these, or a host's name */
	PIER_ADDR_IPV4,	/* 10.9.0.1, or a name that has such an address */
	PIER_ADDR_IPV6,	/* fd00::1, fe80::1%eth0, or a name */
	PIER_ADDR_GID,	/* as fd00::1; ::ffff:10.9.0.1 is IPv4's */
};

/*
 * Told by the engine; @user_data is the connection's, @ctx_user_data its
 * context's.  pier_conn_destroy() is allowed.
 */
typedef void pier_conn_fn(struct pier_conn *conn, void *user_data,
			  void *ctx_user_data);

/*
 * Who is told, of all connections of @rdma; any may be NULL.
 * @request: a client asks: accept, reject or destroy, now or later.
 * Then exactly one of
 * @established: connected; and at its end, once,
 *	@disconnected: by whichever side, or failed: pier_conn_error().
 * @failure: it never stood; pier_conn_error(), 0 if this side ended it.
 * What is destroyed is told no more.  Allowed at any time; returns 0.
 */
int pier_rdma_set_conn_callbacks(struct pier_rdma *rdma, pier_conn_fn *request,
				 pier_conn_fn *established,
				 pier_conn_fn *failure,
				 pier_conn_fn *disconnected);

struct pier_listen_config {
	size_t size;		/* sizeof(struct pier_listen_config), always */
	const char *address;	/* IPv4, IPv6 or GID; NULL, "": any of the */
				/* device's */
	uint32_t port;		/* 1..65535; 0: a free one */
	uint32_t backlog;	/* requests not looked at yet; 0 means 128; */
				/* beyond it clients have to repeat theirs */
	uint32_t rate;		/* requests told a second; 0: no bound */
};

/*
 * Take requests on @cfg->port.  Several listeners are fine.
 * Errors: -ESHUTDOWN, not running; -EADDRINUSE; -EADDRNOTAVAIL; -EINVAL, no
 * such address, or nobody would be told; -EOPNOTSUPP; -ENOMEM.
 */
int pier_rdma_listen(struct pier_rdma *rdma,
		     const struct pier_listen_config *cfg,
		     struct pier_listener **ret);

/* The port that it has; 0: its context has stopped. */
uint16_t pier_listener_port(const struct pier_listener *listener);

/*
 * Take no more requests; those not told yet are rejected, those told live on.
 * What is not destroyed ends with its context.  NULL is fine.
 */
void pier_listener_destroy(struct pier_listener *listener);

/*
 * Answer the request @conn with @len bytes of @data, at most
 * PIER_PRIVATE_DATA_MAX, 196 if the client does not use pier.
 * Errors: -EINVAL, no request, or answered; -ECONNABORTED, the client has
 * given up, which is told as a failure, too; -EMSGSIZE: the request is as it
 * was.
 */
int pier_conn_accept(struct pier_conn *conn, const void *data, size_t len);

/*
 * Refuse it with @len bytes of @data, at most 140, 148 if the client does not
 * use pier; @conn is gone.
 * Errors: -EINVAL, -ECONNABORTED, -EMSGSIZE as above; then it is not.
 */
int pier_conn_reject(struct pier_conn *conn, const void *data, size_t len);

struct pier_connect_config {
	size_t size;		/* sizeof(struct pier_connect_config), always */
	const char *peer;	/* HOST, HOST:PORT, ADDRESS, [IPV6]:PORT */
	uint32_t type;		/* enum pier_addr_type, of peer */
	uint32_t port;		/* where peer says none */
	const char *source;	/* our address; NULL: chosen by the route */
	const void *data;	/* private data, copied */
	size_t data_len;	/* 0..PIER_PRIVATE_DATA_MAX; raw: 56 */
	uint32_t timeout_ms;	/* 0: the context's connect_timeout_ms */
	uint32_t raw;		/* non-zero: send data as it is, to a peer */
				/* that does not use pier */
	void *user_data;	/* of the connection */
};

/*
 * Connect to a listener.  A name is looked up, its addresses are tried in
 * turn.  @cfg is not needed after the call.  The callbacks or
 * pier_conn_wait() tell how it went.
 * Errors: -ESHUTDOWN, not running; -ENOSPC, max_conns are in use; -EINVAL;
 * -EMSGSIZE; -EADDRNOTAVAIL; -EHOSTUNREACH; -EOPNOTSUPP; -ENOMEM.
 */
int pier_rdma_connect_to(struct pier_rdma *rdma,
			 const struct pier_connect_config *cfg,
			 struct pier_conn **ret);

/*
 * The peer's private data: of a request what its message holds, at least 16
 * bytes of what there is; all of it once connected.  A peer that does not use
 * pier has the message's whole field, filled up with zeros.  *ret belongs to
 * @conn and lives until the next call.  Errors: -ENOTCONN, nothing was heard.
 */
int pier_conn_private_data(struct pier_conn *conn, const void **ret,
			   size_t *ret_len);

/*
 * Why the peer refused: IBTA's number of the reason, 8 no listener, 28 the
 * program or pier in its name; 0: it did not.
 */
unsigned int pier_conn_reject_reason(const struct pier_conn *conn);

/* Both ends as "ADDRESS" or "ADDRESS port N"; "" not known.  @conn's own. */
const char *pier_conn_local_address(const struct pier_conn *conn);
const char *pier_conn_peer_address(const struct pier_conn *conn);

/* Does the peer use pier?  Of a request and from there on; else 0. */
int pier_conn_peer_is_pier(const struct pier_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
