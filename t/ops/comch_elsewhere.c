/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/limit.h"
#include "t/lib/netns.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/*
 * The error message of a client that uses another device than its server, in a
 * network namespace of the test's own.
 */
#define FAR "10.8.3.1"

static struct pier_dev *lo, *far;

/* Once the kernel has set the carrier of its link, which takes a moment. */
static int open_far(void)
{
	long long limit = limit_from_now();
	int err;

	do
		err = pier_dev_open("soft_du0", &far);
	while (err == -ENETDOWN && limit_nap(limit));
	return err;
}

static bool begin(void)
{
	static bool laid;

	if (!laid)
		laid = netns_ip("link set lo up") &&
		       netns_ip("link add du0 type veth peer name du1") &&
		       netns_ip("addr add " FAR "/24 dev du0") &&
		       netns_ip("link set du0 up") &&
		       netns_ip("link set du1 up");
	return laid && IS(pier_dev_open("soft_lo", &lo), 0) &&
	       IS(open_far(), 0);
}

static void end(void)
{
	pier_dev_close(far);
	pier_dev_close(lo);
	far = lo = NULL;
}

/* A client on @from, of a server on @to; its error message has @there. */
static void suggests(struct pier_dev *from, struct pier_dev *to,
		     const char *address, const char *there)
{
	static struct talker server, client;
	const char *name = talker_name(), *text = "";

	if (talker_server(&server, to, name, NULL) && talker_start(&server) &&
	    talker_client(&client, from, name, address, NULL)) {
		IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
		talker_state(&client, PIER_CTX_IDLE);
		IS(pier_comch_error(client.comch, &text), -ECONNREFUSED);
		LIKE(text, "comch: no server \"");
		LIKE(text, there);
	}
	talker_close(&client);
	talker_close(&server);
}

static void the_error_has_the_address_of_the_servers_device(void)
{
	if (begin()) {
		suggests(lo, far, NULL, ", but listens at " FAR " (");
		suggests(lo, far, "127.0.0.1", ", but listens at " FAR " (");
	}
	end();
}

static void the_error_suggests_the_loopback_device(void)
{
	if (begin()) {
		suggests(far, lo, NULL, "connect from there: -d soft_lo");
		suggests(far, lo, FAR, "connect from there: -d soft_lo");
	}
	end();
}

int main(void)
{
	if (!netns_enter())
		return tap_skip_all("no network namespace of its own");
	TEST(the_error_has_the_address_of_the_servers_device);
	TEST(the_error_suggests_the_loopback_device);
	return tap_done();
}
