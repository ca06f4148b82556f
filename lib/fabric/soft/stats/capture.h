/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_CAPTURE_H
#define PIER_FABRIC_SOFT_STATS_CAPTURE_H

#include <stdatomic.h>

#include "fabric/soft/wire/packet.h"

/*
 * A capture of what the process's soft devices send and receive: one pcap
 * file of raw IP packets, asked for by PIER_PCAP=FILE.  IP and UDP headers
 * are made up as far as a socket does not show them, the destination port is
 * that of RoCEv2, by which dissectors know it, and the ICRC is the one that
 * goes with that; what came with a wrong one keeps a wrong one.
 *
 * The file has mode 0600.  One that is there already is overwritten if it is
 * a capture of this user's that nobody is writing to; if somebody is, this
 * process writes FILE.PID; anything else, links included, is left alone, and
 * nothing is captured.  What cannot be done costs a warning and no more.
 */

/* Is there one?  All that packets pay if not. */
extern atomic_bool pier__soft_capturing;

/* Open the capture if one is wanted and there is none.  Any thread. */
void pier__soft_capture_open(void);

/*
 * The packets at @tx were sent in @sends segmented sends, packets[i] in the
 * i'th: identifications count from 0 in each.  Negative: as many, which the
 * kernel refused.  Any thread.
 */
void pier__soft_capture_tx(const struct soft_tx *tx, const int *packets,
			   int sends);

/* The @count packets at @rx were received.  Any thread. */
void pier__soft_capture_rx(const struct soft_rx *rx, int count);

static inline void pier__soft_capture_sent(const struct soft_tx *tx,
					   const int *packets, int sends)
{
	if (atomic_load_explicit(&pier__soft_capturing, memory_order_relaxed))
		pier__soft_capture_tx(tx, packets, sends);
}

static inline void pier__soft_capture_received(const struct soft_rx *rx,
					       int count)
{
	if (atomic_load_explicit(&pier__soft_capturing, memory_order_relaxed))
		pier__soft_capture_rx(rx, count);
}

#endif
