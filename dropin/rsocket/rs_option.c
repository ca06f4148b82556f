/* SPDX-License-Identifier: BSD-2-Clause */
/* Options and names of sockets. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>

#include "dropin/rsocket/rs.h"

#define QUEUE_MIN 16		/* halves of it are granted */
#define QUEUE_MAX 16384
#define BYTES_MIN 4096
#define BYTES_MAX (1 << 26)
#define INLINE_MAX 256

static int fail_with(int err)
{
	errno = err;
	return -1;
}

/* What was set is what is read; all but those of set_of_id() have no effect. */
static const struct {
	int level, name;
} stored[] = {
	{ SOL_SOCKET, SO_REUSEADDR },
	{ SOL_SOCKET, SO_KEEPALIVE },
	{ SOL_SOCKET, SO_OOBINLINE },
	{ IPPROTO_TCP, TCP_NODELAY },
	{ IPPROTO_TCP, TCP_KEEPIDLE },
	{ IPPROTO_TCP, TCP_KEEPCNT },
	{ IPPROTO_TCP, TCP_KEEPINTVL },
	{ IPPROTO_IPV6, IPV6_V6ONLY },
};

#define STORED (sizeof(stored) / sizeof(stored[0]))

static int *stored_of(struct rs *rs, int level, int name)
{
	size_t i;

	for (i = 0; i < STORED; i++)
		if (stored[i].level == level && stored[i].name == name)
			return &rs->ints[i];
	return NULL;
}

static uint32_t *size_of(struct rs *rs, int level, int name, uint32_t *min,
			 uint32_t *max)
{
	*min = level == SOL_RDMA ? QUEUE_MIN : BYTES_MIN;
	*max = level == SOL_RDMA ? QUEUE_MAX : BYTES_MAX;
	if (level == SOL_SOCKET)
		return name == SO_SNDBUF ? &rs->sbuf_size :
		       name == SO_RCVBUF ? &rs->rbuf_size : NULL;
	if (level != SOL_RDMA)
		return NULL;
	switch (name) {
	case RDMA_SQSIZE:
		return &rs->sq_size;
	case RDMA_RQSIZE:
		return &rs->rq_size;
	case RDMA_INLINE:
		*min = sizeof(struct rs_iomap);
		*max = INLINE_MAX;
		return &rs->inline_size;
	case RDMA_IOMAPSIZE:
		*min = 0;
		*max = RS_IOMAPS - 1;
		return &rs->iomaps;
	default:
		return NULL;
	}
}

/* As of a kernel socket, a size beyond the limit is the limit. */
static int set_size(struct rs *rs, uint32_t *size, int value, uint32_t min,
		    uint32_t max)
{
	if (rs->cq)
		return fail_with(EINVAL);
	if (value < 0)
		return fail_with(EINVAL);
	*size = (uint32_t)value < min ? min :
		(uint32_t)value > max ? max : (uint32_t)value;
	if (size == &rs->rbuf_size)
		*size &= ~7u;	/* of two halves, aligned as words */
	return 0;
}

/* What is an option of its id, too. */
static int set_of_id(struct rs *rs, int level, int name, int value)
{
	int option = -1;

	if (level == SOL_SOCKET && name == SO_REUSEADDR)
		option = RDMA_OPTION_ID_REUSEADDR;
	else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		option = RDMA_OPTION_ID_AFONLY;
	return option < 0 ? 0 : rdma_set_option(rs->id, RDMA_OPTION_ID, option,
						&value, sizeof(value));
}

int pier__rs_set_id(struct rs *rs)
{
	size_t i;

	for (i = 0; i < STORED; i++)
		if (rs->ints[i] && set_of_id(rs, stored[i].level,
					     stored[i].name, rs->ints[i]))
			return -1;
	return 0;
}

static int set_linger(struct rs *rs, const void *value, socklen_t len)
{
	if (len < sizeof(rs->linger) || !value)
		return fail_with(EINVAL);
	memcpy(&rs->linger, value, sizeof(rs->linger));
	return 0;
}

static int set(struct rs *rs, int level, int name, const void *value,
	       socklen_t len)
{
	uint32_t min, max, *size = size_of(rs, level, name, &min, &max);
	int *place = stored_of(rs, level, name), number;

	if (level == SOL_SOCKET && name == SO_LINGER)
		return set_linger(rs, value, len);
	if (!size && !place)
		return fail_with(ENOTSUP);
	if (len < sizeof(number) || !value)
		return fail_with(EINVAL);
	memcpy(&number, value, sizeof(number));
	if (size)
		return set_size(rs, size, number, min, max);
	/* As with rdma-core it may be too late for SO_REUSEADDR. */
	if (set_of_id(rs, level, name, number) &&
	    !(level == SOL_SOCKET && errno == EINVAL))
		return -1;
	*place = number;
	return 0;
}

int rsetsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	struct rs *rs = pier__rs_find(fd);
	int ret;

	if (!rs)
		return -1;
	if (rs->datagram && level != SOL_RDMA)
		return setsockopt(fd, level, name, value, len);
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = set(rs, level, name, value, len);
	pier__rs_unlock(rs);
	return ret;
}

/* Returns false: there is no such option. */
static bool get(struct rs *rs, int level, int name, int *ret)
{
	uint32_t min, max, *size = size_of(rs, level, name, &min, &max);
	int *place = stored_of(rs, level, name);

	if (size) {
		*ret = (int)*size;
	} else if (place) {
		*ret = *place;
	} else if (level == SOL_SOCKET && name == SO_ERROR) {
		*ret = rs->err;
		rs->err = 0;
	} else if (level == SOL_SOCKET && name == SO_TYPE) {
		*ret = SOCK_STREAM;
	} else {
		return false;
	}
	return true;
}

static int give(const void *from, socklen_t size, void *value, socklen_t *len)
{
	if (*len < size)
		return fail_with(EINVAL);
	memcpy(value, from, size);
	*len = size;
	return 0;
}

int rgetsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct rs *rs = pier__rs_find(fd);
	struct linger linger;
	int number;
	bool known;

	if (!rs)
		return -1;
	if (rs->datagram && level != SOL_RDMA)
		return getsockopt(fd, level, name, value, len);
	if (pier__rs_lock(rs, fd))
		return -1;
	pier__rs_progress(rs);
	linger = rs->linger;
	known = get(rs, level, name, &number);
	pier__rs_unlock(rs);
	if (level == SOL_SOCKET && name == SO_LINGER)
		return give(&linger, sizeof(linger), value, len);
	if (!known)
		return fail_with(ENOTSUP);
	return give(&number, sizeof(number), value, len);
}

int rfcntl(int fd, int cmd, ...)
{
	struct rs *rs = pier__rs_find(fd);
	va_list args;
	int arg, ret = 0;

	if (!rs)
		return -1;
	va_start(args, cmd);
	arg = va_arg(args, int);
	va_end(args);
	if (rs->datagram)
		return fcntl(fd, cmd, arg);
	if (cmd != F_GETFL && cmd != F_SETFL)
		return fail_with(ENOTSUP);
	if (pier__rs_lock(rs, fd))
		return -1;
	if (cmd == F_SETFL)
		rs->nonblocking = arg & O_NONBLOCK;
	else
		ret = O_RDWR | (rs->nonblocking ? O_NONBLOCK : 0);
	pier__rs_unlock(rs);
	return ret;
}

static void copy_name(const struct sockaddr_storage *from, struct sockaddr *to,
		      socklen_t *len)
{
	socklen_t whole = from->ss_family == AF_INET6 ?
			  sizeof(struct sockaddr_in6) :
			  sizeof(struct sockaddr_in);

	memcpy(to, from, *len < whole ? *len : whole);
	*len = whole;
}

int rgetpeername(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct rs *rs = pier__rs_find(fd);
	bool connected;

	if (!rs)
		return -1;
	if (rs->datagram)
		return getpeername(fd, addr, len);
	if (pier__rs_lock(rs, fd))
		return -1;
	connected = rs->cq && rs->state != RS_REFUSED;
	if (connected)
		copy_name(&rs->id->route.addr.dst_storage, addr, len);
	pier__rs_unlock(rs);
	return connected ? 0 : fail_with(ENOTCONN);
}

int rgetsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct rs *rs = pier__rs_find(fd);

	if (!rs)
		return -1;
	if (rs->datagram)
		return getsockname(fd, addr, len);
	if (pier__rs_lock(rs, fd))
		return -1;
	copy_name(&rs->id->route.addr.src_storage, addr, len);
	pier__rs_unlock(rs);
	return 0;
}
