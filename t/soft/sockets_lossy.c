/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "t/lib/netns.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

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

/*
 * Trains, which the kernel would have cut into packets, to each of two
 * destinations; to the first of them they are refused, or all is.
 */
#define ONE "10.8.0.1"
#define TWO "10.8.0.2"

static atomic_bool no_train_to_one;
static atomic_int nothing_to_one;	/* so many sends more */
static atomic_ulong refused, trains_to_one, trains_to_two;

static bool goes_to(const struct msghdr *msg, const char *ip)
{
	const struct sockaddr_in6 *v6 = msg->msg_name;
	const struct sockaddr_in *v4 = msg->msg_name;
	struct in_addr addr;

	inet_pton(AF_INET, ip, &addr);
	return !memcmp(v6->sin6_family == AF_INET6 ?
		       (const void *)&v6->sin6_addr.s6_addr[12] :
		       (const void *)&v4->sin_addr, &addr, sizeof(addr));
}

static bool is_train(struct msghdr *msg)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		if (cmsg->cmsg_level == SOL_UDP &&
		    cmsg->cmsg_type == UDP_SEGMENT)
			return true;
	return false;
}

/* As a route without checksums does it. */
static bool is_refused(const struct msghdr *msg)
{
	struct msghdr look = *msg;
	bool train = is_train(&look);

	if (goes_to(msg, TWO))
		atomic_fetch_add(&trains_to_two, train);
	if (!goes_to(msg, ONE))
		return false;
	if (atomic_load(&nothing_to_one) > 0)
		atomic_fetch_sub(&nothing_to_one, 1);
	else if (!train || !atomic_load(&no_train_to_one)) {
		atomic_fetch_add(&trains_to_one, train);
		return false;
	}
	atomic_fetch_add(&refused, 1);
	errno = EIO;
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
	if (is_refused(msg))
		return -1;
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
	struct sockaddr_storage name = { 0 };
	struct msghdr msg = { .msg_name = &name };

	memcpy(&name, to, to_len);
	if (is_refused(&msg))
		return -1;
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
	to = peer_far_tail(&x, 0, LEN - 8);
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
	to = peer_tail(&x, 0, LEN - 8);
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
	to = peer_tail(&y, 0, 5000);
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
	struct pier_buf *near = peer_tail(&x, LEN - 8, 8);
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

static struct peer z;
static bool apart;		/* in a network namespace of its own */

static bool open_at(struct peer *peer, struct pier_dev *dev, uint32_t index)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .gid_index = index ? index : PIER_ZERO,
	};

	return peer_open(peer, dev, NULL, &cfg, LEN);
}

/* x with connections to y at ONE, as its x.conn, and to z at TWO. */
static struct pier_conn *open_three(struct pier_dev **dev)
{
	struct pier_conn *to_one;

	no_trains = false;
	if (!apart)
		tap_skip("no network namespace of its own");
	if (!apart || !netns_ip("link set lo up") ||
	    !netns_ip("addr flush dev lo") ||
	    !netns_ip("addr add 127.0.0.1/8 dev lo") ||
	    !netns_ip("addr add " ONE "/32 dev lo") ||
	    !netns_ip("addr add " TWO "/32 dev lo") ||
	    !IS(pier_dev_open("soft_lo", dev), 0) ||
	    !open_at(&x, *dev, 0) || !open_at(&y, *dev, 1) ||
	    !open_at(&z, *dev, 2) || !peer_join(&x, &y))
		return NULL;
	to_one = x.conn;
	return peer_join(&x, &z) ? to_one : NULL;
}

static void close_three(struct pier_dev *dev)
{
	peer_close(&z);
	peer_close(&y);
	peer_close(&x);
	pier_dev_close(dev);
}

/* All of x's memory into that of @to, at the other end of @conn. */
static bool deliver(struct pier_conn *conn, struct peer *to, unsigned int seed)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *from = peer_data(&x, 0, LEN);
	struct pier_buf *tail = peer_tail(to, 0, LEN);

	peer_fill(&x, seed);
	IS(pier_rdma_receive(to->rdma, tail, peer_done, &got), 0);
	IS(pier_rdma_send(conn, from, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
	pier_buf_put(from);
	pier_buf_put(tail);
	return OK(peer_holds(to, 0, LEN, seed, 0));
}

static void a_way_without_trains_leaves_the_others_alone(void)
{
	struct pier_dev *dev = NULL;
	struct pier_conn *to_one = open_three(&dev);
	unsigned long before;

	atomic_store(&no_train_to_one, true);
	atomic_store(&refused, 0);
	if (to_one && deliver(to_one, &y, 1)) {
		IS(atomic_load(&refused), 1);
		before = atomic_load(&trains_to_two);
		deliver(x.conn, &z, 2);
		OK(atomic_load(&trains_to_two) > before);
		deliver(to_one, &y, 3);
		IS(atomic_load(&refused), 1);
		IS(atomic_load(&trains_to_one), 0);
	}
	atomic_store(&no_train_to_one, false);
	close_three(dev);
}

/* Its first packet by itself as well: the train was not the reason. */
static void a_way_that_refused_everything_is_sent_trains_again(void)
{
	struct pier_dev *dev = NULL;
	struct pier_conn *to_one = open_three(&dev);

	atomic_store(&refused, 0);
	if (to_one) {
		atomic_store(&nothing_to_one, 2);
		deliver(to_one, &y, 1);
		IS(atomic_load(&refused), 2);
		atomic_store(&trains_to_one, 0);
		deliver(to_one, &y, 2);
		OK(atomic_load(&trains_to_one) > 0);
	}
	close_three(dev);
}

int main(void)
{
	apart = netns_enter();
	if (apart)	/* the default device is not in this one */
		unsetenv("PIER_DEVICE");
	TEST(a_way_without_trains_leaves_the_others_alone);
	TEST(a_way_that_refused_everything_is_sent_trains_again);
	TEST(one_percent_of_the_packets_may_be_lost);
	TEST(five_percent_of_the_packets_may_be_lost);
	TEST(one_percent_of_the_trains_may_be_lost);
	TEST(five_percent_of_the_trains_may_be_lost);
	return tap_done();
}
