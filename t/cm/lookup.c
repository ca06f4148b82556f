/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/pier.h>

#include "cm/rdmacm/lookup.h"
#include "core/clock.h"
#include "t/lib/tap.h"

/* Names of hosts, and what users write where a peer is asked for. */

static struct pier_pe *pe;
static struct pier__lookup *lookup;

struct answer {
	int calls, err;
	struct pier__addrs addrs;
	char reason[100];
};

static void take(void *arg, const struct pier__addrs *addrs, int err,
		 const char *reason)
{
	struct answer *answer = arg;

	answer->calls++;
	answer->err = err;
	if (addrs)
		answer->addrs = *addrs;
	if (reason)
		strncpy(answer->reason, reason, sizeof(answer->reason) - 1);
}

static struct answer ask(const char *name, int family)
{
	struct answer answer = { 0 };
	struct pier__query *query = NULL;
	uint64_t end = pier__now() + 20000 * PIER__MS;

	if (IS(pier__lookup_name(lookup, name, family, 77, take, &answer,
				 &query), 0))
		while (!answer.calls && pier__now() < end)
			pier_pe_wait(pe, 10);
	IS(answer.calls, 1);
	return answer;
}

static void the_own_host_has_an_address(void)
{
	struct answer answer = ask("localhost", AF_UNSPEC);
	char text[PIER__ADDR_TEXT];

	if (!IS(answer.err, 0) || !OK(answer.addrs.count >= 1))
		return;
	pier__sockaddr_text(&answer.addrs.addr[0].sa, text);
	OK(!strcmp(text, "127.0.0.1 port 77") || !strcmp(text, "::1 port 77"));
}

static void a_family_can_be_asked_for(void)
{
	struct answer answer = ask("localhost", AF_INET);

	if (IS(answer.err, 0) && OK(answer.addrs.count))
		IS(answer.addrs.addr[0].sa.sa_family, AF_INET);
}

static void a_name_that_is_none_is_reported(void)
{
	struct answer answer = ask("no-such-host.invalid", AF_UNSPEC);

	OK(answer.err < 0);
	OK(answer.reason[0]);
	IS(answer.addrs.count, 0);
}

static void a_query_may_be_cancelled(void)
{
	struct answer answer = { 0 };
	struct pier__query *query = NULL;

	IS(pier__lookup_name(lookup, "no-such-host.invalid", AF_UNSPEC, 1, take,
			     &answer, &query), 0);
	if (answer.calls)
		return;		/* there is no name server at all */
	pier__query_cancel(query);
	pier__lookup_destroy(lookup);
	IS(answer.calls, 0);
	IS(pier__lookup_create(pe, &lookup), 0);
}

static void peers_are_written_in_many_ways(void)
{
	static const struct {
		const char *text, *want;
		enum pier_addr_type type;
	} good[] = {
		{ "10.9.0.1", "10.9.0.1 port 5", PIER_ADDR_ANY },
		{ "10.9.0.1:77", "10.9.0.1 port 77", PIER_ADDR_IPV4 },
		{ "fd00::1", "fd00::1 port 5", PIER_ADDR_IPV6 },
		{ "[fd00::1]", "fd00::1 port 5", PIER_ADDR_ANY },
		{ "[fd00::1]:77", "fd00::1 port 77", PIER_ADDR_IPV6 },
		{ "::ffff:10.9.0.1", "10.9.0.1 port 5", PIER_ADDR_GID },
		{ "0000:0000:0000:0000:0000:ffff:0a09:0001",
		  "10.9.0.1 port 5", PIER_ADDR_GID },
		{ "fd00::1", "fd00::1 port 5", PIER_ADDR_GID },
		{ "fe80::1%lo", "fe80::1%lo port 5", PIER_ADDR_ANY },
	};
	char text[PIER__ADDR_TEXT];
	struct pier__peer peer;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!IS(pier__peer_parse(good[i].text, good[i].type, 5,
					 &peer), 0))
			continue;
		OK(!peer.is_name);
		IS_STR(pier__sockaddr_text(&peer.addr.sa, text),
		       good[i].want);
	}
	IS(pier__peer_parse("a-host.example:99", PIER_ADDR_ANY, 0, &peer), 0);
	OK(peer.is_name);
	IS_STR(peer.name, "a-host.example");
	IS(peer.port, 99);
	/* It is an address as a whole, and what was meant is guessed. */
	IS(pier__peer_parse("::1:80", PIER_ADDR_ANY, 0, &peer), -EINVAL);
	LIKE(pier_last_error(), "\"::1:80\": no port; with an IPv6 address, "
	     "write [IPV6]:PORT");
}

int main(void)
{
	IS(pier_pe_create(&pe), 0);
	IS(pier__lookup_create(pe, &lookup), 0);
	TEST(the_own_host_has_an_address);
	TEST(a_family_can_be_asked_for);
	TEST(a_name_that_is_none_is_reported);
	TEST(a_query_may_be_cancelled);
	TEST(peers_are_written_in_many_ways);
	pier__lookup_destroy(lookup);
	pier_pe_destroy(pe);
	return tap_done();
}
