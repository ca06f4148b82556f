/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "bench/nullfabric.h"
#include "bench/overhead_doca_comch.h"
#include "bench/overhead_doca_tasks.h"
#include "doca_dev_impl.h"

#define COUNT OVERHEAD_DOCA_MAX
#define SIZE 8
#define SLOT 64
#define VALUE 5			/* of events */

static struct doca_dev dev;
static struct doca_pe *pe;
static struct doca_rdma *rdma;
static struct doca_rdma_connection *conn;
static struct doca_dma *dma;
static struct doca_mmap_advise *advise;
static struct doca_sync_event *event;
static void (*make)(int i, struct overhead_doca_task *ret);
static struct doca_sync_event_remote_net *far;	/* an event, for RDMA */
static struct doca_graph *graph;
static struct doca_graph_node *node;
static struct doca_mmap *local, *remote;
static struct doca_buf_inventory *inv;
static const union doca_data none;
static _Alignas(SLOT) char memory[2][COUNT][SLOT];

/*
 * Task @i reads from the first half of the memory and writes the second.  One
 * that is made again has the same buffers.
 */
static struct doca_buf *bufs[2][COUNT];

static struct doca_buf *data(struct doca_mmap *mmap, int i)
{
	if (!bufs[0][i])
		must(doca_buf_inventory_buf_get_by_data(inv, mmap, memory[0][i],
							SIZE, &bufs[0][i]));
	return bufs[0][i];
}

static struct doca_buf *tail(struct doca_mmap *mmap, int i)
{
	if (!bufs[1][i])
		must(doca_buf_inventory_buf_get_by_addr(inv, mmap, memory[1][i],
							SLOT, &bufs[1][i]));
	return bufs[1][i];
}

/* The callback of every type: they have the same shape. */
static void task_done(struct doca_task *task, union doca_data task_data,
		      union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
	overhead_doca_done();
}

static void task_failed(struct doca_task *task, union doca_data task_data,
			union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	must(doca_task_get_status(task));
}

/* Of those types for set_conf. */
typedef void any_fn(void);
static any_fn *const done = (any_fn *)task_done;
static any_fn *const failed = (any_fn *)task_failed;

static void run(struct doca_ctx *ctx)
{
	must(doca_pe_connect_ctx(pe, ctx));
	must(doca_ctx_start(ctx));
}

static void open_memory(void)
{
	const void *desc;
	size_t len;

	must(doca_mmap_create(&local));
	must(doca_mmap_set_memrange(local, memory, sizeof(memory)));
	must(doca_mmap_set_permissions(local,
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
				       DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_RDMA_WRITE |
				       DOCA_ACCESS_FLAG_RDMA_ATOMIC));
	must(doca_mmap_add_dev(local, &dev));
	must(doca_mmap_start(local));
	must(doca_mmap_export_rdma(local, &dev, &desc, &len));
	must(doca_mmap_create_from_export(NULL, desc, len, &dev, &remote));
	must(doca_buf_inventory_create(2 * COUNT, &inv));
	must(doca_buf_inventory_start(inv));
}

static void conf_sends(void)
{
	must(doca_rdma_task_send_set_conf(
		rdma, (doca_rdma_task_send_completion_cb_t)done,
		(doca_rdma_task_send_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_send_imm_set_conf(
		rdma, (doca_rdma_task_send_imm_completion_cb_t)done,
		(doca_rdma_task_send_imm_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_receive_set_conf(
		rdma, (doca_rdma_task_receive_completion_cb_t)done,
		(doca_rdma_task_receive_completion_cb_t)failed, COUNT));
}

static void conf_copies(void)
{
	must(doca_rdma_task_read_set_conf(
		rdma, (doca_rdma_task_read_completion_cb_t)done,
		(doca_rdma_task_read_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_write_set_conf(
		rdma, (doca_rdma_task_write_completion_cb_t)done,
		(doca_rdma_task_write_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_write_imm_set_conf(
		rdma, (doca_rdma_task_write_imm_completion_cb_t)done,
		(doca_rdma_task_write_imm_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_atomic_cmp_swp_set_conf(
		rdma, (doca_rdma_task_atomic_cmp_swp_completion_cb_t)done,
		(doca_rdma_task_atomic_cmp_swp_completion_cb_t)failed, COUNT));
	must(doca_rdma_task_atomic_fetch_add_set_conf(
		rdma, (doca_rdma_task_atomic_fetch_add_completion_cb_t)done,
		(doca_rdma_task_atomic_fetch_add_completion_cb_t)failed,
		COUNT));
}

typedef doca_rdma_task_remote_net_sync_event_get_completion_cb_t get_fn;
typedef doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t set_fn;
typedef doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t add_fn;

static void conf_events(void)
{
	must(doca_rdma_task_remote_net_sync_event_get_set_conf(
		rdma, (get_fn)done, (get_fn)failed, COUNT));
	must(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
		rdma, (set_fn)done, (set_fn)failed, COUNT));
	must(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
		rdma, (add_fn)done, (add_fn)failed, COUNT));
}

/* Connected to one that does nothing. */
static void open_rdma(void)
{
	struct doca_rdma_connection *peer;
	const void *desc;
	size_t len;

	must(doca_rdma_create(&dev, &rdma));
	must(doca_rdma_set_max_num_connections(rdma, 2));
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ |
					     DOCA_ACCESS_FLAG_RDMA_WRITE |
					     DOCA_ACCESS_FLAG_RDMA_ATOMIC));
	conf_sends();
	conf_copies();
	conf_events();
	run(doca_rdma_as_ctx(rdma));
	must(doca_rdma_export(rdma, &desc, &len, &conn));
	must(doca_rdma_export(rdma, &desc, &len, &peer));
	must(doca_rdma_connect(rdma, desc, len, conn));
}

static void make_event(struct doca_sync_event **ret)
{
	must(doca_sync_event_create(ret));
	must(doca_sync_event_add_publisher_location_remote_net(*ret));
	must(doca_sync_event_add_subscriber_location_cpu(*ret, &dev));
}

/* One that was exported. */
static void open_far_event(void)
{
	struct doca_sync_event *own;
	const uint8_t *desc;
	size_t len;

	open_rdma();
	make_event(&own);
	must(doca_sync_event_start(own));
	must(doca_sync_event_export_to_remote_net(own, &desc, &len));
	must(doca_sync_event_remote_net_create_from_export(&dev, desc, len,
							   &far));
}

/* One that runs as a context. */
static void open_event(void)
{
	make_event(&event);
	must(doca_sync_event_task_get_set_conf(
		event, (doca_sync_event_task_get_completion_cb_t)done,
		(doca_sync_event_task_get_completion_cb_t)failed, COUNT));
	must(doca_sync_event_task_notify_set_set_conf(
		event, (doca_sync_event_task_notify_set_completion_cb_t)done,
		(doca_sync_event_task_notify_set_completion_cb_t)failed,
		COUNT));
	must(doca_sync_event_task_notify_add_set_conf(
		event, (doca_sync_event_task_notify_add_completion_cb_t)done,
		(doca_sync_event_task_notify_add_completion_cb_t)failed,
		COUNT));
	must(doca_sync_event_task_wait_eq_set_conf(
		event, (doca_sync_event_task_wait_eq_completion_cb_t)done,
		(doca_sync_event_task_wait_eq_completion_cb_t)failed, COUNT));
	must(doca_sync_event_task_wait_neq_set_conf(
		event, (doca_sync_event_task_wait_neq_completion_cb_t)done,
		(doca_sync_event_task_wait_neq_completion_cb_t)failed, COUNT));
	run(doca_sync_event_as_ctx(event));
	must(doca_sync_event_update_set(event, VALUE));
}

static void open_dma(void)
{
	must(doca_dma_create(&dev, &dma));
	must(doca_dma_task_memcpy_set_conf(
		dma, (doca_dma_task_memcpy_completion_cb_t)done,
		(doca_dma_task_memcpy_completion_cb_t)failed, COUNT));
	run(doca_dma_as_ctx(dma));
}

typedef doca_mmap_advise_task_invalidate_cache_completion_cb_t advise_fn;

static void open_advise(void)
{
	must(doca_mmap_advise_create(&dev, &advise));
	must(doca_mmap_advise_task_invalidate_cache_set_conf(
		advise, (advise_fn)done, (advise_fn)failed, COUNT));
	run(doca_mmap_advise_as_ctx(advise));
}

static void task_done_instance(struct doca_graph_instance *instance,
			       union doca_data instance_data,
			       union doca_data graph_data)
{
	(void)instance;
	(void)instance_data;
	(void)graph_data;
	overhead_doca_done();
}

/* Of one node, a task that does nothing, as the graph that is pier's. */
static void open_graph(void)
{
	open_advise();
	must(doca_graph_create(pe, &graph));
	must(doca_graph_node_create_from_ctx(
		graph, doca_mmap_advise_as_ctx(advise), &node));
	must(doca_graph_set_conf(graph, task_done_instance, task_done_instance,
				 COUNT));
	must(doca_graph_start(graph));
}

static void make_send(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_send *task;

	must(doca_rdma_task_send_allocate_init(rdma, conn, data(local, i), none,
					       &task));
	ret->task = doca_rdma_task_send_as_task(task);
}

static void make_send_imm(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_send_imm *task;

	must(doca_rdma_task_send_imm_allocate_init(rdma, conn, data(local, i),
						   1, none, &task));
	ret->task = doca_rdma_task_send_imm_as_task(task);
}

static void make_receive(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_receive *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_receive_allocate_init(rdma, ret->grows, none,
						  &task));
	ret->task = doca_rdma_task_receive_as_task(task);
}

static void make_read(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_read *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_read_allocate_init(rdma, conn, data(remote, i),
					       ret->grows, none, &task));
	ret->task = doca_rdma_task_read_as_task(task);
}

static void make_write(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_write *task;

	ret->grows = tail(remote, i);
	must(doca_rdma_task_write_allocate_init(rdma, conn, data(local, i),
						ret->grows, none, &task));
	ret->task = doca_rdma_task_write_as_task(task);
}

static void make_write_imm(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_write_imm *task;

	ret->grows = tail(remote, i);
	must(doca_rdma_task_write_imm_allocate_init(rdma, conn, data(local, i),
						    ret->grows, 1, none,
						    &task));
	ret->task = doca_rdma_task_write_imm_as_task(task);
}

static void make_compare_swap(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_atomic_cmp_swp *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_atomic_cmp_swp_allocate_init(
		rdma, conn, data(remote, i), ret->grows, 0, 1, none, &task));
	ret->task = doca_rdma_task_atomic_cmp_swp_as_task(task);
}

static void make_fetch_add(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_atomic_fetch_add *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_atomic_fetch_add_allocate_init(
		rdma, conn, data(remote, i), ret->grows, 1, none, &task));
	ret->task = doca_rdma_task_atomic_fetch_add_as_task(task);
}

static void make_remote_get(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_remote_net_sync_event_get *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		rdma, conn, far, ret->grows, none, &task));
	ret->task = doca_rdma_task_remote_net_sync_event_get_as_task(task);
}

static void make_notify_set(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;

	must(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		rdma, conn, far, data(local, i), none, &task));
	ret->task =
		doca_rdma_task_remote_net_sync_event_notify_set_as_task(task);
}

static void make_notify_add(int i, struct overhead_doca_task *ret)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;

	ret->grows = tail(local, i);
	must(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		rdma, conn, far, ret->grows, 1, none, &task));
	ret->task =
		doca_rdma_task_remote_net_sync_event_notify_add_as_task(task);
}

static uint64_t results[COUNT];

static void make_sync_get(int i, struct overhead_doca_task *ret)
{
	struct doca_sync_event_task_get *task;

	must(doca_sync_event_task_get_alloc_init(event, &results[i], none,
						 &task));
	ret->task = doca_sync_event_task_get_as_doca_task(task);
}

static void make_sync_set(int i, struct overhead_doca_task *ret)
{
	struct doca_sync_event_task_notify_set *task;

	(void)i;
	must(doca_sync_event_task_notify_set_alloc_init(event, VALUE, none,
							&task));
	ret->task = doca_sync_event_task_notify_set_as_doca_task(task);
}

static void make_sync_add(int i, struct overhead_doca_task *ret)
{
	struct doca_sync_event_task_notify_add *task;

	must(doca_sync_event_task_notify_add_alloc_init(event, 1, &results[i],
							none, &task));
	ret->task = doca_sync_event_task_notify_add_as_doca_task(task);
}

/* For a value that is there. */
static void make_wait_eq(int i, struct overhead_doca_task *ret)
{
	struct doca_sync_event_task_wait_eq *task;

	(void)i;
	must(doca_sync_event_task_wait_eq_alloc_init(event, VALUE, UINT64_MAX,
						     none, &task));
	ret->task = doca_sync_event_task_wait_eq_as_doca_task(task);
}

static void make_wait_neq(int i, struct overhead_doca_task *ret)
{
	struct doca_sync_event_task_wait_neq *task;

	(void)i;
	must(doca_sync_event_task_wait_neq_alloc_init(
		event, VALUE + 1, UINT64_MAX, none, &task));
	ret->task = doca_sync_event_task_wait_neq_as_doca_task(task);
}

static void make_copy(int i, struct overhead_doca_task *ret)
{
	struct doca_dma_task_memcpy *task;

	ret->grows = tail(local, i);
	must(doca_dma_task_memcpy_alloc_init(dma, data(local, i), ret->grows,
					     none, &task));
	ret->task = doca_dma_task_memcpy_as_task(task);
}

static void make_call(int i, struct overhead_doca_task *ret)
{
	struct doca_mmap_advise_task_invalidate_cache *task;

	must(doca_mmap_advise_task_invalidate_cache_alloc_init(
		advise, data(local, i), none, &task));
	ret->task = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
}

static void make_instance(int i, struct overhead_doca_task *ret)
{
	make_call(i, ret);
	must(doca_graph_instance_create(graph, &ret->instance));
	must(doca_graph_instance_set_ctx_node_data(ret->instance, node,
						   ret->task));
}

static struct overhead_doca_comch comch = {
	.dev = &dev,
	.done = task_done,
	.failed = task_failed,
};

static void open_channel(void)
{
	comch.pe = pe;
	comch.mmap = local;
	overhead_doca_channel(&comch, OVERHEAD_PEER_RECEIVES);
}

static void open_consumer(void)
{
	comch.pe = pe;
	comch.mmap = local;
	overhead_doca_consumer(&comch);
}

static void open_producer(void)
{
	comch.pe = pe;
	comch.mmap = local;
	overhead_doca_producer(&comch);
}

static void make_message(int i, struct overhead_doca_task *ret)
{
	ret->task = overhead_doca_message(&comch, memory[0][i], SIZE);
}

static void make_post_recv(int i, struct overhead_doca_task *ret)
{
	ret->grows = tail(local, i);
	ret->task = overhead_doca_post_recv(&comch, ret->grows);
}

static void make_produce(int i, struct overhead_doca_task *ret)
{
	ret->task = overhead_doca_produce(&comch, data(local, i));
}

/* By the names of pier's types; a call is what invalidates a cache. */
static const struct {
	const char *type;
	void (*open)(void);
	void (*make)(int i, struct overhead_doca_task *ret);
} cases[] = {
	{ "send", open_rdma, make_send },
	{ "send_imm", open_rdma, make_send_imm },
	{ "receive", open_rdma, make_receive },
	{ "read", open_rdma, make_read },
	{ "write", open_rdma, make_write },
	{ "write_imm", open_rdma, make_write_imm },
	{ "compare_swap", open_rdma, make_compare_swap },
	{ "fetch_add", open_rdma, make_fetch_add },
	{ "copy", open_dma, make_copy },
	{ "call", open_advise, make_call },
	{ "graph", open_graph, make_instance },
	{ "sync_get", open_event, make_sync_get },
	{ "sync_set", open_event, make_sync_set },
	{ "sync_add", open_event, make_sync_add },
	{ "sync_wait_eq", open_event, make_wait_eq },
	{ "sync_wait_neq", open_event, make_wait_neq },
	{ "remote_get", open_far_event, make_remote_get },
	{ "notify_set", open_far_event, make_notify_set },
	{ "notify_add", open_far_event, make_notify_add },
	{ "comch_send", open_channel, make_message },
	{ "comch_receive", open_consumer, make_post_recv },
	{ "comch_produce", open_producer, make_produce },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

void overhead_doca_types(void)
{
	for (size_t i = 0; i < CASES; i++)
		puts(cases[i].type);
}

bool overhead_doca_make(const char *type, struct doca_pe *engine, int count,
			struct overhead_doca_task *ret)
{
	size_t at = 0;

	while (at < CASES && strcmp(cases[at].type, type))
		at++;
	if (at == CASES)
		return false;
	pe = engine;
	dev.dev = nullfabric_open(!strncmp(type, "comch", 5));
	dev.info.info = pier_dev_info(dev.dev);
	open_memory();
	cases[at].open();
	make = cases[at].make;
	for (int i = 0; i < count; i++)
		make(i, &ret[i]);
	return true;
}

void overhead_doca_make_again(int i, struct overhead_doca_task *ret)
{
	if (ret->instance)
		must(doca_graph_instance_set_ctx_node_data(ret->instance, node,
							   ret->task));
	else
		make(i, ret);
}
