/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_CAPTURE_H
#define PIER_FABRIC_SOFT_STATS_CAPTURE_H

#include <stdatomic.h>

#include "fabric/soft/wire/packet.h"

/*
 * A capture of what the process's soft devices send and receive: one pcap
 * file of raw IP packets, requested by PIER_PCAP=FILE.  Fields of the IP
 * and UDP headers that a socket does not show are made up.  The destination
 * port is that of RoCEv2, by which dissectors recognise it, and the ICRC fits
 * it; a packet that came with a wrong ICRC has a wrong one.
 *
 * The file has mode 0600.  An existing capture of this user is overwritten,
 * unless another process is writing it: then this process writes FILE.PID.
 * Any other file, links included, is left alone, and nothing is captured.  A
 * failure is logged as a warning and has no other effect.
 */

/* Is there a capture?  The only cost to a packet if not. */
extern atomic_bool pier__soft_capturing;

/* Open the capture if PIER_PCAP is set and there is none.  Any thread. */
void pier__soft_capture_open(void);

/* In a child: a thread of the parent may have had the lock. */
void pier__soft_capture_forked(void);

/*
 * The packets at @tx, whose bytes from BTH to ICRC are behind each other at
 * @staged, were sent in @sends segmented sends, packets[i] in the i'th:
 * identifications count from 0 in each.  Negative: as many, which the kernel
 * rejected.  The payload at @tx is not read: it may be unmapped.  Any thread.
 */
void pier__soft_capture_tx(const struct soft_tx *tx, const uint8_t *staged,
			   const int *packets, int sends);

/* The @count packets at @rx were received.  Any thread. */
void pier__soft_capture_rx(const struct soft_rx *rx, int count);

static inline void pier__soft_capture_sent(const struct soft_tx *tx,
					   const uint8_t *staged,
					   const int *packets, int sends)
{
	if (atomic_load_explicit(&pier__soft_capturing, memory_order_relaxed))
		pier__soft_capture_tx(tx, staged, packets, sends);
}

static inline void pier__soft_capture_received(const struct soft_rx *rx,
					       int count)
{
	if (atomic_load_explicit(&pier__soft_capturing, memory_order_relaxed))
		pier__soft_capture_rx(rx, count);
}

#endif
