/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca20_rdma_impl.h"

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

static int take_send(struct pier_conn *conn, const struct doca_job *job,
		     struct pier_task **ret)
{
	const struct doca_rdma_job_send *send =
		(const struct doca_rdma_job_send *)job;
	struct pier_buf *src = pier__doca_buf(send->src_buff);

	if (job->type == DOCA_RDMA_JOB_SEND)
		return pier_rdma_task_send(conn, src, ret);
	return pier_rdma_task_send_imm(conn, src, send->immediate_data, ret);
}

static int take_move(struct pier_conn *conn, const struct doca_job *job,
		     struct pier_task **ret)
{
	const struct doca_rdma_job_read_write *move =
		(const struct doca_rdma_job_read_write *)job;
	struct pier_buf *src = pier__doca_buf(move->src_buff);
	struct pier_buf *dst = pier__doca_buf(move->dst_buff);

	if (job->type == DOCA_RDMA_JOB_READ)
		return pier_rdma_task_read(conn, src, dst, ret);
	if (job->type == DOCA_RDMA_JOB_WRITE)
		return pier_rdma_task_write(conn, src, dst, ret);
	return pier_rdma_task_write_imm(conn, src, dst, move->immediate_data,
					ret);
}

static int take_atomic(struct pier_conn *conn, const struct doca_job *job,
		       struct pier_task **ret)
{
	const struct doca_rdma_job_atomic *atomic =
		(const struct doca_rdma_job_atomic *)job;
	struct pier_buf *dst = pier__doca_buf(atomic->cmp_or_add_dest_buff);
	struct pier_buf *before = pier__doca_buf(atomic->result_buff);

	if (job->type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
		return pier_rdma_task_fetch_add(conn, dst, before,
						atomic->swap_or_add_data, ret);
	return pier_rdma_task_compare_swap(conn, dst, before, atomic->cmp_data,
					   atomic->swap_or_add_data, ret);
}

/* All but receives need a connection. */
static doca_error_t build(struct doca_ctx *ctx, const struct doca_job *job,
			  struct flight *flight, struct pier_task **ret)
{
	struct pier_conn *conn = ((struct doca_rdma *)ctx)->conn;

	(void)flight;
	if (!conn)
		return pier__doca_fail(DOCA_ERROR_NOT_CONNECTED,
				       "rdma: a job before export and connect");
	switch (job->type) {
	case DOCA_RDMA_JOB_SEND:
	case DOCA_RDMA_JOB_SEND_IMM:
		return pier__doca_error(take_send(conn, job, ret));
	case DOCA_RDMA_JOB_READ:
	case DOCA_RDMA_JOB_WRITE:
	case DOCA_RDMA_JOB_WRITE_IMM:
		return pier__doca_error(take_move(conn, job, ret));
	default:
		return pier__doca_error(take_atomic(conn, job, ret));
	}
}

static void received(const struct pier_task *task, struct flight *flight)
{
	if (flight->error)
		return;
	flight->opcode = pier_recv_opcode(task);
	flight->imm = pier_recv_imm(task);
}

/* Opcodes have the order of pier's. */
static void result(const struct flight *flight, union doca_data *result)
{
	struct doca_rdma_result *out = result->ptr;

	if (!out)
		return;
	*out = (struct doca_rdma_result){ .result = flight->error };
	if (flight->error || flight->kind->type != DOCA_RDMA_JOB_RECV)
		return;
	out->opcode = (enum doca_rdma_opcode_t)flight->opcode;
	out->immediate_data = flight->imm;
}

const struct doca_job_kind pier__doca20_rdma_jobs[] = {
	{ DOCA_RDMA_JOB_RECV, build_recv, received, result },
	{ DOCA_RDMA_JOB_SEND, build, NULL, result },
	{ DOCA_RDMA_JOB_SEND_IMM, build, NULL, result },
	{ DOCA_RDMA_JOB_READ, build, NULL, result },
	{ DOCA_RDMA_JOB_WRITE, build, NULL, result },
	{ DOCA_RDMA_JOB_WRITE_IMM, build, NULL, result },
	{ DOCA_RDMA_JOB_ATOMIC_CMP_SWP, build, NULL, result },
	{ DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, build, NULL, result },
	{ 0 },
};
