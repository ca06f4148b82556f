/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/counted.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Peers in processes of their own, connected by shared memory, that are killed
 * or stopped.  Each is forked before this process opens a device.
 */
#define LEN (1u << 20)
#define VICTIMS 8

static struct pair pairs[VICTIMS];
static int used;
static struct pier_dev *dev;
static struct peer me;

/* Serves until it is killed. */
static int victim(struct pair *pair, void *arg)
{
	(void)arg;
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&me, dev, NULL, NULL, LEN) || !peer_meet(&me, pair))
		return 1;
	peer_serve();
}

static struct pair *meet(void)
{
	struct pair *pair = &pairs[used++];
	long long limit = limit_from_now();

	OK(peer_meet(&me, pair));
	while (!counted_conn(me.conn, "shm_connected") && peer_step(limit))
		;
	IS(counted_conn(me.conn, "shm_connected"), 1);
	return pair;
}

/* The connection has failed, or is ended. */
static void part(void)
{
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
}

static int write_all(struct pier_buf **src, struct pier_buf **dst, int *status)
{
	*src = peer_data(&me, 0, LEN);
	*dst = peer_far_tail(&me, 0, LEN);
	*status = -EINPROGRESS;
	return pier_rdma_write(me.conn, *src, *dst, peer_done, status);
}

static void put(struct pier_buf *src, struct pier_buf *dst)
{
	pier_buf_put(src);
	pier_buf_put(dst);
}

static void ended(uint64_t want)
{
	long long limit = limit_from_now();

	while (counted_dev(dev, "shm_ended") < want && peer_step(limit))
		;
	IS(counted_dev(dev, "shm_ended"), want);
}

static void a_write_to_a_process_that_is_killed_fails(void)
{
	struct pier_buf *src, *dst;
	uint64_t links = counted_dev(dev, "shm_ended");
	uint64_t timeouts;
	struct pair *pair;
	int status, i;

	for (i = 0; i < 3; i++) {
		pair = meet();
		kill(pair->pid, SIGSTOP);
		OK(pair_is_stopped(pair, true));
		IS(write_all(&src, &dst, &status), 0);
		IS(pier_pe_progress(me.pe, 8) >= 0, true);
		IS(status, -EINPROGRESS);
		timeouts = counted_conn(me.conn, "timeouts");
		pair_kill(pair);
		IS(peer_await(&status), -PIER_ERETRY);
		OK(counted_conn(me.conn, "timeouts") <= timeouts + 4);
		ended(links + 1 + i);
		put(src, dst);
		part();
	}
}

static void a_process_that_was_stopped_goes_on(void)
{
	uint64_t links = counted_dev(dev, "shm_ended");
	struct pier_buf *src, *dst;
	struct pair *pair = meet();
	int status;

	kill(pair->pid, SIGSTOP);
	OK(pair_is_stopped(pair, true));
	IS(write_all(&src, &dst, &status), 0);
	peer_drive_quietly(50);
	IS(status, -EINPROGRESS);
	pair_go_on(pair);
	IS(peer_await(&status), 0);
	put(src, dst);
	pair_kill(pair);
	ended(links + 1);
	part();
}

static void others_are_unhurt(void)
{
	uint64_t links = counted_dev(dev, "shm_ended");
	struct pier_buf *src, *dst;
	struct pair *first = meet();
	struct pier_conn *conn = me.conn;
	struct pier_mmap *remote = me.remote;
	int status;

	me.conn = NULL;
	me.remote = NULL;
	meet();
	pair_kill(first);
	ended(links + 1);
	IS(write_all(&src, &dst, &status), 0);
	IS(peer_await(&status), 0);
	put(src, dst);
	part();
	pier_conn_destroy(conn);
	pier_mmap_destroy(remote);
}

int main(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 4 };
	int i;

	setenv("PIER_SHM", "auto", 1);
	for (i = 0; i < VICTIMS; i++)
		pair_start(&pairs[i], victim, NULL);
	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&me, dev, NULL, &cfg, LEN))
		return tap_skip_all("no soft_lo");
	TEST(a_write_to_a_process_that_is_killed_fails);
	TEST(a_process_that_was_stopped_goes_on);
	TEST(others_are_unhurt);
	for (i = used - 1; i < VICTIMS; i++)
		pair_kill(&pairs[i]);
	peer_close(&me);
	pier_dev_close(dev);
	return tap_done();
}
