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
need_others
need_rpma || skip_all "librpma is a package of Debian"
rounds=20
brief=true

vm_peer || skip_all "the second namespace could not be made"
near_device=rxe2 near_host=10.9.1.1 kernel=near
far_device=soft_p1 far_host=10.9.1.2
to_far=vm_in_peer
find_gids
# What rxe does not have for UCX and libfabric: docs/verbs-library.md.
near_env="UCX_IB_GID_INDEX=$(gid_index near rxe2 fd00:9:1::1)
    FI_VERBS_DEVICE_NAME=rxe2 FI_UNIVERSE_SIZE=16"
far_env="UCX_IB_GID_INDEX=$(gid_index far soft_p1 fd00:9:1::2)"
for side in near far; do
	case $side in
	near)	ways near far ;;
	far)	ways far near ;;
	esac
	run_verbs "$where"
	run_more_verbs "$where"
	[ "$side" = far ] || run datagrams_are_streamed "$where"
	run_cm "$where"
	run a_group_gets_each_message "$where"
	run_streams "$where"
	run_ucx "$where"
	run libfabric_exchanges_messages "$where"
	run memory_is_written_flushed_and_read "$where"
	run qperf_measures "$where"
	run fio_sends_blocks_and_verifies_them "$where"
done
vm_peer_end
tap_done
