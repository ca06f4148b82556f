/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdatomic.h>

#include "bench/nullfabric.h"
#include "bench/overhead_peer.h"
#include "bench/overhead_tasks.h"
#include "bench/procs.h"
#include "bench/target.h"
#include "cm/conn_impl.h"

#define SIZE 8
#define SLOT 64			/* a digest fits */
#define VALUE 5			/* of events */
#define ROUNDS 1000000		/* of engines, until a connection is made */

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_conn *conn;
static struct pier_dma *dma;
static struct pier_func *func;
static struct pier_sha *sha;
static struct pier_graph *graph;
static struct pier_graph_node *node;
static struct pier_sync_event *event;	/* imported, for RDMA tasks */
static struct pier_comch *comch;
static struct pier_comch_consumer *consumer;
static struct pier_comch_producer *producer;
static struct pier_buf_inventory *inv;
static struct pier_mmap *local, *remote;
static _Alignas(SLOT) char memory[2][OVERHEAD_MAX][SLOT];

/*
 * Task @i reads from the first half of the memory and writes the second.  One
 * that is made again has the same buffers.
 */
static struct pier_buf *bufs[2][OVERHEAD_MAX];

static struct pier_buf *data(struct pier_mmap *mmap, int i)
{
	if (!bufs[0][i])
		must(pier_buf_by_data(inv, mmap, memory[0][i], SIZE,
				      &bufs[0][i]));
	return bufs[0][i];
}

static struct pier_buf *tail(struct pier_mmap *mmap, int i)
{
	if (!bufs[1][i])
		must(pier_buf_by_addr(inv, mmap, memory[1][i], SLOT,
				      &bufs[1][i]));
	return bufs[1][i];
}

static void open_memory(void)
{
	const void *desc;
	size_t len;

	must(pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE |
			   PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			   PIER_REMOTE_ATOMIC, &local));
	must(pier_mmap_export(local, &desc, &len));
	must(pier_mmap_create_from_export(dev, desc, len, &remote));
	must(pier_buf_inventory_create(2 * OVERHEAD_MAX, &inv));
}

/* Connected to one that does nothing: its hello is written by hand. */
static void open_rdma(void)
{
	struct pier_conn *none;
	const void *desc;
	size_t len;

	must(pier_rdma_create(dev, &rdma));
	must(pier_ctx_start(pier_rdma_ctx(rdma), pe));
	must(pier_rdma_export(rdma, &desc, &len, &conn));
	must(pier_rdma_export(rdma, &desc, &len, &none));
	must(pier_rdma_connect(conn, desc, len));
	atomic_store(&conn->queues->ctl[conn->slot].hello, conn->local.nonce);
	must(pier_conn_wait(conn, 1000));
}

static struct pier_sync_event *make_event(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_REMOTE,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.dev = dev,
	};
	struct pier_sync_event *own;

	must(pier_sync_event_create(&own));
	must(pier_sync_event_configure(own, &cfg));
	return own;
}

/* One that runs as a context. */
static void open_event(void)
{
	event = make_event();
	must(pier_ctx_start(pier_sync_event_ctx(event), pe));
	must(pier_sync_event_set(event, VALUE));
}

/* One that was exported. */
static void open_far_event(void)
{
	struct pier_sync_event *own = make_event();
	const void *desc;
	size_t len;

	open_rdma();
	must(pier_sync_event_start(own));
	must(pier_sync_event_export(own, &desc, &len));
	must(pier_sync_event_create_from_export(dev, desc, len, &event));
	must(pier_sync_event_start(event));
}

static void open_dma(void)
{
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
}

static void open_func(void)
{
	must(pier_func_create(&func));
	must(pier_ctx_start(pier_func_ctx(func), pe));
}

static void open_sha(void)
{
	must(pier_sha_create(&sha));
	must(pier_ctx_start(pier_sha_ctx(sha), pe));
}

/* Of one node, a call. */
static void open_graph(void)
{
	open_func();
	must(pier_graph_create(&graph));
	must(pier_graph_add_ctx(graph, pier_func_ctx(func), &node));
	must(pier_ctx_start(pier_graph_ctx(graph), pe));
}

/* Until @ctx runs, and the other end has what it needs. */
static void await(struct pier_ctx *ctx)
{
	int rounds = 0;

	while (pier_ctx_state(ctx) != PIER_CTX_RUNNING ||
	       !overhead_peer_ready()) {
		if (++rounds == ROUNDS)
			proc_die("overhead: no connection to the other end");
		must(pier_pe_progress(pier_ctx_pe(ctx), 0) < 0);
		must(pier_pe_progress(pier_ctx_pe(pier_comch_ctx(comch)), 0) <
		     0);
		overhead_peer_progress();
	}
}

static void start(struct pier_ctx *ctx, struct pier_pe *on)
{
	int err = pier_ctx_start(ctx, on);

	must(err == -EINPROGRESS ? 0 : err);
	await(ctx);
}

/* A client, whose server is the other end. */
static void open_channel_on(struct pier_pe *on)
{
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.recv_queue = 64,	/* replies to a batch */
	};

	must(pier_comch_create_client(dev, overhead_peer_name(), NULL,
				      &comch));
	must(pier_comch_configure(comch, &cfg));
	start(pier_comch_ctx(comch), on);
}

static void open_channel(void)
{
	open_channel_on(pe);
}

/* On an engine of its own: the rounds of ours are to poll one context. */
static void open_channel_apart(void)
{
	struct pier_pe *apart;

	must(pier_pe_create(&apart));
	open_channel_on(apart);
}

static void open_consumer(void)
{
	open_channel_apart();
	must(pier_comch_consumer_create(pier_comch_conn(comch), local,
					&consumer));
	start(pier_comch_consumer_ctx(consumer), pe);
}

static void open_producer(void)
{
	open_channel_apart();
	must(pier_comch_producer_create(pier_comch_conn(comch), &producer));
	start(pier_comch_producer_ctx(producer), pe);
}

static int bench_call(void *arg)
{
	(void)arg;
	return 0;
}

static void make_send(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	must(type == PIER_TASK_SEND ?
		     pier_rdma_task_send(conn, data(local, i), &ret->task) :
		     pier_rdma_task_send_imm(conn, data(local, i), 1,
					     &ret->task));
}

static void make_receive(enum pier_task_type type, int i,
			 struct overhead_task *ret)
{
	(void)type;
	ret->grows = tail(local, i);
	must(pier_rdma_task_receive(rdma, ret->grows, &ret->task));
}

static void make_read(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	(void)type;
	ret->grows = tail(local, i);
	must(pier_rdma_task_read(conn, data(remote, i), ret->grows,
				 &ret->task));
}

static void make_write(enum pier_task_type type, int i,
		       struct overhead_task *ret)
{
	ret->grows = tail(remote, i);
	must(type == PIER_TASK_WRITE ?
		     pier_rdma_task_write(conn, data(local, i), ret->grows,
					  &ret->task) :
		     pier_rdma_task_write_imm(conn, data(local, i), ret->grows,
					      1, &ret->task));
}

static void make_atomic(enum pier_task_type type, int i,
			struct overhead_task *ret)
{
	ret->grows = tail(local, i);
	must(type == PIER_TASK_FETCH_ADD ?
		     pier_rdma_task_fetch_add(conn, data(remote, i),
					      ret->grows, 1, &ret->task) :
		     pier_rdma_task_compare_swap(conn, data(remote, i),
						 ret->grows, 0, 1,
						 &ret->task));
}

static void make_copy(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	(void)type;
	ret->grows = tail(local, i);
	must(pier_dma_task_copy(dma, data(local, i), ret->grows, &ret->task));
}

static void make_call(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	(void)type;
	(void)i;
	must(pier_func_task_call(func, bench_call, NULL, &ret->task));
}

static void make_hash(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	(void)type;
	ret->grows = tail(local, i);
	must(pier_sha_task_hash(sha, PIER_SHA_1, data(local, i), ret->grows,
				&ret->task));
}

static struct pier_task *calls[OVERHEAD_MAX];	/* of the nodes */

static void make_instance(enum pier_task_type type, int i,
			  struct overhead_task *ret)
{
	struct overhead_task call;

	(void)type;
	make_call(PIER_TASK_CALL, i, &call);
	calls[i] = call.task;
	must(pier_graph_task(graph, &ret->task));
	must(pier_graph_task_set_task(ret->task, node, call.task));
}

static void make_update(enum pier_task_type type, int i,
			struct overhead_task *ret)
{
	static uint64_t result[OVERHEAD_MAX];

	if (type == PIER_TASK_SYNC_GET)
		must(pier_sync_event_task_get(event, &result[i], &ret->task));
	else if (type == PIER_TASK_SYNC_SET)
		must(pier_sync_event_task_set(event, VALUE, &ret->task));
	else
		must(pier_sync_event_task_add(event, 1, &result[i],
					      &ret->task));
}

/* For a value that is there. */
static void make_wait(enum pier_task_type type, int i,
		      struct overhead_task *ret)
{
	(void)i;
	if (type == PIER_TASK_SYNC_WAIT_GT)
		must(pier_sync_event_task_wait_gt(event, VALUE - 1, UINT64_MAX,
						  &ret->task));
	else if (type == PIER_TASK_SYNC_WAIT_EQ)
		must(pier_sync_event_task_wait_eq(event, VALUE, UINT64_MAX,
						  &ret->task));
	else
		must(pier_sync_event_task_wait_neq(event, VALUE + 1, UINT64_MAX,
						   &ret->task));
}

static void make_notify(enum pier_task_type type, int i,
			struct overhead_task *ret)
{
	if (type == PIER_TASK_NOTIFY_SET) {
		must(pier_rdma_task_notify_set(conn, event, data(local, i),
					       &ret->task));
		return;
	}
	ret->grows = tail(local, i);
	must(type == PIER_TASK_REMOTE_GET ?
		     pier_rdma_task_remote_get(conn, event, ret->grows,
					       &ret->task) :
		     pier_rdma_task_notify_add(conn, event, ret->grows, 1,
					       &ret->task));
}

static void make_message(enum pier_task_type type, int i,
			 struct overhead_task *ret)
{
	if (type == PIER_TASK_COMCH_SEND) {
		must(pier_comch_task_send(pier_comch_conn(comch), memory[0][i],
					  SIZE, &ret->task));
		return;
	}
	if (type == PIER_TASK_COMCH_REQUEST) {
		must(pier_comch_task_request(pier_comch_conn(comch),
					     memory[0][i], SIZE, memory[0][i],
					     SIZE, &ret->task));
		return;
	}
	if (type == PIER_TASK_COMCH_PRODUCE) {
		must(pier_comch_task_produce(producer, data(local, i), NULL, 0,
					     overhead_peer_consumer(),
					     &ret->task));
		return;
	}
	ret->grows = tail(local, i);
	must(pier_comch_task_receive(consumer, ret->grows, &ret->task));
}

static const struct overhead_case {
	void (*open)(void);
	void (*make)(enum pier_task_type type, int i,
		     struct overhead_task *ret);
	enum overhead_peer peer;
} cases[] = {
	[PIER_TASK_SEND] = { open_rdma, make_send },
	[PIER_TASK_SEND_IMM] = { open_rdma, make_send },
	[PIER_TASK_RECEIVE] = { open_rdma, make_receive },
	[PIER_TASK_READ] = { open_rdma, make_read },
	[PIER_TASK_WRITE] = { open_rdma, make_write },
	[PIER_TASK_WRITE_IMM] = { open_rdma, make_write },
	[PIER_TASK_COMPARE_SWAP] = { open_rdma, make_atomic },
	[PIER_TASK_FETCH_ADD] = { open_rdma, make_atomic },
	[PIER_TASK_COPY] = { open_dma, make_copy },
	[PIER_TASK_CALL] = { open_func, make_call },
	[PIER_TASK_HASH] = { open_sha, make_hash },
	[PIER_TASK_GRAPH] = { open_graph, make_instance },
	[PIER_TASK_SYNC_GET] = { open_event, make_update },
	[PIER_TASK_SYNC_SET] = { open_event, make_update },
	[PIER_TASK_SYNC_ADD] = { open_event, make_update },
	[PIER_TASK_SYNC_WAIT_GT] = { open_event, make_wait },
	[PIER_TASK_SYNC_WAIT_EQ] = { open_event, make_wait },
	[PIER_TASK_SYNC_WAIT_NEQ] = { open_event, make_wait },
	[PIER_TASK_REMOTE_GET] = { open_far_event, make_notify },
	[PIER_TASK_NOTIFY_SET] = { open_far_event, make_notify },
	[PIER_TASK_NOTIFY_ADD] = { open_far_event, make_notify },
	[PIER_TASK_COMCH_SEND] = { open_channel, make_message,
				   OVERHEAD_PEER_RECEIVES },
	[PIER_TASK_COMCH_RECEIVE] = { open_consumer, make_message,
				      OVERHEAD_PEER_PRODUCES },
	[PIER_TASK_COMCH_PRODUCE] = { open_producer, make_message,
				      OVERHEAD_PEER_CONSUMES },
	[PIER_TASK_COMCH_REQUEST] = { open_channel, make_message,
				      OVERHEAD_PEER_RECEIVES },
};

bool overhead_make(enum pier_task_type type, struct pier_pe *engine, int count,
		   struct overhead_task *ret)
{
	if ((size_t)type >= sizeof(cases) / sizeof(cases[0]) ||
	    !cases[type].make)
		return false;
	pe = engine;
	dev = nullfabric_open(cases[type].peer);
	open_memory();
	if (cases[type].peer)
		overhead_peer_start(dev, cases[type].peer);
	cases[type].open();
	for (int i = 0; i < count; i++)
		cases[type].make(type, i, &ret[i]);
	return true;
}

void overhead_make_again(enum pier_task_type type, int i,
			 struct overhead_task *ret)
{
	if (type == PIER_TASK_GRAPH)
		must(pier_graph_task_set_task(ret->task, node, calls[i]));
	else
		cases[type].make(type, i, ret);
}
