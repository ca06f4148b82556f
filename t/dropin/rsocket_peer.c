/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dropin/rsocket/rs.h"
#include "t/lib/tap.h"

/* A stream, and a peer of plain rdma_cm and verbs that sends what it likes. */
#define WAIT_MS 20000
#define RING 4096
#define RECEIVES 8
#define VALUE(op, value) ((uint32_t)(op) << RS_OP_SHIFT | (value))

static struct sockaddr_in name;
static struct rdma_cm_id *peer;
static struct ibv_mr *mr;
static int listener, ours;
static atomic_int signals;
static pthread_t closer;
static struct {
	struct rs_range range[RS_HALVES];
	uint8_t ring[RING];
} memory;

static void listen_at(void)
{
	socklen_t len = sizeof(name);

	name = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	listener = rsocket(AF_INET, SOCK_STREAM, 0);
	IS(rbind(listener, (struct sockaddr *)&name, len), 0);
	IS(rlisten(listener, 4), 0);
	IS(rgetsockname(listener, (struct sockaddr *)&name, &len), 0);
}

static struct rs_hello hello_of_peer(void)
{
	return (struct rs_hello){
		.version = RS_VERSION,
		.flags = htobe32(1) == 1 ? RS_BIG_ENDIAN : 0,
		.credits = htobe16(RECEIVES),
		.table = { htobe64((uintptr_t)memory.range),
			   htobe32(mr->rkey), htobe32(RS_HALVES) },
		.data = { htobe64((uintptr_t)memory.ring), htobe32(mr->rkey),
			  htobe32(RING) },
	};
}

static void *connect_peer(void *ended)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 64, .max_recv_wr = RECEIVES,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct rs_hello hello;
	struct rdma_conn_param param = {
		.private_data = &hello, .private_data_len = sizeof(hello),
		.retry_count = 7, .rnr_retry_count = 7,
	};

	memset(&memory, 0, sizeof(memory));
	IS(rdma_create_id(NULL, &peer, NULL, RDMA_PS_TCP), 0);
	IS(rdma_resolve_addr(peer, NULL, (struct sockaddr *)&name, WAIT_MS), 0);
	IS(rdma_resolve_route(peer, WAIT_MS), 0);
	IS(rdma_create_qp(peer, NULL, &init), 0);
	mr = ibv_reg_mr(peer->pd, &memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!OK(mr))
		return ended;
	hello = hello_of_peer();
	IS(rdma_connect(peer, &param), 0);
	return ended;
}

static bool open_peer(void)
{
	pthread_t thread;

	listen_at();
	IS(pthread_create(&thread, NULL, connect_peer, NULL), 0);
	ours = raccept(listener, NULL, NULL);
	IS(pthread_join(thread, NULL), 0);
	return OK(ours >= 0);
}

static void close_peer(void)
{
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
	rdma_disconnect(peer);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(peer);
}

/* A message without data. */
static void say(uint32_t imm)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htobe32(imm),
	}, *bad;

	IS(ibv_post_send(peer->qp, &wr, &bad), 0);
}

static void linger(int seconds)
{
	struct linger set = { 1, seconds }, is = { 0, 0 };
	socklen_t len = sizeof(is);

	IS(rsetsockopt(ours, SOL_SOCKET, SO_LINGER, &set, len), 0);
	IS(rgetsockopt(ours, SOL_SOCKET, SO_LINGER, &is, &len), 0);
	IS(is.l_linger, seconds);
}

/* It posts no receive, for ever. */
static void a_stuck_peer_does_not_hold_a_close(void)
{
	int seconds;

	for (seconds = 0; seconds < 2; seconds++) {
		if (!open_peer())
			return;
		linger(seconds);
		IS(rsend(ours, "x", 1, 0), 1);
		close_peer();
	}
}

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/* Receives are posted when the closer was interrupted. */
static void *receive_late(void *ended)
{
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_wc wc;
	int i, n = 0, seen;

	for (i = 0; i < 3; i++) {
		seen = signals;
		IS(pthread_kill(closer, SIGUSR1), 0);
		while (signals == seen)
			sched_yield();
	}
	for (i = 0; i < RECEIVES; i++)
		IS(ibv_post_recv(peer->qp, &wr, &bad), 0);
	while (n < 2) {
		if (ibv_poll_cq(peer->recv_cq, 1, &wc) != 1)
			continue;
		if (!IS(wc.status, IBV_WC_SUCCESS))
			break;
		n++;
	}
	IS(be32toh(wc.imm_data), VALUE(RS_CONTROL, RS_DISCONNECT));
	IS_STR((char *)memory.ring, "last");
	return ended;
}

static void a_signal_does_not_end_a_close(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;

	if (!open_peer())
		return;
	IS(sigaction(SIGUSR1, &action, NULL), 0);
	closer = pthread_self();
	IS(rfcntl(ours, F_SETFL, O_NONBLOCK), 0);
	IS(rsend(ours, "last", 5, 0), 5);
	IS(pthread_create(&thread, NULL, receive_late, NULL), 0);
	IS(rclose(ours), 0);
	IS(pthread_join(thread, NULL), 0);
	IS(rclose(listener), 0);
	rdma_disconnect(peer);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(peer);
}

/* @imm ends the stream with @err. */
static void ends_with(uint32_t imm, int count, int err)
{
	char byte;

	if (!open_peer())
		return;
	while (count--)
		say(imm);
	IS(rrecv(ours, &byte, 1, 0), -1);
	IS(errno, err);
	linger(0);
	close_peer();
}

static void more_than_the_ring_takes_ends_the_stream(void)
{
	ends_with(VALUE(RS_DATA, 1u << 28), 1, EPROTO);
}

static void an_unknown_message_ends_the_stream(void)
{
	ends_with(VALUE(5, 1), 1, EPROTO);
}

static void a_place_that_there_is_not_ends_the_stream(void)
{
	ends_with(VALUE(RS_IOMAP, 1u << 20), 1, EPROTO);
}

static void the_end_is_seen(void)
{
	char byte;

	if (!open_peer())
		return;
	say(VALUE(RS_CONTROL, RS_DISCONNECT));
	IS(rrecv(ours, &byte, 1, 0), 0);
	close_peer();
}

static bool has(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return rpoll(&pfd, 1, WAIT_MS) == 1 && pfd.revents & events;
}

/* A program of rdma_cm that rejects @name's next two requests. */
static void *reject_two(void *listen)
{
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 2; i++) {
		if (!IS(rdma_get_request(listen, &id), 0))
			break;
		IS(rdma_reject(id, NULL, 0), 0);
		rdma_destroy_ep(id);
	}
	return NULL;
}

/* It may be known at once, where this process has to wait for a processor. */
static void connect_fails_without_waiting(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	IS(rfcntl(fd, F_SETFL, O_NONBLOCK), 0);
	IS(rconnect(fd, (struct sockaddr *)&name, sizeof(name)), -1);
	if (errno == EINPROGRESS) {
		OK(has(fd, POLLERR));
		IS(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len), 0);
		IS(err, ECONNREFUSED);
	} else {
		IS(errno, ECONNREFUSED);
	}
	IS(rfcntl(fd, F_SETFL, 0), 0);
}

static void connect_fails(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	connect_fails_without_waiting(fd);
	IS(rconnect(fd, (struct sockaddr *)&name, sizeof(name)), -1);
	IS(errno, ECONNREFUSED);
	IS(rsend(fd, "x", 1, 0), -1);
	IS(errno, ENOTCONN);
	IS(rrecv(fd, &err, 1, 0), -1);
	IS(errno, ENOTCONN);
	IS(rgetpeername(fd, (struct sockaddr *)&name, &len), -1);
	IS(errno, ENOTCONN);
}

static void connect_is_rejected(void)
{
	struct rdma_cm_id *id;
	pthread_t thread;

	if (!IS(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0))
		return;
	IS(rdma_bind_addr(id, (struct sockaddr *)&name), 0);
	IS(rdma_listen(id, 4), 0);
	name.sin_port = rdma_get_src_port(id);
	IS(pthread_create(&thread, NULL, reject_two, id), 0);
	connect_fails(ours);
	IS(pthread_join(thread, NULL), 0);
	IS(rdma_destroy_id(id), 0);
}

static void *connect_it(void *fd)
{
	IS(rconnect(*(int *)fd, (struct sockaddr *)&name, sizeof(name)), 0);
	return NULL;
}

/* The address that it was bound to, its options and its descriptor stay. */
static void a_connect_that_has_failed_is_repeated(void)
{
	char text[6];
	int theirs, size = 77;
	socklen_t len = sizeof(name);
	pthread_t thread;

	name = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	IS(rsetsockopt(ours, SOL_RDMA, RDMA_SQSIZE, &size, sizeof(size)), 0);
	IS(rbind(ours, (struct sockaddr *)&name, len), 0);
	connect_is_rejected();
	listener = rsocket(AF_INET, SOCK_STREAM, 0);
	IS(rbind(listener, (struct sockaddr *)&name, len), 0);
	IS(rlisten(listener, 4), 0);
	IS(pthread_create(&thread, NULL, connect_it, &ours), 0);
	theirs = raccept(listener, NULL, NULL);
	IS(pthread_join(thread, NULL), 0);
	len = sizeof(size);
	IS(rgetsockopt(ours, SOL_RDMA, RDMA_SQSIZE, &size, &len), 0);
	IS(size, 77);
	IS(rsend(ours, "hello", 6, 0), 6);
	IS(rrecv(theirs, text, 6, MSG_WAITALL), 6);
	IS(rclose(theirs), 0);
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
}

/* This program as a peer that connects, shows that it has, and waits. */
static int connect_and_wait(const char *port)
{
	name = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	ours = rsocket(AF_INET, SOCK_STREAM, 0);
	if (rconnect(ours, (struct sockaddr *)&name, sizeof(name)) ||
	    rsend(ours, "x", 1, 0) != 1 || rrecv(ours, &name, 1, 0) != 1 ||
	    rsend(ours, "z", 1, 0) != 1)
		return 1;
	pause();
	return 0;
}

/* A peer that is another process, connected to @ours. */
static pid_t start_peer(void)
{
	char port[8], byte;
	pid_t pid;

	listen_at();
	snprintf(port, sizeof(port), "%u", ntohs(name.sin_port));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "peer", port, NULL);
		_exit(1);
	}
	ours = raccept(listener, NULL, NULL);
	OK(ours >= 0);
	IS(rrecv(ours, &byte, 1, 0), 1);
	IS(rsend(ours, "y", 1, 0), 1);	/* mostly nothing is on its way then */
	IS(rrecv(ours, &byte, 1, 0), 1);
	return pid;
}

static void kill_peer(pid_t pid)
{
	IS(kill(pid, SIGKILL), 0);
	IS(waitpid(pid, NULL, 0), pid);
}

/* It sends no message about its end. */
static void a_peer_that_is_killed_is_noticed(void)
{
	char byte;

	kill_peer(start_peer());
	IS(rrecv(ours, &byte, 1, 0), -1);
	IS(errno, ECONNRESET);
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
	kill_peer(start_peer());
	OK(has(ours, POLLIN));
	IS(rrecv(ours, &byte, 1, 0), -1);
	IS(errno, ECONNRESET);
	IS(rclose(ours), 0);
	IS(rclose(listener), 0);
}

int main(int argc, char *argv[])
{
	if (argc == 2)
		return connect_and_wait(argv[1]);
	TEST(a_stuck_peer_does_not_hold_a_close);
	TEST(a_signal_does_not_end_a_close);
	TEST(more_than_the_ring_takes_ends_the_stream);
	TEST(an_unknown_message_ends_the_stream);
	TEST(a_place_that_there_is_not_ends_the_stream);
	TEST(the_end_is_seen);
	TEST(a_connect_that_has_failed_is_repeated);
	TEST(a_peer_that_is_killed_is_noticed);
	return tap_done();
}
