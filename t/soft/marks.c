/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>

#include "fabric/soft/io/udp.h"
#include "t/lib/tap.h"

/* Marks of a switch, on datagrams between sockets of the kernel. */
#define DSCP 0x28
#define PATIENCE_MS 10000

static struct soft_io *from, *to;

static void send_packet(const char *address, uint8_t tclass)
{
	struct soft_tx tx = {
		.hdr_len = 12, .tclass = tclass, .hop_limit = 64,
		.dst.port = to->port,
	};

	inet_pton(AF_INET6, address, &tx.src.ip);
	tx.src.port = from->port;
	tx.dst.ip = tx.src.ip;
	memset(tx.hdr, 0, sizeof(tx.hdr));
	IS(from->ops->send(from, &tx, 1), 1);
}

/* Whether the next packet is marked. */
static bool is_marked(void)
{
	struct pollfd pfd = { .fd = pier__soft_udp_fd(to), .events = POLLIN };
	struct soft_rx rx;

	if (!IS(poll(&pfd, 1, PATIENCE_MS), 1) ||
	    !IS(to->ops->recv(to, &rx, 1), 1))
		return false;
	return rx.marked;
}

static void marks_are_seen(const char *address)
{
	send_packet(address, SOFT_TCLASS_ECT);
	OK(!is_marked());
	send_packet(address, SOFT_TCLASS_CE);
	OK(is_marked());
	send_packet(address, DSCP | SOFT_TCLASS_CE);
	OK(is_marked());
	send_packet(address, DSCP | SOFT_TCLASS_ECT);
	OK(!is_marked());
	send_packet(address, 0);
	OK(!is_marked());
}

static void of_ipv4_they_are_seen(void)
{
	marks_are_seen("::ffff:127.0.0.1");
}

static void of_ipv6_they_are_seen(void)
{
	struct soft_io *io;

	if (pier__soft_udp_create(&in6addr_loopback, 0, 1, &io)) {
		tap_skip("the host has no ::1");
		return;
	}
	pier__soft_udp_destroy(io);
	marks_are_seen("::1");
}

int main(void)
{
	if (!IS(pier__soft_udp_create(&in6addr_any, 0, 1, &from), 0) ||
	    !IS(pier__soft_udp_create(&in6addr_any, 0, 1, &to), 0))
		return 1;
	TEST(of_ipv4_they_are_seen);
	TEST(of_ipv6_they_are_seen);
	pier__soft_udp_destroy(from);
	pier__soft_udp_destroy(to);
	return tap_done();
}
