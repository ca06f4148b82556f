/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/lane.h"
#include "t/lib/limit.h"

#define ACCESS (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)
#define BUFS (4 * LANE_SLOTS)

static uint64_t next_random(struct lane *lane)
{
	uint64_t x = lane->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return lane->random = x;
}

/* One operation: from @src of an end to @dst of the other, @len bytes. */
struct lane_op {
	struct lane *lane;
	struct lane_end *from, *to;
	unsigned int slot;
	size_t len;
};

static uint8_t *source(const struct lane_end *end, unsigned int slot)
{
	return end->mem + slot * LANE_SLOT;
}

static uint8_t *target(const struct lane_end *end, unsigned int slot)
{
	return source(end, slot + LANE_SLOTS);
}

static void done(struct pier_task *task, void *arg)
{
	struct lane *lane = arg;

	lane->pending--;
	if (!lane->error)
		lane->error = pier_task_status(task);
}

static void expect(struct lane *lane, const void *got, const void *want,
		   size_t len)
{
	struct lane_check check = { got, want, len };

	lane->checks[lane->check_count++] = check;
}

/* A task was submitted with these, which may be NULL; they are put. */
static int submitted(struct lane *lane, int err, struct pier_buf *src,
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
				       target(op->to, op->slot), op->len, &dst);
	if (!err)
		err = pier_rdma_receive(op->to->rdma, dst, done, op->lane);
	return submitted(op->lane, err, dst, NULL);
}

static int run_send(const struct lane_op *op, bool with_imm)
{
	struct pier_buf *src = NULL;
	int err = post_receive(op, true);

	if (!err)
		err = pier_buf_by_data(op->from->inv, op->from->mmap,
				       source(op->from, op->slot), op->len,
				       &src);
	if (!err && with_imm)
		err = pier_rdma_send_imm(op->from->conn, src, op->slot, done,
					 op->lane);
	else if (!err)
		err = pier_rdma_send(op->from->conn, src, done, op->lane);
	expect(op->lane, target(op->to, op->slot), source(op->from, op->slot),
	       op->len);
	return submitted(op->lane, err, src, NULL);
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
				       source(op->from, op->slot), op->len,
				       &src);
	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->remote,
				       target(op->to, op->slot), op->len, &dst);
	if (!err && with_imm)
		err = pier_rdma_write_imm(op->from->conn, src, dst, op->slot,
					  done, op->lane);
	else if (!err)
		err = pier_rdma_write(op->from->conn, src, dst, done, op->lane);
	expect(op->lane, target(op->to, op->slot), source(op->from, op->slot),
	       op->len);
	return submitted(op->lane, err, src, dst);
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
	int err = pier_buf_by_data(op->from->inv, op->from->remote,
				   source(op->to, op->slot), op->len, &src);

	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->mmap,
				       target(op->from, op->slot), op->len,
				       &dst);
	if (!err)
		err = pier_rdma_read(op->from->conn, src, dst, done, op->lane);
	expect(op->lane, target(op->from, op->slot), source(op->to, op->slot),
	       op->len);
	return submitted(op->lane, err, src, dst);
}

/* On a word of the other end's targets; its old value comes to ours. */
static int atomic_any(const struct lane_op *op)
{
	uint64_t *want = op->lane->words[op->slot];
	uint64_t change = next_random(op->lane);
	struct pier_buf *word = NULL, *old = NULL;
	bool adds = change & 1;
	int err;

	memcpy(&want[0], target(op->to, op->slot), sizeof(want[0]));
	want[1] = adds ? want[0] + change : change;
	err = pier_buf_by_addr(op->from->inv, op->from->remote,
			       target(op->to, op->slot), 8, &word);
	if (!err)
		err = pier_buf_by_addr(op->from->inv, op->from->mmap,
				       target(op->from, op->slot), 8, &old);
	if (!err && adds)
		err = pier_rdma_fetch_add(op->from->conn, word, old, change,
					  done, op->lane);
	else if (!err)
		err = pier_rdma_compare_swap(op->from->conn, word, old,
					     want[0], change, done, op->lane);
	expect(op->lane, target(op->from, op->slot), &want[0], 8);
	expect(op->lane, target(op->to, op->slot), &want[1], 8);
	return submitted(op->lane, err, word, old);
}

/* Within one end, by the CPU. */
static int copy_local(const struct lane_op *op)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err = pier_buf_by_data(op->to->inv, op->to->mmap,
				   source(op->to, op->slot), op->len, &src);

	if (!err)
		err = pier_buf_by_addr(op->to->inv, op->to->mmap,
				       target(op->to, op->slot), op->len, &dst);
	if (!err)
		err = pier_dma_copy(op->lane->dma, src, dst, done, op->lane);
	expect(op->lane, target(op->to, op->slot), source(op->to, op->slot),
	       op->len);
	return submitted(op->lane, err, src, dst);
}

static int (*const operations[])(const struct lane_op *op) = {
	send_plain, send_imm, write_plain, write_imm, read_plain, atomic_any,
	copy_local,
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* New sources and targets. */
static void fill(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		uint8_t *mem = lane->ends[i].mem;

		for (size_t at = 0; at < LANE_MEM; at += 8) {
			uint64_t word = next_random(lane);

			memcpy(mem + at, &word, sizeof(word));
		}
	}
}

int lane_submit(struct lane *lane)
{
	unsigned int direction = next_random(lane) & 1;
	int err = 0;

	fill(lane);
	lane->check_count = 0;
	for (unsigned int slot = 0; !err && slot < LANE_SLOTS; slot++) {
		struct lane_op op = {
			.lane = lane,
			.from = &lane->ends[direction],
			.to = &lane->ends[!direction],
			.slot = slot,
			.len = 1 + next_random(lane) % LANE_SLOT,
		};

		err = operations[next_random(lane) % OPERATIONS](&op);
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

	return err ? err :
		     pier_mmap_create_from_export(desc, len, &end->remote);
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
	return err ? err : pier_ctx_start(pier_dma_ctx(lane->dma), pe);
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

void lane_disconnect(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		pier_conn_destroy(lane->ends[i].conn);
		lane->ends[i].conn = NULL;
	}
}
