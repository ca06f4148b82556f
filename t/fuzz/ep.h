/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_FUZZ_EP_H
#define PIER_T_FUZZ_EP_H

#include "fabric/soft/rc/qp.h"
#include "t/fuzz/fuzz.h"

/*
 * A soft endpoint in virtual time, alone with the input that plays its peers:
 * two QPs in RTS and memory of several rights.  What may be written is what a
 * region with that right covers; all else keeps its pattern.
 */
#define WORLD_QPS 2
#define WORLD_REQUESTS 512
#define REGION 16384		/* bytes of each, and of the gaps */

enum region {
	REGION_ALL,		/* remote read, write and atomic */
	REGION_READ,		/* remote read alone */
	REGION_LOCAL,		/* local write alone */
	REGION_GONE,		/* was registered with all rights */
	REGIONS,
};

enum fate { FATE_NONE, FATE_POSTED, FATE_SILENT, FATE_DONE };

struct world {
	struct soft_io io;	/* first */
	void (*queues_ended)(struct world *world);	/* NULL: no effect */
	bool shared;		/* packets come by other ways, too */
	uint64_t now;
	uint32_t budget;	/* packets that can be sent until more is */
	uint64_t sent, received;

	struct soft_rx rx;	/* the packet that waits; len 0: none */
	uint8_t bytes[SOFT_PACKET_MAX + 64];

	struct soft_addr here, peer;
	bool roce_peer;		/* the peer is on port 4791 */
	uint32_t mtu;
	uint8_t rd_atomic;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_srq *srq;
	struct soft_qp *qp[WORLD_QPS];
	struct soft_mr mr[REGIONS];
	bool registered[REGIONS];
	uint8_t *mem;		/* gap, region, gap, ... gap */

	uint8_t fate[WORLD_REQUESTS];	/* enum fate of wr_id */
	uint8_t owner[WORLD_REQUESTS];	/* its QP */
	uint32_t requests;
	uint32_t receives, received_done;
};

/* The first byte of @region. */
uint8_t *world_region(const struct world *world, enum region region);

/* Made by the first bytes of @in. */
void world_open(struct world *world, struct fuzz_in *in);

/* All to error; then nothing may be missing or out of place. */
void world_close(struct world *world);

/* QP @i to RTS, from RESET. */
void world_connect(struct world *world, int i);
void world_state(struct world *world, int i, enum ibv_qp_state state);

/* Drive it until it has nothing to do at this time. */
void world_settle(struct world *world);

/* Take completions. */
void world_reap(struct world *world);

/*
 * Steps: of the program, by number, below WORLD_STEPS.  And a packet, in bytes,
 * that a peer sends which has found out what it can: QPNs, keys and sequence
 * numbers are put in, unless a flag is set.  There is space for an ICRC.
 */
#define WORLD_STEPS 8

enum packet_flags {
	RAW_ICRC = 1 << 0,
	RAW_QPN = 1 << 1,
	RAW_PSN = 1 << 2,
	RAW_KEY = 1 << 3,
	RAW_ADDRESS = 1 << 4,
	OTHER_SOURCE = 1 << 5,
	FULL = 1 << 6,		/* payload to the MTU */
	SECOND_QP = 1 << 7,
};

struct world_packet {
	uint32_t flags;		/* enum packet_flags */
	uint32_t len;
};

void world_step(struct world *world, struct fuzz_in *in, uint32_t step);
struct world_packet world_packet(struct world *world, struct fuzz_in *in);

#endif
