/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of an endpoint: what its program does, and packets of its peers. */
#include <string.h>

#include "core/clock.h"
#include "t/fuzz/ep.h"

static void put(uint8_t *p, uint64_t v, int bytes)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static bool has_reth(uint8_t opcode)
{
	return opcode == SOFT_WRITE_FIRST || opcode == SOFT_WRITE_ONLY ||
	       opcode == SOFT_WRITE_ONLY_IMM || opcode == SOFT_READ_REQUEST ||
	       opcode == SOFT_COMPARE_SWAP || opcode == SOFT_FETCH_ADD;
}

/* A few bytes around what is expected next, or was a while ago. */
static uint32_t near_psn(const struct soft_qp *qp, uint8_t opcode, uint8_t by)
{
	bool answer = opcode >= SOFT_READ_FIRST && opcode <= SOFT_ATOMIC_ACK;
	uint64_t base = answer ? qp->req.una : qp->resp.epsn;

	return (uint32_t)(base + (uint64_t)(int8_t)by) & SOFT_PSN_MASK;
}

/* A byte for the key, two for where in its region, or just outside. */
static void put_key(const struct world *world, uint8_t *reth, uint32_t flags)
{
	enum region region = reth[11] % REGIONS;
	uint64_t va = (uintptr_t)world_region(world, region) +
		      (uint64_t)(int16_t)get(reth + 6, 2);

	if (!(flags & RAW_ADDRESS))
		put(reth, va, 8);
	if (!(flags & RAW_KEY))
		put(reth + 8, world->mr[region].mr.rkey, 4);
}

/* What makes it hit, as far as @flags do not exclude it. */
static void aim(struct world *world, const struct soft_qp *qp, uint32_t flags,
		size_t len)
{
	uint8_t *p = world->bytes;

	p[2] = p[3] = 0xff;
	if (!(flags & RAW_QPN))
		put(p + 5, qp->qpn, 3);
	if (!(flags & RAW_PSN))
		put(p + 9, near_psn(qp, p[0], p[11]), 3);
	if (has_reth(p[0]) && len >= 28 + 4)
		put_key(world, p + 12, flags);
}

struct world_packet world_packet(struct world *world, struct fuzz_in *in)
{
	uint32_t flags = fuzz_take(in, 1), len = fuzz_take(in, 2), want;
	struct soft_qp *qp = world->qp[!!(flags & SECOND_QP)];

	if (len > sizeof(world->bytes))
		len %= sizeof(world->bytes);
	want = len < in->left ? len : (uint32_t)in->left;
	memset(world->bytes, 0, sizeof(world->bytes));
	memcpy(world->bytes, in->data, want);
	in->data += want;
	in->left -= want;
	if (flags & FULL && len < world->mtu)
		len += world->mtu;
	if (!(flags & RAW_ICRC) && len < 16)
		len = 16;
	if (len >= 16)
		aim(world, qp, flags, len);
	return (struct world_packet){ flags, len };
}

static struct ibv_sge some_sge(const struct world *world, uint32_t where,
			       uint32_t len)
{
	enum region region = where % REGIONS;

	return (struct ibv_sge) {
		.addr = (uintptr_t)world_region(world, region) +
			(where >> 2) * 64,
		.length = len,
		.lkey = world->mr[region].mr.lkey,
	};
}

static void post(struct world *world, struct fuzz_in *in)
{
	uint32_t opcode = fuzz_take(in, 1), flags = fuzz_take(in, 1);
	int i = flags >> 7, err;
	struct ibv_sge sge = some_sge(world, fuzz_take(in, 1),
				      fuzz_take(in, 2));
	struct ibv_send_wr *bad, wr = {
		.wr_id = world->requests, .sg_list = &sge, .num_sge = 1,
		.opcode = opcode % (IBV_WR_SEND_WITH_INV + 1),
		.send_flags = flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED |
				       IBV_SEND_SOLICITED | IBV_SEND_INLINE),
	};

	if (world->requests == WORLD_REQUESTS)
		return;
	wr.wr.rdma.remote_addr = (uintptr_t)world_region(world, 0);
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = 4096;
	}
	if (flags & 0x40)
		wr.num_sge = 0;
	if (wr.send_flags & IBV_SEND_INLINE && sge.length > REGION)
		return;		/* the caller's own memory must be there */
	world->owner[world->requests] = (uint8_t)i;
	world->fate[world->requests] = wr.send_flags & IBV_SEND_SIGNALED
					       ? FATE_POSTED : FATE_SILENT;
	err = pier__soft_qp_post(world->qp[i], &wr, &bad);
	if (err)
		world->fate[world->requests] = FATE_NONE;
	world->requests++;
	world_settle(world);
}

static void receive(struct world *world, struct fuzz_in *in)
{
	struct ibv_sge sge = some_sge(world, fuzz_take(in, 1),
				      fuzz_take(in, 2));
	struct ibv_recv_wr *bad, wr = { .wr_id = WORLD_REQUESTS,
					.sg_list = &sge, .num_sge = 1 };

	if (!pier__soft_srq_post(world->srq, &wr, &bad))
		world->receives++;
	world_reap(world);
}

/* Time goes on to a timer that is due, from a microsecond to 4 s. */
static void wait(struct world *world, struct fuzz_in *in)
{
	uint64_t end = world->now + (1000ull << fuzz_take(in, 1) % 23), due;
	/* A full socket, or ring, is tried again and again. */
	int i, max = world->budget && !world->shared ? 2000 : 50;

	for (i = 0; i < max; i++) {
		due = pier__soft_ep_deadline(world->ep);
		if (due > end)
			break;
		world->now = due > world->now ? due : world->now + 1;
		world_settle(world);
		/* A flood of timers must not eat the engine. */
		MUST(i < 1999 || !world->budget);
	}
	world->now = end;
}

static void reset(struct world *world, int i)
{
	uint32_t k;

	world_reap(world);
	for (k = 0; k < world->requests; k++)
		if (world->owner[k] == i && world->fate[k] != FATE_DONE)
			world->fate[k] = FATE_NONE;
	world_state(world, i, IBV_QPS_RESET);
	world_connect(world, i);
}

static void change(struct world *world, struct fuzz_in *in)
{
	uint32_t what = fuzz_take(in, 1);
	int i = what >> 7;

	switch (what % 4) {
	case 0:
		world_state(world, i, IBV_QPS_ERR);
		break;
	case 1:
		reset(world, i);
		break;
	case 2:
		world_state(world, i, IBV_QPS_SQD);
		break;
	default:
		world_state(world, i, IBV_QPS_RTS);
	}
	world_settle(world);
}

static void toggle(struct world *world, struct fuzz_in *in)
{
	enum region region = fuzz_take(in, 1) % REGIONS;

	if (world->registered[region])
		pier__soft_mr_remove(world->keys, &world->mr[region]);
	else
		MUST(!pier__soft_mr_add(world->keys, &world->mr[region]));
	world->registered[region] = !world->registered[region];
}

void world_step(struct world *world, struct fuzz_in *in, uint32_t step)
{
	switch (step) {
	case 0:
		post(world, in);
		break;
	case 1:
		receive(world, in);
		break;
	case 2:
		wait(world, in);
		break;
	case 3:
		change(world, in);
		break;
	case 4:
		toggle(world, in);
		break;
	case 5:
		world->budget = fuzz_take(in, 1) % 8;
		break;
	case 6:
		world->budget = UINT32_MAX;
		break;
	default:
		world_reap(world);
	}
}
