/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <poll.h>

#include <doca_rdma.h>

#include "t/doca-2.0/desk.h"
#include "t/lib/tap.h"

/* RDMA jobs of DOCA 2.0, between two contexts of one process. */

#define FAR 4096	/* where the peer's text and space are */
#define LEN 100

static struct rdma_end {
	struct desk desk;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *far;	/* memory of the other */
} a, b;

static void open_end(struct rdma_end *end)
{
	desk_open(&end->desk);
	IS(doca_rdma_create(&end->rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_permissions(end->rdma, DOCA_ACCESS_RDMA_READ |
				     DOCA_ACCESS_RDMA_WRITE |
				     DOCA_ACCESS_RDMA_ATOMIC), DOCA_SUCCESS);
	end->ctx = doca_rdma_as_ctx(end->rdma);
	desk_add(&end->desk, end->ctx);
	for (size_t i = 0; i < DESK_BYTES; i++)
		end->desk.memory[i] = (char)(i * 3 + i / 256);
}

static void close_end(struct rdma_end *end)
{
	if (end->far)
		IS(doca_mmap_destroy(end->far), DOCA_SUCCESS);
	end->far = NULL;
	desk_rm(&end->desk, end->ctx);
	IS(doca_rdma_destroy(end->rdma), DOCA_SUCCESS);
	desk_close(&end->desk);
}

static enum doca_rdma_state state(const struct rdma_end *end)
{
	enum doca_rdma_state ret = DOCA_RDMA_STATE_ERROR;

	IS(doca_rdma_get_state(end->rdma, &ret), DOCA_SUCCESS);
	return ret;
}

/* What a program carries from @from to @to. */
static void carry(struct rdma_end *from, struct rdma_end *to)
{
	const void *desc;
	size_t len;

	IS(doca_rdma_export(from->rdma, &desc, &len), DOCA_SUCCESS);
	IS(doca_rdma_connect(to->rdma, desc, len), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(from->desk.mmap, from->desk.dev, &desc, &len),
	   DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, to->desk.dev,
					&to->far), DOCA_SUCCESS);
}

static void begin(void)
{
	const void *desc;
	size_t len;

	open_end(&a);
	open_end(&b);
	IS(doca_rdma_export(a.rdma, &desc, &len), DOCA_SUCCESS);
	carry(&b, &a);
	carry(&a, &b);
}

static void finish(void)
{
	close_end(&a);
	close_end(&b);
}

static void put(struct doca_buf *buf)
{
	if (buf)
		IS(doca_buf_refcount_rm(buf, NULL), DOCA_SUCCESS);
}

/* Of @end's inventory, at an offset of the memory of the other one. */
static struct doca_buf *far(struct rdma_end *end, size_t at, size_t len,
			    size_t data_len)
{
	struct doca_buf *buf = NULL;
	void *base;
	size_t all;

	IS(doca_mmap_get_memrange(end->far, &base, &all), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_by_args(end->desk.inv, end->far,
					  (char *)base + at, len,
					  (char *)base + at, data_len, &buf),
	   DOCA_SUCCESS);
	return buf;
}

static doca_error_t submit(struct rdma_end *end, int type, struct doca_job *job)
{
	job->type = type;
	job->ctx = end->ctx;
	job->user_data.u64 = (uint64_t)type + 1;
	return doca_workq_submit(end->desk.workq, job);
}

/* Retrieve the event of a job of @type. */
static doca_error_t ended(struct rdma_end *end, int type,
			  struct doca_rdma_result *result)
{
	struct doca_event event = { .result.ptr = result };
	doca_error_t error = desk_retrieve(&end->desk, &event);

	IS(event.type, type);
	IS(event.user_data.u64, type + 1);
	return error;
}

/* Each of the four pairs of a request and the receive that it completes. */
static void pass(int type, struct doca_job *job, doca_be32_t imm,
		 enum doca_rdma_opcode_t opcode, size_t received)
{
	struct doca_buf *space = desk_space(&b.desk, FAR, LEN);
	struct doca_rdma_job_recv recv = { .dst_buff = space };
	struct doca_rdma_result result;
	size_t len = 0;

	IS(submit(&b, DOCA_RDMA_JOB_RECV, &recv.base), DOCA_SUCCESS);
	IS(submit(&a, type, job), DOCA_SUCCESS);
	IS(ended(&a, type, NULL), DOCA_SUCCESS);
	IS(ended(&b, DOCA_RDMA_JOB_RECV, &result), DOCA_SUCCESS);
	IS(result.result, DOCA_SUCCESS);
	IS(result.opcode, opcode);
	IS(result.immediate_data, imm);
	IS(doca_buf_get_data_len(space, &len), DOCA_SUCCESS);
	IS(len, received);
	put(space);
}

static void messages_pass_with_and_without_an_immediate(void)
{
	struct doca_rdma_job_send send = { .immediate_data = htonl(7) };
	struct doca_buf *text;

	begin();
	text = desk_data(&a.desk, 10, LEN);
	send.src_buff = text;
	pass(DOCA_RDMA_JOB_SEND, &send.base, 0, DOCA_RDMA_OPCODE_RECV_SEND,
	     LEN);
	IS(memcmp(a.desk.memory + 10, b.desk.memory + FAR, LEN), 0);
	pass(DOCA_RDMA_JOB_SEND_IMM, &send.base, htonl(7),
	     DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM, LEN);
	send.src_buff = NULL;
	pass(DOCA_RDMA_JOB_SEND, &send.base, 0, DOCA_RDMA_OPCODE_RECV_SEND, 0);
	put(text);
	finish();
}

static void memory_is_read_and_written(void)
{
	struct doca_rdma_job_read_write move = { .immediate_data = htonl(9) };
	struct doca_buf *near, *there;

	begin();
	near = desk_space(&a.desk, FAR, LEN);
	there = far(&a, 10, LEN, LEN);
	memset(a.desk.memory + FAR, 0, LEN);
	move.src_buff = there;
	move.dst_buff = near;
	IS(submit(&a, DOCA_RDMA_JOB_READ, &move.base), DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_READ, NULL), DOCA_SUCCESS);
	IS(memcmp(a.desk.memory + FAR, b.desk.memory + 10, LEN), 0);
	put(there);
	there = far(&a, 5000, LEN, 0);
	move.src_buff = near;
	move.dst_buff = there;
	IS(submit(&a, DOCA_RDMA_JOB_WRITE, &move.base), DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_WRITE, NULL), DOCA_SUCCESS);
	IS(doca_buf_reset_data_len(there), DOCA_SUCCESS);
	pass(DOCA_RDMA_JOB_WRITE_IMM, &move.base, htonl(9),
	     DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM, 0);
	IS(memcmp(a.desk.memory + FAR, b.desk.memory + 5000, LEN), 0);
	put(there);
	put(near);
	finish();
}

static void numbers_are_added_and_swapped(void)
{
	struct doca_rdma_job_atomic job = { .swap_or_add_data = 5 };
	uint64_t *number = (uint64_t *)(void *)b.desk.memory;
	uint64_t *before = (uint64_t *)(void *)(a.desk.memory + FAR);

	begin();
	*number = 30;
	job.cmp_or_add_dest_buff = far(&a, 0, 8, 8);
	job.result_buff = desk_space(&a.desk, FAR, 16);
	IS(submit(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, &job.base),
	   DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD, NULL), DOCA_SUCCESS);
	IS(before[0], 30);
	IS(*number, 35);
	job.cmp_data = 35;
	job.swap_or_add_data = 77;
	IS(submit(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, &job.base), DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, NULL), DOCA_SUCCESS);
	IS(before[1], 35);
	IS(*number, 77);
	put(job.cmp_or_add_dest_buff);
	put(job.result_buff);
	finish();
}

static void states_follow_the_steps(void)
{
	const void *desc;
	size_t len;

	open_end(&a);
	IS(state(&a), DOCA_RDMA_STATE_INIT);
	IS(doca_rdma_connect(a.rdma, &desc, sizeof(desc)),
	   DOCA_ERROR_BAD_STATE);
	open_end(&b);
	IS(doca_rdma_export(a.rdma, &desc, &len), DOCA_SUCCESS);
	IS(state(&a), DOCA_RDMA_STATE_INIT);
	carry(&b, &a);
	carry(&a, &b);
	IS(state(&a), DOCA_RDMA_STATE_CONNECTED);
	desk_rm(&a.desk, a.ctx);
	IS(state(&a), DOCA_RDMA_STATE_RESET);
	desk_add(&a.desk, a.ctx);
	IS(state(&a), DOCA_RDMA_STATE_INIT);
	finish();
}

/* The guide's way to recover: both begin again. */
static void both_connect_again(void)
{
	struct doca_rdma_job_send send = { .src_buff = NULL };
	const void *desc;
	size_t len;

	begin();
	IS(doca_mmap_destroy(a.far), DOCA_SUCCESS);
	IS(doca_mmap_destroy(b.far), DOCA_SUCCESS);
	desk_rm(&a.desk, a.ctx);
	desk_rm(&b.desk, b.ctx);
	desk_add(&a.desk, a.ctx);
	desk_add(&b.desk, b.ctx);
	IS(doca_rdma_export(a.rdma, &desc, &len), DOCA_SUCCESS);
	carry(&b, &a);
	carry(&a, &b);
	pass(DOCA_RDMA_JOB_SEND, &send.base, 0, DOCA_RDMA_OPCODE_RECV_SEND, 0);
	finish();
}

static void receives_that_are_removed_fail(void)
{
	struct doca_rdma_job_recv recv = { .dst_buff = NULL };
	struct doca_rdma_result result = { .result = DOCA_SUCCESS };

	begin();
	IS(submit(&a, DOCA_RDMA_JOB_RECV, &recv.base), DOCA_SUCCESS);
	IS(doca_ctx_workq_rm(a.ctx, a.desk.workq), DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_RECV, &result), DOCA_ERROR_IO_FAILED);
	IS(result.result, DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_workq_add(a.ctx, a.desk.workq), DOCA_SUCCESS);
	finish();
}

static void what_a_removal_ends_is_signalled(void)
{
	struct doca_rdma_job_recv recv = { .dst_buff = NULL };
	struct pollfd fd = { .events = POLLIN };
	struct doca_workq *workq;

	begin();
	workq = a.desk.workq;
	IS(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS);
	IS(doca_workq_get_event_handle(workq, &fd.fd), DOCA_SUCCESS);
	IS(submit(&a, DOCA_RDMA_JOB_RECV, &recv.base), DOCA_SUCCESS);
	IS(doca_workq_event_handle_arm(workq), DOCA_SUCCESS);
	IS(doca_ctx_workq_rm(a.ctx, workq), DOCA_SUCCESS);
	IS(poll(&fd, 1, 20000), 1);
	IS(doca_workq_event_handle_clear(workq, fd.fd), DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_RECV, NULL), DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_workq_add(a.ctx, workq), DOCA_SUCCESS);
	finish();
}

static void a_job_before_the_connection_is_refused(void)
{
	struct doca_rdma_job_send send = { .src_buff = NULL };

	open_end(&a);
	IS(submit(&a, DOCA_RDMA_JOB_SEND, &send.base),
	   DOCA_ERROR_NOT_CONNECTED);
	close_end(&a);
}

static void an_export_follows_the_start(void)
{
	struct doca_rdma *rdma;
	const void *desc;
	size_t len;

	IS(doca_rdma_create(&rdma), DOCA_SUCCESS);
	IS(doca_rdma_export(rdma, &desc, &len), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_export(NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_connect(rdma, &len, 8), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

/* Export @end before it has its work queue. */
static void export_early(struct rdma_end *end)
{
	const void *desc;
	size_t len;

	IS(doca_ctx_workq_rm(end->ctx, end->desk.workq), DOCA_SUCCESS);
	IS(doca_rdma_export(end->rdma, &desc, &len), DOCA_SUCCESS);
}

static void one_exported_before_its_work_queue_is_polled(void)
{
	struct doca_rdma_job_send send = { .src_buff = NULL };
	struct doca_rdma_job_recv recv = { .dst_buff = NULL };
	uint8_t supported = 7;

	open_end(&a);
	open_end(&b);
	export_early(&a);
	export_early(&b);
	carry(&b, &a);
	carry(&a, &b);
	IS(doca_ctx_get_event_driven_supported(a.ctx, &supported),
	   DOCA_SUCCESS);
	IS(supported, 0);
	IS(doca_workq_set_event_driven_enable(a.desk.workq, 1), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(a.ctx, a.desk.workq), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_workq_set_event_driven_enable(a.desk.workq, 0), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(a.ctx, a.desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(b.ctx, b.desk.workq), DOCA_SUCCESS);
	IS(doca_workq_set_event_driven_enable(a.desk.workq, 1),
	   DOCA_ERROR_NOT_SUPPORTED);
	pass(DOCA_RDMA_JOB_SEND, &send.base, 0, DOCA_RDMA_OPCODE_RECV_SEND, 0);
	IS(submit(&a, DOCA_RDMA_JOB_RECV, &recv.base), DOCA_SUCCESS);
	IS(doca_ctx_workq_rm(a.ctx, a.desk.workq), DOCA_SUCCESS);
	IS(doca_ctx_get_event_driven_supported(a.ctx, &supported),
	   DOCA_SUCCESS);
	IS(supported, 1);
	IS(ended(&a, DOCA_RDMA_JOB_RECV, NULL), DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_workq_add(a.ctx, a.desk.workq), DOCA_SUCCESS);
	finish();
}

static void one_that_is_exported_only_ends(void)
{
	open_end(&a);
	export_early(&a);
	IS(doca_ctx_stop(a.ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(a.ctx), DOCA_SUCCESS);
	IS(doca_ctx_workq_add(a.ctx, a.desk.workq), DOCA_SUCCESS);
	close_end(&a);
}

/* It sleeps until there is the message. */
static void an_event_driven_one_receives(void)
{
	struct doca_rdma_job_send send = { .src_buff = NULL };
	struct doca_rdma_job_recv recv = { .dst_buff = NULL };
	struct doca_event event = { .result.ptr = NULL };
	struct pollfd fd = { .events = POLLIN };
	doca_error_t error = DOCA_ERROR_AGAIN;

	begin();
	IS(doca_workq_set_event_driven_enable(b.desk.workq, 1), DOCA_SUCCESS);
	IS(doca_workq_get_event_handle(b.desk.workq, &fd.fd), DOCA_SUCCESS);
	IS(submit(&b, DOCA_RDMA_JOB_RECV, &recv.base), DOCA_SUCCESS);
	IS(submit(&a, DOCA_RDMA_JOB_SEND, &send.base), DOCA_SUCCESS);
	while (error == DOCA_ERROR_AGAIN && tap_holds()) {
		IS(doca_workq_event_handle_arm(b.desk.workq), DOCA_SUCCESS);
		IS(poll(&fd, 1, 20000), 1);
		IS(doca_workq_event_handle_clear(b.desk.workq, fd.fd),
		   DOCA_SUCCESS);
		error = doca_workq_progress_retrieve(b.desk.workq, &event, 0);
	}
	IS(error, DOCA_SUCCESS);
	IS(ended(&a, DOCA_RDMA_JOB_SEND, NULL), DOCA_SUCCESS);
	finish();
}

static void properties_are_set_before_the_start(void)
{
	enum doca_rdma_transport_type type = DOCA_RDMA_TRANSPORT_DC;
	struct doca_rdma *rdma;
	uint32_t value = 0;

	open_end(&a);
	IS(doca_rdma_set_permissions(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_create(&rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_permissions(rdma, DOCA_ACCESS_DPU_READ_ONLY),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_permissions(rdma, DOCA_ACCESS_RDMA_READ),
	   DOCA_SUCCESS);
	IS(doca_rdma_get_permissions(rdma, &value), DOCA_SUCCESS);
	IS(value, DOCA_ACCESS_RDMA_READ);
	IS(doca_rdma_set_recv_buf_chain_len(rdma, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_recv_buf_chain_len(rdma, 2), DOCA_SUCCESS);
	IS(doca_rdma_get_recv_buf_chain_len(rdma, &value), DOCA_SUCCESS);
	IS(value, 2);
	IS(doca_rdma_set_transport_type(rdma, type), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC),
	   DOCA_SUCCESS);
	IS(doca_rdma_get_transport_type(rdma, &type), DOCA_SUCCESS);
	IS(type, DOCA_RDMA_TRANSPORT_RC);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	close_end(&a);
}

/* Of a context with a GID of this index. */
static doca_error_t exports_with_gid(uint32_t index)
{
	struct doca_dev *dev = desk_device();
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	const void *desc;
	uint32_t value = 1;
	size_t len;
	doca_error_t ret;

	IS(doca_rdma_create(&rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_gid_index(rdma, index), DOCA_SUCCESS);
	IS(doca_rdma_get_gid_index(rdma, &value), DOCA_SUCCESS);
	IS(value, index);
	ctx = doca_rdma_as_ctx(rdma);
	IS(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_rdma_set_gid_index(rdma, 0), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_set_gid_index(rdma, 256), DOCA_ERROR_BAD_STATE);
	ret = doca_rdma_export(rdma, &desc, &len);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_rdma_set_gid_index(rdma, 256), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	return ret;
}

static void its_gid_is_one_of_the_device(void)
{
	IS(exports_with_gid(0), DOCA_SUCCESS);
	IS(exports_with_gid(255), DOCA_ERROR_INVALID_VALUE);
}

static void the_device_answers_for_its_jobs(void)
{
	struct doca_dev *dev = desk_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t value = 0;

	for (int type = DOCA_RDMA_JOB_RECV;
	     type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD; type++)
		IS(doca_rdma_job_get_supported(
			info, (enum doca_rdma_job_types)type), DOCA_SUCCESS);
	IS(doca_rdma_job_get_supported(info, (enum doca_rdma_job_types)1),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_get_max_message_size(info, &value), DOCA_SUCCESS);
	OK(value >= 1u << 23);
	value = 0;
	IS(doca_rdma_get_max_recv_buf_chain_len(info, &value), DOCA_SUCCESS);
	OK(value >= 4);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(messages_pass_with_and_without_an_immediate);
	TEST(memory_is_read_and_written);
	TEST(numbers_are_added_and_swapped);
	TEST(states_follow_the_steps);
	TEST(both_connect_again);
	TEST(receives_that_are_removed_fail);
	TEST(what_a_removal_ends_is_signalled);
	TEST(a_job_before_the_connection_is_refused);
	TEST(an_export_follows_the_start);
	TEST(one_exported_before_its_work_queue_is_polled);
	TEST(one_that_is_exported_only_ends);
	TEST(an_event_driven_one_receives);
	TEST(properties_are_set_before_the_start);
	TEST(its_gid_is_one_of_the_device);
	TEST(the_device_answers_for_its_jobs);
	return tap_done();
}
