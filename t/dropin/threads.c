/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/* Threads that post on one QP, and poll one queue, as verbs allow. */
#define THREADS 2
#define ADDS 500		/* of each thread */

static struct verbspair pair;
static atomic_int completed, failed;

static uint64_t *counter(void)
{
	return (uint64_t *)(pair.mem + VERBSPAIR_MEM / 2);
}

/* Take completions of either thread. */
static void poll_some(void)
{
	struct ibv_wc wc[8];
	int n = ibv_poll_cq(ibv_cq_ex_to_cq(pair.cq), 8, wc), i;

	if (n < 0)
		atomic_fetch_add(&failed, 1);
	for (i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			atomic_fetch_add(&failed, 1);
	if (n > 0)
		atomic_fetch_add(&completed, n);
}

static int post_add(uint8_t *result)
{
	struct ibv_sge sge = { (uintptr_t)result, 8, pair.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)counter(),
			       .compare_add = 1, .rkey = pair.mr->rkey },
	}, *bad;

	return ibv_post_send(pair.qp[0], &wr, &bad);
}

/* A full queue is no error: it empties. */
static void *add_by_post(void *arg)
{
	int i, err;

	for (i = 0; i < ADDS; i++) {
		while ((err = post_add(arg)) == ENOMEM) {
			poll_some();
			sched_yield();
		}
		if (err)
			atomic_fetch_add(&failed, 1);
	}
	return NULL;
}

static int wr_add(uint8_t *result)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair.qp[0]);

	ibv_wr_start(qp);
	qp->wr_id = 0;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, pair.mr->rkey, (uintptr_t)counter(), 1);
	ibv_wr_set_sge(qp, pair.mr->lkey, (uintptr_t)result, 8);
	return ibv_wr_complete(qp);
}

static void *add_by_wr(void *arg)
{
	int i, err;

	for (i = 0; i < ADDS; i++) {
		while ((err = wr_add(arg)) == ENOMEM) {
			poll_some();
			sched_yield();
		}
		if (err)
			atomic_fetch_add(&failed, 1);
	}
	return NULL;
}

static void count_in_threads(void *(*add)(void *))
{
	pthread_t thread[THREADS];
	int i;

	if (!verbspair_open(&pair))
		return;
	completed = 0;
	failed = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, add, pair.mem + 64 * i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	while (completed < THREADS * ADDS && !failed)
		poll_some();
	IS(completed, THREADS * ADDS);
	IS(failed, 0);
	IS(*counter(), THREADS * ADDS);
	verbspair_close(&pair);
}

static void two_threads_post_on_one_qp(void)
{
	count_in_threads(add_by_post);
}

static void two_threads_build_requests_of_one_qp(void)
{
	count_in_threads(add_by_wr);
}

int main(void)
{
	TEST(two_threads_post_on_one_qp);
	TEST(two_threads_build_requests_of_one_qp);
	return tap_done();
}
