/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/*
 * A program with the three classic faults: two threads post on one queue pair,
 * the receiver polls its memory and calls nothing, and what is registered is
 * unmapped, or its file truncated, before the peer writes.
 */
#define THREADS 2
#define WRITES 400		/* of each thread */
#define AREA (16 * 4096)
#define PLACE ((void *)0x7e9000000000)	/* where mmap() puts nothing else */
#define BETWEEN 64		/* the words of two threads */

static struct verbspair pair;
static atomic_int failed;
static uint8_t *area;
static struct ibv_mr *region;

/* @fd: a file of that size, or -1. */
static bool open_area(int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	area = mmap(PLACE, AREA, PROT_READ | PROT_WRITE,
		    flags | MAP_FIXED_NOREPLACE, fd, 0);
	if (area == MAP_FAILED) {
		tap_skip("something is mapped at the place of the test");
		return false;
	}
	if (!verbspair_open(&pair))
		return false;
	region = ibv_reg_mr(pair.pd, area, AREA, IBV_ACCESS_LOCAL_WRITE |
			    IBV_ACCESS_REMOTE_WRITE);
	return OK(region);
}

static void close_area(void)
{
	IS(ibv_dereg_mr(region), 0);
	OK(verbspair_close(&pair));
}

static int post_write(uint32_t value, uint64_t off)
{
	struct ibv_sge sge = { (uintptr_t)&value, 4, 0 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.wr.rdma = { .remote_addr = (uintptr_t)area + off,
			     .rkey = region->rkey },
	}, *bad;

	return ibv_post_send(pair.qp[0], &wr, &bad);
}

/* The status of a completion that is there; success: none is. */
static enum ibv_wc_status poll_one(void)
{
	struct ibv_wc wc = { 0 };

	ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 1, &wc);
	return wc.status;
}

/* The numbers to WRITES, into the word of thread @arg. */
static void *write_words(void *arg)
{
	uint64_t off = (uint64_t)(uintptr_t)arg * BETWEEN;
	uint32_t value;

	for (value = 1; value <= WRITES; value++) {
		while (post_write(value, off)) {
			if (poll_one() != IBV_WC_SUCCESS)
				failed++;
			sched_yield();
		}
	}
	return NULL;
}

/* The last writes of both threads: none of them polls any more. */
static bool all_arrives(void)
{
	volatile uint32_t *first = (volatile uint32_t *)area;
	volatile uint32_t *second = first + BETWEEN / sizeof(*second);
	long long limit = limit_from_now();

	while (*first < WRITES || *second < WRITES)
		if (!limit_nap(limit))
			return false;
	return true;
}

static void exchange(void)
{
	pthread_t thread[THREADS];
	uintptr_t i;

	failed = 0;
	for (i = 0; i < THREADS; i++)
		IS(pthread_create(&thread[i], NULL, write_words, (void *)i), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	OK(all_arrives());
	IS(failed, 0);
}

/* What the peer writes into @area, which is not there any more. */
static void is_refused(void)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	long long limit = limit_from_now();
	int err;

	do
		err = post_write(1, 4096);
	while (err && poll_one() == IBV_WC_SUCCESS && limit_holds(limit));
	IS(err, 0);
	while (status == IBV_WC_SUCCESS && limit_nap(limit))
		status = poll_one();
	IS(status, IBV_WC_REM_ACCESS_ERR);
}

static void memory_that_is_unmapped_ends_requests(void)
{
	if (!open_area(-1))
		return;
	exchange();
	IS(munmap(area, AREA), 0);
	is_refused();
	close_area();
}

static void a_file_that_is_truncated_ends_requests(void)
{
	int fd = memfd_create("area", MFD_CLOEXEC);

	IS(ftruncate(fd, AREA), 0);
	if (!open_area(fd))
		return;
	exchange();
	IS(ftruncate(fd, 0), 0);
	is_refused();
	close_area();
	munmap(area, AREA);
	close(fd);
}

int main(void)
{
	TEST(memory_that_is_unmapped_ends_requests);
	TEST(a_file_that_is_truncated_ends_requests);
	return tap_done();
}
