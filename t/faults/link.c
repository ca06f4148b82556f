/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/verbs.h>

#include "dev/dev_impl.h"
#include "t/lib/cable.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * The link goes down and comes back, the address goes, frames become smaller,
 * packets are lost: each has an error message or, where it may, no effect,
 * and the context is as good as before.  The far side is a process of its own
 * at the other end of a cable.
 */
#define LEN (4u << 20)
#define PART (64u << 10)
#define PARTS 24
#define BACK (LEN / 2)		/* what is sent back is taken from there on */
#define TURNS (cable_is_rxe() ? 20 : 100)	/* emulated, it is slow */
/* Of the heap, in all turns but the first. */
#define GROWTH ((cable_is_rxe() ? 24u : 64u) << 10)

static struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 16,	/* with those whose peer is unreachable */
	.keepalive_ms = 50,
	.connect_timeout_ms = PEER_LIMIT_MS,
};

/* Of those that are to live on while nothing gets through, or little does. */
static struct pier_rdma_config patient = {
	.size = sizeof(patient),
	.max_conns = 4,
	.keepalive_ms = PIER_ZERO,
	.connect_timeout_ms = PEER_LIMIT_MS,
};

static struct pier_dev *dev;
static struct peer me;
static struct pair far;

static bool begin(int end, const struct pier_rdma_config *cfg)
{
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(cable_device(end), &dev), 0) &&
	       peer_open(&me, dev, NULL, cfg, LEN);
}

static void end(void)
{
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* Without the last one's. */
static bool meet(struct pair *pair)
{
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
	return peer_meet(&me, pair);
}

/* From @at on. */
static bool take_all(size_t at, struct pier_buf *tail[PARTS], int status[PARTS])
{
	int i;

	for (i = 0; i < PARTS; i++) {
		status[i] = -EINPROGRESS;
		tail[i] = peer_tail(&me, at + i * PART, PART);
		if (!IS(pier_rdma_receive(me.rdma, tail[i], peer_done,
					  &status[i]), 0))
			return false;
	}
	return true;
}

static bool send_all(struct pier_buf *data[PARTS])
{
	int status[PARTS], i;
	bool held = true;

	for (i = 0; i < PARTS; i++) {
		status[i] = -EINPROGRESS;
		held &= IS(pier_rdma_send(me.conn, data[i], peer_done,
					  &status[i]), 0);
	}
	for (i = 0; i < PARTS; i++)
		held &= IS(peer_await(&status[i]), 0);
	return held;
}

/*
 * Take as many messages as there are, and send them back.  That they have
 * arrived is not yet that this side knows it: their last ACK may be lost, and
 * this side says when none is left to be cancelled by a disconnect.
 */
static bool echo(struct pair *pair)
{
	struct pier_buf *tail[PARTS];
	int status[PARTS], i;
	bool held = take_all(0, tail, status) && pair_send(pair, "ok", 2);

	for (i = 0; i < PARTS && held; i++)
		held = IS(peer_await(&status[i]), 0);
	held = held && send_all(tail) && pair_send(pair, "ok", 2);
	for (i = 0; i < PARTS; i++)
		pier_buf_put(tail[i]);
	return held;
}

static bool do_order(struct pair *pair, char order)
{
	switch (order) {
	case 'm':
		return meet(pair);
	case 'o':
		return echo(pair);
	case 's':		/* small frames, large ones */
	case 'l':
		return cable_run("ip link set f1 mtu %d",
				 order == 's' ? 1500 : 9000) &&
		       pair_send(pair, "ok", 2);
	case 'p':		/* with patience, without, and not at all */
	case 'i':
		end();
		return begin(1, order == 'p' ? &patient : &config);
	case 'c':
		end();
		return true;
	default:
		return false;
	}
}

/* The far side obeys orders of one letter. */
static int obey(struct pair *pair, void *arg)
{
	char order[4];

	(void)arg;
	if (!cable_enter_far() || !pair_send(pair, "ok", 2) ||
	    pair_recv(pair, order, sizeof(order)) != 1 || !cable_lay_far() ||
	    !pair_send(pair, "ok", 2))
		return 1;
	while (pair_recv(pair, order, sizeof(order)) == 1)
		if (!do_order(pair, order[0]))
			return 1;
	end();
	return 0;
}

static bool tell(char order)
{
	return OK(pair_send(&far, &order, 1));
}

static bool reply(void)
{
	char word[4];

	return OK(pair_recv(&far, word, sizeof(word)) == 2);
}

/* A cable, and both sides with @cfg connected. */
static bool come_together(const struct pier_rdma_config *cfg)
{
	pair_start(&far, obey, NULL);
	return reply() && cable_lay(far.pid) && tell('l') && reply() &&
	       (cable_is_rxe() || cable_plug(0)) &&
	       tell(cfg == &patient ? 'p' : 'i') && begin(0, cfg) &&
	       tell('m') && meet(&far);
}

static void part(void)
{
	end();
	tell('c');
	IS(pair_wait(&far), 0);
	cable_cut();
}

static bool read_one(void)
{
	struct pier_buf *near = peer_tail(&me, 0, PART);
	struct pier_buf *data = peer_far_data(&me, 0, PART);
	int status = -EINPROGRESS;
	bool held;

	held = IS(pier_rdma_read(me.conn, data, near, peer_done, &status), 0) &&
	       IS(peer_await(&status), 0);
	if (!held)
		tap_note("%s", pier_conn_error_text(me.conn));
	pier_buf_put(data);
	pier_buf_put(near);
	return held;
}

/* The connection ends with @err; its error message has both parts. */
static bool ends(int err, const char *part, const char *other)
{
	return peer_conn(me.conn, PIER_CONN_ERROR) &&
	       IS(pier_conn_error(me.conn), err) &&
	       LIKE(pier_conn_error_text(me.conn), part) &&
	       LIKE(pier_conn_error_text(me.conn), other);
}

/* The device's error when it cannot send. */
static bool ends_mute(int err, const char *other)
{
	if (cable_is_rxe())
		return ends(err, "keepalive to 10.9.5.2 QPN 0x", other) &&
		       LIKE(pier_conn_error_text(me.conn), "the local device "
			    "could not execute the request; ");
	return ends(-PIER_ERETRY, "keepalive to 10.9.5.2 QPN 0x", other) &&
	       LIKE(pier_conn_error_text(me.conn), "the peer does not answer: "
		    "it has died, or the network is down; ");
}

static bool refuses(int err, const char *part)
{
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	return IS(pier_rdma_export(me.rdma, &desc, &len, &conn), err) &&
	       LIKE(pier_last_error(), part);
}

/* Until the device here has noticed. */
static bool usable(void)
{
	long long limit = limit_from_now();
	struct pier_conn *conn;
	const void *desc;
	size_t len;

	while (pier_rdma_export(me.rdma, &desc, &len, &conn))
		if (!peer_step(limit))
			return false;
	pier_conn_destroy(conn);
	return true;
}

/* Until exporting from @peer returns @want. */
static bool export_becomes(struct peer *peer, int want)
{
	long long limit = limit_from_now();
	struct pier_conn *conn;
	const void *desc;
	size_t len;
	int err;

	do {
		err = pier_rdma_export(peer->rdma, &desc, &len, &conn);
		if (!err)
			pier_conn_destroy(conn);
	} while (err != want && peer_step(limit));
	return IS(err, want);
}

static const char *down(void)
{
	static char text[96];

	snprintf(text, sizeof(text), "%s port 1 is down: bring f0 up",
		 cable_device(0));
	return text;
}

static void a_link_down_for_a_moment_ends_nothing_idle(void)
{
	if (!come_together(&patient))
		goto out_part;
	OK(cable_run("ip link set f0 down"));
	export_becomes(&me, -ENETDOWN);
	OK(cable_run("ip link set f0 up"));
	OK(usable());
	OK(read_one());
	IS(pier_conn_state(me.conn), PIER_CONN_CONNECTED);
out_part:
	part();
}

/* Once: the loop below does it many times. */
static bool down_and_up(void)
{
	if (!read_one() || !cable_run("ip link set f0 down") ||
	    !ends_mute(-ENETDOWN, down()) || !refuses(-ENETDOWN, down()) ||
	    !cable_run("ip link set f0 up") || !usable())
		return false;
	return tell('m') && meet(&far);
}

static void a_link_that_stays_down_is_named(void)
{
	if (!come_together(&config))
		goto out_part;
	OK(down_and_up());
	OK(read_one());
out_part:
	part();
}

static bool address_away_and_back(void)
{
	return read_one() && cable_run("ip addr del 10.9.5.1/24 dev f0") &&
	       ends(-EADDRNOTAVAIL, "the address 10.9.5.1, from which the "
		    "connection to 10.9.5.2 QPN 0x", " was made, is no longer "
		    "one of f0: it was removed or has expired") &&
	       cable_run("ip addr add 10.9.5.1/24 dev f0") && usable() &&
	       tell('m') && meet(&far);
}

static void an_address_that_goes_is_named(void)
{
	if (!come_together(&config))
		goto out_part;
	OK(address_away_and_back());
	OK(read_one());
out_part:
	part();
}

/* Frames of the near or of the far end. */
static bool resize(bool near, bool large)
{
	if (near)
		return cable_run("ip link set f0 mtu %d",
				 large ? 9000 : 1500) && usable();
	return tell(large ? 'l' : 's') && reply();
}

/* A read: with a write Linux 6.1's Soft-RoCE never gives up. */
static bool read_fails(const char *of)
{
	struct pier_buf *near = peer_tail(&me, 0, PART);
	struct pier_buf *data = peer_far_data(&me, 0, PART);
	int status = -EINPROGRESS;
	bool held;

	held = IS(pier_rdma_read(me.conn, data, near, peer_done, &status), 0) &&
	       IS(peer_await(&status), -PIER_ERETRY) &&
	       ends(-PIER_ERETRY, "read to 10.9.5.2 QPN 0x", of);
	pier_buf_put(data);
	pier_buf_put(near);
	return held;
}

/* Once both devices have noticed. */
static bool meet_with(uint32_t mtu)
{
	struct pier_conn_path path = { 0 };
	int i;

	for (i = 0; i < 100 && path.mtu != mtu; i++)
		if (!tell('m') || !meet(&far) ||
		    !IS(pier_conn_path(me.conn, &path), 0))
			return false;
	return IS(path.mtu, mtu);
}

/* The context was never given an MTU: it is the port's. */
static bool has_mtu(uint32_t mtu)
{
	struct pier_rdma_config cfg;

	pier_rdma_get_config(me.rdma, &cfg);
	return IS(cfg.mtu, mtu);
}

/* What is connected while one end is small suits both. */
static bool frames_too_small(bool near)
{
	char of[96] = ", path MTU 4096)";

	if (near)
		snprintf(of, sizeof(of), "the path MTU is 4096, but that "
			 "of %s is now 1024", cable_device(0));
	return read_one() && resize(near, false) && read_fails(of) &&
	       meet_with(1024) && has_mtu(near ? 1024 : 4096) && read_one() &&
	       resize(near, true) && meet_with(4096) && has_mtu(4096);
}

static void frames_that_become_too_small_are_named(void)
{
	if (!come_together(&config))
		goto out_part;
	OK(frames_too_small(true));
	OK(frames_too_small(false));
	OK(read_one());
out_part:
	part();
}

static bool away_and_back(int i)
{
	return i % 2 ? down_and_up() : address_away_and_back();
}

static bool small_and_large(int i)
{
	return frames_too_small(i % 2);
}

static void again_and_again(bool (*turn)(int i))
{
	size_t heap = 0;
	int i, fds = 0;

	if (!come_together(&config))
		goto out_part;
	for (i = 0; i < TURNS && turn(i); i++) {
		if (i != 1)
			continue;
		fds = cable_fds();
		heap = cable_heap();
	}
	IS(i, TURNS);
	IS(cable_fds(), fds);
	if (!OK(cable_heap() < heap + GROWTH))
		tap_note("%zu bytes, %zu after the first turns",
			 cable_heap(), heap);
out_part:
	part();
}

static void the_context_is_usable_again_and_again(void)
{
	again_and_again(away_and_back);
}

static void small_frames_are_survived_again_and_again(void)
{
	again_and_again(small_and_large);
}

/* Written there, read back, sent and sent back: every byte is the same. */
static bool all_ways(unsigned int seed)
{
	struct pier_buf *near, *tail[PARTS], *data[PARTS];
	int status[PARTS], i;
	bool held = true;

	peer_fill(&me, seed);
	for (i = 0; i < PARTS; i++) {
		near = peer_data(&me, i * PART, PART);
		tail[i] = peer_far_tail(&me, i * PART, PART);
		status[i] = -EINPROGRESS;
		held &= IS(pier_rdma_write(me.conn, near, tail[i], peer_done,
					   &status[i]), 0);
		pier_buf_put(near);
		pier_buf_put(tail[i]);
	}
	for (i = 0; i < PARTS; i++)
		held &= IS(peer_await(&status[i]), 0);
	memset(me.mem, 0, LEN);
	for (i = 0; i < PARTS; i++) {
		near = peer_far_data(&me, i * PART, PART);
		tail[i] = peer_tail(&me, i * PART, PART);
		status[i] = -EINPROGRESS;
		held &= IS(pier_rdma_read(me.conn, near, tail[i], peer_done,
					  &status[i]), 0);
		pier_buf_put(near);
		pier_buf_put(tail[i]);
	}
	for (i = 0; i < PARTS; i++)
		held &= IS(peer_await(&status[i]), 0);
	if (!held || !peer_holds(&me, 0, PARTS * PART, seed, 0) ||
	    !tell('o') || !reply())
		return false;
	for (i = 0; i < PARTS; i++)
		data[i] = peer_data(&me, i * PART, PART);
	held = take_all(BACK, tail, status) && send_all(data);
	for (i = 0; i < PARTS; i++) {
		held &= IS(peer_await(&status[i]), 0);
		pier_buf_put(tail[i]);
		pier_buf_put(data[i]);
	}
	return held && peer_holds(&me, BACK, PARTS * PART, seed, 0) && reply();
}

/*
 * A hundred packets or so are few enough that one of a hundred may be none:
 * as often as it takes.
 */
static bool all_ways_lossy(int percent)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		if (!all_ways((unsigned int)(percent + i)))
			return false;
		if (cable_has_lost())
			return true;
	}
	return false;
}

static void lost_packets_lose_no_byte(void)
{
	static const int percent[] = { 1, 3, 5 };
	size_t i;

	if (!come_together(&patient))
		goto out_part;
	for (i = 0; i < sizeof(percent) / sizeof(*percent); i++) {
		if (!cable_lose(percent[i])) {
			tap_skip("packets cannot be lost here");
			break;
		}
		if (!OK(all_ways_lossy(percent[i])))
			break;
	}
out_part:
	part();
}

static bool address_is_seen(struct pier_dev *opened)
{
	long long limit = limit_from_now();
	struct pier__port port;
	uint32_t before;

	pier__dev_port(opened, &port);
	before = port.gid_count;
	if (!OK(cable_run("ip addr add 10.9.5.77/24 dev f0")))
		return false;
	while (port.gid_count == before && peer_step(limit))
		pier__dev_port(opened, &port);
	return IS(port.gid_count, before + 1);
}

/* pier does not read the device's events: the program does. */
static void the_port_of_a_device_of_the_program_is_followed(void)
{
	struct pier_dev *second;
	struct ibv_pd *pd, *own;

	if (!cable_is_rxe()) {
		tap_note("%s", "no verbs: no domain");
		return;
	}
	memset(&me, 0, sizeof(me));
	if (!cable_lay(0) || !IS(pier_dev_open(cable_device(0), &dev), 0) ||
	    !IS(pier_dev_pd(dev, &pd), 0))
		return;
	own = ibv_alloc_pd(pd->context);
	if (OK(own) && IS(pier_dev_open_pd(own, 1, &second), 0) &&
	    peer_open(&me, second, NULL, &config, LEN)) {
		address_is_seen(second);
		export_becomes(&me, 0);
		OK(cable_run("ip link set f0 down"));
		export_becomes(&me, -ENETDOWN);
		OK(cable_run("ip link set f0 up"));
		export_becomes(&me, 0);
		peer_close(&me);
		pier_dev_close(second);
		IS(ibv_dealloc_pd(own), 0);
	}
	pier_dev_close(dev);
	dev = NULL;
	cable_cut();
}

int main(void)
{
	const char *reason = cable_enter();

	config.ack_timeout = limit_ack_timeout(13);	/* 34 ms */
	patient.ack_timeout = limit_ack_timeout(15);	/* 134 ms */
	if (reason)
		return tap_skip_all(reason);
	TEST(a_link_down_for_a_moment_ends_nothing_idle);
	TEST(a_link_that_stays_down_is_named);
	TEST(an_address_that_goes_is_named);
	TEST(frames_that_become_too_small_are_named);
	TEST(the_port_of_a_device_of_the_program_is_followed);
	TEST(the_context_is_usable_again_and_again);
	TEST(small_frames_are_survived_again_and_again);
	TEST(lost_packets_lose_no_byte);
	return tap_done();
}
