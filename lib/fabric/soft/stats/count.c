/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/soft/stats/count.h"

/* In the order of the struct; those of connections alone come last. */
const char *const pier__soft_counter_names[] = {
	"tx_packets",
	"tx_bytes",
	"rx_packets",
	"rx_bytes",
	"resent",
	"timeouts",
	"naks_sent_sequence",
	"naks_sent_invalid",
	"naks_sent_access",
	"naks_sent_operational",
	"naks_received_sequence",
	"naks_received_invalid",
	"naks_received_access",
	"naks_received_operational",
	"rnr_sent",
	"rnr_received",
	"duplicates",
	"out_of_order",
	"stale",
	"bad_icrc",
	"dropped",
	"cm_refused",
	"cm_overflows",
	"cq_overflows",
	"rx_overflows",
	"tx_refused",
	"early",
	"selective_sent",
	"selective_received",
	"selective_resent",
	"tail_probes",
	"marked",
	"cnps_sent",
	"cnps_received",
	"completions",
	"completions_failed",
	"faults_lost",
	"faults_corrupted",
	"shm_sent",
	"shm_connected",
	"shm_wakes",
	"shm_ended",
	"shm_absent",
	"shm_foreign",
	"shm_versions",
	"shm_nonsense",
	"shm_limits",
	"shm_direct",
	"shm_mapped",
	"shm_unmapped",
	"shm_pulled",
	"shm_pull_refused",
	"shm_pull_faults",
	"window",
	"rtt_ns",
};

_Static_assert(sizeof(pier__soft_counter_names) /
	       sizeof(pier__soft_counter_names[0]) == SOFT_COUNTERS,
	       "a name for each counter");

uint64_t pier__soft_counter(const struct soft_counters *counters, size_t i)
{
	return __atomic_load_n((const uint64_t *)counters + i,
			       __ATOMIC_RELAXED);
}

void pier__soft_sum(const struct soft_counters *counters,
		    struct soft_counters *sum)
{
	uint64_t *to = (uint64_t *)sum;
	size_t i;

	for (i = 0; i < SOFT_COUNTERS; i++)
		to[i] += pier__soft_counter(counters, i);
}
