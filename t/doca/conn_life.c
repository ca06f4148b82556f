/* SPDX-License-Identifier: BSD-2-Clause */
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* How long a connection lives, and what remains of one that has ended. */

#define ROUNDS 1000
#define WARM 100		/* rounds after which memory is measured */
#define GROWTH 65536		/* bytes: one object a round is far more */
#define PORT ((uint16_t)(15000 + getpid() % 2500))

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;
static int established, failures, disconnects;
static struct doca_rdma_connection *at_server, *at_client;

static void open_pair(uint16_t conns)
{
	established = failures = disconnects = 0;
	end_open(&a);
	end_open(&b);
	IS(doca_rdma_set_max_num_connections(a.rdma, conns), DOCA_SUCCESS);
	IS(doca_rdma_set_max_num_connections(b.rdma, conns), DOCA_SUCCESS);
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

/* Export as soon as one of the connections before has ended. */
static doca_error_t export(struct end *end, const void **desc, size_t *len)
{
	doca_error_t error = DOCA_ERROR_FULL;

	for (long i = 0; i < 2000000 && error == DOCA_ERROR_FULL; i++) {
		doca_pe_progress(a.pe);
		doca_pe_progress(b.pe);
		error = doca_rdma_export(end->rdma, desc, len, &end->conn);
	}
	return error;
}

static bool connect_and_disconnect(void)
{
	const void *at_a, *at_b;
	size_t len_a, len_b;

	if (!IS(export(&a, &at_a, &len_a), DOCA_SUCCESS) ||
	    !IS(export(&b, &at_b, &len_b), DOCA_SUCCESS) ||
	    !IS(doca_rdma_connect(a.rdma, at_b, len_b, a.conn), DOCA_SUCCESS) ||
	    !IS(doca_rdma_connect(b.rdma, at_a, len_a, b.conn), DOCA_SUCCESS) ||
	    !IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS) ||
	    !IS(doca_rdma_connection_disconnect(b.conn), DOCA_SUCCESS))
		return false;
	return true;
}

static void connections_that_ended_keep_no_memory(void)
{
	size_t before = 0;

	open_pair(1);
	start_pair();
	for (int i = 0; i < ROUNDS; i++) {
		if (i == WARM)
			before = mallinfo2().uordblks;
		if (!connect_and_disconnect())
			break;
	}
	OK(mallinfo2().uordblks < before + GROWTH);
	close_pair();
}

static struct doca_rdma_connection *open_one(void)
{
	const void *desc;
	size_t len;

	IS(export(&a, &desc, &len), DOCA_SUCCESS);
	return a.conn;
}

/* It has ended when its place is free. */
static void end_one(struct doca_rdma_connection *conn)
{
	IS(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS);
	for (int i = 0; i < 100000; i++)
		doca_pe_progress(a.pe);
}

static uint32_t id_of(const struct doca_rdma_connection *conn)
{
	uint32_t id = 0;

	IS(doca_rdma_connection_get_id(conn, &id), DOCA_SUCCESS);
	return id;
}

/* Two have ended where two may exist; the third makes the first of them go. */
static void the_last_ones_that_ended_stay(void)
{
	struct doca_rdma_connection *first, *second, *third;
	uint32_t id;

	open_pair(2);
	start_pair();
	first = open_one();
	second = open_one();
	id = id_of(first);
	end_one(second);
	end_one(first);
	third = open_one();
	end_one(third);
	OK(open_one() != first);
	OK(open_one() != first);
	IS(id_of(first), id);
	IS(doca_rdma_connection_disconnect(first), DOCA_SUCCESS);
	close_pair();
}

/* Each is exported after the one before is connected. */
static void a_description_outlives_the_next_export(void)
{
	const void *at_a[2], *at_b[2];
	size_t len_a[2], len_b[2];
	struct doca_rdma_connection *near, *far;
	char copy[4096];

	open_pair(2);
	start_pair();
	for (int i = 0; i < 2; i++) {
		IS(doca_rdma_export(a.rdma, &at_a[i], &len_a[i], &near),
		   DOCA_SUCCESS);
		IS(doca_rdma_export(b.rdma, &at_b[i], &len_b[i], &far),
		   DOCA_SUCCESS);
		if (!i)
			memcpy(copy, at_a[0], len_a[0]);
		IS(doca_rdma_connect(a.rdma, at_b[i], len_b[i], near),
		   DOCA_SUCCESS);
		IS(doca_rdma_connect(b.rdma, at_a[i], len_a[i], far),
		   DOCA_SUCCESS);
	}
	OK(!memcmp(copy, at_a[0], len_a[0]));
	*(char *)(uintptr_t)at_a[0] ^= 1;	/* it may be written to */
	close_pair();
}

static struct doca_rdma_task_receive *receive_one(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, NULL, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &send), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_send_as_task(send)), DOCA_SUCCESS);
	ends_drive(&a, &b, &b.done, 1);
	return receive;
}

static void a_message_keeps_its_connection(void)
{
	const struct doca_rdma_connection *from;
	struct doca_rdma_task_receive *receive;
	uint32_t id;

	open_pair(1);
	start_pair();
	ends_connect(&a, &b);
	receive = receive_one();
	id = id_of(b.conn);
	IS(doca_rdma_connection_disconnect(a.conn), DOCA_SUCCESS);
	IS(doca_rdma_connection_disconnect(b.conn), DOCA_SUCCESS);
	for (int i = 0; i < 5; i++)
		connect_and_disconnect();
	from = doca_rdma_task_receive_get_result_rdma_connection(receive);
	OK(from != b.conn);
	IS(id_of(from), id);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	close_pair();
}

/* Its descriptor names a device that was closed since. */
static void memory_of_an_earlier_run_is_refused(void)
{
	struct doca_rdma_task_read *task;
	struct doca_buf *src, *dst;
	struct doca_mmap *old;
	const void *desc;
	char copy[4096];
	size_t len = 0;

	end_open(&b);
	IS(doca_mmap_export_rdma(b.mmap, b.dev, &desc, &len), DOCA_SUCCESS);
	memcpy(copy, desc, len);
	end_close(&b);
	open_pair(1);
	start_pair();
	ends_connect(&a, &b);
	IS(doca_mmap_create_from_export(NULL, copy, len, a.dev, &old),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(a.inv, old, b.memory, 8, &src),
	   DOCA_SUCCESS);
	dst = end_space(&a, 0, 8);
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &b, doca_rdma_task_read_as_task(task)),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	IS(doca_mmap_destroy(old), DOCA_SUCCESS);
	close_pair();
}

/* By address. */

static void on_request(struct doca_rdma_connection *conn,
		       union doca_data ctx_data)
{
	(void)ctx_data;
	IS(doca_rdma_connection_accept(conn, NULL, 0), DOCA_SUCCESS);
}

static void on_established(struct doca_rdma_connection *conn,
			   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	established++;
	if (ctx_data.ptr == &b)
		at_server = conn;
	else
		at_client = conn;
}

static void on_failure(struct doca_rdma_connection *conn, union doca_data data,
		       union doca_data ctx_data)
{
	(void)conn;
	(void)data;
	(void)ctx_data;
	failures++;
}

static void on_disconnected(struct doca_rdma_connection *conn,
			    union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	disconnects++;
	IS(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS);
}

static void set_callbacks(struct end *end)
{
	IS(doca_rdma_set_connection_state_callbacks(
		end->rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
}

static struct doca_rdma_addr *address(void)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(b.dev);
	struct doca_rdma_addr *addr = NULL;
	char text[64] = "";
	uint8_t ip[4] = { 0 };

	IS(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "%d.%d.%d.%d", ip[0], ip[1], ip[2], ip[3]);
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr),
	   DOCA_SUCCESS);
	return addr;
}

/* The first attempts make the limit of ended connections full. */
static void attempts_that_are_refused_keep_no_memory(void)
{
	struct doca_rdma_addr *addr;
	size_t before = 0;

	open_pair(1);
	set_callbacks(&a);
	start_pair();
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, "fe80", PORT, &addr),
	   DOCA_SUCCESS);
	for (int i = 0; i < ROUNDS; i++) {
		if (i == WARM)
			before = mallinfo2().uordblks;
		if (!IS(doca_rdma_connect_to_addr(a.rdma, addr, no_data),
			DOCA_ERROR_INVALID_VALUE))
			break;
	}
	OK(mallinfo2().uordblks < before + GROWTH);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

static void an_address_outlives_the_attempt(void)
{
	struct doca_rdma_addr *addr;

	open_pair(1);
	set_callbacks(&a);
	set_callbacks(&b);
	start_pair();
	addr = address();
	IS(doca_rdma_start_listen_to_port(b.rdma, PORT), DOCA_SUCCESS);
	IS(doca_rdma_connect_to_addr(a.rdma, addr, no_data), DOCA_SUCCESS);
	IS(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	ends_drive(&a, &b, &established, 2);
	IS(doca_rdma_connection_disconnect(at_client), DOCA_SUCCESS);
	ends_drive(&a, &b, &disconnects, 2);
	IS(doca_rdma_connect_to_addr(a.rdma, addr, no_data), DOCA_SUCCESS);
	doca_ctx_stop(a.ctx);
	end_drain(&a);		/* which ends the attempt */
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

static void connections_by_address_need_callbacks(void)
{
	struct doca_rdma_addr *addr;

	open_pair(1);
	IS(doca_rdma_set_connection_state_callbacks(
		b.rdma, NULL, on_established, on_failure, on_disconnected),
	   DOCA_SUCCESS);
	start_pair();
	addr = address();
	IS(doca_rdma_start_listen_to_port(a.rdma, PORT), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_connect_to_addr(a.rdma, addr, no_data),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_start_listen_to_port(b.rdma, PORT), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_connect_to_addr(b.rdma, addr, no_data), DOCA_SUCCESS);
	ends_drive(&a, &b, &failures, 1);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

int main(void)
{
	TEST(connections_that_ended_keep_no_memory);
	TEST(the_last_ones_that_ended_stay);
	TEST(a_description_outlives_the_next_export);
	TEST(a_message_keeps_its_connection);
	TEST(memory_of_an_earlier_run_is_refused);
	TEST(attempts_that_are_refused_keep_no_memory);
	TEST(an_address_outlives_the_attempt);
	TEST(connections_by_address_need_callbacks);
	return tap_done();
}
