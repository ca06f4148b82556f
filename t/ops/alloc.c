/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/failing.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* After a warm-up nothing is allocated or freed on the way of a task. */

#define LEN (1u << 20)
#define SMALL 64
#define BIG 40000	/* more than one packet */
#define BATCH 16
#define ROUNDS 20

static struct pier_dev *dev;
static struct peer a, b;
static struct pier_buf *src, *dst, *far, *tail;	/* of the length under test */
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

/* Run @fn some times, then as often without a single allocation. */
static void check(void (*fn)(void), size_t len)
{
	long allocations, frees;
	int i;

	src = peer_data(&a, 0, len);
	tail = peer_tail(&a, LEN / 2, len);
	dst = peer_tail(&b, LEN / 2, len);
	far = peer_far_data(&a, 0, len);
	for (i = 0; i < ROUNDS && tap_holds(); i++)
		fn();
	allocations = failing_allocations();
	frees = failing_frees();
	for (i = 0; i < ROUNDS && tap_holds(); i++)
		fn();
	IS(failing_allocations(), allocations);
	IS(failing_frees(), frees);
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

static int return_0(void *arg)
{
	(void)arg;
	return 0;
}

/* A graph of two functions, one as a task. */
static struct pier_task *instance, *call;

static void run_graph(void)
{
	struct alloc_tally tally = { 0 };

	pier_task_set_done(instance, count, &tally);
	IS(pier_task_submit(instance, 0), 0);
	OK(peer_count(&tally.calls, 1));
	IS(tally.failed, 0);
}

static void graphs_allocate_nothing(void)
{
	struct pier_graph_node *node[2];
	struct pier_graph *graph;
	struct pier_func *func;

	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), a.pe), 0);
	IS(pier_graph_create(&graph), 0);
	IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &node[0]), 0);
	IS(pier_graph_add_user(graph, return_0, &node[1]), 0);
	IS(pier_graph_add_dependency(graph, node[0], node[1]), 0);
	IS(pier_ctx_start(pier_graph_ctx(graph), a.pe), 0);
	IS(pier_graph_task(graph, &instance), 0);
	IS(pier_func_task_call(func, return_0, NULL, &call), 0);
	IS(pier_graph_task_set_task(instance, node[0], call), 0);
	if (tap_holds())
		check(run_graph, SMALL);
	pier_task_free(call);
	pier_task_free(instance);
	pier_graph_destroy(graph);
	pier_func_destroy(func);
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
	TEST(graphs_allocate_nothing);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
