/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What overhead.c measures, of a program written for DOCA: the difference is
 * what the layer costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "bench/nullfabric.h"
#include "doca_dev_impl.h"
#include "doca_mmap_impl.h"

#define SIZE 8

static struct doca_pe *pe;
static struct doca_rdma *rdma;
static struct doca_rdma_connection *conn;
static struct doca_task *task;
static struct doca_buf *src, *dst;
static long done;

static void must(doca_error_t error)
{
	if (error) {
		fprintf(stderr, "overhead_doca: %s\n",
			doca_error_get_name(error));
		exit(1);
	}
}

static void task_done_send(struct doca_rdma_task_send *ended,
			   union doca_data data, union doca_data ctx_data)
{
	(void)ended;
	(void)data;
	(void)ctx_data;
	done++;
}

static void task_done_read(struct doca_rdma_task_read *ended,
			   union doca_data data, union doca_data ctx_data)
{
	(void)ended;
	(void)data;
	(void)ctx_data;
	done++;
}

static void task_done_copy(struct doca_dma_task_memcpy *ended,
			   union doca_data data, union doca_data ctx_data)
{
	(void)ended;
	(void)data;
	(void)ctx_data;
	done++;
}

/* What is counted: not to be inlined into anything. */
void __attribute__((noinline)) bench_single(long n);

void bench_single(long n)
{
	for (long i = 0; i < n; i++) {
		if (dst)
			doca_buf_reset_data_len(dst);
		must(doca_task_submit(task));
		doca_pe_progress(pe);
	}
}

static void open_rdma(struct doca_dev *dev)
{
	struct doca_rdma_connection *none;
	const void *desc;
	size_t len;

	must(doca_pe_create(&pe));
	must(doca_rdma_create(dev, &rdma));
	must(doca_rdma_set_max_num_connections(rdma, 2));
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	must(doca_rdma_task_send_set_conf(rdma, task_done_send, task_done_send,
					  1));
	must(doca_rdma_task_read_set_conf(rdma, task_done_read, task_done_read,
					  1));
	must(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	must(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	must(doca_rdma_export(rdma, &desc, &len, &conn));
	must(doca_rdma_export(rdma, &desc, &len, &none));
	must(doca_rdma_connect(rdma, desc, len, conn));
}

static void open_memory(struct doca_dev *dev, struct doca_mmap **local,
			struct doca_mmap **remote)
{
	static char memory[2 * SIZE];
	const void *desc;
	size_t len;

	must(doca_mmap_create(local));
	must(doca_mmap_set_memrange(*local, memory, sizeof(memory)));
	must(doca_mmap_set_permissions(*local,
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
				       DOCA_ACCESS_FLAG_RDMA_READ));
	must(doca_mmap_add_dev(*local, dev));
	must(doca_mmap_start(*local));
	must(doca_mmap_export_rdma(*local, dev, &desc, &len));
	must(doca_mmap_create_from_export(NULL, desc, len, dev, remote));
}

static void make_buffers(struct doca_dev *dev, const char *op)
{
	struct doca_mmap *local, *remote;
	struct doca_buf_inventory *inv;

	open_memory(dev, &local, &remote);
	must(doca_buf_inventory_create(2, &inv));
	must(doca_buf_inventory_start(inv));
	must(doca_buf_inventory_buf_get_by_data(
		inv, !strcmp(op, "read") ? remote : local, local->addr, SIZE,
		&src));
	if (strcmp(op, "send"))
		must(doca_buf_inventory_buf_get_by_addr(
			inv, local, (char *)local->addr + SIZE, SIZE, &dst));
}

static void make_task(const char *op)
{
	union doca_data none = { .ptr = NULL };
	struct doca_rdma_task_read *read;
	struct doca_rdma_task_send *send;

	if (!strcmp(op, "read")) {
		must(doca_rdma_task_read_allocate_init(rdma, conn, src, dst,
						       none, &read));
		task = doca_rdma_task_read_as_task(read);
	} else {
		must(doca_rdma_task_send_allocate_init(rdma, conn, src, none,
						       &send));
		task = doca_rdma_task_send_as_task(send);
	}
}

static void make_copy(struct doca_dev *dev)
{
	union doca_data none = { .ptr = NULL };
	struct doca_dma_task_memcpy *copy;
	struct doca_dma *dma;

	must(doca_pe_create(&pe));
	must(doca_dma_create(dev, &dma));
	must(doca_dma_task_memcpy_set_conf(dma, task_done_copy, task_done_copy,
					   1));
	must(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	must(doca_ctx_start(doca_dma_as_ctx(dma)));
	must(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &copy));
	task = doca_dma_task_memcpy_as_task(copy);
}

int main(int argc, char *argv[])
{
	long n = argc > 3 ? atol(argv[3]) : 3200;
	struct doca_dev dev = { .dev = nullfabric_open() };

	if (argc < 3) {
		fprintf(stderr, "usage: overhead_doca send|read|copy single "
			"[COUNT]\n");
		return 2;
	}
	dev.info.info = pier_dev_info(dev.dev);
	make_buffers(&dev, argv[1]);
	if (!strcmp(argv[1], "copy")) {
		make_copy(&dev);
	} else {
		open_rdma(&dev);
		make_task(argv[1]);
	}
	bench_single(n);
	if (done != n) {
		fprintf(stderr, "overhead_doca: %ld of %ld tasks done\n", done,
			n);
		return 1;
	}
	printf("%ld tasks\n", done);
	return 0;
}
