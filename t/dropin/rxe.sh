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
need_rdma_core
need fio fio
need qperf qperf
rounds=20
brief=true

vm_peer || skip_all "the second namespace could not be made"
near_device=rxe2 near_host=10.9.1.1 kernel=near
far_device=soft_p1 far_host=10.9.1.2
to_far=vm_in_peer
find_gids
for side in near far; do
	case $side in
	near)	ways near far ;;
	far)	ways far near ;;
	esac
	run_verbs "$where"
	run_cm "$where"
	run_streams "$where"
	run qperf_measures "$where"
	run fio_sends_blocks_and_verifies_them "$where"
done
vm_peer_end
tap_done
