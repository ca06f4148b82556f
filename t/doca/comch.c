/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_log.h>

#include "t/doca/party.h"
#include "t/lib/tap.h"

/* Comm Channels as programs for DOCA see them: what may be called when. */

static struct party server, client, other;

static void a_text_passes_each_way(void)
{
	if (party_pair(&server, &client)) {
		IS(party_send(&client, "from the client", 15), DOCA_SUCCESS);
		if (party_until(&server.received, 1))
			party_has(&server, "from the client");
		IS(party_send(&server, "from the server", 15), DOCA_SUCCESS);
		if (party_until(&client.received, 1))
			party_has(&client, "from the server");
		party_until(&client.done, 1);
		party_until(&server.done, 1);
	}
	party_unpair(&server, &client);
	IS(server.connected, 1);
	IS(server.disconnected, 1);
}

/* The states that @party was in, as digits. */
static int states_of(const struct party *party)
{
	int ret = 0;

	for (int i = 0; i < party->state_count; i++)
		ret = 10 * ret + (int)party->states[i];
	return ret;
}

static void the_states_are_those_that_programs_expect(void)
{
	struct doca_comch_connection *conn = NULL;
	const char *name = party_name();

	party_server(&server, name);
	IS(doca_ctx_start(server.ctx), DOCA_SUCCESS);
	IS(states_of(&server), 2);	/* running, inside start */
	IS(doca_ctx_start(server.ctx), DOCA_ERROR_BAD_STATE);
	party_client(&client, name);
	IS(doca_comch_client_get_connection(client.client, &conn),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(states_of(&client), 1);	/* starting, inside start */
	IS(doca_comch_client_get_connection(client.client, &conn),
	   DOCA_ERROR_BAD_STATE);
	OK(!conn);
	party_until_state(&client, DOCA_CTX_STATE_RUNNING);
	IS(doca_comch_client_get_connection(client.client, &conn),
	   DOCA_SUCCESS);
	party_until(&server.connected, 1);
	IS(doca_comch_client_destroy(client.client), DOCA_ERROR_IN_USE);
	IS(doca_comch_server_destroy(server.server), DOCA_ERROR_IN_USE);
	party_unpair(&server, &client);
	IS(states_of(&client), 1230);
	IS(states_of(&server), 230);
}

static void send_at_once(struct party *party, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_RUNNING)
		IS(party_send(party, "early", 5), DOCA_SUCCESS);
}

static void a_client_sends_when_it_runs(void)
{
	const char *name = party_name();

	party_server(&server, name);
	party_start(&server);
	party_client(&client, name);
	client.on_state = send_at_once;
	party_start(&client);
	if (party_until(&server.received, 1))
		party_has(&server, "early");
	party_unpair(&server, &client);
}

static void on_task(struct doca_comch_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *msg,
		       uint32_t len, struct doca_comch_connection *conn)
{
	(void)event;
	(void)msg;
	(void)len;
	(void)conn;
}

static void
on_status(struct doca_comch_event_connection_status_changed *event,
	  struct doca_comch_connection *conn, uint8_t successful)
{
	(void)event;
	(void)conn;
	(void)successful;
}

static char logged[4096], line[1400];

static void on_line(char *text)
{
	strncat(logged, text, sizeof(logged) - strlen(logged) - 1);
}

/* What was logged contains @part; forget it. */
static void has_logged(const char *part)
{
	LIKE(logged, part);
	logged[0] = '\0';
}

static void what_a_start_needs_is_mandatory(void)
{
	const doca_error_t no = DOCA_ERROR_BAD_CONFIG;
	struct doca_dev *dev = end_device();
	struct doca_comch_server *s;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	logged[0] = '\0';
	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_comch_server_create(dev, NULL, party_name(), &s),
	   DOCA_SUCCESS);
	ctx = doca_comch_server_as_ctx(s);
	IS(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), no);
	has_logged("without callbacks for connections");
	IS(doca_comch_server_event_connection_status_changed_register(
		   s, on_status, on_status), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), no);
	has_logged("without a callback for messages");
	IS(doca_comch_server_event_msg_recv_register(s, on_message),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), no);
	has_logged("without tasks that send");
	IS(doca_comch_server_task_send_set_conf(s, on_task, on_task, 1),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	doca_ctx_stop(ctx);
	while (doca_comch_server_destroy(s) == DOCA_ERROR_IN_USE)
		doca_pe_progress(pe);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void callbacks_are_checked(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;

	party_server(&server, party_name());
	IS(doca_comch_server_event_msg_recv_register(server.server, NULL), no);
	IS(doca_comch_server_event_connection_status_changed_register(
		   server.server, NULL, on_status), no);
	IS(doca_comch_server_event_connection_status_changed_register(
		   server.server, on_status, NULL), no);
	IS(doca_comch_server_task_send_set_conf(server.server, on_task, NULL,
						1), no);
	IS(doca_comch_server_task_send_set_conf(server.server, NULL, on_task,
						1), no);
	IS(doca_comch_server_task_send_set_conf(server.server, on_task,
						on_task, 0), no);
	party_close(&server);
}

static void nothing_is_set_on_a_context_that_runs(void)
{
	const doca_error_t no = DOCA_ERROR_BAD_STATE;

	if (party_pair(&server, &client)) {
		IS(doca_comch_server_set_max_msg_size(server.server, 8), no);
		IS(doca_comch_server_set_recv_queue_size(server.server, 8),
		   no);
		IS(doca_comch_server_task_send_set_conf(server.server, on_task,
							on_task, 1), no);
		IS(doca_comch_server_event_msg_recv_register(server.server,
							     on_message), no);
		IS(doca_comch_server_event_connection_status_changed_register(
			   server.server, on_status, on_status), no);
		IS(doca_comch_client_set_max_msg_size(client.client, 8), no);
		IS(doca_comch_client_set_recv_queue_size(client.client, 8),
		   no);
		IS(doca_comch_client_task_send_set_conf(client.client, on_task,
							on_task, 1), no);
		IS(doca_comch_client_event_msg_recv_register(client.client,
							     on_message), no);
	}
	party_unpair(&server, &client);
}

/* One of the capabilities of the device. */
typedef doca_error_t cap_fn(const struct doca_devinfo *info, uint32_t *ret);

static uint32_t cap(const struct doca_dev *dev, cap_fn *fn)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t ret = 0;

	IS(fn(NULL, &ret), DOCA_ERROR_INVALID_VALUE);
	IS(fn(info, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(fn(info, &ret), DOCA_SUCCESS);
	return ret;
}

static void capabilities_are_reported(void)
{
	struct doca_dev *dev = end_device();
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	IS(doca_comch_cap_server_is_supported(info), DOCA_SUCCESS);
	IS(doca_comch_cap_client_is_supported(info), DOCA_SUCCESS);
	IS(doca_comch_cap_server_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_cap_client_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(cap(dev, doca_comch_cap_get_max_msg_size), 4080);
	IS(cap(dev, doca_comch_cap_get_max_name_len), 255);
	OK(cap(dev, doca_comch_cap_get_max_clients) >= 2);
	OK(cap(dev, doca_comch_cap_get_max_recv_queue_size) >= 10);
	OK(cap(dev, doca_comch_cap_get_max_send_tasks) >= 1024);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void sizes_are_set_up_to_the_capabilities(void)
{
	struct doca_comch_server *s;
	uint32_t msg, queue, tasks, value = 0;

	party_server(&server, party_name());
	s = server.server;
	msg = cap(server.dev, doca_comch_cap_get_max_msg_size);
	queue = cap(server.dev, doca_comch_cap_get_max_recv_queue_size);
	tasks = cap(server.dev, doca_comch_cap_get_max_send_tasks);
	IS(doca_comch_server_get_max_msg_size(s, &value), DOCA_SUCCESS);
	IS(value, msg);
	IS(doca_comch_server_set_max_msg_size(s, msg + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_set_max_msg_size(s, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_set_max_msg_size(s, 64), DOCA_SUCCESS);
	IS(doca_comch_server_get_max_msg_size(s, &value), DOCA_SUCCESS);
	IS(value, 64);
	IS(doca_comch_server_set_recv_queue_size(s, queue + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_set_recv_queue_size(s, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_set_recv_queue_size(s, queue), DOCA_SUCCESS);
	IS(doca_comch_server_get_recv_queue_size(s, &value), DOCA_SUCCESS);
	IS(value, queue);
	IS(doca_comch_server_task_send_set_conf(s, on_task, on_task,
						tasks + 1),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_server_task_send_set_conf(s, on_task, on_task, tasks),
	   DOCA_SUCCESS);
	logged[0] = '\0';
	if (!party_start(&server))	/* with as much as there is */
		tap_note("%s", logged);
	party_close(&server);
}

static void a_client_has_sizes_too(void)
{
	struct doca_dev *dev = NULL;
	uint32_t value = 0;

	party_client(&client, party_name());
	IS(doca_comch_client_set_max_msg_size(client.client, 100),
	   DOCA_SUCCESS);
	IS(doca_comch_client_get_max_msg_size(client.client, &value),
	   DOCA_SUCCESS);
	IS(value, 100);
	IS(doca_comch_client_set_recv_queue_size(client.client, 10),
	   DOCA_SUCCESS);
	IS(doca_comch_client_get_recv_queue_size(client.client, &value),
	   DOCA_SUCCESS);
	IS(value, 10);
	IS(doca_comch_client_get_device(client.client, &dev), DOCA_SUCCESS);
	OK(dev == client.dev);
	party_close(&client);
}

static void a_name_has_one_server(void)
{
	const char *name = party_name();

	logged[0] = '\0';
	party_server(&server, name);
	party_start(&server);
	party_server(&other, name);
	IS(doca_ctx_start(other.ctx), DOCA_ERROR_ALREADY_EXIST);
	has_logged("another server on this host has the name");
	IS(states_of(&other), 0);
	party_close(&server);
	party_start(&other);		/* it is free now */
	party_close(&other);
}

static void names_are_checked(void)
{
	struct doca_dev *dev = end_device();
	struct doca_comch_client *c = NULL;
	struct doca_comch_server *s = NULL;
	char name[257];

	logged[0] = '\0';
	memset(name, 'x', sizeof(name) - 1);
	name[256] = '\0';
	IS(doca_comch_server_create(dev, NULL, name, &s),
	   DOCA_ERROR_INVALID_VALUE);
	has_logged("1 to 255");
	IS(doca_comch_client_create(dev, name, &c), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_client_create(dev, "", &c), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_client_create(dev, NULL, &c), DOCA_ERROR_INVALID_VALUE);
	OK(!s);
	OK(!c);
	name[255] = '\0';
	IS(doca_comch_client_create(dev, name, &c), DOCA_SUCCESS);
	IS(doca_comch_client_destroy(c), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void a_client_without_a_server_is_idle_again(void)
{
	party_server(&server, party_name());
	party_start(&server);		/* that has another name */
	party_client(&client, party_name());
	logged[0] = '\0';
	IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	party_until_state(&client, DOCA_CTX_STATE_IDLE);
	IS(states_of(&client), 10);
	has_logged("comch: no server \"party ");
	party_unpair(&server, &client);
}

static void a_client_is_stopped_while_it_starts(void)
{
	const char *name = party_name();

	party_server(&server, name);
	party_start(&server);
	party_client(&client, name);
	IS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	party_until_state(&client, DOCA_CTX_STATE_IDLE);
	IS(states_of(&client), 130);
	party_start(&client);		/* once more */
	party_unpair(&server, &client);
}

/* A representor of the device; NULL: it has none. */
static struct doca_dev_rep *open_rep(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count = 0;

	IS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET,
					&list, &count), DOCA_SUCCESS);
	if (count)
		IS(doca_dev_rep_open(list[0], &rep), DOCA_SUCCESS);
	IS(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
	return rep;
}

static void a_server_holds_its_representor(void)
{
	struct doca_dev *dev = end_device(), *same = NULL;
	struct doca_dev_rep *rep = open_rep(dev), *got = NULL;
	struct doca_comch_server *s;

	IS(doca_comch_server_create(dev, rep, "x", &s), DOCA_SUCCESS);
	IS(doca_comch_server_get_device(s, &same), DOCA_SUCCESS);
	OK(same == dev);
	IS(doca_comch_server_get_device_rep(s, &got),
	   rep ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
	OK(got == rep);
	IS(doca_dev_rep_close(rep), rep ? DOCA_ERROR_IN_USE : DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_comch_server_destroy(s), DOCA_SUCCESS);
	IS(doca_dev_rep_close(rep), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void calls_without_an_object_fail(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;
	const union doca_data none = { .ptr = NULL };
	struct doca_comch_task_send *task;
	uint64_t counter;
	uint32_t value;

	IS(doca_comch_server_destroy(NULL), no);
	IS(doca_comch_client_destroy(NULL), no);
	OK(!doca_comch_server_as_ctx(NULL));
	OK(!doca_comch_client_as_ctx(NULL));
	OK(!doca_comch_task_send_as_task(NULL));
	OK(!doca_comch_server_get_server_ctx(NULL));
	OK(!doca_comch_client_get_client_ctx(NULL));
	OK(!doca_comch_connection_get_user_data(NULL).ptr);
	IS(doca_comch_connection_set_user_data(NULL, none), no);
	IS(doca_comch_connection_update_info(NULL), no);
	IS(doca_comch_connection_get_counter(
		   NULL, DOCA_COMCH_COUNTER_SENT_BYTES, &counter), no);
	IS(doca_comch_server_disconnect(NULL, NULL), no);
	IS(doca_comch_server_set_max_msg_size(NULL, 1), no);
	IS(doca_comch_client_get_max_msg_size(NULL, &value), no);
	IS(doca_comch_server_get_recv_queue_size(NULL, &value), no);
	IS(doca_comch_client_set_recv_queue_size(NULL, 1), no);
	IS(doca_comch_client_get_connection(NULL, NULL), no);
	IS(doca_comch_server_task_send_alloc_init(NULL, NULL, "", 0, &task),
	   no);
	IS(doca_comch_client_task_send_set_conf(NULL, on_task, on_task, 1),
	   no);
	IS(doca_comch_server_event_msg_recv_register(NULL, on_message), no);
	IS(doca_comch_server_get_device(NULL, NULL), no);
	IS(doca_comch_server_get_device_rep(NULL, NULL), no);
}

int main(void)
{
	struct doca_dev *dev = end_device();
	struct doca_log_backend *backend;

	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	doca_log_backend_create_with_buf_sdk(line, sizeof(line), on_line,
					     &backend);
	TEST(a_text_passes_each_way);
	TEST(the_states_are_those_that_programs_expect);
	TEST(a_client_sends_when_it_runs);
	TEST(what_a_start_needs_is_mandatory);
	TEST(callbacks_are_checked);
	TEST(nothing_is_set_on_a_context_that_runs);
	TEST(capabilities_are_reported);
	TEST(sizes_are_set_up_to_the_capabilities);
	TEST(a_client_has_sizes_too);
	TEST(a_name_has_one_server);
	TEST(names_are_checked);
	TEST(a_client_without_a_server_is_idle_again);
	TEST(a_client_is_stopped_while_it_starts);
	TEST(a_server_holds_its_representor);
	TEST(calls_without_an_object_fail);
	return tap_done();
}
