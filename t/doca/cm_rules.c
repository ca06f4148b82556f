/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <time.h>
#include <unistd.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Rules of connections by address that programs rely on. */

#define PORT ((uint16_t)(17500 + getpid() % 2500))
#define LIMIT_S 100

static const union doca_data no_data = { .ptr = NULL };
static struct end server, client;
static int requests, established, failures;
static struct doca_rdma_task_send *hello;

static void on_request(struct doca_rdma_connection *conn,
		       union doca_data ctx_data)
{
	char greeting[] = "welcome";

	(void)ctx_data;
	requests++;
	IS(doca_rdma_connection_accept(conn, NULL, 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_connection_accept(conn, greeting, sizeof(greeting)),
	   DOCA_SUCCESS);
	OK(doca_rdma_connection_accept(conn, NULL, 0) != DOCA_SUCCESS);
}

/* The client sends at once. */
static void on_established(struct doca_rdma_connection *conn,
			   union doca_data data, union doca_data ctx_data)
{
	(void)data;
	established++;
	if (ctx_data.ptr != &client)
		return;
	IS(doca_rdma_task_send_allocate_init(client.rdma, conn, NULL, no_data,
					     &hello), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_send_as_task(hello)), DOCA_SUCCESS);
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
	IS(doca_rdma_connection_disconnect(conn), DOCA_SUCCESS);
}

static void open_one(struct end *end)
{
	end_open(end);
	IS(doca_rdma_set_connection_state_callbacks(
		end->rdma, on_request, on_established, on_failure,
		on_disconnected), DOCA_SUCCESS);
	IS(doca_rdma_set_connection_request_timeout(end->rdma, 1),
	   DOCA_SUCCESS);
	end_start(end);
}

static void open_pair(void)
{
	requests = established = failures = 0;
	open_one(&server);
	open_one(&client);
	IS(doca_rdma_start_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
}

static void close_pair(void)
{
	end_close(&client);
	end_close(&server);
}

/* Of the device, in one of the families; NULL: it has none. */
static struct doca_rdma_addr *address(int family)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(server.dev);
	struct doca_rdma_addr *addr = NULL;
	char text[INET6_ADDRSTRLEN];
	uint8_t ip[16] = { 0 };
	doca_error_t error =
		family == AF_INET6 ? doca_devinfo_get_ipv6_addr(info, ip, 16) :
				     doca_devinfo_get_ipv4_addr(info, ip, 4);

	if (error)
		return NULL;
	OK(inet_ntop(family, ip, text, sizeof(text)) != NULL);
	IS(doca_rdma_addr_create(family == AF_INET6 ?
					 DOCA_RDMA_ADDR_TYPE_IPv6 :
					 DOCA_RDMA_ADDR_TYPE_IPv4,
				 text, PORT, &addr), DOCA_SUCCESS);
	return addr;
}

static void send_to(int family)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_addr *addr;

	open_pair();
	addr = address(family);
	if (!addr) {
		OK(family == AF_INET6);
		close_pair();
		return;
	}
	IS(doca_rdma_task_receive_allocate_init(server.rdma, NULL, no_data,
						&receive), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(receive)),
	   DOCA_SUCCESS);
	IS(doca_rdma_connect_to_addr(client.rdma, addr, no_data), DOCA_SUCCESS);
	ends_drive(&server, &client, &server.done, 1);
	ends_drive(&server, &client, &client.done, 1);
	IS(requests, 1);
	doca_task_free(doca_rdma_task_receive_as_task(receive));
	doca_task_free(doca_rdma_task_send_as_task(hello));
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

static void tasks_are_submitted_when_it_is_established(void)
{
	send_to(AF_INET);
}

static void addresses_may_be_those_of_ipv6(void)
{
	send_to(AF_INET6);
}

static void a_stopped_listener_gets_no_request(void)
{
	struct doca_rdma_addr *addr;

	open_pair();
	addr = address(AF_INET);
	IS(doca_rdma_stop_listen_to_port(server.rdma, PORT), DOCA_SUCCESS);
	IS(doca_rdma_stop_listen_to_port(server.rdma, PORT),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_connect_to_addr(client.rdma, addr, no_data), DOCA_SUCCESS);
	ends_drive(&server, &client, &failures, 1);
	IS(requests, 0);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

/* Its program makes no progress. */
static void a_server_that_does_not_answer_is_a_failure(void)
{
	time_t limit = time(NULL) + LIMIT_S;
	struct doca_rdma_addr *addr;

	open_pair();
	addr = address(AF_INET);
	IS(doca_rdma_connect_to_addr(client.rdma, addr, no_data), DOCA_SUCCESS);
	while (!failures && time(NULL) < limit)
		doca_pe_progress(client.pe);
	IS(failures, 1);
	IS(established, 0);
	IS(doca_rdma_addr_destroy(addr), DOCA_SUCCESS);
	close_pair();
}

int main(void)
{
	TEST(tasks_are_submitted_when_it_is_established);
	TEST(addresses_may_be_those_of_ipv6);
	TEST(a_stopped_listener_gets_no_request);
	TEST(a_server_that_does_not_answer_is_a_failure);
	return tap_done();
}
