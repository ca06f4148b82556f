/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/*
 * Tasks on sync events of peers: what each type refuses, how many there are,
 * which callback ends one, and that none is changed while it is in flight.
 */
static const union doca_data data = { .u64 = 0xda7a };
static struct end a, b;
static struct doca_sync_event *event;
static struct doca_sync_event_remote_net *remote;
static struct doca_buf *near, *other;	/* what is moved, and what is not */
static int succeeded, failed;		/* callbacks */
static doca_error_t status;		/* of the task of the last one */

/* The last one that was taken, of each type. */
static struct doca_rdma_task_remote_net_sync_event_get *get;
static struct doca_rdma_task_remote_net_sync_event_notify_set *set;
static struct doca_rdma_task_remote_net_sync_event_notify_add *add;

static void count(int *calls, const struct doca_task *task,
		  union doca_data task_data)
{
	++*calls;
	status = doca_task_get_status(task);
	IS(task_data.u64, data.u64);
}

static void
get_done(struct doca_rdma_task_remote_net_sync_event_get *task,
	 union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&succeeded,
	      doca_rdma_task_remote_net_sync_event_get_as_task(task),
	      task_data);
}

static void
get_failed(struct doca_rdma_task_remote_net_sync_event_get *task,
	   union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&failed, doca_rdma_task_remote_net_sync_event_get_as_task(task),
	      task_data);
}

static void
set_done(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	 union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&succeeded,
	      doca_rdma_task_remote_net_sync_event_notify_set_as_task(task),
	      task_data);
}

static void
set_failed(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	   union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&failed,
	      doca_rdma_task_remote_net_sync_event_notify_set_as_task(task),
	      task_data);
}

static void
add_done(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	 union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&succeeded,
	      doca_rdma_task_remote_net_sync_event_notify_add_as_task(task),
	      task_data);
}

static void
add_failed(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	   union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	count(&failed,
	      doca_rdma_task_remote_net_sync_event_notify_add_as_task(task),
	      task_data);
}

static doca_error_t take_get(struct doca_rdma_connection *conn,
			     struct doca_sync_event_remote_net *of,
			     struct doca_task **task)
{
	doca_error_t error =
		doca_rdma_task_remote_net_sync_event_get_allocate_init(
			a.rdma, conn, of, near, data, task ? &get : NULL);

	if (!error)
		*task = doca_rdma_task_remote_net_sync_event_get_as_task(get);
	return error;
}

static doca_error_t take_set(struct doca_rdma_connection *conn,
			     struct doca_sync_event_remote_net *of,
			     struct doca_task **task)
{
	doca_error_t error =
		doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
			a.rdma, conn, of, near, data, task ? &set : NULL);

	if (!error)
		*task = doca_rdma_task_remote_net_sync_event_notify_set_as_task(
			set);
	return error;
}

static doca_error_t take_add(struct doca_rdma_connection *conn,
			     struct doca_sync_event_remote_net *of,
			     struct doca_task **task)
{
	doca_error_t error =
		doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
			a.rdma, conn, of, near, 3, data, task ? &add : NULL);

	if (!error)
		*task = doca_rdma_task_remote_net_sync_event_notify_add_as_task(
			add);
	return error;
}

static void change_get(struct doca_rdma_connection *conn,
		       struct doca_sync_event_remote_net *of,
		       struct doca_buf *buf)
{
	doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(get, conn);
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(get, of);
	doca_rdma_task_remote_net_sync_event_get_set_dst_buf(get, buf);
}

static void change_set(struct doca_rdma_connection *conn,
		       struct doca_sync_event_remote_net *of,
		       struct doca_buf *buf)
{
	doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
		set, conn);
	doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(set, of);
	doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(set, buf);
}

static void change_add(struct doca_rdma_connection *conn,
		       struct doca_sync_event_remote_net *of,
		       struct doca_buf *buf)
{
	doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
		add, conn);
	doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(add, of);
	doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(add,
								       buf);
}

static void check_get(void)
{
	OK(doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(get) ==
	   a.conn);
	OK(doca_rdma_task_remote_net_sync_event_get_get_sync_event(get) ==
	   remote);
	OK(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(get) == near);
}

static void check_set(void)
{
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
		   set) == a.conn);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
		   set) == remote);
	OK(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(set) ==
	   near);
}

static void check_add(void)
{
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
		   add) == a.conn);
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
		   add) == remote);
	OK(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
		   add) == near);
}

static const struct type {
	doca_error_t (*take)(struct doca_rdma_connection *conn,
			     struct doca_sync_event_remote_net *of,
			     struct doca_task **task);
	void (*change)(struct doca_rdma_connection *conn,
		       struct doca_sync_event_remote_net *of,
		       struct doca_buf *buf);
	void (*check)(void);		/* it is as it was taken */
	bool is_set;			/* its buffer has the value */
} types[] = {
	{ take_get, change_get, check_get, false },
	{ take_set, change_set, check_set, true },
	{ take_add, change_add, check_add, false },
};

static const struct type *const types_end =
	types + sizeof(types) / sizeof(types[0]);

static void begin(void)
{
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_task_remote_net_sync_event_get_set_conf(
		a.rdma, get_done, get_failed, END_TASKS), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
		a.rdma, set_done, set_failed, END_TASKS), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
		a.rdma, add_done, add_failed, END_TASKS), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	event = end_share_event(&b, &a, &remote);
	other = end_space(&a, 8, 8);
	succeeded = failed = 0;
}

static void end(void)
{
	IS(doca_buf_dec_refcount(other, NULL), DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_destroy(remote), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	end_close(&a);
	end_close(&b);
}

/* Of this type. */
static struct doca_task *take(const struct type *type)
{
	struct doca_task *task = NULL;

	near = type->is_set ? end_data(&a, 0, 8) : end_space(&a, 0, 8);
	IS(type->take(a.conn, remote, &task), DOCA_SUCCESS);
	return task;
}

static void put(struct doca_task *task)
{
	doca_task_free(task);
	IS(doca_buf_dec_refcount(near, NULL), DOCA_SUCCESS);
}

static void arguments_are_needed(void)
{
	struct doca_task *task = NULL;

	begin();
	for (const struct type *at = types; at < types_end; at++) {
		IS(at->take(a.conn, NULL, &task), DOCA_ERROR_INVALID_VALUE);
		IS(at->take(a.conn, remote, NULL), DOCA_ERROR_INVALID_VALUE);
		IS(at->take(NULL, remote, &task), DOCA_ERROR_INVALID_VALUE);
		OK(!task);
	}
	end();
}

static void there_are_as_many_as_were_set(void)
{
	struct doca_task *tasks[END_TASKS], *more = NULL;

	begin();
	near = NULL;
	for (const struct type *at = types; at < types_end; at++) {
		for (int i = 0; i < END_TASKS; i++)
			IS(at->take(a.conn, remote, &tasks[i]), DOCA_SUCCESS);
		IS(at->take(a.conn, remote, &more), DOCA_ERROR_NO_MEMORY);
		for (int i = 0; i < END_TASKS; i++)
			doca_task_free(tasks[i]);
	}
	end();
}

static void one_without_an_event_or_a_connection_is_not_submitted(void)
{
	struct doca_task *task;

	begin();
	for (const struct type *at = types; at < types_end; at++) {
		task = take(at);
		at->change(a.conn, NULL, near);
		IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
		at->change(NULL, remote, near);
		IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
		at->change(b.conn, remote, near);
		IS(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
		at->change(a.conn, remote, near);
		IS(doca_task_submit(task), DOCA_SUCCESS);
		OK(ends_drive(&a, &b, &succeeded, (int)(at - types) + 1));
		put(task);
	}
	IS(failed, 0);
	end();
}

static void nothing_changes_while_it_is_in_flight(void)
{
	struct doca_task *task;

	begin();
	for (const struct type *at = types; at < types_end; at++) {
		task = take(at);
		IS(doca_task_submit(task), DOCA_SUCCESS);
		at->change(NULL, NULL, other);
		at->check();
		OK(ends_drive(&a, &b, &succeeded, (int)(at - types) + 1));
		IS(status, DOCA_SUCCESS);
		put(task);
	}
	end();
}

/* The peer has taken the event back. */
static void one_that_fails_has_its_own_callback(void)
{
	struct doca_task *task;

	for (const struct type *at = types; at < types_end; at++) {
		begin();
		IS(doca_sync_event_stop(event), DOCA_SUCCESS);
		task = take(at);
		IS(doca_task_submit(task), DOCA_SUCCESS);
		OK(ends_drive(&a, &b, &failed, 1));
		IS(status, DOCA_ERROR_IO_FAILED);
		IS(succeeded, 0);
		put(task);
		end();
	}
}

int main(void)
{
	struct doca_dev *dev = end_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	TEST(arguments_are_needed);
	TEST(there_are_as_many_as_were_set);
	TEST(one_without_an_event_or_a_connection_is_not_submitted);
	TEST(nothing_changes_while_it_is_in_flight);
	TEST(one_that_fails_has_its_own_callback);
	return tap_done();
}
