/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/soft/soft.h"
#include "fabric/soft/stats/capture.h"
#include "t/lib/capture.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"
#include "t/lib/verbschan.h"

/*
 * A capture, and memory of a program of verbs that is unmapped when its bytes
 * are with the socket: the calls that send are wrapped.
 */
#define MTU 1024
#define PACKETS 3		/* of a write, in one segmented send */
#define LEN (PACKETS * MTU)
#define WRITES 2
#define MEM 4096

static char dir[] = "/tmp/pier-capture.XXXXXX", file[64];
static struct pier__fdev *fdev;
static struct pier__chan *chan[2];
static struct verbschan end[2];
static struct pier__mr *mr[2];
static uint8_t *mem[2];			/* a page of each end */

/* Sends of this thread unmap the first. */
static _Thread_local bool unmaps;
static int unmapped;

static void unmap(void)
{
	if (unmaps && !mprotect(mem[0], MEM, PROT_NONE))
		unmapped++;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __real_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len);
ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len);
int __real_sendmmsg(int fd, struct mmsghdr *msg, unsigned int count,
		    int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int count,
		    int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	unmap();
	return __real_sendmsg(fd, msg, flags);
}

ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len)
{
	unmap();
	return __real_sendto(fd, data, len, flags, to, to_len);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int count, int flags)
{
	unmap();
	return __real_sendmmsg(fd, msg, count, flags);
}

static void open_ends(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		mem[i] = mmap(NULL, MEM, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mr[i] = verbschan_reg(fdev, mem[i], MEM);
		chan[i] = verbschan_create(fdev);
		verbschan_open(chan_of(chan[i]), 8, 8, NULL, &end[i]);
	}
	verbschan_connect(&end[0], &end[1]);
	verbschan_connect(&end[1], &end[0]);
}

static void close_ends(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		verbschan_close(&end[i]);
		pier__soft_chan_destroy(chan[i]);
		pier__soft_dev.dereg(mr[i]);
		munmap(mem[i], MEM);
	}
}

/*
 * Write with pattern @seed.  The memory is there again when the packets have
 * left, so that one of them can be repeated.
 */
static void write_it(uint32_t seed, bool unmap_it)
{
	struct ibv_sge sge = { (uintptr_t)mem[0], LEN, mr[0]->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)mem[1], mr[1]->rkey },
	};
	struct ibv_wc wc = { 0 };

	softpair_pattern(mem[0], LEN, seed);
	unmapped = 0;
	unmaps = unmap_it;
	IS(verbschan_post(&end[0], &wr), 0);
	unmaps = false;
	IS(unmapped, unmap_it);
	IS(mprotect(mem[0], MEM, PROT_READ | PROT_WRITE), 0);
	while (!verbschan_poll(&end[0], &wc, 1))
		sched_yield();
	IS(wc.status, IBV_WC_SUCCESS);
	OK(softpair_is_pattern(mem[1], LEN, seed));
}

/* How often each packet of the writes is in the file, with its payload. */
static void count_captured(int count[WRITES * PACKETS])
{
	struct vnet_packet packet;
	struct capture capture;
	uint8_t all[LEN];
	struct soft_hdr hdr;
	size_t at;

	if (!capture_open_path(file, &capture))
		return;
	while (capture_next(&capture, &packet)) {
		at = pier__soft_decode(packet.data, packet.len, &hdr);
		if (hdr.opcode < SOFT_WRITE_FIRST ||
		    hdr.opcode > SOFT_WRITE_ONLY ||
		    !OK(hdr.psn < WRITES * PACKETS))
			continue;
		softpair_pattern(all, LEN, hdr.psn / PACKETS);
		IS(packet.len - at, MTU + 4);
		IS(memcmp(packet.data + at, all + hdr.psn % PACKETS * MTU, MTU),
		   0);
		count[hdr.psn]++;
	}
	OK(capture.whole);
	capture_close(&capture);
}

/* Once when it was sent, and once when it was received. */
static void what_is_unmapped_when_it_was_sent_is_captured(void)
{
	int count[WRITES * PACKETS] = { 0 }, i;

	open_ends();
	write_it(0, true);
	write_it(1, false);
	close_ends();
	count_captured(count);
	for (i = 0; i < WRITES * PACKETS; i++)
		if (!OK(count[i] >= 2))
			tap_note("packet %d is there %d times", i, count[i]);
	OK(atomic_load(&pier__soft_capturing));
}

int main(void)
{
	if (!mkdtemp(dir))
		return 99;
	snprintf(file, sizeof(file), "%s/x.pcap", dir);
	setenv("PIER_PCAP", file, 1);
	fdev = verbschan_device();
	TEST(what_is_unmapped_when_it_was_sent_is_captured);
	pier__soft_dev.close(fdev);
	unlink(file);
	rmdir(dir);
	return tap_done();
}
