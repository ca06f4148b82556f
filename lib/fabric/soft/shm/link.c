/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets by shared memory, and which QPs send them. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/device_access.h"
#include "core/random.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/pull.h"
#include "fabric/soft/shm/region.h"

/* For the QP @to of the receiver, from its peer @from: not for the wire. */
struct hello {
	uint32_t from, to;
	struct in6_addr from_ip, to_ip;
	uint32_t is_answer;
};

_Static_assert(sizeof(struct hello) <= SOFT_RING_FIRST, "one cell");
_Static_assert(SOFT_HDR_MAX + SOFT_JOIN_MAX <= SOFT_RING_RECORD_MAX,
	       "one record");

/*
 * What may be in flight: it fits into the ring, as a packet has more bytes in
 * the window than in cells, and one more at the ring's end.
 */
#define WINDOW ((SOFT_RING_CELLS - SOFT_RING_SPARE) * SOFT_RING_CELL - \
		2 * SOFT_RING_RECORD_MAX)

static uint64_t link_now(struct soft_io *io)
{
	(void)io;
	return pier__now();
}

static void put_packet(struct soft_link *link, const struct soft_tx *tx,
		       uint8_t *to, uint32_t len)
{
	uint8_t *end = to + tx->hdr_len;
	uint32_t i;

	memcpy(to, tx->hdr, tx->hdr_len);
	pier__device_access_begin();
	for (i = 0; i < tx->iov_count; i++) {
		memcpy(end, tx->iov[i].iov_base, tx->iov[i].iov_len);
		end += tx->iov[i].iov_len;
	}
	pier__device_access_end();
	memset(end, 0, tx->pad);
	pier__soft_ring_put(&link->out, tx->joined ? SOFT_RECORD_JOINED :
						     SOFT_RECORD_PACKET, len);
}

static void put_offer(struct soft_link *link, const struct soft_tx *tx,
		      uint8_t *to, uint32_t len)
{
	pier__soft_pull_put(tx, to);
	pier__soft_ring_put(&link->out, SOFT_RECORD_PULL, len);
}

static uint32_t record_len(const struct soft_tx *tx)
{
	return tx->pull ? pier__soft_pull_len(tx) :
			  tx->hdr_len + tx->payload_len + tx->pad;
}

static int link_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct soft_link *link = (struct soft_link *)io;
	uint32_t len;
	uint8_t *to;
	int i;

	if (link->state != SOFT_LINK_UP)
		return count;
	for (i = 0; i < count; i++) {
		len = record_len(&tx[i]);
		to = pier__soft_ring_reserve(&link->out, len, SOFT_RING_SPARE);
		if (!to)
			break;
		if (tx[i].pull)
			put_offer(link, &tx[i], to, len);
		else
			put_packet(link, &tx[i], to, len);
	}
	pier__soft_link_ring(link);
	return i;
}

static uint8_t *link_reserve(struct soft_io *io, uint32_t len)
{
	struct soft_link *link = (struct soft_link *)io;

	if (link->state != SOFT_LINK_UP)
		return NULL;
	return pier__soft_ring_reserve(&link->out, len, SOFT_RING_SPARE);
}

static void link_put(struct soft_io *io, uint32_t len)
{
	struct soft_link *link = (struct soft_link *)io;

	pier__soft_ring_put(&link->out, SOFT_RECORD_PACKET, len);
	link->unrung = true;
}

static void link_ring(struct soft_io *io)
{
	struct soft_link *link = (struct soft_link *)io;

	if (link->unrung && link->state == SOFT_LINK_UP)
		pier__soft_link_ring(link);
}

/* shm.c receives. */
static int link_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	(void)io;
	(void)rx;
	(void)max;
	return 0;
}

static void link_ended(struct soft_io *io, struct soft_qp *qp)
{
	struct soft_link *link = (struct soft_link *)io;

	if (qp->req.una != qp->req.max)
		pier__soft_pull_withdraw(link);
	pier__soft_grants_end_qp(link, qp);
	pier__soft_imports_end_qp(link, qp);
}

static const struct soft_io_ops link_ops = {
	.now = link_now,
	.send = link_send,
	.recv = link_recv,
	.reserve = link_reserve,
	.put = link_put,
	.ring = link_ring,
	.direct = pier__soft_import_direct,
	.granted = pier__soft_import_granted,
	.ended = link_ended,
	.pulls = pier__soft_pull_is_offered,
	.pull = pier__soft_pull,
};

bool pier__soft_link_has_ended(const struct soft_link *link)
{
	struct pollfd fds[] = {
		{ .fd = link->sock, .events = POLLRDHUP },
		{ .fd = link->pidfd, .events = POLLIN },
	};

	return poll(fds, 2, 0) > 0;
}

bool pier__soft_link_is(const struct soft_io *io)
{
	return io->ops == &link_ops;
}

/*
 * The peer sets asleep, and looks for records after that.  A full socket is
 * readable as well.
 */
void pier__soft_link_ring(struct soft_link *link)
{
	uint32_t asleep;

	link->unrung = false;
	atomic_thread_fence(memory_order_seq_cst);
	asleep = atomic_load_explicit(&link->in.peer->asleep,
				      memory_order_relaxed);
	if (!(asleep & 1) || asleep == link->rung)
		return;
	link->rung = asleep;
	pier__soft_add(link->ep->counters, SOFT_COUNTER(shm_wakes), 1);
	send(link->sock, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool is_ready(const struct soft_qp *qp)
{
	return !qp->ud && (qp->state == IBV_QPS_RTR ||
			   qp->state == IBV_QPS_RTS ||
			   qp->state == IBV_QPS_SQD);
}

/* Returns false if there is no space for it: by UDP, then. */
static bool send_hello(struct soft_link *link, const struct soft_qp *qp,
		       bool is_answer)
{
	const struct hello hello = {
		.from = qp->qpn,
		.to = qp->dest_qpn,
		.from_ip = qp->src.ip,
		.to_ip = qp->cwnd->addr.ip,
		.is_answer = is_answer,
	};
	uint8_t *to;

	if (link->state != SOFT_LINK_UP)
		return false;
	to = pier__soft_ring_reserve(&link->out, sizeof(hello),
				     SOFT_RING_ANSWERS);
	if (!to)
		return false;
	memcpy(to, &hello, sizeof(hello));
	pier__soft_ring_put(&link->out, SOFT_RECORD_HELLO, sizeof(hello));
	pier__soft_link_ring(link);
	return true;
}

void pier__soft_link_greet(struct soft_link *link, struct soft_qp *qp)
{
	if (is_ready(qp))
		send_hello(link, qp, false);
}

/* Both ends have this QP in common: numbers, addresses and ports. */
static bool is_of(const struct soft_link *link, const struct hello *hello,
		  const struct soft_qp *qp)
{
	return is_ready(qp) && qp->dest_qpn == hello->from &&
	       qp->cwnd->addr.port == link->port &&
	       IN6_ARE_ADDR_EQUAL(&qp->cwnd->addr.ip, &hello->from_ip) &&
	       IN6_ARE_ADDR_EQUAL(&qp->src.ip, &hello->to_ip);
}

void pier__soft_link_hello(struct soft_link *link, const uint8_t *data,
			   uint32_t len)
{
	struct hello hello;
	struct soft_qp *qp;

	if (len != sizeof(hello))
		return;
	memcpy(&hello, data, sizeof(hello));
	qp = pier__soft_table_find(link->ep, hello.to & SOFT_PSN_MASK);
	if (!qp || !is_of(link, &hello, qp))
		return;
	if (!hello.is_answer && !send_hello(link, qp, true))
		return;
	if (qp->io == &link->io)
		return;
	pier__soft_count(qp, SOFT_COUNTER(shm_connected));
	qp->io = &link->io;
	pier__soft_cwnd_fix(qp->cwnd, WINDOW);
}

int pier__soft_link_create(struct soft_ep *ep, int sock, uint16_t port,
			   struct soft_link **ret)
{
	struct soft_link *link = calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	if (pier__soft_grants_create(&link->grants) ||
	    pier__soft_imports_create(&link->imports)) {
		free(link->grants);
		free(link);
		return -ENOMEM;
	}
	link->io.ops = &link_ops;
	link->io.port = ep->io->port;
	link->io.shared = true;
	link->ep = ep;
	link->active = port;
	link->port = port;
	link->sock = sock;
	link->pidfd = -1;
	link->probe = pier__random64();
	*ret = link;
	return 0;
}

/* Asleep until the endpoint has the link: the peer's first record rings. */
int pier__soft_link_open(struct soft_link *link, int *fd)
{
	int err = pier__soft_region_create(&link->out.own, fd);

	if (err)
		return err;
	link->in.own = link->out.own;
	atomic_store_explicit(&link->in.own->asleep, 1, memory_order_relaxed);
	return 0;
}

void pier__soft_link_destroy(struct soft_link *link)
{
	pier__soft_grants_destroy(link);
	pier__soft_imports_destroy(link->imports);
	pier__soft_region_unmap(link->out.own);
	if (link->in.peer != link->out.own)
		pier__soft_region_unmap(link->in.peer);
	if (link->pidfd >= 0)
		close(link->pidfd);
	/* A child of a fork may hold it, and the peer must see its end. */
	shutdown(link->sock, SHUT_RDWR);
	close(link->sock);
	free(link);
}

void pier__soft_link_up(struct soft_link *link, const struct soft_ring *ring)
{
	link->out.peer = ring;
	link->in.peer = ring;
	link->state = SOFT_LINK_UP;
}

void pier__soft_link_up_self(struct soft_link *link)
{
	pier__soft_link_up(link, link->out.own);
}
