/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets staged with their ICRC, and sent as segmented datagrams (GSO). */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include "core/crc.h"
#include "core/device_access.h"
#include "core/fail.h"
#include "core/sockaddr.h"
#include "fabric/soft/io/udp_sock.h"
#include "fabric/soft/stats/capture.h"

#define SEGMENTS 64		/* of one send, by the kernel */
#define ICRC_LEN 4

/* Append to the ancillary data of @msg; there is space. */
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

	if (tclass != SOFT_TCLASS_ECT)
		put_control(msg, level, v4 ? IP_TOS : IPV6_TCLASS, &tclass,
			    sizeof(tclass));
	if (hops && hops != SOFT_UDP_HOP_LIMIT)
		put_control(msg, level, v4 ? IP_TTL : IPV6_HOPLIMIT, &hops,
			    sizeof(hops));
}

socklen_t pier__soft_udp_name(const struct soft_udp *udp,
			      union soft_udp_name *name,
			      const struct soft_addr *addr)
{
	memset(name, 0, sizeof(*name));
	if (!udp->v6) {
		name->v4.sin_family = AF_INET;
		name->v4.sin_port = htons(addr->port);
		memcpy(&name->v4.sin_addr, &addr->ip.s6_addr[12], 4);
		return sizeof(name->v4);
	}
	name->v6.sin6_family = AF_INET6;
	name->v6.sin6_port = htons(addr->port);
	name->v6.sin6_addr = addr->ip;
	if (IN6_IS_ADDR_LINKLOCAL(&addr->ip))
		name->v6.sin6_scope_id = udp->ifindex;
	return sizeof(name->v6);
}

static size_t wire_len(const struct soft_tx *tx)
{
	return tx->hdr_len + tx->payload_len + tx->pad + ICRC_LEN;
}

/*
 * Lay out @tx at @to, with the ICRC for identification @id, which is taken
 * while the payload is copied.  Returns where it ends.
 */
static uint8_t *stage(struct soft_udp *udp, const struct soft_tx *tx,
		      uint16_t id, uint8_t *to)
{
	uint32_t crc = pier__soft_icrc_begin(&udp->tx.fronts, &tx->src,
					     &tx->dst, wire_len(tx), id), i;
	uint8_t *end = to + tx->hdr_len;
	size_t before = tx->hdr_len;

	memcpy(to, tx->hdr, SOFT_HDR_MAX);	/* there is space: no loop */
	to[SOFT_BTH_CONGESTION] = 0;	/* see pier__soft_icrc_begin() */
	pier__device_access_begin();
	for (i = 0; i < tx->iov_count; i++) {
		crc = pier__crc32_copy(crc, end, before, tx->iov[i].iov_base,
				       tx->iov[i].iov_len);
		end += tx->iov[i].iov_len;
		before = 0;
	}
	pier__device_access_end();
	memset(end, 0, ICRC_LEN);
	end += tx->pad;
	before += tx->pad;
	if (before)
		crc = pier__crc32(crc, end - before, before);
	for (i = 0; i < ICRC_LEN; i++)
		*end++ = (uint8_t)(crc >> 8 * i);
	to[SOFT_BTH_CONGESTION] = tx->hdr[SOFT_BTH_CONGESTION];
	return end;
}

static bool same_way(const struct soft_tx *a, const struct soft_tx *b)
{
	return !memcmp(&a->dst.ip, &b->dst.ip, sizeof(a->dst.ip)) &&
	       !memcmp(&a->src.ip, &b->src.ip, sizeof(a->src.ip)) &&
	       a->dst.port == b->dst.port && a->tclass == b->tclass &&
	       a->hop_limit == b->hop_limit;
}

static struct in6_addr *plain_slot(struct soft_udp *udp,
				   const struct in6_addr *ip)
{
	uint32_t w[4];

	memcpy(w, ip, sizeof(w));
	return &udp->plain.ip[(w[0] ^ w[1] ^ w[2] ^ w[3]) * 2654435761u >> 26];
}

static bool is_plain(struct soft_udp *udp, const struct in6_addr *ip)
{
	return udp->plain.count && IN6_ARE_ADDR_EQUAL(plain_slot(udp, ip), ip);
}

static void plain_add(struct soft_udp *udp, const struct in6_addr *ip)
{
	struct in6_addr *slot = plain_slot(udp, ip);

	udp->plain.count += IN6_IS_ADDR_UNSPECIFIED(slot);
	*slot = *ip;
	udp->plain.doubt = slot;
}

/* If the route to @ip was in doubt, it is confirmed now. */
static bool plain_settle(struct soft_udp *udp, const struct in6_addr *ip)
{
	if (!udp->plain.doubt || !IN6_ARE_ADDR_EQUAL(udp->plain.doubt, ip))
		return false;
	udp->plain.doubt = NULL;
	return true;
}

static void plain_remove(struct soft_udp *udp, const struct in6_addr *ip)
{
	*plain_slot(udp, ip) = in6addr_any;
	udp->plain.count--;
}

/*
 * How many of the @count packets at @tx one segmented send can hold: of one
 * size, the last may be shorter.
 */
static int run_length(struct soft_udp *udp, const struct soft_tx *tx, int count)
{
	size_t segment = wire_len(tx), total = segment, len = segment;
	int n = 1;

	if (!udp->gso || is_plain(udp, &tx->dst.ip))
		return 1;
	for (; n < count && n < SEGMENTS && len == segment; n++) {
		len = wire_len(&tx[n]);
		if (len > segment || total + len > SOFT_UDP_DATAGRAM_MAX ||
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
		end = stage(udp, &tx[n], (uint16_t)n, end);
	udp->tx.packets[i] = count;
	udp->tx.iov[i].iov_base = to;
	udp->tx.iov[i].iov_len = (size_t)(end - to);

	msg->msg_namelen = pier__soft_udp_name(udp, &udp->tx.name[i], &tx->dst);
	msg->msg_controllen = 0;
	if (!udp->bound)
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
 * A message of the @n packets at @tx failed permanently with @err.  Returns
 * true: try them one by one.  If the first fails as well, GSO was not the
 * reason.
 */
static bool refused(struct soft_udp *udp, const struct soft_tx *tx, int n,
		    int err)
{
	if (n > 1 && (err == EIO || err == EINVAL)) {
		plain_add(udp, &tx->dst.ip);
		return true;
	}
	if (plain_settle(udp, &tx->dst.ip))
		plain_remove(udp, &tx->dst.ip);
	if (err == EMSGSIZE)
		udp->stats.tx_too_long += (uint64_t)n;
	udp->stats.tx_refused += (uint64_t)n;
	return false;
}

/* @sent messages went, the first to where @tx goes; now one by one? */
static void accepted(struct soft_udp *udp, const struct soft_tx *tx, int sent)
{
	union pier__sockaddr name;
	char text[PIER__ADDR_TEXT];

	udp->stats.tx_sends += (uint64_t)sent;
	if (!plain_settle(udp, &tx->dst.ip))
		return;
	pier__sockaddr_from_gid(tx->dst.ip.s6_addr, &name);
	pier__log(PIER_LOG_INFO, "soft", "no UDP GSO on the route to %s",
		  pier__sockaddr_text(&name.sa, text));
}

/* Without ancillary data sendto(2) is the cheaper call. */
static ssize_t send_one(const struct soft_udp *udp, const struct msghdr *msg)
{
	if (msg->msg_controllen)
		return sendmsg(udp->fd, msg, MSG_DONTWAIT);
	return sendto(udp->fd, msg->msg_iov->iov_base, msg->msg_iov->iov_len,
		      MSG_DONTWAIT, msg->msg_name, msg->msg_namelen);
}

/* Send messages @i to @count.  Returns how many were, or -errno. */
static int send_messages(struct soft_udp *udp, int i, int count)
{
	struct mmsghdr *msg = &udp->tx.msg[i];
	int sent;

	udp->stats.tx_calls++;
	if (count - i == 1)
		sent = send_one(udp, &msg->msg_hdr) < 0 ? -1 : 1;
	else
		sent = sendmmsg(udp->fd, msg, (unsigned int)(count - i),
				MSG_DONTWAIT);
	return sent < 0 ? -errno : sent;
}

/* Make messages of some of the @count packets.  Returns how many messages. */
static int build_portion(struct soft_udp *udp, const struct soft_tx *tx,
			 int count)
{
	uint8_t *to = udp->tx.stage;
	int msgs = 0, i, n;

	for (i = 0; i < count; i += n) {
		if (to - udp->tx.stage >= SOFT_UDP_PORTION)
			break;
		n = run_length(udp, &tx[i], count - i);
		to = build(udp, msgs++, &tx[i], n, to);
	}
	return msgs;
}

/*
 * Send some of up to SOFT_BATCH packets.  Returns how many were taken; fewer:
 * *@full is whether the socket is full, else the others can be tried now.
 */
static int send_portion(struct soft_udp *udp, const struct soft_tx *tx,
			int count, bool *full)
{
	int msgs = build_portion(udp, tx, count), taken = 0, i, n, sent;

	for (i = 0; i < msgs;) {
		sent = send_messages(udp, i, msgs);
		if (sent == -EINTR)
			continue;
		if (sent < 0 && is_full(-sent)) {
			*full = true;
			break;
		}
		if (sent < 0 && refused(udp, &tx[taken], udp->tx.packets[i],
					-sent))
			break;
		if (sent > 0)
			accepted(udp, &tx[taken], sent);
		for (n = i + (sent > 0 ? sent : 1); i < n; i++) {
			taken += udp->tx.packets[i];
			if (sent < 0)	/* for the capture */
				udp->tx.packets[i] = -udp->tx.packets[i];
		}
	}
	udp->stats.tx_packets += (uint64_t)taken;
	pier__soft_capture_sent(tx, udp->tx.stage, udp->tx.packets, i);
	return taken;
}

int pier__soft_udp_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct soft_udp *udp = pier__soft_udp_of(io);
	bool full = false;
	int done = 0;

	while (done < count && !full) {
		int n = count - done < SOFT_BATCH ? count - done : SOFT_BATCH;

		done += send_portion(udp, &tx[done], n, &full);
	}
	return done;
}

void pier__soft_udp_tx_init(struct soft_udp_tx *tx)
{
	struct msghdr *msg;
	int i;

	for (i = 0; i < SOFT_BATCH; i++) {
		msg = &tx->msg[i].msg_hdr;
		msg->msg_name = &tx->name[i];
		msg->msg_control = &tx->control[i];
		msg->msg_iov = &tx->iov[i];
		msg->msg_iovlen = 1;
	}
}
