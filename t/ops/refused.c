/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/counted.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * A request that the device of a peer refuses ends the connection there, too.
 * The peer's program has no task that fails and no keepalive: it is called
 * nevertheless, with the reason.  Not every device of verbs reports it, rxe
 * does not: there the next request of the peer's program fails.
 */
#define LEN 16384

static struct pier_dev *dev;
static struct peer a, b;

static const struct pier_rdma_config no_probes = {
	.size = sizeof(no_probes), .keepalive_ms = PIER_ZERO,
};

/* The state of b's connection that its program was called with. */
static int b_state;

static void note_state(struct pier_conn *conn, enum pier_conn_state prev,
		       enum pier_conn_state next, void *arg)
{
	(void)conn;
	(void)prev;
	(void)arg;
	b_state = (int)next;
}

static bool open_pair(void)
{
	b_state = -1;
	if (!peer_open(&a, dev, NULL, &no_probes, LEN) ||
	    !peer_open(&b, dev, NULL, &no_probes, LEN) || !peer_join(&a, &b))
		return false;
	pier_conn_set_state_changed(b.conn, note_state);
	return true;
}

static bool is_soft(void)
{
	return !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
}

/* b's program was called, with the reason; @text is that of a soft device. */
static void b_has_failed(const char *text)
{
	long long limit = limit_from_now();

	while (b_state < 0 && peer_step(limit))
		;
	IS(b_state, PIER_CONN_ERROR);
	IS(pier_conn_error(b.conn), -ECONNRESET);
	LIKE(pier_conn_error_text(b.conn), is_soft() ? text :
	     "it refused a request of the peer's");
}

/* A request of b's own, on a device that may report nothing. */
static void b_tries(void)
{
	int status = -EINPROGRESS, err;

	if (is_soft())
		return;
	err = pier_rdma_send(b.conn, NULL, peer_done, &status);
	if (err)
		IS(err, -ENOTCONN);	/* it has reported it */
	else
		IS(peer_await(&status), -ECANCELED);
}

static void write_far(struct pier_buf *near, struct pier_buf *far, int *status)
{
	IS(pier_rdma_write(a.conn, near, far, peer_done, status), 0);
}

static void read_far(struct pier_buf *near, struct pier_buf *far, int *status)
{
	IS(pier_rdma_read(a.conn, far, near, peer_done, status), 0);
}

/* b revokes its export, then @op on it fails; @text is b's error message. */
static void revoked(void (*op)(struct pier_buf *near, struct pier_buf *far,
			       int *status),
		    bool writes, const char *text)
{
	struct pier_buf *near, *far;
	int status = -EINPROGRESS;

	if (open_pair()) {
		near = writes ? peer_data(&a, 0, 100) : peer_tail(&a, 0, 100);
		far = writes ? peer_far_tail(&a, 64, 100) :
			       peer_far_data(&a, 64, 100);
		IS(pier_mmap_stop(b.mmap), 0);
		op(near, far, &status);
		IS(peer_await(&status), -PIER_EREMACCESS);
		b_tries();
		b_has_failed(text);
		pier_buf_put(far);
		pier_buf_put(near);
	}
	peer_unpair(&a, &b);
}

static void a_refused_write_is_reported_to_the_program_of_the_peer(void)
{
	revoked(write_far, true, "it refused a write of the peer's, 100 "
		"bytes at 0x");
}

static void a_refused_read_is_reported_to_the_program_of_the_peer(void)
{
	revoked(read_far, false, "it refused a read of the peer's, 100 bytes "
		"at 0x");
}

/* Its engine makes no call while the request is refused. */
static void a_program_that_sleeps_is_woken(void)
{
	long long limit = limit_from_now();
	struct pier_buf *near, *far;
	int status = -EINPROGRESS;

	if (open_pair()) {
		near = peer_data(&a, 0, 8);
		far = peer_far_tail(&a, 0, 8);
		IS(pier_mmap_stop(b.mmap), 0);
		write_far(near, far, &status);
		while (status == -EINPROGRESS && limit_nap(limit))
			pier_pe_progress(a.pe, 16);
		IS(status, -PIER_EREMACCESS);
		b_tries();
		while (b_state < 0 && limit_holds(limit))
			pier_pe_wait(b.pe, PEER_LIMIT_MS);
		b_has_failed("with rkey 0x");
		pier_buf_put(far);
		pier_buf_put(near);
	}
	peer_unpair(&a, &b);
}

/* The error message of @conn has @before, @size and @after in this order. */
static void has(const struct pier_conn *conn, const char *before, size_t size,
		const char *after)
{
	char part[100];

	snprintf(part, sizeof(part), "%s%zu%s", before, size, after);
	LIKE(pier_conn_error_text(conn), part);
}

/*
 * What the receiver knows of a message of @len bytes: by UDP its first packet
 * or two; by shared memory it arrives as a whole.
 */
static void has_arrived(size_t len)
{
	bool whole = len < 1000 || counted_conn(a.conn, "shm_sent");

	if (whole)
		has(b.conn, "the message, ", len, " bytes, is longer than");
	else
		LIKE(pier_conn_error_text(b.conn), "the message, at least ");
}

/* A message of @len bytes, for a shorter receive. */
static void too_long(size_t len, size_t capacity)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *src, *dst;

	if (open_pair()) {
		src = peer_data(&a, 0, len);
		dst = peer_tail(&b, 0, capacity);
		IS(pier_rdma_receive(b.rdma, dst, peer_done, &got), 0);
		IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
		peer_await(&sent);	/* rxe has another NAK than the rest */
		OK(sent == -PIER_EREMINVAL ||
		   (!is_soft() && sent == -PIER_EREMOP));
		IS(peer_await(&got), -EMSGSIZE);
		has(a.conn, "send of ", len, " bytes to ");
		has(b.conn, "receive of at most ", capacity, " bytes to ");
		if (is_soft()) {
			has(a.conn, "too long for the peer's receive of at "
			    "most ", capacity, " bytes");
			has_arrived(len);
		}
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	peer_unpair(&a, &b);
}

static void a_message_that_is_too_long_has_both_sizes_at_both_ends(void)
{
	too_long(101, 100);
}

static void one_of_several_packets_has_the_size_that_had_arrived(void)
{
	too_long(LEN, 5000);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_refused_write_is_reported_to_the_program_of_the_peer);
	TEST(a_refused_read_is_reported_to_the_program_of_the_peer);
	TEST(a_program_that_sleeps_is_woken);
	TEST(a_message_that_is_too_long_has_both_sizes_at_both_ends);
	TEST(one_of_several_packets_has_the_size_that_had_arrived);
	pier_dev_close(dev);
	return tap_done();
}
