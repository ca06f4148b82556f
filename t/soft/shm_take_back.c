/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/shm/link.h"
#include "mem/mmap_impl.h"
#include "t/lib/counted.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Memory that processes of this host access directly, and that its owner takes
 * back.  They are forked before this process opens a device.
 */
#define USERS 3
#define ROUNDS 100
#define EACH 20		/* are taken back in a round */
#define TAKEN 4096		/* bytes that are taken back */

static struct pier_dev *dev;
static struct peer a;

/* What is written in a round of users(). */
struct target {
	uint64_t addr;
	uint32_t rkey, len;
};

/* As a request that is posted, without the packets that it would become. */
static bool put(const struct target *target)
{
	struct soft_ep *ep = chan_of(a.conn->queues->chan)->ep;
	const struct soft_direct op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.pieces = 1,
		.rkey = target->rkey,
		.length = target->len,
		.rest = target->len,
		.remote = target->addr,
		.iov[0] = { a.mem, target->len },
	};
	struct soft_qp *qp;
	bool did;

	pier__soft_ep_enter(ep);
	qp = pier__soft_table_find(ep, a.conn->qp->qpn);
	did = qp->io->ops->direct && qp->io->ops->direct(qp->io, qp, &op);
	if (!did)
		pier__soft_ep_drive(ep);
	pier__soft_ep_leave(ep);
	return did;
}

/* Writes memory of another process until it cannot, in each round. */
static int user(struct pair *pair, void *arg)
{
	struct target targets[EACH];
	int i, written;

	(void)arg;
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&a, dev, NULL, NULL, TAKEN) || !peer_meet(&a, pair))
		return 1;
	memset(a.mem, 0xff, TAKEN);
	while (pair_recv(pair, targets, sizeof(targets)) == sizeof(targets)) {
		for (i = 0; i < EACH; i++)
			while (!put(&targets[i]))
				sched_yield();
		pair_send(pair, "", 1);
		do
			for (i = 0, written = 0; i < EACH; i++)
				written += put(&targets[i]);
		while (written);
		pair_send(pair, "", 1);
	}
	return 0;
}

/* Asleep between steps: awake it would wait behind all that others do. */
static void all_have_sent(struct pair *pairs)
{
	struct pollfd fd = { .events = POLLIN };
	char byte;
	int i;

	for (i = 0; i < USERS; i++) {
		fd.fd = pairs[i].fd;
		while (!poll(&fd, 1, 1))
			pier_pe_progress(a.pe, 0);
		IS(pair_recv(&pairs[i], &byte, 1), 1);
	}
}

static bool allocate(struct pier_mmap **mmap, struct target *target)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = PEER_ACCESS };

	if (!IS(pier_mmap_alloc(dev, TAKEN, &cfg, mmap), 0))
		return false;
	target->addr = (uintptr_t)pier_mmap_addr(*mmap);
	target->rkey = (*mmap)->keys[0].rkey;
	target->len = TAKEN;
	return true;
}

/* Is what was taken back as the owner has filled it? */
static bool is_unchanged(struct pier_mmap *mmap, int round)
{
	const uint8_t *mem = pier_mmap_addr(mmap);
	int i;

	for (i = 0; i < TAKEN && mem[i] == (uint8_t)round; i++)
		;
	pier_mmap_destroy(mmap);
	return IS(i, TAKEN);
}

/* Taken back while all write it, the memory is the owner's alone. */
static bool take_back(struct pair *pairs, int round)
{
	struct pier_mmap *mmaps[EACH];
	struct target targets[EACH];
	bool unchanged = true;
	int i;

	for (i = 0; i < EACH; i++)
		if (!allocate(&mmaps[i], &targets[i]))
			return false;
	for (i = 0; i < USERS; i++)
		pair_send(&pairs[i], targets, sizeof(targets));
	all_have_sent(pairs);
	for (i = 0; i < EACH; i++) {
		IS(pier_mmap_stop(mmaps[i]), 0);
		memset(pier_mmap_addr(mmaps[i]), round, TAKEN);
	}
	all_have_sent(pairs);
	for (i = 0; i < EACH; i++)
		unchanged = is_unchanged(mmaps[i], round) && unchanged;
	return unchanged;
}

static void memory_is_taken_back_under_fire(void)
{
	static struct pair pairs[USERS];
	static struct pier_conn *conns[USERS];
	int i, round;

	for (i = 0; i < USERS; i++)
		pair_start(&pairs[i], user, NULL);
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	IS(pier_dev_open("soft_lo", &dev), 0);
	OK(peer_open(&a, dev, NULL, NULL, TAKEN));
	for (i = 0; i < USERS; i++) {
		OK(peer_meet(&a, &pairs[i]));
		conns[i] = a.conn;
		pier_mmap_destroy(a.remote);
		a.remote = NULL;
	}
	for (round = 0; round < ROUNDS && take_back(pairs, round); round++)
		;
	IS(round, ROUNDS);
	for (i = 0; i < USERS; i++) {
		pair_kill(&pairs[i]);
		pier_conn_destroy(conns[i]);
	}
	a.conn = NULL;
	peer_close(&a);
	pier_dev_close(dev);
}

/*
 * A process that does what the owner demands.  HOLD: as far as the owner sees,
 * it is stopped in a copy; what it would still store, it does by STORE.
 */
struct demand {
	enum { PUT, HOLD, STORE } what;
	struct target target;
	pid_t owner;
	int fd;			/* of the owner's, the memory */
};

static void *map_of(const struct demand *demand)
{
	char path[64];
	void *at;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", demand->owner,
		 demand->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	at = mmap(NULL, TAKEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	OK(at != MAP_FAILED);
	return at;
}

/* As if it copied. */
static void hold(void)
{
	struct soft_ep *ep = chan_of(a.conn->queues->chan)->ep;
	const struct soft_qp *qp = pier__soft_table_find(ep,
							 a.conn->qp->qpn);

	atomic_fetch_add(&((struct soft_link *)qp->io)->out.own->hazard, 1);
}

static int obeys(struct pair *pair, void *arg)
{
	struct demand demand;
	void *at = NULL;

	(void)arg;
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&a, dev, NULL, NULL, TAKEN) || !peer_meet(&a, pair))
		return 1;
	memset(a.mem, 0xff, TAKEN);
	while (pair_recv(pair, &demand, sizeof(demand)) == sizeof(demand)) {
		if (demand.what == HOLD) {
			at = map_of(&demand);
			hold();
		} else if (demand.what == STORE) {
			memset(at, 0xff, TAKEN);
		} else {
			while (!put(&demand.target))
				sched_yield();
		}
		pair_send(pair, "", 1);
	}
	return 0;
}

static struct pair others[2];
static struct pier_conn *to_others[2];
static struct pier_mmap *taken, *used;

static void demand_of(struct pair *pair, int what, struct pier_mmap *mmap)
{
	const struct demand demand = {
		.what = what,
		.target = { (uintptr_t)pier_mmap_addr(mmap),
			    mmap->keys[0].rkey, TAKEN },
		.owner = getpid(),
		.fd = mmap->own.fd,
	};
	char byte;

	pair_send(pair, &demand, sizeof(demand));
	while (!pair_readable(pair)) {
		if (a.conn)
			pier_pe_progress(a.pe, 0);
		sched_yield();
	}
	IS(pair_recv(pair, &byte, 1), 1);
}

/* The first of @count others is stuck in two memories, which all have used. */
static bool begin_with(int count)
{
	struct target target;
	int i;

	for (i = 0; i < count; i++)
		pair_start(&others[i], obeys, NULL);
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	if (!IS(pier_dev_open("soft_lo", &dev), 0) ||
	    !OK(peer_open(&a, dev, NULL, NULL, TAKEN)) ||
	    !allocate(&taken, &target) || !allocate(&used, &target))
		return false;
	for (i = 0; i < count; i++) {
		if (!OK(peer_meet(&a, &others[i])))
			return false;
		to_others[i] = a.conn;
		pier_mmap_destroy(a.remote);
		a.remote = NULL;
		demand_of(&others[i], PUT, taken);
		demand_of(&others[i], PUT, used);
	}
	demand_of(&others[0], HOLD, used);
	return tap_holds();
}

static void end_with(int count)
{
	int i;

	for (i = 0; i < count; i++) {
		pair_kill(&others[i]);
		pier_conn_destroy(to_others[i]);
		to_others[i] = NULL;
	}
	a.conn = NULL;
	peer_close(&a);
	pier_mmap_destroy(taken);
	taken = NULL;
	pier_dev_close(dev);
}

/* What the stuck one stores later is not seen by the owner. */
static void is_the_owners(void)
{
	IS(pier_mmap_stop(used), 0);
	memset(pier_mmap_addr(used), 1, TAKEN);
	demand_of(&others[0], STORE, used);
	is_unchanged(used, 1);
}

static void more_have_ended(uint64_t than)
{
	long long limit = limit_from_now();

	while (counted_dev(dev, "shm_ended") == than && peer_step(limit))
		;
	IS(counted_dev(dev, "shm_ended"), than + 1);
}

static void a_stuck_peer_is_known_after_its_queue_pair(void)
{
	if (begin_with(1)) {
		pier_conn_destroy(to_others[0]);
		to_others[0] = a.conn = NULL;
		is_the_owners();
	}
	end_with(1);
}

static void a_stuck_peer_is_known_after_the_endpoint(void)
{
	if (begin_with(1)) {
		peer_close(&a);
		to_others[0] = a.conn = NULL;
		is_the_owners();
	}
	end_with(1);
}

/* One that is not stuck in it goes on until it is taken back. */
static void memory_is_not_replaced_under_others(void)
{
	uint64_t ended;

	if (begin_with(2)) {
		ended = counted_dev(dev, "shm_ended");
		IS(pier_mmap_stop(taken), 0);
		more_have_ended(ended);
		memset(pier_mmap_addr(used), 1, TAKEN);
		demand_of(&others[1], PUT, used);
		IS(*(uint8_t *)pier_mmap_addr(used), 0xff);
		is_the_owners();
	}
	end_with(2);
}

int main(void)
{
	TEST(memory_is_taken_back_under_fire);
	TEST(a_stuck_peer_is_known_after_its_queue_pair);
	TEST(a_stuck_peer_is_known_after_the_endpoint);
	TEST(memory_is_not_replaced_under_others);
	return tap_done();
}
