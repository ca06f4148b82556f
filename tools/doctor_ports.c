/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

/*
 * UDP ports of this host: is one free, and does what is sent to it arrive?  The
 * packets go from the device's address to itself, past the rules of a firewall
 * that do not depend on the interface.
 */

#define ARRIVE_MS 200

/* A socket at @own's address and port, 0 being any; -errno. */
static int bound(const union doctor_addr *own, uint16_t port)
{
	union doctor_addr addr = *own;
	int fd = socket(own->sa.sa_family,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	doctor_addr_set_port(&addr, port);
	if (fd >= 0 && !bind(fd, &addr.sa, doctor_addr_len(&addr)))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Does a datagram from another socket arrive at @fd?  -errno: not sent. */
static int arrives(int fd, const union doctor_addr *own)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	union doctor_addr to;
	socklen_t len = sizeof(to);
	int from = bound(own, 0), ret;

	if (from < 0)
		return from;
	ret = getsockname(fd, &to.sa, &len) ||
	      sendto(from, "", 0, 0, &to.sa, len) < 0 ? -errno :
							poll(&poller, 1,
							     ARRIVE_MS);
	close(from);
	return ret;
}

static json_t *add(struct doctor *d, enum doctor_grade grade, uint16_t port,
		   const char *text)
{
	json_t *finding;

	if (port)
		finding = doctor_add(d, "udp_port", grade, "UDP port %u: %s",
				     port, text);
	else
		finding = doctor_add(d, "udp_port", grade, "UDP ports of "
				     "connections: %s", text);
	tool_json_set(finding, "port", json_integer(port));
	return finding;
}

static void remedy_firewall(json_t *finding, uint16_t port)
{
	char line[DOCTOR_LINE], range[32] = "32768-60999";
	unsigned int low, high;

	if (doctor_line(line, "/proc/sys/net/ipv4/ip_local_port_range") &&
	    sscanf(line, "%u %u", &low, &high) == 2)
		snprintf(range, sizeof(range), "%u-%u", low, high);
	if (port)
		snprintf(range, sizeof(range), "%u", port);
	doctor_remedy(finding, "nft insert rule inet filter input udp dport %s "
		      "accept, or the like in the firewall that is used",
		      range);
}

/* Of 4791 that is usual where there is Soft-RoCE. */
static void add_taken(struct doctor *d, uint16_t port)
{
	char line[DOCTOR_LINE];
	bool roce = port == DOCTOR_ROCE_PORT;
	bool rxe = roce && doctor_line(line, "/sys/module/rdma_rxe/refcnt");
	json_t *finding;

	finding = add(d, roce && !rxe ? DOCTOR_WARNING : DOCTOR_OK, port,
		      rxe ? "rdma_rxe has it: RoCE devices reach only rxe here"
		      : roce ? "another process has it: RoCE devices do not "
		      "reach soft devices of others" :
		      "another process has it");
	if (!rxe)
		doctor_remedy(finding, "ss -ulnp sport = :%u shows which",
			      port);
}

/* No socket can be made, or bound to any port. */
static void add_unusable(struct doctor *d, uint16_t port, int err)
{
	char text[DOCTOR_LINE];

	snprintf(text, sizeof(text), "cannot be used: %s", strerror(-err));
	doctor_remedy(add(d, DOCTOR_ERROR, port, text), "%s",
		      err == -EADDRINUSE ? "sysctl -w "
		      "net.ipv4.ip_local_port_range=\"32768 60999\"; ss -uanp "
		      "shows what has them" : "ulimit -n 1024, and a container "
		      "that permits sockets of UDP");
}

/* The socket was not bound to @port, which is 0 for any. */
static void add_unbound(struct doctor *d, uint16_t port, int err)
{
	char text[DOCTOR_LINE];

	if (port && err == -EADDRINUSE) {
		add_taken(d, port);
		return;
	}
	if (!port || err != -EACCES) {
		add_unusable(d, port, err);
		return;
	}
	snprintf(text, sizeof(text), "cannot be used: %s", strerror(-err));
	doctor_remedy(add(d, DOCTOR_OK, port, text),
		      "CAP_NET_BIND_SERVICE, or sysctl -w "
		      "net.ipv4.ip_unprivileged_port_start=%u", port);
}

static void add_firewall(struct doctor *d, uint16_t port, const char *what)
{
	char text[DOCTOR_LINE];

	snprintf(text, sizeof(text), "a firewall of this host %s", what);
	remedy_firewall(add(d, DOCTOR_ERROR, port, text), port);
}

static void check_port(struct doctor *d, const union doctor_addr *own,
		       uint16_t port)
{
	int fd = bound(own, port), ret;

	if (fd < 0) {
		add_unbound(d, port, fd);
		return;
	}
	ret = arrives(fd, own);
	close(fd);
	if (ret > 0)
		add(d, DOCTOR_OK, port, port ? "free, and packets arrive" :
		    "packets arrive");
	else if (!ret)
		add_firewall(d, port, "drops packets");
	else if (ret == -EPERM || ret == -EACCES)
		add_firewall(d, port, "does not let packets leave");
	else
		add_unusable(d, port, ret);
}

void doctor_ports(struct doctor *d)
{
	uint16_t ports[] = { DOCTOR_ROCE_PORT, TOOL_PORT, 0 };
	union doctor_addr own;

	if (!doctor_own_addr(d->info, &own))
		return;
	if (d->path)
		ports[1] = d->path->port;
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		check_port(d, &own, ports[i]);
}
