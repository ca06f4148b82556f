/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qpn.h"
#include "t/lib/mw.h"
#include "t/lib/tap.h"

#define SECOND (1000 * PIER__MS)
#define PORT (SOFT_QPN_PORT_MIN + 9)	/* that QPNs can carry */
#define SWAP 9
#define BEHIND (PAIR_MEM - MW_DST - MW_LEN)	/* bytes */

const enum ibv_wr_opcode mw_remote[MW_REMOTES] = {
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_ATOMIC_CMP_AND_SWP,
};

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_window *window;
static struct ibv_sge piece;		/* of the last request */

struct softpair *mw_open(int access)
{
	struct softpair_opts opts = {
		.port = PORT, .verbs = true,
		.mr_access = access | IBV_ACCESS_MW_BIND,
	};

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	IS(pier__soft_window_create(b->ep, NULL, &window), 0);
	return pair;
}

void mw_close(void)
{
	pier__soft_window_destroy(b->ep, window);
	IS(b->mr.windows, 0);
	softpair_close(pair);
}

void mw_renew(const void *pd)
{
	pier__soft_window_destroy(b->ep, window);
	IS(pier__soft_window_create(b->ep, pd, &window), 0);
}

uint32_t mw_key(void)
{
	return pier__soft_window_key(window);
}

void mw_reconnect(void)
{
	OK(softpair_idle(pair));
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	softpair_connect(pair, a->qp, b->qp);
}

uint64_t mw_start(void)
{
	return (uintptr_t)b->mem + MW_DST;
}

struct soft_local mw_binding(bool by_qp, int access)
{
	return (struct soft_local){
		.wr_id = 7,
		.flags = IBV_SEND_SIGNALED,
		.window = window,
		.to = {
			.region = &b->mr, .addr = mw_start(), .len = MW_LEN,
			.access = access, .by_qp = by_qp,
		},
		.key = mw_key(),
	};
}

struct soft_local mw_invalidation(uint32_t key)
{
	return (struct soft_local){
		.wr_id = 8, .flags = IBV_SEND_SIGNALED, .key = key,
	};
}

void mw_completed(uint32_t i, uint64_t wr_id, enum ibv_wc_status status,
		  enum ibv_wc_opcode opcode, const struct soft_qp *qp)
{
	IS(b->wc[i].wr_id, wr_id);
	IS(b->wc[i].status, status);
	IS(b->wc[i].opcode, opcode);
	IS(b->wc[i].qp_num, qp->qpn);
}

void mw_local_by(struct soft_qp *qp, const struct soft_local *op,
		 enum ibv_wc_status status)
{
	uint32_t n = softpair_poll(b);

	IS(pier__soft_local_post(qp, op), 0);
	if (IS(softpair_poll(b), n + 1))
		mw_completed(n, op->wr_id, status,
			     op->window ? IBV_WC_BIND_MW : IBV_WC_LOCAL_INV,
			     qp);
}

void mw_local(const struct soft_local *op, enum ibv_wc_status status)
{
	mw_local_by(b->qp, op, status);
}

uint32_t mw_bind_by(struct soft_qp *qp, bool by_qp, int access)
{
	struct soft_local op = mw_binding(by_qp, access);
	uint32_t old = op.key;

	op.key ^= 0x55;
	mw_local_by(qp, &op, IBV_WC_SUCCESS);
	IS(b->mr.windows, 1);
	if (by_qp)
		IS(mw_key(), op.key);
	else
		OK(mw_key() != old);
	return mw_key();
}

uint32_t mw_bind(bool by_qp, int access)
{
	return mw_bind_by(b->qp, by_qp, access);
}

struct ibv_send_wr mw_request(enum ibv_wr_opcode opcode, uint32_t key,
			      uint64_t addr, uint32_t len)
{
	struct ibv_send_wr wr = {
		.wr_id = opcode, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &piece,
		.num_sge = 1,
	};

	piece = softpair_sge(a, MW_SRC, len);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = MW_ADD;
		wr.wr.atomic.swap = SWAP;
	} else if (opcode == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = key;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = key;
	}
	return wr;
}

enum ibv_wc_status mw_use_by(struct soft_qp *qp, enum ibv_wr_opcode opcode,
			     uint32_t key, uint64_t addr, uint32_t len)
{
	struct ibv_send_wr wr = mw_request(opcode, key, addr, len);
	uint32_t n = softpair_poll(a);

	IS(softpair_post(qp, &wr), 0);
	if (!OK(softpair_wait(pair, 0, n + 1, SECOND)))
		return IBV_WC_GENERAL_ERR;
	IS(a->wc[n].wr_id, opcode);
	return a->wc[n].status;
}

enum ibv_wc_status mw_use(enum ibv_wr_opcode opcode, uint32_t key,
			  uint64_t addr, uint32_t len)
{
	return mw_use_by(a->qp, opcode, key, addr, len);
}

bool mw_is_all(const uint8_t *mem, size_t len, uint8_t byte)
{
	return mem[0] == byte && !memcmp(mem, mem + 1, len - 1);
}

/* On the last word of the window, which begins at @addr. */
static void atomic_works(struct soft_qp *qp, enum ibv_wr_opcode opcode,
			 uint32_t key, uint64_t addr, uint64_t after)
{
	uint64_t word = MW_ADD;

	memcpy(b->mem + MW_DST + MW_LEN - 8, &word, sizeof(word));
	IS(mw_use_by(qp, opcode, key, addr + MW_LEN - 8, 8), IBV_WC_SUCCESS);
	memcpy(&word, b->mem + MW_DST + MW_LEN - 8, sizeof(word));
	IS(word, after);
	memcpy(&word, a->mem + MW_SRC, sizeof(word));
	IS(word, MW_ADD);
}

void mw_works_by(struct soft_qp *qp, uint32_t key, uint64_t addr)
{
	memset(b->mem, 0x5a, PAIR_MEM);
	softpair_pattern(a->mem + MW_SRC, MW_LEN, 1);
	IS(mw_use_by(qp, IBV_WR_RDMA_WRITE, key, addr, MW_LEN), IBV_WC_SUCCESS);
	OK(softpair_is_pattern(b->mem + MW_DST, MW_LEN, 1));
	OK(mw_is_all(b->mem, MW_DST, 0x5a));
	OK(mw_is_all(b->mem + MW_DST + MW_LEN, BEHIND, 0x5a));
	memset(a->mem, 0, PAIR_MEM);
	IS(mw_use_by(qp, IBV_WR_RDMA_READ, key, addr, MW_LEN), IBV_WC_SUCCESS);
	OK(softpair_is_pattern(a->mem + MW_SRC, MW_LEN, 1));
	OK(mw_is_all(a->mem + MW_SRC + MW_LEN, PAIR_MEM - MW_SRC - MW_LEN, 0));
	atomic_works(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, key, addr, 2 * MW_ADD);
	atomic_works(qp, IBV_WR_ATOMIC_CMP_AND_SWP, key, addr, SWAP);
}

void mw_works(uint32_t key)
{
	mw_works_by(a->qp, key, mw_start());
}

void mw_denied(enum ibv_wr_opcode opcode, uint32_t key, uint64_t addr,
	       uint32_t len)
{
	uint64_t naks = b->ep->counters->naks_sent[2];

	memset(a->mem, 0xa5, PAIR_MEM);
	memset(b->mem, 0x5a, PAIR_MEM);
	IS(mw_use(opcode, key, addr, len), IBV_WC_REM_ACCESS_ERR);
	IS(b->ep->counters->naks_sent[2], naks + 1);
	OK(mw_is_all(a->mem, PAIR_MEM, 0xa5));
	OK(mw_is_all(b->mem, PAIR_MEM, 0x5a));
	IS(a->qp->state, IBV_QPS_ERR);
	IS(b->qp->state, IBV_QPS_ERR);
	mw_reconnect();
}

void mw_each_denied(uint32_t key, uint64_t addr)
{
	size_t i;

	for (i = 0; i < MW_REMOTES; i++)
		mw_denied(mw_remote[i], key, addr, 8);
}
