/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "fabric/soft/shm/link.h"
#include "t/lib/counted.h"
#include "t/lib/forbid.h"
#include "t/lib/pair.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/* Reads of ordinary memory, which the reader copies from the peer's process. */
#define LEN (1u << 20)
#define OFF 7

static struct shmpair it;

static void is_read(size_t len)
{
	uint64_t before = counted_conn(it.a.conn, "shm_pulled");

	peer_fill(&it.a, 1);
	peer_fill(&it.b, 2);
	IS(shmpair_read(&it.a, OFF, len), 0);
	OK(peer_holds(&it.a, OFF, len, 2, OFF));
	OK(peer_holds(&it.a, 0, OFF, 1, 0));
	OK(peer_holds(&it.a, OFF + len, LEN - OFF - len, 1, OFF + len));
	OK(peer_holds(&it.b, 0, LEN, 2, 0));
	IS(counted_conn(it.a.conn, "shm_pulled") > before,
	   len >= SOFT_PULL_MIN);
}

static void long_reads_are_copied_from_the_process(void)
{
	static const size_t lens[] = {
		1, SOFT_PULL_MIN - 1, SOFT_PULL_MIN, SOFT_PULL_MIN + 1, 100000,
		SOFT_PULL_MAX, SOFT_PULL_MAX + 1,
		SOFT_PULL_MAX + SOFT_PULL_MIN, LEN - OFF,
	};
	size_t i;

	if (shmpair_begin(&it, false, LEN))
		for (i = 0; i < sizeof(lens) / sizeof(*lens); i++)
			is_read(lens[i]);
	shmpair_end(&it);
}

/* Each in its own part. */
static void several_reads_at_a_time(void)
{
	enum { COUNT = 8, EACH = LEN / COUNT };
	struct pier_buf *src[COUNT], *dst[COUNT];
	int status[COUNT], i;

	if (shmpair_begin(&it, false, LEN)) {
		peer_fill(&it.b, 3);
		for (i = 0; i < COUNT; i++) {
			src[i] = peer_far_data(&it.a, i * EACH, EACH);
			dst[i] = peer_tail(&it.a, i * EACH, EACH);
			status[i] = -EINPROGRESS;
			IS(pier_rdma_read(it.a.conn, src[i], dst[i], peer_done,
					  &status[i]), 0);
		}
		for (i = 0; i < COUNT; i++) {
			IS(peer_await(&status[i]), 0);
			pier_buf_put(src[i]);
			pier_buf_put(dst[i]);
		}
		OK(peer_holds(&it.a, 0, LEN, 3, 0));
		OK(counted_conn(it.a.conn, "shm_pulled") >= COUNT);
	}
	shmpair_end(&it);
}

/*
 * A read of @len bytes of @src that is answered, while the reader does not see
 * it yet; @then comes before that.  Returns its status.
 */
static int read_around(struct pier_buf *src, size_t len, void (*then)(void))
{
	struct soft_ep *reader = shmpair_ep(&it.a), *owner = shmpair_ep(&it.b);
	struct soft_link *link = (struct soft_link *)shmpair_qp(&it.a)->io;
	struct pier_buf *dst = peer_tail(&it.a, 0, len);
	int status = -EINPROGRESS;

	pier__soft_ep_enter(owner);
	IS(pier_rdma_read(it.a.conn, src, dst, peer_done, &status), 0);
	pier__soft_ep_enter(reader);
	pier__soft_ep_send_posted(reader, false);
	link->state = SOFT_LINK_GREETING;	/* it receives nothing */
	pier__soft_ep_leave(reader);
	pier__soft_ep_drive(owner);
	pier__soft_ep_leave(owner);
	then();
	pier__soft_ep_enter(reader);
	link->state = SOFT_LINK_UP;
	pier__soft_ep_leave(reader);
	peer_await(&status);
	pier_buf_put(dst);
	return status;
}

/* Its owner uses it for other data. */
static void take_back(void)
{
	IS(pier_mmap_stop(it.b.mmap), 0);
	peer_fill(&it.b, 9);
}

static void memory_that_was_taken_back_is_not_read(void)
{
	struct pier_buf *src;
	uint64_t pulled;

	if (shmpair_begin(&it, false, LEN)) {
		pulled = counted_dev(it.dev[0], "shm_pulled");
		src = peer_far_data(&it.a, 0, SOFT_PULL_MIN);
		OK(read_around(src, SOFT_PULL_MIN, take_back) != 0);
		IS(counted_dev(it.dev[0], "shm_pulled"), pulled);
		pier_buf_put(src);
	}
	shmpair_end(&it);
}

/* Of another registration, which has nothing to do with what is read. */
static struct pier_mmap *unrelated;

static void take_back_unrelated(void)
{
	IS(pier_mmap_stop(unrelated), 0);
}

static void a_read_goes_on_when_other_memory_is_taken_back(void)
{
	static char bytes[64];
	struct pier_buf *src;
	uint64_t resent;

	if (shmpair_begin(&it, false, LEN)) {
		IS(pier_mmap_map(it.dev[1], bytes, sizeof(bytes), PEER_ACCESS,
				 &unrelated), 0);
		peer_fill(&it.b, 4);
		resent = counted_conn(it.a.conn, "resent");
		src = peer_far_data(&it.a, 0, SOFT_PULL_MIN);
		IS(read_around(src, SOFT_PULL_MIN, take_back_unrelated), 0);
		OK(peer_holds(&it.a, 0, SOFT_PULL_MIN, 4, 0));
		IS(counted_conn(it.a.conn, "resent"), resent);
		pier_buf_put(src);
		pier_mmap_destroy(unrelated);
	}
	shmpair_end(&it);
}

static uint8_t *mapped;

static void unmap(void)
{
	munmap(mapped, SOFT_PULL_MIN);
}

/* A part of it, the other half is there. */
static void unmap_half(void)
{
	munmap(mapped + SOFT_PULL_MIN / 2, SOFT_PULL_MIN / 2);
}

static void fails_without(void (*what)(void))
{
	struct pier_mmap *mmap_of_it = NULL, *far = NULL;
	struct pier_buf *src = NULL;
	uint64_t faults, ended;
	const void *desc;
	size_t len;

	if (shmpair_begin(&it, false, LEN)) {
		faults = counted_dev(it.dev[0], "shm_pull_faults");
		ended = counted_dev(it.dev[0], "shm_ended");
		mapped = mmap(NULL, SOFT_PULL_MIN, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		IS(pier_mmap_map(it.dev[1], mapped, SOFT_PULL_MIN, PEER_ACCESS,
				 &mmap_of_it), 0);
		IS(pier_mmap_export(mmap_of_it, &desc, &len), 0);
		IS(pier_mmap_create_from_export(NULL, desc, len, &far), 0);
		IS(pier_buf_by_args(it.a.inv, far, mapped, SOFT_PULL_MIN,
				    mapped, SOFT_PULL_MIN, &src), 0);
		IS(read_around(src, SOFT_PULL_MIN, what), -PIER_EREMOP);
		IS(counted_dev(it.dev[0], "shm_pull_faults"), faults + 1);
		IS(counted_dev(it.dev[0], "shm_ended"), ended);
		pier_buf_put(src);
		pier_mmap_destroy(far);
		pier_mmap_destroy(mmap_of_it);
		munmap(mapped, SOFT_PULL_MIN);
	}
	shmpair_end(&it);
}

static void memory_that_was_unmapped_fails_the_read(void)
{
	fails_without(unmap);
}

static void memory_of_which_a_part_was_unmapped_fails_the_read(void)
{
	fails_without(unmap_half);
}

static void refuse(void)
{
	OK(forbid(SYS_process_vm_readv, EPERM));
}

static void nothing(void)
{
}

/* In a process of its own: it is for good. */
static int without(struct pair *pair, void *arg)
{
	void (*since)(void) = arg ? refuse : nothing;
	struct pier_buf *src;

	(void)pair;
	if (!arg)
		refuse();
	if (shmpair_begin(&it, false, LEN)) {
		peer_fill(&it.b, 5);
		src = peer_far_data(&it.a, 0, LEN);
		IS(read_around(src, LEN, since), 0);
		OK(peer_holds(&it.a, 0, LEN, 5, 0));
		IS(counted_dev(it.dev[0], "shm_pulled"), 0);
		OK(counted_dev(it.dev[0], "shm_pull_refused") > 0);
		pier_buf_put(src);
	}
	shmpair_end(&it);
	return 0;
}

static void where_it_is_refused_results_come_by_the_ring(void)
{
	static struct pair pairs[2];

	pair_start(&pairs[0], without, NULL);
	IS(pair_wait(&pairs[0]), 0);
	pair_start(&pairs[1], without, "since it was answered");
	IS(pair_wait(&pairs[1]), 0);
}

int main(void)
{
	TEST(where_it_is_refused_results_come_by_the_ring);
	TEST(long_reads_are_copied_from_the_process);
	TEST(several_reads_at_a_time);
	TEST(memory_that_was_taken_back_is_not_read);
	TEST(a_read_goes_on_when_other_memory_is_taken_back);
	TEST(memory_that_was_unmapped_fails_the_read);
	TEST(memory_of_which_a_part_was_unmapped_fails_the_read);
	return tap_done();
}
