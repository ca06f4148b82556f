/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

struct doca_dev *end_device(void)
{
	const char *want = getenv("PIER_DEVICE");
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	if (doca_devinfo_create_list(&list, &count))
		return NULL;
	for (uint32_t i = 0; i < count && !dev; i++) {
		if (!doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) &&
		    !strcmp(name, want && want[0] ? want : "soft_lo"))
			doca_dev_open(list[i], &dev);
	}
	doca_devinfo_destroy_list(list);
	return dev;
}

struct doca_dev *end_other_device(const struct doca_dev *dev)
{
	struct doca_devinfo **list;
	struct doca_dev *other = NULL;
	uint32_t count = 0;

	IS(doca_devinfo_create_list(&list, &count), DOCA_SUCCESS);
	for (uint32_t i = 0; i < count && !other; i++) {
		if (doca_dev_open(list[i], &other) || other != dev)
			continue;
		doca_dev_close(other);
		other = NULL;
	}
	doca_devinfo_destroy_list(list);
	return other;
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct end *end = data.ptr;
	enum doca_ctx_states now;

	IS(doca_ctx_get_state(ctx, &now), DOCA_SUCCESS);
	IS(now, next);
	OK(prev != next);
	if (end->state_count < 16)
		end->states[end->state_count++] = next;
}

static void task_ended(struct doca_task *task, struct end *end)
{
	end->error = doca_task_get_status(task);
	if (end->error)
		end->failed++;
	else
		end->done++;
	if (end->stop_after && end->done + end->failed == end->stop_after)
		end->stop_error = doca_ctx_stop(end->ctx);
}

/* One pair for each type, as the types of callbacks ask for. */

static void send_ended(struct doca_rdma_task_send *task, union doca_data data,
		       union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_send_as_task(task), ctx_data.ptr);
}

static void send_imm_ended(struct doca_rdma_task_send_imm *task,
			   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_send_imm_as_task(task), ctx_data.ptr);
}

static void receive_ended(struct doca_rdma_task_receive *task,
			  union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_receive_as_task(task), ctx_data.ptr);
}

static void read_ended(struct doca_rdma_task_read *task, union doca_data data,
		       union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_read_as_task(task), ctx_data.ptr);
}

static void write_ended(struct doca_rdma_task_write *task, union doca_data data,
			union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_write_as_task(task), ctx_data.ptr);
}

static void write_imm_ended(struct doca_rdma_task_write_imm *task,
			    union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_write_imm_as_task(task), ctx_data.ptr);
}

static void cmp_swp_ended(struct doca_rdma_task_atomic_cmp_swp *task,
			  union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_atomic_cmp_swp_as_task(task), ctx_data.ptr);
}

static void fetch_add_ended(struct doca_rdma_task_atomic_fetch_add *task,
			    union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_atomic_fetch_add_as_task(task),
		   ctx_data.ptr);
}

static void
event_get_ended(struct doca_rdma_task_remote_net_sync_event_get *task,
		union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(doca_rdma_task_remote_net_sync_event_get_as_task(task),
		   ctx_data.ptr);
}

static void
event_set_ended(struct doca_rdma_task_remote_net_sync_event_notify_set *task,
		union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(
		doca_rdma_task_remote_net_sync_event_notify_set_as_task(task),
		ctx_data.ptr);
}

static void
event_add_ended(struct doca_rdma_task_remote_net_sync_event_notify_add *task,
		union doca_data data, union doca_data ctx_data)
{
	(void)data;
	task_ended(
		doca_rdma_task_remote_net_sync_event_notify_add_as_task(task),
		ctx_data.ptr);
}

static void configure_events(struct doca_rdma *rdma)
{
	const uint32_t n = END_TASKS;

	IS(doca_rdma_task_remote_net_sync_event_get_set_conf(
		rdma, event_get_ended, event_get_ended, n), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
		rdma, event_set_ended, event_set_ended, n), DOCA_SUCCESS);
	IS(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
		rdma, event_add_ended, event_add_ended, n), DOCA_SUCCESS);
}

static void configure_tasks(struct doca_rdma *rdma)
{
	const uint32_t n = END_TASKS;

	IS(doca_rdma_task_send_set_conf(rdma, send_ended, send_ended, n),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_imm_set_conf(rdma, send_imm_ended,
					    send_imm_ended, n), DOCA_SUCCESS);
	IS(doca_rdma_task_receive_set_conf(rdma, receive_ended, receive_ended,
					   n), DOCA_SUCCESS);
	IS(doca_rdma_task_read_set_conf(rdma, read_ended, read_ended, n),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_write_set_conf(rdma, write_ended, write_ended, n),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_write_imm_set_conf(rdma, write_imm_ended,
					     write_imm_ended, n), DOCA_SUCCESS);
	IS(doca_rdma_task_atomic_cmp_swp_set_conf(rdma, cmp_swp_ended,
						  cmp_swp_ended, n),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_atomic_fetch_add_set_conf(rdma, fetch_add_ended,
						    fetch_add_ended, n),
	   DOCA_SUCCESS);
}

static void open_memory(struct end *end)
{
	IS(doca_mmap_create(&end->mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(end->mmap, end->memory, END_BYTES),
	   DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(end->mmap, end->access), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(end->mmap, end->dev), DOCA_SUCCESS);
	IS(doca_mmap_start(end->mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(64, &end->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(end->inv), DOCA_SUCCESS);
}

void end_open_with(struct end *end, uint32_t memory, uint32_t context)
{
	union doca_data data = { .ptr = end };

	*end = (struct end){ .dev = end_device(), .access = memory };
	if (!OK(end->dev))
		exit(tap_done());
	open_memory(end);
	IS(doca_pe_create(&end->pe), DOCA_SUCCESS);
	IS(doca_rdma_create(end->dev, &end->rdma), DOCA_SUCCESS);
	end->ctx = doca_rdma_as_ctx(end->rdma);
	IS(doca_rdma_set_permissions(end->rdma, context), DOCA_SUCCESS);
	configure_tasks(end->rdma);
	configure_events(end->rdma);
	IS(doca_ctx_set_user_data(end->ctx, data), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(end->ctx, state_changed),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(end->pe, end->ctx), DOCA_SUCCESS);
}

void end_open(struct end *end)
{
	end_open_with(end, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | END_RDMA,
		      END_RDMA);
}

void end_start(struct end *end)
{
	IS(doca_ctx_start(end->ctx), DOCA_SUCCESS);
}

bool end_drain(struct end *end)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	long tries = 0;

	while (!doca_ctx_get_state(end->ctx, &state) &&
	       state != DOCA_CTX_STATE_IDLE && tries++ < 20000000)
		doca_pe_progress(end->pe);
	return IS(state, DOCA_CTX_STATE_IDLE);
}

void end_close(struct end *end)
{
	doca_ctx_stop(end->ctx);
	end_drain(end);
	IS(doca_rdma_destroy(end->rdma), DOCA_SUCCESS);
	IS(doca_pe_destroy(end->pe), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(end->inv), DOCA_SUCCESS);
	if (end->remote)
		IS(doca_mmap_destroy(end->remote), DOCA_SUCCESS);
	IS(doca_mmap_stop(end->mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(end->mmap), DOCA_SUCCESS);
	IS(doca_dev_close(end->dev), DOCA_SUCCESS);
}

static void import_memory(struct end *end, struct end *other)
{
	const void *desc;
	size_t len;

	IS(doca_mmap_export_rdma(other->mmap, other->dev, &desc, &len),
	   DOCA_SUCCESS);
	OK(len <= 4096);
	IS(doca_mmap_create_from_export(NULL, desc, len, end->dev,
					&end->remote), DOCA_SUCCESS);
}

void ends_connect(struct end *a, struct end *b)
{
	const void *desc_a, *desc_b;
	size_t len_a, len_b;

	IS(doca_rdma_export(a->rdma, &desc_a, &len_a, &a->conn), DOCA_SUCCESS);
	IS(doca_rdma_export(b->rdma, &desc_b, &len_b, &b->conn), DOCA_SUCCESS);
	IS(doca_rdma_connect(a->rdma, desc_b, len_b, a->conn), DOCA_SUCCESS);
	IS(doca_rdma_connect(b->rdma, desc_a, len_a, b->conn), DOCA_SUCCESS);
	if (b->access & END_RDMA)
		import_memory(a, b);
	if (a->access & END_RDMA)
		import_memory(b, a);
}

bool ends_drive(struct end *a, struct end *b, const int *count, int want)
{
	for (long i = 0; i < 20000000 && *count != want; i++) {
		doca_pe_progress(a->pe);
		doca_pe_progress(b->pe);
	}
	return IS(*count, want);
}

static struct doca_buf *take(struct end *end, struct doca_mmap *mmap,
			     size_t at, size_t len, size_t data_len)
{
	struct doca_buf *buf = NULL;
	void *addr;
	size_t size;

	IS(doca_mmap_get_memrange(mmap, &addr, &size), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_args(end->inv, mmap, (char *)addr + at,
					      len, (char *)addr + at, data_len,
					      &buf), DOCA_SUCCESS);
	return buf;
}

struct doca_buf *end_data(struct end *end, size_t at, size_t len)
{
	return take(end, end->mmap, at, len, len);
}

struct doca_buf *end_space(struct end *end, size_t at, size_t len)
{
	return take(end, end->mmap, at, len, 0);
}

struct doca_buf *end_far_data(struct end *end, size_t at, size_t len)
{
	return take(end, end->remote, at, len, len);
}

struct doca_buf *end_far_space(struct end *end, size_t at, size_t len)
{
	return take(end, end->remote, at, len, 0);
}

doca_error_t ends_run(struct end *a, struct end *b, struct doca_task *task)
{
	int before = a->done + a->failed, ended = before;
	doca_error_t error = doca_task_submit(task);

	for (long i = 0; !error && i < 20000000 && ended == before; i++) {
		doca_pe_progress(a->pe);
		doca_pe_progress(b->pe);
		ended = a->done + a->failed;
	}
	if (!error)
		error = doca_task_get_status(task);
	doca_task_free(task);
	return error;
}

struct doca_sync_event *end_event(struct doca_dev *dev)
{
	struct doca_sync_event *event = NULL;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	return event;
}

struct doca_sync_event *
end_share_event(struct end *end, struct end *other,
		struct doca_sync_event_remote_net **remote)
{
	struct doca_sync_event *event = NULL;
	const uint8_t *desc;
	size_t len;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, end->dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_net(event, &desc, &len),
	   DOCA_SUCCESS);
	IS(doca_sync_event_remote_net_create_from_export(other->dev, desc, len,
							 remote), DOCA_SUCCESS);
	return event;
}
