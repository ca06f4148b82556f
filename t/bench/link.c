/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link between two hosts that are network namespaces: a rate, a latency, a
 * drop-tail queue and loss in either direction, by two TUN interfaces whose
 * packets this program carries in real time.  It takes no netem and, in a user
 * namespace, no root.
 *
 * usage: link PID MBIT LATENCY_US QUEUE LOSS
 *	PID	a process of the other host; there the interface is far0, here
 *		near0, both without an address and down
 *	MBIT	10^6 bits a second
 *	LATENCY_US	one way
 *	QUEUE	packets that wait for the link, at most
 *	LOSS	of 10,000 packets so many are lost
 *
 * It prints "ready" when the interfaces are there, and ends by a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "bench/procs.h"

#define PACKET_MAX 9000
#define PACKETS 8192	/* that one direction carries at a time */
#define SECOND 1000000000u

struct link_packet {
	uint64_t sent;	/* when the link has sent its last bit, ns */
	size_t len;
	unsigned char data[PACKET_MAX];
};

struct direction {
	int in, out;
	uint64_t free;	/* when the link can send the next one */
	/* Counts: what has come, has left the queue, has arrived. */
	unsigned come, sent, arrived;
	struct link_packet *packets;
};

static struct {
	uint64_t rate, latency;
	unsigned queue, loss;
} line;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

static int tun(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		proc_die("%s: %s", name, strerror(errno));
	return fd;
}

static void enter(const char *pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		proc_die("%s: %s", path, strerror(errno));
	close(fd);
}

static struct link_packet *packet(struct direction *dir, unsigned number)
{
	return &dir->packets[number % PACKETS];
}

/* What waits behind the packet that is being sent. */
static unsigned waiting(struct direction *dir, uint64_t time)
{
	while (dir->sent != dir->come &&
	       packet(dir, dir->sent)->sent <= time)
		dir->sent++;
	return dir->come - dir->sent;
}

/* Either it is the last one that has come, or it is lost. */
static void take(struct direction *dir, size_t len, uint64_t time)
{
	struct link_packet *last = packet(dir, dir->come);

	if (waiting(dir, time) > line.queue ||
	    dir->come - dir->arrived == PACKETS - 1 ||
	    (unsigned)rand() % 10000 < line.loss)
		return;
	if (dir->free < time)
		dir->free = time;
	dir->free += len * 8 * SECOND / line.rate;
	last->sent = dir->free;
	last->len = len;
	dir->come++;
}

static void receive(struct direction *dir, uint64_t time)
{
	ssize_t len;

	for (int i = 0; i < 64; i++) {
		len = read(dir->in, packet(dir, dir->come)->data, PACKET_MAX);
		if (len <= 0)
			return;
		take(dir, (size_t)len, time);
	}
}

/* An interface that is down refuses packets: they are lost. */
static void deliver(struct direction *dir, uint64_t time)
{
	struct link_packet *first;

	while (dir->arrived != dir->come) {
		first = packet(dir, dir->arrived);
		if (first->sent + line.latency > time)
			return;
		if (write(dir->out, first->data, first->len) < 0 &&
		    errno == EAGAIN)
			return;
		dir->arrived++;
	}
}

static uint64_t next(const struct direction *dir)
{
	if (dir->arrived == dir->come)
		return UINT64_MAX;
	return dir->packets[dir->arrived % PACKETS].sent + line.latency;
}

/* Until a packet comes or one is due. */
static void wait_for_one(struct direction dirs[2], uint64_t time)
{
	struct pollfd fds[2] = {
		{ .fd = dirs[0].in, .events = POLLIN },
		{ .fd = dirs[1].in, .events = POLLIN },
	};
	uint64_t due = next(&dirs[0]) < next(&dirs[1]) ? next(&dirs[0]) :
							 next(&dirs[1]);
	struct timespec left = { .tv_sec = 1 };

	if (due <= time)
		left = (struct timespec){ 0 };
	else if (due - time < SECOND)
		left = (struct timespec){ .tv_nsec = (long)(due - time) };
	ppoll(fds, 2, &left, NULL);
}

static void carry(struct direction dirs[2])
{
	uint64_t time;

	for (;;) {
		time = now();
		for (int i = 0; i < 2; i++) {
			receive(&dirs[i], time);
			deliver(&dirs[i], time);
		}
		wait_for_one(dirs, now());
	}
}

static uint64_t number(const char *word, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(word, &end, 10);
	if (errno || *end || end == word || value < least || value > most)
		proc_die("%s: must be %" PRIu64 " to %" PRIu64, word, least,
			 most);
	return value;
}

int main(int argc, char *argv[])
{
	struct direction dirs[2] = { 0 };

	if (argc != 6)
		proc_die("usage: link PID MBIT LATENCY_US QUEUE LOSS");
	line.rate = number(argv[2], 1, 100000) * 1000000;
	line.latency = number(argv[3], 0, 1000000) * 1000;
	line.queue = (unsigned)number(argv[4], 1, PACKETS / 2);
	line.loss = (unsigned)number(argv[5], 0, 10000);
	dirs[0].in = dirs[1].out = tun("near0");
	enter(argv[1]);
	dirs[1].in = dirs[0].out = tun("far0");
	for (int i = 0; i < 2; i++) {
		dirs[i].packets = calloc(PACKETS, sizeof(struct link_packet));
		if (!dirs[i].packets)
			proc_die("no memory");
	}
	puts("ready");
	fflush(stdout);
	carry(dirs);
	return 0;
}
