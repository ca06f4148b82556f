/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a peer's set takes to reach a thread that sleeps in a wait, in a
 * process that runs no engine meanwhile, and until the peer's task is complete.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/sync_event_remote.h"
#include "bench/target.h"

#define SETS 200
/*
 * pier_sync_event(3): the helper checks every 2 ms whether the program has made
 * calls, and drives after a check without one, at most 4 ms after the last
 * call; the waiter looks every millisecond.
 */
#define HELPER_US (2 * 2000)
#define NAP_US 1000
#define LIMIT_US (HELPER_US + NAP_US)
#define ASLEEP_US 20000		/* after which the owner's helper drives */
#define WAIT_MS 10000

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;

/* What both processes see. */
static struct shared {
	double seen;		/* us; when the last value was */
	atomic_int count;	/* of values seen */
} *shared;

static void open_all(void)
{
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	must(pier_rdma_create(dev, &rdma));
	must(pier_ctx_start(pier_rdma_ctx(rdma), pe));
}

static struct pier_conn *meet(int wire)
{
	uint8_t bytes[PIER_DESC_MAX];
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	must(pier_rdma_export(rdma, &desc, &len, &conn));
	proc_put(wire, desc, len);
	len = proc_get(wire, bytes, sizeof(bytes));
	must(pier_rdma_connect(conn, bytes, len));
	must(pier_conn_wait(conn, WAIT_MS));
	return conn;
}

/* Has an event that its peer sets, and waits for each value. */
static void owner(int wire, void *arg)
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_sync_event *event;
	const void *desc;
	size_t len;

	(void)arg;
	open_all();
	cfg.publisher = PIER_SYNC_EVENT_REMOTE;
	cfg.subscriber = PIER_SYNC_EVENT_CPU;
	cfg.dev = dev;
	must(pier_sync_event_create(&event));
	must(pier_sync_event_configure(event, &cfg));
	must(pier_sync_event_start(event));
	must(pier_sync_event_export(event, &desc, &len));
	proc_put(wire, desc, len);
	meet(wire);
	for (uint64_t i = 1; i <= SETS; i++) {
		must(pier_sync_event_wait_eq(event, i, UINT64_MAX,
					     PIER_SYNC_EVENT_YIELD, WAIT_MS));
		shared->seen = proc_now();
		atomic_store(&shared->count, (int)i);
	}
	proc_get(wire, &len, sizeof(len));
}

/* Microseconds until @task is complete. */
static double complete(struct pier_task *task)
{
	double start = proc_now();

	must(pier_task_submit(task, 0));
	while (pier_task_status(task) == -EINPROGRESS)
		must(pier_pe_progress(pe, 0));
	must(pier_task_status(task));
	return proc_now() - start;
}

static struct pier_sync_event *event_of_peer(int wire)
{
	uint8_t bytes[PIER_DESC_MAX];
	struct pier_sync_event *event;
	size_t len = proc_get(wire, bytes, sizeof(bytes));

	must(pier_sync_event_create_from_export(NULL, bytes, len, &event));
	must(pier_sync_event_start(event));
	return event;
}

static void set_all(struct pier_task *set, uint64_t *word, double *seen,
		    double *done)
{
	for (int i = 1; i <= SETS; i++) {
		double start;

		usleep(ASLEEP_US);
		*word = (uint64_t)i;
		start = proc_now();
		done[i - 1] = complete(set);
		while (atomic_load(&shared->count) != i)
			usleep(100);
		seen[i - 1] = shared->seen - start;
	}
}

static void report(double *seen, double *done)
{
	double median = proc_median(seen, SETS);

	bench_judge(median <= LIMIT_US, "a peer's set to a sleeping waiter "
		    "without an engine: %.0f us (%.0f to %.0f), at most %d",
		    median, seen[0], seen[SETS - 1], LIMIT_US);
	median = proc_median(done, SETS);
	printf("# the peer's task is complete: %.0f us (%.0f to %.0f)\n",
	       median, done[0], done[SETS - 1]);
}

void sync_event_remote(void)
{
	static double seen[SETS], done[SETS];
	static uint64_t word;
	struct pier_buf_inventory *inv;
	struct pier_sync_event *event;
	struct pier_mmap *local;
	struct pier_task *set;
	struct pier_buf *buf;
	int wire;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		proc_die("sync_event: no memory");
	wire = proc_fork(PROC_B, owner, NULL);
	proc_be(PROC_A);
	open_all();
	event = event_of_peer(wire);
	must(pier_mmap_map(dev, &word, sizeof(word), 0, &local));
	must(pier_buf_inventory_create(1, &inv));
	must(pier_buf_whole(inv, local, &buf));
	must(pier_rdma_task_notify_set(meet(wire), event, buf, &set));
	set_all(set, &word, seen, done);
	report(seen, done);
}
