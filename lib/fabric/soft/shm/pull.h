/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_PULL_H
#define PIER_FABRIC_SOFT_SHM_PULL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fabric/soft/wire/packet.h"

/*
 * Data that the receiver reads from the sender's memory, by
 * process_vm_readv(2), instead of from the ring.
 *
 * Offering.  A record has, instead of the data of some packets of one message,
 * where they are.  They stay as they are until the message is acknowledged.  If
 * a QP ends before that, the sender changes the word `withdrawn` of its ring,
 * whose value the record has.
 *
 * Pulling.  After it has read the data the receiver looks whether the sender
 * still lives, and whether the word is what it was.  If not, the record is as
 * one that was never sent.  Its memory is the sender's own to offer: the
 * kernel, and not pier, decides whether this process may read it.
 *
 * Whether it may is found out when a link is made, by reading a random number
 * from where the peer's greeting says that it is.
 */
struct soft_link;

/* What a record has, in front of the packet's headers. */
struct soft_pull_offer {
	uint32_t withdrawn, pieces;
	struct {
		uint64_t addr, len;
	} at[SOFT_TX_IOV];		/* the first of them */
};

/*
 * The peer's greeting has @addr and @value.  If they are right, the peer may
 * offer: `pulls` of the ring is set.
 */
void pier__soft_pull_probe(struct soft_link *link, uint64_t addr,
			   uint64_t value);

/* As the members of soft_io_ops. */
bool pier__soft_pull_is_offered(const struct soft_io *io, uint32_t *withdrawn);
int pier__soft_pull(struct soft_io *io, const struct iovec *to, int count,
		    const struct soft_pull *pull);

/* A QP with unfinished requests ends: what it has offered is withdrawn. */
void pier__soft_pull_withdraw(struct soft_link *link);

/* How many bytes the record of @tx has. */
uint32_t pier__soft_pull_len(const struct soft_tx *tx);
void pier__soft_pull_put(const struct soft_tx *tx, uint8_t *to);

/*
 * Check the record of @len bytes at @bytes, a copy.  Returns how many are in
 * front of the headers; 0: it breaks the rules.
 */
uint32_t pier__soft_pull_take(const uint8_t *bytes, uint32_t len,
			      struct soft_pull *ret);

#endif
