/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/host.h>

#include "dev/dev_impl.h"
#include "ops/rdma_impl.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* A server on all devices of this host, whichever they are. */
#define LEN 4096

static struct pier_pe *pe;
static struct pier_host *host;
static bool has_second_port;	/* of the first device, which is not there */
static size_t came_by;		/* the device of the last request */
static int established, ended;

/* The linker has these called instead. */
size_t __real_pier_devlist_count(const struct pier_devlist *list);
size_t __wrap_pier_devlist_count(const struct pier_devlist *list);
const struct pier_devinfo *
__real_pier_devlist_get(const struct pier_devlist *list, size_t i);
const struct pier_devinfo *
__wrap_pier_devlist_get(const struct pier_devlist *list, size_t i);

size_t __wrap_pier_devlist_count(const struct pier_devlist *list)
{
	return __real_pier_devlist_count(list) + has_second_port;
}

const struct pier_devinfo *
__wrap_pier_devlist_get(const struct pier_devlist *list, size_t i)
{
	static struct pier_devinfo second;

	if (!has_second_port || i < __real_pier_devlist_count(list))
		return __real_pier_devlist_get(list, i);
	second = *__real_pier_devlist_get(list, 0);
	second.port.port = 2;
	return &second;
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	came_by = pier_host_find(host, conn);
	OK(ctx_data == &came_by);
	IS(pier_conn_accept(conn, NULL, 0), 0);
}

static void was_established(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)conn;
	(void)data;
	(void)ctx_data;
	established++;
}

static void has_ended(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	ended++;
	pier_conn_destroy(conn);
}

static const struct pier_host_config config = {
	.size = sizeof(config),
	.request = requested,
	.established = was_established,
	.failure = has_ended,
	.disconnected = has_ended,
	.user_data = &came_by,
};

static bool begin(void)
{
	established = ended = 0;
	host = NULL;
	return IS(pier_pe_create(&pe), 0) &&
	       IS(pier_host_create(pe, &config, &host), 0);
}

static void end(void)
{
	pier_host_destroy(host);
	pier_pe_destroy(pe);
	host = NULL;
	pe = NULL;
}

static bool listen_on(uint32_t port)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg), .port = port };

	if (IS(pier_host_listen(host, &cfg), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/* A client on device @i reaches the server at the device's own address. */
static void is_reached_by(size_t i)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .port = pier_host_port(host),
	};
	long long limit = limit_from_now();
	struct caller client;
	struct pier_dev *dev;
	int before = established;

	came_by = pier_host_count(host);
	if (!IS(pier_dev_open(pier_host_name(host, i), &dev), 0))
		return;
	cfg.peer = caller_address(dev);
	if (cfg.peer && caller_open(&client, dev, pe, NULL, LEN) &&
	    IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				    &client.peer.conn), 0)) {
		while ((!client.established || established == before) &&
		       !client.failures && peer_step(limit))
			;
		IS(client.established, 1);
		IS(established, before + 1);
		if (client.failures)
			tap_note("%s",
				 pier_conn_error_text(client.peer.conn));
		IS(came_by, i);
		IS(pier_host_find(host, client.peer.conn),
		   pier_host_count(host));
	}
	if (cfg.peer)
		caller_close(&client);
	pier_dev_close(dev);
}

static void a_client_of_each_device_reaches_the_server(void)
{
	size_t i, reached = 0;

	if (begin() && listen_on(0)) {
		OK(pier_host_port(host));
		for (i = 0; i < pier_host_count(host); i++) {
			tap_note("%s %s", pier_host_name(host, i),
				 pier_host_error_text(host, i));
			if (pier_host_error(host, i))
				continue;
			OK(pier_host_rdma(host, i));
			is_reached_by(i);
			reached++;
		}
		OK(reached > 0);
	}
	end();
}

/* The first device that listens. */
static size_t first(void)
{
	size_t i;

	for (i = 0; i < pier_host_count(host); i++)
		if (!pier_host_error(host, i))
			break;
	return i;
}

static void a_host_that_stops_listening_can_listen_again(void)
{
	uint16_t port;

	if (begin() && listen_on(0)) {
		port = pier_host_port(host);
		pier_host_stop_listening(host);
		IS(pier_host_port(host), 0);
		pier_host_stop_listening(host);
		OK(listen_on(port));
		IS(pier_host_port(host), port);
		is_reached_by(first());
	}
	pier_host_stop_listening(NULL);
	end();
}

static void a_device_that_takes_no_part_has_an_error(void)
{
	size_t i;

	if (begin()) {
		for (i = 0; i < pier_host_count(host); i++) {
			OK(pier_host_name(host, i));
			IS(!pier_host_rdma(host, i),
			   pier_host_error(host, i) != 0);
			IS(!pier_host_dev(host, i),
			   pier_host_error(host, i) != 0);
			IS(!pier_host_error_text(host, i)[0],
			   !pier_host_error(host, i));
		}
		OK(!pier_host_name(host, i));
		OK(!pier_host_dev(host, i));
		OK(!pier_host_rdma(host, i));
		IS(pier_host_error(host, i), -ERANGE);
		IS_STR(pier_host_error_text(host, i), "");
	}
	end();
}

static void a_second_server_gets_another_port(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_host *other = NULL;
	size_t i;

	if (begin() && listen_on(0) &&
	    IS(pier_host_create(pe, &config, &other), 0)) {
		cfg.port = pier_host_port(host);
		IS(pier_host_listen(other, &cfg), -EADDRINUSE);
		IS(pier_host_port(other), 0);
		for (i = 0; i < pier_host_count(other); i++)
			if (pier_host_rdma(other, i))
				IS(pier_host_error(other, i), -EADDRINUSE);
		cfg.port = 0;
		IS(pier_host_listen(other, &cfg), 0);
		OK(pier_host_port(other) != pier_host_port(host));
		for (i = 0; i < pier_host_count(other); i++)
			if (pier_host_rdma(other, i))
				IS(pier_host_error(other, i), 0);
	}
	pier_host_destroy(other);
	end();
}

static void what_a_host_cannot_listen_to_is_an_error(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg),
					  .address = "127.0.0.1" };
	struct pier_host *deaf = NULL;

	if (begin()) {
		IS(pier_host_listen(host, &cfg), -EINVAL);
		LIKE(pier_last_error(), "127.0.0.1");
		cfg.address = NULL;
		cfg.port = 65536;
		IS(pier_host_listen(host, &cfg), -EINVAL);
		LIKE(pier_last_error(), "65536");
		IS(pier_host_port(host), 0);
		if (listen_on(0)) {
			cfg.port = pier_host_port(host) ^ 1u;
			IS(pier_host_listen(host, &cfg), -EINVAL);
			OK(listen_on(0));
			OK(listen_on(pier_host_port(host)));
		}
		cfg.port = 0;
		IS(pier_host_create(pe, NULL, &deaf), 0);
		IS(pier_host_listen(deaf, &cfg), -EINVAL);
		LIKE(pier_last_error(), "request callback");
		pier_host_destroy(deaf);
	}
	end();
}

static void an_invalid_configuration_is_reported_at_once(void)
{
	const struct pier_rdma_config rdma = { .size = sizeof(rdma),
					       .max_conns = 70000 };
	struct pier_host_config cfg = config;
	struct pier_host *none = NULL;

	cfg.rdma = &rdma;
	if (IS(pier_pe_create(&pe), 0)) {
		IS(pier_host_create(pe, &cfg, &none), -EINVAL);
		LIKE(pier_last_error(), "max_conns 70000");
		OK(!none);
	}
	pier_pe_destroy(pe);
	pe = NULL;
}

/* It is not the first port again. */
static void each_port_of_a_device_is_named(void)
{
	char name[80];
	size_t i;

	has_second_port = true;
	if (begin()) {
		i = pier_host_count(host) - 1;
		snprintf(name, sizeof(name), "%s:2", pier_host_name(host, 0));
		IS_STR(pier_host_name(host, i), name);
		IS(pier_host_error(host, i), -ENODEV);
		LIKE(pier_host_error_text(host, i), name);
	}
	end();
	has_second_port = false;
}

static void a_host_can_have_one_device(void)
{
	struct pier_host_config cfg = config;
	char name[80];

	cfg.device = "";
	if (IS(pier_pe_create(&pe), 0) &&
	    IS(pier_host_create(pe, &cfg, &host), 0)) {
		IS(pier_host_count(host), 1);
		snprintf(name, sizeof(name), "%s", pier_host_name(host, 0));
		pier_host_destroy(host);
		host = NULL;
		cfg.device = name;
		if (IS(pier_host_create(pe, &cfg, &host), 0) && listen_on(0)) {
			IS(pier_host_count(host), 1);
			IS_STR(pier_host_name(host, 0), name);
			is_reached_by(0);
		}
	}
	end();
}

static void a_device_that_is_not_there_is_named(void)
{
	struct pier_host_config cfg = config;

	cfg.device = "no_such0";
	if (IS(pier_pe_create(&pe), 0)) {
		IS(pier_host_create(pe, &cfg, &host), -ENODEV);
		LIKE(pier_last_error(), "\"no_such0\"");
		OK(!host);
	}
	end();
}

/* The others that share it cannot listen on it. */
static void the_first_that_shares_port_4791_has_it(void)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg), .port = 4791 };
	bool taken = false;
	size_t i;

	if (begin()) {
		pier_host_listen(host, &cfg);
		for (i = 0; i < pier_host_count(host); i++) {
			if (!pier_host_dev(host, i) ||
			    !pier_host_dev(host, i)->info.port.limits
			    .shares_roce_port)
				continue;
			IS(pier_host_rdma(host, i)->owner.no_roce_port, taken);
			if (taken)
				IS(pier_host_error(host, i), -EADDRINUSE);
			taken = true;
		}
		OK(taken);
	}
	end();
}

/* What the server has on its devices is closed with it. */
static void a_host_is_destroyed_with_its_connections(void)
{
	if (begin() && listen_on(0)) {
		is_reached_by(first());
		pier_host_destroy(NULL);
		end();
		if (begin())
			OK(listen_on(0));
	}
	end();
}

int main(void)
{
	struct pier_dev *dev;

	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(a_client_of_each_device_reaches_the_server);
	TEST(a_host_that_stops_listening_can_listen_again);
	TEST(a_device_that_takes_no_part_has_an_error);
	TEST(a_second_server_gets_another_port);
	TEST(what_a_host_cannot_listen_to_is_an_error);
	TEST(an_invalid_configuration_is_reported_at_once);
	TEST(each_port_of_a_device_is_named);
	TEST(a_host_can_have_one_device);
	TEST(a_device_that_is_not_there_is_named);
	TEST(the_first_that_shares_port_4791_has_it);
	TEST(a_host_is_destroyed_with_its_connections);
	return tap_done();
}
