#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian as they are, on the kernel's Soft-RoCE by rdma-core's
# libraries, and as their peers the same programs on a soft device: rxe2 on p0
# here, soft_p1 in the namespace "peer".  Needs what t/vm/run makes.
. "${0%/*}/../lib/tap.sh"
[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
. "$top/t/vm/net.sh"
need ibverbs-utils ibv_devinfo ibv_rc_pingpong ibv_srq_pingpong ibv_ud_pingpong
need perftest ib_send_lat ib_send_bw ib_write_lat ib_write_bw ib_read_lat \
    ib_read_bw ib_atomic_lat
need rdmacm-utils rping ucmatose cmtime rdma_server rdma_client udaddy \
    rstream riostream rcopy
rounds=20

rxe()
{
	device=rxe2 gid=$rxe_gid host=10.9.1.1
}

soft()
{
	device=soft_p1 gid=$soft_gid host=10.9.1.2
}

at()
{
	end=$1
	shift
	case $end in
	rxe)	"$@" ;;
	*)	vm_in_peer "$@" ;;
	esac
}

program()
{
	end=$1
	shift
	[ "$end" = rxe ] || set -- "$pier" run -- "$@"
	at "$end" timeout -k 5 60 "$@"
}

accepts()
{
	[ "$server_at" = rxe ] || {
		accepts_or_ended at soft
		return
	}
	vm_listens "$port" || ! kill -0 "$server" 2>/dev/null
}

vm_peer || skip_all "the second namespace could not be made"
rxe_gid=$(gid_index rxe rxe2 10.9.1.1)
soft_gid=$(gid_index soft soft_p1 10.9.1.2)
for server in rxe soft; do
	case $server in
	rxe)	ways rxe soft ;;
	*)	ways soft rxe ;;
	esac
	run a_pingpong_polls "$where"
	run a_pingpong_waits_for_events "$where"
	run receives_are_shared "$where"
	run datagrams_are_sent "$where"
	run sends_are_measured "$where"
	run datagrams_are_measured "$where"
	run writes_are_measured "$where"
	run reads_are_measured "$where"
	run atomics_are_measured "$where"
	run sends_are_measured_by_rdma_cm "$where"
	run writes_are_measured_by_rdma_cm "$where"
	run reads_are_measured_by_rdma_cm "$where"
	run a_ping_is_verified "$where"
	run connections_are_made_and_ended "$where"
	run many_connections_are_made "$where"
	run calls_wait_for_their_end "$where"
	run datagrams_are_exchanged_by_rdma_cm "$where"
	run streams_are_verified "$where"
	run memory_of_the_peer_is_written "$where"
	run a_file_is_copied "$where"
done
vm_peer_end
tap_done
