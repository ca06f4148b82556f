#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian as they are, between two network namespaces, as on two
# hosts: each has a soft device on its end of a cable.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
. "$top/t/lib/qemu.sh"
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
run_pingpongs
run_perftest
run_perftest_by_cm
run_cm
run a_group_gets_each_message
run_streams
run datagrams_are_exchanged_by_sockets
run_ucx
run libfabric_exchanges_messages
run qperf_measures
run_fio
! need_rpma || run memory_is_written_flushed_and_read
run_pier
run_qemu
tap_done
