/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/overhead_peer.h"

#define COUNT 64		/* messages at a time */
#define SIZE 8
#define SLOT 64

static struct {
	enum overhead_peer what;
	char name[64];
	struct pier_pe *pe;
	struct pier_dev *dev;
	struct pier_comch_conn *conn;	/* NULL: not connected */
	struct pier_comch_consumer *consumer;
	struct pier_comch_producer *producer;
	struct pier_task *tasks[COUNT];
	struct pier_buf *bufs[COUNT];
	long expected, done;
} peer;

static _Alignas(SLOT) char memory[COUNT][SLOT];

static void need(int err)
{
	if (err) {
		fprintf(stderr, "the other end: %s\n", pier_last_error());
		exit(1);
	}
}

static void received(struct pier_comch_conn *conn, const void *msg, size_t len,
		     void *arg)
{
	(void)conn;
	(void)msg;
	(void)len;
	(void)arg;
	peer.done++;
}

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *arg)
{
	(void)arg;
	need(pier_comch_reply(pier_comch_conn_comch(conn), request, msg, len));
}

static void replied(struct pier_comch *comch, uint64_t request, int status,
		    void *arg)
{
	(void)comch;
	(void)request;
	(void)arg;
	need(status);
	peer.done++;
}

static void sent(struct pier_task *task, void *arg)
{
	(void)arg;
	need(pier_task_status(task));
	peer.done++;
}

/* A message was consumed: receive another into the same buffer. */
static void consumed(struct pier_task *task, void *arg)
{
	need(pier_task_status(task));
	peer.done++;
	pier_buf_reset(arg);
	need(pier_task_submit(task, 0));
}

static void make_bufs(struct pier_mmap **ret)
{
	struct pier_buf_inventory *inv;

	need(pier_mmap_map(peer.dev, memory, sizeof(memory), PIER_LOCAL_WRITE,
			   ret));
	need(pier_buf_inventory_create(COUNT, &inv));
	for (int i = 0; i < COUNT; i++)
		need(peer.what == OVERHEAD_PEER_PRODUCES ?
			     pier_buf_by_data(inv, *ret, memory[i], SIZE,
					      &peer.bufs[i]) :
			     pier_buf_by_addr(inv, *ret, memory[i], SLOT,
					      &peer.bufs[i]));
}

static void start_consumer(struct pier_mmap *mmap)
{
	need(pier_comch_consumer_create(peer.conn, mmap, &peer.consumer));
	if (pier_ctx_start(pier_comch_consumer_ctx(peer.consumer), peer.pe) !=
	    -EINPROGRESS)
		need(-EIO);
	for (int i = 0; i < COUNT; i++) {
		need(pier_comch_task_receive(peer.consumer, peer.bufs[i],
					     &peer.tasks[i]));
		pier_task_set_done(peer.tasks[i], consumed, peer.bufs[i]);
	}
}

static void start_producer(void)
{
	need(pier_comch_producer_create(peer.conn, &peer.producer));
	need(pier_ctx_start(pier_comch_producer_ctx(peer.producer), peer.pe));
}

static void connected(struct pier_comch_conn *conn, void *arg)
{
	struct pier_mmap *mmap;

	(void)arg;
	peer.conn = conn;
	make_bufs(&mmap);
	if (peer.what == OVERHEAD_PEER_CONSUMES)
		start_consumer(mmap);
	else if (peer.what == OVERHEAD_PEER_PRODUCES)
		start_producer();
}

/* The measured end has a consumer. */
static void added(struct pier_comch_conn *conn, uint32_t id, void *arg)
{
	(void)conn;
	(void)arg;
	for (int i = 0; i < COUNT; i++) {
		need(pier_comch_task_produce(peer.producer, peer.bufs[i], NULL,
					     0, id, &peer.tasks[i]));
		pier_task_set_done(peer.tasks[i], sent, NULL);
	}
}

void overhead_peer_start(struct pier_dev *dev, enum overhead_peer what)
{
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.recv_queue = 2 * COUNT,
		.tasks = COUNT,
		.max_clients = 1,
	};
	struct pier_comch *comch;

	peer.what = what;
	peer.dev = dev;
	need(pier_pe_create(&peer.pe));
	snprintf(peer.name, sizeof(peer.name), "overhead %d", (int)getpid());
	need(pier_comch_create_server(dev, NULL, peer.name, &comch));
	need(pier_comch_configure(comch, &cfg));
	need(pier_comch_set_callbacks(comch, connected, NULL, received, NULL));
	need(pier_comch_set_request_callbacks(comch, requested, replied));
	need(pier_comch_set_consumer_callbacks(comch, added, NULL));
	need(pier_ctx_start(pier_comch_ctx(comch), peer.pe));
}

const char *overhead_peer_name(void)
{
	return peer.name;
}

bool overhead_peer_exists(void)
{
	return peer.what != OVERHEAD_PEER_NONE;
}

/* Its receives are posted once it runs. */
static bool consumer_is_ready(void)
{
	static bool posted;

	if (pier_ctx_state(pier_comch_consumer_ctx(peer.consumer)) !=
	    PIER_CTX_RUNNING)
		return false;
	for (int i = 0; i < COUNT && !posted; i++)
		need(pier_task_submit(peer.tasks[i], 0));
	posted = true;
	return true;
}

bool overhead_peer_ready(void)
{
	if (!peer.conn)
		return false;
	if (peer.what == OVERHEAD_PEER_CONSUMES)
		return consumer_is_ready();
	return peer.what != OVERHEAD_PEER_PRODUCES || peer.producer;
}

uint32_t overhead_peer_consumer(void)
{
	return pier_comch_consumer_id(peer.consumer);
}

void overhead_peer_begin(long count)
{
	peer.expected += count;
	for (long i = 0; i < count && peer.what == OVERHEAD_PEER_PRODUCES; i++)
		need(pier_task_submit(peer.tasks[i], 0));
}

bool overhead_peer_progress(void)
{
	int n = pier_pe_progress(peer.pe, 0);

	need(n < 0 ? n : 0);
	return peer.done >= peer.expected;
}
