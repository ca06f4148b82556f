/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_STATS_COUNT_H
#define PIER_FABRIC_SOFT_STATS_COUNT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The counters of an endpoint and of each of its connections (QPs).  Only the
 * thread that drives the endpoint writes them.  Other threads and, through the
 * counters file (counters_file.h), other processes may read them at any time
 * and see whole values.  A new one is a member here, a name in count.c, and
 * another SOFT_COUNTERS_VERSION.
 */
struct soft_counters {
	uint64_t tx_packets, tx_bytes;	/* BTH to ICRC */
	uint64_t rx_packets, rx_bytes;	/* all that came in */
	uint64_t resent;		/* requests sent again */
	uint64_t timeouts;		/* resends by timer */
	uint64_t naks_sent[4];		/* by NAK code: sequence, invalid */
	uint64_t naks_received[4];	/* request, access, operational */
	uint64_t rnr_sent, rnr_received;
	uint64_t duplicates;		/* requests received again */
	uint64_t out_of_order;		/* requests dropped ahead of a gap */
	uint64_t stale;			/* responses to no request */
	uint64_t bad_icrc;
	uint64_t dropped;		/* malformed, or for no queue pair */
	uint64_t cm_refused;		/* connection requests: with a REJ */
	uint64_t cm_overflows;		/* and those beyond a backlog */
	uint64_t cq_overflows;		/* completions lost: a fatal error */
	uint64_t rx_overflows;		/* datagrams the socket had no space */
					/* for; as tx_refused, of endpoints */
	uint64_t tx_refused;		/* packets that the kernel refused */
	uint64_t early;			/* requests held, responses taken, */
					/* ahead of a gap */
	uint64_t selective_sent;	/* acknowledgements that report them */
	uint64_t selective_received;
	uint64_t selective_resent;	/* of resent: not those behind them */
	uint64_t tail_probes;		/* sent when no answer came */
	uint64_t marked;		/* packets received with a mark of */
					/* congestion */
	uint64_t cnps_sent, cnps_received;
	uint64_t completions;		/* polled; as rx_overflows, of */
					/* endpoints */
	uint64_t completions_failed;	/* of those: with an error */
	uint64_t faults_lost;		/* packets, by PIER_FAULTS; the same */
	uint64_t faults_corrupted;

	uint64_t shm_sent;		/* of tx_packets: by shared memory */
	uint64_t shm_connected;		/* QPs that have begun to send by it */
	uint64_t shm_wakes;		/* sleeping peers that were woken */
	uint64_t shm_ended;		/* links that were closed; and why */
					/* there was none: the peer */
	uint64_t shm_absent;		/* does not listen, */
	uint64_t shm_foreign;		/* is another user's, */
	uint64_t shm_versions;		/* has another version, */
	uint64_t shm_nonsense;		/* breaks the rules; or */
	uint64_t shm_limits;		/* memory, descriptors, links */
	uint64_t shm_direct;		/* requests without a packet */
	uint64_t shm_mapped;		/* regions of peers that are mapped */
					/* for them; and those that */
	uint64_t shm_unmapped;		/* the peer does not give */
	uint64_t shm_pulled;		/* packets whose data were read from */
					/* the peer's memory; and peers of */
	uint64_t shm_pull_refused;	/* which the kernel does not allow it */
	uint64_t shm_pull_faults;	/* data that were not there */

	/* Of a connection, as things are now. */
	uint64_t window;		/* of its destination, bytes */
	uint64_t rtt;			/* to it, ns; 0: not measured yet */
};

#define SOFT_COUNTER(name) offsetof(struct soft_counters, name)
#define SOFT_COUNTERS (sizeof(struct soft_counters) / sizeof(uint64_t))
#define SOFT_COUNTERS_EP (SOFT_COUNTER(window) / sizeof(uint64_t))

extern const char *const pier__soft_counter_names[];	/* SOFT_COUNTERS */

/* Number @i of them.  Any thread. */
uint64_t pier__soft_counter(const struct soft_counters *counters, size_t i);

/* Add all of @counters to @sum.  Any thread. */
void pier__soft_sum(const struct soft_counters *counters,
		    struct soft_counters *sum);

/* Both are plain loads and stores: there is one writer. */
static inline void pier__soft_add(struct soft_counters *counters,
				  size_t counter, uint64_t n)
{
	uint64_t *at = (uint64_t *)((char *)counters + counter);

	__atomic_store_n(at, __atomic_load_n(at, __ATOMIC_RELAXED) + n,
			 __ATOMIC_RELAXED);
}

static inline void pier__soft_set(struct soft_counters *counters,
				  size_t counter, uint64_t value)
{
	uint64_t *at = (uint64_t *)((char *)counters + counter);

	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

#endif
