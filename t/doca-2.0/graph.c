/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_sha.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* Graphs of DOCA 2.0: a copy and a digest, then a function. */

#define LEN 64

static struct desk desk;
static struct doca_dma *dma;
static struct doca_sha *sha;
static struct doca_graph *graph;
static struct doca_graph_node *copy, *hash, *user;
static struct doca_graph_instance *instance;
static struct doca_buf *text, *to, *digest;
static struct doca_dma_job_memcpy copy_job;
static struct doca_sha_job hash_job;
static int calls;
static doca_error_t answer;

static doca_error_t compare(void *cookie)
{
	calls++;
	OK(cookie == &calls);
	IS(memcmp(desk.memory, desk.memory + 4096, LEN), 0);
	return answer;
}

static void open_graph(void)
{
	desk_open(&desk);
	IS(doca_dma_create(&dma), DOCA_SUCCESS);
	IS(doca_sha_create(&sha), DOCA_SUCCESS);
	desk_add(&desk, doca_dma_as_ctx(dma));
	desk_add(&desk, doca_sha_as_ctx(sha));
	IS(doca_graph_create(&graph), DOCA_SUCCESS);
	IS(doca_graph_ctx_node_create(graph, doca_dma_as_ctx(dma), &copy),
	   DOCA_SUCCESS);
	IS(doca_graph_ctx_node_create(graph, doca_sha_as_ctx(sha), &hash),
	   DOCA_SUCCESS);
	IS(doca_graph_user_node_create(graph, compare, &user), DOCA_SUCCESS);
	IS(doca_graph_add_dependency(graph, copy, user), DOCA_SUCCESS);
	IS(doca_graph_add_dependency(graph, hash, user), DOCA_SUCCESS);
}

static void take_buffers(void)
{
	memset(desk.memory, 'x', LEN);
	text = desk_data(&desk, 0, LEN);
	to = desk_space(&desk, 4096, LEN);
	digest = desk_space(&desk, 6000, 2 * DOCA_SHA256_BYTE_COUNT);
	copy_job = (struct doca_dma_job_memcpy){
		.base = { .type = DOCA_DMA_JOB_MEMCPY,
			  .ctx = doca_dma_as_ctx(dma) },
		.src_buff = text,
		.dst_buff = to,
	};
	hash_job = (struct doca_sha_job){
		.base = { .type = DOCA_SHA_JOB_SHA256,
			  .ctx = doca_sha_as_ctx(sha) },
		.req_buf = text,
		.resp_buf = digest,
	};
}

static void begin(void)
{
	open_graph();
	take_buffers();
	calls = 0;
	answer = DOCA_SUCCESS;
	IS(doca_graph_start(graph), DOCA_SUCCESS);
	IS(doca_graph_workq_add(graph, desk.workq), DOCA_SUCCESS);
	IS(doca_graph_instance_create(graph, &instance), DOCA_SUCCESS);
	IS(doca_graph_instance_set_ctx_node_data(instance, copy,
						 &copy_job.base),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_ctx_node_data(instance, hash,
						 &hash_job.base),
	   DOCA_SUCCESS);
	IS(doca_graph_instance_set_user_node_data(instance, user, &calls),
	   DOCA_SUCCESS);
}

static void close_graph(void)
{
	IS(doca_graph_destroy(graph), DOCA_SUCCESS);
	desk_rm(&desk, doca_sha_as_ctx(sha));
	desk_rm(&desk, doca_dma_as_ctx(dma));
	IS(doca_sha_destroy(sha), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	desk_close(&desk);
}

static void end(void)
{
	IS(doca_graph_workq_rm(graph, desk.workq), DOCA_SUCCESS);
	IS(doca_graph_stop(graph), DOCA_SUCCESS);
	IS(doca_graph_instance_destroy(instance), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(text, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(to, NULL), DOCA_SUCCESS);
	IS(doca_buf_refcount_rm(digest, NULL), DOCA_SUCCESS);
	close_graph();
}

static doca_error_t submit(struct doca_graph_instance *what)
{
	return doca_workq_graph_submit(desk.workq, what,
				       (union doca_data){ .u64 = 17 });
}

/* The event of an instance. */
static doca_error_t ended(void)
{
	struct doca_event event = { 0 };
	doca_error_t error = desk_retrieve(&desk, &event);

	IS(event.type, DOCA_GRAPH_JOB);
	IS(event.user_data.u64, 17);
	IS(error, event.result.u64 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
	return event.result.u64;
}

static void an_instance_runs_its_nodes_in_order(void)
{
	size_t len = 0;

	begin();
	IS(submit(instance), DOCA_SUCCESS);
	IS(ended(), DOCA_SUCCESS);
	IS(calls, 1);
	IS(doca_buf_get_data_len(digest, &len), DOCA_SUCCESS);
	IS(len, DOCA_SHA256_BYTE_COUNT);
	IS(doca_buf_reset_data_len(to), DOCA_SUCCESS);
	IS(submit(instance), DOCA_SUCCESS);
	IS(ended(), DOCA_SUCCESS);
	IS(calls, 2);
	end();
}

static void a_failure_is_that_of_the_instance(void)
{
	begin();
	answer = DOCA_ERROR_UNEXPECTED;
	IS(submit(instance), DOCA_SUCCESS);
	IS(ended(), DOCA_ERROR_IO_FAILED);
	IS(submit(instance), DOCA_SUCCESS);	/* there is no tail space */
	IS(ended(), DOCA_ERROR_INVALID_VALUE);
	IS(calls, 1);
	end();
}

static void one_that_is_submitted_is_left_alone(void)
{
	begin();
	IS(submit(instance), DOCA_SUCCESS);
	IS(submit(instance), DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_set_user_node_data(instance, user, NULL),
	   DOCA_ERROR_IN_USE);
	IS(ended(), DOCA_SUCCESS);
	end();
}

static void data_is_that_of_the_node(void)
{
	struct doca_graph_instance *other;

	begin();
	IS(doca_graph_instance_set_ctx_node_data(instance, copy,
						 &hash_job.base),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_instance_set_user_node_data(instance, copy, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_instance_set_sub_graph_node_data(instance, copy,
						       instance),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_instance_create(graph, &other), DOCA_SUCCESS);
	IS(submit(other), DOCA_ERROR_INVALID_VALUE);
	IS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	IS(doca_graph_instance_destroy(other), DOCA_SUCCESS);
	end();
}

static void it_changes_before_its_start_only(void)
{
	struct doca_graph_node *node;

	begin();
	IS(doca_graph_user_node_create(graph, compare, &node),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_graph_add_dependency(graph, copy, hash), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	IS(doca_graph_destroy(graph), DOCA_ERROR_BAD_STATE);
	end();
}

static void a_circle_does_not_start(void)
{
	open_graph();
	IS(doca_graph_add_dependency(graph, user, copy), DOCA_SUCCESS);
	IS(doca_graph_start(graph), DOCA_ERROR_INVALID_VALUE);
	close_graph();
}

static void a_context_without_a_work_queue_does_not_start(void)
{
	struct doca_graph_node *node;
	struct doca_dma *other;

	open_graph();
	IS(doca_dma_create(&other), DOCA_SUCCESS);
	IS(doca_graph_ctx_node_create(graph, doca_dma_as_ctx(other), &node),
	   DOCA_SUCCESS);
	IS(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	IS(doca_dma_destroy(other), DOCA_SUCCESS);
	close_graph();
}

/* The outer graph has the inner one as its only node. */
static void a_graph_runs_in_another(void)
{
	struct doca_graph *outer;
	struct doca_graph_node *node;
	struct doca_graph_instance *run;

	begin();
	IS(doca_graph_create(&outer), DOCA_SUCCESS);
	IS(doca_graph_sub_graph_node_create(outer, graph, &node),
	   DOCA_SUCCESS);
	IS(doca_graph_start(outer), DOCA_SUCCESS);
	IS(doca_graph_workq_add(outer, desk.workq), DOCA_SUCCESS);
	IS(doca_graph_instance_create(outer, &run), DOCA_SUCCESS);
	IS(doca_graph_instance_set_sub_graph_node_data(run, node, instance),
	   DOCA_SUCCESS);
	IS(submit(run), DOCA_SUCCESS);
	IS(ended(), DOCA_SUCCESS);
	IS(calls, 1);
	IS(doca_graph_workq_rm(outer, desk.workq), DOCA_SUCCESS);
	IS(doca_graph_stop(outer), DOCA_SUCCESS);
	IS(doca_graph_instance_destroy(run), DOCA_SUCCESS);
	IS(doca_graph_destroy(outer), DOCA_SUCCESS);
	end();
}

int main(void)
{
	TEST(an_instance_runs_its_nodes_in_order);
	TEST(a_failure_is_that_of_the_instance);
	TEST(one_that_is_submitted_is_left_alone);
	TEST(data_is_that_of_the_node);
	TEST(it_changes_before_its_start_only);
	TEST(a_circle_does_not_start);
	TEST(a_context_without_a_work_queue_does_not_start);
	TEST(a_graph_runs_in_another);
	return tap_done();
}
