/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "t/lib/tap.h"

/*
 * Constants in words.  Those that programs look for are as rdma-core has them,
 * and so are the names; others need only differ.
 */
#define MANY 64			/* more than there are of any */

static const char *words[MANY];

/* @first to @last: known, and no two of the same words. */
static void all_differ(const char *unknown, int first, int last)
{
	int i, j;

	for (i = first; i <= last; i++) {
		if (!OK(words[i]) || !OK(*words[i]))
			return;
		OK(strcmp(words[i], unknown) != 0);
		for (j = first; j < i; j++)
			OK(strcmp(words[i], words[j]) != 0);
	}
}

static void results_differ(void)
{
	int i;

	for (i = 0; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		words[i] = ibv_wc_status_str((enum ibv_wc_status)i);
	all_differ("unknown", 0, IBV_WC_TM_RNDV_INCOMPLETE);
	IS_STR(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
	IS_STR(ibv_wc_status_str((enum ibv_wc_status)-1), "unknown");
	IS_STR(ibv_wc_status_str(IBV_WC_TM_RNDV_INCOMPLETE + 1), "unknown");
}

static void asynchronous_events_differ(void)
{
	int i;

	for (i = 0; i <= IBV_EVENT_WQ_FATAL; i++)
		words[i] = ibv_event_type_str((enum ibv_event_type)i);
	all_differ("unknown", 0, IBV_EVENT_WQ_FATAL);
	IS_STR(ibv_event_type_str((enum ibv_event_type)-1), "unknown");
	IS_STR(ibv_event_type_str(IBV_EVENT_WQ_FATAL + 1), "unknown");
}

static void nodes_differ(void)
{
	int i;

	for (i = IBV_NODE_CA; i <= IBV_NODE_UNSPECIFIED; i++)
		words[i] = ibv_node_type_str((enum ibv_node_type)i);
	all_differ("unknown", IBV_NODE_CA, IBV_NODE_UNSPECIFIED);
	IS_STR(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter");
	IS_STR(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
	IS_STR(ibv_node_type_str(0), "unknown");
}

static void states_of_a_port_are_their_names(void)
{
	IS_STR(ibv_port_state_str(IBV_PORT_DOWN), "PORT_DOWN");
	IS_STR(ibv_port_state_str(IBV_PORT_INIT), "PORT_INIT");
	IS_STR(ibv_port_state_str(IBV_PORT_ARMED), "PORT_ARMED");
	IS_STR(ibv_port_state_str(IBV_PORT_ACTIVE), "PORT_ACTIVE");
	IS_STR(ibv_port_state_str(IBV_PORT_ACTIVE_DEFER), "PORT_ACTIVE_DEFER");
	IS_STR(ibv_port_state_str((enum ibv_port_state)99), "unknown");
}

static void events_of_connections_are_their_names(void)
{
	int i;

	for (i = 0; i <= RDMA_CM_EVENT_TIMEWAIT_EXIT; i++) {
		words[i] = rdma_event_str((enum rdma_cm_event_type)i);
		OK(!strncmp(words[i], "RDMA_CM_EVENT_", 14));
	}
	all_differ("unknown event", 0, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	IS_STR(words[RDMA_CM_EVENT_ADDR_RESOLVED],
	       "RDMA_CM_EVENT_ADDR_RESOLVED");
	IS_STR(words[RDMA_CM_EVENT_ESTABLISHED], "RDMA_CM_EVENT_ESTABLISHED");
	IS_STR(words[RDMA_CM_EVENT_TIMEWAIT_EXIT],
	       "RDMA_CM_EVENT_TIMEWAIT_EXIT");
	IS_STR(rdma_event_str((enum rdma_cm_event_type)-1), "unknown event");
	IS_STR(rdma_event_str((enum rdma_cm_event_type)99), "unknown event");
}

/* Rates and MTUs are numbers, of which these are the constants. */
static void rates_are_numbers(void)
{
	IS(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
	IS(mbps_to_ibv_rate(103125), IBV_RATE_100_GBPS);
	IS(ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
	IS(mult_to_ibv_rate(4), IBV_RATE_10_GBPS);
	IS(ibv_rate_to_mbps((enum ibv_rate)99), -1);
	IS(mbps_to_ibv_rate(1), IBV_RATE_MAX);
}

int main(void)
{
	TEST(results_differ);
	TEST(asynchronous_events_differ);
	TEST(nodes_differ);
	TEST(states_of_a_port_are_their_names);
	TEST(events_of_connections_are_their_names);
	TEST(rates_are_numbers);
	return tap_done();
}
