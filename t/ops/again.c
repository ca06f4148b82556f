/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/talker.h"
#include "t/lib/tap.h"

/* Objects that may be configured and started again, in one table. */

#define RUNS 3
#define TASKS_MAX 8

static struct pier_dev *dev;
static struct pier_pe *pe;	/* of what has no talker */
static struct talker server, client;

static struct pier_rdma *rdma;
static struct pier_dma *dma;
static struct pier_sha *sha;
static struct pier_func *func;
static struct pier_graph *graph;
static struct pier_comch_consumer *consumer;
static struct pier_comch_producer *producer;

struct startable {
	struct pier_ctx *(*create)(void);	/* NULL: it failed */
	int (*configure)(uint32_t tasks);
	int (*take)(struct pier_task **ret);
	void (*destroy)(void);
	bool (*join)(void);	/* when it runs; NULL: nothing */
	void (*part)(void);	/* before it stops */
};

static struct pier_ctx *rdma_create(void)
{
	return IS(pier_rdma_create(dev, &rdma), 0) ? pier_rdma_ctx(rdma) : NULL;
}

static int rdma_configure(uint32_t tasks)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.recv_tasks = tasks };

	return pier_rdma_configure(rdma, &cfg);
}

static int rdma_take(struct pier_task **ret)
{
	return pier_rdma_task_receive(rdma, NULL, ret);
}

static void rdma_destroy(void)
{
	pier_rdma_destroy(rdma);
}

static struct pier_ctx *dma_create(void)
{
	return IS(pier_dma_create(dev, &dma), 0) ? pier_dma_ctx(dma) : NULL;
}

static int dma_configure(uint32_t tasks)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_dma_configure(dma, &cfg);
}

static int dma_take(struct pier_task **ret)
{
	return pier_dma_task_copy(dma, NULL, NULL, ret);
}

static void dma_destroy(void)
{
	pier_dma_destroy(dma);
}

static struct pier_ctx *sha_create(void)
{
	return IS(pier_sha_create(&sha), 0) ? pier_sha_ctx(sha) : NULL;
}

static int sha_configure(uint32_t tasks)
{
	struct pier_sha_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_sha_configure(sha, &cfg);
}

static int sha_take(struct pier_task **ret)
{
	return pier_sha_task_hash(sha, PIER_SHA_256, NULL, NULL, ret);
}

static void sha_destroy(void)
{
	pier_sha_destroy(sha);
}

static struct pier_ctx *func_create(void)
{
	return IS(pier_func_create(&func), 0) ? pier_func_ctx(func) : NULL;
}

static int func_configure(uint32_t tasks)
{
	struct pier_func_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_func_configure(func, &cfg);
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static int func_take(struct pier_task **ret)
{
	return pier_func_task_call(func, nothing, NULL, ret);
}

static void func_destroy(void)
{
	pier_func_destroy(func);
}

/* Its one node has a context that runs. */
static struct pier_ctx *graph_create(void)
{
	struct pier_graph_node *node;

	if (!func_create() || !IS(pier_ctx_start(pier_func_ctx(func), pe), 0) ||
	    !IS(pier_graph_create(&graph), 0) ||
	    !IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &node), 0))
		return NULL;
	return pier_graph_ctx(graph);
}

static int graph_configure(uint32_t tasks)
{
	struct pier_graph_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_graph_configure(graph, &cfg);
}

static int graph_take(struct pier_task **ret)
{
	return pier_graph_task(graph, ret);
}

static void graph_destroy(void)
{
	pier_graph_destroy(graph);
	pier_func_destroy(func);
}

static int comch_configure(struct pier_comch *comch, uint32_t tasks)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg), .tasks = tasks };

	return pier_comch_configure(comch, &cfg);
}

static const char *name;

static struct pier_ctx *server_create(void)
{
	name = talker_name();
	return talker_server(&server, dev, name, NULL) ? server.ctx : NULL;
}

static int server_configure(uint32_t tasks)
{
	return comch_configure(server.comch, tasks);
}

static bool server_join(void)
{
	int before = server.connected;

	return talker_client(&client, dev, name, NULL, NULL) &&
	       talker_start(&client) &&
	       talker_count(&server.connected, before + 1);
}

static int server_take(struct pier_task **ret)
{
	return pier_comch_task_send(server.conn, "", 0, ret);
}

static void server_part(void)
{
	talker_close(&client);
}

static void server_destroy(void)
{
	talker_close(&server);
}

static struct pier_ctx *client_create(void)
{
	return server_create() && talker_start(&server) &&
	       talker_client(&client, dev, name, NULL, NULL) ?
		       client.ctx : NULL;
}

static int client_configure(uint32_t tasks)
{
	return comch_configure(client.comch, tasks);
}

static int client_take(struct pier_task **ret)
{
	return pier_comch_task_send(client.conn, "", 0, ret);
}

static void client_destroy(void)
{
	talker_unpair(&server, &client);
}

static struct pier_ctx *consumer_create(void)
{
	return talker_pair(&server, &client, dev, NULL) &&
	       IS(pier_comch_consumer_create(client.conn, NULL, &consumer),
		  0) ? pier_comch_consumer_ctx(consumer) : NULL;
}

static int consumer_configure(uint32_t tasks)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .tasks = tasks };

	return pier_comch_consumer_configure(consumer, &cfg);
}

static int consumer_take(struct pier_task **ret)
{
	return pier_comch_task_receive(consumer, NULL, ret);
}

static void consumer_destroy(void)
{
	pier_comch_consumer_destroy(consumer);
	talker_unpair(&server, &client);
}

static struct pier_ctx *producer_create(void)
{
	return talker_pair(&server, &client, dev, NULL) &&
	       IS(pier_comch_producer_create(client.conn, &producer), 0) ?
		       pier_comch_producer_ctx(producer) : NULL;
}

static int producer_configure(uint32_t tasks)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .tasks = tasks };

	return pier_comch_producer_configure(producer, &cfg);
}

static int producer_take(struct pier_task **ret)
{
	return pier_comch_task_produce(producer, NULL, "i", 1, 1, ret);
}

static void producer_destroy(void)
{
	pier_comch_producer_destroy(producer);
	talker_unpair(&server, &client);
}

/* Drive all engines until @ctx is in @state. */
static bool until(const struct pier_ctx *ctx, enum pier_ctx_state state)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(ctx) != state && talker_step(limit))
		pier_pe_progress(pe, 16);
	return IS(pier_ctx_state(ctx), state);
}

/* There are @n tasks, neither more nor fewer. */
static void has_tasks(const struct startable *kind, uint32_t n)
{
	struct pier_task *tasks[TASKS_MAX], *none = NULL;
	uint32_t i = 0;

	while (i < n && IS(kind->take(&tasks[i]), 0))
		i++;
	IS(kind->take(&none), -ENOBUFS);
	while (i)
		pier_task_free(tasks[--i]);
}

/* Once with @n tasks. */
static bool run(const struct startable *kind, struct pier_ctx *ctx,
		struct pier_pe *on, uint32_t n)
{
	int err;

	if (!IS(kind->configure(n), 0))
		return false;
	err = pier_ctx_start(ctx, on);
	if (!OK(!err || err == -EINPROGRESS) ||
	    !until(ctx, PIER_CTX_RUNNING) || (kind->join && !kind->join()))
		return false;
	IS(kind->configure(n), -EBUSY);
	has_tasks(kind, n);
	if (kind->part)
		kind->part();
	pier_ctx_stop(ctx);
	return until(ctx, PIER_CTX_IDLE);
}

/* Each run has what was configured before it. */
static void again(const struct startable *kind)
{
	struct pier_ctx *ctx = kind->create();
	struct pier_pe *on = pe;

	if (ctx && ctx == server.ctx)
		on = server.pe;
	if (ctx && ctx == client.ctx)
		on = client.pe;
	for (uint32_t n = 1; ctx && n <= RUNS; n++)
		if (!run(kind, ctx, on, 2 * n))
			break;
	kind->destroy();
}

static void an_rdma_context_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = rdma_create,
		.configure = rdma_configure,
		.take = rdma_take,
		.destroy = rdma_destroy,
	};

	again(&kind);
}

static void a_dma_context_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = dma_create,
		.configure = dma_configure,
		.take = dma_take,
		.destroy = dma_destroy,
	};

	again(&kind);
}

static void a_sha_context_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = sha_create,
		.configure = sha_configure,
		.take = sha_take,
		.destroy = sha_destroy,
	};

	again(&kind);
}

static void a_function_context_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = func_create,
		.configure = func_configure,
		.take = func_take,
		.destroy = func_destroy,
	};

	again(&kind);
}

static void a_graph_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = graph_create,
		.configure = graph_configure,
		.take = graph_take,
		.destroy = graph_destroy,
	};

	again(&kind);
}

static void a_server_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = server_create,
		.configure = server_configure,
		.take = server_take,
		.destroy = server_destroy,
		.join = server_join,
		.part = server_part,
	};

	again(&kind);
}

static void a_client_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = client_create,
		.configure = client_configure,
		.take = client_take,
		.destroy = client_destroy,
	};

	again(&kind);
}

static void a_consumer_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = consumer_create,
		.configure = consumer_configure,
		.take = consumer_take,
		.destroy = consumer_destroy,
	};

	again(&kind);
}

static void a_producer_is_configured_and_started_again(void)
{
	static const struct startable kind = {
		.create = producer_create,
		.configure = producer_configure,
		.take = producer_take,
		.destroy = producer_destroy,
	};

	again(&kind);
}

/* Unless its memory is pier's: then it is started again only. */
static void an_mmap_is_configured_and_started_again(void)
{
	static char memory[2][64];
	struct pier_mmap_config cfg = { .size = sizeof(cfg) };
	struct pier_mmap *mmap;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(pier_mmap_add_dev(mmap, dev), 0);
	for (int i = 0; i < 2 * RUNS; i++) {
		cfg.addr = memory[i % 2];
		cfg.len = (size_t)i + 1;
		IS(pier_mmap_configure(mmap, &cfg), 0);
		IS(pier_mmap_start(mmap), 0);
		IS(pier_mmap_configure(mmap, &cfg), -EBUSY);
		OK(pier_mmap_addr(mmap) == memory[i % 2]);
		IS(pier_mmap_len(mmap), i + 1);
		IS(pier_mmap_stop(mmap), 0);
	}
	cfg.addr = NULL;
	IS(pier_mmap_configure(mmap, &cfg), 0);
	for (int i = 0; i < RUNS; i++) {
		IS(pier_mmap_start(mmap), 0);
		IS(pier_mmap_stop(mmap), 0);
		IS(pier_mmap_configure(mmap, &cfg), -EBUSY);
	}
	pier_mmap_destroy(mmap);
}

/* It is the one that is not. */
static void a_stopped_sync_event_is_neither(void)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg), .publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
	};
	struct pier_sync_event *event;

	if (!IS(pier_sync_event_create(&event), 0))
		return;
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_stop(event), 0);
	IS(pier_sync_event_configure(event, &cfg), -EBUSY);
	IS(pier_sync_event_start(event), -ESHUTDOWN);
	IS(pier_ctx_start(pier_sync_event_ctx(event), pe), -ESHUTDOWN);
	pier_sync_event_destroy(event);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!IS(pier_pe_create(&pe), 0))
		return tap_done();
	TEST(an_rdma_context_is_configured_and_started_again);
	TEST(a_dma_context_is_configured_and_started_again);
	TEST(a_sha_context_is_configured_and_started_again);
	TEST(a_function_context_is_configured_and_started_again);
	TEST(a_graph_is_configured_and_started_again);
	TEST(a_server_is_configured_and_started_again);
	TEST(a_client_is_configured_and_started_again);
	TEST(a_consumer_is_configured_and_started_again);
	TEST(a_producer_is_configured_and_started_again);
	TEST(an_mmap_is_configured_and_started_again);
	TEST(a_stopped_sync_event_is_neither);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return tap_done();
}
