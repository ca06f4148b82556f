/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* The states of a context, and what is allowed in which. */

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static enum doca_ctx_states state_of(const struct end *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	IS(doca_ctx_get_state(end->ctx, &state), DOCA_SUCCESS);
	return state;
}

static struct doca_rdma_task_receive *post(struct end *end,
					   struct doca_buf *dst)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(end->rdma, dst, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return task;
}

static void a_context_runs_and_is_idle_again(void)
{
	end_open(&a);
	IS(state_of(&a), DOCA_CTX_STATE_IDLE);
	IS(doca_ctx_stop(a.ctx), DOCA_SUCCESS);
	end_start(&a);
	IS(state_of(&a), DOCA_CTX_STATE_RUNNING);
	IS(a.state_count, 1);		/* reported inside start */
	IS(doca_ctx_start(a.ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(state_of(&a), DOCA_CTX_STATE_STOPPING);
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_rdma_destroy(a.rdma), DOCA_ERROR_BAD_STATE);
	end_drain(&a);
	IS(doca_ctx_stop(a.ctx), DOCA_SUCCESS);
	IS(a.state_count, 3);
	IS(a.states[0], DOCA_CTX_STATE_RUNNING);
	IS(a.states[1], DOCA_CTX_STATE_STOPPING);
	IS(a.states[2], DOCA_CTX_STATE_IDLE);
	end_close(&a);
}

static void a_context_needs_one_engine(void)
{
	struct doca_dev *dev = end_device();
	struct doca_pe *pe, *other;
	struct doca_rdma *rdma;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_pe_create(&other), DOCA_SUCCESS);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_NOT_CONNECTED);
	IS(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(other, doca_rdma_as_ctx(rdma)),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_pe_destroy(other), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void no_receive(struct doca_rdma_task_receive *task,
		       union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
}

static void what_is_set_is_set_while_idle(void)
{
	struct doca_rdma_task_receive *task;
	const void *desc;
	size_t len;

	end_open(&a);
	IS(doca_rdma_task_receive_allocate_init(a.rdma, NULL, no_data, &task),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_export(a.rdma, &desc, &len, &a.conn),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_task_receive_set_conf(a.rdma, no_receive, NULL, 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_task_receive_set_conf(a.rdma, no_receive, no_receive, 0),
	   DOCA_ERROR_INVALID_VALUE);
	end_start(&a);
	IS(doca_rdma_task_receive_set_conf(a.rdma, no_receive, no_receive, 1),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_set_gid_index(a.rdma, 1), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_set_permissions(a.rdma, 0), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_set_max_num_connections(a.rdma, 2), DOCA_ERROR_BAD_STATE);
	IS(doca_pe_connect_ctx(a.pe, a.ctx), DOCA_ERROR_BAD_STATE);
	end_close(&a);
}

static void properties_are_checked_and_returned(void)
{
	enum doca_rdma_transport_type type;
	enum doca_mtu_size mtu;
	uint32_t value = 0, index = 0;
	uint16_t conns = 0;
	uint8_t retries = 0;

	end_open(&a);
	IS(doca_rdma_set_send_queue_size(a.rdma, 300), DOCA_SUCCESS);
	IS(doca_rdma_get_send_queue_size(a.rdma, &value), DOCA_SUCCESS);
	IS(value, 512);
	IS(doca_rdma_set_send_queue_size(a.rdma, UINT32_MAX),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_max_num_connections(a.rdma, 8), DOCA_SUCCESS);
	IS(doca_rdma_get_max_num_connections(a.rdma, &conns), DOCA_SUCCESS);
	IS(conns, 8);
	IS(doca_rdma_set_rnr_retry_count(a.rdma, 8), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_get_rnr_retry_count(a.rdma, &retries), DOCA_SUCCESS);
	IS(retries, 7);
	IS(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_512_BYTES), DOCA_SUCCESS);
	IS(doca_rdma_get_mtu(a.rdma, &mtu), DOCA_SUCCESS);
	IS(mtu, DOCA_MTU_SIZE_512_BYTES);
	IS(doca_rdma_set_transport_type(a.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_get_transport_type(a.rdma, &type), DOCA_SUCCESS);
	IS(type, DOCA_RDMA_TRANSPORT_TYPE_RC);
	IS(doca_rdma_set_permissions(a.rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
	   DOCA_SUCCESS);
	IS(doca_rdma_set_permissions(a.rdma, DOCA_ACCESS_FLAG_PCI_READ_ONLY),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_sl(a.rdma, 16), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(a.dev),
					    &value), DOCA_SUCCESS);
	IS(doca_rdma_set_gid_index(a.rdma, value), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_gid_index(a.rdma, --value), DOCA_SUCCESS);
	IS(doca_rdma_get_gid_index(a.rdma, &index), DOCA_SUCCESS);
	IS(index, value);
	end_close(&a);
}

static void open_pair(void)
{
	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
}

static void close_pair(void)
{
	end_close(&a);
	end_close(&b);
}

static void a_context_stays_until_its_tasks_are_freed(void)
{
	struct doca_rdma_task_send *task;

	open_pair();
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 100000; i++)
		doca_pe_progress(a.pe);
	IS(state_of(&a), DOCA_CTX_STATE_STOPPING);
	IS(doca_task_submit(doca_rdma_task_send_as_task(task)),
	   DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_rdma_task_send_as_task(task));
	IS(state_of(&a), DOCA_CTX_STATE_STOPPING);
	end_drain(&a);
	close_pair();
}

static void what_is_in_flight_fails_when_it_stops(void)
{
	struct doca_rdma_task_receive *task;

	open_pair();
	task = post(&b, NULL);
	IS(doca_ctx_stop(b.ctx), DOCA_ERROR_IN_PROGRESS);
	ends_drive(&b, &b, &b.failed, 1);
	IS(b.error, DOCA_ERROR_IO_FAILED);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	end_drain(&b);
	close_pair();
}

static void a_stop_in_a_callback_is_in_progress(void)
{
	struct doca_rdma_task_send *task;
	struct doca_rdma_task_receive *receive;

	open_pair();
	receive = post(&b, NULL);
	a.stop_after = 1;
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
	IS(a.stop_error, DOCA_ERROR_IN_PROGRESS);
	end_drain(&a);
	ends_drive(&b, &b, &b.done, 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	close_pair();
}

static void a_task_that_fails_stops_the_context(void)
{
	struct doca_buf *src, *dst;
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *task;

	open_pair();
	src = end_data(&a, 0, 100);
	dst = end_space(&b, 0, 10);
	receive = post(&b, dst);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, src, no_data,
					     &task), DOCA_SUCCESS);
	OK(ends_run(&a, &b, doca_rdma_task_send_as_task(task)) !=
	   DOCA_SUCCESS);
	IS(a.failed, 1);
	OK(state_of(&a) != DOCA_CTX_STATE_RUNNING);
	IS(a.states[1], DOCA_CTX_STATE_STOPPING);
	end_drain(&a);
	ends_drive(&b, &b, &b.failed, 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	end_drain(&b);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	close_pair();
}

static void an_idle_context_starts_again(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *task;

	open_pair();
	IS(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_ctx_stop(b.ctx), DOCA_ERROR_IN_PROGRESS);
	end_drain(&a);
	end_drain(&b);
	IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS);
	IS(doca_mmap_destroy(a.remote), DOCA_SUCCESS);
	IS(doca_mmap_destroy(b.remote), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	receive = post(&b, NULL);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
	ends_drive(&b, &b, &b.done, 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	close_pair();
}

static bool destroyed;

static void destroy_when_idle(const union doca_data data, struct doca_ctx *ctx,
			      enum doca_ctx_states prev,
			      enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	IS(doca_rdma_destroy(data.ptr), DOCA_SUCCESS);
	destroyed = true;
}

static void an_object_is_destroyed_in_its_last_callback(void)
{
	struct doca_dev *dev = end_device();
	union doca_data data;
	struct doca_rdma *rdma;
	struct doca_pe *pe;
	struct doca_ctx *ctx;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	ctx = doca_rdma_as_ctx(rdma);
	data.ptr = rdma;
	IS(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(ctx, destroy_when_idle), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000 && !destroyed; i++)
		doca_pe_progress(pe);
	OK(destroyed);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

int main(void)
{
	TEST(a_context_runs_and_is_idle_again);
	TEST(a_context_needs_one_engine);
	TEST(what_is_set_is_set_while_idle);
	TEST(properties_are_checked_and_returned);
	TEST(a_context_stays_until_its_tasks_are_freed);
	TEST(what_is_in_flight_fails_when_it_stops);
	TEST(a_stop_in_a_callback_is_in_progress);
	TEST(a_task_that_fails_stops_the_context);
	TEST(an_idle_context_starts_again);
	TEST(an_object_is_destroyed_in_its_last_callback);
	return tap_done();
}
