/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/*
 * What of a program's memory requests may use: windows, regions that change,
 * addresses of their own, and memory that is not mapped any more.
 */
#define TO 4096			/* where what is written arrives */
#define AREA (16 * 4096)
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define WRITE (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static struct verbspair pair;
static struct ibv_mr *open_mr;	/* all of the memory, for windows */

static bool open_pair(void)
{
	if (!verbspair_open(&pair))
		return false;
	open_mr = ibv_reg_mr(pair.pd, pair.mem, VERBSPAIR_MEM,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	memset(pair.mem, 0x5a, 64);
	return OK(open_mr);
}

static void close_pair(void)
{
	IS(ibv_dereg_mr(open_mr), 0);
	OK(verbspair_close(&pair));
}

/* Post @wr, signalled, from QP @i, and wait.  Returns its status. */
static int status_of(int i, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc = { 0 };

	wr->send_flags |= IBV_SEND_SIGNALED;
	if (!IS(ibv_post_send(pair.qp[i], wr, &bad), 0) ||
	    !verbspair_wait(&pair, &wc))
		return -1;
	return (int)wc.status;
}

/* Move @len bytes between @from here and @to of @rkey at the peer. */
static int move(enum ibv_wr_opcode op, const void *from, uint32_t lkey,
		uint64_t to, uint32_t rkey, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)from, len, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op,
		.wr.rdma = { .remote_addr = to, .rkey = rkey },
	};

	return status_of(0, &wr);
}

static int write_to(uint64_t to, uint32_t rkey, uint32_t len)
{
	return move(IBV_WR_RDMA_WRITE, pair.mem, pair.mr->lkey, to, rkey, len);
}

static uint64_t at(uint32_t off)
{
	return (uintptr_t)pair.mem + off;
}

static struct ibv_mw_bind_info part(uint32_t off, uint32_t len, int access)
{
	return (struct ibv_mw_bind_info){
		.mr = open_mr, .addr = at(off), .length = len,
		.mw_access_flags = (unsigned int)access,
	};
}

static struct ibv_mw *window_of_type_1(uint32_t len)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = part(TO, len, IBV_ACCESS_REMOTE_WRITE),
	};
	struct ibv_mw *mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_1);
	struct ibv_wc wc = { 0 };

	if (!OK(mw))
		return NULL;
	IS(ibv_bind_mw(pair.qp[1], mw, &bind), 0);
	OK(verbspair_wait(&pair, &wc));
	IS(wc.status, IBV_WC_SUCCESS);
	IS(wc.opcode, IBV_WC_BIND_MW);
	return mw;
}

static void a_window_is_a_part_of_a_region(void)
{
	struct ibv_mw *mw;

	if (!open_pair())
		return;
	mw = window_of_type_1(64);
	IS(write_to(at(TO), mw->rkey, 64), IBV_WC_SUCCESS);
	IS(memcmp(pair.mem, pair.mem + TO, 64), 0);
	IS(ibv_dereg_mr(open_mr), EBUSY);
	IS(write_to(at(TO + 1), mw->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dealloc_mw(mw), 0);
	close_pair();
}

/* Its lkey, which is none: only peers use windows. */
static void a_window_is_for_peers(void)
{
	struct ibv_mw *mw;

	if (!open_pair())
		return;
	mw = window_of_type_1(64);
	IS(move(IBV_WR_RDMA_WRITE, pair.mem + TO, mw->rkey, at(0),
		pair.mr->rkey, 64), IBV_WC_LOC_PROT_ERR);
	IS(ibv_dealloc_mw(mw), 0);
	close_pair();
}

static void a_window_that_is_bound_again_has_another_key(void)
{
	struct ibv_mw_bind nothing = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc = { 0 };
	struct ibv_mw *mw;
	uint32_t old;

	if (!open_pair())
		return;
	mw = window_of_type_1(64);
	old = mw->rkey;
	IS(ibv_bind_mw(pair.qp[1], mw, &nothing), 0);
	OK(verbspair_wait(&pair, &wc));
	IS(wc.status, IBV_WC_SUCCESS);
	OK(mw->rkey != old);
	IS(write_to(at(TO), old, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dealloc_mw(mw), 0);
	close_pair();
}

/* Bind a new window by a request of QP 1.  @ret is its key. */
static struct ibv_mw *window_of_type_2(uint32_t *ret)
{
	struct ibv_mw *mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = mw,
			.bind_info = part(TO, 64, IBV_ACCESS_REMOTE_WRITE),
		},
	};

	if (!OK(mw))
		return NULL;
	*ret = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.rkey = *ret;
	IS(status_of(1, &wr), IBV_WC_SUCCESS);
	return mw;
}

static void a_window_is_invalidated_here(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };
	struct ibv_mw *mw;
	uint32_t key = 0;

	if (!open_pair())
		return;
	mw = window_of_type_2(&key);
	IS(write_to(at(TO), key, 64), IBV_WC_SUCCESS);
	wr.invalidate_rkey = key;
	IS(status_of(1, &wr), IBV_WC_SUCCESS);
	IS(write_to(at(TO), key, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dealloc_mw(mw), 0);
	close_pair();
}

static void a_window_ends_with_its_queue_pair(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	if (!open_pair())
		return;
	mw = window_of_type_2(&key);
	IS(ibv_dereg_mr(open_mr), EBUSY);
	IS(ibv_destroy_qp(pair.qp[1]), 0);
	pair.qp[1] = NULL;
	IS(ibv_dereg_mr(open_mr), 0);
	IS(ibv_dealloc_mw(mw), 0);
	OK(verbspair_close(&pair));
}

static void a_window_is_invalidated_by_the_peer(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV }, *bad;
	struct ibv_wc wc = { 0 };
	struct ibv_mw *mw;
	uint32_t key = 0;

	if (!open_pair())
		return;
	mw = window_of_type_2(&key);
	IS(verbspair_recv(&pair, 1, 7, 64, 8), 0);
	wr.invalidate_rkey = key;
	IS(ibv_post_send(pair.qp[0], &wr, &bad), 0);
	OK(verbspair_wait(&pair, &wc));
	IS(wc.wr_id, 7);
	IS(wc.status, IBV_WC_SUCCESS);
	IS(wc.wc_flags, IBV_WC_WITH_INV);
	IS(wc.invalidated_rkey, key);
	IS(write_to(at(TO), key, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dealloc_mw(mw), 0);
	close_pair();
}

/* What the peer may not use it may not invalidate. */
static void a_region_is_not_invalidated(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV };

	if (!open_pair())
		return;
	IS(verbspair_recv(&pair, 1, 7, 64, 8), 0);
	wr.invalidate_rkey = pair.mr->rkey;
	OK(status_of(0, &wr) != IBV_WC_SUCCESS);
	close_pair();
}

/* Post from QP 0 a write, a request that fails, and @last: wr_id 1 to 3. */
static void post_behind_failure(struct ibv_send_wr *last)
{
	struct ibv_send_wr bad_key = { .wr_id = 2, .next = last,
				       .opcode = IBV_WR_LOCAL_INV,
				       .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr first = { .wr_id = 1, .next = &bad_key,
				     .opcode = IBV_WR_RDMA_WRITE,
				     .send_flags = IBV_SEND_SIGNALED }, *bad;

	last->wr_id = 3;
	last->send_flags = IBV_SEND_SIGNALED;
	IS(ibv_post_send(pair.qp[0], &first, &bad), 0);
}

/* They are completed in their order, and nothing is bound behind it. */
static void a_bind_that_fails_ends_the_queue_pair(void)
{
	static const enum ibv_wc_status status[] = {
		IBV_WC_SUCCESS, IBV_WC_MW_BIND_ERR, IBV_WC_WR_FLUSH_ERR,
	};
	struct ibv_send_wr bind = { .opcode = IBV_WR_BIND_MW };
	struct ibv_wc wc = { 0 };
	struct ibv_mw *mw;
	int i;

	if (!open_pair())
		return;
	mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2);
	OK(mw);
	bind.bind_mw.mw = mw;
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	bind.bind_mw.bind_info = part(TO, 64, IBV_ACCESS_REMOTE_WRITE);
	post_behind_failure(&bind);
	for (i = 0; i < 3; i++) {
		OK(verbspair_wait(&pair, &wc));
		IS(wc.wr_id, i + 1);
		IS(wc.status, status[i]);
	}
	IS(ibv_dereg_mr(open_mr), 0);
	IS(ibv_dealloc_mw(mw), 0);
	OK(verbspair_close(&pair));
}

/* The statuses of the next @n completions, by their wr_id. */
static void wait_for(int n, int *status)
{
	struct ibv_wc wc = { 0 };

	while (n-- && verbspair_wait(&pair, &wc))
		status[wc.wr_id] = (int)wc.status;
}

static int change_state(int i, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(pair.qp[i], &attr, IBV_QP_STATE);
}

/* The peer's receive, which is flushed in the end, shows what was sent. */
static void nothing_is_sent_behind_a_bind_that_fails(void)
{
	struct ibv_send_wr send;
	int status[8], drained;

	for (drained = 0; drained < 2; drained++) {
		if (!open_pair())
			return;
		send = (struct ibv_send_wr){ .opcode = IBV_WR_SEND };
		IS(verbspair_recv(&pair, 1, 7, 64, 8), 0);
		if (drained)
			IS(change_state(0, IBV_QPS_SQD), 0);
		post_behind_failure(&send);
		if (drained)
			IS(change_state(0, IBV_QPS_RTS), 0);
		wait_for(3, status);
		IS(change_state(1, IBV_QPS_ERR), 0);
		wait_for(1, status);
		IS(status[1], IBV_WC_SUCCESS);
		IS(status[2], IBV_WC_MW_BIND_ERR);
		IS(status[3], IBV_WC_WR_FLUSH_ERR);
		IS(status[7], IBV_WC_WR_FLUSH_ERR);
		close_pair();
	}
}

static void a_region_is_registered_anew(void)
{
	uint8_t *other = calloc(1, 4096);

	if (!open_pair())
		return;
	IS(ibv_rereg_mr(open_mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			WRITE), 0);
	IS(write_to(at(TO), open_mr->rkey, 64), IBV_WC_SUCCESS);
	IS(ibv_rereg_mr(open_mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other,
			4096, 0), 0);
	OK(open_mr->addr == other);
	IS(write_to((uintptr_t)other, open_mr->rkey, 64), IBV_WC_SUCCESS);
	IS(memcmp(pair.mem, other, 64), 0);
	IS(ibv_rereg_mr(open_mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other,
			0, 0), IBV_REREG_MR_ERR_INPUT);
	IS(errno, EINVAL);
	IS(write_to(at(TO), open_mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	close_pair();
	free(other);
}

static void domains_exclude_each_other(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	if (!open_pair())
		return;
	pd = ibv_alloc_pd(pair.context);
	mr = ibv_reg_mr(pd, pair.mem, VERBSPAIR_MEM, ALL);
	OK(mr);
	IS(write_to(at(TO), mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dereg_mr(mr), 0);
	IS(ibv_dealloc_pd(pd), 0);
	close_pair();
}

static void a_region_has_addresses_of_its_own(void)
{
	struct ibv_mr *mr, *zero;

	if (!open_pair())
		return;
	mr = ibv_reg_mr_iova(pair.pd, pair.mem + TO, 4096, 1ull << 60, WRITE);
	zero = ibv_reg_mr(pair.pd, pair.mem + 2 * TO, 4096,
			  WRITE | IBV_ACCESS_ZERO_BASED);
	OK(mr && zero);
	IS(write_to((1ull << 60) + 128, mr->rkey, 64), IBV_WC_SUCCESS);
	IS(memcmp(pair.mem, pair.mem + TO + 128, 64), 0);
	IS(write_to(64, zero->rkey, 64), IBV_WC_SUCCESS);
	IS(memcmp(pair.mem, pair.mem + 2 * TO + 64, 64), 0);
	IS(write_to(at(TO), mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
	IS(ibv_dereg_mr(mr), 0);
	IS(ibv_dereg_mr(zero), 0);
	close_pair();
}

static void all_memory_is_one_region(void)
{
	struct ibv_mr *mr;
	uint8_t *later;

	if (!open_pair())
		return;
	mr = ibv_reg_mr(pair.pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND);
	later = malloc(64);
	OK(mr && later);
	IS(write_to((uintptr_t)later, mr->rkey, 64), IBV_WC_SUCCESS);
	IS(memcmp(pair.mem, later, 64), 0);
	IS(ibv_dereg_mr(mr), 0);
	free(later);
	close_pair();
}

/* A region whose memory is unmapped from its second page on. */
static uint8_t *area;
static struct ibv_mr *unmapped(void)
{
	struct ibv_mr *mr;

	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(pair.pd, area, AREA, ALL);
	OK(mr);
	/* As unmapped, and the process maps nothing else there. */
	mmap(area + 4096, AREA - 4096, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return mr;
}

static void close_unmapped(struct ibv_mr *mr)
{
	IS(ibv_dereg_mr(mr), 0);
	munmap(area, 4096);
	close_pair();
}

/* As peers use it: the request fails, and no signal ends the program. */
static void peers_may_use_memory_that_is_unmapped(void)
{
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	static const uint32_t len[] = { 32768, 32768, 8 };
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < 3; i++) {
		if (!open_pair())
			return;
		mr = unmapped();
		IS(move(op[i], pair.mem, pair.mr->lkey, (uintptr_t)area + 4096,
			mr->rkey, len[i]), IBV_WC_REM_ACCESS_ERR);
		close_unmapped(mr);
	}
}

/* A word is stored otherwise than what is longer. */
static void a_word_of_memory_that_is_unmapped_is_written(void)
{
	struct ibv_mr *mr;

	if (!open_pair())
		return;
	mr = unmapped();
	IS(write_to((uintptr_t)area + 4096, mr->rkey, 8),
	   IBV_WC_REM_ACCESS_ERR);
	close_unmapped(mr);
}

static void requests_may_use_memory_that_is_unmapped(void)
{
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < 2; i++) {
		if (!open_pair())
			return;
		mr = unmapped();
		IS(move(op[i], area, mr->lkey, at(0), pair.mr->rkey, 32768),
		   IBV_WC_LOC_PROT_ERR);
		close_unmapped(mr);
	}
}

/* While the program waits, pier's own thread moves the bytes. */
static void the_helper_may_use_memory_that_is_unmapped(void)
{
	struct ibv_sge sge = { 0 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc = { 0 };
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	void *context;

	if (!open_pair())
		return;
	mr = unmapped();
	sge = (struct ibv_sge){ at(0), 32768, pair.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)area + 4096;
	wr.wr.rdma.rkey = mr->rkey;
	IS(ibv_req_notify_cq(ibv_cq_ex_to_cq(pair.cq), 0), 0);
	IS(ibv_post_send(pair.qp[0], &wr, &bad), 0);
	IS(ibv_get_cq_event(pair.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	OK(verbspair_wait(&pair, &wc));
	IS(wc.status, IBV_WC_REM_ACCESS_ERR);
	close_unmapped(mr);
}

/* Sanitizers have handlers of their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void write_to_nothing(int number)
{
	(void)number;
	_exit(7);
}

/* The wait status of a child with a device, that accesses no memory. */
static int status_of_child(bool with_handler)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (with_handler)
			signal(SIGSEGV, write_to_nothing);
		if (!verbspair_open(&pair))
			_exit(1);
		*(volatile int *)mmap(NULL, 4096, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
		_exit(2);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void faults_of_the_program_are_its_own(void)
{
	int status = status_of_child(false);

	OK(WIFSIGNALED(status));
	IS(WTERMSIG(status), SIGSEGV);
	status = status_of_child(true);
	OK(WIFEXITED(status));
	IS(WEXITSTATUS(status), 7);
}
#endif

static void a_completion_queue_changes_its_size(void)
{
	struct ibv_cq *cq;
	int i;

	if (!open_pair())
		return;
	cq = ibv_cq_ex_to_cq(pair.cq);
	IS(ibv_resize_cq(cq, 2 * VERBSPAIR_WR), 0);
	IS(cq->cqe, 2 * VERBSPAIR_WR);
	for (i = 0; i < 3; i++)
		IS(write_to(at(TO), pair.mr->rkey, 64), IBV_WC_SUCCESS);
	IS(ibv_resize_cq(cq, 0), EINVAL);
	close_pair();
}

int main(void)
{
	TEST(a_window_is_a_part_of_a_region);
	TEST(a_window_is_for_peers);
	TEST(a_window_that_is_bound_again_has_another_key);
	TEST(a_window_is_invalidated_here);
	TEST(a_window_is_invalidated_by_the_peer);
	TEST(a_window_ends_with_its_queue_pair);
	TEST(a_region_is_not_invalidated);
	TEST(a_bind_that_fails_ends_the_queue_pair);
	TEST(nothing_is_sent_behind_a_bind_that_fails);
	TEST(a_region_is_registered_anew);
	TEST(domains_exclude_each_other);
	TEST(a_region_has_addresses_of_its_own);
	TEST(all_memory_is_one_region);
	TEST(peers_may_use_memory_that_is_unmapped);
	TEST(a_word_of_memory_that_is_unmapped_is_written);
	TEST(requests_may_use_memory_that_is_unmapped);
	TEST(the_helper_may_use_memory_that_is_unmapped);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	TEST(faults_of_the_program_are_its_own);
#endif
	TEST(a_completion_queue_changes_its_size);
	return tap_done();
}
