/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf.h"

/* How the operations differ. */

#define IMM UINT32_C(0x50494552)

bool perf_receives(const struct perf *perf)
{
	switch (perf->opts.operation) {
	case PERF_SEND:
	case PERF_SEND_IMM:
	case PERF_WRITE_IMM:
		return true;
	default:
		return false;
	}
}

bool perf_is_send(const struct perf *perf)
{
	return perf->opts.operation == PERF_SEND ||
	       perf->opts.operation == PERF_SEND_IMM;
}

bool perf_echoes(const struct perf *perf)
{
	return perf->opts.measure == PERF_LAT && perf_is_send(perf);
}

bool perf_is_round(const struct perf *perf)
{
	return perf_echoes(perf) || (perf->opts.measure == PERF_LAT &&
				     perf->opts.operation == PERF_COMCH);
}

bool perf_is_channel(const struct perf *perf)
{
	return perf->opts.operation == PERF_COMCH ||
	       perf->opts.operation == PERF_REQUEST;
}

bool perf_is_atomic(const struct perf *perf)
{
	return perf->opts.operation == PERF_FETCH_ADD ||
	       perf->opts.operation == PERF_COMPARE_SWAP;
}

bool perf_is_fetched(const struct perf *perf)
{
	return perf->opts.operation == PERF_READ || perf_is_atomic(perf);
}

bool perf_is_plain(enum perf_operation operation)
{
	return operation == PERF_WRITE || operation == PERF_READ;
}

int perf_take_task(struct perf *perf, struct perf_slot *slot)
{
	struct pier_buf *src = slot->src, *dst = slot->dst;
	struct pier_conn *conn = slot->conn ? slot->conn->conn : NULL;
	struct pier_task **ret = &slot->task;

	switch (perf->opts.operation) {
	case PERF_SEND:
		return pier_rdma_task_send(conn, src, ret);
	case PERF_SEND_IMM:
		return pier_rdma_task_send_imm(conn, src, IMM, ret);
	case PERF_WRITE:
		return pier_rdma_task_write(conn, src, dst, ret);
	case PERF_WRITE_IMM:
		return pier_rdma_task_write_imm(conn, src, dst, IMM, ret);
	case PERF_READ:
		return pier_rdma_task_read(conn, src, dst, ret);
	case PERF_FETCH_ADD:
		return pier_rdma_task_fetch_add(conn, src, dst, 1, ret);
	case PERF_COMPARE_SWAP:
		return pier_rdma_task_compare_swap(conn, src, dst, 0, 1, ret);
	case PERF_COMCH:
	case PERF_REQUEST:
		return perf_comch_task(slot, ret);
	default:
		return pier_dma_task_copy(perf->dma, src, dst, ret);
	}
}
