/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>

#include <doca_dma.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/* What another process exports for DMA and for RDMA, and its sync events. */

#define LEN 4000
#define FAR 4096	/* where what is the other's is copied to */
#define ALL UINT64_MAX

static struct pair pair;
static struct desk desk;	/* each process has its own */
static struct doca_mmap *far;	/* memory of the other process */

static void fill(char *memory, int seed)
{
	for (int i = 0; i < LEN; i++)
		memory[i] = (char)(i * seed + i / 256);
}

static bool has(const char *memory, int seed)
{
	char text[LEN];

	fill(text, seed);
	return !memcmp(memory, text, LEN);
}

/* Both processes: neither goes on before the other is here, too. */
static bool meet(struct pair *with)
{
	char byte = 0;

	return pair_send(with, &byte, 1) && pair_recv(with, &byte, 1) == 1;
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
}

/* Import the memory that the other process describes next. */
static void import_memory(struct pair *from)
{
	uint8_t desc[4096];
	int len = pair_recv(from, desc, sizeof(desc));

	far = NULL;
	if (OK(len > 0))
		IS(doca_mmap_create_from_export(NULL, desc, (size_t)len,
						desk.dev, &far), DOCA_SUCCESS);
}

/* The first LEN bytes of that: data, or space. */
static struct doca_buf *far_buf(size_t data_len)
{
	struct doca_buf *buf = NULL;
	void *base = NULL;
	size_t all = 0;

	IS(doca_mmap_get_memrange(far, &base, &all), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_by_args(desk.inv, far, base, LEN, base,
					  data_len, &buf), DOCA_SUCCESS);
	return buf;
}

/* Submit @job of @type, and have its event. */
static doca_error_t run(struct doca_ctx *ctx, int type, struct doca_job *job,
			void *result)
{
	struct doca_event event = { .result.ptr = result };
	doca_error_t error;

	job->type = type;
	job->ctx = ctx;
	IS(doca_workq_submit(desk.workq, job), DOCA_SUCCESS);
	error = desk_retrieve(&desk, &event);
	IS(event.type, type);
	return error;
}

/* DMA: the exporter only sleeps between two meetings. */

static int lends_memory(struct pair *me, void *access)
{
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	desk_open(&desk);
	fill(desk.memory, 3);
	IS(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, desk.memory, LEN), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, *(uint32_t *)access), DOCA_SUCCESS);
	IS(doca_mmap_dev_add(mmap, desk.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_dpu(mmap, desk.dev, &desc, &len), DOCA_SUCCESS);
	OK(pair_send(me, desc, len) && meet(me));
	OK(has(desk.memory,
	       *(uint32_t *)access == DOCA_ACCESS_DPU_READ_WRITE ? 5 : 3));
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	desk_close(&desk);
	return 0;
}

static struct doca_dma *dma;

static void borrow(uint32_t access)
{
	pair_start(&pair, lends_memory, &access);
	desk_open(&desk);
	IS(doca_dma_create(&dma), DOCA_SUCCESS);
	desk_add(&desk, doca_dma_as_ctx(dma));
	import_memory(&pair);
}

static void give_back(void)
{
	IS(doca_mmap_destroy(far), DOCA_SUCCESS);
	desk_rm(&desk, doca_dma_as_ctx(dma));
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	desk_close(&desk);
}

/* From the other process; and to it. */
static doca_error_t copy(bool to)
{
	struct doca_buf *near = to ? desk_data(&desk, 0, LEN) :
				     desk_space(&desk, FAR, LEN);
	struct doca_buf *other = far_buf(to ? 0 : LEN);
	struct doca_dma_job_memcpy job = {
		.src_buff = to ? near : other,
		.dst_buff = to ? other : near,
	};
	doca_error_t error = run(doca_dma_as_ctx(dma), DOCA_DMA_JOB_MEMCPY,
				 &job.base, NULL);

	put(near);
	put(other);
	return error;
}

static void memory_of_another_process_is_copied(void)
{
	borrow(DOCA_ACCESS_DPU_READ_WRITE);
	IS(copy(false), DOCA_SUCCESS);
	OK(has(desk.memory + FAR, 3));
	fill(desk.memory, 5);
	IS(copy(true), DOCA_SUCCESS);
	OK(meet(&pair));
	IS(pair_wait(&pair), 0);
	IS(copy(false), DOCA_ERROR_IO_FAILED);	/* it has ended */
	give_back();
}

static void memory_for_reading_is_not_written(void)
{
	borrow(DOCA_ACCESS_DPU_READ_ONLY);
	IS(copy(false), DOCA_SUCCESS);
	OK(has(desk.memory + FAR, 3));
	fill(desk.memory, 5);
	IS(copy(true), DOCA_ERROR_IO_FAILED);
	OK(meet(&pair));
	IS(pair_wait(&pair), 0);
	give_back();
}

/* Sync events: the owner waits in calls. */

static int answers(struct pair *me, void *arg)
{
	struct doca_sync_event *event;
	const uint8_t *desc;
	size_t len;

	(void)arg;
	desk_open(&desk);
	event = desk_event(&desk);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_dpu(event, desk.dev, &desc, &len),
	   DOCA_SUCCESS);
	OK(pair_send(me, desc, len));
	IS(doca_sync_event_wait_gt_yield(event, 6, ALL), DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 1, NULL), DOCA_SUCCESS);
	OK(meet(me));
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	desk_close(&desk);
	return 0;
}

static struct doca_sync_event *import_event(void)
{
	struct doca_sync_event *event = NULL;
	uint8_t desc[4096];
	int len;

	pair_start(&pair, answers, NULL);
	desk_open(&desk);
	len = pair_recv(&pair, desc, sizeof(desc));
	if (OK(len > 0))
		IS(doca_sync_event_create_from_export(desk.dev, desc,
						      (size_t)len, &event),
		   DOCA_SUCCESS);
	return event;
}

static void an_event_of_another_process_is_set_and_waited_for(void)
{
	struct doca_sync_event *event = import_event();
	uint64_t value = 99;

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 2, &value), DOCA_SUCCESS);
	IS(value, 5);
	IS(doca_sync_event_wait_gt(event, 7, ALL), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 8);
	OK(meet(&pair));
	IS(pair_wait(&pair), 0);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	desk_close(&desk);
}

static void jobs_set_an_event_of_another_process_and_wait(void)
{
	struct doca_sync_event_job_update_set set = { .value = 7 };
	struct doca_sync_event_job_wait wait = { .value = 7, .mask = ALL };
	struct doca_sync_event_job_get get = { .base.flags = 0 };
	struct doca_sync_event_result result = { .value = 99 };
	struct doca_sync_event *event = import_event();
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(ctx, desk.workq), DOCA_SUCCESS);
	IS(run(ctx, DOCA_SYNC_EVENT_JOB_UPDATE_SET, &set.base, NULL),
	   DOCA_SUCCESS);
	IS(run(ctx, DOCA_SYNC_EVENT_JOB_WAIT, &wait.base, NULL), DOCA_SUCCESS);
	IS(run(ctx, DOCA_SYNC_EVENT_JOB_GET, &get.base, &result),
	   DOCA_SUCCESS);
	IS(result.value, 8);
	OK(meet(&pair));
	IS(pair_wait(&pair), 0);
	IS(doca_ctx_workq_rm(ctx, desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	desk_close(&desk);
}

/* RDMA: both processes do the same until they are connected. */

static struct doca_rdma *rdma;
static struct doca_ctx *ctx;

static void connect_to(struct pair *with)
{
	uint8_t theirs[4096];
	const void *desc;
	size_t len;
	int got;

	desk_open(&desk);
	IS(doca_rdma_create(&rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_permissions(rdma, DOCA_ACCESS_RDMA_READ |
					   DOCA_ACCESS_RDMA_WRITE),
	   DOCA_SUCCESS);
	ctx = doca_rdma_as_ctx(rdma);
	desk_add(&desk, ctx);
	IS(doca_rdma_export(rdma, &desc, &len), DOCA_SUCCESS);
	OK(pair_send(with, desc, len));
	got = pair_recv(with, theirs, sizeof(theirs));
	if (OK(got > 0))
		IS(doca_rdma_connect(rdma, theirs, (size_t)got), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(desk.mmap, desk.dev, &desc, &len),
	   DOCA_SUCCESS);
	OK(pair_send(with, desc, len));
	import_memory(with);
}

static void disconnect(void)
{
	IS(doca_mmap_destroy(far), DOCA_SUCCESS);
	desk_rm(&desk, ctx);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	desk_close(&desk);
}

static int responds(struct pair *me, void *arg)
{
	struct doca_rdma_job_recv recv = { .dst_buff = NULL };
	struct doca_rdma_result result = { .result = DOCA_ERROR_UNKNOWN };

	(void)arg;
	connect_to(me);
	fill(desk.memory, 3);
	OK(meet(me));
	IS(run(ctx, DOCA_RDMA_JOB_RECV, &recv.base, &result), DOCA_SUCCESS);
	IS(result.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	IS(ntohl(result.immediate_data), 77);
	OK(has(desk.memory, 5));
	OK(meet(me));
	disconnect();
	return 0;
}

static void memory_of_another_process_is_read_and_written(void)
{
	struct doca_rdma_job_read_write move = { .dst_buff = NULL };

	pair_start(&pair, responds, NULL);
	connect_to(&pair);
	OK(meet(&pair));
	move.src_buff = far_buf(LEN);
	move.dst_buff = desk_space(&desk, FAR, LEN);
	IS(run(ctx, DOCA_RDMA_JOB_READ, &move.base, NULL), DOCA_SUCCESS);
	OK(has(desk.memory + FAR, 3));
	put((struct doca_buf *)(uintptr_t)move.src_buff);
	put(move.dst_buff);
	fill(desk.memory, 5);
	move.src_buff = desk_data(&desk, 0, LEN);
	move.dst_buff = far_buf(0);
	move.immediate_data = htonl(77);
	IS(run(ctx, DOCA_RDMA_JOB_WRITE_IMM, &move.base, NULL), DOCA_SUCCESS);
	put((struct doca_buf *)(uintptr_t)move.src_buff);
	put(move.dst_buff);
	OK(meet(&pair));
	disconnect();
	IS(pair_wait(&pair), 0);
}

/* Each forks before it opens a device. */
int main(void)
{
	struct doca_dev *dev = desk_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	TEST(memory_of_another_process_is_copied);
	TEST(memory_for_reading_is_not_written);
	TEST(an_event_of_another_process_is_set_and_waited_for);
	TEST(jobs_set_an_event_of_another_process_and_wait);
	TEST(memory_of_another_process_is_read_and_written);
	return tap_done();
}
