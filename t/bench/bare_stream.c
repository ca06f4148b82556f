/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As many UDP packets of one size as one process can send to another, with
 * segmentation offload on both sides and nothing else: no header, checksum,
 * copy or answer.  With "wire" also what each implementation of RoCEv2 in user
 * space has to do: a BTH and an ICRC in each packet, which is copied into a
 * stage, as its memory may change before it is sent; at the receiver the check
 * of the ICRC and the copy to where the packet belongs; acknowledgements, and
 * a window.  There are no keys, queues, completions and retransmissions.  What
 * is lost is not sent again; prints what arrived, 10^6 bytes a second, and how
 * many percent that is of what was sent.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "bench/procs.h"
#include "core/crc.h"

#define BUFFER (8 << 20)
#define MEMORY (1u << 20)	/* what is sent from, again and again */
#define BATCH 32
#define SLOT 65536
#define HDR_LEN 12		/* a BTH */
#define ICRC_LEN 4
#define FRONT 0x2144df1c	/* of what is before the BTH, and constant */
#define ACK_LEN 20		/* BTH, AETH, ICRC */
#define WINDOW (2 << 20)	/* bytes that are not acknowledged */

struct result {
	double bytes, us;
};

static int size;		/* of a packet */
static bool wire_work;		/* do what RoCEv2 asks for, too */
static char memory[MEMORY];

/* An acknowledgement: how much its receiver has. */
union ack {
	double bytes;
	char space[ACK_LEN];
};

static void set(int fd, int level, int name, int alternative, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) &&
	    setsockopt(fd, level, alternative, &value, sizeof(value)))
		proc_die("setsockopt: %s", strerror(errno));
}

/* Check the packets of @len bytes at @data, and copy what they carry. */
static void land(const char *data, size_t len)
{
	static size_t at;
	size_t payload = (size_t)size - HDR_LEN - ICRC_LEN;
	uint32_t icrc;

	for (; len >= (size_t)size; data += size, len -= (size_t)size) {
		memcpy(&icrc, data + size - ICRC_LEN, ICRC_LEN);
		if (pier__crc32(FRONT, data, (size_t)size - ICRC_LEN) != icrc)
			proc_die("a packet has another ICRC");
		if (at + payload > MEMORY)
			at = 0;
		memcpy(memory + at, data + HDR_LEN, payload);
		at += payload;
	}
}

/* Take what there is.  Returns the bytes; *@end is whether one was empty. */
static double take(int fd, struct mmsghdr *msg, int *end)
{
	int n = recvmmsg(fd, msg, BATCH, MSG_DONTWAIT, NULL), i;
	double bytes = 0;

	for (i = 0; i < n; i++) {
		bytes += msg[i].msg_len;
		*end |= !msg[i].msg_len;
		if (wire_work)
			land(msg[i].msg_hdr.msg_iov->iov_base, msg[i].msg_len);
	}
	return bytes;
}

/* The batch that is received into. */
static struct mmsghdr *make_batch(void)
{
	static struct iovec iov[BATCH];
	static struct mmsghdr msg[BATCH];
	char *slots = mmap(NULL, BATCH * SLOT, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (slots == MAP_FAILED)
		proc_die("mmap: %s", strerror(errno));
	for (i = 0; i < BATCH; i++) {
		iov[i].iov_base = slots + i * SLOT;
		iov[i].iov_len = SLOT;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	return msg;
}

static void receiver(int wire, void *arg)
{
	struct mmsghdr *msg = make_batch();
	struct result result = { 0 };
	struct sockaddr_in us, to;
	int fd = proc_udp(PROC_B, &us), end = 0;
	union ack ack = { 0 };
	double start = 0, got;

	(void)arg;
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, SO_RCVBUF, BUFFER);
	set(fd, SOL_UDP, UDP_GRO, UDP_GRO, 1);
	proc_put(wire, &us, sizeof(us));
	proc_get(wire, &to, sizeof(to));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		proc_die("connect: %s", strerror(errno));
	while (!end) {
		got = take(fd, msg, &end);
		if (!got)
			continue;
		ack.bytes += got;
		if (wire_work)
			send(fd, &ack, sizeof(ack), 0);
		if (!start)
			start = proc_now();	/* the first is not counted */
		else
			result.bytes += got;
		result.us = proc_now() - start;
	}
	proc_put(wire, &result, sizeof(result));
}

/* Lay @count packets out in a stage, which is returned, from @from. */
static char *lay_out(const char *from, int count)
{
	static char stage[SLOT];
	size_t payload = (size_t)size - HDR_LEN - ICRC_LEN;
	char *to = stage;
	uint32_t icrc;
	int i;

	for (i = 0; i < count; i++) {
		memset(to, 0, HDR_LEN);
		icrc = pier__crc32_copy(FRONT, to + HDR_LEN, HDR_LEN, from,
					payload);
		memcpy(to + size - ICRC_LEN, &icrc, ICRC_LEN);
		to += size;
		from += payload;
	}
	return stage;
}

/* Wait until no more than the window of @sent bytes is not acknowledged. */
static void await_window(int fd, double sent, double until)
{
	static union ack ack;

	while (sent - ack.bytes > WINDOW && proc_now() < until)
		while (recv(fd, &ack, sizeof(ack), MSG_DONTWAIT) > 0)
			;
}

/* Send for @ms.  Returns how many bytes. */
static double stream(int fd, int count, double ms)
{
	size_t run = (size_t)count * (size_t)size, at = 0;
	double until = proc_now() + ms * 1e3, sent = 0;
	const char *from;

	while (proc_now() < until) {
		from = memory + at;
		if (wire_work) {
			await_window(fd, sent, until);
			from = lay_out(from, count);
		}
		sent += (double)send(fd, from, run, 0);
		at = at + 2 * run > MEMORY ? 0 : at + run;
	}
	return sent;
}

static int open_sender(int wire)
{
	struct sockaddr_in us, to;
	int fd = proc_udp(PROC_A, &us);

	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, SO_SNDBUF, BUFFER);
	set(fd, SOL_UDP, UDP_SEGMENT, UDP_SEGMENT, size);
	proc_get(wire, &to, sizeof(to));
	proc_put(wire, &us, sizeof(us));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		proc_die("connect: %s", strerror(errno));
	return fd;
}

int main(int argc, char *argv[])
{
	double ms = argc > 2 ? atof(argv[2]) : 0, start, sent;
	struct result result;
	int count, fd, wire;

	size = argc > 2 ? atoi(argv[1]) : 0;
	wire_work = argc > 3 && strcmp(argv[3], "wire") == 0;
	if (size <= HDR_LEN + ICRC_LEN || size > 65000 || ms <= 0 ||
	    argc > 3 + wire_work)
		proc_die("usage: bare_stream PACKET_BYTES MILLISECONDS [wire]");
	count = 65000 / size < 64 ? 65000 / size : 64;
	memset(memory, 0x5a, sizeof(memory));
	wire = proc_fork(PROC_B, receiver, NULL);
	proc_be(PROC_A);
	fd = open_sender(wire);
	sent = stream(fd, count, ms);
	/* The end may be lost, too. */
	for (start = proc_now(); proc_now() - start < 20e3;)
		;
	while (recv(wire, &result, sizeof(result), MSG_DONTWAIT) < 0)
		send(fd, memory, 0, 0);
	printf("%.1f %.0f\n", result.bytes / result.us,
	       100 * result.bytes / sent);
	return 0;
}
