/* SPDX-License-Identifier: BSD-2-Clause */
/* The helper's part of shared memory: links are made, and end. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/pull.h"
#include "fabric/soft/shm/shm.h"

#define EVENTS 16
#define DRAIN_ROUNDS 1024	/* a full ring of small packets has fewer */

void pier__soft_shm_count(struct soft_shm *shm, int err)
{
	size_t counter = SOFT_COUNTER(shm_limits);

	/* A peer that hangs up without reading a greeting resets. */
	if (err == -ECONNREFUSED || err == -ECONNRESET || err == -EPIPE)
		counter = SOFT_COUNTER(shm_absent);
	else if (err == -EACCES || err == -ESRCH)
		counter = SOFT_COUNTER(shm_foreign);
	else if (err == -EPROTONOSUPPORT)
		counter = SOFT_COUNTER(shm_versions);
	else if (err == -EPROTO || err == -EADDRINUSE)
		counter = SOFT_COUNTER(shm_nonsense);
	pier__soft_add(shm->ep->counters, counter, 1);
}

/* The counters belong to the thread that has the endpoint. */
static void failed(struct soft_shm *shm, int err)
{
	pier__soft_ep_enter_helper(shm->ep);
	pier__soft_shm_count(shm, err);
	pier__soft_ep_leave(shm->ep);
}

static int watch(const struct soft_shm *shm, int fd, uint32_t events,
		 struct soft_link *link)
{
	struct epoll_event ev = { .events = events, .data.ptr = link };

	if (!epoll_ctl(shm->control_fd, EPOLL_CTL_MOD, fd, &ev) ||
	    !epoll_ctl(shm->control_fd, EPOLL_CTL_ADD, fd, &ev))
		return 0;
	return -errno;
}

/*
 * Out of the sets first: a child of a fork may hold the descriptors, and then
 * closing them does not do that.
 */
static void destroy(struct soft_shm *shm, struct soft_link *link)
{
	epoll_ctl(shm->bell_fd, EPOLL_CTL_DEL, link->sock, NULL);
	epoll_ctl(shm->control_fd, EPOLL_CTL_DEL, link->sock, NULL);
	if (link->pidfd >= 0)
		epoll_ctl(shm->control_fd, EPOLL_CTL_DEL, link->pidfd, NULL);
	pier__soft_link_destroy(link);
}

/* A link over @sock, which it owns even if this fails. */
static int begin(struct soft_shm *shm, int sock, uint16_t port,
		 struct soft_link **ret)
{
	struct soft_link *link;
	int err;

	err = shm->greetings < SOFT_LINKS ? 0 : -EMFILE;
	if (!err)
		err = pier__soft_link_create(shm->ep, sock, port, &link);
	if (err) {
		close(sock);
		return err;
	}
	link->pidfd = pier__soft_attach_pidfd(sock);
	err = link->pidfd < 0 ? link->pidfd
			      : watch(shm, sock, EPOLLIN | EPOLLRDHUP, link);
	if (!err)
		err = watch(shm, link->pidfd, EPOLLIN, link);
	if (err) {
		destroy(shm, link);
		return err;
	}
	shm->greeting[shm->greetings++] = link;
	*ret = link;
	return 0;
}

/* Make our memory, and give it to the peer. */
static int give(struct soft_shm *shm, struct soft_link *link)
{
	struct soft_greeting greeting = { .from = shm->ep->io->port };
	int fd, err;

	err = pier__soft_link_open(link, &fd);
	if (err)
		return err;
	greeting.to = link->port;
	greeting.probe_at = (uintptr_t)&link->probe;
	greeting.probe = link->probe;
	err = pier__soft_attach_greet(link->sock, greeting, fd);
	close(fd);
	return err;
}

static void forget_greeting(struct soft_shm *shm, const struct soft_link *link)
{
	int i = 0;

	while (shm->greeting[i] != link)
		i++;
	shm->greeting[i] = shm->greeting[--shm->greetings];
}

static void abandon(struct soft_shm *shm, struct soft_link *link)
{
	forget_greeting(shm, link);
	destroy(shm, link);
}

/* Is there a link to @port, or an attempt? */
static bool is_attached(const struct soft_shm *shm, uint16_t port)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i]->port == port)
			return true;
	for (i = 0; i < shm->greetings; i++)
		if (shm->greeting[i]->port == port)
			return true;
	return false;
}

static void greet_one(struct soft_qp *qp, void *arg)
{
	struct soft_link *link = arg;

	if (qp->cwnd && qp->cwnd->addr.port == link->port)
		pier__soft_link_greet(link, qp);
}

/* The endpoint has @link from now on. */
static int install(struct soft_shm *shm, struct soft_link *link)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = link->sock };

	if (shm->links == SOFT_LINKS ||
	    epoll_ctl(shm->bell_fd, EPOLL_CTL_ADD, link->sock, &ev))
		return -EMFILE;
	if (!shm->asleep)
		atomic_store_explicit(&link->in.own->asleep, 2,
				      memory_order_relaxed);
	shm->link[shm->links++] = link;
	pier__soft_table_each(shm->ep, greet_one, link);
	return 0;
}

static int hand_over(struct soft_shm *shm, struct soft_link *link)
{
	int err;

	pier__soft_ep_enter_helper(shm->ep);
	err = install(shm, link);
	pier__soft_ep_leave(shm->ep);
	return err;
}

/* QPs of this endpoint that are connected to each other. */
static int attach_self(struct soft_shm *shm)
{
	int sock = pier__soft_attach_self(), fd, err;
	struct soft_link *link;

	if (sock < 0)
		return sock;
	err = pier__soft_link_create(shm->ep, sock, shm->ep->io->port, &link);
	if (err) {
		close(sock);
		return err;
	}
	err = pier__soft_link_open(link, &fd);
	if (!err) {
		close(fd);
		pier__soft_link_up_self(link);
		err = hand_over(shm, link);
	}
	if (err)
		destroy(shm, link);
	return err;
}

static int attach(struct soft_shm *shm, uint16_t port)
{
	struct soft_link *link;
	int sock, err;

	sock = pier__soft_attach_connect(port);
	if (sock < 0)
		return sock;
	err = begin(shm, sock, port, &link);
	if (err)
		return err;
	err = give(shm, link);
	if (err)
		abandon(shm, link);
	return err;
}

static void attach_wanted(struct soft_shm *shm)
{
	uint16_t wanted[SOFT_LINKS];
	int i, n, err;

	if (!atomic_load_explicit(&shm->wanted_count, memory_order_relaxed))
		return;
	pier__soft_ep_enter_helper(shm->ep);
	n = shm->wanted_count;
	memcpy(wanted, shm->wanted, sizeof(wanted));
	shm->wanted_count = 0;
	pier__soft_ep_leave(shm->ep);
	for (i = 0; i < n; i++) {
		if (is_attached(shm, wanted[i]))
			continue;
		err = wanted[i] == shm->ep->io->port ? attach_self(shm)
						     : attach(shm, wanted[i]);
		if (err)
			failed(shm, err);
	}
}

static void accept_some(struct soft_shm *shm)
{
	struct soft_link *link;
	int sock, err;

	sock = accept4(shm->listen_fd, NULL, NULL,
		       SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (sock < 0 && (errno == EAGAIN || errno == EINTR ||
			 errno == ECONNABORTED))
		return;
	/* Without descriptors none is taken before a link has ended. */
	if (sock < 0)
		epoll_ctl(shm->control_fd, EPOLL_CTL_DEL, shm->listen_fd, NULL);
	err = sock < 0 ? -EMFILE : begin(shm, sock, 0, &link);
	if (err)
		failed(shm, err);
}

/*
 * A request that waits for the peer fails; what was idle is left alone.  A QP
 * that sends by UDP may share a window with those of the link.
 */
static void revert_one(struct soft_qp *qp, void *arg)
{
	const struct soft_link *link = arg;

	if (qp->cwnd && qp->cwnd->fixed && qp->cwnd->addr.port == link->port)
		pier__soft_cwnd_fix(qp->cwnd, 0);
	if (qp->io != &link->io)
		return;
	qp->io = qp->wire;
	if (qp->req.una != qp->req.max || qp->req.waiting)
		pier__soft_qp_fail(qp, IBV_WC_RETRY_EXC_ERR);
}

/* What the peer has written is received first. */
static void drop(struct soft_shm *shm, struct soft_link *link)
{
	int i = 0;

	while (shm->link[i] != link)
		i++;
	shm->link[i] = shm->link[--shm->links];
	shm->next = 0;
	pier__soft_table_each(shm->ep, revert_one, link);
	destroy(shm, link);
	pier__soft_add(shm->ep->counters, SOFT_COUNTER(shm_ended), 1);
	if (shm->listen_fd >= 0)
		watch(shm, shm->listen_fd, EPOLLIN, NULL);
}

static void end(struct soft_shm *shm, struct soft_link *link)
{
	int i;

	pier__soft_ep_enter_helper(shm->ep);
	link->ended = true;
	for (i = 0; i < DRAIN_ROUNDS && pier__soft_ep_drive(shm->ep); i++)
		;
	drop(shm, link);
	pier__soft_ep_leave(shm->ep);
	shm->ended = true;
}

/* The link to @port, of a process that may have ended, makes place. */
static int replace(struct soft_shm *shm, uint16_t port)
{
	int i;

	for (i = 0; i < shm->links; i++) {
		if (shm->link[i]->port != port)
			continue;
		if (!pier__soft_link_has_ended(shm->link[i]))
			return -EPROTO;
		end(shm, shm->link[i]);
		break;
	}
	return 0;
}

static int greeted(struct soft_shm *shm, struct soft_link *link)
{
	const struct soft_ring *ring;
	struct soft_greeting greeting = { .from = link->port,
					  .to = shm->ep->io->port };
	uint16_t own = greeting.to;
	int err;

	err = pier__soft_attach_receive(link->sock, &greeting, &ring);
	if (err)
		return err;
	link->port = greeting.from;
	pier__soft_link_up(link, ring);
	err = replace(shm, link->port);
	if (!err && !link->active)
		err = link->port < own ? give(shm, link) : -EPROTO;
	if (!err)
		err = watch(shm, link->sock, EPOLLRDHUP, link);
	if (err)	/* -EAGAIN is of a greeting that has not come */
		return err == -EAGAIN ? -ENOMEM : err;
	pier__soft_pull_probe(link, greeting.probe_at, greeting.probe);
	return hand_over(shm, link);
}

static void on_greeting(struct soft_shm *shm, struct soft_link *link)
{
	int err = greeted(shm, link);

	if (!err) {
		forget_greeting(shm, link);
	} else if (err != -EAGAIN || pier__soft_link_has_ended(link)) {
		abandon(shm, link);
		failed(shm, err == -EAGAIN ? -ECONNREFUSED : err);
	}
}

static bool is_greeting(const struct soft_shm *shm,
			const struct soft_link *link)
{
	int i;

	for (i = 0; i < shm->greetings; i++)
		if (shm->greeting[i] == link)
			return true;
	return false;
}

static bool is_link(const struct soft_shm *shm, const struct soft_link *link)
{
	int i;

	for (i = 0; i < shm->links; i++)
		if (shm->link[i] == link)
			return true;
	return false;
}

/* An event may be of a link that an earlier one has ended. */
static void on_event(struct soft_shm *shm, struct soft_link *link)
{
	if (!link)
		accept_some(shm);
	else if (is_greeting(shm, link))
		on_greeting(shm, link);
	else if (is_link(shm, link) && pier__soft_link_has_ended(link))
		end(shm, link);
}

bool pier__soft_shm_run(struct soft_shm *shm)
{
	struct epoll_event ev[EVENTS];
	int i, n;

	shm->ended = false;
	attach_wanted(shm);
	n = epoll_wait(shm->control_fd, ev, EVENTS, 0);
	for (i = 0; i < n; i++)
		on_event(shm, ev[i].data.ptr);
	return shm->ended;
}
