/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COMCH_H
#define PIER_COMCH_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The Comm Channel: a server has a name on a device, clients connect to it by
 * device and name, and both send messages.  A server and a client are contexts:
 * configure it while idle, start it on a progress engine, stop it, destroy it.
 * A client is STARTING until it is connected, and IDLE again if it cannot be.
 * When it is idle again it can be configured and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_comch;
struct pier_comch_conn;
struct pier_dev;
struct pier_rep;

/* The bytes of the longest name, and of the longest message. */
#define PIER_COMCH_NAME_MAX 255
#define PIER_COMCH_MESSAGE_MAX 65536

/* The most consumers, and producers, of an end; their most immediate bytes. */
#define PIER_COMCH_CONSUMERS_MAX 1024
#define PIER_COMCH_IMM_MAX 32

struct pier_comch_config {
	size_t size;		/* sizeof(struct pier_comch_config), always */
	uint32_t max_msg_size;	/* bytes, 1..65536; 0 means 4080 */
	uint32_t recv_queue;	/* messages that each peer may send before */
				/* they are received, 1..4096; 0 means 16 */
	uint32_t tasks;		/* to preallocate, 1..1048576; 0 means 256 */
	uint32_t max_clients;	/* of a server, 1..65000; 0 means 64 */
	uint32_t connect_timeout_ms;	/* of a client; 0 means 10000 */
	uint32_t drain_ms;	/* limit of stopping; 0 means 2000 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context */
	uint32_t ack_timeout;	/* as in struct pier_rdma_config: 4.096 us * */
				/* 2^n, 1..31; 0 means 14 (67 ms) */
};

/* Counted since the object was created. */
struct pier_comch_counters {
	uint64_t sent_messages;
	uint64_t sent_bytes;
	uint64_t received_messages;
	uint64_t received_bytes;
	uint64_t rejected;	/* requests of clients; 0 of a connection */
	uint64_t violations;	/* peers that broke the protocol */
};

/*
 * Called by the engine; @ctx_user_data is that of the context.  The context may
 * be stopped, and destroyed.
 */
typedef void pier_comch_conn_fn(struct pier_comch_conn *conn,
				void *ctx_user_data);

/* @msg is valid until the callback returns. */
typedef void pier_comch_msg_fn(struct pier_comch_conn *conn, const void *msg,
			       size_t len, void *ctx_user_data);

/* @id is of a consumer of the peer, 1..65534. */
typedef void pier_comch_consumer_fn(struct pier_comch_conn *conn, uint32_t id,
				    void *ctx_user_data);

/*
 * Create an idle server of @name on @dev.  @rep is NULL or a representor of
 * @dev, which pier_comch_rep() returns; it does not restrict the clients.
 * Both must outlive it.  The caller destroys it by pier_comch_destroy().
 * Errors: -EINVAL, @name is empty or too long, or @rep is one of another
 * device; -EOPNOTSUPP, as pier_devinfo_has(); -ENOMEM.
 *
 * Its start fails with -EEXIST, another server on this host has the name on
 * @dev; -EADDRINUSE, other programs have all its ports.
 */
int pier_comch_create_server(struct pier_dev *dev, struct pier_rep *rep,
			     const char *name, struct pier_comch **ret);

/*
 * Create an idle client of the server of @name on @dev of this host; with
 * @address, an IP address or a host's name, of the server there.
 * Errors: -EINVAL, @name is empty or too long; -EOPNOTSUPP; -ENOMEM.
 */
int pier_comch_create_client(struct pier_dev *dev, const char *name,
			     const char *address, struct pier_comch **ret);

/*
 * Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range, or
 * the device does not have so many receives or requests.
 */
int pier_comch_configure(struct pier_comch *comch,
			 const struct pier_comch_config *cfg);

/* The values in use. */
void pier_comch_get_config(const struct pier_comch *comch,
			   struct pier_comch_config *ret);

/*
 * Callbacks; each may be NULL.  @connected: messages may be sent;
 * @disconnected: @conn has ended, and is valid until the callback returns;
 * @received: a message; @writable: a message can be sent again after -EAGAIN.
 * Allowed at any time; returns 0.
 */
int pier_comch_set_callbacks(struct pier_comch *comch,
			     pier_comch_conn_fn *connected,
			     pier_comch_conn_fn *disconnected,
			     pier_comch_msg_fn *received,
			     pier_comch_conn_fn *writable);

/*
 * Callbacks for the consumers of peers, see pier/comch_data.h; each may be
 * NULL.  @added: the peer has a new one; @expired: it has ended, or the
 * connection has, which is reported next.  Allowed at any time; returns 0.
 */
int pier_comch_set_consumer_callbacks(struct pier_comch *comch,
				      pier_comch_consumer_fn *added,
				      pier_comch_consumer_fn *expired);

/*
 * Stop it if it runs, and destroy it; consumers and producers on it stop.  NULL
 * is allowed.
 */
void pier_comch_destroy(struct pier_comch *comch);

struct pier_ctx *pier_comch_ctx(struct pier_comch *comch);
struct pier_dev *pier_comch_dev(const struct pier_comch *comch);

/* NULL: none was given, or it is a client. */
struct pier_rep *pier_comch_rep(const struct pier_comch *comch);

/* The connection of a client; NULL: not connected, or it is a server. */
struct pier_comch_conn *pier_comch_conn(const struct pier_comch *comch);

/*
 * The reason why it is idle again: a negative error, with its message in
 * *ret_text unless that is NULL; -ENODEV, the device was removed; 0 and "": it
 * was stopped, or the server has disconnected the client.
 */
int pier_comch_error(const struct pier_comch *comch, const char **ret_text);

void pier_comch_get_counters(const struct pier_comch *comch,
			     struct pier_comch_counters *ret);

struct pier_comch *pier_comch_conn_comch(const struct pier_comch_conn *conn);
void pier_comch_conn_set_user_data(struct pier_comch_conn *conn,
				   void *user_data);
void *pier_comch_conn_user_data(const struct pier_comch_conn *conn);

/* The most bytes of a message to the peer: the smaller limit of both. */
uint32_t pier_comch_conn_max_msg_size(const struct pier_comch_conn *conn);

void pier_comch_conn_get_counters(const struct pier_comch_conn *conn,
				  struct pier_comch_counters *ret);

/* The reason why @conn has ended, as pier_comch_error(). */
int pier_comch_conn_error(const struct pier_comch_conn *conn,
			  const char **ret_text);

/*
 * End @conn, after the messages that were submitted; @disconnected reports it.
 * A client stops then.  It may be repeated.
 * Errors: -EBUSY, this end has consumers or producers on it.  A stop of the
 * context fails for the same reason.
 */
int pier_comch_disconnect(struct pier_comch_conn *conn);

/*
 * Take a preallocated task that sends @len bytes at @msg, which submit copies;
 * it completes when the peer has the message.
 * Submit fails with -EAGAIN if the peer has as many messages as it receives at
 * a time: @writable reports when to submit again; -EMSGSIZE; -ENOTCONN.
 * Errors: -ENOBUFS, no task is free; -EINVAL, @len without @msg.
 */
int pier_comch_task_send(struct pier_comch_conn *conn, const void *msg,
			 size_t len, struct pier_task **ret);

/*
 * Change the message of the next submit.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task.
 */
int pier_comch_task_set_msg(struct pier_task *task, const void *msg,
			    size_t len);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
 * Errors: as pier_comch_task_send() and pier_task_submit(); -EAGAIN also if
 * messages in flight have the tasks: @writable reports when to send again.
 */
int pier_comch_send(struct pier_comch_conn *conn, const void *msg, size_t len,
		    pier_task_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
