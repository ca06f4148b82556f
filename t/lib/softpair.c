/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"

#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

struct soft_qp *softpair_qp(struct softpair_end *end)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 256,
		.max_send_sge = SOFT_SEND_SGE,
		.max_inline_data = SOFT_INLINE_MAX,
	};
	struct soft_qp *qp = NULL;

	must(pier__soft_qp_create(end->cq, end->srq, &cap, &qp), "qp");
	return qp;
}

static void end_open(struct softpair *pair, int i)
{
	struct softpair_end *end = &pair->end[i];

	end->io = vnet_node(&pair->net, pair->opts.ip[i], pair->opts.port);
	must(pier__soft_mr_table_create(&end->keys), "keys");
	must(pier__soft_ep_create(end->io, end->keys, &end->ep), "ep");
	if (pair->opts.verbs)
		pier__soft_ep_for_verbs(end->ep);
	must(pier__soft_cq_create(end->ep, PAIR_WC, &end->cq), "cq");
	must(pier__soft_srq_create(end->ep, 1024, 4, &end->srq), "srq");
	end->mem = aligned_alloc(4096, PAIR_MEM);
	if (!end->mem)
		must(-1, "memory");
	memset(end->mem, 0, PAIR_MEM);
	end->mr.addr = (uintptr_t)end->mem;
	end->mr.len = PAIR_MEM;
	end->mr.access = pair->opts.mr_access;
	must(pier__soft_mr_add(end->keys, &end->mr), "mr");
	end->qp = softpair_qp(end);
	vnet_attach(end->io, end->ep);
}

void softpair_defaults(struct softpair_opts *opts)
{
	bool v6 = opts->ip[0];

	if (!v6) {
		opts->ip[0] = "192.0.2.1";
		opts->ip[1] = "192.0.2.2";
	}
	if (!opts->port)
		opts->port = 5000;
	if (!opts->mtu)
		opts->mtu = 1024;
	if (!opts->timeout)
		opts->timeout = 14;
	if (!opts->retry_cnt && !opts->no_retry)
		opts->retry_cnt = 7;
	if (!opts->rnr_retry && !opts->no_rnr_retry)
		opts->rnr_retry = 7;
	if (!opts->min_rnr_timer)
		opts->min_rnr_timer = 12;
	if (!opts->rd_atomic)
		opts->rd_atomic = 4;
	if (!opts->max_dest_rd_atomic)
		opts->max_dest_rd_atomic = 4;
	if (opts->max_dest_rd_atomic == 0xff)
		opts->max_dest_rd_atomic = 0;
	if (!opts->access)
		opts->access = ALL;
	if (!opts->mr_access)
		opts->mr_access = ALL;
}

int softpair_init(struct soft_qp *qp, const struct softpair_opts *opts)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = opts->access,
	};

	return pier__soft_qp_modify(qp, &attr, IBV_QP_STATE |
				    IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS, NULL, 0);
}

int softpair_rtr_by(struct soft_qp *qp, const struct softpair_opts *opts, int i,
		    const struct soft_addr *src, const struct soft_addr *dst,
		    uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = peer,
		.rq_psn = opts->psn[!i],
		.max_dest_rd_atomic = opts->max_dest_rd_atomic,
		.min_rnr_timer = opts->min_rnr_timer,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .hop_limit = 64 } },
	};

	while (128u << attr.path_mtu < opts->mtu)
		attr.path_mtu++;
	memcpy(&attr.ah_attr.grh.dgid, &dst->ip, 16);
	return pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER, src, dst->port);
}

int softpair_rtr(struct softpair *pair, int i, struct soft_qp *qp,
		 uint32_t peer)
{
	struct soft_addr src = vnet_addr(pair->end[i].io);
	struct soft_addr dst = vnet_addr(pair->end[!i].io);

	return softpair_rtr_by(qp, &pair->opts, i, &src, &dst, peer);
}

int softpair_rts_by(struct soft_qp *qp, const struct softpair_opts *opts,
		    int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = opts->psn[i],
		.timeout = opts->timeout,
		.retry_cnt = opts->retry_cnt,
		.rnr_retry = opts->rnr_retry,
		.max_rd_atomic = opts->rd_atomic,
	};

	return pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
				    NULL, 0);
}

int softpair_state(struct soft_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return pier__soft_qp_modify(qp, &attr, IBV_QP_STATE, NULL, 0);
}

int softpair_rts(struct softpair *pair, int i, struct soft_qp *qp)
{
	return softpair_rts_by(qp, &pair->opts, i);
}

void softpair_connect(struct softpair *pair, struct soft_qp *a,
		      struct soft_qp *b)
{
	must(softpair_init(a, &pair->opts), "INIT");
	must(softpair_init(b, &pair->opts), "INIT");
	must(softpair_rtr(pair, 0, a, b->qpn), "RTR");
	must(softpair_rtr(pair, 1, b, a->qpn), "RTR");
	must(softpair_rts(pair, 0, a), "RTS");
	must(softpair_rts(pair, 1, b), "RTS");
}

struct softpair *softpair_open(const struct softpair_opts *opts, uint64_t seed)
{
	struct softpair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		must(-1, "memory");
	pair->opts = *opts;
	softpair_defaults(&pair->opts);
	vnet_init(&pair->net, seed);
	end_open(pair, 0);
	end_open(pair, 1);
	softpair_connect(pair, pair->end[0].qp, pair->end[1].qp);
	return pair;
}

void softpair_close(struct softpair *pair)
{
	struct softpair_end *end;
	int i;

	for (i = 0; i < 2; i++) {
		end = &pair->end[i];
		pier__soft_mr_remove(end->keys, &end->mr);
		pier__soft_qp_destroy(end->qp);
		pier__soft_srq_destroy(end->srq);
		pier__soft_cq_destroy(end->cq);
		pier__soft_ep_destroy(end->ep);
		pier__soft_mr_table_destroy(end->keys);
		free(end->mem);
	}
	vnet_fini(&pair->net);
	free(pair);
}

struct ibv_sge softpair_sge(const struct softpair_end *end, uint32_t off,
			    uint32_t len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)end->mem + off,
		.length = len,
		.lkey = end->mr.mr.lkey,
	};
}

int softpair_post(struct soft_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return pier__soft_qp_post(qp, wr, &bad);
}

int softpair_send(struct softpair_end *end, uint64_t wr_id,
		  enum ibv_wr_opcode opcode, uint32_t off, uint32_t len,
		  const struct softpair_end *peer, uint32_t peer_off)
{
	struct ibv_sge sge = softpair_sge(end, off, len);
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.imm_data = (uint32_t)wr_id ^ 0x12345678,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)peer->mem + peer_off;
	wr.wr.rdma.rkey = peer->mr.mr.rkey;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = (uintptr_t)peer->mem + peer_off;
		wr.wr.atomic.rkey = peer->mr.mr.rkey;
		wr.wr.atomic.compare_add = wr_id;
		wr.wr.atomic.swap = wr_id + 1;
	}
	return softpair_post(end->qp, &wr);
}

int softpair_recv(struct softpair_end *end, uint64_t wr_id, uint32_t off,
		  uint32_t len)
{
	struct ibv_sge sge = softpair_sge(end, off, len);
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return pier__soft_srq_post(end->srq, &wr, &bad);
}

/* Count the faults among @n completions, which are behind the others. */
static int without_faults(struct softpair_end *end, int n)
{
	while (n && end->wc[end->wcs + n - 1].status == IBV_WC_GENERAL_ERR) {
		n--;
		end->faults++;
	}
	return n;
}

uint32_t softpair_poll(struct softpair_end *end)
{
	int n;

	while (end->wcs < PAIR_WC) {
		n = pier__soft_cq_poll(end->cq, &end->wc[end->wcs],
				       PAIR_WC - end->wcs);
		if (n <= 0)
			break;
		end->wcs += without_faults(end, n);
	}
	return end->wcs;
}

struct wait {
	struct softpair_end *end;
	uint32_t count;
};

static bool enough(void *arg)
{
	struct wait *wait = arg;

	return softpair_poll(wait->end) >= wait->count;
}

bool softpair_wait(struct softpair *pair, int i, uint32_t count, uint64_t limit)
{
	struct wait wait = { &pair->end[i], count };

	vnet_run(&pair->net, limit, enough, &wait);
	return softpair_poll(wait.end) >= count;
}

bool softpair_idle(struct softpair *pair)
{
	bool idle = vnet_run(&pair->net, 60000 * PIER__MS, NULL, NULL);

	softpair_poll(&pair->end[0]);
	softpair_poll(&pair->end[1]);
	return idle;
}

void softpair_inject(struct softpair *pair, int i, struct soft_hdr *hdr,
		     const void *data, uint32_t len)
{
	struct soft_tx tx = {
		.src = vnet_addr(pair->end[!i].io),
		.dst = vnet_addr(pair->end[i].io),
		.payload_len = len,
		.iov_count = 1,
		.iov = { { (void *)data, len } },
	};
	struct vnet_packet packet;

	hdr->pad = tx.pad = -len & 3;
	tx.hdr_len = pier__soft_encode(hdr, tx.hdr);
	vnet_build(&pair->net, &tx, &packet);
	vnet_deliver(&pair->net, &packet);
	vnet_settle(&pair->net);
}

void softpair_pattern(uint8_t *mem, uint32_t len, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		mem[i] = i * 7 + seed * 13 + (i >> 8) + 1;
}

bool softpair_is_pattern(const uint8_t *mem, uint32_t len, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (mem[i] != (uint8_t)(i * 7 + seed * 13 + (i >> 8) + 1))
			return false;
	return true;
}
