/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"

/* Datagrams, and what the network sends back. */

static void set(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

/* Packets are not divided, and errors are reported. */
static int open_socket(const union doctor_addr *own,
		       const union doctor_addr *peer)
{
	int fd = socket(peer->sa.sa_family,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	if (peer->sa.sa_family == AF_INET) {
		set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
		set(fd, IPPROTO_IP, IP_RECVERR, 1);
	} else {
		set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
		set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
	}
	if (!bind(fd, &own->sa, doctor_addr_len(own)) &&
	    !connect(fd, &peer->sa, doctor_addr_len(peer)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The kernel has read the MTU in the message of a router. */
static unsigned int path_mtu(int fd, int family)
{
	int mtu = 0;
	socklen_t len = sizeof(mtu);

	if (family == AF_INET)
		getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &len);
	else
		getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);
	return mtu > 0 ? (unsigned int)mtu : 0;
}

/* Wait for an error; what the peer sends is not one. */
static int wait_error(int fd, int ms)
{
	struct pollfd poller = { .fd = fd };	/* POLLERR alone */
	int err = 0;
	socklen_t len = sizeof(err);

	if (poll(&poller, 1, ms) <= 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return 0;
	return -err;
}

int doctor_probe(const union doctor_addr *own, const union doctor_addr *peer,
		 size_t bytes, int ms, unsigned int *ret_mtu)
{
	size_t headers = peer->sa.sa_family == AF_INET ? 28 : 48;
	size_t len = bytes > headers ? bytes - headers : 0;
	char *data = calloc(1, len + 1);
	int fd, err = 0;

	if (!data)
		return -ENOMEM;
	fd = open_socket(own, peer);
	if (fd < 0) {
		free(data);
		return fd;
	}
	if (send(fd, data, len, 0) < 0)
		err = -errno;
	else
		err = wait_error(fd, ms);
	if (ret_mtu)
		*ret_mtu = path_mtu(fd, peer->sa.sa_family);
	close(fd);
	free(data);
	return err;
}
