/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/*
 * A server on the device that PIER_DEVICE names, on all of its addresses; a
 * client on another device of the same kind, which connects to an address of
 * its own device.
 */
#define LEN 4096

static struct pier_dev *here, *there;
static char client_address[INET6_ADDRSTRLEN];
static char server_address[INET6_ADDRSTRLEN];	/* "": none of that family */
static struct caller client, server;

static bool is_soft(const char *name)
{
	return !strncmp(name, "soft_", 5);
}

/* The first address of @dev that is of @like's family and valid elsewhere. */
static void find_address(const struct pier_dev *dev, const char *like,
			 char *ret, size_t size)
{
	struct pier_gid gid;

	ret[0] = '\0';
	for (uint32_t i = 0; !ret[0] &&
			     !pier_devinfo_gid(pier_dev_info(dev), i, &gid);
	     i++) {
		struct in6_addr *ip = (void *)gid.raw;

		if (gid.type != PIER_GID_ROCE_V2 ||
		    IN6_IS_ADDR_LINKLOCAL(ip) || IN6_IS_ADDR_LOOPBACK(ip) ||
		    IN6_IS_ADDR_V4MAPPED(ip) == !!strchr(like, ':'))
			continue;
		if (!IN6_IS_ADDR_V4MAPPED(ip))
			inet_ntop(AF_INET6, ip, ret, (socklen_t)size);
		else if (gid.raw[12] != 127)
			inet_ntop(AF_INET, gid.raw + 12, ret, (socklen_t)size);
	}
}

static bool take_other(const char *name)
{
	const char *address;

	if (!strcmp(name, pier_devinfo_name(pier_dev_info(here))) ||
	    is_soft(name) != is_soft(pier_devinfo_name(pier_dev_info(here))) ||
	    pier_dev_open(name, &there))
		return false;
	address = caller_address(there);
	if (address) {
		snprintf(client_address, sizeof(client_address), "%s",
			 address);
		return true;
	}
	pier_dev_close(there);
	there = NULL;
	return false;
}

/* Returns NULL, or why the test cannot run. */
static const char *open_two(void)
{
	struct pier_devlist *list;
	bool found = false;

	if (pier_dev_open(NULL, &here) || pier_devlist_create(&list))
		return pier_last_error();
	for (size_t i = 0; !found && i < pier_devlist_count(list); i++)
		found = take_other(pier_devinfo_name(
			pier_devlist_get(list, i)));
	pier_devlist_destroy(list);
	if (!found)
		return "no second device of this kind has an address";
	find_address(here, client_address, server_address,
		     sizeof(server_address));
	tap_note("server at %s, client at %s", server_address,
		 client_address);
	return NULL;
}

static bool begin(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	return caller_open(&client, there, NULL, NULL, LEN) &&
	       caller_open(&server, here, NULL, NULL, LEN) &&
	       caller_listen(&server, 0);
}

static void end(void)
{
	caller_close(&server);
	caller_close(&client);
}

/* What the device has sent is not the program's. */
static void no_data_of_the_program(struct pier_conn *conn)
{
	const void *data = NULL;
	size_t len = 0;

	IS(pier_conn_private_data(conn, &data, &len), 0);
	for (size_t i = 0; i < len; i++)
		if (((const uint8_t *)data)[i])
			OK(!"private data");
}

static void the_client_reads_where_the_server_listens(void)
{
	char want[64 + INET6_ADDRSTRLEN] = "requested address";

	if (server_address[0])
		snprintf(want, sizeof(want), "it does not have the requested "
			 "address, but listens at %s (", server_address);
	if (begin() && caller_ask(&client, &server, client_address) &&
	    OK(peer_count(&client.failures, 1))) {
		IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
		IS(pier_conn_reject_reason(client.peer.conn), ROCE_REJ_GID);
		LIKE(pier_conn_error_text(client.peer.conn), want);
		no_data_of_the_program(client.peer.conn);
		IS(server.requests, 0);
	}
	end();
}

/* Of a program without pier nothing is known: it gets no data of pier's. */
static void a_client_without_a_frame_is_rejected_too(void)
{
	if (begin()) {
		client.raw = true;
		if (caller_ask(&client, &server, client_address) &&
		    OK(peer_count(&client.failures, 1))) {
			IS(pier_conn_error(client.peer.conn), -ECONNREFUSED);
			no_data_of_the_program(client.peer.conn);
			IS(server.requests, 0);
		}
	}
	end();
}

int main(void)
{
	const char *reason = open_two();

	if (reason)
		return tap_skip_all(reason);
	TEST(the_client_reads_where_the_server_listens);
	TEST(a_client_without_a_frame_is_rejected_too);
	pier_dev_close(there);
	pier_dev_close(here);
	return tap_done();
}
