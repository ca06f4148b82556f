#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian as they are, between two network namespaces, as on two
# hosts: each has a soft device on its end of a cable.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
need ibverbs-utils ibv_rc_pingpong ibv_ud_pingpong
need rdmacm-utils rping
need perftest ib_write_bw ib_send_lat
two_hosts "$@"

# far PROGRAM OPTION... - the server, on the second host
far()
{
	next_port
	in_far timeout -k 5 60 "$pier" run -- "$@" -p "$port" \
	    >"$tmp/server" 2>&1 &
	server=$!
}

far_listens()
{
	in_far ss -Htln "sport = :$port" | grep -q . ||
	    ! kill -0 "$server" 2>/dev/null
}

# pair_far PROGRAM OPTION... - both ends, on their devices
pair_far()
{
	far "$@" -d soft_far0
	wait_for 30 far_listens
	client "$@" -d soft_near0 10.77.0.2
	both_succeed
}

# The index of a GID of IPv4, which both ends have alone; IPv6 has link-local
# addresses.
gid()
{
	"$pier" run -- ibv_devinfo -v -d "$1" |
	    sed -n 's/.*GID\[ *\([0-9]*\)\].*::ffff:10\.77.*/\1/p'
}

a_pingpong_is_between_hosts()
{
	pair_far ibv_rc_pingpong -g "$(gid soft_near0)" -n 200 -c &&
	    says "$tmp/client" "200 iters in"
}

datagrams_are_between_hosts()
{
	pair_far ibv_ud_pingpong -g "$(gid soft_near0)" -n 200 &&
	    says "$tmp/client" "200 iters in"
}

writes_are_measured_between_hosts()
{
	pair_far ib_write_bw -x "$(gid soft_near0)" -s 65536 -n 500 &&
	    says "$tmp/client" " 65536 "
}

sends_are_measured_between_hosts()
{
	pair_far ib_send_lat -x "$(gid soft_near0)" -s 8 -n 500 &&
	    says "$tmp/client" " 500 "
}

far_accepts()
{
	in_far cat /proc/net/udp /proc/net/udp6 |
	    grep -q "$(printf '02004D0A:%04X ' "$port")" ||
	    ! kill -0 "$server" 2>/dev/null
}

connections_are_made_between_hosts()
{
	far rping -s -a 10.77.0.2 -C 50
	wait_for 30 far_accepts
	client rping -c -a 10.77.0.2 -C 50 -V
	both_succeed
}

run a_pingpong_is_between_hosts
run datagrams_are_between_hosts
run writes_are_measured_between_hosts
run sends_are_measured_between_hosts
run connections_are_made_between_hosts
tap_done
