/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/capture.h"
#include "fabric/soft/codec.h"
#include "fabric/soft/udp.h"

/*
 * Sending.  Packets are staged: copied behind each other with pad and ICRC,
 * so that the ICRC is that of the bytes that leave, even if the user's memory
 * changes meanwhile, and that a run of packets is one piece.  Runs of equal
 * size to one destination leave as one segmented send (GSO).  The socket is
 * not connected and forbids fragments: then IPv4 sends have identification 0,
 * segment i of a segmented one i, and the ICRC covers just that.
 *
 * Receiving.  A datagram may be a run of packets (GRO), which is split.
 */
#define SEGMENTS 64		/* of one send, by the kernel */
#define DATAGRAM_MAX 65000	/* bytes of them, with room for headers */
#define RX_SLOTS 32
#define SLOT_SIZE 65536		/* any datagram fits */
#define BUFFER_SIZE (8 << 20)	/* the kernel's; it takes less if it must */
#define ICRC_LEN 4
#define HOP_LIMIT 64

union udp_name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Ancillary data, aligned: addresses, segment size, class and hop limit. */
union udp_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		   3 * CMSG_SPACE(sizeof(int))];
};

struct udp_tx {
	struct mmsghdr msg[SOFT_BATCH];
	struct iovec iov[SOFT_BATCH];
	union udp_name name[SOFT_BATCH];
	union udp_control control[SOFT_BATCH];
	int packets[SOFT_BATCH];	/* in each message */
	uint8_t stage[SOFT_BATCH * SOFT_PACKET_MAX];
};

struct udp_rx {
	struct mmsghdr msg[RX_SLOTS];
	struct iovec iov[RX_SLOTS];
	union udp_name name[RX_SLOTS];
	union udp_control control[RX_SLOTS];
	int count, slot;		/* received; being split */
	size_t at;			/* its next packet */
	size_t segment;			/* bytes of each of its packets */
	struct soft_addr src, dst;
	uint8_t *bytes;			/* RX_SLOTS * SLOT_SIZE, owned */
};

struct soft_udp {
	struct soft_io io;		/* first */
	int fd;
	unsigned int ifindex;
	bool v6;			/* the socket is for both families */
	bool gso;
	bool gso_doubt;			/* off, but was that the reason? */
	struct soft_udp_stats stats;
	struct udp_rx rx;
	struct udp_tx tx;
};

static struct soft_udp *udp_of(struct soft_io *io)
{
	return (struct soft_udp *)io;
}

static uint64_t udp_now(struct soft_io *io)
{
	(void)io;
	return pier__now();
}

/* Append to the ancillary data of @msg; there is room. */
static void put_control(struct msghdr *msg, int level, int type,
			const void *data, size_t len)
{
	char *end = (char *)msg->msg_control + msg->msg_controllen;
	struct cmsghdr *cmsg = (struct cmsghdr *)end;

	cmsg->cmsg_level = level;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cmsg), data, len);
	msg->msg_controllen += CMSG_SPACE(len);
}

static void put_source(const struct soft_udp *udp, struct msghdr *msg,
		       const struct soft_addr *src)
{
	struct in6_pktinfo v6 = { .ipi6_addr = src->ip };
	struct in_pktinfo v4 = { 0 };

	if (udp->v6) {
		if (IN6_IS_ADDR_LINKLOCAL(&src->ip))
			v6.ipi6_ifindex = udp->ifindex;
		put_control(msg, IPPROTO_IPV6, IPV6_PKTINFO, &v6, sizeof(v6));
	} else {
		memcpy(&v4.ipi_spec_dst, &src->ip.s6_addr[12], 4);
		put_control(msg, IPPROTO_IP, IP_PKTINFO, &v4, sizeof(v4));
	}
}

/* What differs from the socket's own settings. */
static void put_class(struct msghdr *msg, const struct soft_tx *tx)
{
	int tclass = tx->tclass, hops = tx->hop_limit;
	bool v4 = IN6_IS_ADDR_V4MAPPED(&tx->dst.ip);
	int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;

	if (tclass)
		put_control(msg, level, v4 ? IP_TOS : IPV6_TCLASS, &tclass,
			    sizeof(tclass));
	if (hops && hops != HOP_LIMIT)
		put_control(msg, level, v4 ? IP_TTL : IPV6_HOPLIMIT, &hops,
			    sizeof(hops));
}

static socklen_t put_name(const struct soft_udp *udp, union udp_name *name,
			  const struct soft_addr *dst)
{
	memset(name, 0, sizeof(*name));
	if (!udp->v6) {
		name->v4.sin_family = AF_INET;
		name->v4.sin_port = htons(dst->port);
		memcpy(&name->v4.sin_addr, &dst->ip.s6_addr[12], 4);
		return sizeof(name->v4);
	}
	name->v6.sin6_family = AF_INET6;
	name->v6.sin6_port = htons(dst->port);
	name->v6.sin6_addr = dst->ip;
	if (IN6_IS_ADDR_LINKLOCAL(&dst->ip))
		name->v6.sin6_scope_id = udp->ifindex;
	return sizeof(name->v6);
}

static size_t wire_len(const struct soft_tx *tx)
{
	return tx->hdr_len + tx->payload_len + tx->pad + ICRC_LEN;
}

/* Lay out @tx at @to, which has room.  Returns its length. */
static size_t stage(const struct soft_tx *tx, uint16_t id, uint8_t *to)
{
	struct soft_tx flat = *tx;
	uint8_t *end = to + tx->hdr_len;
	uint32_t crc, i;

	memcpy(to, tx->hdr, tx->hdr_len);
	flat.iov_count = 1;
	flat.iov[0].iov_base = end;
	flat.iov[0].iov_len = tx->payload_len;
	for (i = 0; i < tx->iov_count; i++) {
		memcpy(end, tx->iov[i].iov_base, tx->iov[i].iov_len);
		end += tx->iov[i].iov_len;
	}
	memset(end, 0, tx->pad);
	end += tx->pad;
	crc = pier__soft_icrc(&flat, id);
	for (i = 0; i < ICRC_LEN; i++)
		*end++ = (uint8_t)(crc >> 8 * i);
	return (size_t)(end - to);
}

static bool same_way(const struct soft_tx *a, const struct soft_tx *b)
{
	return !memcmp(&a->dst.ip, &b->dst.ip, sizeof(a->dst.ip)) &&
	       !memcmp(&a->src.ip, &b->src.ip, sizeof(a->src.ip)) &&
	       a->dst.port == b->dst.port && a->tclass == b->tclass &&
	       a->hop_limit == b->hop_limit;
}

/*
 * How many of the @count packets at @tx one segmented send can hold: of one
 * size, the last may be shorter.
 */
static int run_length(const struct soft_udp *udp, const struct soft_tx *tx,
		      int count)
{
	size_t segment = wire_len(tx), total = segment, len = segment;
	int n = 1;

	if (!udp->gso)
		return 1;
	for (; n < count && n < SEGMENTS && len == segment; n++) {
		len = wire_len(&tx[n]);
		if (len > segment || total + len > DATAGRAM_MAX ||
		    !same_way(tx, &tx[n]))
			break;
		total += len;
	}
	return n;
}

/* Make message @i of the @count packets at @tx, laid out at @to. */
static uint8_t *build(struct soft_udp *udp, int i, const struct soft_tx *tx,
		      int count, uint8_t *to)
{
	struct msghdr *msg = &udp->tx.msg[i].msg_hdr;
	uint16_t segment = (uint16_t)wire_len(tx);
	uint8_t *end = to;
	int n;

	for (n = 0; n < count; n++)
		end += stage(&tx[n], (uint16_t)n, end);
	udp->tx.packets[i] = count;
	udp->tx.iov[i].iov_base = to;
	udp->tx.iov[i].iov_len = (size_t)(end - to);

	msg->msg_namelen = put_name(udp, &udp->tx.name[i], &tx->dst);
	msg->msg_controllen = 0;
	put_source(udp, msg, &tx->src);
	put_class(msg, tx);
	if (count > 1)
		put_control(msg, SOL_UDP, UDP_SEGMENT, &segment,
			    sizeof(segment));
	return end;
}

static bool is_full(int err)
{
	return err == EAGAIN || err == ENOBUFS || err == ENOMEM;
}

/*
 * Message @i was refused with @err for good.  Returns true: try its packets
 * one by one.  If the first is refused as well, GSO was not the reason.
 */
static bool refused(struct soft_udp *udp, int i, int err)
{
	int n = udp->tx.packets[i];

	if (n > 1 && (err == EIO || err == EINVAL)) {
		udp->gso = false;
		udp->gso_doubt = true;
		return true;
	}
	udp->gso |= udp->gso_doubt;
	udp->gso_doubt = false;
	if (err == EMSGSIZE)
		udp->stats.tx_too_long += (uint64_t)n;
	udp->stats.tx_refused += (uint64_t)n;
	return false;
}

/* Messages were sent; if one by one for once, it has to stay so. */
static void accepted(struct soft_udp *udp, int sent)
{
	udp->stats.tx_sends += (uint64_t)sent;
	if (udp->gso_doubt)
		pier__log(PIER_LOG_INFO, "soft", "no UDP GSO on this route");
	udp->gso_doubt = false;
}

/*
 * Send up to SOFT_BATCH packets.  Returns how many were taken; fewer: *@full
 * tells whether the socket is, else the others can be tried now.
 */
static int send_batch(struct soft_udp *udp, const struct soft_tx *tx,
		      int count, bool *full)
{
	uint8_t *to = udp->tx.stage;
	int msgs = 0, taken = 0, i, n, sent;

	for (i = 0; i < count; i += n) {
		n = run_length(udp, &tx[i], count - i);
		to = build(udp, msgs++, &tx[i], n, to);
	}
	for (i = 0; i < msgs;) {
		sent = sendmmsg(udp->fd, &udp->tx.msg[i],
				(unsigned int)(msgs - i), MSG_DONTWAIT);
		udp->stats.tx_calls++;
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && is_full(errno)) {
			*full = true;
			break;
		}
		if (sent < 0 && refused(udp, i, errno))
			break;
		if (sent > 0)
			accepted(udp, sent);
		for (n = i + (sent > 0 ? sent : 1); i < n; i++)
			taken += udp->tx.packets[i];
	}
	udp->stats.tx_packets += (uint64_t)taken;
	pier__soft_capture_sent(tx, udp->tx.packets, i);
	return taken;
}

static int udp_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct soft_udp *udp = udp_of(io);
	bool full = false;
	int done = 0;

	while (done < count && !full) {
		int n = count - done < SOFT_BATCH ? count - done : SOFT_BATCH;

		done += send_batch(udp, &tx[done], n, &full);
	}
	return done;
}

/* Fill the slots.  Returns false if nothing has arrived. */
static bool fill(struct soft_udp *udp)
{
	struct udp_rx *rx = &udp->rx;
	int i, n;

	for (i = 0; i < rx->count; i++) {
		rx->msg[i].msg_hdr.msg_namelen = sizeof(rx->name[i]);
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	rx->slot = 0;
	rx->at = 0;
	do {
		/* What an ICMP message left behind is told once. */
		n = recvmmsg(udp->fd, rx->msg, RX_SLOTS, MSG_DONTWAIT, NULL);
		udp->stats.rx_calls++;
	} while (n < 0 && (errno == EINTR || errno == ECONNREFUSED));
	rx->count = n > 0 ? n : 0;
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

/* Read @cmsg.  Returns whether it tells the destination. */
static bool take_control(struct udp_rx *rx, struct cmsghdr *cmsg)
{
	struct in6_pktinfo v6;
	struct in_pktinfo v4;
	int segment;

	if (cmsg->cmsg_level == SOL_UDP && cmsg->cmsg_type == UDP_GRO) {
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
	struct udp_rx *rx = &udp->rx;
	struct msghdr *msg = &rx->msg[rx->slot].msg_hdr;
	const union udp_name *name = &rx->name[rx->slot];
	struct cmsghdr *cmsg;
	bool dst = false;

	rx->segment = rx->msg[rx->slot].msg_len;
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

static int udp_recv(struct soft_io *io, struct soft_rx *ret, int max)
{
	struct soft_udp *udp = udp_of(io);
	struct udp_rx *rx = &udp->rx;
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
			ret[n].len = len < rx->segment ? len : rx->segment;
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
	pier__soft_capture_received(ret, n);
	return n;
}

static const struct soft_io_ops udp_ops = {
	.now = udp_now,
	.send = udp_send,
	.recv = udp_recv,
};

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* As large as we may. */
static void set_buffers(int fd)
{
	if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_SIZE))
		set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_SIZE);
	if (set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_SIZE))
		set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_SIZE);
}

/* Whatever has to work; what only makes things faster may fail. */
static int set_options(struct soft_udp *udp)
{
	int fd = udp->fd;

	set_buffers(fd);
	udp->gso = !set(fd, SOL_UDP, UDP_SEGMENT, 0);
	set(fd, SOL_UDP, UDP_GRO, 1);
	if (set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) ||
	    set(fd, IPPROTO_IP, IP_TTL, HOP_LIMIT))
		return -errno;
	if (!udp->v6)
		return set(fd, IPPROTO_IP, IP_PKTINFO, 1) ? -errno : 0;
	if (set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) ||
	    set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) ||
	    set(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1) ||
	    set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, HOP_LIMIT) ||
	    set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) ||
	    set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1))
		return -errno;
	return 0;
}

/* Take @port on every address; learn which it is. */
static int bind_port(struct soft_udp *udp, uint16_t port)
{
	union udp_name name = { 0 };
	socklen_t len = udp->v6 ? sizeof(name.v6) : sizeof(name.v4);

	name.sa.sa_family = udp->v6 ? AF_INET6 : AF_INET;
	if (udp->v6)
		name.v6.sin6_port = htons(port);
	else
		name.v4.sin_port = htons(port);
	if (bind(udp->fd, &name.sa, len) ||
	    getsockname(udp->fd, &name.sa, &len))
		return pier__fail(-errno, "cannot take UDP port %u: %s", port,
				  pier_strerror(errno));
	udp->io.port = ntohs(udp->v6 ? name.v6.sin6_port : name.v4.sin_port);
	return 0;
}

static int open_socket(struct soft_udp *udp, uint16_t port)
{
	const int type = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int err;

	udp->v6 = true;
	udp->fd = socket(AF_INET6, type, 0);
	if (udp->fd < 0 && errno == EAFNOSUPPORT) {
		udp->v6 = false;
		udp->fd = socket(AF_INET, type, 0);
	}
	if (udp->fd < 0)
		return pier__fail(-errno, "cannot open a UDP socket: %s",
				  pier_strerror(errno));
	err = set_options(udp);
	if (err)
		pier__fail(err, "cannot set up a UDP socket: %s",
			   pier_strerror(err));
	else
		err = bind_port(udp, port);
	if (err)
		close(udp->fd);
	return err;
}

/* What stays the same in every message. */
static void prepare(struct soft_udp *udp)
{
	struct msghdr *msg;
	int i;

	for (i = 0; i < SOFT_BATCH; i++) {
		msg = &udp->tx.msg[i].msg_hdr;
		msg->msg_name = &udp->tx.name[i];
		msg->msg_control = &udp->tx.control[i];
		msg->msg_iov = &udp->tx.iov[i];
		msg->msg_iovlen = 1;
	}
	for (i = 0; i < RX_SLOTS; i++) {
		udp->rx.iov[i].iov_base = udp->rx.bytes + i * SLOT_SIZE;
		udp->rx.iov[i].iov_len = SLOT_SIZE;
		msg = &udp->rx.msg[i].msg_hdr;
		msg->msg_name = &udp->rx.name[i];
		msg->msg_namelen = sizeof(udp->rx.name[i]);
		msg->msg_control = &udp->rx.control[i];
		msg->msg_controllen = sizeof(udp->rx.control[i]);
		msg->msg_iov = &udp->rx.iov[i];
		msg->msg_iovlen = 1;
	}
}

int pier__soft_udp_create(uint16_t port, unsigned int ifindex,
			  struct soft_io **ret)
{
	struct soft_udp *udp = calloc(1, sizeof(*udp));
	int err;

	if (!udp)
		return pier__fail(-ENOMEM, "no memory for a UDP socket");
	/* Untouched pages cost nothing: few datagrams, few pages. */
	udp->rx.bytes = mmap(NULL, RX_SLOTS * SLOT_SIZE,
			     PROT_READ | PROT_WRITE, MAP_PRIVATE |
			     MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (udp->rx.bytes == MAP_FAILED) {
		err = pier__fail(-ENOMEM, "no memory for a UDP socket");
		goto err_free;
	}
	err = open_socket(udp, port);
	if (err)
		goto err_unmap;
	udp->io.ops = &udp_ops;
	udp->ifindex = ifindex;
	prepare(udp);
	pier__soft_capture_open();

	*ret = &udp->io;
	return 0;

err_unmap:
	munmap(udp->rx.bytes, RX_SLOTS * SLOT_SIZE);
err_free:
	free(udp);
	return err;
}

void pier__soft_udp_destroy(struct soft_io *io)
{
	struct soft_udp *udp = udp_of(io);

	close(udp->fd);
	munmap(udp->rx.bytes, RX_SLOTS * SLOT_SIZE);
	free(udp);
}

int pier__soft_udp_fd(const struct soft_io *io)
{
	return ((const struct soft_udp *)io)->fd;
}

const struct soft_udp_stats *pier__soft_udp_stats(const struct soft_io *io)
{
	return &((const struct soft_udp *)io)->stats;
}
