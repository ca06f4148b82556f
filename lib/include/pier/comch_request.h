/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COMCH_REQUEST_H
#define PIER_COMCH_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <pier/comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Requests on a Comm Channel: a client sends requests, and the server's program
 * replies to each once, in its callback or later, in any order.  The receives
 * and the credits are those of the channel, so that its messages, consumers and
 * producers are used beside requests.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_buf;

/*
 * Called by the engine, for a request of the client of @conn: @len bytes at
 * @msg, which are valid until it is replied to or cancelled, or its connection
 * has ended.
 * @request is its handle, which no other request gets.
 */
typedef void pier_comch_request_fn(struct pier_comch_conn *conn,
				   uint64_t request, const void *msg,
				   size_t len, void *ctx_user_data);

/*
 * Called by the engine, once for each request that was reported: @status 0, the
 * reply was sent; -ECANCELED, the client has cancelled it; another negative
 * error, the connection has ended.  A buffer that the reply was in is
 * the program's again.
 */
typedef void pier_comch_request_end_fn(struct pier_comch *comch,
				       uint64_t request, int status,
				       void *ctx_user_data);

/*
 * Callbacks of a server; each may be NULL.  Without @requested requests fail at
 * their client.  Allowed at any time.  Errors: -EINVAL, @comch is a client.
 */
int pier_comch_set_request_callbacks(struct pier_comch *comch,
				     pier_comch_request_fn *requested,
				     pier_comch_request_end_fn *ended);

/*
 * Reply to @request with @len bytes at @msg, which are copied.  They may be
 * those of the request.  The reply is sent at once, or when the client returns
 * credits.
 * Errors: -ESTALE, it was replied to or cancelled, or its connection has ended;
 * -EMSGSIZE, more than pier_comch_conn_max_msg_size() or than the client takes;
 * -EINVAL, @len without @msg.
 */
int pier_comch_reply(struct pier_comch *comch, uint64_t request,
		     const void *msg, size_t len);

/*
 * The same with the data of @src, one buffer, written into the client's memory
 * if it is more than a message has.  Its memory is pier's until @ended reports
 * it; changes of @src do not matter.
 * Errors: as above; -EINVAL also: a chain, or not on the device.
 */
int pier_comch_reply_buf(struct pier_comch *comch, uint64_t request,
			 struct pier_buf *src);

/* Refuse it: the client's task fails with -EREMOTEIO.  Errors: -ESTALE. */
int pier_comch_refuse(struct pier_comch *comch, uint64_t request);

/* The connection of @request; NULL: as -ESTALE. */
struct pier_comch_conn *pier_comch_request_conn(struct pier_comch *comch,
						uint64_t request);

/* The most bytes of its reply: by a message, or into a buffer; 0: -ESTALE. */
size_t pier_comch_reply_max(struct pier_comch *comch, uint64_t request);
size_t pier_comch_reply_buf_max(struct pier_comch *comch, uint64_t request);

/*
 * Take a preallocated task of a client that sends @len bytes at @msg, which
 * submit copies, and copies the reply to the @size bytes at @reply, NULL: only
 * an empty reply fits.  It completes when the reply has arrived:
 * -EREMOTEIO, refused; -EOPNOTSUPP, the server takes no requests; -ETIMEDOUT,
 * see pier_task_set_timeout_ms(); -ECANCELED; the error of the connection if
 * that has ended.
 * Submit fails as that of pier_comch_task_send().
 * Errors: as there; -EINVAL, @conn is a server's, or @size without @reply.
 */
int pier_comch_task_request(struct pier_comch_conn *conn, const void *msg,
			    size_t len, void *reply, size_t size,
			    struct pier_task **ret);

/*
 * Change the message and the memory of the next submit.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task, or as above.
 */
int pier_comch_task_set_request(struct pier_task *task, const void *msg,
				size_t len, void *reply, size_t size);

/*
 * Append the reply to @dst instead; the server writes a long one to its tail
 * space.  It is one buffer, of memory with PIER_REMOTE_WRITE that the CPU can
 * use.  NULL: none, the reply is copied.
 * Errors: as above; submit fails with -EBUSY if it is that of another request
 * that has not completed.
 */
int pier_comch_task_set_reply_buf(struct pier_task *task,
				  struct pier_buf *dst);

/* The bytes of the reply of a task that has succeeded. */
size_t pier_comch_reply_len(const struct pier_task *task);

#ifdef __cplusplus
}
#endif

#endif
