/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "t/doca/party.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Consumers and producers as a program for DOCA has them, both on each end. */

#define BYTES (1 << 20)
#define TASKS 4

struct cargo {
	struct party *party;
	struct doca_pe *recv_pe, *send_pe;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inv;
	char *memory;			/* received first, then sent */
	int received, sent, failed;
	doca_error_t error;		/* of the last that failed */
	char imm[32];			/* the last immediate */
	uint32_t imm_len, from;
	size_t len;			/* of the last message */
	bool stop;			/* in the callback */
};

static struct party server, client;
static struct cargo cargos[2];
static char memories[2][2 * BYTES];

static int drive(void)
{
	int did = 0;

	for (int i = 0; i < 2; i++) {
		did += cargos[i].recv_pe &&
		       doca_pe_progress(cargos[i].recv_pe);
		did += cargos[i].send_pe &&
		       doca_pe_progress(cargos[i].send_pe);
	}
	return did;
}

static void stop_in_callback(struct cargo *cargo, struct doca_ctx *ctx)
{
	if (cargo->stop)
		IS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
}

/* What it received can be read after it was freed. */
static void on_received(struct doca_comch_consumer_task_post_recv *task,
			union doca_data data, union doca_data ctx_data)
{
	struct cargo *cargo = ctx_data.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);

	(void)data;
	cargo->received++;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
	cargo->from = doca_comch_consumer_task_post_recv_get_producer_id(task);
	cargo->imm_len =
		doca_comch_consumer_task_post_recv_get_imm_data_len(task);
	memcpy(cargo->imm,
	       doca_comch_consumer_task_post_recv_get_imm_data(task),
	       sizeof(cargo->imm));
	cargo->len = 0;
	if (buf) {
		doca_buf_get_data_len(buf, &cargo->len);
		doca_buf_dec_refcount(buf, NULL);
	}
	stop_in_callback(cargo,
			 doca_comch_consumer_as_ctx(cargo->consumer));
}

static void on_receive_failed(struct doca_comch_consumer_task_post_recv *task,
			      union doca_data data, union doca_data ctx_data)
{
	struct cargo *cargo = ctx_data.ptr;
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);

	(void)data;
	cargo->failed++;
	if (buf)
		doca_buf_dec_refcount(buf, NULL);
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void send_ended(struct doca_comch_producer_task_send *task)
{
	struct doca_buf *buf = (struct doca_buf *)(uintptr_t)
		doca_comch_producer_task_send_get_buf(task);

	if (buf)
		doca_buf_dec_refcount(buf, NULL);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void on_sent(struct doca_comch_producer_task_send *task,
		    union doca_data data, union doca_data ctx_data)
{
	struct cargo *cargo = ctx_data.ptr;

	(void)data;
	cargo->sent++;
	send_ended(task);
	stop_in_callback(cargo,
			 doca_comch_producer_as_ctx(cargo->producer));
}

static void on_send_failed(struct doca_comch_producer_task_send *task,
			   union doca_data data, union doca_data ctx_data)
{
	struct cargo *cargo = ctx_data.ptr;

	(void)data;
	cargo->failed++;
	cargo->error = doca_task_get_status(
		doca_comch_producer_task_send_as_task(task));
	send_ended(task);
}

static void connect_ctx(struct cargo *cargo, struct doca_pe **pe,
			struct doca_ctx *ctx)
{
	union doca_data data = { .ptr = cargo };

	IS(doca_pe_create(pe), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(*pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_set_user_data(ctx, data), DOCA_SUCCESS);
}

static bool load(struct cargo *cargo, struct party *party)
{
	struct doca_comch_connection *conn = party_conn(party);

	memset(cargo, 0, sizeof(*cargo));
	cargo->party = party;
	cargo->memory = memories[cargo - cargos];
	IS(doca_mmap_create(&cargo->mmap), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(cargo->mmap, party->dev), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(cargo->mmap, cargo->memory, 2 * BYTES),
	   DOCA_SUCCESS);
	IS(doca_mmap_start(cargo->mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(8, &cargo->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(cargo->inv), DOCA_SUCCESS);
	if (!IS(doca_comch_consumer_create(conn, cargo->mmap,
					   &cargo->consumer), DOCA_SUCCESS) ||
	    !IS(doca_comch_producer_create(conn, &cargo->producer),
		DOCA_SUCCESS))
		return false;
	IS(doca_comch_consumer_task_post_recv_set_conf(
		   cargo->consumer, on_received, on_receive_failed, TASKS),
	   DOCA_SUCCESS);
	IS(doca_comch_producer_task_send_set_conf(
		   cargo->producer, on_sent, on_send_failed, TASKS),
	   DOCA_SUCCESS);
	connect_ctx(cargo, &cargo->recv_pe,
		    doca_comch_consumer_as_ctx(cargo->consumer));
	connect_ctx(cargo, &cargo->send_pe,
		    doca_comch_producer_as_ctx(cargo->producer));
	return true;
}

static bool until(struct doca_ctx *ctx, enum doca_ctx_states want)
{
	long long limit = limit_from_now();
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	do
		doca_ctx_get_state(ctx, &state);
	while (state != want && party_step(limit));
	return IS(state, want);
}

static void end(struct doca_ctx *ctx)
{
	doca_ctx_stop(ctx);
	until(ctx, DOCA_CTX_STATE_IDLE);
}

static void unload(struct cargo *cargo)
{
	end(doca_comch_producer_as_ctx(cargo->producer));
	IS(doca_comch_producer_destroy(cargo->producer), DOCA_SUCCESS);
	end(doca_comch_consumer_as_ctx(cargo->consumer));
	IS(doca_comch_consumer_destroy(cargo->consumer), DOCA_SUCCESS);
	IS(doca_pe_destroy(cargo->recv_pe), DOCA_SUCCESS);
	IS(doca_pe_destroy(cargo->send_pe), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(cargo->inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(cargo->mmap), DOCA_SUCCESS);
	memset(cargo, 0, sizeof(*cargo));
}

/* All run, on two engines an end besides that of the channel. */
static bool open_all(void)
{
	party_extra = drive;
	if (!party_pair(&server, &client) || !load(&cargos[0], &server) ||
	    !load(&cargos[1], &client))
		return false;
	for (int i = 0; i < 2; i++) {
		struct doca_ctx *ctx =
			doca_comch_consumer_as_ctx(cargos[i].consumer);

		IS(doca_ctx_start(doca_comch_producer_as_ctx(
			   cargos[i].producer)), DOCA_SUCCESS);
		IS(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
		until(ctx, DOCA_CTX_STATE_RUNNING);
	}
	return party_until(&server.joined, 1) && party_until(&client.joined, 1);
}

static void close_all(void)
{
	unload(&cargos[0]);
	unload(&cargos[1]);
	party_unpair(&server, &client);
	party_extra = NULL;
}

static doca_error_t receive(struct cargo *cargo, size_t len)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf *buf = NULL;

	if (len)
		IS(doca_buf_inventory_buf_get_by_addr(cargo->inv, cargo->mmap,
						      cargo->memory, len,
						      &buf), DOCA_SUCCESS);
	IS(doca_comch_consumer_task_post_recv_alloc_init(cargo->consumer, buf,
							 &task), DOCA_SUCCESS);
	return doca_task_submit(
		doca_comch_consumer_task_post_recv_as_task(task));
}

static doca_error_t send(struct cargo *cargo, size_t len, uint8_t *imm,
			 uint32_t imm_len, uint32_t id)
{
	struct doca_comch_producer_task_send *task;
	struct doca_buf *buf = NULL;
	doca_error_t error;

	memset(cargo->memory + BYTES, (int)len, len);
	if (len)
		IS(doca_buf_inventory_buf_get_by_data(
			   cargo->inv, cargo->mmap, cargo->memory + BYTES, len,
			   &buf), DOCA_SUCCESS);
	IS(doca_comch_producer_task_send_alloc_init(cargo->producer, buf, imm,
						    imm_len, id, &task),
	   DOCA_SUCCESS);
	error = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	if (error)
		send_ended(task);
	return error;
}

/* Each end submits before the other one's receive; both stop in callbacks. */
static void a_message_passes_each_way(void)
{
	if (open_all()) {
		cargos[0].stop = cargos[1].stop = true;
		IS(send(&cargos[0], BYTES, NULL, 0, server.consumer),
		   DOCA_SUCCESS);
		IS(send(&cargos[1], 1000, NULL, 0, client.consumer),
		   DOCA_SUCCESS);
		for (int i = 0; i < 2; i++)
			IS(receive(&cargos[i], BYTES), DOCA_SUCCESS);
		for (int i = 0; i < 2; i++) {
			party_until(&cargos[i].received, 1);
			party_until(&cargos[i].sent, 1);
			IS(cargos[i].failed, 0);
		}
		IS(cargos[1].len, BYTES);
		IS(cargos[0].len, 1000);
		OK(!memcmp(cargos[1].memory, cargos[0].memory + BYTES, BYTES));
		OK(!memcmp(cargos[0].memory, cargos[1].memory + BYTES, 1000));
	}
	close_all();
}

static void immediates_pass_without_buffers(void)
{
	uint8_t imm[32] = "thirty-two bytes of an immediate";
	uint32_t id = 0;

	if (open_all()) {
		IS(receive(&cargos[1], 0), DOCA_SUCCESS);
		IS(send(&cargos[0], 0, imm, 32, server.consumer),
		   DOCA_SUCCESS);
		party_until(&cargos[1].received, 1);
		party_until(&cargos[0].sent, 1);
		IS(cargos[1].imm_len, 32);
		OK(!memcmp(cargos[1].imm, imm, 32));
		IS(doca_comch_producer_get_id(cargos[0].producer, &id),
		   DOCA_SUCCESS);
		IS(cargos[1].from, id);
		IS(doca_comch_consumer_get_id(cargos[1].consumer, &id),
		   DOCA_SUCCESS);
		IS(server.consumer, id);
		OK(id && id != 0xffff);
	}
	close_all();
}

/* What the next submit uses; and what was changed can be read. */
static void change(struct doca_comch_producer_task_send *task, uint8_t *imm)
{
	doca_comch_producer_task_send_set_consumer_id(task, server.consumer);
	IS(doca_comch_producer_task_send_get_consumer_id(task),
	   server.consumer);
	doca_comch_producer_task_send_set_buf(task, NULL);
	OK(!doca_comch_producer_task_send_get_buf(task));
	doca_comch_producer_task_send_set_imm_data(task, imm, 4);
	OK(doca_comch_producer_task_send_get_imm_data(task) == imm);
	IS(doca_comch_producer_task_send_get_imm_data_len(task), 4);
}

static void tasks_are_changed(void)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *task;
	uint8_t imm[] = "four";

	if (open_all()) {
		IS(doca_comch_consumer_task_post_recv_alloc_init(
			   cargos[1].consumer, (struct doca_buf *)imm, &recv),
		   DOCA_SUCCESS);
		doca_comch_consumer_task_post_recv_set_buf(recv, NULL);
		OK(!doca_comch_consumer_task_post_recv_get_buf(recv));
		IS(doca_task_submit(
			   doca_comch_consumer_task_post_recv_as_task(recv)),
		   DOCA_SUCCESS);
		IS(doca_comch_producer_task_send_alloc_init(
			   cargos[0].producer, NULL, NULL, 0, 77, &task),
		   DOCA_SUCCESS);
		IS(doca_task_submit(
			   doca_comch_producer_task_send_as_task(task)),
		   DOCA_ERROR_NOT_FOUND);
		change(task, imm);
		IS(doca_task_submit(
			   doca_comch_producer_task_send_as_task(task)),
		   DOCA_SUCCESS);
		party_until(&cargos[1].received, 1);
		party_until(&cargos[0].sent, 1);
		IS(cargos[1].imm_len, 4);
		OK(!memcmp(cargos[1].imm, imm, 4));
	}
	close_all();
}

static void immediates_are_limited_while_idle(void)
{
	struct doca_comch_consumer *consumer;
	uint32_t len = 0;

	if (open_all()) {
		consumer = cargos[1].consumer;
		IS(doca_comch_consumer_get_imm_data_len(consumer, &len),
		   DOCA_SUCCESS);
		IS(len, 32);
		IS(doca_comch_consumer_set_imm_data_len(consumer, 8),
		   DOCA_ERROR_BAD_STATE);
		end(doca_comch_consumer_as_ctx(consumer));
		IS(doca_comch_consumer_set_imm_data_len(consumer, 33),
		   DOCA_ERROR_INVALID_VALUE);
		IS(doca_comch_consumer_set_imm_data_len(consumer, 8),
		   DOCA_SUCCESS);
		IS(doca_comch_consumer_get_imm_data_len(consumer, &len),
		   DOCA_SUCCESS);
		IS(len, 8);
	}
	close_all();
}

static void a_connection_in_use_is_not_stopped(void)
{
	if (open_all()) {
		IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_USE);
		IS(doca_comch_server_disconnect(server.server, server.conn),
		   DOCA_ERROR_IN_USE);
		IS(doca_comch_consumer_destroy(cargos[0].consumer),
		   DOCA_ERROR_IN_USE);
		IS(doca_comch_producer_destroy(cargos[0].producer),
		   DOCA_ERROR_IN_USE);
		IS(party_state(&client), DOCA_CTX_STATE_RUNNING);
		IS(send(&cargos[0], 1, NULL, 0, 77), DOCA_ERROR_NOT_FOUND);
	}
	close_all();
}

static void expired_consumers_are_reported(void)
{
	struct doca_ctx *ctx;

	if (open_all()) {
		ctx = doca_comch_consumer_as_ctx(cargos[1].consumer);
		IS(send(&cargos[0], 100, NULL, 0, server.consumer),
		   DOCA_SUCCESS);
		end(ctx);
		party_until(&server.expired, 1);
		party_until(&cargos[0].failed, 1);
		OK(cargos[0].error != DOCA_SUCCESS);
		IS(client.expired, 0);
	}
	close_all();
}

static void capabilities_are_those_of_the_device(void)
{
	struct doca_dev *dev = end_device();
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t value = 0;

	IS(doca_comch_consumer_cap_is_supported(info), DOCA_SUCCESS);
	IS(doca_comch_producer_cap_is_supported(info), DOCA_SUCCESS);
	IS(doca_comch_consumer_cap_get_max_buf_size(info, &value),
	   DOCA_SUCCESS);
	OK(value >= BYTES);
	IS(doca_comch_producer_cap_get_max_buf_size(info, &value),
	   DOCA_SUCCESS);
	OK(value >= BYTES);
	IS(doca_comch_consumer_cap_get_max_imm_data_len(info, &value),
	   DOCA_SUCCESS);
	IS(value, 32);
	IS(doca_comch_consumer_cap_get_max_consumers(info, &value),
	   DOCA_SUCCESS);
	OK(value >= 2);
	IS(doca_comch_producer_cap_get_max_producers(info, &value),
	   DOCA_SUCCESS);
	OK(value >= 2);
	IS(doca_comch_consumer_cap_get_max_num_tasks(info, &value),
	   DOCA_SUCCESS);
	OK(value >= TASKS);
	IS(doca_comch_producer_cap_get_max_num_tasks(info, &value),
	   DOCA_SUCCESS);
	OK(value >= TASKS);
	IS(doca_comch_consumer_cap_get_max_buf_list_len(info, &value),
	   DOCA_SUCCESS);
	OK(value >= 1);
	IS(doca_comch_producer_cap_get_max_buf_list_len(info, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void nothing_is_an_invalid_value(void)
{
	struct doca_comch_consumer *consumer = NULL;
	struct doca_comch_producer *producer = NULL;

	IS(doca_comch_consumer_create(NULL, NULL, &consumer),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_producer_create(NULL, &producer),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_consumer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	OK(!doca_comch_consumer_as_ctx(NULL));
	OK(!doca_comch_producer_as_ctx(NULL));
	IS(doca_comch_consumer_set_imm_data_len(NULL, 1),
	   DOCA_ERROR_INVALID_VALUE);
}

int main(void)
{
	struct doca_dev *dev = end_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	TEST(a_message_passes_each_way);
	TEST(immediates_pass_without_buffers);
	TEST(tasks_are_changed);
	TEST(immediates_are_limited_while_idle);
	TEST(a_connection_in_use_is_not_stopped);
	TEST(expired_consumers_are_reported);
	TEST(capabilities_are_those_of_the_device);
	TEST(nothing_is_an_invalid_value);
	return tap_done();
}
