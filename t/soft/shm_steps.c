/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/soft/shm/fds.h"
#include "mem/mmap_impl.h"
#include "t/lib/counted.h"
#include "t/lib/steps.h"
#include "t/lib/tap.h"
#include "t/soft/shm_victim.h"

/*
 * A process that is killed, or stopped, before each of its stores into shared
 * memory, and of its calls that make or use it: one run for each, until a run
 * has no such step.  Its peer finds out, has all that it had before, and goes
 * on with others.
 */
#define TARGET 4096
#define STEPS_MAX 2000

/* The process that goes on. */
static struct pair breeder, other;
static struct pier_conn *other_conn;
static struct pier_mmap *other_mem;
static int base_fds, base_maps;

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int shared_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512];
	int n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, "memfd:") != NULL;
	if (file)
		fclose(file);
	return n;
}

static void fork_one(struct pair *victim)
{
	int fds[2];

	if (!OK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)))
		exit(1);
	IS(pier__soft_fds_send(breeder.fd, "", 1, fds[1]), 0);
	close(fds[1]);
	victim->fd = fds[0];
	IS(pair_recv(&breeder, &victim->pid, sizeof(victim->pid)),
	   sizeof(victim->pid));
}

/* What has become of it: a status of waitpid(2). */
static int fate(void)
{
	long long limit = limit_from_now();
	int status = 0;

	while (!pair_readable(&breeder) && peer_step(limit))
		;
	IS(pair_recv(&breeder, &status, sizeof(status)), sizeof(status));
	return status;
}

/* A connection to @victim is begun; if its port is lower, or @any. */
static bool meet(struct pair *victim, const struct victim_demand *it, bool any,
		 bool low)
{
	struct victim_card card;

	fork_one(victim);
	pair_send(victim, it, sizeof(*it));
	if (!IS(pair_recv(victim, &card, sizeof(card)), sizeof(card)))
		return false;
	if (!any && (card.port < port_of(other_conn)) != low)
		return false;
	return peer_export_later(&me) && OK(send_card(victim, me.conn)) &&
	       OK(connect_to(&card));
}

/* For a message of the victim's, which may have used the last one. */
static struct pier_buf *receive;
static int received;

static void have_a_receive(void)
{
	if (receive && received == -EINPROGRESS)
		return;
	if (receive)
		pier_buf_put(receive);
	receive = peer_tail(&me, LEN / 2, 20);
	received = -EINPROGRESS;
	IS(pier_rdma_receive(me.rdma, receive, peer_done, &received), 0);
}

/* As long as @victim lives and has sent nothing. */
static bool wait_for(const struct pair *victim, bool (*done)(void))
{
	long long limit = limit_from_now();

	while (!done() && !pair_readable(victim) && peer_step(limit))
		;
	return done();
}

static void request_of(enum kind kind)
{
	if (kind == SERVE) {
		post_send(20);
		post_write(0, 100);
		post_read(0, 100);
		post_add();
	} else if (kind == PULL) {
		post_write(0, PULLED);
		post_read(PULLED, PULLED);
	}
}

/*
 * A send that finds no receive is in flight at the end: it fails with the other
 * process.
 */
static void work_with(struct pair *victim, enum kind kind)
{
	long long limit = limit_from_now();

	if (!wait_for(victim, is_connected))
		return;
	request_of(kind);
	if (wait_for(victim, all_done)) {
		post_send(16);
		pair_send(victim, "", 1);
	}
	while (!pair_readable(victim) && peer_step(limit))
		;
}

/* What is there without it: descriptors, memory, the other connection. */
static void is_as_before(void)
{
	long long limit = limit_from_now();
	struct pier_buf *src, *dst;
	int status = -EINPROGRESS;

	while ((open_fds() != base_fds || shared_maps() != base_maps) &&
	       peer_step(limit))
		;
	IS(open_fds(), base_fds);
	IS(shared_maps(), base_maps);
	me.remote = other_mem;
	src = peer_data(&me, 0, TARGET);
	dst = peer_far_tail(&me, 0, TARGET);
	IS(pier_rdma_write(other_conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	me.remote = NULL;
}

static void part(struct pair *victim)
{
	if (victim->fd >= 0)
		close(victim->fd);
	victim->fd = -1;
	await_all();
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
}

static struct pier_mmap *allocate(struct victim_target *ret)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = PEER_ACCESS };
	struct pier_mmap *mmap = NULL;

	IS(pier_mmap_alloc(dev, TARGET, &cfg, &mmap), 0);
	ret->addr = (uintptr_t)pier_mmap_addr(mmap);
	ret->rkey = mmap->keys[0].rkey;
	return mmap;
}

/* What was taken back is the owner's alone. */
static void is_filled(struct pier_mmap *mmap, uint8_t byte)
{
	const uint8_t *mem = pier_mmap_addr(mmap);
	int i;

	for (i = 0; i < TARGET && mem[i] == byte; i++)
		;
	IS(i, TARGET);
}

/* Returns whether it was killed, before step @step. */
static bool kill_at(enum kind kind, unsigned int step, bool any, bool low)
{
	struct victim_demand it = { .kind = kind, .step = step,
				    .sig = SIGKILL };
	struct pier_mmap *mmap = NULL;
	struct pair victim;
	int status;

	if (kind == PUT)
		mmap = allocate(&it.target);
	have_a_receive();
	while (!meet(&victim, &it, any, low) && tap_holds()) {
		part(&victim);
		fate();
	}
	if (!tap_holds())
		return false;
	work_with(&victim, kind);
	part(&victim);
	status = fate();
	if (mmap) {
		IS(pier_mmap_stop(mmap), 0);
		memset(pier_mmap_addr(mmap), 1, TARGET);
		is_filled(mmap, 1);
		pier_mmap_destroy(mmap);
	}
	is_as_before();
	if (!WIFSIGNALED(status))
		return !IS(status, 0);
	IS(WTERMSIG(status), SIGKILL);
	return true;
}

/* How many there are depends on how often the victim polls. */
#define SHORT_RUNS 3

static void kill_at_each(enum kind kind, bool any, bool low)
{
	unsigned int step = 1, short_runs = 0;

	if (!steps_are_possible()) {
		tap_skip("stores are not executed one at a time");
		return;
	}
	while (step < STEPS_MAX && short_runs < SHORT_RUNS && tap_holds()) {
		if (kill_at(kind, step, any, low)) {
			step++;
			short_runs = 0;
		} else {
			short_runs++;
		}
	}
	if (!tap_holds())
		tap_note("step %u", step);
	tap_note("%u steps", step - 1);
	OK(step > 5 && step < STEPS_MAX);
}

static void a_process_is_killed_at_each_step_of_attaching(void)
{
	kill_at_each(HANDSHAKE, false, true);
}

static void a_process_is_killed_at_each_step_of_being_attached(void)
{
	kill_at_each(HANDSHAKE, false, false);
}

static void a_process_is_killed_at_each_step_of_a_put(void)
{
	kill_at_each(PUT, true, false);
}

static void a_process_is_killed_at_each_step_of_an_answer(void)
{
	kill_at_each(SERVE, true, false);
}

static void a_process_is_killed_at_each_step_of_a_pull(void)
{
	if (counted_dev(dev, "shm_pull_refused"))
		tap_skip("the kernel lets no process read another's memory");
	else
		kill_at_each(PULL, true, false);
}

/* It goes on when its target was taken back, and stores what is left. */
static void stop(enum when when, bool has_put)
{
	struct victim_demand it = { .kind = PUT, .when = when, .step = 1,
				    .sig = SIGSTOP };
	struct pier_mmap *mmap = allocate(&it.target);
	long long limit = limit_from_now();
	const uint8_t *mem = pier_mmap_addr(mmap);
	struct pair victim;

	if (!steps_are_possible()) {
		tap_skip("stores are not executed one at a time");
		pier_mmap_destroy(mmap);
		return;
	}
	have_a_receive();
	OK(meet(&victim, &it, true, false));
	while (!pair_readable(&breeder) && peer_step(limit))
		;
	OK(WIFSTOPPED(fate()));
	if (has_put)
		IS(mem[PUT_LEN - 1], 0xff);
	IS(pier_mmap_stop(mmap), 0);
	memset(pier_mmap_addr(mmap), 1, TARGET);
	kill(victim.pid, SIGCONT);
	pair_send(&victim, "", 1);
	while (!pair_readable(&victim) && peer_step(limit))
		;
	part(&victim);
	IS(fate(), 0);
	is_filled(mmap, 1);
	pier_mmap_destroy(mmap);
	is_as_before();
}

static void memory_is_taken_back_from_one_stopped_before_a_put(void)
{
	stop(AT_STEP, false);
}

static void memory_is_taken_back_from_one_stopped_in_a_put(void)
{
	stop(IN_USE, false);
}

static void memory_is_taken_back_from_one_stopped_after_a_put(void)
{
	stop(AFTER_USE, true);
}

/* The one that is not killed.  It ends if it is not answered for long. */
static int serve(struct pair *pair, void *arg)
{
	(void)arg;
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&me, dev, NULL, NULL, LEN) || !peer_meet(&me, pair))
		return 1;
	do
		post_write(LEN / 2 + TARGET, 64);
	while (!await_all() && limit_nap(limit_from_now()));
	return 1;
}

/* Of those that the kernel chooses by default. */
#define PORT_LOW 36000
#define PORT_HIGH 57000
#define TRIES 100

static bool is_in_the_middle(void)
{
	uint16_t port;

	if (!peer_export_later(&me))
		return true;
	port = port_of(me.conn);
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	return port > PORT_LOW && port < PORT_HIGH;
}

/* With a port that victims often have a lower one than, and a higher one. */
static bool open_me(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 4 };
	int i;

	for (i = 0; i < TRIES; i++) {
		if (pier_dev_open("soft_lo", &dev) ||
		    !peer_open(&me, dev, NULL, &cfg, LEN))
			return false;
		if (is_in_the_middle())
			return true;
		peer_close(&me);
		pier_dev_close(dev);
	}
	return false;
}

static bool begin(void)
{
	long long limit = limit_from_now();

	if (!open_me() || !peer_meet(&me, &other))
		return false;
	while (!is_connected() && peer_step(limit))
		;
	other_conn = me.conn;
	other_mem = me.remote;
	me.conn = NULL;
	me.remote = NULL;
	base_fds = open_fds();
	base_maps = shared_maps();
	return true;
}

int main(void)
{
	setenv("PIER_SHM", "auto", 1);
	pair_start(&breeder, victims_breed, NULL);
	pair_start(&other, serve, NULL);
	if (!begin())
		return tap_skip_all("no soft_lo");
	TEST(a_process_is_killed_at_each_step_of_attaching);
	TEST(a_process_is_killed_at_each_step_of_being_attached);
	TEST(a_process_is_killed_at_each_step_of_a_put);
	TEST(a_process_is_killed_at_each_step_of_an_answer);
	TEST(a_process_is_killed_at_each_step_of_a_pull);
	TEST(memory_is_taken_back_from_one_stopped_before_a_put);
	TEST(memory_is_taken_back_from_one_stopped_in_a_put);
	TEST(memory_is_taken_back_from_one_stopped_after_a_put);
	pair_kill(&other);
	IS(pair_wait(&breeder), 0);
	if (receive)
		pier_buf_put(receive);
	pier_conn_destroy(other_conn);
	pier_mmap_destroy(other_mem);
	peer_close(&me);
	pier_dev_close(dev);
	return tap_done();
}
