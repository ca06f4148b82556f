/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips of messages: RDMA sends, and a Comm Channel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/comch_ways.h"
#include "bench/procs.h"
#include "bench/target.h"

#define WAIT_MS 10000

static char message[MESSAGE];

static void done_one(struct pier_task *task, void *arg)
{
	must(pier_task_status(task));
	++*(unsigned long *)arg;
}

/* One end of RDMA sends.  Sends and receives take turns. */
static struct send_end {
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_conn *conn;
	struct pier_task *sends[AHEAD], *recvs[AHEAD];
	struct pier_buf *tails[AHEAD];
	unsigned long submitted, sent, received;
} ends;

static void make_tasks(struct send_end *e, struct pier_mmap *mmap)
{
	char *mem = pier_mmap_addr(mmap);
	struct pier_buf_inventory *inv;
	struct pier_buf *data;

	must(pier_buf_inventory_create(2 * AHEAD, &inv));
	for (int i = 0; i < AHEAD; i++) {
		must(pier_buf_by_data(inv, mmap, mem, MESSAGE, &data));
		must(pier_rdma_task_send(e->conn, data, &e->sends[i]));
		pier_task_set_done(e->sends[i], done_one, &e->sent);
		must(pier_buf_by_addr(inv, mmap, mem + (i + 1) * MESSAGE,
				      MESSAGE, &e->tails[i]));
		must(pier_rdma_task_receive(e->rdma, e->tails[i],
					    &e->recvs[i]));
		pier_task_set_done(e->recvs[i], done_one, &e->received);
	}
}

static void send_open(struct pier_dev *dev, int wire)
{
	struct send_end *e = &ends;
	uint8_t bytes[PIER_DESC_MAX];
	struct pier_mmap *mmap;
	const void *desc;
	size_t len;

	must(pier_pe_create(&e->pe));
	must(pier_rdma_create(dev, &e->rdma));
	must(pier_ctx_start(pier_rdma_ctx(e->rdma), e->pe));
	must(pier_mmap_map(dev, NULL, (AHEAD + 1) * MESSAGE, PIER_LOCAL_WRITE,
			   &mmap));
	must(pier_rdma_export(e->rdma, &desc, &len, &e->conn));
	make_tasks(e, mmap);
	for (int i = 0; i < AHEAD; i++)
		must(pier_task_submit(e->recvs[i], 0));
	proc_put(wire, desc, len);
	len = proc_get(wire, bytes, sizeof(bytes));
	must(pier_rdma_connect(e->conn, bytes, len));
	must(pier_conn_wait(e->conn, WAIT_MS));
}

/* The message number @i was received: receive another, and send one. */
static void send_next(struct send_end *e, bool receive)
{
	unsigned long i = e->submitted++ % AHEAD;

	if (receive) {
		pier_buf_reset(e->tails[i]);
		must(pier_task_submit(e->recvs[i], 0));
	}
	must(pier_task_submit(e->sends[i], 0));
}

static void send_step(void)
{
	struct send_end *e = &ends;

	must(pier_pe_progress(e->pe, 0));
	while (e->submitted < e->received && e->submitted < e->sent + AHEAD)
		send_next(e, true);
}

/* The receive of an answer is posted again before the next message. */
static double send_run(int count, int depth)
{
	struct send_end *e = &ends;
	double start = proc_now();

	for (int i = 0; i < count; i++) {
		send_next(e, e->submitted >= AHEAD);
		while (e->received < e->submitted ||
		       e->submitted - e->sent >= (unsigned long)depth)
			must(pier_pe_progress(e->pe, 0));
	}
	return proc_now() - start;
}

/* One end of a Comm Channel; what it has received is answered, or counted. */
static struct channel_end {
	struct pier_pe *pe;
	struct pier_comch *comch;
	struct pier_comch_conn *conn;
	struct pier_task *sends[AHEAD];
	unsigned long submitted, sent, received;
} channel;

static void channel_connected(struct pier_comch_conn *conn, void *arg)
{
	struct channel_end *e = arg;

	e->conn = conn;
	for (int i = 0; i < AHEAD; i++) {
		must(pier_comch_task_send(conn, message, MESSAGE,
					  &e->sends[i]));
		pier_task_set_done(e->sends[i], done_one, &e->sent);
	}
}

static void channel_received(struct pier_comch_conn *conn, const void *msg,
			     size_t len, void *arg)
{
	struct channel_end *e = arg;

	(void)conn;
	(void)msg;
	if (len != MESSAGE)
		proc_die("comch: a message of %zu bytes", len);
	e->received++;
}

static void channel_ended(struct pier_comch_conn *conn, void *arg)
{
	const char *text;

	(void)arg;
	pier_comch_conn_error(conn, &text);
	proc_die("comch: the connection has ended: %s", text);
}

static void channel_start(struct channel_end *e)
{
	int err;

	pier_comch_set_callbacks(e->comch, channel_connected, channel_ended,
				 channel_received, NULL);
	pier_ctx_set_user_data(pier_comch_ctx(e->comch), e);
	err = pier_ctx_start(pier_comch_ctx(e->comch), e->pe);
	if (err != -EINPROGRESS)	/* a client connects */
		must(err);
}

static void channel_serve(struct pier_dev *dev, int wire)
{
	struct channel_end *e = &channel;
	char name[64] = "";

	snprintf(name, sizeof(name), "bench-%d", (int)getpid());
	must(pier_pe_create(&e->pe));
	must(pier_comch_create_server(dev, NULL, name, &e->comch));
	channel_start(e);
	proc_put(wire, name, sizeof(name));
	while (!e->conn)
		must(pier_pe_wait(e->pe, WAIT_MS));
}

static void channel_meet(struct pier_dev *dev, int wire)
{
	struct channel_end *e = &channel;
	const char *text;
	char name[64];

	proc_get(wire, name, sizeof(name));
	must(pier_pe_create(&e->pe));
	must(pier_comch_create_client(dev, name, getenv("BENCH_IP_B"),
				      &e->comch));
	channel_start(e);
	while (!e->conn && !pier_comch_error(e->comch, &text))
		must(pier_pe_wait(e->pe, WAIT_MS));
	if (!e->conn)
		proc_die("comch: %s", text);
}

static void channel_next(struct channel_end *e)
{
	must(pier_task_submit(e->sends[e->submitted % AHEAD], 0));
	e->submitted++;
}

static void channel_step(void)
{
	struct channel_end *e = &channel;

	must(pier_pe_progress(e->pe, 0));
	while (e->submitted < e->received && e->submitted < e->sent + AHEAD)
		channel_next(e);
}

static double channel_run(int count, int depth)
{
	struct channel_end *e = &channel;
	double start = proc_now();

	for (int i = 0; i < count; i++) {
		channel_next(e);
		while (e->received < e->submitted ||
		       e->submitted - e->sent >= (unsigned long)depth)
			must(pier_pe_progress(e->pe, 0));
	}
	return proc_now() - start;
}

const struct bench_way way_send = {
	.name = "two RDMA sends",
	.serve = send_open,
	.step = send_step,
	.meet = send_open,
	.run = send_run,
};

const struct bench_way way_comch = {
	.name = "a Comm Channel",
	.serve = channel_serve,
	.step = channel_step,
	.meet = channel_meet,
	.run = channel_run,
};
