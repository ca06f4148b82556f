/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include <doca_dma.h>
#include <doca_log.h>

#include "t/doca/party.h"
#include "t/lib/tap.h"

/*
 * A task that is submitted stays submitted: what frees or changes it is logged
 * and does nothing.
 */
static const union doca_data no_data = { .ptr = NULL };
static char line[1024], logged[1024];
static struct doca_log_backend *backend;
static struct end a, b;

static void on_line(char *buffer)
{
	if (strstr(buffer, "task: "))
		snprintf(logged, sizeof(logged), "%s", buffer);
}

/* Free @task in vain: its context has one of its type, which is in flight. */
static void free_in_vain(struct doca_task *task)
{
	struct doca_ctx *ctx = doca_task_get_ctx(task);
	size_t before = 0, n = 0;

	logged[0] = '\0';
	IS(doca_ctx_get_num_inflight_tasks(ctx, &before), DOCA_SUCCESS);
	doca_task_free(task);
	LIKE(logged, "task: freed while submitted");
	IS(doca_ctx_get_num_inflight_tasks(ctx, &n), DOCA_SUCCESS);
	IS(n, before);
	IS(doca_task_get_status(task), DOCA_ERROR_IN_PROGRESS);
	logged[0] = '\0';
}

static void is_refused(void)
{
	LIKE(logged, "task: changed while submitted");
	logged[0] = '\0';
}

static void on_memcpy(struct doca_dma_task_memcpy *task, union doca_data data,
		      union doca_data ctx_data)
{
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	(void)ctx_data;
	++*(int *)data.ptr;
	IS(doca_task_get_status(base), DOCA_SUCCESS);
	doca_task_free(base);
	IS_STR(logged, "");
}

static struct doca_dma *open_dma(void)
{
	struct doca_dma *dma = NULL;

	end_open(&a);
	IS(doca_dma_create(a.dev, &dma), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, on_memcpy, on_memcpy, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(a.pe, doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	return dma;
}

static void a_copy_in_flight_is_neither_freed_nor_changed(void)
{
	struct doca_dma_task_memcpy *task = NULL, *other;
	struct doca_dma *dma = open_dma();
	struct doca_buf *src = end_data(&a, 0, 64);
	struct doca_buf *dst = end_space(&a, 64, 64);
	int calls = 0;
	union doca_data data = { .ptr = &calls };

	memset(a.memory, 'x', 64);
	for (int i = 1; i <= 2; i++) {
		IS(doca_dma_task_memcpy_alloc_init(dma, src, dst, data, &task),
		   DOCA_SUCCESS);
		IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)),
		   DOCA_SUCCESS);
		free_in_vain(doca_dma_task_memcpy_as_task(task));
		IS(doca_dma_task_memcpy_alloc_init(dma, src, dst, data, &other),
		   DOCA_ERROR_NO_MEMORY);
		logged[0] = '\0';
		doca_dma_task_memcpy_set_src(task, NULL);
		is_refused();
		OK(doca_dma_task_memcpy_get_src(task) == src);
		ends_drive(&a, &a, &calls, i);
		IS(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	}
	OK(!memcmp(a.memory, a.memory + 64, 64));
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	IS(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	end_close(&a);
}

/* The ends count the tasks, and do not free them. */
static void an_immediate_in_flight_is_sent_as_it_was(void)
{
	struct doca_rdma_task_send_imm *send;
	struct doca_rdma_task_receive *receive;

	end_open(&a);
	end_open(&b);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	IS(doca_rdma_task_receive_allocate_init(b.rdma, NULL, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_rdma_task_send_imm_allocate_init(a.rdma, a.conn, NULL, 7,
						 no_data, &send),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_send_imm_as_task(send)),
	   DOCA_SUCCESS);
	free_in_vain(doca_rdma_task_receive_as_task(receive));
	free_in_vain(doca_rdma_task_send_imm_as_task(send));
	doca_rdma_task_send_imm_set_immediate_data(send, 8);
	is_refused();
	doca_rdma_task_send_imm_set_rdma_connection(send, NULL);
	is_refused();
	ends_drive(&a, &b, &a.done, 1);
	ends_drive(&a, &b, &b.done, 1);
	IS(doca_rdma_task_receive_get_result_immediate_data(receive), 7);
	IS(doca_rdma_task_send_imm_get_immediate_data(send), 7);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_imm_as_task(send));
	IS_STR(logged, "");
	end_close(&a);
	end_close(&b);
}

static int ended;

static void on_wait(struct doca_sync_event_task_wait_eq *task,
		    union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	ended++;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static struct doca_sync_event *open_event(struct doca_pe *pe)
{
	struct doca_sync_event *event = end_event(a.dev);

	IS(doca_sync_event_task_wait_eq_set_conf(event, on_wait, on_wait, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, doca_sync_event_as_ctx(event)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	return event;
}

static void a_wait_in_flight_ends_with_its_context(void)
{
	struct doca_sync_event_task_wait_eq *task;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;

	end_open(&a);
	event = open_event(a.pe);
	ctx = doca_sync_event_as_ctx(event);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 3, UINT64_MAX,
						   no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)),
	   DOCA_SUCCESS);
	free_in_vain(doca_sync_event_task_wait_eq_as_doca_task(task));
	doca_sync_event_task_wait_eq_set_wait_val(task, 0);
	is_refused();
	IS(doca_sync_event_task_wait_eq_get_wait_val(task), 3);
	doca_pe_progress(a.pe);
	IS(ended, 0);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	free_in_vain(doca_sync_event_task_wait_eq_as_doca_task(task));
	ends_drive(&a, &a, &ended, 1);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	end_close(&a);
}

static void a_message_in_flight_is_not_freed(void)
{
	static struct party server, client;
	struct doca_comch_task_send *task;

	if (!party_pair(&server, &client))
		return;
	client.hold = true;
	IS(party_take(&client, "hello", 5, &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	free_in_vain(doca_comch_task_send_as_task(task));
	party_until(&client.done, 1);
	party_until(&server.received, 1);
	party_has(&server, "hello");
	IS_STR(logged, "");
	doca_task_free(doca_comch_task_send_as_task(task));
	IS_STR(logged, "");
	party_unpair(&server, &client);
}

int main(void)
{
	IS(doca_log_backend_create_with_buf_sdk(line, sizeof(line), on_line,
						&backend), DOCA_SUCCESS);
	TEST(a_copy_in_flight_is_neither_freed_nor_changed);
	TEST(an_immediate_in_flight_is_sent_as_it_was);
	TEST(a_wait_in_flight_ends_with_its_context);
	TEST(a_message_in_flight_is_not_freed);
	return tap_done();
}
