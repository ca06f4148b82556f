/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/*
 * Calls that wait for an event, and signals: as in read(2), which rdma-core's
 * calls are, a handler with SA_RESTART does not end them, and another does.
 */
#define SIGNALS 10
#define TIMEOUT_MS 2000

static struct verbspair pair;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct ibv_qp *shared;	/* with a shared receive queue */

static atomic_int handled;
static atomic_bool returned;
static _Atomic pid_t waiting;	/* the thread that waits, or 0 */
static int result, error;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static int get_cq_event(void)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(pair.channel, &cq, &context))
		return -1;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int get_async_event(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(pair.context, &event))
		return -1;
	ibv_ack_async_event(&event);
	return 0;
}

static int get_cm_event(void)
{
	struct rdma_cm_event *event;

	return rdma_get_cm_event(channel, &event) || rdma_ack_cm_event(event) ?
	       -1 : 0;
}

static void *wait_in(void *call)
{
	waiting = gettid();
	result = (*(int (**)(void))call)();
	error = errno;
	returned = true;
	return NULL;
}

/* Returns false: it has returned instead. */
static bool is_asleep(void)
{
	char path[64], state = 0;
	FILE *file;

	while (!waiting)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)waiting);
	while (!returned && state != 'S') {
		file = fopen(path, "re");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (file)
			fclose(file);
	}
	return !returned;
}

/* Interrupt @call, which waits, again and again; then @wake ends it. */
static void interrupt(int flags, int (*call)(void), void (*wake)(void))
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = flags };
	pthread_t thread;
	int i, before;

	IS(sigaction(SIGUSR1, &action, NULL), 0);
	waiting = 0;
	returned = false;
	if (!IS(pthread_create(&thread, NULL, wait_in, &call), 0))
		return;
	for (i = 0; i < SIGNALS && is_asleep(); i++) {
		before = handled;
		IS(pthread_kill(thread, SIGUSR1), 0);
		while (handled == before)
			sched_yield();
	}
	if (wake)
		wake();
	pthread_join(thread, NULL);
}

static void goes_on(int (*call)(void), void (*wake)(void))
{
	interrupt(SA_RESTART, call, wake);
	IS(result, 0);
}

static void is_ended(int (*call)(void))
{
	interrupt(0, call, NULL);
	IS(result, -1);
	IS(error, EINTR);
}

static void complete(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;

	IS(verbspair_recv(&pair, 1, 1, 0, 64), 0);
	IS(ibv_post_send(pair.qp[0], &wr, &bad), 0);
}

static void a_wait_for_a_completion_has_the_flags_of_the_handler(void)
{
	if (!verbspair_open(&pair))
		return;
	IS(ibv_req_notify_cq(ibv_cq_ex_to_cq(pair.cq), 0), 0);
	is_ended(get_cq_event);
	goes_on(get_cq_event, complete);
	OK(verbspair_close(&pair));
}

static void fail(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	IS(ibv_modify_qp(shared, &attr, IBV_QP_STATE), 0);
}

static void a_wait_for_an_asynchronous_event_has_them(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };

	if (!verbspair_open(&pair))
		return;
	attr.send_cq = ibv_cq_ex_to_cq(pair.cq);
	attr.recv_cq = attr.send_cq;
	attr.srq = ibv_create_srq(pair.pd, &srq_attr);
	shared = ibv_create_qp(pair.pd, &attr);
	if (OK(shared)) {
		is_ended(get_async_event);
		goes_on(get_async_event, fail);
		IS(ibv_destroy_qp(shared), 0);
	}
	IS(ibv_destroy_srq(attr.srq), 0);
	OK(verbspair_close(&pair));
}

static void resolve(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = htons(1),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	IS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS),
	   0);
}

static void a_wait_for_an_event_of_a_connection_has_them(void)
{
	channel = rdma_create_event_channel();
	if (!IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0))
		return;
	is_ended(get_cm_event);
	goes_on(get_cm_event, resolve);
	IS(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * Programs end threads so that read(2) would keep.  The sanitizers do not see
 * which frames have ended.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void a_thread_that_waits_is_cancelled(void)
{
	int (*call)(void) = get_cm_event;
	pthread_t thread;
	void *ret = NULL;

	channel = rdma_create_event_channel();
	waiting = 0;
	returned = false;
	if (!IS(pthread_create(&thread, NULL, wait_in, &call), 0))
		return;
	OK(is_asleep());
	IS(pthread_cancel(thread), 0);
	IS(pthread_join(thread, &ret), 0);
	OK(ret == PTHREAD_CANCELED);
	rdma_destroy_event_channel(channel);
}
#endif

int main(void)
{
	TEST(a_wait_for_a_completion_has_the_flags_of_the_handler);
	TEST(a_wait_for_an_asynchronous_event_has_them);
	TEST(a_wait_for_an_event_of_a_connection_has_them);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	TEST(a_thread_that_waits_is_cancelled);
#endif
	return tap_done();
}
