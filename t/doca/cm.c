/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "t/doca/ends.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Connections by address: a server and a client in one process. */

/* Tests may run at the same time. */
#define PORT ((uint16_t)(10000 + getpid() % 2500))

static const union doca_data no_data = { .ptr = NULL };
static struct end server, client, second;
static int requests, established, failures, disconnects, calls_inside;
static int client_disconnects;
static struct doca_rdma_connection *at_server, *at_client;
static bool rejecting, inside_disconnect;

static void on_request(struct doca_rdma_connection *conn,
		       union doca_data ctx_data)
{
	union doca_data data = { .u64 = 22 };

	OK(ctx_data.ptr == &server);
	requests++;
	if (rejecting) {
		IS(doca_rdma_connection_reject(conn), DOCA_SUCCESS);
		return;
	}
	IS(doca_rdma_connection_accept(conn, NULL, 0), DOCA_SUCCESS);
	IS(doca_rdma_connection_set_user_data(conn, data), DOCA_SUCCESS);
}

static void on_established(struct doca_rdma_connection *conn,
			   union doca_data data, union doca_data ctx_data)
{
	established++;
	if (ctx_data.ptr == &server) {
		IS(data.u64, 22);
		at_server = conn;
	} else {
		IS(data.u64, 11);
		at_client = conn;
	}
}

static void on_failure(struct doca_rdma_connection *conn, union doca_data data,
		       union doca_data ctx_data)
{
	(void)conn;
	OK(ctx_data.ptr != &server);
	IS(data.u64, 11);
	failures++;
}

static void on_disconnected(struct doca_rdma_connection *conn,
			    union doca_data data, union doca_data ctx_data)
{
	(void)data;
	calls_inside += inside_disconnect;
	if (ctx_data.ptr == &server)
		disconnects++;
	else
		client_disconnects++;
	IS(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS);
}

static void open_ends(void)
{
	requests = established = failures = disconnects = 0;
	client_disconnects = 0;
	at_server = at_client = NULL;
	end_open(&server);
	end_open(&client);
	IS(doca_rdma_set_connection_state_callbacks(
		server.rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	IS(doca_rdma_set_connection_state_callbacks(
		client.rdma, NULL, on_established, NULL, on_disconnected),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_connection_state_callbacks(
		client.rdma, NULL, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	end_start(&server);
	end_start(&client);
}

/* The address of the device. */
static struct doca_rdma_addr *address(void)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(server.dev);
	struct doca_rdma_addr *addr = NULL;
	char text[64] = "";
	uint8_t ip[4] = { 0 };

	IS(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "%d.%d.%d.%d", ip[0], ip[1], ip[2], ip[3]);
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr),
	   DOCA_SUCCESS);
	return addr;
}

static void connect_to(struct doca_rdma_addr *addr)
{
	union doca_data data = { .u64 = 11 };

	IS(doca_rdma_connect_to_addr(client.rdma, addr, data), DOCA_SUCCESS);
}

/* Of the device. */
static void is_address(const char *text)
{
	uint8_t want[4] = { 1 }, ip[4] = { 2 };

	IS(doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(server.dev), want, 4),
	   DOCA_SUCCESS);
	IS(inet_pton(AF_INET, text, ip), 1);
	OK(!memcmp(ip, want, 4));
}

static void both_ends_are_established(void)
{
	struct doca_rdma_addr *addr, *peer;
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	ends_drive(&server, &client, &established, 2);
	IS(requests, 1);
	IS(doca_rdma_connection_get_addr(at_client, &peer), DOCA_SUCCESS);
	IS(doca_rdma_addr_get_params(peer, &type, &text, &port), DOCA_SUCCESS);
	IS(type, DOCA_RDMA_ADDR_TYPE_IPv4);
	IS(port, PORT);
	is_address(text);
	IS(doca_rdma_connection_get_addr(at_server, &peer), DOCA_SUCCESS);
	IS(doca_rdma_addr_get_params(peer, &type, &text, &port), DOCA_SUCCESS);
	is_address(text);
	IS(doca_rdma_connection_get_addr(at_server, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_connection_get_addr(NULL, &peer),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
}

static void a_message_names_its_connection(void)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;

	IS(doca_rdma_task_receive_allocate_init(server.rdma, NULL, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_send_allocate_init(client.rdma, at_client, NULL,
					     no_data, &send), DOCA_SUCCESS);
	IS(ends_run(&client, &server, doca_rdma_task_send_as_task(send)),
	   DOCA_SUCCESS);
	ends_drive(&server, &client, &server.done, 1);
	OK(doca_rdma_task_receive_get_result_rdma_connection(receive) ==
	   at_server);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
}

static void a_disconnect_is_reported_once_and_later(void)
{
	struct doca_rdma_task_receive *receive;
	size_t n = 0;

	IS(doca_rdma_task_receive_allocate_init(server.rdma, NULL, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	inside_disconnect = true;
	IS(doca_rdma_connection_disconnect(at_client), DOCA_SUCCESS);
	IS(doca_rdma_connection_disconnect(at_client), DOCA_SUCCESS);
	inside_disconnect = false;
	IS(calls_inside, 0);
	ends_drive(&server, &client, &disconnects, 1);
	for (int i = 0; i < 10000; i++) {
		doca_pe_progress(server.pe);
		doca_pe_progress(client.pe);
	}
	IS(disconnects, 1);
	IS(doca_rdma_connection_disconnect(at_server), DOCA_SUCCESS);

	/* other clients may send: it is still posted */
	IS(doca_ctx_get_num_inflight_tasks(server.ctx, &n), DOCA_SUCCESS);
	IS(n, 1);
	IS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_rdma_connection_disconnect(at_server), DOCA_SUCCESS);
	ends_drive(&server, &server, &server.failed, 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	end_close(&server);
	end_close(&client);
}

static void a_server_without_a_listener_is_a_failure(void)
{
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_stop_listen_to_port(server.rdma, PORT),
	   DOCA_ERROR_INVALID_VALUE);
	connect_to(addr);
	ends_drive(&server, &client, &failures, 1);
	IS(established, 0);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&server);
	end_close(&client);
}

static void a_rejected_client_fails_and_another_connects(void)
{
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	rejecting = true;
	connect_to(addr);
	ends_drive(&server, &client, &failures, 1);
	rejecting = false;
	connect_to(addr);
	ends_drive(&server, &client, &established, 2);
	IS(failures, 1);
	IS(requests, 2);
	IS(doca_rdma_stop_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

static void a_server_connects_again_and_again(void)
{
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	for (int i = 1; i <= 5; i++) {
		connect_to(addr);
		ends_drive(&server, &client, &established, 2 * i);
		IS(doca_rdma_connection_disconnect(at_client), DOCA_SUCCESS);
		ends_drive(&server, &client, &disconnects, i);
		ends_drive(&server, &client, &client_disconnects, i);
		IS(doca_rdma_connection_disconnect(at_server), DOCA_SUCCESS);
	}
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

/* Sleep until one of the engines has something, then call each once. */
static void sleep_and_progress(void)
{
	struct doca_pe *pes[2] = { server.pe, client.pe };
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };

	for (int i = 0; i < 2; i++) {
		IS(doca_pe_get_notification_handle(pes[i], &fds[i].fd),
		   DOCA_SUCCESS);
		IS(doca_pe_request_notification(pes[i]), DOCA_SUCCESS);
	}
	OK(poll(fds, 2, LIMIT_MS * (int)limit_slower()) > 0);
	for (int i = 0; i < 2; i++) {
		IS(doca_pe_clear_notification(pes[i], fds[i].fd),
		   DOCA_SUCCESS);
		doca_pe_progress(pes[i]);
	}
}

static void ends_that_sleep_are_woken_to_connect(void)
{
	long long limit = limit_from_now();
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	while (established < 2 && limit_holds(limit))
		sleep_and_progress();
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

#define CALLS_MAX 8	/* of one end until it is connected */
#define SECOND 1000	/* milliseconds between them */

static struct doca_rdma_connection **connection_of(const struct end *end)
{
	return end == &server ? &at_server : &at_client;
}

/*
 * Progress @slow once in a while and @fast all the time, until @slow is
 * connected.  Returns how often.
 */
static int calls_needed(struct end *slow, struct end *fast, int pause)
{
	long long limit = limit_from_now(), next = limit_now_ms();
	int calls = 0;

	while (!*connection_of(slow) && limit_holds(limit)) {
		doca_pe_progress(fast->pe);
		if (limit_now_ms() < next)
			continue;
		doca_pe_progress(slow->pe);
		calls++;
		next = limit_now_ms() + pause;
	}
	tap_note("%d calls", calls);
	return calls;
}

static void few_calls_connect(struct end *slow, struct end *fast, int pause)
{
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	OK(calls_needed(slow, fast, pause) <= CALLS_MAX);
	ends_drive(&server, &client, &established, 2);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

static void a_client_that_calls_once_a_second_connects_in_eight_calls(void)
{
	few_calls_connect(&client, &server, SECOND);
}

static void a_server_that_calls_once_a_second_connects_in_eight_calls(void)
{
	few_calls_connect(&server, &client, SECOND);
}

/* Neither program does more. */
static void both_that_call_once_a_second_connect_in_eight_calls(void)
{
	struct doca_rdma_addr *addr;
	long long limit = limit_from_now();
	int calls = 0;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	for (; established < 2 && limit_holds(limit); calls++) {
		limit_nap_for(limit, SECOND);
		doca_pe_progress(server.pe);
		doca_pe_progress(client.pe);
	}
	tap_note("%d calls", calls);
	OK(calls <= CALLS_MAX);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

static void connections_need_a_context_that_runs(void)
{
	struct doca_rdma_addr *addr;

	end_open(&server);
	IS(doca_rdma_set_connection_state_callbacks(
		server.rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_connect_to_addr(server.rdma, addr, no_data),
	   DOCA_ERROR_BAD_STATE);
	end_start(&server);
	IS(doca_rdma_set_connection_state_callbacks(
		server.rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_ERROR_BAD_STATE);
	IS(doca_rdma_start_listen_to_port(server.rdma, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT),
	   DOCA_ERROR_IN_USE);
	end_close(&server);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
}

static void what_is_no_address_is_refused(void)
{
	static const struct bad {
		enum doca_rdma_addr_type type;
		const char *text;
	} bad[] = {
		{ DOCA_RDMA_ADDR_TYPE_IPv4, "::1" },
		{ DOCA_RDMA_ADDR_TYPE_IPv4, "" },
		{ DOCA_RDMA_ADDR_TYPE_IPv6, "127.0.0.1" },
		{ DOCA_RDMA_ADDR_TYPE_GID, "fe80" },
	};
	struct doca_rdma_addr *addr;

	open_ends();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		IS(doca_rdma_addr_create(bad[i].type, bad[i].text, PORT, &addr),
		   DOCA_SUCCESS);
		IS(doca_rdma_connect_to_addr(client.rdma, addr, no_data),
		   DOCA_ERROR_INVALID_VALUE);
		IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	}
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID + 1, "x", PORT, &addr),
	   DOCA_ERROR_INVALID_VALUE);
	IS(failures, 0);
	end_close(&client);
	end_close(&server);
}

/* The GID is the address of the device, in the form of IPv6. */
static void a_gid_is_an_address(void)
{
	struct doca_devinfo *info;
	struct doca_rdma_addr *addr;
	char text[64] = "";
	uint8_t ip[4] = { 0 };

	open_ends();
	info = doca_dev_as_devinfo(server.dev);
	IS(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "::ffff:%d.%d.%d.%d", ip[0], ip[1], ip[2],
		 ip[3]);
	IS(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, text, PORT, &addr),
	   DOCA_SUCCESS);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	ends_drive(&server, &client, &established, 2);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

/* There is one connection unless more are allowed. */
static void a_full_server_rejects_without_a_callback(void)
{
	union doca_data data = { .u64 = 11 };
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	ends_drive(&server, &client, &established, 2);
	end_open(&second);
	IS(doca_rdma_set_connection_state_callbacks(
		second.rdma, NULL, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	end_start(&second);
	IS(doca_rdma_connect_to_addr(second.rdma, addr, data), DOCA_SUCCESS);
	ends_drive(&server, &second, &failures, 1);
	IS(requests, 1);
	IS(established, 2);
	IS(doca_rdma_connect_to_addr(client.rdma, addr, data),
	   DOCA_ERROR_FULL);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&second);
	end_close(&client);
	end_close(&server);
}

static void a_server_that_stops_disconnects_its_clients(void)
{
	struct doca_rdma_addr *addr;

	open_ends();
	addr = address();
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	connect_to(addr);
	ends_drive(&server, &client, &established, 2);
	IS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
	ends_drive(&server, &client, &client_disconnects, 1);
	end_drain(&server);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	end_close(&client);
	end_close(&server);
}

int main(void)
{
	TEST(both_ends_are_established);
	TEST(a_message_names_its_connection);
	TEST(a_disconnect_is_reported_once_and_later);
	TEST(a_server_without_a_listener_is_a_failure);
	TEST(a_rejected_client_fails_and_another_connects);
	TEST(a_server_connects_again_and_again);
	TEST(ends_that_sleep_are_woken_to_connect);
	TEST(both_that_call_once_a_second_connect_in_eight_calls);
	TEST(a_client_that_calls_once_a_second_connects_in_eight_calls);
	TEST(a_server_that_calls_once_a_second_connects_in_eight_calls);
	TEST(connections_need_a_context_that_runs);
	TEST(what_is_no_address_is_refused);
	TEST(a_gid_is_an_address);
	TEST(a_full_server_rejects_without_a_callback);
	TEST(a_server_that_stops_disconnects_its_clients);
	return tap_done();
}
