/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eight bytes there and back between two UDP sockets, with nothing else.
 * "poll": both sides try to receive until there is something; prints one way,
 * half of a round trip.  "block": both sleep in the system call; prints the
 * round trip.  Microseconds, median and average.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/sides.h"

#define WARMUP 1000

static int flags;

static void take(int fd)
{
	char bytes[64];
	ssize_t n;

	do
		n = recv(fd, bytes, sizeof(bytes), flags);
	while (n < 0 && errno == EAGAIN);
	if (n != 8)
		side_die("recv: %s", strerror(errno));
}

static void give(int fd, const struct sockaddr_in *to)
{
	static const char bytes[8];

	if (sendto(fd, bytes, sizeof(bytes), 0, (const struct sockaddr *)to,
		   sizeof(*to)) != sizeof(bytes))
		side_die("sendto: %s", strerror(errno));
}

static void echo(int wire, void *arg)
{
	struct sockaddr_in us, them;
	int fd = side_udp(SIDE_B, &us);

	(void)arg;
	side_put(wire, &us, sizeof(us));
	side_get(wire, &them, sizeof(them));
	for (;;) {
		take(fd);
		give(fd, &them);
	}
}

int main(int argc, char *argv[])
{
	int count = argc > 2 ? atoi(argv[2]) : 0, wire, fd, i;
	struct sockaddr_in us, them;
	double *laps, start, end;

	if (count < 1)
		side_die("usage: bare_pingpong poll|block COUNT");
	flags = strcmp(argv[1], "poll") ? 0 : MSG_DONTWAIT;
	laps = calloc((size_t)count, sizeof(*laps));
	if (!laps)
		side_die("no memory");
	wire = side_fork(SIDE_B, echo, NULL);
	side_be(SIDE_A);
	fd = side_udp(SIDE_A, &us);
	side_get(wire, &them, sizeof(them));
	side_put(wire, &us, sizeof(us));
	start = side_now();
	for (i = -WARMUP; i < count; i++) {
		give(fd, &them);
		take(fd);
		end = side_now();
		if (i >= 0)
			laps[i] = (end - start) / (flags ? 2 : 1);
		start = end;
	}
	side_print(laps, (size_t)count);
	return 0;
}
