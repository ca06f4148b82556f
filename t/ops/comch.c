/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/dev_impl.h"
#include "dev/rep_impl.h"
#include "ops/comch_wire.h"
#include "t/lib/caller.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/* Servers and clients of a Comm Channel: their names, states and ends. */

#define PROGRESS_MAX 8		/* calls of one end until it is connected */

static struct pier_dev *dev;
static struct talker server, client, other;

static void a_message_passes_each_way(void)
{
	if (!talker_pair(&server, &client, dev, NULL))
		return;
	IS(talker_send(client.conn, 1, 100), 0);
	if (talker_count(&server.received, 1))
		talker_holds(&server, 1, 100);
	IS(talker_send(server.conn, 2, 4080), 0);
	if (talker_count(&client.received, 1))
		talker_holds(&client, 2, 4080);
	talker_unpair(&server, &client);
}

static void names_and_representors_are_checked(void)
{
	char name[PIER_COMCH_NAME_MAX + 2];
	struct pier_comch *comch = NULL;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	IS(pier_comch_create_server(dev, NULL, name, &comch), -EINVAL);
	LIKE(pier_last_error(), "1 to 255");
	IS(pier_comch_create_client(dev, name, NULL, &comch), -EINVAL);
	IS(pier_comch_create_server(dev, NULL, "", &comch), -EINVAL);
	IS(pier_comch_create_server(dev, NULL, NULL, &comch), -EINVAL);
	OK(!comch);
	name[PIER_COMCH_NAME_MAX] = '\0';
	IS(pier_comch_create_client(dev, name, NULL, &comch), 0);
	OK(pier_comch_dev(comch) == dev);
	OK(!pier_comch_rep(comch));
	OK(!pier_comch_conn(comch));
	pier_comch_destroy(comch);
	pier_comch_destroy(NULL);
}

static void a_server_has_a_representor_of_its_device(void)
{
	const struct pier__port *port = &pier_dev_info(dev)->port;
	struct pier_comch *comch = NULL;
	struct pier_rep rep = { .info.parent = "other:1" };

	IS(pier_comch_create_server(dev, &rep, "a", &comch), -EINVAL);
	LIKE(pier_last_error(), "other:1");
	OK(!comch);
	snprintf(rep.info.parent, sizeof(rep.info.parent), "%s:%u", port->name,
		 port->port);
	if (IS(pier_comch_create_server(dev, &rep, "a", &comch), 0))
		OK(pier_comch_rep(comch) == &rep);
	pier_comch_destroy(comch);
}

static void configurations_are_checked(void)
{
	const struct pier_comch_config bad[] = {
		{ .max_msg_size = PIER_COMCH_MESSAGE_MAX + 1 },
		{ .max_msg_size = PIER_ZERO },
		{ .recv_queue = 4097 },
		{ .tasks = (1 << 20) + 1 },
		{ .max_clients = 65001 },
		{ .connect_timeout_ms = PIER_ZERO },
		{ .drain_ms = PIER_ZERO },
		{ .ack_timeout = 32 },
		{ .recv_queue = 4096, .max_clients = 65000 },
	};
	struct pier_comch_config cfg = { .size = sizeof(cfg) };
	size_t i;

	if (!talker_server(&server, dev, talker_name(), NULL))
		return;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cfg = bad[i];
		cfg.size = sizeof(cfg);
		if (!IS(pier_comch_configure(server.comch, &cfg), -EINVAL))
			tap_note("number %zu", i);
	}
	pier_comch_get_config(server.comch, &cfg);
	IS(cfg.max_msg_size, 4080);
	IS(cfg.recv_queue, 16);
	IS(cfg.tasks, 256);
	IS(cfg.max_clients, 64);
	IS(cfg.connect_timeout_ms, 10000);
	IS(cfg.drain_ms, 2000);
	IS(cfg.ack_timeout, 14);
	cfg.max_msg_size = 5000;
	IS(pier_comch_configure(server.comch, &cfg), 0);
	talker_start(&server);
	IS(pier_comch_configure(server.comch, &cfg), -EBUSY);
	pier_comch_get_config(server.comch, &cfg);
	IS(cfg.max_msg_size, 5000);
	talker_close(&server);
}

static uint64_t limit_of(enum pier_limit limit)
{
	uint64_t value = 0;

	IS(pier_devinfo_limit(pier_dev_info(dev), limit, &value), 0);
	return value;
}

/* @field of @cfg is taken up to @limit. */
static void takes(struct pier_comch *comch, struct pier_comch_config *cfg,
		  uint32_t *field, enum pier_limit limit)
{
	uint32_t before = *field;

	cfg->size = sizeof(*cfg);
	*field = (uint32_t)limit_of(limit);
	IS(pier_comch_configure(comch, cfg), 0);
	++*field;
	IS(pier_comch_configure(comch, cfg), -EINVAL);
	*field = before;
}

static void configurations_reach_the_limits(void)
{
	struct pier_comch_config cfg = { .tasks = 1, .max_clients = 1 };
	struct pier_comch *comch;

	IS(limit_of(PIER_LIMIT_COMCH_NAME), PIER_COMCH_NAME_MAX);
	if (!IS(pier_comch_create_server(dev, NULL, "a", &comch), 0))
		return;
	takes(comch, &cfg, &cfg.max_msg_size, PIER_LIMIT_COMCH_MESSAGE);
	takes(comch, &cfg, &cfg.recv_queue, PIER_LIMIT_COMCH_RECV_QUEUE);
	cfg.recv_queue = 1;
	takes(comch, &cfg, &cfg.max_clients, PIER_LIMIT_COMCH_CLIENTS);
	pier_comch_destroy(comch);
}

static bool went_through(const struct talker *talker, int count,
			 const enum pier_ctx_state *states)
{
	bool same = IS(talker->state_count, count);

	for (int i = 0; i < count && same; i++)
		same = IS(talker->states[i], states[i]);
	return same;
}

static void a_client_is_starting_until_it_is_connected(void)
{
	static const enum pier_ctx_state states[] = {
		PIER_CTX_STARTING, PIER_CTX_RUNNING, PIER_CTX_STOPPING,
		PIER_CTX_IDLE,
	};
	const char *name = talker_name();

	if (!talker_server(&server, dev, name, NULL) ||
	    !talker_client(&client, dev, name, NULL, NULL))
		return;
	IS(pier_ctx_start(server.ctx, server.pe), 0);
	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	IS(pier_ctx_state(client.ctx), PIER_CTX_STARTING);
	OK(!pier_comch_conn(client.comch));
	talker_count(&client.connected, 1);
	IS(pier_ctx_state(client.ctx), PIER_CTX_RUNNING);
	OK(pier_comch_conn(client.comch) == client.conn);
	OK(!pier_comch_conn(server.comch));
	IS(pier_ctx_stop(client.ctx), -EINPROGRESS);
	talker_state(&client, PIER_CTX_IDLE);
	went_through(&client, 4, states);
	IS(pier_comch_error(client.comch, NULL), 0);
	IS(client.disconnected, 1);
	talker_count(&server.disconnected, 1);
	IS(server.end_error, 0);
	went_through(&server, 1, &states[1]);
	talker_unpair(&server, &client);
}

static void a_client_without_a_server_is_idle_again(void)
{
	static const enum pier_ctx_state states[] = {
		PIER_CTX_STARTING, PIER_CTX_IDLE,
	};
	const char *text;

	if (!talker_client(&client, dev, talker_name(), NULL, NULL))
		return;
	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	talker_state(&client, PIER_CTX_IDLE);
	went_through(&client, 2, states);
	OK(pier_comch_error(client.comch, &text) < 0);
	LIKE(text, "no server \"test ");
	LIKE(text, pier_devinfo_name(pier_dev_info(dev)));
	IS(client.connected, 0);
	IS(client.disconnected, 0);
	talker_close(&client);
}

static void a_start_can_be_stopped(void)
{
	static const enum pier_ctx_state states[] = {
		PIER_CTX_STARTING, PIER_CTX_STOPPING, PIER_CTX_IDLE,
	};

	if (!talker_client(&client, dev, talker_name(), NULL, NULL))
		return;
	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	IS(pier_ctx_stop(client.ctx), -EINPROGRESS);
	talker_state(&client, PIER_CTX_IDLE);
	went_through(&client, 3, states);
	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	talker_close(&client);	/* and destroyed */
}

static void a_second_server_of_a_name_is_refused(void)
{
	const char *name = talker_name();

	if (!talker_server(&server, dev, name, NULL) ||
	    !talker_server(&other, dev, name, NULL) ||
	    !talker_start(&server))
		return;
	IS(pier_ctx_start(other.ctx, other.pe), -EEXIST);
	LIKE(pier_last_error(), name);
	IS(pier_ctx_state(other.ctx), PIER_CTX_IDLE);
	IS(other.state_count, 0);
	IS(pier_ctx_stop_wait(server.ctx, LIMIT_MS), 0);
	talker_start(&other);		/* the name is free again */
	talker_close(&other);
	talker_start(&server);
	talker_close(&server);
}

/* A name that has the same first port as @name; static. */
static const char *same_port(const char *name, int skip)
{
	static char found[4][64];
	struct pier__comch_name a, b;
	char *text = found[skip % 4];
	uint16_t port;

	pier__comch_name_set(&a, name);
	port = pier__comch_name_port(&a, 0);
	for (unsigned int i = 0; ; i++) {
		snprintf(text, sizeof(found[0]), "%s, %u", name, i);
		pier__comch_name_set(&b, text);
		if (pier__comch_name_port(&b, 0) == port && !skip--)
			return text;
	}
}

static bool client_reaches(const char *name, struct talker *to)
{
	int before = to->connected, received = to->received;
	bool ok = talker_client(&client, dev, name, NULL, NULL) &&
		  talker_start(&client) &&
		  talker_count(&to->connected, before + 1) &&
		  IS(talker_send(client.conn, 3, 10), 0) &&
		  talker_count(&to->received, received + 1);

	talker_close(&client);
	return ok;
}

static void names_with_one_hash_both_work(void)
{
	const char *name = talker_name(), *second = same_port(name, 0);

	if (talker_server(&server, dev, name, NULL) && talker_start(&server) &&
	    talker_server(&other, dev, second, NULL) && talker_start(&other)) {
		client_reaches(name, &server);
		client_reaches(second, &other);
		IS(server.connected, 1);
		IS(other.connected, 1);
		/* its server is found on its second port, too */
		IS(pier_ctx_stop_wait(server.ctx, LIMIT_MS), 0);
		client_reaches(second, &other);
	}
	talker_unpair(&server, &other);
}

/* The message has the name, as its user has chosen no port. */
static void a_fifth_name_of_one_hash_is_refused(void)
{
	static struct talker all[5];
	const char *name = talker_name();

	for (int i = 0; i < 5; i++) {
		const char *own = i ? same_port(name, i - 1) : name;

		if (!talker_server(&all[i], dev, own, NULL))
			break;
		if (i < 4) {
			talker_start(&all[i]);
			continue;
		}
		IS(pier_ctx_start(all[i].ctx, all[i].pe), -EADDRINUSE);
		LIKE(pier_last_error(), own);
		LIKE(pier_last_error(), "choose another name");
	}
	for (int i = 0; i < 5; i++)
		talker_close(&all[i]);
}

static void the_longest_name_works(void)
{
	const char *own = talker_name();
	char name[PIER_COMCH_NAME_MAX + 1];

	memset(name, 'x', sizeof(name));
	name[PIER_COMCH_NAME_MAX] = '\0';
	memcpy(name, own, strlen(own));
	if (talker_server(&server, dev, name, NULL) && talker_start(&server))
		client_reaches(name, &server);
	talker_close(&server);
}

static void a_server_of_another_name_is_not_taken(void)
{
	const char *name = talker_name(), *text;

	if (talker_server(&server, dev, name, NULL) && talker_start(&server) &&
	    talker_client(&client, dev, same_port(name, 1), NULL, NULL)) {
		IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
		talker_state(&client, PIER_CTX_IDLE);
		OK(pier_comch_error(client.comch, &text) < 0);
		LIKE(text, "no server");
		IS(talker_rejected(&server), 1);
		IS(server.connected, 0);
	}
	talker_unpair(&server, &client);
}

static void a_server_takes_max_clients_clients(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .max_clients = 1 };
	const char *name = talker_name(), *text;

	if (talker_server(&server, dev, name, &cfg) && talker_start(&server) &&
	    talker_client(&client, dev, name, NULL, NULL) &&
	    talker_start(&client) &&
	    talker_client(&other, dev, name, NULL, NULL)) {
		IS(pier_ctx_start(other.ctx, other.pe), -EINPROGRESS);
		talker_state(&other, PIER_CTX_IDLE);
		IS(pier_comch_error(other.comch, &text), -ENOSPC);
		LIKE(text, "max_clients");
		IS(pier_ctx_stop_wait(client.ctx, LIMIT_MS), 0);
		talker_count(&server.disconnected, 1);
		talker_start(&other);	/* there is a place again */
	}
	talker_close(&other);
	talker_unpair(&server, &client);
}

static void mark(struct talker *talker, struct pier_comch_conn *conn)
{
	OK(!pier_comch_conn_user_data(conn));
	OK(pier_comch_conn_comch(conn) == talker->comch);
	pier_comch_conn_set_user_data(conn, talker);
}

static void connections_have_user_data_until_they_end(void)
{
	const char *name = talker_name();

	if (talker_server(&server, dev, name, NULL) && talker_start(&server) &&
	    talker_client(&client, dev, name, NULL, NULL)) {
		server.on_connected = client.on_connected = mark;
		talker_start(&client);
		talker_count(&server.connected, 1);
		IS(pier_ctx_stop_wait(client.ctx, LIMIT_MS), 0);
		talker_count(&server.disconnected, 1);
		OK(server.end_data == &server);
		OK(client.end_data == &client);
	}
	talker_unpair(&server, &client);
}

static void a_server_disconnects_one_client(void)
{
	struct pier_comch_conn *first;
	int status;

	if (talker_pair(&server, &client, dev, NULL)) {
		first = server.conn;
		IS(pier_comch_disconnect(first), 0);
		IS(pier_comch_disconnect(first), 0);
		IS(pier_comch_send(first, "x", 1, peer_done, &status),
		   -ENOTCONN);
		talker_state(&client, PIER_CTX_IDLE);
		IS(client.disconnected, 1);
		IS(client.end_error, 0);
		IS(pier_comch_error(client.comch, NULL), 0);
		talker_count(&server.disconnected, 1);
		IS(pier_ctx_state(server.ctx), PIER_CTX_RUNNING);
		IS(talker_start(&client), true);	/* again */
	}
	talker_unpair(&server, &client);
}

static void destroy_it(struct talker *talker, struct pier_comch_conn *conn)
{
	(void)conn;
	pier_comch_destroy(talker->comch);
	talker->comch = NULL;
}

static void contexts_are_destroyed_in_callbacks(void)
{
	int status;

	if (talker_pair(&server, &client, dev, NULL)) {
		server.on_received = destroy_it;
		client.on_disconnected = destroy_it;
		IS(pier_comch_send(client.conn, "x", 1, peer_done, &status),
		   0);
		talker_count(&server.disconnected, 1);
		talker_count(&client.disconnected, 1);
	}
	talker_unpair(&server, &client);
}

/* One call on the client and on @to, @pause milliseconds after the last one. */
static int progress_late(struct talker *to, int pause)
{
	long long limit = limit_from_now();

	limit_nap_for(limit, pause);
	pier_pe_progress(client.pe, 1);
	pier_pe_progress(to->pe, 1);
	return 1;
}

/* Connect and end, with such pauses.  The calls that the longer one took. */
static int connect_late(struct talker *to, int pause)
{
	int calls = 0, more = 0;

	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	client.connected = to->connected = to->disconnected = 0;
	while ((!client.connected || !to->connected) &&
	       calls < 2 * PROGRESS_MAX)
		calls += progress_late(to, pause);
	IS(pier_ctx_stop(client.ctx), -EINPROGRESS);
	while ((pier_ctx_state(client.ctx) != PIER_CTX_IDLE ||
		!to->disconnected) && more < 2 * PROGRESS_MAX)
		more += progress_late(to, pause);
	tap_note("%d calls, %d ms apart, and %d", calls, pause, more);
	return calls > more ? calls : more;
}

/* One a second; a machine without other work needs shorter pauses. */
static void a_few_progress_calls_connect(struct talker *to, const char *name)
{
	if (talker_client(&client, dev, name, NULL, NULL))
		OK(connect_late(to, 20) <= PROGRESS_MAX ||
		   connect_late(to, 1000) <= PROGRESS_MAX);
	talker_close(&client);
}

/* Each is on another port. */
static void a_few_progress_calls_reach_each_name_of_one_hash(void)
{
	static struct talker all[PIER__COMCH_PORTS];
	const char *names[PIER__COMCH_PORTS] = { talker_name() };
	int i;

	for (i = 1; i < PIER__COMCH_PORTS; i++)
		names[i] = same_port(names[0], i - 1);
	for (i = 0; i < PIER__COMCH_PORTS; i++)
		if (talker_server(&all[i], dev, names[i], NULL))
			talker_start(&all[i]);
	for (i = 0; i < PIER__COMCH_PORTS; i++)
		a_few_progress_calls_connect(&all[i], names[i]);
	for (i = 0; i < PIER__COMCH_PORTS; i++)
		talker_close(&all[i]);
}

static void a_client_finds_its_server_by_address(void)
{
	const char *name = talker_name();

	if (talker_server(&server, dev, name, NULL) && talker_start(&server) &&
	    talker_client(&client, dev, name, caller_address(dev),
			  NULL))
		talker_start(&client);
	talker_unpair(&server, &client);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_message_passes_each_way);
	TEST(names_and_representors_are_checked);
	TEST(a_server_has_a_representor_of_its_device);
	TEST(configurations_are_checked);
	TEST(configurations_reach_the_limits);
	TEST(a_client_is_starting_until_it_is_connected);
	TEST(a_client_without_a_server_is_idle_again);
	TEST(a_start_can_be_stopped);
	TEST(a_second_server_of_a_name_is_refused);
	TEST(names_with_one_hash_both_work);
	TEST(a_fifth_name_of_one_hash_is_refused);
	TEST(the_longest_name_works);
	TEST(a_server_of_another_name_is_not_taken);
	TEST(a_server_takes_max_clients_clients);
	TEST(connections_have_user_data_until_they_end);
	TEST(a_server_disconnects_one_client);
	TEST(contexts_are_destroyed_in_callbacks);
	TEST(a_few_progress_calls_reach_each_name_of_one_hash);
	TEST(a_client_finds_its_server_by_address);
	pier_dev_close(dev);
	return tap_done();
}
