/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/fuzz/ep.h"

#define GAP 0x5a		/* the pattern where writes are forbidden */
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define MEM ((2 * REGIONS + 1) * REGION)

static struct world *world_of(struct soft_io *io)
{
	return (struct world *)io;
}

uint8_t *world_region(const struct world *world, enum region region)
{
	return world->mem + (2 * region + 1) * REGION;
}

static uint64_t world_now(struct soft_io *io)
{
	return world_of(io)->now;
}

static bool is_read_response(uint8_t opcode)
{
	return opcode >= SOFT_READ_FIRST && opcode <= SOFT_READ_ONLY;
}

/* Does [@at, @at + @len) lie in a registered region with @access? */
static bool covered(const struct world *world, const uint8_t *at, size_t len,
		    int access)
{
	const uint8_t *from;
	int i;

	for (i = 0; i < REGIONS; i++) {
		from = world_region(world, i);
		if (world->registered[i] && at >= from &&
		    at + len <= from + REGION &&
		    (world->mr[i].access & access) == access)
			return true;
	}
	return false;
}

/* What leaves is well formed, and shows nothing that it may not. */
static void check_sent(const struct world *world, const struct soft_tx *tx)
{
	static uint8_t bytes[SOFT_PACKET_MAX];
	struct soft_hdr hdr;
	size_t len = tx->hdr_len;
	uint32_t i;

	MUST(tx->hdr_len <= SOFT_HDR_MAX && tx->payload_len <= world->mtu);
	memcpy(bytes, tx->hdr, len);
	for (i = 0; i < tx->iov_count; i++) {
		memcpy(bytes + len, tx->iov[i].iov_base, tx->iov[i].iov_len);
		len += tx->iov[i].iov_len;
	}
	MUST(len == tx->hdr_len + tx->payload_len);
	len += tx->pad + 4u;
	MUST(pier__soft_decode(bytes, len, &hdr) == tx->hdr_len);
	MUST(IN6_ARE_ADDR_EQUAL(&tx->dst.ip, &world->peer.ip));
	MUST(IN6_ARE_ADDR_EQUAL(&tx->src.ip, &world->here.ip));
	if (!is_read_response(hdr.opcode))
		return;
	for (i = 0; i < tx->iov_count; i++)
		MUST(covered(world, tx->iov[i].iov_base, tx->iov[i].iov_len,
			     IBV_ACCESS_REMOTE_READ));
}

static int world_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	struct world *world = world_of(io);
	int i;

	for (i = 0; i < count && world->budget; i++, world->budget--)
		check_sent(world, &tx[i]);
	world->sent += (uint64_t)i;
	return i;
}

static int world_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	struct world *world = world_of(io);

	(void)max;
	if (!world->rx.data)
		return 0;
	*rx = world->rx;
	world->rx.data = NULL;
	world->received++;
	return 1;
}

static const struct soft_io_ops ops = {
	.now = world_now,
	.send = world_send,
	.recv = world_recv,
};

static void regions_open(struct world *world)
{
	static const int access[REGIONS] = {
		[REGION_ALL] = ALL,
		[REGION_READ] = IBV_ACCESS_REMOTE_READ,
		[REGION_LOCAL] = IBV_ACCESS_LOCAL_WRITE,
		[REGION_GONE] = ALL,
	};
	int i;

	world->mem = aligned_alloc(64, MEM);
	MUST(world->mem);
	memset(world->mem, GAP, MEM);
	for (i = 0; i < REGIONS; i++) {
		world->mr[i].addr = (uintptr_t)world_region(world, i);
		world->mr[i].len = REGION;
		world->mr[i].access = access[i];
		MUST(!pier__soft_mr_add(world->keys, &world->mr[i]));
		world->registered[i] = true;
	}
	pier__soft_mr_remove(world->keys, &world->mr[REGION_GONE]);
	world->registered[REGION_GONE] = false;
}

static void address(struct soft_addr *addr, bool v6, uint8_t last,
		    uint16_t port)
{
	memset(addr, 0, sizeof(*addr));
	if (v6)
		addr->ip.s6_addr[0] = 0xfd;
	else
		memset(&addr->ip.s6_addr[10], 0xff, 2);
	addr->ip.s6_addr[12] = 10;
	addr->ip.s6_addr[15] = last;
	addr->port = port;
}

void world_open(struct world *world, struct fuzz_in *in)
{
	struct ibv_qp_cap cap = { .max_send_wr = 64, .max_send_sge = 4,
				  .max_inline_data = 64 };
	uint32_t setup = fuzz_take(in, 1);
	int i;

	memset(world, 0, sizeof(*world));
	fuzz_seed(1);
	world->io.ops = &ops;
	world->io.port = 5000;
	world->now = 1000 * PIER__MS;
	world->budget = UINT32_MAX;
	world->mtu = 256u << (setup & 3);
	world->roce_peer = setup & 4;
	world->rd_atomic = setup & 8 ? 1 : 4;
	address(&world->here, setup & 16, 1, 5000);
	address(&world->peer, setup & 16, 2,
		world->roce_peer ? ROCE_UDP_PORT : 5000);
	MUST(!pier__soft_mr_table_create(&world->keys));
	regions_open(world);
	MUST(!pier__soft_ep_create(&world->io, world->keys, &world->ep));
	MUST(!pier__soft_cq_create(world->ep, 4096, &world->cq));
	MUST(!pier__soft_srq_create(world->ep, 64, 4, &world->srq));
	for (i = 0; i < WORLD_QPS; i++) {
		MUST(!pier__soft_qp_create(world->cq, world->srq, &cap,
					   &world->qp[i]));
		world_connect(world, i);
	}
}

void world_state(struct world *world, int i, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	pier__soft_qp_modify(world->qp[i], &attr, IBV_QP_STATE, NULL, 0);
}

static void to_init(struct soft_qp *qp, int access)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = access };

	MUST(!pier__soft_qp_modify(qp, &attr, IBV_QP_STATE |
				   IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				   IBV_QP_ACCESS_FLAGS, NULL, 0));
}

static void to_rtr(struct world *world, struct soft_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256,
		.dest_qp_num = 0x123456, .rq_psn = 0xfffff0,
		.max_dest_rd_atomic = world->rd_atomic, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .hop_limit = 64 } },
	};

	while (128u << attr.path_mtu < world->mtu)
		attr.path_mtu++;
	memcpy(&attr.ah_attr.grh.dgid, &world->peer.ip, 16);
	MUST(!pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				   IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER, &world->here,
				   world->peer.port));
}

void world_connect(struct world *world, int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = 0xffffe0, .timeout = 8,
		.retry_cnt = 3, .rnr_retry = i ? 7 : 2,
		.max_rd_atomic = world->rd_atomic,
	};
	struct soft_qp *qp = world->qp[i];

	to_init(qp, ALL);
	to_rtr(world, qp);
	MUST(!pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
				   NULL, 0));
}

void world_settle(struct world *world)
{
	int rounds = 0;

	while (pier__soft_ep_drive(world->ep))
		MUST(++rounds < 100000);
}

static void completed(struct world *world, const struct ibv_wc *wc)
{
	uint64_t id = wc->wr_id;

	if (id >= WORLD_REQUESTS) {
		world->received_done++;
		MUST(world->received_done <= world->receives);
		return;
	}
	/* Once, and an unsignaled one only if it failed. */
	MUST(world->fate[id] == FATE_POSTED ||
	     (world->fate[id] == FATE_SILENT && wc->status));
	world->fate[id] = FATE_DONE;
}

void world_reap(struct world *world)
{
	struct ibv_wc wc[32];
	int n, i;

	while ((n = pier__soft_cq_poll(world->cq, wc, 32)) > 0)
		for (i = 0; i < n; i++)
			if (wc[i].status != IBV_WC_GENERAL_ERR)
				completed(world, &wc[i]);
	MUST(!n);
}

static void check_memory(const struct world *world)
{
	const uint8_t *at = world->mem, *from, *end = at + MEM;
	int i;

	for (i = 0; at < end; at += REGION, i++) {
		/* Odd ones are regions; of these two may be written to. */
		if (i == 2 * REGION_ALL + 1 || i == 2 * REGION_LOCAL + 1 ||
		    i == 2 * REGION_GONE + 1)
			continue;
		for (from = at; from < at + REGION; from++)
			MUST(*from == GAP);
	}
}

static void check_quiet(const struct world *world)
{
	const struct soft_counters *c = world->ep->counters;
	uint32_t i;

	for (i = 0; i < world->requests; i++)
		MUST(world->fate[i] != FATE_POSTED);
	for (i = 0; i < WORLD_QPS; i++)
		MUST(!world->qp[i]->req.inflight &&
		     !world->qp[i]->cwnd->inflight);
	MUST(world->shared || c->rx_packets == world->received);
	MUST(world->shared || c->tx_packets == world->sent);
	MUST(c->dropped + c->bad_icrc <= c->rx_packets);
	MUST(!world->ep->timers.len);
}

void world_close(struct world *world)
{
	int i;

	for (i = 0; i < WORLD_QPS; i++)
		if (world->qp[i]->state == IBV_QPS_RESET)
			world_connect(world, i);
	for (i = 0; i < WORLD_QPS; i++)
		world_state(world, i, IBV_QPS_ERR);
	world_reap(world);
	check_quiet(world);
	check_memory(world);
	for (i = 0; i < WORLD_QPS; i++)
		pier__soft_qp_destroy(world->qp[i]);
	MUST(!world->ep->cwnds.count);
	if (world->queues_ended)
		world->queues_ended(world);
	pier__soft_srq_destroy(world->srq);
	pier__soft_cq_destroy(world->cq);
	pier__soft_ep_destroy(world->ep);
	for (i = 0; i < REGIONS; i++)
		if (world->registered[i])
			pier__soft_mr_remove(world->keys, &world->mr[i]);
	pier__soft_mr_table_destroy(world->keys);
	free(world->mem);
}
