#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian as they are, between two network namespaces, as on two
# hosts: each has a soft device on its end of a cable.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
need_rdma_core
need_others
two_hosts "$@"

near_device=soft_near0 near_host=10.77.0.1
far_device=soft_far0 far_host=10.77.0.2
to_far=in_far
# libfabric binds to the address of lo before it listens.
ip link set lo up
in_far ip link set lo up
find_gids
ways far near
run_verbs
run_more_verbs
run datagrams_are_streamed
run_cm
run a_group_gets_each_message
run_streams
run_ucx
run libfabric_exchanges_messages
run qperf_measures
run_fio
! need_rpma || run memory_is_written_flushed_and_read
tap_done
