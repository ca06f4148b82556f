/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/roce.h"
#include "core/sockaddr.h"
#include "fabric/soft/cm/soft_cm.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/soft.h"

/*
 * The fabric's calls of connection management: the one of cm/soft_cm.h on a
 * channel's endpoint, with a socket for each listener.  It exists as long as
 * the channel: DREQ of a released id is retransmitted after the release.
 */
#define PORT_PROBES_MAX 32	/* open sockets for them */

struct soft_chan_cm {
	struct pier__cm cm;		/* first; fd is an eventfd, owned */
	struct soft_cm_host host;
	struct soft_cm *machine;	/* owned */
	bool used;			/* by the program */
	uint8_t mtu;			/* code, most of a connection */
	bool rung;			/* fd is readable */
	pier__soft_cm_take *take;	/* NULL: next() reports events */
	unsigned int port_probes;	/* open sockets */
};

struct soft_listener {
	struct soft_cm_listener in;	/* first */
	struct soft_chan_sock *sock;	/* on its address and port, shared */
					/* with one of the other kind; NULL: */
					/* on 4791's */
};

static struct soft_chan_cm *cm_of(struct pier__cm *cm)
{
	return (struct soft_chan_cm *)cm;
}

static struct soft_chan_cm *host_cm(struct soft_cm_host *host)
{
	return pier__container_of(host, struct soft_chan_cm, host);
}

static int host_gid(struct soft_cm_host *host, const struct in6_addr *ip)
{
	return pier__soft_gid_index(host_cm(host)->cm.chan->fdev, ip);
}

static bool host_instead(struct soft_cm_host *host, const struct in6_addr *ip,
			 struct in6_addr *ret)
{
	return pier__soft_address_like(host_cm(host)->cm.chan->fdev, ip, ret);
}

static bool host_roce_port(struct soft_cm_host *host, bool on)
{
	struct soft_chan *chan = chan_of(host_cm(host)->cm.chan);

	return pier__soft_chan_roce_port_use(chan, on);
}

static bool host_port_probe(struct soft_cm_host *host,
			    const struct in6_addr *src,
			    const struct soft_addr *dst, void **state)
{
	struct soft_chan_cm *cm = host_cm(host);
	struct soft_fdev *soft = (struct soft_fdev *)cm->cm.chan->fdev;
	int fd;

	if (!*state) {
		if (cm->port_probes == PORT_PROBES_MAX)
			return false;
		fd = pier__soft_port_probe_open(soft->ifindex, src, dst);
		if (fd < 0)
			return false;
		*state = (void *)(intptr_t)(fd + 1);
		cm->port_probes++;
	}
	return pier__soft_port_probe((int)(intptr_t)*state - 1);
}

static void host_port_probe_end(struct soft_cm_host *host, void *state)
{
	close((int)(intptr_t)state - 1);
	host_cm(host)->port_probes--;
}

static void host_notify(struct soft_cm_host *host)
{
	struct soft_chan_cm *cm = host_cm(host);
	struct pier__cm_event event;

	while (cm->take && !pier__soft_cm_next(cm->machine, &event))
		if (!cm->take(&cm->cm, &event))
			pier__soft_cm_lose(&event);
	if (cm->take || cm->rung)
		return;
	eventfd_write(cm->cm.fd, 1);	/* a full one is readable as well */
	cm->rung = true;
}

static const struct soft_cm_host_ops host_ops = {
	.gid = host_gid,
	.instead = host_instead,
	.roce_port = host_roce_port,
	.port_probe = host_port_probe,
	.port_probe_end = host_port_probe_end,
	.notify = host_notify,
};

/* Freed with the channel, when no thread drives it any more. */
static void cm_free(struct soft_chan_cm *cm)
{
	pier__soft_cm_destroy(cm->machine);
	close(cm->cm.fd);
	free(cm);
}

static int cm_new(struct soft_chan *chan)
{
	struct soft_chan_cm *cm = calloc(1, sizeof(*cm));
	int err;

	if (!cm)
		return pier__fail(-ENOMEM, "no memory for connection "
				  "management");
	cm->cm.chan = &chan->chan;
	cm->host.ops = &host_ops;
	cm->cm.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cm->cm.fd < 0) {
		err = pier__fail(-errno, "no file descriptor for connection "
				 "management: %s", pier_strerror(errno));
		goto err_free;
	}
	pier__soft_chan_begin(chan);
	err = pier__soft_cm_create(chan->ep, &cm->host, &cm->machine);
	pier__soft_chan_end(chan, 0);
	if (err)
		goto err_close;
	pier__soft_cm_owner(cm->machine, &cm->cm);
	chan->cm = cm;
	chan->cm_free = cm_free;
	return 0;

err_close:
	close(cm->cm.fd);
err_free:
	free(cm);
	return err;
}

static int soft_cm_create(struct pier__chan *pchan, enum ibv_mtu mtu,
			  struct pier__cm **ret)
{
	struct soft_chan *chan = chan_of(pchan);
	int err;

	if (chan->cm && chan->cm->used)
		return pier__fail(-EBUSY, "a channel has one connection "
				  "management");
	err = chan->cm ? 0 : cm_new(chan);
	if (err)
		return err;

	chan->cm->used = true;
	chan->cm->mtu = (uint8_t)mtu;
	*ret = &chan->cm->cm;
	return 0;
}

void pier__soft_cm_take_by(struct pier__cm *cm, pier__soft_cm_take *take)
{
	cm_of(cm)->take = take;
	pier__soft_cm_report_timewait(cm_of(cm)->machine);
	pier__soft_cm_wait_for_polls(cm_of(cm)->machine);
}

void pier__soft_cm_goodbye_all(struct pier__cm *cm)
{
	struct soft_chan *chan = chan_of(cm->chan);

	if (!pier__soft_chan_enter_last(chan))
		return;
	pier__soft_cm_disconnect_all(cm_of(cm)->machine);
	pier__soft_ep_leave(chan->ep);
}

static void soft_cm_destroy(struct pier__cm *cm)
{
	if (cm)
		cm_of(cm)->used = false;
}

/* Unused port 4791 is closed here, where nothing receives from it. */
static void begin(struct pier__cm *pcm)
{
	struct soft_chan_cm *cm = cm_of(pcm);
	struct soft_chan *chan = chan_of(cm->cm.chan);
	uint8_t mtu = (uint8_t)pier__port_mtu(&cm->cm.chan->fdev->port);

	pier__soft_chan_begin(chan);
	pier__soft_chan_roce_port_close(chan);
	cm->host.mtu = mtu < cm->mtu ? mtu : cm->mtu;
}

/* Returns @err. */
static int end(struct pier__cm *cm, int err)
{
	pier__soft_chan_end(chan_of(cm->chan), 0);
	return err;
}

static void unring(struct soft_chan_cm *cm)
{
	eventfd_t count;

	if (!cm->rung)
		return;
	eventfd_read(cm->cm.fd, &count);	/* it has no other reader */
	cm->rung = false;
}

static int soft_cm_next(struct pier__cm *pcm, struct pier__cm_event *ret)
{
	struct soft_chan_cm *cm = cm_of(pcm);
	struct soft_chan *chan = chan_of(cm->cm.chan);
	int did = 0, err;

	begin(pcm);
	err = pier__soft_cm_next(cm->machine, ret);
	if (err == -EAGAIN) {
		did = pier__soft_ep_drive(chan->ep);
		err = pier__soft_cm_next(cm->machine, ret);
	}
	if (err == -EAGAIN)
		unring(cm);
	pier__soft_chan_end(chan, did);
	return err;
}

/* Take @addr apart; any address is the unspecified one.  Errors: -EINVAL. */
static int addr_take(const struct sockaddr *addr, struct soft_addr *ret)
{
	const union pier__sockaddr *name = (const void *)addr;

	if (!pier__sockaddr_len(addr))
		return pier__fail(-EINVAL, "an address of family %d: IPv4 or "
				  "IPv6", addr->sa_family);
	memset(&ret->ip, 0, sizeof(ret->ip));
	if (!pier__sockaddr_is_any(addr))
		pier__sockaddr_to_gid(addr, ret->ip.s6_addr);
	ret->port = ntohs(addr->sa_family == AF_INET ? name->in.sin_port :
						       name->in6.sin6_port);
	return 0;
}

/* A listener there for requests of another space.  NULL: there is none. */
static struct soft_listener *other_kind(struct soft_chan_cm *cm,
					const struct soft_listener *listener)
{
	const struct soft_cm_listener *in = &listener->in;
	struct soft_cm_listener *other;
	int space;

	for (space = 0; space < PIER__CM_SPACES; space++) {
		other = pier__soft_cm_listener(cm->machine, in->listener.port,
					       &in->ip,
					       (enum pier__cm_space)space);
		if (other && other != in &&
		    IN6_ARE_ADDR_EQUAL(&other->ip, &in->ip))
			return (struct soft_listener *)other;
	}
	return NULL;
}

/* Errors: -EADDRINUSE, with who has it; those of opening a socket. */
static int open_sock(struct soft_chan_cm *cm, struct soft_listener *listener)
{
	const struct soft_listener *other = other_kind(cm, listener);
	uint16_t port = listener->in.listener.port;
	struct soft_chan *chan = chan_of(cm->cm.chan);
	int err;

	if (other) {
		listener->sock = other->sock;
		return 0;
	}
	err = pier__soft_chan_sock_open(chan, &listener->in.ip, port,
					&listener->sock);
	if (err == -EADDRINUSE)
		return pier__fail(err, "cannot listen on port %u: another "
				  "context or process has its UDP port; ss "
				  "-ulpn sport = :%u shows which: end that or "
				  "take another port", port, port);
	if (!err)
		listener->in.listener.port = listener->sock->io->port;
	return err;
}

static int roce_port_taken(void)
{
	return pier__fail(-EADDRINUSE, "cannot listen on port %u: rdma_rxe, or "
			  "another context or process, has this UDP port: end "
			  "that or take another port", ROCE_UDP_PORT);
}

/* The sockets of @listener on the requested port. */
static int open_port(struct soft_chan_cm *cm, struct soft_listener *listener)
{
	struct soft_chan *chan = chan_of(cm->cm.chan);
	int err = 0;

	if (pier__soft_cm_listener(cm->machine, listener->in.listener.port,
				   &listener->in.ip, listener->in.space))
		return pier__fail(-EADDRINUSE, "cannot listen on port %u: this"
				  " context listens there already, on this "
				  "address or on all", listener->in.listener
				  .port);
	if (listener->in.listener.port != ROCE_UDP_PORT)
		err = open_sock(cm, listener);
	if (err)
		return err;
	if (listener->in.no_roce_port)
		return listener->sock ? 0 : roce_port_taken();
	listener->in.roce_port = pier__soft_chan_roce_port_use(chan, true);
	if (listener->in.roce_port)
		return 0;
	if (!listener->sock)
		return roce_port_taken();
	pier__log(PIER_LOG_WARNING, "soft", "listening on port %u, but only "
		  "for soft peers: UDP port %u, where RoCE devices "
		  "send to, is taken", listener->in.listener.port,
		  ROCE_UDP_PORT);
	return 0;
}

static bool port_is_ours(const struct soft_chan_cm *cm, uint16_t port)
{
	return port && port == cm->cm.chan->udp_port;
}

int pier__soft_cm_listen_for(struct pier__cm *pcm, enum pier__cm_space space,
			     const struct sockaddr *addr, int backlog,
			     void *owner, struct pier__cm_listener **ret)
{
	struct soft_chan_cm *cm = cm_of(pcm);
	struct soft_listener *listener;
	struct soft_addr name;
	int err;

	err = addr_take(addr, &name);
	if (err)
		return err;
	if (!IN6_IS_ADDR_UNSPECIFIED(&name.ip) &&
	    host_gid(&cm->host, &name.ip) < 0)
		return pier__port_lacks(&pcm->chan->fdev->port, addr, NULL);
	if (port_is_ours(cm, name.port))
		return pier__fail(-EADDRINUSE, "cannot take UDP port %u: it is"
				  " the channel's own", name.port);
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		return pier__fail(-ENOMEM, "no memory for a listener");
	listener->in.listener.cm = pcm;
	listener->in.listener.owner = owner;
	listener->in.listener.port = name.port;
	listener->in.ip = name.ip;
	listener->in.no_roce_port = pcm->no_roce_port;
	listener->in.space = space;
	listener->in.backlog = backlog > 0 ? (uint32_t)backlog : 1;

	begin(pcm);
	err = open_port(cm, listener);
	if (!err)
		pier__soft_cm_listen(cm->machine, &listener->in);
	if (end(pcm, err)) {
		free(listener);
		return err;
	}

	*ret = &listener->in.listener;
	return 0;
}

static int soft_cm_listen(struct pier__cm *cm, const struct sockaddr *addr,
			  int backlog, void *owner,
			  struct pier__cm_listener **ret)
{
	return pier__soft_cm_listen_for(cm, PIER__CM_TCP, addr, backlog, owner,
					ret);
}

static void soft_cm_unlisten(struct pier__cm_listener *plistener)
{
	struct soft_listener *listener = (struct soft_listener *)plistener;
	struct soft_chan_cm *cm;
	struct soft_chan *chan;

	if (!plistener)
		return;
	cm = cm_of(plistener->cm);
	chan = chan_of(cm->cm.chan);
	pier__soft_chan_begin(chan);
	pier__soft_cm_unlisten(cm->machine, &listener->in);
	if (listener->sock && !other_kind(cm, listener))
		pier__soft_chan_sock_close(chan, listener->sock);
	if (listener->in.roce_port)
		pier__soft_chan_roce_port_use(chan, false);
	pier__soft_chan_roce_port_close(chan);
	end(plistener->cm, 0);
	free(listener);
}

static int soft_cm_resolve(struct pier__cm *pcm, const struct sockaddr *src,
			   const struct sockaddr *dst, int timeout_ms,
			   void *owner, struct pier__cm_id **ret)
{
	struct soft_addr from = { 0 }, to;
	int err;

	(void)timeout_ms;	/* the kernel finds the route at once */
	err = addr_take(dst, &to);
	if (!err && src)
		err = addr_take(src, &from);
	if (err)
		return err;
	if (!to.port)
		return pier__fail(-EINVAL, "no port to connect to");
	err = pier__soft_route(pcm->chan->fdev, &from.ip, &to.ip, &from.ip);
	if (err)
		return err;

	begin(pcm);
	err = pier__soft_cm_resolved(cm_of(pcm)->machine, &from, &to, owner,
				     ret);
	return end(pcm, err);
}

static int soft_cm_connect(struct pier__cm_id *id,
			   const struct pier__cm_param *param)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_connect(id, param));
}

static int soft_cm_accept(struct pier__cm_id *id,
			  const struct pier__cm_param *param)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_accept(id, param));
}

static int soft_cm_establish(struct pier__cm_id *id)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_establish(id));
}

static int soft_cm_reject(struct pier__cm_id *id, const void *data, size_t len)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_reject(id, data, len));
}

static int soft_cm_disconnect(struct pier__cm_id *id)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_disconnect(id));
}

static void soft_cm_release(struct pier__cm_id *id)
{
	struct pier__cm *cm;

	if (!id)
		return;
	cm = id->cm;
	begin(cm);
	pier__soft_cm_release(id);
	end(cm, 0);
}

static int soft_cm_qp_attr(struct pier__cm_id *id, enum ibv_qp_state state,
			   struct ibv_qp_attr *ret, int *ret_mask,
			   uint16_t *ret_udp_port)
{
	begin(id->cm);
	return end(id->cm, pier__soft_cm_qp_attr(id, state, ret, ret_mask,
						 ret_udp_port));
}

const struct pier__fabric_cm pier__soft_cm_table = {
	.create = soft_cm_create,
	.destroy = soft_cm_destroy,
	.next = soft_cm_next,
	.listen = soft_cm_listen,
	.unlisten = soft_cm_unlisten,
	.resolve = soft_cm_resolve,
	.connect = soft_cm_connect,
	.accept = soft_cm_accept,
	.establish = soft_cm_establish,
	.reject = soft_cm_reject,
	.disconnect = soft_cm_disconnect,
	.release = soft_cm_release,
	.qp_attr = soft_cm_qp_attr,
};
