/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/cable.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * A peer is killed in the middle of a message, which a slow cable makes long:
 * the receive that took its beginning comes back.  In the guest of t/vm/run,
 * whose rxe1 sends over v1.
 */
#define LEN (8u << 20)
#define TURNS 6			/* more than there is room for receives */

static const struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 4,
	.recv_queue = 4,
	.keepalive_ms = 200,
};

static struct pier_dev *dev;
static struct peer me;

static bool begin(const char *name)
{
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(name, &dev), 0) &&
	       peer_open(&me, dev, NULL, &config, LEN);
}

/* Sends one message, and is killed meanwhile. */
static int victim(struct pair *pair, void *arg)
{
	int status = -EINPROGRESS;

	(void)arg;
	if (!begin("rxe1") || !peer_meet(&me, pair))
		return 1;
	memset(me.mem, 0x5a, LEN);
	pier_rdma_send(me.conn, peer_data(&me, 0, LEN), peer_done, &status);
	peer_await(&status);
	return 0;
}

/* Its context lives on. */
static bool turn(struct pair *pair)
{
	struct pier_buf *tail = peer_tail(&me, 0, LEN);
	const volatile uint8_t *first = me.mem;
	long long limit = limit_from_now();
	int got = -EINPROGRESS;

	memset(me.mem, 0, LEN);
	IS(pier_rdma_receive(me.rdma, tail, peer_done, &got), 0);
	if (peer_meet(&me, pair)) {
		while (!*first && got == -EINPROGRESS && peer_step(limit))
			;
		pair_kill(pair);
		peer_conn(me.conn, PIER_CONN_ERROR);
		IS(peer_await(&got), -ECANCELED);
		IS(me.mem[0], 0x5a);
		IS(me.mem[LEN - 1], 0);
	}
	IS(pier_ctx_inflight(pier_rdma_ctx(me.rdma)), 0);
	pier_buf_put(tail);
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
	return tap_holds();
}

static void a_message_cut_off_gives_its_receive_back(void)
{
	static struct pair pair[TURNS];
	int i;

	/* peers are forked before the device is opened */
	for (i = 0; i < TURNS; i++)
		pair_start(&pair[i], victim, NULL);
	if (!begin("rxe0"))
		return;
	for (i = 0; i < TURNS && turn(&pair[i]); i++)
		;
	IS(i, TURNS);
	while (++i < TURNS)
		pair_kill(&pair[i]);
	peer_close(&me);
	pier_dev_close(dev);
}

int main(void)
{
	if (access("/run/vm/job", F_OK))
		return tap_skip_all("only for the guest of t/vm/run");
	if (!cable_run("modprobe -q sch_netem; tc qdisc add dev v1 root netem "
		       "rate 20mbit limit 100000"))
		return tap_skip_all("the kernel has no netem");
	TEST(a_message_cut_off_gives_its_receive_back);
	cable_run("tc qdisc del dev v1 root");
	return tap_done();
}
