/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/rc/qpn.h"
#include "fabric/soft/soft.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"
#include "t/lib/verbschan.h"

/*
 * Protection domains of programs of libibverbs: a key is valid for the queue
 * pairs of its own.
 */
#define SECOND (1000 * PIER__MS)
#define PORT (SOFT_QPN_PORT_MIN + 9)	/* that QPNs can carry */
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define SRC 4096
#define DST (PAIR_MEM / 2)
#define LEN 3000
#define IOVA UINT64_C(0x1000)	/* of a region, instead of its address */

static struct softpair *pair;
static struct softpair_end *a, *b;
static const int here, there;		/* two PDs */

static const enum ibv_wr_opcode remote[] = {
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_ATOMIC_CMP_AND_SWP,
};
#define REMOTES (sizeof(remote) / sizeof(*remote))

static void open_pair(void)
{
	struct softpair_opts opts = { .port = PORT, .verbs = true };

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

static void reconnect(void)
{
	OK(softpair_idle(pair));
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	softpair_connect(pair, a->qp, b->qp);
}

static bool is_all(const struct softpair_end *end, uint8_t byte)
{
	return end->mem[0] == byte &&
	       !memcmp(end->mem, end->mem + 1, PAIR_MEM - 1);
}

/* What a request of a, for @addr of b by @key, ends with. */
static enum ibv_wc_status use(enum ibv_wr_opcode opcode, uint32_t key,
			      uint64_t addr, uint32_t len)
{
	struct ibv_sge sge = softpair_sge(a, SRC, len);
	struct ibv_send_wr wr = {
		.opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	uint32_t n = softpair_poll(a);

	if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ) {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = key;
	} else {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 1;
	}
	IS(softpair_post(a->qp, &wr), 0);
	if (!OK(softpair_wait(pair, 0, n + 1, SECOND)))
		return IBV_WC_GENERAL_ERR;
	return a->wc[n].status;
}

/* Each request is refused, and changes no memory. */
static void each_refused(uint32_t key, uint64_t addr)
{
	size_t i;

	for (i = 0; i < REMOTES; i++) {
		memset(a->mem, 0xa5, PAIR_MEM);
		memset(b->mem, 0x5a, PAIR_MEM);
		IS(use(remote[i], key, addr, 8), IBV_WC_REM_ACCESS_ERR);
		OK(is_all(a, 0xa5));
		OK(is_all(b, 0x5a));
		IS(b->qp->state, IBV_QPS_ERR);
		reconnect();
	}
}

static void each_works(uint32_t key, uint64_t addr)
{
	size_t i;

	for (i = 0; i < REMOTES; i++)
		IS(use(remote[i], key, addr, 8), IBV_WC_SUCCESS);
}

static uint64_t start(void)
{
	return (uintptr_t)b->mem + DST;
}

static void a_key_is_for_peers_of_qps_of_its_pd(void)
{
	const void *pds[] = { NULL, &here, &there };
	size_t key, qp;

	open_pair();
	for (key = 0; key < 3; key++)
		for (qp = 0; qp < 3; qp++) {
			b->mr.pd = pds[key];
			pier__soft_qp_protect(b->qp, pds[qp]);
			if (key == qp)
				each_works(b->mr.mr.rkey, start());
			else
				each_refused(b->mr.mr.rkey, start());
		}
	softpair_close(pair);
}

static int events[4], event_count;	/* all of one QP */
static int qp_async;

static void take_event(int type, void *async)
{
	OK(async == &qp_async);
	if (event_count < 4)
		events[event_count] = type;
	event_count++;
}

static void a_key_of_another_pd_is_reported(void)
{
	open_pair();
	event_count = 0;
	b->ep->event = take_event;
	pier__soft_qp_async(b->qp, &qp_async);
	b->mr.pd = &there;
	pier__soft_qp_protect(b->qp, &here);
	IS(use(IBV_WR_RDMA_WRITE, b->mr.mr.rkey, start(), 8),
	   IBV_WC_REM_ACCESS_ERR);
	IS(event_count, 2);
	IS(events[0], IBV_EVENT_QP_ACCESS_ERR);
	IS(events[1], IBV_EVENT_QP_LAST_WQE_REACHED);
	softpair_close(pair);
}

/* The QP of a has requests of its own with a key of another PD. */
static void a_key_of_another_pd_is_no_local_key(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	size_t i;

	open_pair();
	memset(b->mem, 0x5a, PAIR_MEM);
	memset(a->mem, 0xa5, PAIR_MEM);
	for (i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		a->mr.pd = &there;
		pier__soft_qp_protect(a->qp, &here);
		IS(softpair_recv(b, 1, DST, 8), 0);
		IS(use(opcodes[i], b->mr.mr.rkey, start(), 8),
		   IBV_WC_LOC_PROT_ERR);
		IS(a->qp->state, IBV_QPS_ERR);
		IS(b->qp->state, IBV_QPS_RTS);
		reconnect();
	}
	OK(is_all(b, 0x5a));
	OK(is_all(a, 0xa5));
	softpair_close(pair);
}

/* A region that the device has registered. */
static struct pier__fdev *fdev;
static struct soft_mr_table *own;	/* keys of the pair */
static struct pier__mr *mr;

/* The endpoint of b looks up keys of the device; @iova 0: its address. */
static void open_registered(const void *pd, uint64_t iova)
{
	open_pair();
	own = b->ep->keys;
	b->ep->keys = ((struct soft_fdev *)fdev)->keys;
	IS(pier__soft_reg_in(fdev, pd, b->mem + DST, LEN,
			     iova ? iova : start(), ALL, &mr), 0);
	pier__soft_qp_protect(b->qp, &here);
}

static void close_registered(void)
{
	uint32_t key = mr->rkey;

	pier__soft_dev.dereg(mr);
	each_refused(key, IOVA);
	b->ep->keys = own;
	softpair_close(pair);
}

static void a_region_is_registered_in_a_pd(void)
{
	open_registered(&here, 0);
	IS(mr->lkey, mr->rkey);
	each_works(mr->rkey, start() + LEN - 8);
	pier__soft_qp_protect(b->qp, &there);
	each_refused(mr->rkey, start());
	pier__soft_qp_protect(b->qp, NULL);
	each_refused(mr->rkey, start());
	close_registered();
}

static void a_region_without_a_pd_is_for_qps_without_one(void)
{
	open_registered(NULL, 0);
	each_refused(mr->rkey, start());
	pier__soft_qp_protect(b->qp, NULL);
	each_works(mr->rkey, start());
	close_registered();
}

static void requests_have_the_address_that_a_region_was_given(void)
{
	open_registered(&here, IOVA);
	softpair_pattern(a->mem + SRC, LEN, 1);
	memset(b->mem, 0, PAIR_MEM);
	IS(use(IBV_WR_RDMA_WRITE, mr->rkey, IOVA, LEN), IBV_WC_SUCCESS);
	OK(softpair_is_pattern(b->mem + DST, LEN, 1));
	IS(b->mem[DST - 1], 0);
	IS(b->mem[DST + LEN], 0);
	memset(a->mem, 0, PAIR_MEM);
	IS(use(IBV_WR_RDMA_READ, mr->rkey, IOVA, LEN), IBV_WC_SUCCESS);
	OK(softpair_is_pattern(a->mem + SRC, LEN, 1));
	each_refused(mr->rkey, IOVA - 8);
	each_refused(mr->rkey, IOVA + LEN);
	each_refused(mr->rkey, start());
	each_refused(mr->rkey, 0);
	close_registered();
}

static void the_last_address_may_be_that_of_a_region(void)
{
	open_registered(&here, UINT64_MAX - 7 - LEN);
	each_works(mr->rkey, UINT64_MAX - 15);
	each_refused(mr->rkey, UINT64_MAX - 7);
	close_registered();
}

/* Its address is a multiple of 8 for the peer alone. */
static void an_atomic_on_a_crooked_word_is_refused(void)
{
	open_registered(&here, IOVA + 4);
	memset(b->mem, 0x5a, PAIR_MEM);
	IS(use(IBV_WR_ATOMIC_FETCH_AND_ADD, mr->rkey, IOVA + 8, 8),
	   IBV_WC_REM_ACCESS_ERR);
	OK(is_all(b, 0x5a));
	reconnect();
	close_registered();
}

static void what_no_region_can_be_is_refused(void)
{
	static uint8_t mem[64];
	struct pier__mr *none = NULL;
	uint64_t at = (uintptr_t)mem;

	IS(pier__soft_reg_in(fdev, &here, NULL, 1, 0, 0, &none), -EINVAL);
	IS(pier__soft_reg_in(fdev, &here, mem, 0, at, 0, &none), -EINVAL);
	IS(pier__soft_reg_in(fdev, &here, mem, 64, UINT64_MAX - 63, 0, &none),
	   -EINVAL);
	IS(pier__soft_reg_in(fdev, &here, mem, 64, at,
			     IBV_ACCESS_REMOTE_WRITE, &none), -EINVAL);
	IS(pier__soft_reg_in(fdev, &here, mem, 64, at,
			     IBV_ACCESS_REMOTE_ATOMIC, &none), -EINVAL);
	OK(!none);
	IS(pier__soft_reg_in(fdev, &here, mem, 64, UINT64_MAX - 64,
			     IBV_ACCESS_REMOTE_READ, &none), 0);
	pier__soft_dev.dereg(none);
}

int main(void)
{
	fdev = verbschan_device();
	TEST(a_key_is_for_peers_of_qps_of_its_pd);
	TEST(a_key_of_another_pd_is_reported);
	TEST(a_key_of_another_pd_is_no_local_key);
	TEST(a_region_is_registered_in_a_pd);
	TEST(a_region_without_a_pd_is_for_qps_without_one);
	TEST(requests_have_the_address_that_a_region_was_given);
	TEST(the_last_address_may_be_that_of_a_region);
	TEST(an_atomic_on_a_crooked_word_is_refused);
	TEST(what_no_region_can_be_is_refused);
	pier__soft_dev.close(fdev);
	return tap_done();
}
