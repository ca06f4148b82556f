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

#include "bench/procs.h"

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
		proc_die("recv: %s", strerror(errno));
}

static void give(int fd, const struct sockaddr_in *to)
{
	static const char bytes[8];

	if (sendto(fd, bytes, sizeof(bytes), 0, (const struct sockaddr *)to,
		   sizeof(*to)) != sizeof(bytes))
		proc_die("sendto: %s", strerror(errno));
}

static void echo(int wire, void *arg)
{
	struct sockaddr_in us, them;
	int fd = proc_udp(PROC_B, &us);

	(void)arg;
	proc_put(wire, &us, sizeof(us));
	proc_get(wire, &them, sizeof(them));
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
		proc_die("usage: bare_pingpong poll|block COUNT");
	flags = strcmp(argv[1], "poll") ? 0 : MSG_DONTWAIT;
	laps = calloc((size_t)count, sizeof(*laps));
	if (!laps)
		proc_die("no memory");
	wire = proc_fork(PROC_B, echo, NULL);
	proc_be(PROC_A);
	fd = proc_udp(PROC_A, &us);
	proc_get(wire, &them, sizeof(them));
	proc_put(wire, &us, sizeof(us));
	start = proc_now();
	for (i = -WARMUP; i < count; i++) {
		give(fd, &them);
		take(fd);
		end = proc_now();
		if (i >= 0)
			laps[i] = (end - start) / (flags ? 2 : 1);
		start = end;
	}
	proc_print(laps, (size_t)count);
	return 0;
}
