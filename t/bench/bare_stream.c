/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As many UDP packets of one size as one process can send to another, with
 * segmentation offload on both sides and nothing else: no header, checksum,
 * copy or answer.  What is lost is not sent again; prints what arrived,
 * 10^6 bytes a second, and how many percent that is of what was sent.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "bench/procs.h"

#define BUFFER (8 << 20)
#define MEMORY (1u << 20)	/* what is sent from, again and again */
#define BATCH 32
#define SLOT 65536

struct result {
	double bytes, us;
};

static void set(int fd, int level, int name, int alternative, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) &&
	    setsockopt(fd, level, alternative, &value, sizeof(value)))
		proc_die("setsockopt: %s", strerror(errno));
}

/* Take what there is.  Returns the bytes; *@end is whether one was empty. */
static double take(int fd, struct mmsghdr *msg, int *end)
{
	int n = recvmmsg(fd, msg, BATCH, MSG_DONTWAIT, NULL), i;
	double bytes = 0;

	for (i = 0; i < n; i++) {
		bytes += msg[i].msg_len;
		*end |= !msg[i].msg_len;
	}
	return bytes;
}

static void receiver(int wire, void *arg)
{
	static struct iovec iov[BATCH];
	static struct mmsghdr msg[BATCH];
	struct result result = { 0 };
	struct sockaddr_in us;
	int fd = proc_udp(PROC_B, &us), end = 0, i;
	char *slots = mmap(NULL, BATCH * SLOT, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start = 0, got;

	(void)arg;
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, SO_RCVBUF, BUFFER);
	set(fd, SOL_UDP, UDP_GRO, UDP_GRO, 1);
	for (i = 0; i < BATCH; i++) {
		iov[i].iov_base = slots + i * SLOT;
		iov[i].iov_len = SLOT;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	proc_put(wire, &us, sizeof(us));
	while (!end) {
		got = take(fd, msg, &end);
		if (!got)
			continue;
		if (!start)
			start = proc_now();	/* the first is not counted */
		else
			result.bytes += got;
		result.us = proc_now() - start;
	}
	proc_put(wire, &result, sizeof(result));
}

int main(int argc, char *argv[])
{
	int size = argc > 2 ? atoi(argv[1]) : 0, run, fd, wire;
	double ms = argc > 2 ? atof(argv[2]) : 0, start, sent = 0;
	static char memory[MEMORY];
	struct sockaddr_in us, to;
	struct result result;
	size_t at = 0;

	if (size < 1 || ms <= 0)
		proc_die("usage: bare_stream PACKET_BYTES MILLISECONDS");
	run = 65000 / size * size;
	if (run > 64 * size)
		run = 64 * size;
	wire = proc_fork(PROC_B, receiver, NULL);
	proc_be(PROC_A);
	memset(memory, 0x5a, sizeof(memory));
	fd = proc_udp(PROC_A, &us);
	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, SO_SNDBUF, BUFFER);
	set(fd, SOL_UDP, UDP_SEGMENT, UDP_SEGMENT, size);
	proc_get(wire, &to, sizeof(to));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		proc_die("connect: %s", strerror(errno));
	for (start = proc_now(); proc_now() - start < ms * 1e3;) {
		sent += (double)send(fd, memory + at, (size_t)run, 0);
		at = at + 2 * (size_t)run > MEMORY ? 0 : at + (size_t)run;
	}
	/* The end may be lost, too. */
	for (start = proc_now(); proc_now() - start < 20e3;)
		;
	while (recv(wire, &result, sizeof(result), MSG_DONTWAIT) < 0)
		send(fd, memory, 0, 0);
	printf("%.1f %.0f\n", result.bytes / result.us,
	       100 * result.bytes / sent);
	return 0;
}
