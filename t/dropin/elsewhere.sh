#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian as they are, between two network namespaces, as on two
# hosts: each has a soft device on its end of a cable.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
need ibverbs-utils ibv_devinfo ibv_rc_pingpong ibv_srq_pingpong ibv_ud_pingpong
need perftest ib_send_lat ib_send_bw ib_write_lat ib_write_bw ib_read_lat \
    ib_read_bw ib_atomic_lat
need rdmacm-utils rping ucmatose cmtime rdma_server rdma_client udaddy \
    rstream riostream rcopy
need ucx-utils ucx_perftest
need libfabric-bin fi_pingpong
need fio fio
need qperf qperf
two_hosts "$@"

near()
{
	device=soft_near0 gid=$near_gid host=10.77.0.1
}

far()
{
	device=soft_far0 gid=$far_gid host=10.77.0.2
}

at()
{
	end=$1
	shift
	case $end in
	near)	"$@" ;;
	*)	in_far "$@" ;;
	esac
}

program()
{
	end=$1
	shift
	at "$end" timeout -k 5 60 "$pier" run -- "$@"
}

accepts()
{
	accepts_or_ended at "$server_at"
}

# libfabric binds to the address of lo before it listens.
ip link set lo up
in_far ip link set lo up
near_gid=$(gid_index near soft_near0 10.77.0.1)
far_gid=$(gid_index far soft_far0 10.77.0.2)
ways far near
run a_pingpong_polls
run a_pingpong_waits_for_events
run receives_are_shared
run datagrams_are_sent
run sends_are_measured
run datagrams_are_measured
run writes_are_measured
run reads_are_measured
run atomics_are_measured
run sends_are_measured_by_rdma_cm
run writes_are_measured_by_rdma_cm
run reads_are_measured_by_rdma_cm
run atomics_are_measured_by_rdma_cm
run a_ping_is_verified
run connections_are_made_and_ended
run many_connections_are_made
run calls_wait_for_their_end
run datagrams_are_exchanged_by_rdma_cm
run streams_are_verified
run memory_of_the_peer_is_written
run a_file_is_copied
run ucx_sends_tags
run ucx_sends_long_messages
run ucx_reads_memory
run libfabric_exchanges_messages
run qperf_measures
run fio_writes_blocks
run fio_reads_blocks
run fio_sends_blocks_and_verifies_them
tap_done
