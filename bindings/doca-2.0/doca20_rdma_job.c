/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_rdma_impl.h"

/* *@ret is the connection of @ctx. */
static doca_error_t get_conn(struct doca_ctx *ctx, struct pier_conn **ret)
{
	*ret = ((struct doca_rdma *)ctx)->conn;
	if (*ret)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
			       "rdma: a job before export and connect");
}

static doca_error_t build_recv(struct doca_ctx *ctx, const struct doca_job *job,
			       struct flight *flight, struct pier_task **ret)
{
	const struct doca_rdma_job_recv *recv =
		(const struct doca_rdma_job_recv *)job;

	(void)flight;
	return pier__doca_error(
		pier_rdma_task_receive(((struct doca_rdma *)ctx)->rdma,
				       pier__doca_buf(recv->dst_buff), ret));
}

static doca_error_t build_send(struct doca_ctx *ctx, const struct doca_job *job,
			       struct flight *flight, struct pier_task **ret)
{
	const struct doca_rdma_job_send *send =
		(const struct doca_rdma_job_send *)job;
	struct pier_buf *src = pier__doca_buf(send->src_buff);
	struct pier_conn *conn;
	doca_error_t error = get_conn(ctx, &conn);
	int err;

	(void)flight;
	if (error)
		return error;
	if (job->type == DOCA_RDMA_JOB_SEND)
		err = pier_rdma_task_send(conn, src, ret);
	else
		err = pier_rdma_task_send_imm(conn, src, send->immediate_data,
					      ret);
	return pier__doca_error(err);
}

static doca_error_t build_move(struct doca_ctx *ctx, const struct doca_job *job,
			       struct flight *flight, struct pier_task **ret)
{
	const struct doca_rdma_job_read_write *move =
		(const struct doca_rdma_job_read_write *)job;
	struct pier_buf *src = pier__doca_buf(move->src_buff);
	struct pier_buf *dst = pier__doca_buf(move->dst_buff);
	struct pier_conn *conn;
	doca_error_t error = get_conn(ctx, &conn);
	int err;

	(void)flight;
	if (error)
		return error;
	if (job->type == DOCA_RDMA_JOB_READ)
		err = pier_rdma_task_read(conn, src, dst, ret);
	else if (job->type == DOCA_RDMA_JOB_WRITE)
		err = pier_rdma_task_write(conn, src, dst, ret);
	else
		err = pier_rdma_task_write_imm(conn, src, dst,
					       move->immediate_data, ret);
	return pier__doca_error(err);
}

static doca_error_t build_atomic(struct doca_ctx *ctx,
				 const struct doca_job *job,
				 struct flight *flight, struct pier_task **ret)
{
	const struct doca_rdma_job_atomic *atomic =
		(const struct doca_rdma_job_atomic *)job;
	struct pier_buf *dst = pier__doca_buf(atomic->cmp_or_add_dest_buff);
	struct pier_buf *before = pier__doca_buf(atomic->result_buff);
	struct pier_conn *conn;
	doca_error_t error = get_conn(ctx, &conn);
	int err;

	(void)flight;
	if (error)
		return error;
	if (job->type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
		err = pier_rdma_task_fetch_add(conn, dst, before,
					       atomic->swap_or_add_data, ret);
	else
		err = pier_rdma_task_compare_swap(conn, dst, before,
						  atomic->cmp_data,
						  atomic->swap_or_add_data,
						  ret);
	return pier__doca_error(err);
}

/* Opcodes have the order of pier's. */
static void result(const struct pier_task *task, doca_error_t error,
		   const struct flight *flight, union doca_data *result)
{
	struct doca_rdma_result *out = result->ptr;

	if (!out)
		return;
	*out = (struct doca_rdma_result){ .result = error };
	if (error || flight->kind->type != DOCA_RDMA_JOB_RECV)
		return;
	out->opcode = (enum doca_rdma_opcode_t)pier_recv_opcode(task);
	out->immediate_data = pier_recv_imm(task);
}

const struct doca_job_kind pier__doca20_rdma_jobs[] = {
	{ DOCA_RDMA_JOB_RECV, build_recv, result },
	{ DOCA_RDMA_JOB_SEND, build_send, result },
	{ DOCA_RDMA_JOB_SEND_IMM, build_send, result },
	{ DOCA_RDMA_JOB_READ, build_move, result },
	{ DOCA_RDMA_JOB_WRITE, build_move, result },
	{ DOCA_RDMA_JOB_WRITE_IMM, build_move, result },
	{ DOCA_RDMA_JOB_ATOMIC_CMP_SWP, build_atomic, result },
	{ DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, build_atomic, result },
	{ 0 },
};
