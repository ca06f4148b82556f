/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_H
#define PIER_CM_H

#include <stddef.h>
#include <stdint.h>

#include <pier/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Connection management: a server listens on a port and a client connects to
 * its address.  The result is a struct pier_conn like any other.
 *
 * No call blocks or runs a callback; the engine runs callbacks later.  Calls
 * belong to the engine's thread.
 */
struct pier_listener;
struct pier_rdma;
struct sockaddr_storage;	/* <sys/socket.h> */

/* Maximum private data between two programs that use pier, in bytes. */
#define PIER_PRIVATE_DATA_MAX 4096

/* The type of an address. */
enum pier_addr_type {
	PIER_ADDR_ANY,	/* any of these, or a host's name */
	PIER_ADDR_IPV4,	/* 10.9.0.1, or a name that has such an address */
	PIER_ADDR_IPV6,	/* fd00::1, fe80::1%eth0, or a name */
	PIER_ADDR_GID,	/* as fd00::1; ::ffff:10.9.0.1 is IPv4's */
};

/*
 * Called by the engine; @user_data is the connection's, @ctx_user_data its
 * context's.  pier_conn_destroy() is allowed.
 */
typedef void pier_conn_fn(struct pier_conn *conn, void *user_data,
			  void *ctx_user_data);

/*
 * Callbacks for all connections of @rdma; each may be NULL.
 * @request: a client requests a connection: accept, reject or destroy it, now
 * or later.  Then exactly one of
 * @established: the connection is established; and at its end, once,
 *	@disconnected: ended by either side, or failed: pier_conn_error().
 * @failure: never established; pier_conn_error(), 0 if this side ended it.
 *
 * A destroyed connection is not reported.  Allowed at any time; returns 0.
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
	uint32_t backlog;	/* requests not processed yet; 0 means 128; */
				/* clients repeat requests beyond it */
	uint32_t rate;		/* requests reported per second; 0: no limit */
};

/*
 * Accept requests on @cfg->port.  A context can have several listeners.
 * Errors: -ESHUTDOWN, not running; -EADDRINUSE; -EADDRNOTAVAIL; -EINVAL, no
 * such address, or no request callback; -EOPNOTSUPP; -ENOMEM.
 */
int pier_rdma_listen(struct pier_rdma *rdma,
		     const struct pier_listen_config *cfg,
		     struct pier_listener **ret);

/* The port in use; 0: its context has stopped. */
uint16_t pier_listener_port(const struct pier_listener *listener);

/*
 * Accept no more requests; those not reported yet are rejected, those reported
 * stay valid.  A listener that is not destroyed ends with its context.  NULL is
 * allowed.
 */
void pier_listener_destroy(struct pier_listener *listener);

/*
 * Accept the request @conn with @len bytes of @data, at most
 * PIER_PRIVATE_DATA_MAX, 196 if the client does not use pier.
 * Errors: -EINVAL, not an open request; -ECONNABORTED, the client has given up,
 * which is reported as a failure, too; -EMSGSIZE, the request stays open.
 */
int pier_conn_accept(struct pier_conn *conn, const void *data, size_t len);

/*
 * Reject it with @len bytes of @data, at most 140, 148 if the client does not
 * use pier; @conn is no longer valid.
 * Errors: -EINVAL, -ECONNABORTED, -EMSGSIZE as above; then it is still valid.
 */
int pier_conn_reject(struct pier_conn *conn, const void *data, size_t len);

struct pier_connect_config {
	size_t size;		/* sizeof(struct pier_connect_config), always */
	const char *peer;	/* HOST, HOST:PORT, ADDRESS, [IPV6]:PORT */
	uint32_t type;		/* enum pier_addr_type, of peer */
	uint32_t port;		/* if peer contains none */
	const char *source;	/* local address; NULL: chosen by route */
	const void *data;	/* private data, copied */
	size_t data_len;	/* 0..PIER_PRIVATE_DATA_MAX; raw: 56 */
	uint32_t timeout_ms;	/* of an attempt; 0: the context's */
				/* connect_timeout_ms */
	uint32_t raw;		/* non-zero: send data as it is, to a peer */
				/* that does not use pier */
	void *user_data;	/* of the connection */
	uint32_t retry_ms;	/* attempts that fail are repeated; none */
				/* begins later than this; 0: never */
	uint32_t retry_pause_ms; /* before the second attempt; each further */
				/* pause is twice as long, all at random up */
				/* to a half shorter; 0 means 100 */
	uint32_t retry_pause_max_ms;	/* the longest; 0 means 5000, or */
				/* retry_pause_ms if that is more */
};

/*
 * Connect to a listener.  A name is looked up, and its addresses are tried in
 * turn; with retry_ms again and again, unless the peer's program or its version
 * rejects the request, or this host can never send it.  @cfg is not needed
 * after the call.  The callbacks or pier_conn_wait() report the result.
 * Errors: -ESHUTDOWN, not running; -ENOSPC, max_conns are in use; -EINVAL;
 * -EMSGSIZE; -EADDRNOTAVAIL; -EHOSTUNREACH; -EOPNOTSUPP; -ENOMEM.
 */
int pier_rdma_connect_to(struct pier_rdma *rdma,
			 const struct pier_connect_config *cfg,
			 struct pier_conn **ret);

/*
 * The peer's private data: of a request the part in its message, at least the
 * first 16 bytes; all of it once connected.  From a peer that does not use pier
 * it is the message's whole field, padded with zeros.  *ret belongs to @conn
 * and lives until the next call.
 * Errors: -ENOTCONN, no message has arrived.
 */
int pier_conn_private_data(struct pier_conn *conn, const void **ret,
			   size_t *ret_len);

/*
 * The IBTA reason code of the peer's rejection, 8 no listener, 28 rejected by
 * the program or by pier on its behalf; 0: the peer did not reject.
 */
unsigned int pier_conn_reject_reason(const struct pier_conn *conn);

/* Both ends, "ADDRESS" or "ADDRESS port N"; "": not known.  @conn's own. */
const char *pier_conn_local_address(const struct pier_conn *conn);
const char *pier_conn_peer_address(const struct pier_conn *conn);

/*
 * The peer's address and port, AF_INET or AF_INET6, the latter with the
 * interface if it is link-local.
 * Errors: -ENOTCONN, connected by descriptors, or not known.
 */
int pier_conn_peer_sockaddr(const struct pier_conn *conn,
			    struct sockaddr_storage *ret);

/* Whether the peer uses pier.  Known from the request on; else 0. */
int pier_conn_peer_is_pier(const struct pier_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
