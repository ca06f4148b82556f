/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/freight.h"
#include "t/lib/graphs.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* A task in flight is not freed, of whatever type it is. */

#define LEN 4096
#define IN_FLIGHT "freed in flight"

static struct pier_dev *dev;

static void count(struct pier_task *task, void *arg)
{
	IS(pier_task_status(task), 0);
	++*(int *)arg;
}

/* Submit @task; free it in vain.  @name is of its context and type. */
static void submit(struct pier_task *task, const char *name, int *calls)
{
	*calls = 0;
	pier_task_set_done(task, count, calls);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_free(task), -EBUSY);
	LIKE(pier_last_error(), name);
	LIKE(pier_last_error(), IN_FLIGHT);
	IS(pier_task_status(task), -EINPROGRESS);
}

/* It has finished as if nothing had been tried, and is freed once. */
static void over(struct pier_task *task, const int *calls)
{
	IS(*calls, 1);
	IS(pier_task_status(task), 0);
	IS(pier_task_free(task), 0);
	IS(pier_task_free(task), -EINVAL);
	LIKE(pier_last_error(), "freed twice");
}

static void rdma_tasks_in_flight_are_not_freed(void)
{
	struct pier_buf *data, *tail, *far, *local;
	struct pier_task *send, *recv, *read;
	int calls[3];
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	data = peer_data(&a, 0, 8);
	tail = peer_tail(&b, 0, 8);
	far = peer_far_data(&a, 64, 8);
	local = peer_tail(&a, 64, 8);
	IS(pier_rdma_task_receive(b.rdma, tail, &recv), 0);
	IS(pier_rdma_task_send(a.conn, data, &send), 0);
	IS(pier_rdma_task_read(a.conn, far, local, &read), 0);
	submit(recv, "rdma: receive", &calls[0]);
	submit(send, "rdma: send", &calls[1]);
	submit(read, "rdma: read", &calls[2]);
	for (int i = 0; i < 3; i++)
		OK(peer_count(&calls[i], 1));
	over(recv, &calls[0]);
	over(send, &calls[1]);
	over(read, &calls[2]);
	pier_buf_put(data);
	pier_buf_put(tail);
	pier_buf_put(far);
	pier_buf_put(local);
	peer_unpair(&a, &b);
}

static void copies_in_flight_are_not_freed(void)
{
	struct pier_buf *src, *dst;
	struct pier_task *task;
	struct copier c;
	int calls;

	if (!copier_open(&c, dev, NULL, LEN))
		return;
	memset(c.src, 'x', LEN);
	src = copier_data(&c, 0, LEN);
	dst = copier_tail(&c, 0, LEN);
	IS(pier_dma_task_copy(c.dma, src, dst, &task), 0);
	submit(task, "dma: copy", &calls);
	OK(copier_count(&c, &calls, 1));
	OK(!memcmp(c.src, c.dst, LEN));
	over(task, &calls);
	pier_buf_put(src);
	pier_buf_put(dst);
	copier_close(&c);
}

static int return_0(void *arg)
{
	(void)arg;
	return 0;
}

static void calls_and_digests_in_flight_are_not_freed(void)
{
	struct pier_task *call, *hash;
	struct pier_buf *src, *dst;
	struct pier_func *func;
	struct pier_sha *sha;
	struct copier c;
	int calls[2];

	if (!copier_open(&c, dev, NULL, LEN) ||
	    !IS(pier_func_create(&func), 0) || !IS(pier_sha_create(&sha), 0) ||
	    !IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0) ||
	    !IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0))
		return;
	src = copier_data(&c, 0, LEN);
	dst = copier_tail(&c, 0, LEN);
	IS(pier_func_task_call(func, return_0, NULL, &call), 0);
	IS(pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &hash), 0);
	submit(call, "func: call", &calls[0]);
	submit(hash, "sha: hash", &calls[1]);
	OK(copier_count(&c, &calls[0], 1));
	OK(copier_count(&c, &calls[1], 1));
	over(call, &calls[0]);
	over(hash, &calls[1]);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_sha_destroy(sha);
	pier_func_destroy(func);
	copier_close(&c);
}

static void instances_of_graphs_in_flight_are_not_freed(void)
{
	struct pier_graph_node *node;
	struct pier_task *task, *copy;
	int calls;

	if (!graphs_open(dev))
		return;
	node = graphs_ctx_node(graphs.c.ctx);
	if (!graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	copy = graphs_copy(0);
	IS(pier_graph_task_set_task(task, node, copy), 0);
	submit(task, "graph", &calls);
	OK(copier_count(&graphs.c, &calls, 1));
	over(task, &calls);
	IS(pier_task_free(copy), 0);
	graphs_put();
	graphs_close();
}

/* One that waits may be given another callback, which frees it. */
static void free_it(struct pier_task *task, void *arg)
{
	IS(pier_task_status(task), -ECANCELED);
	IS(pier_task_free(task), 0);
	++*(int *)arg;
}

static void waits_for_events_end_when_their_context_stops(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};
	struct pier_sync_event *event;
	struct pier_task *wait, *set;
	struct pier_pe *pe;
	int calls, freed = 0;

	if (!IS(pier_pe_create(&pe), 0) ||
	    !IS(pier_sync_event_create(&event), 0) ||
	    !IS(pier_sync_event_configure(event, &cfg), 0) ||
	    !IS(pier_ctx_start(pier_sync_event_ctx(event), pe), 0))
		return;
	IS(pier_sync_event_task_set(event, 1, &set), 0);
	IS(pier_sync_event_task_wait_eq(event, 2, UINT64_MAX, &wait), 0);
	submit(wait, "sync event wait for equal", &calls);
	submit(set, "sync event set", &calls);
	while (!calls && pier_pe_progress(pe, 0) >= 0)
		;
	over(set, &calls);
	IS(pier_task_free(wait), -EBUSY);
	pier_task_set_done(wait, free_it, &freed);
	IS(pier_ctx_stop_wait(pier_sync_event_ctx(event), LIMIT_MS), 0);
	IS(freed, 1);
	IS(pier_task_free(wait), -EINVAL);
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
}

static void messages_in_flight_are_not_freed(void)
{
	static struct talker server, client;
	struct pier_task *task;
	int calls;

	if (!talker_pair(&server, &client, dev, NULL))
		return;
	IS(pier_comch_task_send(client.conn, "hello", 5, &task), 0);
	submit(task, "comch send", &calls);
	OK(talker_count(&calls, 1));
	OK(talker_count(&server.received, 1));
	over(task, &calls);
	talker_unpair(&server, &client);
}

static void tasks_of_consumers_and_producers_in_flight_are_not_freed(void)
{
	static struct talker server, client;
	static struct freight consumer, producer;
	struct pier_task *produce, *recv;
	int calls[2];

	if (!talker_pair(&server, &client, dev, NULL) ||
	    !freight_consumer(&consumer, dev, client.conn, LEN, NULL, NULL) ||
	    !freight_producer(&producer, dev, server.conn, LEN, NULL, NULL) ||
	    !freight_start(&producer) || !freight_start(&consumer) ||
	    !talker_count(&server.consumers, 1))
		return;
	IS(pier_comch_task_produce(producer.producer, NULL, "x", 1,
				   server.consumer, &produce), 0);
	IS(pier_comch_task_receive(consumer.consumer, NULL, &recv), 0);
	submit(produce, "comch produce", &calls[0]);
	submit(recv, "comch receive", &calls[1]);
	OK(talker_count(&calls[0], 1));
	OK(talker_count(&calls[1], 1));
	over(produce, &calls[0]);
	over(recv, &calls[1]);
	freight_close(&producer);
	freight_close(&consumer);
	talker_unpair(&server, &client);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(rdma_tasks_in_flight_are_not_freed);
	TEST(copies_in_flight_are_not_freed);
	TEST(calls_and_digests_in_flight_are_not_freed);
	TEST(instances_of_graphs_in_flight_are_not_freed);
	TEST(waits_for_events_end_when_their_context_stops);
	TEST(messages_in_flight_are_not_freed);
	TEST(tasks_of_consumers_and_producers_in_flight_are_not_freed);
	pier_dev_close(dev);
	return tap_done();
}
