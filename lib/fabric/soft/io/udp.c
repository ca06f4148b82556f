/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP sockets: creation, options, and the calls of struct soft_io. */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/io/udp_sock.h"
#include "fabric/soft/stats/capture.h"

#define RX_BYTES ((size_t)SOFT_UDP_RX_SLOTS * SOFT_UDP_SLOT_SIZE)
#define BUFFER_SIZE (8 << 20)	/* the kernel's; it takes less if it must */

static uint64_t udp_now(struct soft_io *io)
{
	(void)io;
	return pier__now();
}

static const struct soft_io_ops udp_ops = {
	.now = udp_now,
	.send = pier__soft_udp_send,
	.recv = pier__soft_udp_recv,
};

static const struct soft_io_ops faulty_ops = {
	.now = udp_now,
	.send = pier__soft_udp_send,
	.recv = pier__soft_udp_recv_faulty,
};

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* As large as this process may set them. */
static void set_buffers(int fd)
{
	if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_SIZE))
		set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_SIZE);
	if (set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_SIZE))
		set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_SIZE);
}

/* GSO and GRO may be missing; every other option must be set. */
static int set_options(struct soft_udp *udp)
{
	int fd = udp->fd;

	set_buffers(fd);
	udp->gso = !set(fd, SOL_UDP, UDP_SEGMENT, 0);
	set(fd, SOL_UDP, UDP_GRO, 1);
	if (set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) ||
	    set(fd, IPPROTO_IP, IP_TTL, SOFT_UDP_HOP_LIMIT) ||
	    set(fd, IPPROTO_IP, IP_TOS, SOFT_TCLASS_ECT) ||
	    set(fd, IPPROTO_IP, IP_RECVTOS, 1))
		return -errno;
	if (!udp->v6)
		return set(fd, IPPROTO_IP, IP_PKTINFO, !udp->bound) ? -errno
								    : 0;
	if (set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) ||
	    set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) ||
	    set(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1) ||
	    set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, SOFT_UDP_HOP_LIMIT) ||
	    set(fd, IPPROTO_IPV6, IPV6_TCLASS, SOFT_TCLASS_ECT) ||
	    set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) ||
	    set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, !udp->bound) ||
	    set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1))
		return -errno;
	return 0;
}

/*
 * Where groups are: of what is sent, whose hops are the kernel's default of 1,
 * and of what is received, from groups that this socket is in.
 */
static void set_group_options(const struct soft_udp *udp)
{
	const struct ip_mreqn from = { .imr_ifindex = (int)udp->ifindex };
	int fd = udp->fd;

	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof(from));
	set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
	if (udp->v6)
		set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)udp->ifindex);
}

/* Take @port, on every address unless bound; learn which it is. */
static int bind_port(struct soft_udp *udp, uint16_t port)
{
	const struct soft_addr at = { .ip = udp->rx.dst.ip, .port = port };
	union soft_udp_name name;
	socklen_t len = pier__soft_udp_name(udp, &name, &at);

	if (bind(udp->fd, &name.sa, len) ||
	    getsockname(udp->fd, &name.sa, &len))
		return pier__fail(-errno, "cannot take UDP port %u: %s", port,
				  pier_strerror(errno));
	udp->io.port = ntohs(udp->v6 ? name.v6.sin6_port : name.v4.sin_port);
	return 0;
}

static int open_socket(struct soft_udp *udp)
{
	const int type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int err;

	udp->v6 = true;
	udp->fd = socket(AF_INET6, type, 0);
	if (udp->fd < 0 && errno == EAFNOSUPPORT) {
		udp->v6 = false;
		udp->fd = socket(AF_INET, type, 0);
	}
	if (udp->fd < 0)
		return pier__fail(-errno, "cannot open a UDP socket: %s",
				  pier_strerror(errno));
	err = set_options(udp);
	set_group_options(udp);
	if (err) {
		close(udp->fd);
		pier__fail(err, "cannot set up a UDP socket: %s",
			   pier_strerror(err));
	}
	return err;
}

/*
 * A socket that has no port yet.  @ip: the address that it is to be bound to,
 * or unspecified.
 */
static int create(const struct in6_addr *ip, unsigned int ifindex,
		  struct soft_udp **ret)
{
	struct soft_udp *udp = calloc(1, sizeof(*udp));
	int err;

	if (!udp)
		return pier__fail(-ENOMEM, "no memory for a UDP socket");
	/* Untouched pages cost nothing: few datagrams, few pages. */
	udp->rx.bytes = mmap(NULL, RX_BYTES,
			     PROT_READ | PROT_WRITE, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (udp->rx.bytes == MAP_FAILED) {
		err = pier__fail(-ENOMEM, "no memory for a UDP socket");
		goto err_free;
	}
	err = pier__soft_faults_create(secure_getenv("PIER_FAULTS"),
				       &udp->faults);
	if (err)
		goto err_unmap;
	udp->io.ops = udp->faults ? &faulty_ops : &udp_ops;
	udp->ifindex = ifindex;
	udp->rx.dst.ip = *ip;
	udp->bound = !IN6_IS_ADDR_UNSPECIFIED(ip);
	pier__soft_udp_tx_init(&udp->tx);
	pier__soft_udp_rx_init(&udp->rx);
	err = open_socket(udp);
	if (err)
		goto err_faults_destroy;
	*ret = udp;
	return 0;

err_faults_destroy:
	pier__soft_faults_destroy(udp->faults);
err_unmap:
	munmap(udp->rx.bytes, RX_BYTES);
err_free:
	free(udp);
	return err;
}

int pier__soft_udp_create(const struct in6_addr *ip, uint16_t port,
			  unsigned int ifindex, struct soft_io **ret)
{
	struct soft_udp *udp;
	int err = create(ip, ifindex, &udp);

	if (err)
		return err;
	err = bind_port(udp, port);
	if (err) {
		pier__soft_udp_destroy(&udp->io);
		return err;
	}
	pier__soft_capture_open();

	*ret = &udp->io;
	return 0;
}

/*
 * The kernel lets two sockets have one port if both have SO_REUSEPORT.  They
 * have it only during bind, so that no third socket can join them later.
 */
int pier__soft_udp_create_bound(const struct soft_io *any,
				const struct in6_addr *ip, struct soft_io **ret)
{
	const struct soft_udp *wide = (const struct soft_udp *)any;
	struct soft_udp *udp;
	int err = create(ip, wide->ifindex, &udp);

	if (err)
		return err;
	set(wide->fd, SOL_SOCKET, SO_REUSEPORT, 1);
	set(udp->fd, SOL_SOCKET, SO_REUSEPORT, 1);
	err = bind_port(udp, any->port);
	set(udp->fd, SOL_SOCKET, SO_REUSEPORT, 0);
	set(wide->fd, SOL_SOCKET, SO_REUSEPORT, 0);
	if (err) {
		pier__soft_udp_destroy(&udp->io);
		return err;
	}

	*ret = &udp->io;
	return 0;
}

int pier__soft_udp_create_group(uint16_t port, unsigned int ifindex,
				struct soft_io **ret)
{
	struct soft_udp *udp;
	int err = create(&in6addr_any, ifindex, &udp);

	if (err)
		return err;
	set(udp->fd, SOL_SOCKET, SO_REUSEADDR, 1);
	err = bind_port(udp, port);
	if (err) {
		pier__soft_udp_destroy(&udp->io);
		return err;
	}

	*ret = &udp->io;
	return 0;
}

int pier__soft_udp_join(struct soft_io *io, const struct in6_addr *group,
			bool on)
{
	const struct soft_udp *udp = pier__soft_udp_of(io);
	struct ipv6_mreq v6 = {
		.ipv6mr_multiaddr = *group, .ipv6mr_interface = udp->ifindex,
	};
	struct ip_mreqn v4 = { .imr_ifindex = (int)udp->ifindex };
	int err;

	if (IN6_IS_ADDR_V4MAPPED(group)) {
		memcpy(&v4.imr_multiaddr, &group->s6_addr[12], 4);
		err = setsockopt(udp->fd, IPPROTO_IP, on ? IP_ADD_MEMBERSHIP :
				 IP_DROP_MEMBERSHIP, &v4, sizeof(v4));
	} else {
		err = setsockopt(udp->fd, IPPROTO_IPV6, on ? IPV6_JOIN_GROUP :
				 IPV6_LEAVE_GROUP, &v6, sizeof(v6));
	}
	return err ? pier__fail(-errno, "cannot join a multicast group: %s",
				pier_strerror(errno)) : 0;
}

void pier__soft_udp_destroy(struct soft_io *io)
{
	struct soft_udp *udp = pier__soft_udp_of(io);

	close(udp->fd);
	pier__soft_faults_destroy(udp->faults);
	munmap(udp->rx.bytes, RX_BYTES);
	free(udp);
}

int pier__soft_udp_fd(const struct soft_io *io)
{
	return ((const struct soft_udp *)io)->fd;
}

const struct soft_udp_stats *pier__soft_udp_stats(const struct soft_io *io)
{
	return &((const struct soft_udp *)io)->stats;
}

const struct soft_faults *pier__soft_udp_faults(const struct soft_io *io)
{
	return ((const struct soft_udp *)io)->faults;
}
