/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "t/lib/tap.h"

/* Streams over RDMA between two sockets of one process. */
#define WAIT_MS 20000
#define LARGE 1000000		/* bytes, more than both rings have */

static int listener, ours, theirs;
static int queue_size;		/* 0: the default */
static struct sockaddr_in name;
static uint8_t sent[LARGE], got[LARGE];

static bool has(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return rpoll(&pfd, 1, WAIT_MS) == 1 && pfd.revents & events;
}

static void size_queues(int fd)
{
	if (!queue_size)
		return;
	IS(rsetsockopt(fd, SOL_RDMA, RDMA_SQSIZE, &queue_size,
		       sizeof(queue_size)), 0);
	IS(rsetsockopt(fd, SOL_RDMA, RDMA_RQSIZE, &queue_size,
		       sizeof(queue_size)), 0);
}

static void listen_at(int iomaps)
{
	socklen_t len = sizeof(name);

	name = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	listener = rsocket(AF_INET, SOCK_STREAM, 0);
	OK(listener >= 0);
	size_queues(listener);
	IS(rsetsockopt(listener, SOL_RDMA, RDMA_IOMAPSIZE, &iomaps,
		       sizeof(iomaps)), 0);
	IS(rbind(listener, (struct sockaddr *)&name, len), 0);
	IS(rlisten(listener, 4), 0);
	IS(rgetsockname(listener, (struct sockaddr *)&name, &len), 0);
	OK(name.sin_port);
}

static void set_nonblocking(int fd, bool on)
{
	IS(rfcntl(fd, F_SETFL, on ? O_NONBLOCK : 0), 0);
	IS(!!(rfcntl(fd, F_GETFL) & O_NONBLOCK), on);
}

/* Nothing blocks until both are connected. */
static bool open_pair(int iomaps)
{
	int err = -1;
	socklen_t len = sizeof(err);

	listen_at(iomaps);
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	size_queues(ours);
	IS(rsetsockopt(ours, SOL_RDMA, RDMA_IOMAPSIZE, &iomaps,
		       sizeof(iomaps)), 0);
	set_nonblocking(ours, true);
	IS(rconnect(ours, (struct sockaddr *)&name, sizeof(name)), -1);
	IS(errno, EINPROGRESS);
	IS(rsend(ours, "early", 6, 0), -1);
	IS(errno, EAGAIN);
	IS(rrecv(ours, got, 1, 0), -1);
	IS(errno, EAGAIN);
	OK(has(listener, POLLIN));
	theirs = raccept(listener, NULL, NULL);
	if (!OK(theirs >= 0) || !OK(has(ours, POLLOUT)))
		return false;
	IS(rgetsockopt(ours, SOL_SOCKET, SO_ERROR, &err, &len), 0);
	IS(err, 0);
	set_nonblocking(ours, false);
	return true;
}

static void close_pair(void)
{
	IS(rclose(ours), 0);
	IS(rclose(theirs), 0);
	IS(rclose(listener), 0);
}

static void bytes_are_peeked_and_taken(void)
{
	char text[16] = "";

	if (!open_pair(0))
		return;
	IS(rrecv(theirs, text, sizeof(text), MSG_DONTWAIT), -1);
	IS(errno, EAGAIN);
	IS(rsend(ours, "!", 1, MSG_OOB), -1);
	IS(errno, EOPNOTSUPP);
	IS(rrecv(theirs, text, 1, MSG_OOB), -1);
	IS(errno, EOPNOTSUPP);
	IS(rsend(ours, "hello", 6, 0), 6);
	IS(rrecv(theirs, text, sizeof(text), MSG_PEEK), 6);
	IS_STR(text, "hello");
	IS(rrecv(theirs, text, 2, 0), 2);
	IS(rrecv(theirs, text, 4, MSG_WAITALL), 4);
	IS_STR(text, "llo");
	IS(rrecv(theirs, text, sizeof(text), MSG_DONTWAIT), -1);
	close_pair();
}

static void pieces_are_written_and_read(void)
{
	char a[4] = "abc", b[4] = "def", all[8] = "";
	struct iovec to[2] = { { a, 3 }, { b, 4 } };
	struct iovec from[2] = { { all, 1 }, { all + 1, 7 } };

	if (!open_pair(0))
		return;
	IS(rwritev(ours, to, 2), 7);
	OK(has(theirs, POLLIN));
	IS(rrecv(theirs, all, 7, MSG_PEEK | MSG_WAITALL) > 0, true);
	memset(all, 0, sizeof(all));
	while (strlen(all) < 6)
		if (!OK(rreadv(theirs, from, 2) > 0))
			break;
		else
			from[0].iov_len = 0, from[1] = (struct iovec){
				all + strlen(all), 8 - strlen(all) };
	IS_STR(all, "abcdef");
	close_pair();
}

static void *send_large(void *fd)
{
	IS(rsend(*(int *)fd, sent, LARGE, 0), LARGE);
	IS(rshutdown(*(int *)fd, SHUT_WR), 0);
	return NULL;
}

/* A thread sends while another one receives; the end is seen. */
static void more_than_the_rings_take_is_sent(void)
{
	pthread_t thread;
	size_t i;

	if (!open_pair(0))
		return;
	for (i = 0; i < LARGE; i++)
		sent[i] = (uint8_t)(i * 7 + i / 256);
	IS(pthread_create(&thread, NULL, send_large, &ours), 0);
	IS(rrecv(theirs, got, LARGE, MSG_WAITALL), LARGE);
	IS(memcmp(sent, got, LARGE), 0);
	IS(rrecv(theirs, got, 1, 0), 0);
	IS(pthread_join(thread, NULL), 0);
	IS(rsend(ours, sent, 1, 0), -1);
	IS(errno, EPIPE);
	IS(rsend(theirs, "x", 2, 0), 2);	/* the other way goes on */
	IS(rrecv(ours, got, 2, 0), 2);
	close_pair();
}

/* With a queue of 1 the grants would have no end. */
static void the_smallest_queues_are_enough(void)
{
	socklen_t len = sizeof(int);
	int i, value = 0;
	bool opened;

	queue_size = 1;
	opened = open_pair(0);
	queue_size = 0;
	if (!opened)
		return;
	IS(rgetsockopt(ours, SOL_RDMA, RDMA_RQSIZE, &value, &len), 0);
	IS(value, 16);
	for (i = 0; i < 100; i++)
		if (!IS(rsend(ours, sent, 9, 0), 9) ||
		    !IS(rrecv(theirs, got, 9, MSG_WAITALL), 9))
			break;
	close_pair();
}

/* A program of rdma_cm that does not greet, and is sent away. */
static void *strange(void *ended)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *id;

	if (!IS(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0))
		return NULL;
	IS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&name, WAIT_MS), 0);
	IS(rdma_resolve_route(id, WAIT_MS), 0);
	IS(rdma_create_qp(id, NULL, &init), 0);
	IS(rdma_connect(id, &param), -1);
	IS(errno, ECONNREFUSED);
	rdma_destroy_ep(id);
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	IS(rconnect(ours, (struct sockaddr *)&name, sizeof(name)), 0);
	return ended;
}

static void a_stranger_does_not_end_a_server(void)
{
	pthread_t thread;

	listen_at(0);
	IS(pthread_create(&thread, NULL, strange, NULL), 0);
	theirs = raccept(listener, NULL, NULL);
	OK(theirs >= 0);
	IS(pthread_join(thread, NULL), 0);
	close_pair();
}

/* The descriptors are used up: the request is refused, the next one is not. */
static void a_server_without_descriptors_goes_on(void)
{
	struct rlimit old, none;
	int next;

	listen_at(0);
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	set_nonblocking(ours, true);
	IS(rconnect(ours, (struct sockaddr *)&name, sizeof(name)), -1);
	IS(errno, EINPROGRESS);
	OK(has(listener, POLLIN));
	next = dup(0);
	IS(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){ (rlim_t)next, old.rlim_max };
	IS(close(next), 0);
	IS(setrlimit(RLIMIT_NOFILE, &none), 0);
	IS(raccept(listener, NULL, NULL), -1);
	IS(errno, EMFILE);
	IS(setrlimit(RLIMIT_NOFILE, &old), 0);
	OK(has(ours, POLLERR));
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
}

static void *receive_large(void *fd)
{
	IS(rrecv(*(int *)fd, got, LARGE, MSG_WAITALL), LARGE);
	return NULL;
}

static void *echo(void *fd)
{
	static uint8_t piece[9999];
	ssize_t n;

	while ((n = rrecv(*(int *)fd, piece, sizeof(piece), 0)) > 0)
		if (!IS(rsend(*(int *)fd, piece, (size_t)n, 0), n))
			break;
	IS(n, 0);
	return NULL;
}

/* Both wait for one socket, which either may be woken for. */
static void two_threads_send_and_receive(void)
{
	pthread_t thread[3];
	int i;

	if (!open_pair(0))
		return;
	memset(got, 0, sizeof(got));
	IS(pthread_create(&thread[0], NULL, receive_large, &ours), 0);
	IS(pthread_create(&thread[1], NULL, send_large, &ours), 0);
	IS(pthread_create(&thread[2], NULL, echo, &theirs), 0);
	for (i = 0; i < 3; i++)
		IS(pthread_join(thread[i], NULL), 0);
	IS(memcmp(sent, got, LARGE), 0);
	close_pair();
}

static void *waits_for_byte(void *fd)
{
	char byte;

	OK(rrecv(*(int *)fd, &byte, 1, 0) <= 0);
	return NULL;
}

static void *waits_for_event(void *fd)
{
	struct pollfd pfd = { .fd = *(int *)fd, .events = POLLIN };

	IS(rpoll(&pfd, 1, -1), 1);
	return NULL;
}

static void *waits_for_request(void *fd)
{
	IS(raccept(*(int *)fd, NULL, NULL), -1);
	IS(errno, EBADF);
	return NULL;
}

/* Whether or not they wait yet; the end comes before the close. */
static void a_close_wakes_the_threads_that_wait(void)
{
	pthread_t thread[3];
	int i;

	if (!open_pair(0))
		return;
	IS(pthread_create(&thread[0], NULL, waits_for_byte, &ours), 0);
	IS(pthread_create(&thread[1], NULL, waits_for_event, &ours), 0);
	IS(pthread_create(&thread[2], NULL, waits_for_request, &listener), 0);
	close_pair();
	for (i = 0; i < 3; i++)
		IS(pthread_join(thread[i], NULL), 0);
}

static void sets_of_descriptors_are_selected(void)
{
	struct timeval time = { 1L << 22, 0 }, bad = { 0, -1 };
	fd_set in, out;

	if (!open_pair(0))
		return;
	IS(rsend(ours, "x", 1, 0), 1);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(theirs, &in);
	IS(rselect(theirs + 1, &in, NULL, NULL, &time), 1);
	OK(FD_ISSET(theirs, &in));
	FD_SET(ours, &out);
	IS(rselect(ours + 1, NULL, &out, NULL, NULL), 1);
	IS(rselect(-1, &in, NULL, NULL, NULL), -1);
	IS(errno, EINVAL);
	IS(rselect(1, &in, NULL, NULL, &bad), -1);
	IS(errno, EINVAL);
	OK(has(theirs, POLLRDNORM));
	OK(has(ours, POLLWRNORM));
	close_pair();
	IS(rselect(ours + 1, NULL, &out, NULL, NULL), -1);
	IS(errno, EBADF);
}

static void a_full_ring_does_not_block(void)
{
	ssize_t n, total = 0;

	if (!open_pair(0))
		return;
	while ((n = rsend(ours, sent, LARGE, MSG_DONTWAIT)) > 0)
		total += n;
	IS(errno, EAGAIN);
	OK(total > 0 && total < LARGE);
	IS(rrecv(theirs, got, (size_t)total, MSG_WAITALL), total);
	OK(has(ours, POLLOUT));
	close_pair();
}

static void the_peer_has_gone(void)
{
	char text[8] = "";

	if (!open_pair(0))
		return;
	IS(rsend(theirs, "last", 5, 0), 5);
	IS(rclose(theirs), 0);
	OK(has(ours, POLLIN));
	IS(rrecv(ours, text, sizeof(text), 0), 5);
	IS_STR(text, "last");
	IS(rrecv(ours, text, sizeof(text), 0), 0);
	OK(has(ours, POLLHUP));
	IS(rsend(ours, "x", 1, 0), -1);
	IS(errno, EPIPE);
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
}

static void memory_is_written_by_its_offset(void)
{
	static char memory[4096];
	char end;

	if (!open_pair(4))
		return;
	IS(riomap(theirs, memory, sizeof(memory), PROT_WRITE, 0, 8192), 8192);
	IS(rsend(theirs, "m", 1, 0), 1);
	IS(rrecv(ours, &end, 1, 0), 1);
	IS(riowrite(ours, "there", 6, 8192 + 100, 0), 6);
	IS((ssize_t)riowrite(ours, "x", 1, 8192 + 4096, 0), -1);
	IS(errno, EFAULT);
	IS(rsend(ours, "m", 1, 0), 1);
	IS(rrecv(theirs, &end, 1, 0), 1);
	IS_STR(memory + 100, "there");
	IS(riounmap(theirs, memory, sizeof(memory)), 0);
	IS(riounmap(theirs, memory, sizeof(memory)), -1);
	close_pair();
}

static void names_and_options_are_known(void)
{
	struct sockaddr_in peer = { 0 };
	socklen_t len = sizeof(peer);
	int value = 1;

	if (!open_pair(0))
		return;
	IS(rgetpeername(ours, (struct sockaddr *)&peer, &len), 0);
	IS(peer.sin_port, name.sin_port);
	IS(rsetsockopt(ours, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)),
	   0);
	IS(rsetsockopt(ours, SOL_RDMA, RDMA_SQSIZE, &value, sizeof(value)),
	   -1);
	IS(errno, EINVAL);
	IS(rsetsockopt(ours, IPPROTO_TCP, 99, &value, sizeof(value)), -1);
	IS(errno, ENOTSUP);
	close_pair();
}

static void what_is_no_socket_is_reported(void)
{
	char byte;

	IS(rrecv(0, &byte, 1, 0), -1);
	IS(errno, EBADF);
	IS(rclose(-1), -1);
	IS(rsocket(AF_INET, SOCK_RAW, 0), -1);
	IS(errno, ENOTSUP);
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	IS(rsend(ours, "x", 1, 0), -1);
	IS(errno, ENOTCONN);
	name.sin_port = htons(1);
	IS(rconnect(ours, (struct sockaddr *)&name, sizeof(name)), -1);
	IS(errno, ECONNREFUSED);
	IS(rclose(ours), 0);
}

#define MESSAGES 70000

static void *send_many(void *fd)
{
	uint32_t i;

	for (i = 0; i < MESSAGES; i++)
		if (!IS(rsend(*(int *)fd, &i, sizeof(i), 0), sizeof(i)))
			break;
	return NULL;
}

/* Credits are counted in 16 bits. */
static void more_messages_than_credits_have_numbers(void)
{
	uint32_t i, n = 0;
	pthread_t thread;

	if (!open_pair(0))
		return;
	IS(pthread_create(&thread, NULL, send_many, &ours), 0);
	for (i = 0; i < MESSAGES; i++)
		if (!IS(rrecv(theirs, &n, sizeof(n), MSG_WAITALL), sizeof(n)) ||
		    !IS(n, i))
			break;
	IS(pthread_join(thread, NULL), 0);
	close_pair();
}

int main(void)
{
	TEST(bytes_are_peeked_and_taken);
	TEST(pieces_are_written_and_read);
	TEST(more_than_the_rings_take_is_sent);
	TEST(the_smallest_queues_are_enough);
	TEST(a_stranger_does_not_end_a_server);
	TEST(a_server_without_descriptors_goes_on);
	TEST(two_threads_send_and_receive);
	TEST(a_close_wakes_the_threads_that_wait);
	TEST(sets_of_descriptors_are_selected);
	TEST(a_full_ring_does_not_block);
	TEST(the_peer_has_gone);
	TEST(memory_is_written_by_its_offset);
	TEST(names_and_options_are_known);
	TEST(what_is_no_socket_is_reported);
	TEST(more_messages_than_credits_have_numbers);
	return tap_done();
}
