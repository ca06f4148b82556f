/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "t/lib/counted.h"
#include "t/lib/forbid.h"
#include "t/lib/pair.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/*
 * What the kernel may not give: memory, descriptors of processes, barriers.
 * Each in a process of its own, as that is for good.
 */
#define LEN (1u << 17)

static struct lack {
	long call;
	unsigned int arg, bits;		/* as of forbid_if() */
	int error;
} lack;

static void set_lack(long call, unsigned int arg, unsigned int bits, int error)
{
	lack = (struct lack){ call, arg, bits, error };
}

/* Two peers of UDP; all that they move arrives. */
static int by_udp(struct pair *pair, void *arg)
{
	static struct peer a, b;
	static struct pier_dev *dev;
	long long limit = limit_from_now();

	(void)pair;
	(void)arg;
	peer_own_memory = false;
	setenv("PIER_SHM", "auto", 1);
	OK(forbid_if(lack.call, lack.arg, lack.bits, lack.error));
	if (IS(pier_dev_open("soft_lo", &dev), 0) &&
	    peer_pair(&a, &b, dev, NULL, LEN)) {
		while (!counted_dev(dev, "shm_limits") && peer_step(limit))
			;
		OK(counted_dev(dev, "shm_limits") > 0);
		peer_fill(&a, 1);
		peer_fill(&b, 2);
		IS(shmpair_write(&a, 0, LEN), 0);
		OK(peer_holds(&b, 0, LEN, 1, 0));
		peer_fill(&a, 3);
		IS(shmpair_read(&a, 0, LEN), 0);
		OK(peer_holds(&a, 0, LEN, 1, 0));
		IS(counted_conn(a.conn, "shm_connected"), 0);
		IS(counted_conn(a.conn, "shm_sent"), 0);
	}
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return 0;
}

static void passes(pair_fn *fn)
{
	static struct pair pair;

	pair_start(&pair, fn, NULL);
	IS(pair_wait(&pair), 0);
}

static void without_memory_for_a_ring_bytes_move_by_udp(void)
{
	set_lack(SYS_memfd_create, 0, 0, ENOMEM);
	passes(by_udp);
}

/* As if a limit was reached. */
static void without_a_mapping_of_a_ring_bytes_move_by_udp(void)
{
	set_lack(SYS_mmap, 3, MAP_POPULATE, ENOMEM);
	passes(by_udp);
}

static void without_descriptors_for_memory_bytes_move_by_udp(void)
{
	set_lack(SYS_memfd_create, 0, 0, EMFILE);
	passes(by_udp);
}

static void without_descriptors_of_processes_bytes_move_by_udp(void)
{
	set_lack(SYS_pidfd_open, 0, 0, ENOSYS);
	passes(by_udp);
}

/* No process has to help another one with an order of its stores. */
static int takes_back(struct pair *pair, void *arg)
{
	static struct shmpair it;

	(void)pair;
	(void)arg;
	OK(forbid(SYS_membarrier, ENOSYS));
	if (shmpair_begin(&it, true, LEN) && shmpair_map(&it.a)) {
		peer_fill(&it.a, 1);
		IS(shmpair_write(&it.a, 0, LEN), 0);
		OK(peer_holds(&it.b, 0, LEN, 1, 0));
		IS(pier_mmap_stop(it.b.mmap), 0);
		peer_fill(&it.b, 2);
		OK(shmpair_write(&it.a, 0, LEN) != 0);
		OK(peer_holds(&it.b, 0, LEN, 2, 0));
	}
	shmpair_end(&it);
	return 0;
}

static void without_membarrier_memory_is_taken_back(void)
{
	passes(takes_back);
}

/* Of a peer that gives memory which cannot be mapped here. */
static int maps_nothing(struct pair *pair, void *arg)
{
	static struct shmpair it;
	long long limit = limit_from_now();

	(void)pair;
	(void)arg;
	if (shmpair_begin(&it, true, LEN) &&
	    OK(forbid_if(SYS_mmap, 3, MAP_SHARED, ENOMEM))) {
		peer_fill(&it.a, 1);
		while (!counted_dev(it.dev[0], "shm_unmapped") &&
		       peer_step(limit))
			IS(shmpair_write(&it.a, 0, LEN), 0);
		OK(counted_dev(it.dev[0], "shm_unmapped") > 0);
		IS(shmpair_write(&it.a, 0, LEN), 0);
		OK(peer_holds(&it.b, 0, LEN, 1, 0));
		IS(counted_conn(it.a.conn, "shm_direct"), 0);
	}
	shmpair_end(&it);
	return 0;
}

static void memory_that_cannot_be_mapped_is_accessed_by_the_ring(void)
{
	passes(maps_nothing);
}

int main(void)
{
	TEST(without_memory_for_a_ring_bytes_move_by_udp);
	TEST(without_a_mapping_of_a_ring_bytes_move_by_udp);
	TEST(without_descriptors_for_memory_bytes_move_by_udp);
	TEST(without_descriptors_of_processes_bytes_move_by_udp);
	TEST(without_membarrier_memory_is_taken_back);
	TEST(memory_that_cannot_be_mapped_is_accessed_by_the_ring);
	return tap_done();
}
