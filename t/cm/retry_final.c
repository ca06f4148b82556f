/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "cm/rdmacm/rdmacm.h"
#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * Which attempts to connect are not repeated, because the fault is on this host
 * and stays, and which are; in a network namespace of the test's own.
 */
#define LEN 4096
#define LONG_MS 600000
#define HOME "127.0.0.1"
#define ONE "10.8.0.1"
#define SIX "fd08::1"

static struct pier_dev *dev;
static struct caller client;

/* lo has IPv4 addresses only; @more, as 10.8.0.1/32, or NULL. */
static bool begin(const char *more, const struct pier_rdma_config *cfg)
{
	memset(&client, 0, sizeof(client));
	return netns_ip("link set lo up") && netns_ip("addr flush dev lo") &&
	       netns_ip("addr add " HOME "/8 dev lo") &&
	       (!more || netns_ip("addr add %s dev lo", more)) &&
	       IS(pier_dev_open("soft_lo", &dev), 0) &&
	       caller_open(&client, dev, NULL, cfg, LEN);
}

static void end(void)
{
	caller_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

/* Whether an attempt has begun: it is repeated for ten minutes. */
static bool connect_to(const char *peer, uint32_t type, const char *source)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = peer, .type = type, .port = 9,
		.source = source, .retry_ms = LONG_MS, .retry_pause_ms = 2,
		.retry_pause_max_ms = 4,
	};

	if (IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
				    &client.peer.conn), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

/* The first attempt is the last one. */
static void is_final(int err, const char *text)
{
	OK(peer_count(&client.failures, 1));
	IS(pier_conn_error(client.peer.conn), err);
	LIKE(pier_conn_error_text(client.peer.conn), text);
	OK(!strstr(pier_conn_error_text(client.peer.conn), "attempt"));
}

/* It goes on. */
static void is_repeated(void)
{
	const struct pier__attempt *attempt = client.peer.conn->cm->attempt;
	long long limit = limit_from_now();
	uint32_t three = attempt->retry.attempts + 3;

	while (!client.failures && attempt->retry.attempts < three &&
	       peer_step(limit))
		;
	if (IS(client.failures, 0))
		OK(attempt->retry.attempts >= three);
	else
		tap_note("%s", pier_conn_error_text(client.peer.conn));
}

/* It fails for want of an address until the device gets @addr. */
static void goes_on_with(const char *addr, const char *text)
{
	const struct pier__attempt *attempt = client.peer.conn->cm->attempt;
	long long limit = limit_from_now();

	while (!client.failures && !strstr(attempt->text, text) &&
	       peer_step(limit))
		;
	is_repeated();
	if (!IS(client.failures, 0))
		return;
	LIKE(attempt->text, text);
	if (!netns_ip("addr add %s dev lo", addr))
		return;
	while (!client.failures && strstr(attempt->text, text) &&
	       peer_step(limit))
		;
	if (IS(client.failures, 0))
		OK(!strstr(attempt->text, text));
}

static void a_family_that_the_device_lacks_may_come(void)
{
	if (begin(NULL, NULL) && connect_to(SIX, 0, NULL))
		goes_on_with(SIX "/128 nodad", "soft_lo has no IPv6 address");
	end();
}

static void the_only_address_of_a_family_may_come_back(void)
{
	if (begin(SIX "/128 nodad", NULL) && connect_to(HOME, 0, NULL)) {
		is_repeated();
		if (netns_ip("addr del " HOME "/8 dev lo"))
			goes_on_with(HOME "/8", "soft_lo has no IPv4 address");
	}
	end();
}

/* A name of an IPv6 address, in a mount namespace of our own. */
static bool name_it(void)
{
	static bool named;

	if (!named)
		named = !unshare(CLONE_NEWNS) &&
			cable_run("mount --make-rprivate / && f=$(mktemp) && "
				  "echo '" SIX " six both' >$f && "
				  "echo '" HOME " both' >>$f && "
				  "mount --bind $f /etc/hosts && rm $f");
	if (named)
		return true;
	tap_skip("no hosts file of its own");
	return false;
}

static void a_name_of_a_family_that_the_device_lacks_may_pass(void)
{
	if (name_it() && begin(NULL, NULL) && connect_to("six", 0, NULL))
		goes_on_with(SIX "/128 nodad",
			     "is of a family that soft_lo has");
	end();
}

static void a_source_of_another_family_is_final(void)
{
	if (begin(SIX "/128 nodad", NULL) && connect_to(SIX, 0, HOME))
		is_final(-EHOSTUNREACH, "the source address is of another "
			 "family");
	end();
}

static void the_address_of_a_configured_gid_index_counts_as_source(void)
{
	const struct pier_rdma_config cfg = { .size = sizeof(cfg),
					      .gid_index = PIER_ZERO };

	if (begin(SIX "/128 nodad", &cfg) && connect_to(SIX, 0, NULL))
		is_final(-EHOSTUNREACH, "the source address is of another "
			 "family");
	end();
}

static void an_address_of_no_host_is_final(void)
{
	static const char *const bad[] = {
		"224.0.0.1", "255.255.255.255", "ff02::1", "0.0.0.0", "::",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (begin(SIX "/128 nodad", NULL) &&
		    connect_to(bad[i], 0, NULL))
			is_final(-EINVAL, "is no address of a host");
		end();
	}
}

static void end_at_the_limit(const char *source, const char *text)
{
	struct rlimit full, none;

	if (begin(NULL, NULL) && connect_to(HOME, 0, source) &&
	    IS(getrlimit(RLIMIT_NOFILE, &full), 0)) {
		none = full;
		none.rlim_cur = 0;
		IS(setrlimit(RLIMIT_NOFILE, &none), 0);
		OK(peer_count(&client.failures, 1));
		IS(setrlimit(RLIMIT_NOFILE, &full), 0);
		is_final(-EMFILE, text);
	}
	end();
}

static void a_limit_of_this_process_is_final(void)
{
	end_at_the_limit(NULL, "cannot query the route to " HOME);
}

static void the_limit_is_final_with_a_source_address_too(void)
{
	end_at_the_limit(HOME, "cannot query the route from " HOME " to "
			 HOME);
}

static void a_request_beyond_the_limits_never_begins(void)
{
	static const char data[PIER_PRIVATE_DATA_MAX + 1];
	const struct pier_rdma_config one = { .size = sizeof(one),
					      .max_conns = 1 };
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = HOME, .port = 9,
		.data = data, .data_len = sizeof(data), .retry_ms = LONG_MS,
	};
	struct pier_conn *none;

	if (begin(NULL, &one)) {
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &none),
		   -EMSGSIZE);
		cfg.data_len = 0;
		cfg.source = ONE;
		IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &none),
		   -EADDRNOTAVAIL);
		if (connect_to(HOME, 0, NULL)) {
			cfg.source = NULL;
			IS(pier_rdma_connect_to(client.peer.rdma, &cfg, &none),
			   -ENOSPC);
		}
	}
	end();
}

/* 127.0.0.1 refuses; ::1 can never be reached from there. */
static void one_address_that_may_recover_is_enough_to_go_on(void)
{
	if (begin("::1/128", NULL) && connect_to("localhost", 0, HOME))
		is_repeated();
	end();
}

static void a_route_that_is_missing_may_come(void)
{
	if (begin(SIX "/128 nodad", NULL) && connect_to("10.77.0.1", 0, NULL))
		is_repeated();
	end();
}

static void a_name_of_another_family_than_the_source_is_final(void)
{
	if (name_it() && begin(NULL, NULL) && connect_to("six", 0, HOME))
		is_final(-EHOSTUNREACH, "is of the family of the source");
	end();
}

/* The other one neither hides the reason nor takes a share of the time. */
static void addresses_of_another_family_than_the_source_are_skipped(void)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = "both", .port = 9, .source = HOME,
	};

	for (int i = 0; i < 2; i++) {
		cfg.source = i ? SIX : HOME;
		if (name_it() && begin(SIX "/128 nodad", NULL) &&
		    IS(pier_rdma_connect_to(client.peer.rdma, &cfg,
					    &client.peer.conn), 0)) {
			OK(peer_count(&client.failures, 1));
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			LIKE(pier_conn_error_text(client.peer.conn), i ? SIX :
			     HOME);
			OK(!strstr(pier_conn_error_text(client.peer.conn),
				   "the last of"));
		}
		end();
	}
}

int main(void)
{
	if (!netns_enter())
		return tap_skip_all("no network namespace of its own");
	TEST(a_family_that_the_device_lacks_may_come);
	TEST(the_only_address_of_a_family_may_come_back);
	TEST(a_source_of_another_family_is_final);
	TEST(the_address_of_a_configured_gid_index_counts_as_source);
	TEST(an_address_of_no_host_is_final);
	TEST(a_limit_of_this_process_is_final);
	TEST(the_limit_is_final_with_a_source_address_too);
	TEST(a_request_beyond_the_limits_never_begins);
	TEST(one_address_that_may_recover_is_enough_to_go_on);
	TEST(a_route_that_is_missing_may_come);
	TEST(a_name_of_a_family_that_the_device_lacks_may_pass);
	TEST(a_name_of_another_family_than_the_source_is_final);
	TEST(addresses_of_another_family_than_the_source_are_skipped);
	return tap_done();
}
