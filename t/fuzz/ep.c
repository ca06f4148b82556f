/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "t/fuzz/ep.h"

/*
 * A whole soft endpoint.  Input: a byte of setup, then steps, each a byte and
 * what belongs to it.  Most are packets.
 */
static void put_icrc(struct world *world)
{
	struct soft_rx *rx = &world->rx;
	struct soft_tx tx = { .src = rx->src, .dst = rx->dst, .hdr_len = 12,
			      .iov_count = 1 };
	uint32_t icrc;
	int i;

	memcpy(tx.hdr, world->bytes, 12);
	tx.payload_len = (uint32_t)rx->len - 16;
	tx.iov[0].iov_base = world->bytes + 12;
	tx.iov[0].iov_len = tx.payload_len;
	icrc = pier__soft_icrc(&tx, world->roce_peer ? 4711 : 7);
	for (i = 0; i < 4; i++)
		world->bytes[rx->len - 4 + (size_t)i] =
			(uint8_t)(icrc >> 8 * i);
}

static void packet(struct world *world, struct fuzz_in *in)
{
	struct world_packet packet = world_packet(world, in);

	world->rx.data = world->bytes;
	world->rx.len = packet.len;
	world->rx.src = world->peer;
	world->rx.dst = world->here;
	if (packet.flags & OTHER_SOURCE)
		world->rx.src.ip.s6_addr[15]++;
	if (packet.len >= 16 && !(packet.flags & RAW_ICRC))
		put_icrc(world);
	world_settle(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	static struct world world;
	uint32_t step;

	world_open(&world, &in);
	while (in.left) {
		step = fuzz_take(&in, 1) % 12;
		if (step < WORLD_STEPS)
			world_step(&world, &in, step);
		else
			packet(&world, &in);
	}
	world_close(&world);
	return 0;
}
