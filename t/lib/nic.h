/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_NIC_H
#define PIER_T_LIB_NIC_H

#include "fabric/soft/wire/codec.h"
#include "t/lib/loop.h"

/*
 * A peer of the soft device, played by a test: packets made by hand from a
 * socket of its own, on the host's first address.  It answers nothing.
 */
#define NIC_QPN 0xabcde
#define NIC_PSN 0xfffff0	/* its first, as loop_connect() has it */
#define NIC_BATCH 16

struct nic {
	struct soft_io *io;
	struct soft_addr local;		/* where it is */
	struct soft_addr to;		/* where it sends */
	uint32_t psn;			/* of its next packet */
};

/* What it was sent: opcodes in their order. */
struct nic_packets {
	int count;
	uint8_t opcode[NIC_BATCH];
	uint32_t psn[NIC_BATCH];
};

/* Open the device soft_lo, which nic_open() wants. */
int nic_device(struct pier__fdev **ret);

/* On the address of its GID 0. */
int nic_open(struct pier__fdev *fdev, struct nic *ret);
void nic_close(struct nic *nic);

/* Connect @end's queue pair to it, from the first PSN on. */
bool nic_meet(struct nic *nic, struct loop_end *end);

/* A request with @data; a WRITE goes to the start of @end's buffer. */
void nic_send(struct nic *nic, const struct loop_end *end, uint8_t opcode,
	      const char *data);

/* Say that all up to @psn was received. */
void nic_ack(struct nic *nic, const struct loop_end *end, uint32_t psn);

/* What has arrived since it was last asked. */
void nic_receive(struct nic *nic, struct nic_packets *ret);

#endif
