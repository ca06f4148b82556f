/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <unistd.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Several clients of one server, and what one of them does to the others. */

#define PORT ((uint16_t)(13600 + getpid() % 1400))
#define CLIENTS 2

static const union doca_data no_data = { .ptr = NULL };
static struct end server, clients[CLIENTS];
static int requests, established, failures, disconnects;
/* Of each client, at both ends; in the order of the clients. */
static struct doca_rdma_connection *at_server[CLIENTS], *at_client[CLIENTS];
static int server_count, stopping;
static struct doca_rdma_addr *addr;

static void on_request(struct doca_rdma_connection *conn,
		       union doca_data ctx_data)
{
	const union doca_data data = { .u64 = 77 };
	char private_data[255];

	(void)ctx_data;
	requests++;
	memset(private_data, 'p', sizeof(private_data));
	IS(doca_rdma_connection_accept(conn, private_data, 255), DOCA_SUCCESS);
	IS(doca_rdma_connection_set_user_data(conn, data), DOCA_SUCCESS);
}

static void on_established(struct doca_rdma_connection *conn,
			   union doca_data data, union doca_data ctx_data)
{
	established++;
	if (ctx_data.ptr == &server && server_count < CLIENTS)
		at_server[server_count++] = conn;
	else if (ctx_data.ptr != &server)
		at_client[data.u64] = conn;
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
	if (ctx_data.ptr == &server)
		IS(data.u64, 77);
	else
		OK(at_client[data.u64] == conn);
	disconnects++;
	IS(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS);
}

static void open_one(struct end *end, uint32_t access)
{
	end_open_with(end, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | END_RDMA,
		      access);
	IS(doca_rdma_set_connection_state_callbacks(
		end->rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	IS(doca_rdma_set_max_num_connections(end->rdma, CLIENTS), DOCA_SUCCESS);
}

static bool progress_all(const int *count, int want)
{
	for (long i = 0; i < 20000000 && *count != want; i++) {
		doca_pe_progress(server.pe);
		for (int j = 0; j < CLIENTS; j++)
			doca_pe_progress(clients[j].pe);
	}
	return IS(*count, want);
}

static void find_address(void)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(server.dev);
	char text[INET_ADDRSTRLEN] = "";
	uint8_t ip[4] = { 0 };

	IS(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)), DOCA_SUCCESS);
	OK(inet_ntop(AF_INET, ip, text, sizeof(text)) != NULL);
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr),
	   DOCA_SUCCESS);
}

static void connect_client(struct end *end, uint64_t i)
{
	union doca_data data = { .u64 = i };
	int want = established + 2;

	IS(doca_rdma_connect_to_addr(end->rdma, addr, data), DOCA_SUCCESS);
	progress_all(&established, want);
}

static void open_all(uint32_t access)
{
	requests = established = failures = disconnects = server_count = 0;
	stopping = 0;
	open_one(&server, access);
	end_start(&server);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	find_address();
	for (int i = 0; i < CLIENTS; i++) {
		open_one(&clients[i], 0);
		end_start(&clients[i]);
	}
}

static void close_all(void)
{
	for (int i = 0; i < CLIENTS; i++)
		end_close(&clients[i]);
	end_close(&server);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
}

static struct doca_rdma_task_receive *receive(void)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(server.rdma, NULL, no_data,
						&task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return task;
}

static struct doca_task *send_on(struct end *end,
				 struct doca_rdma_connection *conn)
{
	struct doca_rdma_task_send *task = NULL;

	IS(doca_rdma_task_send_allocate_init(end->rdma, conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
	return doca_rdma_task_send_as_task(task);
}

/* It is posted before they connect, for the one that sends. */
static void a_client_that_leaves_takes_no_receive_along(void)
{
	struct doca_rdma_task_receive *task;
	struct doca_task *send;

	open_all(0);
	task = receive();
	for (int i = 0; i < CLIENTS; i++)
		connect_client(&clients[i], (uint64_t)i);
	IS(doca_rdma_connection_disconnect(at_client[0]), DOCA_SUCCESS);
	progress_all(&disconnects, 2);
	IS(server.done + server.failed, 0);
	send = send_on(&clients[1], at_client[1]);
	progress_all(&clients[1].done, 1);
	progress_all(&server.done, 1);
	OK(doca_rdma_task_receive_get_result_rdma_connection(task) ==
	   at_server[1]);
	doca_task_free(send);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	IS(disconnects, 2);
	close_all();
}

/* The client's context, and its other connection, run on. */
static void a_disconnect_fails_the_tasks_of_one_connection(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	struct doca_rdma_task_receive *task;
	struct doca_task *lost, *send;

	open_all(0);
	connect_client(&clients[0], 0);
	connect_client(&clients[0], 1);
	lost = send_on(&clients[0], at_client[0]);	/* no receive yet */
	IS(doca_rdma_connection_disconnect(at_server[0]), DOCA_SUCCESS);
	progress_all(&clients[0].failed, 1);
	IS(clients[0].error, DOCA_ERROR_IO_FAILED);
	IS(doca_ctx_get_state(clients[0].ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_RUNNING);
	task = receive();
	send = send_on(&clients[0], at_client[1]);
	progress_all(&clients[0].done, 1);
	progress_all(&server.done, 1);
	doca_task_free(lost);
	doca_task_free(send);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	close_all();
}

static void disconnect_all(const union doca_data data, struct doca_ctx *ctx,
			   enum doca_ctx_states prev,
			   enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_STOPPING)
		return;
	stopping++;
	for (int i = 0; i < CLIENTS; i++)
		IS(doca_rdma_connection_disconnect(at_server[i]), DOCA_SUCCESS);
}

/* One of them left before, and the other is connected. */
static void a_server_disconnects_all_when_it_stops(void)
{
	open_all(0);
	doca_ctx_stop(server.ctx);
	end_drain(&server);
	IS(doca_ctx_set_state_changed_cb(server.ctx, disconnect_all),
	   DOCA_SUCCESS);
	end_start(&server);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	for (int i = 0; i < CLIENTS; i++)
		connect_client(&clients[i], (uint64_t)i);
	IS(doca_rdma_connection_disconnect(at_client[0]), DOCA_SUCCESS);
	progress_all(&disconnects, 2);
	doca_ctx_stop(server.ctx);
	IS(stopping, 1);
	end_drain(&server);
	IS(stopping, 1);
	IS(doca_rdma_connection_disconnect(at_server[1]), DOCA_SUCCESS);
	close_all();
}

/* Then a request has no answer, and the port is free. */
static void a_listener_ends_with_its_context(void)
{
	open_all(0);
	doca_ctx_stop(server.ctx);
	end_drain(&server);
	IS(doca_rdma_connect_to_addr(clients[0].rdma, addr, no_data),
	   DOCA_SUCCESS);
	progress_all(&failures, 1);
	IS(requests, 0);
	end_start(&server);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_client(&clients[0], 0);
	IS(requests, 1);
	close_all();
}

static doca_error_t read_from_server(struct end *end)
{
	struct doca_rdma_task_read *task;
	struct doca_buf *src, *dst;
	doca_error_t error;
	const void *desc;
	size_t len;

	IS(doca_mmap_export_rdma(server.mmap, server.dev, &desc, &len),
	   DOCA_SUCCESS);
	IS(doca_mmap_create_from_export(NULL, desc, len, end->dev,
					&end->remote), DOCA_SUCCESS);
	src = end_far_data(end, 0, 8);
	dst = end_space(end, 0, 8);
	IS(doca_rdma_task_read_allocate_init(end->rdma, at_client[0], src, dst,
					     no_data, &task), DOCA_SUCCESS);
	error = ends_run(end, end, doca_rdma_task_read_as_task(task));
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	return error;
}

/* By address as by descriptors; the server's program sleeps. */
static void a_server_permits_what_was_set(void)
{
	open_all(DOCA_ACCESS_FLAG_RDMA_READ);
	connect_client(&clients[0], 0);
	IS(read_from_server(&clients[0]), DOCA_SUCCESS);
	close_all();
	open_all(DOCA_ACCESS_FLAG_RDMA_WRITE);
	connect_client(&clients[0], 0);
	IS(read_from_server(&clients[0]), DOCA_ERROR_NOT_PERMITTED);
	close_all();
}

int main(void)
{
	TEST(a_client_that_leaves_takes_no_receive_along);
	TEST(a_disconnect_fails_the_tasks_of_one_connection);
	TEST(a_server_disconnects_all_when_it_stops);
	TEST(a_listener_ends_with_its_context);
	TEST(a_server_permits_what_was_set);
	return tap_done();
}
