/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/event.h"
#include "t/lib/failing.h"
#include "t/lib/freight.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * The message of a task that fails, of every kind of context: "CONTEXT: TYPE:
 * REASON", in its callback, after it was waited for, and in the task itself.
 */

#define SHORT_MS 20
#define SIZE 64

static struct pier_dev *dev;
static struct copier c;

/* What the callback found. */
struct outcome {
	int calls, status;
	char text[512];
};

static void ended(struct pier_task *task, void *arg)
{
	struct outcome *outcome = arg;

	outcome->calls++;
	outcome->status = pier_task_status(task);
	snprintf(outcome->text, sizeof(outcome->text), "%s",
		 pier_last_error());
}

/* Does @text begin with @prefix, once, and end with @reason? */
static void has_shape(const char *text, const char *prefix, const char *reason)
{
	size_t len = strlen(prefix), rest = strlen(reason);

	if (!OK(!strncmp(text, prefix, len)) ||
	    !OK(strncmp(text + len, prefix, len)) ||
	    !OK(strlen(text) >= len + rest) ||
	    !IS_STR(text + strlen(text) - rest, reason))
		tap_note("%s", text);
}

/* Run @task, which fails with @status; nothing is allocated for that. */
static void fails(struct pier_task *task, int status, const char *prefix,
		  const char *reason)
{
	struct outcome outcome = { 0 };
	long allocations = failing_allocations();

	pier_task_set_done(task, ended, &outcome);
	IS(pier_task_run(task, LIMIT_MS), status);
	IS(failing_allocations(), allocations);
	has_shape(pier_last_error(), prefix, reason);
	IS(outcome.calls, 1);
	IS(outcome.status, status);
	IS_STR(outcome.text, pier_last_error());
	IS_STR(pier_task_error_text(task), pier_last_error());
}

/* The same of one that is waited for in vain. */
static void times_out(struct pier_task *task, const char *prefix,
		      const char *reason)
{
	struct outcome outcome = { 0 };

	pier_task_set_done(task, ended, &outcome);
	IS(pier_task_run(task, SHORT_MS), -ETIMEDOUT);
	has_shape(pier_last_error(), prefix, reason);
	LIKE(pier_last_error() + strlen(prefix), "not finished after 20 ms: ");
	IS(outcome.status, -ECANCELED);
	has_shape(outcome.text, prefix, reason);
	IS_STR(pier_task_error_text(task), outcome.text);
}

static void a_copy_names_its_context_and_itself(void)
{
	struct pier_buf *none, *dst;
	struct pier_task *task;

	if (!copier_open(&c, dev, NULL, SIZE))
		return;
	none = copier_data(&c, 0, 0);
	dst = copier_tail(&c, 0, 8);
	IS(pier_dma_task_copy(c.dma, none, dst, &task), 0);
	fails(task, -EINVAL, "dma: copy: ", "the source has no data: "
	      "set it by pier_buf_set_data()");
	IS(pier_task_try_submit(task, 0), -EINVAL);
	IS_STR(pier_last_error(), "dma: copy: the source has no data: "
	       "set it by pier_buf_set_data()");
	IS(pier_ctx_stop_wait(c.ctx, LIMIT_MS), 0);
	IS(pier_task_submit(task, 0), -ESHUTDOWN);
	IS_STR(pier_last_error(), "dma: copy: the context is idle");
	IS(pier_task_free(task), 0);
	pier_buf_put(none);
	pier_buf_put(dst);
	copier_close(&c);
}

static void a_digest_names_its_context_and_itself(void)
{
	struct pier_buf *src, *dst;
	struct pier_task *task;
	struct pier_sha *sha;

	if (!copier_open(&c, dev, NULL, SIZE))
		return;
	src = copier_data(&c, 0, SIZE);
	dst = copier_tail(&c, 0, 8);
	IS(pier_sha_create(&sha), 0);
	IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0);
	IS(pier_sha_task_hash(sha, PIER_SHA_1, src, dst, &task), 0);
	fails(task, -EMSGSIZE, "sha: hash: ", "20 bytes, the tail "
	      "space of the destination is 8");
	IS(pier_task_free(task), 0);
	pier_sha_destroy(sha);
	pier_buf_put(src);
	pier_buf_put(dst);
	copier_close(&c);
}

static int fail_io(void *arg)
{
	(void)arg;
	return -EIO;
}

static int again(void *arg)
{
	(void)arg;
	return -EAGAIN;
}

/* A graph of @sub, or of a call of @func. */
static struct pier_graph *make_graph(struct pier_func *func,
				     struct pier_graph *sub,
				     struct pier_graph_node **node)
{
	struct pier_graph *graph = NULL;

	IS(pier_graph_create(&graph), 0);
	IS(sub ? pier_graph_add_graph(graph, sub, node) :
		 pier_graph_add_ctx(graph, pier_func_ctx(func), node), 0);
	IS(pier_ctx_start(pier_graph_ctx(graph), c.pe), 0);
	return graph;
}

static void a_function_names_its_context_and_itself(void)
{
	struct pier_func *func;
	struct pier_task *task;

	if (!copier_open(&c, dev, NULL, SIZE))
		return;
	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0);
	IS(pier_func_task_call(func, fail_io, NULL, &task), 0);
	fails(task, -EIO, "func: call: ", pier_strerror(-EIO));
	IS(pier_func_task_set(task, again, NULL), 0);
	times_out(task, "func: call: ", "cancelled");
	IS(pier_task_free(task), 0);
	pier_func_destroy(func);
	copier_close(&c);
}

/* However deep it is, the message has each name once. */
static void an_instance_names_its_graph_and_what_failed(void)
{
	static const char prefix[] = "graph: func: call: ";
	struct pier_graph_node *inner_node, *outer_node;
	struct pier_task *call, *task, *sub;
	struct pier_graph *inner, *outer;
	struct pier_func *func;

	if (!copier_open(&c, dev, NULL, SIZE))
		return;
	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0);
	inner = make_graph(func, NULL, &inner_node);
	outer = make_graph(func, inner, &outer_node);
	IS(pier_func_task_call(func, fail_io, NULL, &call), 0);
	IS(pier_graph_task(inner, &sub), 0);
	IS(pier_task_submit(sub, 0), -EINVAL);
	IS_STR(pier_last_error(), "graph: node 0 has no task");
	IS(pier_graph_task_set_task(sub, inner_node, call), 0);
	fails(sub, -EIO, prefix, pier_strerror(-EIO));
	IS(pier_graph_task(outer, &task), 0);
	IS(pier_graph_task_set_task(task, outer_node, sub), 0);
	fails(task, -EIO, prefix, pier_strerror(-EIO));
	IS(pier_func_task_set(call, again, NULL), 0);
	times_out(task, "graph: ", "cancelled");
	IS(pier_task_free(task), 0);
	IS(pier_task_free(sub), 0);
	IS(pier_task_free(call), 0);
	pier_graph_destroy(outer);
	pier_graph_destroy(inner);
	pier_func_destroy(func);
	copier_close(&c);
}

static void a_wait_for_an_event_names_its_context_and_itself(void)
{
	static const char prefix[] = "sync event wait for equal: ";
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};
	struct pier_sync_event *event;
	struct pier_task *task;

	if (!copier_open(&c, dev, NULL, SIZE))
		return;
	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_ctx_start(pier_sync_event_ctx(event), c.pe), 0);
	IS(pier_sync_event_task_wait_eq(event, 1, 1, &task), 0);
	times_out(task, prefix, "cancelled");
	IS(pier_task_free(task), 0);
	pier_sync_event_destroy(event);
	copier_close(&c);
}

/* Fails in submit, and is cancelled when its context stops. */
static void a_receive_names_its_context_and_itself(void)
{
	struct outcome outcome = { 0 };
	struct pier_task *task, *send;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, SIZE))
		return;
	IS(pier_rdma_task_receive(b.rdma, NULL, &task), 0);
	pier_task_set_done(task, ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS_STR(pier_last_error(), "rdma: receive: submitted twice");
	IS(pier_rdma_task_send(b.conn, NULL, &send), 0);
	IS(pier_ctx_stop_wait(pier_rdma_ctx(b.rdma), LIMIT_MS), 0);
	IS(outcome.status, -ECANCELED);
	has_shape(outcome.text, "rdma: receive: ", "the context stops");
	IS_STR(pier_task_error_text(task), outcome.text);
	IS(pier_task_run(send, LIMIT_MS), -ESHUTDOWN);
	IS_STR(pier_last_error(), "rdma: send: the context is idle");
	IS(pier_task_free(send), 0);
	IS(pier_task_free(task), 0);
	peer_unpair(&a, &b);
}

/* A message for which there is too little space, at both ends. */
static void a_send_names_its_context_and_itself(void)
{
	struct outcome sent = { 0 }, received = { 0 };
	struct pier_buf *src, *dst;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, SIZE))
		return;
	src = peer_data(&a, 0, SIZE);
	dst = peer_tail(&b, 0, SIZE / 2);
	IS(pier_rdma_receive(b.rdma, dst, ended, &received), 0);
	IS(pier_rdma_send(a.conn, src, ended, &sent), 0);
	OK(peer_count(&sent.calls, 1));
	OK(peer_count(&received.calls, 1));
	OK(sent.status < 0);
	has_shape(sent.text, "rdma: send: ", "");
	OK(received.status < 0);
	has_shape(received.text, "rdma: receive: ", "");
	pier_buf_put(src);
	pier_buf_put(dst);
	peer_unpair(&a, &b);
}

static void a_message_names_its_context_and_itself(void)
{
	static const char send[] = "comch send: ";
	static const char receive[] = "comch consumer: comch receive: ";
	static const char produce[] = "comch producer: comch produce: ";
	static const char text[PIER_COMCH_MESSAGE_MAX + 1];
	struct freight consumer, producer;
	struct talker server, client;
	struct pier_task *task;

	if (!talker_pair(&server, &client, dev, NULL) ||
	    !freight_pair(&producer, &server, &consumer, &client, dev, SIZE,
			  NULL))
		return;
	IS(pier_comch_task_send(client.conn, text, sizeof(text), &task), 0);
	IS(pier_task_submit(task, 0), -EMSGSIZE);
	has_shape(pier_last_error(), send, "");
	IS(pier_task_free(task), 0);
	IS(pier_comch_task_produce(producer.producer, NULL, "m", 1,
				   server.consumer, &task), 0);
	times_out(task, produce, "");
	IS(pier_task_free(task), 0);
	IS(freight_receive(&consumer, 0, SIZE), 0);
	IS(pier_ctx_stop(consumer.ctx), -EINPROGRESS);
	OK(talker_count(&consumer.failed, 1));
	has_shape(consumer.text, receive, "");
	freight_unpair(&producer, &server, &consumer, &client);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_copy_names_its_context_and_itself);
	TEST(a_digest_names_its_context_and_itself);
	TEST(a_function_names_its_context_and_itself);
	TEST(an_instance_names_its_graph_and_what_failed);
	TEST(a_wait_for_an_event_names_its_context_and_itself);
	TEST(a_receive_names_its_context_and_itself);
	TEST(a_send_names_its_context_and_itself);
	TEST(a_message_names_its_context_and_itself);
	pier_dev_close(dev);
	return tap_done();
}
