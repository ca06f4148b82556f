/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies to the memory of another process: RDMA writes, and DMA. */
#include <stdlib.h>
#include <string.h>

#include "bench/comch_ways.h"
#include "bench/procs.h"
#include "bench/target.h"

#define WAIT_MS 10000
#define MEMORY (DEPTH * (size_t)COPY)

/* What runs the copies of one way. */
struct copy_end {
	struct pier_pe *pe;
	struct pier_task *tasks[DEPTH];
	struct pier_buf *data[DEPTH], *tails[DEPTH];
	int left;		/* copies to submit */
	int done;
};

static struct copy_end writes, copies;
static struct pier_mmap *memory;	/* this process's */

static struct pier_mmap *own_memory(struct pier_dev *dev, uint32_t access)
{
	must(pier_mmap_map(dev, NULL, MEMORY, access, &memory));
	memset(pier_mmap_addr(memory), 0x5a, MEMORY);
	return memory;
}

static void copy_submit(struct copy_end *end, int i)
{
	pier_buf_reset(end->tails[i]);
	must(pier_task_submit(end->tasks[i], 0));
	end->left--;
}

/* The slot of @task; it copies again. */
static void copy_done(struct pier_task *task, void *arg)
{
	struct copy_end *end = arg;
	int i = 0;

	must(pier_task_status(task));
	end->done++;
	while (end->tasks[i] != task)
		i++;
	if (end->left)
		copy_submit(end, i);
}

/* The buffers of each copy, from @local to @remote. */
static void make_bufs(struct copy_end *end, struct pier_mmap *local,
		      struct pier_mmap *remote)
{
	struct pier_buf_inventory *inv;

	must(pier_buf_inventory_create(2 * DEPTH, &inv));
	for (size_t i = 0; i < DEPTH; i++) {
		must(pier_buf_by_data(inv, local,
				      (char *)pier_mmap_addr(local) + i * COPY,
				      COPY, &end->data[i]));
		must(pier_buf_by_addr(inv, remote,
				      (char *)pier_mmap_addr(remote) + i * COPY,
				      COPY, &end->tails[i]));
	}
}

static double copy_run(struct copy_end *end, int count, int depth)
{
	double start = proc_now();

	end->left = count;
	end->done = 0;
	for (int i = 0; i < depth; i++)
		copy_submit(end, i);
	while (end->done < count)
		must(pier_pe_progress(end->pe, 0));
	return proc_now() - start;
}

/* RDMA writes. */
static struct pier_conn *write_open(struct pier_dev *dev, int wire)
{
	uint8_t bytes[PIER_DESC_MAX];
	struct pier_rdma *rdma;
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	must(pier_pe_create(&writes.pe));
	must(pier_rdma_create(dev, &rdma));
	must(pier_ctx_start(pier_rdma_ctx(rdma), writes.pe));
	must(pier_rdma_export(rdma, &desc, &len, &conn));
	proc_put(wire, desc, len);
	len = proc_get(wire, bytes, sizeof(bytes));
	must(pier_rdma_connect(conn, bytes, len));
	must(pier_conn_wait(conn, WAIT_MS));
	return conn;
}

static void write_serve(struct pier_dev *dev, int wire)
{
	const void *desc;
	size_t len;

	write_open(dev, wire);
	must(pier_mmap_export(own_memory(dev, PIER_REMOTE_WRITE), &desc, &len));
	proc_put(wire, desc, len);
}

static void write_step(void)
{
	must(pier_pe_progress(writes.pe, 0));
}

static void write_meet(struct pier_dev *dev, int wire)
{
	struct pier_conn *conn = write_open(dev, wire);
	uint8_t bytes[PIER_DESC_MAX];
	size_t len = proc_get(wire, bytes, sizeof(bytes));
	struct pier_mmap *remote;

	must(pier_mmap_create_from_export(NULL, bytes, len, &remote));
	make_bufs(&writes, own_memory(dev, PIER_LOCAL_WRITE), remote);
	for (int i = 0; i < DEPTH; i++) {
		must(pier_rdma_task_write(conn, writes.data[i],
					  writes.tails[i], &writes.tasks[i]));
		pier_task_set_done(writes.tasks[i], copy_done, &writes);
	}
}

static double write_run(int count, int depth)
{
	return copy_run(&writes, count, depth);
}

/* DMA, to an export; its process sleeps. */
static void dma_serve(struct pier_dev *dev, int wire)
{
	struct pier_dma_export *exported;
	const void *desc;
	size_t len;

	must(pier_dma_export_create(own_memory(dev, PIER_PEER_WRITE), dev,
				    &exported));
	pier_dma_export_desc(exported, &desc, &len);
	proc_put(wire, desc, len);
}

static void dma_meet(struct pier_dev *dev, int wire)
{
	uint8_t bytes[PIER_DMA_EXPORT_DESC_MAX];
	size_t len = proc_get(wire, bytes, sizeof(bytes));
	struct pier_mmap *remote;
	struct pier_dma *dma;

	must(pier_dma_import(NULL, bytes, len, &remote));
	must(pier_pe_create(&copies.pe));
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_dma_ctx(dma), copies.pe));
	make_bufs(&copies, own_memory(dev, PIER_LOCAL_WRITE), remote);
	for (int i = 0; i < DEPTH; i++) {
		must(pier_dma_task_copy(dma, copies.data[i], copies.tails[i],
					&copies.tasks[i]));
		pier_task_set_done(copies.tasks[i], copy_done, &copies);
	}
}

static double dma_run(int count, int depth)
{
	return copy_run(&copies, count, depth);
}

const struct bench_way way_write = {
	.name = "RDMA writes",
	.serve = write_serve,
	.step = write_step,
	.meet = write_meet,
	.run = write_run,
};

const struct bench_way way_dma = {
	.name = "DMA copies",
	.serve = dma_serve,
	.step = NULL,
	.meet = dma_meet,
	.run = dma_run,
};
