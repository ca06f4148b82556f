/* SPDX-License-Identifier: BSD-2-Clause */
/* What is received from all links, and when the endpoint sleeps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/rc/short.h"
#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/pull.h"
#include "fabric/soft/shm/shm.h"

#define ICRC_LEN 4		/* which packets of a ring lack */
#define EVENTS 16
/* In one call, of a peer that does not stop. */
#define HELLOS 32

static uint64_t shm_now(struct soft_io *io)
{
	(void)io;
	return pier__now();
}

static int shm_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	(void)io;
	(void)tx;
	return count;
}

/*
 * A packet of @link as one of the network.  What is checked is read from a
 * copy; of a long one that is the headers, and its data are only copied.
 */
static void take_packet(struct soft_link *link,
			const struct soft_record *record, uint8_t *copy,
			struct soft_rx *ret)
{
	uint32_t len = record->len;

	*ret = (struct soft_rx){
		.data = len > SOFT_SHM_COPY ? record->data : copy,
		.front = copy,
		.len = len + ICRC_LEN,
		.joined = record->kind == SOFT_RECORD_JOINED,
		.via = &link->io,
	};
	memcpy(copy, record->data, len > SOFT_SHM_COPY ? SOFT_HDR_MAX : len);
}

/*
 * The same of one whose data are elsewhere.  Returns false if it makes no
 * sense.
 */
static bool take_offer(struct soft_link *link,
		       const struct soft_record *record, uint8_t *copy,
		       struct soft_pull *pull, struct soft_rx *ret)
{
	uint32_t n;

	if (record->len > SOFT_SHM_COPY)
		return false;
	memcpy(copy, record->data, record->len);
	n = pier__soft_pull_take(copy, record->len, pull);
	pull->io = &link->io;
	*ret = (struct soft_rx){
		.data = copy + n,
		.pull = pull,
		.len = record->len - n + ICRC_LEN,
		.via = &link->io,
	};
	return n;
}

/* Returns false if it is a packet. */
static bool take_control(struct soft_link *link,
			 const struct soft_record *record)
{
	switch (record->kind) {
	case SOFT_RECORD_HELLO:
		pier__soft_link_hello(link, record->data, record->len);
		return true;
	case SOFT_RECORD_ASK:
		pier__soft_grant_asked(link, record->data, record->len);
		return true;
	case SOFT_RECORD_GIVEN:
		pier__soft_import_given(link, record->data, record->len);
		return true;
	case SOFT_RECORD_REVOKED:
		pier__soft_imports_revoked(link);
		return true;
	default:
		return false;
	}
}

/* A record of one cell, of which the whole cell is copied. */
static bool give_short(struct soft_link *link, const struct soft_record *record)
{
	uint8_t copy[SOFT_RING_FIRST];

	if (record->len > sizeof(copy))
		return false;
	memcpy(copy, record->data, sizeof(copy));
	return pier__soft_short_receive(link->ep, &link->io, copy,
					record->len);
}

/* Returns how many packets there were. */
static int give(struct soft_link *link, const struct soft_record *record)
{
	uint8_t copy[SOFT_SHM_COPY];
	struct soft_pull pull;
	struct soft_rx rx;

	if (record->kind == SOFT_RECORD_PACKET && give_short(link, record))
		return 1;
	if (record->kind == SOFT_RECORD_PACKET ||
	    record->kind == SOFT_RECORD_JOINED)
		take_packet(link, record, copy, &rx);
	else if (take_control(link, record) ||
		 !take_offer(link, record, copy, &pull, &rx))
		return 0;
	pier__soft_ep_packet(link->ep, &rx);
	return 1;
}

static void __attribute__((noinline, cold)) broken(struct soft_link *link)
{
	link->state = SOFT_LINK_BROKEN;
	pier__soft_add(link->ep->counters, SOFT_COUNTER(shm_nonsense), 1);
	shutdown(link->sock, SHUT_RDWR);	/* wakes the helper */
}

/* Returns how many packets there were. */
static int receive(struct soft_link *link, int max)
{
	struct soft_record record;
	int n = 0, got = 0, left = max + HELLOS;

	if (link->state != SOFT_LINK_UP)
		return 0;
	while (n < max && left--) {
		got = pier__soft_ring_take(&link->in, &record);
		if (got <= 0)
			break;
		if (!n)
			pier__soft_ep_look(link->ep);
		n += give(link, &record);
	}
	if (got < 0)
		broken(link);
	pier__soft_ring_release(&link->in);
	return n;
}

static void ring_all(const struct soft_shm *shm)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i]->unrung && shm->link[i]->state == SOFT_LINK_UP)
			pier__soft_link_ring(shm->link[i]);
}

/* From one link at a time: those before it wait for the next call. */
static int shm_deliver(struct soft_io *io, int max)
{
	struct soft_shm *shm = (struct soft_shm *)io;
	int i, at = shm->next, n = 0;

	if (max > SOFT_SHM_BATCH)
		max = SOFT_SHM_BATCH;
	ring_all(shm);
	for (i = 0; i < shm->links && !n; i++) {
		if (at >= shm->links)
			at = 0;
		n = receive(shm->link[at++], max);
	}
	if (n)
		shm->next = at;
	return n;
}

/* Packets are delivered. */
static int shm_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	(void)io;
	(void)rx;
	(void)max;
	return 0;
}

static const struct soft_io_ops shm_ops = {
	.now = shm_now,
	.send = shm_send,
	.recv = shm_recv,
	.deliver = shm_deliver,
};

static struct soft_link *find(const struct soft_shm *shm, uint16_t port)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i]->port == port &&
		    shm->link[i]->state == SOFT_LINK_UP)
			return shm->link[i];
	return NULL;
}

/* Returns whether it was added: run() will attach. */
static bool want(struct soft_shm *shm, uint16_t port)
{
	int i;

	for (i = 0; i < shm->wanted_count; i++)
		if (shm->wanted[i] == port)
			return false;
	if (i == SOFT_LINKS) {
		pier__soft_add(shm->ep->counters, SOFT_COUNTER(shm_limits), 1);
		return false;
	}
	shm->wanted[shm->wanted_count++] = port;
	return true;
}

bool pier__soft_shm_connected(struct soft_shm *shm, struct soft_qp *qp)
{
	uint16_t port = qp->cwnd->addr.port;
	struct soft_link *link = find(shm, port);

	if (shm->mode == PIER_SHM_REQUIRE)
		pier__soft_qp_send_by(qp, &shm->none);
	if (link)
		pier__soft_link_greet(link, qp);
	return !link && shm->ep->io->port <= port && want(shm, port);
}

/*
 * Each time with another value, so that who has rung for the last one rings
 * again.
 */
static void set_asleep(struct soft_shm *shm, bool asleep)
{
	uint32_t value;
	int i;

	for (i = 0; i < shm->links; i++) {
		struct soft_ring *own = shm->link[i]->in.own;

		value = atomic_load_explicit(&own->asleep,
					     memory_order_relaxed);
		if ((value & 1) != asleep)
			atomic_store_explicit(&own->asleep, value + 1,
					      memory_order_relaxed);
	}
	shm->asleep = asleep;
}

static bool any_ready(const struct soft_shm *shm)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i]->state == SOFT_LINK_UP &&
		    pier__soft_ring_ready(&shm->link[i]->in))
			return true;
	return false;
}

bool pier__soft_shm_sleep(struct soft_shm *shm)
{
	if (!shm->asleep)
		set_asleep(shm, true);
	atomic_thread_fence(memory_order_seq_cst);
	return any_ready(shm);
}

/* A socket that has ended would stay readable. */
static void drain(const struct soft_shm *shm, int sock)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i]->sock == sock &&
		    !pier__soft_imports_drain(shm->link[i]))
			epoll_ctl(shm->bell_fd, EPOLL_CTL_DEL, sock, NULL);
}

void pier__soft_shm_wake(struct soft_shm *shm)
{
	struct epoll_event ev[EVENTS];
	int i, n;

	if (!shm->asleep)
		return;
	set_asleep(shm, false);
	n = epoll_wait(shm->bell_fd, ev, EVENTS, 0);
	for (i = 0; i < n; i++)
		drain(shm, ev[i].data.fd);
}

/* What the kernel frees, or shares with the parent, is left alone. */
void pier__soft_shm_forked(struct soft_shm *shm)
{
	int i;

	for (i = 0; i < shm->links; i++)
		shm->link[i]->state = SOFT_LINK_BROKEN;
}

/* A thread that takes memory back holds the endpoint, and does not drive it. */
static void revoke_mr(void *arg, struct soft_mr *mr)
{
	struct soft_shm *shm = arg;
	int i;

	for (i = 0; i < shm->links; i++) {
		if (atomic_load_explicit(&mr->offered, memory_order_relaxed))
			pier__soft_pull_withdraw(shm->link[i]);
		pier__soft_grants_end_mr(shm->link[i], mr);
	}
}

static int open_fds(struct soft_shm *shm)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = pier__soft_attach_listen(shm->ep->io->port);

	shm->listen_fd = fd < 0 ? -1 : fd;
	shm->bell_fd = epoll_create1(EPOLL_CLOEXEC);
	shm->control_fd = epoll_create1(EPOLL_CLOEXEC);
	if (shm->bell_fd < 0 || shm->control_fd < 0)
		return pier__fail(-errno, "shared memory: epoll_create: %s",
				  pier_strerror(errno));
	if (fd < 0)
		pier__soft_shm_count(shm, fd);
	else
		epoll_ctl(shm->control_fd, EPOLL_CTL_ADD, fd, &ev);
	return 0;
}

int pier__soft_shm_create(struct soft_ep *ep, enum pier_shm mode,
			  struct soft_shm **ret)
{
	struct soft_shm *shm;
	int err;

	*ret = NULL;
	if (mode == PIER_SHM_OFF)
		return 0;
	shm = calloc(1, sizeof(*shm));
	if (!shm)
		return pier__fail(-ENOMEM, "no memory for shared memory");
	shm->io.ops = &shm_ops;
	shm->io.port = ep->io->port;
	shm->io.shared = true;
	shm->none = (struct soft_io){ .ops = &shm_ops, .port = shm->io.port };
	shm->ep = ep;
	shm->mode = mode;
	err = open_fds(shm);
	if (err) {
		pier__soft_shm_destroy(shm);
		return err;
	}
	pier__soft_ep_enter(ep);	/* keys are removed at any time */
	pier__soft_ep_add_io(ep, &shm->io);
	ep->user.arg = shm;
	ep->user.revoke = revoke_mr;
	pier__soft_ep_leave(ep);
	*ret = shm;
	return 0;
}

void pier__soft_shm_destroy(struct soft_shm *shm)
{
	int i;

	if (!shm)
		return;
	pier__soft_ep_enter(shm->ep);
	shm->ep->user.revoke = NULL;
	for (i = 0; i < shm->links; i++)
		pier__soft_link_destroy(shm->link[i]);
	pier__soft_ep_leave(shm->ep);
	for (i = 0; i < shm->greetings; i++)
		pier__soft_link_destroy(shm->greeting[i]);
	if (shm->listen_fd >= 0)
		close(shm->listen_fd);
	if (shm->bell_fd >= 0)
		close(shm->bell_fd);
	if (shm->control_fd >= 0)
		close(shm->control_fd);
	free(shm);
}
