/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Rules of contexts and of memory that programs rely on. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void open_pair(void)
{
	end_open(&a);
	end_open(&b);
}

static void start_pair(void)
{
	end_start(&a);
	end_start(&b);
}

static void close_pair(void)
{
	end_close(&a);
	end_close(&b);
}

static struct doca_task *post(struct end *end)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(end->rdma, NULL, no_data,
						&task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return doca_rdma_task_receive_as_task(task);
}

static void stopping_is_reported_before_tasks_fail(void)
{
	struct doca_task *tasks[3];

	end_open(&a);
	end_start(&a);
	for (int i = 0; i < 3; i++)
		tasks[i] = post(&a);
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(a.state_count, 2);
	IS(a.states[1], DOCA_CTX_STATE_STOPPING);
	IS(a.failed, 0);
	ends_drive(&a, &a, &a.failed, 3);
	IS(a.state_count, 2);
	for (int i = 0; i < 3; i++)
		doca_task_free(tasks[i]);
	end_drain(&a);
	IS(a.state_count, 3);
	end_close(&a);
}

static void a_stop_in_a_callback_of_a_failure_is_one_stop(void)
{
	struct doca_rdma_task_send *task;
	struct doca_buf *src, *dst;
	struct doca_task *receive;

	open_pair();
	start_pair();
	ends_connect(&a, &b);
	src = end_data(&a, 0, 8);
	dst = end_space(&b, 0, 1);
	receive = post(&b);	/* has space for nothing */
	a.stop_after = 1;
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &task), DOCA_SUCCESS);
	OK(ends_run(&a, &b, doca_rdma_task_send_as_task(task)) !=
	   DOCA_SUCCESS);
	IS(a.failed, 1);
	IS(a.stop_error, DOCA_ERROR_IN_PROGRESS);
	end_drain(&a);
	IS(a.state_count, 3);
	ends_drive(&b, &b, &b.failed, 1);
	doca_task_free(receive);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	close_pair();
}

static bool starting;

/* As programs do: start the other one, export, connect. */
static void connect_when_running(const union doca_data data,
				 struct doca_ctx *ctx,
				 enum doca_ctx_states prev,
				 enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	IS(prev, DOCA_CTX_STATE_IDLE);
	OK(starting);		/* inside doca_ctx_start() */
	end_start(&b);
	ends_connect(&a, &b);
}

static void a_context_connects_in_its_running_callback(void)
{
	struct doca_rdma_task_send *task;
	struct doca_task *receive;

	open_pair();
	IS(doca_ctx_set_state_changed_cb(a.ctx, connect_when_running),
	   DOCA_SUCCESS);
	IS(doca_pe_set_event_mode(a.pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE),
	   DOCA_SUCCESS);
	starting = true;
	end_start(&a);
	starting = false;
	receive = post(&b);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, 1);
	doca_task_free(receive);
	close_pair();
}

static int disconnects;

static void disconnect_when_stopping(const union doca_data data,
				     struct doca_ctx *ctx,
				     enum doca_ctx_states prev,
				     enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_STOPPING)
		return;
	IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS);
	IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS);
	disconnects++;
}

static void a_context_disconnects_in_its_stopping_callback(void)
{
	open_pair();
	IS(doca_ctx_set_state_changed_cb(a.ctx, disconnect_when_stopping),
	   DOCA_SUCCESS);
	start_pair();
	ends_connect(&a, &b);
	doca_ctx_stop(a.ctx);
	IS(disconnects, 1);
	end_drain(&a);
	IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS);
	close_pair();
}

static void a_started_mmap_does_not_change(void)
{
	static char memory[64];
	const void *desc;
	size_t len;

	end_open(&a);
	IS(doca_mmap_set_memrange(a.mmap, memory, 64), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_rm_dev(a.mmap, a.dev), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_set_user_data(a.mmap, no_data), DOCA_ERROR_BAD_STATE);
	IS(doca_mmap_set_max_num_devices(a.mmap, 2), DOCA_ERROR_BAD_STATE);
	end_close(&a);
	end_open(&a);
	IS(doca_mmap_stop(a.mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(a.mmap, a.dev, &desc, &len),
	   DOCA_ERROR_NOT_PERMITTED);
	end_close(&a);
}

static void ranges_and_devices_are_limited(void)
{
	struct doca_dev *dev = end_device();
	static char memory[64];
	struct doca_mmap *mmap;
	uint32_t n = 0;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, SIZE_MAX),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_memrange(mmap, memory, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_set_max_num_devices(mmap, 1000),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_mmap_enable_thread_safety(mmap), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_mmap_set_max_num_devices(mmap, 2), DOCA_SUCCESS);
	IS(doca_mmap_get_max_num_devices(mmap, &n), DOCA_SUCCESS);
	IS(n, 2);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void an_import_has_the_data_of_its_creation(void)
{
	union doca_data data = { .u64 = 42 };
	struct doca_mmap *import;
	const void *desc;
	size_t len;

	end_open(&a);
	IS(doca_mmap_export_rdma(a.mmap, a.dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(&data, desc, len, a.dev, &import),
	   DOCA_SUCCESS);
	data.u64 = 0;
	IS(doca_mmap_get_user_data(import, &data), DOCA_SUCCESS);
	IS(data.u64, 42);
	IS(doca_mmap_destroy(import), DOCA_SUCCESS);
	end_close(&a);
}

static doca_error_t copy_error;
static int copies;

static void copied(struct doca_dma_task_memcpy *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	copy_error = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	copies++;
}

static struct doca_mmap *map(char *memory, uint32_t access)
{
	struct doca_mmap *mmap = NULL;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, 64), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, a.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

/* Copy a byte into memory that was mapped with @access. */
static doca_error_t copy_into(struct doca_dma *dma, uint32_t access)
{
	static char memory[64];
	struct doca_mmap *mmap = map(memory, access);
	struct doca_buf *src = end_data(&a, 0, 1), *dst;
	struct doca_dma_task_memcpy *task;
	int want = copies + 1;

	IS(doca_buf_inventory_buf_get_by_addr(a.inv, mmap, memory, 1, &dst),
	   DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_alloc_init(dma, src, dst, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	ends_drive(&a, &a, &copies, want);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	return copy_error;
}

static void writing_needs_the_permission(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct doca_dma *dma;
	struct doca_ctx *ctx;

	end_open(&a);
	IS(doca_dma_create(a.dev, &dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	IS(doca_dma_task_memcpy_set_conf(dma, copied, copied, 1), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(a.pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(copy_into(dma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), DOCA_SUCCESS);
	IS(copy_into(dma, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_SUCCESS);
	IS(copy_into(dma, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY),
	   DOCA_ERROR_NOT_PERMITTED);
	for (int i = 0; i < 1000 && state != DOCA_CTX_STATE_IDLE; i++) {
		doca_pe_progress(a.pe);
		IS(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	}
	IS(state, DOCA_CTX_STATE_IDLE);	/* by itself */
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	end_close(&a);
}

int main(void)
{
	TEST(stopping_is_reported_before_tasks_fail);
	TEST(a_stop_in_a_callback_of_a_failure_is_one_stop);
	TEST(a_context_connects_in_its_running_callback);
	TEST(a_context_disconnects_in_its_stopping_callback);
	TEST(a_started_mmap_does_not_change);
	TEST(ranges_and_devices_are_limited);
	TEST(an_import_has_the_data_of_its_creation);
	TEST(writing_needs_the_permission);
	return tap_done();
}
