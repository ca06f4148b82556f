/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "core/clock.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/rc/cwnd.h"
#include "fabric/soft/shm/link.h"
#include "t/lib/counted.h"
#include "t/lib/forbid.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Data that the receiver reads from the memory of the sender's process. */
#define LEN (1u << 20)
#define HALF 65536		/* at least */

static struct pier_dev *dev;
static struct peer a, b;

static void use_device(void)
{
	peer_own_memory = false;
	setenv("PIER_SHM", "auto", 1);
	IS(pier_dev_open("soft_lo", &dev), 0);
}

static bool are_connected(const struct peer *peer)
{
	long long limit = limit_from_now();

	while (!counted_conn(peer->conn, "shm_connected") && peer_step(limit))
		;
	return OK(counted_conn(peer->conn, "shm_connected"));
}

/* Two peers in this process, joined by shared memory. */
static bool begin(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .ack_timeout = 22,
	};

	use_device();
	return peer_pair(&a, &b, dev, &cfg, LEN) && are_connected(&a) &&
	       are_connected(&b);
}

static void end(void)
{
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	dev = NULL;
}

static struct soft_qp *qp_of(const struct peer *peer)
{
	return pier__soft_table_find(chan_of(peer->conn->queues->chan)->ep,
				     peer->conn->qp->qpn);
}

/* A write of @a to the same place of @b. */
static int put(size_t off, size_t len)
{
	struct pier_buf *src = peer_data(&a, off, len);
	struct pier_buf *dst = peer_far_tail(&a, off, len);
	int status = -EINPROGRESS, err;

	err = pier_rdma_write(a.conn, src, dst, peer_done, &status);
	if (!err)
		err = peer_await(&status);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int message(size_t off, size_t len)
{
	struct pier_buf *src = peer_data(&a, off, len);
	struct pier_buf *dst = peer_tail(&b, off, len);
	int sent = -EINPROGRESS, got = -EINPROGRESS, err;

	IS(pier_rdma_receive(b.rdma, dst, peer_done, &got), 0);
	err = pier_rdma_send(a.conn, src, peer_done, &sent);
	if (!err)
		err = peer_await(&sent);
	if (!err)
		err = peer_await(&got);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static void is_moved(int (*move)(size_t off, size_t len), size_t len)
{
	uint64_t before = counted_conn(b.conn, "shm_pulled");

	peer_fill(&a, 1);
	peer_fill(&b, 2);
	IS(move(7, len), 0);
	OK(peer_holds(&b, 7, len, 1, 7));
	OK(peer_holds(&b, 0, 7, 2, 0));
	OK(peer_holds(&b, 7 + len, LEN - 7 - len, 2, 7 + len));
	IS(counted_conn(b.conn, "shm_pulled") > before, len >= SOFT_PULL_MIN);
}

static void long_messages_are_read_from_the_sender(void)
{
	static const size_t lens[] = {
		1, SOFT_PULL_MIN - 1, SOFT_PULL_MIN, SOFT_PULL_MIN + 1, 100000,
		SOFT_PULL_MAX, SOFT_PULL_MAX + 1,
		SOFT_PULL_MAX + SOFT_PULL_MIN, LEN - 7,
	};
	size_t i;

	if (begin())
		for (i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
			is_moved(put, lens[i]);
			is_moved(message, lens[i]);
		}
	end();
}

/* Send what @a has posted, while the caller holds the endpoint of @b. */
static void drive_sender(void)
{
	struct soft_ep *ep = qp_of(&a)->ep;

	pier__soft_ep_enter(ep);
	pier__soft_ep_drive(ep);
	pier__soft_ep_leave(ep);
}

/* What was sent again would be read from memory that is unmapped. */
static void repeat_late(void)
{
	struct soft_qp *qp = qp_of(&a);

	pier__soft_ep_enter(qp->ep);
	qp->cwnd->rtt = 10000 * PIER__MS;
	pier__soft_ep_leave(qp->ep);
}

/* A write from memory of which what is @off bytes behind is unmapped then. */
static void fails_without(size_t off)
{
	struct pier_buf *src = NULL, *dst;
	struct pier_mmap *local = NULL;
	uint64_t faults, ended;
	int status = -EINPROGRESS;
	struct soft_ep *ep;
	uint8_t *mem;

	if (begin()) {
		faults = counted_dev(dev, "shm_pull_faults");
		ended = counted_dev(dev, "shm_ended");
		ep = qp_of(&b)->ep;
		mem = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		IS(pier_mmap_map(dev, mem, 2 * HALF, PIER_LOCAL_WRITE, &local),
		   0);
		IS(pier_buf_by_args(a.inv, local, mem, 2 * HALF, mem, 2 * HALF,
				    &src), 0);
		dst = peer_far_tail(&a, 0, 2 * HALF);
		pier__soft_ep_enter(ep);
		repeat_late();
		IS(pier_rdma_write(a.conn, src, dst, peer_done, &status), 0);
		drive_sender();
		munmap(mem + off, 2 * HALF - off);
		pier__soft_ep_leave(ep);
		IS(peer_await(&status), -PIER_EREMOP);
		IS(counted_dev(dev, "shm_pull_faults"), faults + 1);
		IS(counted_dev(dev, "shm_ended"), ended);
		pier_buf_put(src);
		pier_buf_put(dst);
		pier_mmap_destroy(local);
		munmap(mem, off);
	}
	end();
}

static void data_that_were_unmapped_fail_the_request(void)
{
	fails_without(0);
}

static void data_of_which_a_part_was_unmapped_fail_the_request(void)
{
	fails_without(HALF);
}

/* The sender uses the memory for other data. */
static void a_message_of_a_failed_queue_pair_is_not_received(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *src, *dst;
	struct soft_ep *ep;
	uint64_t pulled;

	if (begin()) {
		pulled = counted_dev(dev, "shm_pulled");
		ep = qp_of(&b)->ep;
		src = peer_data(&a, 0, SOFT_PULL_MIN);
		dst = peer_tail(&b, 0, SOFT_PULL_MIN);
		IS(pier_rdma_receive(b.rdma, dst, peer_done, &got), 0);
		pier__soft_ep_enter(ep);
		IS(pier_rdma_send(a.conn, src, peer_done, &sent), 0);
		drive_sender();
		pier__soft_ep_enter(qp_of(&a)->ep);
		pier__soft_qp_fail(qp_of(&a), IBV_WC_RETRY_EXC_ERR);
		pier__soft_ep_leave(qp_of(&a)->ep);
		peer_fill(&a, 9);
		pier__soft_ep_leave(ep);
		IS(peer_await(&sent), -PIER_ERETRY);
		peer_drive_quietly(20);
		OK(got);
		IS(counted_dev(dev, "shm_pulled"), pulled);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	end();
}

/* The kernel lets this process read no other from now on. */
static bool refuse(void)
{
	return forbid(SYS_process_vm_readv, EPERM);
}

static int without(struct pair *pair, void *arg)
{
	(void)pair;
	(void)arg;
	OK(refuse());
	if (begin()) {
		IS(counted_dev(dev, "shm_pull_refused"), 2);
		IS(put(0, LEN), 0);
		IS(message(0, LEN), 0);
		IS(counted_dev(dev, "shm_pulled"), 0);
	}
	end();
	return 0;
}

static int without_since(struct pair *pair, void *arg)
{
	(void)pair;
	(void)arg;
	if (begin()) {
		IS(put(0, LEN), 0);
		OK(counted_dev(dev, "shm_pulled") > 0);
		OK(refuse());
		peer_fill(&a, 1);
		IS(put(0, LEN), 0);
		OK(peer_holds(&b, 0, LEN, 1, 0));
		IS(message(0, LEN), 0);
		IS(counted_dev(dev, "shm_pull_refused"), 1);
	}
	end();
	return 0;
}

static void where_it_is_refused_data_come_by_the_ring(void)
{
	static struct pair pairs[2];

	pair_start(&pairs[0], without, NULL);
	IS(pair_wait(&pairs[0]), 0);
	pair_start(&pairs[1], without_since, NULL);
	IS(pair_wait(&pairs[1]), 0);
}

/* Sends when it is to, and waits to be killed. */
static int sender(struct pair *pair, void *arg)
{
	int status = -EINPROGRESS;
	char byte;

	(void)arg;
	use_device();
	if (!peer_open(&a, dev, NULL, NULL, LEN) || !peer_meet(&a, pair) ||
	    !are_connected(&a))
		return 1;
	peer_fill(&a, 1);
	pair_recv(pair, &byte, 1);
	IS(pier_rdma_write(a.conn, peer_data(&a, 0, LEN),
			   peer_far_tail(&a, 0, LEN), peer_done, &status), 0);
	drive_sender();
	pair_send(pair, "", 1);
	peer_serve();
}

static void nothing_is_read_of_a_process_that_was_killed(void)
{
	static struct pair pair;
	long long limit = limit_from_now();
	struct soft_ep *ep;
	char byte;

	pair_start(&pair, sender, NULL);
	use_device();
	if (OK(peer_open(&b, dev, NULL, NULL, LEN)) &&
	    OK(peer_meet(&b, &pair)) && are_connected(&b)) {
		ep = qp_of(&b)->ep;
		pier__soft_ep_enter(ep);
		pair_send(&pair, "", 1);
		IS(pair_recv(&pair, &byte, 1), 1);
		pair_kill(&pair);
		pier__soft_ep_leave(ep);
		while (!counted_dev(dev, "shm_ended") && peer_step(limit))
			;
		IS(counted_dev(dev, "shm_ended"), 1);
		IS(counted_dev(dev, "shm_pulled"), 0);
		IS(counted_dev(dev, "shm_pull_refused"), 0);
	}
	peer_close(&b);
	pier_dev_close(dev);
}

int main(void)
{
	TEST(nothing_is_read_of_a_process_that_was_killed);
	TEST(where_it_is_refused_data_come_by_the_ring);
	TEST(long_messages_are_read_from_the_sender);
	TEST(data_that_were_unmapped_fail_the_request);
	TEST(data_of_which_a_part_was_unmapped_fail_the_request);
	TEST(a_message_of_a_failed_queue_pair_is_not_received);
	return tap_done();
}
