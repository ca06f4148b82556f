/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pier itself costs: submit, progress and callback on a device that does
 * nothing.  Counted by callgrind between the toggles in overhead.sh; without
 * it, this only checks that every task completes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "bench/nullfabric.h"
#include "cm/conn_impl.h"

#define BATCH 32
#define SIZE 8

static struct pier_pe *pe;
static struct pier_conn *conn;
static struct pier_task *tasks[BATCH];
static struct pier_buf *src[BATCH], *dst[BATCH];
static long done;

static void task_done(struct pier_task *task, void *arg)
{
	(void)arg;
	done += pier_task_status(task) == 0;
}

static void must(int err)
{
	if (err < 0) {
		fprintf(stderr, "overhead: %s\n", pier_last_error());
		exit(1);
	}
}

/* What is counted: not to be inlined into anything. */
void __attribute__((noinline)) bench_single(long n);
void __attribute__((noinline)) bench_batched(long n);

void bench_single(long n)
{
	for (long i = 0; i < n; i++) {
		if (dst[0])
			pier_buf_reset(dst[0]);
		must(pier_task_submit(tasks[0], 0));
		must(pier_pe_progress(pe, 0));
	}
}

void bench_batched(long n)
{
	for (long i = 0; i < n; i += BATCH) {
		for (int j = 0; j < BATCH; j++) {
			if (dst[j])
				pier_buf_reset(dst[j]);
			must(pier_task_submit(tasks[j], j + 1 < BATCH ?
					      PIER_SUBMIT_MORE : 0));
		}
		must(pier_pe_progress(pe, 0));
	}
}

/* Connected to one that does nothing: its hello is written by hand. */
static void connect_none(struct pier_rdma *rdma)
{
	struct pier_conn *none;
	const void *desc;
	size_t len;

	must(pier_rdma_export(rdma, &desc, &len, &conn));
	must(pier_rdma_export(rdma, &desc, &len, &none));
	must(pier_rdma_connect(conn, desc, len));
	atomic_store(&conn->queues->ctl[conn->slot].hello, conn->local.nonce);
	must(pier_conn_wait(conn, 1000));
}

static void make_tasks(struct pier_dev *dev, int reading)
{
	static char memory[BATCH * SIZE];
	struct pier_buf_inventory *inv;
	struct pier_mmap *local, *remote;
	const void *desc;
	size_t len;

	must(pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE |
			   PIER_REMOTE_READ, &local));
	must(pier_mmap_export(local, &desc, &len));
	must(pier_mmap_create_from_export(desc, len, &remote));
	must(pier_buf_inventory_create(2 * BATCH, &inv));
	for (int i = 0; i < BATCH; i++) {
		must(pier_buf_by_data(inv, reading ? remote : local,
				      memory + i * SIZE, SIZE, &src[i]));
		if (reading)
			must(pier_buf_by_addr(inv, local, memory + i * SIZE,
					      SIZE, &dst[i]));
		must(reading ? pier_rdma_task_read(conn, src[i], dst[i],
						   &tasks[i]) :
			       pier_rdma_task_send(conn, src[i], &tasks[i]));
		pier_task_set_done(tasks[i], task_done, NULL);
	}
}

/* The same buffers, for copies in local memory. */
static void make_copies(struct pier_dev *dev)
{
	static char memory[2][BATCH * SIZE];
	struct pier_buf_inventory *inv;
	struct pier_mmap *from, *to;
	struct pier_dma *dma;

	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
	must(pier_mmap_map(dev, memory[0], BATCH * SIZE, 0, &from));
	must(pier_mmap_map(dev, memory[1], BATCH * SIZE, 0, &to));
	must(pier_buf_inventory_create(2 * BATCH, &inv));
	for (int i = 0; i < BATCH; i++) {
		must(pier_buf_by_data(inv, from, memory[0] + i * SIZE, SIZE,
				      &src[i]));
		must(pier_buf_by_addr(inv, to, memory[1] + i * SIZE, SIZE,
				      &dst[i]));
		must(pier_dma_task_copy(dma, src[i], dst[i], &tasks[i]));
		pier_task_set_done(tasks[i], task_done, NULL);
	}
}

static struct pier_sync_event *make_event(struct pier_dev *dev)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_REMOTE,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.dev = dev,
	};
	struct pier_sync_event *event;

	must(pier_sync_event_create(&event));
	must(pier_sync_event_configure(event, &cfg));
	return event;
}

/* Tasks of an event that runs as a context. */
static void make_adds(struct pier_dev *dev)
{
	struct pier_sync_event *event = make_event(dev);

	must(pier_ctx_start(pier_sync_event_ctx(event), pe));
	for (int i = 0; i < BATCH; i++) {
		must(pier_sync_event_task_add(event, 1, NULL, &tasks[i]));
		pier_task_set_done(tasks[i], task_done, NULL);
	}
}

/* Tasks of an RDMA context on an event that was exported. */
static void make_notifies(struct pier_dev *dev, int getting)
{
	static char memory[BATCH * SIZE];
	struct pier_sync_event *event = make_event(dev), *remote;
	struct pier_buf_inventory *inv;
	struct pier_mmap *local;
	const void *desc;
	size_t len;

	must(pier_sync_event_start(event));
	must(pier_sync_event_export(event, &desc, &len));
	must(pier_sync_event_create_from_export(desc, len, &remote));
	must(pier_sync_event_start(remote));
	must(pier_mmap_map(dev, memory, sizeof(memory), 0, &local));
	must(pier_buf_inventory_create(BATCH, &inv));
	for (int i = 0; i < BATCH; i++) {
		char *at = memory + i * SIZE;

		if (getting) {
			must(pier_buf_by_addr(inv, local, at, SIZE, &dst[i]));
			must(pier_rdma_task_remote_get(conn, remote, dst[i],
						       &tasks[i]));
		} else {
			must(pier_buf_by_data(inv, local, at, SIZE, &src[i]));
			must(pier_rdma_task_notify_set(conn, remote, src[i],
						       &tasks[i]));
		}
		pier_task_set_done(tasks[i], task_done, NULL);
	}
}

static void connect_rdma(struct pier_dev *dev)
{
	struct pier_rdma *rdma;

	must(pier_rdma_create(dev, &rdma));
	must(pier_ctx_start(pier_rdma_ctx(rdma), pe));
	connect_none(rdma);
}

static void make(struct pier_dev *dev, const char *op)
{
	if (!strcmp(op, "copy")) {
		make_copies(dev);
	} else if (!strcmp(op, "add")) {
		make_adds(dev);
	} else {
		connect_rdma(dev);
		if (!strcmp(op, "get") || !strcmp(op, "set"))
			make_notifies(dev, !strcmp(op, "get"));
		else
			make_tasks(dev, !strcmp(op, "read"));
	}
}

int main(int argc, char *argv[])
{
	long n = argc > 3 ? atol(argv[3]) : 3200;
	struct pier_dev *dev = nullfabric_open();

	if (argc < 3) {
		fprintf(stderr, "usage: overhead send|read|copy|set|get|add "
			"single|batched [COUNT]\n");
		return 2;
	}
	must(pier_pe_create(&pe));
	make(dev, argv[1]);
	if (!strcmp(argv[2], "single"))
		bench_single(n);
	else
		bench_batched(n);
	if (done != n) {
		fprintf(stderr, "overhead: %ld of %ld tasks done\n", done, n);
		return 1;
	}
	printf("%ld tasks\n", done);
	return 0;
}
