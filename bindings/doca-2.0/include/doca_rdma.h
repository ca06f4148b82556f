/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_RDMA_2_0_H
#define DOCA_RDMA_2_0_H

#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One connection to a peer, made by descriptors that the program carries: start
 * the context, add it to a work queue, export, connect, submit jobs.  After a
 * failure remove the work queue, stop, and begin again.
 */

struct doca_buf;
struct doca_devinfo;
struct doca_rdma;
struct doca_rdma_addr;

enum doca_rdma_job_types {
	DOCA_RDMA_JOB_RECV = 0x400,
	DOCA_RDMA_JOB_SEND,
	DOCA_RDMA_JOB_SEND_IMM,
	DOCA_RDMA_JOB_READ,
	DOCA_RDMA_JOB_WRITE,
	DOCA_RDMA_JOB_WRITE_IMM,
	DOCA_RDMA_JOB_ATOMIC_CMP_SWP,
	DOCA_RDMA_JOB_ATOMIC_FETCH_ADD,
};

enum doca_rdma_state {
	DOCA_RDMA_STATE_RESET = 0,	/* not started */
	DOCA_RDMA_STATE_INIT,		/* started, not connected */
	DOCA_RDMA_STATE_CONNECTED,
	DOCA_RDMA_STATE_ERROR,		/* the connection has ended */
};

enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_RC,
	DOCA_RDMA_TRANSPORT_DC,		/* not supported */
};

enum doca_rdma_opcode_t {
	DOCA_RDMA_OPCODE_RECV_SEND,
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
};

/* @dst_buff NULL: for empty messages, and immediates of writes. */
struct doca_rdma_job_recv {
	struct doca_job base;
	struct doca_buf *dst_buff;
};

/* In all of these @rdma_peer_addr is not used. */
struct doca_rdma_job_send {
	struct doca_job base;
	const struct doca_buf *src_buff;	/* NULL: an empty message */
	doca_be32_t immediate_data;
	const struct doca_rdma_addr *rdma_peer_addr;
};

/* One of the buffers is of memory of the peer. */
struct doca_rdma_job_read_write {
	struct doca_job base;
	struct doca_buf *dst_buff;
	const struct doca_buf *src_buff;	/* NULL: no bytes */
	doca_be32_t immediate_data;
	const struct doca_rdma_addr *rdma_peer_addr;
};

struct doca_rdma_job_atomic {
	struct doca_job base;
	struct doca_buf *cmp_or_add_dest_buff;	/* of the peer */
	struct doca_buf *result_buff;		/* gets the value before */
	uint64_t swap_or_add_data;
	uint64_t cmp_data;
	const struct doca_rdma_addr *rdma_peer_addr;
};

/* What result.ptr of an event is filled in with, unless it is NULL. */
struct doca_rdma_result {
	doca_error_t result;
	enum doca_rdma_opcode_t opcode;		/* of a receive */
	struct doca_rdma_addr *rdma_peer_addr;	/* NULL */
	doca_be32_t immediate_data;		/* where the opcode has one */
};

doca_error_t doca_rdma_create(struct doca_rdma **rdma);
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* The descriptor for the peer, which belongs to @rdma until it is stopped. */
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **desc,
			      size_t *len);
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *desc,
			       size_t len);
doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma,
				 enum doca_rdma_state *state);

/* Before the start: what the peer may do, enum doca_access_flags. */
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma,
				       uint32_t permissions);
doca_error_t doca_rdma_get_permissions(const struct doca_rdma *rdma,
				       uint32_t *permissions);
doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma,
					      uint32_t len);
doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma,
					      uint32_t *len);

/* Of the device's table, checked at the first use; without one pier chooses. */
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t index);
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma,
				     uint32_t *index);
doca_error_t
doca_rdma_set_transport_type(struct doca_rdma *rdma,
			     enum doca_rdma_transport_type type);
doca_error_t
doca_rdma_get_transport_type(const struct doca_rdma *rdma,
			     enum doca_rdma_transport_type *type);

doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *info,
					 enum doca_rdma_job_types type);
doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *info,
					    uint32_t *ret);
doca_error_t
doca_rdma_get_max_recv_buf_chain_len(const struct doca_devinfo *info,
				     uint32_t *ret);

#ifdef __cplusplus
}
#endif

#endif
