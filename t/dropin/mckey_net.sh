#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Multicast over IPv6, by soft devices at both ends of a cable: within a host,
# and between two.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/groups.sh"
. "$top/t/lib/netns.sh"
two_hosts "$@"
ip addr add fd77::1/64 dev near0 nodad 2>"$tmp/ip" &&
    in_far ip addr add fd77::2/64 dev far0 nodad 2>"$tmp/ip" ||
    skip_all "IPv6: $(cat "$tmp/ip")"

near()
{
	on='' address=fd77::1
}

far()
{
	on=in_far address=fd77::2
}

# are_joined NUMBER COUNT - sockets in the group ff05::77:NUMBER, as the kernel
# has it; the first receiver has one more, of the port of RoCE devices
are_joined()
{
	$on awk -v group="$(printf 'ff05%020d0077%04d' 0 "$1")" -v count="$2" '
	    $3 == group { all += $4 }
	    END { exit all < count }' /proc/net/igmp6
}

each_receiver_of_the_host_gets_each_message()
{
	near
	receiver 1 ff05::77:1
	first=$!
	receiver 2 ff05::77:1
	second=$!
	wait_for 30 are_joined 1 3
	sender ff05::77:1 && received "$first" && received "$second"
}

a_receiver_of_another_host_does()
{
	far
	receiver 1 ff05::77:2
	first=$!
	wait_for 30 are_joined 2 1
	near
	sender ff05::77:2 -o && received "$first"
}

# By an address of InfiniBand, which is a GID.
a_group_may_be_named_by_its_gid()
{
	near
	by=-M
	receiver 1 ff05::77:3
	first=$!
	wait_for 30 are_joined 3 1
	sender ff05::77:3 && received "$first"
}

what_is_sent_to_another_group_does_not_arrive()
{
	near
	receiver 1 ff05::77:4
	first=$!
	receiver 2 ff05::77:5
	second=$!
	wait_for 30 are_joined 4 1
	wait_for 30 are_joined 5 1
	sender ff05::77:5 && received "$second" || return 1
	kill -0 "$first" || return 1
	sender ff05::77:4 && received "$first"
}

run each_receiver_of_the_host_gets_each_message
run a_receiver_of_another_host_does
run a_group_may_be_named_by_its_gid
run what_is_sent_to_another_group_does_not_arrive
tap_done
