/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "dev/dev_impl.h"
#include "t/lib/event.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Tasks and exports that the getters promise are carried out, others refused.
 */

#define LEN 4096
#define PART 64			/* bytes that a task moves */
#define WORD 1024		/* where atomics work */
#define RESULT 2048

static struct pier_dev *dev;
static const struct pier_devinfo *info;
static struct peer a, b;		/* a pair, on one engine */

/* Submit @task, unless taking it failed, and wait; its status. */
static int run(int err, struct pier_task **task)
{
	int status = -EINPROGRESS;

	if (err)
		return err;
	pier_task_set_done(*task, peer_done, &status);
	err = pier_task_submit(*task, 0);
	if (!err)
		peer_await(&status);
	pier_task_free(*task);
	return err ? err : status;
}

/* The word at @off of @peer. */
static uint64_t *word(struct peer *peer, size_t off)
{
	return (uint64_t *)(void *)(peer->mem + off);
}

/* A receive at b, if @err does not stop the task that fills it. */
static int post_receive(int err, struct pier_buf *dst, int *got)
{
	*got = -EINPROGRESS;
	return err ? err : pier_rdma_receive(b.rdma, dst, peer_done, got);
}

static int try_message(enum pier_task_type type)
{
	struct pier_buf *src = peer_data(&a, 0, PART);
	struct pier_buf *dst = peer_tail(&b, 0, PART);
	struct pier_buf *far = peer_far_tail(&a, 0, PART);
	struct pier_task *task = NULL;
	int got, err;

	if (type == PIER_TASK_SEND || type == PIER_TASK_RECEIVE)
		err = pier_rdma_task_send(a.conn, src, &task);
	else if (type == PIER_TASK_SEND_IMM)
		err = pier_rdma_task_send_imm(a.conn, src, 7, &task);
	else
		err = pier_rdma_task_write_imm(a.conn, src, far, 7, &task);
	err = run(post_receive(err, dst, &got), &task);
	if (!err && IS(peer_await(&got), 0))
		OK(peer_holds(&b, 0, PART, 1, 0));
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_buf_put(far);
	return err;
}

static int try_write(enum pier_task_type type)
{
	struct pier_buf *src = peer_data(&a, 0, PART);
	struct pier_buf *dst = peer_far_tail(&a, 0, PART);
	struct pier_task *task = NULL;
	int err;

	(void)type;
	err = run(pier_rdma_task_write(a.conn, src, dst, &task), &task);
	if (!err)
		OK(peer_holds(&b, 0, PART, 1, 0));
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int try_read(enum pier_task_type type)
{
	struct pier_buf *src = peer_far_data(&a, 0, PART);
	struct pier_buf *dst = peer_tail(&a, 0, PART);
	struct pier_task *task = NULL;
	int err;

	(void)type;
	err = run(pier_rdma_task_read(a.conn, src, dst, &task), &task);
	if (!err)
		OK(peer_holds(&a, 0, PART, 2, 0));
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int try_atomic(enum pier_task_type type)
{
	struct pier_buf *dst = peer_far_data(&a, WORD, 8);
	struct pier_buf *result = peer_tail(&a, RESULT, 8);
	struct pier_task *task = NULL;
	int err;

	*word(&b, WORD) = 40;
	if (type == PIER_TASK_FETCH_ADD)
		err = pier_rdma_task_fetch_add(a.conn, dst, result, 2, &task);
	else
		err = pier_rdma_task_compare_swap(a.conn, dst, result, 40, 42,
						  &task);
	err = run(err, &task);
	if (!err) {
		IS(*word(&a, RESULT), 40);
		IS(*word(&b, WORD), 42);
	}
	pier_buf_put(dst);
	pier_buf_put(result);
	return err;
}

static int try_remote_event(enum pier_task_type type)
{
	struct pier_sync_event *event = event_own(dev, 40);
	struct pier_sync_event *far = event_import(event);
	struct pier_buf *src = peer_data(&a, WORD, 8);
	struct pier_buf *result = peer_tail(&a, RESULT, 8);
	struct pier_task *task = NULL;
	uint64_t now = 0;
	int err;

	*word(&a, WORD) = 42;
	if (type == PIER_TASK_REMOTE_GET)
		err = pier_rdma_task_remote_get(a.conn, far, result, &task);
	else if (type == PIER_TASK_NOTIFY_SET)
		err = pier_rdma_task_notify_set(a.conn, far, src, &task);
	else
		err = pier_rdma_task_notify_add(a.conn, far, result, 2, &task);
	err = run(err, &task);
	if (!err) {
		IS(pier_sync_event_get(event, &now), 0);
		IS(now, type == PIER_TASK_REMOTE_GET ? 40 : 42);
		IS(*word(&a, RESULT), type == PIER_TASK_NOTIFY_SET ? 0 : 40);
	}
	pier_buf_put(src);
	pier_buf_put(result);
	pier_sync_event_destroy(far);
	pier_sync_event_destroy(event);
	return err;
}

static int try_copy(enum pier_task_type type)
{
	struct pier_buf *src = peer_data(&b, 0, PART);
	struct pier_buf *dst = peer_tail(&a, 0, PART);
	struct pier_task *task = NULL;
	struct pier_dma *dma = NULL;
	int err;

	(void)type;
	IS(pier_dma_create(dev, &dma), 0);
	IS(pier_ctx_start(pier_dma_ctx(dma), a.pe), 0);
	err = run(pier_dma_task_copy(dma, src, dst, &task), &task);
	if (!err)
		OK(peer_holds(&a, 0, PART, 2, 0));
	pier_dma_destroy(dma);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int count_call(void *arg)
{
	++*(int *)arg;
	return 0;
}

static int try_call(enum pier_task_type type)
{
	struct pier_task *task = NULL;
	struct pier_func *func = NULL;
	int err, calls = 0;

	(void)type;
	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), a.pe), 0);
	err = run(pier_func_task_call(func, count_call, &calls, &task), &task);
	IS(calls, 1);
	pier_func_destroy(func);
	return err;
}

static int try_hash(enum pier_task_type type)
{
	struct pier_buf *src = peer_data(&a, 0, PART);
	struct pier_buf *dst = peer_tail(&a, RESULT, PART);
	struct pier_task *task = NULL;
	struct pier_sha *sha = NULL;
	int err;

	(void)type;
	IS(pier_sha_create(&sha), 0);
	IS(pier_ctx_start(pier_sha_ctx(sha), a.pe), 0);
	err = pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &task);
	err = run(err, &task);
	if (!err)
		IS(pier_buf_data_len(dst), 32);
	pier_sha_destroy(sha);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int try_graph(enum pier_task_type type)
{
	struct pier_task *call = NULL, *task = NULL;
	struct pier_graph_node *node = NULL;
	struct pier_graph *graph = NULL;
	struct pier_func *func = NULL;
	int err, calls = 0;

	(void)type;
	IS(pier_func_create(&func), 0);
	IS(pier_ctx_start(pier_func_ctx(func), a.pe), 0);
	IS(pier_graph_create(&graph), 0);
	IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &node), 0);
	IS(pier_ctx_start(pier_graph_ctx(graph), a.pe), 0);
	IS(pier_func_task_call(func, count_call, &calls, &call), 0);
	err = pier_graph_task(graph, &task);
	if (!err)
		err = pier_graph_task_set_task(task, node, call);
	err = run(err, &task);
	IS(calls, 1);
	pier_task_free(call);
	pier_graph_destroy(graph);
	pier_func_destroy(func);
	return err;
}

static int take_sync(struct pier_sync_event *event, enum pier_task_type type,
		     uint64_t *now, struct pier_task **ret)
{
	switch (type) {
	case PIER_TASK_SYNC_GET:
		return pier_sync_event_task_get(event, now, ret);
	case PIER_TASK_SYNC_SET:
		return pier_sync_event_task_set(event, 41, ret);
	case PIER_TASK_SYNC_ADD:
		return pier_sync_event_task_add(event, 1, now, ret);
	case PIER_TASK_SYNC_WAIT_GT:
		return pier_sync_event_task_wait_gt(event, 39, UINT64_MAX, ret);
	case PIER_TASK_SYNC_WAIT_EQ:
		return pier_sync_event_task_wait_eq(event, 40, UINT64_MAX, ret);
	default:
		return pier_sync_event_task_wait_neq(event, 41, UINT64_MAX,
						     ret);
	}
}

static int try_sync(enum pier_task_type type)
{
	bool changes = type == PIER_TASK_SYNC_SET || type == PIER_TASK_SYNC_ADD;
	bool reads = type == PIER_TASK_SYNC_GET || type == PIER_TASK_SYNC_ADD;
	uint64_t value = 40, now = 0;
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = PIER_SYNC_EVENT_CPU,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.word = &value,
	};
	struct pier_sync_event *event = NULL;
	struct pier_task *task = NULL;
	int err;

	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	IS(pier_ctx_start(pier_sync_event_ctx(event), a.pe), 0);
	err = run(take_sync(event, type, &now, &task), &task);
	IS(value, changes ? 41 : 40);
	IS(now, reads ? 40 : 0);
	pier_sync_event_destroy(event);
	return err;
}

static int try_comch(enum pier_task_type type)
{
	struct pier_comch *comch = NULL;
	int err = pier_comch_create_client(dev, "a", NULL, &comch);

	(void)type;
	pier_comch_destroy(comch);
	return err;
}

static int (*const tries[])(enum pier_task_type type) = {
	[PIER_TASK_SEND] = try_message,
	[PIER_TASK_SEND_IMM] = try_message,
	[PIER_TASK_RECEIVE] = try_message,
	[PIER_TASK_READ] = try_read,
	[PIER_TASK_WRITE] = try_write,
	[PIER_TASK_WRITE_IMM] = try_message,
	[PIER_TASK_COMPARE_SWAP] = try_atomic,
	[PIER_TASK_FETCH_ADD] = try_atomic,
	[PIER_TASK_COPY] = try_copy,
	[PIER_TASK_CALL] = try_call,
	[PIER_TASK_HASH] = try_hash,
	[PIER_TASK_GRAPH] = try_graph,
	[PIER_TASK_SYNC_GET] = try_sync,
	[PIER_TASK_SYNC_SET] = try_sync,
	[PIER_TASK_SYNC_ADD] = try_sync,
	[PIER_TASK_SYNC_WAIT_GT] = try_sync,
	[PIER_TASK_SYNC_WAIT_EQ] = try_sync,
	[PIER_TASK_SYNC_WAIT_NEQ] = try_sync,
	[PIER_TASK_REMOTE_GET] = try_remote_event,
	[PIER_TASK_NOTIFY_SET] = try_remote_event,
	[PIER_TASK_NOTIFY_ADD] = try_remote_event,
	[PIER_TASK_COMCH_SEND] = try_comch,
	[PIER_TASK_COMCH_RECEIVE] = try_comch,
	[PIER_TASK_COMCH_PRODUCE] = try_comch,
	[PIER_TASK_COMCH_REQUEST] = try_comch,
};

#define TRIES ((int)(sizeof(tries) / sizeof(tries[0])))

/* It does what the getter says, which is returned. */
static int try_task(int type)
{
	int can = pier_devinfo_can_task(info, type);

	peer_fill(&a, 1);
	peer_fill(&b, 2);
	*word(&a, RESULT) = 0;
	if (can)
		LIKE(pier_last_error(), pier_task_type_name(type));
	if (!IS(tries[type](type), can))
		tap_note("%s: %s", pier_task_type_name(type),
			 pier_last_error());
	return can;
}

static void tasks_do_what_the_getter_promises(void)
{
	int type, can;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	for (type = 0; type < TRIES; type++) {
		can = try_task(type);
		OK(!can || can == -EOPNOTSUPP);
	}
	IS(pier_devinfo_can_task(info, TRIES), -EINVAL);
	peer_unpair(&a, &b);
}

/* As a device has it that can but send, receive, read and write. */
static void tasks_that_a_device_lacks_are_refused(void)
{
	static const enum pier_task_type lacking[] = {
		PIER_TASK_SEND_IMM, PIER_TASK_WRITE_IMM, PIER_TASK_FETCH_ADD,
		PIER_TASK_COMPARE_SWAP, PIER_TASK_NOTIFY_ADD,
		PIER_TASK_COMCH_SEND,
	};
	uint32_t *opcodes = &dev->info.port.limits.opcodes, saved = *opcodes;
	size_t i;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	*opcodes = 1u << IBV_WR_SEND | 1u << IBV_WR_RDMA_READ |
		   1u << IBV_WR_RDMA_WRITE;
	for (i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++)
		IS(try_task(lacking[i]), -EOPNOTSUPP);
	IS(try_task(PIER_TASK_SEND), 0);
	IS(try_task(PIER_TASK_RECEIVE), 0);
	IS(try_task(PIER_TASK_NOTIFY_SET), 0);
	*opcodes = saved;
	peer_unpair(&a, &b);
}

/* What export returns, and what import of that does. */
static void try_exports(void)
{
	struct pier_sync_event *event = event_own(dev, 40), *far;
	struct pier_mmap *mmap = NULL;
	const void *desc;
	size_t len;

	IS(pier_devinfo_can_export(info, PIER_EXPORT_MMAP), 0);
	IS(pier_devinfo_can_import(info, PIER_EXPORT_MMAP), 0);
	if (IS(pier_mmap_export(b.mmap, &desc, &len), 0))
		IS(pier_mmap_create_from_export(dev, desc, len, &mmap), 0);
	pier_mmap_destroy(mmap);

	IS(pier_devinfo_can_export(info, PIER_EXPORT_SYNC_EVENT), 0);
	IS(pier_devinfo_can_import(info, PIER_EXPORT_SYNC_EVENT), 0);
	far = event_import(event);
	pier_sync_event_destroy(far);
	pier_sync_event_destroy(event);

	IS(pier_devinfo_can_export(info, PIER_EXPORT_CONN), 0);
	IS(pier_devinfo_can_import(info, PIER_EXPORT_CONN), 0);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
}

static void exports_are_imported_as_the_getters_promise(void)
{
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	try_exports();
	IS(pier_devinfo_can_export(info, PIER_EXPORT_SYNC_EVENT + 1), -EINVAL);
	dev->info.port.limits.by_address = true;
	IS(pier_devinfo_can_export(info, PIER_EXPORT_CONN), -EOPNOTSUPP);
	LIKE(pier_last_error(), "iWARP");
	IS(pier_devinfo_can_import(info, PIER_EXPORT_CONN), -EOPNOTSUPP);
	IS(pier_rdma_export(a.rdma, &desc, &len, &conn), -EOPNOTSUPP);
	dev->info.port.limits.by_address = false;
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	info = pier_dev_info(dev);
	TEST(tasks_do_what_the_getter_promises);
	TEST(tasks_that_a_device_lacks_are_refused);
	TEST(exports_are_imported_as_the_getters_promise);
	pier_dev_close(dev);
	return tap_done();
}
