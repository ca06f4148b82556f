/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>

/*
 * channel PCI REPRESENTOR TEXT: built for a DPU it is a server, which ends with
 * its first client; built for a host the client.  Each sends its text, the
 * server when it has received one, and prints what it has received.
 */

#define MUST(call) must(call, #call)
#define NAME "channel of a test"
#define TASKS 8

static struct doca_dev *dev;
static struct doca_pe *pe;
static const char *text;
static bool over;	/* the context was active, and is idle */

static void must(doca_error_t error, const char *call)
{
	if (error)
		fprintf(stderr, "%s: %s\n", call, doca_error_get_descr(error));
	if (error)
		exit(1);
}

static void open_device(const char *pci)
{
	struct doca_devinfo **list;
	uint32_t count;
	uint8_t equal;

	MUST(doca_devinfo_create_list(&list, &count));
	while (count-- && !dev)
		if (!doca_devinfo_is_equal_pci_addr(list[count], pci, &equal) &&
		    equal && !doca_comch_cap_server_is_supported(list[count]))
			MUST(doca_dev_open(list[count], &dev));
	doca_devinfo_destroy_list(list);
	MUST(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
}

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next);

static void on_sent(struct doca_comch_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	MUST(doca_task_get_status(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void start(struct doca_ctx *ctx, doca_error_t expected)
{
	doca_error_t error;

	MUST(doca_ctx_set_state_changed_cb(ctx, on_state));
	MUST(doca_pe_connect_ctx(pe, ctx));
	error = doca_ctx_start(ctx);
	MUST(error == expected ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED);
}

#ifdef DOCA_ARCH_DPU

static struct doca_comch_server *server;
static struct doca_dev_rep *rep;

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	over = next == DOCA_CTX_STATE_IDLE;
	if (next == DOCA_CTX_STATE_STARTING)
		MUST(DOCA_ERROR_BAD_STATE);
	if (next == DOCA_CTX_STATE_RUNNING && prev == DOCA_CTX_STATE_IDLE)
		puts("the server runs");
}

static void on_connected(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *conn, uint8_t successful)
{
	(void)event;
	(void)conn;
	printf("a client is connected: %u\n", successful);
}

static void on_disconnected(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *conn, uint8_t successful)
{
	(void)event;
	printf("a client has disconnected: %u\n", successful);
	doca_ctx_stop(doca_comch_server_as_ctx(
		doca_comch_server_get_server_ctx(conn)));
}

static void on_received(struct doca_comch_event_msg_recv *event, uint8_t *msg,
			uint32_t len, struct doca_comch_connection *conn)
{
	struct doca_comch_task_send *task;

	(void)event;
	printf("the server received %.*s\n", (int)len, (char *)msg);
	MUST(doca_comch_server_task_send_alloc_init(
		doca_comch_server_get_server_ctx(conn), conn, text,
		(uint32_t)strlen(text), &task));
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
}

static void open_rep(const char *pci)
{
	struct doca_devinfo_rep **list;
	uint32_t count;
	uint8_t equal;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET,
					  &list, &count));
	while (count-- && !rep)
		if (!doca_devinfo_rep_is_equal_pci_addr(list[count], pci,
							&equal) && equal)
			MUST(doca_dev_rep_open(list[count], &rep));
	doca_devinfo_rep_destroy_list(list);
	MUST(rep ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
}

static void open_end(const char *rep_pci)
{
	uint32_t size;

	open_rep(rep_pci);
	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(dev), &size));
	MUST(doca_comch_server_create(dev, rep, NAME, &server));
	MUST(doca_comch_server_set_max_msg_size(server, size));
	MUST(doca_comch_server_set_recv_queue_size(server, 10));
	MUST(doca_comch_server_task_send_set_conf(server, on_sent, on_sent,
						  TASKS));
	MUST(doca_comch_server_event_msg_recv_register(server, on_received));
	MUST(doca_comch_server_event_connection_status_changed_register(
		server, on_connected, on_disconnected));
	start(doca_comch_server_as_ctx(server), DOCA_SUCCESS);
}

static void close_end(void)
{
	MUST(doca_comch_server_destroy(server));
	MUST(doca_dev_rep_close(rep));
}

#else

static struct doca_comch_client *client;

static void send_text(void)
{
	struct doca_comch_connection *conn;
	struct doca_comch_task_send *task;

	MUST(doca_comch_client_get_connection(client, &conn));
	MUST(doca_comch_client_task_send_alloc_init(
		client, conn, text, (uint32_t)strlen(text), &task));
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
}

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	over = next == DOCA_CTX_STATE_IDLE;
	if (over && prev == DOCA_CTX_STATE_STARTING)
		MUST(DOCA_ERROR_CONNECTION_ABORTED);
	if (next == DOCA_CTX_STATE_RUNNING)
		send_text();
}

static void on_received(struct doca_comch_event_msg_recv *event, uint8_t *msg,
			uint32_t len, struct doca_comch_connection *conn)
{
	(void)event;
	printf("the client received %.*s\n", (int)len, (char *)msg);
	doca_ctx_stop(doca_comch_client_as_ctx(
		doca_comch_client_get_client_ctx(conn)));
}

static void open_end(const char *rep_pci)
{
	uint32_t size;

	(void)rep_pci;
	MUST(doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(dev), &size));
	MUST(doca_comch_client_create(dev, NAME, &client));
	MUST(doca_comch_client_set_max_msg_size(client, size));
	MUST(doca_comch_client_set_recv_queue_size(client, 10));
	MUST(doca_comch_client_task_send_set_conf(client, on_sent, on_sent,
						  TASKS));
	MUST(doca_comch_client_event_msg_recv_register(client, on_received));
	start(doca_comch_client_as_ctx(client), DOCA_ERROR_IN_PROGRESS);
}

static void close_end(void)
{
	MUST(doca_comch_client_destroy(client));
}

#endif

int main(int argc, char **argv)
{
	struct doca_log_backend *backend;

	if (argc != 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(doca_log_backend_create_with_file_sdk(stderr, &backend));
	text = argv[3];
	open_device(argv[1]);
	MUST(doca_pe_create(&pe));
	open_end(argv[2]);
	while (!over)
		doca_pe_progress(pe);
	close_end();
	MUST(doca_pe_destroy(pe));
	MUST(doca_dev_close(dev));
	puts("over");
	return 0;
}
