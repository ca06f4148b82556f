# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # those of peers.sh
#
# Programs on the kernel's Soft-RoCE by rdma-core's libraries, and as their
# peers the same programs on a soft device: rxe2 on p0 here, soft_p1 in the
# namespace "peer".  Needs what t/vm/run makes: source it after tap.sh.
[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
. "$top/t/vm/net.sh"
need_rdma_core
rounds=20
brief=true

set_up_ends()
{
	vm_peer || skip_all "the second namespace could not be made"
	near_device=rxe2 near_host=10.9.1.1 kernel=near
	far_device=soft_p1 far_host=10.9.1.2
	to_far=vm_in_peer
	find_gids
	# What rxe lacks for UCX and libfabric: docs/verbs-library.md.
	near_env="UCX_IB_GID_INDEX=$(gid_index near rxe2 fd00:9:1::1)
	    FI_VERBS_DEVICE_NAME=rxe2 FI_UNIVERSE_SIZE=16"
	far_env="UCX_IB_GID_INDEX=$(gid_index far soft_p1 fd00:9:1::2)"
}

# both_ways FUNCTION - which runs tests in $where, with the server at each end
both_ways()
{
	set_up_ends
	ways near far
	"$1"
	ways far near
	"$1"
	vm_peer_end
}
