/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COMCH_DATA_H
#define PIER_COMCH_DATA_H

#include <stddef.h>
#include <stdint.h>

#include <pier/comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The data path of a Comm Channel.  Either end of a connection has consumers,
 * which receive messages into buffers, and producers, which send messages to
 * consumers of the peer.  Both are contexts: configure it while idle, start it
 * on an engine, which may be another one than that of the connection, stop it,
 * destroy it.  When it is idle again it can be configured and started again, as
 * long as the connection exists.
 *
 * They are created in the thread of the connection's engine; the other calls
 * belong to the thread of their own engine, destroy too.  Calls return 0 or a
 * negative errno value and do not write *ret on failure.
 */
struct pier_buf;
struct pier_comch_consumer;
struct pier_comch_producer;
struct pier_mmap;

struct pier_comch_data_config {
	size_t size;		/* sizeof(struct pier_comch_data_config) */
	uint32_t tasks;		/* to preallocate, 1..1048576; 0 means 256 */
	uint32_t max_peers;	/* producers of a consumer, consumers of a */
				/* producer at a time, 1..1024; 0 means 64 */
	uint32_t chain;		/* buffers of a task, 1..64; 0 means 1 */
	uint32_t imm_len;	/* of a consumer, the most bytes, 0..32; */
				/* PIER_ZERO: 0, 0 means 32 */
	uint32_t connect_timeout_ms;	/* of a producer; 0 means 10000 */
	uint32_t drain_ms;	/* limit of stopping; 0 means 2000 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context; those of a consumer do not fail */
				/* before it stops */
	uint32_t ack_timeout;	/* as in struct pier_rdma_config: 4.096 us * */
				/* 2^n, 1..31; 0 means 14 (67 ms) */
};

/* Counted since the object was created. */
struct pier_comch_data_counters {
	uint64_t messages;	/* received by a consumer; of a producer, */
	uint64_t bytes;		/* that consumers have; without immediates */
	uint64_t rejected;	/* requests of producers */
	uint64_t violations;	/* producers that broke the protocol, or sent */
				/* more than the buffer takes */
};

/*
 * Create an idle consumer on @conn, whose buffers are of @mmap, which is
 * started and registered on the device; NULL: it receives immediates only.
 * Its start returns -EINPROGRESS: it runs when the peer has been informed of
 * it.  It stops by itself when @conn ends.
 * Errors: -EINVAL; -EACCES, @mmap without PIER_LOCAL_WRITE; -ENOTCONN; -ENOSPC,
 * 1024 exist; -ENOMEM.
 */
int pier_comch_consumer_create(struct pier_comch_conn *conn,
			       struct pier_mmap *mmap,
			       struct pier_comch_consumer **ret);

/* Create an idle producer on @conn.  Errors: the same. */
int pier_comch_producer_create(struct pier_comch_conn *conn,
			       struct pier_comch_producer **ret);

/*
 * Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range, or
 * the device has not so much.
 */
int pier_comch_consumer_configure(struct pier_comch_consumer *consumer,
				  const struct pier_comch_data_config *cfg);
int pier_comch_producer_configure(struct pier_comch_producer *producer,
				  const struct pier_comch_data_config *cfg);

/* The values in use. */
void pier_comch_consumer_get_config(const struct pier_comch_consumer *consumer,
				    struct pier_comch_data_config *ret);
void pier_comch_producer_get_config(const struct pier_comch_producer *producer,
				    struct pier_comch_data_config *ret);

/* Stop it if it runs, and destroy it.  NULL is allowed. */
void pier_comch_consumer_destroy(struct pier_comch_consumer *consumer);
void pier_comch_producer_destroy(struct pier_comch_producer *producer);

struct pier_ctx *
pier_comch_consumer_ctx(struct pier_comch_consumer *consumer);
struct pier_ctx *
pier_comch_producer_ctx(struct pier_comch_producer *producer);

/* 1..65534, of one kind and end no two at a time. */
uint32_t pier_comch_consumer_id(const struct pier_comch_consumer *consumer);
uint32_t pier_comch_producer_id(const struct pier_comch_producer *producer);

/*
 * The reason why it has stopped by itself: a negative error, with its message
 * in *ret_text unless that is NULL; 0 and "": it has not.
 */
int pier_comch_consumer_error(const struct pier_comch_consumer *consumer,
			      const char **ret_text);
int pier_comch_producer_error(const struct pier_comch_producer *producer,
			      const char **ret_text);

void
pier_comch_consumer_get_counters(const struct pier_comch_consumer *consumer,
				 struct pier_comch_data_counters *ret);
void
pier_comch_producer_get_counters(const struct pier_comch_producer *producer,
				 struct pier_comch_data_counters *ret);

/*
 * Take a preallocated task that receives one message, which is appended to the
 * data of @dst; NULL: immediates only.
 * Errors: -ENOBUFS, no task is free.  Submit: -EINVAL, @dst is not of the
 * consumer's mmap, or has too many buffers.
 */
int pier_comch_task_receive(struct pier_comch_consumer *consumer,
			    struct pier_buf *dst, struct pier_task **ret);

/*
 * Take a preallocated task that sends the data of @src, NULL: none, and
 * @imm_len bytes at @imm, which submit copies, to the consumer @consumer_id of
 * the peer.  It completes when the message is in the consumer's buffer; until
 * the consumer has posted one, it waits.
 * Errors: -ENOBUFS; -EINVAL, @imm_len without @imm.  Submit: -ENOENT, no such
 * consumer; -EMSGSIZE.
 */
int pier_comch_task_produce(struct pier_comch_producer *producer,
			    struct pier_buf *src, const void *imm,
			    size_t imm_len, uint32_t consumer_id,
			    struct pier_task **ret);

/*
 * Change what the next submit uses.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task.
 */
int pier_comch_task_set_buf(struct pier_task *task, struct pier_buf *buf);
int pier_comch_task_set_imm(struct pier_task *task, const void *imm,
			    size_t imm_len);
int pier_comch_task_set_consumer(struct pier_task *task, uint32_t consumer_id);

/*
 * Of a successful receive, until it is submitted again or freed: the bytes of
 * the message, its immediate with its length, and the id of its producer.
 */
uint32_t pier_comch_task_len(const struct pier_task *task);
const void *pier_comch_task_imm(const struct pier_task *task,
				size_t *ret_len);
uint32_t pier_comch_task_producer(const struct pier_task *task);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
 * Errors: as the calls above and pier_task_submit().
 */
int pier_comch_receive(struct pier_comch_consumer *consumer,
		       struct pier_buf *dst, pier_task_fn *fn, void *arg);
int pier_comch_produce(struct pier_comch_producer *producer,
		       struct pier_buf *src, const void *imm, size_t imm_len,
		       uint32_t consumer_id, pier_task_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
