/* SPDX-License-Identifier: BSD-2-Clause */
/* Further sockets of a channel: bound ones, listeners', UDP port 4791. */
#include <errno.h>
#include <sys/epoll.h>

#include "core/fail.h"
#include "core/roce.h"
#include "core/sockaddr.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/io/helper.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/rc/qpn.h"

/* The further sockets of a channel. */
#define BOUND_MAX 8		/* of them, on its own port */

static struct soft_chan_sock *free_place(struct soft_chan *chan)
{
	int i;

	for (i = 0; i < SOFT_EXTRA_SOCKS; i++)
		if (!chan->extra[i].io)
			return &chan->extra[i];
	return NULL;
}

/* @sock becomes @io, which is bound to @ip unless that is unspecified. */
static int adopt(struct soft_chan *chan, struct soft_chan_sock *sock,
		 struct soft_io *io, const struct in6_addr *ip)
{
	int fd = pier__soft_udp_fd(io), err;

	err = chan->armed ? pier__soft_chan_watch(chan, fd) : 0;
	if (err) {
		pier__soft_udp_destroy(io);	/* and out of the sets */
		return err;
	}

	pier__soft_ep_add_io(chan->ep, io);
	sock->seen = (struct soft_sock_seen){ 0 };
	sock->io = io;
	sock->ip = *ip;
	sock->fd = fd;
	if (sock - chan->extra >= chan->extra_end)
		chan->extra_end = (int)(sock - chan->extra) + 1;
	pier__soft_helper_check(chan);
	return 0;
}

/* The socket of multicast groups, which stays open. */
static int group_sock_open(struct soft_chan *chan)
{
	const struct soft_fdev *soft = (struct soft_fdev *)chan->chan.fdev;
	struct soft_chan_sock *sock = free_place(chan);
	struct soft_io *io;
	int err;

	if (chan->group_sock)
		return 0;
	if (!sock)
		return pier__fail(-EMFILE, "no place for a socket of multicast "
				  "besides %d others", SOFT_EXTRA_SOCKS);
	err = pier__soft_udp_create_group(SOFT_GROUP_PORT, soft->ifindex, &io);
	if (!err)
		err = adopt(chan, sock, io, &in6addr_any);
	if (!err)
		chan->group_sock = sock;
	return err;
}

/* The sockets of @chan are in @group, or no longer. */
static int join(struct soft_chan *chan, const struct in6_addr *group)
{
	int err = pier__soft_udp_join(chan->group_sock->io, group, true);

	if (err)
		return err;
	pier__soft_chan_roce_port_want(chan, &chan->group_port_used);
	if (chan->roce_sock)
		pier__soft_udp_join(chan->roce_sock->io, group, true);
	return 0;
}

static void leave(struct soft_chan *chan, const struct in6_addr *group)
{
	pier__soft_udp_join(chan->group_sock->io, group, false);
	if (chan->roce_sock)
		pier__soft_udp_join(chan->roce_sock->io, group, false);
	if (pier__list_empty(&chan->ep->groups))
		pier__soft_chan_roce_port_give(chan, &chan->group_port_used);
}

int pier__soft_chan_join(struct soft_chan *chan, struct soft_qp *qp,
			 const struct in6_addr *group)
{
	int err = 0;

	if (!pier__sockaddr_is_group(group))
		return pier__fail(-EINVAL, "an address of no multicast group");
	if (pier__soft_group_has(qp, group))
		return 0;
	err = group_sock_open(chan);
	if (!err && !pier__soft_group_users(chan->ep, group))
		err = join(chan, group);
	if (err)
		return err;
	err = pier__soft_group_attach(qp, group);
	if (err && !pier__soft_group_users(chan->ep, group))
		leave(chan, group);
	return err;
}

bool pier__soft_chan_leave(struct soft_chan *chan, struct soft_qp *qp,
			   const struct in6_addr *group)
{
	if (!pier__soft_group_detach(qp, group))
		return false;
	if (!pier__soft_group_users(chan->ep, group))
		leave(chan, group);
	return true;
}

void pier__soft_chan_leave_all(struct soft_chan *chan, struct soft_qp *qp)
{
	struct in6_addr group;

	while (pier__soft_group_of(qp, &group))
		pier__soft_chan_leave(chan, qp, &group);
}

int pier__soft_chan_sock_open(struct soft_chan *chan, const struct in6_addr *ip,
			      uint16_t port, struct soft_chan_sock **ret)
{
	const struct soft_fdev *soft = (struct soft_fdev *)chan->chan.fdev;
	struct soft_chan_sock *sock = free_place(chan);
	struct soft_io *io;
	int err;

	if (!sock)
		return pier__fail(-EMFILE,
				  "UDP port %u besides %d others: at "
				  "most %d",
				  port, SOFT_EXTRA_SOCKS, SOFT_EXTRA_SOCKS);
	err = pier__soft_udp_create(ip, port, soft->ifindex, &io);
	if (!err)
		err = adopt(chan, sock, io, &in6addr_any);
	if (err)
		return err;
	*ret = sock;
	return 0;
}

/* Few: listeners fail without a free place. */
int pier__soft_chan_bound(struct soft_chan *chan, const struct in6_addr *ip,
			  struct soft_io **ret)
{
	struct soft_chan_sock *sock;
	int i, bound = 0, err;
	struct soft_io *io;

	for (i = 0; i < chan->extra_end; i++) {
		sock = &chan->extra[i];
		if (!sock->io || IN6_IS_ADDR_UNSPECIFIED(&sock->ip))
			continue;
		if (IN6_ARE_ADDR_EQUAL(&sock->ip, ip)) {
			*ret = sock->io;
			return 0;
		}
		bound++;
	}
	sock = free_place(chan);
	err = -EMFILE;
	if (sock && bound < BOUND_MAX && !IN6_IS_ADDR_LINKLOCAL(ip))
		err = pier__soft_udp_create_bound(chan->io, ip, &io);
	if (!err)
		err = adopt(chan, sock, io, ip);
	if (err == -ENOMEM)
		return err;
	*ret = err ? chan->io : io;
	return 0;
}

/* Closing it takes it out of the sets. */
void pier__soft_chan_sock_close(struct soft_chan *chan,
				struct soft_chan_sock *sock)
{
	pier__soft_chan_publish(chan);	/* what it has counted so far */
	pier__soft_ep_remove_io(chan->ep, sock->io);
	if (chan->unwatched == sock->fd)
		chan->unwatched = -1;
	pier__soft_udp_destroy(sock->io);
	sock->io = NULL;
}

/* It is in the groups that there are; the kernel ignores a second join. */
static int roce_sock_open(struct soft_chan *chan)
{
	struct pier__list *pos, *tmp;
	int err = 0;

	if (chan->roce_sock)
		return 0;
	err = pier__soft_chan_sock_open(chan, &in6addr_any, ROCE_UDP_PORT,
					&chan->roce_sock);
	if (err)
		return err;
	PIER__LIST_EACH(pos, tmp, &chan->ep->groups)
		pier__soft_udp_join(chan->roce_sock->io,
				    pier__soft_group_at(pos), true);
	return 0;
}

/*
 * One socket of a network namespace has port 4791: its packets are
 * distinguished by QPN only, and endpoints, also of one process, choose QPNs
 * independently.
 */
int pier__soft_chan_roce_port_hold(struct soft_chan *chan)
{
	int err = roce_sock_open(chan);

	if (err == -EADDRINUSE)
		return pier__fail(err, "UDP port %u is taken, and the peer, a "
				  "RoCE device, sends to no other: "
				  "unload rdma_rxe, end the other process or "
				  "context that talks to such peers, or use "
				  "a network namespace of its own",
				  ROCE_UDP_PORT);
	if (!err)
		chan->roce_port_held = true;
	return err;
}

bool pier__soft_chan_roce_port_use(struct soft_chan *chan, bool on)
{
	if (!on) {
		chan->roce_port_users--;
		return true;
	}
	if (roce_sock_open(chan))
		return false;
	chan->roce_port_users++;
	return true;
}

void pier__soft_chan_roce_port_close(struct soft_chan *chan)
{
	if (!chan->roce_sock || chan->roce_port_held || chan->roce_port_users)
		return;
	pier__soft_chan_sock_close(chan, chan->roce_sock);
	chan->roce_sock = NULL;
}

void pier__soft_chan_roce_port_want(struct soft_chan *chan, bool *used)
{
	if (*used || pier__soft_is_loopback(chan->chan.fdev))
		return;
	*used = pier__soft_chan_roce_port_use(chan, true);
	if (!*used)
		pier__log(PIER_LOG_INFO, "soft", "datagrams of RoCE devices "
			  "do not arrive: UDP port %u is taken",
			  ROCE_UDP_PORT);
}

void pier__soft_chan_roce_port_give(struct soft_chan *chan, bool *used)
{
	if (!*used)
		return;
	*used = false;
	pier__soft_chan_roce_port_use(chan, false);
	pier__soft_chan_roce_port_close(chan);
}
