/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_TX_H
#define PIER_FABRIC_SOFT_RC_TX_H

#include "fabric/soft/rc/qp.h"

/* The batch of packets to send: fill the next one, then commit it. */
struct soft_tx *pier__soft_tx_next(struct soft_qp *qp,
				   const struct soft_tx_note *note);
/*
 * By shared memory, packets of one message are sent as one: with their data,
 * or, if it @may_pull, read by the peer.  How many of @n, of @len bytes.  @tx
 * is of as many.
 */
uint32_t pier__soft_tx_packets(const struct soft_qp *qp, uint32_t n,
			       uint32_t len, bool may_pull);
void pier__soft_tx_several(const struct soft_qp *qp, struct soft_tx *tx,
			   uint32_t packets);
/* The header is complete; payload and iov are set. */
void pier__soft_tx_commit(struct soft_qp *qp, struct soft_hdr *hdr);
/* Send the batch.  Packets that the socket does not take are undone. */
int pier__soft_tx_flush(struct soft_ep *ep);
/* Send requests, and with @replies responses too. */
int pier__soft_tx_run(struct soft_ep *ep, bool replies);

#endif
