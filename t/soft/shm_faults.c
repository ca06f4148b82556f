/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/shm/attach.h"
#include "t/lib/counted.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * What keeps two processes of a host from shared memory: the reason is
 * counted, and every byte moves by UDP.
 */
#define LEN (1u << 16)
#define TRIES 64		/* to have the lower port, which is random */

static struct pier_dev *dev;
static struct peer a, b;

/* Two peers that are not connected yet; @b with @shm. */
static bool begin(uint32_t shm)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .shm = shm };

	memset(&b, 0, sizeof(b));
	return IS(pier_dev_open("soft_lo", &dev), 0) &&
	       peer_open(&a, dev, NULL, NULL, LEN) &&
	       peer_open(&b, dev, a.pe, &cfg, LEN) && peer_export(&a) &&
	       peer_export(&b);
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
}

static bool connect_both(void)
{
	return IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0) &&
	       IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0) &&
	       OK(peer_conn(a.conn, PIER_CONN_CONNECTED)) &&
	       OK(peer_conn(b.conn, PIER_CONN_CONNECTED)) &&
	       peer_swap(&a, &b);
}

/* All bytes move, and none by shared memory. */
static void moves_by_udp(struct peer *peer)
{
	struct pier_buf *src = peer_data(peer, 0, LEN);
	struct pier_buf *dst = peer_far_tail(peer, 0, LEN);
	int status = -EINPROGRESS;

	IS(pier_rdma_write(peer->conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	IS(counted_conn(peer->conn, "shm_connected"), 0);
	IS(counted_conn(peer->conn, "shm_sent"), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

/* Until @counter of the device is more than @before. */
static void is_counted(const char *counter, uint64_t before)
{
	long long limit = limit_from_now();

	while (counted_dev(dev, counter) <= before && peer_step(limit))
		;
	OK(counted_dev(dev, counter) > before);
}

static uint16_t port_of(const struct peer *peer)
{
	return peer->conn->queues->chan->udp_port;
}

/*
 * Another program has the name of @b's port, and @b no shared memory.  Returns
 * its socket when @a, whose port is the lower one, has connected to it, or -1.
 */
static int squat(void)
{
	long long limit = limit_from_now();
	int listener, sock = -1, i;

	for (i = 0; i < TRIES; i++) {
		if (!begin(PIER_SHM_OFF))
			return -1;
		if (port_of(&a) < port_of(&b))
			break;
		end();
	}
	listener = pier__soft_attach_listen(port_of(&b));
	if (!OK(listener >= 0) || !connect_both())
		return -1;
	while (sock < 0 && peer_step(limit))
		sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	OK(sock >= 0);
	return sock;
}

static void a_squatter_that_is_silent_is_ignored(void)
{
	int sock = squat();

	moves_by_udp(&a);
	close(sock);
	end();
}

static void a_squatter_that_hangs_up_is_counted(void)
{
	int sock = squat();
	uint64_t before = counted_dev(dev, "shm_absent");

	close(sock);
	is_counted("shm_absent", before);
	moves_by_udp(&a);
	end();
}

static void a_squatter_that_sends_anything_else_is_counted(void)
{
	int sock = squat();
	uint64_t before = counted_dev(dev, "shm_nonsense");

	IS(send(sock, "hello", 5, MSG_NOSIGNAL), 5);
	is_counted("shm_nonsense", before);
	moves_by_udp(&a);
	close(sock);
	end();
}

/* Neither end can have one more: a socket, a memory, a pidfd. */
static void without_descriptors_bytes_move_by_udp(void)
{
	struct rlimit old, none;
	uint64_t before;

	if (!begin(PIER_SHM_AUTO))
		return;
	before = counted_dev(dev, "shm_limits");
	IS(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 3;
	IS(setrlimit(RLIMIT_NOFILE, &none), 0);
	if (connect_both()) {
		is_counted("shm_limits", before);
		moves_by_udp(&a);
	}
	IS(setrlimit(RLIMIT_NOFILE, &old), 0);
	end();
}

static struct elsewhere {
	int (*leave)(void);
	struct pair pair;
} pids, users;

/* The peer of what follows, in a process that @arg has taken elsewhere. */
static int serve(struct pair *pair, void *arg)
{
	int err = ((const struct elsewhere *)arg)->leave();

	pair_send(pair, &err, sizeof(err));
	if (err || pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&a, dev, NULL, NULL, LEN) || !peer_meet(&a, pair))
		return 1;
	peer_serve();
}

/* The process that is returned is the first one of the namespace. */
static int leave_the_pid_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return errno;
	pid = fork();
	if (pid > 0) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	return pid < 0 ? errno : prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int leave_the_user_namespace(void)
{
	return unshare(CLONE_NEWUSER) ? errno : 0;
}

/* By this end, or by the other one, which hangs up. */
static void is_refused(void)
{
	long long limit = limit_from_now();

	while (!counted_dev(dev, "shm_foreign") &&
	       !counted_dev(dev, "shm_absent") && peer_step(limit))
		;
	OK(counted_dev(dev, "shm_foreign") + counted_dev(dev, "shm_absent"));
}

static void with(struct pair *pair)
{
	int err = -1;

	IS(pair_recv(pair, &err, sizeof(err)), sizeof(err));
	if (err) {
		tap_skip("no right to make a namespace");
		return;
	}
	memset(&b, 0, sizeof(b));
	if (IS(pier_dev_open("soft_lo", &dev), 0) &&
	    peer_open(&b, dev, NULL, NULL, LEN) && peer_meet(&b, pair)) {
		is_refused();
		moves_by_udp(&b);
	}
	pair_kill(pair);
	peer_close(&b);
	pier_dev_close(dev);
}

static void another_pid_namespace_is_udp(void)
{
	with(&pids.pair);
}

static void another_user_namespace_is_udp(void)
{
	with(&users.pair);
}

int main(void)
{
	setenv("PIER_SHM", "auto", 1);
	pids.leave = leave_the_pid_namespace;
	users.leave = leave_the_user_namespace;
	pair_start(&pids.pair, serve, &pids);
	pair_start(&users.pair, serve, &users);
	TEST(another_pid_namespace_is_udp);
	TEST(another_user_namespace_is_udp);
	TEST(a_squatter_that_is_silent_is_ignored);
	TEST(a_squatter_that_hangs_up_is_counted);
	TEST(a_squatter_that_sends_anything_else_is_counted);
	TEST(without_descriptors_bytes_move_by_udp);
	return tap_done();
}
