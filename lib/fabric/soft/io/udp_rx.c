/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams received, and split into packets (GRO). */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/soft/io/late.h"
#include "fabric/soft/io/udp_sock.h"
#include "fabric/soft/stats/capture.h"

#define FAULTY_ROUNDS 64	/* without a packet that gets through */

/*
 * recvmsg(2) without a cancellation point, which would cost in each call that
 * returns nothing.
 */
static ssize_t take_one(int fd, struct msghdr *msg)
{
	return syscall(SYS_recvmsg, fd, msg, MSG_DONTWAIT);
}

/* Take up to @max datagrams.  Returns how many, or -errno. */
static int take(struct soft_udp *udp, int max)
{
	struct mmsghdr *msg = udp->rx.msg;
	ssize_t got;

	udp->stats.rx_calls++;
	if (max > 1) {
		got = recvmmsg(udp->fd, msg, (unsigned int)max, MSG_DONTWAIT,
			       NULL);
		return got < 0 ? -errno : (int)got;
	}
	got = take_one(udp->fd, &msg->msg_hdr);
	if (got < 0)
		return -errno;
	msg->msg_len = (unsigned int)got;
	return 1;
}

/*
 * How many to ask for next: one if there was none or if they are long, else
 * more, up to a portion.
 */
static void adapt(struct soft_udp_rx *rx)
{
	size_t bytes = 0;
	int i;

	if (rx->count < rx->batch) {
		rx->batch = rx->count ? rx->count : 1;
		rx->was_full = false;
		return;
	}
	for (i = 0; i < rx->count; i++)
		bytes += rx->msg[i].msg_len;
	if (bytes > SOFT_UDP_PORTION)
		rx->batch = rx->batch > 1 ? rx->batch / 2 : 1;
	else if (rx->was_full && 2 * bytes <= SOFT_UDP_PORTION &&
		 2 * rx->batch <= SOFT_UDP_RX_SLOTS)
		rx->batch *= 2;
	rx->was_full = true;
}

/* Fill the slots.  Returns false if nothing has arrived. */
static bool fill(struct soft_udp *udp)
{
	struct soft_udp_rx *rx = &udp->rx;
	int i, n;

	for (i = 0; i < rx->count; i++) {
		rx->msg[i].msg_hdr.msg_namelen = sizeof(rx->name[i]);
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	rx->slot = 0;
	rx->at = 0;
	do
		/* The error of an ICMP message is returned once. */
		n = take(udp, rx->batch);
	while (n == -EINTR || n == -ECONNREFUSED);
	rx->count = n > 0 ? n : 0;
	adapt(rx);
	udp->stats.rx_datagrams += (uint64_t)rx->count;
	return rx->count > 0;
}

static void addr_from_v4(struct soft_addr *addr, const struct in_addr *from)
{
	memset(&addr->ip, 0, sizeof(addr->ip));
	addr->ip.s6_addr[10] = 0xff;
	addr->ip.s6_addr[11] = 0xff;
	memcpy(&addr->ip.s6_addr[12], from, 4);
}

static void take_class(struct soft_udp_rx *rx, unsigned int tclass)
{
	rx->marked = (tclass & SOFT_TCLASS_CE) == SOFT_TCLASS_CE;
}

/* Read @cmsg.  Returns whether it has the destination. */
static bool take_control(struct soft_udp_rx *rx, struct cmsghdr *cmsg)
{
	struct in6_pktinfo v6;
	struct in_pktinfo v4;
	int segment, tclass;

	if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_TOS) {
		take_class(rx, *CMSG_DATA(cmsg));
	} else if (cmsg->cmsg_level == IPPROTO_IPV6 &&
		   cmsg->cmsg_type == IPV6_TCLASS) {
		memcpy(&tclass, CMSG_DATA(cmsg), sizeof(tclass));
		take_class(rx, (unsigned int)tclass);
	} else if (cmsg->cmsg_level == SOL_UDP && cmsg->cmsg_type == UDP_GRO) {
		memcpy(&segment, CMSG_DATA(cmsg), sizeof(segment));
		if (segment > 0)
			rx->segment = (size_t)segment;
	} else if (cmsg->cmsg_level == IPPROTO_IPV6 &&
		   cmsg->cmsg_type == IPV6_PKTINFO) {
		memcpy(&v6, CMSG_DATA(cmsg), sizeof(v6));
		rx->dst.ip = v6.ipi6_addr;
		return true;
	} else if (cmsg->cmsg_level == IPPROTO_IP &&
		   cmsg->cmsg_type == IP_PKTINFO) {
		memcpy(&v4, CMSG_DATA(cmsg), sizeof(v4));
		addr_from_v4(&rx->dst, &v4.ipi_addr);
		return true;
	}
	return false;
}

/* Begin to split the slot.  Returns false if it cannot hold packets. */
static bool open_slot(struct soft_udp *udp)
{
	struct soft_udp_rx *rx = &udp->rx;
	struct msghdr *msg = &rx->msg[rx->slot].msg_hdr;
	const union soft_udp_name *name = &rx->name[rx->slot];
	struct cmsghdr *cmsg;
	bool dst = udp->bound;

	rx->segment = rx->msg[rx->slot].msg_len;
	rx->marked = false;
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		dst |= take_control(rx, cmsg);
	rx->dst.port = udp->io.port;
	if (udp->v6) {
		rx->src.ip = name->v6.sin6_addr;
		rx->src.port = ntohs(name->v6.sin6_port);
	} else {
		addr_from_v4(&rx->src, &name->v4.sin_addr);
		rx->src.port = ntohs(name->v4.sin_port);
	}
	return dst && rx->segment && !(msg->msg_flags & MSG_TRUNC);
}

static inline int take_packets(struct soft_udp *udp, struct soft_rx *ret,
			       int max)
{
	struct soft_udp_rx *rx = &udp->rx;
	int n = 0;

	if (rx->slot == rx->count && !fill(udp))
		return 0;
	while (n < max && rx->slot < rx->count) {
		size_t len = rx->msg[rx->slot].msg_len;

		if (!rx->at && !open_slot(udp)) {
			udp->stats.rx_bad++;
			rx->at = len;
		}
		if (rx->at < len) {
			len -= rx->at;
			ret[n].data = rx->iov[rx->slot].iov_base;
			ret[n].data += rx->at;
			ret[n].front = NULL;
			ret[n].via = NULL;
			ret[n].pull = NULL;
			ret[n].joined = false;
			ret[n].len = len < rx->segment ? len : rx->segment;
			ret[n].place = (uint16_t)(rx->at / rx->segment);
			ret[n].marked = rx->marked;
			ret[n].src = rx->src;
			ret[n].dst = rx->dst;
			rx->at += ret[n++].len;
		}
		if (rx->at >= rx->msg[rx->slot].msg_len) {
			rx->slot++;
			rx->at = 0;
		}
	}
	udp->stats.rx_packets += (uint64_t)n;
	return n;
}

int pier__soft_udp_recv(struct soft_io *io, struct soft_rx *ret, int max)
{
	int n = take_packets(pier__soft_udp_of(io), ret, max);

	pier__soft_capture_received(ret, n);
	return n;
}

/*
 * Nothing may remain in the slots when none is returned: only the socket wakes
 * the thread that waits for it.  A flood that does not end is left after a
 * number of rounds, to be continued at once.
 */
int pier__soft_udp_recv_faulty(struct soft_io *io, struct soft_rx *ret, int max)
{
	struct soft_udp *udp = pier__soft_udp_of(io);
	uint64_t now = io->ops->now(io);
	int n = 0, rounds = 0, got = 1;

	for (; got && !n && rounds < FAULTY_ROUNDS; rounds++) {
		got = take_packets(udp, ret, max);
		n = pier__soft_faults_pass(udp->faults, ret, got, now);
	}
	io->due = 0;
	if (udp->faults->late) {
		n = pier__soft_late_take(udp->faults->late, ret, max, now);
		io->due = pier__soft_late_due(udp->faults->late);
	}
	if (rounds == FAULTY_ROUNDS)
		io->due = now;
	pier__soft_capture_received(ret, n);
	return n;
}

void pier__soft_udp_rx_init(struct soft_udp_rx *rx)
{
	struct msghdr *msg;
	int i;

	rx->batch = 1;
	for (i = 0; i < SOFT_UDP_RX_SLOTS; i++) {
		rx->iov[i].iov_base = rx->bytes + i * SOFT_UDP_SLOT_SIZE;
		rx->iov[i].iov_len = SOFT_UDP_SLOT_SIZE;
		msg = &rx->msg[i].msg_hdr;
		msg->msg_name = &rx->name[i];
		msg->msg_namelen = sizeof(rx->name[i]);
		msg->msg_control = &rx->control[i];
		msg->msg_controllen = sizeof(rx->control[i]);
		msg->msg_iov = &rx->iov[i];
		msg->msg_iovlen = 1;
	}
}
