/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/udp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "t/peer.h"
#include "t/tap.h"

/*
 * The soft device on real sockets, of which some packets never leave: the
 * calls that send are wrapped.  Every byte arrives, every atomic acts once.
 */
#define LEN 65536
#define ROUNDS 100

static unsigned int per_mille;		/* lost */
static bool no_trains;			/* each packet is lost by itself */
static atomic_ulong thrown, lost;

/* The same sequence in every run, but for who comes first. */
static bool is_lost(void)
{
	uint64_t z = atomic_fetch_add(&thrown, 1) * 0x9e3779b97f4a7c15u + 1;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	if ((z ^ z >> 31) % 1000 >= per_mille)
		return false;
	atomic_fetch_add(&lost, 1);
	return true;
}

static size_t length(const struct msghdr *msg)
{
	size_t len = 0, i;

	for (i = 0; i < msg->msg_iovlen; i++)
		len += msg->msg_iov[i].iov_len;
	return len;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __real_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len);
ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len);
int __real_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len);
int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int count,
		    int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return is_lost() ? (ssize_t)length(msg)
			 : __real_sendmsg(fd, msg, flags);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *msg, unsigned int count, int flags)
{
	unsigned int i;
	ssize_t sent;

	for (i = 0; i < count; i++) {
		sent = __wrap_sendmsg(fd, &msg[i].msg_hdr, flags);
		if (sent < 0)
			break;
		msg[i].msg_len = (unsigned int)sent;
	}
	return i ? (int)i : -1;
}

ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags,
		      const struct sockaddr *to, socklen_t to_len)
{
	return is_lost() ? (ssize_t)len
			 : __real_sendto(fd, data, len, flags, to, to_len);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value,
		      socklen_t len)
{
	if (no_trains && level == SOL_UDP && name == UDP_SEGMENT) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return __real_setsockopt(fd, level, name, value, len);
}

static struct peer x, y;

static bool write_it(unsigned int round)
{
	struct pier_buf *from, *to;
	int status = -EINPROGRESS;

	peer_fill(&x, round);
	from = peer_data(&x, 0, LEN - 8);
	to = peer_far_room(&x, 0, LEN - 8);
	IS(pier_rdma_write(x.conn, from, to, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(from);
	pier_buf_put(to);
	return OK(peer_holds(&y, 0, LEN - 8, round, 0));
}

static bool read_it(unsigned int round)
{
	struct pier_buf *from, *to;
	int status = -EINPROGRESS;

	memset(x.mem, 0, LEN);
	from = peer_far_data(&x, 0, LEN - 8);
	to = peer_room(&x, 0, LEN - 8);
	IS(pier_rdma_read(x.conn, from, to, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(from);
	pier_buf_put(to);
	return OK(peer_holds(&x, 0, LEN - 8, round, 0));
}

static bool send_it(unsigned int round)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *from, *to;

	memset(y.mem, 0, LEN - 8);
	from = peer_data(&x, 0, 5000);
	to = peer_room(&y, 0, 5000);
	IS(pier_rdma_receive(y.rdma, to, peer_done, &got), 0);
	IS(pier_rdma_send(x.conn, from, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
	pier_buf_put(from);
	pier_buf_put(to);
	return OK(peer_holds(&y, 0, 5000, round, 0));
}

/* Into the last word of y, which nothing else writes to. */
static bool add_it(unsigned int round)
{
	struct pier_buf *far = peer_far_data(&x, LEN - 8, 8);
	struct pier_buf *near = peer_room(&x, LEN - 8, 8);
	int status = -EINPROGRESS;
	uint64_t found;

	IS(pier_rdma_fetch_add(x.conn, far, near, 1, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	memcpy(&found, x.mem + LEN - 8, 8);
	pier_buf_put(far);
	pier_buf_put(near);
	return IS(found, round);
}

static void lose(unsigned int of_thousand, bool one_by_one)
{
	struct pier_dev *dev;
	unsigned int i;

	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	no_trains = one_by_one;
	atomic_store(&lost, 0);
	per_mille = of_thousand;
	if (peer_pair(&x, &y, dev, NULL, LEN))
		for (i = 0; i < ROUNDS; i++)
			if (!write_it(i) || !read_it(i) || !send_it(i) ||
			    !add_it(i))
				break;
	OK(atomic_load(&lost) > 0);
	tap_note("%lu sends lost", atomic_load(&lost));
	per_mille = 0;
	peer_unpair(&x, &y);
	pier_dev_close(dev);
}

static void one_percent_of_the_packets_may_be_lost(void)
{
	lose(10, true);
}

static void five_percent_of_the_packets_may_be_lost(void)
{
	lose(50, true);
}

static void one_percent_of_the_trains_may_be_lost(void)
{
	lose(10, false);
}

static void five_percent_of_the_trains_may_be_lost(void)
{
	lose(50, false);
}

int main(void)
{
	TEST(one_percent_of_the_packets_may_be_lost);
	TEST(five_percent_of_the_packets_may_be_lost);
	TEST(one_percent_of_the_trains_may_be_lost);
	TEST(five_percent_of_the_trains_may_be_lost);
	return tap_done();
}
