/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eight bytes there and back between two UDP sockets, with nothing else.
 * "poll": both sides try to receive until there is something; prints one way,
 * half of a round trip.  "block": both sleep in the system call; prints the
 * round trip.  Microseconds, median and average.  More bytes are packets as
 * long as those of a stream with MTU 4096, with segmentation offload on both
 * sides; what is lost is not sent again, and ends it.
 *
 * "calls" is "poll" with what a RoCE device on any socket cannot do without: a
 * socket for both families, header and ICRC, 16 bytes, and recvmsg(2), which
 * returns the sender, the congestion mark and the length of segments.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/procs.h"

#define WARMUP 1000
#define BUFFER (8 << 20)
#define PACKET 4112
#define RUN (15 * PACKET)	/* of one send */
#define MOST (1 << 20)
#define HEADERS 16		/* BTH and ICRC */
#define PATIENCE 5		/* seconds without a byte: some are lost */

static int flags;
static bool calls;
static size_t bytes = 8;	/* of a message */

static ssize_t take_any(int fd, void *slot, size_t size)
{
	union {
		struct cmsghdr align;
		char bytes[4 * CMSG_SPACE(sizeof(int))];
	} control;
	struct sockaddr_in6 from;
	struct iovec iov = { .iov_base = slot, .iov_len = size };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	if (!calls)
		return recv(fd, slot, size, flags);
	return syscall(SYS_recvmsg, fd, &msg, flags);
}

static void take(int fd)
{
	static char slot[65536];
	double end = proc_now() + PATIENCE * 1e6;
	size_t got;
	ssize_t n;

	for (got = 0; got < bytes; got += n > 0 ? (size_t)n : 0) {
		n = take_any(fd, slot, sizeof(slot));
		if (n < 0 && errno != EAGAIN)
			proc_die("recv: %s", strerror(errno));
		if (n < 0 && proc_now() > end)
			proc_die("%zu of %zu bytes are lost", bytes - got,
				 bytes);
	}
	if (got != bytes)
		proc_die("received %zu bytes, not %zu", got, bytes);
}

/* Where messages go, by the family of the socket. */
struct bare_name {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name;
	socklen_t len;
};

static struct bare_name name_of(const struct sockaddr_in *to)
{
	struct bare_name ret = { .name.v4 = *to, .len = sizeof(*to) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_port = to->sin_port };

	if (!calls)
		return ret;
	v6.sin6_addr.s6_addr[10] = 0xff;
	v6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&v6.sin6_addr.s6_addr[12], &to->sin_addr, 4);
	ret.name.v6 = v6;
	ret.len = sizeof(v6);
	return ret;
}

static void give(int fd, const struct bare_name *to)
{
	static const char memory[MOST];
	size_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < RUN ? bytes - at : RUN;
		if (sendto(fd, memory + at, n, 0, &to->name.sa, to->len) !=
		    (ssize_t)n)
			proc_die("sendto: %s", strerror(errno));
	}
}

static void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		proc_die("setsockopt: %s", strerror(errno));
}

/* Without the right to more it is cut to net.core.rmem_max. */
static void set_buffer(int fd)
{
	int size = BUFFER;
	socklen_t len = sizeof(size);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		set(fd, SOL_SOCKET, SO_RCVBUF, size);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len))
		proc_die("getsockopt: %s", strerror(errno));
	if (size < 2 * MOST)	/* the kernel reports twice what was set */
		proc_die("a receive buffer of %d bytes, %d are needed: raise "
			 "net.core.rmem_max", size / 2, MOST);
}

/* On any address, and a port that the kernel chooses. */
static int open_both(struct sockaddr_in *ret)
{
	struct sockaddr_in6 name = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(name);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&name, len) ||
	    getsockname(fd, (struct sockaddr *)&name, &len))
		proc_die("UDP socket: %s", strerror(errno));
	ret->sin_port = name.sin6_port;
	set(fd, IPPROTO_IP, IP_RECVTOS, 1);
	set(fd, SOL_UDP, UDP_GRO, 1);
	return fd;
}

/* What pier's sockets have, too. */
static int open_socket(enum proc proc, struct sockaddr_in *ret)
{
	struct timeval patience = { .tv_sec = PATIENCE + 1 };
	int fd = proc_udp(proc, ret), plain = fd;

	if (calls) {
		fd = open_both(ret);
		close(plain);
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)))
		proc_die("setsockopt: %s", strerror(errno));
	if (bytes <= PACKET)
		return fd;
	set(fd, SOL_UDP, UDP_SEGMENT, PACKET);
	set(fd, SOL_UDP, UDP_GRO, 1);
	set_buffer(fd);
	return fd;
}

static void echo(int wire, void *arg)
{
	struct sockaddr_in us, them;
	int fd = open_socket(PROC_B, &us);
	struct bare_name to;

	(void)arg;
	proc_put(wire, &us, sizeof(us));
	proc_get(wire, &them, sizeof(them));
	to = name_of(&them);
	for (;;) {
		take(fd);
		give(fd, &to);
	}
}

int main(int argc, char *argv[])
{
	int count = argc > 2 ? atoi(argv[2]) : 0, wire, fd, i;
	struct sockaddr_in us, them;
	struct bare_name to;
	double *laps, start, end;

	bytes = argc > 3 ? (size_t)atol(argv[3]) : bytes;
	if (count < 1 || bytes < 1 || bytes > MOST)
		proc_die("usage: bare_pingpong poll|block|calls COUNT [BYTES]");
	calls = !strcmp(argv[1], "calls");
	bytes += calls ? HEADERS : 0;
	flags = calls || !strcmp(argv[1], "poll") ? MSG_DONTWAIT : 0;
	laps = calloc((size_t)count, sizeof(*laps));
	if (!laps)
		proc_die("no memory");
	wire = proc_fork(PROC_B, echo, NULL);
	proc_be(PROC_A);
	fd = open_socket(PROC_A, &us);
	proc_get(wire, &them, sizeof(them));
	proc_put(wire, &us, sizeof(us));
	to = name_of(&them);
	start = proc_now();
	for (i = -WARMUP; i < count; i++) {
		give(fd, &to);
		take(fd);
		end = proc_now();
		if (i >= 0)
			laps[i] = (end - start) / (flags ? 2 : 1);
		start = end;
	}
	proc_print(laps, (size_t)count);
	return 0;
}
