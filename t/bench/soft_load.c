/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads for the soft device, two processes or more, each on its core.
 *
 *	lat send|write|read|add COUNT	8 bytes, both sides poll: "MEDIAN
 *					AVERAGE" in us, of a send one way, of
 *					the others until complete
 *	alone COUNT			the send when nothing else is on its
 *					way: until the answer is there, and
 *					the next when all is acknowledged
 *	passive COUNT			8-byte reads of a process that sleeps
 *					in code of its own
 *	bw write|read MTU MS		1 MiB messages: 10^6 bytes a second
 *	rate packed|single MS		64-byte writes, 64 outstanding, many or
 *					one a datagram: a second
 *	fan SENDERS MS			8 connections of each process to one:
 *					10^6 bytes a second together, and of
 *					the slowest connection, in fair shares
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/target.h"

#define MEMORY (2u << 20)
#define MEGA (1u << 20)
#define WAIT_MS 10000
#define WARMUP 1000
#define CONNS 8
#define SENDERS_MAX 2
#define SLOTS_MAX 64
#define BW_SLOTS 16
#define LAT_SLOTS 16
#define FAN_SIZE 65536
#define FAN_SLOTS 4

enum operation { SEND, WRITE, READ, ADD, RECEIVE };
static const char *const names[] = {
	"send", "write", "read", "add", "receive",
};

/* One message, again and again. */
struct slot {
	struct pier_task *task;
	struct pier_buf *src, *dst;
	enum operation op;
	bool again;		/* when it is done */
	unsigned long *done;	/* counts messages */
};

/* This process. */
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_mmap *local, *remote;
static struct pier_buf_inventory *inv;
static struct pier_conn *conns[SENDERS_MAX * CONNS];
static int conn_count;
static unsigned int mtu;	/* 0: the port's */
static bool no_segmentation;

/* In the place of libc's: the device finds out that it has no offload. */
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (no_segmentation && level == SOL_UDP && name == UDP_SEGMENT) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

static void open_all(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.mtu = mtu,
	};
	void *memory;

	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	must(pier_mmap_map(dev, NULL, MEMORY, PIER_LOCAL_WRITE |
			   PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			   PIER_REMOTE_ATOMIC, &local));
	memory = pier_mmap_addr(local);
	memset(memory, 0x5a, MEMORY);
	must(pier_buf_inventory_create(1024, &inv));
	must(pier_rdma_create(dev, &rdma));
	must(pier_rdma_configure(rdma, &cfg));
	must(pier_ctx_start(pier_rdma_ctx(rdma), pe));
}

/* Connect @count times over @wire; the other side does it, too. */
static void meet(int wire, int count)
{
	uint8_t bytes[PIER_DESC_MAX];
	const void *desc;
	size_t len;
	int i;

	for (i = 0; i < count; i++) {
		struct pier_conn *conn;

		must(pier_rdma_export(rdma, &desc, &len, &conn));
		proc_put(wire, desc, len);
		len = proc_get(wire, bytes, sizeof(bytes));
		must(pier_rdma_connect(conn, bytes, len));
		conns[conn_count++] = conn;
	}
	must(pier_mmap_export(local, &desc, &len));
	proc_put(wire, desc, len);
	len = proc_get(wire, bytes, sizeof(bytes));
	if (remote)
		return;
	must(pier_mmap_create_from_export(dev, bytes, len, &remote));
}

static void wait_connected(void)
{
	int i;

	for (i = 0; i < conn_count; i++)
		must(pier_conn_wait(conns[i], WAIT_MS));
}

static struct pier_buf *data(struct pier_mmap *mmap, size_t off, size_t len)
{
	char *at = (char *)pier_mmap_addr(mmap) + off;
	struct pier_buf *buf;

	must(pier_buf_by_data(inv, mmap, at, len, &buf));
	return buf;
}

static struct pier_buf *tail(struct pier_mmap *mmap, size_t off, size_t len)
{
	struct pier_buf *buf = data(mmap, off, len);

	pier_buf_reset(buf);
	return buf;
}

static int slot_task(struct slot *slot, struct pier_conn *conn, size_t size)
{
	switch (slot->op) {
	case SEND:
		slot->src = data(local, 0, size);
		return pier_rdma_task_send(conn, slot->src, &slot->task);
	case WRITE:
		slot->src = data(local, 0, size);
		slot->dst = tail(remote, 0, size);
		return pier_rdma_task_write(conn, slot->src, slot->dst,
					    &slot->task);
	case READ:
		slot->src = data(remote, 0, size);
		slot->dst = tail(local, 0, size);
		return pier_rdma_task_read(conn, slot->src, slot->dst,
					   &slot->task);
	case ADD:
		slot->src = data(remote, 0, size);
		slot->dst = tail(local, 0, size);
		return pier_rdma_task_fetch_add(conn, slot->src, slot->dst, 1,
						&slot->task);
	default:
		slot->dst = tail(local, MEGA, size);
		return pier_rdma_task_receive(rdma, slot->dst, &slot->task);
	}
}

static void slot_submit(struct slot *slot, unsigned int flags)
{
	if (slot->dst)
		pier_buf_reset(slot->dst);	/* all of it is room again */
	must(pier_task_submit(slot->task, flags));
}

static void slot_done(struct pier_task *task, void *arg)
{
	struct slot *slot = arg;
	int status = pier_task_status(task);

	if (status)
		proc_die("soft_load: %s failed: %s", names[slot->op],
			 pier_strerror(status));
	++*slot->done;
	if (slot->again)
		slot_submit(slot, PIER_SUBMIT_MORE);
}

static void slot_make(struct slot *slot, struct pier_conn *conn,
		      enum operation op, size_t size, unsigned long *done)
{
	slot->op = op;
	slot->done = done;
	must(slot_task(slot, conn, size));
	pier_task_set_done(slot->task, slot_done, slot);
}

static void progress(void)
{
	must(pier_pe_progress(pe, 0));
}

static void open_b(int wire)
{
	open_all();
	meet(wire, 1);
	wait_connected();
}

static void open_a(proc_fn *fn)
{
	int wire = proc_fork(PROC_B, fn, NULL);

	proc_be(PROC_A);
	open_b(wire);
}

/* Side B, for whatever is not a send. */
static void serve(int wire, void *arg)
{
	(void)arg;
	open_b(wire);
	for (;;)
		progress();
}

static void sleep_on(int wire, void *arg)
{
	(void)arg;
	open_b(wire);
	for (;;)
		pause();
}

static void echo(int wire, void *arg)
{
	unsigned long received = 0, sent = 0, answered = 0;
	struct slot recvs[LAT_SLOTS] = { 0 }, sends[LAT_SLOTS] = { 0 };
	int i;

	(void)arg;
	open_all();
	meet(wire, 1);
	for (i = 0; i < LAT_SLOTS; i++) {
		slot_make(&recvs[i], NULL, RECEIVE, 8, &received);
		slot_make(&sends[i], conns[0], SEND, 8, &sent);
		slot_submit(&recvs[i], 0);
	}
	wait_connected();
	for (;;) {
		progress();
		for (; answered < received && answered < sent + LAT_SLOTS;
		     answered++) {
			slot_submit(&recvs[answered % LAT_SLOTS], 0);
			slot_submit(&sends[answered % LAT_SLOTS], 0);
		}
	}
}

/*
 * From one message to the next, with all that is done meanwhile.  A send may
 * still be unacknowledged when its answer is there: several take turns, unless
 * each is to be @alone on the line; then a lap ends with the answer.
 */
static void lat(enum operation op, size_t count, bool passive, bool alone)
{
	double *laps = calloc(count, sizeof(*laps)), start, end;
	struct slot there[LAT_SLOTS] = { 0 }, back = { 0 };
	unsigned long done = 0, echoed = 0;
	size_t i, ahead = op == SEND && !alone ? LAT_SLOTS : 1;

	if (!laps)
		proc_die("no memory");
	open_a(passive ? sleep_on : op == SEND ? echo : serve);
	for (i = 0; i < ahead; i++)
		slot_make(&there[i], conns[0], op, 8, &done);
	if (op == SEND)
		slot_make(&back, NULL, RECEIVE, 8, &echoed);
	start = proc_now();
	for (i = 0; i < WARMUP + count; i++) {
		if (op == SEND)
			slot_submit(&back, 0);
		slot_submit(&there[i % ahead], 0);
		while (op == SEND && echoed <= i)
			progress();
		end = proc_now();
		while (done + ahead <= i + 1)
			progress();
		if (!alone)
			end = proc_now();
		if (i >= WARMUP)
			laps[i - WARMUP] = (end - start) / (op == SEND ? 2 : 1);
		start = alone ? proc_now() : end;
	}
	proc_print(laps, count);
}

/* Drive for @ms.  Returns the microseconds that it took. */
static double progress_for(double ms)
{
	double start = proc_now(), now;

	do {
		progress();
		now = proc_now();
	} while (now - start < ms * 1e3);
	return now - start;
}

/* Keep @count messages on their way.  Returns how many a microsecond. */
static double flood(enum operation op, size_t size, int count, double ms)
{
	static struct slot slots[SLOTS_MAX];
	unsigned long done = 0, before;
	double us;
	int i;

	open_a(serve);
	for (i = 0; i < count; i++) {
		slot_make(&slots[i], conns[0], op, size, &done);
		slots[i].again = true;
		slot_submit(&slots[i], PIER_SUBMIT_MORE);
	}
	progress_for(ms / 10);
	before = done;
	us = progress_for(ms);
	return (double)(done - before) / us;
}

/* One of the senders; @arg: for how long, ms. */
static void sender(int wire, void *arg)
{
	static struct slot slots[CONNS][FAN_SLOTS];
	unsigned long done[CONNS] = { 0 }, before[CONNS];
	double *ms = arg, rates[CONNS], us;
	char go;
	int i, j;

	open_all();
	meet(wire, CONNS);
	wait_connected();
	for (i = 0; i < CONNS; i++) {
		for (j = 0; j < FAN_SLOTS; j++) {
			slot_make(&slots[i][j], conns[i], WRITE, FAN_SIZE,
				  &done[i]);
			slots[i][j].again = true;
			slot_submit(&slots[i][j], PIER_SUBMIT_MORE);
		}
	}
	proc_put(wire, "r", 1);
	while (recv(wire, &go, 1, MSG_DONTWAIT) != 1)
		progress();
	memcpy(before, done, sizeof(done));
	us = progress_for(*ms);
	for (i = 0; i < CONNS; i++)
		rates[i] = (double)(done[i] - before[i]) * FAN_SIZE / us;
	proc_put(wire, rates, sizeof(rates));
	/* The other one is to be measured under the same load. */
	for (;;)
		progress();
}

static void fan(int senders, double ms)
{
	double rates[SENDERS_MAX * CONNS], sum = 0, least = 1e12;
	int wires[SENDERS_MAX], i;
	char ready;

	for (i = 0; i < senders; i++)
		wires[i] = proc_fork(PROC_A, sender, &ms);
	proc_be(PROC_B);
	open_all();
	for (i = 0; i < senders; i++)
		meet(wires[i], CONNS);
	wait_connected();
	for (i = 0; i < senders; i++)
		while (recv(wires[i], &ready, 1, MSG_DONTWAIT) != 1)
			progress();
	for (i = 0; i < senders; i++)
		proc_put(wires[i], "g", 1);
	for (i = 0; i < senders; i++)
		while (recv(wires[i], &rates[i * CONNS], sizeof(rates) / 2,
			    MSG_DONTWAIT) < 0)
			progress();
	for (i = 0; i < senders * CONNS; i++) {
		sum += rates[i];
		least = rates[i] < least ? rates[i] : least;
	}
	printf("%.1f %.3f\n", sum, least / (sum / (senders * CONNS)));
}

static enum operation operation_of(const char *name)
{
	int op = 0;

	while (op < RECEIVE && strcmp(names[op], name))
		op++;
	if (op == RECEIVE)
		proc_die("soft_load: no operation %s", name);
	return op;
}

int main(int argc, char *argv[])
{
	const char *what = argc > 2 ? argv[1] : "";
	double last = argc > 2 ? atof(argv[argc - 1]) : 0;

	if (!strcmp(what, "lat") && argc == 4) {
		lat(operation_of(argv[2]), (size_t)last, false, false);
	} else if (!strcmp(what, "alone") && argc == 3) {
		lat(SEND, (size_t)last, false, true);
	} else if (!strcmp(what, "passive") && argc == 3) {
		lat(READ, (size_t)last, true, false);
	} else if (!strcmp(what, "bw") && argc == 5) {
		mtu = (unsigned int)atoi(argv[3]);
		printf("%.1f\n", MEGA * flood(operation_of(argv[2]), MEGA,
					      BW_SLOTS, last));
	} else if (!strcmp(what, "rate") && argc == 4) {
		no_segmentation = !strcmp(argv[2], "single");
		printf("%.0f\n", 1e6 * flood(WRITE, 64, SLOTS_MAX, last));
	} else if (!strcmp(what, "fan") && argc == 4) {
		fan(argv[2][0] == '1' ? 1 : 2, last);
	} else {
		proc_die("usage: see soft_load.c");
	}
	fflush(stdout);
	_exit(0);	/* with its processes, without cleaning up */
}
