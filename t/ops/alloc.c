/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/event.h"
#include "t/lib/failing.h"
#include "t/lib/freight.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* After a warm-up nothing is allocated or freed on the way of a task. */

#define LEN (1u << 20)
#define SMALL 64
#define BIG 40000	/* more than one packet */
#define BATCH 16
#define ROUNDS 20
#define TRIES 4
#define COMCH_SENDS 12	/* of 16 that have credits */

static struct pier_dev *dev;
static struct peer a, b;
static struct talker server, client;	/* of a Comm Channel */
static struct freight consumer, producer;
static struct pier_buf *src, *dst, *far, *tail;	/* of the length under test */
static struct pier_buf *far_tail;		/* the same */
static struct pier_buf *word;	/* of 8 bytes */
static struct pier_task *tasks[BATCH];

struct alloc_tally {
	int calls, failed;
};

static void count(struct pier_task *task, void *arg)
{
	struct alloc_tally *tally = arg;

	tally->calls++;
	tally->failed += pier_task_status(task) != 0;
}

static void send_and_receive(void)
{
	struct alloc_tally tally = { 0 };

	pier_buf_reset(dst);
	IS(pier_rdma_receive(b.rdma, dst, count, &tally), 0);
	IS(pier_rdma_send(a.conn, src, count, &tally), 0);
	OK(peer_count(&tally.calls, 2));
	IS(tally.failed, 0);
}

static void read_it(void)
{
	struct alloc_tally tally = { 0 };

	pier_buf_reset(tail);
	IS(pier_rdma_read(a.conn, far, tail, count, &tally), 0);
	OK(peer_count(&tally.calls, 1));
	IS(tally.failed, 0);
}

static void write_it(void)
{
	struct alloc_tally tally = { 0 };
	size_t len = pier_buf_data_len(far);

	pier_buf_reset(far);
	IS(pier_rdma_write(a.conn, src, far, count, &tally), 0);
	OK(peer_count(&tally.calls, 1));
	IS(tally.failed, 0);
	IS(pier_buf_data_len(far), len);
}

/* Reusable tasks, posted together; receives answer the sends. */
static void batch_of(int (*take)(struct pier_conn *, struct pier_buf *,
				 struct pier_buf *, struct pier_task **),
		     struct pier_buf *from, struct pier_buf *to)
{
	struct alloc_tally tally = { 0 };
	int i;

	for (i = 0; i < BATCH; i++) {
		pier_buf_reset(to);
		IS(take(a.conn, from, to, &tasks[i]), 0);
		pier_task_set_done(tasks[i], count, &tally);
	}
	for (i = 0; i < BATCH; i++)
		IS(pier_task_submit(tasks[i], i < BATCH - 1 ?
				    PIER_SUBMIT_MORE : 0), 0);
	OK(peer_count(&tally.calls, BATCH));
	IS(tally.failed, 0);
	for (i = 0; i < BATCH; i++)
		pier_task_free(tasks[i]);
}

static int take_send(struct pier_conn *conn, struct pier_buf *from,
		     struct pier_buf *to, struct pier_task **ret)
{
	(void)to;
	return pier_rdma_task_send(conn, from, ret);
}

static void batches(void)
{
	struct alloc_tally tally = { 0 };
	size_t len = pier_buf_data_len(far);
	int i;

	for (i = 0; i < BATCH; i++)
		IS(pier_rdma_receive(b.rdma, NULL, count, &tally), 0);
	batch_of(take_send, NULL, tail);
	OK(peer_count(&tally.calls, BATCH));
	IS(tally.failed, 0);
	pier_buf_set_data(far, pier_buf_head(far), 0);
	pier_buf_set_data(src, pier_buf_head(src), 1);
	batch_of(pier_rdma_task_write, src, far);
	pier_buf_set_data(far, pier_buf_head(far), 1);
	pier_buf_set_data(src, pier_buf_head(src), len);
	batch_of(pier_rdma_task_read, far, tail);
	pier_buf_set_data(far, pier_buf_head(far), len);
}

static void retrieved(void)
{
	struct pier_event event;
	int n = 0;

	IS(pier_rdma_receive(b.rdma, NULL, NULL, NULL), 0);
	IS(pier_rdma_send(a.conn, NULL, NULL, NULL), 0);
	OK(peer_quiet(&a));
	OK(peer_quiet(&b));
	for (; pier_pe_retrieve(a.pe, &event) == 0; n++)
		pier_task_free(event.task);
	IS(n, 2);
}

/* Run @fn some times; how many allocations and frees that were. */
static void measure(void (*fn)(void), long *allocations, long *frees)
{
	*allocations = failing_allocations();
	*frees = failing_frees();
	for (int i = 0; i < ROUNDS && tap_holds(); i++)
		fn();
	*allocations = failing_allocations() - *allocations;
	*frees = failing_frees() - *frees;
}

/*
 * Run @fn some times, then as often without a single allocation: in one of a
 * few tries, as a listener that waits for UDP port 4791 looks for it each
 * second, and allocates a socket for that.
 */
static void check(void (*fn)(void), size_t len)
{
	long allocations = 1, frees = 1;

	src = peer_data(&a, 0, len);
	tail = peer_tail(&a, LEN / 2, len);
	dst = peer_tail(&b, LEN / 2, len);
	far = peer_far_data(&a, 0, len);
	far_tail = peer_far_tail(&a, LEN / 2, len);
	word = peer_data(&a, 0, 8);
	measure(fn, &allocations, &frees);
	for (int i = 0; i < TRIES && (!i || allocations || frees); i++)
		measure(fn, &allocations, &frees);
	IS(allocations, 0);
	IS(frees, 0);
	pier_buf_put(word);
	pier_buf_put(far_tail);
	pier_buf_put(far);
	pier_buf_put(dst);
	pier_buf_put(tail);
	pier_buf_put(src);
}

static void sends_and_receives_allocate_nothing(void)
{
	check(send_and_receive, SMALL);
	check(send_and_receive, BIG);
}

static void reads_allocate_nothing(void)
{
	check(read_it, SMALL);
	check(read_it, BIG);
}

static void writes_allocate_nothing(void)
{
	check(write_it, SMALL);
	check(write_it, BIG);
}

static void batches_allocate_nothing(void)
{
	check(batches, SMALL);
}

static void retrieved_tasks_allocate_nothing(void)
{
	check(retrieved, SMALL);
}

/*
 * Every type of task, one at a time: those of an RDMA context as one shots on
 * the connection of @a, the others of contexts on its engine.
 */
static struct pier_dma *dma;
static struct pier_func *func;
static struct pier_sha *sha;
static struct pier_graph *graph, *sub;
static struct pier_task *instance, *sub_instance, *call, *sub_call;
static struct pier_sync_event *own, *ctx_event, *imported;
static struct alloc_tally one;

/* Wait for @calls tasks, of which the last one was submitted with @err. */
static void ended(int err, int calls)
{
	IS(err, 0);
	OK(peer_count(&one.calls, calls));
	IS(one.failed, 0);
	one.calls = 0;
}

/* A task that was taken with @err, if so. */
static void run_task(int err, struct pier_task *task)
{
	if (!IS(err, 0))
		return;
	pier_task_set_done(task, count, &one);
	ended(pier_task_submit(task, 0), 1);
	pier_task_free(task);
}

static void run_send_imm(void)
{
	pier_buf_reset(dst);
	IS(pier_rdma_receive(b.rdma, dst, count, &one), 0);
	ended(pier_rdma_send_imm(a.conn, src, 1, count, &one), 2);
}

static void run_write_imm(void)
{
	pier_buf_reset(far_tail);
	IS(pier_rdma_receive(b.rdma, NULL, count, &one), 0);
	ended(pier_rdma_write_imm(a.conn, src, far_tail, 1, count, &one), 2);
}

static void run_compare_swap(void)
{
	pier_buf_reset(tail);
	ended(pier_rdma_compare_swap(a.conn, far, tail, 0, 1, count, &one), 1);
}

static void run_fetch_add(void)
{
	pier_buf_reset(tail);
	ended(pier_rdma_fetch_add(a.conn, far, tail, 1, count, &one), 1);
}

static void run_copy(void)
{
	pier_buf_reset(tail);
	ended(pier_dma_copy(dma, src, tail, count, &one), 1);
}

static int return_0(void *arg)
{
	(void)arg;
	return 0;
}

static void run_call(void)
{
	ended(pier_func_call(func, return_0, NULL, count, &one), 1);
}

static void run_hash(void)
{
	pier_buf_reset(tail);
	ended(pier_sha_hash(sha, PIER_SHA_1, src, tail, count, &one), 1);
}

/* Of a task, a function and a sub-graph of such two. */
static void run_graph(void)
{
	pier_task_set_done(instance, count, &one);
	ended(pier_task_submit(instance, 0), 1);
}

static void run_sync_get(void)
{
	struct pier_task *task = NULL;
	uint64_t value;
	int err = pier_sync_event_task_get(ctx_event, &value, &task);

	run_task(err, task);
}

static void run_sync_set(void)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_set(ctx_event, 5, &task);

	run_task(err, task);
}

static void run_sync_add(void)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_add(ctx_event, 0, NULL, &task);

	run_task(err, task);
}

static void run_sync_wait_gt(void)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_wait_gt(ctx_event, 4, UINT64_MAX, &task);

	run_task(err, task);
}

static void run_sync_wait_eq(void)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_wait_eq(ctx_event, 5, UINT64_MAX, &task);

	run_task(err, task);
}

static void run_sync_wait_neq(void)
{
	struct pier_task *task = NULL;
	int err = pier_sync_event_task_wait_neq(ctx_event, 4, UINT64_MAX,
						&task);

	run_task(err, task);
}

static void run_remote_get(void)
{
	pier_buf_reset(tail);
	ended(pier_rdma_remote_get(a.conn, imported, tail, count, &one), 1);
}

static void run_notify_set(void)
{
	ended(pier_rdma_notify_set(a.conn, imported, word, count, &one), 1);
}

static void run_notify_add(void)
{
	pier_buf_reset(tail);
	ended(pier_rdma_notify_add(a.conn, imported, tail, 1, count, &one), 1);
}

/* More than has credits: some are returned meanwhile. */
static void run_comch_send(void)
{
	int want = server.received + COMCH_SENDS;

	for (int i = 0; i < COMCH_SENDS; i++)
		IS(talker_send(client.conn, 1, SMALL), 0);
	OK(talker_count(&server.received, want));
}

static void send_back(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *arg)
{
	(void)conn;
	(void)arg;
	IS(pier_comch_reply(server.comch, request, msg, len), 0);
}

/* The requests return their credits meanwhile. */
static void run_comch_request(void)
{
	char reply[SMALL];

	for (int i = 0; i < COMCH_SENDS; i++) {
		struct pier_task *task = NULL;

		IS(pier_comch_task_request(client.conn, reply, 0, reply, SMALL,
					   &task), 0);
		pier_task_set_done(task, count, &one);
		IS(pier_task_submit(task, 0), 0);
		OK(talker_count(&one.calls, 1));
		IS(pier_task_free(task), 0);
		ended(0, 1);
	}
}

static void run_produce_and_receive(void)
{
	int want = consumer.done + COMCH_SENDS;

	for (int i = 0; i < COMCH_SENDS; i++) {
		IS(freight_receive(&consumer, 0, SMALL), 0);
		IS(freight_produce(&producer, server.consumer, 1, 0, SMALL, 32),
		   0);
		OK(talker_count(&consumer.done, want - COMCH_SENDS + i + 1));
	}
	OK(talker_count(&producer.done, want));
}

static void (*const ways[])(void) = {
	[PIER_TASK_SEND] = send_and_receive,
	[PIER_TASK_SEND_IMM] = run_send_imm,
	[PIER_TASK_RECEIVE] = send_and_receive,
	[PIER_TASK_READ] = read_it,
	[PIER_TASK_WRITE] = write_it,
	[PIER_TASK_WRITE_IMM] = run_write_imm,
	[PIER_TASK_COMPARE_SWAP] = run_compare_swap,
	[PIER_TASK_FETCH_ADD] = run_fetch_add,
	[PIER_TASK_COPY] = run_copy,
	[PIER_TASK_CALL] = run_call,
	[PIER_TASK_HASH] = run_hash,
	[PIER_TASK_GRAPH] = run_graph,
	[PIER_TASK_SYNC_GET] = run_sync_get,
	[PIER_TASK_SYNC_SET] = run_sync_set,
	[PIER_TASK_SYNC_ADD] = run_sync_add,
	[PIER_TASK_SYNC_WAIT_GT] = run_sync_wait_gt,
	[PIER_TASK_SYNC_WAIT_EQ] = run_sync_wait_eq,
	[PIER_TASK_SYNC_WAIT_NEQ] = run_sync_wait_neq,
	[PIER_TASK_REMOTE_GET] = run_remote_get,
	[PIER_TASK_NOTIFY_SET] = run_notify_set,
	[PIER_TASK_NOTIFY_ADD] = run_notify_add,
	[PIER_TASK_COMCH_SEND] = run_comch_send,
	[PIER_TASK_COMCH_RECEIVE] = run_produce_and_receive,
	[PIER_TASK_COMCH_PRODUCE] = run_produce_and_receive,
	[PIER_TASK_COMCH_REQUEST] = run_comch_request,
};

/* A graph of a call, a function after it, and @inner after that. */
static bool make_graph(struct pier_graph *inner, struct pier_task *inside,
		       struct pier_graph **ret, struct pier_task **task,
		       struct pier_task **first)
{
	struct pier_graph_node *node[3];

	return IS(pier_graph_create(ret), 0) &&
	       IS(pier_graph_add_ctx(*ret, pier_func_ctx(func), &node[0]), 0) &&
	       IS(pier_graph_add_user(*ret, return_0, &node[1]), 0) &&
	       IS(pier_graph_add_dependency(*ret, node[0], node[1]), 0) &&
	       (!inner ||
		(IS(pier_graph_add_graph(*ret, inner, &node[2]), 0) &&
		 IS(pier_graph_add_dependency(*ret, node[1], node[2]), 0))) &&
	       IS(pier_ctx_start(pier_graph_ctx(*ret), a.pe), 0) &&
	       IS(pier_graph_task(*ret, task), 0) &&
	       IS(pier_func_task_call(func, return_0, NULL, first), 0) &&
	       IS(pier_graph_task_set_task(*task, node[0], *first), 0) &&
	       (!inner ||
		IS(pier_graph_task_set_task(*task, node[2], inside), 0));
}

static bool open_graph(void)
{
	return make_graph(NULL, NULL, &sub, &sub_instance, &sub_call) &&
	       make_graph(sub, sub_instance, &graph, &instance, &call);
}

static bool open_events(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};

	own = event_own(dev, 0);
	imported = event_import(own);
	return IS(pier_sync_event_create(&ctx_event), 0) &&
	       IS(pier_sync_event_configure(ctx_event, &cfg), 0) &&
	       IS(pier_ctx_start(pier_sync_event_ctx(ctx_event), a.pe), 0) &&
	       IS(pier_sync_event_set(ctx_event, 5), 0);
}

static bool open_contexts(void)
{
	return IS(pier_dma_create(dev, &dma), 0) &&
	       IS(pier_ctx_start(pier_dma_ctx(dma), a.pe), 0) &&
	       IS(pier_func_create(&func), 0) &&
	       IS(pier_ctx_start(pier_func_ctx(func), a.pe), 0) &&
	       IS(pier_sha_create(&sha), 0) &&
	       IS(pier_ctx_start(pier_sha_ctx(sha), a.pe), 0) &&
	       open_graph() && open_events() &&
	       talker_pair(&server, &client, dev, NULL) &&
	       IS(pier_comch_set_request_callbacks(server.comch, send_back,
						   NULL), 0) &&
	       freight_consumer(&consumer, dev, client.conn, SMALL, NULL,
				NULL) &&
	       freight_producer(&producer, dev, server.conn, SMALL, NULL,
				NULL) &&
	       freight_start(&consumer) && freight_start(&producer) &&
	       talker_count(&server.consumers, 1);
}

static void close_contexts(void)
{
	pier_task_free(call);
	pier_task_free(instance);
	pier_task_free(sub_call);
	pier_task_free(sub_instance);
	pier_graph_destroy(graph);
	pier_graph_destroy(sub);
	pier_sync_event_destroy(imported);
	pier_sync_event_destroy(own);
	pier_sync_event_destroy(ctx_event);
	pier_sha_destroy(sha);
	pier_func_destroy(func);
	pier_dma_destroy(dma);
	freight_close(&producer);
	freight_close(&consumer);
	talker_unpair(&server, &client);
}

static void check_type(enum pier_task_type type)
{
	if (pier_devinfo_can_task(pier_dev_info(dev), type))
		return;
	if ((size_t)type < sizeof(ways) / sizeof(ways[0]) &&
	    OK(ways[type]))
		check(ways[type], SMALL);
	else
		OK(!"a type that is not here");
	if (!tap_holds())
		tap_note("%s", pier_task_type_key(type));
}

static void no_type_of_task_allocates_anything(void)
{
	int type = 0;

	if (open_contexts())
		for (; strcmp(pier_task_type_key((enum pier_task_type)type),
			      "unknown"); type++)
			check_type((enum pier_task_type)type);
	OK(type > PIER_TASK_COMCH_REQUEST);
	close_contexts();
}

static void allocations_are_seen_at_all(void)
{
	long allocations = failing_allocations();
	struct pier_pe *pe;

	OK(allocations > 0);
	IS(pier_pe_create(&pe), 0);
	OK(failing_allocations() > allocations);
	pier_pe_destroy(pe);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return tap_done();
	TEST(allocations_are_seen_at_all);
	TEST(sends_and_receives_allocate_nothing);
	TEST(reads_allocate_nothing);
	TEST(writes_allocate_nothing);
	TEST(batches_allocate_nothing);
	TEST(retrieved_tasks_allocate_nothing);
	TEST(no_type_of_task_allocates_anything);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
