/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes received from streams, and datagrams. */
#include <errno.h>
#include <string.h>

#include "dropin/rsocket/rs.h"

/* Also true at the end, and if it would fail. */
bool pier__rs_can_recv(const struct rs *rs)
{
	return rs->bytes ||
	       (rs->state != RS_CONNECTED && rs->state != RS_CONNECTING) ||
	       (rs->state == RS_CONNECTED && !rs->readable);
}

/* Credits, or a half of the ring, are to be given to the peer. */
static bool is_due(const struct rs *rs)
{
	return rs->state == RS_CONNECTED && rs->controls &&
	       (rs->returned >= rs->rbuf_size / RS_HALVES ||
		(int16_t)(rs->taken - rs->taken_end) >= 0);
}

static int grant_half(struct rs *rs, uint32_t credits)
{
	uint32_t half = rs->rbuf_size / RS_HALVES;
	struct rs_range range = {
		.addr = (uintptr_t)rs->table->ring + rs->free_at,
		.key = rs->table_mr->rkey,
		.len = half,
	};
	uint64_t to = rs->peer_table.addr + rs->grant_range * sizeof(range);

	if (rs->swap)
		range = (struct rs_range){ __builtin_bswap64(range.addr),
					   __builtin_bswap32(range.key),
					   __builtin_bswap32(range.len) };
	rs->returned -= half;
	rs->free_at = (rs->free_at + half) % rs->rbuf_size;
	rs->grant_range = (rs->grant_range + 1) % RS_HALVES;
	return pier__rs_post(rs, RS_GRANT, credits, &range, sizeof(range), to,
			     rs->peer_table.key);
}

void pier__rs_grant(struct rs *rs)
{
	uint16_t credits;

	while (is_due(rs)) {
		credits = (uint16_t)(rs->taken + rs->rq_size);
		rs->taken_end = (uint16_t)(rs->taken + rs->rq_size / 2);
		if (rs->returned >= rs->rbuf_size / RS_HALVES ?
		    grant_half(rs, credits) :
		    pier__rs_post(rs, RS_GRANT, credits, NULL, 0, 0, 0))
			pier__rs_fail(rs, errno);
	}
}

static void copy(const struct rs *rs, uint32_t at, uint8_t *to, size_t len)
{
	size_t first = rs->rbuf_size - at;

	if (first > len)
		first = len;
	memcpy(to, rs->table->ring + at, first);
	memcpy(to + first, rs->table->ring, len - first);
}

/* @len bytes were read: their messages are done with. */
static void consume(struct rs *rs, uint32_t len)
{
	uint32_t *left, n;

	rs->bytes -= len;
	rs->returned += len;
	rs->at = (rs->at + len) % rs->rbuf_size;
	while (rs->count) {
		left = &rs->lens[rs->first];
		n = len < *left ? len : *left;
		*left -= n;
		len -= n;
		if (*left)
			break;
		rs->first = (rs->first + 1) % rs->rq_size;
		rs->count--;
		rs->taken++;
	}
	pier__rs_grant(rs);
}

/* From byte @skip of what is there.  Returns how many. */
static size_t take(struct rs *rs, uint32_t skip, uint8_t *to, size_t len,
		   bool peek)
{
	if (len > rs->bytes - skip)
		len = rs->bytes - skip;
	if (!len)
		return 0;
	copy(rs, (rs->at + skip) % rs->rbuf_size, to, len);
	if (!peek)
		consume(rs, (uint32_t)len);
	return len;
}

/* Returns -1 with errno if there is nothing and more may come. */
static ssize_t recv_pieces(struct rs *rs, const struct iovec *iov, size_t count,
			   int flags)
{
	bool peek = flags & MSG_PEEK, all = flags & MSG_WAITALL && !peek;
	size_t done = 0, n, off = 0, i = 0;

	while (i < count && !iov[i].iov_len)
		i++;
	while (i < count) {
		if ((!done || all) &&
		    pier__rs_wait(rs, pier__rs_can_recv, flags & MSG_DONTWAIT))
			return done ? (ssize_t)done : -1;
		n = take(rs, peek ? (uint32_t)done : 0,
			 (uint8_t *)iov[i].iov_base + off,
			 iov[i].iov_len - off, peek);
		if (!n)
			break;
		done += n;
		off += n;
		if (off < iov[i].iov_len)
			continue;
		off = 0;
		do
			i++;
		while (i < count && !iov[i].iov_len);
	}
	return (ssize_t)done;
}

static ssize_t recv_stream(struct rs *rs, int fd, const struct iovec *iov,
			   size_t count, int flags)
{
	ssize_t ret;

	if (flags & ~RS_RECV_FLAGS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = recv_pieces(rs, iov, count, flags);
	if (!ret && (rs->state == RS_FAILED || rs->state == RS_REFUSED) &&
	    rs->err) {
		errno = rs->err;
		ret = -1;
	} else if (!ret && (rs->state == RS_NEW || rs->state == RS_REFUSED)) {
		errno = ENOTCONN;
		ret = -1;
	}
	pier__rs_unlock(rs);
	return ret;
}

ssize_t rrecv(int fd, void *buf, size_t len, int flags)
{
	const struct iovec iov = { buf, len };
	struct rs *rs = pier__rs_find(fd);

	if (!rs)
		return -1;
	if (rs->datagram)
		return recv(fd, buf, len, flags);
	return recv_stream(rs, fd, &iov, 1, flags);
}

ssize_t rrecvfrom(int fd, void *buf, size_t len, int flags,
		  struct sockaddr *from, socklen_t *from_len)
{
	struct rs *rs = pier__rs_find(fd);
	ssize_t ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return recvfrom(fd, buf, len, flags, from, from_len);
	ret = rrecv(fd, buf, len, flags);
	if (ret > 0 && from)
		rgetpeername(fd, from, from_len);
	return ret;
}

ssize_t rread(int fd, void *buf, size_t count)
{
	return rrecv(fd, buf, count, 0);
}

ssize_t rrecvmsg(int fd, struct msghdr *msg, int flags)
{
	struct rs *rs = pier__rs_find(fd);

	if (!rs)
		return -1;
	if (rs->datagram)
		return recvmsg(fd, msg, flags);
	if (msg->msg_control && msg->msg_controllen) {
		errno = ENOTSUP;
		return -1;
	}
	msg->msg_namelen = 0;
	msg->msg_flags = 0;
	return recv_stream(rs, fd, msg->msg_iov, msg->msg_iovlen, flags);
}

ssize_t rreadv(int fd, const struct iovec *iov, int count)
{
	struct rs *rs = pier__rs_find(fd);

	if (!rs)
		return -1;
	if (rs->datagram)
		return readv(fd, iov, count);
	return recv_stream(rs, fd, iov, (size_t)count, 0);
}
