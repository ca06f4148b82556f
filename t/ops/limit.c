/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/queues.h"
#include "t/lib/copier.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Each limit that the getter reports is reached, and not exceeded. */

#define LEN 4096
#define CHAIN 131072		/* where the getter reports no limit */

static struct pier_dev *dev;
static struct peer a, b;

static bool open_pair(const struct pier_rdma_config *cfg)
{
	return peer_pair(&a, &b, dev, cfg, LEN);
}

static void close_pair(void)
{
	peer_unpair(&a, &b);
}

static struct pier_rdma_config config_of(const struct peer *peer)
{
	struct pier_rdma_config cfg;

	pier_rdma_get_config(peer->rdma, &cfg);
	return cfg;
}

static void add(struct pier_task *task, void *arg)
{
	*(int *)arg += pier_task_status(task) == 0;
}

/* One byte more is refused by the device, t/ops/bulk.c sends all of it. */
static void message(uint64_t limit)
{
	OK(limit >= 1 << 20);
}

/* No machine has as much memory; t/mem/mmap.c tries one byte more. */
static void range(uint64_t limit)
{
	struct pier_mmap *mmap = NULL;
	int err = pier_mmap_map(dev, (void *)4096, limit / 2, PIER_LOCAL_WRITE,
				&mmap);

	OK(err && err != -EMSGSIZE);
}

/* What is inline was copied when submit returns. */
static void inline_size(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .inline_size = (uint32_t)limit + 1,
	};
	struct pier_buf *src, *dst;
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	if (!limit || !open_pair(&cfg))
		return;
	IS(config_of(&a).inline_size, limit);
	src = peer_data(&a, 0, limit);
	dst = peer_tail(&b, 0, limit);
	peer_fill(&a, 1);
	IS(pier_rdma_receive(b.rdma, dst, peer_done, &got), 0);
	IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
	peer_fill(&a, 2);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
	OK(peer_holds(&b, 0, limit, 1, 0));
	pier_buf_put(src);
	pier_buf_put(dst);
	close_pair();
}

/* @count buffers of a byte each, of the memory of @peer. */
static struct pier_buf *pieces(struct peer *peer, size_t count, bool tail)
{
	struct pier_buf *first = NULL, *buf;
	size_t i;

	for (i = 0; i < count; i++) {
		buf = tail ? peer_tail(peer, 2 * i, 1) :
			     peer_data(peer, 2 * i, 1);
		if (first)
			IS(pier_buf_chain(first, buf), 0);
		else
			first = buf;
	}
	return first;
}

/* Move @src to @dst, which is @len bytes; what receive or send returned. */
static int move(struct pier_buf *src, struct pier_buf *dst, size_t len)
{
	static int sent, got;	/* a receive may be left */
	int err;

	sent = got = -EINPROGRESS;
	err = pier_rdma_receive(b.rdma, dst, peer_done, &got);
	if (!err)
		err = pier_rdma_send(a.conn, src, peer_done, &sent);
	if (!err) {
		IS(peer_await(&sent), 0);
		IS(peer_await(&got), 0);
		IS(pier_buf_chain_data_len(dst), len);
	}
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static void send_chain(uint64_t limit)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .send_chain = 64 };

	if (!open_pair(&cfg))
		return;
	IS(config_of(&a).send_chain, limit);
	IS(move(pieces(&a, limit, false), peer_tail(&b, 0, 64), limit), 0);
	IS(move(pieces(&a, limit + 1, false), peer_tail(&b, 0, 65), 0),
	   -EINVAL);
	close_pair();
}

static void recv_chain(uint64_t limit)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .recv_chain = 64 };

	if (!open_pair(&cfg))
		return;
	IS(config_of(&b).recv_chain, limit);
	IS(move(peer_data(&a, 0, limit), pieces(&b, limit, true), limit), 0);
	IS(move(peer_data(&a, 0, limit), pieces(&b, limit + 1, true), 0),
	   -EINVAL);
	close_pair();
}

/* Exports until one fails; the error. */
static int export_all(struct pier_rdma *rdma, uint64_t *ret)
{
	struct pier_conn *conn;
	const void *desc;
	size_t len;
	int err;

	for (*ret = 0;; ++*ret) {
		err = pier_rdma_export(rdma, &desc, &len, &conn);
		if (err)
			return err;
	}
}

/* Connections of a verbs device take more memory than a guest has. */
static void conns(uint64_t limit)
{
	bool soft = !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = (uint32_t)limit,
		.drain_ms = 60000,	/* so many take a while to close */
	};
	uint64_t count;

	if (!peer_open(&a, dev, NULL, &cfg, LEN))
		return;
	IS(config_of(&a).max_conns, limit);
	if (soft) {
		IS(export_all(a.rdma, &count), -ENOSPC);
		IS(count, limit);
	}
	peer_close(&a);
}

/* Submit empty writes until one fails; the error. */
static int write_all(int *done, uint64_t *ret)
{
	int err;

	for (*ret = 0;; ++*ret) {
		err = pier_rdma_write(a.conn, NULL, NULL, add, done);
		if (err)
			return err;
	}
}

static void send_queue(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .conn_send_queue = 1 << 20,
		.send_queue = 1 << 20, .send_tasks = (uint32_t)limit,
	};
	int done = 0;
	uint64_t sent;

	if (!open_pair(&cfg))
		return;
	IS(config_of(&a).conn_send_queue, limit - PIER__CTL_WRS);
	IS(write_all(&done, &sent), -EAGAIN);
	IS(sent, limit - PIER__CTL_WRS);
	OK(peer_count(&done, (int)sent));
	close_pair();
}

static void recv_queue(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .recv_queue = 1 << 20,
		.recv_tasks = (uint32_t)limit + 1,
	};
	uint64_t posted;
	int done = 0, err;

	if (!open_pair(&cfg))
		return;
	IS(config_of(&a).recv_queue, limit);
	for (posted = 0, err = 0; !err; posted += !err)
		err = pier_rdma_receive(a.rdma, NULL, add, &done);
	IS(err, -EAGAIN);
	IS(posted, limit);
	close_pair();
}

/* More reads than that wait for each other, and all complete. */
static void rd_atomic(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_rd_atomic = 255,
		.conn_send_queue = 1024, .send_queue = 1024,
	};
	int done = 0;
	uint64_t i;

	if (!open_pair(&cfg))
		return;
	IS(config_of(&a).max_rd_atomic, limit);
	for (i = 0; i < limit + 1; i++)
		IS(pier_rdma_read(a.conn, NULL, NULL, add, &done), 0);
	OK(peer_count(&done, (int)limit + 1));
	close_pair();
}

static void gids(uint64_t limit)
{
	struct pier_gid gid;

	IS(pier_devinfo_gid(pier_dev_info(dev), limit - 1, &gid), 0);
	IS(pier_devinfo_gid(pier_dev_info(dev), limit, &gid), -ERANGE);
}

/* A queue of that size is made; a larger one is not asked for. */
static void ctx_sends(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .send_queue = 1 << 20, .send_tasks = 1,
	};

	if (!open_pair(&cfg))
		return;
	IS(config_of(&a).send_queue, limit);
	close_pair();
}

static int never(void *arg)
{
	(void)arg;
	return -ENOTRECOVERABLE;
}

/* A context has as many tasks as its configuration asks for. */
static void take_all(struct pier_func *func, uint64_t limit)
{
	struct pier_task **taken = calloc(limit + 1, sizeof(*taken));
	uint64_t n = 0;
	int err = 0;

	while (taken && n <= limit && !err) {
		err = pier_func_task_call(func, never, NULL, &taken[n]);
		n += !err;
	}
	IS(err, -ENOBUFS);
	IS(n, limit);
	while (taken && n)
		pier_task_free(taken[--n]);
	free(taken);
}

static void func_tasks(uint64_t limit)
{
	struct pier_func_config cfg = {
		.size = sizeof(cfg), .tasks = (uint32_t)limit + 1,
	};
	struct pier_func *func = NULL;
	struct pier_pe *pe = NULL;

	IS(pier_pe_create(&pe), 0);
	IS(pier_func_create(&func), 0);
	IS(pier_func_configure(func, &cfg), -EINVAL);
	cfg.tasks = (uint32_t)limit;
	IS(pier_func_configure(func, &cfg), 0);
	if (IS(pier_ctx_start(pier_func_ctx(func), pe), 0))
		take_all(func, limit);
	pier_func_destroy(func);
	pier_pe_destroy(pe);
}

/* The limit is accepted, and one more is not. */
static void dma_tasks(uint64_t limit)
{
	struct pier_dma_config cfg = {
		.size = sizeof(cfg), .tasks = (uint32_t)limit,
	};
	struct pier_dma *dma = NULL;

	IS(pier_dma_create(dev, &dma), 0);
	IS(pier_dma_configure(dma, &cfg), 0);
	cfg.tasks++;
	IS(pier_dma_configure(dma, &cfg), -EINVAL);
	pier_dma_destroy(dma);
}

static void sha_tasks(uint64_t limit)
{
	struct pier_sha_config cfg = {
		.size = sizeof(cfg), .tasks = (uint32_t)limit,
	};
	struct pier_sha *sha = NULL;

	IS(pier_sha_create(&sha), 0);
	IS(pier_sha_configure(sha, &cfg), 0);
	cfg.tasks++;
	IS(pier_sha_configure(sha, &cfg), -EINVAL);
	pier_sha_destroy(sha);
}

static void graph_tasks(uint64_t limit)
{
	struct pier_graph_config cfg = {
		.size = sizeof(cfg), .tasks = (uint32_t)limit,
	};
	struct pier_graph *graph = NULL;

	IS(pier_graph_create(&graph), 0);
	IS(pier_graph_configure(graph, &cfg), 0);
	cfg.tasks++;
	IS(pier_graph_configure(graph, &cfg), -EINVAL);
	pier_graph_destroy(graph);
}

static void sync_event_tasks(uint64_t limit)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg), .tasks = (uint32_t)limit,
	};
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	IS(pier_sync_event_configure(event, &cfg), 0);
	cfg.tasks++;
	IS(pier_sync_event_configure(event, &cfg), -EINVAL);
	pier_sync_event_destroy(event);
}

static void rdma_tasks(uint64_t limit)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .send_tasks = (uint32_t)limit,
		.recv_tasks = (uint32_t)limit,
	};
	struct pier_rdma *rdma = NULL;

	IS(pier_rdma_create(dev, &rdma), 0);
	IS(pier_rdma_configure(rdma, &cfg), 0);
	cfg.send_tasks++;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	cfg.send_tasks = 0;
	cfg.recv_tasks++;
	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	pier_rdma_destroy(rdma);
}

static void tasks(uint64_t limit)
{
	func_tasks(limit);
	dma_tasks(limit);
	sha_tasks(limit);
	graph_tasks(limit);
	sync_event_tasks(limit);
	rdma_tasks(limit);
}

/* A chain of so many buffers, a power of 2, of a byte each. */
static struct pier_buf *long_chain(struct copier *c, size_t buffers, bool tail)
{
	struct pier_buf *first, *second;

	if (buffers == 1)
		return tail ? copier_tail(c, 0, 1) : copier_data(c, 0, 1);
	first = long_chain(c, buffers / 2, tail);
	second = long_chain(c, buffers / 2, tail);
	IS(pier_buf_chain(first, second), 0);
	return first;
}

static void copy_chain(uint64_t limit)
{
	struct pier_buf_inventory *inv;
	struct pier_buf *src, *dst;
	struct copier c;

	OK(limit == UINT64_MAX);
	if (!copier_open(&c, dev, NULL, LEN))
		return;
	inv = c.inv;
	IS(pier_buf_inventory_create(2 * CHAIN, &c.inv), 0);
	src = long_chain(&c, CHAIN, false);
	dst = long_chain(&c, CHAIN, true);
	c.src[0] = 7;
	IS(copier_copy(&c, src, dst), 0);
	IS(pier_buf_chain_data_len(dst), CHAIN);
	IS(c.dst[0], 7);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_buf_inventory_destroy(c.inv);
	c.inv = inv;
	copier_close(&c);
}

static int hash(struct copier *c, struct pier_buf *src, struct pier_buf *dst)
{
	struct pier_task *task = NULL;
	struct pier_sha *sha = NULL;
	int status;

	IS(pier_sha_create(&sha), 0);
	IS(pier_ctx_start(pier_sha_ctx(sha), c->pe), 0);
	IS(pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &task), 0);
	IS(pier_task_submit(task, 0), 0);
	status = copier_wait(c, task);
	pier_task_free(task);
	pier_sha_destroy(sha);
	return status;
}

static void hash_chain(uint64_t limit)
{
	struct pier_buf *src, *dst, *whole;
	struct pier_buf_inventory *inv;
	struct copier c;

	OK(limit == UINT64_MAX);
	if (!copier_open(&c, dev, NULL, CHAIN))
		return;
	inv = c.inv;
	IS(pier_buf_inventory_create(CHAIN + 2, &c.inv), 0);
	src = long_chain(&c, CHAIN, false);
	whole = copier_data(&c, 0, CHAIN);
	dst = copier_tail(&c, 0, 64);
	IS(hash(&c, src, dst), 0);
	IS(hash(&c, whole, dst), 0);
	OK(!memcmp(c.dst, c.dst + 32, 32));
	pier_buf_put(src);
	pier_buf_put(whole);
	pier_buf_put(dst);
	pier_buf_inventory_destroy(c.inv);
	c.inv = inv;
	copier_close(&c);
}

/* t/ops/dma.c, t/ops/sha.c, t/cm/rdmacm_answer.c reach these. */
static void copy(uint64_t limit)
{
	IS(limit, PIER_DMA_MAX);
}

static void hash_len(uint64_t limit)
{
	IS(limit, PIER_SHA_MAX);
}

static void private_data(uint64_t limit)
{
	IS(limit, PIER_PRIVATE_DATA_MAX);
}

static void comch(uint64_t limit)	/* t/ops/comch.c, comch_data.c */
{
	OK(limit > 0);
}

static void mmap_devs(uint64_t limit)
{
	struct pier_dev **devs = calloc(limit + 1, sizeof(*devs));
	struct pier_mmap *mmap = NULL;
	uint64_t i;

	IS(pier_mmap_create(&mmap), 0);
	for (i = 0; devs && i <= limit; i++) {
		IS(pier_dev_open(NULL, &devs[i]), 0);
		IS(pier_mmap_add_dev(mmap, devs[i]), i < limit ? 0 : -ENOSPC);
	}
	pier_mmap_destroy(mmap);
	while (devs && i)
		pier_dev_close(devs[--i]);
	free(devs);
}

static void buf_refs(uint64_t limit)
{
	struct pier_buf *buf;
	uint64_t i;
	int err = 0;

	if (!peer_open(&a, dev, NULL, NULL, LEN))
		return;
	buf = peer_data(&a, 0, 1);
	for (i = 1; i < limit && !err; i++)
		err = pier_buf_ref(buf);
	IS(err, 0);
	IS(pier_buf_refs(buf), limit);
	IS(pier_buf_ref(buf), -EOVERFLOW);
	while (i--)
		pier_buf_put(buf);
	peer_close(&a);
}

static void (*const tries[])(uint64_t limit) = {
	[PIER_LIMIT_MESSAGE] = message,
	[PIER_LIMIT_MMAP] = range,
	[PIER_LIMIT_INLINE] = inline_size,
	[PIER_LIMIT_SEND_SGE] = send_chain,
	[PIER_LIMIT_RECV_SGE] = recv_chain,
	[PIER_LIMIT_CONNS] = conns,
	[PIER_LIMIT_SEND_QUEUE] = send_queue,
	[PIER_LIMIT_RECV_QUEUE] = recv_queue,
	[PIER_LIMIT_RD_ATOMIC] = rd_atomic,
	[PIER_LIMIT_GIDS] = gids,
	[PIER_LIMIT_CTX_SENDS] = ctx_sends,
	[PIER_LIMIT_TASKS] = tasks,
	[PIER_LIMIT_COPY] = copy,
	[PIER_LIMIT_COPY_CHAIN] = copy_chain,
	[PIER_LIMIT_HASH] = hash_len,
	[PIER_LIMIT_HASH_CHAIN] = hash_chain,
	[PIER_LIMIT_MMAP_DEVS] = mmap_devs,
	[PIER_LIMIT_BUF_REFS] = buf_refs,
	[PIER_LIMIT_PRIVATE_DATA] = private_data,
	[PIER_LIMIT_COMCH_NAME] = comch,
	[PIER_LIMIT_COMCH_MESSAGE] = comch,
	[PIER_LIMIT_COMCH_RECV_QUEUE] = comch,
	[PIER_LIMIT_COMCH_CLIENTS] = comch,
	[PIER_LIMIT_COMCH_DATA] = comch,
	[PIER_LIMIT_COMCH_CHAIN] = comch,
	[PIER_LIMIT_COMCH_CONSUMERS] = comch,
	[PIER_LIMIT_COMCH_IMM] = comch,
};

#define TRIES (sizeof(tries) / sizeof(tries[0]))

static void limits_are_what_can_be_had(void)
{
	size_t i;

	for (i = 0; i < TRIES; i++) {
		bool held = tap_holds();

		tries[i](peer_limit(dev, (enum pier_limit)i));
		if (held && !tap_holds())
			tap_note("limit %zu", i);
	}
}

static void every_limit_is_tried(void)
{
	uint64_t value;

	IS(pier_devinfo_limit(pier_dev_info(dev), (enum pier_limit)TRIES,
			      &value), -EINVAL);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(limits_are_what_can_be_had);
	TEST(every_limit_is_tried);
	pier_dev_close(dev);
	return tap_done();
}
