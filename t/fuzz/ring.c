/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/pull.h"
#include "fabric/soft/shm/shm.h"
#include "t/fuzz/ep.h"

/*
 * An endpoint with a link of shared memory, whose peer is hostile: it writes
 * anything into the memory that it shares, at any time.  Input: a byte of
 * setup, then steps, each a byte and what belongs to it: those of the program,
 * records that are well formed as far as a flag does not exclude it, and bytes
 * anywhere.  There are unmapped pages around that memory.
 */
#define AROUND 4096
#define RING (sizeof(struct soft_ring))
#define GIVEN_LEN (4 * AROUND)	/* of memory that the peer gives */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

enum {
	RAW = 1 << 0,		/* nothing is put in */
	SECOND = 1 << 1,	/* for the second QP */
	SEALED = 1 << 2,
	LIVE = 1 << 3,
	RIGHT_GIFT = 1 << 4,
};

static struct world world;
static struct soft_shm *shm;
static struct soft_link *their;
static struct soft_ring *ring;		/* the peer's */
static struct soft_ring_out out;	/* its end that writes */
static int peer_sock;
static atomic_bool held;

static int memory(int seals)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && !ftruncate(fd, GIVEN_LEN));
	MUST(!seals || !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

/* The library unmaps the ring, and this file what is around it. */
static void open_ring(void)
{
	uint8_t *at = mmap(NULL, RING + 2 * AROUND, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	MUST(!mprotect(at + AROUND, RING, PROT_READ | PROT_WRITE));
	ring = (struct soft_ring *)(at + AROUND);
}

static void close_ring(void)
{
	munmap((uint8_t *)ring - AROUND, AROUND);
	munmap((uint8_t *)ring + RING, AROUND);
}

static void open_link(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int socks[2], fd;

	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK |
			 SOCK_CLOEXEC, 0, socks));
	peer_sock = socks[1];
	MUST(!pier__soft_shm_create(world.ep, PIER_SHM_AUTO, &shm));
	MUST(!pier__soft_link_create(world.ep, socks[0], world.peer.port,
				     &their));
	MUST(!pier__soft_link_open(their, &fd));
	close(fd);
	pier__soft_link_up(their, ring);
	their->pid = getpid();
	their->pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	atomic_store(&their->out.own->pulls, 1);
	ev.data.fd = socks[0];
	MUST(!epoll_ctl(shm->bell_fd, EPOLL_CTL_ADD, socks[0], &ev));
	shm->link[shm->links++] = their;
	out = (struct soft_ring_out){ .own = ring, .peer = their->out.own };
}

/* No queue pair sends by the link any more. */
static void close_link(struct world *ended)
{
	(void)ended;
	pier__soft_shm_destroy(shm);
	close(peer_sock);
	close_ring();
}

static const struct soft_qp *qp_of(uint32_t flags)
{
	return world.qp[!!(flags & SECOND)];
}

/* One that would be stuck is waited for; t/soft/shm_take_back.c has such. */
static void do_not_hold(void)
{
	atomic_fetch_and(&ring->hazard, ~1u);
}

static void put(enum soft_record_kind kind, const void *data, uint32_t len)
{
	uint8_t *to = pier__soft_ring_reserve(&out, len, 0);

	if (!to)
		return;
	memcpy(to, data, len);
	pier__soft_ring_put(&out, kind, len);
}

static void put_packet(struct fuzz_in *in)
{
	struct world_packet packet = world_packet(&world, in);
	uint32_t len = packet.len < 4 ? 0 : packet.len - 4;

	put(SOFT_RECORD_PACKET, world.bytes, len);
}

/* Several packets as one, with bytes behind those of the input. */
static void put_joined(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1);
	uint32_t n = flags & RAW ? fuzz_take(in, 2) :
				   (1 + fuzz_take(in, 1)) * world.mtu;
	struct world_packet packet = world_packet(&world, in);
	uint32_t len = packet.len < 4 ? 0 : packet.len - 4, all = len + n;
	uint8_t *to;

	if (all > SOFT_RING_RECORD_MAX)
		all = SOFT_RING_RECORD_MAX;
	to = pier__soft_ring_reserve(&out, all, 0);
	if (!to)
		return;
	memset(to + len, 0, all - len);
	memcpy(to, world.bytes, len);
	pier__soft_ring_put(&out, SOFT_RECORD_JOINED, all);
}

/* Of data that are somewhere in this process, or nowhere. */
static void put_offer(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), pieces = 1 + fuzz_take(in, 1) % 10;
	struct soft_pull_offer offer = { .pieces = pieces };
	struct world_packet packet;
	uint8_t bytes[SOFT_SHM_COPY + 64];
	uint32_t i, len, all = 0;

	offer.withdrawn = flags & RAW ? fuzz_take(in, 4)
				      : atomic_load(&ring->withdrawn);
	for (i = 0; i < pieces && i < SOFT_TX_IOV; i++) {
		offer.at[i].len = fuzz_take(in, 3);
		all += (uint32_t)offer.at[i].len;
		offer.at[i].addr = flags & RAW ? fuzz_take(in, 4) :
			(uintptr_t)world_region(&world, i % REGIONS);
	}
	len = (uint32_t)(offsetof(struct soft_pull_offer, at) +
			 (i * sizeof(offer.at[0])));
	memcpy(bytes, &offer, len);
	packet = world_packet(&world, in);
	i = packet.len < 64 ? packet.len : 64;
	memcpy(bytes + len, world.bytes, i);
	all = htobe32(all);
	if (i >= 28 && !(flags & RAW))	/* as long as a write claims to be */
		memcpy(bytes + len + 24, &all, sizeof(all));
	put(SOFT_RECORD_PULL, bytes, len + i);
}

static void put_hello(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), raw[11];
	const struct soft_qp *qp = qp_of(flags);
	size_t i;

	for (i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		raw[i] = flags & RAW ? fuzz_take(in, 4) : 0;
	if (!(flags & RAW)) {
		raw[0] = qp->dest_qpn;
		raw[1] = qp->qpn;
		memcpy(&raw[2], &world.peer.ip, 16);
		memcpy(&raw[6], &world.here.ip, 16);
		raw[10] = flags >> 7;
	}
	put(SOFT_RECORD_HELLO, raw, sizeof(raw));
}

static void put_ask(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1);
	struct soft_ask ask = {
		.slot = fuzz_take(in, flags & RAW ? 4 : 1),
		.rkey = world.mr[fuzz_take(in, 1) % REGIONS].mr.rkey,
		.from = qp_of(flags)->dest_qpn,
		.to = qp_of(flags)->qpn,
		.have = fuzz_take(in, 1),
	};

	if (flags & RAW)
		ask.to = fuzz_take(in, 3);
	put(SOFT_RECORD_ASK, &ask, sizeof(ask));
}

/* The answer to what was asked, of which the program's requests are. */
static void put_given(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1);
	const struct soft_qp *qp = qp_of(flags);
	struct soft_gift gift = { .id = 1 };
	struct soft_given given = {
		.slot = qp->qpn % SOFT_RING_GRANTS,
		.from = qp->qpn,
		.stamp = fuzz_take(in, 1),
		.access = fuzz_take(in, 1),
		.writes = flags >> 7,
		.addr = (uintptr_t)world_region(&world, 0),
		.len = fuzz_take(in, 2) + 1,
		.id = gift.id,
	};
	int fd = memory(flags & SEALED ? SEALS : 0);

	if (flags & RAW) {
		given.slot = fuzz_take(in, 2);
		given.addr = (uint64_t)fuzz_take(in, 4) << 32;
		given.len = (uint64_t)fuzz_take(in, 4) << 32 |
			    fuzz_take(in, 4);
	}
	if (flags & RIGHT_GIFT)
		pier__soft_fds_send(peer_sock, &gift, sizeof(gift), fd);
	close(fd);
	if (flags & LIVE && given.slot < SOFT_RING_GRANTS)
		atomic_store(&ring->live[given.slot], given.stamp);
	put(SOFT_RECORD_GIVEN, &given, sizeof(given));
}

/* A head with the right stamp, if that is not raw. */
static void put_head(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1);
	uint32_t at = out.pos % SOFT_RING_CELLS;
	uint64_t head = fuzz_take(in, 4);

	head |= (uint64_t)(flags & RAW ? fuzz_take(in, 4) : out.pos << 1 | 1)
		<< 32;
	atomic_store(&ring->cell[at].head, head);
}

static void put_word(struct fuzz_in *in)
{
	uint32_t which = fuzz_take(in, 1), value = fuzz_take(in, 4);

	switch (which % 6) {
	case 0:
		atomic_store(&ring->taken, their->out.pos);
		break;
	case 1:
		atomic_store(&ring->taken, their->out.pos +
			     (uint32_t)(int16_t)value);
		break;
	case 2:
		atomic_store(&ring->asleep, value);
		break;
	case 3:
		atomic_store(&ring->pulls, value);
		break;
	case 4:
		atomic_store(&ring->withdrawn, value);
		break;
	default:
		atomic_store(&ring->live[which], value & 0xff);
	}
}

/* Anywhere, and at the cells that are read next. */
static void put_bytes(struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), at = fuzz_take(in, 3);
	uint32_t len = 1 + fuzz_take(in, 1) % 32;
	uint8_t *to;

	if (!(flags & RAW))
		at = (uint32_t)offsetof(struct soft_ring, cell) +
		     their->in.pos % SOFT_RING_CELLS * SOFT_RING_CELL +
		     at % 512;
	for (to = (uint8_t *)ring; len--; at++)
		to[at % RING] = (uint8_t)fuzz_take(in, 1);
	do_not_hold();
}

static void sleep_or_wake(struct fuzz_in *in)
{
	char bytes[64];

	if (fuzz_take(in, 1) & 1)
		pier__soft_shm_sleep(shm);
	else
		pier__soft_shm_wake(shm);
	while (recv(peer_sock, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static void (*const steps[])(struct fuzz_in *in) = {
	put_hello, put_offer, put_ask, put_given, put_head, put_word, put_word,
	put_bytes, sleep_or_wake, put_packet, put_packet, put_joined,
};

#define STEPS (sizeof(steps) / sizeof(*steps))

static void open_all(struct fuzz_in *in)
{
	int i, fd = memory(SEALS);

	world_open(&world, in);
	world.shared = true;
	world.queues_ended = close_link;
	for (i = 0; i < REGIONS; i++) {
		atomic_store(&world.mr[i].memfd, i == REGION_ALL ? fd : -1);
		world.mr[i].held = &held;
	}
	open_ring();
	open_link();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	uint32_t step;
	int fd;

	open_all(&in);
	while (in.left) {
		step = fuzz_take(&in, 1) % (WORLD_STEPS + STEPS + 1);
		if (step < WORLD_STEPS)
			world_step(&world, &in, step);
		else if (step < WORLD_STEPS + STEPS)
			steps[step - WORLD_STEPS](&in);
		else	/* what is not settled below is in one batch */
			continue;
		if (step & 1 || in.left < 8)
			world_settle(&world);
	}
	fd = atomic_load(&world.mr[REGION_ALL].memfd);
	world_close(&world);
	close(fd);
	MUST(!held);
	return 0;
}
