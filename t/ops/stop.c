/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* How soon a context that stops is idle. */

#define LEN 4096
#define CTXS 6
#define DRAIN_MS 100
#define DEFAULT_MS 2000	/* of drain_ms */
#define CALLS_MAX 8	/* of the engine, for both ends */

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_dma *dma;
static struct pier_sha *sha;
static struct pier_func *func;
static struct pier_graph *graph;
static struct pier_sync_event *event;

static void create_all(struct pier_ctx *ret[CTXS])
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.tasks = 1,
	};
	struct pier_graph_node *node;

	IS(pier_pe_create(&pe), 0);
	IS(pier_rdma_create(dev, &rdma), 0);
	IS(pier_dma_create(dev, &dma), 0);
	IS(pier_sha_create(&sha), 0);
	IS(pier_func_create(&func), 0);
	IS(pier_graph_create(&graph), 0);
	IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &node), 0);
	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	ret[0] = pier_rdma_ctx(rdma);
	ret[1] = pier_dma_ctx(dma);
	ret[2] = pier_sha_ctx(sha);
	ret[3] = pier_func_ctx(func);
	ret[4] = pier_graph_ctx(graph);
	ret[5] = pier_sync_event_ctx(event);
}

static void destroy_all(void)
{
	pier_graph_destroy(graph);
	pier_sync_event_destroy(event);
	pier_func_destroy(func);
	pier_sha_destroy(sha);
	pier_dma_destroy(dma);
	pier_rdma_destroy(rdma);
	pier_pe_destroy(pe);
}

static void each_kind_without_connections_is_idle_after_one_progress(void)
{
	struct pier_ctx *ctxs[CTXS];

	create_all(ctxs);
	for (int i = 0; i < CTXS; i++)
		IS(pier_ctx_start(ctxs[i], pe), 0);
	for (int i = 0; i < CTXS; i++)
		IS(pier_ctx_stop(ctxs[i]), -EINPROGRESS);
	pier_pe_progress(pe, 1);
	for (int i = 0; i < CTXS; i++)
		IS(pier_ctx_state(ctxs[i]), PIER_CTX_IDLE);
	destroy_all();
}

/* Of a program that sleeps between them; both ends share the engine. */
static void a_goodbye_takes_a_few_calls(void)
{
	long long limit = limit_from_now();
	struct peer a, b;
	int calls = 0;

	if (peer_pair(&a, &b, dev, NULL, LEN)) {
		IS(pier_ctx_stop(pier_rdma_ctx(a.rdma)), -EINPROGRESS);
		while (pier_ctx_state(pier_rdma_ctx(a.rdma)) != PIER_CTX_IDLE &&
		       limit_holds(limit)) {
			pier_pe_wait(a.pe, LIMIT_MS);
			calls++;
		}
		tap_note("%d calls", calls);
		OK(calls <= CALLS_MAX);
	}
	peer_unpair(&a, &b);
}

/* Of a peer whose engine stands still. */
static void a_goodbye_that_is_not_answered_ends_in_the_drain_time(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.drain_ms = DRAIN_MS };
	long long limit, begun;
	struct peer a, b;

	memset(&b, 0, sizeof(b));
	if (peer_open(&a, dev, NULL, &cfg, LEN) &&
	    peer_open(&b, dev, NULL, &cfg, LEN) && peer_join(&a, &b)) {
		limit = limit_from_now();
		begun = limit_now_ms();
		IS(pier_ctx_stop(pier_rdma_ctx(a.rdma)), -EINPROGRESS);
		while (pier_ctx_state(pier_rdma_ctx(a.rdma)) != PIER_CTX_IDLE &&
		       limit_holds(limit))
			pier_pe_wait(a.pe, 10);
		begun = limit_now_ms() - begun;
		tap_note("%lld ms", begun);
		OK(begun < DEFAULT_MS * limit_slower());
		OK(peer_conn(b.conn, PIER_CONN_RESET));
	}
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(each_kind_without_connections_is_idle_after_one_progress);
	TEST(a_goodbye_takes_a_few_calls);
	TEST(a_goodbye_that_is_not_answered_ends_in_the_drain_time);
	pier_dev_close(dev);
	return tap_done();
}
