/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "t/lib/caller.h"
#include "t/lib/tap.h"

/*
 * What can be listened on: the addresses of the device that PIER_DEVICE names,
 * all of them or one, and no others.
 */
#define LEN 4096

static struct pier_dev *dev;
static struct caller client, server;

static bool begin(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       caller_open(&client, dev, NULL, NULL, LEN) &&
	       caller_open(&server, dev, NULL, NULL, LEN);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
	pier_dev_close(dev);
	dev = NULL;
}

/* The RoCEv2 address @i of the device as text; NULL: it is none. */
static const char *own_address(uint32_t i)
{
	static char text[INET6_ADDRSTRLEN];
	struct pier_gid gid;

	if (pier_devinfo_gid(pier_dev_info(dev), i, &gid) ||
	    gid.type != PIER_GID_ROCE_V2)
		return NULL;
	if (IN6_IS_ADDR_V4MAPPED((struct in6_addr *)gid.raw))
		return inet_ntop(AF_INET, gid.raw + 12, text, sizeof(text));
	return inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
}

/* A link-local one as well, which is the device's without more words. */
static void every_address_of_the_device_can_be_listened_on(void)
{
	uint32_t i, n = 0;

	if (begin()) {
		for (i = 0; i < 32; i++) {
			server.address = own_address(i);
			if (!server.address)
				continue;
			tap_note("%s", server.address);
			n++;
			if (caller_listen(&server, 0))
				caller_join(&client, &server, server.address);
			pier_listener_destroy(server.listener);
			server.listener = NULL;
		}
		OK(n > 0);
	}
	end();
}

/* Listening on @address fails; the error message lists what there is. */
static void is_refused(const char *address)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg), .address = address, .port = 7471,
	};
	struct pier_listener *none = NULL;
	const char *name = pier_devinfo_name(pier_dev_info(dev));

	IS(pier_rdma_listen(server.peer.rdma, &cfg, &none), -EADDRNOTAVAIL);
	OK(!none);
	tap_note("%s", pier_last_error());
	LIKE(pier_last_error(), name);
	LIKE(pier_last_error(), address);
	LIKE(pier_last_error(), "port 7471");
	LIKE(pier_last_error(), caller_address(dev));
	LIKE(pier_last_error(), "name no address to listen on all");
}

static void an_address_that_it_lacks_is_refused_with_those_it_has(void)
{
	if (begin()) {
		is_refused("127.0.0.9");
		is_refused("203.0.113.1");
		is_refused("2001:db8::1");
		is_refused("fe80::9");
	}
	end();
}

/* After the error it listens on another address and is reached there. */
static void a_refusal_leaves_the_context_as_it_was(void)
{
	if (begin()) {
		is_refused("203.0.113.1");
		if (caller_listen(&server, 0))
			caller_join(&client, &server, NULL);
	}
	end();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(every_address_of_the_device_can_be_listened_on);
	TEST(an_address_that_it_lacks_is_refused_with_those_it_has);
	TEST(a_refusal_leaves_the_context_as_it_was);
	return tap_done();
}
