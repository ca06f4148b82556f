/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/lane.h"
#include "t/lib/lane_op.h"
#include "t/lib/limit.h"

#define ACCESS (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)
#define BUFS (4 * LANE_SLOTS)

uint64_t lane_random(struct lane *lane)
{
	uint64_t x = lane->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return lane->random = x;
}

uint8_t *lane_source(const struct lane_end *end, unsigned int slot)
{
	return end->mem + slot * LANE_SLOT;
}

uint8_t *lane_target(const struct lane_end *end, unsigned int slot)
{
	return lane_source(end, slot + LANE_SLOTS);
}

void lane_done(struct pier_task *task, void *arg)
{
	struct lane *lane = arg;

	lane->pending--;
	if (!lane->error)
		lane->error = pier_task_status(task);
}

void lane_expect(struct lane *lane, const void *got, const void *want,
		 size_t len)
{
	struct lane_check check = { got, want, len };

	lane->checks[lane->check_count++] = check;
}

int lane_keep(struct lane *lane, int err, struct pier_buf **buf)
{
	if (!err)
		lane->bufs[lane->buf_count++] = *buf;
	return err;
}

int lane_take(struct lane *lane, int err, struct pier_task **task)
{
	if (!err)
		lane->tasks[lane->task_count++] = *task;
	return err;
}

int lane_run_task(struct lane *lane, int err, struct pier_task **task)
{
	err = lane_take(lane, err, task);
	if (err)
		return err;
	pier_task_set_done(*task, lane_done, lane);
	return lane_submitted(lane, pier_task_submit(*task, 0), NULL, NULL);
}

/* What was used until all have completed. */
static void lane_release(struct lane *lane)
{
	while (lane->task_count)
		pier_task_free(lane->tasks[--lane->task_count]);
	while (lane->buf_count)
		pier_buf_put(lane->bufs[--lane->buf_count]);
}

/* A task was submitted with these, which may be NULL; they are put. */
int lane_submitted(struct lane *lane, int err, struct pier_buf *src,
		   struct pier_buf *dst)
{
	lane->pending += !err;
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

/* Post a receive at the other end. */
static int post_receive(const struct lane_op *op, bool with_buffer)
{
	struct pier_buf *dst = NULL;
	int err = 0;

	if (with_buffer)
		err = pier_buf_by_addr(op->to->inv, op->to->mmap,
				       lane_target(op->to, op->slot), op->len,
				       &dst);
	if (!err)
		err = pier_rdma_receive(op->to->rdma, dst, lane_done, op->lane);
	return lane_submitted(op->lane, err, dst, NULL);
}

static int run_send(const struct lane_op *op, bool with_imm)
{
	struct pier_buf *src = NULL;
	int err = post_receive(op, true);

	if (!err)
		err = pier_buf_by_data(op->from->inv, op->from->mmap,
				       lane_source(op->from, op->slot), op->len,
				       &src);
	if (!err && with_imm)
		err = pier_rdma_send_imm(op->from->conn, src, op->slot,
					 lane_done, op->lane);
	else if (!err)
		err = pier_rdma_send(op->from->conn, src, lane_done, op->lane);
	lane_expect(op->lane, lane_target(op->to, op->slot),
		    lane_source(op->from, op->slot), op->len);
	return lane_submitted(op->lane, err, src, NULL);
}

static int send_plain(const struct lane_op *op)
{
	return run_send(op, false);
}

static int send_imm(const struct lane_op *op)
{
	return run_send(op, true);
}

static int run_write(const struct lane_op *op, bool with_imm)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err = with_imm ? post_receive(op, false) : 0;

	if (!err)
		err = pier_buf_by_data(op->from->inv, op->from->mmap,
				       lane_source(op->from, op->slot), op->len,
				       &src);
	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->remote,
				       lane_target(op->to, op->slot), op->len,
				       &dst);
	if (!err && with_imm)
		err = pier_rdma_write_imm(op->from->conn, src, dst, op->slot,
					  lane_done, op->lane);
	else if (!err)
		err = pier_rdma_write(op->from->conn, src, dst, lane_done,
				      op->lane);
	lane_expect(op->lane, lane_target(op->to, op->slot),
		    lane_source(op->from, op->slot), op->len);
	return lane_submitted(op->lane, err, src, dst);
}

static int write_plain(const struct lane_op *op)
{
	return run_write(op, false);
}

static int write_imm(const struct lane_op *op)
{
	return run_write(op, true);
}

static int read_plain(const struct lane_op *op)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err =
		pier_buf_by_data(op->from->inv, op->from->remote,
				 lane_source(op->to, op->slot), op->len, &src);

	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->mmap,
				       lane_target(op->from, op->slot), op->len,
				       &dst);
	if (!err)
		err = pier_rdma_read(op->from->conn, src, dst, lane_done,
				     op->lane);
	lane_expect(op->lane, lane_target(op->from, op->slot),
		    lane_source(op->to, op->slot), op->len);
	return lane_submitted(op->lane, err, src, dst);
}

/* On a word of the other end's targets; its old value comes to ours. */
static int atomic_any(const struct lane_op *op)
{
	uint64_t *want = op->lane->words[op->slot];
	uint64_t change = lane_random(op->lane);
	struct pier_buf *word = NULL, *old = NULL;
	bool adds = change & 1;
	int err;

	memcpy(&want[0], lane_target(op->to, op->slot), sizeof(want[0]));
	want[1] = adds ? want[0] + change : change;
	err = pier_buf_by_addr(op->from->inv, op->from->remote,
			       lane_target(op->to, op->slot), 8, &word);
	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->mmap,
				       lane_target(op->from, op->slot), 8,
				       &old);
	if (!err && adds)
		err = pier_rdma_fetch_add(op->from->conn, word, old, change,
					  lane_done, op->lane);
	else if (!err)
		err = pier_rdma_compare_swap(op->from->conn, word, old, want[0],
					     change, lane_done, op->lane);
	lane_expect(op->lane, lane_target(op->from, op->slot), &want[0], 8);
	lane_expect(op->lane, lane_target(op->to, op->slot), &want[1], 8);
	return lane_submitted(op->lane, err, word, old);
}

/* Within one end, by the CPU. */
static int copy_local(const struct lane_op *op)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err =
		pier_buf_by_data(op->to->inv, op->to->mmap,
				 lane_source(op->to, op->slot), op->len, &src);

	if (!err)
		err = pier_buf_by_addr(op->to->inv, op->to->mmap,
				       lane_target(op->to, op->slot), op->len,
				       &dst);
	if (!err)
		err = pier_dma_copy(op->lane->dma, src, dst, lane_done,
				    op->lane);
	lane_expect(op->lane, lane_target(op->to, op->slot),
		    lane_source(op->to, op->slot), op->len);
	return lane_submitted(op->lane, err, src, dst);
}

static int (*const operations[])(const struct lane_op *op) = {
	send_plain, send_imm, write_plain, write_imm, read_plain, atomic_any,
	copy_local, lane_call, lane_hash, lane_graph, lane_event,
	lane_far_event,
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* New sources and targets. */
static void fill(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		uint8_t *mem = lane->ends[i].mem;

		for (size_t at = 0; at < LANE_MEM; at += 8) {
			uint64_t word = lane_random(lane);

			memcpy(mem + at, &word, sizeof(word));
		}
	}
}

int lane_submit(struct lane *lane)
{
	unsigned int direction = lane_random(lane) & 1;
	int err = 0;

	fill(lane);
	lane->check_count = 0;
	lane->far_events = 0;
	for (unsigned int slot = 0; !err && slot < LANE_SLOTS; slot++) {
		struct lane_op op = {
			.lane = lane,
			.from = &lane->ends[direction],
			.to = &lane->ends[!direction],
			.slot = slot,
			.len = 1 + lane_random(lane) % LANE_SLOT,
		};

		err = operations[lane_random(lane) % OPERATIONS](&op);
	}
	return err;
}

static int compare(struct lane *lane)
{
	for (unsigned int i = 0; i < lane->check_count; i++) {
		const struct lane_check *check = &lane->checks[i];

		if (memcmp(check->got, check->want, check->len))
			return -EBADMSG;
	}
	lane->operations += LANE_SLOTS;
	return 0;
}

int lane_await(struct lane *lane)
{
	int err = 0;

	while (!err && lane->pending)
		err = pier_pe_wait(lane->pe, LIMIT_MS);
	if (!err)
		err = lane->error;
	lane_release(lane);
	return err ? err : compare(lane);
}

int lane_run(struct lane *lane, unsigned int batches)
{
	int err = 0;

	while (!err && batches--) {
		err = lane_submit(lane);
		if (!err)
			err = lane_await(lane);
	}
	return err;
}

static int open_end(struct lane *lane, struct lane_end *end)
{
	int err = pier_rdma_create(lane->dev, &end->rdma);

	end->mem = aligned_alloc(LANE_SLOT, LANE_MEM);
	if (!end->mem)
		return -ENOMEM;
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(end->rdma), lane->pe);
	if (!err)
		err = pier_mmap_map(lane->dev, end->mem, LANE_MEM, ACCESS,
				    &end->mmap);
	return err ? err : pier_buf_inventory_create(BUFS, &end->inv);
}

/* Import the memory of @other. */
static int import(struct lane_end *end, struct lane_end *other)
{
	const void *desc;
	size_t len;
	int err = pier_mmap_export(other->mmap, &desc, &len);

	return err ? err : pier_mmap_create_from_export(NULL, desc, len,
							&end->remote);
}

int lane_open(struct lane *lane, struct pier_dev *dev, struct pier_pe *pe,
	      uint64_t seed)
{
	int err;

	memset(lane, 0, sizeof(*lane));
	lane->dev = dev;
	lane->pe = pe;
	lane->random = seed + UINT64_C(0x9e3779b97f4a7c15);
	err = open_end(lane, &lane->ends[0]);
	if (!err)
		err = open_end(lane, &lane->ends[1]);
	if (!err)
		err = import(&lane->ends[0], &lane->ends[1]);
	if (!err)
		err = import(&lane->ends[1], &lane->ends[0]);
	if (!err)
		err = pier_dma_create(dev, &lane->dma);
	if (!err)
		err = pier_ctx_start(pier_dma_ctx(lane->dma), pe);
	if (!err)
		err = lane_cpu_open(lane);
	return err ? err : lane_events_open(lane);
}

static void close_end(struct lane_end *end)
{
	pier_rdma_destroy(end->rdma);
	pier_buf_inventory_destroy(end->inv);
	pier_mmap_destroy(end->remote);
	pier_mmap_destroy(end->mmap);
	free(end->mem);
}

void lane_close(struct lane *lane)
{
	lane_release(lane);
	lane_events_close(lane);
	lane_cpu_close(lane);
	pier_dma_destroy(lane->dma);
	close_end(&lane->ends[0]);
	close_end(&lane->ends[1]);
}

int lane_connect(struct lane *lane)
{
	struct lane_end *a = &lane->ends[0], *b = &lane->ends[1];
	const void *a_desc, *b_desc;
	size_t a_len, b_len;
	int err = pier_rdma_export(a->rdma, &a_desc, &a_len, &a->conn);

	if (!err)
		err = pier_rdma_export(b->rdma, &b_desc, &b_len, &b->conn);
	if (!err)
		err = pier_rdma_connect(a->conn, b_desc, b_len);
	if (!err)
		err = pier_rdma_connect(b->conn, a_desc, a_len);
	if (!err)
		err = pier_conn_wait(a->conn, LIMIT_MS);
	return err ? err : pier_conn_wait(b->conn, LIMIT_MS);
}

/* At the server's end. */
static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	struct lane *lane = ctx_user_data;

	(void)user_data;
	lane->ends[1].conn = conn;
	lane->error = pier_conn_accept(conn, NULL, 0);
}

static int connect_to(struct lane *lane, const char *address, uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = address,
		.port = port,
	};
	struct lane_end *a = &lane->ends[0], *b = &lane->ends[1];
	int err = pier_rdma_connect_to(a->rdma, &cfg, &a->conn);

	if (!err)
		err = pier_conn_wait(a->conn, LIMIT_MS);
	if (!err)
		err = lane->error;
	return err ? err : pier_conn_wait(b->conn, LIMIT_MS);
}

int lane_connect_to(struct lane *lane, const char *address)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_rdma *rdma = lane->ends[1].rdma;
	struct pier_listener *listener;
	int err;

	pier_ctx_set_user_data(pier_rdma_ctx(rdma), lane);
	pier_rdma_set_conn_callbacks(rdma, requested, NULL, NULL, NULL);
	err = pier_rdma_listen(rdma, &cfg, &listener);
	if (err)
		return err;
	err = connect_to(lane, address, pier_listener_port(listener));
	pier_listener_destroy(listener);
	return err;
}

void lane_disconnect(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		pier_conn_destroy(lane->ends[i].conn);
		lane->ends[i].conn = NULL;
	}
}
