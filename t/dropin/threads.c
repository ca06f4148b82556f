/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/*
 * Threads that post on one QP, and poll one queue, as verbs allow, also while
 * another one creates, changes and destroys objects of their device.
 */
#define THREADS 2
#define ADDS 500		/* of each thread */
#define CQE (4 * VERBSPAIR_WR)	/* and one more, in turn */

static struct verbspair pair;
static atomic_int completed, failed;
static atomic_int posting;	/* threads that are not done */
static atomic_uint rounds;	/* of objects */

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
	atomic_fetch_sub(&posting, 1);
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
	atomic_fetch_sub(&posting, 1);
	return NULL;
}

/* A queue pair that is connected to itself, and ends. */
static bool use_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *qp = ibv_create_qp(pair.pd, &init);
	bool ok;

	ok = qp && !verbspair_connect(qp, qp, IBV_QPS_RTS) &&
	     !ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	return qp && !ibv_destroy_qp(qp) && ok;
}

/* Objects of the device; @mem is no other thread's. */
static bool use_objects(uint8_t *mem)
{
	struct ibv_cq *cq = ibv_create_cq(pair.context, 4, NULL, pair.channel,
					  0);
	struct ibv_mr *mr = ibv_reg_mr(pair.pd, mem, 64,
				       IBV_ACCESS_LOCAL_WRITE);
	bool ok;

	ok = cq && mr && !ibv_req_notify_cq(cq, 0) && use_qp(cq);
	return cq && !ibv_destroy_cq(cq) && mr && !ibv_dereg_mr(mr) && ok;
}

/* The queue and the queue pair that the others use. */
static bool change_theirs(void)
{
	struct ibv_cq *cq = ibv_cq_ex_to_cq(pair.cq);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_resize_cq(cq, CQE + (int)(rounds % 2)) &&
	       !ibv_req_notify_cq(cq, 0) &&
	       !ibv_query_qp(pair.qp[0], &attr, IBV_QP_STATE, &init) &&
	       attr.qp_state == IBV_QPS_RTS;
}

static void *use_all(void *mem)
{
	do {
		if (!use_objects(mem) || !change_theirs())
			atomic_fetch_add(&failed, 1);
		rounds++;
	} while (posting && !failed);
	return NULL;
}

static void count_in_threads(void *(*add)(void *), void *(*other)(void *))
{
	pthread_t thread[THREADS + 1];
	int i, count = other ? THREADS + 1 : THREADS;

	if (!verbspair_open(&pair))
		return;
	completed = 0;
	failed = 0;
	rounds = 0;
	posting = THREADS;
	for (i = 0; i < count; i++)
		IS(pthread_create(&thread[i], NULL, i < THREADS ? add : other,
				  pair.mem + 64 * i), 0);
	for (i = 0; i < count; i++)
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
	count_in_threads(add_by_post, NULL);
}

static void two_threads_build_requests_of_one_qp(void)
{
	count_in_threads(add_by_wr, NULL);
}

static void objects_come_and_go_while_two_threads_post(void)
{
	count_in_threads(add_by_post, use_all);
}

int main(void)
{
	TEST(two_threads_post_on_one_qp);
	TEST(two_threads_build_requests_of_one_qp);
	TEST(objects_come_and_go_while_two_threads_post);
	return tap_done();
}
