/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_SHORT_H
#define PIER_FABRIC_SOFT_RC_SHORT_H

#include "fabric/soft/rc/qp.h"

/*
 * Short messages by shared memory.  A SEND that fits into one cell of a ring is
 * written there when it is posted, if nothing is in its way, and is executed
 * when it is taken, if nothing is unusual.  The packets are those that are sent
 * and received otherwise; what is saved is the batch of packets, and headers as
 * a struct.  Whatever is not handled here is handled there.
 */
#define SOFT_SHORT_MAX 40	/* bytes of such a message */

/* Send @wqe, which was just filled in; false: it is to be queued. */
bool pier__soft_short_send(struct soft_qp *qp, struct soft_wqe *wqe);

/*
 * After some were sent; @idle: nothing was unacknowledged before.  The clock is
 * read here, as the peer does not wait for that.
 */
void pier__soft_short_sent(struct soft_qp *qp, bool idle);

/*
 * A packet has come by @via, @len bytes from BTH to pad, in a copy.  Returns
 * false if it was not handled, and then nothing has happened that counts.
 */
bool pier__soft_short_receive(struct soft_ep *ep, const struct soft_io *via,
			      const uint8_t *bytes, uint32_t len);

#endif
