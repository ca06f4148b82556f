/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/counted.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/*
 * What a process with shared memory may do besides ending: it stops, executes
 * another program, has a child.  Each is forked before this process opens a
 * device.
 */
#define LEN (1u << 16)

static struct pier_dev *dev;
static struct peer me;

static bool begin_peer(void)
{
	peer_own_memory = true;
	setenv("PIER_SHM", "auto", 1);
	return !pier_dev_open("soft_lo", &dev) &&
	       peer_open(&me, dev, NULL, NULL, LEN);
}

/* Until a byte comes for it to do something else. */
static void serve(struct pair *pair)
{
	char byte;

	if (!begin_peer() || !peer_meet(&me, pair))
		_exit(1);
	while (!pair_readable(pair))
		pier_pe_wait(me.pe, 1);
	pair_recv(pair, &byte, sizeof(byte));
}

static int stays(struct pair *pair, void *arg)
{
	(void)arg;
	serve(pair);
	return 0;
}

static int executes(struct pair *pair, void *arg)
{
	(void)arg;
	serve(pair);
	execlp("sleep", "sleep", "600", (char *)NULL);
	return 1;
}

static int says_goodbye(struct pair *pair, void *arg)
{
	(void)arg;
	serve(pair);
	IS(pier_conn_disconnect(me.conn), 0);
	OK(peer_conn(me.conn, PIER_CONN_RESET));
	peer_close(&me);
	pier_dev_close(dev);
	return 0;
}

/* The child has all descriptors; it sends its pid. */
static int forks(struct pair *pair, void *arg)
{
	pid_t pid;

	(void)arg;
	serve(pair);
	pid = fork();
	if (!pid) {
		alarm(600);
		pause();
		_exit(0);
	}
	pair_send(pair, &pid, sizeof(pid));
	peer_serve();
}

static struct pair stopped, other_program, parent, leaver;

static void meet(struct pair *pair)
{
	long long limit = limit_from_now();

	OK(peer_meet(&me, pair));
	while (!counted_conn(me.conn, "shm_connected") && peer_step(limit))
		;
	OK(counted_conn(me.conn, "shm_connected"));
}

/* The peer has ended, and its link since there were @before. */
static void part(uint64_t before)
{
	long long limit = limit_from_now();

	while (counted_dev(dev, "shm_ended") == before && peer_step(limit))
		;
	IS(counted_dev(dev, "shm_ended"), before + 1);
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
}

/* Before, in between and after: it is stopped all the time. */
static void memory_of_a_stopped_process_is_written_and_read(void)
{
	uint64_t ended = counted_dev(dev, "shm_ended"), sent;

	meet(&stopped);
	if (shmpair_map(&me)) {
		kill(stopped.pid, SIGSTOP);
		OK(pair_is_stopped(&stopped, true));
		sent = counted_conn(me.conn, "tx_packets");
		peer_fill(&me, 1);
		IS(shmpair_write(&me, 0, LEN), 0);
		peer_fill(&me, 2);
		IS(shmpair_read(&me, 0, LEN), 0);
		OK(peer_holds(&me, 0, LEN, 1, 0));
		IS(counted_conn(me.conn, "tx_packets"), sent);
		pair_go_on(&stopped);
		IS(shmpair_write(&me, 0, 8), 0);
	}
	pair_kill(&stopped);
	part(ended);
}

/* A send that waits for a receive is in flight. */
static void fails_when(struct pair *pair, void (*it_ends)(struct pair *pair))
{
	uint64_t ended = counted_dev(dev, "shm_ended");
	int status = -EINPROGRESS;
	struct pier_buf *src;

	meet(pair);
	src = peer_data(&me, 0, 16);
	IS(pier_rdma_send(me.conn, src, peer_done, &status), 0);
	it_ends(pair);
	IS(peer_await(&status), -PIER_ERETRY);
	pier_buf_put(src);
	part(ended);
}

static void go(struct pair *pair)
{
	pair_send(pair, "", 1);
}

static void a_process_that_executes_another_program_has_ended(void)
{
	fails_when(&other_program, go);
	pair_kill(&other_program);
}

static pid_t child;

static void kill_the_parent(struct pair *pair)
{
	long long limit = limit_from_now();

	pair_send(pair, "", 1);
	while (!pair_readable(pair) && peer_step(limit))
		;
	IS(pair_recv(pair, &child, sizeof(child)), sizeof(child));
	pair_kill(pair);
}

static void a_child_that_lives_on_hides_no_end(void)
{
	fails_when(&parent, kill_the_parent);
	IS(kill(child, SIGKILL), 0);
}

/*
 * This program sees the goodbye, the end of the link and the failure of its
 * request at once, as it did not run meanwhile.
 */
static void a_goodbye_before_the_end_is_no_failure(void)
{
	uint64_t ended = counted_dev(dev, "shm_ended");
	long long limit = limit_from_now();
	int status = -EINPROGRESS;
	struct pier_buf *src;

	meet(&leaver);
	src = peer_data(&me, 0, 16);
	IS(pier_rdma_send(me.conn, src, peer_done, &status), 0);
	go(&leaver);
	while (counted_dev(dev, "shm_ended") == ended && limit_nap(limit))
		;
	IS(peer_await(&status), -ECANCELED);
	OK(peer_conn(me.conn, PIER_CONN_RESET));
	pier_buf_put(src);
	part(ended);
}

int main(void)
{
	pair_start(&stopped, stays, NULL);
	pair_start(&other_program, executes, NULL);
	pair_start(&parent, forks, NULL);
	pair_start(&leaver, says_goodbye, NULL);
	if (!begin_peer())
		return tap_skip_all("no soft_lo");
	TEST(memory_of_a_stopped_process_is_written_and_read);
	TEST(a_process_that_executes_another_program_has_ended);
	TEST(a_child_that_lives_on_hides_no_end);
	TEST(a_goodbye_before_the_end_is_no_failure);
	peer_close(&me);
	pier_dev_close(dev);
	return tap_done();
}
