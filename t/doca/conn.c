/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Several connections of one context, and what happens to them. */

#define CONNS 3

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static struct doca_rdma_connection *near[CONNS], *far[CONNS];

static void open_several(void)
{
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_set_max_num_connections(a.rdma, CONNS), DOCA_SUCCESS);
	IS(doca_rdma_set_max_num_connections(b.rdma, CONNS), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
}

static void close_several(void)
{
	end_close(&a);
	end_close(&b);
}

/* All exports are made first, and none makes another one invalid. */
static void connect_all(void)
{
	const void *at_a[CONNS], *at_b[CONNS];
	size_t len_a[CONNS], len_b[CONNS];

	for (int i = 0; i < CONNS; i++) {
		IS(doca_rdma_export(a.rdma, &at_a[i], &len_a[i], &near[i]),
		   DOCA_SUCCESS);
		IS(doca_rdma_export(b.rdma, &at_b[i], &len_b[i], &far[i]),
		   DOCA_SUCCESS);
		OK(len_a[i] <= 4096);
	}
	for (int i = 0; i < CONNS; i++) {
		IS(doca_rdma_connect(a.rdma, at_b[i], len_b[i], near[i]),
		   DOCA_SUCCESS);
		IS(doca_rdma_connect(b.rdma, at_a[i], len_a[i], far[i]),
		   DOCA_SUCCESS);
	}
}

static struct doca_rdma_task_receive *receive(struct end *end,
					      struct doca_buf *dst)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(end->rdma, dst, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return task;
}

static struct doca_rdma_task_send *send_on(struct doca_rdma_connection *conn,
					   const struct doca_buf *src)
{
	struct doca_rdma_task_send *task = NULL;

	IS(doca_rdma_task_send_allocate_init(a.rdma, conn, src, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
	return task;
}

static void every_message_names_its_connection(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_task_send *send;

	open_several();
	connect_all();
	for (int i = CONNS; i-- > 0;) {
		int sent = a.done, received = b.done;

		task = receive(&b, NULL);
		send = send_on(near[i], NULL);
		ends_drive(&a, &b, &a.done, sent + 1);
		ends_drive(&a, &b, &b.done, received + 1);
		OK(doca_rdma_task_receive_get_result_rdma_connection(task) ==
		   far[i]);
		doca_task_free(doca_rdma_task_receive_as_task(task));
		doca_task_free(doca_rdma_task_send_as_task(send));
	}
	close_several();
}

static void a_send_waits_for_a_receive(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_task_send *send;

	open_several();
	connect_all();
	send = send_on(near[0], NULL);
	for (int i = 0; i < 20000; i++) {
		doca_pe_progress(a.pe);
		doca_pe_progress(b.pe);
	}
	IS(a.done + a.failed, 0);
	task = receive(&b, NULL);
	ends_drive(&a, &b, &a.done, 1);
	ends_drive(&a, &b, &b.done, 1);
	doca_task_free(doca_rdma_task_send_as_task(send));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	close_several();
}

/* Its program connects when it likes; a task waits for it until then. */
static void a_task_waits_for_a_peer_that_connects_later(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_task_send *send;
	const void *at_a, *at_b;
	size_t len_a, len_b;

	open_several();
	IS(doca_rdma_export(a.rdma, &at_a, &len_a, &near[0]), DOCA_SUCCESS);
	IS(doca_rdma_export(b.rdma, &at_b, &len_b, &far[0]), DOCA_SUCCESS);
	IS(doca_rdma_connect(a.rdma, at_b, len_b, near[0]), DOCA_SUCCESS);
	send = send_on(near[0], NULL);
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(a.pe);
	IS(a.done + a.failed, 0);
	task = receive(&b, NULL);
	IS(doca_rdma_connect(b.rdma, at_a, len_a, far[0]), DOCA_SUCCESS);
	ends_drive(&a, &b, &a.done, 1);
	ends_drive(&a, &b, &b.done, 1);
	doca_task_free(doca_rdma_task_send_as_task(send));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	close_several();
}

static void messages_arrive_in_their_order(void)
{
	struct doca_rdma_task_receive *tasks[END_TASKS];
	struct doca_rdma_task_send *sends[END_TASKS];
	struct doca_buf *src[END_TASKS], *dst = NULL;

	open_several();
	connect_all();
	for (int i = 0; i < END_TASKS; i++) {
		a.memory[i] = (char)('1' + i);
		src[i] = end_data(&a, (size_t)i, 1);
		dst = end_space(&b, (size_t)i, 1);
		tasks[i] = receive(&b, dst);
	}
	for (int i = 0; i < END_TASKS; i++)
		sends[i] = send_on(near[1], src[i]);
	ends_drive(&a, &b, &b.done, END_TASKS);
	ends_drive(&a, &b, &a.done, END_TASKS);
	OK(!memcmp(b.memory, "1234", END_TASKS));
	for (int i = 0; i < END_TASKS; i++) {
		dst = doca_rdma_task_receive_get_dst_buf(tasks[i]);
		IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
		IS(doca_buf_dec_refcount(src[i], NULL), DOCA_SUCCESS);
		doca_task_free(doca_rdma_task_send_as_task(sends[i]));
		doca_task_free(doca_rdma_task_receive_as_task(tasks[i]));
	}
	close_several();
}

static void what_is_no_descriptor_aborts(void)
{
	static char junk[200];
	struct doca_rdma_addr *addr;
	const void *desc;
	size_t len;

	open_several();
	IS(doca_rdma_export(a.rdma, &desc, &len, &near[0]), DOCA_SUCCESS);
	memcpy(junk, desc, len < sizeof(junk) ? len : sizeof(junk));
	IS(doca_rdma_connect(a.rdma, "nonsense", 8, near[0]),
	   DOCA_ERROR_CONNECTION_ABORTED);
	IS(doca_rdma_connect(a.rdma, junk, 20, near[0]),
	   DOCA_ERROR_CONNECTION_ABORTED);
	IS(doca_rdma_connect(a.rdma, NULL, 20, near[0]),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_connect(b.rdma, desc, len, near[0]),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_export(b.rdma, &desc, &len, &far[0]), DOCA_SUCCESS);
	IS(doca_rdma_connect(a.rdma, desc, len, near[0]), DOCA_SUCCESS);
	IS(doca_rdma_connect(a.rdma, desc, len, near[0]),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_connection_get_addr(near[0], &addr), DOCA_ERROR_BAD_STATE);
	close_several();
}

/* What waits there fails; the context and its other connections run on. */
static void a_peer_that_disconnects_ends_the_tasks_of_one_connection(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_task_send *send;
	enum doca_ctx_states state;

	open_several();
	connect_all();
	send = send_on(near[0], NULL);
	IS(doca_rdma_connection_disconnect(far[0]), DOCA_SUCCESS);
	ends_drive(&a, &b, &a.failed, 1);
	IS(a.error, DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_get_state(a.ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_RUNNING);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)),
	   DOCA_ERROR_NOT_CONNECTED);
	task = receive(&b, NULL);
	doca_rdma_task_send_set_rdma_connection(send, near[1]);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &a.done, 1);
	ends_drive(&a, &b, &b.done, 1);
	doca_task_free(doca_rdma_task_send_as_task(send));
	IS(doca_task_get_status(doca_rdma_task_send_as_task(send)),
	   DOCA_SUCCESS);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	close_several();
}

static void a_task_goes_to_the_connection_that_was_set(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_rdma_task_send *send;

	open_several();
	connect_all();
	task = receive(&b, NULL);
	IS(doca_rdma_task_send_allocate_init(a.rdma, near[0], NULL, no_data,
					     &send), DOCA_SUCCESS);
	doca_rdma_task_send_set_rdma_connection(send, far[0]);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)),
	   DOCA_ERROR_INVALID_VALUE);
	doca_rdma_task_send_set_rdma_connection(send, NULL);
	IS(doca_task_submit(doca_rdma_task_send_as_task(send)),
	   DOCA_ERROR_INVALID_VALUE);
	doca_rdma_task_send_set_rdma_connection(send, near[2]);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, 1);
	OK(doca_rdma_task_receive_get_result_rdma_connection(task) == far[2]);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	close_several();
}

int main(void)
{
	TEST(every_message_names_its_connection);
	TEST(a_send_waits_for_a_receive);
	TEST(a_task_waits_for_a_peer_that_connects_later);
	TEST(messages_arrive_in_their_order);
	TEST(what_is_no_descriptor_aborts);
	TEST(a_peer_that_disconnects_ends_the_tasks_of_one_connection);
	TEST(a_task_goes_to_the_connection_that_was_set);
	return tap_done();
}
