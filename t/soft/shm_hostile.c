/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/soft/io/chan.h"
#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/region.h"
#include "fabric/soft/shm/shm.h"
#include "fabric/soft/soft.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"
#include "t/lib/verbschan.h"

/*
 * A peer that does not keep to the rules of shared memory, against an endpoint
 * that has no connection: the helper thread drives it.
 */
#define NO_RIGHTS 77
#define FDS 256
#define PORT 1			/* the peer's, lower than any of ours */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE)

static struct pier__fdev *fdev;
static struct pier__chan *chan;
static uint64_t base[SOFT_COUNTERS];

static struct attached {
	int sock;
	struct soft_ring_out out;
	struct soft_ring_in in;
} it;

static void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

static void begin_with(uint32_t shm)
{
	size_t i;

	fdev = verbschan_device();
	must(pier__soft_chan_create(fdev, shm, &chan), "channel");
	for (i = 0; i < SOFT_COUNTERS; i++)
		base[i] = pier__soft_counter(chan_of(chan)->ep->counters, i);
}

static void begin(void)
{
	begin_with(PIER_SHM_AUTO);
}

static void end(void)
{
	pier__soft_chan_destroy(chan);
	pier__soft_dev.close(fdev);
	fdev = NULL;
}

/* By this endpoint: a row goes on from the one before it. */
static uint64_t counted(size_t counter)
{
	size_t i = counter / sizeof(uint64_t);

	return pier__soft_counter(chan_of(chan)->ep->counters, i) - base[i];
}

/* Until @counter is @want. */
static void counts(size_t counter, uint64_t want)
{
	long long limit = limit_from_now();

	while (counted(counter) < want && limit_nap(limit))
		;
	IS(counted(counter), want);
}

/* Until the endpoint has closed the socket. */
static void is_closed(int sock)
{
	long long limit = limit_from_now();
	char bytes[256];
	ssize_t got;

	do
		got = recv(sock, bytes, sizeof(bytes), MSG_DONTWAIT);
	while ((got > 0 || (got < 0 && errno == EAGAIN)) && limit_nap(limit));
	OK(got == 0 || (got < 0 && errno == ECONNRESET));
}

static int connect_to(void)
{
	int sock = pier__soft_attach_connect(chan->udp_port);

	must(sock < 0, "connect");
	return sock;
}

/* What is not a greeting of @len bytes is refused, and counted in @counter. */
static void refused(const void *bytes, size_t len, size_t counter)
{
	uint64_t before = counted(counter);
	int sock = connect_to();

	IS(send(sock, bytes, len, 0), len);
	is_closed(sock);
	counts(counter, before + 1);
	close(sock);
}

static struct soft_greeting good(void)
{
	return (struct soft_greeting){
		.magic = { 'p', 'i', 'e', 'r', ' ', 's', 'h', 'm' },
		.version = SOFT_ATTACH_VERSION,
		.size = sizeof(struct soft_ring),
		.from = PORT,
		.to = chan->udp_port,
	};
}

static void what_is_no_greeting_is_refused(void)
{
	const size_t nonsense = SOFT_COUNTER(shm_nonsense);
	struct soft_greeting greeting;

	begin();
	greeting = good();
	refused("junk", 4, nonsense);
	refused(&greeting, sizeof(greeting), nonsense);	/* no memory */
	refused(&greeting, sizeof(greeting) - 1, nonsense);
	greeting.zero = 1;
	refused(&greeting, sizeof(greeting), nonsense);
	greeting = good();
	greeting.magic[0] = 'P';
	refused(&greeting, sizeof(greeting), nonsense);
	greeting = good();
	greeting.version++;
	refused(&greeting, sizeof(greeting), SOFT_COUNTER(shm_versions));
	refused(&greeting, 12, SOFT_COUNTER(shm_versions));
	end();
}

/* A greeting for @to from @from with memory @fd is refused. */
static void refused_memory(uint16_t from, uint16_t to, int fd)
{
	struct soft_greeting greeting = { .from = from, .to = to };
	uint64_t before = counted(SOFT_COUNTER(shm_nonsense));
	int sock = connect_to();

	IS(pier__soft_attach_greet(sock, greeting, fd), 0);
	is_closed(sock);
	counts(SOFT_COUNTER(shm_nonsense), before + 1);
	close(sock);
	close(fd);
}

static int memory(size_t len, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd < 0 || ftruncate(fd, (off_t)len), "memfd");
	must(seals && fcntl(fd, F_ADD_SEALS, seals), "seals");
	return fd;
}

static void memory_that_is_not_sealed_is_refused(void)
{
	const size_t len = sizeof(struct soft_ring);
	int fds[2];

	begin();
	refused_memory(PORT, chan->udp_port, memory(len, 0));
	refused_memory(PORT, chan->udp_port, memory(len, F_SEAL_SHRINK));
	refused_memory(PORT, chan->udp_port,
		       memory(len, SEALS & ~F_SEAL_SHRINK));
	refused_memory(PORT, chan->udp_port, memory(len - 1, SEALS));
	refused_memory(PORT, chan->udp_port, memory(len + 1, SEALS));
	refused_memory(PORT, chan->udp_port, memory(0, SEALS));
	must(pipe2(fds, O_CLOEXEC), "pipe");
	refused_memory(PORT, chan->udp_port, fds[1]);
	close(fds[0]);
	end();
}

static void a_wrong_port_is_refused(void)
{
	const size_t len = sizeof(struct soft_ring);

	begin();
	refused_memory(0, chan->udp_port, memory(len, SEALS));
	refused_memory(PORT, chan->udp_port + 1, memory(len, SEALS));
	refused_memory(chan->udp_port, chan->udp_port, memory(len, SEALS));
	refused_memory(chan->udp_port + 1, chan->udp_port,
		       memory(len, SEALS));
	end();
}

/* Attach as an endpoint does. */
static void attach(void)
{
	long long limit = limit_from_now();
	const struct soft_ring *peer;
	struct soft_greeting greeting = { .from = PORT, .to = chan->udp_port };
	struct soft_greeting got = { .from = chan->udp_port, .to = PORT };
	struct soft_ring *own;
	int fd, err;

	must(pier__soft_region_create(&own, &fd), "region");
	it.sock = connect_to();
	must(pier__soft_attach_greet(it.sock, greeting, fd), "greeting");
	close(fd);
	do
		err = pier__soft_attach_receive(it.sock, &got, &peer);
	while (err == -EAGAIN && limit_nap(limit));
	must(err, "answer");
	it.out = (struct soft_ring_out){ .own = own, .peer = peer };
	it.in = (struct soft_ring_in){ .own = own, .peer = peer };
}

static void detach(void)
{
	close(it.sock);
	pier__soft_region_unmap(it.out.own);
	pier__soft_region_unmap(it.in.peer);
}

/* Until the endpoint has taken all that was put. */
static void is_taken(void)
{
	long long limit = limit_from_now();

	while (atomic_load(&it.in.peer->taken) != it.out.pos &&
	       limit_nap(limit))
		;
	IS(atomic_load(&it.in.peer->taken), it.out.pos);
}

static void put(enum soft_record_kind kind, const void *bytes, uint32_t len)
{
	uint8_t *to = pier__soft_ring_reserve(&it.out, len, 0);

	if (!OK(to != NULL))
		return;
	memcpy(to, bytes, len);
	pier__soft_ring_put(&it.out, kind, len);
	send(it.sock, "", 1, MSG_DONTWAIT);
}

static void a_port_that_is_attached_is_not_attached_again(void)
{
	begin();
	attach();
	refused_memory(PORT, chan->udp_port,
		       memory(sizeof(struct soft_ring), SEALS));
	put(SOFT_RECORD_HELLO, "", 0);
	is_taken();
	detach();
	counts(SOFT_COUNTER(shm_ended), 1);
	attach();
	put(SOFT_RECORD_HELLO, "", 0);
	is_taken();
	detach();
	end();
}

static void a_head_that_is_none_ends_the_link(void)
{
	struct soft_cell *cell;

	begin();
	attach();
	cell = &it.out.own->cell[0];
	atomic_store(&cell->head, (uint64_t)1 << 32 | 0x02ffffff);
	send(it.sock, "", 1, MSG_DONTWAIT);
	is_closed(it.sock);
	counts(SOFT_COUNTER(shm_nonsense), 1);
	counts(SOFT_COUNTER(shm_ended), 1);
	detach();
	attach();		/* another one is served */
	put(SOFT_RECORD_HELLO, "", 0);
	is_taken();
	detach();
	end();
}

/* Of data somewhere, with a number of pieces that may be right. */
static uint32_t offer(uint8_t *bytes, uint32_t len)
{
	uint32_t pieces = (uint32_t)random() % 10;

	if (len > sizeof(pieces) * 2)
		memcpy(bytes + sizeof(pieces), &pieces, sizeof(pieces));
	return len;
}

static void packets_and_hellos_of_any_bytes_are_dropped(void)
{
	uint8_t bytes[SOFT_RING_RECORD_MAX];
	uint32_t len, i;
	int n;

	srandom(1);
	begin();
	attach();
	for (n = 0; n < 3000 && tap_holds(); n++) {
		len = random() % (n % 16 ? 128 : sizeof(bytes));
		for (i = 0; i < len; i++)
			bytes[i] = (uint8_t)random();
		if (len && n % 3)
			bytes[0] &= 0x1f;	/* opcodes that are known */
		put(n % 5 ? SOFT_RECORD_PACKET : SOFT_RECORD_HELLO, bytes,
		    len);
		if (n % 7 == 0)
			put(SOFT_RECORD_PULL, bytes, offer(bytes, len));
		if (n % 64 == 63)
			is_taken();
	}
	is_taken();
	IS(counted(SOFT_COUNTER(shm_connected)), 0);
	IS(counted(SOFT_COUNTER(shm_ended)), 0);
	OK(counted(SOFT_COUNTER(dropped)) > 2000);
	detach();
	end();
}

/* A memory that the peer has is read-only to it, however it is opened. */
static void our_memory_cannot_be_written(void)
{
	const struct soft_ring *ring;
	char path[64];
	struct soft_ring *own;
	int fd, again;

	must(pier__soft_region_create(&own, &fd), "region");
	IS(mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
	   == MAP_FAILED, true);
	IS(ftruncate(fd, 0), -1);
	IS(pwrite(fd, "x", 1, 0), -1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0) {
		IS(pwrite(again, "x", 1, 0), -1);
		close(again);
	}
	IS(pier__soft_region_map(fd, &ring), 0);
	IS(mprotect((void *)(uintptr_t)ring, sizeof(*ring),
		    PROT_READ | PROT_WRITE), -1);
	atomic_store(&own->taken, 5);
	IS(atomic_load(&ring->taken), 5);
	pier__soft_region_unmap(ring);
	pier__soft_region_unmap(own);
	close(fd);
}

static void is_imported(int want, int fd, size_t len, bool writes)
{
	struct soft_region region;

	if (IS(pier__soft_region_import(fd, len, writes, &region), want) &&
	    !want)
		pier__soft_region_unimport(&region);
	close(fd);
}

/* What a peer gives is mapped only if it cannot become shorter. */
static void memory_that_is_given_has_seals_and_size(void)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
	int fds[2];

	is_imported(0, memory(8192, seals), 5000, true);
	is_imported(0, memory(8192, seals | F_SEAL_FUTURE_WRITE), 5000, false);
	is_imported(-EPROTO, memory(8192, 0), 5000, true);
	is_imported(-EPROTO, memory(8192, F_SEAL_GROW), 5000, true);
	is_imported(-EPROTO, memory(8192, F_SEAL_SHRINK), 5000, true);
	is_imported(-EPROTO, memory(4096, seals), 5000, true);
	is_imported(-EPROTO, memory(0, seals), 5000, true);
	is_imported(-EPERM, memory(8192, seals | F_SEAL_FUTURE_WRITE), 5000,
		    true);
	must(pipe2(fds, O_CLOEXEC), "pipe");
	is_imported(-EPROTO, fds[1], 5000, true);
	close(fds[0]);
}

/* Each time before the endpoint may have seen that the one before ended. */
static void a_port_that_has_ended_is_attached_again(void)
{
	int i;

	begin();
	for (i = 0; i < 20; i++) {
		attach();
		put(SOFT_RECORD_HELLO, "", 0);
		is_taken();
		detach();
	}
	counts(SOFT_COUNTER(shm_ended), 20);
	end();
}

static void a_name_that_is_taken_is_counted(void)
{
	struct soft_shm *shm;
	int sock;

	begin_with(PIER_SHM_OFF);
	sock = pier__soft_attach_listen(chan->udp_port);
	must(sock < 0, "listen");
	IS(pier__soft_attach_listen(chan->udp_port), -EADDRINUSE);
	must(pier__soft_shm_create(chan_of(chan)->ep, PIER_SHM_AUTO, &shm),
	     "shared memory");
	pier__soft_ep_enter(chan_of(chan)->ep);
	/* The helper goes before what it polls. */
	chan_of(chan)->shm = shm;
	pier__soft_ep_leave(chan_of(chan)->ep);
	IS(shm->listen_fd, -1);
	IS(counted(SOFT_COUNTER(shm_nonsense)), 1);
	end();
	close(sock);
}

static int become_another_user(void)
{
	uid_t other = geteuid() == 65534 ? 65533 : 65534;

	return setresuid(other, other, other);
}

/* Where no user has a uid: all have the same one there, this process too. */
static int leave_the_user_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

/*
 * A child connects after @change, and would not take us for its own user.
 * Returns false if @change is not allowed.
 */
static bool stranger(int (*change)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (change())
			_exit(NO_RIGHTS);
		_exit(pier__soft_attach_pidfd(connect_to()) != -EACCES);
	}
	IS(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != NO_RIGHTS)
		return IS(status, 0);
	tap_skip("no right to change the user");
	return false;
}

static void another_user_is_refused(void)
{
	begin();
	if (stranger(become_another_user))
		counts(SOFT_COUNTER(shm_foreign), 1);
	end();
}

static void a_user_namespace_without_users_is_refused(void)
{
	begin();
	stranger(leave_the_user_namespace);
	end();
}

/* What a program that is executed would have: nothing of a link. */
static void descriptors_are_closed_on_exec(void)
{
	bool inherited[FDS];
	int fd, flags, open = 0;

	for (fd = 0; fd < FDS; fd++)
		inherited[fd] = fcntl(fd, F_GETFD) >= 0;
	begin();
	attach();
	for (fd = 0; fd < FDS; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags < 0 || inherited[fd])
			continue;
		open++;
		if (!OK(flags & FD_CLOEXEC))
			tap_note("descriptor %d", fd);
	}
	OK(open > 5);
	detach();
	end();
}

int main(void)
{
	TEST(what_is_no_greeting_is_refused);
	TEST(memory_that_is_not_sealed_is_refused);
	TEST(a_wrong_port_is_refused);
	TEST(a_port_that_is_attached_is_not_attached_again);
	TEST(a_head_that_is_none_ends_the_link);
	TEST(packets_and_hellos_of_any_bytes_are_dropped);
	TEST(our_memory_cannot_be_written);
	TEST(memory_that_is_given_has_seals_and_size);
	TEST(a_port_that_has_ended_is_attached_again);
	TEST(a_name_that_is_taken_is_counted);
	TEST(another_user_is_refused);
	TEST(a_user_namespace_without_users_is_refused);
	TEST(descriptors_are_closed_on_exec);
	return tap_done();
}
