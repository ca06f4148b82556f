/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* A message that arrives before the server knows that it is connected. */

#define LEN 4096

static struct pier_dev *dev;
static struct caller client, server;

/* Verbs does not report the size at the other end. */
static bool is_soft(void)
{
	return !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
}

/* The client is connected and sends before the server's engine has a round. */
static void a_first_message_that_is_too_long_does_not_fail_to_connect(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *src, *dst;
	long long limit = limit_from_now();

	if (!caller_pair(&client, &server, dev, NULL, LEN) ||
	    !caller_listen(&server, 0))
		return;
	src = peer_data(&client.peer, 0, 101);
	dst = peer_tail(&server.peer, 0, 100);
	IS(pier_rdma_receive(server.peer.rdma, dst, peer_done, &got), 0);
	caller_ask(&client, &server, NULL);
	OK(peer_count(&server.requests, 1));
	while (!client.established && limit_holds(limit))
		pier_pe_wait(client.peer.pe, 10);
	IS(pier_rdma_send(client.peer.conn, src, peer_done, &sent), 0);
	while (sent == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(client.peer.pe, 10);
	OK(sent == -PIER_EREMINVAL || sent == -PIER_EREMOP);
	LIKE(pier_conn_error_text(client.peer.conn), "send of 101 bytes");
	if (is_soft())
		LIKE(pier_conn_error_text(client.peer.conn),
		     "too long for the peer's receive of at most 100 bytes");
	IS(peer_await(&got), -EMSGSIZE);
	LIKE(pier_conn_error_text(server.peer.conn), "the connection of ");
	LIKE(pier_conn_error_text(server.peer.conn),
	     "receive of at most 100 bytes");
	if (is_soft())
		LIKE(pier_conn_error_text(server.peer.conn),
		     "the message, 101 bytes, is longer");
	OK(peer_count(&server.disconnected, 1));
	IS(server.established, 1);
	IS(server.failures, 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	caller_unpair(&client, &server);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!caller_address(dev))
		return tap_skip_all("the device has no IP address");
	TEST(a_first_message_that_is_too_long_does_not_fail_to_connect);
	pier_dev_close(dev);
	return tap_done();
}
