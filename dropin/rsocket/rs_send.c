/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes sent on streams, and datagrams. */
#include <errno.h>
#include <string.h>

#include "dropin/rsocket/rs.h"

static uint32_t least(size_t a, size_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Also true if it would fail. */
bool pier__rs_can_send(const struct rs *rs)
{
	if (rs->state == RS_CONNECTING)
		return false;
	return rs->state != RS_CONNECTED || !rs->writable ||
	       (rs->sends && rs->send_free && rs->seq != rs->seq_end &&
		rs->target[rs->target_at].len);
}

bool pier__rs_all_sent(const struct rs *rs)
{
	return rs->state != RS_CONNECTED ||
	       (rs->sends == rs->sq_size && rs->controls == RS_CONTROLS);
}

uint32_t pier__rs_stage(struct rs *rs, const void *src, size_t len,
			uint8_t **ret)
{
	uint32_t n = least(len, RS_TRANSFER);

	n = least(n, rs->send_free);
	n = least(n, rs->sbuf_size - rs->send_at);
	*ret = rs->send_ring + rs->send_at;
	memcpy(*ret, src, n);
	rs->send_free -= n;
	rs->send_at = (rs->send_at + n) % rs->sbuf_size;
	return n;
}

/* One message.  Returns how many bytes, or -1 with errno. */
static ssize_t send_one(struct rs *rs, const uint8_t *src, size_t len)
{
	struct rs_range *to = &rs->target[rs->target_at];
	uint8_t *staged = (uint8_t *)src;
	uint32_t n = least(len, to->len);

	if (n > rs->inline_size || len > n)
		n = pier__rs_stage(rs, src, n, &staged);
	if (pier__rs_post(rs, RS_DATA, n, staged, n, to->addr, to->key))
		return -1;
	rs->seq++;
	to->addr += n;
	to->len -= n;
	if (!to->len)
		rs->target_at = (rs->target_at + 1) % RS_HALVES;
	return n;
}

int pier__rs_cannot_send(const struct rs *rs)
{
	bool unconnected = rs->state == RS_NEW || rs->state == RS_REFUSED;

	if ((rs->state == RS_FAILED || rs->state == RS_REFUSED) && rs->err)
		return rs->err;
	return unconnected ? ENOTCONN : EPIPE;
}

/* Can it send, or with @flags wait until it can?  Returns -1 with errno. */
static int ready(struct rs *rs, int flags)
{
	if (pier__rs_wait(rs, pier__rs_can_send, flags & MSG_DONTWAIT))
		return -1;
	if (rs->state == RS_CONNECTED && rs->writable)
		return 0;
	errno = pier__rs_cannot_send(rs);
	return -1;
}

static ssize_t send_all(struct rs *rs, const uint8_t *src, size_t len,
			int flags)
{
	size_t done = 0;
	ssize_t n;

	if (rs->any_pending && pier__rs_send_iomaps(rs))
		return -1;
	while (done < len) {
		if (ready(rs, flags))
			break;
		n = send_one(rs, src + done, len - done);
		if (n < 0)
			break;
		done += (size_t)n;
	}
	return done || !len ? (ssize_t)done : -1;
}

ssize_t rsend(int fd, const void *buf, size_t len, int flags)
{
	struct rs *rs = pier__rs_find(fd);
	ssize_t ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return send(fd, buf, len, flags);
	if (flags & ~RS_SEND_FLAGS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = send_all(rs, buf, len, flags);
	pier__rs_unlock(rs);
	return ret;
}

ssize_t rsendto(int fd, const void *buf, size_t len, int flags,
		const struct sockaddr *to, socklen_t to_len)
{
	struct rs *rs = pier__rs_find(fd);

	if (!rs)
		return -1;
	if (rs->datagram)
		return sendto(fd, buf, len, flags, to, to_len);
	if (to || to_len) {
		errno = EISCONN;
		return -1;
	}
	return rsend(fd, buf, len, flags);
}

ssize_t rwrite(int fd, const void *buf, size_t count)
{
	return rsend(fd, buf, count, 0);
}

static ssize_t send_pieces(struct rs *rs, const struct iovec *iov, size_t count,
			   int flags)
{
	ssize_t done = 0, n;
	size_t i;

	for (i = 0; i < count; i++) {
		n = send_all(rs, iov[i].iov_base, iov[i].iov_len, flags);
		if (n < 0)
			return done ? done : -1;
		done += n;
		if ((size_t)n < iov[i].iov_len)
			break;
	}
	return done;
}

ssize_t rsendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct rs *rs = pier__rs_find(fd);
	ssize_t ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return sendmsg(fd, msg, flags);
	if ((msg->msg_control && msg->msg_controllen) ||
	    flags & ~RS_SEND_FLAGS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = send_pieces(rs, msg->msg_iov, msg->msg_iovlen, flags);
	pier__rs_unlock(rs);
	return ret;
}

ssize_t rwritev(int fd, const struct iovec *iov, int count)
{
	const struct msghdr msg = {
		.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count,
	};

	return rsendmsg(fd, &msg, 0);
}
