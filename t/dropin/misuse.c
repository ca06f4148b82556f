/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/*
 * Programs that end, fork or destroy as they should not: each call has the
 * result that verbs specify, and a process always ends.
 */
#define LIMIT_S 20

static struct verbspair pair;

/* The wait status of a child that runs @fn; SIGALRM: it does not end. */
static int status_of(void (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		alarm(LIMIT_S);
		fn();
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void ends_with(void (*fn)(void), int wanted)
{
	int status = status_of(fn);

	if (OK(WIFEXITED(status)))
		IS(WEXITSTATUS(status), wanted);
	else
		tap_note("signal %d", WTERMSIG(status));
}

static void objects_in_use_are_not_destroyed(void)
{
	if (!verbspair_open(&pair))
		return;
	IS(ibv_dealloc_pd(pair.pd), EBUSY);
	IS(ibv_destroy_cq(ibv_cq_ex_to_cq(pair.cq)), EBUSY);
	IS(ibv_destroy_comp_channel(pair.channel), EBUSY);
	OK(verbspair_close(&pair));
}

/* Of the same device, opened once more. */
static void objects_of_another_context_are_refused(void)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 1 } };
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct verbspair other;

	if (!verbspair_open(&pair) || !verbspair_open(&other))
		return;
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(pair.cq);
	init.srq = ibv_create_srq(other.pd, &shared);
	OK(init.srq);
	errno = 0;
	OK(!ibv_create_qp(pair.pd, &init));
	IS(errno, EINVAL);
	IS(ibv_rereg_mr(pair.mr, IBV_REREG_MR_CHANGE_PD, other.pd, NULL, 0, 0),
	   IBV_REREG_MR_ERR_INPUT);
	IS(errno, EINVAL);
	IS(ibv_destroy_srq(init.srq), 0);
	OK(verbspair_close(&other));
	OK(verbspair_close(&pair));
}

static void a_list_ends_with_null(void)
{
	struct ibv_device **list;
	int count = -1;

	list = ibv_get_device_list(&count);
	OK(list && count > 0);
	if (list)
		OK(!list[count]);
	ibv_free_device_list(list);
}

static void what_is_null_is_freed_without_effect(void)
{
	struct ibv_context **contexts = rdma_get_devices(NULL);

	OK(contexts);
	rdma_free_devices(contexts);
	rdma_free_devices(NULL);
	ibv_free_device_list(NULL);
	rdma_freeaddrinfo(NULL);
	rdma_destroy_event_channel(NULL);
}

/* As rdma-core's libraries have it: programs count down, and go too far. */
static void a_poll_for_less_than_none_takes_none(void)
{
	struct ibv_wc wc;

	if (!verbspair_open(&pair))
		return;
	IS(ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 0, &wc), 0);
	IS(ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), -1, &wc), 0);
	OK(verbspair_close(&pair));
}

/* Its objects are used no more; others of the process go on. */
static void close_first(void)
{
	struct verbspair other;

	if (!verbspair_open(&pair) || !verbspair_open(&other))
		_exit(1);
	if (ibv_close_device(pair.context))
		_exit(2);
	exit(verbspair_close(&other) ? 3 : 4);
}

static void a_device_may_be_closed_before_its_objects(void)
{
	ends_with(close_first, 3);
}

static void leave_all_open(void)
{
	exit(verbspair_open(&pair) ? 3 : 1);
}

static void a_process_ends_with_all_open(void)
{
	ends_with(leave_all_open, 3);
}

static atomic_bool polls;

static void *poll_on(void *arg)
{
	struct ibv_wc wc;

	for (;;) {
		ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 1, &wc);
		polls = true;
	}
	return arg;
}

static void exit_while_polling(void)
{
	pthread_t thread[2];
	struct ibv_wc wc;
	int i;

	if (!verbspair_open(&pair))
		_exit(1);
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, poll_on, NULL);
	for (i = 0; i < 1000; i++)
		ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 1, &wc);
	exit(3);
}

static void a_process_ends_while_threads_poll(void)
{
	ends_with(exit_while_polling, 3);
}

static void exit_now(int number)
{
	(void)number;
	exit(3);
}

static pthread_t polling;

static void *interrupt(void *arg)
{
	pthread_kill(polling, SIGUSR1);
	return arg;
}

/* The thread may be within a call, and has its lock. */
static void exit_in_a_handler(void)
{
	pthread_t thread;

	signal(SIGUSR1, exit_now);
	if (!verbspair_open(&pair))
		_exit(1);
	polling = pthread_self();
	pthread_create(&thread, NULL, interrupt, NULL);
	poll_on(NULL);
}

static void a_process_ends_in_a_signal_handler(void)
{
	int i;

	for (i = 0; i < 10; i++)
		ends_with(exit_in_a_handler, 3);
}

static void close_all(void)
{
	if (!verbspair_close(&pair))
		_exit(5);
}

static void close_at_exit(void)
{
	if (!verbspair_open(&pair))
		_exit(1);
	atexit(close_all);
	exit(3);
}

static void objects_may_be_destroyed_at_exit(void)
{
	ends_with(close_at_exit, 3);
}

static int send_one(void)
{
	struct ibv_sge sge = { (uintptr_t)pair.mem, 8, pair.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	return !verbspair_recv(&pair, 1, 1, 64, 8) &&
	       !ibv_post_send(pair.qp[0], &wr, &bad) &&
	       verbspair_wait(&pair, &wc) && !wc.status &&
	       verbspair_wait(&pair, &wc) && !wc.status;
}

/* As the child has no helper, its own device is one that it opens. */
static void use_a_device(void)
{
	if (!verbspair_open(&pair) || !send_one())
		_exit(1);
	exit(verbspair_close(&pair) ? 3 : 2);
}

static void end_at_once(void)
{
	exit(3);
}

static void a_child_ends_and_the_parent_goes_on(void)
{
	if (!verbspair_open(&pair))
		return;
	OK(send_one());
	ends_with(end_at_once, 3);
	OK(send_one());
	OK(verbspair_close(&pair));
}

static void a_child_may_open_devices_of_its_own(void)
{
	struct verbspair parents;

	if (!verbspair_open(&parents))
		return;
	ends_with(use_a_device, 3);
	OK(verbspair_close(&parents));
}

static void fork_while_threads_poll(void)
{
	pthread_t thread;
	int i, status;

	if (!verbspair_open(&pair))
		_exit(1);
	polls = false;
	pthread_create(&thread, NULL, poll_on, NULL);
	/* A child cannot end if AddressSanitizer was beginning a thread. */
	while (!polls)
		sched_yield();
	for (i = 0; i < 20; i++) {
		status = status_of(end_at_once);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
			_exit(2);
	}
	exit(3);
}

/* Its first two descriptors are those that the helper had. */
static void destroy_all(void)
{
	int fd[8], i;

	for (i = 0; i < 8; i++)
		fd[i] = memfd_create("own", MFD_CLOEXEC);
	if (!verbspair_close(&pair))
		_exit(1);
	for (i = 0; i < 8; i++)
		if (lseek(fd[i], 0, SEEK_END))
			_exit(2);
	exit(3);
}

static void fork_and_destroy(void)
{
	pthread_t thread;
	int i, status;

	if (!verbspair_open(&pair))
		_exit(1);
	polls = false;
	pthread_create(&thread, NULL, poll_on, NULL);
	while (!polls)
		sched_yield();
	for (i = 0; i < 50; i++) {
		status = status_of(destroy_all);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
			_exit(2);
	}
	exit(3);
}

static void children_destroy_what_threads_use(void)
{
	ends_with(fork_and_destroy, 3);
}

static void children_end_whatever_threads_did_when_they_were_made(void)
{
	ends_with(fork_while_threads_poll, 3);
}

/* Of two children: one writes into the other's memory. */
static struct {
	atomic_uint qpn[2], rkey;
	_Atomic uintptr_t addr;
	atomic_bool polled;
} *meeting;

/* Connect QP 0 of @i to that of the other child, which is on this host too. */
static void meet(int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp peer;

	if (!verbspair_open(&pair))
		_exit(1);
	if (!i) {
		meeting->rkey = pair.mr->rkey;
		meeting->addr = (uintptr_t)pair.mem;
	}
	if (ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE))
		_exit(2);
	meeting->qpn[i] = pair.qp[0]->qp_num;
	while (!meeting->qpn[!i])
		sched_yield();
	peer = *pair.qp[0];
	peer.qp_num = meeting->qpn[!i];
	if (verbspair_connect(pair.qp[0], &peer, IBV_QPS_RTS))
		_exit(2);
}

/* Returns the status of its completion. */
static int write_word(uint64_t word)
{
	struct ibv_sge sge = { (uintptr_t)pair.mem, 8, pair.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { meeting->addr, meeting->rkey },
	}, *bad;
	struct ibv_wc wc = { 0 };

	memcpy(pair.mem, &word, sizeof(word));
	if (ibv_post_send(pair.qp[0], &wr, &bad) || !verbspair_wait(&pair, &wc))
		_exit(4);
	return (int)wc.status;
}

static void write_twice(void)
{
	meet(1);
	if (write_word(1))
		_exit(5);
	while (!meeting->polled)
		sched_yield();
	_exit(write_word(2) ? 6 : 3);
}

/* It polls its queue, too, so that acknowledgements may wait for its answer. */
static void read_twice(void)
{
	volatile uint64_t *word;
	struct ibv_wc wc;
	int i;

	meet(0);
	word = (volatile uint64_t *)pair.mem;
	while (*word != 1)
		;
	for (i = 0; i < 100; i++)
		ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 1, &wc);
	meeting->polled = true;
	while (*word != 2)
		;
	exit(3);
}

static void what_a_process_has_got_is_acknowledged_at_its_end(void)
{
	pid_t writer;
	int status = -1;

	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(meeting != MAP_FAILED))
		return;
	writer = fork();
	if (!writer) {
		alarm(LIMIT_S);
		write_twice();
	}
	ends_with(read_twice, 3);
	waitpid(writer, &status, 0);
	if (OK(WIFEXITED(status)))
		IS(WEXITSTATUS(status), 3);
	munmap(meeting, sizeof(*meeting));
}

/* An id that listens on a free port of lo, in @addr. */
static struct rdma_cm_id *listener_new(struct rdma_event_channel *channel,
				       struct sockaddr_in *addr)
{
	struct rdma_cm_id *id = NULL;

	*addr = (struct sockaddr_in){ .sin_family = AF_INET };
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	IS(rdma_bind_addr(id, (struct sockaddr *)addr), 0);
	IS(rdma_listen(id, 1), 0);
	addr->sin_port = rdma_get_src_port(id);
	return id;
}

static void request_by_rdma_cm(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_event_channel *theirs = rdma_create_event_channel();
	struct rdma_conn_param param = { .qp_num = 17 };
	struct rdma_cm_event *event;
	struct sockaddr_in addr;
	struct rdma_cm_id *id;

	listener_new(theirs, &addr);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000) ||
	    rdma_get_cm_event(channel, &event) || rdma_ack_cm_event(event) ||
	    rdma_resolve_route(id, 1000) ||
	    rdma_get_cm_event(channel, &event) || rdma_ack_cm_event(event) ||
	    rdma_connect(id, &param) || rdma_get_cm_event(theirs, &event))
		_exit(1);
	_exit(event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? 3 : 2);
}

static void a_child_may_connect_as_its_parent_has(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr;
	struct rdma_cm_id *id = listener_new(channel, &addr);

	ends_with(request_by_rdma_cm, 3);
	IS(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	return tap_skip_all("ThreadSanitizer has no threads in a child of a "
			    "process with threads");
#endif
	TEST(objects_in_use_are_not_destroyed);
	TEST(objects_of_another_context_are_refused);
	TEST(a_list_ends_with_null);
	TEST(what_is_null_is_freed_without_effect);
	TEST(a_poll_for_less_than_none_takes_none);
	TEST(a_device_may_be_closed_before_its_objects);
	TEST(a_process_ends_with_all_open);
	TEST(a_process_ends_while_threads_poll);
	TEST(a_process_ends_in_a_signal_handler);
	TEST(objects_may_be_destroyed_at_exit);
	TEST(what_a_process_has_got_is_acknowledged_at_its_end);
	TEST(a_child_ends_and_the_parent_goes_on);
	TEST(a_child_may_open_devices_of_its_own);
	TEST(a_child_may_connect_as_its_parent_has);
	TEST(children_destroy_what_threads_use);
	TEST(children_end_whatever_threads_did_when_they_were_made);
	return tap_done();
}
