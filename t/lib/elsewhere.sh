# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # peers.sh has the ends
#
# Two network namespaces for programs of Debian, as on two hosts: source it
# after tap.sh, at the top of a test without arguments.
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
need_rdma_core
two_hosts "$@"

near_device=soft_near0 near_host=10.77.0.1
far_device=soft_far0 far_host=10.77.0.2
to_far=in_far
# libfabric binds to the address of lo before it listens.
ip link set lo up
in_far ip link set lo up
find_gids
ways far near
